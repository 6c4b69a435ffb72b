"""Tools, the choice of tools, and calls: for each, the writer is above the reader."""

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeGuard

from interlingua.adapters._content.calls import argument_text, call_id, free_text, plain_call, read_call, text_of
from interlingua.adapters._content.choice import ALL, Ways, fitted_choice
from interlingua.adapters._content.tools import (
    DESCRIPTION,
    GRAMMAR,
    PARAMETERS,
    STRICT,
    TOOL_ELSEWHERE,
    Tool,
    read_tool,
    write_tools,
)
from interlingua.adapters._engine.items import ItemRow, inside, opaque, tool_name, write_item
from interlingua.adapters._engine.kit import Wire, within
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.verbatim import Items
from interlingua.adapters._openai import tools as _openai_tools
from interlingua.adapters._openai.parts import INDEX
from interlingua.adapters._openai.tools import as_enforced, parallel_to_wire, with_required
from interlingua.adapters._openai.writing import can_be_enforced
from interlingua.adapters.openai_chat.parts import MARK, Block, has_no_effect
from interlingua.adapters.openai_chat.tables import Writing
from interlingua.canonical.loss import Path

CALLS: Final = "tool_calls"
"""Kind of an opaque block that is an item of the list of calls and not a content part."""

# ---------------------------------------------------------------------------------------------------- tools


_NAME: Final = tool_name()
_FUNCTION_TOOL: Final = ItemRow(
    {"type": "function"},
    inside("function", ItemRow({}, _NAME, DESCRIPTION, PARAMETERS, STRICT)),
    mark=MARK,
    elsewhere=TOOL_ELSEWHERE,
)
_CUSTOM_TOOL: Final = ItemRow(
    {"type": "custom"}, inside("custom", ItemRow({}, _NAME, DESCRIPTION, GRAMMAR)), mark=MARK, elsewhere=TOOL_ELSEWHERE
)


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Write `tools`, or the legacy `functions` where the request had them. `read` holds the tools of the body from
    which these tools were just read."""
    writing.place = ""
    written, of = write_tools(request, writing, _tool_to_wire, _read_definition)
    name = "tools"
    if writing.encoding.get("tools") == "functions" and all(tool["type"] == "function" for tool in written):
        name, written = "functions", [tool["function"] for tool in written]
    if written:
        body[name] = Items(request["tools"], "tools", writing).settled(written, of, read)


def _tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if tool.get("kind") == "custom":
        return write_item(_CUSTOM_TOOL, _with_nested_grammar(tool, path, writing), writing, path)
    if tool.get("strict"):
        tool = as_enforced(tool, path, writing)
    return write_item(_FUNCTION_TOOL, with_required(tool, writing, path), writing, path)


def _with_nested_grammar(tool: Tool, path: Path, writing: Writing) -> Tool:
    """Put the parts of a grammar into an object. Other wires have them next to its type."""
    given = tool.get("format")
    if not _is_flat(given):
        return tool
    nested = {"type": "grammar", "grammar": {name: given[name] for name in ("syntax", "definition")}}
    writing.loss.replace(
        (*path, "format"), nested, "schema_rewritten", "representation", "the wire nests the grammar in an object"
    )
    return {**tool, "format": nested}


def _is_flat(grammar: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(grammar, dict) and grammar.keys() == _FLAT_GRAMMAR and grammar["type"] == "grammar"


_FLAT_GRAMMAR: Final = frozenset(("type", "syntax", "definition"))


def _read_definition(definition: Wire, writing: Writing) -> Tool | None:
    return None if writing.from_another else tool_from_wire(definition, writing.reader())


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """Read a tool. A tool that is no readable function or custom tool is kept whole as a tool of the provider."""
    kind, dialect = tool.get("type"), reading.endpoint.dialect
    if kind == "custom":
        read = read_tool(_CUSTOM_TOOL, tool, reading, "custom")
        reading.must_compare = reading.must_compare or _is_flat(read.get("format"))
        return read
    read = read_tool(_FUNCTION_TOOL if kind == "function" else None, tool, reading)
    schema = read.get("input_schema")
    if schema is None:
        reading.must_compare = reading.must_compare or bool(dialect.get("parameters_required"))
    if read.get("strict") and (dialect.get("strict_tools") is False or not can_be_enforced(schema)):
        reading.must_compare = True
    return read


def functions_from_wire(functions: Any, reading: Reading) -> list[Tool] | None:
    """Read the legacy `functions` as tools; return None where one of them is not a function."""
    if type(functions) is not list:
        return None
    tools = [tool_from_wire({"type": "function", "function": function}, reading) for function in functions]
    return None if any("kind" in tool for tool in tools) else tools


# ---------------------------------------------------------------------------------------------------- choice


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Write `tool_choice` and `parallel_tool_calls`, which are valid only with tools."""
    parallel_to_wire(request, body, writing)
    legacy = "functions" in body and "tools" not in body
    fitted = fitted_choice(legacy or "tools" in body, Ways(_types(request, writing)), writing)
    if fitted is not None:
        body["function_call" if legacy else "tool_choice"] = _encoded_choice(fitted, writing, legacy=legacy)


