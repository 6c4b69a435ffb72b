"""
What a writer would repair in a request that was just read: it is noted, and a writer leaves alone what is so noted.

An oddity is kept where it was read and repaired where it was made.
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._as_read import imprint, note_member
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import (
    ASSISTANT,
    INSTRUCTIONS,
    MAX_CACHE_MARKS,
    THINKING_TYPES,
    USER,
    Item,
)
from interlingua.adapters._kit import within
from interlingua.adapters._order import oddities
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidRequest


def proofread(
    request: Item,
    reading: Reading,
    endpoint: Endpoint,
    to_wire: Callable[[Item, Endpoint], tuple[Item, list[dict[str, Any]]]],
) -> None:
    """Notes in a request that was just read what a writer would repair in it; most requests hold nothing of that.

    A writer leaves alone what is so noted and still as it was read (`form.odd` of an item, in that of the request by
    member and code, `form.whole` of all of it; `form.names` of tools; `form.misplaced` and `form.unpaired` of a message),
    and nothing else.
    """
    if _is_usual(request, reading):
        return
    messages = request["messages"]
    first = 0
    while first < len(messages) and messages[first]["role"] in INSTRUCTIONS:
        first += 1
    for what, positions in zip(_ODDITIES, oddities(messages, first), strict=True):
        for position in positions:
            _form(messages[position], endpoint)[what] = True
    for tool in _named_again(request.get("tools") or []):
        _note(tool, "tools", endpoint)
    for call in _called_again(messages):
        _note(call, ASSISTANT, endpoint)
    # of a model nothing is known here: what was written for it is not measured by what we know of it
    reader = Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect)
    for _ in range(_MOST_READINGS):
        try:
            entries = to_wire(request, reader)[1]
        except (InvalidRequest, CannotAdapt) as refusal:
            entries = [{"path": refusal.path or "", "code": refusal.category}]
        if not entries:
            return
        layer = min(_layer(entry["path"]) for entry in entries)
        for entry in entries:
            if _layer(entry["path"]) == layer:
                _note_entry(entry, request, endpoint)
    # there is no other way to write it than as it was
    request["provider_state"]["form"]["whole"] = imprint(request, "request")


_MOST_READINGS: Final = 6  # what is left alone may bring to light what its repair had hidden


_ODDITIES: Final = ("misplaced", "unpaired")  # messages


def _is_usual(request: Item, reading: Reading) -> bool:
    """Whether the members of a request, and where it ends, surely need no repair."""
    if reading.unusual or not within(request, _USUAL) or not request["messages"]:
        return False
    tools, choice, reasoning = request.get("tools"), request.get("tool_choice"), request.get("reasoning")
    if reading.has_odd_names() or (reading.has_calls() and not tools):
        return False
    last = request["messages"][-1]
    if last["role"] == "assistant" and _ends_in_space(last):
        return False
    if request.get("max_output_tokens", 1) < 1 or (choice is not None and not (tools and choice == _AUTO)):
        return False
    if reasoning is not None and reasoning != _ADAPTIVE and not _has_room(reasoning, request):
        return False
    temperature = request.get("temperature", 1)
    return temperature == 1 or (0 <= temperature <= 1 and reasoning is None)


_USUAL: Final = frozenset(
    ("messages", "max_output_tokens", "temperature", "tool_choice", "reasoning", "model", "tools", "stream", "options",
     "provider_state")
)  # fmt: skip
_AUTO: Final = {"type": "auto"}
_ADAPTIVE: Final = {"mode": "adaptive"}


def _ends_in_space(answer: Item) -> bool:
    block = answer["content"][-1] if answer["content"] else {"text": " "}
    text: str = block.get("text", "-")
    return not text or text[-1].isspace()


def _has_room(reasoning: Item, request: Item) -> bool:
    """Whether a budget of reasoning is in its limits, and the turn that goes on began with reasoning."""
    if reasoning.keys() != {"mode", "budget_tokens"} or reasoning["mode"] != "enabled":
        return False
    if not 1024 <= reasoning["budget_tokens"] < request.get("max_output_tokens", 0):
        return False
    for message in reversed(request["messages"]):
        if message["role"] != "tool":
            break
    else:
        return False
    if message is request["messages"][-1]:
        return message["role"] == "user"
    return bool(message["content"]) and message["content"][0]["type"] in THINKING_TYPES


def _layer(path: str) -> int:
    """Tools and blocks, then messages and members, then options: each may be repaired only because one before it is."""
    if path.startswith("/tools/") or (path.startswith("/messages/") and path.count("/") > 3):
        return 0
    return 2 if path.startswith("/options/") else 1


def _note_entry(entry: dict[str, Any], request: Item, endpoint: Endpoint) -> None:
    form = request["provider_state"]["form"]
    match entry["path"].split("/")[1:]:
        case [*steps, "name"] if entry["code"] == "name_rewritten" and (name := _name(request, steps)) is not None:
            form.setdefault("names", []).append(name)
        case [*_, "cache"] if entry["code"] == "limit_exceeded":
            form["marks"] = form.get("marks", MAX_CACHE_MARKS) + 1
        case ["messages", position, "content", number, *_]:
            message = request["messages"][int(position)]
            place = USER if message["role"] == "tool" else message["role"]
            _note(message["content"][int(number)], place, endpoint)
        case ["messages", position] | ["messages", position, "role"]:
            _form(request["messages"][int(position)], endpoint).setdefault("odd", []).append(entry["code"])
        case ["tools", position, *_]:
            _note(request["tools"][int(position)], "tools", endpoint)
        case ["messages", _, *_]:
            pass
        case ["options", _, name, *_]:
            note_member(request, form, f"options/{name}", entry["code"], endpoint.adapter)
        case [member, *_]:
            note_member(request, form, member, entry["code"], endpoint.adapter)
        case _:
            pass


def _note(item: Item, place: str, endpoint: Endpoint) -> None:
    _form(item, endpoint)["odd"] = imprint(item, place)


def _form(item: Item, endpoint: Endpoint) -> Item:
    return item.setdefault("provider_state", endpoint.state()).setdefault("form", {})


def _name(request: Item, steps: list[str]) -> str | None:
    """The name of a tool that stands in an item of the request; None for an item that is neither tool nor call."""
    item: Any = request
    for step in steps:
        item = item[int(step)] if isinstance(item, list) else item[step]
    return item["name"] if item.get("type") != "document" else None


def _named_again(tools: list[Item]) -> list[Item]:
    """The tools that have the name of another one before them."""
    names: set[str] = set()
    found: list[Item] = []
    for tool in tools:
        name = tool.get("definition", tool).get("name")
        if not isinstance(name, str):
            continue  # a set of tools has none
        if name in names:
            found.append(tool)
        names.add(name)
    return found


def _called_again(messages: list[Item]) -> list[Item]:
    """The calls that have the wire id of another one before them in the turn."""
    given: set[str] = set()
    found: list[Item] = []
    for message in messages:
        if message["role"] != "assistant":
            given.clear()
            continue
        for block in message["content"]:
            if block["type"] == "tool_use":
                wire_id = block["provider_state"]["id"]
                if wire_id in given:
                    found.append(block)
                given.add(wire_id)
    return found
