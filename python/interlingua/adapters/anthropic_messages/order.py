"""
The order of messages: the results of a turn's calls follow it directly, in the order of the calls.

What stands between a call and its results goes behind them; calls and results that do not pair have no valid wire.
"""

from bisect import bisect_left
from typing import Any

from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]

PLAIN = frozenset(
    ("role", "content", "metadata", "id", "session_id", "created_at", "schema_version", "priority", "critical", "extra")
)
"""The members that a message may have without anything to write or to report."""


def surveyed(messages: list[Message], first: int) -> tuple[bool, bool]:
    """Whether results follow their calls directly and in order, and whether each turn is one message of plain members."""
    in_order = plain = True
    calls: list[str] = []
    answered = 0
    previous = ""
    for position in range(first, len(messages)):
        message = messages[position]
        role = message["role"]
        if role == "tool":
            content = message["content"]
            if answered == len(calls) or len(content) != 1 or content[0].get("tool_use_id") != calls[answered]:
                return False, False
            answered += 1
        elif role == "assistant":
            if previous != "assistant":
                in_order = in_order and answered == len(calls)
                calls, answered = [], 0
            for block in message["content"]:
                if block["type"] == "tool_use":
                    calls.append(block["id"])
            plain = plain and previous != "assistant"
        else:
            in_order = in_order and answered == len(calls)
            plain = plain and role == "user" and previous != "user"
        if len(message) > 2 and not message.keys() <= PLAIN:
            plain = False
        previous = role
    return in_order and (answered == len(calls) or previous == "assistant"), plain


def arranged(messages: list[Message], first: int, writing: Writing) -> list[int]:
    """Positions in the order that the wire demands; raises `InvalidRequest` when calls and results do not pair."""
    order: list[int] = []
    seen: set[str] = set()
    position, count = first, len(messages)
    while position < count:
        calls: dict[str, tuple[int, Path]] = {}
        while position < count and messages[position]["role"] == "assistant":
            for index, block in enumerate(messages[position]["content"]):
                if block["type"] == "tool_use":
                    path: Path = ("messages", position, "content", index)
                    if block["id"] in calls:
                        raise InvalidRequest(
                            "two tool calls have one id; give each call its own", path=pointer((*path, "id"))
                        )
                    calls[block["id"]] = (len(calls), path)
            order.append(position)
            position += 1
        start = position
        tools = False
        while position < count and (role := messages[position]["role"]) != "assistant":
            tools = tools or role == "tool"
            position += 1
        if calls or tools:
            order.extend(_settled(messages, start, position, calls, seen, writing))
        else:
            order.extend(range(start, position))
    return order


def _settled(
    messages: list[Message], start: int, end: int, calls: dict[str, tuple[int, Path]], seen: set[str], writing: Writing
) -> list[int]:
    """The messages between two turns of the model: results first, in the order of the calls."""
    results: dict[int, int] = {}
    others: list[int] = []
    for position in range(start, end):
        message = messages[position]
        if message["role"] != "tool":
            others.append(position)
            continue
        rank = _rank(message, position, calls, seen)
        if rank in results:
            raise InvalidRequest(
                "the call has a result already; send one result for each call", path=pointer(("messages", position))
            )
        results[rank] = position
    if len(results) < len(calls) and (start < end or end < len(messages)):
        missing = next(path for rank, path in calls.values() if rank not in results)
        raise InvalidRequest("the call has no result; add a tool message that answers it", path=pointer(missing))
    seen.update(calls)
    ranked = [results[rank] for rank in sorted(results)]
    _record_moves(ranked, others, end, writing)
    return ranked + others


def _rank(message: Message, position: int, calls: dict[str, tuple[int, Path]], seen: set[str]) -> int:
    path: Path = ("messages", position)
    content = message["content"]
    if len(content) != 1 or content[0]["type"] != "tool_result":
        raise InvalidRequest("a tool message holds exactly one tool result", path=pointer((*path, "content")))
    call = calls.get(content[0]["tool_use_id"])
    if call is None:
        late = content[0]["tool_use_id"] in seen
        raise InvalidRequest(
            "the result does not follow the turn of its call" if late else "the result answers no call before it",
            path=pointer((*path, "content", 0, "tool_use_id")),
        )
    return call[0]


def _record_moves(results: list[int], others: list[int], end: int, writing: Writing) -> None:
    """Notes which messages move: the longest run of results that is in order stays, and what stands behind it."""
    staying = _longest_increasing(results)
    last = max(staying, default=-1)
    staying.update(position for position in others if position > last)
    target = end
    moves: list[tuple[int, int]] = []
    for position in reversed(results + others):
        if position in staying:
            target = position
        else:
            moves.append((position, target))
    writing.moves.extend(reversed(moves))


def _longest_increasing(values: list[int]) -> set[int]:
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for value in values:
        at = bisect_left(tails, value)
        before[value] = tails[at - 1] if at else None
        tails[at : at + 1] = [value]
    found: set[int] = set()
    value: int | None = tails[-1] if tails else None
    while value is not None:
        found.add(value)
        value = before[value]
    return found
