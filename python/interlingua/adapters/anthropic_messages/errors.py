"""Errors both ways: what the provider says as canonical errors, and canonical errors as this provider tells them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _aws as aws
from interlingua.adapters import _failures as failures
from interlingua.adapters._kit import Wire, error_body, retry_after
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry

_BY_TYPE: Final = {
    "invalid_request_error": "invalid_request",
    "authentication_error": "authentication",
    "permission_error": "permission",
    "billing_error": "billing",
    "not_found_error": "not_found",
    "request_too_large": "invalid_request",
    "rate_limit_error": "rate_limit",
    "timeout_error": "timeout",
    "api_error": "server_error",
    "overloaded_error": "overloaded",
}
_BY_STATUS: Final = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    413: "invalid_request",
    422: "invalid_request",
    429: "rate_limit",
    499: "cancelled",
    501: "unsupported",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
_RETRYABLE: Final = frozenset(("rate_limit", "timeout", "server_error", "overloaded", "network", "stream_truncated"))
_CONFLICT: Final = 409

# what the provider says in words only
_OVERFLOW: Final = re.compile(
    r"prompt is too long|exceed(s|ed)? (the )?context|context (window|limit)|input is too long", re.IGNORECASE
)
_BILLING: Final = re.compile(r"credit balance is too low", re.IGNORECASE)
_FILTERED: Final = re.compile(r"blocked by content filtering|content filtering policy", re.IGNORECASE)


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> dict[str, Any]:
    """The canonical error of a failed call. `body` may be parsed JSON, text, bytes or nothing.

    The message holds nothing of the provider's sentence; that is in `raw`.
    """
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    parsed = error_body(body)
    code, text = _said(parsed, lower)
    category = _own_word(parsed) or _category(status, code, text)
    retryable = category in _RETRYABLE or status == _CONFLICT
    match lower.get("x-should-retry"):
        case "true":
            retryable = True
        case "false":
            retryable = False
        case _:
            pass
    found: dict[str, Any] = {
        "category": category,
        "message": failures.message(endpoint, status, category, code),
        "retryable": retryable,
        "status": status,
        "adapter": endpoint.adapter,
    }
    if endpoint.provider:
        found["provider"] = endpoint.provider
    if code:
        found["code"] = code
    if category == "invalid_request" and (place := _place(text)) is not None:
        found["path"] = place
    after = retry_after(lower)
    if after is not None:
        found["retry_after"] = after
    told = parsed.get("request_id") if isinstance(parsed, dict) else None
    if (identity := failures.identity(told, lower.get("request-id"))) is not None:
        found["request_id"] = identity
    if parsed is not None and parsed != "":
        found["raw"] = parsed
    return found


_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def _said(body: Any, headers: dict[str, str]) -> tuple[str | None, str]:
    """The provider's error word and its text."""
    code = headers.get("x-amzn-errortype", "").partition(":")[0] or None
    text = ""
    if isinstance(body, list) and body:
        body = body[0]  # Vertex answers with a list
    if isinstance(body, dict):
        inner = body.get("error")
        details = inner if isinstance(inner, dict) else body
        for name in ("type", "status", "__type", "code"):
            value = details.get(name)
            if code is None and isinstance(value, str) and value != "error":
                code = value.rpartition("#")[2]
        message = details.get("message") if isinstance(details.get("message"), str) else inner
        text = message if isinstance(message, str) else ""
    elif isinstance(body, str):
        text = body
    if code is not None and not _CODE.fullmatch(code):
        code = None
    return code, text


def _category(status: int, code: str | None, text: str) -> str:
    category = _BY_TYPE.get(code or "") or aws.category(code) or _BY_STATUS.get(status)
    if category is None:
        category = "server_error" if status >= 500 else "other" if status != 200 else "server_error"
    if category == "invalid_request":
        if _OVERFLOW.search(text):
            return "context_overflow"
        if _BILLING.search(text):
            return "billing"
        if _FILTERED.search(text):
            return "content_filter"
    return category


def _own_word(body: Any) -> str | None:
    """The category that a gateway names in `details.error_code`, where the wire has no type for it."""
    inner = body.get("error") if isinstance(body, dict) else None
    details = inner.get("details") if isinstance(inner, dict) else None
    word = details.get("error_code") if isinstance(details, dict) else None
    return word if isinstance(word, str) and word in failures.WORDS else None


def _place(text: str) -> str | None:
    """Where something is wrong: texts begin with the place, `messages.0.content: …`."""
    place, colon, _ = text.partition(": ")
    return failures.place_of(place) if colon else None


# ---------------------------------------------------------------------------------------------------- to the wire

_WRITTEN: Final[dict[str, tuple[int, str]]] = {
    "invalid_request": (400, "invalid_request_error"),
    "unsupported": (400, "invalid_request_error"),
    "loss_refused": (400, "invalid_request_error"),
    "no_candidate": (400, "invalid_request_error"),
    "context_overflow": (400, "invalid_request_error"),
    "content_filter": (400, "invalid_request_error"),
    "authentication": (401, "authentication_error"),
    "billing": (402, "billing_error"),
    "permission": (403, "permission_error"),
    "not_found": (404, "not_found_error"),
    "rate_limit": (429, "rate_limit_error"),
    "cancelled": (499, "api_error"),
    "timeout": (504, "timeout_error"),
    "overloaded": (529, "overloaded_error"),
    "server_error": (500, "api_error"),
    "network": (502, "api_error"),
    "invalid_response": (502, "api_error"),
    "stream_truncated": (502, "api_error"),
    "other": (500, "api_error"),
}
_MARKS: Final = {
    "context_overflow": ("prompt is too long", _OVERFLOW),
    "content_filter": ("Output blocked by content filtering policy", _FILTERED),
}


def to_wire_error(failure: dict[str, Any], endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The answer with which this provider would have told a canonical error, and what it cannot say of it."""
    return failures.write(failure, endpoint, _spell, error, hint=True)


def error_in_stream(failure: dict[str, Any], endpoint: Endpoint) -> Wire:
    """The body with which this provider would have told it inside a stream."""
    return to_wire_error(failures.in_stream(failure), endpoint)[0]["body"]


def _spell(told: failures.Told) -> Wire:
    status, kind = _WRITTEN.get(told.category, (500, "api_error"))
    text = told.text
    if (mark := _MARKS.get(told.category)) is not None:
        text = failures.marked(text, *mark)
    elif told.path is not None and _place(text) != told.path:
        text = f"{failures.dotted(told.path)}: {text}"
    is_exception = aws.category(told.word) is not None  # Bedrock names it in a header
    inner: Wire = {"type": kind if told.word is None or is_exception else told.word, "message": text}
    if told.category in failures.WORDS and told.category not in _MARKS:
        inner["details"] = {"error_code": told.category}
    body: Wire = {"type": "error", "error": inner}
    headers = failures.wait_headers(told.retry_after, exact=True)
    if told.request_id is not None:
        body["request_id"] = headers["request-id"] = told.request_id
    if is_exception and told.word is not None:
        headers["x-amzn-errortype"] = told.word
    return {"status": told.status or status, "headers": headers, "body": body}
