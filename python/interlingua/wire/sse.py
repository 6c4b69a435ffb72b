"""
Server-sent events: bytes in any cuts to frames, and frames to bytes.

Source: the WHATWG HTML standard, section "Server-sent events".

Strategy: lines end with LF, CRLF or CR; a CR at the end of a chunk may be half of a CRLF, so a frame is given out at
its blank line at once and one LF that follows is skipped. Bytes are decoded per line, so a character that is cut
between two chunks is whole again when its line is; U+2028 and U+0085 are ordinary characters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Frame:
    """One event: its name (None when the stream gives none) and its data, the lines joined by LF."""

    event: str | None
    data: str


class Decoder:
    """An incremental reader: `feed` it bytes as they come, it gives the frames that are complete.

    The standard drops what stands after the last blank line; providers end streams without one,
    so `end` gives out what is left. Comments, `id` and `retry` are passed over.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._event: str | None = None
        self._data: list[str] = []
        self._started = False
        self._skip_line_feed = False
        self._searched = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes."""
        self._buffer += chunk
        if not self._started and not self._start():
            return []
        return list(self._frames())

    def end(self) -> list[Frame]:
        """The frame that the end of input completes, if any."""
        self._started = True
        frames = list(self._frames())
        if self._buffer:
            self._line(bytes(self._buffer))
            self._buffer.clear()
        if self._data:
            frames.append(self._take())
        return frames

    def _start(self) -> bool:
        if _BYTE_ORDER_MARK.startswith(self._buffer[:3]) and len(self._buffer) < 3:
            return False
        if self._buffer.startswith(_BYTE_ORDER_MARK):
            del self._buffer[:3]
        self._started = True
        return True

    def _frames(self) -> Iterator[Frame]:
        start = 0
        if self._skip_line_feed and self._buffer:
            self._skip_line_feed = False
            if self._buffer[0] == 0x0A:
                start = 1
        search = max(start, self._searched)
        while found := _LINE_END.search(self._buffer, search):
            line = bytes(self._buffer[start : found.start()])
            start = search = found.end()
            # the LF of a CRLF may still be on its way
            self._skip_line_feed = found[0] == b"\r" and start == len(self._buffer)
            if line:
                self._line(line)
            elif self._data:
                yield self._take()
            else:
                self._event = None
        del self._buffer[:start]
        self._searched = len(self._buffer)

    def _line(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value.decode("utf-8", "replace"))
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case _:
                pass  # comments, id, retry and what the standard does not know

    def _take(self) -> Frame:
        frame = Frame(self._event, "\n".join(self._data))
        self._event, self._data = None, []
        return frame


def encode(frame: Frame) -> bytes:
    """A frame as bytes."""
    name = f"event: {frame.event}\n" if frame.event is not None else ""
    data = "".join(f"data: {line}\n" for line in frame.data.split("\n"))
    return f"{name}{data}\n".encode()
