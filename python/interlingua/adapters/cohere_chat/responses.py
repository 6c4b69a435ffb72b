"""Write and read responses: `to_wire_response` plays the provider, `from_wire_response` reads its response."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.single import Single
from interlingua.adapters._answers.usage import ALWAYS, Counts, Place, Usage, count
from interlingua.adapters._engine.items import ItemRow
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters.cohere_chat.errors import error
from interlingua.adapters.cohere_chat.messages import keep_message, message_from_wire, message_to_wire
from interlingua.adapters.cohere_chat.tables import Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Path

Response = dict[str, Any]

ENDS: Final = answers.Ends(
    {
        "stop": "COMPLETE",
        "stop_sequence": "STOP_SEQUENCE",
        "length": "MAX_TOKENS ERROR_LIMIT",
        "tool_calls": "TOOL_CALL",
        "error": "ERROR TIMEOUT",
        "content_filter": "ERROR_TOXIC",
        "cancelled": "USER_CANCEL",
    },
    {"content_filter": "OTHER", "cancelled": "OTHER"},
    other="OTHER",
)

# ---------------------------------------------------------------------------------------------------- usage


class _Counts(Counts):
    """The billed usage, because cost is computed from it. Tokens from the cache are counted separately only if the billed prompt is
    the prompt that the model read."""

    def read(self, wire: Wire, endpoint: Endpoint) -> Usage:  # noqa: ARG002
        """Read the usage into disjoint buckets. Raises `TypeError` for an object without counts."""
        billed, tokens = answers.inner(wire, "billed_units"), answers.inner(wire, "tokens")
        read, images = count(tokens.get("input_tokens")), count(tokens.get("image_tokens"))
        if images is not None:
            read = (read or 0) + images
        paid, generated = count(billed.get("input_tokens")), count(billed.get("output_tokens"))
        prompt = read if paid is None else paid
        if generated is None:
            generated = count(tokens.get("output_tokens"))
        if prompt is None and generated is None:
            raise TypeError("usage")
        found: Usage = {"input_tokens": prompt or 0, "output_tokens": generated or 0, "raw": wire}
        cached = count(wire.get("cached_tokens"))
        if cached and prompt is not None and cached <= prompt and read in (None, prompt):
            found["cached_input_tokens"] = cached
            found["input_tokens"] = prompt - cached
        reasoning = count(tokens.get("reasoning_tokens"))
        if reasoning is not None:
            found["reasoning_tokens"] = min(reasoning, found["output_tokens"])
        return found


_COUNTS: Final = _Counts(
    Place("input_tokens", "billed_units", "input_tokens", ALWAYS),
    Place("output_tokens", "billed_units", "output_tokens", ALWAYS),
    Place("input_tokens", "tokens", "input_tokens", ALWAYS),
    Place("output_tokens", "tokens", "output_tokens", ALWAYS),
    Place("reasoning_tokens", "tokens", "reasoning_tokens"),
    Place("cached_input_tokens", "cached_tokens"),
    with_cache=True,
    uncounted=("cache_creation_input_tokens", "cache_creation_1h_input_tokens"),
)

# ---------------------------------------------------------------------------------------------------- the row


def _read_message(raw: Any, response: Response, reading: Reading) -> None:
    reading.must_compare = reading.must_compare or raw.get("role") != "assistant"
    response["message"] = message_from_wire({"role": "assistant", **raw}, reading, answer=True)
    if response["message"]["role"] != "assistant":
        raise ValueError("role")


def _write_message(response: Response, writing: Writing, path: Path) -> Wire:
    written = message_to_wire(response["message"], (*path, "message"), writing)
    return answers.message_as_it_came(response, written, writing, path)


def _are_pieces(logprobs: Mapping[str, Any]) -> bool:
    """Whether log probabilities have the shape of this wire: pieces of text with the ids of their tokens."""
    return all(type(piece) is dict and "token_ids" in piece for piece in logprobs["content"])


def answer_id(message: dict[str, Any]) -> str:
    """Return an id for a response that has none; the wire requires an id, which is a UUID."""
    return str(UUID(bytes=hashlib.sha256(answers.id_seed(message)).digest()[:16], version=4))


_ROW: Final = ItemRow(
    {},
    answers.identity("id", answer_id),
    answers.message("message", _write_message, _read_message),
    answers.end("finish_reason", ENDS),
    answers.usage("usage", _COUNTS),
    answers.listed_logprobs("logprobs", _are_pieces),
    elsewhere=answers.AROUND,
)


# ---------------------------------------------------------------------------------------------------- both directions


def _is_error(body: Wire) -> bool:
    return isinstance(body.get("message"), str)


ANSWERS: Final = Single(_ROW, ENDS, Writing, error, _is_error, keep_message=keep_message)


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Write a response as this provider would return it; responses of this wire are written as received.

    Losses are reported with pointers into the response.
    """
    return ANSWERS.to_wire(answer, endpoint)


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response. Raises `InvalidAnswer` if the body is not one, `ProviderError` for an error with status 200."""
    return ANSWERS.from_wire(body, Reading(endpoint, ids))
