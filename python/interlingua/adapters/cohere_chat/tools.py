"""Read and write tools, the tool choice, and calls, by rows."""

from typing import Any, Final

from interlingua.adapters._content.calls import argument_text, call_id, plain_call, read_call
from interlingua.adapters._content.choice import Ways, fitted_choice, may_be_called
from interlingua.adapters._content.schema import demanded
from interlingua.adapters._content.tools import (
    DESCRIPTION,
    TOOL_ELSEWHERE,
    Tool,
    read_tool,
    write_tools,
)
from interlingua.adapters._engine.items import (
    Item,
    ItemRow,
    by_rule,
    inside,
    opaque,
    tool_name,
    write_item,
)
from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import imprint
from interlingua.adapters._engine.verbatim import Items
from interlingua.adapters._history.messages import OF_OPAQUE, report_rest
from interlingua.adapters.cohere_chat.tables import CALLS, CHOICES, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------- rows


_NAME: Final = tool_name()


def _write_schema(tool: Item, writing: Writing, path: Path) -> Any:
    return demanded(tool.get("input_schema"), writing.loss, (*path, "input_schema"))


_SCHEMA: Final = by_rule("parameters", ("input_schema",), dict, _write_schema)
_SCHEMA.always = True


_FUNCTION: Final = inside("function", ItemRow({}, _NAME, DESCRIPTION, _SCHEMA))
_TOOL: Final = ItemRow({"type": "function"}, _FUNCTION, elsewhere=TOOL_ELSEWHERE)
_STRICT_TOOL: Final = ItemRow({"type": "function"}, _FUNCTION, elsewhere=(*TOOL_ELSEWHERE, "strict"))
_CALL: Final = ItemRow({"type": "function"}, inside("function", ItemRow({}, _NAME, argument_text())), call_id())
# ---------------------------------------------------------------------------------------------- tools


def tool_from_wire(tool: Any, reading: Reading) -> Tool:
    """Read a tool. A tool that is not a readable function is kept whole as a tool of the provider."""
    return read_tool(_TOOL, tool, reading)


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Write `tools` and whether their schemas are enforced. Only tools that may be called are written, because a choice on this wire
    cannot name a tool."""
    tools: list[Tool] = request["tools"]
    none = (request.get("tool_choice") or NOTHING).get("type") == "none" and writing.refuses("tool_choice")
    offered = () if none else may_be_called(request)
    row = _STRICT_TOOL if (strict := _can_be_strict(tools, writing)) else _TOOL

    def write(tool: Tool, writing: Writing, path: Path) -> Wire:
        return write_item(row, tool, writing, path)

    def seen(definition: Wire, writing: Writing) -> Tool:
        return tool_from_wire(definition, writing.reader())

    written, of = write_tools(request, writing, write, seen, offered, one_name_each=True)
    written = Items(tools, "tools", writing).settled(written, of, read)
    if written:
        body["tools"] = written
        if strict:
            body["strict_tools"] = True


def _can_be_strict(tools: list[Tool], writing: Writing) -> bool:
    """Whether the wire enforces the schemas of all these tools. It enforces all schemas or none, and it cannot enforce every schema.
    A tool that takes free text is a function on this wire, and the request does not ask to enforce its schema."""
    functions = [tool for tool in tools if tool.get("kind") != "provider"]
    if not functions or not all(tool.get("strict") and tool.get("kind") != "custom" for tool in functions):
        return False
    if all(writing.encoding_of(tool).get("strict") == imprint_of_schema(tool) for tool in functions):
        return True  # unchanged since it was read
    schemas = [tool.get("input_schema") or {} for tool in functions]
    if not all(schema.get("required") for schema in schemas) or writing.refuses("strict_tools"):
        return False
    return sum(len(schema.get("properties") or ()) for schema in schemas) <= _MOST_PROPERTIES


def imprint_of_schema(tool: Tool) -> str:
    """Return an imprint of the schema of a tool, which shows whether the schema has changed since it was read as enforced."""
    return imprint(tool.get("input_schema"))


_MOST_PROPERTIES: Final = 200


# ---------------------------------------------------------------------------------------------- the choice


_WAYS: Final = Ways(CHOICES.there, narrowed=True)


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Write `tool_choice`. If one tool must be called, only this tool is offered."""
    fitted = fitted_choice(body.get("tools"), _WAYS, writing)
    if fitted is not None:
        body["tool_choice"] = CHOICES.there[fitted["type"]]


def choice_from_wire(value: Any) -> dict[str, Any] | None:
    """Read a tool choice; return None for an unknown value."""
    kind = CHOICES.back.get(value) if type(value) is str else None
    return None if kind is None else {"type": kind}


# ---------------------------------------------------------------------------------------------- calls


def call_from_wire(call: Wire, reading: Reading) -> Block:
    """Read a call from `tool_calls`. A call that cannot be read is kept whole."""
    try:
        inner: Wire = call["function"]
        if len(call) == 3 and call.get("type") == "function" and len(inner) == 2:
            block = plain_call(call.get("id"), inner["name"], inner.get("arguments"), str, reading)
            if block is not None:
                return block
        return read_call(_CALL, call, reading, provider_state=reading.state())
    except (KeyError, TypeError):
        reading.must_compare = True
        return opaque(call, CALLS, reading)


def call_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """Write a call as an item of `tool_calls`."""
    if block["type"] == "opaque":
        report_rest(block, OF_OPAQUE, writing, path)
        call: Wire = block["value"]
        return call
    return write_item(_CALL, block, writing, path)


def is_call(block: Block, writing: Writing) -> bool:
    """Whether a block is written in `tool_calls`."""
    return block["type"] == "tool_use" or (
        block["type"] == "opaque" and block.get("kind") == CALLS and writing.endpoint.owns(block)
    )
