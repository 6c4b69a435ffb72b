"""
The order of messages: where a wire wants the results of calls and where instructions, and what moves so that they stand there.

What a wire wants is data (`Wanted`). Calls and results are paired here for all wires, and refused where they do not pair.

An oddity is kept where it was read and repaired where it was made. A reader notes it (`note_disorder`): `misplaced` of a message
that keeps the place where it stands, `unasked` of a result that no open call asked for, `unanswered` of a call.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, NamedTuple

from interlingua.adapters._as_read import note
from interlingua.adapters._writing import Writing
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]
Message = dict[str, Any]
Order = range | list[int]
"""Positions of messages as the wire wants them."""
Stored = Callable[[], Collection[int]]
Moves = list[tuple[int, int]]
"""The position of a message, and the one before which it stands on the wire."""

TURN: Final = "turn"
"""Results follow directly the turn of the model that holds their calls."""
MESSAGE: Final = "message"
"""Results follow directly the message that holds their calls."""
LATER: Final = "later"
"""Results follow their calls somewhere; only instructions do not stand between them."""


class Wanted(NamedTuple):
    """What a wire wants of the results of calls: what they are `behind`, and how a report says it. They are always in the
    order of their calls."""

    behind: str
    why: str = "results follow their calls directly, in the order of the calls"


INSTRUCTIONS: Final = ("system", "developer")
_APART: Final = "apart"
ANSWER_IT: Final = "add a tool message that answers it, or set loss_policy.unanswered to placeholder"


def in_order(messages: list[Message], wanted: Wanted, first: int = 0) -> bool:
    """Whether messages from `first` on stand as all wires want them: each call is answered directly, in the order of the calls,
    and no id names two calls."""
    by_turn = wanted.behind == TURN
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
    wanted: Wanted,
    writing: Writing,
    first: int = 0,
    *,
    as_read: bool = True,
    stored: Stored | None = None,
) -> Order:
    """The positions of messages from `first` on as the wire wants them; a range where they stand so already.

    Not `as_read`: what was noted when they were read does not hold any more. `stored` gives the results whose calls the provider
    keeps.
    Raises `InvalidRequest` with a pointer when calls and results do not pair, except where they were read so.
    """
    if in_order(messages, wanted, first):
        return range(first, len(messages))
    if writing.whole:
        return list(range(first, len(messages)))
    as_read = as_read and writing.same_origin
    places = _paired(messages, wanted, writing, first, as_read, stored)
    if wanted.behind == LATER:
        return _in_order_of_calls(messages, places, writing, as_read)
    kept = _kept_places(messages, wanted, writing, first, places) if as_read else frozenset()
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


def _paired(
    messages: list[Message], wanted: Wanted, writing: Writing, first: int, as_read: bool, stored: Stored | None
) -> dict[int, _Place]:
    """The places of the results that answer a call, by position."""
    adapter = writing.endpoint.adapter
    asked: dict[str, _Place] = {}
    unanswered: dict[str, Block] = {}
    places: dict[int, _Place] = {}
    for begin, start, end in turns(messages, first):
        for position in range(begin, start):
            home = start - 1 if wanted.behind == TURN else position
            for index, block in enumerate(messages[position]["content"]):
                if block["type"] != "tool_use":
                    continue
                if block["id"] in asked:
                    why = "an earlier call has this id; give each call an id of its own"
                    path: Path = ("messages", position, "content", index, "id")
                    raise InvalidRequest(why, path=pointer(path), adapter=adapter)
                asked[block["id"]] = home, position, index
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
                    why = "the call has a result already; send one result for each call"
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


def _kept_places(
    messages: list[Message], wanted: Wanted, writing: Writing, first: int, places: dict[int, _Place]
) -> frozenset[int]:
    """The messages that stay where they were read, because nothing has come between them and the turn before them."""
    kept: set[int] = set()
    windows = list(_windows(messages, wanted, first))
    homes: set[int] = (
        set()
    )  # of results that an edit brought elsewhere: what was read of those turns does not hold any more
    for begin, start, end in windows:
        for position in range(start, end):
            place = places.get(position)
            if place is not None and place[1] < begin and _misplaced(messages[position], writing) != _APART:
                homes.add(place[1])
    for begin, start, end in windows:
        if not homes.isdisjoint(range(begin, start)):
            continue
        after = start
        while after < end and _is_kept(messages[after], places.get(after), begin, writing):
            after += 1
        if not any(position in places for position in range(after, end)):
            kept.update(range(start, after))
    return frozenset(kept)


def _is_kept(message: Message, place: _Place | None, begin: int, writing: Writing) -> bool:
    """Whether a message was read where it stands; a result needs its call before it, unless it was read apart from it."""
    recorded = _misplaced(message, writing)
    if recorded is True and message["role"] == "tool":
        return place is None or place[1] >= begin
    return bool(recorded)


def _misplaced(message: Message, writing: Writing) -> Any:
    """Whether a message was read where it stands; `_APART` for a result that was read apart from its call."""
    return writing.encoding_of(message).get("misplaced")


def _in_order_of_calls(
    messages: list[Message], places: dict[int, _Place], writing: Writing, as_read: bool
) -> list[int]:
    """Results take each other's places between two turns of the model; instructions wait for the results of open calls."""
    answered = {place[1:] for place in places.values()}
    still_open: set[tuple[int, ...]] = set()
    order: list[int] = []
    waiting: list[int] = []
    results: list[int] = []  # where they stand in the order
    for position, message in enumerate(messages):
        role = message["role"]
        misplaced = as_read and _misplaced(message, writing)
        if role == "assistant":
            _settle(order, results, places, messages, writing, as_read)
            results = []
            still_open.update(
                call for index in range(len(message["content"])) if (call := (position, index)) in answered
            )
        elif role == "tool":
            if position in places:
                still_open.discard(places[position][1:])
                results.append(len(order))
        elif still_open and role != "user" and not misplaced:
            waiting.append(position)
            continue
        order.append(position)
        if waiting and role == "tool" and not still_open:
            order += waiting
            waiting = []
    _settle(order, results, places, messages, writing, as_read)
    return order


