"""Answers both ways, and their usage."""

from typing import Any, Final

from interlingua.adapters._answers import (
    APART,
    Ends,
    Names,
    as_object,
    derived_id,
    read_end,
    read_members,
    served_model,
    write_answer,
    written_end,
)
from interlingua.adapters._claude.answers import FINAL, is_shown, keep, put_back, report_answer, report_shown
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT
from interlingua.adapters._kit import Wire, data_of
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._usage import Places, native_counts, read_counts
from interlingua.adapters._verbatim import may_differ
from interlingua.adapters.anthropic_messages.blocks import (
    block_to_wire,
    blocks_from_wire,
)
from interlingua.adapters.anthropic_messages.errors import error
from interlingua.adapters.anthropic_messages.items import replayed
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Response = dict[str, Any]

ENDS: Final = Ends(
    {
        "stop": "end_turn",
        "stop_sequence": "stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "tool_calls": "tool_use",
        "pause": "pause_turn compaction",
        "refusal": "refusal",
    },
    {"content_filter": "refusal"},
    FINAL,
)
_NAMES: Final = Names(
    {
        "content": APART,
        "type": APART,
        "role": APART,
        "id": "id",
        "model": "model",
        "stop_reason": "finish_reason_raw",
        "stop_sequence": "stop_sequence",
        "usage": "usage",
    },
    always=("stop_reason", "stop_sequence"),
    strict=True,
)
_PLACES: Final[Places] = (
    ("input_tokens", "input_tokens", ""),
    ("output_tokens", "output_tokens", ""),
    ("cached_input_tokens", "cache_read_input_tokens", ""),
    ("cache_creation_input_tokens", "cache_creation_input_tokens", ""),
    ("cache_creation_1h_input_tokens", "cache_creation", "ephemeral_1h_input_tokens"),
    ("reasoning_tokens", "output_tokens_details", "thinking_tokens"),
)


# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Any, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer that is not streamed. Nothing is lost.

    Raises `InvalidAnswer` with a pointer into the body when it cannot be read,
    and `ProviderError` when the body is an error in spite of its status.
    """
    body = as_object(body, endpoint)
    if body.get("type") == "error":
        raise ProviderError(error(200, {}, body, endpoint))
    content = body.get("content")
    if type(content) is not list:
        raise InvalidAnswer("content must be a list of blocks", path="/content", adapter=endpoint.adapter)
    reading = Reading(endpoint, ids)
    blocks = blocks_from_wire(content, ASSISTANT, reading, ("content",), InvalidAnswer)
    response = assembled(body, blocks, reading, endpoint)
    usual = body.get("type") == "message" and body.get("role") == ASSISTANT
    if may_differ(reading.unusual or not usual):
        loss = Loss()
        keep(response, body, _body(response, endpoint, loss), endpoint, loss)
    return unwrap_answer_call(response), []


def assembled(body: Wire, blocks: list[Any], reading: Reading, endpoint: Endpoint) -> Response:
    """The canonical answer of a wire message whose blocks have been read."""
    if body.get("type") not in ("message", None):
        raise InvalidAnswer("type must be message", path="/type", adapter=endpoint.adapter)
    if body.get("role") not in (ASSISTANT, None):
        raise InvalidAnswer("role must be assistant", path="/role", adapter=endpoint.adapter)
    response: Response = {"message": {"role": "assistant", "content": blocks}}
    read_members(body, _NAMES, response, endpoint, usage_from_wire)
    response["finish_reason"] = read_end(response.get("finish_reason_raw"), blocks, ENDS)
    return response


def usage_from_wire(wire: Wire) -> dict[str, Any]:
    """Usage in disjoint buckets, as the wire has them: the prompt is input + cache reads + cache writes."""
    return read_counts(wire, _PLACES)


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Writes an answer as this provider would give it, whatever its origin; one of this wire as it came.

    The report names what the wire cannot say, with pointers into the response.
    """
    response = data_of(answer)
    return write_answer(endpoint, lambda loss: put_back(response, _body(response, endpoint, loss), endpoint, loss))


def _body(response: Response, endpoint: Endpoint, loss: Loss) -> Wire:
    writing = Writing(response, endpoint, loss)
    same_origin = writing.same_origin
    message = writing.message = response["message"]
    content = message["content"]
    body: Wire = {}
    if not same_origin or "id" in response:
        body["id"] = message_id(response)
    body["type"], body["role"] = "message", ASSISTANT
    model = served_model(response)
    if model is not None or not same_origin:
        body["model"] = endpoint.model or "unknown" if model is None else model
    body["content"] = _content_to_wire(content, writing)
    body["stop_reason"] = written_end(response, content, ENDS, same_origin=same_origin)
    body["stop_sequence"] = response.get("stop_sequence")
    if (usage := response.get("usage")) is not None or not same_origin:
        body["usage"] = usage_to_wire(usage or {}, same_origin=same_origin)
    if same_origin:
        replayed(response["provider_state"], body, writing, ())
    report_answer(response, read_end(body["stop_reason"], content, ENDS), writing)
    return body


def _content_to_wire(blocks: list[Any], writing: Writing) -> list[Wire]:
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        path = ("message", "content", position)
        if is_shown(block, writing):
            wires.append(_shown_thinking(block, writing, path))
        elif (wire := block_to_wire(block, ASSISTANT, writing, path)) is not None:
            wires.append(wire)
    return wires


def _shown_thinking(block: dict[str, Any], writing: Writing, path: Path) -> Wire:
    given = block.get("signature")
    if given != "":
        code, severity = ("foreign_state", "lost") if given else ("unsigned_thinking", "representation")
        message = "reasoning of another provider is shown without a signature"
        writing.loss.replace((*path, "signature"), "", code, severity, message)
    report_shown(block, writing, path)
    return {"type": "thinking", "thinking": block["text"], "signature": ""}


def message_id(response: Response) -> str:
    """The id of an answer; one that has none gets an id that follows from its content."""
    return response.get("id") or derived_id("msg_", json.dumps_sorted(response["message"]["content"]))


def usage_begun(usage: dict[str, Any]) -> Wire:
    """Usage as a stream's start gives it: the counts that are known by then."""
    wire: Wire = {"input_tokens": usage.get("input_tokens", 0), "output_tokens": usage.get("output_tokens", 0)}
    for bucket, name, _ in _PLACES[2:4]:
        if bucket in usage:
            wire[name] = usage[bucket]
    return wire


def usage_to_wire(usage: dict[str, Any], *, same_origin: bool) -> Wire:
    """Usage as the wire counts it: the provider's own object where there is one."""
    if same_origin and (raw := native_counts(usage, usage_from_wire)) is not None:
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
