"""
Tools, the choice of tools, and calls, each with the writer before the reader; and the part of a tool's schema that the
server keeps.

The server reads a tool's parameters into a structure: of the root `type`, `$defs`, `items`, `required` and
`properties`, of each property `type`, `items`, `description`, `enum`, `anyOf`, `properties` and `required`. Nothing
else reaches the model. The writer rewrites keywords that have an equivalent, states a limit in the description, and
reports each keyword that it leaves out at its pointer. Values under `items` and `$defs` are kept unchanged.
"""

from decimal import Decimal
from typing import Any, Final

from interlingua.adapters._content.calls import arguments, call_id, plain_call, read_call, stated
from interlingua.adapters._content.choice import may_be_called
from interlingua.adapters._content.schema import (
    LISTED,
    NAMED,
    Dialect,
    Gone,
    Schema,
    are_texts,
    as_object,
    const_as_enum,
    definitions,
    fits,
    fitted,
)
from interlingua.adapters._content.tools import (
    DESCRIPTION,
    TOOL_ELSEWHERE,
    Tool,
    is_plain,
    read_tool,
    write_tools,
)
from interlingua.adapters._engine.items import (
    ABSENT,
    Item,
    ItemRow,
    Member,
    by_rule,
    inside,
    opaque,
    tool_name,
    write_item,
)
from interlingua.adapters._engine.kit import (
    NOTHING,
    Wire,
    parse_arguments,
)
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.verbatim import Items
from interlingua.adapters.ollama_chat.blocks import Block
from interlingua.adapters.ollama_chat.tables import CALLS, Writing
from interlingua.canonical.loss import Loss, Path

# ---------------------------------------------------------------------------------------------------- schemas

_ROOT_TAKES: Final = frozenset(("type", "$defs", "items", "required", "properties"))
_PROPERTY_TAKES: Final = frozenset(("type", "items", "description", "enum", "anyOf", "properties", "required"))
_PLAIN: Final[dict[str, type]] = {
    **dict.fromkeys(("type", "description"), str),
    **dict.fromkeys(("enum", "anyOf"), list),
    "properties": dict,
}
"""The types of the keywords that the server parses; if a value has another type, it refuses the whole request."""
_SILENT: Final = frozenset(("title", "$schema", "$id", "$comment", "additionalProperties", "$ref", "strict"))
"""Keywords that are not worth a place in a description."""
_NO_LIMIT: Final = frozenset(("title", "$schema", "$id", "$comment", "description", "strict"))
"""Keywords that limit no value. `strict` is no keyword: it is a member of a tool that callers of OpenAI often put into
the schema."""
_MOST_REFERENCES: Final = 64
"""The number of references that are resolved in one tool; a schema that refers to itself would never end."""


def _is_readable(name: str, value: Any) -> bool:
    """Whether the server can parse the value of a keyword; null counts as absent."""
    if name == "required":
        return are_texts(value)
    kind = _PLAIN.get(name)
    return kind is None or type(value) is kind or value is None or (name == "type" and are_texts(value))


def _root_takes(name: str, value: Any) -> bool:
    return name in _ROOT_TAKES and _is_readable(name, value)


def _property_takes(name: str, value: Any) -> bool:
    return name in _PROPERTY_TAKES and _is_readable(name, value)


def _gone_from_root(name: str, _: Any) -> Gone:
    return "schema_weakened", "representation" if name in _NO_LIMIT else "weakened", False


def _gone_from_property(name: str, _: Any) -> Gone:
    in_description = name not in _SILENT and name not in _PROPERTY_TAKES
    return "schema_weakened", "representation" if name in _NO_LIMIT else "weakened", in_description


_PROPERTY: Final = Dialect(
    {"properties": NAMED, "anyOf": LISTED},
    _property_takes,
    _gone_from_property,
    {**_PLAIN, "items": dict},
    renamed=(("oneOf", "anyOf", False),),
    rewrite=const_as_enum,
)
_ROOT: Final = Dialect(
    {"properties": NAMED}, _root_takes, _gone_from_root, {"type": str, "properties": dict}, inside=_PROPERTY
)


def kept(schema: Schema, loss: Loss, path: Path) -> Schema:
    """Return the schema of a tool as the model will see it; the same object when nothing had to change."""
    if is_kept_whole(schema):
        return schema
    made: Schema = fitted(schema, _ROOT, loss, path, _References(definitions(schema), loss).resolved)
    if made.get("type", "object") != "object":
        made = dict(made)
        as_object(made, loss, path)
    return made


def is_kept_whole(schema: Schema) -> bool:
    """Whether the server keeps the whole schema."""
    return schema.get("type", "object") == "object" and fits(schema, _ROOT)


