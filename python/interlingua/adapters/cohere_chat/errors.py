"""Errors: `{"id": "…", "message": "text"}` with a status; some say besides of which type they are."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _failures as failures
from interlingua.adapters._kit import Wire, error_body, retry_after
from interlingua.adapters.cohere_chat.tables import NAME
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry

Error = dict[str, Any]

_BY_STATUS: Final[dict[int, tuple[str, bool]]] = {
    400: ("invalid_request", False),
    401: ("authentication", False),
    402: ("billing", False),
    403: ("permission", False),
    404: ("not_found", False),
    408: ("timeout", True),
    409: ("other", False),
    413: ("invalid_request", False),
    422: ("invalid_request", False),
    429: ("rate_limit", True),
    498: ("content_filter", False),
    499: ("cancelled", False),
    500: ("server_error", True),
    501: ("unsupported", False),
    502: ("server_error", True),
    503: ("overloaded", True),
    504: ("timeout", True),
}
_TOO_LONG: Final = "TOO_MANY_TOKENS"
_OVERFLOW: Final = re.compile(r"too many tokens(?!.*max tokens)", re.IGNORECASE | re.DOTALL)
_REFINABLE: Final = ("invalid_request", "server_error")
_TYPE: Final = re.compile(r"[A-Z0-9_]{1,64}")


def error(status: int, headers: Mapping[str, str], body: bytes | str | None, endpoint: Endpoint) -> Error:
    """The canonical error for an error answer: any status, any body, HTML and nothing included.

    The provider's own text may hold content, so it is not in `message`.
    """
    number = status if status >= 300 else None  # a failure that came as a success
    return error_from_body(number, headers, error_body(body) if body else None, endpoint)


def error_from_body(status: int | None, headers: Mapping[str, str], body: Any, endpoint: Endpoint) -> Error:
    """The canonical error for a decoded body. Without a status it is one of a stream: a model that ran has failed."""
    known: Mapping[str, Any] = body if isinstance(body, dict) else {}
    kind = known.get("error_type")
    code = kind if isinstance(kind, str) and _TYPE.fullmatch(kind) else None
    category, retryable = _by_status(status)
    if category in _REFINABLE and (code == _TOO_LONG or _OVERFLOW.match(failures.said(body))):
        category, retryable = "context_overflow", False
    found: Error = {
        "category": category,
        "message": failures.message(endpoint, status, category, code),
        "retryable": retryable,
        "adapter": NAME,
    }
    if status is not None:
        found["status"] = status
    if endpoint.provider is not None:
        found["provider"] = endpoint.provider
    if code is not None:
        found["code"] = code
    lower = {name.lower(): value for name, value in headers.items()}
    if (called := failures.identity(known.get("id"), lower.get("x-debug-trace-id"))) is not None:
        found["request_id"] = called
    seconds = retry_after(lower)
    if seconds is not None:
        found["retry_after"] = seconds
    if body is not None:
        found["raw"] = body
    return found


def _by_status(status: int | None) -> tuple[str, bool]:
    if status is None:
        return "server_error", True
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status < 400:
        return "other", False  # a redirect
    return ("server_error", True) if status >= 500 else ("invalid_request", False)


# ---------------------------------------------------------------------------------------------- to the wire

_WRITTEN: Final = {
    "invalid_request": 400,
    "loss_refused": 400,
    "no_candidate": 400,
    "context_overflow": 400,
    "other": 409,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "rate_limit": 429,
    "content_filter": 498,
    "cancelled": 499,
    "server_error": 500,
    "network": 502,
    "invalid_response": 502,
    "stream_truncated": 502,
    "unsupported": 501,
    "overloaded": 503,
    "timeout": 504,
}


def to_wire_error(failure: Error, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The answer with which this provider would have told a canonical error, and what it cannot say of it."""
    return failures.write(failure, endpoint, _spell, error_from_body)


def error_in_stream(failure: Error, endpoint: Endpoint) -> str:
    """The text with which this provider would have told it inside a stream."""
    told = failures.in_stream(failure)
    text = failures.said(to_wire_error(told, endpoint)[0]["body"])
    return failures.marked(text, "too many tokens", _OVERFLOW) if told["category"] == "context_overflow" else text


def _spell(told: failures.Told) -> Wire:
    text, word = told.text, told.word
    if told.category == "context_overflow":
        word = word or _TOO_LONG
    elif told.path is not None:
        text = f"{failures.dotted(told.path)}: {text}"
    body: Wire = {"message": text}
    if told.request_id is not None:
        body["id"] = told.request_id
    if word is not None:
        body["error_type"] = word
    headers = failures.wait_headers(told.retry_after, exact=False)
    return {"status": told.status or _WRITTEN.get(told.category, 500), "headers": headers, "body": body}
