"""Tools, the choice of tools, and calls: each written above read."""

from collections.abc import Mapping
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
from interlingua.adapters.ollama_chat.schemas import is_kept_whole, kept
from interlingua.adapters.ollama_chat.tables import CALLS, Reading, Writing
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Loss, Path

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
