"""
Another wire's events inside AWS event messages: how Bedrock's InvokeModelWithResponseStream streams a model's own wire.

Each message is an event `chunk` whose payload is `{"bytes": "…"}`, in base64 the data of what would have been one
server-sent event. An exception of the service becomes an event of type `error` that names it, the form in which the one
wire that is served so, Anthropic's, tells of errors itself.
"""

import base64
import json

from interlingua.wire import eventstream
from interlingua.wire.sse import Frame


class Decoder:
    """An incremental reader with the same two methods as the one for server-sent events. It never raises."""

    def __init__(self) -> None:
        self._messages = eventstream.Decoder()

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes."""
        return [_unwrapped(message) for message in self._messages.feed(chunk)]

    def end(self) -> list[Frame]:
        """Nothing: a message that is not whole cannot be read."""
        self._messages.end()
        return []


def encode(frame: Frame) -> bytes:
    """A frame as one message."""
    data = base64.b64encode(frame.data.encode()).decode()
    return eventstream.encode(eventstream.Frame("chunk", json.dumps({"bytes": data})))


def _unwrapped(message: eventstream.Frame) -> Frame:
    if message.kind == eventstream.DAMAGED:
        return Frame(None, "damaged")  # no JSON: the wire's own decoder says that it cannot be read
    try:
        payload = json.loads(message.data)
        if message.kind == eventstream.EVENT:
            return Frame(None, base64.b64decode(payload["bytes"], validate=True).decode())
        name = message.event or "internalServerException"
        error = {"type": name[:1].upper() + name[1:], "message": str(payload.get("message", ""))}
        return Frame("error", json.dumps({"type": "error", "error": error}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Frame(None, message.data or "damaged")
