"""
Read and write errors. A reader makes a canonical error of a provider's failure. A writer makes the status, the
headers and the body with which a provider of a wire would have reported the error.

Each wire has its tables (a `Vocabulary` of the words that it reads, and the statuses and words that it writes), a
function that finds the parts of an error in a body, and one that writes a body. Everything else is the same on all
wires and is in this module: the category of words, status and text; the canonical error; the words that may be passed
on; and the report of what the wire cannot express. A written error is read back before it is sent, so that the report
states exactly what a reader of the wire will see (spec/8-errors.md#written-errors).
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar, cast

from interlingua.adapters._engine.kit import Wire, data_of, retry_after
from interlingua.adapters._errors.texts import (
    LONGEST,
    dotted,
    identity,
    is_fact,
    place_before,
    provider_message,
    text_of,
    word_of,
)
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import OPERATOR_CATEGORIES
from interlingua.canonical.loss import Entry, entry_of
from interlingua.canonical.types import Error

T = TypeVar("T")


def by_word(groups: Mapping[T, str]) -> dict[str, T]:
    """Invert a table whose values are texts of several words: each word becomes a key."""
    return {word: key for key, words in groups.items() for word in words.split()}


GATEWAY_WORDS: Final = frozenset(
    """unsupported loss_refused no_candidate network invalid_response stream_truncated cancelled content_filter
    other""".split()
)
"""Categories that are written under their canonical names if a wire has a member for a free word but no own word for
them."""

RETRYABLE: Final = frozenset(("rate_limit", "timeout", "server_error", "overloaded", "network", "stream_truncated"))
"""Categories after which the same provider call may succeed, unless the wire states otherwise."""

STATUSES: Final[dict[int, str]] = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    413: "invalid_request",
    429: "rate_limit",
    499: "cancelled",
    501: "unsupported",
    503: "overloaded",
    504: "timeout",
}
"""The category of a status, on every wire that does not define another one."""

WRITTEN_STATUSES: Final = by_word(
    {
        400: "invalid_request loss_refused no_candidate context_overflow content_filter",
        401: "authentication",
        402: "billing",
        403: "permission",
        404: "not_found",
        409: "other",
        429: "rate_limit",
        499: "cancelled",
        500: "server_error",
        501: "unsupported",
        502: "network invalid_response stream_truncated",
        503: "overloaded",
        504: "timeout",
    }
)
"""The status of a category on wires that have no word in addition to the status."""

TEXTS: Final[dict[str, str]] = {
    "invalid_request": "the request was refused as invalid",
    "unsupported": "the provider does not support this",
    "authentication": "the provider did not accept the credentials; check the key",
    "permission": "the account is not allowed to do this",
    "billing": "the account has no credit or quota left",
    "not_found": "the provider does not know the model or the address",
    "rate_limit": "the rate limit is exceeded; wait and try again",
    "context_overflow": "the prompt is longer than the model's context; shorten the conversation",
    "content_filter": "a content filter refused the request",
    "timeout": "the provider did not answer in time",
    "server_error": "the provider failed; try again",
    "overloaded": "the provider is overloaded; wait and try again",
    "cancelled": "the call was cancelled",
    "other": "the provider answered with an error",
    "loss_refused": "the projection would lose more than the policy allows",
    "no_candidate": "no model can serve the turn",
    "network": "the connection to the provider failed; try again",
    "invalid_response": "the response of the provider cannot be read",
    "stream_truncated": "the response ended before it was complete",
}
"""The text that a reader puts into `message` for a category. The provider's own text may hold content and is never
put there."""


# ---------------------------------------------------------------------------------------------------- from the wire


class Hint(NamedTuple):
    """Words of a text that are more precise than code and status: with them, an error of a category in `within` is of
    `category`.

    A written error of `category` begins its text with `mark`; None if the wire expresses the category elsewhere.
    """

    category: str
    within: tuple[str, ...]
    pattern: re.Pattern[str]
    mark: str | None = None


class Vocabulary(NamedTuple):
    """The meaning of a wire's words: its codes and types in lower case, its statuses, the `hints` in its texts, and
    the category of a status between 400 and 499 that is not in the table."""

    words: Mapping[str, str]
    statuses: Mapping[int, str]
    hints: tuple[Hint, ...]
    unknown: str = "invalid_request"

    def category(self, status: int | None, word: str | None, text: str) -> str:
        """Return the category of an error. The provider's word decides, else the status; the text may make it more
        precise."""
        found = self.words.get(word.lower()) if word is not None else None
        if found is None:
            found = self.of_status(status)
        for hint in self.hints:
            if found in hint.within and hint.pattern.search(text):
                return hint.category
        return found

    def of_status(self, status: int | None) -> str:
        """Return the category of a status. A failure without a status, or with that of a success, happened while the
        provider was answering: it is a server error."""
        if status is None or status < 300 or (status >= 500 and status not in self.statuses):
            return "server_error"
        return self.statuses.get(status) or ("other" if status < 400 else self.unknown)

    def marked(self, category: str, text: str) -> str | None:
        """Return the text, with the words at its beginning by which clients of the wire recognise this category,
        unless the text has them. None if clients recognise the category without such words."""
        for hint in self.hints:
            if hint.category == category and hint.mark is not None:
                return text if hint.pattern.search(text) else f"{hint.mark}: {text}" if text else hint.mark
        return None

    def begun(self, error: "WireError") -> str:
        """Return the text of an error, with the words that mark its category at the beginning, or else its place."""
        if (text := self.marked(error.category, error.text)) is not None:
            return text
        if error.path is None or place_before(error.text) == error.path:
            return error.text
        place = dotted(error.path)
        return f"{place}: {error.text.removeprefix(place.rpartition('.')[2] + ' ')}"


def canonical(
    endpoint: Endpoint,
    category: str,
    status: int | None,
    headers: Mapping[str, str],
    raw: Any,
    *,
    code: str | None = None,
    facts: tuple[str, ...] = (),
    path: str | None = None,
    request_id: str | None = None,
    retryable: bool | None = None,
    wait: float | None = None,
    obeys_hint: bool = False,
) -> Error:
    """Return the canonical error for a wire's error. `headers` have lower-case names; `raw` is the parsed body.

    `facts` are words and numbers that the wire has besides its sentence. `retryable` and `wait` (seconds) are set if
    the body states whether and when to try again. `obeys_hint`: whether `x-should-retry` decides.
    """
    if retryable is None:
        retryable = category in RETRYABLE
    if obeys_hint and (hint := headers.get("x-should-retry")) in ("true", "false"):
        retryable = hint == "true"
    text = message(endpoint, status, category, code, *facts)
    found: dict[str, Any] = {"category": category, "message": text, "retryable": retryable}
    after = retry_after(headers) if wait is None else wait
    members = {
        "adapter": endpoint.adapter,
        "status": status,
        "provider": endpoint.provider,
        "code": code,
        "path": path,
        "retry_after": after,
        "request_id": request_id,
        "raw": raw if raw != "" else None,
    }
    found.update({name: value for name, value in members.items() if value is not None})
    return cast("Error", found)


def lowered(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return headers with their names in lower case."""
    return {name.lower(): value for name, value in headers.items()} if headers else {}


