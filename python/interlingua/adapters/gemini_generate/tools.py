"""
Tools and the choice among them, both ways; and JSON Schemas, in the two dialects of the wire.

`parameters` and `responseSchema` hold the provider's own Schema object: types in capitals, `nullable`. They are read as
JSON Schema. `parametersJsonSchema` and `responseJsonSchema` hold a part of JSON Schema and are what is written: keywords
with an equal inside that part are rewritten, the others are left out, said in the description, and reported each.
"""

from decimal import Decimal
from typing import Any, Final

from interlingua.adapters._free_text import tool_as_function
from interlingua.adapters._kit import (
    PROVIDER_TOOL_MEMBERS,
    BiMap,
    Wire,
    report_beside_definition,
    report_foreign_state,
    report_unknown,
    within,
)
from interlingua.adapters._schema import (
    DEEPEST,
    LIMIT,
    LISTED,
    NAMED,
    SINGLE,
    Gone,
    Places,
    Schema,
    anything,
    are_texts,
    as_object,
    const_as_enum,
    leave_out,
    rename,
    replace,
    with_parts,
)
from interlingua.adapters._web_search import with_own_search
from interlingua.adapters.gemini_generate.context import Reading, Writing, members_to_wire, report_cache
from interlingua.adapters.gemini_generate.tables import MODE_NUMBERS, SNAKE, TYPE_NUMBERS, camelised
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Loss, Path, pointer

# ---------------------------------------------------------------------------------------------- schemas, from the wire


def json_schema(schema: Any) -> Any:
    """The provider's Schema object as JSON Schema."""
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
"""Keywords that the wire takes, whatever a value of this type says."""
_PLACES: Final[Places] = {
    **dict.fromkeys(("properties", "$defs", "definitions"), NAMED),
    **dict.fromkeys(("anyOf", "oneOf", "prefixItems"), LISTED),
    **dict.fromkeys(("items", "additionalProperties"), SINGLE),
}
_SILENT: Final = frozenset(
    ("$schema", "$comment", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "strict")
)
"""Keywords that hold an answer to nothing: without them the same values satisfy the schema. `strict` is no keyword: it is a member of a
tool that callers of OpenAI often put into the schema."""
_NEEDLESS: Final[Gone] = ("schema_rewritten", "representation", False)
_MOST_LEVELS: Final = 64


def is_taken(schema: Any, _: Wire) -> bool:
    """Whether the wire takes a schema as it is."""
    return _fits(schema, 0)


def _fits(schema: Any, level: int) -> bool:
    """Whether nothing has to change in a schema: asked first, for it is so of nearly all."""
    if type(schema) is not dict:
        return False
    if level > _MOST_LEVELS:
        return True
    members: Schema = schema
    for name, value in members.items():
        kind = type(value)
        if not (kind is _PLAIN.get(name) or _takes(name, value)):
            return False
        if kind is not dict and kind is not list:
            continue
        place = _PLACES.get(name)
        if place is None:
            continue
        for part in (value,) if place == SINGLE else value if place == LISTED else value.values():
            if not _fits(part, level + 1):
                return False
    return True


def _takes(name: str, value: Any) -> bool:
    """Whether a keyword is one that the wire takes, and has a value that a schema has there; the schemas in it are not looked
    at."""
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
        case _:  # a reference, or a keyword that the wire does not take
            return False


def fitted(schema: Any, loss: Loss, path: Path) -> Any:
    """The schema in the part of JSON Schema that the wire takes; the same object when nothing had to change."""
    if _fits(schema, 0) or len(path) > DEEPEST:
        return schema
    if type(schema) is not dict:
        return anything(schema, loss, path)
    places = {**_PLACES, **{name: LISTED for name, _ in _RENAMED if _is_renamed(schema, name)}}
    made = with_parts(schema, places, path, lambda part, where: fitted(part, loss, where))
    if made.get("items") is True:
        made["items"] = anything(True, loss, (*path, "items"))
    if type(made.get("$ref")) is str:
        _stand_alone(made, loss, path)
    else:
        _rewrite(made, loss, path)
        gone = {name: _gone(name, value) for name, value in made.items() if not _takes(name, value)}
        leave_out(made, gone, loss, path)
    return made


