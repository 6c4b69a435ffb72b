"""
The tool `computerUse`, which stands for functions that the client runs (spec/adapters/gemini_generate.md#gemini-generate-computer-use).

Which functions these are depends on the model and on the environment: where both are known, and the registry has them, the tool is
its functions. Calls name them without the tool, as those of any function.
"""

from typing import Any, Final

from interlingua.adapters._content.built_in import DEFINITION, TOOLSET, entries
from interlingua.adapters._content.tools import BESIDE, Tool
from interlingua.adapters._engine.items import Row, read_item, write_item
from interlingua.adapters._engine.kit import NOTHING, Wire, keep_spelling, report_replayable_state, within
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.tables import camelised
from interlingua.canonical.loss import Path

Item = dict[str, Any]
NAME: Final = "computerUse"
_ENVIRONMENT: Final = "environment"
_EXCLUDED: Final = "excludedPredefinedFunctions"
_OF_FUNCTION: Final = frozenset(("name", "description", "input_schema", "provider_state", *BESIDE))
"""The members that a function may have and still be what the tool stands for."""
_OF_ITS_OWN: Final = ("id", "signature", "fields")
"""The members of a provider state that only the first function may have."""
_ROW: Final = Row({}, beside=(*_OF_FUNCTION,))
_MEMBERS: Final = {model: entry["members"] for _, entry in entries("gemini_generate") for model in entry["models"]}
"""The functions of each model, in all environments."""


def _functions(model: str, definition: Any) -> dict[str, Item]:
    """The functions for which a definition stands at a model, by name; none where that is not known."""
    if type(definition) is not dict or type(environment := definition.get(_ENVIRONMENT)) is not str:
        return {}
    excluded: Any = definition.get(_EXCLUDED)
    if excluded is not None and (type(excluded) is not list or not all(type(name) is str for name in excluded)):
        return {}
    return {
        member["name"]: {name: member[name] for name in ("name", "description", "input_schema")}
        for member in _MEMBERS.get(model) or ()
        if environment in member["environments"] and member["name"] not in (excluded or ())
    }


# ---------------------------------------------------------------------------------------------------- from the wire


def functions(definition: Any, taken: set[str], model: str, reading: Reading) -> list[Tool]:
    """The functions for which a definition stands; none where it has to stay whole: they are not known, or another function has
    the name of one of them. `taken` are the names of others."""
    wire = camelised(definition) if type(definition) is dict else definition
    found = _functions(model, wire)
    if not taken.isdisjoint(found):
        return []
    tools: list[Tool] = []
    for function in found.values():
        state = reading.endpoint.state()
        keep_spelling(state, TOOLSET, NAME)
        tools.append({**function, "input_schema": dict(function["input_schema"]), "provider_state": state})
    if tools:
        taken.update(found)
        reading.unusual = reading.unusual or wire is not definition
        kept = {name: wire[name] for name in (_ENVIRONMENT, _EXCLUDED) if name in wire}
        keep_spelling(tools[0]["provider_state"], DEFINITION, kept)
        read_item(_ROW, {name: value for name, value in wire.items() if name not in kept}, tools[0], reading)
    return tools


# ---------------------------------------------------------------------------------------------------- to the wire


def find(tools: list[Tool], writing: Writing) -> range:
    """The positions of the functions that go as the tool: they follow one another in its order, and are what it stands for at
    the model that is asked."""
    for first, tool in enumerate(tools):
        if not _is_of(tool, writing):
            continue
        known = _functions(writing.model, {**_kept(tool, writing), _EXCLUDED: None})
        places = {name: place for place, name in enumerate(known)}
        past, place = first, -1
        while past < len(tools) and places.get(tools[past]["name"], -1) > place:
            if not _is_still(tools[past], known, writing, first=past == first):
                break
            place = places[tools[past]["name"]]
            past += 1
        if past > first:
            return range(first, past)
    return range(0)


def _is_of(tool: Tool, writing: Writing) -> bool:
    return "provider_state" in tool and writing.encoding_of(tool).get(TOOLSET) == NAME


def _kept(tool: Tool, writing: Writing) -> Item:
    kept: Any = writing.encoding_of(tool).get(DEFINITION)
    return kept if type(kept) is dict else {}


def _is_still(tool: Tool, known: dict[str, Item], writing: Writing, *, first: bool) -> bool:
    if not _is_of(tool, writing) or not within(tool, _OF_FUNCTION) or (tool.get("kind") or "function") != "function":
        return False
    function = known[tool["name"]]
    if tool.get("description") != function["description"] or tool.get("input_schema") != function["input_schema"]:
        return False
    return first or tool["provider_state"].keys().isdisjoint(_OF_ITS_OWN)


def written(tools: list[Tool], run: range, writing: Writing) -> Wire:
    """The tool that stands for functions; those of its functions that are not among them are excluded."""
    first = tools[run.start]
    kept = _kept(first, writing)
    wire = {**kept, **write_item(_ROW, first, writing, ("tools", run.start))}
    present = {tools[position]["name"] for position in run}
    missing = [name for name in _functions(writing.model, kept) if name not in present]
    excluded = [name for name in kept.get(_EXCLUDED) or () if name not in present]
    if missing or excluded != (kept.get(_EXCLUDED) or []):
        wire[_EXCLUDED] = [*excluded, *missing]
    return {NAME: wire}


def as_function(tool: Tool, writing: Writing, path: Path) -> Tool:
    """A function of the tool that goes as any other, without what the tool says besides."""
    if not _is_of(tool, writing):
        return tool
    state: Item = tool["provider_state"]
    report_replayable_state(state, writing.loss, path, fields=True)
    return {**tool, "provider_state": {name: value for name, value in state.items() if name != "fields"}}


def report_expanded(definition: Wire, position: int, taken: set[str], writing: Writing) -> None:
    """Reports a tool that was kept whole, where it is read back as its functions."""
    message = "the tool is read back as what its definition says"
    reported = ("unsupported_value", "representation", message)
    for number, function in enumerate(functions(definition.get(NAME), taken, writing.model, writing.reader())):
        if (fields := function.pop("provider_state").get("fields") or NOTHING) != NOTHING:
            function["provider_state"] = writing.endpoint.state(fields=fields)
        if number == 0:
            writing.loss.replace(("tools", position), function, *reported)
        else:
            new: Path = (f"{NAME}_{number}",)
            writing.loss.replace(new, function, *reported)
            writing.loss.move(new, ("tools", position + 1), *reported)