def message(endpoint: Endpoint, status: int | None, category: str, *facts: str | None) -> str:
    """Return the sentence for an error that was read: the provider, the status, the `facts` (codes, limits), and the
    meaning of the category. It contains nothing of the provider's text (spec/8-errors.md#content-free-parts)."""
    name = endpoint.provider or endpoint.adapter
    who = f"{name} answered {status}" if status in _REPLIES else f"{name} reported a failure"
    known = ", ".join(dict.fromkeys(fact for fact in facts if fact and is_fact(fact)))
    meaning = TEXTS.get(category, TEXTS["other"])
    return f"{who} ({known}): {meaning}" if known else f"{who}: {meaning}"


# ---------------------------------------------------------------------------------------------------- to the wire


class WireError(NamedTuple):
    """The parts from which a body is written. `status` and `word` are the provider's own, if the error came from this
    wire."""

    category: str
    text: str
    status: int | None
    word: str | None
    path: str | None
    retry_after: float | None
    request_id: str | None


Read = Callable[[int, dict[str, str], Any, Endpoint], Error]
Compose = Callable[[WireError], Wire]

_NO_WORDS: Final = "the call failed"
_FAILURES: Final = range(400, 600)
_REPLIES: Final = range(300, 600)
_FOREVER: Final = 10**9


Writer = Callable[[Error, Endpoint], tuple[Wire, list[Entry]]]


