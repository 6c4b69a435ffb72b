"""
Tools, by rows, and the choice of tools: for each, the writer is above the reader.

A namespace is a list of tools under a name (spec/adapters/openai_responses.md#openai-responses-namespaces). In
canonical form its tools are tools like any other, called `namespace__name`; their place in a namespace is a spelling,
which only this wire has. A call has its namespace in a member next to its name.

Clients may put their tools into an item `additional_tools` at the head of the input
(spec/adapters/openai_responses.md#openai-responses-declared). In canonical form they are tools of the request, with a
spelling that names the item.
"""

from typing import Any, Final

from interlingua.adapters._content.built_in import BUILT_IN, definition_of
from interlingua.adapters._content.choice import ALL, Ways, fitted_choice
from interlingua.adapters._content.tools import (
    DESCRIPTION,
    GRAMMAR,
    PARAMETERS,
    STRICT,
    TOOL_ELSEWHERE,
    Tool,
    is_plain,
    of_provider,
    write_tools,
)
from interlingua.adapters._engine.items import ItemRow, read_item, tool_name, write_item
from interlingua.adapters._engine.kit import (
    NOTHING,
    Wire,
    encoding_in,
    encoding_of,
    keep_spelling,
    note_spelling,
    report_replayable_state,
)
from interlingua.adapters._engine.spelling import Spellings, imprint
from interlingua.adapters._engine.verbatim import Items, keep_spellings
from interlingua.adapters._history.order import moves_behind
from interlingua.adapters._openai import tools as _openai_tools
from interlingua.adapters._openai.tools import as_enforced, parallel_to_wire
from interlingua.adapters._openai.writing import can_be_enforced
from interlingua.adapters.openai_responses.built_in import TOOLS, answered, built_in
from interlingua.adapters.openai_responses.parts import MARK
from interlingua.adapters.openai_responses.tables import Reading, Writing
from interlingua.canonical.loss import Path

Item = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- namespaces

NAMESPACE: Final = "namespace"
"""Type of the tool, member of the call, and name of the spelling."""
_BEGINS: Final = "namespace_begins"
_BETWEEN: Final = "__"
DEFAULT: Final = "functions"
"""The namespace in which the models of the provider see the tools that have none."""


def full_name(namespace: str, name: str) -> str:
    """Return the canonical name of a tool in a namespace. The default namespace, and one with the tool's own name, add
    nothing."""
    return _prefix(namespace, name) + name


def _prefix(namespace: str, name: str) -> str:
    if namespace in (DEFAULT, name):
        return ""
    return namespace if namespace.endswith(_BETWEEN) else namespace + _BETWEEN


def parted(name: str, namespace: str) -> str | None:
    """Return the name within a namespace of a tool with a canonical name; None for a name that does not fit the
    namespace, as after an edit."""
    if namespace in (DEFAULT, name):
        return name
    prefix = _prefix(namespace, "")
    return name[len(prefix) :] if name.startswith(prefix) and len(name) > len(prefix) else None


def put_into(tools: list[Item], space: Wire, taken: set[str], reading: Reading) -> bool:
    """Give canonical names to the tools of a namespace, which were just read; return whether this was possible.

    It is not where two tools would have one name, or where one of them is the provider's own or has a member with the
    name under which the namespace is kept. Then the namespace stays whole.
    """
    namespace = space["name"]
    names = [full_name(namespace, tool["name"]) for tool in tools]
    if len({*names}) != len(names) or not taken.isdisjoint(names):
        return False
    for tool in tools:
        fields = tool.get("provider_state", NOTHING).get("fields", NOTHING)
        if tool.get("kind") == "provider" or NAMESPACE in fields or BUILT_IN in encoding_of(tool, reading.endpoint):
            return False
    taken.update(names)
    others = {name: value for name, value in space.items() if name not in ("type", "name", "tools")}
    for position, (tool, name) in enumerate(zip(tools, names, strict=True)):
        state = tool.setdefault("provider_state", reading.state())
        keep_spelling(state, NAMESPACE, namespace)
        reading.names.add(tool["name"])
        tool["name"] = name
        if position == 0:
            keep_spelling(state, _BEGINS, True)
            if others:
                state["fields"] = {**state.get("fields", NOTHING), NAMESPACE: others}
    return True


