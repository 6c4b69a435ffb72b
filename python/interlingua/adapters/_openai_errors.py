"""Errors as OpenAI and those who speak its wires tell them: every shape in which they say that something failed, and the one to write."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _failures as failures
from interlingua.adapters._kit import Wire, error_body, retry_after
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry

Error = dict[str, Any]

_BY_STATUS: Final[dict[int, tuple[str, bool]]] = {
    400: ("invalid_request", False),
    401: ("authentication", False),
    402: ("billing", False),
    403: ("permission", False),
    404: ("not_found", False),
    405: ("invalid_request", False),
    408: ("timeout", True),
    409: ("server_error", True),
    413: ("invalid_request", False),
    415: ("invalid_request", False),
    422: ("invalid_request", False),
    425: ("server_error", True),
    429: ("rate_limit", True),
    498: ("overloaded", True),
    499: ("cancelled", False),
    500: ("server_error", True),
    501: ("unsupported", False),
    502: ("server_error", True),
    503: ("overloaded", True),
    504: ("timeout", True),
    524: ("timeout", True),
    529: ("overloaded", True),
}

_BY_WORD: Final[dict[str, tuple[str, bool]]] = {
    "context_length_exceeded": ("context_overflow", False),
    "exceed_context_size_error": ("context_overflow", False),
    "too_many_prompt_tokens": ("context_overflow", False),
    "model_max_prompt_tokens_exceeded": ("context_overflow", False),
    "tokens_limit_reached": ("context_overflow", False),
    "string_above_max_length": ("invalid_request", False),
    "content_filter": ("content_filter", False),
    "content_policy_violation": ("content_filter", False),
    "bio_policy": ("content_filter", False),
    "cyber_policy": ("content_filter", False),
    "misalignment_policy_violation": ("content_filter", False),
    "invalid_prompt": ("invalid_request", False),
    # of answers that failed, which have no status
    "data_residency_mismatch": ("invalid_request", False),
    "image_content_policy_violation": ("content_filter", False),
    "vector_store_timeout": ("timeout", True),
    **dict.fromkeys(
        (
            "invalid_image",
            "invalid_image_format",
            "invalid_base64_image",
            "invalid_image_url",
            "invalid_image_mode",
            "image_too_large",
            "image_too_small",
            "image_file_too_large",
            "image_parse_error",
            "unsupported_image_media_type",
            "empty_image_file",
            "failed_to_download_image",
            "image_file_not_found",
        ),
        ("invalid_request", False),
    ),
    "responsibleaipolicyviolation": ("content_filter", False),
    "data_inspection_failed": ("content_filter", False),
    "insufficient_quota": ("billing", False),
    "billing_hard_limit_reached": ("billing", False),
    "billing_not_active": ("billing", False),
    "insufficient_balance": ("billing", False),
    "insufficient_balance_error": ("billing", False),
    "exceeded_current_quota_error": ("billing", False),
    "arrearage": ("billing", False),
    "invalid_api_key": ("authentication", False),
    "authentication_error": ("authentication", False),
    "permission_error": ("permission", False),
    "unsupported_country_region_territory": ("permission", False),
    "model_not_found": ("not_found", False),
    "invalid_model": ("not_found", False),
    "unknown_model": ("not_found", False),
    "model_not_supported": ("not_found", False),
    "not_found_error": ("not_found", False),
    "rate_limit_exceeded": ("rate_limit", True),
    "rate_limit_error": ("rate_limit", True),
    "ratelimitreached": ("rate_limit", True),
    "rate_limit_reached_error": ("rate_limit", True),
    "tool_use_failed": ("server_error", True),
    "json_validate_failed": ("server_error", True),
    "engine_overloaded_error": ("overloaded", True),
    "overloaded_error": ("overloaded", True),
    "overloaded": ("overloaded", True),
    "server_error": ("server_error", True),
    "api_error": ("server_error", True),
    "internal_server_error": ("server_error", True),
    "internalservererror": ("server_error", True),
    "invalid_request_error": ("invalid_request", False),
    "badrequesterror": ("invalid_request", False),
    "timeout": ("timeout", True),
    "server_is_overloaded": ("overloaded", True),
    "slow_down": ("overloaded", True),
    "insufficient_permissions": ("permission", False),
    "cancelled": ("cancelled", False),
    "unsupported": ("unsupported", False),
    "loss_refused": ("loss_refused", False),
    "no_candidate": ("no_candidate", False),
    "network": ("network", True),
    "invalid_response": ("invalid_response", False),
    "stream_truncated": ("stream_truncated", True),
    "other": ("other", False),
}
"""Codes and types. Those of the first group say more than the status; the others count only where there is none."""

_DECISIVE: Final = frozenset(
    (
        "context_length_exceeded",
        "exceed_context_size_error",
        "too_many_prompt_tokens",
        "model_max_prompt_tokens_exceeded",
        "tokens_limit_reached",
        "content_filter",
        "content_policy_violation",
        "bio_policy",
        "cyber_policy",
        "misalignment_policy_violation",
        "image_content_policy_violation",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
        "insufficient_balance_error",
        "exceeded_current_quota_error",
        "arrearage",
        "tool_use_failed",
        "json_validate_failed",
        "engine_overloaded_error",
        "model_not_found",
        "invalid_model",
        "unknown_model",
        "model_not_supported",
        "invalid_api_key",
        "loss_refused",
        "no_candidate",
        "network",
        "invalid_response",
        "stream_truncated",
        "unsupported",
        "other",
    )
)

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

_HINTS: Final[tuple[tuple[str, frozenset[int | None], tuple[str, ...]], ...]] = (
    ("context_overflow", frozenset((None, 400, 413, 422)), _OVERFLOW_HINTS),
    ("billing", frozenset((None, 400, 403, 429, 500)), _BILLING_HINTS),
    ("content_filter", frozenset((None, 400, 403)), _FILTER_HINTS),
    ("authentication", frozenset((None, 400)), _KEY_HINTS),
)
"""What texts say, where neither a code nor the status says it: category, the statuses that leave it open, the phrases."""


def error(status: int, headers: Mapping[str, str], body: bytes | str | None, endpoint: Endpoint) -> Error:
    """The canonical error for an error answer: any status, any body, HTML and nothing included.

    The provider's own text may hold content, so it is not in `message`.
    """
    number = status if status >= 300 else None  # a failure that came as a success
    return error_from_body(number, headers, error_body(body) if body else None, endpoint)


def is_failure(body: Mapping[str, Any]) -> bool:
    """Whether a body without an answer tells of a failure flatly, or beside a status of its own (MiniMax)."""
    if any(isinstance(body.get(name), str) and body[name] for name in ("error_message", "error_type", "error_code")):
        return True
    failed = body.get("base_resp")
    return isinstance(failed, dict) and bool(failed.get("status_code"))


def error_from_body(status: int | None, headers: Mapping[str, str], body: Any, endpoint: Endpoint) -> Error:
    """The canonical error for a decoded body. Without a status the words decide: an error inside a stream."""
    words, text = _words(body)
    number = status if status is not None else _number(body)
    category, retryable = _verdict(number, words, text)
    lower = {name.lower(): value for name, value in headers.items()}
    if (told := lower.get("x-should-retry")) in ("true", "false") and category != "billing":
        retryable = told == "true"
    found: Error = {
        "category": category,
        "message": failures.message(endpoint, number, category, *_facts(body, words)),
        "retryable": retryable,
        "adapter": endpoint.adapter,
    }
    if endpoint.provider is not None:
        found["provider"] = endpoint.provider
    if number is not None:
        found["status"] = number
    if words:
        found["code"] = words[0]
    if (place := _place(body)) is not None:
        found["path"] = place
    if (seconds := retry_after(lower)) is not None:
        found["retry_after"] = seconds
    if (identity := failures.identity(lower.get("x-request-id"))) is not None:
        found["request_id"] = identity
    if body is not None:
        found["raw"] = body
    return found


def _words(body: Any) -> tuple[list[str], str]:
    """The provider's own words for the error, the most telling first, and its texts."""
    found: list[str] = []
    text = ""
    for place in _places(body):
        if isinstance(place, str):
            text = f"{text}\n{place}" if text else place
            continue
        for name in ("code", "type", "status", "error_code", "error_type"):
            word = place.get(name)
            if isinstance(word, str) and word not in found and word not in ("", "None") and not word.isdigit():
                found.append(word)
        for name in ("message", "detail", "error_message", "status_msg"):
            if isinstance(place.get(name), str):
                text = text or place[name]
    return found, text


