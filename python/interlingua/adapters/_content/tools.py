"""
Read and write tools: the rules that all wires share.

A wire declares with rows how a function is read and written, which words it has for a choice, and the dialect of its
schemas. A free-text tool is written as a function if the wire has only functions. A tool that its provider defines is
kept whole: it is written back verbatim, to that provider only.
"""

from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

from interlingua.adapters._content.calls import ARGUMENT
from interlingua.adapters._content.web_search import with_native_search
from interlingua.adapters._engine.items import ItemRow, read_item, same, text
from interlingua.adapters._engine.kit import (
    PROVIDER_TOOL_MEMBERS,
    Wire,
    report_foreign_state,
    report_replayable_state,
    report_unknown,
)
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Loss, Path, pointer

Tool = dict[str, Any]
Choice = dict[str, Any]
W = TypeVar("W", bound=Writing)
Of = list[tuple[int, ...]]
"""For each definition on the wire, the positions of the canonical tools that it represents: one, except for a set of
tools."""

TOOL_ELSEWHERE: Final = ("kind", "side_effects", "requires_workspace")
"""The members of a tool that are not for the model."""
DESCRIPTION: Final = text("description", "description")
PARAMETERS: Final = same("parameters", "input_schema", dict)
STRICT: Final = same("strict", "strict", bool)
GRAMMAR: Final = same("format", "format", dict)

# ---------------------------------------------------------------------------------------------------- from the wire


def of_provider(definition: Wire, endpoint: Endpoint, *names: Any) -> Tool:
    """Return a tool that a provider defines, kept whole. Its name is the first of these `names` that is a text."""
    name = next((name for name in names if type(name) is str and name), "tool")
    return {"kind": "provider", "name": name, "adapter": endpoint.adapter, "definition": definition}


def read_tool(row: ItemRow | None, wire: Wire, reading: Reading, kind: str = "function") -> Tool:
    """Read a function, or a tool of another `kind`, by its row. A tool that has no row, or cannot be read by it, is kept
    whole as a provider's tool: the kind of the result tells."""
    if row is not None:
        try:
            return read_item(row, wire, {} if kind == "function" else {"kind": kind}, reading)
        except (KeyError, TypeError):
            if type(wire) is not dict:
                raise
    inner: Any = wire.get("function") or wire.get("custom")
    named = inner.get("name") if type(inner) is dict else None
    return of_provider(wire, reading.endpoint, named, wire.get("name"), wire.get("type"))


# ---------------------------------------------------------------------------------------------------- to the wire


def is_plain(tool: Tool) -> bool:
    """Whether a tool has only a name, a description and a schema, like most tools."""
    return len(tool) == 3 and bool(tool.get("description") and tool.get("input_schema"))


def write_tools(
    request: dict[str, Any],
    writing: W,
    write: Callable[[Tool, W, Path], Wire | None],
    read: Callable[[Wire, W], Tool | None],
    offered: Collection[str] | None = None,
    *,
    one_name_each: bool = False,
) -> tuple[list[Wire], Of]:
    """Return the written definitions of the tools of a request, and the positions of the tools of each. If the model
    accepts no tools, the result is empty, and that is reported.

    `write` writes a function, or a free-text tool if the wire has these. `read` reads the definition of a provider's
    tool, and returns None for one that is no tool of this provider. On a wire that cannot name the tools that may be
    called, only the `offered` ones are written. `one_name_each`: the wire does not accept two tools with one name, and
    `InvalidRequest` is raised for the second, unless the received request had both.
    """
    names: set[str] = set()
    wires: list[Wire] = []
    of: Of = []
    taken = not writing.refuses("tools")
    tools: list[Tool] = with_native_search(request, writing.endpoint, writing.loss) if taken else request["tools"]
    for position, tool in enumerate(tools):
        path: Path = ("tools", position)
        kind: str = tool.get("kind") or "function"
        wire: Wire | None = None
        if not taken:
            writing.loss.drop(path, "unsupported_model", "lost", "the model does not accept tools")
        elif offered is not None and tool["name"] not in offered:
            message = "the wire cannot choose a tool by name: only the tools that may be called are offered"
            writing.loss.drop(path, "tool_choice", "weakened", message)
        elif kind == "provider":
            wire = _definition_to_wire(tool, path, writing, read)
            if one_name_each and wire is not None and type(name := wire.get("name")) is str:
                _refuse_second(name, names, writing, path)
        else:
            if one_name_each:
                _refuse_second(writing.tool_name(tool["name"]), names, writing, path)
            if kind == "custom" and writing.folds_custom:
                tool = tool_as_function(tool, writing.loss, path)
            wire = write(tool, writing, path)
        if wire is not None:
            wires.append(wire)
            of.append((position,))
    return wires, of


