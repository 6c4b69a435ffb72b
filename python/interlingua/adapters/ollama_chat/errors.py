"""Errors: `{"error": "text"}` with a status, or as a line of a stream that began with success."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import Wire, error_body
from interlingua.adapters._errors import failures
from interlingua.adapters._errors.failures import Error, Hint, Vocabulary, WireError
from interlingua.adapters._errors.texts import text_of
from interlingua.canonical.endpoint import Endpoint

_REFINED: Final = ("invalid_request", "server_error")
_OVERFLOW: Final = re.compile(r"context (length|size|window)|prompt is too long", re.IGNORECASE)
_FILTERED: Final = re.compile(r"content filter", re.IGNORECASE)
_VOCABULARY: Final = Vocabulary(
    words={},
    statuses={**failures.STATUSES, 409: "other"},
    hints=(
        Hint("context_overflow", _REFINED, _OVERFLOW, "the input length exceeds the context length"),
        Hint("content_filter", _REFINED, _FILTERED, "content filter"),
    ),
)


def error(status: int, headers: Mapping[str, str] | None, body: Any, endpoint: Endpoint) -> Error:
    """Return the canonical error of a provider call that failed; its status may be that of a success, as in a stream.

    `body` may be parsed JSON, text, bytes or None. The provider's text may contain content, so it is not in `message`.
    """
    number = status if status >= 300 else None
    parsed = error_body(body)
    category = _VOCABULARY.category(number, None, text_of(parsed))
    found = failures.canonical(endpoint, category, number, failures.lowered(headers), parsed)
    if category == "not_found":
        found["message"] += "; pull it, or check its name"
    return found


# ---------------------------------------------------------------------------------------------------- to the wire


def _compose(failure: WireError) -> Wire:
    status = failure.status or failures.WRITTEN_STATUSES.get(failure.category, 500)
    headers = failures.wait_headers(failure.retry_after, exact=False)
    return {"status": status, "headers": headers, "body": {"error": _VOCABULARY.begun(failure)}}


to_wire_error: Final = failures.writer(_compose, error)
error_in_stream: Final = failures.in_stream(to_wire_error)
