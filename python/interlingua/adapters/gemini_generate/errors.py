"""Errors of the provider as canonical errors, and an estimate of what a request takes."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from interlingua.adapters._estimates import text_of
from interlingua.adapters._kit import text_length
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest

_BY_WORD = {
    "INVALID_ARGUMENT": "invalid_request",
    "FAILED_PRECONDITION": "invalid_request",
    "OUT_OF_RANGE": "invalid_request",
    "UNAUTHENTICATED": "authentication",
    "PERMISSION_DENIED": "permission",
    "NOT_FOUND": "not_found",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "CANCELLED": "cancelled",
    "INTERNAL": "server_error",
    "UNKNOWN": "server_error",
    "UNAVAILABLE": "overloaded",
    "DEADLINE_EXCEEDED": "timeout",
    "UNIMPLEMENTED": "unsupported",
}
_BY_STATUS = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    413: "invalid_request",
    429: "rate_limit",
    499: "cancelled",
    503: "overloaded",
    504: "timeout",
}
_RETRYABLE = frozenset(("rate_limit", "timeout", "server_error", "overloaded"))

# what the provider says in words only
_OVERFLOW = re.compile(r"token count .*exceeds|exceeds the maximum number of tokens|input token count", re.IGNORECASE)
_KEY = re.compile(r"API_KEY_INVALID|API key (?:not valid|expired|not found)", re.IGNORECASE)
_BILLING = re.compile(r"billing", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> dict[str, Any]:
    """The canonical error of a failed call. `body` may be parsed JSON, text, bytes or nothing.

    The message holds nothing of what the provider said; that is in `raw`.
    """
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    parsed = _parsed(body)
    inner = _inner(parsed)
    code = inner.get("status")
    code = code if isinstance(code, str) and _CODE.fullmatch(code) else None
    if status == 200 and type(inner.get("code")) is int and inner["code"] >= 400:
        status = inner["code"]  # an error inside an answer that began well
    details = [item for item in _list(inner.get("details")) if isinstance(item, dict)]
    category = _category(status, code, inner.get("message"), details)
    name = endpoint.provider or endpoint.adapter
    found: dict[str, Any] = {
        "category": category,
        "message": f"{name} answered with status {status}" + (f" ({code})" if code else ""),
        "retryable": category in _RETRYABLE and not _is_daily(details),
        "status": status,
        "adapter": endpoint.adapter,
    }
    if endpoint.provider:
        found["provider"] = endpoint.provider
    if code:
        found["code"] = code
    after = _retry_after(lower, details)
    if after is not None:
        found["retry_after"] = after
    if parsed is not None and parsed != "":
        found["raw"] = parsed
    return found


def _parsed(body: Any) -> Any:
    if isinstance(body, (bytes, bytearray, memoryview)):
        body = bytes(body).decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            return json.loads(body)
        except InvalidRequest:
            return body
    return body


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _inner(body: Any) -> dict[str, Any]:
    if isinstance(body, list) and body:
        body = body[0]  # a stream of one array has its error in it
    inner = body.get("error") if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {"message": inner if isinstance(inner, str) else body}


def _category(status: int, code: str | None, message: Any, details: list[dict[str, Any]]) -> str:
    text = message if isinstance(message, str) else ""
    category = _BY_WORD.get(code or "") or _BY_STATUS.get(status)
    if category is None:
        return "server_error" if status >= 500 or status == 200 else "other"
    reasons = {detail.get("reason") for detail in details}
    if category == "invalid_request":
        # a key that is not valid is status 400 here
        if reasons & {"API_KEY_INVALID", "API_KEY_EXPIRED"} or _KEY.search(text):
            return "authentication"
        if _OVERFLOW.search(text):
            return "context_overflow"
        if code == "FAILED_PRECONDITION" and _BILLING.search(text):
            return "billing"
    if category == "permission" and "BILLING_DISABLED" in reasons:
        return "billing"
    return category


def _is_daily(details: list[dict[str, Any]]) -> bool:
    """Whether a quota of a day is used up: waiting for seconds does not help."""
    return any(
        "PerDay" in str(violation.get("quotaId", ""))
        for detail in details
        for violation in _list(detail.get("violations"))
        if isinstance(violation, dict)
    )


def _retry_after(headers: Mapping[str, str], details: list[dict[str, Any]]) -> float | None:
    """Seconds to wait, from the details or the headers; a date needs a clock and gives None."""
    for detail in details:
        found = _DURATION.fullmatch(str(detail.get("retryDelay", "")))
        if found and str(detail.get("@type", "")).endswith("RetryInfo"):
            return float(found[1])
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError, TypeError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


# ---------------------------------------------------------------------------------------------- estimate

_LIKELY = 4.6  # characters a token, over prose, code and JSON
_SCHEMA = 3.0  # characters a token of the definitions of tools
_FUNCTION = 12  # tokens around a function
_CALL = 12  # tokens around a call or a result
_SIGNATURE = 12.0  # characters a token: a signature stands for thoughts, which are sometimes counted
_IMAGE = (
    258,
    560,
    1806,
)  # least, likely and most tokens of an image: one tile, the default of later models, many tiles
_PAGE_BYTES = 60_000
_PAGE = 400  # tokens of a PDF page
_AUDIO_BYTES = 16_000  # of a second
_AUDIO = 32  # tokens of a second
_VIDEO_BYTES = 250_000  # of a second
_VIDEO = 280  # tokens of a second
_MESSAGE = 1.3


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """How many prompt tokens a request will take, without the provider's tokeniser."""
    del endpoint  # every model of this wire counts nearly alike
    messages = request.get("messages") or []
    tools = request.get("tools") or []
    characters = text_length([request.get("system") or [], *(_said_in(message) for message in messages)])
    defined = text_length({k: v for k, v in tool.items() if k != "provider_state"} for tool in tools)
    signed, calls = 0, 0
    for message in messages:
        for block in message["content"]:
            calls += block["type"] in ("tool_use", "tool_result")
            state = block.get("provider_state") or {}
            signed += len(block.get("signature") or state.get("signature") or "")
    low, likely, high = (sum(each) for each in zip(*_media(messages), strict=True))
    around = _MESSAGE * len(messages) + _FUNCTION * len(tools) + _CALL * calls
    tokens = characters / _LIKELY + defined / _SCHEMA + around
    return {
        "low": int(tokens * 0.5 + low),
        "likely": int(tokens + signed / _SIGNATURE + likely) + 1,
        "high": int(tokens * 2 + signed / 3 + high) + 10,
    }


