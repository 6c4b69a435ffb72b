"""Read and write errors: `{"id": "…", "message": "text"}` with a status; some errors also have a type."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import Wire, error_body
from interlingua.adapters._errors import failures
from interlingua.adapters._errors.failures import Error, Hint, Vocabulary, WireError
from interlingua.adapters._errors.texts import identity, text_of
from interlingua.canonical.endpoint import Endpoint

_TOO_LONG: Final = "TOO_MANY_TOKENS"
_TOO_LONG_TEXT: Final = "too many tokens"
_OVERFLOW: Final = re.compile(r"\Atoo many tokens(?!.*max tokens)", re.IGNORECASE | re.DOTALL)
_VOCABULARY: Final = Vocabulary(
    words={},
    statuses={**failures.STATUSES, 409: "other", 498: "content_filter"},
    hints=(Hint("context_overflow", ("invalid_request", "server_error"), _OVERFLOW, _TOO_LONG_TEXT),),
)
_WRITTEN: Final = {**failures.WRITTEN_STATUSES, "content_filter": 498}
_TYPE: Final = re.compile(r"[A-Z0-9_]{1,64}")


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> Error:
    """Return the canonical error of a failed provider call, also of one that failed with a status of success, as in a stream.

    `body` may be parsed JSON, text, bytes or nothing. The provider's own text may hold content, so it is not in `message`.
    """
    number = status if status >= 300 else None
    parsed, lower = error_body(body), failures.lowered(headers)
    members: Mapping[str, Any] = parsed if isinstance(parsed, dict) else {}
    kind = members.get("error_type")
    code = kind if isinstance(kind, str) and _TYPE.fullmatch(kind) else None
    text = _TOO_LONG_TEXT if code == _TOO_LONG else text_of(parsed)
    category = _VOCABULARY.category(number, None, text)
    request_id = identity(members.get("id"), lower.get("x-debug-trace-id"))
    return failures.canonical(endpoint, category, number, lower, parsed, code=code, request_id=request_id)


# ---------------------------------------------------------------------------------------------- to the wire


def _compose(failure: WireError) -> Wire:
    is_overflow = failure.category == "context_overflow"  # it has an `error_type`, so the text needs no marker
    body: Wire = {"message": failure.text if is_overflow else _VOCABULARY.begun(failure)}
    if failure.request_id is not None:
        body["id"] = failure.request_id
    if word := failure.word or (_TOO_LONG if is_overflow else None):
        body["error_type"] = word
    status = failure.status or _WRITTEN.get(failure.category, 500)
    return {"status": status, "headers": failures.wait_headers(failure.retry_after, exact=False), "body": body}


to_wire_error: Final = failures.writer(_compose, error)
_in_stream: Final = failures.in_stream(to_wire_error)


def error_in_stream(failure: Error, endpoint: Endpoint) -> str:
    """Return the text with which this provider would report the error inside a stream."""
    text = text_of(_in_stream(failure, endpoint))
    return _VOCABULARY.marked(failure["category"], text) or text
