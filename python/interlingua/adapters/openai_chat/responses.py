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
from interlingua.adapters._kit import NOTHING, Wire, keep
from interlingua.adapters._openai_errors import error_from_body, is_failure
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters.openai_chat.tables import FINAL, FINISH, FINISH_BACK, NAME, Reading, Writing, extras
from interlingua.adapters.openai_chat.turns import answer_from_wire, answer_to_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Response = dict[str, Any]
Usage = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire_response(response: Response, endpoint: Endpoint, *, created: int = 0) -> tuple[Wire, list[Entry]]:
    """The body with which this provider would have given an answer; its own answers come out as they were.

    `created` is the time of answers that do not bring one of their own, in seconds since 1970.
    Losses are reported at their place in the response.
    """
    loss = Loss()
    try:
        body = _body(response, endpoint, loss, created)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        # the schema has checked all but what providers left in `encoding` and `fields`
        raise InvalidRequest("a provider state of the response has an unexpected shape", adapter=NAME) from problem
    return body, loss.entries


def _body(response: Response, endpoint: Endpoint, loss: Loss, created: int) -> Wire:
    state = response.get("provider_state")
    if state is not None and endpoint.owns(state):
        return _own_body(response, state, endpoint, loss)
    writing = Writing(response, endpoint, loss, answering=True)
    choices = [_played_choice(response, 0, writing)]
    for choice in response.get("alternatives") or ():
        choices.append(_played_choice(choice, len(choices), writing))
    body: Wire = {
        "id": response.get("id") or answer_id(response),
        "object": "chat.completion",
        "created": created,
        "model": _model(response) or endpoint.model or "",  # clients require it
        "choices": choices,
    }
    if (usage := response.get("usage")) is not None:
        body["usage"] = usage_to_wire(usage, endpoint, own=False)
        report_usage(response, _UNCOUNTED, loss)
    report_rest(response, loss)
    return body


_UNCOUNTED: Final = ("cache_creation_1h_input_tokens",)
"""What the wire does not count apart."""


def _model(response: Response) -> str | None:
    model: str | None = response.get("model")
    return model[model.find(":") + 1 :] or model if model is not None else None


def _own_body(response: Response, state: Mapping[str, Any], endpoint: Endpoint, loss: Loss) -> Wire:
    writing = Writing(response, endpoint, loss, answering=True)
    fields, encoding = _own_parts(state)
    body: Wire = {}
    if "id" in response:
        body["id"] = response["id"]
    if (model := _model(response)) is not None:
        body["model"] = model
    body["choices"] = _own_choices(response, fields, encoding, writing)
    if (usage := response.get("usage")) is not None:
        body["usage"] = usage_to_wire(usage, endpoint, own=True)
        if body["usage"] is not usage.get("raw"):
            report_usage(response, _UNCOUNTED, loss)
    report_rest(response, loss)
    for name, value in encoding.get("empty", NOTHING).items():
        body.setdefault(name, value)
    for name, value in fields.items():
        if name != "choice":
            body.setdefault(name, value)
    return body


