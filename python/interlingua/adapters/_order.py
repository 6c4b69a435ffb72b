"""
The order of turns for wires that demand the results of calls directly behind their calls and in the order of the calls.

The longest run of results that is in order already stays where it is; the others move, and so does what stands between.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final

from interlingua.adapters._kit import within
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]
Moves = list[tuple[int, int]]
Oddities = tuple[frozenset[int], frozenset[int]]

_NONE: Final[frozenset[int]] = frozenset()

UNANSWERED_CALL: Final = "the call has no result, and other turns follow"
ANSWER_IT: Final = "add a tool message that answers it, or set loss_policy.unanswered to placeholder"

PLAIN: Final = frozenset(
    ("role", "content", "metadata", "id", "session_id", "created_at", "schema_version", "priority", "critical", "extra")
)
"""The members that a message may have without anything to write or to report."""


def ordered(messages: list[Message], first: int) -> tuple["range | list[int]", Moves]:
    """The positions of messages from `first` on as the wire wants them, and the moves (position, before) behind that.

    Raises `InvalidRequest` with a pointer when calls and results do not pair.
    """
    if surveyed(messages, first)[0]:
        return range(first, len(messages)), []
    return arranged(messages, first)


def surveyed(messages: list[Message], first: int) -> tuple[bool, bool]:
    """Whether results follow their calls directly and in order, and whether each turn is one message of plain members."""
    in_order = plain = True
    calls: list[str] = []
    answered = 0
    previous = ""
    for position in range(first, len(messages)):
        message = messages[position]
        role: str = message["role"]
        if role == "tool":
            content: list[dict[str, Any]] = message["content"]
            if answered == len(calls) or len(content) != 1 or content[0].get("tool_use_id") != calls[answered]:
                return False, False
            if content[0]["type"] != "tool_result":
                return False, False
            answered += 1
        elif role == "assistant":
            if previous != "assistant":
                in_order = in_order and answered == len(calls)
                calls, answered = [], 0
            blocks: list[dict[str, Any]] = message["content"]
            for block in blocks:
                kind: str = block["type"]
                if kind == "tool_use":
                    calls.append(block["id"])
            plain = plain and previous != "assistant"
        else:
            in_order = in_order and answered == len(calls)
            plain = plain and role == "user" and previous != "user"
        if len(message) > 2 and not within(message, PLAIN):
            plain = False
        previous = role
    return in_order and (answered == len(calls) or previous == "assistant"), plain


def arranged(messages: list[Message], first: int, odd: Oddities = (_NONE, _NONE)) -> tuple[list[int], Moves]:
    """What `ordered` gives for messages that are not in order already.

    `odd` says what was out of order when it was read (`oddities`), and is left as it is.
    """
    misplaced, unpaired = odd
    order: list[int] = []
    moves: Moves = []
    seen: set[str] = set()
    late = _late(messages, first, unpaired)
    # late results by their home: to look all of them through for each turn would be quadratic
    coming: dict[int, list[int]] = {}
    for position, home in late.items():
        coming.setdefault(home, []).append(position)
    for begin, start, end in turns(messages, first):
        order += range(begin, start)
        between = range(start, end)
        if not unpaired.isdisjoint(between):
            for position in between:
                if messages[position]["role"] == "tool":
                    _result(messages[position], position)
            order += [position for position in between if position not in late]
            continue
        calls = _calls(messages, begin, start)
        here: range | list[int] = between
        if late:
            here = [position for position in between if position not in late] + coming.get(start, [])
        results, others = _split(messages, here, end, calls, seen)
        # where a result comes or goes, what was read of the turn does not hold any more
        noted = misplaced.intersection(between) if len(here) == len(between) and late.keys().isdisjoint(here) else _NONE
        if noted:
            results.sort()
        if any(messages[position]["role"] != "tool" for position in noted):
            order += between
            continue
        if not late:
            moves += _moves(results, others, end)
        order += results + others
    return order, moves_behind([*range(first), *order], messages) if late else moves


def _late(messages: list[Message], first: int, unpaired: frozenset[int]) -> dict[int, int]:
    """The results that came when the model had spoken again, each with the place behind the turn of its call."""
    open_calls: dict[str, int] = {}
    late: dict[int, int] = {}
    for begin, start, end in turns(messages, first):
        calls = _calls(messages, begin, start)
        for position in range(start, end):
            if messages[position]["role"] != "tool" or position in unpaired or not messages[position]["content"]:
                continue
            call = messages[position]["content"][0].get("tool_use_id")
            if call not in calls and (home := open_calls.pop(call, None)) is not None:
                late[position] = home
            elif call in calls:
                calls.pop(call)
        if unpaired.isdisjoint(range(start, end)):
            open_calls.update(dict.fromkeys(calls, start))
    return late


def oddities(messages: list[Message], first: int) -> Oddities:
    """The messages that do not stand where they should, and those of turns whose results are not those of the calls."""
    misplaced: list[int] = []
    unpaired: list[int] = []
    for begin, start, end in turns(messages, first):
        try:
            results, others = _split(messages, range(start, end), end, _calls(messages, begin, start), set())
        except InvalidRequest:
            unpaired += range(start, end)
            continue
        if results != sorted(results):
            misplaced += results
        misplaced += [position for position in others if results and position < max(results)]
    return frozenset(misplaced), frozenset(unpaired)


def turns(messages: list[Message], first: int) -> Iterator[tuple[int, int, int]]:
    """Where a turn of the model begins, where what answers it, and where that ends."""
    position, count = first, len(messages)
    while position < count:
        begin = position
        while position < count and messages[position]["role"] == "assistant":
            position += 1
        start = position
        while position < count and messages[position]["role"] != "assistant":
            position += 1
        yield begin, start, position


def _calls(messages: list[Message], begin: int, end: int) -> dict[str, tuple[int, Path]]:
    """The calls of a turn: their number and where they stand."""
    calls: dict[str, tuple[int, Path]] = {}
    for position in range(begin, end):
        for index, block in enumerate(messages[position]["content"]):
            if block["type"] == "tool_use":
                path: Path = ("messages", position, "content", index)
                if block["id"] in calls:
                    raise InvalidRequest(
                        "two tool calls have one id; give each call its own", path=pointer((*path, "id"))
                    )
                calls[block["id"]] = (len(calls), path)
    return calls


def _split(
    messages: list[Message],
    between: "range | list[int]",
    end: int,
    calls: dict[str, tuple[int, Path]],
    seen: set[str],
) -> tuple[list[int], list[int]]:
    """The messages behind a turn of the model: results in the order of the calls, and the others.

    `end` is where the next turn of the model begins.
    """
    results: dict[int, int] = {}
    others: list[int] = []
    for position in between:
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
    if len(results) < len(calls) and (between or end < len(messages)):
        missing = next(path for rank, path in calls.values() if rank not in results)
        raise InvalidRequest(f"{UNANSWERED_CALL}; {ANSWER_IT}", path=pointer(missing))
    seen.update(calls)
    return [results[rank] for rank in sorted(results)], others


def _rank(message: Message, position: int, calls: dict[str, tuple[int, Path]], seen: set[str]) -> int:
    answered: str = _result(message, position)["tool_use_id"]
    call = calls.get(answered)
    if call is None:
        path = pointer(("messages", position, "content", 0, "tool_use_id"))
        if answered in seen:
            raise InvalidRequest("the result does not follow the turn of its call", path=path)
        raise ResultWithoutCall("the result answers no call before it", path=path)
    return call[0]


def _result(message: Message, position: int) -> dict[str, Any]:
    content = message["content"]
    if len(content) != 1 or content[0]["type"] != "tool_result":
        raise InvalidRequest(
            "a tool message holds exactly one tool result", path=pointer(("messages", position, "content"))
        )
    return content[0]


def _moves(results: list[int], others: list[int], end: int) -> Moves:
    staying = longest_rising(results)
    last = max(staying, default=-1)
    staying.update(position for position in others if position > last)
    return moves_to(results + others, staying, end)


def longest_rising(values: list[int]) -> set[int]:
    """The longest selection of values that rises: what keeps its place."""
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for value in values:
        at = bisect_left(tails, value)
        before[value] = tails[at - 1] if at else None
        tails[at : at + 1] = [value]
    found: set[int] = set()
    top = tails[-1] if tails else None
    while top is not None:
        found.add(top)
        top = before[top]
    return found


def moves_to(order: list[int], staying: set[int], end: int) -> Moves:
    """What leaves its place to reach an order, and before what it stands then; `end` is behind the last."""
    target = end
    moves: Moves = []
    for position in reversed(order):
        if position in staying:
            target = position
        else:
            moves.append((position, target))
    return moves[::-1]


def moves_behind(order: list[int], messages: list[Message]) -> Moves:
    """What leaves its place to reach an order. Results would rather stay than others."""
    moves: Moves = []
    start, highest = 0, -1
    for end, position in enumerate(order):
        highest = max(highest, position)
        if highest == end:  # the order is settled up to here
            if end > start:
                window = order[start : end + 1]
                moves += moves_to(window, _staying(window, messages), end + 1)
            start = end + 1
    return moves


def _staying(window: list[int], messages: list[Message]) -> set[int]:
    """The heaviest rising selection of a window: what keeps its place."""
    best: list[tuple[int, int]] = []
    lowest = min(window)
    # the heaviest that ends at or before a position, kept in a tree of partial maxima: a window may be long
    heaviest: list[tuple[int, int]] = [(0, -1)] * (max(window) - lowest + 2)
    for at, position in enumerate(window):
        weight, k = 0, -1
        place = position - lowest
        while place > 0:
            weight, k = max((weight, k), heaviest[place])
            place -= place & -place
        weight += 1000 if messages[position]["role"] == "tool" else 1
        best.append((weight, k))
        place = position - lowest + 1
        while place < len(heaviest):
            heaviest[place] = max(heaviest[place], (weight, at))
            place += place & -place
    at = max(range(len(window)), key=lambda k: (best[k][0], k))
    staying: set[int] = set()
    while at >= 0:
        staying.add(window[at])
        at = best[at][1]
    return staying