def _gone(name: str, value: Any) -> Gone:
    silent = name in _SILENT or value is None or (name == "nullable" and value is False)
    return _NEEDLESS if silent else LIMIT


# -- references


def _stand_alone(made: Schema, loss: Loss, path: Path) -> None:
    """A reference stands alone, but for keywords that begin with a dollar sign."""
    target: str = made["$ref"]
    if target.startswith("#/definitions/"):
        made["$ref"] = "#/$defs/" + target.removeprefix("#/definitions/")
        loss.replace((*path, "$ref"), made["$ref"], "schema_rewritten", "representation", "definitions have one place")
    _unite_definitions(made, loss, path)
    for name in [name for name in made if not (name == "$ref" or (name[:1] == "$" and _takes(name, made[name])))]:
        del made[name]
        weak = name not in _SILENT and name not in ("description", "title")
        code, severity = ("schema_weakened", "weakened") if weak else ("schema_rewritten", "representation")
        loss.drop((*path, name), code, severity, "a reference stands alone")


def _unite_definitions(made: Schema, loss: Loss, path: Path) -> None:
    """Definitions under their older name go to where the others are, unless a name of them is taken there."""
    older = made.get("definitions")
    if type(older) is not dict:
        return
    if "$defs" not in made:
        rename(made, "definitions", "$defs", loss, path)
    elif type(there := made["$defs"]) is dict and there.keys().isdisjoint(older):
        message = "definitions have one place"
        for name in older:
            loss.move(
                (*path, "definitions", name), (*path, "$defs", name), "schema_rewritten", "representation", message
            )
        made["$defs"] = {**there, **made.pop("definitions")}
        loss.drop((*path, "definitions"), "schema_rewritten", "representation", message)


# -- keywords

_RENAMED: Final = (("items", "prefixItems"), ("allOf", "anyOf"))
"""Lists of schemas that have an equal: those of a tuple, and a lone one of which all hold."""


def _is_renamed(schema: Schema, name: str) -> bool:
    value = schema.get(name)
    if type(value) is not list:
        return False
    return "prefixItems" not in schema if name == "items" else len(value) == 1 and "anyOf" not in schema


def _rewrite(made: Schema, loss: Loss, path: Path) -> None:
    """Keywords that have an equal on the wire."""
    _unite_definitions(made, loss, path)
    for name, equal in _RENAMED:
        if _is_renamed(made, name):
            rename(made, name, equal, loss, path)
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


def rooted(schema: Schema, loss: Loss, path: Path) -> Schema:
    """The schema of a function's arguments: an object at the root."""
    if schema.get("type") == "object" or type(schema.get("$ref")) is str:
        return schema
    made = dict(schema)
    as_object(made, loss, path)
    return made


Tool = dict[str, Any]

# ---------------------------------------------------------------------------------------------- tools, from the wire

_FUNCTION: Final = frozenset(("name", "description", "parameters", "parametersJsonSchema"))


def tools_from_wire(value: Any, reading: Reading) -> list[Tool] | None:
    """The tools; None for what is not shaped as the wire documents it."""
    found: list[Tool] = []
    for item in value if type(value) is list else [value]:
        if type(item) is not dict or "" in item:
            return None
        for name, definition in camelised(item).items():
            if name != "functionDeclarations":
                found.append({"kind": "provider", "name": name, "adapter": reading.adapter, "definition": {name: definition}})  # fmt: skip
                continue
            for function in definition if type(definition) is list else [definition]:
                tool = _function_from_wire(function, reading)
                if tool is None:
                    return None
                found.append(tool)
    return found


