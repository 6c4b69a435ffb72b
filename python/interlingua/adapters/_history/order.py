"""
The order of messages: where the results of calls stand, and what moves so that they stand there.

On all wires results follow their calls directly and in the order of the calls. What they follow is the turn of the model, which
may be several messages, or (not `by_turn`) the message that holds the calls. Calls and results are paired here for all wires, and
refused where they do not pair.

An oddity is kept where it was read and repaired where it was made. A reader notes it (`note_disorder`): in the last message of a
turn how it was answered (`answers`), of a result that no open call asked for it (`unasked`), of a call that nobody answered it
(`unanswered`).
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from interlingua.adapters._engine.as_read import note
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]
Message = dict[str, Any]
Order = range | list[int]
"""Positions of messages as the wire wants them."""
Stored = Callable[[], Collection[int]]
Moves = list[tuple[int, int]]
"""The position of a message, and the one before which it stands on the wire."""

WHY: Final = "results follow their calls directly, in the order of the calls"
INSTRUCTIONS: Final = ("system", "developer")
_ANSWERS: Final = "answers"
ANSWER_IT: Final = "add a tool message that answers it, or set loss_policy.unanswered to placeholder"


def in_order(messages: list[Message], first: int, *, by_turn: bool) -> bool:
    """Whether messages from `first` on stand as all wires want them: each call is answered directly, in the order of the calls,
    and no id names two calls."""
    met: set[str] = set()
    calls: list[str] = []
    answered = 0
    previous = ""
    for position in range(first, len(messages)):
        message = messages[position]
        role: str = message["role"]
        content: list[Block] = message["content"]
        if role == "tool":
            if answered == len(calls) or len(content) != 1 or content[0].get("tool_use_id") != calls[answered]:
                return False
            if content[0]["type"] != "tool_result":
                return False
            answered += 1
        elif role == "assistant":
            if not (by_turn and previous == role):
                if answered < len(calls):
                    return False
                if calls:
                    calls, answered = [], 0
            for block in content:
                kind: str = block["type"]
                if kind == "tool_use":
                    if block["id"] in met:
                        return False
                    met.add(block["id"])
                    calls.append(block["id"])
        elif answered < len(calls):
            return False
        previous = role
    return answered == len(calls) or previous == "assistant"


# ---------------------------------------------------------------------------------------------------- to the wire


def arranged(
    messages: list[Message],
    writing: Writing,
    first: int = 0,
    *,
    by_turn: bool = False,
    as_read: bool = True,
    stored: Stored | None = None,
) -> Order:
    """The positions of messages from `first` on as the wire wants them; a range where they stand so already.

    Not `as_read`: what was noted when they were read does not hold any more. `stored` gives the results whose calls the provider
    keeps.
    Raises `InvalidRequest` with a pointer when calls and results do not pair, except where they were read so.
    """
    if in_order(messages, first, by_turn=by_turn):
        return range(first, len(messages))
    if writing.whole:
        return list(range(first, len(messages)))
    as_read = as_read and writing.same_origin
    windows = list(_windows(messages, first, by_turn=by_turn))
    places = _paired(messages, windows, writing, as_read, stored)
    kept = _kept(messages, windows, places, writing) if as_read else set()
    answers: dict[int, list[tuple[_Place, int]]] = {}
    for position, place in places.items():
        if position not in kept:
            answers.setdefault(place[0], []).append((place, position))
    order: list[int] = []
    for position in range(first, len(messages)):
        if position in kept or position not in places:
            order.append(position)
        if position in answers:
            order += [answer for _, answer in sorted(answers[position])]
    return order


_Place = tuple[int, int, int]
"""The message that a result goes behind; the message and the block of its call."""
_Window = tuple[int, int, int]
"""Where a turn of the model begins, where what answers it, and where that ends."""


def _paired(
    messages: list[Message], windows: list[_Window], writing: Writing, as_read: bool, stored: Stored | None
) -> dict[int, _Place]:
    """The places of the results that answer a call, by position."""
    adapter = writing.endpoint.adapter
    asked: dict[str, _Place] = {}
    unanswered: dict[str, Block] = {}
    places: dict[int, _Place] = {}
    for begin, start, end in windows:
        for position in range(begin, start):
            for index, block in enumerate(messages[position]["content"]):
                if block["type"] != "tool_use":
                    continue
                if block["id"] in asked:
                    why = "an earlier call has this id; give each call its own id"
                    path: Path = ("messages", position, "content", index, "id")
                    raise InvalidRequest(why, path=pointer(path), adapter=adapter)
                asked[block["id"]] = start - 1, position, index
                unanswered[block["id"]] = block
        for position in range(start, end):
            if messages[position]["role"] != "tool":
                continue
            block = result_of(messages[position], ("messages", position), adapter)
            if as_read and writing.encoding_of(messages[position]).get("unasked"):
                continue
            call: str = block["tool_use_id"]
            if call in unanswered:
                del unanswered[call]
                places[position] = asked[call]
            elif call in asked or stored is None or position not in stored():
                path = ("messages", position, "content", 0, "tool_use_id")
                if call in asked:
                    why = "the call already has a result; send one result for each call"
                    raise InvalidRequest(why, path=pointer(path), adapter=adapter)
                raise ResultWithoutCall("no call before this result has its id", path=pointer(path), adapter=adapter)
    for call, block in unanswered.items():
        home, position, index = asked[call]
        if home != len(messages) - 1 and not (as_read and writing.encoding_of(block).get("unanswered")):
            path = ("messages", position, "content", index)
            raise InvalidRequest(
                f"the call has no result, and other turns follow; {ANSWER_IT}", path=pointer(path), adapter=adapter
            )
    return places


def result_of(message: Message, path: Path, adapter: str) -> Block:
    """The one result of a tool message. Raises `InvalidRequest` for any other content."""
    content = message["content"]
    if len(content) != 1 or content[0]["type"] != "tool_result":
        why = "a tool message holds exactly one tool_result"
        raise InvalidRequest(why, path=pointer((*path, "content")), adapter=adapter)
    return content[0]


def _kept(messages: list[Message], windows: list[_Window], places: dict[int, _Place], writing: Writing) -> set[int]:
    """The messages behind turns that are answered as they were when they were read: those stay where they are."""
    kept: set[int] = set()
    # of results that an edit brought elsewhere: what was read of those turns does not hold any more
    homes: set[int] = set()
    for begin, start, end in reversed(windows):
        read: Any = writing.encoding_of(messages[start - 1]).get(_ANSWERS) if start > begin else None
        past = start + len(read) if type(read) is list else start
        if (
            homes.isdisjoint(range(begin, start))
            and read == _answers(messages, start, past)
            and not any(position in places for position in range(past, end))
        ):
            kept.update(range(start, past))
        else:
            homes.update(places[position][0] for position in range(start, end) if position in places)
    return kept


def _answers(messages: list[Message], start: int, past: int) -> list[str]:
    """What stands behind a turn: the calls of results, and the roles of others."""
    return [
        message["content"][0].get("tool_use_id", "") if message["role"] == "tool" else message["role"]
        for message in messages[start:past]
    ]


# ---------------------------------------------------------------------------------------------------- from the wire


def note_disorder(
    messages: list[Message],
    state: Callable[[], dict[str, Any]],
    *,
    by_turn: bool = False,
    stored: Stored | None = None,
) -> None:
    """Notes in messages that were just read what is not as a writer would have it; `state` makes a provider state."""
    first = 0
    while first < len(messages) and messages[first]["role"] in INSTRUCTIONS:
        first += 1
    if in_order(messages, first, by_turn=by_turn):
        return
    open_calls: dict[str, Block] = {}
    calls: list[str] = []
    for begin, start, end in _windows(messages, first, by_turn=by_turn):
        calls = []
        for message in messages[begin:start]:
            for block in message["content"]:
                if block["type"] == "tool_use":
                    calls.append(block["id"])
                    open_calls[block["id"]] = block
        answered: list[str] = []
        past = start
        for position in range(start, end):
            if messages[position]["role"] != "tool":
                continue
            call: str = messages[position]["content"][0]["tool_use_id"]
            if open_calls.pop(call, None) is not None:
                answered.append(call)
                past = position + 1
            elif stored is None or position not in stored():
                note(messages[position], "unasked", state)
        if past - start != len(answered) or answered != [call for call in calls if call in answered]:
            note(messages[start - 1], _ANSWERS, state, _answers(messages, start, past))
    last = calls if messages[-1]["role"] == "assistant" else []
    for call, block in open_calls.items():
        if call not in last:
            note(block, "unanswered", state)


# ---------------------------------------------------------------------------------------------------- turns


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


def _windows(messages: list[Message], first: int, *, by_turn: bool) -> Iterator[_Window]:
    """The same; where results follow their message, each message of the model is a turn."""
    for begin, start, end in turns(messages, first):
        if by_turn:
            yield begin, start, end
            continue
        for position in range(begin, start - 1):
            yield position, position + 1, position + 1
        yield max(begin, start - 1), start, end


def are_paired(read: list[Message], meant: list[Message]) -> bool:
    """Whether what was written is `read` as it was `meant`: each result as that of its call. Many say by name and place alone
    whose they are, and an edit may change both."""
    found, wanted = _calls_and_results(read), _calls_and_results(meant)
    pairs = set(zip(found, wanted, strict=False))
    return len(found) == len(wanted) and len(pairs) == len(set(found)) == len(set(wanted))


def _calls_and_results(messages: list[Message]) -> list[str]:
    """The ids of calls, and those that results answer."""
    found: list[str] = []
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use":
                found.append(block["id"])
            elif block["type"] == "tool_result":
                found.append(block["tool_use_id"])
    return found


# ---------------------------------------------------------------------------------------------------- what moves


def longest_rising(values: list[int]) -> set[int]:
    """The longest selection of values that rises: what keeps its place."""
    return heaviest_rising(values, [1] * len(values))


def heaviest_rising(values: list[int], weights: list[int]) -> set[int]:
    """The heaviest selection of values that rises."""
    if not values:
        return set()
    best: list[tuple[int, int]] = []  # of those that end with each value: the weight, and where the value before stands
    lowest = min(values)
    # the heaviest that ends at or before a value, kept in a tree of partial maxima: there may be many
    heaviest: list[tuple[int, int]] = [(0, -1)] * (max(values) - lowest + 2)
    for at, value in enumerate(values):
        weight, before = 0, -1
        place = value - lowest
        while place > 0:
            weight, before = max((weight, before), heaviest[place])
            place -= place & -place
        weight += weights[at]
        best.append((weight, before))
        place = value - lowest + 1
        while place < len(heaviest):
            heaviest[place] = max(heaviest[place], (weight, at))
            place += place & -place
    at = max(range(len(values)), key=lambda k: (best[k][0], k))
    found: set[int] = set()
    while at >= 0:
        found.add(values[at])
        at = best[at][1]
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


def moves_behind(order: Order, messages: list[Message], first: int = 0, pinned: Collection[int] = ()) -> Moves:
    """What leaves its place to reach an order of messages from `first` on. Those that are `pinned` would rather stay than
    other results, and results than others."""
    moves: Moves = []
    if isinstance(order, range):
        return moves
    start, highest = 0, -1
    for at, position in enumerate(order):
        end = at + first
        highest = max(highest, position)
        if highest == end:  # the order is settled up to here
            if at > start:
                window = order[start : at + 1]
                moves += moves_to(window, _staying(window, messages, pinned), end + 1)
            start = at + 1
    return moves


def _staying(window: list[int], messages: list[Message], pinned: Collection[int]) -> set[int]:
    """What keeps its place in a window."""
    weights = [
        1_000_000 if position in pinned else 1000 if messages[position]["role"] == "tool" else 1 for position in window
    ]
    return heaviest_rising(window, weights)
