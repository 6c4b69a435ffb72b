"""
Tools and the choice of tools, in both directions; and JSON Schemas, in the two dialects of the wire.

`parameters` and `responseSchema` contain the provider's own Schema object: types in capitals, `nullable`. The reader
converts them to JSON Schema. `parametersJsonSchema` and `responseJsonSchema` contain a subset of JSON Schema. The
writer uses these: it rewrites keywords that have an equivalent in the subset; it leaves out the others, states them in
the description, and reports each.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from interlingua.adapters._content.built_in import as_function, report_expanded
from interlingua.adapters._content.choice import Ways, fitted_choice, offered_tools
from interlingua.adapters._content.schema import (
    LIMIT,
    LISTED,
    PLACES,
    Dialect,
    Gone,
    Schema,
    anything,
    are_texts,
    as_object,
    const_as_enum,
    fits,
    fitted,
    rename,
    replace,
)
from interlingua.adapters._content.tools import (
    DESCRIPTION,
    TOOL_ELSEWHERE,
    Tool,
    is_plain,
    of_provider,
    write_tools,
)
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, by_rule, read_item, tool_name, write_item
from interlingua.adapters._engine.kit import NOTHING, BiMap, Wire
from interlingua.adapters._engine.spelling import Spellings, imprint
from interlingua.adapters._engine.verbatim import Items, keep_spellings, may_differ
from interlingua.adapters.gemini_generate import computer_use
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.tables import MODE_NUMBERS, TYPE_NUMBERS, camelised
from interlingua.canonical.loss import Loss, Path

# ---------------------------------------------------------------------------------------------- schemas, from the wire


def json_schema(schema: Any) -> Any:
    """Convert the provider's Schema object to JSON Schema."""
    if type(schema) is not dict:
        return schema
    members = camelised(schema)
    found: Schema = {}
    for name, value in members.items():
        match name:
            case "type":
                found[name] = _type(value)
            case "properties" if type(value) is dict:
                found[name] = {key: json_schema(part) for key, part in value.items()}
            case "items":
                found[name] = json_schema(value)
            case "anyOf" if type(value) is list:
                found[name] = [json_schema(part) for part in value]
            case "nullable" if value is True and type(members.get("type")) in (str, int):
                pass
            case "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" if (
                type(value) is str and value.isdecimal()
            ):
                found[name] = int(value)  # the wire spells 64-bit integers as texts
            case _:
                found[name] = value
    if members.get("nullable") is True and type(found.get("type")) is str:
        found["type"] = [found["type"], "null"]
    return found


def _type(value: Any) -> Any:
    if type(value) is int and 0 <= value < len(TYPE_NUMBERS):
        value = TYPE_NUMBERS[value]
    return value.lower() if type(value) is str else value


# ---------------------------------------------------------------------------------------------- schemas, to the wire

_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
_PLAIN: Final[dict[str, type]] = {
    **dict.fromkeys(("description", "title", "format", "$id", "$anchor"), str),
    **dict.fromkeys(("minimum", "maximum", "minItems", "maxItems"), int),
    **dict.fromkeys(("anyOf", "oneOf", "prefixItems", "enum"), list),
    **dict.fromkeys(("properties", "$defs", "items", "additionalProperties"), dict),
}
"""Keywords that the wire takes with any value of this type."""
_SILENT: Final = frozenset(
    ("$schema", "$comment", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "strict")
)
"""Keywords that do not restrict an answer: without them the same values satisfy the schema. `strict` is no keyword: it
is a member of a tool that callers of OpenAI often put into the schema."""
_NEEDLESS: Final[Gone] = ("schema_rewritten", "representation", False)


def is_taken(schema: Any, _: Wire) -> bool:
    """Whether the wire takes a schema unchanged."""
    return fits(schema, DIALECT)


def _takes(name: str, value: Any) -> bool:
    """Whether the wire takes a keyword, and its value is one that a schema has there.

    The schemas inside the value are not inspected. A reference is taken alone.
    """
    if type(value) is _PLAIN.get(name):
        return True
    match name:
        case "type" if type(value) is str:
            return value in _TYPES
        case "type":
            return are_texts(value) and len(value) > 0 and _TYPES.issuperset(value)
        case "required" | "propertyOrdering":
            return are_texts(value)
        case "minimum" | "maximum" | "minItems" | "maxItems":
            return type(value) is float or type(value) is Decimal
        case "additionalProperties":
            return type(value) is bool
        case "$ref":
            return type(value) is str
        case _:
            return False


