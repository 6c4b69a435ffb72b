"""The order of turns: results behind their calls, what a conversation begins with, and where the model demands signatures."""

from interlingua.adapters._order import Moves, arranged, longest_rising, moves_to, surveyed
from interlingua.adapters.gemini_generate.contents import INSTRUCTIONS, Message
from interlingua.adapters.gemini_generate.context import Reading, Writing, generation, turns
from interlingua.adapters.gemini_generate.media import MEDIA
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt
from interlingua.canonical.ids import NamedIds


def in_order(messages: list[Message], first: int, writing: Writing) -> "range | list[int]":
    """The positions of messages as the wire wants them; what was read in another order stays in it."""
    if surveyed(messages, first)[0]:
        return range(first, len(messages))
    odd = writing.oddities(messages)
    order, moves = arranged(messages, first, odd)
    if any(odd) and not find_their_calls(messages, order, writing):
        writing.paired = False  # an edit: results are no longer read as those of their calls
        order, moves = arranged(messages, first)
    if moves and not writing.takes_media_in_results() and not _leave_turns(messages, order, writing):
        moves = [move for turn in turns(messages) for move in _moves_of(turn, messages, order, moves)]
    writing.moves += [(("messages", position), ("messages", to)) for position, to in moves]
    return order


def _leave_turns(messages: list[Message], order: list[int], writing: Writing) -> bool:
    """Whether results leave their turn, which came when the model had spoken again.

    Raises `CannotAdapt` where media of results go behind them: there are then two reasons for one place.
    """
    late = -1
    for position in order:
        if messages[position]["role"] != "assistant":
            late = max(late, position)
        elif position < late:
            break
    else:
        return False
    if any(message["role"] == "tool" and _holds_media(message) for message in messages):
        why = "a result came when the model had spoken again, and media of results travel behind them to this model"
        raise CannotAdapt(why, path=f"/messages/{late}", adapter=writing.endpoint.adapter)
    return True


def _moves_of(turn: range, messages: list[Message], order: list[int], moves: Moves) -> Moves:
    """The moves of a turn. Where media go behind its results, the last of these stays: nothing else moves to that place."""
    found = [move for move in moves if move[0] in turn]
    positions = [position for position in order if position in turn]
    results = [position for position in positions if messages[position]["role"] == "tool"]
    if not found or not any(_holds_media(messages[position]) for position in results):
        return found
    last = results[-1]
    staying = {last, *longest_rising([position for position in results if position < last])}
    staying.update(position for position in positions[len(results) :] if position > last)
    return moves_to(positions, staying, turn.stop)


def _holds_media(message: Message) -> bool:
    return any(block["type"] in MEDIA for block in message["content"][0]["content"])


def begins_with_call(messages: list[Message], order: "range | list[int]") -> bool:
    """Whether a call comes before any user turn."""
    for position in order:
        message = messages[position]
        if message["role"] in INSTRUCTIONS and position == 0:
            continue
        if message["role"] != "assistant":
            return False
        if any(block["type"] == "tool_use" for block in message["content"]):
            return True
    return False


# ------------------------------------------------------------------------------------------ pairing


def find_their_calls(messages: list[Message], order: "range | list[int]", writing: Writing) -> bool:
    """Whether results of an own request are read as those of their calls: most say so by place alone, which an edit changes."""
    reading = Reading(writing.endpoint, NamedIds())
    calls: dict[str, tuple[str, str, str | None]] = {}
    alone: set[str] = set()
    previous = ""
    for position in order:
        message = messages[position]
        role = message["role"]
        if role == "assistant":
            if previous != role:
                reading.turn()
            for block in message["content"]:
                if block["type"] == "tool_use":
                    name, wire_id = block["name"], writing.owned(block).get("id") or None
                    calls[block["id"]] = reading.call(name, wire_id), name, wire_id
        elif role == "tool" and message["content"] and message["content"][0]["type"] == "tool_result":
            block = message["content"][0]
            encoding = writing.encoding_of(block)
            expected, name, wire_id = calls.get(block["tool_use_id"], ("", "", None))
            found, _, called = reading.result(encoding.get("name", name) or "", encoding.get("id", wire_id) or None)
            if found != expected and (expected or called is not None):
                return False
            if called is None:
                if block["tool_use_id"] in alone:
                    return False
                alone.add(block["tool_use_id"])
        previous = role
    return True


# ------------------------------------------------------------------------------------------ signatures


def demands_signatures(endpoint: Endpoint, model: str) -> bool:
    """Whether a model demands signatures of its calls."""
    demanded = endpoint.capabilities.get("thought_signatures")
    return generation(model, 0) > 2 if demanded is None else demanded is True


def signed_from(messages: list[Message], order: "range | list[int]", writing: Writing) -> int | None:
    """The last user message: behind it the model demands a signature on the first call of every step. None: nowhere."""
    if not order or not demands_signatures(writing.endpoint, writing.model):
        return None
    last = -1
    for position in order:
        if messages[position]["role"] not in ("assistant", "tool"):
            last = position
    return last
