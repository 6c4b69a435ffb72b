"""Read and write responses and their usage."""

from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.usage import ALWAYS, TOTAL, Counts, Place, Usage, count, not_for_an_hour
from interlingua.adapters._claude.answers import content_to_wire, is_shown, strict
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, USER, Item
from interlingua.adapters._engine.items import ItemRow, inside, write_item
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters.bedrock_converse.blocks import block_to_wire, blocks_from_wire
from interlingua.adapters.bedrock_converse.tables import NAME, Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Response = dict[str, Any]

ENDS: Final = answers.Ends(
    {
        "stop": "end_turn",
        "stop_sequence": "stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "tool_calls": "tool_use",
        "content_filter": "content_filtered guardrail_intervened",
        "error": "malformed_model_output malformed_tool_use",
        # not in the service's list; Anthropic's models use them
        "pause": "pause_turn",
        "refusal": "refusal",
    },
    {"refusal": "content_filtered", "error": "other", "pause": "other"},
)


class _Counts(Counts):
    """Usage whose details state how long tokens are kept in the cache."""

    def read(self, wire: Wire, endpoint: Endpoint) -> Usage:
        """Read the usage into disjoint buckets: the prompt is input, cache reads and cache writes."""
        usage = super().read(wire, endpoint)
        details = wire.get("cacheDetails")
        if isinstance(details, list):
            hours = [part for part in details if isinstance(part, dict) and part.get("ttl") == "1h"]
            if hours:
                usage["cache_creation_1h_input_tokens"] = sum(count(part.get("inputTokens")) or 0 for part in hours)
        return usage

    def write(self, usage: Usage, endpoint: Endpoint, *, same_origin: bool) -> Wire:
        """Write the usage as the wire counts it."""
        wire = super().write(usage, endpoint, same_origin=same_origin)
        hour = usage.get("cache_creation_1h_input_tokens")
        if hour and wire is not usage.get("raw"):
            rest = not_for_an_hour(usage)
            wire["cacheDetails"] = [{"ttl": "1h", "inputTokens": hour}, {"ttl": "5m", "inputTokens": rest}]
        return wire


COUNTS: Final = _Counts(
    Place("input_tokens", "inputTokens", written=ALWAYS),
    Place("output_tokens", "outputTokens", written=ALWAYS),
    Place("cached_input_tokens", "cacheReadInputTokens"),
    Place("cache_creation_input_tokens", "cacheWriteInputTokens"),
    Place(TOTAL, "totalTokens", written=ALWAYS),
    uncounted=("reasoning_tokens",),
)

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Any, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response that is not streamed. Nothing is lost. On this wire a response has no id and no model.

    Raises `InvalidAnswer` with a pointer into the body if the body cannot be read.
    """
    output = body.get("output") if isinstance(body, dict) else None
    message = output.get("message") if isinstance(output, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if message is None or type(content) is not list:
        raise InvalidAnswer("the response has no message with content", path="/output/message/content", adapter=NAME)
    reading = Reading(endpoint, ids)
    blocks = blocks_from_wire(content, ASSISTANT, reading, ("output", "message", "content"), InvalidAnswer)
    response = assembled(body, blocks, reading)
    answers.keep_unusual(response, body, _body, reading)
    return unwrap_answer_call(response), []


def assembled(body: Wire, blocks: list[Any], reading: Reading) -> Response:
    """Return the canonical response for a wire response and its blocks, which have been read."""
    response: Response = {"message": {"role": "assistant", "content": blocks}}
    answers.read_answer(_ANSWER, ENDS, body, response, reading, ("output", "message"))
    router = answers.inner(answers.inner(body, "trace"), "promptRouter").get("invokedModelId")
    if type(router) is str and router:  # only a prompt router names the model, which it chose
        response["model"] = reading.endpoint.model_id(router)
    return response


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Write a response of any origin as this provider would return it; a response of this wire is written as received.

    The report names what the wire cannot represent, with pointers into the response.
    """
    return answers.to_wire_response(answer, endpoint, _body)


def _body(response: Response, endpoint: Endpoint, loss: Loss) -> Wire:
    writing = Writing(response, endpoint, loss)
    body = write_item(_ANSWER, response, writing, ())
    if not writing.same_origin:  # clients require it
        body["metrics"] = {"latencyMs": (response.get("usage") or {}).get("latency_ms", 0)}
    return body


def played_block(block: Item, writing: Writing, path: Path) -> Wire | None:
    """Write a block of a response of any origin; images too, although no request may have them in an assistant message."""
    if not is_shown(block, writing):
        place = USER if block["type"] == "image" else ASSISTANT
        wire = writing.or_placeholder(block_to_wire, block, place, path)
        if wire is not None and block.get("cache") is not None:
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "a response has no cache points")
        return wire
    shown: Wire = {"text": block["text"]}
    proof = block.get("signature") != ""
    if not proof:
        shown["signature"] = ""
    answers.report_shown(block, writing, path, proof=proof)
    return {"reasoningContent": {"reasoningText": shown}}


_MESSAGE: Final = ItemRow(
    {"role": ASSISTANT},
    answers.message("content", lambda response, writing, path: content_to_wire(response, writing, path, played_block)),
)
_ANSWER: Final = ItemRow(
    {},
    inside("output", ItemRow({}, inside("message", _MESSAGE))),
    strict(answers.end("stopReason", ENDS)),
    strict(answers.usage("usage", COUNTS, demanded=True)),
    inside("additionalModelResponseFields", ItemRow({}, answers.stop_text("stop_sequence")), optional=True),
    beside=answers.AROUND,
)
