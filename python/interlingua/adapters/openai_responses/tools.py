"""Tools and the choice of tools: each written above read."""

from typing import Any, Final

from interlingua.adapters._items import MISSING, Row, read_item, same, tool_name, write_item
from interlingua.adapters._kit import Wire
from interlingua.adapters._openai_tools import (
    BESIDE,
    DESCRIPTION,
    GRAMMAR,
    NAMING,
    PARAMETERS,
    as_enforced,
    custom_as_function,
    definition_to_wire,
    fitted_choice,
    is_offered,
    offered_kinds,
    parallel_to_wire,
    report_toolless,
    takes_tools,
)
from interlingua.adapters._openai_writing import Target
from interlingua.adapters.openai_responses.context import Reading, Writing
from interlingua.adapters.openai_responses.declared import apart, mark, report_order
from interlingua.adapters.openai_responses.namespaces import NAMESPACE, grouped, own_name, put_into
from interlingua.adapters.openai_responses.parts import MARK
from interlingua.canonical.loss import Path

Tool = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- tools


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tools`, and before the input the items that declare some of them."""
    tools = request["tools"]
    if not takes_tools(tools, writing):
        return
    written = ((tool, _tool_to_wire(tool, ("tools", n), writing)) for n, tool in enumerate(tools))
    present, writing.declaring = apart([(tool, wire) for tool, wire in written if wire is not None], writing)
    if present:
        body["tools"] = grouped(present, writing)
    if writing.declaring:
        report_order(tools, writing)
        body["input"] = [*writing.declaring, *body["input"]]


def _write_name(tool: Tool, writing: Writing, path: Path) -> str:
    within = own_name(tool["name"], writing.encoding_of(tool), writing)
    return writing.told_name(tool["name"], path) if within is None else within


_NAME: Final = tool_name(_write_name)
_STRICT: Final = same("strict", "strict", bool, always=True)
_FUNCTION: Final = Row({"type": "function"}, _NAME, DESCRIPTION, PARAMETERS, _STRICT, mark=MARK, beside=BESIDE)
_CUSTOM: Final = Row({"type": "custom"}, _NAME, DESCRIPTION, GRAMMAR, mark=MARK, beside=BESIDE)


def _tool_to_wire(tool: Tool, path: Path, writing: Writing) -> Wire | None:
    """A tool; None when it was dropped."""
    kind = tool.get("kind") or "function"
    if kind == "provider":
        return definition_to_wire(tool, path, writing, _read_definition)
    if kind == "custom" and writing.folds_custom:
        tool = custom_as_function(tool, path, writing)
        kind = "function"
    elif kind == "custom" and not writing.same_origin:
        tool = _with_flat_grammar(tool, path, writing)
    if kind == "function" and tool.get("strict"):
        tool = as_enforced(tool, path, writing)
    wire = write_item(_FUNCTION if kind == "function" else _CUSTOM, tool, writing, path)
    if kind == "function" and "strict" not in wire and writing.spelt_of(tool).get("strict") != MISSING:
        wire["strict"] = False  # where nothing is said, the service enforces what it can
    if NAMESPACE in writing.encoding_of(tool):
        wire.pop(NAMESPACE, None)  # what belongs to the namespace itself
    return wire


def _read_definition(definition: Wire, writing: Target) -> Tool:
    return tool_from_wire(definition, Reading(writing.endpoint))


def _with_flat_grammar(tool: Tool, path: Path, writing: Writing) -> Tool:
    """Chat Completions has an object for the parts of a grammar; here they stand beside its type."""
    match tool.get("format"):
        case {"type": "grammar", "grammar": {**parts}} if len(tool["format"]) == 2 and "type" not in parts:
            flat = {"type": "grammar", **parts}
            writing.loss.replace(
                (*path, "format"), flat, "schema_rewritten", "representation", "the wire nests no grammar"
            )
            return {**tool, "format": flat}
        case _:
            return tool


def tools_from_wire(wires: list[Any], reading: Reading, taken: set[str] | None = None) -> list[Tool]:
    """All tools, those of namespaces among them; `taken` are the names of others."""
    taken = plain_names(wires) if taken is None else taken
    tools: list[Tool] = []
    for wire in wires:
        match wire:
            case {"type": "namespace", "name": str(name), "tools": list(inner)} if (
                name and inner and all(isinstance(tool, dict) for tool in inner)
            ):
                found = [tool_from_wire(tool, reading) for tool in inner]
                tools += found if put_into(found, wire, taken, reading) else [tool_from_wire(wire, reading)]
            case _:
                tools.append(tool_from_wire(wire, reading))
    return tools


def plain_names(wires: list[Any]) -> set[str]:
    """The names of the tools that stand in no namespace."""
    return {wire["name"] for wire in wires if isinstance(wire.get("name"), str) and wire.get("type") != NAMESPACE}


def declared_from_wire(items: list[Wire], body: Wire, reading: Reading) -> list[Tool] | None:
    """The tools that items declare; None where one of them has the name of another tool."""
    among = body.get("tools")
    named = [*(among if isinstance(among, list) else ()), *(tool for item in items for tool in item["tools"])]
    names = [wire["name"] for wire in named if isinstance(wire.get("name"), str) and wire.get("type") != NAMESPACE]
    taken = set(names)
    if len(taken) != len(names):
        return None
    tools: list[Tool] = []
    for position, item in enumerate(items):
        found = tools_from_wire(item["tools"], reading, taken)
        mark(found, position, reading)
        tools += found
    return tools


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """A tool. What is not a readable function or custom tool is kept whole as a tool of the provider."""
    kind = tool.get("type")
    try:
        if kind == "function":
            return read_item(_FUNCTION, tool, {}, reading)
        if kind == "custom":
            return read_item(_CUSTOM, tool, {"kind": "custom"}, reading)
    except (KeyError, TypeError):
        pass
    label = next((tool[key] for key in ("name", "server_label", "type") if isinstance(tool.get(key), str)), None)
    return {"kind": "provider", "name": label or "tool", "adapter": reading.endpoint.adapter, "definition": tool}


# ---------------------------------------------------------------------------------------------------- choice


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tool_choice` and `parallel_tool_calls`: only beside tools."""
    parallel_to_wire(request, body, writing)
    choice = request.get("tool_choice")
    if choice is None:
        return
    if not ("tools" in body or writing.declaring or writing.had_quirk("tool_choice", "combination")):
        report_toolless(choice, writing)
        return
    if writing.refuses("tool_choice"):
        writing.report_refused("tool_choice", choice)
        return
    offered = offered_kinds(request, _wire_kinds(body)) if choice["type"] in NAMING else {}
    spelling = writing.encoding.get("tool_choice")
    if spelling is not None and choice_from_wire(spelling) == choice and is_offered(choice, offered, request, writing):
        body["tool_choice"] = spelling
    elif (fitted := fitted_choice(choice, offered, request, writing)) is not None:
        body["tool_choice"] = _spelt_choice(fitted)


def _wire_kinds(body: Wire) -> dict[Any, Any]:
    """The kinds of the tools as they were written, by wire name."""
    return {tool.get("name"): tool.get("type") for tool in body.get("tools", ())}


def _spelt_choice(fitted: dict[str, Any]) -> Any:
    match fitted["type"]:
        case "tool":
            return {"type": fitted["kind"], "name": fitted["name"]}
        case "allowed":
            tools = [{"type": kind, "name": name} for kind, name in fitted["tools"]]
            return {"type": "allowed_tools", "mode": fitted["mode"], "tools": tools}
        case word:
            return word


def choice_from_wire(value: Any) -> dict[str, Any] | None:
    """The choice that a wire's value means; None when it means none of ours."""
    match value:
        case "auto" | "none" | "required":
            return {"type": value}
        case {"type": "function", "name": str(name), **others} if not others:
            return {"type": "tool", "name": name}
        case {"type": "custom", "name": str(name), **others} if not others:
            return {"type": "tool", "name": name, "kind": "custom"}
        case {"type": "allowed_tools", "mode": ("auto" | "required") as mode, "tools": list(tools), **others} if (
            tools and not others
        ):
            names = [_allowed_name(tool) for tool in tools]
            return None if None in names else {"type": "allowed", "names": names, "mode": mode}
        case _:
            return None


def _allowed_name(tool: Any) -> str | None:
    match tool:
        case {"type": "function" | "custom", "name": str(name), **others} if not others:
            return name
        case _:
            return None
