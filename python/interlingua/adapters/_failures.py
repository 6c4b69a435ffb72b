"""
Errors, both ways: what a reader says of a provider's failure, and the status, the headers and the body with which a
provider of a wire would have told one.

A reader's `message` holds the category and what the wire gives apart (a code, a limit), never the provider's sentence:
that is `provider_message` (spec/8-errors.md#provider-message).

Each wire has one table, from the category to its own status and words, and one function that spells a body. What is
common stands here: which words may be passed on, what is kept of an error that was read from the same wire, and the
account of what the wire cannot say. A written error is read back before it goes out, so that account is what a reader
of the wire will really see (spec/8-errors.md#written-errors).
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from interlingua.adapters._kit import Wire, error_body
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import OPERATOR_CATEGORIES
from interlingua.canonical.loss import Entry

WORDS: Final = frozenset(
    (
        "unsupported",
        "loss_refused",
        "no_candidate",
        "network",
        "invalid_response",
        "stream_truncated",
        "cancelled",
        "content_filter",
        "other",
    )
)
"""Categories that travel as themselves, where a wire has a place for a free word and none of its own for them."""


TEXTS: Final[dict[str, str]] = {
    "invalid_request": "the request was refused as invalid",
    "unsupported": "the provider does not do this",
    "authentication": "the credentials were not accepted; check the key",
    "permission": "the account is not allowed to do this",
    "billing": "the account has no credit or quota left",
    "not_found": "the model or address is not known there",
    "rate_limit": "the rate of calls is limited; wait and try again",
    "context_overflow": "the prompt is longer than the model's context; shorten the conversation",
    "content_filter": "a content filter refused the request",
    "timeout": "the provider did not answer in time",
    "server_error": "the provider failed; try again",
    "overloaded": "the provider is overloaded; wait and try again",
    "cancelled": "the call was cancelled",
    "other": "the provider answered with an error",
    "loss_refused": "the projection would lose more than the policy allows",
    "no_candidate": "no model can take the turn",
    "network": "the connection to the provider failed; try again",
    "invalid_response": "the answer of the provider cannot be read",
    "stream_truncated": "the answer ended before its end",
}
"""What a reader says of a category in `message`, where the provider's own text, which may hold content, never stands."""


class Told(NamedTuple):
    """What a body is spelt from. `status` and `word` are the provider's own, when the error came from this wire."""

    category: str
    text: str
    status: int | None
    word: str | None
    path: str | None
    retry_after: float | None
    request_id: str | None


Spell = Callable[[Told], Wire]
Read = Callable[[int, dict[str, str], Any, Endpoint], dict[str, Any]]

_NO_WORDS: Final = "the call failed"
_FAILURES: Final = range(400, 600)
_REPLIES: Final = range(300, 600)
_FOREVER: Final = 10**9
_LONGEST: Final = 2_000
_DEEPEST: Final = 6
_TEXT_MEMBERS: Final = ("message", "Message", "detail", "msg", "error_message", "status_msg", "errors", "base_resp")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+")
_KEY_SHAPED: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|pplx|hf)[-_][A-Za-z0-9_*.-]{12,}|\b(?:AIza|AKIA|ASIA)[A-Za-z0-9_*-]{12,}|\bBearer [^\s\"',]{12,}"
)
_PATH: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*(?:\.?\[\d+\]|\.[A-Za-z0-9_$-]+)*")
_STEP: Final = re.compile(r"[^.\[\]]+")
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_FACT: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,64}(?: \d{1,20})?")
_ID: Final = re.compile(r"[A-Za-z0-9_.:/+=-]{1,200}")


def write(
    failure: dict[str, Any],
    endpoint: Endpoint,
    spell: Spell,
    read: Read,
    *,
    hint: bool = False,
    family: tuple[str, ...] = (),
) -> tuple[Wire, list[Entry]]:
    """The answer `{status, headers, body}` for a canonical error, and what the wire cannot say of it.

    `hint`: whether clients of the wire obey `x-should-retry`. `family`: other wires whose errors have the same words.
    """
    adapter = failure.get("adapter")
    own = adapter == endpoint.adapter or adapter in family
    foreign_path = _is_elsewhere(failure, endpoint)
    seen = {name: value for name, value in failure.items() if name != "path" or not foreign_path}
    tried: list[tuple[Wire, dict[str, Any]]] = []
    for told in _variants(seen, own=own, here=adapter == endpoint.adapter):
        wire = spell(told)
        if adapter == endpoint.adapter and _goes_back(seen):
            wire["status"], wire["body"] = seen["status"], seen["raw"]
            if told.word is None:
                wire["headers"].pop("x-amzn-errortype", None)  # it came without
        tried.append((wire, _read_back(wire, read, endpoint)))
        if _reads_as(tried[-1][1], seen["category"], seen):
            break
    # where the wire has no word for it, any words will do that do not make it look like something else again
    meant = tried[-1][1]["category"]
    wire, found = next((one for one in tried if _reads_as(one[1], meant, seen)), tried[-1])
    if hint and "retryable" in seen and found["retryable"] != seen["retryable"]:
        wire["headers"]["x-should-retry"] = "true" if seen["retryable"] else "false"
        found = _read_back(wire, read, endpoint)
    return wire, account(failure, found, endpoint)