def _settle(
    order: list[int],
    results: list[int],
    places: dict[int, _Place],
    messages: list[Message],
    writing: Writing,
    as_read: bool,
) -> None:
    """Puts results into the order of their calls, unless they were read otherwise."""
    positions = [order[at] for at in results]
    if as_read and all(_misplaced(messages[position], writing) for position in positions):
        return
    for at, position in zip(results, sorted(positions, key=places.__getitem__), strict=True):
        order[at] = position


# ---------------------------------------------------------------------------------------------------- from the wire


def note_disorder(
    messages: list[Message],
    wanted: Wanted,
    state: Callable[[], dict[str, Any]],
    *,
    stored: Stored | None = None,
) -> None:
    """Notes in messages that were just read what is not as a writer would have it; `state` makes a provider state."""
    first = 0
    while first < len(messages) and messages[first]["role"] in INSTRUCTIONS:
        first += 1
    if in_order(messages, wanted, first):
        return
    open_calls: dict[str, tuple[int, Block]] = {}
    asked: set[str] = set()
    turn = first
    for begin, start, end in _windows(messages, wanted, first):
        turn = begin
        calls: list[str] = []
        for position in range(begin, start):
            for block in messages[position]["content"]:
                if block["type"] == "tool_use":
                    calls.append(block["id"])
                    open_calls[block["id"]] = begin, block
        if wanted.behind == LATER:
            asked.update(calls)
            _note_later(messages, range(start, end), asked, open_calls, stored, state)
        else:
            _note_window(messages, range(start, end), calls, open_calls, state)
    for begin, block in open_calls.values():
        if begin != turn or messages[-1]["role"] != "assistant":
            note(block, "unanswered", state)


def _note_window(
    messages: list[Message],
    window: range,
    calls: list[str],
    open_calls: dict[str, tuple[int, Block]],
    state: Callable[[], dict[str, Any]],
) -> None:
    """Notes what stands behind a turn up to the last result, when it is not just the results of its calls."""
    answered: list[str] = []
    behind = window.start
    for position in window:
        message = messages[position]
        if message["role"] == "tool":
            call = message["content"][0]["tool_use_id"]
            if open_calls.pop(call, None) is None:
                note(message, "unasked", state)
            else:
                answered.append(call)
                behind = position + 1
    if behind - window.start != len(answered) or answered != [call for call in calls if call in answered]:
        for position in range(window.start, behind):
            message = messages[position]
            apart = message["role"] == "tool" and message["content"][0]["tool_use_id"] not in calls
            note(message, "misplaced", state, _APART if apart else True)


def _note_later(
    messages: list[Message],
    window: range,
    asked: set[str],
    open_calls: dict[str, tuple[int, Block]],
    stored: Stored | None,
    state: Callable[[], dict[str, Any]],
) -> None:
    """Notes instructions among open calls, and results that do not come in the order of their calls; `asked` are all calls
    so far."""
    order = list(open_calls)
    ranks: list[int] = []
    results: list[Message] = []
    for position in window:
        message = messages[position]
        if message["role"] == "tool":
            call = message["content"][0]["tool_use_id"]
            if open_calls.pop(call, None) is not None:
                ranks.append(order.index(call))
                results.append(message)
            elif call in asked or stored is None or position not in stored():
                note(message, "unasked", state)
        elif open_calls and message["role"] != "user":
            note(message, "misplaced", state)
    if ranks != sorted(ranks):
        for message in results:
            note(message, "misplaced", state)


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


def _windows(messages: list[Message], wanted: Wanted, first: int) -> Iterator[tuple[int, int, int]]:
    """The same; where results follow their message, each message of the model is a turn."""
    for begin, start, end in turns(messages, first):
        if wanted.behind == MESSAGE:
            for position in range(begin, start - 1):
                yield position, position + 1, position + 1
            yield max(begin, start - 1), start, end
        else:
            yield begin, start, end


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
