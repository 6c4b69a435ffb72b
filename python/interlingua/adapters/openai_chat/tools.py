"""Tools, the choice of tools, and calls: each written above read."""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from interlingua.adapters import _openai_tools
from interlingua.adapters._items import Item, Member, Row, inside, opaque, read_item, tool_name, write_item
from interlingua.adapters._kit import Wire, within
from interlingua.adapters._openai_calls import arguments_to_wire, custom_input, read_arguments
from interlingua.adapters._openai_parts import INDEX
from interlingua.adapters._openai_tools import as_enforced, fitted_choice, parallel_to_wire, with_required
from interlingua.adapters._openai_writing import can_be_enforced
from interlingua.adapters._reading import Reading
from interlingua.adapters._tools import (
    BESIDE,
    DESCRIPTION,
    GRAMMAR,
    PARAMETERS,
    STRICT,
    Tool,
    report_toolless,
    unreadable_function,
    write_tools,
)
from interlingua.adapters._verbatim import Items
from interlingua.adapters.openai_chat.parts import MARK, Block, has_no_effect
from interlingua.adapters.openai_chat.tables import Writing
from interlingua.canonical.loss import Path

CALLS: Final = "tool_calls"
"""Kind of an opaque block that is an item of the list of calls and not a content part."""

# ---------------------------------------------------------------------------------------------------- tools


_NAME: Final = tool_name()
_FUNCTION: Final = Row(
    {"type": "function"},
    inside("function", Row({}, _NAME, DESCRIPTION, PARAMETERS, STRICT)),
    mark=MARK,
    beside=BESIDE,
)
_CUSTOM: Final = Row(
    {"type": "custom"}, inside("custom", Row({}, _NAME, DESCRIPTION, GRAMMAR)), mark=MARK, beside=BESIDE
)


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Writes `tools`, or the legacy `functions` where the request had them; `read` are those of the body from which they were
    just read."""
    writing.place = ""
    written, of = write_tools(request, writing, _tool_to_wire, _read_definition)
    name = "tools"
    if writing.encoding.get("tools") == "functions" and all(tool["type"] == "function" for tool in written):
        name, written = "functions", [tool["function"] for tool in written]
    if written:
        body[name] = Items(request["tools"], "tools", writing).settled(written, of, read)


def _tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if tool.get("kind") == "custom":
        return write_item(_CUSTOM, _with_nested_grammar(tool, path, writing), writing, path)
    if tool.get("strict"):
        tool = as_enforced(tool, path, writing)
    return write_item(_FUNCTION, with_required(tool, writing, path), writing, path)


def _with_nested_grammar(tool: Tool, path: Path, writing: Writing) -> Tool:
    """Other wires put the parts of a grammar beside its type; this one has an object for them."""
    given = tool.get("format")
    if not _is_flat(given):
        return tool
    nested = {"type": "grammar", "grammar": {name: given[name] for name in ("syntax", "definition")}}
    writing.loss.replace((*path, "format"), nested, "schema_rewritten", "representation", "the wire nests a grammar")
    return {**tool, "format": nested}


def _is_flat(grammar: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(grammar, dict) and grammar.keys() == _FLAT_GRAMMAR and grammar["type"] == "grammar"


_FLAT_GRAMMAR: Final = frozenset(("type", "syntax", "definition"))


def _read_definition(definition: Wire, writing: Writing) -> Tool | None:
    return None if writing.from_another else tool_from_wire(definition, writing.reader())


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """A tool. What is not a readable function or custom tool is kept whole as a tool of the provider."""
    kind, dialect = tool.get("type"), reading.endpoint.dialect
    try:
        if kind == "function":
            read = read_item(_FUNCTION, tool, {}, reading)
            schema = read.get("input_schema")
            if schema is None:
                reading.unusual = reading.unusual or bool(dialect.get("parameters_required"))
            if read.get("strict") and (dialect.get("strict_tools") is False or not can_be_enforced(schema)):
                reading.unusual = True
            return read
        if kind == "custom":
            read = read_item(_CUSTOM, tool, {"kind": "custom"}, reading)
            reading.unusual = reading.unusual or _is_flat(read.get("format"))
            return read
    except (KeyError, TypeError):
        pass
    return unreadable_function(tool, reading.endpoint)


def functions_from_wire(functions: Any, reading: Reading) -> list[Tool] | None:
    """The tools that the functions of the time before tools are; None where one of them is none."""
    if type(functions) is not list:
        return None
    tools = [tool_from_wire({"type": "function", "function": function}, reading) for function in functions]
    return None if any("kind" in tool for tool in tools) else tools


# ---------------------------------------------------------------------------------------------------- choice


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tool_choice` and `parallel_tool_calls`: only beside tools."""
    parallel_to_wire(request, body, writing)
    choice = request.get("tool_choice")
    if choice is None:
        return
    legacy = "functions" in body and "tools" not in body
    if not (legacy or "tools" in body):
        report_toolless(choice, writing.loss)
    elif writing.refuses("tool_choice"):
        writing.report_refused("tool_choice", choice)
    elif not _takes_choice(choice, request, writing):
        message = "the provider has no such way of choosing tools"
        writing.loss.drop(("tool_choice",), "tool_choice", "weakened", message)
    elif (fitted := fitted_choice(choice, writing)) is not None:
        body["function_call" if legacy else "tool_choice"] = _encoded_choice(fitted, writing, legacy=legacy)


