"""
The parts of errors that all wires share: the text for a person in any body, places, and the ids of provider calls.
This module decides which text may be passed on to whom, and which text looks like a key
(spec/8-errors.md#provider-message).
"""

import re
from typing import Any, Final

from interlingua.adapters._engine.kit import error_body

LONGEST: Final = 2_000
"""The most characters of a provider's text that are passed on."""

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


def provider_message(body: Any) -> str | None:
    """Return the provider's text in the body of its error, for the caller (spec/8-errors.md#provider-message).

    Anything that looks like a key is removed, and so are control characters (a terminal may show the text). The text
    is cut after 2,000 characters. None if the body has no text for a person, like the HTML page of a proxy.
    """
    text = _CONTROL.sub(" ", _KEY_SHAPED.sub("[secret]", text_of(body))).strip()
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…") or None


def text_of(body: Any) -> str:
    """Return the text in the body of an error, in any of the shapes that the wires have; an empty text for an HTML
    page."""
    if isinstance(body, str):
        return "" if body.lstrip()[:1] in ("", "<", "{", "[") else body.strip()
    return _text_within(body, _DEEPEST)


def _text_within(value: Any, depth: int) -> str:
    """Return the first text for a person in a value, and after it the text of a provider that a gateway passes on."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return _text_within(value[0], depth - 1) if value and depth else ""
    if not isinstance(value, dict) or not depth:
        return ""
    inner = value.get("error")
    places = ("error", *_TEXT_MEMBERS) if isinstance(inner, (dict, list)) else (*_TEXT_MEMBERS, "error")
    text = next((found for name in places if (found := _text_within(value.get(name), depth - 1))), "")
    metadata = value.get("metadata")
    upstream = _upstream(metadata.get("raw"), depth - 1) if isinstance(metadata, dict) else ""
    return f"{text}: {upstream}" if text and upstream else text or upstream


def _upstream(raw: Any, depth: int) -> str:
    """Return the text of the provider behind a gateway that passes the provider's body on unchanged (OpenRouter)."""
    parsed = error_body(raw)
    return text_of(parsed) if isinstance(parsed, str) else _text_within(parsed, depth)


def word_of(value: Any) -> str | None:
    """Return a value that is a single word of the provider; None for anything else."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def is_fact(text: str) -> bool:
    """Whether a text is a word or a number of the provider, and neither a sentence nor a key."""
    return _FACT.fullmatch(text) is not None and _KEY_SHAPED.search(text) is None


def identity(*candidates: Any) -> str | None:
    """Return the provider's id of the provider call: the first candidate that can be an id."""
    for one in candidates:
        if isinstance(one, str) and _ID.fullmatch(one):
            return one
    return None


# ---------------------------------------------------------------------------------------------------- places


def place_of(spelling: Any) -> str | None:
    """Return a place in the spelling of wires, `messages[0].content`, as a JSON Pointer; None for any other value."""
    if not isinstance(spelling, str) or len(spelling) > LONGEST or not _PATH.fullmatch(spelling):
        return None
    return "".join(f"/{step}" for step in _STEP.findall(spelling))


def dotted(path: str) -> str:
    """Return a JSON Pointer as `messages.0.content`."""
    return ".".join(path.split("/")[1:]).replace("~1", "/").replace("~0", "~")


def bracketed(path: str) -> str:
    """Return a JSON Pointer as `messages[0].content`."""
    steps = path.split("/")[1:]
    text = "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in steps)
    return text.removeprefix(".").replace("~1", "/").replace("~0", "~")


def place_before(text: str) -> str | None:
    """Return the place at the beginning of a text, `messages.0.content: …`, as a JSON Pointer; None if there is
    none."""
    place, colon, _ = text.partition(": ")
    return place_of(place) if colon else None
