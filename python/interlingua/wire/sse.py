"""
Server-sent events: bytes in any cuts to frames, and frames to bytes.

Source: the WHATWG HTML standard, section "Server-sent events".

Strategy: lines end with LF, CRLF or CR, so all ends are made LF first; a CR at the end of a chunk may be half of a CRLF,
so one LF that follows is skipped and nobody waits for it. Frames are then what stands between blank lines: split off in
one step, because a stream has many frames and Python is slow per line. Only whole lines become text, so a character that
is cut between two chunks is whole again by then; U+2028 and U+0085 are ordinary characters.
"""

import re
from typing import Final

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Frame:
    """One event: its name (None when the stream gives none) and its data, the lines joined by LF.

    A class and no named tuple: streams have many frames, and a compiler makes objects of its own classes in one step.
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
    """An incremental reader: `feed` it bytes as they come, it gives the frames that are complete.

    The standard drops what stands after the last blank line; providers end streams without one,
    so `end` gives out what is left. Comments, `id` and `retry` are passed over.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._started = False
        self._skip_line_feed = False
        self._name: str | None = None
        self._head = ""

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes."""
        if self._started and not self._buffer and not self._skip_line_feed:
            # many servers send frames one by one
            lone = self._lone(chunk.decode("utf-8", "surrogateescape"))
            if lone is not None:
                return [lone]
        if self._skip_line_feed and chunk:
            self._skip_line_feed = False
            chunk = chunk.removeprefix(b"\n")
        # bytes are searched with `find`: to `in`, what is looked for might be a number, which costs more than the search
        if chunk.find(b"\r") >= 0:
            self._skip_line_feed = chunk.endswith(b"\r")
            ended = chunk.endswith((b"\r", b"\n"))
            # much faster than to replace each: of bytes, no other characters end lines
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
        """The frame that the end of input completes, if any."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return _frames(rest)

    def _lone(self, text: str) -> Frame | None:
        """The frame that a text consists of, when it has the shape that nearly all have: a line of data, with or without
        a line of name before it. None for any other text."""
        head = self._head
        if not (head and text.startswith(head)):
            found = _HEAD.match(text)
            if found is None:
                return None
            self._name, self._head = found[1], found[0]
            head = self._head  # nearly all frames of a stream have the name of the one before
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
    """The frames of some whole lines."""
    frames: list[Frame] = []
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    lines += ("", "")  # what stands at the end of input ends there
    at, end = 0, len(lines) - 2
    while at < end:
        line = lines[at]
        # nearly all frames are a line of data, with or without a line of name before it
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
    """The frame of the lines between two blank lines; None when they hold no data."""
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
                pass  # comments, id, retry and what the standard does not know
    return Frame(event, "\n".join(data)) if data else None


def encode(frame: Frame) -> bytes:
    """A frame as bytes."""
    event, data = frame.event, frame.data
    if "\n" in data:
        data = data.replace("\n", "\ndata: ")
    return (f"data: {data}\n\n" if event is None else f"event: {event}\ndata: {data}\n\n").encode()