def _gone(name: str, value: Any) -> Gone:
    silent = name in _SILENT or value is None or (name == "nullable" and value is False)
    return _NEEDLESS if silent else LIMIT


# -- references


def _stand_alone(made: Schema, loss: Loss, path: Path) -> None:
    """Remove the keywords next to a reference, except those that begin with a dollar sign."""
    target: str = made["$ref"]
    if target.startswith("#/definitions/"):
        made["$ref"] = "#/$defs/" + target.removeprefix("#/definitions/")
        loss.replace(
            (*path, "$ref"), made["$ref"], "schema_rewritten", "representation", "all definitions are in one place"
        )
    _unite_definitions(made, loss, path)
    for name in [name for name in made if not (name == "$ref" or (name[:1] == "$" and _takes(name, made[name])))]:
        del made[name]
        weak = name not in _SILENT and name not in ("description", "title")
        code, severity = ("schema_weakened", "weakened") if weak else ("schema_rewritten", "representation")
        loss.drop((*path, name), code, severity, "a reference has no other keywords next to it")


def _unite_definitions(made: Schema, loss: Loss, path: Path) -> None:
    """Move definitions under the older keyword to the others, unless one of their names is taken there."""
    older = made.get("definitions")
    if type(older) is not dict:
        return
    if "$defs" not in made:
        rename(made, "definitions", "$defs", loss, path)
    elif type(there := made["$defs"]) is dict and there.keys().isdisjoint(older):
        message = "all definitions are in one place"
        for name in older:
            loss.move(
                (*path, "definitions", name), (*path, "$defs", name), "schema_rewritten", "representation", message
            )
        made["$defs"] = {**there, **made.pop("definitions")}
        loss.drop((*path, "definitions"), "schema_rewritten", "representation", message)


# -- keywords


def _rewrite(made: Schema, loss: Loss, path: Path) -> None:
    """Rewrite keywords that have an equivalent on the wire."""
    if type(made.get("$ref")) is str:
        _stand_alone(made, loss, path)
        return
    if made.get("items") is True:
        made["items"] = anything(True, loss, (*path, "items"))
    _unite_definitions(made, loss, path)
    const_as_enum(made, loss, path)
    kind = made.get("type")
    if type(kind) is str and kind.lower() in _TYPES:
        if kind.lower() != kind:
            made["type"] = kind.lower()
            loss.replace((*path, "type"), made["type"], "schema_rewritten", "representation", "types are in lower case")
        if made.get("nullable") is True:
            replace(made, "nullable", "type", [made["type"], "null"], loss, path)
    for name, limit, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        value = made.get(name)
        if made.get("type") == "integer" and type(value) is int and limit not in made:
            replace(made, name, limit, value + step, loss, path)


DIALECT: Final = Dialect(
    {**PLACES, "oneOf": LISTED},
    _takes,
    _gone,
    _PLAIN,
    _TYPES,
    (("items", "prefixItems", False), ("allOf", "anyOf", True)),  # a tuple, and `allOf` with a single schema
    _rewrite,
    alone="$ref",
)


def rooted(schema: Schema, loss: Loss, path: Path) -> Schema:
    """Return the schema of a function's arguments, with an object at the root."""
    if schema.get("type") == "object" or type(schema.get("$ref")) is str:
        return schema
    made = dict(schema)
    as_object(made, loss, path)
    return made


# ---------------------------------------------------------------------------------------------- tools, from the wire


def _write_schema(tool: Tool, writing: Writing, path: Path) -> Any:
    schema = tool.get("input_schema")
    where = (*path, "input_schema")
    return ABSENT if schema is None else rooted(fitted(schema, DIALECT, writing.loss, where), writing.loss, where)


def _read_parameters(raw: Any, tool: Tool, reading: Reading) -> None:
    """Read parameters from the provider's own Schema object, which the writer does not use."""
    if type(raw) is not dict or "input_schema" in tool:
        raise TypeError("parameters")
    tool["input_schema"] = json_schema(raw)


_FUNCTION: Final = ItemRow(
    {},
    tool_name(),
    DESCRIPTION,
    by_rule("parametersJsonSchema", ("input_schema",), dict, _write_schema),
    Member("parameters", (), _read_parameters, lambda tool, writing, path: ABSENT),
    elsewhere=TOOL_ELSEWHERE,
)
_FUNCTIONS: Final = "functionDeclarations"


