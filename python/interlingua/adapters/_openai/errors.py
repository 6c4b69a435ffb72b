"""Read and write errors of OpenAI and of other servers of its wires: every shape in which they report a failure is
read, and one is written."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import Wire, error_body
from interlingua.adapters._errors import failures
from interlingua.adapters._errors.failures import Error, Vocabulary, WireError
from interlingua.adapters._errors.texts import bracketed, identity, place_of, text_of
from interlingua.canonical.endpoint import Endpoint

_STATUSES: Final = {
    **failures.STATUSES,
    409: "server_error",
    425: "server_error",
    498: "overloaded",
    524: "timeout",
    529: "overloaded",
}


_DECISIVE: Final = failures.by_word(
    {
        "context_overflow": """context_length_exceeded exceed_context_size_error too_many_prompt_tokens
            model_max_prompt_tokens_exceeded tokens_limit_reached""",
        "content_filter": """content_filter content_policy_violation bio_policy cyber_policy
            misalignment_policy_violation image_content_policy_violation responsibleaipolicyviolation
            data_inspection_failed""",
        "billing": """insufficient_quota billing_hard_limit_reached billing_not_active insufficient_balance
            insufficient_balance_error exceeded_current_quota_error arrearage""",
        "server_error": "tool_use_failed json_validate_failed",
        "overloaded": "engine_overloaded_error",
        "not_found": "model_not_found invalid_model unknown_model model_not_supported unknown_url",
        "authentication": "invalid_api_key",
    }
)
_DECISIVE.update({word: word for word in failures.GATEWAY_WORDS if word != "cancelled"})  # cancelled has a status
"""Codes and types that are more precise than the status."""

_WORDS: Final = failures.by_word(
    {
        "invalid_request": """invalid_request_error badrequesterror string_above_max_length invalid_prompt
            data_residency_mismatch invalid_image invalid_image_format invalid_base64_image invalid_image_url
            invalid_image_mode image_too_large image_too_small image_file_too_large image_parse_error
            unsupported_image_media_type empty_image_file failed_to_download_image image_file_not_found""",
        "authentication": "authentication_error",
        "permission": "permission_error insufficient_permissions unsupported_country_region_territory",
        "not_found": "not_found_error",
        "rate_limit": "rate_limit_exceeded rate_limit_error ratelimitreached rate_limit_reached_error",
        "overloaded": "overloaded_error overloaded server_is_overloaded slow_down",
        "server_error": "server_error api_error internal_server_error internalservererror",
        "timeout": "timeout vector_store_timeout",
        "cancelled": "cancelled",
    }
)
"""Codes and types that decide if there is no status: in streams, and in failed responses."""

_OVERFLOW_HINTS: Final = (
    "maximum context length",
    "exceeded max context length",
    "exceeds the available context size",
    "exceed context limit",
    "context window",
    "contextwindowexceeded",
    "greater than the context length",
    "longer than the model's context length",
    "longer than the maximum model length",
    "when context the overflows",
    "total length of all messages is too long",
    "prompt is too long",
    "input is too long",
    "prompt exceeds max length",
    "maximum prompt length",
    "range of input length should be",
    "exceeds the maximum number of tokens",
    "exceeded model token limit",
    "prompt token count of",
    "input_too_large",
    "too many tokens:",
    "reduce the length of the messages",
)
_BILLING_HINTS: Final = (
    "insufficient balance",
    "credit balance is too low",
    "used all available credits",
    "requires more credits",
)
_FILTER_HINTS: Final = ("your input was flagged", "violates usage guidelines")
_KEY_HINTS: Final = ("api key not valid", "invalid api key")

_VOCABULARY: Final = Vocabulary(words=_WORDS, statuses=_STATUSES, hints=())

_HINTS: Final[tuple[tuple[str, frozenset[int | None], tuple[str, ...]], ...]] = (
    ("context_overflow", frozenset((None, 400, 413, 422)), _OVERFLOW_HINTS),
    ("billing", frozenset((None, 400, 403, 429, 500)), _BILLING_HINTS),
    ("content_filter", frozenset((None, 400, 403)), _FILTER_HINTS),
    ("authentication", frozenset((None, 400)), _KEY_HINTS),
)
"""Categories that only the text states: the category, the statuses with which the text decides, and the phrases."""


def is_failure(body: Mapping[str, Any]) -> bool:
    """Whether a body without an answer reports a failure in its top-level members, or in a status of its own
    (MiniMax)."""
    if any(isinstance(body.get(name), str) and body[name] for name in ("error_message", "error_type", "error_code")):
        return True
    failed = body.get("base_resp")
    return isinstance(failed, dict) and bool(failed.get("status_code"))


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> Error:
    """Read the error of a failed provider call: any status and any body, including HTML pages and an empty body. An
    error with a status of success is one of a stream or of a failed response: its words decide.

    `body` may be parsed JSON, text, bytes or nothing. The provider's own text may hold content, so it is not in
    `message`.
    """
    lower, parsed = failures.lowered(headers), error_body(body)
    places = _places(parsed)
    words = _words(places)
    number = status if status >= 300 else _number(places)
    category = _category(number, words, text_of(parsed))
    return failures.canonical(
        endpoint,
        category,
        number,
        lower,
        parsed,
        code=words[0] if words else None,
        facts=tuple(_facts(places, words)),
        path=_path(places),
        request_id=identity(lower.get("x-request-id")),
        obeys_hint=category != "billing",
    )


def _words(places: list[dict[str, Any]]) -> list[str]:
    """Return the provider's own words for the error, the most precise first."""
    found: list[str] = []
    for place in places:
        for name in ("code", "type", "status", "error_code", "error_type"):
            word = place.get(name)
            if isinstance(word, str) and word not in found and word not in ("", "None") and not word.isdigit():
                found.append(word)
    return found