def _own_parts(state: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return ((state.get("fields") or NOTHING), (state.get("encoding") or NOTHING)) if state else (NOTHING, NOTHING)


def answer_id(response: Mapping[str, Any]) -> str:
    """An id for an answer that has none: the same answer gets the same id."""
    said = response.get("message", {}).get("id") or repr(response.get("message"))
    return "chatcmpl-" + hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _own_choices(
    response: Response, fields: Mapping[str, Any], encoding: Mapping[str, Any], writing: Writing
) -> list[Wire]:
    if encoding.get("choices") == []:
        return []
    choices = [_own_choice(response, 0, fields.get("choice") or NOTHING, encoding.get("choice") or NOTHING, writing)]
    for position, choice in enumerate(response.get("alternatives") or (), 1):
        state = choice.get("provider_state")
        own_fields, own_form = _own_parts(state if state is not None and writing.endpoint.owns(state) else None)
        choices.append(_own_choice(choice, position, own_fields, own_form, writing))
        report_rest(choice, writing.loss, ("alternatives", position - 1))
    return choices


def _own_choice(
    choice: dict[str, Any], position: int, fields: Mapping[str, Any], encoding: Mapping[str, Any], writing: Writing
) -> Wire:
    wire: Wire = {"index": encoding.get("index", position)}
    wire["message"] = answer_to_wire(choice["message"], message_path(position), writing)
    if (logprobs := choice.get("logprobs")) is not None:
        wire["logprobs"] = logprobs
    content = choice["message"]["content"]
    wire["finish_reason"] = word = finish_to_wire(choice, content, own=True)
    stop = stop_to_wire(choice, content, writing.dialect)
    for name, value in encoding.get("empty", NOTHING).items():
        wire[name] = value
    for name, value in fields.items():
        wire.setdefault(name, value)
    for name in encoding.get("absent", ()):
        wire.pop(name, None)
    if word != choice.get("finish_reason_raw"):
        wire["finish_reason"] = word  # an edit made it another end
    wire.update(stop)
    _report_end(choice, content, word, stop, message_path(position)[:-1], writing)
    return wire


def message_path(position: int) -> Path:
    return ("message",) if position == 0 else ("alternatives", position - 1, "message")


def _played_choice(choice: dict[str, Any], position: int, writing: Writing) -> Wire:
    path = message_path(position)
    place = path[:-1]
    content = as_told(choice["message"]["content"], writing.dialect)
    word = finish_to_wire(choice, content, own=False)
    message = answer_to_wire(choice["message"], path, writing)
    logprobs = _played_logprobs(choice, place, writing)
    stop = stop_to_wire(choice, content, writing.dialect)
    _report_end(choice, content, word, stop, place, writing)
    report_stateless(choice, writing.loss, place)
    if position:
        report_rest(choice, writing.loss, place)
    return {"index": position, "message": message, "logprobs": logprobs, "finish_reason": word, **stop}


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


def _report_end(
    choice: dict[str, Any],
    content: list[dict[str, Any]],
    word: str | None,
    stop: Mapping[str, Any],
    path: Path,
    writing: Writing,
) -> None:
    if not stop:
        report_end(choice, finish_from_wire(word, content), writing.loss, path)
        report_stop_sequence(choice, writing.loss, path)


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_response(body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> tuple[Response, list[Entry]]:
    """Reads an answer. Raises `InvalidAnswer` for what is none, `ProviderError` for an error that came with status 200."""
    if not isinstance(body, dict):
        raise InvalidAnswer("an answer must be an object", path="", adapter=NAME)
    if not body.get("choices") and (body.get("error") or is_failure(body)):
        raise ProviderError(error_from_body(None, {}, body, endpoint))
    if "choices" not in body:
        raise InvalidAnswer("an answer needs choices", path="/choices", adapter=NAME)
    return unwrap_answer_call(read_response(body, endpoint, ids)), []


def read_response(body: Wire, endpoint: Endpoint, ids: IdSource) -> Response:
    """The response of a body that has choices."""
    choices = body["choices"]
    if not isinstance(choices, list):
        raise InvalidAnswer("choices must be a list", path="/choices", adapter=NAME)
    fields, empty = extras(body, _BODY)
    fields = fields or {}
    encoding: dict[str, Any] = {"empty": empty} if empty else {}
    response: Response = {}
    _read_identity(body, endpoint, response, fields, encoding)
    if not choices:
        response["message"] = {"role": "assistant", "content": []}
        response["finish_reason"] = "other"
        encoding["choices"] = []
    read = [_choice_from_wire(choice, position, endpoint, ids) for position, choice in enumerate(choices)]
    if read:
        first, choice_fields, choice_form = read[0]
        response |= first
        if choice_fields:
            fields["choice"] = choice_fields
        if choice_form:
            encoding["choice"] = choice_form
    usage = body.get("usage")
    if isinstance(usage, dict):
        response["usage"] = usage_from_wire(usage, endpoint)
    elif "usage" in body:
        (encoding.setdefault("empty", {}) if usage is None else fields)["usage"] = usage
    if len(read) > 1:
        response["alternatives"] = [_alternative(*choice, endpoint) for choice in read[1:]]
    state = endpoint.state()
    keep(state, fields, encoding)
    response["provider_state"] = state
    return response


_BODY: Final = frozenset(("id", "model", "choices", "usage"))
_CHOICE: Final = frozenset(("index", "message", "finish_reason", "logprobs"))


def _read_identity(
    body: Wire, endpoint: Endpoint, response: Response, fields: dict[str, Any], encoding: dict[str, Any]
) -> None:
    for name in ("id", "model"):
        value = body.get(name)
        if isinstance(value, str) and value:
            response[name] = value if name == "id" else endpoint.model_id(value)
        elif value is None and name in body:
            encoding.setdefault("empty", {})[name] = None
        elif name in body:
            fields[name] = value


def _alternative(
    choice: dict[str, Any], fields: dict[str, Any] | None, encoding: dict[str, Any] | None, endpoint: Endpoint
) -> dict[str, Any]:
    if fields or encoding:
        choice["provider_state"] = endpoint.state(
            **({"fields": fields} if fields else {}), **({"encoding": encoding} if encoding else {})
        )
    return choice


def _choice_from_wire(
    choice: Any, position: int, endpoint: Endpoint, ids: IdSource
) -> tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any] | None]:
    """One answer, its own members, and how it was spelt."""
    path = f"/choices/{position}"
    try:
        fields, empty = extras(choice, _CHOICE)
        message = choice.get("message")
        encoding: dict[str, Any] = {"empty": empty} if empty else {}
        if not isinstance(message, dict):
            if message is not None:
                raise TypeError(message)
            _note_missing(choice, "message", encoding)
            message = {}
        read: dict[str, Any] = {"message": answer_from_wire(message, Reading(endpoint, ids))}
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        raise InvalidAnswer(
            "the answer cannot be read: a member is missing or has the wrong type", path=path, adapter=NAME
        ) from problem
    if choice.get("index", _ABSENT) != position or isinstance(choice["index"], bool):
        _note_index(choice, encoding)
    raw = choice.get("finish_reason")
    read["finish_reason"] = finish_from_wire(raw, read["message"]["content"])
    if isinstance(raw, str):
        read["finish_reason_raw"] = raw
        if fields is not None and raw == "stop" == read["finish_reason"] and "stop_told" in endpoint.dialect:
            _read_stop(read, fields, endpoint.dialect["stop_told"])
    elif raw is None:
        _note_missing(choice, "finish_reason", encoding)
    else:
        encoding.setdefault("empty", {})["finish_reason"] = raw
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict):
        read["logprobs"] = logprobs
    elif logprobs is None:
        if "logprobs" in choice:
            encoding.setdefault("empty", {})["logprobs"] = None
    else:
        fields = {**(fields or {}), "logprobs": logprobs}
    return read, fields, encoding


def _read_stop(read: dict[str, Any], fields: dict[str, Any], member: str) -> None:
    """The text that ended an answer, where it is told; a number is a token, and stays a field."""
    text = fields.get(member)
    if isinstance(text, str) and text:
        del fields[member]
        read["finish_reason"] = "stop_sequence"
        read["stop_sequence"] = text


_ABSENT: Final = object()


def _note_missing(choice: Wire, name: str, encoding: dict[str, Any]) -> None:
    if name in choice:
        encoding.setdefault("empty", {})[name] = None
    else:
        encoding.setdefault("absent", []).append(name)


def _note_index(choice: Wire, encoding: dict[str, Any]) -> None:
    if "index" in choice:
        encoding["index"] = choice["index"]
    else:
        encoding.setdefault("absent", []).append("index")


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
