"""
The regular expressions of callers: those of routing policies and of JSON Schemas (spec/7-routing.md#regular).

Their syntax is that of ECMAScript. RE2 runs them: a pattern takes no more time than the size of its program times the
length of the text, the size has a limit, and other threads run meanwhile. A pattern that RE2 cannot express
(lookaround, back-references), or that is too large, is refused (spec/decisions/0016).
"""

import re
from functools import lru_cache
from typing import Any, Final

MOST_INSTRUCTIONS: Final = 10_000
"""The largest program of a pattern, and of all patterns of a policy together."""

_LONGEST: Final = 2_000  # characters of a pattern: to refuse a pattern must not take long either
_MEMORY: Final = 256 << 10  # bytes for one pattern: two thirds hold the program, 16 bytes for each instruction
_MOST_KEPT: Final = 256

NOT_RUN: Final = (
    "is not a regular expression of ECMAScript, uses lookaround or a back-reference, or is too large: at most 2000 "
    "characters, and repetition counts, multiplied where they nest, of at most 1000"
)
"""The reason why a text cannot be run as a pattern, as the end of a sentence."""


class Pattern:
    """A compiled regular expression; `size` is the size of its program, in instructions."""

    __slots__ = ("_compiled", "size")

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self.size: int = compiled.programsize

    def found_in(self, text: str) -> bool:
        """Whether the text holds a match. Raises `ValueError` for a text with half of a surrogate pair."""
        return self._compiled.search(text) is not None


@lru_cache(maxsize=_MOST_KEPT)
def pattern(text: str) -> Pattern | None:
    """Compile a regular expression of ECMAScript; returns None if the text is none, or is one that cannot be run."""
    import re2

    if len(text) > _LONGEST:
        return None
    options = re2.Options()
    options.max_mem = _MEMORY
    options.never_capture = True
    options.log_errors = False
    try:
        return Pattern(re2.compile(_translated(text), options))
    except (re2.error, ValueError):
        return None


_LOOKAROUND: Final = re.compile(r"(?<!\\)(?:\\\\)*\(\?<?[=!]")
_BACK_REFERENCE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)")


def why_not_run(text: str) -> str:
    """Why a text, for which `pattern` returns None, cannot be run as a pattern, as the end of a sentence. It has no word
    of the text."""
    import re2

    if len(text) > _LONGEST:
        return f"has {len(text)} characters, and a regular expression may have {_LONGEST}"
    if _LOOKAROUND.search(text):
        return "uses lookaround, which is not supported"
    if _BACK_REFERENCE.search(text):
        return "uses a back-reference, which is not supported"
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        re2.compile(_translated(text), options)
    except re2.error as problem:
        said = problem.args[0].decode("utf-8", "replace") if isinstance(problem.args[0], bytes) else str(problem)
        if "too large" in said:
            return "is too large when it is compiled"
        if "repetition size" in said:
            return "has a count of repetition that is above 1000, multiplied where counts nest, or out of order"
        return f"is not a regular expression of ECMAScript: {said.partition(':')[0]}"
    except ValueError as problem:
        return f"is not a regular expression of ECMAScript: {problem}"
    return NOT_RUN


# The pieces that ECMAScript and RE2 write or understand differently. Everything else is copied.
_PIECE: Final = re.compile(
    r"\\u\{([0-9A-Fa-f]{1,6})\}|\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})"
    r"|\\c([A-Za-z])|(\\[pP])\{(?:(?:Script|sc|General_Category|gc)=)?(\w+)\}|\\(.)|(\[\^?\]|[\[\].])|(\(\?P)",
    re.DOTALL,
)
_SPACE: Final = r"\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
_NO_SPACE: Final = (
    r"\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}"
    r"\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}"
)
_ANY: Final = r"[^\n\r\x{2028}\x{2029}]"
_EMPTY: Final = {"[]": r"[^\x00-\x{10ffff}]", "[^]": r"[\x00-\x{10ffff}]"}
_SINGLE_LINE: Final = re.compile(r"\(\?[a-z]*s")  # the dot matches line feeds too
_KEPT_ESCAPES: Final = frozenset("dDwWbBnrtfvx")
_CATEGORIES: Final = {
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Uppercase_Letter": "Lu",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "Punctuation": "P",
    "Symbol": "S",
    "Separator": "Z",
}


def _translated(text: str) -> str:
    """Translate a pattern to the syntax of RE2. Raises `ValueError` for an escape that ECMAScript does not have."""
    pieces: list[str] = []
    within = False  # whether the position is within a class of characters
    place = 0
    any_character = "." if _SINGLE_LINE.search(text) else _ANY
    for piece in _PIECE.finditer(text):
        pieces.append(text[place : piece.start()])
        place = piece.end()
        braced, high, low, four, control, kind, name, escaped, mark, _ = piece.groups()
        if braced or four:
            if 0xD800 <= int(braced or four, 16) <= 0xDFFF:
                raise ValueError("half a character")
            pieces.append(rf"\x{{{braced or four}}}")
        elif high:
            pieces.append(rf"\x{{{0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF):x}}}")
        elif control:
            pieces.append(rf"\x{{{ord(control) % 32:x}}}")
        elif kind:
            pieces.append(f"{kind}{{{_CATEGORIES.get(name, name)}}}")
        elif escaped:
            pieces.append(_escape(escaped, within))
        elif mark == ".":
            pieces.append("." if within else any_character)
        elif mark == "[":
            pieces.append(r"\[" if within else "[")
            within = True
        elif mark == "]":
            pieces.append("]" if within else r"\]")
            within = False
        elif mark:  # an empty class, unless it is within another one
            pieces.append(rf"\{mark}" if within else _EMPTY[mark])
            within = False
        else:
            raise ValueError("no group of ECMAScript")
    pieces.append(text[place:])
    return "".join(pieces)


def _escape(character: str, within: bool) -> str:
    if character in "sS":
        listed = _SPACE if character == "s" else _NO_SPACE
        return listed if within else f"[{listed}]"
    if character == "b" and within:
        return r"\x08"
    if character == "0":
        return r"\x00"
    if character in _KEPT_ESCAPES or not character.isalnum():
        return "\\" + character if character.isascii() else character
    raise ValueError("no escape of ECMAScript")
