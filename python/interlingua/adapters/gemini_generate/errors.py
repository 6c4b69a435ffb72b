"""Errors in both directions: provider errors as canonical errors, and canonical errors in the provider's format."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import Wire, error_body
from interlingua.adapters._errors import failures
from interlingua.adapters._errors.failures import Error, Hint, Vocabulary, WireError
from interlingua.adapters._errors.texts import bracketed, place_of, text_of, word_of
from interlingua.canonical.endpoint import Endpoint

_KEY: Final = re.compile(r"API_KEY_INVALID|API_KEY_EXPIRED|API key (?:not valid|expired|not found)", re.IGNORECASE)
_OVERFLOW: Final = re.compile(
    r"token count .*exceeds|exceeds the maximum number of tokens|input token count", re.IGNORECASE
)
_TOO_LONG: Final = "The input token count exceeds the maximum number of tokens allowed"
_NO_BILLING: Final = re.compile(r"\AFAILED_PRECONDITION .*billing", re.IGNORECASE | re.DOTALL)
_BILLING_DISABLED: Final = re.compile(r"\bBILLING_DISABLED\b")
_VOCABULARY: Final = Vocabulary(
    words={
        "invalid_argument": "invalid_request",
        "failed_precondition": "invalid_request",
        "out_of_range": "invalid_request",
        "unauthenticated": "authentication",
        "permission_denied": "permission",
        "not_found": "not_found",
        "resource_exhausted": "rate_limit",
        "cancelled": "cancelled",
        "internal": "server_error",
        "unknown": "server_error",
        "unavailable": "overloaded",
        "deadline_exceeded": "timeout",
        "unimplemented": "unsupported",
    },
    statuses=failures.STATUSES,
    hints=(
        Hint("authentication", ("invalid_request",), _KEY),  # an invalid key has status 400 here
        Hint("context_overflow", ("invalid_request",), _OVERFLOW, _TOO_LONG),
        Hint("billing", ("invalid_request",), _NO_BILLING),
        Hint("billing", ("permission",), _BILLING_DISABLED),
    ),
    unknown="other",
)
"""A hint is matched against one text: the word of the status, the reasons in the details, and the provider's text."""

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)s")
_MOST_FACTS: Final = 4


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> Error:
    """Return the canonical error of a failed provider call. `body` may be parsed JSON, text, bytes or None.

    The message contains nothing of the provider's text; that is in `raw`.
    """
    parsed = error_body(body)
    inner = _inner(parsed)
    if status == 200 and type(inner.get("code")) is int and inner["code"] >= 400:
        status = inner["code"]  # an error inside a response that began with success
    details = [item for item in _list(inner.get("details")) if isinstance(item, dict)]
    code, facts = word_of(inner.get("status")), _facts(details)
    category = _gateway_word(details)
    if category is None:
        text = " ".join([code or "", *facts, text_of(parsed)])
        category = _VOCABULARY.category(status, code, text)
    return failures.canonical(
        endpoint,
        category,
        status,
        failures.lowered(headers),
        parsed,
        code=code,
        facts=tuple(facts[:_MOST_FACTS]),
        path=_place(details),
        retryable=False if any("PerDay" in fact for fact in facts) else None,  # waiting for seconds does not help
        wait=_wait(details),
    )


def _facts(details: list[dict[str, Any]]) -> list[str]:
    """Return the facts in the details: the reason, and the quota with its limit."""
    found: list[str] = []
    for detail in details:
        if isinstance(reason := detail.get("reason"), str):
            found.append(reason)
        for violation in _list(detail.get("violations")):
            if isinstance(violation, dict) and isinstance(quota := violation.get("quotaId"), str):
                found.append(f"{quota} {violation.get('quotaValue', '')}".strip())
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _inner(body: Any) -> dict[str, Any]:
    if isinstance(body, list) and body:
        body = body[0]  # a stream that is one array contains its error
    inner = body.get("error") if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _wait(details: list[dict[str, Any]]) -> float | None:
    """Return the seconds to wait that the details state."""
    for detail in details:
        found = _DURATION.fullmatch(str(detail.get("retryDelay", "")))
        if found and str(detail.get("@type", "")).endswith("RetryInfo"):
            return float(found[1])
    return None


def _gateway_word(details: list[dict[str, Any]]) -> str | None:
    """Return the category that a gateway names as reason, where Google has no word for it."""
    for detail in details:
        reason = detail.get("reason")
        word = reason.lower() if isinstance(reason, str) and detail.get("domain") == _DOMAIN else None
        if word in failures.GATEWAY_WORDS:
            return word
    return None


def _place(details: list[dict[str, Any]]) -> str | None:
    """Return the place of the error: the first of the violations of a BadRequest."""
    for detail in details:
        violations = _list(detail.get("fieldViolations"))
        if violations and isinstance(violations[0], dict):
            return place_of(violations[0].get("field"))
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


def _compose(failure: WireError) -> Wire:
    code, word = _WRITTEN.get(failure.category, (500, "INTERNAL"))
    code, word = failure.status or code, failure.word or word
    text = _VOCABULARY.marked(failure.category, failure.text) or failure.text
    inner: Wire = {"code": code, "message": text, "status": word}
    if details := _details(failure, code):
        inner["details"] = details
    return {"status": code, "headers": {}, "body": {"error": inner}}


def _details(failure: WireError, code: int) -> list[Wire]:
    """Return the details that Google sends besides the text: the reason, the place, and how long to wait."""
    found: list[Wire] = []
    if failure.category == "billing":
        reason = {"reason": "BILLING_DISABLED", "domain": "googleapis.com"}
        found.append({"@type": f"{_TYPE}ErrorInfo", **reason})
    elif failure.category == "authentication" and code == 400:
        found.append({"@type": f"{_TYPE}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"})
    elif failure.category in failures.GATEWAY_WORDS and failure.category not in ("unsupported", "cancelled"):
        found.append({"@type": f"{_TYPE}ErrorInfo", "reason": failure.category.upper(), "domain": _DOMAIN})
    if failure.path is not None:
        violation = {"field": bracketed(failure.path), "description": failure.text}
        found.append({"@type": f"{_TYPE}BadRequest", "fieldViolations": [violation]})
    if failure.retry_after is not None:
        found.append({"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{failure.retry_after:.10g}s"})
    return found


to_wire_error: Final = failures.writer(_compose, error)
error_in_stream: Final = failures.in_stream(to_wire_error)
