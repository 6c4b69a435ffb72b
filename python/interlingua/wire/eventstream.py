"""
AWS event streams: binary messages in chunks of any size to frames, and frames to messages.

Source: the encoding of `application/vnd.amazon.eventstream` as AWS documents it for its SDKs. A message is

    total length (4) · length of the headers (4) · CRC-32 of these eight bytes (4) · headers · payload · CRC-32 of all
    before (4)

with numbers in network order. A header is the length of its name (1), the name, the type of its value (1) and the
value.

Strategy: the decoder reads a message when it is complete, and verifies both checksums before it uses anything of it.
After a damaged message the next one cannot be found. So the damaged message becomes one frame that marks it, and the
rest of the stream is skipped.
"""

import struct
from binascii import crc32
from functools import lru_cache
from typing import Final

from interlingua.wire import sse

EVENT, EXCEPTION, ERROR, DAMAGED = "event", "exception", "error", "damaged"

_PRELUDE: Final = struct.Struct("!III")
_LENGTHS: Final = struct.Struct("!II")
_NUMBER: Final = struct.Struct("!I")
_LENGTH: Final = struct.Struct("!H")
_LEAST: Final = _PRELUDE.size + _NUMBER.size
_MOST: Final = 25 * 1024 * 1024  # AWS allows 24 MB of payload and 128 kB of headers
_TEXT: Final = 7
# sizes of the values of a header by their type: true, false, byte, short, integer, long, bytes, text, time, UUID
_SIZES: Final = (0, 0, 1, 2, 4, 8, None, None, 8, 16)


class Frame(sse.Frame):
    """One message: the name of its event, exception or error, its payload as text, and its kind.

    `kind` is `event`, `exception` or `error`, as the sender states it, or `damaged` for bytes that are not a message.
    """

    __slots__ = ("kind",)

    def __init__(self, event: str | None, data: str, kind: str = EVENT) -> None:
        super().__init__(event, data)
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and super().__eq__(other) and self.kind == other.kind

    __hash__ = sse.Frame.__hash__

    def __repr__(self) -> str:
        return f"Frame({self.event!r}, {self.data!r}, {self.kind!r})"


class Decoder:
    """An incremental decoder with the same two methods as `sse.Decoder`. It never raises."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._damaged = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the frames that this chunk completes."""
        if self._damaged:
            return []
        buffer = self._buffer
        buffer += chunk
        if len(buffer) < _PRELUDE.size:
            return []
        frames: list[Frame] = []
        start, available = 0, len(buffer)
        while available - start >= _PRELUDE.size:
            total, headers, checksum = _PRELUDE.unpack_from(buffer, start)
            if not _LEAST + headers <= total <= _MOST or crc32(buffer[start : start + 8]) != checksum:
                return [*frames, self._damage()]
            if available - start < total:
                break
            frame = _frame(bytes(buffer[start : start + total]), headers)
            if frame is None:
                return [*frames, self._damage()]
            frames.append(frame)
            start += total
        if start:
            del buffer[:start]
        return frames

    def end(self) -> list[Frame]:
        """Return no frame: an incomplete message cannot be read."""
        self._buffer.clear()
        return []

    def _damage(self) -> Frame:
        self._damaged = True
        self._buffer.clear()
        return Frame(None, "", DAMAGED)


def _frame(message: bytes, length: int) -> Frame | None:
    """Return the frame of a complete message; None when the message is damaged."""
    end = len(message) - _NUMBER.size
    if crc32(memoryview(message)[:end]) != _NUMBER.unpack_from(message, end)[0]:
        return None
    start = _PRELUDE.size + length
    try:
        name, kind, error_text = _described(message[_PRELUDE.size : start])
        data = message[start:end].decode()
    except (IndexError, ValueError, struct.error):
        return None
    return Frame(name, data or error_text, kind)


_NAMES: Final = {EVENT: ":event-type", EXCEPTION: ":exception-type", ERROR: ":error-code"}


# a stream repeats a few header blocks
@lru_cache(maxsize=256)
def _described(block: bytes) -> tuple[str | None, str, str]:
    """Return the name of the event, the kind of the message, and the text of an error."""
    headers = _headers(block)
    kind = headers.get(":message-type", EVENT)
    return headers.get(_NAMES.get(kind, ":event-type")), kind, headers.get(":error-message", "")


def _headers(block: bytes) -> dict[str, str]:
    """Return the headers that hold text; others have no meaning here. Raises when the block is inconsistent."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(block):
        length = block[at]
        name = block[at + 1 : at + 1 + length].decode()
        at += 1 + length
        kind = block[at]
        at += 1
        size = _SIZES[kind]
        if size is None:
            size = _LENGTH.unpack_from(block, at)[0]
            at += _LENGTH.size
        if at + size > len(block):
            raise ValueError("a header is longer than the headers")
        if kind == _TEXT:
            headers[name] = block[at : at + size].decode()
        at += size
    return headers


def encode(frame: Frame) -> bytes:
    """Return a frame as one message."""
    headers, data = _header_block(frame.kind, frame.event), frame.data.encode()
    prelude = _LENGTHS.pack(_LEAST + len(headers) + len(data), len(headers))
    message = b"".join((prelude, _NUMBER.pack(crc32(prelude)), headers, data))
    return message + _NUMBER.pack(crc32(message))


@lru_cache(maxsize=256)
def _header_block(kind: str, name: str | None) -> bytes:
    named = b"" if name is None else _header(_NAMES.get(kind, ":event-type"), name)
    return named + _header(":content-type", "application/json") + _header(":message-type", kind)


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return bytes((len(name),)) + name.encode() + bytes((_TEXT,)) + _LENGTH.pack(len(text)) + text
