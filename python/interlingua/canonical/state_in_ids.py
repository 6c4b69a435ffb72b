"""
Provider-bound state that is carried inside tool call ids (spec/3-responses.md#carried-state).

A client that keeps only the standard members of its wire discards what another provider needs back: the signature of a
call, and the reasoning that led to the call. Such a client does keep the id of a call, and sends it with the call and
with its result. So the id can carry what belongs to the call: `load` puts it there when a response is written for a
client, and `unload` takes it out when the client's next request is read.
"""

import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.validate import violations

Message = dict[str, Any]
Block = dict[str, Any]
Event = dict[str, Any]

CARRIED_BLOCKS: Final = frozenset(("thinking", "redacted_thinking", "opaque"))
"""Blocks that only their provider reads, and that it needs back with the call that follows them."""

MARK: Final = "call_state_"
"""The beginning of ids that hold state. The rest is base64 in the alphabet for URLs, which every wire accepts."""

_ID: Final = re.compile(MARK + r"([A-Za-z0-9_-]{8,})")
_MOST_CHARACTERS: Final = 131_072
"""The limit of an id. Longer state is not carried, so that no client gets an id that it cannot send back."""
_MOST_BYTES: Final = 1_048_576
"""The limit of the unpacked state: a small id must not become a large message."""


# ---------------------------------------------------------------------------------------------- for the client


def load(message: Message, endpoint: Endpoint) -> Message:
    """Return the message of a response, with the state that is foreign to `endpoint` in the ids of its calls.

    An id carries the state of its call and the reasoning before the call. Reasoning also stays in its place, for wires
    that can show it.
    """
    loader = _Loader(endpoint)
    return {**message, "content": [loader.block(block) for block in message["content"]]}


def event_loader(endpoint: Endpoint) -> Generator[list[Event], Event | None, None]:
    """Do the same for a stream: send the generator each event, and None at the end; it yields the events that are due.

    The events of a call that is to be loaded wait until the call, and everything before it, is complete: its id comes
    first in the stream, and the state that the id holds may come last.
    """
    loaders: dict[int, _Loader] = {}
    states: dict[str, dict[str, Any]] = {}  # the states of the loaded calls, by their ids
    awaited: set[tuple[int, int]] = set()  # the open blocks for which calls have to wait
    held: list[Event] = []
    event = yield []
    while event is not None:
        choice: int = event.get("choice") or 0
        loader = loaders.setdefault(choice, _Loader(endpoint))
        match event["type"]:
            case "block_start" if loader.awaits(event["block"], others=bool(awaited)):
                awaited.add((choice, event["index"]))
                holds = bool(held) or event["block"]["type"] == "tool_use"
            case "block_stop":
                awaited.discard((choice, event["index"]))
                holds = bool(held)
            case "message_complete" | "error":
                awaited.clear()
                holds = bool(held)
            case _:
                holds = bool(held)
        held.append(event)
        due: list[Event] = []
        if not holds or not awaited:
            due = list(_loaded(held, loaders, states))
            held = []
        event = yield due
    yield list(_loaded(held, loaders, states))


def _loaded(events: list[Event], loaders: dict[int, "_Loader"], states: dict[str, dict[str, Any]]) -> Iterator[Event]:
    """Yield the events with loaded calls; in them, every call that is to be loaded is complete."""
    ended = {
        (event.get("choice") or 0, event["index"]): event["block"] for event in events if event["type"] == "block_stop"
    }
    for place in sorted(ended):
        block = loaders[place[0]].block(ended[place])
        if block is not ended[place]:
            states[block["id"]] = block["provider_state"]
    for event in events:
        match event["type"]:
            case "block_start" | "block_stop":
                yield {**event, "block": _with_state(event["block"], states)}
            case "message_complete":
                yield {
                    **event,
                    "response": _each_message(event["response"], lambda message: _with_states(message, states)),
                }
            case _:
                yield event


def _with_state(block: Block, states: dict[str, dict[str, Any]]) -> Block:
    if block["type"] != "tool_use" or block["id"] not in states:
        return block
    return {**block, "provider_state": states[block["id"]]}