def name_in_namespace(name: str, encoding: dict[str, Any], writing: Writing) -> str | None:
    """Return the name within its namespace of a tool or a call of this wire; None where it has no namespace, or has
    left it."""
    namespace = encoding.get(NAMESPACE)
    if not isinstance(namespace, str):
        return None
    within = parted(name, namespace)
    taken = within is not None and (writing.answering or writing.tool_name(within) == within)
    return within if taken else None


def grouped(tools: list[tuple[Item, Wire]], writing: Writing) -> list[Wire]:
    """Group written tools, which are given with their canonical tools: adjacent tools of one namespace are put into
    it."""
    wires: list[Wire] = []
    last: Any = None
    for tool, wire in tools:
        encoding = writing.encoding_of(tool)
        namespace = encoding.get(NAMESPACE)
        if name_in_namespace(tool["name"], encoding, writing) is None:
            wires.append(wire)
            last = None
            continue
        if namespace != last or _BEGINS in encoding:
            others = (writing.state_of(tool).get("fields") or NOTHING).get(NAMESPACE) or NOTHING
            wires.append({**others, "type": NAMESPACE, "name": namespace, "tools": []})
            last = namespace
        wires[-1]["tools"].append(wire)
    return wires


# ---------------------------------------------------------------------------------------------------- tools that items declare

DECLARED: Final = "declared"
"""Spelling of a tool: the position of the item that declares it; of a request: those items without their tools."""
_ADDITIONAL: Final = "additional_tools"


def leading(items: Any) -> list[Wire]:
    """Return the items at the head of an input that declare tools, if other items follow them."""
    if not isinstance(items, list):
        return []
    found: list[Wire] = []
    for item in items:
        match item:
            case {"type": "additional_tools", "tools": list(tools)} if tools and all(
                isinstance(t, dict) for t in tools
            ):
                found.append(item)
            case _:
                return found
    return []


def mark(tools: list[Item], position: int, reading: Reading) -> None:
    """Give tools, which were just read, the spelling of tools that an item declares."""
    for tool in tools:
        note_spelling(tool, DECLARED, reading.state, position)


def without_tools(item: Wire) -> Wire:
    """Return the members of an item other than its tools."""
    return {name: value for name, value in item.items() if name not in ("type", "tools")}


def apart(tools: list[tuple[Item, Wire]], writing: Writing) -> tuple[list[tuple[Item, Wire]], list[Wire]]:
    """Split written tools, which are given with their canonical tools: return those of the request, and items for the
    rest."""
    kept: Any = writing.encoding.get(DECLARED)
    if not isinstance(kept, list):
        return tools, []
    ranks = [_rank(tool, len(kept), writing) for tool, _ in tools]
    items = [
        [found for found, rank in zip(tools, ranks, strict=True) if rank == position] for position in range(len(kept))
    ]
    return [found for found, rank in zip(tools, ranks, strict=True) if rank < 0], [
        {**members, "type": _ADDITIONAL, "tools": grouped(declared, writing)}
        for members, declared in zip(kept, items, strict=True)
        if declared
    ]


def report_order(tools: list[Item], writing: Writing) -> None:
    """Report the tools that leave their place: those of the request come before those of items."""
    kept: Any = writing.encoding.get(DECLARED)
    items = len(kept) if isinstance(kept, list) else 0
    if not items and not writing.found:
        return
    ranks = [_rank(tool, items, writing) for tool in tools]
    order = sorted(range(len(tools)), key=ranks.__getitem__)
    for position, to in moves_behind(order, [{"role": "user"}] * len(tools)):  # no tool prefers to stay in its place
        message = "tools that items declare are after the others"
        writing.loss.move(("tools", position), ("tools", to), "reordered", "representation", message)


def _rank(tool: Item, items: int, writing: Writing) -> int:
    """Return the position of the item that declares a tool; -1 for a tool of the request."""
    if tool["name"] in writing.found:
        return items + writing.found.index(tool["name"])
    position: Any = writing.encoding_of(tool).get(DECLARED)
    return position if type(position) is int and 0 <= position < items else -1


