"""Errors both ways: what the provider says as canonical errors, and canonical errors as this provider tells them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _aws as aws
from interlingua.adapters import _failures as failures
from interlingua.adapters._kit import Wire, error_body, retry_after
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry

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
    499: "cancelled",
    501: "unsupported",
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
_FILTERED: Final = re.compile(r"blocked by content filtering|content filtering policy", re.IGNORECASE)
_BILLING: Final = re.compile(r"INVALID_PAYMENT_INSTRUMENT|valid payment instrument", re.IGNORECASE)
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
    found: dict[str, Any] = {
        "category": category,
        "message": failures.message(endpoint, status, category, code),
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
    if (identity := failures.identity(headers.get("x-amzn-requestid"))) is not None:
        found["request_id"] = identity
    if raw is not None and raw != "":
        found["raw"] = raw
    return found


def _category(status: int, code: str | None, text: str) -> str:
    category = aws.category(code) or _BY_STATUS.get(status)
    if category is None:
        category = "server_error" if status >= _FIRST_SERVER_STATUS or status == 200 else "other"
    if category == "invalid_request":
        if _OVERFLOW.search(text):
            return "context_overflow"
        if _FILTERED.search(text):
            return "content_filter"
    if category == "permission" and _BILLING.search(text):
        return "billing"
    if category == "permission" and code is None and _TOKEN.search(text):
        return "authentication"
    return category


# ---------------------------------------------------------------------------------------------------- to the wire

_WRITTEN: Final[dict[str, tuple[int, str | None]]] = {
    "invalid_request": (400, "ValidationException"),
    "loss_refused": (400, "ValidationException"),
    "no_candidate": (400, "ValidationException"),
    "context_overflow": (400, "ValidationException"),
    "content_filter": (400, "ValidationException"),
    "authentication": (403, "UnrecognizedClientException"),
    "permission": (403, "AccessDeniedException"),
    "billing": (403, "AccessDeniedException"),
    "not_found": (404, "ResourceNotFoundException"),
    "timeout": (408, "ModelTimeoutException"),
    "other": (409, "ConflictException"),
    "rate_limit": (429, "ThrottlingException"),
    "cancelled": (499, None),
    "server_error": (500, "InternalServerException"),
    "unsupported": (501, None),
    "overloaded": (503, "ServiceUnavailableException"),
}
_MARKS: Final = {
    "context_overflow": ("Input is too long for requested model", _OVERFLOW),
    "content_filter": ("Output blocked by content filtering policy", _FILTERED),
    "billing": ("Model access is denied due to INVALID_PAYMENT_INSTRUMENT", _BILLING),
}
_STREAMED: Final = frozenset(
    (
        "InternalServerException",
        "ModelStreamErrorException",
        "ModelTimeoutException",
        "ServiceUnavailableException",
        "ThrottlingException",
        "ValidationException",
    )
)
"""The exceptions that the service model has inside a stream."""


def to_wire_error(failure: dict[str, Any], endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The answer with which this provider would have told a canonical error, and what it cannot say of it."""
    return failures.write(failure, endpoint, _spell, error)


def to_wire_exception(failure: dict[str, Any], endpoint: Endpoint) -> tuple[str, Wire]:
    """The same inside a stream: the name of the exception, and its payload."""
    wire, _ = to_wire_error(failures.in_stream(failure), endpoint)
    name = wire["headers"].get("x-amzn-errortype", "")
    name = name if name in _STREAMED else "ModelStreamErrorException"
    return name[:1].lower() + name[1:], wire["body"]


def _spell(told: failures.Told) -> Wire:
    status, name = _WRITTEN.get(told.category, (500, "InternalServerException"))
    if told.word is not None:
        name = told.word[:1].upper() + told.word[1:]  # streams begin it in lower case
    text = told.text
    if (mark := _MARKS.get(told.category)) is not None:
        text = failures.marked(text, *mark)
    elif told.path is not None:
        text = f"{failures.dotted(told.path)}: {text}"
    headers = failures.wait_headers(told.retry_after, exact=False)
    if name is not None:
        headers["x-amzn-errortype"] = name
    if told.request_id is not None:
        headers["x-amzn-requestid"] = told.request_id
    return {"status": told.status or status, "headers": headers, "body": {"message": text}}
