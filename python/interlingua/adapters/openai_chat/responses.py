"""Answers: `to_wire_response` plays the provider, `from_wire_response` reads one."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._answers import (
    has_tokens,
    report_end,
    report_logprobs,
    report_rest,
    report_stateless,
    report_stop_sequence,
    report_usage,
    same_counts,
)
from interlingua.adapters._kit import NOTHING, Wire, data_of
from interlingua.adapters._openai_errors import error as read_error
from interlingua.adapters._openai_errors import is_failure
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._verbatim import keep_item, keep_spelt, may_differ, put_back_item
from interlingua.adapters.openai_chat.tables import FINAL, FINISH, FINISH_BACK, NAME, Kept, Reading, Writing
from interlingua.adapters.openai_chat.turns import answer_from_wire, answer_to_wire, keep_message
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Response = dict[str, Any]
Usage = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint, *, created: int = 0) -> tuple[Wire, list[Entry]]:
    """The body with which this provider would have given an answer; its own answers come out as they were.

    `created` is the time of answers that do not bring one of their own, in seconds since 1970.
    Losses are reported at their place in the response.
    """
    response = data_of(answer)
    loss = Loss()
    try:
        body = _body(response, endpoint, loss, created)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        # the schema has checked all but what providers left in `encoding` and `fields`
        raise InvalidRequest("a provider state of the response has an unexpected shape", adapter=NAME) from problem
    return body, loss.entries


def _body(response: Response, endpoint: Endpoint, loss: Loss, created: int) -> Wire:
    body, first, *others = _by_rule(response, endpoint, loss, created)
    view = put_back_item(response, {**body, _FIRST: first}, endpoint, loss.entries, loss)
    for position, choice in enumerate(response.get("alternatives") or ()):
        others[position] = put_back_item(choice, others[position], endpoint, [], loss)
    if _FIRST in view:
        view["choices"] = [view.pop(_FIRST), *others]
    return view


_FIRST: Final = "choice"
"""Where the first choice stands beside the other members of an answer, to be compared: it is the answer, others are for
themselves."""


def _by_rule(response: Response, endpoint: Endpoint, loss: Loss, created: int = 0) -> list[Wire]:
    """An answer by the rules of the wire, but for messages of this provider, which are as they came: the body without its
    choices, and each choice."""
    writing = Writing(response, endpoint, loss, answering=True)
    own = writing.same_origin
    body: Wire = {}
    if not own:  # clients require these
        body = {"id": "", "object": "chat.completion", "created": created, "model": endpoint.model or ""}
    if identity := response.get("id") or (None if own else answer_id(response)):
        body["id"] = identity
    if model := _model(response):
        body["model"] = model
    if (usage := response.get("usage")) is not None:
        body["usage"] = usage_to_wire(usage, endpoint, own=own)
        if body["usage"] is not usage.get("raw"):
            report_usage(response, _UNCOUNTED, loss)
    fields = writing.owned(response).get("fields") or NOTHING
    choices = [_choice_to_wire(response, 0, fields.get(_FIRST) or NOTHING, writing)]
    for position, choice in enumerate(response.get("alternatives") or (), 1):
        choices.append(_choice_to_wire(choice, position, writing.owned(choice).get("fields") or NOTHING, writing))
    report_rest(response, loss)
    for name, value in fields.items():
        if name != _FIRST:
            body.setdefault(name, value)
    return [body, *choices]


_UNCOUNTED: Final = ("cache_creation_1h_input_tokens",)
"""What the wire does not count apart."""


def _model(response: Response) -> str | None:
    model: str | None = response.get("model")
    return model[model.find(":") + 1 :] or model if model is not None else None


def answer_id(response: Mapping[str, Any]) -> str:
    """An id for an answer that has none: the same answer gets the same id."""
    said = response.get("message", {}).get("id") or repr(response.get("message"))
    return "chatcmpl-" + hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _choice_to_wire(choice: dict[str, Any], position: int, fields: Mapping[str, Any], writing: Writing) -> Wire:
    path, loss, own = message_path(position), writing.loss, writing.same_origin
    content, place = choice["message"]["content"], path[:-1]
    if not own:
        content = as_told(content, writing.dialect)
    word = finish_to_wire(choice, content, own=own)
    message = answer_to_wire(choice["message"], path, writing)
    logprobs = choice.get("logprobs") if own else _played_logprobs(choice, place, writing)
    stop = stop_to_wire(choice, content, writing.dialect)
    wire: Wire = {"index": position, "message": message, "logprobs": logprobs, "finish_reason": word}
    if own:
        here = f"{pointer(path)}/"
        reported = [entry for entry in loss.entries if f"{entry['path']}/".startswith(here)]
        wire["message"] = put_back_item(choice["message"], message, writing.endpoint, reported, loss)
        for name, value in fields.items():
            if wire.get(name) is None:
                wire[name] = value
    else:
        report_stateless(choice, loss, place)
    wire.update(stop)
    if not stop:
        report_end(choice, finish_from_wire(word, content), loss, place)
        report_stop_sequence(choice, loss, place)
    if position:
        report_rest(choice, loss, place)
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


def as_told(content: list[dict[str, Any]], dialect: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The blocks of an answer of another provider, of which its end is told: a refusal without words is none, and where
    the wire marks none there is none."""
    for block in content:
        if block.get("refusal"):
            marked = dialect.get("refusals") is not False
            return [block for block in content if not block.get("refusal") or (marked and block["text"])]
    return content


