"""Read the provider's errors as canonical errors, and write canonical errors as this provider reports them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import Wire, error_body
from interlingua.adapters._errors import aws, failures
from interlingua.adapters._errors.failures import Error, Hint, Vocabulary, WireError
from interlingua.adapters._errors.texts import identity, text_of, word_of
from interlingua.canonical.endpoint import Endpoint

_OVERFLOW: Final = re.compile(
    r"input is too long|too many (input )?tokens|tokens exceed|prompt is too long|context (window|length|limit)",
    re.IGNORECASE,
)
_FILTERED: Final = re.compile(r"blocked by content filtering|content filtering policy", re.IGNORECASE)
_BILLING: Final = re.compile(r"INVALID_PAYMENT_INSTRUMENT|valid payment instrument", re.IGNORECASE)
_TOKEN: Final = re.compile(r"security token|signature (has|we calculated)|api key", re.IGNORECASE)
_NO_ACCESS: Final = "Model access is denied due to INVALID_PAYMENT_INSTRUMENT"
_VOCABULARY: Final = Vocabulary(
    words=aws.CATEGORIES,
    statuses={**failures.STATUSES, 424: "server_error"},
    hints=(
        Hint("context_overflow", ("invalid_request",), _OVERFLOW, "Input is too long for requested model"),
        Hint("content_filter", ("invalid_request",), _FILTERED, "Output blocked by content filtering policy"),
        Hint("billing", ("permission",), _BILLING, _NO_ACCESS),
    ),
    unknown="other",
)
_FIRST_SERVER_STATUS: Final = 500


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> Error:
    """Return the canonical error of a failed provider call. `body` may be parsed JSON, text, bytes or nothing.

    The message has nothing of the provider's text; that text is in `raw`.
    """
    lower, parsed = failures.lowered(headers), error_body(body)
    name = lower.get("x-amzn-errortype", "").partition(":")[0]
    if not name and isinstance(parsed, dict) and isinstance(kind := parsed.get("__type"), str):
        name = kind.rpartition("#")[2]
    return _described(status, name, lower, parsed, endpoint)


def in_band(name: str | None, data: str, endpoint: Endpoint) -> Error:
    """Return the canonical error of an exception inside a stream, given its name and its payload."""
    return _described(200, name, {}, error_body(data), endpoint)


def _described(status: int, name: str | None, headers: Mapping[str, str], body: Any, endpoint: Endpoint) -> Error:
    members: Mapping[str, Any] = body if isinstance(body, dict) else {}
    code, text = word_of(name), text_of(body)
    category = _VOCABULARY.category(status, code, text)
    if category == "permission" and code is None and _TOKEN.search(text):
        category = "authentication"
    # an error of the model may be retried, unless the model reports that the request is at fault
    origin = members.get("originalStatusCode")
    blamed = category == "server_error" and type(origin) is int and origin < _FIRST_SERVER_STATUS
    return failures.canonical(
        endpoint,
        category,
        status,
        headers,
        body,
        code=code,
        request_id=identity(headers.get("x-amzn-requestid")),
        retryable=False if blamed else None,
    )


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
"""The exceptions that the service model lists for streams."""


def _compose(failure: WireError) -> Wire:
    status, name = _WRITTEN.get(failure.category, (500, "InternalServerException"))
    if failure.word is not None:
        name = failure.word[:1].upper() + failure.word[1:]  # in streams it begins with a lower-case letter
    headers = failures.wait_headers(failure.retry_after, exact=False)
    if name is not None:
        headers["x-amzn-errortype"] = name
    if failure.request_id is not None:
        headers["x-amzn-requestid"] = failure.request_id
    body = {"message": _VOCABULARY.begun(failure)}
    return {"status": failure.status or status, "headers": headers, "body": body}


to_wire_error: Final = failures.writer(_compose, error)


def to_wire_exception(failure: Error, endpoint: Endpoint) -> tuple[str, Wire]:
    """Write an error inside a stream; return the name of the exception and its payload."""
    wire, _ = to_wire_error(failures.without_status(failure), endpoint)
    name = wire["headers"].get("x-amzn-errortype", "")
    name = name if name in _STREAMED else "ModelStreamErrorException"
    return name[:1].lower() + name[1:], wire["body"]