def _with_states(message: Message, states: dict[str, dict[str, Any]]) -> Message:
    return {**message, "content": [_with_state(block, states) for block in message["content"]]}


def load_response(response: dict[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """Do the same for a whole response, its alternatives included."""
    return _each_message(response, lambda message: load(message, endpoint))


def _each_message(response: dict[str, Any], change: Callable[[Message], Message]) -> dict[str, Any]:
    changed = {**response, "message": change(response["message"])}
    if "alternatives" in response:
        changed["alternatives"] = [
            {**choice, "message": change(choice["message"])} for choice in response["alternatives"]
        ]
    return changed


def carries_state(wire_id: str, endpoint: Endpoint) -> bool:
    """Whether an id holds state for a client of `endpoint`. The provider never sees it: its grammar does not apply."""
    return endpoint.state_in_ids and wire_id.startswith(MARK)


class _Loader:
    """A loader that visits the blocks of one message in order. It loads every call of the message from the first call
    that needs it, so that all ids of the provider can be restored."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._waiting: list[tuple[int, Block]] = []  # carried blocks, each with the number of other blocks behind it
        self._loading = False

    def block(self, block: Block) -> Block:
        """Return the block as the client gets it."""
        if block["type"] == "tool_use":
            return self._call(block)
        if block["type"] not in CARRIED_BLOCKS:
            self._waiting = [(behind + 1, carried) for behind, carried in self._waiting]
        elif self._foreign(block if block["type"] == "opaque" else block.get("provider_state")):
            self._waiting.append((0, block))
        return block

    def awaits(self, block: Block, *, others: bool) -> bool:
        """Whether calls wait until a block that begins is complete; `others`: they wait for other blocks already."""
        foreign = self._foreign(block if block["type"] == "opaque" else block.get("provider_state"))
        if block["type"] == "tool_use":
            return foreign or others or bool(self._waiting)
        return foreign and block["type"] in CARRIED_BLOCKS

    def _call(self, block: Block) -> Block:
        state = block.get("provider_state")
        load: dict[str, Any] = {"id": block["id"]}
        if state is not None and self._foreign(state):
            load["state"] = state
            self._loading = self._loading or bool(state.get("signature") or state.get("fields"))
        if self._waiting:
            load["before"] = [{"behind": behind, "block": carried} for behind, carried in self._waiting]
            self._waiting = []
            self._loading = True
        packed = urlsafe_b64encode(zlib.compress(json.dumps(load), 9)).rstrip(b"=").decode()
        if not self._loading or len(load) == 1 or len(packed) > _MOST_CHARACTERS:
            return block
        return {**block, "provider_state": self._endpoint.state(id=MARK + packed)}

    def _foreign(self, state: dict[str, Any] | None) -> bool:
        return state is not None and not self._endpoint.owns(state)


# ---------------------------------------------------------------------------------------------- from the client


def unload(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request that was read from a client's wire, with the state that its call ids hold restored to its place.

    Ids without state, or with state that cannot be read, are unchanged. The request itself is not changed.
    """
    messages: list[Message] = request["messages"]
    for message in messages:
        role: str = message["role"]
        if role == "assistant":
            blocks: list[Block] = message["content"]
            for block in blocks:
                if _holds_state(block):
                    return _with_all_unloaded(request, messages)
    return request


def _with_all_unloaded(request: dict[str, Any], messages: list[Message]) -> dict[str, Any]:
    ids: dict[str, str] = {}
    taken: set[str] = set()
    unloaded = [_unloaded(message, ids, taken) for message in messages]
    return {**request, "messages": [_renamed(message, ids) for message in unloaded]}


def _wire_id(block: Block) -> str:
    state: dict[str, Any] | None = block.get("provider_state")
    wire_id = None if state is None else state.get("id")
    return wire_id if isinstance(wire_id, str) else ""


def _holds_state(block: Block) -> bool:
    kind: str = block["type"]
    return kind == "tool_use" and MARK in _wire_id(block)


def _unloaded(message: Message, ids: dict[str, str], taken: set[str]) -> Message:
    loaded: list[Block | None] = []  # the blocks up to the last call that held state
    reasoned: dict[str, list[int]] = {}  # the positions in it of reasoning that the client itself sent
    since: list[Block] = []
    for block in message["content"]:
        load = _unpacked(_wire_id(block)) if _holds_state(block) else None
        if load is None:
            since.append(block)
            continue
        identity: str = block["id"] if load["id"] in taken else load["id"]
        ids[block["id"]] = identity
        taken.add(identity)
        before: list[dict[str, Any]] = load.get("before", [])
        # reasoning that the client was shown, and sent back, is the same reasoning
        shown = {item["block"]["text"] for item in before if item["block"]["type"] == "thinking"}
        for text in shown:
            for place in reasoned.pop(text, ()):
                loaded[place] = None
        for item, from_client in _with_carried(since, before, shown):
            if from_client and item["type"] == "thinking":
                reasoned.setdefault(item["text"], []).append(len(loaded))
            loaded.append(item)
        since = []
        call = {name: value for name, value in block.items() if name != "provider_state"} | {"id": identity}
        loaded.append({**call, "provider_state": load["state"]} if "state" in load else call)
    if not loaded:
        return message
    return {**message, "content": [item for item in loaded if item is not None] + since}


def _with_carried(since: list[Block], before: list[dict[str, Any]], shown: set[str]) -> list[tuple[Block, bool]]:
    """Return the blocks before a call, with the blocks that its id carried; each with whether the client sent it."""
    mixed = [(item, True) for item in since if not (item["type"] == "thinking" and item["text"] in shown)]
    sent = len(mixed)
    for position, item in enumerate(before):
        mixed.insert(max(sent - item["behind"], 0) + position, (item["block"], False))
    return mixed


def _unpacked(wire_id: str) -> dict[str, Any] | None:
    """Return the state that an id holds; None when it holds none, or none that Interlingua wrote."""
    match = _ID.fullmatch(wire_id)
    if match is None:
        return None
    try:
        packed = urlsafe_b64decode(match[1] + "=" * (-len(match[1]) % 4))
        load = json.loads(zlib.decompressobj().decompress(packed, _MOST_BYTES))
    except (ValueError, zlib.error, InvalidRequest):
        return None
    if not isinstance(load, dict) or violations({**_CALL, **_call_of(load)}, "ContentBlock"):
        return None
    before = load.get("before", [])
    return load if isinstance(before, list) and all(_is_carried(item) for item in before) else None


def _is_carried(item: Any) -> bool:
    # without a pattern of `match`: in compiled code, a class pattern that captures does not match
    if not isinstance(item, dict):
        return False
    behind, block = item.get("behind"), item.get("block")
    if not isinstance(behind, int) or behind < 0 or not isinstance(block, dict):
        return False
    kind = block.get("type")
    return isinstance(kind, str) and kind in CARRIED_BLOCKS and not violations(block, "ContentBlock")


_CALL: Final[Block] = {"type": "tool_use", "name": "call", "input": {}}


def _call_of(load: dict[str, Any]) -> Block:
    return {"id": load.get("id")} | ({"provider_state": load["state"]} if "state" in load else {})


def _renamed(message: Message, ids: dict[str, str]) -> Message:
    """Return the message with the new ids of the calls in its results."""
    if not any(block["type"] == "tool_result" and block["tool_use_id"] in ids for block in message["content"]):
        return message
    content = [
        {**_unstated(block), "tool_use_id": ids[block["tool_use_id"]]}
        if block["type"] == "tool_result" and block["tool_use_id"] in ids
        else block
        for block in message["content"]
    ]
    renamed = {**message, "content": content}
    parent = (message.get("metadata") or {}).get("parent_tool_use_id")
    if parent in ids:
        renamed["metadata"] = {**message["metadata"], "parent_tool_use_id": ids[parent]}
    return renamed


def _unstated(result: Block) -> Block:
    """Return a result without the wire id of its call, which is the loaded id."""
    state = result.get("provider_state")
    if state is None or MARK not in str(state.get("id", "")):
        return result
    return {**result, "provider_state": {name: value for name, value in state.items() if name != "id"}}
