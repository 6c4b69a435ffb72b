"""Tools and the choice of tools: each written above read."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import PROVIDER_TOOL_MEMBERS, TOOL_MEMBERS, Wire, report_unknown, within
from interlingua.adapters._openai_members import plain_function
from interlingua.adapters.openai_responses.context import Reading, Writing, report_state
from interlingua.adapters.openai_responses.parts import cache_from_wire, cache_to_wire
from interlingua.adapters.openai_responses.tables import NOTHING
from interlingua.canonical.loss import Path

Tool = dict[str, Any]

_SAYING: Final = frozenset(("kind", "name", "description", "input_schema", "strict", "format"))
_TEXT_ARGUMENT: Final = "input"


# ---------------------------------------------------------------------------------------------------- tools


def tools_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tools`."""
    tools = request["tools"]
    if writing.capabilities.get("supports_tools") is False and not writing.own:
        for position in range(len(tools)):
            writing.loss.drop(("tools", position), "unsupported_model", "lost", "the model takes no tools")
        return
    written = [tool_to_wire(tool, ("tools", n), writing, request) for n, tool in enumerate(tools)]
    if present := [tool for tool in written if tool is not None]:
        body["tools"] = present


def tool_to_wire(tool: Tool, path: Path, writing: Writing, request: dict[str, Any]) -> Wire | None:
    """A tool; None when it was dropped."""
    kind = tool.get("kind") or "function"
    if kind == "provider":
        return _provider_tool(tool, path, writing)
    if kind == "custom" and writing.folds_custom:
        tool = _custom_as_function(tool, path, writing)
        kind = "function"
    if kind == "custom" and not writing.own:
        tool = _with_flat_grammar(tool, path, writing)
    state = writing.owns(tool)
    form = state.get("form") or NOTHING
    item: Wire = {**(state.get("fields") or NOTHING), "type": kind}
    item["name"] = writing.told_name(tool["name"], (*path, "name"), request)
    if tool.get("description") is not None:
        item["description"] = tool["description"]
    members = (("input_schema", "parameters"), ("strict", "strict")) if kind == "function" else (("format", "format"),)
    for name, member in members:
        if tool.get(name) is not None:
            item[member] = tool[name]
    if (
        item.get("strict")
        and kind == "function"
        and writing.refuses_strict(item.get("parameters"), (*path, "strict"), kept=writing.noted(tool))
    ):
        del item["strict"]
    if kind == "function" and "strict" not in item and not _silent(form):
        item["strict"] = False  # where nothing is said, the service enforces what it can
    for name in ("format",) if kind == "function" else ("input_schema", "strict"):
        if tool.get(name) is not None:
            message = f"a {kind} tool has no {name.replace('_', ' ')} on this wire"
            writing.loss.drop((*path, name), "unsupported_field", "weakened", message)
    for name, value in form.get("nulls", NOTHING).items():
        item.setdefault(name, value)
    if not tool.keys() <= _SAYING:
        if tool.get("cache") is not None:
            cache_to_wire(tool["cache"], item, form, (*path, "cache"), writing)
        report_state(tool, writing, path)
        report_unknown(tool, TOOL_MEMBERS, writing.loss, path)
    return item


def _silent(form: Mapping[str, Any]) -> bool:
    """Whether a tool came without a word on `strict`, or with null."""
    return "strict" in form.get("absent", ()) or "strict" in form.get("nulls", NOTHING)


def _with_flat_grammar(tool: Tool, path: Path, writing: Writing) -> Tool:
    """Chat Completions has an object for the parts of a grammar; here they stand beside its type."""
    match tool.get("format"):
        case {"type": "grammar", "grammar": {**parts}} if len(tool["format"]) == 2 and "type" not in parts:
            flat = {"type": "grammar", **parts}
            writing.loss.replace((*path, "format"), flat, "schema_rewritten", "shape", "the wire nests no grammar")
            return {**tool, "format": flat}
        case _:
            return tool


def _provider_tool(tool: Tool, path: Path, writing: Writing) -> Wire | None:
    if tool.get("adapter") != writing.endpoint.adapter or not isinstance(tool.get("definition"), dict):
        message = "a tool of another provider cannot be offered here"
        writing.loss.drop(path, "provider_tool", "lost", message)
        return None
    read = tool_from_wire(tool["definition"], Reading(writing.endpoint))
    if {name: tool.get(name) for name in ("kind", "name", "definition")} != {
        name: read.get(name) for name in ("kind", "name", "definition")
    }:
        message = "the tool is read back as what its definition says"
        writing.loss.replace(path, read, "unsupported_value", "shape", message)
        return tool["definition"]
    for name in ("description", "input_schema", "strict", "format", "cache"):
        if tool.get(name) is not None:
            message = f"the definition of a provider's tool says it all: it has no {name.replace('_', ' ')} beside it"
            code = "cache_hint" if name == "cache" else "unsupported_field"
            writing.loss.drop((*path, name), code, "weakened", message)
    report_state(tool, writing, path, fields=True)
    report_unknown(tool, PROVIDER_TOOL_MEMBERS, writing.loss, path)
    return tool["definition"]


