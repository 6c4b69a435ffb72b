"""Answers: `to_wire_response` plays the provider, `from_wire_response` reads one."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._answers import (
    APART,
    AROUND,
    UNREADABLE,
    Ends,
    Names,
    as_object,
    derived_id,
    has_tokens,
    no_usage,
    read_end,
    report_choice,
    report_logprobs,
    report_stateless,
    served_model,
    take_members,
    unreadable,
    write_answer,
    written_end,
)
from interlingua.adapters._kit import NOTHING, Wire, data_of
from interlingua.adapters._openai_errors import error as read_error
from interlingua.adapters._openai_errors import is_failure
from interlingua.adapters._spelling import Spellings
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._usage import Places, Usage, native_counts, prompt_tokens, read_counts, report_usage
from interlingua.adapters._verbatim import keep_item, keep_spellings, may_differ, put_back_item
from interlingua.adapters.openai_chat.tables import NAME, Reading, Writing
from interlingua.adapters.openai_chat.turns import answer_from_wire, answer_to_wire, keep_message
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Response = dict[str, Any]

ENDS: Final = Ends(
    {
        "stop": "stop eos eos_token end_turn",
        "stop_sequence": "stop_sequence",
        "length": "length model_length max_tokens max_output model_context_window_exceeded",
        "tool_calls": "tool_calls function_call tool_use",
        "content_filter": "content_filter safety sensitive",
        "error": "error insufficient_system_resource abort network_error",
    },
    {"stop_sequence": "stop", "refusal": "stop", "cancelled": "error"},
    ("length", "content_filter", "error"),
    by_text=True,
)
"""The words of the wire and its dialects. It has none for a pause; `error` is OpenRouter's."""
_NAMES: Final = Names({"choices": APART, "id": "id", "model": "model", "usage": "usage"})
_OF_CHOICE: Final = Names(
    {"message": APART, "index": APART, "finish_reason": "finish_reason_raw", "logprobs": "logprobs"},
    always=("finish_reason", "logprobs"),
)
_PLACES: Final[Places] = (
    ("input_tokens", "prompt_tokens", ""),
    ("output_tokens", "completion_tokens", ""),
    ("cached_input_tokens", "prompt_tokens_details", "cached_tokens"),
    ("cached_input_tokens", "prompt_token_details", "cached_tokens"),
    ("cached_input_tokens", "prompt_cache_hit_tokens", ""),
    ("cached_input_tokens", "cached_tokens", ""),
    ("cached_input_tokens", "cache_read_input_tokens", ""),
    ("cache_creation_input_tokens", "prompt_tokens_details", "cache_write_tokens"),
    ("cache_creation_input_tokens", "prompt_tokens_details", "cache_creation_tokens"),
    ("cache_creation_input_tokens", "prompt_token_details", "cache_write_tokens"),
    ("cache_creation_input_tokens", "cache_creation_input_tokens", ""),
    ("cache_creation_1h_input_tokens", "cache_creation", "ephemeral_1h_input_tokens"),
    ("reasoning_tokens", "completion_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens", "completion_token_details", "reasoning_tokens"),
    ("reasoning_tokens", "reasoning_tokens", ""),
)
"""Vendors have several names for what came from a cache, and for what went to one."""
_UNCOUNTED: Final = ("cache_creation_1h_input_tokens",)
"""What the wire does not count apart."""
_COVERED: Final = AROUND | {"alternatives", "logprobs"}
_COVERED_WITH_STOP: Final = _COVERED | {"stop_sequence"}


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint, *, created: int = 0) -> tuple[Wire, list[Entry]]:
    """The body with which this provider would have given an answer; its own answers come out as they were.

    `created` is the time of answers that do not bring one of their own, in seconds since 1970.
    Losses are reported at their place in the response.
    """
    response = data_of(answer)
    return write_answer(endpoint, lambda loss: _body(response, endpoint, loss, created))


def _body(response: Response, endpoint: Endpoint, loss: Loss, created: int) -> Wire:
    body, others = _by_rule(response, endpoint, loss, created)
    view: Wire = put_back_item(response, body, endpoint, loss.entries, loss)
    for position, choice in enumerate(response.get("alternatives") or ()):
        others[position] = put_back_item(choice, others[position], endpoint, [], loss)
    if _FIRST in view:
        view["choices"] = [view.pop(_FIRST), *others]
    return view


_FIRST: Final = "choice"
"""Where the first choice stands beside the other members of an answer, to be compared: it is the answer, others are for
themselves."""


