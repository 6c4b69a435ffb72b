"""
Streams in one of two framings: server-sent events, or one JSON array whose elements are sent as they are made.

The client chooses the framing with the address of its request; the decoder recognizes it by the first byte that is not
white space. It finds the elements of an array by counting brackets outside of strings, and does not inspect their
content.
"""

import re
from typing import Final

from interlingua.wire import sse
from interlingua.wire.sse import Frame

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
_EMPTY: Final = b"\r\n\xef\xbb\xbf"  # before the first line these have no meaning
_MARKS: Final = re.compile(rb'["{}\[\]]')
_TEXT_END: Final = re.compile(rb'["\\]')


class Decoder:
    """An incremental decoder with the same two methods as `sse.Decoder`."""

    def __init__(self) -> None:
        self._inner: sse.Decoder | _Elements | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the frames that this chunk completes."""
        if self._inner is None:
            start = chunk.lstrip(_BLANK)
            if not start:
                return []
            self._inner = _Elements() if start[:1] in (b"[", b"{") else sse.Decoder()
            chunk = chunk.lstrip(_EMPTY)
        return self._inner.feed(chunk)

    def end(self) -> list[Frame]:
        """Return the frame that the end of the input completes, if any."""
        return [] if self._inner is None else self._inner.end()


class _Elements:
    """A decoder of the objects of one array, or of one object without an array."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._seen = 0  # the position up to which the buffer has been searched
        self._start = -1  # where the open element begins
        self._depth = 0  # the number of open objects and lists of the element
        self._in_text = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the elements that this chunk completes."""
        self._buffer += chunk
        frames: list[Frame] = []
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
                    at = mark.start()  # the escaped character has yet to arrive
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
                frames.append(Frame(None, buffer[self._start : at].decode("utf-8", "surrogateescape")))
                del buffer[:at]
                at, self._start = 0, -1
        self._seen = at
        return frames

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
        """Return no frame: an element that was cut off cannot be read."""
        return []


def encode(frame: Frame) -> bytes:
    """Return a frame as a server-sent event, with the line ends of this wire's provider."""
    return sse.encode(frame).replace(b"\n", b"\r\n")
