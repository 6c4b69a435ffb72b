"""Errors of the provider as canonical errors."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _aws as aws
from interlingua.adapters._kit import error_body, retry_after
from interlingua.canonical.endpoint import Endpoint

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

    The message holds nothing of what the provider said; that is in `raw`.
    """
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    parsed = error_body(body)
    code, text = _said(parsed, lower)
    category = _category(status, code, text)
    retryable = category in _RETRYABLE or status == _CONFLICT
    match lower.get("x-should-retry"):
        case "true":
            retryable = True
        case "false":
            retryable = False
        case _:
            pass
    name = endpoint.provider or endpoint.adapter
    found: dict[str, Any] = {
        "category": category,
        "message": f"{name} answered with status {status}" + (f" ({code})" if code else ""),
        "retryable": retryable,
        "status": status,
        "adapter": endpoint.adapter,
    }
    if endpoint.provider:
        found["provider"] = endpoint.provider
    if code:
        found["code"] = code
    after = retry_after(lower)
    if after is not None:
        found["retry_after"] = after
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