def _media(messages: list[dict[str, Any]]) -> Iterator[tuple[float, float, float]]:
    yield 0, 0, 0
    for message in messages:
        for block in _blocks(message["content"]):
            yield _medium(block)


def _said_in(message: dict[str, Any]) -> list[Any]:
    return [text_of(block) for block in _blocks(message["content"])]


def _blocks(content: list[Any]) -> Iterator[dict[str, Any]]:
    for block in content:
        yield block
        if block["type"] == "tool_result":
            yield from _blocks(block.get("content") or [])


def _medium(block: dict[str, Any]) -> tuple[float, float, float]:
    source = block.get("source") or {}
    size = len(source.get("data") or "") * 3 // 4 if source.get("kind") == "base64" else 0
    match block["type"]:
        case "image":
            return _IMAGE
        case "audio":
            seconds = max(1, size / _AUDIO_BYTES)
            return _AUDIO * seconds / 12, _AUDIO * seconds, _AUDIO * seconds * 12
        case "video":
            seconds = max(1, size / _VIDEO_BYTES)
            return _VIDEO * seconds / 8, _VIDEO * seconds, _VIDEO * seconds * 8
        case "document" if source.get("kind") != "text":
            pages = max(1, size / _PAGE_BYTES)
            return 258, _PAGE * pages, 1200 * pages * 5
        case _:
            return 0, 0, 0
