"""
Read and write, as functions, the tools that a provider defines and its client runs (spec/1-values.md#built-in-tools).

In canonical form such a tool is a function with a fixed name, description and schema. The fact that it is built in is
a spelling of its own wire. The tool can therefore be offered to every model, and the client receives its calls in the
form that it knows.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from interlingua.adapters._engine.items import ItemRow, read_item
from interlingua.adapters._engine.kit import (
    NOTHING,
    Wire,
    absent_member,
    arguments_text,
    keep_spelling,
    report_replayable_state,
    within,
)
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical import json
from interlingua.canonical.loss import Path
from interlingua.canonical.spec_files import spec_file

Item = dict[str, Any]

BUILT_IN: Final = "built_in"
"""Spelling of a tool: its type on its own wire. Spelling of a call: the name of the tool that it calls."""
TOOLSET: Final = "toolset"
"""Spelling of a tool of a set, which one definition represents: the type of that definition. Spelling of a call: the
name of the set."""
DEFINITION: Final = "definition"
"""Spelling of a tool: the members of its definition that its description states, or that mean nothing to a model."""
TOOL_ELSEWHERE: Final = ("kind", "name", "description", "input_schema", "side_effects", "requires_workspace")
"""The canonical members of a built-in tool that its row does not express."""


class Tool:
    """A built-in tool: its `kind` on its wire, its `row` there, and the function that it represents.

    `in_description` names the members of its definition that a model must know: its description states them. `idle`
    maps members to the values with which they mean nothing to a model. Without a `description`, the tool has the
    description and the schema that its definition states.
    """

    __slots__ = ("description", "idle", "kind", "name", "row", "schema", "in_description")

    def __init__(self, kind: str, entry: Item, row: ItemRow, idle: dict[str, Any] = NOTHING) -> None:
        self.kind = kind
        self.name: str = entry["name"]
        self.description: str | None = entry.get("description")
        self.schema: Item | None = entry.get("input_schema")
        self.in_description: list[str] = entry.get("told", [])
        self.row = row
        self.idle = idle

    def read(self, wire: Wire, reading: Reading) -> Item:
        """Read a definition as a function. Raises `KeyError` or `TypeError` if it cannot be read."""
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
        """Whether a tool that was read from such a definition is unchanged."""
        if tool["name"] != self.name or (tool.get("kind") or "function") != "function":
            return False
        if self.description is None:
            return True
        described = self._describe(encoding.get(DEFINITION) or NOTHING)
        return tool.get("description") == described and tool.get("input_schema") == self.schema

    def put_back(self, wire: Wire, tool: Item, writing: Writing) -> Wire:
        """Restore the members of a definition that are kept as a spelling. The same object is changed: it may already
        be marked for the cache."""
        wire.update(writing.encoding_of(tool).get(DEFINITION) or NOTHING)
        return wire

    def _describe(self, kept: dict[str, Any]) -> str | None:
        text = ", ".join(f"{name}: {arguments_text(kept[name])}" for name in self.in_description if name in kept)
        return f"{self.description}\n\n{{{text}}}" if text else self.description


def definition_of(tool: Item, known: Mapping[str, Tool], writing: Writing) -> Tool | None:
    """Return the one of the `known` built-in tools that a tool was read from. None for any other tool, and after an edit:
    then it is an ordinary function."""
    encoding = writing.encoding_of(tool)
    found = known.get(encoding[BUILT_IN]) if BUILT_IN in encoding else None
    return found if found is not None and found.is_still(tool, encoding) else None


# ---------------------------------------------------------------------------------------------- sets of tools

OF_FUNCTION: Final = frozenset((*TOOL_ELSEWHERE, "provider_state"))
"""The members that a function of a set may have and still be represented by the definition."""
_OF_THE_FIRST: Final = ("id", "signature", "fields")
"""The members of a provider state that only the first function of a set may have."""


def functions_of_set(kind: str, known: Mapping[str, Item], reading: Reading) -> list[Item]:
    """Return the functions that the definition of a set of this kind represents; `known` describes them by their
    names."""
    return [
        {
            "name": name,
            "description": function["description"],
            "input_schema": dict(function["input_schema"]),
            "provider_state": reading.state(encoding={TOOLSET: kind}),
        }
        for name, function in known.items()
    ]


def kind_of_set(tool: Item, writing: Writing) -> str:
    """Return the kind of the set that a tool was read from; empty for any other tool."""
    kind: Any = writing.encoding_of(tool).get(TOOLSET)
    return kind if type(kind) is str else ""


def find_run(
    tools: list[Item], first: int, known: Mapping[str, Item], writing: Writing, allowed: frozenset[str] = OF_FUNCTION
) -> range:
    """Return the positions of the functions from the `first` on that are written as one set. They were read from one
    set, are in the order of the `known` ones and equal to them, and have only members that are `allowed`."""
    kind = kind_of_set(tools[first], writing)
    places = {name: place for place, name in enumerate(known)}
    past, last = first, -1
    while past < len(tools) and places.get(tools[past]["name"], -1) > last:
        tool = tools[past]
        if kind_of_set(tool, writing) != kind or not _is_still(tool, known[tool["name"]], allowed):
            break
        if past > first and not tool["provider_state"].keys().isdisjoint(_OF_THE_FIRST):
            break
        last = places[tool["name"]]
        past += 1
    return range(first, past)


def _is_still(tool: Item, function: Item, allowed: frozenset[str]) -> bool:
    if not within(tool, allowed) or (tool.get("kind") or "function") != "function":
        return False
    return tool.get("description") == function["description"] and tool.get("input_schema") == function["input_schema"]


def as_function(tool: Item, writing: Writing, path: Path) -> Item:
    """Return a function of a set as it is written alone: without the other data of the definition of the set."""
    if not kind_of_set(tool, writing):
        return tool
    state: Item = tool["provider_state"]
    report_replayable_state(state, writing.loss, path, fields=True)
    return {**tool, "provider_state": {name: value for name, value in state.items() if name != "fields"}}


def report_expanded(functions: list[Item], kind: str, position: int, writing: Writing) -> None:
    """Report the definition of a set that was kept whole: it is read back as its functions."""
    message = "the tool is read back as its definition states"
    reported = ("unsupported_value", "representation", message)
    for number, function in enumerate(functions):
        if fields := function.pop("provider_state").get("fields"):
            function["provider_state"] = writing.endpoint.state(fields=fields)
        if number == 0:
            writing.loss.replace(("tools", position), function, *reported)
        else:
            new: Path = (absent_member(writing.source, f"{kind}_{number}"),)
            writing.loss.replace(new, function, *reported)
            writing.loss.move(new, ("tools", position + 1), *reported)


# ---------------------------------------------------------------------------------------------- the registry


def entries(adapter: str) -> list[tuple[str, Item]]:
    """Return the built-in tools of a wire and its sets of them, with their types on it, from
    spec/registry/built_in_tools.json."""
    found: list[Item] = json.loads(spec_file("registry", "built_in_tools.json").read_bytes())[adapter]
    return [(kind, entry) for entry in found for kind in entry["types"]]
