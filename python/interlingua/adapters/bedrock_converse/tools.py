"""Read and write tools and the tool choice."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import NAME
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.schemas import enforced, is_object, object_at_root
from interlingua.adapters._content.choice import Ways, fitted_choice
from interlingua.adapters._content.tools import (
    TOOL_ELSEWHERE,
    Of,
    Tool,
    is_plain,
    of_provider,
    write_tools,
)
from interlingua.adapters._engine.as_read import STRICT
from interlingua.adapters._engine.items import ABSENT, ItemRow, by_rule, inside, read_item, write_item
from interlingua.adapters._engine.kit import UNREADABLE, Wire, malformed
from interlingua.adapters._requests.members import Members
from interlingua.adapters.bedrock_converse.tables import Writing, cache_from_wire
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- rows


def _write_description(tool: Tool, writing: Writing, path: Path) -> Any:
    description = tool.get("description", ABSENT)
    if description is ABSENT or description:
        return description
    message = "the target does not accept an empty description"
    writing.loss.drop((*path, "description"), "empty_content", "representation", message)
    return ABSENT


def _write_schema(tool: Tool, writing: Writing, path: Path) -> Any:
    where = (*path, "input_schema")
    schema = object_at_root(tool.get("input_schema"), writing.loss, where)
    return enforced(schema, writing.loss, where) if tool.get("strict") and not _never_strict(tool, writing) else schema


def _write_strict(tool: Tool, writing: Writing, path: Path) -> Any:
    if not (tool.get("strict") and _never_strict(tool, writing)):
        return tool.get("strict", ABSENT)
    writing.loss.drop((*path, "strict"), "unsupported_model", "weakened", "the model does not enforce schemas")
    return ABSENT


_TOOL: Final = ItemRow(
    {},
    inside(
        "toolSpec",
        ItemRow(
            {},
            NAME,
            by_rule("description", ("description",), str, _write_description),
            inside(
                "inputSchema",
                ItemRow({}, by_rule("json", ("input_schema",), dict, _write_schema, soft=True)),
                optional=True,
            ),
            by_rule("strict", ("strict",), bool, _write_strict, soft=True),
        ),
    ),
    elsewhere=(*TOOL_ELSEWHERE, "cache"),
)

# ---------------------------------------------------------------------------------------------- from the wire


def tool_config_from_wire(config: Wire, members: Members[Reading]) -> None:
    """Read the tools and the tool choice; unknown members become an option."""
    others: Wire = {}
    for name, value in config.items():
        match name:
            case _ if value is None or (name == "tools" and value == []):
                pass
            case "tools" if type(value) is list:
                members.request["tools"] = _tools_from_wire(value, members.reading)
            case "toolChoice" if (choice := _choice_from_wire(_without_nulls(value))) is not None:
                members.request["tool_choice"] = choice
            case _:
                others[name] = value
    if others:
        members.options["toolConfig"] = others
        members.reading.must_compare = members.reading.must_compare or "tools" in others


def _tools_from_wire(wires: list[Any], reading: Reading) -> list[Tool]:
    tools: list[Tool] = []
    position = 0
    try:
        for position, wire in enumerate(wires):  # noqa: B007 (named by the error)
            if (
                "cachePoint" in wire
                and len(wire) == 1
                and tools
                and "cache" not in tools[-1]
                and (hint := cache_from_wire(wire["cachePoint"])) is not None
            ):
                tools[-1]["cache"] = hint
                reading.mark(hint)
            else:
                tools.append(_tool_from_wire(wire, reading))
    except UNREADABLE as problem:
        raise malformed("a tool", ("toolConfig", "tools", position), reading.adapter) from problem
    return tools


def positions_of(wires: list[Any], tools: list[Tool]) -> list[tuple[int, ...]]:
    """Return, for each wire item, the position of its canonical tool. A cache mark belongs to the tool before it."""
    made: list[tuple[int, ...]] = []
    position = -1
    for wire in wires:
        begins = position + 1 < len(tools)
        if begins and ("cachePoint" not in wire or tools[position + 1].get("definition") is wire):
            position += 1
        made.append((position,))
    return made


def _tool_from_wire(wire: Wire, reading: Reading) -> Tool:
    """Read a tool of the caller; a tool that the provider runs is kept whole."""
    if wire.get("toolSpec") is None:
        kind = next((name for name in wire if wire[name] is not None), None)
        if kind is None:
            raise KeyError("toolSpec")
        inner = wire[kind]
        reading.must_compare = True
        return of_provider(wire, reading.endpoint, inner.get("name") if isinstance(inner, dict) else None, kind)
    spec = wire["toolSpec"]
    if len(wire) == 1 and type(spec) is dict and len(spec) == 3:  # most tools
        name, description, schema = spec.get("name"), spec.get("description"), _plain_schema(spec.get("inputSchema"))
        if type(name) is str and name and type(description) is str and description and schema is not None:
            return {"name": name, "description": description, "input_schema": schema}
    tool = read_item(_TOOL, wire, {}, reading)
    reading.must_compare = reading.must_compare or "input_schema" not in tool
    if "strict" in tool or tool.get("description") == "" or not is_object(tool.get("input_schema") or {}):
        reading.must_compare = True
    return tool


def _plain_schema(value: Any) -> dict[str, Any] | None:
    if type(value) is not dict or len(value) != 1 or type(schema := value.get("json")) is not dict:
        return None
    return schema if is_object(schema) else None


def _without_nulls(choice: Any) -> Any:
    return {kind: value for kind, value in choice.items() if value is not None} if type(choice) is dict else choice


def _choice_from_wire(choice: Any) -> dict[str, Any] | None:
    """Read a tool choice; return None if it does not have its documented shape."""
    match choice:
        case {"auto": dict(inner), **others} if not inner and not others:
            return {"type": "auto"}
        case {"any": dict(inner), **others} if not inner and not others:
            return {"type": "required"}
        case {"tool": {"name": str(name), **members}, **others} if not members and not others:
            return {"type": "tool", "name": name}
        case _:
            return None


# ---------------------------------------------------------------------------------------------- to the wire


def tools_to_wire(request: dict[str, Any], writing: Writing) -> tuple[list[Wire] | None, Of]:
    """Write the tools of a request and their cache marks; return None instead if the request has no member `tools`. Return also,
    for each wire item, the position of its canonical tool."""
    tools: list[Tool] | None = request.get("tools")
    of: Of = []
    if tools is None:
        return None, of
    wires: list[Wire] = []
    written, places = write_tools(request, writing, _tool_to_wire, _read_definition, one_name_each=True)
    for wire, place in zip(written, places, strict=True):
        position = place[0]
        tool = tools[position]
        wires.append(wire)
        of.append(place)
        if "cache" in tool and (mark := writing.mark(tool["cache"], ("tools", position))) is not None:
            wires.append(mark)
            of.append(place)
    return wires, of


def _tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if is_plain(tool):
        name, schema = writing.written_tool_name(tool["name"], path), {"json": _write_schema(tool, writing, path)}
        return {"toolSpec": {"name": name, "description": tool["description"], "inputSchema": schema}}
    return write_item(_TOOL, tool, writing, path)


def _never_strict(tool: Tool, writing: Writing) -> bool:
    return writing.lacks("supports_structured_output", STRICT)


def _read_definition(definition: Wire, writing: Writing) -> Tool | None:
    if not definition or "cachePoint" in definition:
        return None
    writing.marked(definition)
    return _tool_from_wire(definition, writing.reader())


# ---------------------------------------------------------------------------------------------- choice


def choice_to_wire(request: dict[str, Any], tools: list[Wire], writing: Writing) -> Wire | None:
    """Write the tool choice; without tools there is none."""
    fitted = fitted_choice(tools, _WAYS, writing)
    if fitted is None:
        return None
    return {_CHOICE[fitted["type"]]: {"name": fitted["name"]} if "name" in fitted else {}}


_CHOICE: Final = {"auto": "auto", "required": "any", "tool": "tool"}
_WAYS: Final = Ways(_CHOICE)
