"""Answers: `to_wire_response` plays the provider, `from_wire_response` reads one."""

import hashlib
from typing import Any, Final
from uuid import UUID

from interlingua.adapters._answers import (
    APART,
    AROUND,
    LISTED,
    UNREADABLE,
    Ends,
    Names,
    as_object,
    inner,
    keep,
    put_back,
    read_end,
    read_members,
    report_around,
    unreadable,
    write_answer,
    written_end,
)
from interlingua.adapters._kit import NOTHING, Wire, data_of, report_foreign_state, report_replayable_state
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._usage import Usage, count, native_counts, prompt_tokens
from interlingua.adapters._verbatim import may_differ
from interlingua.adapters.cohere_chat.errors import error as read_error
from interlingua.adapters.cohere_chat.messages import keep_message, message_from_wire, message_to_wire
from interlingua.adapters.cohere_chat.tables import Reading, Writing
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Response = dict[str, Any]

ENDS: Final = Ends(
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
    ("length", "content_filter", "error", "cancelled"),
    other="OTHER",
)
_NAMES: Final = Names(
    {"message": APART, "id": "id", "finish_reason": "finish_reason_raw", "usage": "usage", "logprobs": LISTED}
)
_UNCOUNTED: Final = ("cache_creation_input_tokens", "cache_creation_1h_input_tokens")
"""What the wire does not count apart."""

# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The body with which this provider would have given an answer; its own answers come out as they were.

    Losses are reported at their place in the response.
    """
    response = data_of(answer)
    return write_answer(endpoint, lambda loss: put_back(response, _body(response, endpoint, loss), endpoint, loss))


def _body(response: Response, endpoint: Endpoint, loss: Loss) -> Wire:
    writing = Writing(response, endpoint, loss)
    content = response["message"]["content"]
    body: Wire = {}
    if response.get("id") is not None:
        body["id"] = response["id"]
    elif not writing.same_origin:
        body["id"] = answer_id(json.dumps(content))
    body["message"] = message_to_wire(response["message"], ("message",), writing, answer=True)
    body.update(end_to_wire(response, writing))
    if writing.same_origin:
        state = response["provider_state"]
        for name, value in (state.get("fields") or NOTHING).items():
            body.setdefault(name, value)
        report_replayable_state(state, loss, ())
    else:
        report_foreign_state(response, endpoint, loss, ())
    end = read_end(body.get("finish_reason"), content, ENDS)
    covered = AROUND | {"logprobs"} if "logprobs" in body else AROUND
    report_around(response, end, covered, loss, usage=body.get("usage"), uncounted=_UNCOUNTED)
    return body


def answer_id(seed: bytes) -> str:
    """The id of an answer that nobody gave one: the wire demands it, in the form of a UUID."""
    return str(UUID(bytes=hashlib.sha256(seed).digest()[:16], version=4))


def end_to_wire(response: Response, writing: Writing) -> Wire:
    """How an answer ended and what it took: the last event of a stream, too."""
    end: Wire = {}
    word = written_end(response, response["message"]["content"], ENDS, same_origin=writing.same_origin)
    if word is not None:
        end["finish_reason"] = word
    if (usage := response.get("usage")) is not None:
        end["usage"] = usage_to_wire(usage, same_origin=writing.same_origin)
    logprobs = response.get("logprobs")
    if logprobs is not None and logprobs.keys() == {LISTED}:
        pieces = logprobs[LISTED]
        if writing.same_origin or _are_pieces(pieces):
            end["logprobs"] = pieces
    return end


def _are_pieces(value: Any) -> bool:
    """Whether log probabilities are told as the wire does: for pieces of text with the ids of their tokens."""
    return type(value) is list and all(type(piece) is dict and "token_ids" in piece for piece in value)


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer. Raises `InvalidAnswer` for what is none, `ProviderError` for an error that came with status 200."""
    body = as_object(body, endpoint)
    if isinstance(body.get("message"), str):
        raise ProviderError(read_error(200, {}, body, endpoint))
    reading = Reading(endpoint, ids)
    response = read_answer(body, reading)
    if may_differ(reading.unusual or body["message"].get("role") != "assistant"):
        loss = Loss()
        written = _body(response, endpoint, loss)
        keep_message(response["message"], body["message"], endpoint)
        keep(response, body, written, endpoint, loss)
    return unwrap_answer_call(response), []


def read_answer(body: Wire, reading: Reading) -> Response:
    """The response of a body."""
    try:
        message = message_from_wire({"role": "assistant", **body["message"]}, reading, answer=True)
        if message["role"] != "assistant":
            raise ValueError("role")
    except UNREADABLE as problem:
        raise unreadable("/message", reading.endpoint) from problem
    response: Response = {"message": message}
    read_members(body, _NAMES, response, reading.endpoint, usage_from_wire)
    response["finish_reason"] = read_end(response.get("finish_reason_raw"), message["content"], ENDS)
    return response


# ---------------------------------------------------------------------------------------------------- usage


def usage_from_wire(usage: Wire) -> Usage | None:
    """What is paid for, since cost is computed of it, None without counts; the provider's own object is `raw`.

    What came from the cache is told apart only where the prompt that is paid for is the one that was read.
    """
    billed, tokens = inner(usage, "billed_units"), inner(usage, "tokens")
    read, images = count(tokens.get("input_tokens")), count(tokens.get("image_tokens"))
    if images is not None:
        read = (read or 0) + images
    paid, generated = count(billed.get("input_tokens")), count(billed.get("output_tokens"))
    prompt = read if paid is None else paid
    if generated is None:
        generated = count(tokens.get("output_tokens"))
    if prompt is None and generated is None:
        return None
    found: Usage = {"input_tokens": prompt or 0, "output_tokens": generated or 0, "raw": usage}
    cached = count(usage.get("cached_tokens"))
    if cached and prompt is not None and cached <= prompt and read in (None, prompt):
        found["cached_input_tokens"] = cached
        found["input_tokens"] = prompt - cached
    reasoning = count(tokens.get("reasoning_tokens"))
    if reasoning is not None:
        found["reasoning_tokens"] = min(reasoning, found["output_tokens"])
    return found


def usage_to_wire(usage: Usage, *, same_origin: bool) -> Wire:
    """The wire's counts, in which the prompt includes what was read from and written to a cache."""
    if same_origin and (raw := native_counts(usage, usage_from_wire)) is not None:
        return raw
    counts = {"input_tokens": prompt_tokens(usage), "output_tokens": usage["output_tokens"]}
    tokens = dict(counts)
    if usage.get("reasoning_tokens"):
        tokens["reasoning_tokens"] = usage["reasoning_tokens"]
    wire: Wire = {"billed_units": counts, "tokens": tokens}
    if usage.get("cached_input_tokens"):
        wire["cached_tokens"] = usage["cached_input_tokens"]
    return wire
