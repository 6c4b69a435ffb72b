"""
Write streams: the rules that both wires of Claude share, and the losses of their streams.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._answers.answers import PROBE, lost_in_pieces
from interlingua.adapters._answers.stream_writer import FREE, OpenBlock, Writer
from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._engine.kit import Wire, data_of, response_of
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Answers = Callable[[types.Response, Endpoint], tuple[Wire, list[Entry]]]
"""Writes a complete response."""


class ClaudeWriter(Writer):
    """The writer of one response. Blocks are numbered in the order in which they begin. `writing` writes the blocks
    themselves.

    A wire defines how the message begins (`begin_message`).
    """

    def __init__(self, endpoint: Endpoint, deltas: Mapping[str, Wire], writing: Writing) -> None:
        super().__init__(endpoint, deltas)
        self.message_begun = False
        writing.same_origin = writing.untouched = writing.answering = True

    def begin_message(self) -> None:
        """Begin the message, unless it has begun."""
        raise NotImplementedError

    def begin(self, open_block: OpenBlock) -> None:
        """Begin a block, and before it the message."""
        self.begin_message()
        super().begin(open_block)

    def piece(self, open_block: OpenBlock, text: str) -> Any:
        """Return a piece of a block. Some providers send null for a call without arguments: it is left out."""
        if text == "null" and open_block.kind == "tool_use" and not open_block.sent:
            return None
        return super().piece(open_block, text)

    def unsent_arguments(self, open_block: OpenBlock, call: Wire) -> str:
        """Return the arguments of a call of which no piece was sent; a call without arguments sends none."""
        has_arguments = call["input"] or "input_raw" in call or open_block.kind == FREE
        return super().unsent_arguments(open_block, call) if has_arguments else ""


def stream_loss(
    response: types.Response, endpoint: Endpoint, to_wire_response: Answers, bare: tuple[str, ...]
) -> tuple[Item, list[Entry], list[Entry]]:
    """Return the response without its blank texts, the losses of the complete response, and the losses of its stream.
    The pieces of a stream express what the complete response cannot: arguments as they were cut, and blank texts.

    The content of blocks of the types `bare` is written without their members that have no canonical meaning.
    """
    answer = _without_blank_texts(data_of(response))
    _, reported = to_wire_response(response_of(answer), endpoint)
    return answer, reported, [*lost_in_pieces(reported, answer), *_left_out_of_stream(answer, reported, bare, endpoint)]


def _without_blank_texts(response: Item) -> Item:
    """Return a response whose blank texts are replaced by others, to find the other losses of its stream."""
    message = response["message"]
    content = [
        {**block, "text": PROBE} if block["type"] == "text" and not block["text"].strip() else block
        for block in message["content"]
    ]
    return {**response, "message": {**message, "content": content}}


def _left_out_of_stream(answer: Item, reported: list[Entry], bare: tuple[str, ...], endpoint: Endpoint) -> list[Entry]:
    """Return the losses of texts and reasoning in a stream, besides those `reported` for the complete response: cache
    marks, and the members without canonical meaning of blocks of the types `bare`."""
    paths = {entry["path"] for entry in reported}
    loss = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        where: Path = ("message", "content", position)
        if block["type"] not in _PROSE or pointer(where) in paths:
            continue
        if block.get("cache") is not None and pointer((*where, "cache")) not in paths:
            loss.drop((*where, "cache"), "cache_hint", "weakened", "a stream has no cache marks")
        state = block.get("provider_state")
        if state is not None and block["type"] in bare and endpoint.owns(state):
            for name in state.get("fields") or ():
                path = (*where, "provider_state", "fields", name)
                if pointer(path) not in paths:
                    loss.drop(path, "unsupported_field", "weakened", "a stream has no place for members of a text")
    return loss.entries


_PROSE: Final = ("text", "thinking", "redacted_thinking")
