"""Answers both ways, and their usage."""

import hashlib
from typing import Any, Final

from interlingua.adapters._answers import same_counts
from interlingua.adapters._claude.answers import (
    content_of,
    counted,
    end_to_wire,
    finish_reason,
    report_around,
    report_shown,
)
from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, UNREADABLE, wire_model
from interlingua.adapters._kit import Wire, data_of, report_foreign_state
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._verbatim import keep_item, may_differ, put_back_item
from interlingua.adapters.anthropic_messages.blocks import (
    block_to_wire,
    blocks_from_wire,
)
from interlingua.adapters.anthropic_messages.errors import error
from interlingua.adapters.anthropic_messages.items import replayed
from interlingua.adapters.anthropic_messages.tables import FINISH, STOP_REASON, Writing
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Response = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer that is not streamed. Nothing is lost.

    Raises `InvalidAnswer` with a pointer into the body when it cannot be read,
    and `ProviderError` when the body is an error in spite of its status.
    """
    if not isinstance(body, dict):
        raise InvalidAnswer("the answer must be an object", path="", adapter=endpoint.adapter)
    if body.get("type") == "error":
        raise ProviderError(error(200, {}, body, endpoint))
    content = body.get("content")
    if type(content) is not list:
        raise InvalidAnswer("content must be a list of blocks", path="/content", adapter=endpoint.adapter)
    reading = Reading(endpoint, ids)
    blocks = blocks_from_wire(content, ASSISTANT, reading, ("content",), InvalidAnswer)
    response = assembled(body, blocks, reading, endpoint)
    keep_answer(response, body, reading, endpoint)
    return unwrap_answer_call(response), []


def keep_answer(response: Response, body: Wire, reading: Reading, endpoint: Endpoint) -> None:
    """Keeps of an answer that was just read what is written otherwise than it came."""
    usual = body.get("type") == "message" and body.get("role") == ASSISTANT and None not in _named(body)
    if may_differ(reading.unusual or not usual):
        loss = Loss()
        written = _body(response, endpoint, loss)
        keep_item(response, body, written, endpoint, loss.entries, content_of(response))


def _named(body: Wire) -> list[Any]:
    return [body.get(name, "") for name in ("id", "model", "usage")]


def assembled(body: Wire, blocks: list[Any], reading: Reading, endpoint: Endpoint) -> Response:
    """The canonical answer of a wire message whose blocks have been read."""
    response: Response = {"message": {"role": "assistant", "content": blocks}}
    fields: dict[str, Any] = {}
    reason = None
    for name, value in body.items():
        match name:
            case "content":
                pass
            case "id" if type(value) is str:
                response["id"] = value
            case "model" if type(value) is str and value:
                response["model"] = endpoint.model_id(value) or ""
            case "stop_reason" if value is None or type(value) is str:
                response["finish_reason_raw"] = reason = value
            case "stop_sequence" if value is None or type(value) is str:
                response["stop_sequence"] = value
            case "usage" if type(value) is dict:
                response["usage"] = usage_from_wire(value)
            case "type" if value == "message":
                pass
            case "role" if value == "assistant":
                pass
            case "id" | "model" | "usage" | "type" | "role" if value is None:
                pass
            case "model" if value == "":
                fields[name] = value
            case "id" | "model" | "stop_reason" | "stop_sequence" | "usage" | "type" | "role":
                raise InvalidAnswer(f"{name} has the wrong type", path=pointer((name,)), adapter=endpoint.adapter)
            case _:
                fields[name] = value
    response["finish_reason"] = finish_reason(reason, blocks, FINISH)
    response["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return response


def usage_from_wire(wire: Wire) -> dict[str, Any]:
    """Usage in disjoint buckets, as the wire has them: the prompt is input + cache reads + cache writes."""
    usage: dict[str, Any] = {"input_tokens": 0, "output_tokens": 0}
    for name, value in wire.items():
        bucket = _COUNTS.get(name)
        if bucket is not None:
            if type(value) is int and value >= 0:
                usage[bucket] = value
        elif name in _PARTS and type(value) is dict:
            part, member = _PARTS[name]
            if (count := counted(value.get(member))) is not None:
                usage[part] = count
    if usage.get("reasoning_tokens", 0) > usage["output_tokens"]:
        usage["reasoning_tokens"] = usage["output_tokens"]  # a part of it, whatever is said
    usage["raw"] = wire
    return usage


_COUNTS: Final[dict[str, str]] = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cached_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
}
_PARTS: Final = {
    "cache_creation": ("cache_creation_1h_input_tokens", "ephemeral_1h_input_tokens"),
    "output_tokens_details": ("reasoning_tokens", "thinking_tokens"),
}
"""Buckets by what the wire calls them, and those that are told as members of a part."""


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Writes an answer as this provider would give it, whatever its origin; one of this wire as it came.

    The report names what the wire cannot say, with pointers into the response.
    """
    response = data_of(answer)
    loss = Loss()
    body = _body(response, endpoint, loss)
    return put_back_item(response, body, endpoint, loss.entries, loss, content_of(response)), loss.entries


