"""The constants and limits of the wire, and the state of its writer."""

import re
from typing import Any, Final

from interlingua.adapters._claude import writing as claude
from interlingua.adapters._claude.values import cache_hint
from interlingua.adapters._engine.kit import BiMap, Wire
from interlingua.adapters._engine.writing import CallIds, ToolNames
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

NAME: Final = "anthropic_messages"
FRAMING: Final = "sse"

PATH: Final = "/v1/messages"
VERSION: Final = "2023-06-01"
STRICTER_VERSION: Final = (
    "2026-10-21"  # no sampling, no document in an assistant message, no citations in a user message
)

TOOL_CHOICE: Final = BiMap({"auto": "auto", "required": "any", "tool": "tool", "none": "none"})

MODES: Final = ("adaptive", "enabled", "disabled", "between_tools")
DEFAULT_MAX_TOKENS: Final = 4096

# over all enforced schemas of a request: tools, optional parameters, parameters of several types
MAX_STRICT: Final = (20, 24, 16)

TOOL_NAMES: Final = ToolNames(128)
CALL_IDS: Final = CallIds("toolu_", re.compile(r"[a-zA-Z0-9_-]+"))
MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?")


def cache_from_wire(value: Any) -> dict[str, Any] | None:
    """Return the cache hint of a `cache_control`; None if it holds anything that a hint cannot express."""
    return cache_hint(value, "ephemeral")


class Writing(claude.Writing):
    """The state of a writer, with what only this wire needs."""

    __slots__ = ("cites", "members", "of_sets", "stricter")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, CALL_IDS, TOOL_NAMES, "cache_control")
        self.stricter = False  # whether the API version is the stricter one
        self.cites = True  # whether texts may have citations in the current place
        self.members: dict[str, tuple[str, str]] = {}
        """For each tool that is written as part of a set, by its canonical name: the set, and its name in the set."""
        self.of_sets: dict[str, str] = {}
        """The set that each call names, by the canonical id of the call."""

    def text(self, text: str) -> Wire:
        """Return a wire block for a text that the writer adds."""
        return {"type": "text", "text": text}

    # ------------------------------------------------------------------------------------------ cache marks

    def mark(self, wire: Wire, hint: dict[str, Any], path: Path, to: Path | None = None) -> None:
        """Mark a wire item for the cache. `path` is the path of the item, `to` that of the hint after the wire is read back."""
        where = (*path, "cache")
        control = self.cache_mark("ephemeral", hint, where)
        if control is not None:
            wire["cache_control"] = control
            self.marks.append((wire, where, to))

    def marked(self, wire: Wire) -> None:
        """Note the mark of an item that is written verbatim: it counts, and the writer cannot change it."""
        if isinstance(wire.get("cache_control"), dict):
            self.marks.append((wire, None, None))