class _References:
    """The references in the schema of one tool, with the definitions of that schema."""

    __slots__ = ("_definitions", "_left", "_loss")

    def __init__(self, definitions: dict[str, Any], loss: Loss) -> None:
        self._definitions = definitions
        self._left = _MOST_REFERENCES
        self._loss = loss

    def resolved(self, part: Schema, path: Path) -> Schema:
        """Return the schema that a reference names, with the keywords next to the reference."""
        target = part
        while self._left and isinstance(found := self._definitions.get(str(target.get("$ref"))), dict):
            self._left -= 1
            target = {**found, **{name: value for name, value in target.items() if name != "$ref"}}
        if target is not part:
            message = "the server does not accept references: the referenced schema is inserted"
            self._loss.replace(path, target, "schema_rewritten", "representation", message)
        return target


# ---------------------------------------------------------------------------------------------------- rows


def _write_schema(tool: Tool, writing: Writing, path: Path) -> Any:
    schema = tool.get("input_schema")
    return ABSENT if schema is None else kept(schema, writing.loss, (*path, "input_schema"))


def _read_text(raw: Any, call: Item, _: Reading) -> None:
    """Read arguments from a text, which older clients send."""
    if type(raw) is not str:
        raise TypeError("arguments")
    parsed = parse_arguments(stated(raw))
    call["input"] = parsed or {}
    if parsed is None:
        call["input_raw"] = raw


def _write_id(call: Item, writing: Writing, _: Path) -> Any:
    wire_id = writing.known_call_id(call, writing.state_of(call))
    return ABSENT if wire_id is None else wire_id


def _described_member(name: str, *kinds: type) -> Member:
    """A member that has no meaning beyond this wire and is restored unchanged."""

    def read(raw: Any, _: Item, reading: Reading) -> None:
        if type(raw) not in kinds:
            raise TypeError(name)
        reading.must_compare = True

    return Member(name, (), read, lambda item, writing, path: ABSENT)


_NAME: Final = tool_name(lambda item, writing, path: item["name"])
_PARAMETERS: Final = by_rule("parameters", ("input_schema",), dict, _write_schema)
_TOOL: Final = ItemRow(
    {"type": "function"},
    inside("function", ItemRow({}, _NAME, DESCRIPTION, _PARAMETERS)),
    elsewhere=TOOL_ELSEWHERE,
)
_CALL: Final = ItemRow(
    {},
    inside(
        "function",
        ItemRow({}, _NAME, arguments("arguments", _read_text), _described_member("index", int, float, Decimal)),
    ),
    _described_member("type", str),
    call_id(write=_write_id),
)

# ---------------------------------------------------------------------------------------------------- tools


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Write the `tools` that may be called. `read` contains the wire tools from which they were just read."""
    none = (request.get("tool_choice") or NOTHING).get("type") == "none"
    written, of = write_tools(request, writing, _tool_to_wire, _read_definition, () if none else may_be_called(request))
    written = Items(request["tools"], "tools", writing).settled(written, of, read)
    if written:
        body["tools"] = written


def _tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if is_plain(tool):
        function = {"name": tool["name"], "description": tool["description"]}
        return {"type": "function", "function": {**function, "parameters": _write_schema(tool, writing, path)}}
    return write_item(_TOOL, tool, writing, path)


def _read_definition(definition: Wire, writing: Writing) -> Tool:
    return tool_from_wire(definition, writing.reader())


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """Read a tool. A tool that is not a readable function is kept whole as a tool of the provider."""
    read = read_tool(_TOOL, tool, reading)
    if (schema := read.get("input_schema")) is not None and not is_kept_whole(schema):
        reading.must_compare = True
    return read


# ---------------------------------------------------------------------------------------------------- calls


def call_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """Write a call as an item of `tool_calls`."""
    if "provider_state" not in block and len(block) == 4:  # the fast path for a usual call
        function = {"name": block["name"], "arguments": block["input"]}
        wire_id = writing.known_call_id(block, NOTHING)
        return {"function": function} if wire_id is None else {"id": wire_id, "function": function}
    return write_item(_CALL, block, writing, path)


def call_from_wire(call: Any, reading: Reading) -> Block:
    """Read an item of `tool_calls`. An item that is not a readable call is kept whole."""
    try:
        inner = call["function"]
        if len(call) == 2 and len(inner) == 2:
            block = plain_call(call.get("id"), inner["name"], inner.get("arguments"), dict, reading)
            if block is not None:
                return block
        return read_call(_CALL, call, reading, provider_state=reading.state())
    except (KeyError, TypeError):
        reading.must_compare = True
        return opaque(call, CALLS, reading)
