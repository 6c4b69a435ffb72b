"""
Tools, the choice of tools, and calls: each written above read; and the schema of a tool in what the server keeps of it.

The server reads a tool's parameters into a structure: of the whole `type`, `$defs`, `items`, `required` and
`properties`, of each property `type`, `items`, `description`, `enum`, `anyOf`, `properties` and `required`. Everything
else never reaches the model. What can be said otherwise is rewritten, a limit is said in the description, and each
keyword that is left out is reported at its pointer. What stands under `items` and `$defs` is kept as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._as_read import imprint
from interlingua.adapters._free_text import call_as_arguments, tool_as_function
from interlingua.adapters._kit import (
    CALL_MEMBERS,
    NOTHING,
    PROVIDER_TOOL_MEMBERS,
    Wire,
    arguments_text,
    keep,
    parse_arguments,
    report_beside_definition,
    report_foreign_state,
    report_own_state,
    report_unknown,
    within,
)
from interlingua.adapters.ollama_chat.blocks import Block, opaque
from interlingua.adapters.ollama_chat.tables import CALLS, Reading, Writing
from interlingua.canonical import json
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Loss, Path

Schema = dict[str, Any]
Kinds = dict[str, Callable[[Any], bool]]

_ROOT: Final = frozenset(("type", "$defs", "items", "required", "properties"))
_PROPERTY: Final = frozenset(("type", "items", "description", "enum", "anyOf", "properties", "required"))
_SILENT: Final = frozenset(("title", "$schema", "$id", "$comment", "additionalProperties", "$ref", "strict"))
"""Keywords that say nothing worth a place in a description."""
_NO_LIMIT: Final = frozenset(("title", "$schema", "$id", "$comment", "description", "strict"))
"""Keywords that limit no value. `strict` is no keyword: it is a member of a tool that callers of OpenAI often put into the schema."""
_FLAT: Final = _PROPERTY - {"properties", "anyOf"}
_MOST_REFERENCES: Final = 64
"""So many references of one tool are written out; a schema that refers to itself never ends."""


def kept(schema: Schema, loss: Loss, path: Path) -> Schema:
    """The schema of a tool as the model will see it; the same object when nothing had to change."""
    if is_kept_whole(schema):
        return schema
    schema = _sound(schema, _MISSHAPEN_ROOT, loss, path)
    written = _Keeper(schema, loss).properties(schema, path)
    if schema.get("type", "object") != "object":
        loss.replace(
            (*path, "type"), "object", "schema_rewritten", "representation", "the arguments of a tool are an object"
        )
        written = {**written, "type": "object"}
    if schema.keys() <= _ROOT:
        return written
    for name in schema:
        if name not in _ROOT:
            _drop(name, loss, path)
    return {name: value for name, value in written.items() if name in _ROOT}


def is_kept_whole(schema: Schema) -> bool:
    """Whether the server keeps the whole schema: one level of properties without anything that it drops."""
    if not within(schema, _ROOT) or schema.get("type", "object") != "object":
        return False
    parts = schema.get("properties", NOTHING)
    if not isinstance(parts, dict) or not _are_texts(schema.get("required", _NO_LIST)):
        return False
    for part in parts.values():  # noqa: SIM110 compiled, the loop is faster
        if not (isinstance(part, dict) and within(part, _FLAT) and _is_sound(part)):
            return False
    return True


def _are_texts(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    for text in value:  # noqa: SIM110 compiled, the loop is faster
        if type(text) is not str:
            return False
    return True


def _is_sound(part: Schema) -> bool:
    """Whether the keywords of a property have the types that the server reads them into."""
    return (
        _is_word(part.get("type", ""))
        and type(part.get("description", "")) is str
        and type(part.get("enum", _NO_LIST)) is list
        and ("required" not in part or _are_texts(part["required"]))
    )


_NO_LIST: Final[list[Any]] = []


class _Keeper:
    """Goes through the properties of one tool's schema."""

    __slots__ = ("_definitions", "_left", "_loss")

    def __init__(self, root: Schema, loss: Loss) -> None:
        self._loss = loss
        self._left = _MOST_REFERENCES
        self._definitions = {
            f"#/{place}/{name}": part
            for place in ("$defs", "definitions")
            if isinstance(parts := root.get(place), dict)
            for name, part in parts.items()
        }

    def properties(self, schema: Schema, path: Path) -> Schema:
        """The schema with properties that the server keeps."""
        parts = schema.get("properties")
        if not isinstance(parts, dict):
            return schema
        fitted = {name: self._property(part, (*path, "properties", name)) for name, part in parts.items()}
        return schema if all(fitted[name] is parts[name] for name in parts) else {**schema, "properties": fitted}

    def _property(self, part: Any, path: Path) -> Any:
        if not isinstance(part, dict):
            code, severity = ("schema_rewritten", "representation") if part is True else ("schema_weakened", "weakened")
            message = "the server takes an object as the schema of a property: any value is the empty one"
            self._loss.replace(path, {}, code, severity, message)
            return {}
        if "$ref" in part:
            part = self._resolved(part, path)
        part = _sound(part, _MISSHAPEN, self._loss, path)
        if part.keys() <= _PROPERTY and "properties" not in part and "anyOf" not in part:
            return part
        written = _united(_listed(self.properties(part, path), self._loss, path), self._loss, path)
        options = written.get("anyOf")
        if isinstance(options, list):
            fitted = [self._property(item, (*path, "anyOf", number)) for number, item in enumerate(options)]
            if any(new is not old for new, old in zip(fitted, options, strict=True)):
                written = {**written, "anyOf": fitted}
        return _limited(written, self._loss, path)

    def _resolved(self, part: Schema, path: Path) -> Schema:
        """What a reference stands for, with what stands beside the reference."""
        target = part
        while self._left and isinstance(found := self._definitions.get(str(target.get("$ref"))), dict):
            self._left -= 1
            target = {**found, **{name: value for name, value in target.items() if name != "$ref"}}
        if target is not part:
            message = "the server takes no references: what it stands for is written out"
            self._loss.replace(path, target, "schema_rewritten", "representation", message)
        return target


