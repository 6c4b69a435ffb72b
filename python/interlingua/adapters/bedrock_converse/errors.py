"""Errors of the provider as canonical errors."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _aws as aws
from interlingua.adapters._kit import error_body, retry_after
from interlingua.canonical.endpoint import Endpoint

_BY_STATUS: Final = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    413: "invalid_request",
    424: "server_error",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
}
_RETRYABLE: Final = frozenset(("rate_limit", "timeout", "server_error", "overloaded"))
_FIRST_SERVER_STATUS: Final = 500

# what the provider says in words only
_OVERFLOW: Final = re.compile(
    r"input is too long|too many (input )?tokens|tokens exceed|prompt is too long|context (window|length|limit)",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"security token|signature (has|we calculated)|api key", re.IGNORECASE)
_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> dict[str, Any]:
    """The canonical error of a failed call. `body` may be parsed JSON, text, bytes or nothing.

    The message holds nothing of what the provider said; that is in `raw`.
    """
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    parsed = error_body(body)
    named = lower.get("x-amzn-errortype", "").partition(":")[0]
    text = ""
    origin = None
    if isinstance(parsed, dict):
        kind = parsed.get("__type")
        named = named or (kind.rpartition("#")[2] if isinstance(kind, str) else "")
        message = parsed.get("message") or parsed.get("Message")
        text = message if isinstance(message, str) else ""
        origin = parsed.get("originalStatusCode")
    elif isinstance(parsed, str):
        text = parsed
    code = named if _CODE.fullmatch(named) else None
    return described(status, code, text, origin, parsed, lower, endpoint)


def in_band(name: str | None, data: str, endpoint: Endpoint) -> dict[str, Any]:
    """The canonical error of an exception inside a stream: its name and its payload."""
    parsed = error_body(data)
    members = parsed if isinstance(parsed, dict) else {}
    text = members.get("message")
    code = name if name is not None and _CODE.fullmatch(name) else None
    return described(
        200, code, text if isinstance(text, str) else "", members.get("originalStatusCode"), parsed, {}, endpoint
    )


def described(
    status: int, code: str | None, text: str, origin: Any, raw: Any, headers: Mapping[str, str], endpoint: Endpoint
) -> dict[str, Any]:
    """The canonical error object of what the provider said."""
    category = _category(status, code, text)
    # a model's own error is worth another try unless the model blames the request
    blamed = category == "server_error" and type(origin) is int and origin < _FIRST_SERVER_STATUS
    name = endpoint.provider or endpoint.adapter
    found: dict[str, Any] = {
        "category": category,
        "message": f"{name} answered with status {status}" + (f" ({code})" if code else ""),
        "retryable": category in _RETRYABLE and not blamed,
        "status": status,
        "adapter": endpoint.adapter,
    }
    if endpoint.provider:
        found["provider"] = endpoint.provider
    if code:
        found["code"] = code
    after = retry_after(headers)
    if after is not None:
        found["retry_after"] = after
    if raw is not None and raw != "":
        found["raw"] = raw
    return found


def _category(status: int, code: str | None, text: str) -> str:
    category = aws.category(code) or _BY_STATUS.get(status)
    if category is None:
        category = "server_error" if status >= _FIRST_SERVER_STATUS or status == 200 else "other"
    if category == "invalid_request" and _OVERFLOW.search(text):
        return "context_overflow"
    if category == "permission" and code is None and _TOKEN.search(text):
        return "authentication"
    return category
