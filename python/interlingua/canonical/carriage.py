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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.validate import violations

Message = dict[str, Any]
Block = dict[str, Any]
Event = dict[str, Any]
Waiting = list[tuple[int, Block]]
"""Reasoning that waits for a call, and how many other blocks stand behind it."""

REASONING = frozenset(("thinking", "redacted_thinking"))
MARK = "call_state_"
"""Begins the ids that hold state. The rest is base64 in the alphabet for URLs: letters that every wire takes."""

_ID = re.compile(MARK + r"([A-Za-z0-9_-]{8,})")
_MOST_CHARACTERS = 131_072
"""Of the id; what is longer is not carried, so that no client is given an id that it cannot send back."""
_MOST_BYTES = 1_048_576
"""Of what an id unpacks to: a small id must not become a large message."""


# ---------------------------------------------------------------------------------------------- for the client


def load(message: Message, endpoint: Endpoint) -> Message:
    """The message of an answer, with the state that is foreign to `endpoint` in the ids of the calls it belongs to.

    A call takes its own state and the reasoning that stands before it. Reasoning also stays where it is: a wire that
    shows it shows it.
    """
    waiting: Waiting = []
    return {**message, "content": [_loaded(block, waiting, endpoint) for block in message["content"]]}


def load_events(events: Iterable[Event], endpoint: Endpoint) -> Iterator[Event]:
    """The same for the events of a streamed answer."""
    waiting: dict[int, Waiting] = {}
    states: dict[str, dict[str, Any]] = {}  # of the calls, for the end of their blocks
    for event in events:
        block: Block = event.get("block") or {}
        match event["type"]:
            case "block_start" if block["type"] == "tool_use":
                loaded = _loaded(block, waiting.setdefault(event.get("choice") or 0, []), endpoint)
                if loaded is not block:
                    states[block["id"]] = loaded["provider_state"]
                yield {**event, "block": loaded}
            case "block_stop" if block["type"] == "tool_use" and block["id"] in states:
                yield {**event, "block": {**block, "provider_state": states[block["id"]]}}
            case "block_stop" if block["type"] != "tool_use":
                _pass(block, waiting.setdefault(event.get("choice") or 0, []), endpoint)
                yield event
            case "message_complete":
                yield {**event, "response": load_response(event["response"], endpoint)}
            case _:
                yield event


def load_response(response: dict[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """The same for a whole answer, its alternatives included."""
    loaded = {**response, "message": load(response["message"], endpoint)}
    if "alternatives" in response:
        loaded["alternatives"] = [
            {**choice, "message": load(choice["message"], endpoint)} for choice in response["alternatives"]
        ]
    return loaded


def _loaded(block: Block, waiting: Waiting, endpoint: Endpoint) -> Block:
    if block["type"] != "tool_use":
        _pass(block, waiting, endpoint)
        return block
    state = _foreign_state(block, endpoint)
    if not waiting and not (state.get("signature") or state.get("fields")):
        return block
    load: dict[str, Any] = {"id": block["id"]}
    if state:
        load["state"] = state
    if waiting:
        load["reasoning"] = [{"behind": behind, "block": reasoning} for behind, reasoning in waiting]
        waiting.clear()
    packed = urlsafe_b64encode(zlib.compress(json.dumps(load), 9)).rstrip(b"=").decode()
    if len(packed) > _MOST_CHARACTERS:
        return block
    return {**block, "provider_state": endpoint.state(id=MARK + packed)}


def _pass(block: Block, waiting: Waiting, endpoint: Endpoint) -> None:
    """Keeps reasoning that another provider wants back, for the next call, and counts what stands between."""
    if block["type"] in REASONING:
        if _foreign_state(block, endpoint):
            waiting.append((0, block))
    else:
        waiting[:] = [(behind + 1, reasoning) for behind, reasoning in waiting]


def _foreign_state(block: Block, endpoint: Endpoint) -> dict[str, Any]:
    state: dict[str, Any] | None = block.get("provider_state")
    return {} if state is None or endpoint.owns(state) else state


# ---------------------------------------------------------------------------------------------- from the client


def unload(request: dict[str, Any]) -> dict[str, Any]:
    """A request that was read from a client's wire, with the state that its call ids hold back in its place.

    Ids that hold none, or nothing that can be read, stay as they are. The request itself is not changed.
    """
    messages: list[Message] = request["messages"]
    if not any(_holds_state(block) for message in messages for block in message["content"]):
        return request
    ids: dict[str, str] = {}
    unloaded = [_unloaded(message, ids) for message in messages]
    return {**request, "messages": [_renamed(message, ids) for message in unloaded]}


def _wire_id(block: Mapping[str, Any]) -> str:
    found = (block.get("provider_state") or {}).get("id")
    return found if isinstance(found, str) else ""


def _holds_state(block: Mapping[str, Any]) -> bool:
    return block["type"] == "tool_use" and MARK in _wire_id(block)


def _unloaded(message: Message, ids: dict[str, str]) -> Message:
    content: list[Block] = []
    for block in message["content"]:
        load = _unpacked(_wire_id(block)) if _holds_state(block) else None
        if load is None:
            content.append(block)
            continue
        identity: str = block["id"] if load["id"] in ids.values() else load["id"]
        ids[block["id"]] = identity
        reasoning: list[dict[str, Any]] = load.get("reasoning", [])
        # what the client was shown of this reasoning, and said again, is the same reasoning
        shown = {item["block"]["text"] for item in reasoning if item["block"]["type"] == "thinking"}
        content = [item for item in content if not (item["type"] == "thinking" and item["text"] in shown)]
        said = len(content)
        for position, item in enumerate(reasoning):
            content.insert(max(said - item["behind"], 0) + position, item["block"])
        call = {name: value for name, value in block.items() if name != "provider_state"} | {"id": identity}
        content.append({**call, "provider_state": load["state"]} if "state" in load else call)
    return {**message, "content": content} if content != message["content"] else message


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
    reasoning = load.get("reasoning", [])
    return load if isinstance(reasoning, list) and all(_is_reasoning(item) for item in reasoning) else None


def _is_reasoning(item: Any) -> bool:
    match item:
        case {"behind": int(behind), "block": {"type": "thinking" | "redacted_thinking"} as block}:
            return behind >= 0 and not violations(block, "ContentBlock")
        case _:
            return False


_CALL: Block = {"type": "tool_use", "name": "call", "input": {}}


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
