"""Answers both ways, and their usage."""

from typing import Any, Final

from interlingua.adapters._answers import (
    APART,
    Ends,
    Names,
    inner,
    read_end,
    read_members,
    write_answer,
    written_end,
)
from interlingua.adapters._claude.answers import FINAL, is_shown, keep, put_back, report_answer, report_shown
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, USER
from interlingua.adapters._items import laid_over
from interlingua.adapters._kit import Wire, data_of
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._usage import Places, count, native_counts, prompt_tokens, read_counts
from interlingua.adapters._verbatim import may_differ
from interlingua.adapters.bedrock_converse.blocks import (
    block_to_wire,
    blocks_from_wire,
)
from interlingua.adapters.bedrock_converse.tables import NAME, Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Response = dict[str, Any]

ENDS: Final = Ends(
    {
        "stop": "end_turn",
        "stop_sequence": "stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "tool_calls": "tool_use",
        "content_filter": "content_filtered guardrail_intervened",
        "error": "malformed_model_output malformed_tool_use",
        # not in the service's list; Anthropic's models have them
        "pause": "pause_turn",
        "refusal": "refusal",
    },
    {"refusal": "content_filtered", "error": "other", "pause": "other"},
    FINAL,
)
_NAMES: Final = Names({"output": APART, "stopReason": "finish_reason_raw", "usage": "usage"}, strict=True)
_PLACES: Final[Places] = (
    ("input_tokens", "inputTokens", ""),
    ("output_tokens", "outputTokens", ""),
    ("cached_input_tokens", "cacheReadInputTokens", ""),
    ("cache_creation_input_tokens", "cacheWriteInputTokens", ""),
)
_UNCOUNTED: Final = ("reasoning_tokens",)
"""What the wire does not count apart."""

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Any, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
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
        keep(response, body, _body(response, endpoint, loss), endpoint, loss)
    return unwrap_answer_call(response), []


def assembled(body: Wire, blocks: list[Any], reading: Reading, endpoint: Endpoint) -> Response:
    """The canonical answer of a wire answer whose blocks have been read."""
    response: Response = {"message": {"role": "assistant", "content": blocks}}
    fields = _beside_content(body.get("output") or {})
    read_members(body, _NAMES, response, endpoint, usage_from_wire, {"output": fields} if fields else {})
    model = inner(inner(body, "trace"), "promptRouter").get("invokedModelId")
    if type(model) is str and model:  # a router of prompts names the model that it chose; no other answer does
        response["model"] = endpoint.model_id(model)
    stop = inner(body, "additionalModelResponseFields").get("stop_sequence")
    if type(stop) is str:
        response["stop_sequence"] = stop
    response["finish_reason"] = read_end(response.get("finish_reason_raw"), blocks, ENDS)
    return response


def _beside_content(output: Wire) -> Wire:
    """What stands beside the content of the message."""
    message = output.get("message")
    fields = {name: value for name, value in output.items() if name != "message"}
    if isinstance(message, dict):
        if message.get("role", ASSISTANT) != ASSISTANT:
            raise InvalidAnswer("the role must be assistant", path="/output/message/role", adapter=NAME)
        if beside := {name: value for name, value in message.items() if name not in ("content", "role")}:
            fields["message"] = beside
    return fields


def usage_from_wire(wire: Wire) -> dict[str, Any]:
    """Usage in disjoint buckets, as the wire has them: the prompt is input + cache reads + cache writes."""
    usage = read_counts(wire, _PLACES)
    details = wire.get("cacheDetails")
    if isinstance(details, list):
        hours = [part for part in details if isinstance(part, dict) and part.get("ttl") == "1h"]
        if hours:
            usage["cache_creation_1h_input_tokens"] = sum(count(part.get("inputTokens")) or 0 for part in hours)
    return usage


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
    content, usage = message["content"], response.get("usage")
    body: Wire = {"output": {"message": {"role": ASSISTANT, "content": _content_to_wire(content, writing)}}}
    if (end := written_end(response, content, ENDS, same_origin=same_origin)) is not None:
        body["stopReason"] = end
    if usage is not None or not same_origin:
        body["usage"] = usage_to_wire(usage or {}, same_origin=same_origin)
    if same_origin:
        if fields := response["provider_state"].get("fields"):
            body = laid_over(body, fields, writing, ("provider_state", "fields"))
        _native_stop(response, body, writing)
    else:
        body["metrics"] = {"latencyMs": (usage or {}).get("latency_ms", 0)}
        if isinstance(stop := response.get("stop_sequence"), str):
            body["additionalModelResponseFields"] = {"stop_sequence": stop}
    end = read_end(body.get("stopReason"), content, ENDS)
    report_answer(response, end, writing, usage=body.get("usage"), uncounted=_UNCOUNTED)
    return body


def _content_to_wire(blocks: list[Any], writing: Writing) -> list[Wire]:
    path: Path = ("message", "content")
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        wire = played_block(block, writing, (*path, position))
        if wire is not None:
            wires.append(wire)
    return wires


def played_block(block: dict[str, Any], writing: Writing, path: Path) -> Wire | None:
    """A block of an answer from elsewhere, with a picture, though no request takes it back."""
    if not is_shown(block, writing):
        place = USER if block["type"] == "image" else ASSISTANT
        wire = block_to_wire(block, place, writing, path)
        if wire is not None and block.get("cache") is not None:
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "an answer has no cache points")
        return wire
    shown: Wire = {"text": block["text"]}
    if block.get("signature") == "":
        shown["signature"] = ""  # which proves nothing
    elif block.get("signature") is not None:
        message = "reasoning of another provider is shown without a signature"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost", message)
    report_shown(block, writing, path)
    return {"reasoningContent": {"reasoningText": shown}}


def _native_stop(response: Response, body: Wire, writing: Writing) -> None:
    """The text that ended an answer stands among the model's own members; an edit may have made it another one."""
    members = dict(inner(body, "additionalModelResponseFields"))
    given, came = response.get("stop_sequence"), members.pop("stop_sequence", None)
    if given == (came if type(came) is str else None):
        return
    replaced = body.get("additionalModelResponseFields") is not None
    body["additionalModelResponseFields"] = members = members if given is None else {**members, "stop_sequence": given}
    if replaced:
        where = ("provider_state", "fields", "additionalModelResponseFields")
        writing.loss.replace(where, members, "combination", "representation", "the canonical member says otherwise")


def usage_to_wire(usage: dict[str, Any], *, same_origin: bool) -> Wire:
    """Usage as the wire counts it: the provider's own object where there is one."""
    if same_origin and (raw := native_counts(usage, usage_from_wire)) is not None:
        return raw
    output = usage.get("output_tokens", 0)
    wire: Wire = {"inputTokens": usage.get("input_tokens", 0), "outputTokens": output}
    wire["totalTokens"] = prompt_tokens(usage) + output
    for bucket, name, _ in _PLACES[2:]:
        if bucket in usage:
            wire[name] = usage[bucket]
    hour = usage.get("cache_creation_1h_input_tokens")
    if hour is not None:
        rest = max(usage.get("cache_creation_input_tokens", 0) - hour, 0)
        wire["cacheDetails"] = [{"ttl": "1h", "inputTokens": hour}, {"ttl": "5m", "inputTokens": rest}]
    return wire
