"""
Results directly behind the message of their calls and in the order of the calls: what Chat Completions and Ollama want.

An oddity is kept where it was read and repaired where it was made. On reading it is noted in the `encoding`: `misplaced` of a
message that keeps the place where it stands, `unasked` of a result that no open call asked for, `unanswered` of a call.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._order import ANSWER_IT, UNANSWERED_CALL, Moves, moves_behind
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]
Message = dict[str, Any]
Form = Callable[[dict[str, Any]], Mapping[str, Any]]

_NONE: Final[frozenset[int]] = frozenset()


def in_order(messages: list[Message]) -> bool:
    """Whether all calls are answered directly behind their message and in their order, and no id names two calls."""
    met: set[str] = set()
    calls: list[str] = []
    answered = 0
    for message in messages:
        role: str = message["role"]
        content: list[Block] = message["content"]
        if role == "tool":
            if answered == len(calls) or len(content) != 1 or content[0].get("tool_use_id") != calls[answered]:
                return False
            answered += 1
            continue
        if answered < len(calls):
            return False
        if role == "assistant":
            if calls:
                calls, answered = [], 0
            for block in content:
                kind: str = block["type"]
                if kind == "tool_use":
                    if block["id"] in met:
                        return False
                    met.add(block["id"])
                    calls.append(block["id"])
    return answered == len(calls) or messages[-1]["role"] == "assistant"


# ---------------------------------------------------------------------------------------------------- to the wire


def ordered(messages: list[Message], adapter: str, encoding: Form | None) -> tuple["range | list[int]", Moves]:
    """The positions of the messages as the wire wants them, and the moves (position, before) behind that.

    `encoding` tells how an item of this wire was read; None when the request is none of this wire.
    Raises `InvalidRequest` with a pointer when calls and results do not pair, except where they were read so.
    """
    if in_order(messages):
        return range(len(messages)), []
    kept = _kept_places(messages, encoding) if encoding is not None else _NONE
    answers = _answers(messages, adapter, encoding, kept)
    order: list[int] = []
    for position, message in enumerate(messages):
        if message["role"] != "tool" or position in kept or (encoding is not None and encoding(message).get("unasked")):
            order.append(position)
            order += [answer for _, answer in sorted(answers.get(position, ()))]
    return order, moves_behind(order, messages)


def _kept_places(messages: list[Message], encoding: Form) -> frozenset[int]:
    """The messages that stay where they were read, because nothing has come between them and the turn before them."""
    kept: set[int] = set()
    start = 0
    for end in range(len(messages) + 1):
        if end < len(messages) and messages[end]["role"] != "assistant":
            continue
        calls = messages[start - 1]["content"] if start else []
        asked = [block["id"] for block in calls if block["type"] == "tool_use"]
        after = start
        while after < end and _is_kept(messages[after], asked, encoding):
            after += 1
        if not any(_is_answer(messages[position], encoding) for position in range(after, end)):
            kept.update(range(start, after))
        start = end + 1
    return frozenset(kept)


def _is_kept(message: Message, asked: list[str], encoding: Form) -> bool:
    """Whether a message was read where it stands; a result needs its call before it, unless it was read apart from it."""
    place = encoding(message).get("misplaced")
    if place is True and message["role"] == "tool":
        return _answered(message) in asked
    return bool(place)


def _answered(message: Message) -> str | None:
    return message["content"][0].get("tool_use_id") if message["content"] else None


def _is_answer(message: Message, encoding: Form) -> bool:
    return message["role"] == "tool" and not encoding(message).get("unasked")


def _answers(
    messages: list[Message], adapter: str, encoding: Form | None, kept: frozenset[int]
) -> dict[int, list[tuple[int, int]]]:
    """For each message with calls, rank and position of the results that go directly behind it."""
    asked: dict[str, tuple[int, int, Block]] = {}
    answered: set[str] = set()
    answers: dict[int, list[tuple[int, int]]] = {}
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            block = result_of(message, ("messages", position), adapter)
            if encoding is not None and encoding(message).get("unasked"):
                continue
            path: Path = ("messages", position, "content", 0, "tool_use_id")
            call = block["tool_use_id"]
            if call not in asked:
                raise ResultWithoutCall("no call before this result has its id", path=pointer(path), adapter=adapter)
            if call in answered:
                raise InvalidRequest("this call is already answered", path=pointer(path), adapter=adapter)
            answered.add(call)
            if position not in kept:
                place, rank, _ = asked[call]
                answers.setdefault(place, []).append((rank, position))
        elif message["role"] == "assistant":
            for index, block in enumerate(message["content"]):
                if block["type"] == "tool_use":
                    if block["id"] in asked:
                        path = ("messages", position, "content", index, "id")
                        why = "an earlier call has this id; give each call an id of its own"
                        raise InvalidRequest(why, path=pointer(path), adapter=adapter)
                    asked[block["id"]] = (position, index, block)
    for call, (position, index, block) in asked.items():
        open_as_read = encoding is not None and encoding(block).get("unanswered")
        if call not in answered and position != len(messages) - 1 and not open_as_read:
            raise InvalidRequest(
                f"{UNANSWERED_CALL}; {ANSWER_IT}",
                path=pointer(("messages", position, "content", index)),
                adapter=adapter,
            )
    return answers


def result_of(message: Message, path: Path, adapter: str) -> Block:
    """The one result of a tool message. Raises `InvalidRequest` for any other content."""
    content = message["content"]
    if len(content) != 1 or content[0]["type"] != "tool_result":
        raise InvalidRequest(
            "a tool message holds exactly one tool_result", path=pointer((*path, "content")), adapter=adapter
        )
    return content[0]


# ---------------------------------------------------------------------------------------------------- from the wire


def note_disorder(messages: list[Message], state: Callable[[], dict[str, Any]]) -> None:
    """Notes in messages that were just read what is not as a writer would have it; `state` makes a provider state."""
    if in_order(messages):
        return
    open_calls: dict[str, tuple[int, Block]] = {}
    calls: list[str] = []
    start = 0
    for end in range(len(messages) + 1):
        if end < len(messages) and messages[end]["role"] != "assistant":
            continue
        _note_window(messages, start, end, calls, open_calls, state)
        if end < len(messages):
            said = [block for block in messages[end]["content"] if block["type"] == "tool_use"]
            calls = [block["id"] for block in said]
            open_calls.update((block["id"], (end, block)) for block in said)
        start = end + 1
    for position, block in open_calls.values():
        if position != len(messages) - 1:
            note(block, "unanswered", state)


def _note_window(
    messages: list[Message],
    start: int,
    end: int,
    calls: list[str],
    open_calls: dict[str, tuple[int, Block]],
    state: Callable[[], dict[str, Any]],
) -> None:
    """Notes what stands behind a turn up to the last result, when it is not just the results of its calls."""
    answered: list[str] = []
    behind = start
    for position in range(start, end):
        message = messages[position]
        if message["role"] == "tool":
            call = message["content"][0]["tool_use_id"]
            if open_calls.pop(call, None) is None:
                note(message, "unasked", state)
            else:
                answered.append(call)
                behind = position + 1
    if behind - start != len(answered) or answered != [call for call in calls if call in answered]:
        for position in range(start, behind):
            message = messages[position]
            apart = message["role"] == "tool" and _answered(message) not in calls
            note(message, "misplaced", state, "apart" if apart else True)


def note(item: dict[str, Any], oddity: str, state: Callable[[], dict[str, Any]], value: Any = True) -> None:
    """Notes an oddity in the form of an item; the value may tell in which place it is one."""
    if "provider_state" not in item:
        item["provider_state"] = state()
    item["provider_state"].setdefault("encoding", {})[oddity] = value
