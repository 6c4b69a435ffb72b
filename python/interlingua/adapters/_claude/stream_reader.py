"""
Read streams: the rules that both wires of Claude share. Blocks are numbered, and the stream marks their ends.
"""

from typing import Any

from interlingua.adapters._answers.stream_reader import Answer, Part, failed
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import Item
from interlingua.adapters._engine.kit import Wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import IdSource


class ClaudeAnswer(Answer):
    """The response so far, and its open blocks, by their numbers on the wire.

    A wire defines how a block that has ended is read (`read`), and how the response around the blocks is read
    (`response`).
    """

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.open: dict[int, Part] = {}

    def read(self, part: Part) -> Item:
        """Return the block as it would be in a complete response."""
        raise NotImplementedError

    def response(self, content: list[Any]) -> dict[str, Any]:
        """Return the response with these blocks."""
        raise NotImplementedError

    def check_begun(self) -> None:
        """Raise `TypeError` if no message has begun."""
        if not self.begun:
            raise TypeError("no message has begun")

    def begin(self, number: Any, kind: str, raw: Wire, block: Item) -> Part:
        """Begin the block of a number."""
        if type(number) is not int or number in self.open:
            raise TypeError("the number of a block")
        part = self.open[number] = Part(kind, raw, self.blocks.begin(block))
        return part

    def stop(self, number: Any) -> None:
        """End the block of a number; some servers send its end twice."""
        part = self.open.pop(number, None)
        if part is not None:
            self.blocks.end(part.index, self.read(part))

    def stop_all(self) -> None:
        """End all open blocks: the response is complete, even if the server did not send the end of each block."""
        for number in sorted(self.open):
            self.stop(number)

    def arrived(self) -> Wire | None:
        """Return the response as far as it arrived, without blocks that cannot be read; None if it has not begun."""
        return failed(self.response(self.blocks.so_far(self.open.values(), self.read))) if self.begun else None
