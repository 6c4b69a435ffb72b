"""
The parts of errors that all wires have in common: the text for a person in any body, places, and the ids of calls. What may be passed
on to whom, and what looks like a key, is decided here (spec/8-errors.md#provider-message).
"""

import re
from typing import Any, Final

from interlingua.adapters._engine.kit import error_body

LONGEST: Final = 2_000
"""How many characters of a provider's words are passed on."""

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
    """What the provider said in the body of its error, for whoever made the call (spec/8-errors.md#provider-message).

    What looks like a key is taken out, so are control characters (a terminal may show it), and it ends after 2,000
    characters. None when the body has no words for a person, as a page of a proxy.
    """
    text = _CONTROL.sub(" ", _KEY_SHAPED.sub("[secret]", text_of(body))).strip()
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…") or None


def text_of(body: Any) -> str:
    """The text in an error's body, in any of the shapes that the wires have; nothing when it is a page."""
    if isinstance(body, str):
        return "" if body.lstrip()[:1] in ("", "<", "{", "[") else body.strip()
    return _text_within(body, _DEEPEST)


def _text_within(value: Any, depth: int) -> str:
    """The first text for a person in a value, and behind it the text of the provider that a gateway passes on."""
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
    """What the provider behind a gateway said, which passes its body on as it came (OpenRouter)."""
    parsed = error_body(raw)
    return text_of(parsed) if isinstance(parsed, str) else _text_within(parsed, depth)


def word_of(value: Any) -> str | None:
    """A value that is one of the provider's words; None for anything else."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def is_fact(text: str) -> bool:
    """Whether this is a word or a number of the provider, and neither a sentence nor a key."""
    return _FACT.fullmatch(text) is not None and _KEY_SHAPED.search(text) is None


def identity(*candidates: Any) -> str | None:
    """The id of the call at its provider: the first of these that is one."""
    for one in candidates:
        if isinstance(one, str) and _ID.fullmatch(one):
            return one
    return None


# ---------------------------------------------------------------------------------------------------- places


def place_of(spelling: Any) -> str | None:
    """A place as wires spell it, `messages[0].content`, as a JSON Pointer; None for what is no place."""
    if not isinstance(spelling, str) or len(spelling) > LONGEST or not _PATH.fullmatch(spelling):
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


def place_before(text: str) -> str | None:
    """The place with which a text begins, `messages.0.content: …`, as a JSON Pointer."""
    place, colon, _ = text.partition(": ")
    return place_of(place) if colon else None
