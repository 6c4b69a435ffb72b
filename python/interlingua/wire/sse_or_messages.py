"""
Streams in one of two framings: server-sent events, or the same events each in an AWS event message.

Bedrock's InvokeModelWithResponseStream sends the data of each event of the model's own wire in a message called
`chunk`, in base64; failures are messages of their own. The decoder recognizes the framing by the first byte, which is 0
for a message, because no message has 16 MB.
"""

import json
from base64 import b64decode, b64encode
from typing import Any, Final

from interlingua.wire import eventstream, sse
from interlingua.wire.sse import Frame

_CHUNK: Final = "chunk"
_FAILURES: Final = {
    "accessDeniedException": "permission_error",
    "modelTimeoutException": "timeout_error",
    "resourceNotFoundException": "not_found_error",
    "serviceUnavailableException": "overloaded_error",
    "throttlingException": "rate_limit_error",
    "validationException": "invalid_request_error",
}


class Decoder:
    """An incremental decoder with the same two methods as `sse.Decoder`. It never raises."""

    def __init__(self) -> None:
        self._events: sse.Decoder | None = None
        self._messages: eventstream.Decoder | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the frames that this chunk completes."""
        if self._events is not None:
            return self._events.feed(chunk)
        if self._messages is None:
            if not chunk:
                return []
            if chunk[0] != 0:
                self._events = sse.Decoder()
                return self._events.feed(chunk)
            self._messages = eventstream.Decoder()
        return [frame for message in self._messages.feed(chunk) if (frame := _frame(message)) is not None]

    def end(self) -> list[Frame]:
        """Return the frame that the end of the input completes, if any."""
        return [] if self._events is None else self._events.end()


def _frame(message: eventstream.Frame) -> Frame | None:
    """Return the event in a message; a message that cannot be read becomes an event without readable data."""
    if message.kind in (eventstream.EXCEPTION, eventstream.ERROR):
        return _failure(message)
    if message.kind != eventstream.EVENT:
        return Frame(None, "a damaged message")
    if message.event != _CHUNK:
        return None
    try:
        return Frame(None, b64decode(json.loads(message.data)["bytes"], validate=True).decode())
    except (ValueError, KeyError, TypeError, RecursionError):
        return Frame(None, "a damaged message")


def _failure(message: eventstream.Frame) -> Frame:
    try:
        payload: Any = json.loads(message.data)
        text = payload["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        text = message.data
    error = {"type": _FAILURES.get(message.event or "", "api_error"), "message": str(text)}
    return Frame("error", json.dumps({"type": "error", "error": error}))


def encode(frame: Frame) -> bytes:
    """Return a frame as one message."""
    data = json.dumps({"bytes": b64encode(frame.data.encode()).decode()})
    return eventstream.encode(eventstream.Frame(_CHUNK, data))