def _types(request: dict[str, Any], writing: Writing) -> Collection[str]:
    """Return the types of choice that the provider accepts. Some accept fewer while the model reasons."""
    taken = writing.dialect.get("tool_choices")
    if taken is None and not _unthinking(request.get("reasoning") or {}):
        taken = writing.dialect.get("tool_choices_thinking")
    return ALL if taken is None else taken


def _unthinking(reasoning: dict[str, Any]) -> bool:
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
    """Return the choice that a wire value means, or None when it has no canonical counterpart."""
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


def _write_name(block: Block, writing: Writing, path: Path) -> str:
    name = writing.called[block["id"]] = writing.written_tool_name(block["name"], path)
    return name


_CALLED: Final = tool_name(_write_name)
_ID: Final = call_id(always=True)
_FUNCTION: Final = inside("function", ItemRow({}, _CALLED, argument_text()))
_CALLS: Final[Mapping[str, ItemRow]] = {
    "function": ItemRow({"type": "function"}, _FUNCTION, _ID, INDEX, mark=MARK),
    "custom": ItemRow({"type": "custom"}, inside("custom", ItemRow({}, _CALLED, free_text())), _ID, INDEX, mark=MARK),
}


def call_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """Return a call as an item of `tool_calls`."""
    if within(block, _PLAIN_CALL) and has_no_effect(block):  # most calls
        function = {"name": _write_name(block, writing, path), "arguments": text_of(block, writing, path)}
        return {"id": writing.call_id(block, writing.state_of(block)), "type": "function", "function": function}
    writing.place = ""
    return write_item(_CALLS["custom" if writing.writes_free_text(block) else "function"], block, writing, path)


_PLAIN_CALL: Final = frozenset(("type", "id", "name", "input", "provider_state"))


def call_from_wire(call: Wire, reading: Reading, canonical: str = "") -> Block:
    """Read a call of `tool_calls`; `canonical` is its id when it has one already. An unreadable call is kept whole."""
    kind, inner = call.get("type"), call.get("function")
    if len(call) == 3 and kind == "function" and type(inner) is dict and len(inner) == 2:
        block = plain_call(call.get("id"), inner.get("name"), inner.get("arguments"), str, reading, canonical)
        if block is not None:
            return block
    try:
        row = _CALLS["custom" if kind == "custom" else "function"]
        return read_call(row, call, reading, canonical, provider_state=reading.state())
    except (KeyError, TypeError):
        return opaque(call, CALLS, reading)


def legacy_call(legacy: Wire, canonical: str, reading: Reading) -> Block:
    """Return the block of a `function_call`."""
    state = reading.state(encoding={"legacy": True})
    return read_call(_LEGACY_CALL, {"function": legacy}, reading, canonical, provider_state=state)


_LEGACY_CALL: Final = ItemRow({}, _FUNCTION)
