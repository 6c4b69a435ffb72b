"""
Read and write toolsets: one definition defines several tools (spec/adapters/anthropic_messages.md#anthropic-messages-toolsets).

In canonical form each tool of a set is a function. Its name is the name of the set, two underscores and the name in the set. On
the wire, a call has the name of the set in addition to the name of the tool, and so has its result.
"""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._content import built_in
from interlingua.adapters._content.built_in import (
    DEFINITION,
    OF_FUNCTION,
    TOOLSET,
    find_run,
    functions_of_set,
    kind_of_set,
)
from interlingua.adapters._content.tools import Of, Tool
from interlingua.adapters._engine.items import ItemRow, read_item
from interlingua.adapters._engine.kit import NOTHING, Wire, keep_spelling, within
from interlingua.adapters.anthropic_messages.items import CACHE, item_to_wire
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.loss import Path

Item = dict[str, Any]
NAME: Final = "toolset_name"
"""The member in which calls and their results name the set."""
_BETWEEN: Final = "__"
_CONFIGS: Final = "configs"
_DEFERRED: Final = "defer_loading"
_OF_MEMBER: Final = OF_FUNCTION | {"cache"}
"""The members that a tool may have so that the definition of its set can still represent it."""


class Toolset:
    """A set of tools: its `kind` (the type on the wire), its `name` in calls, and its `members` by canonical name."""

    __slots__ = ("kind", "members", "name", "row")

    def __init__(self, kind: str, entry: Item) -> None:
        self.kind = kind
        self.name: str = entry["toolset"]
        self.members: dict[str, Item] = {full_name(self.name, member["name"]): member for member in entry["members"]}
        self.row = ItemRow({"type": kind}, mark=CACHE, elsewhere=(*_OF_MEMBER,))

    def enabled(self, configs: Any) -> list[str]:
        """Return the canonical names of the tools that `configs` enables; none if `configs` cannot be read."""
        if configs is None:
            configs = NOTHING
        if not isinstance(configs, dict) or not within(configs, frozenset(m["name"] for m in self.members.values())):
            return []
        if not all(_is_config(config) for config in configs.values()):
            return []
        return [name for name, member in self.members.items() if _is_enabled(member, configs)]


def _is_config(config: Any) -> bool:
    if config is None:
        return True
    if not isinstance(config, dict) or not within(config, _SWITCHES):
        return False
    return all(isinstance(switch, (bool, type(None))) for switch in config.values())


_SWITCHES: Final = frozenset(("enabled", _DEFERRED))


def _is_enabled(member: Item, configs: Any) -> bool:
    switch = (configs.get(member["name"]) or NOTHING).get("enabled")
    return bool(member.get("enabled", True) if switch is None else switch)


def full_name(toolset: str, member: str) -> str:
    """Return the canonical name of a tool of a set."""
    return toolset + _BETWEEN + member


SETS: Final = {kind: Toolset(kind, entry) for kind, entry in built_in.entries("anthropic_messages") if TOOLSET in entry}
"""The sets, by type on the wire."""
_NAMES: Final = frozenset(toolset.name for toolset in SETS.values())

# ---------------------------------------------------------------------------------------------- from the wire


def functions(definition: Wire, taken: set[str], reading: Reading) -> list[Tool]:
    """Read the definition of a set as its tools. Return none for any other definition, and for a set that must be kept whole.

    `taken` are the names of the other tools. A set is kept whole if one of them has the name of the set or of one of its tools.
    """
    kind = definition.get("type")
    toolset = SETS.get(kind) if isinstance(kind, str) else None
    if toolset is None or "name" in definition or toolset.name in taken:
        return []
    configs = definition.get(_CONFIGS)
    names = toolset.enabled(configs)
    if not taken.isdisjoint(names):
        return []
    tools = functions_of_set(toolset.kind, {name: toolset.members[name] for name in names}, reading)
    if tools:
        taken.update(names)
        others = definition
        if _CONFIGS in definition and not _says_more(configs):
            others = {name: value for name, value in definition.items() if name != _CONFIGS}
            keep_spelling(tools[0]["provider_state"], DEFINITION, {_CONFIGS: configs})
        if "cache_control" in definition:
            reading.must_compare = True
        read_item(toolset.row, others, tools[0], reading)
        if "cache" in tools[0]:  # the cache mark is after the whole set
            tools[-1]["cache"] = tools[0].pop("cache")
    return tools


def _says_more(configs: Any) -> bool:
    """Whether `configs` states more than which tools are enabled."""
    return any(config and config.get(_DEFERRED) is not None for config in (configs or NOTHING).values())


def read_name(raw: Any, call: Item, reading: Reading) -> None:
    """Read the set of a call. Raises `TypeError` for an unknown set."""
    if not isinstance(raw, str) or raw not in _NAMES:
        raise TypeError(NAME)
    if "name" in call:
        call["name"] = full_name(raw, call["name"])
        keep_spelling(call["provider_state"], TOOLSET, raw)
        reading.toolsets[call["provider_state"]["id"]] = raw