# ---------------------------------------------------------------------------------------------------- tools that searches found

_SEARCH: Final = "tool_search"
_FOUND: Final = "found"
"""Spelling of a tool: a search of the client returned it."""


def found_from_wire(found: list[list[Wire]], offered: list[Item], reading: Reading) -> list[Item]:
    """Read the tools that searches returned, except those offered already: functions and tools with free text."""
    taken = {tool["name"] for tool in offered}
    tools: list[Item] = []
    for wire in [wire for wires in found for wire in wires]:
        for tool in tools_from_wire(_not_taken(wire, taken), reading, set(taken)):
            if tool.get("kind") == "provider":
                continue
            note_spelling(tool, _FOUND, reading.state)
            taken.add(tool["name"])
            tools.append(tool)
    return tools


def _not_taken(wire: Wire, taken: set[str]) -> list[Wire]:
    """Return a tool, or a namespace with those of its tools, with a name that no other tool has; nothing where none is
    left."""
    match wire:
        case {"type": "namespace", "name": str(space), "tools": list(inner)}:
            rest = [
                tool
                for tool in inner
                if not (
                    isinstance(tool, dict)
                    and isinstance(name := tool.get("name"), str)
                    and full_name(space, name) in taken
                )
            ]
            return [{**wire, "tools": rest}] if rest else []
        case {"name": str(name)} if name in taken:
            return []
        case _:
            return [wire]


def are_offered(found: list[Wire], writing: Writing) -> bool:
    """Whether all tools that a search returned are tools of the request."""
    if writing.capabilities.get("supports_tools") is False:
        return False
    names = [tool["name"] for tool in writing.source.get("tools") or ()]
    return all(tool["name"] in names for tool in found_from_wire([found], [], Reading(writing.endpoint)))


def _still_found(tools: list[Item], items: Any, writing: Writing) -> list[str]:
    """Return the names of the tools that searches returned according to their items, if the tools were not changed."""
    marked = [tool for tool in tools if _FOUND in writing.encoding_of(tool)]
    if not marked or not isinstance(items, list):
        return []
    listed = [item["tools"] for item in items if item.get("type") == "tool_search_output" and answered(item, _SEARCH)]
    rest = [tool for tool in tools if tool not in marked]
    again = {tool["name"]: tool for tool in found_from_wire(listed, rest, Reading(writing.endpoint))}
    same = {tool["name"] for tool in marked if _is_as_found(tool, again.get(tool["name"]))}
    return [name for name in again if name in same]


def _is_as_found(tool: Item, listed: Item | None) -> bool:
    if listed is None:
        return False
    return {**tool, "provider_state": tool["provider_state"].get("fields")} == {
        **listed,
        "provider_state": listed["provider_state"].get("fields"),
    }


