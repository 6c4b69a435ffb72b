"""Tools and the choice among them, both ways."""

from typing import Any, Final

from interlingua.adapters._free_text import tool_as_function
from interlingua.adapters._kit import (
    PROVIDER_TOOL_MEMBERS,
    BiMap,
    Wire,
    report_beside_definition,
    report_foreign_state,
    report_parallel,
    report_unknown,
    within,
)
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.schemas import fitted, is_taken, json_schema, rooted
from interlingua.adapters.gemini_generate.state import members_to_wire, report_cache
from interlingua.adapters.gemini_generate.tables import MODE_NUMBERS, camelised
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, pointer

Tool = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire

_FUNCTION: Final = frozenset(("name", "description", "parameters", "parametersJsonSchema"))
_USUAL: Final = _FUNCTION - {"parameters"}


def tools_from_wire(value: Any, reading: Reading) -> list[Tool] | None:
    """The tools; None for what is not shaped as the wire documents it."""
    found: list[Tool] = []
    functions = 0
    if type(value) is not list:
        reading.odd, value = True, [value]
    for item in value:
        if type(item) is not dict:
            return None
        members = reading.camelised(item)
        if "" in members:
            return None
        for name, definition in members.items():
            if name != "functionDeclarations":
                found.append({"kind": "provider", "name": name, "adapter": reading.adapter, "definition": {name: definition}})  # fmt: skip
                continue
            functions += 1
            if type(definition) is not list:
                reading.odd, definition = True, [definition]
            for function in definition:
                tool = _function_from_wire(function, reading)
                if tool is None:
                    return None
                found.append(tool)
            reading.odd = reading.odd or not definition
        reading.odd = reading.odd or len(members) != 1
    reading.odd = reading.odd or functions > 1
    return found


def _function_from_wire(function: Any, reading: Reading) -> Tool | None:
    if type(function) is not dict:
        return None
    if function.keys() == _USUAL:
        name, description, schema = function["name"], function["description"], function["parametersJsonSchema"]
        if type(name) is str and name and type(description) is str and type(schema) is dict:
            if schema.get("type") != "object" or not is_taken(schema):
                reading.odd = True  # it would not be written so
            return {"name": name, "description": description, "input_schema": schema}
    members = reading.camelised(function)
    name, description = members.get("name"), members.get("description")
    if type(name) is not str or not name or ("parameters" in members and "parametersJsonSchema" in members):
        return None
    tool: Tool = {"name": name}
    if type(description) is str:
        tool["description"] = description
    elif description is not None:
        return None
    reading.odd = reading.odd or "parameters" in members or None in members.values()
    schema = members.get("parametersJsonSchema")
    if schema is None and (parameters := members.get("parameters")) is not None:
        schema = json_schema(parameters)
    if type(schema) is dict:
        tool["input_schema"] = schema
        reading.odd = reading.odd or schema.get("type") != "object" or not is_taken(schema)
    elif schema is not None:
        return None
    fields = {key: item for key, item in members.items() if key not in _FUNCTION}
    if fields:
        tool["provider_state"] = reading.state(fields=fields)
    return tool


_MODES: Final = BiMap({"auto": "AUTO", "none": "NONE", "required": "ANY"})


def choice_from_wire(config: Wire, reading: Reading) -> tuple[dict[str, Any] | None, Wire]:
    """The choice of a `toolConfig`, and what is left of it."""
    members = reading.camelised(config)
    calling = members.get("functionCallingConfig")
    if type(calling) is not dict:
        reading.odd = reading.odd or not members
        return None, members
    mode = calling.get("mode")
    if len(members) == len(calling) == 1 and type(mode) is str and mode in _MODES.back:
        return {"type": _MODES.back[mode]}, {}
    calling = reading.camelised(calling)
    mode = calling.get("mode")
    names: Any = calling.get("allowedFunctionNames") or []
    if type(mode) is int and 0 <= mode < len(MODE_NUMBERS):
        reading.odd, mode = True, MODE_NUMBERS[mode]
    if type(mode) is not str or type(names) is not list or not all(type(name) is str for name in names):
        return None, members
    choice: dict[str, Any]
    reading.odd = reading.odd or not mode.isupper() or (not names and "allowedFunctionNames" in calling)
    match mode.upper(), len(names):
        case "AUTO", 0:
            choice = {"type": "auto"}
        case "NONE", 0:
            choice = {"type": "none"}
        case "ANY", 0:
            choice = {"type": "required"}
        case "ANY", 1:
            choice = {"type": "tool", "name": names[0]}
        case "ANY", _:
            choice = {"type": "allowed", "names": names, "mode": "required"}
        case "VALIDATED", count if count:
            choice = {"type": "allowed", "names": names, "mode": "auto"}
        case _:
            return None, members
    left = {name: value for name, value in members.items() if name != "functionCallingConfig"}
    if more := {name: value for name, value in calling.items() if name not in CHOICE}:
        left["functionCallingConfig"] = more
    return choice, left


CHOICE: Final = ("mode", "allowedFunctionNames")
"""The members of a `functionCallingConfig` that are the choice."""

