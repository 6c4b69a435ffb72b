"""The words of the wire, its limits, and what a reader and a writer carry with them."""

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

# over all schemas of a request that are enforced: tools, parameters that may be left out, parameters of several types
MAX_STRICT: Final = (20, 24, 16)

TOOL_NAMES: Final = ToolNames(128)
CALL_IDS: Final = CallIds("toolu_", re.compile(r"[a-zA-Z0-9_-]+"))
MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?")


def cache_from_wire(value: Any) -> dict[str, Any] | None:
    """A cache hint from a `cache_control`; None when it holds anything that a hint cannot say."""
    return cache_hint(value, "ephemeral")


class Writing(claude.Writing):
    """What a writer carries with it on this wire besides."""

    __slots__ = ("cites", "members", "of_sets", "stricter")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, CALL_IDS, TOOL_NAMES, "cache_control")
        self.stricter = False  # the version of the API is the stricter one
        self.cites = True  # texts may cite where they stand
        self.members: dict[str, tuple[str, str]] = {}
        """The set of a tool that goes as one of a set, and its name there, by its canonical name."""
        self.of_sets: dict[str, str] = {}
        """The sets that calls name, by the canonical ids of the calls."""

    def text(self, text: str) -> Wire:
        """A text of the writer's own on the wire."""
        return {"type": "text", "text": text}

    # ------------------------------------------------------------------------------------------ cache marks

    def mark(self, wire: Wire, hint: dict[str, Any], path: Path, to: Path | None = None) -> None:
        """Marks a wire item for the cache. `path` is the item's, `to` where the hint stands when read back."""
        where = (*path, "cache")
        control = self.cache_mark("ephemeral", hint, where)
        if control is not None:
            wire["cache_control"] = control
            self.marks.append((wire, where, to))

    def marked(self, wire: Wire) -> None:
        """Notes the mark of an item that goes back verbatim: it counts, and nothing can be done about it."""
        if isinstance(wire.get("cache_control"), dict):
            self.marks.append((wire, None, None))
