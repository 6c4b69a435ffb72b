"""Tools, the choice of tools, and calls, by rows."""

from typing import Any, Final

from interlingua.adapters._as_read import imprint
from interlingua.adapters._free_text import call_as_arguments, tool_as_function
from interlingua.adapters._items import (
    Item,
    Member,
    Row,
    inside,
    json_text,
    read_item,
    text,
    write_item,
)
from interlingua.adapters._kit import (
    NOTHING,
    PROVIDER_TOOL_MEMBERS,
    Wire,
    report_beside_definition,
    report_foreign_state,
    report_own_state,
    report_unknown,
)
from interlingua.adapters._messages import OF_OPAQUE, report_beside
from interlingua.adapters._verbatim import Items
from interlingua.adapters.cohere_chat.parts import is_own_item, opaque
from interlingua.adapters.cohere_chat.tables import CALLS, CHOICES, Reading, Writing
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]
Tool = dict[str, Any]

# ---------------------------------------------------------------------------------------------- rows


def _read_name(raw: Any, item: Item, _: Any) -> None:
    if type(raw) is not str or not raw:
        raise TypeError("name")
    item["name"] = raw


def _write_name(item: Item, writing: Writing, path: Path) -> str:
    return writing.told_name(item["name"], path)


_NAME: Final = Member("name", ("name",), _read_name, _write_name)


def _read_schema(raw: Any, item: Item, _: Any) -> None:
    if type(raw) is not dict:
        raise TypeError("parameters")
    item["input_schema"] = raw


def _write_schema(item: Item, writing: Writing, path: Path) -> Any:
    schema = item.get("input_schema")
    if schema is not None:
        return schema
    message = "the wire wants a schema of each tool"
    writing.loss.replace((*path, "input_schema"), _NO_PARAMETERS, "required_default", "representation", message)
    return _NO_PARAMETERS


_NO_PARAMETERS: Final[dict[str, Any]] = {"type": "object", "properties": {}}
_SCHEMA: Final = Member("parameters", ("input_schema",), _read_schema, _write_schema, always=True)


def _read_id(raw: Any, item: Item, reading: Reading) -> None:
    if type(raw) is not str or "name" not in item:
        raise TypeError("id")  # what is no call takes no id
    item["id"] = reading.call(raw)
    item["provider_state"]["id"] = raw


_TOOL: Final = Row(
    {"type": "function"}, inside("function", Row({}, _NAME, text("description", "description"), _SCHEMA))
)
_CALL: Final = Row(
    {"type": "function"},
    # what the call says is read before its id: what turns out to be none takes no id
    inside("function", Row({}, _NAME, json_text("arguments"))),
    Member("id", ("id",), _read_id, lambda item, writing, path: writing.call_id(item)),
)
_DECLARED: Final = ("side_effects", "requires_workspace")


# ---------------------------------------------------------------------------------------------- tools