def _function_from_wire(function: Any, reading: Reading) -> Tool | None:
    if type(function) is not dict:
        return None
    members = camelised(function)
    name, description = members.get("name"), members.get("description")
    if type(name) is not str or not name or ("parameters" in members and "parametersJsonSchema" in members):
        return None
    tool: Tool = {"name": name}
    if type(description) is str:
        tool["description"] = description
    elif description is not None:
        return None
    schema = members.get("parametersJsonSchema")
    if schema is None and (parameters := members.get("parameters")) is not None:
        schema = json_schema(parameters)
    if type(schema) is dict:
        tool["input_schema"] = schema
    elif schema is not None:
        return None
    if not within(members, _FUNCTION):
        fields = {key: item for key, item in members.items() if key not in _FUNCTION}
        tool["provider_state"] = reading.state(fields=fields)
    return tool


def are_plain(tools: list[Any], _: Wire) -> bool:
    """Whether tools are written as they came: functions in one list, with objects that the wire takes, or others."""
    lists = 0
    for tool in tools:
        if type(tool) is not dict or len(tool) != 1 or not SNAKE.isdisjoint(tool):
            return False
        functions = tool.get("functionDeclarations", _OTHERS)
        if type(functions) is not list or not functions:
            return False
        lists += functions is not _OTHERS
        for function in functions:
            if type(function) is not dict or "parameters" in function or not SNAKE.isdisjoint(function):
                return False
            schema = function.get("parametersJsonSchema", _PLAIN_OBJECT)
            if type(function.get("description", "")) is not str or not (
                _fits(schema, 0) and schema.get("type") == "object"
            ):
                return False
    return lists < 2


_PLAIN_OBJECT: Final[Schema] = {"type": "object"}
_OTHERS: Final[list[Any]] = [{}]


def is_mode(value: Any, _: Wire) -> bool:
    """Whether a mode stands alone, and is written as it came."""
    return type(value) is str and value in _MODES.back


_MODES: Final = BiMap({"auto": "AUTO", "none": "NONE", "required": "ANY"})


def choice_from_wire(config: Wire) -> tuple[dict[str, Any] | None, Wire]:
    """The choice of a `toolConfig`, and what is left of it."""
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
"""The members of a `functionCallingConfig` that are the choice."""

# ---------------------------------------------------------------------------------------------- tools, to the wire


def refuse_one_name(request: dict[str, Any], writing: Writing) -> None:
    """Raises `InvalidRequest` for two functions of one name, unless they came so."""
    names: set[str] = set()
    for position, tool in enumerate(request.get("tools") or ()):
        if tool.get("kind") == "provider":
            continue
        if tool["name"] in names and not writing.had_twice(tool["name"]):
            path = pointer(("tools", position, "name"))
            raise InvalidRequest("two tools have one name; give each its own", path=path)
        names.add(tool["name"])


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes the tools: all functions in one object, each tool of the provider's own in another."""
    if not request.get("tools"):
        return
    if writing.lacks("supports_tools", "tools"):
        for position in range(len(request["tools"])):
            writing.loss.drop(("tools", position), "unsupported_model", "lost", "the model takes no tools")
        return
    tools: list[Tool] = with_own_search(request, writing.endpoint, writing.loss)
    wires: list[Wire] = []
    functions: list[Wire] = []
    open_run = False  # whether the functions still stand together
    behind: int | None = None  # the first tool behind the functions
    moves: list[int] = []
    for position, tool in enumerate(tools):
        path: Path = ("tools", position)
        if tool.get("kind", "function") == "provider":
            definition = _provider_tool_to_wire(tool, writing, path)
            if definition is not None:
                wires.append(definition)
                open_run = False
                if functions and behind is None:
                    behind = position
            continue
        if not functions:
            wires.append({"functionDeclarations": functions})
            open_run = True
        elif not open_run:
            moves.append(position)
        functions.append(_function_to_wire(tool, writing, path))
    if wires:
        body["tools"] = wires
    for position in moves:
        message = "all functions stand together"
        writing.loss.move(("tools", position), ("tools", behind or 0), "reordered", "representation", message)


