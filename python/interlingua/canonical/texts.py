"""
One text in place of a list of blocks: a short form for programs (spec/1-values.md#text-as-content).

The list is validated, stored, hashed and sent. The schema, and with it JSON text and Protobuf, accept only the list.
"""

from typing import Any

Data = dict[str, Any]


def as_blocks(value: Any) -> Any:
    """Return a text as a list of one text block; anything else unchanged."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def written_out(value: Any, name: str) -> Any:
    """Return plain data of a type of the schema with lists in place of texts; the value itself if it has none."""
    if not isinstance(value, dict):
        return value
    match name:
        case "Request":
            changed = _with(value, "system", as_blocks(value.get("system")))
            return _with(changed, "messages", _each(changed.get("messages"), "Message"))
        case "Response":
            return _with(value, "message", written_out(value.get("message"), "Message"))
        case "Message" | "ToolResultBlock":
            return _with(value, "content", _each(as_blocks(value.get("content")), "ContentBlock"))
        case "ContentBlock" if value.get("type") == "tool_result":
            return written_out(value, "ToolResultBlock")
        case _:
            return value


def _each(values: Any, name: str) -> Any:
    if not isinstance(values, (list, tuple)):
        return values
    changed = [written_out(value, name) for value in values]
    same = all(new is old for new, old in zip(changed, values, strict=True))
    return values if same else changed


def _with(value: Data, member: str, item: Any) -> Data:
    return value if item is value.get(member) else {**value, member: item}