def _takes_choice(choice: Mapping[str, Any], request: dict[str, Any], writing: Writing) -> bool:
    """Whether the provider knows a way of choosing; some know fewer while the model reasons."""
    allowed = writing.dialect.get("tool_choices")
    if allowed is None and not _unthinking(request.get("reasoning") or {}):
        allowed = writing.dialect.get("tool_choices_thinking")
    return allowed is None or choice["type"] in allowed


def _unthinking(reasoning: Mapping[str, Any]) -> bool:
    """Whether the caller turned reasoning off."""
    return reasoning.get("mode") == "disabled" or reasoning.get("effort") == "none"


def _encoded_choice(fitted: dict[str, Any], writing: Writing, *, legacy: bool) -> Any:
    match fitted["type"]:
        case "required":
            return writing.dialect.get("tool_choice_required") or "required"
        case "tool" if legacy:
            return {"name": fitted["name"]}
        case "tool":
            return {"type": fitted["kind"], fitted["kind"]: {"name": fitted["name"]}}
        case "allowed":
            tools = [{"type": kind, kind: {"name": name}} for kind, name in fitted["tools"]]
            return {"type": "allowed_tools", "allowed_tools": {"mode": fitted["mode"], "tools": tools}}
        case word:
            return word


def choice_from_wire(value: Any) -> dict[str, Any] | None:
    """The choice that a wire's value means; None when it means none of ours."""
    match value:
        case {"type": "allowed_tools", "allowed_tools": dict(allowed)}:
            return _openai_tools.choice_from_wire(allowed, _named)
        case {"name": str(name), **others} if not others:  # the legacy function_call
            return {"type": "tool", "name": name}
        case _:
            return _openai_tools.choice_from_wire(value, _named)


def _named(tool: Any) -> tuple[str, str] | None:
    match tool:
        case {"function": {"name": str(name)}} if tool.get("type", "function") == "function":
            return "function", name
        case {"type": "custom", "custom": {"name": str(name)}}:
            return "custom", name
        case _:
            return None


# ---------------------------------------------------------------------------------------------------- calls


def _read_arguments(raw: Any, block: Item, reading: Reading) -> None:
    if type(raw) is str:
        read_arguments(raw, block, block["provider_state"])
    elif type(raw) is dict:
        block["input"] = raw
        reading.unusual = True
    else:
        raise TypeError("arguments")