def _custom_as_function(tool: Tool, path: Path, writing: Writing) -> Tool:
    schema = {"type": "object", "properties": {_TEXT_ARGUMENT: {"type": "string"}}, "required": [_TEXT_ARGUMENT]}
    message = "a free-text tool travels as a function with one text argument"
    writing.loss.replace((*path, "kind"), "function", "custom_tool", "shape", message)
    writing.loss.replace((*path, "input_schema"), schema, "custom_tool", "shape", message)
    severity = "weakened" if tool.get("format", {"type": "text"}) != {"type": "text"} else "shape"
    for name in ("format", "strict"):
        if tool.get(name) is not None:
            writing.loss.drop((*path, name), "custom_tool", severity, f"the {name} of a free-text tool has no form")
    return {**{k: v for k, v in tool.items() if k not in ("format", "strict")}, "input_schema": schema}


_FUNCTION: Final = (
    ("description", "description", str),
    ("input_schema", "parameters", dict),
    ("strict", "strict", bool),
)
_CUSTOM: Final = (("description", "description", str), ("format", "format", dict))
_OF_FUNCTION: Final = frozenset(("type", "name", *(member for _, member, _ in _FUNCTION)))
_OF_CUSTOM: Final = frozenset(("type", "name", *(member for _, member, _ in _CUSTOM)))


def tool_from_wire(tool: Wire, reading: Reading) -> Tool:
    """A tool. What is not a readable function or custom tool is kept whole as a tool of the provider."""
    kind, name = tool.get("type"), tool.get("name")
    if kind == "function" and (plain := plain_function(tool, others=1)) is not None and "strict" in plain:
        return plain
    custom = kind == "custom"
    members = _CUSTOM if custom else _FUNCTION
    if not (custom or kind == "function") or not isinstance(name, str) or not name or not _fits(tool, members):
        label = next((tool[key] for key in ("name", "server_label", "type") if isinstance(tool.get(key), str)), None)
        return {"kind": "provider", "name": label or "tool", "adapter": reading.endpoint.adapter, "definition": tool}
    read: Tool = {"kind": "custom", "name": name} if custom else {"name": name}
    for canonical, member, _ in members:
        if tool.get(member) is not None:
            read[canonical] = tool[member]
    known = _OF_CUSTOM if custom else _OF_FUNCTION
    said = custom or "strict" in tool
    if within(tool, known) and None not in tool.values():
        if not said:
            read["provider_state"] = reading.state(form={"absent": ["strict"]})
        return read
    fields = {key: value for key, value in tool.items() if key not in known and value is not None}
    form: dict[str, Any] = {} if said else {"absent": ["strict"]}
    if nulls := {key: None for key, value in tool.items() if value is None}:
        form["nulls"] = nulls
    cache_from_wire(fields, read, form)
    if fields or form:
        read["provider_state"] = reading.state(
            **({"fields": fields} if fields else {}), **({"form": form} if form else {})
        )
    return read


def _fits(tool: Wire, members: tuple[tuple[str, str, type], ...]) -> bool:
    for _, member, kind in members:
        value = tool.get(member)
        if value is not None and not isinstance(value, kind):
            return False
    return True


# ---------------------------------------------------------------------------------------------------- choice