def _by_rule(response: Response, endpoint: Endpoint, loss: Loss, created: int = 0) -> tuple[Wire, list[Wire]]:
    """An answer by the rules of the wire, but for messages of this provider, which are as they came: the body with its first
    choice, and the others."""
    writing = Writing(response, endpoint, loss, answering=True)
    same_origin = writing.same_origin
    body: Wire = {}
    if not same_origin:  # clients require these
        body = {"id": "", "object": "chat.completion", "created": created, "model": endpoint.model or ""}
    if identity := response.get("id") or (None if same_origin else answer_id(response)):
        body["id"] = identity
    if model := served_model(response):
        body["model"] = model
    if (usage := response.get("usage")) is not None:
        body["usage"] = usage_to_wire(usage, endpoint, same_origin=same_origin)
        report_usage(usage, body["usage"], _UNCOUNTED, loss)
    fields = writing.state_of(response).get("fields") or NOTHING
    body[_FIRST] = _choice_to_wire(response, 0, fields.get(_FIRST) or NOTHING, writing)
    others: list[Wire] = []
    for position, choice in enumerate(response.get("alternatives") or (), 1):
        others.append(_choice_to_wire(choice, position, writing.state_of(choice).get("fields") or NOTHING, writing))
    for name, value in fields.items():
        body.setdefault(name, value)
    return body, others


def answer_id(response: Mapping[str, Any]) -> str:
    """An id for an answer that has none."""
    seed = response.get("message", {}).get("id") or repr(response.get("message"))
    return derived_id("chatcmpl-", seed.encode("utf-8", "surrogatepass"))


def _choice_to_wire(choice: dict[str, Any], position: int, fields: Mapping[str, Any], writing: Writing) -> Wire:
    path, loss, same_origin = message_path(position), writing.loss, writing.same_origin
    content, place = choice["message"]["content"], path[:-1]
    if not same_origin:
        content = fitted_refusals(content, writing.dialect)
    word = written_end(choice, content, ENDS, same_origin=same_origin)
    message = answer_to_wire(choice["message"], path, writing)
    logprobs = choice.get("logprobs") if same_origin else _played_logprobs(choice, place, writing)
    wire: Wire = {"index": position, "message": message, "logprobs": logprobs, "finish_reason": word}
    if same_origin:
        here = f"{pointer(path)}/"
        reported = [entry for entry in loss.entries if f"{entry['path']}/".startswith(here)]
        wire["message"] = put_back_item(choice["message"], message, writing.endpoint, reported, loss)
        for name, value in fields.items():
            if wire.get(name) is None:
                wire[name] = value
    else:
        report_stateless(choice, loss, place)
    if stop := stop_to_wire(choice, content, writing.dialect):
        wire.update(stop)
    end = choice["finish_reason"] if stop else read_end(word, content, ENDS)
    report_choice(choice, end, _COVERED_WITH_STOP if stop else _COVERED, loss, place)
    return wire


def message_path(position: int) -> Path:
    return ("message",) if position == 0 else ("alternatives", position - 1, "message")


def _played_logprobs(choice: dict[str, Any], path: Path, writing: Writing) -> Wire | None:
    logprobs = choice.get("logprobs")
    if logprobs is None:
        return None
    if not has_tokens(logprobs):
        report_logprobs(choice, writing.loss, path)
        return None
    wire = logprobs_to_wire(logprobs)
    if wire != logprobs:
        message = "every token has a list of others here, though it be empty"
        writing.loss.replace((*path, "logprobs"), wire, "required_default", "representation", message)
    return wire


def logprobs_to_wire(logprobs: Mapping[str, Any]) -> Wire:
    """Log probabilities of another wire: here every token has its list of others, though it be empty."""
    return {name: _with_others(tokens) if isinstance(tokens, list) else tokens for name, tokens in logprobs.items()}


def _with_others(tokens: list[Any]) -> list[Any]:
    return [{"top_logprobs": [], **token} if isinstance(token, dict) else token for token in tokens]


