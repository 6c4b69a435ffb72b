"""
Server-sent events: bytes in chunks of any size to frames, and frames to bytes.

Source: the WHATWG HTML standard, section "Server-sent events".

Strategy: lines end with LF, CRLF or CR, so the decoder first makes all line ends LF. A CR at the end of a chunk may be
half of a CRLF: the decoder does not wait, but skips one LF that follows. Frames are then the text between blank lines.
Nearly all have one shape, and are read line by line without a look at their fields. Only whole lines are decoded
to text, so a character that is cut between two chunks is complete by then. U+2028 and U+0085 are ordinary characters.
"""

import re
from typing import Final

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Frame:
    """One event: its name (None when the stream gives none) and its data, the lines joined by LF.

    It is a class and not a named tuple: streams have many frames, and compiled code creates objects of its own classes
    in one step.
    """

    __slots__ = ("data", "event")

    def __init__(self, event: str | None, data: str) -> None:
        self.event = event
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and self.event == other.event and self.data == other.data

    def __hash__(self) -> int:
        return hash((self.event, self.data))

    def __repr__(self) -> str:
        return f"Frame({self.event!r}, {self.data!r})"


class Decoder:
    """An incremental decoder: `feed` takes bytes as they arrive, and returns the frames that are complete.

    The standard drops the text after the last blank line. Some providers end streams without a blank line,
    so `end` returns the rest as a frame. Comments, `id` and `retry` are skipped.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._started = False
        self._skip_line_feed = False
        self._name: str | None = None
        self._head = ""

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the frames that this chunk completes."""
        if self._started and not self._buffer and not self._skip_line_feed:
            # many servers send frames one by one
            lone = self._lone(chunk.decode("utf-8", "surrogateescape"))
            if lone is not None:
                return [lone]
        if self._skip_line_feed and chunk:
            self._skip_line_feed = False
            chunk = chunk.removeprefix(b"\n")
        # `find` and not `in`: `in` also takes a number, and that check costs more than the search
        if chunk.find(b"\r") >= 0:
            self._skip_line_feed = chunk.endswith(b"\r")
            ended = chunk.endswith((b"\r", b"\n"))
            # much faster than `replace`; in bytes, no other characters end lines
            chunk = b"\n".join(chunk.splitlines()) + (b"\n" if ended else b"")
        if not self._started:
            chunk = self._start(chunk)
        buffer = self._buffer
        if buffer:
            seen = len(buffer)
            buffer += chunk
            if buffer.find(b"\n\n", seen - 1) < 0:
                return []
            chunk = bytes(buffer)
            buffer.clear()
        whole, blank_line, rest = chunk.rpartition(b"\n\n")
        if rest:
            buffer += rest
        return _frames(whole + blank_line) if blank_line else []

    def end(self) -> list[Frame]:
        """Return the frame that the end of the input completes, if any."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return _frames(rest)

    def _lone(self, text: str) -> Frame | None:
        """Return the frame of a text that has the most common shape: one line of data, with or without a line with the
        event's name before it. Returns None for any other text."""
        head = self._head
        if not (head and text.startswith(head)):
            match = _HEAD.match(text)
            if match is None:
                return None
            self._name, self._head = match[1], match[0]
            head = self._head  # nearly all frames of a stream have the same name as the previous frame
        blank = "\r\n\r\n" if text.endswith("\r\n\r\n") else "\n\n"
        data = text[len(head) : -len(blank)]
        if "\n" in data or "\r" in data or not text.endswith(blank):
            return None
        return Frame(self._name, data)

    def _start(self, chunk: bytes) -> bytes:
        chunk = bytes(self._buffer) + chunk
        self._buffer.clear()
        if len(chunk) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(chunk):
            self._buffer += chunk  # it may become a byte order mark
            return b""
        self._started = True
        return chunk.removeprefix(_BYTE_ORDER_MARK)


_HEAD: Final = re.compile(r"(?:event: ([^\r\n]*)\r?\n)?data: ")


def _frames(text: bytes) -> list[Frame]:
    """Return the frames of some whole lines."""
    frames: list[Frame] = []
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    lines += ("", "")  # the end of input ends the last frame
    at, end = 0, len(lines) - 2
    while at < end:
        line = lines[at]
        # nearly all frames are one line of data, with or without a line with the event's name before it
        if line.startswith("data: ") and not lines[at + 1]:
            frames.append(Frame(None, line[6:]))
            at += 2
        elif line.startswith("event: ") and not lines[at + 2] and lines[at + 1].startswith("data: "):
            frames.append(Frame(line[7:], lines[at + 1][6:]))
            at += 3
        else:
            blank = lines.index("", at)
            frame = _frame_of_lines(lines[at:blank])
            if frame is not None:
                frames.append(frame)
            at = blank + 1
    return frames


def _frame_of_lines(lines: list[str]) -> Frame | None:
    """Return the frame of the lines between two blank lines; None when they hold no data."""
    event: str | None = None
    data: list[str] = []
    for line in lines:
        name, _, value = line.partition(":")
        match name:
            case "data":
                data.append(value.removeprefix(" "))
            case "event":
                event = value.removeprefix(" ")
            case _:
                pass  # comments, id, retry and fields that the standard does not define
    return Frame(event, "\n".join(data)) if data else None


def encode(frame: Frame) -> bytes:
    """Return a frame as bytes."""
    event, data = frame.event, frame.data
    if "\n" in data:
        data = data.replace("\n", "\ndata: ")
    return (f"data: {data}\n\n" if event is None else f"event: {event}\ndata: {data}\n\n").encode()