def finish_to_wire(choice: dict[str, Any], content: list[dict[str, Any]], *, own: bool) -> str | None:
    """The wire's word for why an answer with this content ended: its own as long as it says so. A refusal is told by its
    text, and without one by the filter's word."""
    reason = choice["finish_reason"]
    if own:
        raw: str | None = choice.get("finish_reason_raw")
        if finish_from_wire(raw, content) == reason:
            return raw
    if reason == "refusal" and not any(block.get("refusal") for block in content):
        return "content_filter"
    return FINISH_BACK.get(reason, "other")


def stop_to_wire(
    choice: dict[str, Any], content: list[dict[str, Any]], dialect: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The member by which some providers tell the text that ended an answer; nothing where none did, or none is told."""
    member, text = dialect.get("stop_told"), choice.get("stop_sequence")
    if not member or not text or choice["finish_reason"] != "stop_sequence":
        return NOTHING
    return {member: text} if finish_from_wire("stop", content) == "stop" else NOTHING


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer. Raises `InvalidAnswer` for what is none, `ProviderError` for an error that came with status 200."""
    if not isinstance(body, dict):
        raise InvalidAnswer("an answer must be an object", path="", adapter=NAME)
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
    kept = Kept()
    fields = kept.others(body, _BODY)
    for name in ("id", "model"):
        value = body.get(name)
        if isinstance(value, str) and value:
            response[name] = value if name == "id" else endpoint.model_id(value)
        elif value is not None:
            fields[name] = value
        elif name in body:
            kept.silent(None, name)
    unusual = not choices
    if unusual:
        response |= {"message": {"role": "assistant", "content": []}, "finish_reason": "other"}
    others: list[dict[str, Any]] = []
    for position, choice in enumerate(choices):
        read, kept_of_it, place = ({}, Kept(), ()) if position else (response, kept, (_FIRST,))
        of_choice, is_usual = _choice_from_wire(choice, position, read, kept_of_it, place, endpoint, ids)
        unusual = unusual or not is_usual
        if position:
            if of_choice:
                read["provider_state"] = endpoint.state(fields=of_choice)
            keep_spelt(read, kept_of_it.spelt, endpoint)
            others.append(read)
        elif of_choice:
            fields[_FIRST] = of_choice
    usage = body.get("usage")
    if isinstance(usage, dict):
        response["usage"] = usage_from_wire(usage, endpoint)
    elif usage is not None:
        fields["usage"] = usage
    elif "usage" in body:
        kept.silent(None, "usage")
    if others:
        response["alternatives"] = others
    response["provider_state"] = endpoint.state(fields=fields) if fields else endpoint.state()
    keep_spelt(response, kept.spelt, endpoint)
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
    written, first, *others = _by_rule(response, endpoint, loss)
    came = {name: value for name, value in body.items() if name != "choices"} | {_FIRST: raws[0]} if raws else body
    keep_item(response, came, {**written, _FIRST: first}, endpoint, loss.entries)
    for choice, raw, wire in zip(choices[1:], raws[1:], others, strict=True):
        keep_item(choice, raw, wire, endpoint, [])


_BODY: Final = frozenset(("id", "model", "choices", "usage"))
_CHOICE: Final = frozenset(("index", "message", "finish_reason", "logprobs"))


def _choice_from_wire(
    choice: Any,
    position: int,
    read: dict[str, Any],
    kept: Kept,
    place: tuple[str, ...],
    endpoint: Endpoint,
    ids: IdSource,
) -> tuple[dict[str, Any], bool]:
    """Reads a choice; gives its own members, and whether it is written as it came. `place` is where it stands in what is kept."""
    reading = Reading(endpoint, ids)
    try:
        fields = kept.others(choice, _CHOICE, *place)
        message = choice.get("message")
        if message is not None and not isinstance(message, dict):
            raise TypeError(message)
        read["message"] = answer_from_wire(message or {}, reading)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        raise InvalidAnswer(
            "the answer cannot be read: a member is missing or has the wrong type",
            path=f"/choices/{position}",
            adapter=NAME,
        ) from problem
    index, raw = choice.get("index"), choice.get("finish_reason")
    read["finish_reason"] = finish_from_wire(raw, read["message"]["content"])
    if isinstance(raw, str):
        read["finish_reason_raw"] = raw
        if raw == "stop" == read["finish_reason"] and "stop_told" in endpoint.dialect:
            _read_stop(read, fields, endpoint.dialect["stop_told"])
    elif "finish_reason" not in choice:
        kept.absent(*place, "finish_reason")
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict):
        read["logprobs"] = logprobs
    elif logprobs is not None:
        fields["logprobs"] = logprobs
    elif "logprobs" not in choice:
        kept.absent(*place, "logprobs")
    odd = message is None or type(index) is not int or index != position or type(raw) not in (str, type(None))
    return fields, not (odd or reading.unusual)