def fitted_refusals(content: list[dict[str, Any]], dialect: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The blocks of an answer of another provider, of which its end is told: a refusal without words is none, and where
    the wire marks none there is none."""
    for block in content:
        if block.get("refusal"):
            marked = dialect.get("refusals") is not False
            return [block for block in content if not block.get("refusal") or (marked and block["text"])]
    return content


def stop_to_wire(
    choice: dict[str, Any], content: list[dict[str, Any]], dialect: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The member by which some providers tell the text that ended an answer; nothing where none did, or none is told."""
    member, text = dialect.get("stop_told"), choice.get("stop_sequence")
    if not member or not text or choice["finish_reason"] != "stop_sequence":
        return NOTHING
    return {member: text} if read_end("stop", content, ENDS) == "stop" else NOTHING


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer. Raises `InvalidAnswer` for what is none, `ProviderError` for an error that came with status 200."""
    body = as_object(body, endpoint)
    if not body.get("choices") and (body.get("error") or is_failure(body)):
        raise ProviderError(read_error(200, {}, body, endpoint))
    if "choices" not in body:
        raise InvalidAnswer("an answer needs choices", path="/choices", adapter=NAME)
    return unwrap_answer_call(read_response(body, endpoint, ids)), []


def read_response(body: Wire, endpoint: Endpoint, ids: IdSource) -> Response:
    """The response of a body that has choices."""
    choices = body["choices"]
    if not isinstance(choices, list):
        raise InvalidAnswer("choices must be a list", path="/choices", adapter=NAME)
    response: Response = {}
    fields: Wire = {}
    spellings: Spellings = {}
    take_members(body, _NAMES, response, endpoint, fields, spellings, "", lambda raw: usage_from_wire(raw, endpoint))
    unusual = not choices
    if unusual:
        response |= {"message": {"role": "assistant", "content": []}, "finish_reason": "other"}
    others: list[dict[str, Any]] = []
    for position, choice in enumerate(choices):
        of_choice: Wire = {}
        if position == 0:
            unusual = not _choice_from_wire(choice, 0, response, of_choice, spellings, endpoint, ids)
            if of_choice:
                fields[_FIRST] = of_choice
            continue
        read: Response = {}
        of_place: Spellings = {}
        if not _choice_from_wire(choice, position, read, of_choice, of_place, endpoint, ids):
            unusual = True
        if of_choice:
            read["provider_state"] = endpoint.state(fields=of_choice)
        keep_spellings(read, of_place, endpoint)
        others.append(read)
    if others:
        response["alternatives"] = others
    response["provider_state"] = endpoint.state(fields=fields) if fields else endpoint.state()
    keep_spellings(response, spellings, endpoint)
    if may_differ(unusual):
        _keep(response, body, endpoint)
    return response


def _keep(response: Response, body: Wire, endpoint: Endpoint) -> None:
    """Keeps of an answer that was just read, its choices and their messages, what is written otherwise than it came."""
    raws, choices = body["choices"], [response, *response.get("alternatives", ())]
    for raw, choice in zip(raws, choices, strict=False):
        if isinstance(raw.get("message"), dict):
            keep_message(choice["message"], raw["message"], endpoint)
    loss = Loss()
    written, others = _by_rule(response, endpoint, loss)
    came = {name: value for name, value in body.items() if name != "choices"} | {_FIRST: raws[0]} if raws else body
    keep_item(response, came, written, endpoint, loss.entries)
    for choice, raw, wire in zip(choices[1:], raws[1:], others, strict=True):
        keep_item(choice, raw, wire, endpoint, [])


def _choice_from_wire(
    choice: Any,
    position: int,
    read: dict[str, Any],
    fields: Wire,
    spellings: Spellings,
    endpoint: Endpoint,
    ids: IdSource,
) -> bool:
    """Reads a choice, and what is kept of it. Whether it is written as it came."""
    reading = Reading(endpoint, ids)
    try:
        place = "" if position else f"/{_FIRST}"
        take_members(choice, _OF_CHOICE, read, endpoint, fields, spellings, place, no_usage)
        message = choice.get("message")
        if message is not None and not isinstance(message, dict):
            raise TypeError(message)
        read["message"] = answer_from_wire(message or {}, reading)
    except UNREADABLE as problem:
        raise unreadable(f"/choices/{position}", endpoint) from problem
    raw = read.get("finish_reason_raw")
    read["finish_reason"] = read_end(raw, read["message"]["content"], ENDS)
    if raw == "stop" == read["finish_reason"] and "stop_told" in endpoint.dialect:
        _read_stop(read, fields, endpoint.dialect["stop_told"])
    index = choice.get("index")
    return message is not None and type(index) is int and index == position and not reading.unusual


def _read_stop(read: dict[str, Any], fields: dict[str, Any], member: str) -> None:
    """The text that ended an answer, where it is told; a number is a token, and stays a field."""
    text = fields.get(member)
    if isinstance(text, str) and text:
        del fields[member]
        read["finish_reason"] = "stop_sequence"
        read["stop_sequence"] = text


# ---------------------------------------------------------------------------------------------------- usage


def usage_to_wire(usage: Usage, endpoint: Endpoint, *, same_origin: bool) -> Wire:
    """The wire's counts, in which the prompt includes what was read from and written to a cache."""
    if same_origin and (raw := native_counts(usage, lambda raw: usage_from_wire(raw, endpoint))) is not None:
        return raw
    prompt, output, reasoning = prompt_tokens(usage), usage["output_tokens"], usage.get("reasoning_tokens") or 0
    details = {"cached_tokens": usage.get("cached_input_tokens") or 0}
    if written := usage.get("cache_creation_input_tokens"):
        details["cache_write_tokens"] = written
    return {
        "prompt_tokens": prompt,
        "completion_tokens": max(output - reasoning, 0) if _stands_beside(endpoint) else output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def usage_from_wire(raw: Wire, endpoint: Endpoint) -> Usage:
    """Disjoint counts. What the providers call the prompt holds what came from a cache."""
    return read_counts(raw, _PLACES, with_cache=True, beside=_stands_beside(endpoint))


def _stands_beside(endpoint: Endpoint) -> bool | None:
    """Whether reasoning is counted beside the completion, as at xAI; None where only the total says so."""
    beside: bool | None = endpoint.dialect.get("reasoning_tokens_outside")
    return beside