def _reads_as(found: dict[str, Any], category: str, failure: dict[str, Any]) -> bool:
    return found["category"] == category and found.get("path") in (None, failure.get("path"))


def in_stream(failure: dict[str, Any]) -> dict[str, Any]:
    """The error as one inside a stream: no status travels there, so nothing goes back as a whole."""
    return {name: value for name, value in failure.items() if name != "status"}


def _variants(failure: dict[str, Any], *, own: bool, here: bool) -> list[Told]:
    """The ways to tell it, the fullest first: the next one is taken when a reader would take this one for another failure."""
    status = failure.get("status")
    kept = status if own and status in _FAILURES else None
    word = failure.get("code") if own else None
    if word is not None and not _WORD.fullmatch(word):
        word = None  # it may go into a header
    message = failure["message"]
    words = _words(failure, here=here)
    found = [(words, kept, word)] if words else []
    if own:
        found.append((message, kept, word))
    found.append((message, None, None))
    found.append((_NO_WORDS, None, None))
    path = failure.get("path")
    if path is not None and not path.startswith("/"):
        path = None  # the root: nothing to point at
    told_id = identity(failure.get("request_id"))
    seconds = failure.get("retry_after")
    after = None if seconds is None or not 0 <= seconds < _FOREVER else float(seconds)
    return [Told(failure["category"], text, at, code, path, after, told_id) for text, at, code in found]


def _goes_back(failure: dict[str, Any]) -> bool:
    """Whether the provider's own answer can be given again. What came with the status of a success is spelt anew."""
    return failure.get("raw") is not None and failure.get("status") in _FAILURES


def _words(failure: dict[str, Any], *, here: bool) -> str:
    """What the provider said, where the error has it; never to anybody but a client of the same wire when it speaks of keys."""
    if failure["category"] in OPERATOR_CATEGORIES and not here:
        return ""
    if here and failure.get("raw") is not None:
        return said(failure["raw"])[:_LONGEST]
    return provider_message(failure.get("raw")) or (failure.get("provider_message") or "")[:_LONGEST]


