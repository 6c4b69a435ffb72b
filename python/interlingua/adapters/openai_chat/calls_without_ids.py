"""
Calls and results without ids: those of the time before tools, which go by their name, and those that some servers tell
without one, which go by name or order. After an edit a reader may no longer find the call of a result so: it gets an id then.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING

Block = dict[str, Any]
Message = dict[str, Any]
Owned = Callable[[dict[str, Any]], Mapping[str, Any]]

_READ: Final = ("text", "opaque")


def calls_in_need(messages: list[Message], owned: Owned) -> frozenset[str]:
    """The calls whose results a reader of these messages would not find without an id; `owned` gives the own state of an item."""
    needing: set[str] = set()
    legacy: dict[str, str] = {}  # the names of calls of the old way
    latest: dict[str, str] = {}  # the last of them that has a name
    nameless: set[str] = set()
    waiting: dict[str, str] = {}  # the names of the calls of a turn that have no result yet
    for message in messages:
        if message["role"] == "tool":
            result: Block = message["content"][0]
            call: str = result["tool_use_id"]
            state = owned(message)
            encoding: Mapping[str, Any] = state.get("encoding") or NOTHING
            if (name := legacy.get(call)) is not None:
                found = latest[name] == call and _goes_by_name(result["content"], encoding, name)
            elif "tool_call_id" in encoding.get("absent", ()):
                found = _is_next(
                    call, encoding.get("name") or (state.get("fields") or NOTHING).get("name"), waiting, encoding
                )
            else:
                found = call not in nameless
            if not found:
                needing.add(call)
            waiting.pop(call, None)
        elif calls := [block for block in message["content"] if block["type"] == "tool_use"]:
            waiting = {block["id"]: block["name"] for block in calls}
            for block in calls:
                encoding = owned(block).get("encoding") or NOTHING
                if encoding.get("legacy"):
                    legacy[block["id"]] = block["name"]
                    latest[block["name"]] = block["id"]
                elif "id" in encoding.get("absent", ()) or "id" in encoding.get("empty", ()):
                    nameless.add(block["id"])
    return frozenset(needing)


def _goes_by_name(content: list[Block], encoding: Mapping[str, Any], name: str) -> bool:
    """Whether the result of a call of the old way can be told so too: as a text alone, unless it was read as more."""
    if encoding and not (encoding.get("legacy") and encoding.get("name") == name):
        return False
    if encoding.get("parts"):
        return bool(encoding.get("media")) or all(part["type"] in _READ for part in content)
    return not content or (len(content) == 1 and content[0]["type"] == "text" and len(content[0]) == 2)


def _is_next(call: str, name: Any, waiting: Mapping[str, str], encoding: Mapping[str, Any]) -> bool:
    """Whether the call of a result is the first that waits, or the first of that name."""
    found = next((one for one, called in waiting.items() if name is None or name == called), None)
    return found == call or (found is None and bool(encoding.get("unasked")))