def _write_arguments(block: Item, writing: Writing, path: Path) -> Any:
    return arguments_to_wire(block, writing.encoding_of(block), path, writing.loss)


def _read_input(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("input")
    block["kind"], block["input"], block["input_raw"] = "custom", {}, raw


def _read_id(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("id")
    block["provider_state"]["id"] = raw


def _write_id(block: Item, writing: Writing, path: Path) -> Any:
    return writing.call_id(block, writing.state_of(block))


_CALLED: Final = tool_name(lambda block, writing, path: writing.tool_name(block["name"]))
_ID: Final = Member("id", ("id",), _read_id, _write_id, always=True)
_FUNCTION_CALL: Final = Row(
    {"type": "function"},
    inside(
        "function",
        Row(
            {},
            _CALLED,
            Member("arguments", ("input", "input_raw"), _read_arguments, _write_arguments, always=True),
        ),
    ),
    _ID,
    INDEX,
    mark=MARK,
    beside=("kind",),
)
_CUSTOM_CALL: Final = Row(
    {"type": "custom"},
    inside(
        "custom",
        Row(
            {},
            _CALLED,
            Member(
                "input",
                ("input", "input_raw"),
                _read_input,
                lambda block, writing, path: custom_input(block, path, writing.loss),
                needed=True,
            ),
        ),
    ),
    _ID,
    INDEX,
    mark=MARK,
    beside=("kind",),
)


def call_to_wire(block: Block, index: int, turn: Path, writing: Writing) -> Wire:
    """A call, as it stands in `tool_calls`; `turn` is the path of its message, `index` its position there."""
    name = writing.tool_name(block["name"])
    if name != block["name"]:
        writing.report_name((*turn, "content", index, "name"), name)
    writing.called[block["id"]] = name
    state = writing.state_of(block)
    if within(block, _PLAIN_CALL) and has_no_effect(block):
        arguments = arguments_to_wire(block, writing.encoding_of(block), (), writing.loss)
        function = {"name": name, "arguments": arguments}
        return {"id": writing.call_id(block, state), "type": "function", "function": function}
    writing.place = ""
    row = _CUSTOM_CALL if writing.writes_free_text(block, state) else _FUNCTION_CALL
    return write_item(row, block, writing, (*turn, "content", index))


_PLAIN_CALL: Final = frozenset(("type", "id", "name", "input", "provider_state"))


def call_from_wire(call: Wire, reading: Reading, canonical: str | None = None) -> Block:
    """A call from `tool_calls`; `canonical` is its id when it has one already. What is no readable call is kept whole."""
    block: Block
    kind, inner, wire_id = call.get("type"), call.get("function"), call.get("id")
    if len(call) == 3 and kind == "function" and type(wire_id) is str and type(inner) is dict and len(inner) == 2:
        name, text = inner.get("name"), inner.get("arguments")
        if type(name) is str and name and type(text) is str:  # most calls
            block = {"type": "tool_use", "id": canonical or reading.call(wire_id or None, name), "name": name}
            block["provider_state"] = state = reading.state(id=wire_id)
            read_arguments(text, block, state)
            return block
    block = {"type": "tool_use", "provider_state": reading.state()}
    try:
        read_item(_CUSTOM_CALL if kind == "custom" else _FUNCTION_CALL, call, block, reading)
    except (KeyError, TypeError):
        return opaque(call, CALLS, reading)
    block.setdefault("input", {})
    block["id"] = canonical or reading.call(wire_id or None, block["name"])
    return block


def legacy_call(legacy: Wire, canonical: str, reading: Reading) -> Block:
    """The block of a `function_call`."""
    block: Block = {"type": "tool_use", "id": canonical, "provider_state": reading.state(encoding={"legacy": True})}
    read_item(_LEGACY_CALL, {"function": legacy}, block, reading)
    block.setdefault("input", {})
    return block


_LEGACY_CALL: Final = Row({}, _FUNCTION_CALL.members[0])
