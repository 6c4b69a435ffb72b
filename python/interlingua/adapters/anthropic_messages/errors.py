"""Errors of the provider as canonical errors, and an estimate of what a request takes."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from interlingua.adapters import _aws as aws
from interlingua.adapters._estimates import text_of
from interlingua.adapters._kit import error_body, retry_after, text_length
from interlingua.canonical.endpoint import Endpoint

_BY_TYPE = {
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
_BY_STATUS = {
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
_RETRYABLE = frozenset(("rate_limit", "timeout", "server_error", "overloaded", "network", "stream_truncated"))
_CONFLICT = 409

# what the provider says in words only
_OVERFLOW = re.compile(
    r"prompt is too long|exceed(s|ed)? (the )?context|context (window|limit)|input is too long", re.IGNORECASE
)
_BILLING = re.compile(r"credit balance is too low", re.IGNORECASE)
_FILTERED = re.compile(r"blocked by content filtering|content filtering policy", re.IGNORECASE)


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


_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


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


# ---------------------------------------------------------------------------------------------- estimate

_LIKELY = 3.6  # characters a token, over prose, code and JSON
_IMAGE = 1500  # tokens of an image that fills the provider's largest size
_PAGE_BYTES = 60_000
_PAGE = 2200  # tokens of a PDF page, its text and its picture
_MESSAGE = 4
_TOOLS = 350  # the provider's own instructions for tools


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """How many prompt tokens a request will take, without the provider's tokeniser."""
    del endpoint  # every model of this wire counts nearly alike
    messages = request.get("messages") or []
    tools = request.get("tools") or []
    characters = text_length([request.get("system") or [], *(_said_in(message) for message in messages)])
    characters += text_length({k: v for k, v in tool.items() if k != "provider_state"} for tool in tools)
    media = sum(_medium(block) for message in messages for block in _blocks(message["content"]))
    fixed = _MESSAGE * len(messages) + (_TOOLS if tools else 0)
    likely = characters / _LIKELY
    return {
        "low": int(likely * 0.75 + media * 0.5 + fixed),
        "likely": int(likely + media + fixed),
        "high": int(likely * 1.4 + media * 1.6 + fixed) + 1,
    }


def _said_in(message: dict[str, Any]) -> list[Any]:
    return [text_of(block) for block in _blocks(message["content"])]


def _blocks(content: list[Any]) -> Iterator[dict[str, Any]]:
    for block in content:
        yield block
        match block["type"]:
            case "tool_result":
                yield from _blocks(block.get("content") or [])
            case "document":
                yield from _blocks((block.get("source") or {}).get("content") or [])
            case _:
                pass


def _medium(block: dict[str, Any]) -> int:
    match block["type"]:
        case "image":
            return _IMAGE
        case "document" if (block.get("source") or {}).get("kind") in ("base64", "url", "file_id"):
            size = len(block["source"].get("data") or "") * 3 // 4 if block["source"]["kind"] == "base64" else 0
            return _PAGE * max(1, size // _PAGE_BYTES)
        case _:
            return 0
