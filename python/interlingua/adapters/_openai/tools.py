"""
Tools and the choice of tools, as far as both wires of OpenAI mean them alike: what is offered, what may be chosen, and what
is lost of either. How a tool or a choice is spelt, each wire says itself.
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._content.schema import demanded
from interlingua.adapters._content.tools import Tool
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
