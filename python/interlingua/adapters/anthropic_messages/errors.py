"""Read the provider's errors as canonical errors, and write canonical errors as this provider reports them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import Wire, error_body
from interlingua.adapters._errors import aws, failures
from interlingua.adapters._errors.failures import Error, Hint, Vocabulary, WireError
from interlingua.adapters._errors.texts import identity, place_before, text_of, word_of
from interlingua.canonical.endpoint import Endpoint

_OVERFLOW: Final = re.compile(
    r"prompt is too long|exceed(s|ed)? (the )?context|context (window|limit)|input is too long", re.IGNORECASE
)
_BILLING: Final = re.compile(r"credit balance is too low", re.IGNORECASE)
_FILTERED: Final = re.compile(r"blocked by content filtering|content filtering policy", re.IGNORECASE)
_TYPES: Final = {
    "invalid_request_error": "invalid_request unsupported loss_refused no_candidate context_overflow content_filter",
    "authentication_error": "authentication",
    "permission_error": "permission",
    "billing_error": "billing",
    "not_found_error": "not_found",
    "rate_limit_error": "rate_limit",
    "timeout_error": "timeout",
    "overloaded_error": "overloaded",
    "api_error": "server_error cancelled network invalid_response stream_truncated other",
}
"""For each error type of the wire, the categories that are written as this type. The type is read as the first of them."""
_VOCABULARY: Final = Vocabulary(
    words={
        **{kind: categories.split()[0] for kind, categories in _TYPES.items()},
        "request_too_large": "invalid_request",
        **aws.CATEGORIES,
    },
    statuses={**failures.STATUSES, 422: "invalid_request", 529: "overloaded"},
    hints=(
        Hint("context_overflow", ("invalid_request",), _OVERFLOW, "prompt is too long"),
        Hint("billing", ("invalid_request",), _BILLING),
        Hint("content_filter", ("invalid_request",), _FILTERED, "Output blocked by content filtering policy"),
    ),
    unknown="other",
)
_CONFLICT: Final = 409


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> Error:
    """Return the canonical error of a failed provider call. `body` may be parsed JSON, text, bytes or nothing.

    The message has nothing of the provider's text; that text is in `raw`.
    """
    lower, parsed = failures.lowered(headers), error_body(body)
    code, text = _word(parsed, lower), text_of(parsed)
    category = _gateway_word(parsed) or _VOCABULARY.category(status, code, text)
    members: Mapping[str, Any] = parsed if isinstance(parsed, dict) else {}
    return failures.canonical(
        endpoint,
        category,
        status,
        lower,
        parsed,
        code=code,
        path=place_before(text) if category == "invalid_request" else None,
        request_id=identity(members.get("request_id"), lower.get("request-id")),
        retryable=True if status == _CONFLICT else None,
        obeys_hint=True,
    )


def _word(body: Any, headers: Mapping[str, str]) -> str | None:
    """Return the provider's code for the error, from a header, a type, or the member that its clouds have in place of a type."""
    if name := headers.get("x-amzn-errortype", "").partition(":")[0]:
        return word_of(name)
    if isinstance(body, list) and body:
        body = body[0]  # Vertex returns a list
    inner = body.get("error") if isinstance(body, dict) else None
    members = inner if isinstance(inner, dict) else body if isinstance(body, dict) else {}
    for name in ("type", "status", "__type", "code"):
        value = members.get(name)
        if isinstance(value, str) and value not in ("", "error"):
            return word_of(value.rpartition("#")[2])
    return None


def _gateway_word(body: Any) -> str | None:
    """Return the category that a gateway states in `details.error_code`; it does so if the wire has no type for the category."""
    inner = body.get("error") if isinstance(body, dict) else None
    details = inner.get("details") if isinstance(inner, dict) else None
    word = details.get("error_code") if isinstance(details, dict) else None
    return word if isinstance(word, str) and word in failures.GATEWAY_WORDS else None


# ---------------------------------------------------------------------------------------------------- to the wire

_WRITTEN: Final = failures.by_word(_TYPES)
_STATUSES: Final = {**failures.WRITTEN_STATUSES, "unsupported": 400, "other": 500, "overloaded": 529}


def _compose(failure: WireError) -> Wire:
    kind = _WRITTEN.get(failure.category, "api_error")
    is_exception = failure.word is not None and failure.word.lower() in aws.CATEGORIES  # Bedrock names it in a header
    if failure.word is not None and not is_exception:
        kind = failure.word
    inner: Wire = {"type": kind, "message": _VOCABULARY.begun(failure)}
    if failure.category in failures.GATEWAY_WORDS and failure.category != "content_filter":
        inner["details"] = {"error_code": failure.category}
    body: Wire = {"type": "error", "error": inner}
    headers = failures.wait_headers(failure.retry_after, exact=True)
    if failure.request_id is not None:
        body["request_id"] = headers["request-id"] = failure.request_id
    if is_exception and failure.word is not None:
        headers["x-amzn-errortype"] = failure.word
    status = failure.status or _STATUSES.get(failure.category, 500)
    return {"status": status, "headers": headers, "body": body}


to_wire_error: Final = failures.writer(_compose, error, hint=True)
error_in_stream: Final = failures.in_stream(to_wire_error)
