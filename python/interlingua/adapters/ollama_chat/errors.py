"""Errors: `{"error": "text"}` with a status, or as a line of a stream that began well."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _failures as failures
from interlingua.adapters._kit import Wire, error_body, retry_after
from interlingua.adapters.ollama_chat.tables import NAME
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
    409: ("other", False),
    413: ("invalid_request", False),
    429: ("rate_limit", True),
    499: ("cancelled", False),
    500: ("server_error", True),
    501: ("unsupported", False),
    502: ("server_error", True),
    503: ("overloaded", True),
    504: ("timeout", True),
}

_BY_TEXT: Final = (
    ("context length", ("context_overflow", False)),
    ("context size", ("context_overflow", False)),
    ("context window", ("context_overflow", False)),
    ("prompt is too long", ("context_overflow", False)),
    ("content filter", ("content_filter", False)),
)
"""What a text says more exactly than the status 400 or 500 with which it comes."""


def error(status: int, headers: Mapping[str, str], body: bytes | str | None, endpoint: Endpoint) -> Error:
    """The canonical error for an error answer: any status, any body, HTML and nothing included.

    The provider's own text may hold content, so it is not in `message`.
    """
    number = status if status >= 300 else None  # a failure that came as a success
    return error_from_body(number, headers, error_body(body) if body else None, endpoint)


def error_from_body(status: int | None, headers: Mapping[str, str], body: Any, endpoint: Endpoint) -> Error:
    """The canonical error for a decoded body. Without a status it is one of a stream: a model that ran has failed."""
    text = _text(body).lower()
    category, retryable = _by_status(status)
    if category in ("invalid_request", "server_error"):
        category, retryable = next((what for hint, what in _BY_TEXT if hint in text), (category, retryable))
    message = failures.message(endpoint, status, category) + (
        "; pull it, or check its name" if category == "not_found" else ""
    )
    found: Error = {"category": category, "message": message, "retryable": retryable, "adapter": NAME}
    if status is not None:
        found["status"] = status
    if endpoint.provider is not None:
        found["provider"] = endpoint.provider
    seconds = retry_after({name.lower(): value for name, value in headers.items()})
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


def _text(body: Any) -> str:
    """The provider's words: the member `error`, which some servers fill with an object, or the whole text."""
    told = body.get("error", body.get("message")) if isinstance(body, dict) else body
    if isinstance(told, dict):
        told = told.get("message")
    return told if isinstance(told, str) else ""


# ---------------------------------------------------------------------------------------------------- to the wire

_WRITTEN: Final = {
    "invalid_request": 400,
    "loss_refused": 400,
    "no_candidate": 400,
    "context_overflow": 400,
    "content_filter": 400,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "other": 409,
    "rate_limit": 429,
    "cancelled": 499,
    "server_error": 500,
    "unsupported": 501,
    "network": 502,
    "invalid_response": 502,
    "stream_truncated": 502,
    "overloaded": 503,
    "timeout": 504,
}
_OVERFLOW: Final = re.compile(r"context (length|size|window)|prompt is too long", re.IGNORECASE)
_FILTERED: Final = re.compile(r"content filter", re.IGNORECASE)
_MARKS: Final = {
    "context_overflow": ("the input length exceeds the context length", _OVERFLOW),
    "content_filter": ("content filter", _FILTERED),
}


def to_wire_error(failure: Error, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The answer with which this provider would have told a canonical error, and what it cannot say of it."""
    return failures.write(failure, endpoint, _spell, error_from_body)


def error_in_stream(failure: Error, endpoint: Endpoint) -> Wire:
    """The line with which this provider would have told it inside a stream."""
    return to_wire_error(failures.in_stream(failure), endpoint)[0]["body"]


def _spell(told: failures.Told) -> Wire:
    text = told.text
    if (mark := _MARKS.get(told.category)) is not None:
        text = failures.marked(text, *mark)
    elif told.path is not None:
        text = f"{failures.dotted(told.path)}: {text}"
    headers = failures.wait_headers(told.retry_after, exact=False)
    return {"status": told.status or _WRITTEN.get(told.category, 500), "headers": headers, "body": {"error": text}}
