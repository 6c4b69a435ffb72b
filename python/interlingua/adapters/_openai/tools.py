"""
Tools and the tool choice, as far as they have one meaning on both wires of OpenAI: which tools are offered, which can
be chosen, and what is lost of both. Each wire defines the spelling itself.
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
    """Return a tool without `strict` if the provider cannot enforce its schema; report that."""
    if writing.dialect.get("strict_tools") is False:
        message = "the provider enforces no schema of a function"
        writing.loss.drop((*path, "strict"), "unsupported_field", "weakened", message)
    elif not writing.refuses_strict(tool.get("input_schema"), (*path, "strict")):
        return tool
    return {name: value for name, value in tool.items() if name != "strict"}


def with_required(tool: Tool, writing: Target, path: Path) -> Tool:
    """Return a tool with a schema, for a provider that requires one for each tool."""
    if tool.get("input_schema") is not None or not writing.dialect.get("parameters_required"):
        return tool
    return {**tool, "input_schema": demanded(None, writing.loss, (*path, "input_schema"))}


# ---------------------------------------------------------------------------------------------------- choice

_WORDS: Final = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


def choice_from_wire(value: Any, named: Callable[[Any], tuple[str, str] | None]) -> dict[str, Any] | None:
    """Read a wire's tool choice; None if it has no canonical counterpart. `named` returns the kind and the name of
    the tool that a value names."""
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
    """Write `parallel_tool_calls`, only if there are tools."""
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