def _is_word(value: Any) -> bool:
    return type(value) is str or (type(value) is list and _are_texts(value))


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_list(value: Any) -> bool:
    return type(value) is list


def _is_object(value: Any) -> bool:
    return type(value) is dict


_MISSHAPEN_ROOT: Final[Kinds] = {"required": _are_texts, "properties": _is_object}
_MISSHAPEN: Final[Kinds] = {
    **_MISSHAPEN_ROOT,
    "type": _is_word,
    "description": _is_text,
    "enum": _is_list,
    "anyOf": _is_list,
}
"""What the server reads a keyword into; null is nothing."""


def _sound(schema: Schema, kinds: Kinds, loss: Loss, path: Path) -> Schema:
    """The schema without keywords that are of no type a schema has there: the server would refuse the whole request."""
    odd = [name for name, fits in kinds.items() if schema.get(name) is not None and not fits(schema[name])]
    if not odd:
        return schema
    for name in odd:
        severity = "representation" if name == "description" else "weakened"
        loss.drop((*path, name), "schema_weakened", severity, "no schema has such a value there; the server refuses it")
    return {name: value for name, value in schema.items() if name not in odd}


def _united(schema: Schema, loss: Loss, path: Path) -> Schema:
    if type(schema.get("oneOf")) is not list or "anyOf" in schema:
        return schema
    message = "the target has anyOf in the place of oneOf"
    loss.move((*path, "oneOf"), (*path, "anyOf"), "schema_rewritten", "representation", message)
    return {**{name: value for name, value in schema.items() if name != "oneOf"}, "anyOf": schema["oneOf"]}


def _listed(schema: Schema, loss: Loss, path: Path) -> Schema:
    if "const" not in schema or "enum" in schema:
        return schema
    message = "the target has an enum of one value in the place of const"
    loss.drop((*path, "const"), "schema_rewritten", "representation", message)
    loss.replace((*path, "enum"), [schema["const"]], "schema_rewritten", "representation", message)
    return {**{name: value for name, value in schema.items() if name != "const"}, "enum": [schema["const"]]}


