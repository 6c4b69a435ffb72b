"""
Streams to the wire: what the writers of both wires of Claude do alike, and what their streams do not say.
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
"""Writes a whole answer."""


class ClaudeWriter(Writer):
    """The writer of one answer; blocks have the numbers in which they begin. `writing` writes the blocks themselves.

    A wire says how the message begins (`begin_message`).
    """

    def __init__(self, endpoint: Endpoint, deltas: Mapping[str, Wire], writing: Writing) -> None:
        super().__init__(endpoint, deltas)
        self.message_begun = False
        writing.same_origin = writing.whole = writing.answering = True

    def begin_message(self) -> None:
        """The message begins, if it has not."""
        raise NotImplementedError

    def begin(self, open_block: OpenBlock) -> None:
        """A block begins, and the message before it."""
        self.begin_message()
        super().begin(open_block)

    def piece(self, open_block: OpenBlock, text: str) -> Any:
        """Arguments that are null are none, as some say it."""
        if text == "null" and open_block.kind == "tool_use" and not open_block.sent:
            return None
        return super().piece(open_block, text)

    def unsent_arguments(self, open_block: OpenBlock, call: Wire) -> str:
        """The arguments of a call of which nothing was said; none are not told."""
        has_arguments = call["input"] or "input_raw" in call or open_block.kind == FREE
        return super().unsent_arguments(open_block, call) if has_arguments else ""


def stream_loss(
    response: types.Response, endpoint: Endpoint, to_wire_response: Answers, bare: tuple[str, ...]
) -> tuple[Item, list[Entry], list[Entry]]:
    """What a stream of an answer does not say: the answer without its blank texts, what is lost of it as a whole, and what its
    stream loses. Its pieces say what the whole answer cannot: arguments as they were cut, and texts that are blank.

    The content of blocks of the types `bare` goes without members of theirs that have no canonical meaning.
    """
    answer = _without_blank_texts(data_of(response))
    _, reported = to_wire_response(response_of(answer), endpoint)
    return answer, reported, [*lost_in_pieces(reported, answer), *_left_out_of_stream(answer, reported, bare, endpoint)]


def _without_blank_texts(response: Item) -> Item:
    """An answer whose blank texts are none, to learn what else its stream does not say."""
    message = response["message"]
    content = [
        {**block, "text": PROBE} if block["type"] == "text" and not block["text"].strip() else block
        for block in message["content"]
    ]
    return {**response, "message": {**message, "content": content}}


def _left_out_of_stream(answer: Item, reported: list[Entry], bare: tuple[str, ...], endpoint: Endpoint) -> list[Entry]:
    """What a stream does not say of texts and reasoning, beside what was `reported` of a whole answer: marks for the cache,
    and members without canonical meaning of the blocks of which the content goes `bare`."""
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