def tool_from_wire(tool: Any, reading: Reading) -> Tool:
    """A tool. What is not a readable function is kept whole as a tool of the provider."""
    try:
        read = read_item(_TOOL, tool, {}, reading)
        if "name" in read:
            return read
    except (KeyError, TypeError):
        if type(tool) is not dict:
            raise
    inner: Any = tool.get("function")
    name = (inner.get("name") if type(inner) is dict else None) or tool.get("name") or tool.get("type")
    named = name if type(name) is str and name else "tool"
    reading.unusual = True
    return {"kind": "provider", "name": named, "adapter": reading.endpoint.adapter, "definition": tool}


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Writes `tools`: those that may be called, for the wire cannot name one; and whether their schemas are enforced."""
    tools: list[Tool] = request["tools"]
    offered = _offered(request)
    functions = [tool for tool in tools if tool.get("kind") != "provider"]
    strict = _can_be_strict(functions, writing)
    none = (request.get("tool_choice") or NOTHING).get("type") == "none" and writing.refuses("tool_choice")
    written: list[Wire] = []
    of: list[tuple[int]] = []
    names: set[str] = set()
    for position, tool in enumerate(tools):
        path: Path = ("tools", position)
        if writing.refuses("tools", "tools"):
            writing.loss.drop(path, "unsupported_model", "lost", "the model takes no tools")
        elif none:
            writing.loss.drop(
                path, "tool_choice", "weakened", "the model takes no choice: what may not be called is not offered"
            )
        elif tool["name"] not in offered:
            message = "the wire cannot name a tool: only those are offered that may be called"
            writing.loss.drop(path, "tool_choice", "weakened", message)
        elif (wire := _tool_to_wire(tool, path, writing, strict=strict)) is not None:
            if tool.get("kind") != "provider":
                if tool["name"] in names and not writing.had_twice(tool["name"]):
                    raise InvalidRequest("two tools have one name; give each its own", path=pointer((*path, "name")))
                names.add(tool["name"])
            written.append(wire)
            of.append((position,))
    written = Items(tools, "tools", writing.endpoint, writing.loss).settled(written, of, read)
    if written:
        body["tools"] = written
        if strict:
            body["strict_tools"] = True


def _can_be_strict(functions: list[Tool], writing: Writing) -> bool:
    """Whether the wire enforces the schemas of all these tools: it does so of all or none, and not of any schema. A tool that
    takes free text is a function there, whose schema nobody asked to be enforced."""
    if not functions or not all(tool.get("strict") and tool.get("kind") != "custom" for tool in functions):
        return False
    if all(writing.encoding_of(tool).get("strict") == imprint_of_schema(tool) for tool in functions):
        return True  # as it was read
    schemas = [tool.get("input_schema") or {} for tool in functions]
    if not all(schema.get("required") for schema in schemas) or writing.refuses("strict_tools"):
        return False
    return sum(len(schema.get("properties") or ()) for schema in schemas) <= _MOST_PROPERTIES


def imprint_of_schema(tool: Tool) -> str:
    """What the schema of a tool is known by that was read where schemas are enforced."""
    return imprint(tool.get("input_schema"), "strict")


_MOST_PROPERTIES: Final = 200


def _tool_to_wire(tool: Tool, path: Path, writing: Writing, *, strict: bool) -> Wire | None:
    kind = tool.get("kind") or "function"
    if kind == "provider":
        return _definition_to_wire(tool, path, writing)
    if kind == "custom":
        tool = tool_as_function(tool, writing.loss, path)
    covered = (*_DECLARED, "kind", "strict") if strict and kind == "function" else (*_DECLARED, "kind")
    plain = {name: value for name, value in tool.items() if name not in covered}
    return write_item(_TOOL, plain, writing, path)


def _definition_to_wire(tool: Tool, path: Path, writing: Writing) -> Wire | None:
    definition = tool.get("definition")
    if tool.get("adapter") != writing.endpoint.adapter or type(definition) is not dict:
        writing.loss.drop(path, "provider_tool", "lost", "a tool of another provider cannot be offered here")
        return None
    read = tool_from_wire(definition, Reading(writing.endpoint, DERIVED_IDS))
    if read.get("kind") != "provider" or read["name"] != tool["name"]:
        message = "the tool is read back as what its definition says"
        writing.loss.replace(path, read, "unsupported_value", "representation", message)
        return definition
    report_beside_definition(tool, writing.loss, path)
    if tool.get("cache") is not None:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")
    report_own_state(writing.owned(tool), writing.loss, path, fields=True)
    report_foreign_state(tool, writing.endpoint, writing.loss, path)
    report_unknown(tool, PROVIDER_TOOL_MEMBERS, writing.loss, path)
    return definition


def _offered(request: dict[str, Any]) -> set[str]:
    """The names of the tools that may be called, as far as the wire has no word for the choice."""
    names = {tool["name"] for tool in request["tools"]}
    choice = request.get("tool_choice") or NOTHING
    match choice.get("type"):
        case "tool":
            chosen = {choice.get("name")}
        case "allowed":
            chosen = set(choice.get("names") or ())
        case _:
            return names
    return names & chosen or names


# ---------------------------------------------------------------------------------------------- the choice


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tool_choice`. A tool that must be called is the only one that is offered."""
    choice: dict[str, Any] = request["tool_choice"]
    kind = choice["type"]
    path: Path = ("tool_choice",)
    if not body.get("tools"):
        severity = "representation" if kind in ("auto", "none") else "weakened"
        writing.loss.drop(path, "combination", severity, "without tools there is no choice")
        return
    if writing.refuses("tool_choice"):
        severity = "representation" if kind in ("auto", "none") else "weakened"
        writing.loss.drop(path, "tool_choice", severity, "the model takes no choice of tools")
        return
    if kind == "auto":
        message = "without a choice the model calls as it likes"
        writing.loss.drop(path, "tool_choice", "representation", message)
        return
    word = CHOICES.there.get(kind)
    if word is not None:
        body["tool_choice"] = word
        for name in choice:
            if name != "type":
                writing.loss.drop((*path, name), "unsupported_field", "representation", "this choice says no more")
        return
    message = "only those are offered that may be called"
    if kind == "tool" or choice.get("mode") == "required":
        body["tool_choice"] = CHOICES.there["required"]
        writing.loss.replace(path, {"type": "required"}, "tool_choice", "representation", message)
    else:
        writing.loss.drop(path, "tool_choice", "weakened", message)


def choice_from_wire(value: Any) -> dict[str, Any] | None:
    """The choice that a word names; None for another value."""
    kind = CHOICES.back.get(value) if type(value) is str else None
    return None if kind is None else {"type": kind}


# ---------------------------------------------------------------------------------------------- calls


def call_from_wire(call: Any, reading: Reading) -> Block:
    """A call from `tool_calls`. What is no readable call is kept whole."""
    try:
        block = read_item(_CALL, call, {"type": "tool_use", "provider_state": reading.endpoint.state()}, reading)
        if "name" in block and "id" in block:
            block.setdefault("input", {})
            return block
    except (KeyError, TypeError):
        pass
    reading.unusual = True
    return opaque(call, CALLS, reading)


def call_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """A call, as it stands in `tool_calls`."""
    if block["type"] == "opaque":
        report_beside(block, OF_OPAQUE, writing, path)
        call: Wire = block["value"]
        return call
    if block.get("kind", "function") != "function":
        arguments = call_as_arguments(block.get("input_raw"), writing.loss, path)
        block = {name: value for name, value in block.items() if name not in ("kind", "input_raw")}
        block["input"] = arguments
    elif "kind" in block:
        block = {name: value for name, value in block.items() if name != "kind"}
    return write_item(_CALL, block, writing, path)


def is_call(block: Block, writing: Writing) -> bool:
    """Whether a block stands in `tool_calls`."""
    return block["type"] == "tool_use" or (
        block["type"] == "opaque" and block.get("kind") == CALLS and is_own_item(block, "assistant", writing)
    )