def _function_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire:
    if tool.get("kind") == "custom":
        tool = tool_as_function(tool, writing.loss, path)
    wire: Wire = {"name": writing.told_name(tool["name"], path)}
    if tool.get("description") is not None:
        wire["description"] = tool["description"]
    schema = tool.get("input_schema")
    if schema is not None:
        where = (*path, "input_schema")
        wire["parametersJsonSchema"] = rooted(fitted(schema, writing.loss, where), writing.loss, where)
    loss = writing.loss
    if tool.get("strict"):
        loss.drop((*path, "strict"), "unsupported_field", "weakened", "the wire has no switch of single tools")
    if within(tool, _SIMPLE):
        return wire
    for name in ("format", "adapter", "definition"):
        if name in tool:
            loss.drop((*path, name), "unsupported_field", "weakened", "a function has no such member")
    return _finished(tool, wire, _FUNCTION, writing, path)


_SIMPLE: Final = frozenset(("name", "description", "input_schema", "strict", "side_effects", "requires_workspace"))


def _finished(tool: Tool, wire: Wire, said: frozenset[str], writing: Writing, path: Path) -> Wire:
    report_unknown(tool, PROVIDER_TOOL_MEMBERS, writing.loss, path)
    report_cache(tool, writing, path)
    report_foreign_state(tool, writing.endpoint, writing.loss, path)
    members_to_wire(writing.owned(tool), wire, said, writing, path)
    return wire


def _provider_tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire | None:
    definition = tool.get("definition")
    if tool.get("adapter") != writing.endpoint.adapter or type(definition) is not dict or len(definition) != 1:
        writing.loss.drop(path, "provider_tool", "lost", "a tool of another provider cannot be offered here")
        return None
    name = next(iter(camelised(definition)))
    if name == "functionDeclarations":
        writing.loss.drop(path, "provider_tool", "lost", "functions are tools of their own")
        return None
    if name != tool["name"]:
        writing.loss.replace((*path, "name"), name, "name_rewritten", "representation", "the definition names the tool")
    if name not in definition:
        writing.loss.replace((*path, "definition"), camelised(definition), "name_rewritten", "representation", "the first spelling")  # fmt: skip
    report_beside_definition(tool, writing.loss, path)
    # the definition is verbatim: what stands beside it has no place in it
    _finished(tool, {}, frozenset((writing.owned(tool).get("fields") or {}).keys()), writing, path)
    return dict(camelised(definition))


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes the choice of tools; without functions there is none."""
    loss = writing.loss
    choice: dict[str, Any] = request["tool_choice"]
    known = {tool["name"] for tool in request.get("tools") or () if tool.get("kind") != "provider"}
    # tools that are not shaped as documented are an option, and may well be what is chosen
    unread = "tools" in ((request.get("options") or {}).get(writing.endpoint.adapter) or {}) and not known
    if not (known and "tools" in body) and not unread:
        severity = "representation" if choice["type"] in ("auto", "none") else "weakened"
        loss.drop(("tool_choice",), "combination", severity, "the target takes a choice only together with functions")
        return
    if len(choice) == 1 and (word := _MODES.there.get(choice["type"])) is not None:
        body["toolConfig"] = {"functionCallingConfig": {"mode": word}}
        return
    names: list[str] = [choice["name"]] if choice["type"] == "tool" else choice.get("names") or []
    kept = [name if unread else writing.tool_name(name) for name in names if unread or name in known]
    calling: Wire = {"mode": _mode(choice, kept)}
    if kept and calling["mode"] in ("ANY", "VALIDATED"):
        calling["allowedFunctionNames"] = kept
    body["toolConfig"] = {"functionCallingConfig": calling}
    read, _ = choice_from_wire(body["toolConfig"])
    if read != {name: value for name, value in choice.items() if (name, value) != ("kind", "function")}:
        said = len(kept) == len(names) and (bool(names) or choice["type"] not in ("tool", "allowed"))
        severity = "representation" if said else "weakened"
        loss.replace(("tool_choice",), read, "tool_choice", severity, "the choice in the target's terms")


def _mode(choice: dict[str, Any], names: list[str]) -> str:
    match choice["type"]:
        case "auto":
            return "AUTO"
        case "none":
            return "NONE"
        case "required":
            return "ANY"
        case "tool":
            return "ANY" if names else "AUTO"
        case _ if choice.get("mode") == "required":
            return "ANY"
        case _:
            return "VALIDATED" if names else "AUTO"
