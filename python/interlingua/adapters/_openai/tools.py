"""
Tools and the choice of tools, as far as both wires of OpenAI mean them alike: what is offered, what may be chosen, and what
is lost of either. How a tool or a choice is spelt, each wire says itself.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._content.schema import demanded
from interlingua.adapters._content.tools import Choice, Tool, report_idle
from interlingua.adapters._engine.kit import Wire, parallel_severity
from interlingua.adapters._openai.writing import Target
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------------- tools


def as_enforced(tool: Tool, path: Path, writing: Target) -> Tool:
    """A tool without the demand that its schema is enforced, where the provider cannot do that."""
    if writing.dialect.get("strict_tools") is False:
        message = "the provider enforces no schema of a function"
        writing.loss.drop((*path, "strict"), "unsupported_field", "weakened", message)
    elif not writing.refuses_strict(tool.get("input_schema"), (*path, "strict")):
        return tool
    return {name: value for name, value in tool.items() if name != "strict"}


def with_required(tool: Tool, writing: Target, path: Path) -> Tool:
    """A tool with the schema that the provider demands of each."""
    if tool.get("input_schema") is not None or not writing.dialect.get("parameters_required"):
        return tool
    return {**tool, "input_schema": demanded(None, writing.loss, (*path, "input_schema"))}


# ---------------------------------------------------------------------------------------------------- choice

_WORDS: Final = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


def choice_from_wire(value: Any, named: Callable[[Any], tuple[str, str] | None]) -> dict[str, Any] | None:
    """The choice that a wire's value means, None when it means none of ours; `named` gives kind and name of the tool that one
    names."""
    if type(value) is str:
        return {"type": _WORDS[value]} if value in _WORDS else None
    if (tool := named(value)) is not None:
        kind, name = tool
        return {"type": "tool", "name": name, "kind": kind} if kind == "custom" else {"type": "tool", "name": name}
    match value:
        case {"mode": ("auto" | "required") as mode, "tools": list(tools)}:
            allowed = [named(tool) for tool in tools]
            return (
                None
                if None in allowed
                else {"type": "allowed", "names": [one[1] for one in allowed if one], "mode": mode}
            )
        case _:
            return None


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
    match choice["type"]:
        case "tool":
            return _one_tool(choice, _offered(writing), writing)
        case "allowed":
            return _allowed(choice, _offered(writing), writing)
        case word:
            report_idle(choice, (), writing.loss)
            return {"type": word}


def _one_tool(choice: Choice, offered: Mapping[str, str], writing: Target) -> dict[str, Any] | None:
    name = choice.get("name", "")
    report_idle(choice, ("name", "kind"), writing.loss)
    kind = offered.get(name, "provider")
    if kind == "provider":
        writing.loss.drop(("tool_choice",), "tool_choice", "weakened", "the chosen tool is not offered")
        return None
    if kind != (choice.get("kind") or "function"):
        message = "the kind of a choice is that of its tool"
        writing.loss.replace(("tool_choice", "kind"), kind, "custom_tool", "representation", message)
    return {"type": "tool", "name": writing.written_tool_name(name, ("tool_choice",)), "kind": kind}


def _allowed(choice: Choice, offered: Mapping[str, str], writing: Target) -> dict[str, Any] | None:
    report_idle(choice, ("names", "mode"), writing.loss)
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
