"""Tools that take free text, on wires that know functions alone: a function with one text argument
(spec/2-requests.md#free-text-tools)."""

from typing import Any, Final

from interlingua.canonical.loss import Loss, Path

ARGUMENT: Final = "input"
"""Name of the one argument."""


def tool_as_function(tool: dict[str, Any], loss: Loss, path: Path) -> dict[str, Any]:
    """The function that a free-text tool travels as. The model is told the grammar of the text, and nothing enforces it."""
    argument = {"type": "string"}
    if (grammar := _grammar(tool.get("format"))) is not None:
        argument["description"] = grammar
    schema = {"type": "object", "properties": {ARGUMENT: argument}, "required": [ARGUMENT]}
    message = "a free-text tool travels as a function with one text argument"
    loss.replace((*path, "kind"), "function", "custom_tool", "representation", message)
    loss.replace((*path, "input_schema"), schema, "custom_tool", "representation", message)
    for name, idle in (("format", {"type": "text"}), ("strict", False)):
        value = tool.get(name)
        if value is not None:
            severity = "representation" if value == idle else "weakened"
            loss.drop((*path, name), "custom_tool", severity, f"nothing enforces the {name} of a free-text tool here")
    kept = {name: value for name, value in tool.items() if name not in ("kind", "format", "strict")}
    return kept | {"input_schema": schema}


def _grammar(wanted: Any) -> str | None:
    """What a model is told of the grammar of a text; None where there is none, or none that can be read."""
    match wanted:
        case {"type": "grammar", "grammar": {"syntax": str(syntax), "definition": str(definition)}}:
            pass
        case {"type": "grammar", "syntax": str(syntax), "definition": str(definition)}:
            pass
        case _:
            return None
    return f"A text of this {syntax} grammar:\n{definition}"


def call_as_arguments(text: str | None, loss: Loss, path: Path) -> dict[str, Any]:
    """The arguments that the text of a call to such a tool travels as."""
    arguments = as_arguments(text)
    message = "a free-text call travels as a call with one text argument"
    loss.replace((*path, "kind"), "function", "custom_tool", "representation", message)
    loss.replace((*path, "input"), arguments, "custom_tool", "representation", message)
    if text is not None:
        loss.drop((*path, "input_raw"), "custom_tool", "representation", message)
    return arguments


def as_arguments(text: str | None) -> dict[str, Any]:
    """The text as the one argument."""
    return {ARGUMENT: text or ""}


def arguments_of(call: dict[str, Any], loss: Loss, path: Path) -> Any:
    """The arguments of a call as an object, for wires that take nothing else."""
    if call.get("kind", "function") != "function":
        return call_as_arguments(call.get("input_raw"), loss, path)
    if "input_raw" in call:
        message = "the wire takes a JSON object as arguments"
        loss.drop((*path, "input_raw"), "arguments_invalid", "lost", message)
    return call["input"]