def tools_from_wire(value: list[Any], reading: Reading) -> list[Tool] | None:
    """Read the tools; None for a value that lacks the documented structure or contains no tool."""
    found: list[Tool] = []
    kept: list[Spellings] = []
    lists = 0
    try:
        taken = _declared(value) if reading.model else set()
        for item in value:
            spellings: Spellings = {}
            before = len(found)
            for name, definition in _camelised(item, reading).items():
                if definition is None:
                    spellings[f"/{name}"] = {"raw": None}
                elif name != _FUNCTIONS:
                    run = name == computer_use.NAME and computer_use.functions(
                        definition, taken, reading.model, reading
                    )
                    found += run or [of_provider({name: definition}, reading.endpoint, name)]
                else:
                    functions = definition if type(definition) is list else [definition]
                    found += [
                        _function_from_wire(function, f"/{name}/{position}", spellings, reading)
                        for position, function in enumerate(functions)
                    ]
                    lists += 1
                    reading.must_compare = (
                        reading.must_compare or functions is not definition or not functions or lists > 1
                    )
            # all functions are in one object, each other tool is in one of its own
            reading.must_compare = reading.must_compare or len(item) - list(item.values()).count(None) != 1
            reading.offered.append(range(before, len(found)))
            kept.append(spellings)
    except (KeyError, TypeError):
        return None
    if not may_differ(reading.must_compare):
        for spellings, held in zip(kept, reading.offered, strict=True):
            keep_spellings(found[held.start], spellings, reading.endpoint)
    return found or None


def _declared(value: list[Any]) -> set[str]:
    """Return the names of the functions that a request itself declares."""
    names: set[str] = set()
    for item in value:
        declared = camelised(item).get(_FUNCTIONS) if type(item) is dict else None
        for function in declared if type(declared) is list else [declared]:
            if type(function) is dict and type(function.get("name")) is str:
                names.add(function["name"])
    return names


def _camelised(item: Any, reading: Reading) -> Wire:
    if type(item) is not dict or "" in item:
        raise TypeError("an object is missing")
    named = camelised(item)
    reading.must_compare = reading.must_compare or named is not item
    return named


def _function_from_wire(function: Any, place: str, spellings: Spellings, reading: Reading) -> Tool:
    """Read a function; `spellings` gets the spelling of its parameters if everything else is written as received."""
    wire = _camelised(function, reading)
    tool = read_item(_FUNCTION, wire, {}, reading)
    schema = tool.get("input_schema", _PLAIN_OBJECT)
    reading.must_compare = reading.must_compare or schema.get("type") != "object" or not fits(schema, DIALECT)
    if (parameters := wire.get("parameters")) is not None and not reading.must_compare:
        written = {**wire, "parametersJsonSchema": schema}
        del written["parameters"]
        known = imprint(written)
        spellings[f"{place}/parameters"] = {"raw": parameters, "written": known}
        spellings[f"{place}/parametersJsonSchema"] = {"written": known}
    return tool


_PLAIN_OBJECT: Final[Schema] = {"type": "object"}


def is_mode(value: Any, _: Wire) -> bool:
    """Whether a mode alone is a choice, and is written as received."""
    return type(value) is str and value in _MODES.back


def choice_from_wire(config: Wire) -> tuple[dict[str, Any] | None, Wire]:
    """Return the choice of a `toolConfig`, and its remaining members."""
    calling = config.get("functionCallingConfig")
    if type(calling) is not dict:
        return None, config
    mode: Any = calling.get("mode")
    names: Any = calling.get("allowedFunctionNames") or []
    if type(mode) is int and 0 <= mode < len(MODE_NUMBERS):
        mode = MODE_NUMBERS[mode]
    if type(mode) is not str or type(names) is not list or not all(type(name) is str for name in names):
        return None, config
    choice: dict[str, Any]
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
            return None, config
    left = {name: value for name, value in config.items() if name != "functionCallingConfig"}
    if more := {name: value for name, value in calling.items() if name not in CHOICE}:
        left["functionCallingConfig"] = more
    return choice, left


CHOICE: Final = ("mode", "allowedFunctionNames")
"""The members of a `functionCallingConfig` that express the choice."""

_MODES: Final = BiMap({"auto": "AUTO", "none": "NONE", "required": "ANY"})

