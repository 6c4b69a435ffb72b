"""
The tool `computerUse`, which stands for a set of functions that the client runs.

Spec:  spec/adapters/gemini_generate.md#gemini-generate-computer-use

The set depends on the model and on the environment. If both are known and the registry has the set, the tool is read as
its functions. A call names such a function without the tool, as it names any function.
"""

from typing import Any, Final

from interlingua.adapters._content.built_in import (
    DEFINITION,
    TOOL_ELSEWHERE,
    entries,
    find_run,
    functions_of_set,
    kind_of_set,
)
from interlingua.adapters._content.tools import Tool
from interlingua.adapters._engine.items import ItemRow, read_item, write_item
from interlingua.adapters._engine.kit import Wire, keep_spelling
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.tables import camelised

Item = dict[str, Any]
NAME: Final = "computerUse"
_ENVIRONMENT: Final = "environment"
_EXCLUDED: Final = "excludedPredefinedFunctions"
_ROW: Final = ItemRow({}, elsewhere=TOOL_ELSEWHERE)
_MEMBERS: Final = {model: entry["members"] for _, entry in entries("gemini_generate") for model in entry["models"]}
"""The functions of each model, in all environments."""


def _functions(model: str, definition: Any) -> dict[str, Item]:
    """Return the functions that a definition stands for with a model, by name; none if they are not known."""
    if type(definition) is not dict or type(environment := definition.get(_ENVIRONMENT)) is not str:
        return {}
    excluded: Any = definition.get(_EXCLUDED)
    if excluded is not None and (type(excluded) is not list or not all(type(name) is str for name in excluded)):
        return {}
    return {
        member["name"]: member
        for member in _MEMBERS.get(model) or ()
        if environment in member["environments"] and member["name"] not in (excluded or ())
    }


# ---------------------------------------------------------------------------------------------------- from the wire


def functions(definition: Any, taken: set[str], model: str, reading: Reading) -> list[Tool]:
    """Return the functions that a definition stands for; none if the definition has to stay whole.

    It stays whole if its functions are not known, or if another function has the name of one of them. `taken` contains
    the names of the other functions.
    """
    wire = camelised(definition) if type(definition) is dict else definition
    found = _functions(model, wire)
    if not taken.isdisjoint(found):
        return []
    tools = functions_of_set(NAME, found, reading)
    if tools:
        taken.update(found)
        reading.must_compare = reading.must_compare or wire is not definition
        kept = {name: wire[name] for name in (_ENVIRONMENT, _EXCLUDED) if name in wire}
        keep_spelling(tools[0]["provider_state"], DEFINITION, kept)
        read_item(_ROW, {name: value for name, value in wire.items() if name not in kept}, tools[0], reading)
    return tools


# ---------------------------------------------------------------------------------------------------- to the wire


def find(tools: list[Tool], writing: Writing) -> range:
    """Return the positions of the functions that are written as the tool.

    They follow one another in the order of the tool, and are functions that it stands for with the requested model.
    """
    for first, tool in enumerate(tools):
        if kind_of_set(tool, writing):
            known = _functions(writing.model, {**_kept(tool, writing), _EXCLUDED: None})
            if run := find_run(tools, first, known, writing):
                return run
    return range(0)


def _kept(tool: Tool, writing: Writing) -> Item:
    kept: Any = writing.encoding_of(tool).get(DEFINITION)
    return kept if type(kept) is dict else {}


def written(tools: list[Tool], run: range, writing: Writing) -> Wire:
    """Write the tool that stands for the functions of `run`; it excludes its functions that are not among them."""
    first = tools[run.start]
    kept = _kept(first, writing)
    wire = {**kept, **write_item(_ROW, first, writing, ("tools", run.start))}
    present = {tools[position]["name"] for position in run}
    missing = [name for name in _functions(writing.model, kept) if name not in present]
    excluded = [name for name in kept.get(_EXCLUDED) or () if name not in present]
    if missing or excluded != (kept.get(_EXCLUDED) or []):
        wire[_EXCLUDED] = [*excluded, *missing]
    return {NAME: wire}