def _places(body: Any) -> list[dict[str, Any]]:
    """Return the objects that may contain the words of an error: `error`, its inner error, the first of a list, the
    body itself."""
    if isinstance(body, list):
        return _places(body[0]) if body else []
    if not isinstance(body, dict):
        return []
    inner, status, errors = body.get("error"), body.get("base_resp"), body.get("errors")
    if isinstance(inner, dict):
        cause = inner.get("innererror")
        return [inner, cause, body] if isinstance(cause, dict) else [inner, body]
    if isinstance(status, dict) and not inner:
        return [status, body]
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        return [errors[0], body]
    return [body]


def _path(places: list[dict[str, Any]]) -> str | None:
    """Return the place of the error, `param`, as a pointer."""
    for place in places:
        if (found := place_of(place.get("param"))) is not None:
            return found
    return None


def _facts(places: list[dict[str, Any]], words: list[str]) -> list[str]:
    """Return the words and numbers of the body besides its sentence: the code, the kind of limit, its size, the
    place."""
    found = words[:1] + [word for word in words[1:] if word in _TYPES]
    for place in places:
        found += [f"{name} {place[name]}" for name in _LIMITS if type(place.get(name)) is int]
        found += _locations(place.get("detail"))
    return found


_LIMITS: Final = ("n_prompt_tokens", "n_ctx")  # llama.cpp


def _locations(detail: Any) -> list[str]:
    """Return the place and the type of an error that a validator found, in the format of FastAPI. The place refers to
    the data model of the server and does not always exist in the body."""
    first = detail[0] if isinstance(detail, list) and detail else None
    if not isinstance(first, dict):
        return []
    steps = first.get("loc")
    place = ".".join(str(step) for step in steps) if isinstance(steps, list) else ""
    kind = first.get("type")
    return [place, kind if isinstance(kind, str) else ""]


def _number(places: list[dict[str, Any]]) -> int | None:
    """Return a status that is inside a body, as OpenRouter sends it."""
    for place in places:
        for name in ("code", "status", "raw_status_code", "status_code"):
            value = place.get(name)
            if isinstance(value, str) and value.isdigit() and len(value) == 3:
                value = int(value)
            if type(value) is int and 400 <= value <= 599:
                return value
    return None


def _category(status: int | None, words: list[str], text: str) -> str:
    known = [word.lower() for word in words]
    for word in known:
        if word in _DECISIVE:
            return _DECISIVE[word]
    sentence = text.lower()
    for category, statuses, hints in _HINTS:
        if status in statuses and any(hint in sentence for hint in hints):
            return category
    if status is not None and status >= 400:
        return _VOCABULARY.of_status(status)
    return next((_WORDS[word] for word in known if word in _WORDS), "other")


# ---------------------------------------------------------------------------------------------------- to the wire

_WRITTEN: Final[dict[str, tuple[int, str, str | None]]] = {
    "invalid_request": (400, "invalid_request_error", None),
    "unsupported": (400, "invalid_request_error", "unsupported"),
    "loss_refused": (400, "invalid_request_error", "loss_refused"),
    "no_candidate": (400, "invalid_request_error", "no_candidate"),
    "context_overflow": (400, "invalid_request_error", "context_length_exceeded"),
    "content_filter": (400, "invalid_request_error", "content_policy_violation"),
    "authentication": (401, "invalid_request_error", "invalid_api_key"),
    "permission": (403, "invalid_request_error", "insufficient_permissions"),
    "not_found": (404, "invalid_request_error", "model_not_found"),
    "timeout": (408, "timeout", None),
    "rate_limit": (429, "requests", "rate_limit_exceeded"),
    "billing": (429, "insufficient_quota", "insufficient_quota"),
    "cancelled": (499, "invalid_request_error", "cancelled"),
    "server_error": (500, "server_error", "server_error"),
    "network": (502, "server_error", "network"),
    "invalid_response": (502, "server_error", "invalid_response"),
    "stream_truncated": (502, "server_error", "stream_truncated"),
    "overloaded": (503, "service_unavailable_error", "server_is_overloaded"),
    "other": (500, "server_error", "other"),
}
_TYPES: Final = frozenset(("requests", "tokens", "timeout", "insufficient_quota"))
"""Words of OpenAI that are types, besides those that end in `_error`."""
_FAMILY: Final = ("openai_chat", "openai_responses")


def _compose(failure: WireError) -> Wire:
    status, kind, code = _WRITTEN.get(failure.category, (500, "server_error", "server_error"))
    param = None if failure.path is None else bracketed(failure.path)
    headers = failures.wait_headers(failure.retry_after, exact=True)
    if failure.request_id is not None:
        headers["x-request-id"] = failure.request_id
    if failure.word is not None and (failure.word in _TYPES or failure.word.endswith("_error")):
        kind = failure.word
    elif failure.word is not None:
        code = failure.word
    inner = {"message": failure.text, "type": kind, "param": param, "code": code}
    return {"status": failure.status or status, "headers": headers, "body": {"error": inner}}


to_wire_error: Final = failures.writer(_compose, error, hint=True, family=_FAMILY)
_in_stream: Final = failures.in_stream(to_wire_error)


def error_in_stream(failure: Error, endpoint: Endpoint) -> Wire:
    """Return the members of an error as OpenAI reports it inside a stream: message, type, param and code."""
    members: Wire = _in_stream(failure, endpoint)["error"]
    return members
