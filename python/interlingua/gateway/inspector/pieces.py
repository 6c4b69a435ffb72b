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


def pieces(given: bytes, endpoint: Endpoint) -> list[Piece]:
    """The pieces of a pasted stream: each as text for a person, with the bytes for the reader of the wire."""
    if translate.framing(endpoint) == "eventstream":
        frames = eventstream.Decoder().feed(given) if given[:1] == b"\0" else _written(given)
        return [(_shown(frame), eventstream.encode(frame)) for frame in frames]
    if given.lstrip()[:1] == b"[":
        parts = [given]
    else:
        parts = (_LINE if translate.framing(endpoint) == "jsonl" else _FRAME).findall(given)
    return [(part.decode("utf-8", "replace").rstrip("\r\n"), part) for part in parts if part.strip()]


def shown(chunk: bytes, endpoint: Endpoint) -> str:
    """A chunk of a written stream as text for a person."""
    if translate.framing(endpoint) == "eventstream":
        return "\n\n".join(_shown(frame) for frame in eventstream.Decoder().feed(chunk))
    return chunk.decode("utf-8", "replace").rstrip("\n")


def _shown(frame: eventstream.Frame) -> str:
    kind = "" if frame.kind == eventstream.EVENT else f"{frame.kind}/"
    return sse.encode(sse.Frame(f"{kind}{frame.event or ''}", frame.data)).decode("utf-8", "replace").rstrip("\n")


def _written(given: bytes) -> list[eventstream.Frame]:
    decoder = sse.Decoder()
    found: list[eventstream.Frame] = []
    for frame in [*decoder.feed(given), *decoder.end()]:
        kind, _, name = (frame.event or "").rpartition("/")
        found.append(eventstream.Frame(name or None, frame.data, kind or eventstream.EVENT))
    return found