def writer(compose: Compose, read: Read, *, hint: bool = False, family: tuple[str, ...] = ()) -> Writer:
    """Return a writer of canonical errors. It returns the HTTP response `{status, headers, body}` with which a
    provider of the wire would have reported the error, and the losses.

    `compose` writes the response, `read` reads it back. `hint`: whether clients of the wire obey `x-should-retry`.
    `family`: other wires whose errors have the same words.
    """

    def to_wire_error(error: Error, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
        return _write(error, endpoint, compose, read, hint, family)

    return to_wire_error


def in_stream(write: Writer) -> Callable[[Error, Endpoint], Any]:
    """Return a writer of the body of an error inside a stream. A stream has no place for a status, so the provider's
    own body is never restored there."""

    def body(error: Error, endpoint: Endpoint) -> Any:
        return write(without_status(error), endpoint)[0]["body"]

    return body


def without_status(error: Error) -> Error:
    """Return an error as it is inside a stream: without its status."""
    found = error.copy()
    found.pop("status", None)
    return found


def _write(
    error: Error, endpoint: Endpoint, compose: Compose, read: Read, hint: bool, family: tuple[str, ...]
) -> tuple[Wire, list[Entry]]:
    here = error.get("adapter") == endpoint.adapter
    seen = data_of(error.copy())
    if _is_elsewhere(error, endpoint):
        del seen["path"]
    tried: list[tuple[Wire, Error]] = []
    for variant in _variants(seen, same_origin=here or error.get("adapter") in family, here=here):
        wire = compose(variant)
        if here and _goes_back(seen):
            wire["status"], wire["body"] = seen["status"], seen["raw"]
            if variant.word is None:
                wire["headers"].pop("x-amzn-errortype", None)  # the received error had none
        tried.append((wire, read(wire["status"], wire["headers"], wire["body"], endpoint)))
        if _reads_as(tried[-1][1], seen["category"], seen):
            break
    # if the wire has no word for the category, take the first variant that is read as the category of the last one
    meant = tried[-1][1]["category"]
    wire, found = next((one for one in tried if _reads_as(one[1], meant, seen)), tried[-1])
    if hint and "retryable" in seen and found.get("retryable") != seen["retryable"]:
        wire["headers"]["x-should-retry"] = "true" if seen["retryable"] else "false"
        found = read(wire["status"], wire["headers"], wire["body"], endpoint)
    return wire, report(error, found, endpoint)


def _reads_as(found: Error, category: str, error: Mapping[str, Any]) -> bool:
    return found["category"] == category and found.get("path") in (None, error.get("path"))


def _variants(error: dict[str, Any], *, same_origin: bool, here: bool) -> list[WireError]:
    """Return the variants of an error to write, the most complete first. The next one is used if a reader would read
    this one as another failure."""
    status = error.get("status")
    kept = status if same_origin and status in _FAILURES else None
    word = word_of(error.get("code")) if same_origin else None  # it may go into a header
    path = error.get("path") or None  # the empty pointer is the root, which locates nothing
    if path is not None and not path.startswith("/"):
        path = None
    seconds = error.get("retry_after")
    after = None if seconds is None or not 0 <= seconds < _FOREVER else float(seconds)
    first = WireError(error["category"], error["message"], kept, word, path, after, identity(error.get("request_id")))
    plain = first._replace(status=None, word=None)
    words = _provider_words(error, here=here)
    found = [first._replace(text=words)] if words else []
    if same_origin:
        found.append(first)
    return [*found, plain, plain._replace(text=_NO_WORDS)]


def _goes_back(error: Mapping[str, Any]) -> bool:
    """Whether the provider's own body and status can be restored. An error that came with a status of success is
    composed again."""
    return error.get("raw") is not None and error.get("status") in _FAILURES


def _provider_words(error: Mapping[str, Any], *, here: bool) -> str:
    """Return the provider's text, if the error has it. The text of an error for the operator (such as one about keys)
    is only for a client of the same wire."""
    if error["category"] in OPERATOR_CATEGORIES and not here:
        return ""
    if here and error.get("raw") is not None:
        return text_of(error["raw"])[:LONGEST]
    return provider_message(error.get("raw")) or (error.get("provider_message") or "")[:LONGEST]


def wait_headers(seconds: float | None, *, exact: bool) -> dict[str, str]:
    """Return the headers that state how long to wait: in whole seconds, and with `exact`, also in milliseconds, for
    clients that know that header."""
    if seconds is None:
        return {}
    whole = math.ceil(seconds)
    headers = {"retry-after": str(whole)}
    if exact and whole != seconds:
        headers["retry-after-ms"] = f"{seconds * 1000:.10g}"
    return headers


# ---------------------------------------------------------------------------------------------------- the report

_NO_MEMBER: Final = {
    "path": "the wire has no member for the pointer of an error",
    "retry_after": "the wire does not state how long to wait",
    "request_id": "the wire has no member for the id of a call",
    "loss": "the wire has no member for this",
    "violations": "the wire has no member for this",
    "attempts": "the wire has no member for this",
    "skipped": "the wire has no member for this",
}
_OTHERWISE: Final = {
    "category": "the wire has no value for this category of error",
    "retryable": "on this wire only the category of the error states whether to try again",
}


def report(error: Mapping[str, Any], found: Mapping[str, Any], endpoint: Endpoint) -> list[Entry]:
    """Return the losses of a written error, by comparing it with the error that a reader of the wire `found`."""
    loss = [
        _replaced(name, found[name], "weakened", why)
        for name, why in _OTHERWISE.items()
        if name in error and found[name] != error[name]
    ]
    for name, why in _NO_MEMBER.items():
        value, seen = error.get(name), found.get(name)
        if name == "path" and _is_elsewhere(error, endpoint):
            loss.append(_dropped(name, "foreign_state", "the pointer refers to the body of another wire"))
        elif value is None or seen == value or (value == [] and seen is None):
            continue
        elif name == "retry_after" and seen is not None:
            loss.append(_replaced(name, seen, "representation", "the wire counts whole seconds"))
        else:
            loss.append(_dropped(name, "unsupported_field", why))
    return loss


def _is_elsewhere(error: Mapping[str, Any], endpoint: Endpoint) -> bool:
    """Whether the place of an error refers to the body of another wire."""
    return "path" in error and error.get("adapter") not in (None, endpoint.adapter)


def _dropped(name: str, code: str, message: str) -> Entry:
    return entry_of("drop", f"/{name}", code, "weakened", message)


def _replaced(name: str, value: Any, severity: str, message: str) -> Entry:
    return entry_of("replace", f"/{name}", "unsupported_value", severity, message, value=value)
