"""
Calls without a result and results without a call, before a conversation is written.

A call without a result is refused, or closed with a result that states this (spec/6-loss.md#unanswered). If a call is
in an opaque item of another provider, it is not written here; nor is its result, which is replaced by a placeholder
or dropped (spec/6-loss.md#provider-calls). No adapter handles this: it gets the messages that remain, and the
pointers of its report are mapped back to the original request.
"""

from typing import Any, Final, cast

from interlingua.adapters._contract import Adapter
from interlingua.adapters._engine.kit import absent_member, encoding_of, note_spelling
from interlingua.adapters._history.order import ANSWER_IT, turns
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidRequest
from interlingua.canonical.loss import PLACEHOLDER, Entry, Loss, entry_of, pointer
from interlingua.canonical.types import LossOp

Block = dict[str, Any]
Message = dict[str, Any]
Request = dict[str, Any]
_NONE: Final[frozenset[int]] = frozenset()
Added = tuple[int, Message]
"""The position of the message before which a result is added, and the message that holds the result."""

_UNANSWERED: Final = "unanswered"
_TEXT: Final = "[no result: the call was not answered]"
_NOTE: Final = "the call has no result: a result that states this follows it"


def to_wire(adapter: Adapter, request: Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a validated request with the adapter; calls and results without a partner are treated as the module states.

    Raises `InvalidRequest` for a conversation that ends in an open call if the endpoint does not accept that, and the
    errors of the adapter.
    """
    messages: list[Message] = request["messages"]
    policy: dict[str, Any] | None = request.get("loss_policy")
    closes = policy is not None and policy.get(_UNANSWERED) == PLACEHOLDER
    strays = _results_of_others(messages, endpoint)
    added = _missing_results(request, endpoint) if closes else []
    if strays or added:
        return _paired_to_wire(adapter, request, strays, added, endpoint)
    if not closes:
        _refuse_open_end(request, endpoint)
    return adapter.to_wire(cast("types.Request", request), endpoint)


def note_open_end(request: Request, endpoint: Endpoint) -> None:
    """Note in a request that was just read the calls in which it ends, so that it can be written back as it came."""
    messages: list[Message] = request["messages"]
    if messages and messages[-1]["role"] == "assistant":
        calls = [block["id"] for block in _last_calls(messages).values()]
        if calls:
            note_spelling(request, _UNANSWERED, endpoint.state, calls)


def _last_calls(messages: list[Message]) -> dict[tuple[int, int], Block]:
    """The calls of the last turn of a conversation, by the positions of message and block."""
    begin = len(messages)
    while begin and messages[begin - 1]["role"] == "assistant":
        begin -= 1
    return {
        (position, index): block
        for position in range(begin, len(messages))
        for index, block in enumerate(messages[position]["content"])
        if block["type"] == "tool_use"
    }


def _read_open(request: Request, endpoint: Endpoint) -> set[str]:
    """The ids of the calls in which the conversation ended when it was read from this wire."""
    recorded = encoding_of(request, endpoint).get(_UNANSWERED)
    return set(recorded) if isinstance(recorded, list) else set()


def _refuse_open_end(request: Request, endpoint: Endpoint) -> None:
    messages: list[Message] = request["messages"]
    if not messages or messages[-1]["role"] != "assistant" or endpoint.dialect.get("open_calls"):
        return
    calls = _last_calls(messages)
    as_read = _read_open(request, endpoint)
    for (position, index), block in calls.items():
        if block["id"] not in as_read:
            raise InvalidRequest(
                f"the conversation ends in a call without a result, which the target does not accept; {ANSWER_IT}",
                path=pointer(("messages", position, "content", index)),
                adapter=endpoint.adapter,
            )


# ---------------------------------------------------------------------------------------------------- closing calls


def _missing_results(request: Request, endpoint: Endpoint) -> list[Added]:
    """A result for each open call, in the order of the calls and behind their turn; none for calls that were read
    without one."""
    messages: list[Message] = request["messages"]
    answered = {
        block.get("tool_use_id") for message in messages if message["role"] == "tool" for block in message["content"]
    }
    added: list[Added] = []
    for begin, start, end in turns(messages, 0):
        ranks: dict[str, int] = {}
        missing: list[str] = []
        for position in range(begin, start):
            for block in messages[position]["content"]:
                if block["type"] == "tool_use" and block["id"] not in ranks:
                    ranks[block["id"]] = len(ranks)
                    if block["id"] not in answered and not encoding_of(block, endpoint).get(_UNANSWERED):
                        missing.append(block["id"])
        if not missing:
            continue
        if start == len(messages):
            as_read = _read_open(request, endpoint)
            missing = [call for call in missing if call not in as_read]
        added += [(_place(messages, start, end, ranks, call), _result(call)) for call in missing]
    return added


def _place(messages: list[Message], start: int, end: int, ranks: dict[str, int], call: str) -> int:
    """The position before which the result of a call is added: among the results behind its turn, in the order of the
    calls."""
    place = start
    for position in range(start, end):
        message = messages[position]
        if message["role"] != "tool" or not message["content"]:
            continue
        rank = ranks.get(message["content"][0].get("tool_use_id", ""))
        if rank is not None:
            if rank > ranks[call]:
                return position
            place = position + 1
    return place


def _result(call: str) -> Message:
    content = [{"type": "text", "text": _TEXT}]
    result = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": True}
    return {"role": "tool", "content": [result]}


# --------------------------------------------------------------------------------------------- calls of other providers


def _results_of_others(messages: list[Message], endpoint: Endpoint) -> frozenset[int]:
    """The positions of messages with results of calls that are in opaque items of another provider, which are not
    written here."""
    kept: set[str] = set()
    for message in messages:
        role: str = message["role"]
        if role == "assistant":
            content: list[Block] = message["content"]
            for block in content:
                kind: str = block["type"]
                if kind == "opaque" and not endpoint.owns(block):
                    kept.update(_ids_of(block["value"]))
    if not kept:
        return _NONE
    calls = {
        block["id"]
        for message in messages
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "tool_use"
    }
    strays: set[int] = set()
    for position, message in enumerate(messages):
        if message["role"] == "tool" and len(message["content"]) == 1:
            result = message["content"][0]
            state: dict[str, Any] = result.get("provider_state") or {}
            if state.get("id") in kept and result.get("tool_use_id") not in calls and not endpoint.owns(state):
                strays.add(position)
    return frozenset(strays)


def _ids_of(value: Any) -> set[str]:
    """The ids of an item, or of the member that it consists of."""
    if not isinstance(value, dict):
        return set()
    parts = [value, *(part for part in value.values() if isinstance(part, dict))]
    return {part[name] for part in parts for name in _IDS if isinstance(part.get(name), str)}


_IDS: Final = ("call_id", "id", "toolUseId")


# --------------------------------------------------------------------------------------------- the messages that remain


def _paired_to_wire(
    adapter: Adapter, request: Request, strays: frozenset[int], added: list[Added], endpoint: Endpoint
) -> tuple[types.WireRequest, list[Entry]]:
    """Write a request without the results of other providers' calls (`strays`) and with the `added` results; return
    also the whole report."""
    policy: dict[str, Any] = request.get("loss_policy") or {}
    loss = Loss(policy)
    messages: list[Message] = request["messages"]
    placeholder_or_drop = {position: _without_call(messages[position], position, loss) for position in sorted(strays)}
    if strays and not loss.placeholders:
        last = len(messages) - 1
        while last in placeholder_or_drop:
            last -= 1
        if last < len(messages) - 1 and _is_all_foreign(messages[last], endpoint):
            _drop_turn(messages[last], last, loss)
            placeholder_or_drop[last] = None
    places = _Places(request, placeholder_or_drop, added)
    paired = {**request, "messages": places.messages}
    try:
        if policy.get(_UNANSWERED) != PLACEHOLDER:
            _refuse_open_end(paired, endpoint)
        wire, found = adapter.to_wire(cast("types.Request", paired), endpoint)
    except (InvalidRequest, CannotAdapt) as refusal:
        if refusal.path is not None:
            refusal.path = places.written(refusal.path)
        raise
    return wire, loss.entries + places.report(found)


def _without_call(message: Message, position: int, loss: Loss) -> Message | None:
    """The message that replaces a result of a call that is not written here: a placeholder in a user turn, or None."""
    path = ("messages", position)
    why = "the result of a call that another provider keeps"
    text = loss.block((*path, "content", 0), message["content"][0], "foreign_state", "lost", why)
    if text is None:
        loss.drop(path, "empty_content", "representation", "nothing is left of the message")
        return None
    loss.replace((*path, "role"), "user", "role_folded", "representation", "a placeholder is not a result")
    return {**message, "role": "user", "content": [text]}


def _is_all_foreign(message: Message, endpoint: Endpoint) -> bool:
    """Whether a turn of the model holds nothing but items of another provider."""
    return message["role"] == "assistant" and all(
        block["type"] == "opaque" and not endpoint.owns(block) for block in message["content"]
    )


def _drop_turn(message: Message, position: int, loss: Loss) -> None:
    """Drop a turn that has lost its results: at the end of a conversation, the model would continue an empty turn."""
    path = ("messages", position)
    for index, block in enumerate(message["content"]):
        loss.block((*path, "content", index), block, "foreign_state", "lost", "an item of another provider")
    loss.drop(path, "empty_content", "representation", "nothing is left of the message")


class _Places:
    """The messages that remain, and the place of each in the original request.

    `placeholder_or_drop` has, by position, the message that replaces a message; None if it is dropped. An added
    result is reported as an `absent_member` of the request that is moved to its place.
    """

    def __init__(self, request: Request, placeholder_or_drop: dict[int, Message | None], added: list[Added]) -> None:
        written: list[Message] = request["messages"]
        coming: dict[int, list[int]] = {}
        for number, (place, _) in enumerate(added):
            coming.setdefault(place, []).append(number)
        self.messages: list[Message] = []
        self._elements: list[str] = []  # the pointer of each message
        self._before: list[int] = []  # for each message and the end, the original position that it is at or before
        self._added: list[str] = []
        for position in range(len(written) + 1):
            for number in coming.get(position, ()):
                self._added.append(pointer((absent_member(request, f"result_{number + 1}"),)))
                self._put(added[number][1], self._added[-1], position)
            if position < len(written):
                message = placeholder_or_drop.get(position, written[position])
                if message is not None:
                    self._put(message, pointer(("messages", position)), position)
        self._before.append(len(written))

    def _put(self, message: Message, element: str, position: int) -> None:
        self.messages.append(message)
        self._elements.append(element)
        self._before.append(position)

    def written(self, path: str) -> str:
        """Map a pointer into the messages that remain to one into the original request with its added members."""
        steps = path.split("/")
        if len(steps) > 2 and steps[1] == "messages" and steps[2].isdigit():
            return "/".join((self._elements[int(steps[2])], *steps[3:]))
        return path

    def report(self, loss: list[Entry]) -> list[Entry]:
        """The report of the adapter, together with that of the added results.

        Entries that change an added result come first, while it has its pointer. It is moved before any message that
        moves to a place behind it.
        """
        places = {path: at for at, path in enumerate(self._elements) if path in self._added}
        report: list[Entry] = [_entry("replace", path, value=self.messages[at]) for path, at in places.items()]
        others: list[Entry] = []
        for entry in loss:
            path = self.written(entry["path"])
            inside = any(path.startswith(added + "/") for added in places)
            (report if inside else others).append({**entry, "path": path})
        for entry in others:
            if entry["path"] in places:
                del places[entry["path"]]
            if "to" in entry:
                entry["to"] = self._target(entry["op"], entry["to"], places, report)
            report.append(entry)
        self._settle(places, len(self.messages), report)
        return report

    def _target(self, op: str, to: str, places: dict[str, int], report: list[Entry]) -> str:
        """The target of an entry of the adapter that moves or merges."""
        steps = to.split("/")
        if op != "move" or len(steps) != 3 or steps[1] != "messages":
            return self.written(to)
        at = len(self.messages) if steps[2] == "-" else int(steps[2])
        self._settle(places, at, report)
        return pointer(("messages", self._before[at]))

    def _settle(self, places: dict[str, int], end: int, report: list[Entry]) -> None:
        """Report the moves of the added results before the position `end`."""
        for path, at in list(places.items()):
            if at < end:
                report.append(_entry("move", path, to=pointer(("messages", self._before[at]))))
                del places[path]


def _entry(op: LossOp, path: str, **members: Any) -> Entry:
    return entry_of(op, path, _UNANSWERED, "representation", _NOTE, **members)
