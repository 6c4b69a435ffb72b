"""The order that the wire demands: the results of a turn directly behind its calls, one for each call."""

from typing import Any

from interlingua.adapters.openai_chat.context import Writing
from interlingua.adapters.openai_chat.parts import Block
from interlingua.adapters.openai_chat.tables import NAME
from interlingua.canonical.errors import InvalidRequest

Message = dict[str, Any]


def order(messages: list[Message], writing: Writing) -> range | list[int]:
    """Positions of the messages in the order of the wire."""
    if writing.own:
        return range(len(messages))
    open_calls: set[str] = set()
    met: set[str] = set()
    for position, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            block = result_of(message, position)
            if block["tool_use_id"] not in open_calls:
                return _reorder(messages, writing)
            open_calls.discard(block["tool_use_id"])
        elif open_calls:
            return _reorder(messages, writing)
        if role == "assistant":
            for index, block in enumerate(message["content"]):
                if block["type"] == "tool_use":
                    if block["id"] in met:
                        _refuse_twice(position, index)
                    met.add(block["id"])
                    open_calls.add(block["id"])
    return (
        range(len(messages)) if not open_calls or messages[-1]["role"] == "assistant" else _reorder(messages, writing)
    )


def _refuse_twice(position: int, index: int) -> None:
    path = f"/messages/{position}/content/{index}/id"
    raise InvalidRequest("an earlier call has this id; give each call an id of its own", path=path, adapter=NAME)


def result_of(message: Message, position: int) -> Block:
    """The one result of a tool message. Raises `InvalidRequest` for any other content."""
    content = message["content"]
    if len(content) != 1 or content[0]["type"] != "tool_result":
        raise InvalidRequest(
            "a tool message holds exactly one tool_result", path=f"/messages/{position}/content", adapter=NAME
        )
    return content[0]


def _reorder(messages: list[Message], writing: Writing) -> list[int]:
    """Brings every result directly behind its calls; notes each message that leaves its place."""
    answers = _answers(messages)
    order: list[int] = []
    for position, message in enumerate(messages):
        if message["role"] != "tool":
            order.append(position)
            order += answers.get(position, ())
    start, highest = 0, -1
    for end, position in enumerate(order):
        highest = max(highest, position)
        if highest == end:  # the order is settled up to here
            if end > start:
                _note_window(order[start : end + 1], end + 1, messages, writing)
            start = end + 1
    return order


def _note_window(window: list[int], after: int, messages: list[Message], writing: Writing) -> None:
    kept = _kept(window, messages)
    to = after
    entries: list[tuple[int, int]] = []
    for position in reversed(window):
        if position in kept:
            to = position
        else:
            entries.append((position, to))
    writing.moved.update(position for position, _ in entries)
    writing.moves += reversed(entries)


def _kept(window: list[int], messages: list[Message]) -> set[int]:
    """The heaviest rising selection of a window: what keeps its place. Results would rather stay than others."""
    weights = [1000.0 if messages[position]["role"] == "tool" else 1.0 for position in window]
    best: list[tuple[float, int]] = []
    for i, position in enumerate(window):
        before = [(best[k][0], k) for k in range(i) if window[k] < position]
        weight, k = max(before, default=(0.0, -1))
        best.append((weight + weights[i], k))
    i = max(range(len(window)), key=lambda k: best[k][0])
    kept: set[int] = set()
    while i >= 0:
        kept.add(window[i])
        i = best[i][1]
    return kept


def _answers(messages: list[Message]) -> dict[int, list[int]]:
    """For each message with calls, the positions of their results. Raises `InvalidRequest` when they do not pair."""
    asked: dict[str, tuple[int, int]] = {}
    answered: set[str] = set()
    runs: dict[int, list[int]] = {}
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            block = result_of(message, position)
            call = asked.get(block["tool_use_id"])
            path = f"/messages/{position}/content/0/tool_use_id"
            if call is None:
                raise InvalidRequest("no call before this result has its id", path=path, adapter=NAME)
            if block["tool_use_id"] in answered:
                raise InvalidRequest("this call is already answered", path=path, adapter=NAME)
            answered.add(block["tool_use_id"])
            runs[call[0]].append(position)
        elif message["role"] == "assistant":
            for index, block in enumerate(message["content"]):
                if block["type"] == "tool_use":
                    if block["id"] in asked:
                        _refuse_twice(position, index)
                    asked[block["id"]] = (position, index)
                    runs.setdefault(position, [])
    for call_id, (position, index) in asked.items():
        if call_id not in answered and position != len(messages) - 1:
            raise InvalidRequest(
                "this call has no result and other turns follow; add a result or remove the call",
                path=f"/messages/{position}/content/{index}",
                adapter=NAME,
            )
    return runs
