"""Answers both ways, and their usage."""

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
from interlingua.adapters._claude.values import ASSISTANT, UNREADABLE, USER
from interlingua.adapters._kit import Wire, data_of, report_foreign_state
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._verbatim import keep_item, may_differ, put_back_item
from interlingua.adapters.bedrock_converse.blocks import (
    block_to_wire,
    blocks_from_wire,
)
from interlingua.adapters.bedrock_converse.items import overlaid
from interlingua.adapters.bedrock_converse.tables import FINISH, NAME, STOP_REASON, Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Response = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer that is not streamed. Nothing is lost. The answer names neither itself nor its model.

    Raises `InvalidAnswer` with a pointer into the body when it cannot be read.
    """
    output = body.get("output") if isinstance(body, dict) else None
    message = output.get("message") if isinstance(output, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if message is None or type(content) is not list:
        raise InvalidAnswer("the answer has no message with content", path="/output/message/content", adapter=NAME)
    reading = Reading(endpoint, ids)
    blocks = blocks_from_wire(content, ASSISTANT, reading, ("output", "message", "content"), InvalidAnswer)
    response = assembled(body, blocks, reading, endpoint)
    if may_differ(reading.unusual or "role" not in message):
        loss = Loss()
        keep_item(response, body, _body(response, endpoint, loss), endpoint, loss.entries, content_of(response))
    return unwrap_answer_call(response), []


def assembled(body: Wire, blocks: list[Any], reading: Reading, endpoint: Endpoint) -> Response:
    """The canonical answer of a wire answer whose blocks have been read."""
    response: Response = {"message": {"role": "assistant", "content": blocks}}
    fields: Wire = {}
    reason = None
    for name, value in body.items():
        match name:
            case "output" if type(value) is dict:
                _output_from_wire(value, fields)
            case "stopReason" if type(value) is str:
                response["finish_reason_raw"] = reason = value
            case "usage" if type(value) is dict:
                response["usage"] = usage_from_wire(value)
            case "output" | "stopReason" | "usage" if value is not None:
                raise InvalidAnswer(f"{name} has the wrong type", path=f"/{name}", adapter=NAME)
            case _:
                fields[name] = value
    model = _served_model(body)
    if model is not None:
        response["model"] = endpoint.model_id(model) or ""
    additional = body.get("additionalModelResponseFields")
    if isinstance(additional, dict) and type(stop := additional.get("stop_sequence")) is str:
        response["stop_sequence"] = stop
    response["finish_reason"] = finish_reason(reason, blocks, FINISH)
    response["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return response


def _output_from_wire(output: Wire, fields: Wire) -> None:
    """What stands beside the content of the message."""
    message = output.get("message")
    left = {name: value for name, value in output.items() if name != "message"}
    if isinstance(message, dict):
        beside = {name: value for name, value in message.items() if name not in ("content", "role")}
        if message.get("role", ASSISTANT) != ASSISTANT:
            raise InvalidAnswer("the role must be assistant", path="/output/message/role", adapter=NAME)
        if beside:
            left["message"] = beside
    if left:
        fields["output"] = left


def _served_model(body: Wire) -> str | None:
    """The model that a router of prompts chose; no other answer names one."""
    match body.get("trace"):
        case {"promptRouter": {"invokedModelId": str(model)}} if model:
            return model
        case _:
            return None


def usage_from_wire(wire: Wire) -> dict[str, Any]:
    """Usage in disjoint buckets, as the wire has them: the prompt is input + cache reads + cache writes."""
    usage: dict[str, Any] = {
        "input_tokens": counted(wire.get("inputTokens")) or 0,
        "output_tokens": counted(wire.get("outputTokens")) or 0,
    }
    for canonical, name in _CACHE_COUNTS:
        if (count := counted(wire.get(name))) is not None:
            usage[canonical] = count
    details = wire.get("cacheDetails")
    if isinstance(details, list):
        hours = [counted(part.get("inputTokens")) or 0 for part in details if _is_hour(part)]
        if hours:
            usage["cache_creation_1h_input_tokens"] = sum(hours)
    usage["raw"] = wire
    return usage


_CACHE_COUNTS: Final = (
    ("cached_input_tokens", "cacheReadInputTokens"),
    ("cache_creation_input_tokens", "cacheWriteInputTokens"),
)


def _is_hour(part: Any) -> bool:
    return isinstance(part, dict) and part.get("ttl") == "1h"


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
    body: Wire = {"output": {"message": {"role": ASSISTANT, "content": content}}}
    if writing.same_origin:
        body = _own_members(response, body, writing)
    else:
        _played_members(response, body, writing)
    read = finish_reason(body.get("stopReason"), message["content"], FINISH)
    counts_anew = "usage" in body and body["usage"] is not (response.get("usage") or {}).get("raw")
    report_around(response, read, _UNCOUNTED if counts_anew else None, loss)
    return body


_UNCOUNTED: Final = ("reasoning_tokens",)
"""What the wire does not count apart."""


def _content_to_wire(blocks: list[Any], writing: Writing) -> list[Wire]:
    path: Path = ("message", "content")
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        wire = played_block(block, writing, (*path, position))
        if wire is not None:
            wires.append(wire)
    return wires


def played_block(block: dict[str, Any], writing: Writing, path: Path) -> Wire | None:
    """A block of an answer from elsewhere, with a picture, though no request takes it back.

    Reasoning is shown without a signature: it could not be taken back.
    """
    if block["type"] != "thinking" or can_replay(block, writing):
        place = USER if block["type"] == "image" else ASSISTANT
        wire = block_to_wire(block, place, writing, path)
        if wire is not None and block.get("cache") is not None:
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", _NO_MARKS)
        return wire
    shown: Wire = {"text": block["text"]}
    if block.get("signature") == "":
        shown["signature"] = ""  # which proves nothing
    elif block.get("signature") is not None:
        message = "reasoning of another provider is shown without a signature"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost", message)
    report_shown(block, _NO_MARKS, writing, path)
    return {"reasoningContent": {"reasoningText": shown}}


_NO_MARKS: Final = "an answer has no cache points"


def _own_members(response: Response, body: Wire, writing: Writing) -> Wire:
    end_to_wire(response, body, "stopReason", FINISH, STOP_REASON)
    if "usage" in response:
        body["usage"] = usage_to_wire(response["usage"], own=True)
    state = response["provider_state"]
    fields = state.get("fields")
    if fields:
        body = overlaid(body, fields, writing, ("provider_state", "fields"))
    _own_stop(response, body, writing)
    return body


def _own_stop(response: Response, body: Wire, writing: Writing) -> None:
    """The text that ended an answer stands among the model's own members; an edit may have made it another one."""
    additional = body.get("additionalModelResponseFields")
    members: Wire = dict(additional) if isinstance(additional, dict) else {}
    given, told = response.get("stop_sequence"), members.pop("stop_sequence", None)
    if given == (told if isinstance(told, str) else None):
        return
    body["additionalModelResponseFields"] = members = members if given is None else {**members, "stop_sequence": given}
    if additional is not None:
        where = ("provider_state", "fields", "additionalModelResponseFields")
        writing.loss.replace(where, members, "combination", "representation", "the canonical member says otherwise")