def without_name(result: Wire, reading: Reading) -> Wire:
    """Return a result without the name of the set, if its call names the same set."""
    called = reading.toolsets.get(result["tool_use_id"])
    if called is None:
        return result
    if result.get(NAME) != called:
        reading.must_compare = True
        return result
    return {name: value for name, value in result.items() if name != NAME}


# ---------------------------------------------------------------------------------------------- to the wire


def find_sets(tools: list[Tool], writing: Writing) -> dict[int, tuple[int, ...]]:
    """Find the tools that are written as a set; return the positions of all of them, by the position of the first.

    They follow one another in the order of the set, and the definition of the set can represent them.
    """
    found: dict[int, tuple[int, ...]] = {}
    kinds: set[str] = set()
    position = 0
    while position < len(tools):
        toolset = SETS.get(kind_of_set(tools[position], writing))
        run: tuple[int, ...] = ()
        if toolset is not None and toolset.kind not in kinds and all(tool["name"] != toolset.name for tool in tools):
            if toolset.enabled(_configs(tools[position], writing)):
                run = (*find_run(tools, position, toolset.members, writing, _OF_MEMBER),)
        if toolset is not None and run:
            kinds.add(toolset.kind)
            found[position] = run
            for at in run:
                name = tools[at]["name"]
                writing.members[name] = (toolset.name, toolset.members[name]["name"])
        position += len(run) or 1
    return found


def _configs(tool: Tool, writing: Writing) -> Any:
    kept = writing.encoding_of(tool).get(DEFINITION) or writing.state_of(tool).get("fields") or NOTHING
    return kept.get(_CONFIGS)


def set_to_wire(tools: list[Tool], run: tuple[int, ...], writing: Writing) -> Wire:
    """Write the definition of a set for tools of a request; tools of the set that the request does not have are disabled."""
    first = tools[run[0]]
    toolset = SETS[writing.encoding_of(first)[TOOLSET]]
    bare = {name: value for name, value in first.items() if name != "cache"}
    wire = item_to_wire(toolset.row, bare, writing, ("tools", run[0]))
    encoding = writing.encoding_of(first)
    wire.update(encoding.get(DEFINITION) or NOTHING)
    configs = dict(wire.get(_CONFIGS) or NOTHING)
    present = {tools[position]["name"] for position in run}
    for name, member in toolset.members.items():
        if (name in present) != _is_enabled(member, configs):
            configs[member["name"]] = {**(configs.get(member["name"]) or NOTHING), "enabled": name in present}
            wire[_CONFIGS] = configs
    for position in run:
        cache = tools[position].get("cache")
        if cache is None:
            continue
        if position == run[-1]:
            writing.mark(wire, cache, ("tools", position))
        else:
            message = "the cache mark of a toolset is after its last tool"
            writing.loss.drop(("tools", position, "cache"), "cache_hint", "weakened", message)
    return wire


def report_expanded(tools: list[Tool], wires: list[Wire], of: Of, writing: Writing) -> None:
    """Report the definitions of sets that were kept whole, because a reader reads them back as the tools of the set."""
    taken: set[str] | None = None
    for wire, positions in zip(wires, of, strict=True):
        if tools[positions[0]].get("kind") != "provider" or wire.get("type") not in SETS:
            continue
        if taken is None:
            taken = {wire["name"] for wire in wires if type(wire.get("name")) is str}
            taken.update(writing.members)
        functions_of_it = functions(wire, taken, writing.reader())
        built_in.report_expanded(functions_of_it, wire["type"], positions[0], writing)


def called(call: Item, writing: Writing) -> tuple[str, str] | None:
    """Return the set that a call names on the wire and its name in the set. A call has a set in three cases: its tool is written as
    part of a set; the client that gets the response offered the tool in a set; or the call was read with a set and no function has
    its name."""
    name: str = call["name"]
    if (member := writing.members.get(name)) is not None:
        return member
    offered = writing.endpoint.spellings.get(name)
    if offered is not None and (toolset := SETS.get(offered.get(TOOLSET) or "")) is not None:
        return toolset.name, name[len(toolset.name) + len(_BETWEEN) :]
    came: Any = writing.encoding_of(call).get(TOOLSET)
    if not isinstance(came, str) or came not in _NAMES or not name.startswith(came + _BETWEEN):
        return None
    if offered is not None or any(tool["name"] == name for tool in writing.source.get("tools") or ()):
        return None
    within_set = name[len(came) + len(_BETWEEN) :]
    return (came, within_set) if within_set and writing.tool_name(within_set) == within_set else None


def write_call_name(call: Item, writing: Writing, path: Path) -> str:
    """Return the name of a call on the wire."""
    of_set = called(call, writing)
    return writing.written_tool_name(call["name"], path) if of_set is None else of_set[1]
