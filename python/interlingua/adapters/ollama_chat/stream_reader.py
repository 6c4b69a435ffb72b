"""
Streams from the wire: one JSON object per line, each a patch to the response that the whole body would be.

Text and reasoning arrive in pieces and end when something else begins; calls arrive whole. The line with `done: true`
is the last one: without it the response broke off.
"""

from typing import Any, ClassVar, Final

from interlingua.adapters._answers.stream_reader import Answer, Decoder, Lane, decoded, patch_members, string
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters.ollama_chat.blocks import answered_image
from interlingua.adapters.ollama_chat.errors import error as read_error
from interlingua.adapters.ollama_chat.responses import ANSWERS, call_prefix
from interlingua.adapters.ollama_chat.tools import call_from_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Return a decoder that takes lines, and None at the end of input; it returns the events that each line completes.

    The last event is `message_complete` or `error`. If the response breaks off, the `error` event contains what had
    arrived.
    """
    return decoded(_Answer(endpoint, ids))


_LANES: Final[dict[str, Lane]] = {"thinking": (0, 0), "text": (2, 0)}
"""A whole response has one text and one block of reasoning, however their pieces arrived."""
_IMAGES: Final = 1
_CALLS: Final = 3
_STREAMED: Final = ("content", "thinking", "tool_calls", "images")


class _Answer(Answer):
    """The members of all lines so far."""

    IDENTITY: ClassVar[str] = ""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.message: Wire = {}
        self.logprobs: list[Any] = []

    def patch(self, data: Any, frame: Frame) -> None:  # noqa: ARG002
        """Apply a line."""
        message = data.get("message")
        if data.get("error") and not isinstance(message, dict):
            self.fail(read_error(200, {}, data, self.endpoint))
            return
        done = data.get("done")
        patch_members(self.body, data, ("message",))
        if not self.begun and (message is not None or done):
            self.reading.prefix = call_prefix(data)
            self.start()
        if isinstance(logprobs := data.get("logprobs"), list):
            self.logprobs += logprobs
        if message is not None:
            self._message(message)
        if done is True:
            self._complete()

    def _message(self, message: Wire) -> None:
        self._grow("thinking", message.get("thinking"))
        for image in message.get("images") or ():
            self._whole(answered_image(image, self.reading), _IMAGES)
        self._grow("text", message.get("content"))
        for call in message.get("tool_calls") or ():
            self._whole(call_from_wire(call, self.reading), _CALLS)
        patch_members(self.message, message, _STREAMED)

    def _grow(self, kind: str, text: Any) -> None:
        if text and string(text):
            begun: Wire = {"type": kind, "text": ""}
            if kind == "thinking":
                begun["provider_state"] = self.endpoint.state()
            self.blocks.grow(self.blocks.continued(kind) or self.blocks.open(kind, begun, _LANES[kind]), text)

    def _whole(self, block: dict[str, Any], member: int) -> None:
        self.blocks.pause()
        self.blocks.at_once(block, (member, len(self.blocks.content)))

    # -- the end

    def _complete(self) -> None:
        self.blocks.pause()
        body = {**self.body, "message": {"role": "assistant", **self.message, "content": ""}}
        if self.logprobs:
            body["logprobs"] = self.logprobs
        response = ANSWERS.read(body, Reading(self.endpoint), self.blocks.content)
        self.usage(response.get("usage"))
        self.complete_in_places(response)

    def arrived(self) -> dict[str, Any]:
        """Return what has arrived, with an incomplete text as far as it has arrived."""
        self.blocks.settle()
        return self.partial(self.blocks.content)