# ---------------------------------------------------------------------------------------------------- tools


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Write `tools`, and before the input the items that declare some of them. `read` holds the tools of the request
    from which these tools were just read, one by one."""
    tools: list[Tool] = request["tools"]
    writing.found = _still_found(tools, body["input"], writing)
    written, of = write_tools(request, writing, _tool_to_wire, _read_definition)
    written = Items(tools, "tools", writing).settled(written, of, read)
    present, declaring = apart([(tools[place[0]], wire) for place, wire in zip(of, written, strict=True)], writing)
    if present:
        body["tools"] = grouped(present, writing)
    report_order(tools, writing)
    if declaring:
        body["input"] = [*declaring, *body["input"]]


def _write_name(tool: Tool, writing: Writing, path: Path) -> str:
    within = name_in_namespace(tool["name"], writing.encoding_of(tool), writing)
    return writing.written_tool_name(tool["name"], path) if within is None else within


_NAME: Final = tool_name(_write_name)
_FUNCTION: Final = ItemRow(
    {"type": "function"}, _NAME, DESCRIPTION, PARAMETERS, STRICT, mark=MARK, elsewhere=TOOL_ELSEWHERE
)
_CUSTOM: Final = ItemRow({"type": "custom"}, _NAME, DESCRIPTION, GRAMMAR, mark=MARK, elsewhere=TOOL_ELSEWHERE)


def _tool_to_wire(tool: Tool, writing: Writing, path: Path) -> Wire | None:
    if tool["name"] in writing.found:  # an item has it
        return None
    kind = tool.get("kind") or "function"
    if is_plain(tool):
        function = {"name": writing.written_tool_name(tool["name"], path), "description": tool["description"]}
        return {"type": "function", **function, "parameters": tool["input_schema"], "strict": False}
    if (built_in_tool := definition_of(tool, TOOLS, writing)) is not None:
        return built_in_tool.put_back(write_item(built_in_tool.row, tool, writing, path), tool, writing)
    tool = as_function(tool, path, writing)
    if kind == "custom":
        tool = _with_flat_grammar(tool, path, writing)
    if kind == "function" and tool.get("strict"):
        tool = as_enforced(tool, path, writing)
    wire = write_item(_FUNCTION if kind == "function" else _CUSTOM, tool, writing, path)
    if kind == "function" and "strict" not in wire:
        wire["strict"] = False  # without a value, the service enforces what it can
    encoding = writing.encoding_of(tool)
    if NAMESPACE in encoding and wire.pop(NAMESPACE, None) is not None:  # the members of the namespace itself
        if name_in_namespace(tool["name"], encoding, writing) is None:
            where = (*path, "provider_state", "fields", NAMESPACE)
            writing.loss.drop(where, "combination", "weakened", "the tool is no longer in its namespace")
    return wire


def as_function(item: Item, path: Path, writing: Writing) -> Item:
    """Return a built-in tool, or a call of one, that was changed: a function, without the members that it had here. Any
    other item is returned unchanged."""
    state = writing.state_of(item)
    if BUILT_IN not in encoding_in(state):
        return item
    report_replayable_state({"fields": state.get("fields")}, writing.loss, path, fields=True)
    kept = writing.endpoint.state(id=state["id"]) if "id" in state else writing.endpoint.state()
    return {**item, "provider_state": kept}


def _read_definition(definition: Wire, writing: Writing) -> Tool:
    reading, built_in_tool = writing.reader(), built_in(definition)
    others = [tool["name"] for tool in writing.source.get("tools") or () if tool.get("definition") is not definition]
    if built_in_tool is not None and built_in_tool.name in others:
        return _of_provider(definition, reading)
    return tool_from_wire(definition, reading)


def _with_flat_grammar(tool: Tool, path: Path, writing: Writing) -> Tool:
    """Put the parts of a grammar next to its type. Chat Completions has an object for them."""
    match tool.get("format"):
        case {"type": "grammar", "grammar": {**parts}} if len(tool["format"]) == 2 and "type" not in parts:
            flat = {"type": "grammar", **parts}
            writing.loss.replace(
                (*path, "format"), flat, "schema_rewritten", "representation", "the wire does not nest the grammar"
            )
            return {**tool, "format": flat}
        case _:
            return tool


def tools_from_wire(wires: list[Wire], reading: Reading, taken: set[str] | None = None) -> list[Tool]:
    """Read all tools, including those of namespaces; `taken` holds the names of others."""
    taken = plain_names(wires) if taken is None else taken
    tools: list[Tool] = []
    for wire in wires:
        match wire:
            case {"type": "namespace", "name": str(name), "tools": list(inner)} if (
                name and inner and all(isinstance(tool, dict) for tool in inner)
            ):
                found = [tool_from_wire(tool, reading) for tool in inner]
                if put_into(found, wire, taken, reading):
                    tools += found
                    reading.offered += inner
                    continue
                tools.append(tool_from_wire(wire, reading))
            case _ if (built_in_tool := built_in(wire)) is not None:
                another = built_in_tool.name in taken  # another tool has its name
                tools.append(_of_provider(wire, reading) if another else tool_from_wire(wire, reading))
                taken.add(built_in_tool.name)
            case _:
                tools.append(tool_from_wire(wire, reading))
        reading.offered.append(wire)
    return tools


def plain_names(wires: list[Wire]) -> set[str]:
    """Return the names of the tools that are in no namespace."""
    return {name for wire in wires if isinstance(name := wire.get("name"), str) and wire.get("type") != NAMESPACE}


def declared_from_wire(items: list[Wire], body: Wire, reading: Reading) -> list[Tool] | None:
    """Read the tools that items declare; None where one of them has the name of another tool."""
    among = body.get("tools")
    named = [*(among if isinstance(among, list) else ()), *(tool for item in items for tool in item["tools"])]
    names = [wire["name"] for wire in named if isinstance(wire.get("name"), str) and wire.get("type") != NAMESPACE]
    taken = set(names)
    if len(taken) != len(names):
        return None
    for wire in among if isinstance(among, list) else ():
        if (built_in_tool := built_in(wire)) is not None:
            taken.add(built_in_tool.name)
    tools: list[Tool] = []
    for position, item in enumerate(items):
        found = tools_from_wire(item["tools"], reading, taken)
        mark(found, position, reading)
        tools += found
    return tools


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """Read a tool. A tool that is no readable function or custom tool is kept whole as a tool of the provider."""
    kind = tool.get("type")
    try:
        if kind == "function":
            read = read_item(_FUNCTION, tool, {}, reading)
            if "strict" not in tool:
                keep_spellings(read, {**_NOT_WRITTEN}, reading.endpoint)
            elif read.get("strict") and not can_be_enforced(read.get("input_schema")):
                reading.must_compare = True
            return read
        if kind == "custom":
            reading.must_compare = (
                reading.must_compare or "format" in tool or reading.endpoint.dialect.get("custom_tools") is False
            )
            return read_item(_CUSTOM, tool, {"kind": "custom"}, reading)
        if (of_provider := built_in(tool)) is not None:
            return of_provider.read(tool, reading)
    except (KeyError, TypeError):
        pass
    return _of_provider(tool, reading)


_NOT_WRITTEN: Final[Spellings] = {"/strict": {"written": imprint(False)}}
"""The spelling of a function without `strict`."""


def _of_provider(tool: Wire, reading: Reading) -> Tool:
    return of_provider(tool, reading.endpoint, tool.get("name"), tool.get("server_label"), tool.get("type"))


# ---------------------------------------------------------------------------------------------------- choice


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Write `tool_choice` and `parallel_tool_calls`, which are valid only with tools."""
    parallel_to_wire(request, body, writing)
    tools = "tools" in body or _declares(body["input"])
    if (fitted := fitted_choice(tools, _WAYS, writing)) is not None:
        nameless = [tool.get("type") for tool in body.get("tools", ()) if "name" not in tool]
        body["tool_choice"] = _encoded_choice(fitted, nameless)