def _places(body: Any) -> list[Any]:
    """Where an error may be told: under `error`, under its inner error, in a list of them, or in the body itself."""
    if isinstance(body, str):
        return [body]
    if isinstance(body, list):
        return _places(body[0]) if body else []
    if not isinstance(body, dict):
        return []
    inner = body.get("error")
    if isinstance(inner, dict):
        cause = inner.get("innererror")
        return [inner, *([cause] if isinstance(cause, dict) else _upstream(inner)), body]
    if isinstance(failed := body.get("base_resp"), dict) and not inner:
        return [failed, body]
    if isinstance(errors := body.get("errors"), list) and errors and isinstance(errors[0], (dict, str)):
        return [errors[0], body]
    return [inner, body] if isinstance(inner, str) else [body]


def _place(body: Any) -> str | None:
    """Where something is wrong, `param`, as a pointer."""
    for place in _places(body):
        if isinstance(place, dict) and (found := failures.place_of(place.get("param"))) is not None:
            return found
    return None


def _upstream(inner: Mapping[str, Any]) -> list[Any]:
    """What the provider behind a gateway said, as the gateway passes it on: a text (OpenRouter)."""
    metadata = inner.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return [raw] if isinstance(raw, str) else []


def _facts(body: Any, words: list[str]) -> list[str]:
    """What the body says in words and numbers apart from its sentence: the code, the kind of limit, its size, the place."""
    found = words[:1] + [word for word in words[1:] if word in _TYPES]
    for place in _places(body):
        if isinstance(place, dict):
            found += [f"{name} {place[name]}" for name in _LIMITS if type(place.get(name)) is int]
            found += _locations(place.get("detail"))
    return found


