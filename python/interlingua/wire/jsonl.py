"""
JSON lines: bytes in chunks of any size to lines, and lines to bytes.

Lines end with LF (a CR before it is dropped). U+2028 is an ordinary character, so `str.splitlines` cannot be used.
"""

from typing import Final

from interlingua.wire.sse import Frame


class Decoder:
    """An incremental decoder with the same two methods as `sse.Decoder`."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the lines that this chunk completes, without empty lines."""
        self._buffer += chunk
        if b"\n" not in chunk:
            return []
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        return [frame for line in lines if (frame := _frame(line)) is not None]

    def end(self) -> list[Frame]:
        """Return the last line, when the input does not end with LF."""
        frame = _frame(bytes(self._buffer))
        self._buffer.clear()
        return [] if frame is None else [frame]


def _frame(line: bytes) -> Frame | None:
    text = line.decode("utf-8", "surrogateescape").strip("\r\n\t \ufeff")
    return Frame(None, text) if text else None


def encode(frame: Frame) -> bytes:
    """Return a line as bytes. Characters that some readers (Ollama's SDK) treat as the end of a line are escaped."""
    text = frame.data
    if not text.isascii():
        for character, escaped in _LINE_ENDS_OF_OTHERS:
            if character in text:
                text = text.replace(character, escaped)
    return text.encode() + b"\n"


# in JSON they occur only in strings
_LINE_ENDS_OF_OTHERS: Final = (("\x85", "\\u0085"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))