def _body(response: Response, endpoint: Endpoint, loss: Loss) -> Wire:
    writing = Writing(response, endpoint, loss)
    message = response["message"]
    writing.message = message
    try:
        content = _content_to_wire(message["content"], writing)
    except UNREADABLE as problem:
        raise InvalidRequest("a block lacks a member or has one of a wrong type", path="/message/content") from problem
    body: Wire = {"id": message_id(response), "type": "message", "role": "assistant"}
    if "model" in response:
        body["model"] = wire_model(response["model"]) or ""
    body["content"] = content
    if writing.same_origin:
        _own_members(response, body, writing)
    else:
        _played_members(response, body, writing)
    read = finish_reason(body.get("stop_reason"), message["content"], FINISH)
    report_around(response, read, (), loss)
    return body


def _content_to_wire(blocks: list[Any], writing: Writing) -> list[Wire]:
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        path = ("message", "content", position)
        if block["type"] == "thinking" and not can_replay(block, writing):
            wires.append(_shown_thinking(block, writing, path))
        elif (wire := block_to_wire(block, ASSISTANT, writing, path)) is not None:
            wires.append(wire)
    return wires


def _shown_thinking(block: dict[str, Any], writing: Writing, path: Path) -> Wire:
    """Reasoning of another provider is shown, but without a signature: it could not be taken back."""
    given = block.get("signature")
    if given != "":
        code, severity = ("foreign_state", "lost") if given else ("unsigned_thinking", "representation")
        message = "reasoning of another provider is shown without a signature"
        writing.loss.replace((*path, "signature"), "", code, severity, message)
    report_shown(block, "reasoning takes no cache mark", writing, path)
    return {"type": "thinking", "thinking": block["text"], "signature": ""}


def _own_members(response: Response, body: Wire, writing: Writing) -> None:
    if "id" in response:
        body["id"] = response["id"]
    else:
        del body["id"]
    end_to_wire(response, body, "stop_reason", FINISH, STOP_REASON)
    if "stop_sequence" in response:
        body["stop_sequence"] = response["stop_sequence"]
    if "usage" in response:
        body["usage"] = usage_to_wire(response["usage"], own=True)
    state = response["provider_state"]
    replayed(state, body, writing, ())


def _played_members(response: Response, body: Wire, writing: Writing) -> None:
    body.setdefault("model", writing.endpoint.model or "unknown")
    body["stop_reason"] = STOP_REASON.get(response["finish_reason"], "other")
    body["stop_sequence"] = response.get("stop_sequence")
    body["usage"] = usage_to_wire(response.get("usage") or {}, own=False)
    report_foreign_state(response, writing.endpoint, writing.loss, ())


def message_id(response: Response) -> str:
    """The id of an answer; one that has none gets an id that follows from its content."""
    if given := response.get("id"):
        return given
    content = json.dumps_sorted(response["message"]["content"])
    return "msg_" + hashlib.sha256(content).hexdigest()[:24]


def usage_begun(usage: dict[str, Any]) -> Wire:
    """Usage as a stream's start gives it: the counts that are known by then."""
    wire: Wire = {"input_tokens": usage.get("input_tokens", 0), "output_tokens": usage.get("output_tokens", 0)}
    for name, canonical in _CACHE_COUNTS:
        if canonical in usage:
            wire[name] = usage[canonical]
    return wire


_CACHE_COUNTS: Final = (
    ("cache_creation_input_tokens", "cache_creation_input_tokens"),
    ("cache_read_input_tokens", "cached_input_tokens"),
)


def usage_to_wire(usage: dict[str, Any], own: bool) -> Wire:
    """Usage as the wire counts it: the provider's own object where there is one."""
    if own and isinstance(raw := usage.get("raw"), dict) and same_counts(usage_from_wire(raw), usage):
        return raw
    wire: Wire = {
        "input_tokens": usage.get("input_tokens", 0),
        "cache_creation_input_tokens": usage.get("cache_creation_input_tokens", 0),
        "cache_read_input_tokens": usage.get("cached_input_tokens", 0),
        "output_tokens": usage.get("output_tokens", 0),
    }
    hour = usage.get("cache_creation_1h_input_tokens")
    if hour is not None:
        wire["cache_creation"] = {
            "ephemeral_5m_input_tokens": max(wire["cache_creation_input_tokens"] - hour, 0),
            "ephemeral_1h_input_tokens": hour,
        }
    if "reasoning_tokens" in usage:
        wire["output_tokens_details"] = {"thinking_tokens": usage["reasoning_tokens"]}
    return wire
