"""Tools and the choice among them, in the direction of the wire."""

from typing import Final

from interlingua.adapters._claude.values import Item
from interlingua.canonical.loss import Loss, Path

TOOL: Final = frozenset(
    (
        "kind",
        "name",
        "description",
        "input_schema",
        "strict",
        "side_effects",
        "requires_workspace",
        "cache",
        "provider_state",
        "format",
        "adapter",
        "definition",
    )
)
"""The members of a tool that are known."""


def object_at_root(schema: Item | None, loss: Loss, path: Path) -> Item:
    """The schema of a tool's arguments: its root is an object and no union. The same object when it is one already."""
    if schema is None:
        default: Item = {"type": "object", "properties": {}}
        loss.replace(path, default, "required_default", "shape", "the target demands a schema")
        return default
    if is_object(schema):
        return schema
    kind = schema.get("type")
    made = dict(schema)
    if kind != "object":
        made["type"] = "object"
        severity = "shape" if kind is None or (isinstance(kind, list) and "object" in kind) else "weakened"
        code = "schema_rewritten" if severity == "shape" else "schema_weakened"
        loss.replace((*path, "type"), "object", code, severity, "the target takes an object at the root")
    for name in _UNIONS:
        if name in made:
            del made[name]
            message = "the target takes no union at the root of a schema"
            loss.drop((*path, name), "schema_weakened", "weakened", message)
    return made


_UNIONS: Final = ("oneOf", "anyOf", "allOf")


def is_object(schema: Item) -> bool:
    """Whether the root of a schema is an object and no union."""
    return schema.get("type") == "object" and "anyOf" not in schema and "oneOf" not in schema and "allOf" not in schema


def free_text_tool(tool: Item, loss: Loss, path: Path) -> Item:
    """A tool that takes free text as a function with the one text argument `input`."""
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    message = "a free-text tool travels as a function with one text argument"
    loss.replace((*path, "input_schema"), schema, "custom_tool", "shape", message)
    loss.drop((*path, "kind"), "custom_tool", "shape", message)
    if "format" in tool:
        severity = "shape" if tool["format"].get("type") == "text" else "weakened"
        loss.drop((*path, "format"), "custom_tool", severity, "the text is not held to a grammar")
    return {name: value for name, value in tool.items() if name not in ("kind", "format")} | {"input_schema": schema}
