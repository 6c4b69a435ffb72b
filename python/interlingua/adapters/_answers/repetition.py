"""
Frames of a stream that are alike: most of them continue a text, and the JSON around it is the same as before.
"""

import json as standard_json
from collections.abc import Iterable
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest

_OTHER: Final = "another text"
_SCANNER: Final = standard_json.JSONDecoder()


def _at(path: Iterable[str | int], value: Any) -> Any:
    for step in path:
        value = value[step]
    return value


class Repetition:
    """Frames of a stream that differ from an earlier one in one text, and perhaps in one member behind it: they need
    not be decoded.

    The characters around the text and the member are compared, and the text has no character that JSON would escape, so
    the frame can have no other meaning. `counted` is the value of the member in the last frame that was read.
    """

    __slots__ = ("_after", "_before", "_between", "_end", "_start", "counted")

    def __init__(self, data: str, *path: str | int, counted: str = "") -> None:
        """Take the data of a frame, the path to the text in the decoded data, and the name of the member (`counted`)."""
        self._before = self._between = self._after = ""
        self._start = self._end = 0
        self.counted: Any = None
        between, other = "", ""
        try:
            before, quoted, after = data.partition(json.dumps(_at(path, json.loads(data))).decode())
            if counted:
                between, after = _around(counted, after)
                other = f'"{_OTHER}"'
            # another text put here is read at the path: so this is its place, and no other with the same text
            read = json.loads(f'{before}"{_OTHER}"{between}{other}{after}')
            if quoted and _at(path, read) == _OTHER and (not counted or read[counted] == _OTHER):
                self._before, self._after = before + '"', after if counted else '"' + after
                self._between = '"' + between if counted else ""
                self._start, self._end = len(self._before), -len(self._after)
        except (InvalidRequest, KeyError, IndexError, TypeError, ValueError):
            pass  # no frame is treated as alike

    def text(self, data: str) -> str | None:
        """The text in a frame's data; None if the frame has to be decoded."""
        if not self._start or not data.startswith(self._before) or not data.endswith(self._after):
            return None
        text = data[self._start : self._end]
        if self._between:
            end = text.find('"')  # a search for the whole text between would cost more
            behind = text[end:]
            if not behind.startswith(self._between):
                return None
            try:
                self.counted = json.loads(behind[len(self._between) :])
            except InvalidRequest:
                return None
            text = text[:end]
        return text if text.isprintable() and '"' not in text and "\\" not in text else None


def _around(member: str, data: str) -> tuple[str, str]:
    """The data before and behind the value of a member. Raises `ValueError` if there is no such member."""
    start = data.index(f'"{member}":') + len(member) + 3
    start += len(data) - start - len(data[start:].lstrip())
    _, end = _SCANNER.raw_decode(data, start)
    return data[:start], data[end:]
