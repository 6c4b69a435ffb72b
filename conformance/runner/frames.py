"""Streams as bytes: where the frames are, what they hold, and the cuts that find bugs."""

from __future__ import annotations

import itertools
import random
import re
import struct
from binascii import crc32
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .compare import dumps

_LINE_END = re.compile(rb"\r\n|\n|\r")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Frame:
    """One event of a stream: the name (not in JSON lines) and the data text.

    `kind` is the `:message-type` of an AWS event stream: `event`, or `exception` for an error.
    """

    event: str | None
    data: str
    kind: str = "event"

    def encode(self, framing: str) -> bytes:
        """The plainest bytes of this frame."""
        if framing == "jsonl":
            return self.data.encode() + b"\n"
        if framing == "array":
            return self.data.encode()
        if framing == "eventstream":
            return _event_stream_message(self)
        head = f"event: {self.event}\n" if self.event else ""
        body = "".join(f"data: {line}\n" for line in self.data.split("\n"))
        return f"{head}{body}\n".encode()


def join(found: Iterable[Frame], framing: str) -> bytes:
    """The plainest bytes of a whole stream."""
    parts = [frame.encode(framing) for frame in found]
    return b"[" + b",\n".join(parts) + b"]\n" if framing == "array" else b"".join(parts)


def split(data: bytes, framing: str) -> list[bytes]:
    """The bytes cut after each frame; joined they are the same bytes."""
    cuts = list(_CUTTERS.get(framing, _sse_cuts)(data))
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


def _event_stream_cuts(data: bytes) -> Iterator[int]:
    """Positions behind each message; each begins with its own length."""
    end = 0
    while end + 4 <= len(data):
        length = _NUMBER.unpack_from(data, end)[0]
        end += length
        if length < 16 or end > len(data):
            return
        yield end


def _array_cuts(data: bytes) -> Iterator[int]:
    """Positions behind each element; the comma belongs to the next one, the bracket that ends the array to the last."""
    yield from [end for _, end in _elements(data)][:-1]


def _elements(data: bytes) -> Iterator[tuple[int, int]]:
    """Where the objects of an array begin and end, in bytes that may begin and end anywhere between two of them."""
    depth, start, position = 0, 0, 0
    while position < len(data):
        sign = data[position : position + 1]
        if sign == b'"' and depth:
            text = _JSON_TEXT.match(data, position)
            if text is None:
                return
            position = text.end()
            continue
        if sign in b"{[" and (depth or sign == b"{"):
            start = start if depth else position
            depth += 1
        elif sign in b"}]" and depth:
            depth -= 1
            if depth == 0:
                yield start, position + 1
        position += 1


_JSON_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CUTTERS = {"jsonl": _json_line_cuts, "eventstream": _event_stream_cuts, "array": _array_cuts}


def parse(data: bytes, framing: str) -> list[Frame]:
    """The frames that a stream dispatches. A last frame without its blank line is not dispatched (SSE)."""
    if framing == "jsonl":
        return [Frame(None, line.decode().strip()) for line in data.split(b"\n") if line.strip()]
    if framing == "eventstream":
        return [_event_stream_frame(message) for message in split(data, framing)]
    if framing == "array":
        return [Frame(None, data[start:end].decode("utf-8", "replace")) for start, end in _elements(data)]
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


# --- AWS event streams: length, length of headers, checksum of both, headers, payload, checksum of all ----------------------

_NUMBER = struct.Struct("!I")
_PRELUDE = struct.Struct("!III")
_NAMES = {"event": ":event-type", "exception": ":exception-type", "error": ":error-code"}


def _event_stream_frame(message: bytes) -> Frame:
    """The frame of one sound message, whose headers are texts. Raises ValueError for any other."""
    total, length, _ = _PRELUDE.unpack_from(message)
    if total != len(message) or crc32(message[:-4]) != _NUMBER.unpack(message[-4:])[0]:
        raise ValueError("a message of the event stream is damaged")
    headers: dict[str, str] = {}
    at, end = _PRELUDE.size, _PRELUDE.size + length
    while at < end:
        name_end = at + 1 + message[at]
        size = int.from_bytes(message[name_end + 1 : name_end + 3], "big")
        headers[message[at + 1 : name_end].decode()] = message[name_end + 3 : name_end + 3 + size].decode()
        at = name_end + 3 + size
    kind = headers[":message-type"]
    return Frame(headers.get(_NAMES[kind]), message[end:-4].decode(), kind)


def _event_stream_message(frame: Frame) -> bytes:
    named = {_NAMES[frame.kind]: frame.event} if frame.event is not None else {}
    texts = {**named, ":content-type": "application/json", ":message-type": frame.kind}
    headers = b"".join(
        bytes((len(name),)) + name.encode() + b"\x07" + len(value.encode()).to_bytes(2, "big") + value.encode()
        for name, value in texts.items()
    )
    payload = frame.data.encode()
    prelude = struct.pack("!II", len(headers) + len(payload) + 16, len(headers))
    message = prelude + _NUMBER.pack(crc32(prelude)) + headers + payload
    return message + _NUMBER.pack(crc32(message))


# --- cuts ------------------------------------------------------------------------------------------------------------------


def whole(data: bytes, framing: str) -> list[bytes]:
    return [data]


def bytewise(data: bytes, framing: str) -> list[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


def inside_characters(data: bytes, framing: str) -> list[bytes] | None:
    """Cut before every continuation byte of a multi-byte character; None when there is none."""
    cuts = [index for index in range(1, len(data)) if data[index] & 0xC0 == 0x80]
    return _cut(data, cuts) if cuts else None


def between_cr_and_lf(data: bytes, framing: str) -> list[bytes] | None:
    """The same stream with CRLF line ends, cut between each CR and LF; None for a framing without lines."""
    if framing == "eventstream":
        return None
    spelt = _LINE_END.sub(b"\r\n", data)
    return _cut(spelt, [match.start() + 1 for match in re.finditer(rb"\r\n", spelt)])


def one_frame_each(data: bytes, framing: str) -> list[bytes]:
    return split(data, framing)


def two_frames_each(data: bytes, framing: str) -> list[bytes]:
    frames = split(data, framing)
    return [b"".join(frames[index : index + 2]) for index in range(0, len(frames), 2)]


SEED = 20


def at_random(data: bytes, framing: str) -> list[bytes]:
    """Cuts at places drawn by lot, the same ones for the same bytes: the seed is told with the check."""
    lots = random.Random(f"{SEED}:{crc32(data)}")
    places = sorted(lots.sample(range(1, len(data)), min(len(data) // 7, len(data) - 1))) if len(data) > 1 else []
    return _cut(data, places)


CUTS = {
    "whole": whole,
    "bytewise": bytewise,
    "utf8": inside_characters,
    "crlf": between_cr_and_lf,
    "frames": one_frame_each,
    "pairs": two_frames_each,
    "random": at_random,
}


def _cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *cuts, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def json_frame(event: str | None, value: object, kind: str = "event") -> Frame:
    return Frame(event, dumps(value), kind)
