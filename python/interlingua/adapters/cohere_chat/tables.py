"""The constants that reader and writer share, and the state of the writer."""

from typing import Any, Final

from interlingua.adapters._engine import writing as _writing
from interlingua.adapters._engine.kit import BiMap
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss

NAME: Final = "cohere_chat"
PATH: Final = "/v2/chat"

CHOICES: Final = BiMap({"required": "REQUIRED", "none": "NONE"})
"""The values of `tool_choice`; without one the model decides whether to call."""

CALLS: Final = "tool_calls"
"""The kind of opaque blocks that are calls. The kind of other opaque blocks is the type of their part."""

TOOL_NAMES: Final = _writing.ToolNames(64, "a-zA-Z0-9_", "a-zA-Z_")


class Writing(_writing.Writing):
    """The target and the report, with the ids of calls and documents.

    `documents` are those that were taken out of user messages: each with the position of its message, the index of its block and
    its wire. `emptied` are the user messages of which nothing is left; documents may be read back into them.
    """

    __slots__ = ("_named", "documents", "emptied")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, TOOL_NAMES)
        self._named: set[str] = set()
        self.documents: list[tuple[int, int, Any]] = []
        self.emptied: list[int] = []

    def is_free(self, identity: str) -> bool:
        """Whether no earlier document has this id; note the id as used."""
        free = identity not in self._named
        self._named.add(identity)
        return free