def tool_as_function(tool: dict[str, Any], loss: Loss, path: Path) -> dict[str, Any]:
    """Return the function that represents a free-text tool. Its description states the grammar of the text to the
    model; nothing enforces the grammar."""
    argument = {"type": "string"}
    if (grammar := _grammar(tool.get("format"))) is not None:
        argument["description"] = grammar
    schema = {"type": "object", "properties": {ARGUMENT: argument}, "required": [ARGUMENT]}
    message = "a free-text tool is written as a function with one text argument"
    loss.replace((*path, "kind"), "function", "custom_tool", "representation", message)
    loss.replace((*path, "input_schema"), schema, "custom_tool", "representation", message)
    for name, idle in (("format", {"type": "text"}), ("strict", False)):
        value = tool.get(name)
        if value is not None:
            severity = "representation" if value == idle else "weakened"
            loss.drop((*path, name), "custom_tool", severity, f"the {name} of a free-text tool is not enforced here")
    kept = {name: value for name, value in tool.items() if name not in ("kind", "format", "strict")}
    return kept | {"input_schema": schema}


def _grammar(wanted: Any) -> str | None:
    """Return the description of the grammar of a text for the model; None if there is no grammar, or an unreadable
    one."""
    match wanted:
        case {"type": "grammar", "grammar": {"syntax": str(syntax), "definition": str(definition)}}:
            pass
        case {"type": "grammar", "syntax": str(syntax), "definition": str(definition)}:
            pass
        case _:
            return None
    return f"A text of this {syntax} grammar:\n{definition}"


def _refuse_second(name: str, before: set[str], writing: Writing, path: Path) -> None:
    if name in before and not writing.had_twice(name):
        raise InvalidRequest("two tools have one name; give each its own", path=pointer((*path, "name")))
    before.add(name)


def _definition_to_wire(tool: Tool, path: Path, writing: W, read: Callable[[Wire, W], Tool | None]) -> Wire | None:
    """Return the definition of a provider's tool verbatim for the wire that it comes from; report it elsewhere and
    return None."""
    definition: Any = tool.get("definition")
    same_origin = tool.get("adapter") == writing.endpoint.adapter and type(definition) is dict
    seen = read(definition, writing) if same_origin else None
    if seen is None:
        writing.loss.drop(path, "provider_tool", "lost", "a tool of another provider cannot be offered here")
        return None
    if seen.get("kind") != "provider":
        message = "the tool is read back as its definition states"
        writing.loss.replace(path, seen, "unsupported_value", "representation", message)
        return definition
    for member in ("name", "definition"):
        if seen[member] != tool[member]:
            message = "the definition states what the tool is"
            writing.loss.replace((*path, member), seen[member], "name_rewritten", "representation", message)
    report_replayable_state(writing.state_of(tool), writing.loss, path, fields=True)
    report_foreign_state(tool, writing.endpoint, writing.loss, path)
    for name in ("description", "input_schema", "strict", "format"):
        if tool.get(name) is not None:
            message = "the definition of a provider's tool is complete without it"
            writing.loss.drop((*path, name), "unsupported_field", "weakened", message)
    if tool.get("cache") is not None and not writing.marks_definitions:
        message = "the definition itself states how it is cached"
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)
    report_unknown(tool, PROVIDER_TOOL_MEMBERS, writing.loss, path)
    return seen["definition"]
