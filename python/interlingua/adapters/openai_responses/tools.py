"""Tools and the choice of tools: each written above read."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, TOOL_MEMBERS, Wire, report_unknown, within
from interlingua.adapters._openai_members import TOOLS, plain_function
from interlingua.adapters._openai_tools import (
    NAMING,
    custom_as_function,
    fitted_choice,
    is_offered,
    offered_kinds,
    parallel_to_wire,
    report_beside_definition,
    report_misplaced,
    report_toolless,
    takes_tools,
)
from interlingua.adapters.openai_responses.context import Reading, Writing, report_state
from interlingua.adapters.openai_responses.declared import apart, mark, report_order
from interlingua.adapters.openai_responses.namespaces import NAMESPACE, grouped, own_name, put_into
from interlingua.adapters.openai_responses.parts import cache_from_wire, cache_to_wire
from interlingua.canonical.loss import Path

Tool = dict[str, Any]

_SAYING: Final = frozenset(("kind", "name", "description", "input_schema", "strict", "format"))


# ---------------------------------------------------------------------------------------------------- tools


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tools`, and before the input the items that declare some of them."""
    tools = request["tools"]
    if not takes_tools(tools, writing):
        return
    written = ((tool, tool_to_wire(tool, ("tools", n), writing, request)) for n, tool in enumerate(tools))
    present, writing.declaring = apart([(tool, wire) for tool, wire in written if wire is not None], writing)
    if present:
        body["tools"] = grouped(present, writing)
    if writing.declaring:
        report_order(tools, writing)
        body["input"] = [*writing.declaring, *body["input"]]


def tool_to_wire(tool: Tool, path: Path, writing: Writing, request: dict[str, Any]) -> Wire | None:
    """A tool; None when it was dropped."""
    kind = tool.get("kind") or "function"
    if kind == "provider":
        return _provider_tool(tool, path, writing)
    if kind == "custom" and writing.folds_custom:
        tool = custom_as_function(tool, path, writing)
        kind = "function"
    if kind == "custom" and not writing.same_origin:
        tool = _with_flat_grammar(tool, path, writing)
    state = writing.owned(tool)
    encoding = state.get("encoding") or NOTHING
    item: Wire = {**(state.get("fields") or NOTHING), "type": kind}
    within_namespace = own_name(tool["name"], encoding, writing)
    if NAMESPACE in encoding:
        item.pop(NAMESPACE, None)  # what belongs to the namespace itself
    item["name"] = writing.told_name(tool["name"], path) if within_namespace is None else within_namespace
    if tool.get("description") is not None:
        item["description"] = tool["description"]
    members = (("input_schema", "parameters"), ("strict", "strict")) if kind == "function" else (("format", "format"),)
    for name, member in members:
        if tool.get(name) is not None:
            item[member] = tool[name]
    if (
        item.get("strict")
        and kind == "function"
        and writing.refuses_strict(item.get("parameters"), (*path, "strict"), kept=writing.has_quirk(tool, TOOLS))
    ):
        del item["strict"]
    if kind == "function" and "strict" not in item and not _silent(encoding):
        item["strict"] = False  # where nothing is said, the service enforces what it can
    report_misplaced(tool, kind, path, writing)
    for name, value in encoding.get("nulls", NOTHING).items():
        item.setdefault(name, value)
    if not within(tool, _SAYING):
        if tool.get("cache") is not None:
            cache_to_wire(tool["cache"], item, encoding, (*path, "cache"), writing)
        report_state(tool, writing, path)
        report_unknown(tool, TOOL_MEMBERS, writing.loss, path)
    return item


def _silent(encoding: Mapping[str, Any]) -> bool:
    """Whether a tool came without a word on `strict`, or with null."""
    return "strict" in encoding.get("absent", ()) or "strict" in encoding.get("nulls", NOTHING)


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


def _provider_tool(tool: Tool, path: Path, writing: Writing) -> Wire | None:
    if tool.get("adapter") != writing.endpoint.adapter or not isinstance(tool.get("definition"), dict):
        message = "a tool of another provider cannot be offered here"
        writing.loss.drop(path, "provider_tool", "lost", message)
        return None
    read = tool_from_wire(tool["definition"], Reading(writing.endpoint))
    if {name: tool.get(name) for name in ("kind", "name", "definition")} != {
        name: read.get(name) for name in ("kind", "name", "definition")
    }:
        message = "the tool is read back as what its definition says"
        writing.loss.replace(path, read, "unsupported_value", "representation", message)
        return tool["definition"]
    report_state(tool, writing, path, fields=True)
    report_beside_definition(tool, path, writing)
    return tool["definition"]


_FUNCTION: Final = (
    ("description", "description", str),
    ("input_schema", "parameters", dict),
    ("strict", "strict", bool),
)
_CUSTOM: Final = (("description", "description", str), ("format", "format", dict))
_OF_FUNCTION: Final = frozenset(("type", "name", *(member for _, member, _ in _FUNCTION)))
_OF_CUSTOM: Final = frozenset(("type", "name", *(member for _, member, _ in _CUSTOM)))


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
    kind, name = tool.get("type"), tool.get("name")
    if kind == "function" and (plain := plain_function(tool, others=1)) is not None and "strict" in plain:
        return plain
    custom = kind == "custom"
    members = _CUSTOM if custom else _FUNCTION
    if not (custom or kind == "function") or not isinstance(name, str) or not name or not _fits(tool, members):
        label = next((tool[key] for key in ("name", "server_label", "type") if isinstance(tool.get(key), str)), None)
        return {"kind": "provider", "name": label or "tool", "adapter": reading.endpoint.adapter, "definition": tool}
    read: Tool = {"kind": "custom", "name": name} if custom else {"name": name}
    for canonical, member, _ in members:
        if tool.get(member) is not None:
            read[canonical] = tool[member]
    known = _OF_CUSTOM if custom else _OF_FUNCTION
    said = custom or "strict" in tool
    if within(tool, known) and None not in tool.values():
        if not said:
            read["provider_state"] = reading.state(encoding={"absent": ["strict"]})
        return read
    fields = {key: value for key, value in tool.items() if key not in known and value is not None}
    encoding: dict[str, Any] = {} if said else {"absent": ["strict"]}
    if nulls := {key: None for key, value in tool.items() if value is None}:
        encoding["nulls"] = nulls
    cache_from_wire(fields, read, encoding, reading)
    if fields or encoding:
        read["provider_state"] = reading.state(
            **({"fields": fields} if fields else {}), **({"encoding": encoding} if encoding else {})
        )
    return read


def _fits(tool: Wire, members: tuple[tuple[str, str, type], ...]) -> bool:
    for _, member, kind in members:
        value = tool.get(member)
        if value is not None and not isinstance(value, kind):
            return False
    return True


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
