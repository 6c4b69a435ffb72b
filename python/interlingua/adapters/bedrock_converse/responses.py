"""Read and write responses and their usage."""

from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.single import Single
from interlingua.adapters._answers.usage import ALWAYS, TOTAL, Counts, Place, Usage, count, not_for_an_hour
from interlingua.adapters._claude.answers import content, is_shown, strict
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, USER, Item
from interlingua.adapters._engine.items import ItemRow, inside
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters.bedrock_converse.blocks import block_to_wire, blocks_from_wire
from interlingua.adapters.bedrock_converse.errors import error
from interlingua.adapters.bedrock_converse.tables import Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Path

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

# ---------------------------------------------------------------------------------------------- the row


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


_CONTENT: Final = ("output", "message", "content")
_MESSAGE: Final = ItemRow({"role": ASSISTANT}, content(blocks_from_wire, played_block, _CONTENT))
_ROW: Final = ItemRow(
    {},
    inside("output", ItemRow({}, inside("message", _MESSAGE))),
    strict(answers.end("stopReason", ENDS)),
    strict(answers.usage("usage", COUNTS, demanded=True)),
    inside("additionalModelResponseFields", ItemRow({}, answers.stop_text("stop_sequence")), optional=True),
    elsewhere=answers.AROUND,
)


# ---------------------------------------------------------------------------------------------- both directions


def _read_beside(response: Response, body: Wire, reading: Reading) -> None:
    router = answers.inner(answers.inner(body, "trace"), "promptRouter").get("invokedModelId")
    if type(router) is str and router:  # only a prompt router names the model, which it chose
        response["model"] = reading.endpoint.model_id(router)


def _write_beside(response: Response, body: Wire, writing: Writing, _: int) -> None:
    if not writing.same_origin:  # clients require it
        body["metrics"] = {"latencyMs": (response.get("usage") or {}).get("latency_ms", 0)}


ANSWERS: Final = Single(
    _ROW, ENDS, Writing, error, read_beside=_read_beside, write_beside=_write_beside, place=_CONTENT
)


def from_wire_response(
    body: Any, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response that is not streamed. Nothing is lost. On this wire a response has no id and no model.

    Raises `InvalidAnswer` with a pointer into the body if the body cannot be read.
    """
    return ANSWERS.from_wire(body, Reading(endpoint, ids))


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Write a response of any origin as this provider would return it; a response of this wire is written as received.

    The report names what the wire cannot represent, with pointers into the response.
    """
    return ANSWERS.to_wire(answer, endpoint)
