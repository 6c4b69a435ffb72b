"""Answers: `to_wire_response` plays the provider, `from_wire_response` reads one."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from interlingua.adapters._answers import (
    report_alternatives,
    report_end,
    report_logprobs,
    report_rest,
    report_stop_sequence,
    report_usage,
    same_counts,
)
from interlingua.adapters._kit import NOTHING, Wire, data_of, report_foreign_state, report_own_state
from interlingua.adapters._members import whole
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._verbatim import keep_item, may_differ, put_back_item
from interlingua.adapters.cohere_chat.errors import error as read_error
from interlingua.adapters.cohere_chat.messages import keep_message, message_from_wire, message_to_wire
from interlingua.adapters.cohere_chat.tables import FINISH, FINISH_BACK, NAME, Reading, Writing
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Response = dict[str, Any]
Usage = dict[str, Any]

_LOGPROBS: Final = "content"
"""The member of canonical log probabilities that holds the wire's list."""


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The body with which this provider would have given an answer; its own answers come out as they were.

    Losses are reported at their place in the response.
    """
    response = data_of(answer)
    loss = Loss()
    try:
        body = _body(response, endpoint, loss)
        body["message"] = put_back_item(response["message"], body["message"], endpoint, loss.entries, loss)
        body = put_back_item(response, body, endpoint, loss.entries, loss)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        # the schema has checked all but what providers left in `encoding` and `fields`
        raise InvalidRequest("a provider state of the response has an unexpected shape", adapter=NAME) from problem
    return body, loss.entries


def _body(response: Response, endpoint: Endpoint, loss: Loss) -> Wire:
    writing = Writing(response, endpoint, loss)
    body: Wire = {}
    if response.get("id") is not None:
        body["id"] = response["id"]
    elif not writing.same_origin:
        body["id"] = answer_id(json.dumps(response["message"]["content"]))
    body["message"] = message_to_wire(response["message"], ("message",), writing, answer=True)
    body.update(end_to_wire(response, writing))
    state = response.get("provider_state")
    if state is not None:
        if writing.same_origin:
            for name, value in (state.get("fields") or NOTHING).items():
                body.setdefault(name, value)
            report_own_state(state, loss, ())
        else:
            report_foreign_state(response, endpoint, loss, ())
    content = response["message"]["content"]
    ended = body.get("finish_reason")
    report_end(response, finish_from_wire(ended if type(ended) is str else None, content), loss, ())
    report_stop_sequence(response, loss, ())
    report_usage(response, _UNCOUNTED, loss)
    report_alternatives(response, loss)
    if "logprobs" not in body:
        report_logprobs(response, loss, ())
    report_rest(response, loss)
    return body


def answer_id(seed: bytes) -> str:
    """The id of an answer that nobody gave one: the wire demands it, in the form of a UUID."""
    return str(UUID(bytes=hashlib.sha256(seed).digest()[:16], version=4))


def end_to_wire(response: Response, writing: Writing) -> Wire:
    """How an answer ended and what it took: the last event of a stream, too."""
    end: Wire = {}
    raw = response.get("finish_reason_raw")
    reason: str = response["finish_reason"]
    if writing.same_origin and finish_from_wire(raw, response["message"]["content"]) == reason:
        if raw is not None:
            end["finish_reason"] = raw
    else:
        end["finish_reason"] = FINISH_BACK.get(reason, "OTHER")
    if (usage := response.get("usage")) is not None:
        end["usage"] = usage_to_wire(usage, own=writing.same_origin)
    logprobs = response.get("logprobs")
    if logprobs is not None and logprobs.keys() == {_LOGPROBS}:
        pieces = logprobs[_LOGPROBS]
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
    if not isinstance(body, dict):
        raise InvalidAnswer("an answer must be an object", path="", adapter=NAME)
    if isinstance(body.get("message"), str):
        raise ProviderError(read_error(200, {}, body, endpoint))
    reading = Reading(endpoint, ids)
    response = read_answer(body, reading)
    usual = body["message"].get("role") == "assistant" and None not in body.values()
    if may_differ(reading.unusual or not usual):
        loss = Loss()
        written = _body(response, endpoint, loss)
        keep_message(response["message"], body["message"], endpoint)
        written["message"] = put_back_item(response["message"], written["message"], endpoint, [], loss)
        keep_item(response, body, written, endpoint, loss.entries)
    return unwrap_answer_call(response), []


def read_answer(body: Wire, reading: Reading) -> Response:
    """The response of a body."""
    try:
        message = message_from_wire({"role": "assistant", **body["message"]}, reading, answer=True)
        if message["role"] != "assistant":
            raise ValueError("role")
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        raise InvalidAnswer(
            "the answer cannot be read: a member is missing or has the wrong type", path="/message", adapter=NAME
        ) from problem
    response: Response = {"message": message}
    fields: dict[str, Any] = {}
    for name, value in body.items():
        match name:
            case "message":
                pass
            case "id" if type(value) is str:
                response["id"] = value
            case "finish_reason" if type(value) is str:
                response["finish_reason_raw"] = value
            case "usage" if (usage := usage_from_wire(value)) is not None:
                response["usage"] = usage
            case "logprobs" if type(value) is list:
                response["logprobs"] = {_LOGPROBS: value}
            case _ if value is None:
                pass
            case _:
                fields[name] = value
    response["finish_reason"] = finish_from_wire(response.get("finish_reason_raw"), message["content"])
    state = response["provider_state"] = reading.endpoint.state()
    if fields:
        state["fields"] = fields
    return response


def finish_from_wire(raw: str | None, content: list[dict[str, Any]]) -> str:
    """Why an answer ended. One that holds calls asks for them, unless it was cut off, filtered or failed."""
    reason = FINISH.get(raw or "", "other")
    if reason not in _CUT and any(block["type"] == "tool_use" for block in content):
        return "tool_calls"
    return reason


_CUT: Final = ("length", "content_filter", "error", "cancelled")


# ---------------------------------------------------------------------------------------------------- usage


def usage_from_wire(usage: Any) -> Usage | None:
    """What is paid for, since cost is computed of it, None without counts; the provider's own object is `raw`.

    What came from the cache is told apart only where the prompt that is paid for is the one that was read.
    """
    if type(usage) is not dict:
        return None
    billed, tokens = _object(usage.get("billed_units")), _object(usage.get("tokens"))
    read = _sum(_count(tokens.get("input_tokens")), _count(tokens.get("image_tokens")))
    paid = _count(billed.get("input_tokens"))
    prompt = read if paid is None else paid
    generated = _count(billed.get("output_tokens"))
    if generated is None:
        generated = _count(tokens.get("output_tokens"))
    if prompt is None and generated is None:
        return None
    found: Usage = {"input_tokens": prompt or 0, "output_tokens": generated or 0, "raw": usage}
    cached = _count(usage.get("cached_tokens"))
    if cached and prompt is not None and cached <= prompt and read in (None, prompt):
        found["cached_input_tokens"] = cached
        found["input_tokens"] = prompt - cached
    reasoning = _count(tokens.get("reasoning_tokens"))
    if reasoning is not None:
        found["reasoning_tokens"] = min(reasoning, found["output_tokens"])
    return found


def _object(value: Any) -> Mapping[str, Any]:
    return value if type(value) is dict else NOTHING


def _count(value: Any) -> int | None:
    number = whole(value)
    return number if number is not None and number >= 0 else None


def _sum(left: int | None, right: int | None) -> int | None:
    return left if right is None else right if left is None else left + right


_UNCOUNTED: Final = ("cache_creation_input_tokens", "cache_creation_1h_input_tokens")
"""What the wire does not count apart."""


def usage_to_wire(usage: Usage, *, own: bool) -> Wire:
    """The wire's counts, in which the prompt includes what was read from and written to a cache."""
    raw: Mapping[str, Any] | None = usage.get("raw")
    if own and raw is not None and (read := usage_from_wire(raw)) is not None and same_counts(read, usage):
        return dict(raw)
    cached, written = usage.get("cached_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    counts = {"input_tokens": usage["input_tokens"] + cached + written, "output_tokens": usage["output_tokens"]}
    tokens = dict(counts)
    if usage.get("reasoning_tokens"):
        tokens["reasoning_tokens"] = usage["reasoning_tokens"]
    said: Wire = {"billed_units": counts, "tokens": tokens}
    if cached:
        said["cached_tokens"] = cached
    return said
