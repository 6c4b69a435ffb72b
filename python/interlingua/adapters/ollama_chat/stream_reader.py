"""
Streams from the wire: one JSON object a line, each a patch on the answer that the whole body would be.

Text and reasoning come in pieces and end when something else begins; calls come whole. The line with `done: true` is the
last one: without it the answer broke off.
"""

from typing import Any, Final

from interlingua.adapters._answers import read_end
from interlingua.adapters._kit import Event, Wire, arguments_text
from interlingua.adapters._reading import Reading
from interlingua.adapters._stream_reader import Answer, Decoder, Lane, decoded, partial
from interlingua.adapters.ollama_chat.blocks import answered_image
from interlingua.adapters.ollama_chat.errors import error as read_error
from interlingua.adapters.ollama_chat.responses import ENDS, assembled, call_prefix
from interlingua.adapters.ollama_chat.tools import call_from_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Give it lines, and None at the end of input; it gives the events that each line completes.

    The last event is `message_complete` or `error`. An answer that breaks off is an `error` event with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_LANES: Final[dict[str, Lane]] = {"thinking": (0, 0), "text": (2, 0)}
"""Text and reasoning are one each in a whole answer, however they came."""
_IMAGES: Final = 1
_CALLS: Final = 3
_CONTENT_MEMBERS: Final = frozenset(("content", "thinking", "tool_calls", "images"))


class _Answer(Answer):
    """The members of all lines."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.message: Wire = {}
        self.logprobs: list[Any] = []

    def patch(self, data: Any, frame: Frame) -> Event | None:  # noqa: ARG002
        """Takes a line."""
        message = data.get("message")
        if data.get("error") and not isinstance(message, dict):
            self.fail(read_error(200, {}, data, self.endpoint))
            return None
        done = data.get("done")
        if not self.begun and (message is not None or done):
            self.reading.prefix = call_prefix(data)
            self.start(data.get("model") or None, None)
        for name, value in data.items():
            if name != "message" and value is not None:
                self.body[name] = value
        if isinstance(logprobs := data.get("logprobs"), list):
            self.logprobs += logprobs
        if message is not None:
            self._message(message)
        if done is True:
            self._complete()
        return None

    def _message(self, message: Wire) -> None:
        if text := message.get("thinking"):
            self._append("thinking", text)
        for image in message.get("images") or ():
            self._whole(answered_image(image, self.reading), _IMAGES)
        if text := message.get("content"):
            self._append("text", text)
        for call in message.get("tool_calls") or ():
            self._whole(call_from_wire(call, self.reading), _CALLS)
        for name, value in message.items():
            if name not in _CONTENT_MEMBERS and value is not None:
                self.message[name] = value

    def _append(self, kind: str, text: Any) -> None:
        if not isinstance(text, str):
            raise TypeError(kind)
        current = self.blocks.current
        if current is None or current.kind != kind:
            state = {"provider_state": self.endpoint.state()} if kind == "thinking" else {}
            current = self.blocks.open(kind, {"type": kind, "text": "", **state}, _LANES[kind])
        self.blocks.append(current, text)

    def _whole(self, block: dict[str, Any], member: int) -> None:
        self.blocks.pause()
        raw = block.get("input_raw")
        text = arguments_text(block["input"]) if block["type"] == "tool_use" and raw is None else raw or ""
        self.blocks.whole(block, (member, len(self.blocks.content)), text)

    # -- the end

    def _complete(self) -> None:
        self.blocks.pause()
        response = self._response()
        if "usage" in response:
            self.emit_usage(response["usage"])
        response["message"]["content"] = self.blocks.in_places()
        self.complete(response, self.blocks.places())

    def _response(self) -> dict[str, Any]:
        """What the body that says the same would read as, with the blocks that have been told."""
        body = {**self.body, "message": {"role": "assistant", **self.message, "content": ""}}
        if self.logprobs:
            body["logprobs"] = self.logprobs
        response = assembled(body, Reading(self.endpoint))
        content = response["message"]["content"] = self.blocks.content
        response["finish_reason"] = read_end(response.get("finish_reason_raw"), content, ENDS)
        return response

    def arrived(self) -> dict[str, Any]:
        """What had arrived; a text as far as it came."""
        self.blocks.settle()
        return partial(self.blocks.content, self.endpoint, self.body.get("model"))
