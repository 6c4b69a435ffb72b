"""What reads the same in both directions, and what travels along while one body is read or written."""

from typing import Any, Final

from interlingua.adapters._engine import writing as _writing
from interlingua.adapters._engine.kit import BiMap
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss

NAME: Final = "cohere_chat"
PATH: Final = "/v2/chat"

CHOICES: Final = BiMap({"required": "REQUIRED", "none": "NONE"})
"""The words of `tool_choice`; without one the model calls as it likes."""

CALLS: Final = "tool_calls"
"""The kind of opaque blocks that are calls; that of others is the type of their part."""

TOOL_NAMES: Final = _writing.ToolNames(64, "a-zA-Z0-9_", "a-zA-Z_")


class Writing(_writing.Writing):
    """The target and the report, with the ids of calls and documents.

    `documents` are those that have been taken out of messages of the user: position, block and wire of each; `emptied` are
    the messages of the user of which nothing is left, where a document may be read.
    """

    __slots__ = ("_named", "documents", "emptied")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, TOOL_NAMES)
        self._named: set[str] = set()
        self.documents: list[tuple[int, int, Any]] = []
        self.emptied: list[int] = []

    def is_free(self, identity: str) -> bool:
        """Whether no document before has this id; from now on one has."""
        free = identity not in self._named
        self._named.add(identity)
        return free
