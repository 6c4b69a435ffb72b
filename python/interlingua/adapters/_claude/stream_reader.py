"""
Streams from the wire: what the readers of both wires of Claude do alike. Blocks are numbered, and say where they end.
"""

from typing import Any

from interlingua.adapters._answers.stream_reader import Answer, Part, failed
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import Item
from interlingua.adapters._engine.kit import Wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import IdSource


class ClaudeAnswer(Answer):
    """The answer so far, and its blocks that are growing, by their numbers on the wire.

    A wire says how a block is read that has ended (`read`), and the answer around blocks (`response`).
    """

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.open: dict[int, Part] = {}

    def read(self, part: Part) -> Item:
        """The block as the unary answer would have it."""
        raise NotImplementedError

    def response(self, content: list[Any]) -> dict[str, Any]:
        """The answer with these blocks."""
        raise NotImplementedError

    def check_begun(self) -> None:
        """Raises `TypeError` where no message has begun."""
        if not self.begun:
            raise TypeError("no message has begun")

    def begin(self, number: Any, kind: str, raw: Wire, block: Item) -> Part:
        """The block of a number begins."""
        if type(number) is not int or number in self.open:
            raise TypeError("the number of a block")
        part = self.open[number] = Part(kind, raw, self.blocks.begin(block))
        return part

    def stop(self, number: Any) -> None:
        """The block of a number ends; some servers say so twice."""
        part = self.open.pop(number, None)
        if part is not None:
            self.blocks.end(part.index, self.read(part))

    def stop_all(self) -> None:
        """All blocks end: the answer is complete, though a server forgot to say so of one."""
        for number in sorted(self.open):
            self.stop(number)

    def arrived(self) -> Wire | None:
        """The answer as far as it came, without a block that cannot be read."""
        return failed(self.response(self.blocks.so_far(self.open.values(), self.read))) if self.begun else None
