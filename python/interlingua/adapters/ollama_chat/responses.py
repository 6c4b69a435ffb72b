"""Answers: `to_wire_response` plays the provider, `from_wire_response` reads one."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._answers import (
    APART,
    AROUND,
    LISTED,
    UNREADABLE,
    Ends,
    Names,
    as_object,
    has_tokens,
    keep,
    put_back,
    read_end,
    read_members,
    report_around,
    served_model,
    unreadable,
    write_answer,
    written_end,
)
from interlingua.adapters._kit import NOTHING, Wire, data_of, report_foreign_state
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._usage import Usage, prompt_tokens
from interlingua.adapters._verbatim import may_differ
from interlingua.adapters.ollama_chat.errors import error as read_error
from interlingua.adapters.ollama_chat.messages import answer_from_wire, keep_message, message_to_wire
from interlingua.adapters.ollama_chat.tables import CREATED, Reading, Writing, moment
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Response = dict[str, Any]

ENDS: Final = Ends({"stop": "stop", "length": "length"}, {"stop_sequence": "stop", "tool_calls": "stop"}, ("length",))
"""The server has two words, and none for calls."""
_NAMES: Final = Names({"message": APART, "model": "model", "done_reason": "finish_reason_raw", "logprobs": LISTED})
_COUNTS: Final = ("prompt_eval_count", "eval_count")
_UNCOUNTED: Final = (
    "cached_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
    "reasoning_tokens",
)
"""What the wire does not count apart."""

# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint, *, created: int = 0) -> tuple[Wire, list[Entry]]:
    """The body with which this provider would have given an answer; its own answers come out as they were.

    `created` is the time of answers that do not bring one of their own, in seconds since 1970. Losses are
    reported at their place in the response.
    """
    response = data_of(answer)
    return write_answer(
        endpoint, lambda loss: put_back(response, _body(response, endpoint, loss, moment(created)), endpoint, loss)
    )


def _body(response: Response, endpoint: Endpoint, loss: Loss, created_at: str) -> Wire:
    writing = Writing(response, endpoint, loss)
    message = message_to_wire(response["message"], ("message",), writing, answer=True)
    body = end_to_wire(response, writing, message, created_at)
    end = read_end(body.get("done_reason"), response["message"]["content"], ENDS)
    covered = AROUND | {"logprobs"} if "logprobs" in body else AROUND
    report_around(response, end, covered, loss, uncounted=_UNCOUNTED)
    if "logprobs" in body:
        for name in sorted(
            (response.get("logprobs") or NOTHING).keys() - {LISTED}
        ):  # else they are of the provider's own
            loss.drop(("logprobs", name), "unsupported_field", "lost", "the wire lists the text's tokens alone")
    report_foreign_state(response, endpoint, loss, ())
    return body


def end_to_wire(response: Response, writing: Writing, message: Wire, created_at: str = CREATED) -> Wire:
    """An answer around its message; the last line of a stream, when the message says no more."""
    state = writing.state_of(response)
    same_origin = bool(state)
    body: Wire = {}
    if (model := served_model(response)) is not None:
        body["model"] = model
    if not same_origin:
        body["created_at"] = created_at
    body["message"] = message
    if (usage := response.get("usage")) is not None:
        body.update(usage_to_wire(usage, same_origin=same_origin))
    logprobs = response.get("logprobs") or NOTHING
    content = logprobs.get(LISTED)
    if isinstance(content, list) and (same_origin or has_tokens(logprobs)):
        body["logprobs"] = content
    body["done"] = True
    word = written_end(response, response["message"]["content"], ENDS, same_origin=same_origin)
    if word is not None:
        body["done_reason"] = word
    return {**body, **(state.get("fields") or NOTHING)}


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer. Raises `InvalidAnswer` for what is none, `ProviderError` for an error that came with status 200."""
    body = as_object(body, endpoint)
    if "message" not in body and body.get("error"):
        raise ProviderError(read_error(200, {}, body, endpoint))
    reading = Reading(endpoint, ids, salt_of(body))
    response = read_answer(body, reading)
    if may_differ(reading.unusual or body.get("done") is not True):
        loss = Loss()
        written = _body(response, endpoint, loss, CREATED)
        keep_message(response["message"], body["message"], endpoint)
        keep(response, body, written, endpoint, loss)
    return unwrap_answer_call(response), []


def salt_of(body: Wire) -> str:
    """What tells the calls without ids of this answer from those of others."""
    created = body.get("created_at")
    return created if isinstance(created, str) else ""


def read_answer(body: Wire, reading: Reading) -> Response:
    """The response of a body."""
    try:
        message = answer_from_wire(body["message"], reading)
    except UNREADABLE as problem:
        raise unreadable("/message", reading.endpoint) from problem
    response: Response = {"message": message}
    usage = usage_from_wire(body)
    counted: Mapping[str, Any] = NOTHING if usage is None else usage["raw"]
    rest = {
        name: value for name, value in body.items() if name not in counted and (name != "done" or value is not True)
    }
    read_members(rest, _NAMES, response, reading.endpoint, usage_from_wire)
    if usage is not None:
        response["usage"] = usage
    response["finish_reason"] = finish_from_wire(response.get("finish_reason_raw"), message["content"])
    return response


def finish_from_wire(raw: Any, content: list[dict[str, Any]]) -> str:
    """Why an answer ended. The wire has no word for calls: the content decides, unless the answer was cut."""
    return read_end(raw, content, ENDS)


# ---------------------------------------------------------------------------------------------------- usage


def usage_from_wire(body: Wire) -> Usage | None:
    """The two counts of the wire, None when it has neither. A prompt that was cached may be counted in part or not at all."""
    raw = {name: body[name] for name in _COUNTS if _is_count(body.get(name))}
    if not raw:
        return None
    return {"input_tokens": raw.get("prompt_eval_count", 0), "output_tokens": raw.get("eval_count", 0), "raw": raw}


def usage_to_wire(usage: Usage, *, same_origin: bool) -> Wire:
    """The wire's counts, in which the prompt includes what was read from and written to a cache."""
    counts = {"prompt_eval_count": prompt_tokens(usage), "eval_count": usage["output_tokens"]}
    raw = usage.get("raw")
    if same_origin and raw is not None and all(raw.get(name, 0) == count for name, count in counts.items()):
        return {name: raw[name] for name in counts if name in raw}
    return counts


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
