"""Streams as bytes: where the frames are, what they hold, and the cuts that find bugs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .compare import dumps

_LINE_END = re.compile(rb"\r\n|\n|\r")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Frame:
    """One event of a stream: the name (SSE only) and the data text."""

    event: str | None
    data: str

    def encode(self, framing: str) -> bytes:
        """The plainest bytes of this frame."""
        if framing == "jsonl":
            return self.data.encode() + b"\n"
        head = f"event: {self.event}\n" if self.event else ""
        body = "".join(f"data: {line}\n" for line in self.data.split("\n"))
        return f"{head}{body}\n".encode()


def split(data: bytes, framing: str) -> list[bytes]:
    """The bytes cut after each frame; joined they are the same bytes."""
    cuts = list(_json_line_cuts(data) if framing == "jsonl" else _sse_cuts(data))
    edges = [0, *cuts, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges) if end > start]


def _json_line_cuts(data: bytes) -> Iterator[int]:
    return (match.end() for match in re.finditer(rb"\n", data))


def _sse_cuts(data: bytes) -> Iterator[int]:
    """Positions behind the blank line that ends a frame, further blank lines included."""
    start, holds_text = 0, False
    for match in _LINE_END.finditer(data):
        blank = match.start() == start
        if blank and holds_text:
            yield match.end()
            holds_text = False
        elif not blank:
            holds_text = True
        start = match.end()


def parse(data: bytes, framing: str) -> list[Frame]:
    """The frames that a stream dispatches. A last frame without its blank line is not dispatched (SSE)."""
    if framing == "jsonl":
        return [Frame(None, line.decode().strip()) for line in data.split(b"\n") if line.strip()]
    return list(_parse_sse(data))


def _parse_sse(data: bytes) -> Iterator[Frame]:
    data = data.removeprefix(BYTE_ORDER_MARK)
    event: str | None = None
    texts: list[str] = []
    start = 0
    for match in _LINE_END.finditer(data):
        line = data[start : match.start()].decode("utf-8", "replace")
        start = match.end()
        if line == "":
            if texts:
                yield Frame(event, "\n".join(texts))
            event, texts = None, []
            continue
        name, colon, value = line.partition(":")
        value = value.removeprefix(" ") if colon else ""
        if name == "data":
            texts.append(value)
        elif name == "event":
            event = value or None


# --- cuts ------------------------------------------------------------------------------------------------------------------


def whole(data: bytes, framing: str) -> list[bytes]:
    return [data]


def bytewise(data: bytes, framing: str) -> list[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


def inside_characters(data: bytes, framing: str) -> list[bytes] | None:
    """Cut before every continuation byte of a multi-byte character; None when there is none."""
    cuts = [index for index in range(1, len(data)) if data[index] & 0xC0 == 0x80]
    return _cut(data, cuts) if cuts else None


def between_cr_and_lf(data: bytes, framing: str) -> list[bytes]:
    """The same stream with CRLF line ends, cut between each CR and LF."""
    spelt = _LINE_END.sub(b"\r\n", data)
    return _cut(spelt, [match.start() + 1 for match in re.finditer(rb"\r\n", spelt)])


def one_frame_each(data: bytes, framing: str) -> list[bytes]:
    return split(data, framing)


def two_frames_each(data: bytes, framing: str) -> list[bytes]:
    frames = split(data, framing)
    return [b"".join(frames[index : index + 2]) for index in range(0, len(frames), 2)]


CUTS = {
    "whole": whole,
    "bytewise": bytewise,
    "utf8": inside_characters,
    "crlf": between_cr_and_lf,
    "frames": one_frame_each,
    "pairs": two_frames_each,
}


def _cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *cuts, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def json_frame(event: str | None, value: object) -> Frame:
    return Frame(event, dumps(value))
