"""Tools and the choice among them, in the direction of the wire."""

from typing import Final

from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._content.tools import report_idle
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- choice


def fitted_choice(choice: Item, writing: Writing, provided: bool) -> Item:
    """The choice in the words of the model: auto, required, tool with its wire name, none. What changes is reported.

    `provided`: tools of the provider can be chosen too.
    """
    kind: str = choice["type"]
    forced = not writing.lacks("forced_tool_choice", "tool_choice")
    if kind == "allowed":
        return _fitted_allowed(choice, forced, provided, writing)
    if kind in ("required", "tool") and not forced:
        return choose("auto", "the model cannot be made to call a tool", writing)
    fitted: Item = {"type": kind}
    if kind == "tool":
        tool = _offered(choice["name"], provided, writing)
        if tool is not None and tool.get("kind") == "provider":
            fitted["name"] = choice["name"]
        elif tool is None:
            return choose("auto", "the chosen tool is not offered here", writing)
        else:
            fitted["name"] = writing.written_tool_name(choice["name"], _CHOICE)
    report_idle(choice, fitted, writing.loss)
    return fitted


_CHOICE: Final[Path] = ("tool_choice",)


def choose(kind: str, message: str, writing: Writing) -> Item:
    """Another choice than the one that was made, which is reported."""
    writing.loss.replace(_CHOICE, {"type": kind}, "tool_choice", "weakened", message)
    return {"type": kind}


def _fitted_allowed(choice: Item, forced: bool, provided: bool, writing: Writing) -> Item:
    required = choice.get("mode") == "required" and forced
    names: list[str] = choice.get("names") or []
    if required and len(names) == 1 and (tool := _offered(names[0], provided, writing)) is not None:
        message = "one allowed tool that must be called is named"
        writing.loss.replace(_CHOICE, {"type": "tool", "name": names[0]}, "tool_choice", "representation", message)
        name = names[0] if tool.get("kind") == "provider" else writing.written_tool_name(names[0], _CHOICE)
        return {"type": "tool", "name": name}
    return choose("required" if required else "auto", "the target cannot allow some of the tools only", writing)


def _offered(name: str, provided: bool, writing: Writing) -> Item | None:
    """The tool of a name, when it goes onto the wire under that name; a set of tools has none."""
    for tool in writing.source.get("tools") or ():
        if tool["name"] == name:
            if tool.get("kind") != "provider":
                return tool
            same_origin = provided and tool.get("adapter") == writing.endpoint.adapter
            return tool if same_origin and (tool.get("definition") or {}).get("name") == name else None
    return None