def provider_message(body: Any) -> str | None:
    """What the provider said in the body of its error, for whoever made the call (spec/8-errors.md#provider-message).

    What looks like a key is taken out, so are control characters (a terminal may show it), and it ends after 2,000
    characters. None when the body has no words for a person, as a page of a proxy.
    """
    text = _CONTROL.sub(" ", _KEY_SHAPED.sub("[secret]", said(body))).strip()
    return (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…") or None


def said(body: Any) -> str:
    """The text in an error's body, in any of the shapes that the wires have; nothing when it is a page."""
    if isinstance(body, str):
        return "" if body.lstrip()[:1] in ("", "<", "{", "[") else body.strip()
    return _said_in(body, _DEEPEST)


def _said_in(value: Any, depth: int) -> str:
    """The first text for a person in a value, and behind it the text of the provider that a gateway passes on."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return _said_in(value[0], depth - 1) if value and depth else ""
    if not isinstance(value, dict) or not depth:
        return ""
    inner = value.get("error")
    places = ("error", *_TEXT_MEMBERS) if isinstance(inner, (dict, list)) else (*_TEXT_MEMBERS, "error")
    text = next((found for name in places if (found := _said_in(value.get(name), depth - 1))), "")
    metadata = value.get("metadata")
    upstream = _upstream(metadata.get("raw"), depth - 1) if isinstance(metadata, dict) else ""
    return f"{text}: {upstream}" if text and upstream else text or upstream


def _upstream(raw: Any, depth: int) -> str:
    """What the provider behind a gateway said, which passes its body on as it came (OpenRouter)."""
    parsed = error_body(raw)
    return said(parsed) if isinstance(parsed, str) else _said_in(parsed, depth)


def _read_back(wire: Wire, read: Read, endpoint: Endpoint) -> dict[str, Any]:
    return read(wire["status"], wire["headers"], wire["body"], endpoint)


# ---------------------------------------------------------------------------------------------------- the account


def _is_elsewhere(failure: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether the place of an error is one in the body of another wire."""
    adapter = failure.get("adapter")
    return "path" in failure and adapter is not None and adapter != endpoint.adapter


def account(failure: dict[str, Any], found: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """What a reader of the wire will not see of the error, or see otherwise, by what it `found`."""
    loss: list[Entry] = []
    if found["category"] != failure["category"]:
        message = "the wire has no word for this kind of failure"
        loss.append(_entry("replace", "/category", "unsupported_value", message, found["category"]))
    if "retryable" in failure and found["retryable"] != failure["retryable"]:
        message = "the wire tells by the kind of failure alone whether to try again"
        loss.append(_entry("replace", "/retryable", "unsupported_value", message, found["retryable"]))
    if _is_elsewhere(failure, endpoint):
        loss.append(_entry("drop", "/path", "foreign_state", "the place is one in the body of another wire"))
    elif "path" in failure and found.get("path") != failure["path"]:
        loss.append(_entry("drop", "/path", "unsupported_field", "the wire has no member for the place of an error"))
    after = failure.get("retry_after")
    if after is not None and (seconds := found.get("retry_after")) != after:
        if seconds is None:
            loss.append(_entry("drop", "/retry_after", "unsupported_field", "the wire does not say how long to wait"))
        else:
            message = "the wire counts whole seconds"
            loss.append(
                {
                    **_entry("replace", "/retry_after", "unsupported_value", message, seconds),
                    "severity": "representation",
                }
            )
    if "request_id" in failure and found.get("request_id") != failure["request_id"]:
        loss.append(_entry("drop", "/request_id", "unsupported_field", "the wire has no member for the id of a call"))
    loss.extend(
        _entry("drop", f"/{name}", "unsupported_field", "the wire has no member for this")
        for name in ("loss", "violations", "attempts", "skipped")
        if failure.get(name)
    )
    return loss


def _entry(op: str, path: str, code: str, message: str, value: Any = None) -> Entry:
    found: Entry = {"op": op, "path": path, "code": code, "severity": "weakened", "message": message}
    return found if op == "drop" else {**found, "value": value}


# ---------------------------------------------------------------------------------------------------- small shapes


def message(endpoint: Endpoint, status: int | None, category: str, *facts: str | None) -> str:
    """The sentence for an error that was read: who, by which status, the `facts` that the wire gives apart (codes, limits),
    and what the category means; nothing of the provider's text (spec/8-errors.md#content-free-parts)."""
    name = endpoint.provider or endpoint.adapter
    told = f"{name} answered {status}" if status in _REPLIES else f"{name} reported a failure"
    known = ", ".join(dict.fromkeys(fact for fact in facts if fact and _is_fact(fact)))
    meaning = TEXTS.get(category, TEXTS["other"])
    return f"{told} ({known}): {meaning}" if known else f"{told}: {meaning}"


def _is_fact(fact: str) -> bool:
    """Whether this is a word or a number of the provider, and neither a sentence nor a key."""
    return _FACT.fullmatch(fact) is not None and _KEY_SHAPED.search(fact) is None


def wait_headers(seconds: float | None, *, exact: bool) -> dict[str, str]:
    """The headers that say how long to wait: whole seconds, and the milliseconds beside them where clients know that header."""
    if seconds is None:
        return {}
    whole = math.ceil(seconds)
    headers = {"retry-after": str(whole)}
    if exact and whole != seconds:
        headers["retry-after-ms"] = f"{seconds * 1000:.10g}"
    return headers


def place_of(spelling: Any) -> str | None:
    """A place as wires spell it, `messages[0].content`, as a JSON Pointer; None for what is no place."""
    if not isinstance(spelling, str) or len(spelling) > _LONGEST or not _PATH.fullmatch(spelling):
        return None
    return "".join(f"/{step}" for step in _STEP.findall(spelling))


def dotted(path: str) -> str:
    """A JSON Pointer as `messages.0.content`."""
    return ".".join(path.split("/")[1:]).replace("~1", "/").replace("~0", "~")


def bracketed(path: str) -> str:
    """A JSON Pointer as `messages[0].content`."""
    steps = path.split("/")[1:]
    text = "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in steps)
    return text.removeprefix(".").replace("~1", "/").replace("~0", "~")


def identity(*candidates: Any) -> str | None:
    """The id of the call at its provider: the first of these that is one."""
    for one in candidates:
        if isinstance(one, str) and _ID.fullmatch(one):
            return one
    return None


def marked(text: str, mark: str, known: re.Pattern[str]) -> str:
    """The text, begun with the words by which clients of the wire know this kind of failure, unless it has them."""
    if known.search(text):
        return text
    return f"{mark}: {text}" if text else mark
