"""
Streams to the wire: what the writers of both wires of Claude do alike, and what their streams do not say.
"""

from typing import Any, Final

from interlingua.adapters._answers import PROBE
from interlingua.adapters._claude.values import Item
from interlingua.adapters._free_text import as_arguments
from interlingua.adapters._kit import Wire, arguments_text
from interlingua.adapters._stream_writer import OpenBlock, Writer
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path, pointer

FREE: Final = "free"
"""A call whose arguments are free text, which becomes one argument when it is complete."""


class ClaudeWriter(Writer):
    """The writer of one answer; blocks have the numbers in which they begin."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.count = 0
        self.begun = False

    def opened(self, told: OpenBlock) -> int:
        """The number of a block that begins on the wire."""
        told.number = self.count
        self.count += 1
        return told.number

    def piece(self, told: OpenBlock | None, text: str) -> Any:
        """Arguments that are null are none, as some say it."""
        if text == "null" and told is not None and told.kind == "tool_use" and not told.sent:
            return None
        return super().piece(told, text)

    def unsaid(self, told: OpenBlock, call: Wire) -> str:
        """The arguments of a call of which nothing was said; none are not told."""
        arguments = call["input"]
        if told.kind == FREE:
            arguments = as_arguments(call.get("input_raw"))
        told.kind, told.template = "arguments", None
        return arguments_text(arguments) if arguments else call.get("input_raw", "")


def without_blank_texts(response: Item) -> Item:
    """An answer whose blank texts are none, to learn what else its stream does not say."""
    message = response["message"]
    content = [
        {**block, "text": PROBE} if block["type"] == "text" and not block["text"].strip() else block
        for block in message["content"]
    ]
    return {**response, "message": {**message, "content": content}}


def report_unsaid(answer: Item, told: list[Entry], bare: tuple[str, ...], endpoint: Endpoint) -> list[Entry]:
    """What a stream does not say of texts and reasoning, beside what was `told` of a whole answer: marks for the cache,
    and members without canonical meaning of the blocks of which the content goes `bare`."""
    paths = {entry["path"] for entry in told}
    loss = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        where: Path = ("message", "content", position)
        if block["type"] not in _SPOKEN or pointer(where) in paths:
            continue
        if block.get("cache") is not None and pointer((*where, "cache")) not in paths:
            loss.drop((*where, "cache"), "cache_hint", "weakened", "a stream carries no cache marks")
        state = block.get("provider_state")
        if state is not None and block["type"] in bare and endpoint.owns(state):
            for name in state.get("fields") or ():
                path = (*where, "provider_state", "fields", name)
                if pointer(path) not in paths:
                    loss.drop(path, "unsupported_field", "weakened", "a stream has no place for members of a text")
    return loss.entries


_SPOKEN: Final = ("text", "thinking", "redacted_thinking")