_WAYS: Final = Ways(ALL)


def _declares(items: str | list[Wire]) -> bool:
    """Whether the first item declares tools."""
    return bool(items) and isinstance(items, list) and items[0].get("type") == _ADDITIONAL


def _encoded_choice(fitted: dict[str, Any], nameless: list[Any]) -> Any:
    """Return the choice as the wire spells it; tools that are `nameless` there are chosen by their type."""
    match fitted["type"]:
        case "tool":
            return _chosen(fitted["kind"], fitted["name"], nameless)
        case "allowed":
            tools = [_chosen(kind, name, nameless) for kind, name in fitted["tools"]]
            return {"type": "allowed_tools", "mode": fitted["mode"], "tools": tools}
        case word:
            return word


def _chosen(kind: str, name: str, nameless: list[Any]) -> Wire:
    return {"type": name} if name in nameless else {"type": kind, "name": name}


def choice_from_wire(value: Any) -> dict[str, Any] | None:
    """Return the choice that a wire value means, or None when it has no canonical counterpart."""
    match value:
        case {"type": "allowed_tools", "mode": _, "tools": [_, *_], **others} if not others:
            return _openai_tools.choice_from_wire(value, _named)
        case dict() if _named(value) is None:
            return None
        case _:
            return None if value == "any" else _openai_tools.choice_from_wire(value, _named)


def _named(tool: Any) -> tuple[str, str] | None:
    match tool:
        case {"type": ("function" | "custom") as kind, "name": str(name), **others} if not others:
            return kind, name
        case {"type": str(kind), **others} if not others and kind in TOOLS:
            return "function", kind
        case _:
            return None
