"""
What is odd about a request that was just read, noted so that it goes back as it came (spec/2-requests.md#edited).

An oddity is kept where it was read and repaired where it was made: a writer leaves alone what is noted, and nothing
else. A reader notes most of it while it reads. What else a writer would repair is found by having the request written,
where anything unusual stands in it.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from interlingua.adapters._as_read import imprint, note, record_quirk
from interlingua.adapters._order import note_disorder
from interlingua.adapters.gemini_generate.contents import INSTRUCTIONS
from interlingua.adapters.gemini_generate.context import Reading
from interlingua.adapters.gemini_generate.state import RESULT
from interlingua.adapters.gemini_generate.tables import RESULTS, fits_name
from interlingua.adapters.gemini_generate.turns import begins_with_call, demands_signatures
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest

Request = dict[str, Any]
Item = dict[str, Any]
Writer = Callable[[Request, Endpoint], tuple[Item, list[dict[str, Any]]]]

_MOST_READINGS: Final = 4  # what is left alone may bring to light what its repair had hidden
_PLACES: Final = {"assistant": "model", "tool": "user"}


def record_quirks(request: Request, reading: Reading, endpoint: Endpoint, to_wire: Writer) -> None:
    """Notes in a request that was just read what a writer would repair in it; most requests hold nothing of that."""
    messages: list[Item] = request["messages"]
    encoding: Item = request["provider_state"].get("encoding") or {}
    _note_tools(request, reading, encoding)
    if reading.unsigned and demands_signatures(endpoint, (request.get("model") or "").partition(":")[2]):
        for call in reading.unsigned:
            note(call, "unsigned", endpoint.state)
    for message in messages[:2]:
        if message["role"] == "assistant":
            if begins_with_call(messages, range(len(messages))):
                encoding["call_first"] = True
            break
    if encoding:
        request["provider_state"]["encoding"] = encoding
    if reading.unusual:
        first = 0
        while first < len(messages) and messages[first]["role"] in INSTRUCTIONS:
            first += 1
        note_disorder(messages, RESULTS, endpoint.state, first)
        _reread(request, endpoint, to_wire)


def _note_tools(request: Request, reading: Reading, encoding: Item) -> None:
    """Notes the names of tools that do not fit the grammar, those of two tools, and a choice among tools that are not there."""
    names: set[str] = set()
    again: list[str] = []
    for tool in request.get("tools") or ():
        if tool.get("kind") == "provider":
            continue
        if tool["name"] in names:
            again.append(tool["name"])
        names.add(tool["name"])
    if again:
        encoding["again"] = again
    if odd := [name for name in (names | reading.names if names else reading.names) if not fits_name(name)]:
        encoding["names"] = sorted(odd)
    choice: Item | None = request.get("tool_choice")
    if choice is None or "tools" in ((request.get("options") or {}).get(reading.adapter) or {}):
        return
    if not names:
        record_quirk(request, encoding, "tool_choice", "combination", reading.adapter)
    chosen: Iterable[str] = [choice["name"]] if "name" in choice else choice.get("names") or ()
    if undeclared := [name for name in chosen if name not in names]:
        encoding["undeclared"] = undeclared


# ---------------------------------------------------------------------------------------------- what a writer repairs


def _reread(request: Request, endpoint: Endpoint, to_wire: Writer) -> None:
    """Notes in the request what a writer reports of what is written of it, until it reports nothing."""
    # of a model nothing is known here: what was written for it is not measured by what we know of it
    reader = Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect)
    for _ in range(_MOST_READINGS):
        try:
            entries = [entry for entry in to_wire(request, reader)[1] if entry["code"] not in _NO_REPAIR]
        except InvalidRequest:
            break
        if not entries:
            return
        for entry in entries:
            _note_entry(entry, request, endpoint)
    # there is no other way to write it than as it was
    request["provider_state"].setdefault("encoding", {})["whole"] = imprint(request, "request")


_NO_REPAIR: Final = ("envelope",)  # said wherever it stands, and read back


def _note_entry(entry: dict[str, Any], request: Request, endpoint: Endpoint) -> None:
    match entry["path"].split("/")[1:]:
        case ["messages", position, "content", number, *inner]:
            message = request["messages"][int(position)]
            if inner == _SIGNATURE:
                note(message["content"][int(number)], "unsigned", endpoint.state)
                return
            role: str = message["role"]
            block, place = message["content"][int(number)], _PLACES.get(role, role)
            if block["type"] == "tool_result" and len(inner) > 1 and inner[0] == "content":
                block, place = block["content"][int(inner[1])], RESULT
            note(block, "odd", endpoint.state, imprint(block, place))
        case _:
            pass


_SIGNATURE: Final = ["provider_state", "signature"]
