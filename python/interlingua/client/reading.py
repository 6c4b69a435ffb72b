"""
The reading of a response, which is a stream or whole, as the provider chose (spec/4-streams.md#other-form).

We request one of the two from a provider, and most providers send that. The bytes show which one it is. No function
here waits.
"""

import re
from typing import Any, Protocol

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, ProviderError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.client.answers import in_band, read
from interlingua.client.call import Call
from interlingua.client.transport import Answer
from interlingua.client.unfold import unfold

Event = dict[str, Any]
Response = dict[str, Any]

_EITHER = frozenset(("sse", "eventstream", "sse_or_messages"))
_BLANK = b" \t\r\n\xef\xbb\xbf"
_SSE = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*(?:data|event|id|retry)?:")


class Reader(Protocol):
    """Turns bytes into events; `done` is true when the response has ended."""

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that a chunk completes."""
        ...

    def end(self) -> list[Event]:
        """The events at the end of input."""
        ...

    @property
    def done(self) -> bool:
        """Whether the response has ended, with success or failure."""
        ...


def reader(call: Call, answer: Answer) -> Reader:
    """A reader for the response to a request for a stream."""
    stream = translate.StreamReader(call.endpoint, DERIVED_IDS, raw=True, tools=call.tools)
    # JSON lines and elements of a JSON array begin with a bracket anyway; the decoder also accepts a single object
    return _Either(call, answer, stream) if translate.framing(call.endpoint) in _EITHER else stream


class _Either:
    """A reader of a stream or of a whole response, determined by the first byte that is not white space."""

    def __init__(self, call: Call, answer: Answer, stream: translate.StreamReader) -> None:
        self._call = call
        self._answer = answer
        self._stream = stream
        self._buffer = bytearray()
        self._whole: bool | None = None
        self._ended = False

    def feed(self, chunk: bytes) -> list[Event]:
        if self._whole is False:
            return self._stream.feed(chunk)
        self._buffer += chunk
        if self._whole:
            return []
        start = self._buffer.lstrip(_BLANK)
        if not start:
            return []
        self._whole = start[:1] == b"{"
        if self._whole:
            return []
        buffer, self._buffer = bytes(self._buffer), bytearray()
        return self._stream.feed(buffer)

    def end(self) -> list[Event]:
        if not self._whole:
            return self._stream.end()
        self._ended = True
        return unfold(read(self._call, self._answer, bytes(self._buffer)))

    @property
    def done(self) -> bool:
        return self._ended or self._stream.done


def read_body(call: Call, answer: Answer, body: bytes) -> tuple[Response, bool]:
    """The response of a body, and whether the body was a stream. Raises `ProviderError`."""
    if not _is_stream(translate.framing(call.endpoint), body):
        return read(call, answer, body), False
    stream = translate.StreamReader(call.endpoint, DERIVED_IDS, raw=True, tools=call.tools)
    last = [*stream.feed(body), *stream.end()][-1]
    if last["type"] == "error":
        raise ProviderError(in_band(call, last["error"]))
    return last["response"], True


def _is_stream(framing: str, body: bytes) -> bool:
    match framing:
        case "sse":
            return _SSE.match(body) is not None
        case "sse_or_array":
            return _SSE.match(body) is not None or body.lstrip(_BLANK)[:1] == b"["
        case "sse_or_messages":
            return body[:1] == b"\x00" or _SSE.match(body) is not None
        case "eventstream":
            return body[:1] == b"\x00"
        case _:
            first, _, rest = body.strip().partition(b"\n")
            return bool(rest) and _is_object(first)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except InvalidRequest:
        return False
