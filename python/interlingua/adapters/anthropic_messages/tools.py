"""Read and write tools and the tool choice."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import NAME
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.schemas import PLACES, enforced, is_object, object_at_root
from interlingua.adapters._claude.values import string
from interlingua.adapters._content import built_in
from interlingua.adapters._content.choice import Ways, fitted_choice, offered_tools
from interlingua.adapters._content.schema import Schema, definitions, parts
from interlingua.adapters._content.tools import (
    DESCRIPTION,
    TOOL_ELSEWHERE,
    Of,
    Tool,
    is_plain,
    of_provider,
    write_tools,
)
from interlingua.adapters._engine.as_read import STRICT
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, by_rule, read_item, same
from interlingua.adapters._engine.kit import NOTHING, UNREADABLE, Wire
from interlingua.adapters._requests.members import Members
from interlingua.adapters.anthropic_messages import toolsets
from interlingua.adapters.anthropic_messages.items import CACHE, item_to_wire
from interlingua.adapters.anthropic_messages.tables import MAX_STRICT, TOOL_CHOICE, Writing
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path, pointer

Demands = tuple[int, int, int]

# ---------------------------------------------------------------------------------------------- schemas that are enforced

_MOST_LEVELS: Final = 64


def demands(schema: Any, level: int = 0) -> tuple[int, int]:
    """Count the optional parameters of a schema, and those with more than one type."""
    if not isinstance(schema, dict) or level > _MOST_LEVELS:
        return 0, 0
    properties, required = schema.get("properties"), schema.get("required")
    optional = 0
    if isinstance(properties, dict):
        needed = required if isinstance(required, list) else ()
        optional = sum(name not in needed for name in properties)
    unions = int("anyOf" in schema or "oneOf" in schema or isinstance(schema.get("type"), list))
    for part in parts(schema, PLACES):
        inner = demands(part, level + 1)
        optional += inner[0]
        unions += inner[1]
    return optional, unions


def can_be_enforced(schema: Schema) -> bool:
    """Whether a schema refers neither to itself nor to anything outside of it, and is not nested too deeply."""
    return _ends(schema, definitions(schema), (), set(), 0)


def _ends(value: Any, known: dict[str, Any], above: tuple[str, ...], done: set[str], level: int) -> bool:
    """Whether every reference in a value leads to a definition that does not contain the reference itself.

    `above` are the definitions that contain the value, `done` the references that were checked with success.
    """
    if level > _MOST_LEVELS:
        return False
    inner: list[Any] = value if isinstance(value, list) else []
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str) and reference not in done:
            if reference not in known or reference in above:
                return False
            if not _ends(known[reference], known, (*above, reference), done, level + 1):
                return False
            done.add(reference)
        inner = list(value.values())
    for part in inner:  # noqa: SIM110 a generator costs more than the check
        if not _ends(part, known, above, done, level + 1):
            return False
    return True


# ---------------------------------------------------------------------------------------------- rows


def _write_schema(tool: Tool, writing: Writing, path: Path) -> Any:
    return object_at_root(tool.get("input_schema"), writing.loss, (*path, "input_schema"))


def _not_read(raw: Any, tool: Tool, reading: Reading) -> None:
    """Read nothing: the other members of a tool determine its kind."""


_CUSTOM: Final = "custom"
_TOOL: Final = ItemRow(
    {},
    NAME,
    DESCRIPTION,
    by_rule("input_schema", ("input_schema",), dict, _write_schema, soft=True),
    same("strict", "strict", bool),
    Member("type", (), _not_read, lambda tool, writing, path: ABSENT),
    mark=CACHE,
    elsewhere=TOOL_ELSEWHERE,
)

# ---------------------------------------------------------------------------------------------- tools that the client runs


def _client_run(kind: str, entry: dict[str, Any]) -> built_in.Tool:
    row = ItemRow(
        {"type": kind, "name": entry["name"]},
        same("strict", "strict", bool),
        mark=CACHE,
        elsewhere=built_in.TOOL_ELSEWHERE,
    )
    return built_in.Tool(kind, entry, row)


_CLIENT_RUN: Final = {
    kind: _client_run(kind, entry)
    for kind, entry in built_in.entries("anthropic_messages")
    if kind not in toolsets.SETS
}
"""The built-in tools that the client runs, by type on the wire (spec/adapters/anthropic_messages.md#anthropic-messages-built-in).
Their calls and results are the same as those of any tool."""


def _built_in(definition: Wire) -> built_in.Tool | None:
    """Return the built-in tool that a definition offers; None for any other tool of the provider."""
    kind = definition.get("type")
    tool = _CLIENT_RUN.get(kind) if isinstance(kind, str) else None
    return tool if tool is not None and definition.get("name") == tool.name else None


# ---------------------------------------------------------------------------------------------- from the wire


def read_tools(name: str, value: Any, members: Members[Reading]) -> bool:
    """Read the tools of a request, including the tools of sets."""
    if type(value) is not list:
        return False
    reading = members.reading
    tools: list[Tool] = []
    taken: set[str] | None = None
    for wire in value:
        try:
            of_set: list[Tool] = []
            if "name" not in wire:
                if taken is None:
                    taken = {tool["name"] for tool in value if type(tool) is dict and type(tool.get("name")) is str}
                of_set = toolsets.functions(wire, taken, reading)
            if of_set:
                reading.tools.append(range(len(tools), len(tools) + len(of_set)))
                tools += of_set
            else:
                tools.append(tool_from_wire(wire, reading))
                reading.tools.append((len(tools) - 1,))
        except UNREADABLE as problem:
            message = "a tool cannot be read: a member is missing or has the wrong type"
            raise InvalidWire(
                message, path=pointer((name, len(reading.tools))), adapter=members.endpoint.adapter
            ) from problem
    members.request["tools"] = tools
    return True


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """Read a tool of the caller; a tool that the provider defines is kept whole."""
    kind = tool.get("type")
    if kind is not None and kind != _CUSTOM:
        string(kind)
        if "cache_control" in tool:
            reading.must_compare = True
        if (client_run := _built_in(tool)) is not None:
            if tool.get("strict") is not None:
                reading.must_compare = True
            return client_run.read(tool, reading)
        return of_provider(tool, reading.endpoint, tool.get("name"), kind)  # a toolset has no name
    schema = tool.get("input_schema")
    if type(schema) is not dict and schema is not None and type(schema) is not bool:
        raise TypeError("input_schema")  # true is a JSON Schema too, but one without named arguments
    if type(schema) is not dict or tool.get("strict") is not None or "type" in tool or not is_object(schema):
        reading.must_compare = True
    return read_item(_TOOL, tool, {}, reading)


def tool_choice_from_wire(choice: Wire, request: dict[str, Any]) -> Wire:
    """Read the tool choice, and whether parallel calls are allowed; return the members that become options. The types of the members
    were checked before. A choice of an unknown kind becomes an option as a whole."""
    others = {name: value for name, value in choice.items() if value is not None}
    kind = others.pop("type", None)
    if kind is not None:
        if kind not in TOOL_CHOICE.back or (kind == "tool" and not others.get("name")):
            return {"type": kind, **others}
        request["tool_choice"] = {"type": TOOL_CHOICE.back[kind]}
        if kind == "tool":
            request["tool_choice"]["name"] = others.pop("name")
    if "disable_parallel_tool_use" in others:
        request["parallel_tool_calls"] = not others.pop("disable_parallel_tool_use")
    return others


# ---------------------------------------------------------------------------------------------- to the wire


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> Of:
    """Write the tools of a request; return, for each written definition, the positions of its canonical tools."""
    if request.get("tools") is None:
        return []
    sets = toolsets.find_sets(request["tools"], writing)

    def write(tool: Tool, writing: Writing, path: Path) -> Wire | None:
        """Write a tool. The first tool of a set writes the whole set, the others write nothing."""
        if tool["name"] in writing.members:
            run = sets.get(int(path[1]))
            return None if run is None else toolsets.set_to_wire(request["tools"], run, writing)
        return _tool_to_wire(tool, writing, path)

    wires, of = write_tools(request, writing, write, _read_definition, one_name_each=True)
    if sets:
        of = [sets.get(positions[0], positions) for positions in of]
    strict: Demands | None = None
    for wire, positions in zip(wires, of, strict=True):
        if wire.get("strict") is True and "input_schema" in wire:
            if strict is None:
                strict = (0, *demands((request.get("response_format") or {}).get("schema")))
            strict = _strict_to_wire(wire, strict, writing, ("tools", positions[0]))
    toolsets.report_expanded(request["tools"], wires, of, writing)
    if wires or not request["tools"]:
        body["tools"] = wires
    return of


def _strict_to_wire(wire: Wire, others: Demands, writing: Writing, path: Path) -> Demands:
    """Convert the schema of a strict tool to the enforced dialect; return the demands so far, with this tool if it stays strict."""
    optional, unions = demands(wire["input_schema"])
    together = (others[0] + 1, others[1] + optional, others[2] + unions)
    if writing.lacks("supports_structured_output", STRICT):
        code, message = "unsupported_model", "the model does not enforce schemas"
    elif not can_be_enforced(wire["input_schema"]):
        code, message = "unsupported_value", "the target does not enforce schemas that refer to themselves"
    elif over := [what for count, most, what in zip(together, MAX_STRICT, _DEMANDED, strict=True) if count > most]:
        code, message = "limit_exceeded", f"the target enforces {over[0]} in a request"
    else:
        wire["input_schema"] = enforced(wire["input_schema"], writing.loss, (*path, "input_schema"))
        return together
    del wire["strict"]
    writing.loss.drop((*path, "strict"), code, "weakened", message)
    return others


_DEMANDED: Final = (
    f"{MAX_STRICT[0]} tools",
    f"{MAX_STRICT[1]} parameters that may be left out",
    f"{MAX_STRICT[2]} parameters of several types",
)


def _built_in_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire | None:
    """Write a tool that was read as a built-in tool; return None if it is an ordinary function now."""
    client_run = built_in.definition_of(tool, _CLIENT_RUN, writing)
    if client_run is None:
        return None
    return client_run.put_back(item_to_wire(client_run.row, tool, writing, path), tool, writing)


def _tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if is_plain(tool):
        name, schema = writing.written_tool_name(tool["name"], path), _write_schema(tool, writing, path)
        return {"name": name, "description": tool["description"], "input_schema": schema}
    if "provider_state" in tool:
        if (definition := _built_in_to_wire(tool, writing, path)) is not None:
            return definition
        tool = built_in.as_function(tool, writing, path)
    return item_to_wire(_TOOL, tool, writing, path)


def _read_definition(definition: Wire, writing: Writing) -> Tool | None:
    if definition.get("type", _CUSTOM) in (None, _CUSTOM):
        return None
    writing.marked(definition)
    return tool_from_wire(definition, writing.reader())


def tool_choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Write the tool choice, which also has the switch for parallel calls."""
    wire: Wire = {}
    fitted: Wire | None = None
    if request.get("tool_choice") is not None:
        ways = _IN_SET if _is_in_set(request["tool_choice"], writing) else _WAYS
        fitted = fitted_choice(body.get("tools"), ways, writing, _offered)
    if fitted is not None:
        wire["type"] = TOOL_CHOICE.there[fitted["type"]]
        if "name" in fitted:
            wire["name"] = fitted["name"]
    parallel = request.get("parallel_tool_calls")
    if parallel is not None:
        if not body.get("tools") or wire.get("type") == "none":
            message = "where no tool can be called, parallel calls have no effect"
            writing.loss.drop(("parallel_tool_calls",), "combination", "representation", message)
        else:
            wire["disable_parallel_tool_use"] = not parallel
            if fitted is None:
                wire["type"] = "auto"
                message = "the wire has the parallel switch inside the tool choice"
                auto = {"type": "auto"}
                writing.loss.replace(("tool_choice",), auto, "required_default", "representation", message)
    if wire:
        body["tool_choice"] = wire


_WAYS: Final = Ways(("auto", "none", "required", "tool"))
_IN_SET: Final = Ways(("auto", "none", "required"))


def _is_in_set(choice: dict[str, Any], writing: Writing) -> bool:
    """Whether a choice names a tool that is written as part of a set; no choice on the wire can name such a tool."""
    return not writing.members.keys().isdisjoint((choice.get("name"), *(choice.get("names") or ())))


def _offered(writing: Writing) -> dict[str, str]:
    """Return the tools that a choice can name. A tool of the provider is one of them if its name on the wire is the same."""
    offered = offered_tools(writing)
    for tool in writing.source.get("tools") or ():
        if tool.get("kind") == "provider" and tool.get("adapter") == writing.endpoint.adapter:
            if (tool.get("definition") or NOTHING).get("name") == tool["name"]:
                offered[tool["name"]] = "provider"
    return offered