def choice_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `tool_choice` and `parallel_tool_calls`: only beside tools."""
    choice, parallel = request.get("tool_choice"), request.get("parallel_tool_calls")
    has_tools = "tools" in body
    if parallel is not None:
        if not has_tools and not writing.keeps("parallel_tool_calls"):
            message = "there are no tools to call in parallel"
            writing.loss.drop(("parallel_tool_calls",), "combination", "shape", message)
        elif writing.refuses("parallel_tool_calls"):
            writing.report_refused("parallel_tool_calls")
        else:
            body["parallel_tool_calls"] = parallel
    if choice is None:
        return
    if not has_tools and not writing.keeps("tool_choice"):
        severity = "shape" if choice["type"] in ("auto", "none") else "weakened"
        writing.loss.drop(("tool_choice",), "combination", severity, "there are no tools to choose from")
        return
    if writing.refuses("tool_choice"):
        writing.report_refused("tool_choice")
        return
    report_unknown(choice, _CHOICE, writing.loss, ("tool_choice",))
    spelling = writing.form(request).get("tool_choice")
    if spelling is not None and choice_from_wire(spelling) == choice and _is_offered(choice, request, body, writing):
        body["tool_choice"] = spelling
        return
    match choice["type"]:
        case "tool":
            written = _named(choice, request, body, writing)
        case "allowed":
            written = _allowed(choice, request, body, writing)
        case word:
            _report_idle(choice, (), writing)
            written = word
    if written is not None:
        body["tool_choice"] = written


def _is_offered(choice: Mapping[str, Any], request: dict[str, Any], body: Wire, writing: Writing) -> bool:
    """Whether the tools that a choice allows are offered, or were not when it was read."""
    offered = _kinds(request, body)
    return writing.keeps("tool_choice") or all(
        name in offered and writing.name(name, request) == name for name in choice.get("names") or ()
    )


_CHOICE: Final = frozenset(("type", "name", "names", "mode", "kind"))


def _report_idle(choice: Mapping[str, Any], used: tuple[str, ...], writing: Writing) -> None:
    for name in ("name", "names", "mode", "kind"):
        if name not in used and choice.get(name) is not None and not (name == "kind" and choice[name] == "function"):
            message = "this way of choosing has no such member"
            writing.loss.drop(("tool_choice", name), "tool_choice", "shape", message)


def _kinds(request: dict[str, Any], body: Wire) -> dict[str, str]:
    """What the tools that are offered are on the wire, by their canonical name."""
    written = {tool.get("name"): tool.get("type") for tool in body.get("tools", ())}
    return {
        tool["name"]: "function" if written.get(tool["name"]) == "function" else tool.get("kind") or "function"
        for tool in request.get("tools") or ()
    }


def _named(choice: Mapping[str, Any], request: dict[str, Any], body: Wire, writing: Writing) -> Any:
    name, kind = choice.get("name", ""), choice.get("kind") or "function"
    _report_idle(choice, ("name", "kind"), writing)
    if not writing.keeps("tool_choice"):
        offered = _kinds(request, body)
        if offered.get(name, "provider") == "provider":
            message = "the chosen tool is not offered"
            writing.loss.drop(("tool_choice",), "tool_choice", "weakened", message)
            return None
        if offered[name] != kind:
            kind = offered[name]
            message = "the kind of a choice is that of its tool"
            writing.loss.replace(("tool_choice", "kind"), kind, "custom_tool", "shape", message)
        name = writing.told_name(name, ("tool_choice", "name"), request)
    return {"type": kind, "name": name}


def _allowed(choice: Mapping[str, Any], request: dict[str, Any], body: Wire, writing: Writing) -> Any:
    _report_idle(choice, ("names", "mode"), writing)
    names = choice.get("names") or []
    offered = _kinds(request, body)
    known = [
        (at, name)
        for at, name in enumerate(names)
        if writing.keeps("tool_choice") or offered.get(name, "provider") != "provider"
    ]
    if not known:
        writing.loss.drop(("tool_choice",), "tool_choice", "weakened", "none of the allowed tools is offered")
        return None
    written = [writing.told_name(name, ("tool_choice", "names", at), request) for at, name in known]
    if len(known) != len(names):
        message = "some of the allowed tools are not offered"
        writing.loss.replace(("tool_choice", "names"), written, "tool_choice", "shape", message)
    mode = choice.get("mode")
    if mode is None:
        mode = "auto"
        message = "the wire demands a mode"
        writing.loss.replace(("tool_choice", "mode"), mode, "required_default", "shape", message)
    tools = [
        {"type": offered.get(name, "function"), "name": wire_name}
        for (_, name), wire_name in zip(known, written, strict=True)
    ]
    return {"type": "allowed_tools", "mode": mode, "tools": tools}


def choice_from_wire(value: Any) -> dict[str, Any] | None:
    """The choice that a wire's value means; None when it means none of ours."""
    match value:
        case "auto" | "none" | "required":
            return {"type": value}
        case {"type": "function", "name": str(name), **others} if not others:
            return {"type": "tool", "name": name}
        case {"type": "custom", "name": str(name), **others} if not others:
            return {"type": "tool", "name": name, "kind": "custom"}
        case {"type": "allowed_tools", "mode": ("auto" | "required") as mode, "tools": list(tools), **others} if (
            tools and not others
        ):
            names = [_allowed_name(tool) for tool in tools]
            return None if None in names else {"type": "allowed", "names": names, "mode": mode}
        case _:
            return None


def _allowed_name(tool: Any) -> str | None:
    match tool:
        case {"type": "function" | "custom", "name": str(name), **others} if not others:
            return name
        case _:
            return None