def _read_stop(read: dict[str, Any], fields: dict[str, Any], member: str) -> None:
    """The text that ended an answer, where it is told; a number is a token, and stays a field."""
    text = fields.get(member)
    if isinstance(text, str) and text:
        del fields[member]
        read["finish_reason"] = "stop_sequence"
        read["stop_sequence"] = text


def finish_from_wire(raw: Any, content: list[dict[str, Any]]) -> str:
    """Why an answer ended. The content decides: calls are to be run whatever the word, unless it says that they were cut."""
    reason = FINISH.get(raw, "other") if isinstance(raw, str) else "other"
    if reason in FINAL:
        return reason
    refused = False
    for block in content:
        if block["type"] == "tool_use":
            return "tool_calls"
        refused = refused or block.get("refusal") is True
    return "refusal" if refused and reason == "stop" else reason


# ---------------------------------------------------------------------------------------------------- usage


def usage_to_wire(usage: Usage, endpoint: Endpoint, *, own: bool) -> Wire:
    """The wire's counts, in which the prompt includes what was read from and written to a cache."""
    raw = usage.get("raw")
    if own and raw is not None and same_counts(usage_from_wire(raw, endpoint), usage):
        return raw
    cached, written = usage.get("cached_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    prompt = usage["input_tokens"] + cached + written
    output, reasoning = usage["output_tokens"], usage.get("reasoning_tokens") or 0
    completion = max(output - reasoning, 0) if endpoint.dialect.get("reasoning_tokens_outside") else output
    details = {"cached_tokens": cached}
    if written:
        details["cache_write_tokens"] = written
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def usage_from_wire(raw: Wire, endpoint: Endpoint) -> Usage:
    """Disjoint counts. What the providers call the prompt holds what came from a cache; vendors name that in four ways.

    A count that the provider's own sum contradicts is taken as 0 and not as negative.
    """
    prompt_details = _details(raw, "prompt_tokens_details", "prompt_token_details")
    completion_details = _details(raw, "completion_tokens_details", "completion_token_details")
    cached = _first(
        prompt_details.get("cached_tokens"),
        raw.get("prompt_cache_hit_tokens"),
        raw.get("cached_tokens"),
        raw.get("cache_read_input_tokens"),
    )
    written = _first(
        prompt_details.get("cache_write_tokens"),
        prompt_details.get("cache_creation_tokens"),
        raw.get("cache_creation_input_tokens"),
    )
    reasoning = _first(completion_details.get("reasoning_tokens"), raw.get("reasoning_tokens"))
    prompt, output = _count(raw.get("prompt_tokens")), _count(raw.get("completion_tokens"))
    if reasoning and _outside(raw, prompt, output, reasoning, endpoint):
        output += reasoning
    usage: Usage = {"input_tokens": max(prompt - (cached or 0) - (written or 0), 0), "output_tokens": output}
    if cached is not None:
        usage["cached_input_tokens"] = cached
    if written is not None:
        usage["cache_creation_input_tokens"] = written
        hour = _details(raw, "cache_creation").get("ephemeral_1h_input_tokens")
        if _count(hour):
            usage["cache_creation_1h_input_tokens"] = _count(hour)
    if reasoning is not None:
        usage["reasoning_tokens"] = min(reasoning, output)
    usage["raw"] = raw
    return usage


def _outside(raw: Wire, prompt: int, output: int, reasoning: int, endpoint: Endpoint) -> bool:
    """Whether the reasoning stands beside the completion (xAI): told by the dialect, else by the sum."""
    told = endpoint.dialect.get("reasoning_tokens_outside")
    return bool(told) if told is not None else raw.get("total_tokens") == prompt + output + reasoning


def _details(raw: Wire, *names: str) -> Mapping[str, Any]:
    return next((raw[name] for name in names if isinstance(raw.get(name), dict)), NOTHING)


def _first(*values: Any) -> int | None:
    """The first count that says something; 0 when one is there but all are 0."""
    counts = [_count(value) for value in values if type(value) is int or type(value) is float]
    return next((count for count in counts if count), 0) if counts else None


def _count(value: Any) -> int:
    """A count, which some write as 10.0."""
    if type(value) is float and value.is_integer():
        return max(int(value), 0)
    return value if type(value) is int and value > 0 else 0