# ---------------------------------------------------------------------------------------------- tools, to the wire


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: "Offered | None" = None) -> None:
    """Write the tools: all functions in one object, each tool of the provider in another.

    `read` contains the wire items from which they were just read.
    """
    tools: list[Tool] | None = request.get("tools")
    if not tools:
        return
    run = computer_use.find(tools, writing)

    def write(tool: Tool, writing: Writing, path: Path) -> Wire | None:
        """Write a function; the first function of `computerUse` writes the tool for all of them."""
        if path[1] not in run:
            return _function_to_wire(tool, writing, path)
        return computer_use.written(tools, run, writing) if path[1] == run.start else None

    written, places = write_tools(request, writing, write, _read_definition, one_name_each=True)
    made = _Made()
    for wire, (position,) in zip(written, places, strict=True):
        tool = tools[position]
        if tool.get("kind") == "provider":
            if computer_use.NAME in wire:
                taken = {tools[other[0]]["name"] for other in places if tools[other[0]].get("kind") != "provider"}
                taken.update(tools[at]["name"] for at in run)
                found = computer_use.functions(wire[computer_use.NAME], taken, writing.model, writing.reader())
                report_expanded(found, computer_use.NAME, position, writing)
            made.add(wire, [position])
            continue
        if position in run:
            made.add(wire, [*run])
        else:
            made.add_function(wire, position)
    items = Items(tools, "tools", writing)
    if read is not None:
        items.keep(read.items, read.made, made.wires, made.of)
    elif made.wires:
        body["tools"] = items.put_back(made.wires, made.of)
        if made.moved and sum(_FUNCTIONS in camelised(wire) for wire in body["tools"]) < 2:  # they are not restored
            made.report_moves(writing)


class _Made:
    """The wire tools that are written, and the positions of the tools that each holds. All functions are in one, at the
    place of the first function."""

    def __init__(self) -> None:
        self.wires: list[Wire] = []
        self.of: list[list[int]] = []
        self.functions: list[Wire] = []
        self.home = 0  # the place of the functions among the wire tools
        self.moved: list[int] = []

    def add(self, wire: Wire, positions: list[int]) -> None:
        """Add a wire tool."""
        self.wires.append(wire)
        self.of.append(positions)

    def add_function(self, wire: Wire, position: int) -> None:
        """Add a function to the others."""
        if not self.functions:
            self.home = len(self.wires)
            self.add({_FUNCTIONS: self.functions}, [])
        elif self.home + 1 < len(self.wires):
            self.moved.append(position)
        self.functions.append(wire)
        self.of[self.home].append(position)

    def report_moves(self, writing: Writing) -> None:
        """Report the functions that are written before a tool of the provider that they follow."""
        for position in self.moved:
            to, message = self.of[self.home + 1][0], "all functions are together"
            writing.loss.move(("tools", position), ("tools", to), "reordered", "representation", message)


class Offered(NamedTuple):
    """The wire items from which tools were just read, and the positions of the tools that each contained."""

    items: list[Wire]
    made: list[range]


def _function_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if is_plain(tool):
        name, schema = writing.written_tool_name(tool["name"], path), _write_schema(tool, writing, path)
        return {"name": name, "description": tool["description"], "parametersJsonSchema": schema}
    return write_item(_FUNCTION, as_function(tool, writing, path), writing, path)


def _read_definition(definition: Wire, writing: Writing) -> Tool | None:
    named = camelised(definition)
    if len(named) != 1 or _FUNCTIONS in named or None in named.values():
        return None
    return of_provider(named, writing.endpoint, next(iter(named)))


def _unread(writing: Writing) -> dict[str, str]:
    """Return the names of the tools in a choice, unchanged, each as a function."""
    choice: dict[str, Any] = writing.source["tool_choice"]
    names: list[str] = choice.get("names") or [choice.get("name", "")]
    return dict.fromkeys(names, "function")


_WAYS: Final = Ways((*_MODES.there, "tool", "allowed"), lone_by_name=True)


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Write the choice of tools; without functions there is no choice."""
    if request.get("tool_choice") is None:
        return
    named: Callable[[Writing], Mapping[str, str]] = offered_tools
    tools: Any = offered_tools(writing) and body.get("tools")
    if not tools and "tools" in ((request.get("options") or NOTHING).get(writing.endpoint.adapter) or NOTHING):
        tools, named = True, _unread  # these lack the documented structure, and the choice may name them
    fitted = fitted_choice(tools, _WAYS, writing, named)
    if fitted is None:
        return
    calling: Wire = {}
    match fitted["type"]:
        case "tool":
            calling = {"mode": "ANY", "allowedFunctionNames": [fitted["name"]]}
        case "allowed":
            called = [name for _, name in fitted["tools"]]
            calling = {"mode": "ANY" if fitted["mode"] == "required" else "VALIDATED", "allowedFunctionNames": called}
        case word:
            calling = {"mode": _MODES.there[word]}
    body["toolConfig"] = {"functionCallingConfig": calling}
