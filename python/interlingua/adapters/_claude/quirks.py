"""
What is odd about a request that was just read, noted so that it goes back as it came (spec/2-requests.md#edited).

Members are known by their values (`_as_read`); noted is what is odd of them beside messages and tools. Blocks, messages and
tools that a writer would repair are found by having the request written, where anything unusual stands in it.
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._as_read import imprint, note, record_quirk
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import (
    ASSISTANT,
    MAX_CACHE_MARKS,
    RESULTS,
    USER,
    Item,
)
from interlingua.adapters._kit import is_plain_name
from interlingua.adapters._order import note_disorder
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidRequest


def record_quirks(
    request: Item,
    reading: Reading,
    endpoint: Endpoint,
    to_wire: Callable[[Item, Endpoint], tuple[Item, list[dict[str, Any]]]],
) -> None:
    """Notes the blocks, messages and tools that a writer would repair; most requests hold nothing of that.

    A writer leaves alone what is so noted and still as it was read (`encoding.odd` of an item, `encoding.whole` of all of the
    request; and what `note_disorder` notes), and nothing else.
    """
    messages = request["messages"]
    if not reading.unusual and not (messages and messages[-1]["role"] == ASSISTANT and _ends_in_space(messages[-1])):
        return
    note_disorder(messages, RESULTS, endpoint.state)
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
    request["provider_state"]["encoding"]["whole"] = imprint(request, "request")


_MOST_READINGS: Final = 6  # what is left alone may bring to light what its repair had hidden


def record_tool_quirks(request: Item, reading: Reading, longest_name: int) -> None:
    """Notes the names of tools, of at most `longest_name` characters, that do not fit, and calls in a request without tools."""
    encoding = request["provider_state"]["encoding"]
    if reading.has_odd_names() and (names := [name for name in reading.names if not is_plain_name(name, longest_name)]):
        encoding["names"] = sorted(names)
    if not request.get("tools") and reading.has_calls():
        record_quirk(request, encoding, "tools", "required_default", reading.adapter)


def _ends_in_space(answer: Item) -> bool:
    block = answer["content"][-1] if answer["content"] else {"text": " "}
    text: str = block.get("text", "-")
    return not text or text[-1].isspace()


def _layer(path: str) -> int:
    """Tools and blocks, then messages and members, then options: each may be repaired only because one before it is."""
    if path.startswith("/tools/") or (path.startswith("/messages/") and path.count("/") > 3):
        return 0
    return 2 if path.startswith("/options/") else 1


def _note_entry(entry: dict[str, Any], request: Item, endpoint: Endpoint) -> None:
    encoding = request["provider_state"]["encoding"]
    match entry["path"].split("/")[1:]:
        case [*_, "cache"] if entry["code"] == "limit_exceeded":
            encoding["marks"] = encoding.get("marks", MAX_CACHE_MARKS) + 1
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
        case _:
            pass


def _note(item: Item, place: str, endpoint: Endpoint) -> None:
    note(item, "odd", endpoint.state, imprint(item, place))


def _form(item: Item, endpoint: Endpoint) -> Item:
    return item.setdefault("provider_state", endpoint.state()).setdefault("encoding", {})


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
