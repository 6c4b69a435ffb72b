"""Errors both ways: what the provider says as canonical errors, and canonical errors as this provider tells them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _failures as failures
from interlingua.adapters._kit import Wire, error_body, retry_after
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry

_BY_WORD: Final = {
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
_BY_STATUS: Final = {
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
_RETRYABLE: Final = frozenset(("rate_limit", "timeout", "server_error", "overloaded"))

# what the provider says in words only
_OVERFLOW: Final = re.compile(
    r"token count .*exceeds|exceeds the maximum number of tokens|input token count", re.IGNORECASE
)
_KEY: Final = re.compile(r"API_KEY_INVALID|API key (?:not valid|expired|not found)", re.IGNORECASE)
_BILLING: Final = re.compile(r"billing", re.IGNORECASE)
_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)s")


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> dict[str, Any]:
    """The canonical error of a failed call. `body` may be parsed JSON, text, bytes or nothing.

    The message holds nothing of the provider's sentence; that is in `raw`.
    """
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    parsed = error_body(body)
    inner = _inner(parsed)
    code = inner.get("status")
    code = code if isinstance(code, str) and _CODE.fullmatch(code) else None
    if status == 200 and type(inner.get("code")) is int and inner["code"] >= 400:
        status = inner["code"]  # an error inside an answer that began well
    details = [item for item in _list(inner.get("details")) if isinstance(item, dict)]
    category = _own_word(details) or _category(status, code, inner.get("message"), details)
    found: dict[str, Any] = {
        "category": category,
        "message": failures.message(endpoint, status, category, code, *_facts(details)),
        "retryable": category in _RETRYABLE and not _is_daily(details),
        "status": status,
        "adapter": endpoint.adapter,
    }
    if endpoint.provider:
        found["provider"] = endpoint.provider
    if code:
        found["code"] = code
    if (place := _place(details)) is not None:
        found["path"] = place
    after = _retry_after(lower, details)
    if after is not None:
        found["retry_after"] = after
    if parsed is not None and parsed != "":
        found["raw"] = parsed
    return found


def _facts(details: list[dict[str, Any]]) -> list[str]:
    """What the details say in words and numbers of their own: the reason, and the quota with its limit."""
    found: list[str] = []
    for detail in details:
        if isinstance(reason := detail.get("reason"), str):
            found.append(reason)
        for violation in _list(detail.get("violations")):
            if isinstance(violation, dict) and isinstance(quota := violation.get("quotaId"), str):
                found.append(f"{quota} {violation.get('quotaValue', '')}".strip())
    return found[:_MOST_FACTS]


_MOST_FACTS: Final = 4


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
    """Seconds to wait, from the details or the headers."""
    for detail in details:
        found = _DURATION.fullmatch(str(detail.get("retryDelay", "")))
        if found and str(detail.get("@type", "")).endswith("RetryInfo"):
            return float(found[1])
    return retry_after(headers)


def _own_word(details: list[dict[str, Any]]) -> str | None:
    """The category that a gateway names as reason, where Google has no word for it."""
    for detail in details:
        reason = detail.get("reason")
        if detail.get("domain") == _DOMAIN and isinstance(reason, str) and (word := reason.lower()) in failures.WORDS:
            return word
    return None


def _place(details: list[dict[str, Any]]) -> str | None:
    """Where something is wrong: the first of the violations of a BadRequest."""
    for detail in details:
        violations = _list(detail.get("fieldViolations"))
        if violations and isinstance(violations[0], dict):
            return failures.place_of(violations[0].get("field"))
    return None


# ---------------------------------------------------------------------------------------------------- to the wire

_DOMAIN: Final = "interlingua"
_TYPE: Final = "type.googleapis.com/google.rpc."

_WRITTEN: Final[dict[str, tuple[int, str]]] = {
    "invalid_request": (400, "INVALID_ARGUMENT"),
    "loss_refused": (400, "FAILED_PRECONDITION"),
    "no_candidate": (400, "FAILED_PRECONDITION"),
    "context_overflow": (400, "INVALID_ARGUMENT"),
    "content_filter": (400, "INVALID_ARGUMENT"),
    "authentication": (401, "UNAUTHENTICATED"),
    "permission": (403, "PERMISSION_DENIED"),
    "billing": (403, "PERMISSION_DENIED"),
    "not_found": (404, "NOT_FOUND"),
    "rate_limit": (429, "RESOURCE_EXHAUSTED"),
    "cancelled": (499, "CANCELLED"),
    "unsupported": (501, "UNIMPLEMENTED"),
    "overloaded": (503, "UNAVAILABLE"),
    "network": (503, "UNAVAILABLE"),
    "timeout": (504, "DEADLINE_EXCEEDED"),
    "other": (500, "UNKNOWN"),
}


def to_wire_error(failure: dict[str, Any], endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """The answer with which this provider would have told a canonical error, and what it cannot say of it."""
    return failures.write(failure, endpoint, _spell, error)


def error_in_stream(failure: dict[str, Any], endpoint: Endpoint) -> Wire:
    """The body with which this provider would have told it inside a stream."""
    return to_wire_error(failures.in_stream(failure), endpoint)[0]["body"]


def _spell(told: failures.Told) -> Wire:
    code, word = _WRITTEN.get(told.category, (500, "INTERNAL"))
    code, word = told.status or code, told.word or word
    text = told.text
    if told.category == "context_overflow":
        text = failures.marked(text, "The input token count exceeds the maximum number of tokens allowed", _OVERFLOW)
    inner: Wire = {"code": code, "message": text, "status": word}
    if details := _details(told, code):
        inner["details"] = details
    return {"status": code, "headers": {}, "body": {"error": inner}}


def _details(told: failures.Told, code: int) -> list[Wire]:
    """What Google tells beside the text: the reason, the place, and how long to wait."""
    found: list[Wire] = []
    if told.category == "billing":
        reason = {"reason": "BILLING_DISABLED", "domain": "googleapis.com"}
        found.append({"@type": f"{_TYPE}ErrorInfo", **reason})
    elif told.category == "authentication" and code == 400:
        found.append({"@type": f"{_TYPE}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"})
    elif told.category in failures.WORDS and told.category not in ("unsupported", "cancelled"):
        found.append({"@type": f"{_TYPE}ErrorInfo", "reason": told.category.upper(), "domain": _DOMAIN})
    if told.path is not None:
        violation = {"field": failures.bracketed(told.path), "description": told.text}
        found.append({"@type": f"{_TYPE}BadRequest", "fieldViolations": [violation]})
    if told.retry_after is not None:
        found.append({"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{told.retry_after:.10g}s"})
    return found
