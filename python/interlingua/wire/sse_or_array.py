"""
Streams that come in one of two framings: server-sent events, or one JSON array whose elements are sent as they are made.

Which one a client gets is its own choice of address, and the first byte that is no white space tells. Elements are found
by counting brackets outside of texts; what they say is not looked at.
"""

import re
from typing import Final

from interlingua.wire import sse
from interlingua.wire.sse import Frame

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
_EMPTY: Final = b"\r\n\xef\xbb\xbf"  # before the first line these say nothing
_MARKS: Final = re.compile(rb'["{}\[\]]')
_TEXT_END: Final = re.compile(rb'["\\]')


class Decoder:
    """An incremental reader with the same two methods as the one for server-sent events."""

    def __init__(self) -> None:
        self._inner: sse.Decoder | _Elements | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes."""
        if self._inner is None:
            start = chunk.lstrip(_BLANK)
            if not start:
                return []
            self._inner = _Elements() if start[:1] in (b"[", b"{") else sse.Decoder()
            chunk = chunk.lstrip(_EMPTY)
        return self._inner.feed(chunk)

    def end(self) -> list[Frame]:
        """The frame that the end of input completes, if any."""
        return [] if self._inner is None else self._inner.end()


class _Elements:
    """The objects of one array, or one object that stands alone."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._seen = 0  # how far the buffer has been looked at
        self._start = -1  # where the open element begins
        self._depth = 0  # of objects and lists inside the element
        self._in_text = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The elements that this chunk completes."""
        self._buffer += chunk
        found: list[Frame] = []
        buffer = self._buffer
        at = self._seen
        while at < len(buffer):
            if self._in_text:
                mark = _TEXT_END.search(buffer, at)
                if mark is None:
                    at = len(buffer)
                elif mark[0] == b'"':
                    self._in_text, at = False, mark.end()
                elif mark.end() == len(buffer):
                    at = mark.start()  # what is escaped has yet to come
                    break
                else:
                    at = mark.end() + 1
                continue
            mark = _MARKS.search(buffer, at)
            if mark is None:
                at = len(buffer)
                break
            at = mark.end()
            self._bracket(mark[0], mark.start())
            if self._depth == 0 and self._start >= 0 and not self._in_text:
                found.append(Frame(None, buffer[self._start : at].decode("utf-8", "surrogateescape")))
                del buffer[:at]
                at, self._start = 0, -1
        self._seen = at
        return found

    def _bracket(self, mark: bytes, at: int) -> None:
        if mark == b'"':
            self._in_text = True
        elif mark == b"{" or (mark == b"[" and self._depth):
            if not self._depth:
                self._start = at
            self._depth += 1
        elif self._depth:
            self._depth -= 1

    def end(self) -> list[Frame]:
        """Nothing: an element that was cut off is none."""
        return []


def encode(frame: Frame) -> bytes:
    """A frame as a server-sent event, with the line ends of this wire's provider."""
    return sse.encode(frame).replace(b"\n", b"\r\n")
