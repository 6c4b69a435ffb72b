"""Read and write responses and their usage."""

from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.usage import ALWAYS, REST, Counts, Place
from interlingua.adapters._claude.answers import content_to_wire, is_shown, strict
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, Item
from interlingua.adapters._engine.items import ItemRow, write_item
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters.anthropic_messages.blocks import block_to_wire, blocks_from_wire
from interlingua.adapters.anthropic_messages.errors import error
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Response = dict[str, Any]

ENDS: Final = answers.Ends(
    {
        "stop": "end_turn",
        "stop_sequence": "stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "tool_calls": "tool_use",
        "pause": "pause_turn compaction",
        "refusal": "refusal",
    },
    {"content_filter": "refusal"},
)
COUNTS: Final = Counts(
    Place("input_tokens", "input_tokens", written=ALWAYS),
    Place("output_tokens", "output_tokens", written=ALWAYS),
    Place("cached_input_tokens", "cache_read_input_tokens", written=ALWAYS),
    Place("cache_creation_input_tokens", "cache_creation_input_tokens", written=ALWAYS),
    Place("cache_creation_1h_input_tokens", "cache_creation", "ephemeral_1h_input_tokens"),
    Place(REST, "cache_creation", "ephemeral_5m_input_tokens", ALWAYS),
    Place("reasoning_tokens", "output_tokens_details", "thinking_tokens"),
)


# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Any, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response that is not streamed. Nothing is lost.

    Raises `InvalidAnswer` with a pointer into the body if the body cannot be read,
    and `ProviderError` if the body is an error in spite of its status.
    """
    body = answers.as_object(body, endpoint)
    if body.get("type") == "error":
        raise ProviderError(error(200, {}, body, endpoint))
    content = body.get("content")
    if type(content) is not list:
        raise InvalidAnswer("content must be a list of blocks", path="/content", adapter=endpoint.adapter)
    reading = Reading(endpoint, ids)
    blocks = blocks_from_wire(content, ASSISTANT, reading, ("content",), InvalidAnswer)
    response = assembled(body, blocks, reading)
    answers.keep_unusual(response, body, _body, reading)
    return unwrap_answer_call(response), []


def assembled(body: Wire, blocks: list[Any], reading: Reading) -> Response:
    """Return the canonical response for a wire message and its blocks, which have been read."""
    response: Response = {"message": {"role": "assistant", "content": blocks}}
    return answers.read_answer(_ANSWER, ENDS, body, response, reading)


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Write a response of any origin as this provider would return it; a response of this wire is written as received.

    The report names what the wire cannot represent, with pointers into the response.
    """
    return answers.to_wire_response(answer, endpoint, _body)


def _body(response: Response, endpoint: Endpoint, loss: Loss) -> Wire:
    return write_item(_ANSWER, response, Writing(response, endpoint, loss), ())


def _block_to_wire(block: Item, writing: Writing, path: Path) -> Wire | None:
    if not is_shown(block, writing):
        return writing.or_placeholder(block_to_wire, block, ASSISTANT, path)
    given = block.get("signature")
    if given != "":
        code, severity = ("foreign_state", "lost") if given else ("unsigned_thinking", "representation")
        why = "reasoning of another provider is shown without a signature"
        writing.loss.replace((*path, "signature"), "", code, severity, why)
    answers.report_shown(block, writing, path, proof=False)
    return {"type": "thinking", "thinking": block["text"], "signature": ""}


_ANSWER: Final = ItemRow(
    {"type": "message", "role": ASSISTANT},
    answers.identity(
        "id", lambda response: answers.derived_id("msg_", json.dumps_sorted(response["message"]["content"]))
    ),
    answers.model("model", "unknown"),
    answers.message(
        "content", lambda response, writing, path: content_to_wire(response, writing, path, _block_to_wire)
    ),
    strict(answers.end("stop_reason", ENDS, always=True)),
    strict(answers.stop_text("stop_sequence", always=True)),
    strict(answers.usage("usage", COUNTS, demanded=True)),
    beside=answers.AROUND,
)