# ---------------------------------------------------------------------------------------------- to the wire


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes the tools: all functions in one object, each tool of the provider's own in another."""
    tools: list[Tool] = request.get("tools") or []
    if tools and writing.lacks("supports_tools", "tools"):
        for position in range(len(tools)):
            writing.loss.drop(("tools", position), "unsupported_model", "lost", "the model takes no tools")
        return
    wires: list[Wire] = []
    functions: list[Wire] = []
    open_run = False  # whether the functions still stand together
    behind: int | None = None  # the first tool behind the functions
    moves: list[int] = []
    names: set[str] = set()
    for position, tool in enumerate(tools):
        path: Path = ("tools", position)
        if tool.get("kind", "function") == "provider":
            definition = _provider_tool_to_wire(tool, writing, path)
            if definition is not None:
                wires.append(definition)
                open_run = False
                if functions and behind is None:
                    behind = position
            continue
        if tool["name"] in names and not writing.had_twice(tool["name"]):
            raise InvalidRequest("two tools have one name; give each its own", path=pointer((*path, "name")))
        names.add(tool["name"])
        if not functions:
            wires.append({"functionDeclarations": functions})
            open_run = True
        elif not open_run:
            moves.append(position)
        function = _function_to_wire(tool, writing, path)
        functions.append(function)
    if wires or (writing.same_origin and "tools" in request):
        body["tools"] = wires
    for position in moves:
        message = "all functions stand together"
        writing.loss.move(("tools", position), ("tools", behind or 0), "reordered", "representation", message)


def _function_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if tool.get("kind") == "custom":
        tool = tool_as_function(tool, writing.loss, path)
    wire: Wire = {"name": writing.told_name(tool["name"], path)}
    if tool.get("description") is not None:
        wire["description"] = tool["description"]
    schema = tool.get("input_schema")
    if schema is not None:
        where = (*path, "input_schema")
        wire["parametersJsonSchema"] = rooted(fitted(schema, writing.loss, where), writing.loss, where)
    loss = writing.loss
    if tool.get("strict"):
        loss.drop((*path, "strict"), "unsupported_field", "weakened", "the wire has no switch of single tools")
    if within(tool, _SIMPLE):
        return wire
    for name in ("format", "adapter", "definition"):
        if name in tool:
            loss.drop((*path, name), "unsupported_field", "weakened", "a function has no such member")
    return _finished(tool, wire, _FUNCTION, writing, path)


_SIMPLE: Final = frozenset(("name", "description", "input_schema", "strict", "side_effects", "requires_workspace"))


def _finished(tool: Tool, wire: Wire, said: frozenset[str], writing: Writing, path: Path) -> Wire:
    report_unknown(tool, PROVIDER_TOOL_MEMBERS, writing.loss, path)
    report_cache(tool, writing, path)
    report_foreign_state(tool, writing.endpoint, writing.loss, path)
    members_to_wire(tool, wire, said, writing, path)
    return wire


def _provider_tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire | None:
    definition = tool.get("definition")
    if tool.get("adapter") != writing.endpoint.adapter or type(definition) is not dict or len(definition) != 1:
        writing.loss.drop(path, "provider_tool", "lost", "a tool of another provider cannot be offered here")
        return None
    name = next(iter(camelised(definition)))
    if name == "functionDeclarations":
        writing.loss.drop(path, "provider_tool", "lost", "functions are tools of their own")
        return None
    if name != tool["name"]:
        writing.loss.replace((*path, "name"), name, "name_rewritten", "representation", "the definition names the tool")
    if name not in definition:
        writing.loss.replace((*path, "definition"), camelised(definition), "name_rewritten", "representation", "the first spelling")  # fmt: skip
    report_beside_definition(tool, writing.loss, path)
    # the definition is verbatim: what stands beside it has no place in it
    _finished(tool, {}, frozenset((writing.owned(tool).get("fields") or {}).keys()), writing, path)
    return dict(camelised(definition))


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes the choice of tools; without functions there is none."""
    loss = writing.loss
    report_parallel(request, loss)
    choice = request.get("tool_choice")
    if choice is None:
        return
    known = {tool["name"] for tool in request.get("tools") or () if tool.get("kind") != "provider"}
    # tools that are not shaped as documented are an option, and may well be what is chosen
    unread = "tools" in ((request.get("options") or {}).get(writing.endpoint.adapter) or {}) and not known
    if not (known and "tools" in body) and not unread and not writing.had_quirk("tool_choice", "combination"):
        severity = "representation" if choice["type"] in ("auto", "none") else "weakened"
        loss.drop(("tool_choice",), "combination", severity, "the target takes a choice only together with functions")
        return
    if len(choice) == 1 and (word := _MODES.there.get(choice["type"])) is not None:
        body["toolConfig"] = {"functionCallingConfig": {"mode": word}}
        return
    names: list[str] = [choice["name"]] if choice["type"] == "tool" else choice.get("names") or []
    undeclared: list[str] = writing.encoding.get("undeclared") or []
    kept = [
        name if name in undeclared or unread else writing.tool_name(name)
        for name in names
        if name in known or name in undeclared or unread
    ]
    calling: Wire = {"mode": _mode(choice, kept)}
    if kept and calling["mode"] in ("ANY", "VALIDATED"):
        calling["allowedFunctionNames"] = kept
    body["toolConfig"] = {"functionCallingConfig": calling}
    read, _ = choice_from_wire(body["toolConfig"], Reading(writing.endpoint, DERIVED_IDS))
    if read != {name: value for name, value in choice.items() if (name, value) != ("kind", "function")}:
        said = len(kept) == len(names) and (bool(names) or choice["type"] not in ("tool", "allowed"))
        severity = "representation" if said else "weakened"
        loss.replace(("tool_choice",), read, "tool_choice", severity, "the choice in the target's terms")


def _mode(choice: dict[str, Any], names: list[str]) -> str:
    match choice["type"]:
        case "auto":
            return "AUTO"
        case "none":
            return "NONE"
        case "required":
            return "ANY"
        case "tool":
            return "ANY" if names else "AUTO"
        case _ if choice.get("mode") == "required":
            return "ANY"
        case _:
            return "VALIDATED" if names else "AUTO"