def _played_members(response: Response, body: Wire, writing: Writing) -> None:
    body["stopReason"] = STOP_REASON.get(response["finish_reason"], "other")
    usage = response.get("usage") or {}
    body["usage"] = usage_to_wire(usage, own=False)
    body["metrics"] = {"latencyMs": usage.get("latency_ms", 0)}
    if isinstance(stop := response.get("stop_sequence"), str):
        body["additionalModelResponseFields"] = {"stop_sequence": stop}
    report_foreign_state(response, writing.endpoint, writing.loss, ())


def usage_to_wire(usage: dict[str, Any], own: bool) -> Wire:
    """Usage as the wire counts it: the provider's own object where there is one."""
    if own and isinstance(raw := usage.get("raw"), dict) and same_counts(usage_from_wire(raw), usage):
        return raw
    wire: Wire = {"inputTokens": usage.get("input_tokens", 0), "outputTokens": usage.get("output_tokens", 0)}
    wire["totalTokens"] = wire["inputTokens"] + wire["outputTokens"]
    for canonical, name in _CACHE_COUNTS:
        if canonical in usage:
            wire[name] = usage[canonical]
            wire["totalTokens"] += usage[canonical]
    hour = usage.get("cache_creation_1h_input_tokens")
    if hour is not None:
        rest = max(usage.get("cache_creation_input_tokens", 0) - hour, 0)
        wire["cacheDetails"] = [{"ttl": "1h", "inputTokens": hour}, {"ttl": "5m", "inputTokens": rest}]
    return wire
