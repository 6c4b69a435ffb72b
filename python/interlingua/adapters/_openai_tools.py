"""
Tools and the choice of tools, as far as both wires of OpenAI mean them alike: what is offered, what may be chosen, and what
is lost of either. How a tool or a choice is spelt, each wire says itself.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters import _free_text as free_text
from interlingua.adapters import _kit
from interlingua.adapters._items import same, text
from interlingua.adapters._kit import PROVIDER_TOOL_MEMBERS, Wire, parallel_severity, report_unknown
from interlingua.adapters._openai_writing import Target
from interlingua.canonical.loss import Path

Tool = dict[str, Any]
Choice = Mapping[str, Any]

# ---------------------------------------------------------------------------------------------------- tools


def takes_tools(tools: list[Tool], writing: Target) -> bool:
    """Whether the model takes tools; all that it does not take is reported."""
    if writing.capabilities.get("supports_tools") is not False or writing.verbatim("tools"):
        return True
    for position in range(len(tools)):
        writing.loss.drop(("tools", position), "unsupported_model", "lost", "the model takes no tools")
    return False


BESIDE: Final = ("kind", "side_effects", "requires_workspace")
"""What a tool says of itself and not to its model."""


DESCRIPTION: Final = text("description", "description")
PARAMETERS: Final = same("parameters", "input_schema", dict)
STRICT: Final = same("strict", "strict", bool)
GRAMMAR: Final = same("format", "format", dict)


def as_enforced(tool: Tool, path: Path, writing: Target) -> Tool:
    """A tool without the demand that its schema is enforced, where the provider cannot do that."""
    if writing.dialect.get("strict_tools") is False:
        message = "the provider enforces no schema of a function"
        writing.loss.drop((*path, "strict"), "unsupported_field", "weakened", message)
    elif not writing.refuses_strict(tool.get("input_schema"), (*path, "strict")):
        return tool
    return {name: value for name, value in tool.items() if name != "strict"}


def definition_to_wire(
    tool: Tool, path: Path, writing: Target, read: Callable[[Wire, Target], Tool], *, foreign: bool = False
) -> Wire | None:
    """A tool that a provider defines: verbatim where it comes from, nowhere else."""
    definition = tool.get("definition")
    if tool.get("adapter") != writing.endpoint.adapter or foreign or not isinstance(definition, dict):
        writing.loss.drop(path, "provider_tool", "lost", "a tool of another provider cannot be offered here")
        return None
    seen = read(definition, writing)
    if any(seen.get(name) != tool.get(name) for name in ("kind", "name", "definition")):
        message = "the tool is read back as what its definition says"
        writing.loss.replace(path, seen, "unsupported_value", "representation", message)
        return definition
    state = tool.get("provider_state")
    if state is not None and writing.endpoint.owns(state):
        _kit.report_own_state(state, writing.loss, path, fields=True)
    _kit.report_foreign_state(tool, writing.endpoint, writing.loss, path)
    _kit.report_beside_definition(tool, writing.loss, path)
    if tool.get("cache") is not None:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the definition itself says how it is cached")
    report_unknown(tool, PROVIDER_TOOL_MEMBERS, writing.loss, path)
    return definition


def custom_as_function(tool: Tool, path: Path, writing: Target) -> Tool:
    """A free-text tool for a provider that takes functions alone."""
    return free_text.tool_as_function(tool, writing.loss, path)


# ---------------------------------------------------------------------------------------------------- choice

_CHOICE: Final = frozenset(("type", "name", "names", "mode", "kind"))


def parallel_to_wire(request: dict[str, Any], body: Wire, writing: Target) -> None:
    """Writes `parallel_tool_calls`: only beside tools."""
    parallel = request.get("parallel_tool_calls")
    if parallel is None:
        return
    if "tools" not in body:
        message = "there are no tools to call in parallel"
        writing.loss.drop(("parallel_tool_calls",), "combination", "representation", message)
    elif writing.refuses("parallel_tool_calls"):
        writing.report_refused("parallel_tool_calls", parallel, parallel_severity(request))
    else:
        body["parallel_tool_calls"] = parallel


def report_toolless(choice: Choice, writing: Target) -> None:
    """Reports a choice beside which there are no tools."""
    severity = "representation" if choice["type"] in ("auto", "none") else "weakened"
    writing.loss.drop(("tool_choice",), "combination", severity, "there are no tools to choose from")


def _offered(writing: Target) -> dict[str, str]:
    """What the tools that are offered are on the wire, by their canonical name."""
    folded = "function" if writing.folds_custom else "custom"
    return {
        tool["name"]: folded if (kind := tool.get("kind") or "function") == "custom" else kind
        for tool in writing.source.get("tools") or ()
    }


def fitted_choice(choice: Choice, writing: Target) -> dict[str, Any] | None:
    """The choice as it can be made: names and kinds as the tools have them on the wire. None when it cannot be made.

    It has `type`, and for one tool its `name` and `kind`, for allowed ones a `mode` and `tools`: kind and name of each.
    """
    report_unknown(dict(choice), _CHOICE, writing.loss, ("tool_choice",))
    match choice["type"]:
        case "tool":
            return _one_tool(choice, _offered(writing), writing)
        case "allowed":
            return _allowed(choice, _offered(writing), writing)
        case word:
            _report_idle(choice, (), writing)
            return {"type": word}


def _report_idle(choice: Choice, used: tuple[str, ...], writing: Target) -> None:
    for name in ("name", "names", "mode", "kind"):
        if name not in used and choice.get(name) is not None and not (name == "kind" and choice[name] == "function"):
            message = "this way of choosing has no such member"
            writing.loss.drop(("tool_choice", name), "tool_choice", "representation", message)


def _one_tool(choice: Choice, offered: Mapping[str, str], writing: Target) -> dict[str, Any] | None:
    name = choice.get("name", "")
    _report_idle(choice, ("name", "kind"), writing)
    kind = offered.get(name, "provider")
    if kind == "provider":
        writing.loss.drop(("tool_choice",), "tool_choice", "weakened", "the chosen tool is not offered")
        return None
    if kind != (choice.get("kind") or "function"):
        message = "the kind of a choice is that of its tool"
        writing.loss.replace(("tool_choice", "kind"), kind, "custom_tool", "representation", message)
    return {"type": "tool", "name": writing.told_name(name, ("tool_choice",)), "kind": kind}


def _allowed(choice: Choice, offered: Mapping[str, str], writing: Target) -> dict[str, Any] | None:
    _report_idle(choice, ("names", "mode"), writing)
    names: list[str] = choice.get("names") or []
    tools: list[tuple[str, str]] = []
    for position, name in enumerate(names):
        if (kind := offered.get(name, "provider")) != "provider":
            wire_name = writing.tool_name(name)
            if wire_name != name:
                writing.report_name(("tool_choice", "names", position), wire_name)
            tools.append((kind, wire_name))
    if not tools:
        writing.loss.drop(("tool_choice",), "tool_choice", "weakened", "none of the allowed tools is offered")
        return None
    if len(tools) != len(names):
        message = "some of the allowed tools are not offered"
        written = [name for _, name in tools]
        writing.loss.replace(("tool_choice", "names"), written, "tool_choice", "representation", message)
    mode = choice.get("mode")
    if mode is None:
        mode = "auto"
        message = "the wire demands a mode"
        writing.loss.replace(("tool_choice", "mode"), mode, "required_default", "representation", message)
    return {"type": "allowed", "mode": mode, "tools": tools}