_LIMITS: Final = ("n_prompt_tokens", "n_ctx")  # llama.cpp


def _locations(detail: Any) -> list[str]:
    """Where a validator found something wrong, and of what type it is, as servers made with FastAPI say it. The place is
    one in the model of the server, which is not always one in the body."""
    first = detail[0] if isinstance(detail, list) and detail else None
    if not isinstance(first, dict):
        return []
    steps = first.get("loc")
    place = ".".join(str(step) for step in steps) if isinstance(steps, list) else ""
    kind = first.get("type")
    return [place, kind if isinstance(kind, str) else ""]


def _number(body: Any) -> int | None:
    """A status that is told inside a body, as OpenRouter does."""
    for place in _places(body):
        if isinstance(place, dict):
            for name in ("code", "status", "raw_status_code", "status_code"):
                value = place.get(name)
                if isinstance(value, str) and value.isdigit() and len(value) == 3:
                    value = int(value)
                if type(value) is int and 400 <= value <= 599:
                    return value
    return None


def _verdict(status: int | None, words: list[str], text: str) -> tuple[str, bool]:
    known = [word for given in words if (word := given.lower()) in _BY_WORD]
    for word in known:
        if word in _DECISIVE:
            return _BY_WORD[word]
    if text:
        said = text.lower()
        for category, statuses, hints in _HINTS:
            if status in statuses and any(hint in said for hint in hints):
                return category, False
    if status is not None and status >= 400:
        if status in _BY_STATUS:
            return _BY_STATUS[status]
        return ("server_error", True) if status >= 500 else ("invalid_request", False)
    return _BY_WORD[known[0]] if known else ("other", False)


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
"""Words of OpenAI that are types, beside those that end so."""
_FAMILY: Final = ("openai_chat", "openai_responses")


def to_wire_error(failure: Error, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The answer with which OpenAI would have told a canonical error, and what its wires cannot say of it."""
    return failures.write(failure, endpoint, _spell, error_from_body, hint=True, family=_FAMILY)


def error_in_stream(failure: Error, endpoint: Endpoint) -> Wire:
    """The members of the error with which OpenAI would have told it inside a stream: message, type, param and code."""
    return to_wire_error(failures.in_stream(failure), endpoint)[0]["body"]["error"]


def _spell(told: failures.Told) -> Wire:
    status, kind, code = _WRITTEN.get(told.category, (500, "server_error", "server_error"))
    param = None if told.path is None else failures.bracketed(told.path)
    headers = failures.wait_headers(told.retry_after, exact=True)
    if told.request_id is not None:
        headers["x-request-id"] = told.request_id
    if told.word is not None and (told.word in _TYPES or told.word.endswith("_error")):
        kind = told.word
    elif told.word is not None:
        code = told.word
    inner = {"message": told.text, "type": kind, "param": param, "code": code}
    return {"status": told.status or status, "headers": headers, "body": {"error": inner}}
