"""
One text where a list of blocks is due: a way of writing for programs (spec/1-values.md#text-as-content).

What is validated, stored, hashed and sent is the list; the schema, and with it JSON text and Protobuf, take nothing else.
"""

from typing import Any

Data = dict[str, Any]


def as_blocks(value: Any) -> Any:
    """A text as a list of one text block; anything else as it is."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def written_out(value: Any, name: str) -> Any:
    """Plain data of a type of the schema with lists where it has texts: the value itself when it has none."""
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
    found = [written_out(value, name) for value in values]
    same = all(new is old for new, old in zip(found, values, strict=True))
    return values if same else found


def _with(value: Data, member: str, item: Any) -> Data:
    return value if item is value.get(member) else {**value, member: item}
