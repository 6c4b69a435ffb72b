"""
Provider-bound state that travels inside tool call ids (spec/3-responses.md#carried-state).

A client of one wire that keeps the standard members alone throws away what an answer of another provider needs back:
the signature of a call, the reasoning that led to it. Such clients do keep the id of a call, and send it with the call
and with its result. So what belongs to a call can ride in its id: `load` puts it there when an answer is written for a
client, `unload` takes it out when the client's next request is read.
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
"""Blocks that their provider alone reads, and wants back with the call that follows them."""

MARK: Final = "call_state_"
"""Begins the ids that hold state. The rest is base64 in the alphabet for URLs: letters that every wire takes."""

_ID: Final = re.compile(MARK + r"([A-Za-z0-9_-]{8,})")
_MOST_CHARACTERS: Final = 131_072
"""Of the id; what is longer is not carried, so that no client is given an id that it cannot send back."""
_MOST_BYTES: Final = 1_048_576
"""Of what an id unpacks to: a small id must not become a large message."""


# ---------------------------------------------------------------------------------------------- for the client


def load(message: Message, endpoint: Endpoint) -> Message:
    """The message of an answer, with the state that is foreign to `endpoint` in the ids of the calls it belongs to.

    A call takes its own state and the reasoning that stands before it. Reasoning also stays where it is: a wire that
    shows it shows it.
    """
    loader = _Loader(endpoint)
    return {**message, "content": [loader.block(block) for block in message["content"]]}


def event_loader(endpoint: Endpoint) -> Generator[list[Event], Event | None, None]:
    """The same for the events of a streamed answer: give it events, and None at the end; it gives those that are due.

    A call that is to be loaded is told when it is whole, with all that stands before it: its id comes first, and what
    the id holds may come last.
    """
    loaders: dict[int, _Loader] = {}
    states: dict[str, dict[str, Any]] = {}  # of the loaded calls, by their ids
    awaited: set[tuple[int, int]] = set()  # blocks that calls have to wait for
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
    """Some events in which every call that is to be loaded is whole."""
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
    """The same for a whole answer, its alternatives included."""
    return _each_message(response, lambda message: load(message, endpoint))


def _each_message(response: dict[str, Any], change: Callable[[Message], Message]) -> dict[str, Any]:
    changed = {**response, "message": change(response["message"])}
    if "alternatives" in response:
        changed["alternatives"] = [
            {**choice, "message": change(choice["message"])} for choice in response["alternatives"]
        ]
    return changed


def carries_state(wire_id: str, endpoint: Endpoint) -> bool:
    """Whether an id holds state for a client of `endpoint`: the grammar of its provider, which never sees it, is void."""
    return endpoint.state_in_ids and wire_id.startswith(MARK)


class _Loader:
    """Goes along the blocks of one message. From the first call that needs it, every call of the message is loaded, so
    that a provider finds all its ids as they were."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._waiting: list[tuple[int, Block]] = []  # passengers, and how many other blocks stand behind each
        self._loading = False

    def block(self, block: Block) -> Block:
        """The block as the client gets it."""
        if block["type"] == "tool_use":
            return self._call(block)
        if block["type"] not in CARRIED_BLOCKS:
            self._waiting = [(behind + 1, passenger) for behind, passenger in self._waiting]
        elif self._foreign(block if block["type"] == "opaque" else block.get("provider_state")):
            self._waiting.append((0, block))
        return block

    def awaits(self, block: Block, *, others: bool) -> bool:
        """Whether a block that begins has to be whole before calls can be told; `others`: some are awaited already."""
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
            load["before"] = [{"behind": behind, "block": passenger} for behind, passenger in self._waiting]
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
    """A request that was read from a client's wire, with the state that its call ids hold back in its place.

    Ids that hold none, or nothing that can be read, stay as they are. The request itself is not changed.
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
    found = None if state is None else state.get("id")
    return found if isinstance(found, str) else ""


def _holds_state(block: Block) -> bool:
    kind: str = block["type"]
    return kind == "tool_use" and MARK in _wire_id(block)


def _unloaded(message: Message, ids: dict[str, str], taken: set[str]) -> Message:
    loaded: list[Block | None] = []  # up to the last call that held something
    reasoned: dict[str, list[int]] = {}  # where in it the client itself says reasoning
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
        # what the client was shown of reasoning, and said again, is the same reasoning
        shown = {item["block"]["text"] for item in before if item["block"]["type"] == "thinking"}
        for text in shown:
            for place in reasoned.pop(text, ()):
                loaded[place] = None
        for item, own in _with_passengers(since, before, shown):
            if own and item["type"] == "thinking":
                reasoned.setdefault(item["text"], []).append(len(loaded))
            loaded.append(item)
        since = []
        call = {name: value for name, value in block.items() if name != "provider_state"} | {"id": identity}
        loaded.append({**call, "provider_state": load["state"]} if "state" in load else call)
    if not loaded:
        return message
    return {**message, "content": [item for item in loaded if item is not None] + since}


def _with_passengers(since: list[Block], before: list[dict[str, Any]], shown: set[str]) -> list[tuple[Block, bool]]:
    """The blocks before a call with those that rode in its id; and of each whether the client said it."""
    mixed = [(item, True) for item in since if not (item["type"] == "thinking" and item["text"] in shown)]
    said = len(mixed)
    for position, item in enumerate(before):
        mixed.insert(max(said - item["behind"], 0) + position, (item["block"], False))
    return mixed


def _unpacked(wire_id: str) -> dict[str, Any] | None:
    """What an id holds; None when it holds nothing, or something that is no load of ours."""
    found = _ID.fullmatch(wire_id)
    if found is None:
        return None
    try:
        packed = urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4))
        load = json.loads(zlib.decompressobj().decompress(packed, _MOST_BYTES))
    except (ValueError, zlib.error, InvalidRequest):
        return None
    if not isinstance(load, dict) or violations({**_CALL, **_call_of(load)}, "ContentBlock"):
        return None
    before = load.get("before", [])
    return load if isinstance(before, list) and all(_is_passenger(item) for item in before) else None


def _is_passenger(item: Any) -> bool:
    # no pattern: compiled, a class in one that captures does not match
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
    """The message with the ids that its results name as the calls have them now."""
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
    """A result without the wire's own name of the call, which is the loaded one."""
    state = result.get("provider_state")
    if state is None or MARK not in str(state.get("id", "")):
        return result
    return {**result, "provider_state": {name: value for name, value in state.items() if name != "id"}}
