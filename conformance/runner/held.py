"""What a canonical value holds that takes a capability: a case that holds it has to name it in `needs`.

A plug that does not claim a capability is never given a value of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_BLOCKS = {
    "tool_use": "tools",
    "tool_result": "tools",
    "image": "images",
    "document": "documents",
    "audio": "audio",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
}
_MEMBERS = {"cache": "caching", "citations": "citations"}
"""Of a request, a message, a block or a tool."""


def held_by_request(request: dict[str, Any]) -> set[str]:
    """The capabilities that a canonical request takes."""
    instructions = request.get("system")
    tools = request.get("tools") or []
    found = _held([request, *_items(request.get("messages")), *_blocks(instructions), *tools])
    if tools or request.get("tool_choice"):
        found.add("tools")
    if "reasoning" in request:
        found.add("reasoning")
    if (request.get("response_format") or {}).get("type", "text") != "text":
        found.add("structured_output")
    number = request.get("n")
    if isinstance(number, int) and number > 1:
        found.add("choices")
    return found


def held_by_response(response: dict[str, Any]) -> set[str]:
    """The capabilities that a canonical response takes."""
    further = response.get("alternatives") or []
    found = _held(_items([one.get("message") for one in [response, *further] if isinstance(one, dict)]))
    return found | {"choices"} if further else found


def _held(items: list[Any]) -> set[str]:
    known = [item for item in items if isinstance(item, dict)]
    return {_BLOCKS[item["type"]] for item in known if item.get("type") in _BLOCKS} | {
        word for item in known for name, word in _MEMBERS.items() if name in item
    }


def _items(messages: Any) -> list[Any]:
    """The messages and all their blocks."""
    found: list[Any] = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            found += [message, *_blocks(message.get("content"))]
    return found


def _blocks(content: Any) -> Iterator[Any]:
    """Blocks, and those in the results of tools."""
    for block in content if isinstance(content, list) else []:
        yield block
        if isinstance(block, dict) and block.get("type") == "tool_result":
            yield from _blocks(block.get("content"))
