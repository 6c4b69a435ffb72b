"""
Streams in a format that a person can read: their bytes in pieces, one for each frame. A stream that AWS frames in
binary is shown, and accepted, as server-sent events with the same names.
"""

import re

from interlingua import translate
from interlingua.canonical.endpoint import Endpoint
from interlingua.wire import eventstream, sse

Piece = tuple[str, bytes]

_FRAME = re.compile(rb".+?(?:\r?\n\r?\n|\Z)", re.DOTALL)
_LINE = re.compile(rb"[^\n]+(?:\n+|\Z)")


def pieces(data: bytes, endpoint: Endpoint) -> list[Piece]:
    """The pieces of a pasted stream: each as text for a person, with the bytes for the reader of the wire."""
    if translate.framing(endpoint) == "eventstream":
        frames = eventstream.Decoder().feed(data) if data[:1] == b"\0" else _frames_of_text(data)
        return [(_frame_text(frame), eventstream.encode(frame)) for frame in frames]
    if data.lstrip()[:1] == b"[":
        parts = [data]
    else:
        parts = (_LINE if translate.framing(endpoint) == "jsonl" else _FRAME).findall(data)
    return [(part.decode("utf-8", "replace").rstrip("\r\n"), part) for part in parts if part.strip()]


def as_text(chunk: bytes, endpoint: Endpoint) -> str:
    """A chunk of a written stream as text for a person."""
    if translate.framing(endpoint) == "eventstream":
        return "\n\n".join(_frame_text(frame) for frame in eventstream.Decoder().feed(chunk))
    return chunk.decode("utf-8", "replace").rstrip("\n")


def _frame_text(frame: eventstream.Frame) -> str:
    kind = "" if frame.kind == eventstream.EVENT else f"{frame.kind}/"
    return sse.encode(sse.Frame(f"{kind}{frame.event or ''}", frame.data)).decode("utf-8", "replace").rstrip("\n")


def _frames_of_text(data: bytes) -> list[eventstream.Frame]:
    decoder = sse.Decoder()
    frames: list[eventstream.Frame] = []
    for frame in [*decoder.feed(data), *decoder.end()]:
        kind, _, name = (frame.event or "").rpartition("/")
        frames.append(eventstream.Frame(name or None, frame.data, kind or eventstream.EVENT))
    return frames
