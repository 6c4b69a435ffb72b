"""Read and write responses and their usage."""

from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.single import Single
from interlingua.adapters._answers.usage import ALWAYS, REST, Counts, Place
from interlingua.adapters._claude.answers import content, is_shown, strict
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, Item
from interlingua.adapters._engine.items import ItemRow
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters.anthropic_messages.blocks import block_to_wire, blocks_from_wire
from interlingua.adapters.anthropic_messages.errors import error
from interlingua.adapters.anthropic_messages.tables import Writing
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


# ---------------------------------------------------------------------------------------------- the row


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


answer_id: Final = answers.derived_id("msg_")
_ROW: Final = ItemRow(
    {"type": "message", "role": ASSISTANT},
    answers.identity("id", answer_id),
    answers.model("model", "unknown"),
    content(blocks_from_wire, _block_to_wire, ("content",)),
    strict(answers.end("stop_reason", ENDS, always=True)),
    strict(answers.stop_text("stop_sequence", always=True)),
    strict(answers.usage("usage", COUNTS, demanded=True)),
    elsewhere=answers.AROUND,
)


# ---------------------------------------------------------------------------------------------- both directions


def _is_error(body: Wire) -> bool:
    return body.get("type") == "error"


ANSWERS: Final = Single(_ROW, ENDS, Writing, error, _is_error)


def from_wire_response(
    body: Any, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response that is not streamed. Nothing is lost.

    Raises `InvalidAnswer` with a pointer into the body if the body cannot be read,
    and `ProviderError` if the body is an error in spite of its status.
    """
    return ANSWERS.from_wire(body, Reading(endpoint, ids))


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Write a response of any origin as this provider would return it; a response of this wire is written as received.

    The report names what the wire cannot represent, with pointers into the response.
    """
    return ANSWERS.to_wire(answer, endpoint)