def _limited(schema: Schema, loss: Loss, path: Path) -> Schema:
    dropped = [name for name in schema if name not in _PROPERTY]
    if not dropped:
        return schema
    for name in dropped:
        _drop(name, loss, path)
    written = {name: value for name, value in schema.items() if name in _PROPERTY}
    if said := ", ".join(f"{name}: {json.dumps(schema[name]).decode()}" for name in dropped if name not in _SILENT):
        before = schema.get("description")
        written["description"] = f"{before}\n\n{{{said}}}" if isinstance(before, str) and before else f"{{{said}}}"
        message = "the server drops the keyword; the description says it"
        loss.replace((*path, "description"), written["description"], "schema_weakened", "weakened", message)
    return written


def _drop(name: str, loss: Loss, path: Path) -> None:
    severity = "representation" if name in _NO_LIMIT else "weakened"
    loss.drop((*path, name), "schema_weakened", severity, "the server drops this keyword of a tool's schema")


Tool = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- tools


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tools`: those that may be called."""
    tools: list[Tool] = request["tools"]
    offered = _offered(request)
    written: list[Wire] = []
    for position, tool in enumerate(tools):
        path: Path = ("tools", position)
        if writing.refuses("tools", "tools"):
            writing.loss.drop(path, "unsupported_model", "lost", "the model takes no tools")
        elif tool["name"] not in offered:
            message = "the wire has no choice of tools: only those are offered that may be called"
            writing.loss.drop(path, "tool_choice", "weakened", message)
        elif (wire := _tool_to_wire(tool, path, writing)) is not None:
            written.append(wire)
    if written:
        body["tools"] = written


def _offered(request: dict[str, Any]) -> set[str]:
    """The names of the tools that may be called; the choice itself has no form."""
    names = {tool["name"] for tool in request["tools"]}
    choice: Mapping[str, Any] = request.get("tool_choice") or NOTHING
    match choice.get("type"):
        case "none":
            return set()
        case "tool":
            chosen = {choice.get("name")}
        case "allowed":
            chosen = set(choice.get("names") or ())
        case _:
            return names
    return names & chosen or names


def report_choice(choice: Mapping[str, Any], loss: Loss) -> None:
    """Reports the choice of tools, which has no form."""
    severity = "representation" if choice["type"] in ("auto", "none") else "weakened"
    loss.drop(("tool_choice",), "tool_choice", severity, "the wire has no choice of tools")


def _tool_to_wire(tool: Tool, path: Path, writing: Writing) -> Wire | None:
    """A tool; None when it was dropped."""
    loss, kind = writing.loss, tool.get("kind") or "function"
    if kind == "provider":
        if tool.get("adapter") != writing.endpoint.adapter or not isinstance(tool.get("definition"), dict):
            loss.drop(path, "provider_tool", "lost", "a tool of another provider cannot be offered here")
            return None
        read = tool_from_wire(tool["definition"], Reading(writing.endpoint, DERIVED_IDS))
        if read.get("kind") != "provider" or read["name"] != tool["name"]:
            loss.replace(
                path, read, "unsupported_value", "representation", "the tool is read back as what its definition says"
            )
            return tool["definition"]
        report_beside_definition(tool, loss, path)
        if tool.get("cache") is not None:
            loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")
        report_own_state(writing.owned(tool), loss, path, fields=True)
        report_foreign_state(tool, writing.endpoint, loss, path)
        report_unknown(tool, PROVIDER_TOOL_MEMBERS, loss, path)
        return tool["definition"]
    schema = tool.get("input_schema")
    if (
        schema is not None and not writing.same_origin and within(tool, _USUAL) and not tool.get("strict")
    ):  # on a straight way
        function: Wire = {"name": tool["name"], "parameters": kept(schema, loss, (*path, "input_schema"))}
        if tool.get("description") is not None:
            function["description"] = tool["description"]
        return {"type": "function", "function": function}
    state = writing.owned(tool)
    fields, encoding = state.get("fields") or NOTHING, state.get("encoding") or NOTHING
    if kind == "custom":
        schema = tool_as_function(tool, loss, path)["input_schema"]
    elif schema is not None and not ("schema" in encoding and encoding["schema"] == imprint(schema, SCHEMA)):
        schema = kept(schema, loss, (*path, "input_schema"))
    more: Mapping[str, Any] = fields.get("function", NOTHING)
    inner: Wire = {**more, "name": tool["name"]}
    if tool.get("description") is not None:
        inner["description"] = tool["description"]
    if schema is not None:
        inner["parameters"] = schema
    if said := [name for name in more if inner[name] != more[name]]:
        where: Path = (*path, "provider_state", "fields", "function")
        for lost in [where] if len(said) == len(more) else [(*where, name) for name in said]:
            loss.drop(lost, "combination", "representation", "the canonical member says it already")
    if not tool.keys() <= _SAID:
        _finish_tool(tool, kind, state, path, writing)
    wire: Wire = {name: item for name, item in fields.items() if name != "function"}
    if "type" not in encoding.get("absent", ()):
        wire["type"] = "function"
    wire["function"] = inner
    return wire


_SAID: Final = frozenset(("name", "description", "input_schema", "side_effects", "requires_workspace"))
_USUAL: Final = _SAID | {"strict"}


def _finish_tool(tool: Tool, kind: str, state: Mapping[str, Any], path: Path, writing: Writing) -> None:
    loss = writing.loss
    if kind == "function":
        for name in ("strict", "format"):
            if tool.get(name) is not None and tool[name] is not False:
                loss.drop((*path, name), "unsupported_field", "weakened", f"a tool has no {name} on this wire")
    if tool.get("cache") is not None:
        loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")
    for name in ("adapter", "definition"):
        if tool.get(name) is not None:
            loss.drop(
                (*path, name), "unsupported_field", "representation", "only a provider's own tool has such a member"
            )
    if state:
        report_own_state(state, loss, path)
    else:
        report_foreign_state(tool, writing.endpoint, loss, path)
    report_unknown(tool, PROVIDER_TOOL_MEMBERS, loss, path)


SCHEMA: Final = "input_schema"


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """A tool. What is not a readable function is kept whole as a tool of the provider.

    A schema of which the server drops a part is noted: it goes back as it is, until an edit makes it another one.
    """
    read = _tool_from_wire(tool, reading)
    schema = read.get("input_schema")
    if schema is not None and not is_kept_whole(schema):
        state = read.setdefault("provider_state", reading.endpoint.state())
        state["encoding"] = {**(state.get("encoding") or NOTHING), "schema": imprint(schema, SCHEMA)}
    return read


def _tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    inner: Any = tool.get("function")
    if not _is_function(inner) or tool.get("type", "function") != "function":
        name = (inner.get("name") if isinstance(inner, dict) else None) or tool.get("name") or tool.get("type")
        return {
            "kind": "provider",
            "name": name if isinstance(name, str) and name else "tool",
            "adapter": reading.endpoint.adapter,
            "definition": tool,
        }
    if (
        len(tool) == 2
        and len(inner) == 3
        and "type" in tool
        and None not in inner.values()
        and inner.keys() == _FUNCTION
    ):
        return {"name": inner["name"], "description": inner["description"], "input_schema": inner["parameters"]}
    read: Tool = {"name": inner["name"]}
    for name, member in (("description", "description"), ("input_schema", "parameters")):
        if inner.get(member) is not None:
            read[name] = inner[member]
    fields = {name: item for name, item in tool.items() if name not in ("type", "function")}
    more = {name: item for name, item in inner.items() if name not in _FUNCTION or item is None}
    if more:
        fields["function"] = more
    return reading.mark(read, fields, None if "type" in tool else {"absent": ["type"]})


_FUNCTION: Final = frozenset(("name", "description", "parameters"))


def _is_function(inner: Any) -> bool:
    return (
        isinstance(inner, dict)
        and isinstance(inner.get("name"), str)
        and inner["name"] != ""
        and isinstance(inner.get("description"), (str, type(None)))
        and isinstance(inner.get("parameters"), (dict, type(None)))
    )


# ---------------------------------------------------------------------------------------------------- calls


def call_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """A call, as it stands in `tool_calls`."""
    state = writing.owned(block)
    wire_id = writing.call_id(block, state)
    call: Wire = {} if wire_id is None else {"id": wire_id}
    if not state and within(block, _USUAL_CALL):
        call["function"] = {"name": block["name"], "arguments": block["input"]}
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        return call
    encoding, fields = state.get("encoding") or NOTHING, state.get("fields") or NOTHING
    inner: Wire = {"name": block["name"]}
    if "index" in encoding:
        inner["index"] = encoding["index"]
    inner["arguments"] = _arguments(block, encoding, path, writing)
    if "arguments" in encoding.get("absent", ()) and not block["input"]:
        del inner["arguments"]
    if fields:
        inner = {**fields.get("function", NOTHING), **inner}
        call = {**{name: value for name, value in fields.items() if name != "function"}, **call}
    if "type" in encoding:
        call["type"] = encoding["type"]
    call["function"] = inner
    if not state or "cache" in block or "signature" in state or not block.keys() <= CALL_MEMBERS:
        if block.get("cache") is not None:
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")
        if state:
            report_own_state(state, writing.loss, path)
        else:
            report_foreign_state(block, writing.endpoint, writing.loss, path)
        report_unknown(block, CALL_MEMBERS, writing.loss, path)
    return call


_USUAL_CALL: Final = frozenset(("type", "id", "name", "input", "provider_state"))


def _arguments(block: Block, encoding: Mapping[str, Any], path: Path, writing: Writing) -> Any:
    raw, loss = block.get("input_raw"), writing.loss
    if (text := encoding.get("arguments")) is not None and _same_arguments(text, block):
        return text
    if block.get("kind", "function") != "function":
        return call_as_arguments(raw, loss, path)
    if raw is not None:
        loss.drop((*path, "input_raw"), "arguments_invalid", "lost", "the wire takes a JSON object as arguments")
    return block["input"]


def _same_arguments(text: Any, block: Block) -> bool:
    """Whether a kept argument text still says what the call says; the conversation may have been edited."""
    if not isinstance(text, str):
        return False
    parsed = parse_arguments(text or "{}")
    if parsed is None:
        return block.get("input_raw") == text and not block["input"]
    return "input_raw" not in block and arguments_text(parsed) == arguments_text(block["input"])


def call_from_wire(call: Any, reading: Reading) -> Block:
    """A call from `tool_calls`. What is no readable call is kept whole."""
    if type(call) is dict and len(call) == 2 and type(wire_id := call.get("id")) is str:
        inner = call.get("function")
        if type(inner) is dict and len(inner) == 2 and type(arguments := inner.get("arguments")) is dict:
            name = inner.get("name")
            if type(name) is str and name:  # the usual call, on a straight way
                state = reading.endpoint.state(id=wire_id)
                canonical = reading.call(wire_id, name)
                return {"type": "tool_use", "id": canonical, "name": name, "input": arguments, "provider_state": state}
    if not is_call(call):
        return opaque(call, CALLS, reading)
    inner, wire_id = call["function"], call.get("id")
    block: Block = {"type": "tool_use", "id": reading.call(wire_id, inner["name"]), "name": inner["name"]}
    encoding: dict[str, Any] = {}
    arguments = inner.get("arguments", _MISSING)
    if isinstance(arguments, dict):
        block["input"] = arguments
    elif arguments is _MISSING:
        block["input"] = {}
        encoding["absent"] = ["arguments"]
    else:  # a text, which older clients send
        encoding["arguments"] = arguments
        if (parsed := parse_arguments(arguments or "{}")) is not None:
            block["input"] = parsed
        else:
            block["input"], block["input_raw"] = {}, arguments
    state = block["provider_state"] = reading.endpoint.state()
    if wire_id is not None:
        state["id"] = wire_id
    if inner.get("index") is not None:
        encoding["index"] = inner["index"]
    if call.get("type") is not None:
        encoding["type"] = call["type"]
    fields = {name: item for name, item in call.items() if name not in _CALL_MEMBERS or item is None}
    if not inner.keys() <= _FUNCTION_MEMBERS:
        fields["function"] = {name: item for name, item in inner.items() if name not in _FUNCTION_MEMBERS}
    keep(state, fields, encoding)
    return block


_MISSING: Final = object()
_CALL_MEMBERS: Final = frozenset(("id", "type", "function"))
_FUNCTION_MEMBERS: Final = frozenset(("index", "name", "arguments"))


def is_call(call: Any) -> bool:
    """Whether an item of `tool_calls` can be read."""
    if not isinstance(call, dict) or not isinstance(inner := call.get("function"), dict):
        return False
    return (
        isinstance(inner.get("name"), str)
        and inner["name"] != ""
        and isinstance(inner.get("arguments", {}), (dict, str))
        and isinstance(call.get("id"), (str, type(None)))
        and isinstance(inner.get("index", 0), (int, float))
        and isinstance(call.get("type"), (str, type(None)))
    )
