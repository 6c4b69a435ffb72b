"""
Tools that a provider defines and its client runs, as functions (spec/1-values.md#built-in-tools).

In canonical form such a tool is a function with a fixed name, description and schema. That it is built in is a spelling, which
its own wire alone has: the tool reaches every model, and its calls come back as the client knows them.
"""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from interlingua.adapters._engine.items import Row, read_item
from interlingua.adapters._engine.kit import NOTHING, Wire, arguments_text, keep_spelling
from interlingua.adapters._engine.reading import Reading
from interlingua.canonical import json

Item = dict[str, Any]

BUILT_IN: Final = "built_in"
"""Spelling of a tool: its type on its own wire. Spelling of a call: the name of the tool that it calls."""
TOOLSET: Final = "toolset"
"""Spelling of a tool of a set, for which one definition stands: the type of that. Spelling of a call: the name of the set."""
DEFINITION: Final = "definition"
"""Spelling of a tool: the members of its definition that its description tells, or that say nothing to a model."""
BESIDE: Final = ("kind", "name", "description", "input_schema", "side_effects", "requires_workspace")
"""The canonical members of a built-in tool that its row does not say."""


class Tool:
    """A built-in tool: the `kind` that it has on its wire, its `row` there, and the function that it is.

    `tells` names the members of its definition that a model has to know: its description tells them. `idle` are members
    with the values with which they say nothing to a model. Without a `description`, what the definition says is the
    description and the schema.
    """

    __slots__ = ("description", "idle", "kind", "name", "row", "schema", "in_description")

    def __init__(self, kind: str, entry: Item, row: Row, idle: Mapping[str, Any] = NOTHING) -> None:
        self.kind = kind
        self.name: str = entry["name"]
        self.description: str | None = entry.get("description")
        self.schema: Item | None = entry.get("input_schema")
        self.in_description: list[str] = entry.get("told", [])
        self.row = row
        self.idle = idle

    def read(self, wire: Wire, reading: Reading) -> Item:
        """The function of a definition. Raises `KeyError` or `TypeError` where it cannot be read."""
        kept = {name: wire[name] for name in self.in_description if wire.get(name) is not None}
        kept |= {name: value for name, value in self.idle.items() if wire.get(name) == value}
        rest = {name: value for name, value in wire.items() if name not in kept} if kept else wire
        described: Item = {"name": self.name}
        if self.description is not None:
            described |= {"description": self._describe(kept), "input_schema": deepcopy(self.schema)}
        item = read_item(self.row, rest, described, reading)
        state: Item = item.setdefault("provider_state", reading.endpoint.state())
        keep_spelling(state, BUILT_IN, self.kind)
        if kept:
            keep_spelling(state, DEFINITION, kept)
        return item

    def is_still(self, tool: Item, encoding: Mapping[str, Any]) -> bool:
        """Whether a tool that was read so is what it was: after an edit it is a function like any other."""
        if tool["name"] != self.name or (tool.get("kind") or "function") != "function":
            return False
        if self.description is None:
            return True
        described = self._describe(encoding.get(DEFINITION) or NOTHING)
        return tool.get("description") == described and tool.get("input_schema") == self.schema

    def put_back(self, wire: Wire, encoding: Mapping[str, Any]) -> Wire:
        """Puts back the members of a definition that are kept apart; into the same object, which may be marked for the cache."""
        wire.update(encoding.get(DEFINITION) or NOTHING)
        return wire

    def _describe(self, kept: Mapping[str, Any]) -> str | None:
        text = ", ".join(f"{name}: {arguments_text(kept[name])}" for name in self.in_description if name in kept)
        return f"{self.description}\n\n{{{text}}}" if text else self.description


def entries(adapter: str) -> list[tuple[str, Item]]:
    """The built-in tools of a wire and its sets of them, by their types on it, as spec/registry/built_in_tools.json has them."""
    for folder in (Path(__file__).parents[2] / "_data" / "registry", Path(__file__).parents[4] / "spec" / "registry"):
        if (folder / "built_in_tools.json").exists():
            found: list[Item] = json.loads((folder / "built_in_tools.json").read_bytes())[adapter]
            return [(kind, entry) for entry in found for kind in entry["types"]]
    raise FileNotFoundError("built_in_tools.json")
