"""
Streams of one provider that another's cloud passes on: server-sent events, or the same events as chunks of an AWS event stream.

Source: InvokeModelWithResponseStream of Amazon Bedrock. A chunk holds what stands behind `data:` as base64 text in its
member `bytes`; a failure is an exception beside the chunks. The first byte tells which of the two a stream is: an event
stream begins with the length of its first message, which is far below 16 MB, and so with a zero.
"""

import base64
import json
from typing import Any

from interlingua.wire import eventstream, sse
from interlingua.wire.sse import Frame

_CHUNK = "chunk"
_ERROR = "error"
# no JSON: what cannot be read is for the adapter to say
_DAMAGED = Frame(None, eventstream.DAMAGED)


class Decoder:
    """An incremental reader with the same two methods as the one for server-sent events. It never raises."""

    def __init__(self) -> None:
        self._inner: sse.Decoder | eventstream.Decoder | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes."""
        if self._inner is None:
            if not chunk:
                return []
            self._inner = sse.Decoder() if chunk[0] else eventstream.Decoder()
        if isinstance(self._inner, sse.Decoder):
            return self._inner.feed(chunk)
        return [_opened(message) for message in self._inner.feed(chunk)]

    def end(self) -> list[Frame]:
        """The frame that the end of input completes, if any."""
        return self._inner.end() if isinstance(self._inner, sse.Decoder) else []


def _opened(message: eventstream.Frame) -> Frame:
    """What a message of the cloud says, as an event of the provider."""
    if message.kind == eventstream.EVENT:
        try:
            return Frame(None, base64.b64decode(json.loads(message.data)["bytes"], validate=True).decode())
        except (KeyError, TypeError, ValueError, RecursionError):
            return _DAMAGED
    if message.kind == eventstream.DAMAGED:
        return _DAMAGED
    error: dict[str, Any] = {"type": message.event or _ERROR, "message": _text(message.data)}
    return Frame(_ERROR, json.dumps({"type": _ERROR, "error": error}))


def _text(payload: str) -> str:
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        return payload
    text = said.get("message") if isinstance(said, dict) else None
    return text if isinstance(text, str) else payload


def encode(frame: Frame) -> bytes:
    """A frame as one message of an event stream."""
    payload = json.dumps({"bytes": base64.b64encode(frame.data.encode()).decode()})
    return eventstream.encode(eventstream.Frame(_CHUNK, payload))
