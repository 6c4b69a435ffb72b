"""
The order of messages: the places of the results of calls, and the messages that move to bring results there.

On all wires results follow their calls directly, in the order of the calls. With `by_turn`, the results follow the turn
of the model, which may be several messages. Without it, they follow the message that holds the calls. This module pairs
calls and results for all wires, and refuses those that do not pair.

An unusual order that was read from the wire is kept; one that an edit made is repaired. A reader notes what is unusual
(`note_disorder`), in the `encoding` of the provider state:

- `answers`, in the last message of a turn of the model: the messages that followed it.
- `unasked`, in a result message: no open call has this result.
- `unanswered`, in a call: it has no result.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from interlingua.adapters._engine.kit import note_spelling
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]
Message = dict[str, Any]
Order = range | list[int]
"""The positions of messages in the order of the wire; a range if no message moves."""
Stored = Callable[[], Collection[int]]
Moves = list[tuple[int, int]]
"""The position of a message, and the one before which it is on the wire."""

WHY: Final = "results follow their calls directly, in the order of the calls"
INSTRUCTIONS: Final = ("system", "developer")
_ANSWERS: Final = "answers"
ANSWER_IT: Final = "add a tool message that answers it, or set loss_policy.unanswered to placeholder"


def in_order(messages: list[Message], first: int, *, by_turn: bool) -> bool:
    """Whether messages from `first` on are in the order that all wires require: the results follow their calls
    directly, in the order of the calls, and no two calls have the same id."""
    met: set[str] = set()
    calls: list[str] = []
    answered = 0
    previous = ""
    for position in range(first, len(messages)):
        message = messages[position]
        role: str = message["role"]
        content: list[Block] = message["content"]
        if role == "tool":
            if answered == len(calls) or len(content) != 1:
                return False
            held: str = content[0]["type"]
            if held != "tool_result" or content[0]["tool_use_id"] != calls[answered]:
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
                    call: str = block["id"]
                    if call in met:
                        return False
                    met.add(call)
                    calls.append(call)
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
    """The positions of messages from `first` on in the order of the wire; a range if they are in it already.

    Without `as_read`, the notes that were made when they were read are ignored. `stored` returns the positions of the
    results of calls that the provider stores. Raises `InvalidRequest` with a pointer if calls and results do not pair,
    unless they were read so.
    """
    if in_order(messages, first, by_turn=by_turn):
        return range(first, len(messages))
    if writing.untouched:
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
"""The position of the message that a result is placed behind; the positions of the message and the block of its
call."""
_Window = tuple[int, int, int]
"""The positions where a turn of the model begins, where the messages that answer it begin, and where those end."""


def _paired(
    messages: list[Message], windows: list[_Window], writing: Writing, as_read: bool, stored: Stored | None
) -> dict[int, _Place]:
    """By the position of a result, its place behind the call that it answers."""
    adapter = writing.endpoint.adapter
    asked: dict[str, _Place] = {}
    unanswered: dict[str, Block] = {}
    places: dict[int, _Place] = {}
    for begin, start, end in windows:
        for position, index, block in _calls(messages, begin, start):
            if block["id"] in asked:
                why = "an earlier call has this id; give each call its own id"
                path: Path = ("messages", position, "content", index, "id")
                raise InvalidRequest(why, path=pointer(path), adapter=adapter)
            asked[block["id"]] = start - 1, position, index
            unanswered[block["id"]] = block
        for position in range(start, end):
            if messages[position]["role"] != "tool":
                continue
            result = result_of(messages[position], ("messages", position), adapter)
            if as_read and writing.encoding_of(messages[position]).get("unasked"):
                continue
            call: str = result["tool_use_id"]
            if call in unanswered:
                del unanswered[call]
                places[position] = asked[call]
            elif call in asked or stored is None or position not in stored():
                raise _without_open_call(position, adapter, answered=call in asked)
    for call, block in unanswered.items():
        home, position, index = asked[call]
        if home != len(messages) - 1 and not (as_read and writing.encoding_of(block).get("unanswered")):
            why = f"the call has no result, and other turns follow; {ANSWER_IT}"
            raise InvalidRequest(why, path=pointer(("messages", position, "content", index)), adapter=adapter)
    return places


def _calls(messages: list[Message], begin: int, start: int) -> Iterator[tuple[int, int, Block]]:
    """The calls in the messages from `begin` to `start`, each with the positions of its message and its block."""
    for position in range(begin, start):
        for index, block in enumerate(messages[position]["content"]):
            if block["type"] == "tool_use":
                yield position, index, block


def _without_open_call(position: int, adapter: str, *, answered: bool) -> InvalidRequest:
    """The error for a result of which no call is open; `answered`: another result came before it."""
    where = pointer(("messages", position, "content", 0, "tool_use_id"))
    if answered:
        why = "the call already has a result; send one result for each call"
        return InvalidRequest(why, path=where, adapter=adapter)
    return ResultWithoutCall("no call before this result has its id", path=where, adapter=adapter)


def result_of(message: Message, path: Path, adapter: str) -> Block:
    """The one result of a tool message. Raises `InvalidRequest` for any other content."""
    content: list[Block] = message["content"]
    if len(content) != 1 or content[0]["type"] != "tool_result":
        why = "a tool message holds exactly one tool_result"
        raise InvalidRequest(why, path=pointer((*path, "content")), adapter=adapter)
    return content[0]


def _kept(messages: list[Message], windows: list[_Window], places: dict[int, _Place], writing: Writing) -> set[int]:
    """The positions of the messages that stay in their place: the turn before them is answered as it was when it was
    read."""
    kept: set[int] = set()
    # turns with results that an edit placed elsewhere: what was noted of these turns is ignored
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
    """The messages behind a turn, as they are noted: of a result its call, of any other message its role."""
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
    """Note in messages that were just read what is not in the order of a writer; `state` makes a provider state.

    `by_turn` and `stored` are those of `arranged`.
    """
    first = 0
    while first < len(messages) and messages[first]["role"] in INSTRUCTIONS:
        first += 1
    if in_order(messages, first, by_turn=by_turn):
        return
    open_calls: dict[str, Block] = {}
    calls: list[str] = []
    for begin, start, end in _windows(messages, first, by_turn=by_turn):
        asked = [block for _, _, block in _calls(messages, begin, start)]
        calls = [block["id"] for block in asked]
        open_calls.update(zip(calls, asked, strict=True))
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
                note_spelling(messages[position], "unasked", state)
        if past - start != len(answered) or answered != [call for call in calls if call in answered]:
            note_spelling(messages[start - 1], _ANSWERS, state, _answers(messages, start, past))
    last = calls if messages[-1]["role"] == "assistant" else []
    for call, block in open_calls.items():
        if call not in last:
            note_spelling(block, "unanswered", state)


# ---------------------------------------------------------------------------------------------------- turns


def turns(messages: list[Message], first: int) -> Iterator[tuple[int, int, int]]:
    """For each turn, the positions where the messages of the model begin, where those that answer it begin, and where
    those end."""
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
    """The same as `turns`; without `by_turn`, each message of the model is a turn."""
    for begin, start, end in turns(messages, first):
        if by_turn:
            yield begin, start, end
            continue
        for position in range(begin, start - 1):
            yield position, position + 1, position + 1
        yield max(begin, start - 1), start, end


def are_paired(read: list[Message], meant: list[Message]) -> bool:
    """Whether the messages that were written are `read` as they were `meant`: each result as that of its call.

    Many results are identified by name and place alone, and an edit may change both.
    """
    found, wanted = _calls_and_results(read), _calls_and_results(meant)
    pairs = set(zip(found, wanted, strict=False))
    return len(found) == len(wanted) and len(pairs) == len(set(found)) == len(set(wanted))


def _calls_and_results(messages: list[Message]) -> list[str]:
    """The ids of calls, and of the calls that results answer, in order."""
    found: list[str] = []
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use":
                found.append(block["id"])
            elif block["type"] == "tool_result":
                found.append(block["tool_use_id"])
    return found


# ---------------------------------------------------------------------------------------------------- moves


def longest_rising(values: list[int]) -> set[int]:
    """The longest selection of values that rises: the messages that keep their place."""
    return heaviest_rising(values, [1] * len(values))


def heaviest_rising(values: list[int], weights: list[int]) -> set[int]:
    """The heaviest selection of values that rises."""
    if not values:
        return set()
    best: list[tuple[int, int]] = []  # for each value: weight of the best selection that ends with it, index before it
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
    """The moves that bring positions into an `order` while those in `staying` keep their place; `end` is the position
    behind the last."""
    target = end
    moves: Moves = []
    for position in reversed(order):
        if position in staying:
            target = position
        else:
            moves.append((position, target))
    return moves[::-1]


def moves_behind(order: Order, messages: list[Message], first: int = 0, pinned: Collection[int] = ()) -> Moves:
    """The moves that bring messages from `first` on into an order. If possible, results stay in their place rather than
    other messages, and the `pinned` results rather than other results."""
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
    """The positions that keep their place in a window."""
    weights = [
        1_000_000 if position in pinned else 1000 if messages[position]["role"] == "tool" else 1 for position in window
    ]
    return heaviest_rising(window, weights)
