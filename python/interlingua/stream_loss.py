"""
The loss report of a stream: that of the whole response, corrected where a reader of the written stream finds something
else in its pieces (spec/6-loss.md#streamed-answers).
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua import adapters
from interlingua.adapters._contract import StreamLoss
from interlingua.adapters._engine.kit import response_of
from interlingua.adapters._errors import failures
from interlingua.canonical import state_in_ids
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Entry, Path, apply, difference, entry_of, parse_pointer, pointer, visible


def stream_loss(response: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """Return the losses of a streamed response: those of the whole one, unless the adapter has a rule of its own."""
    if endpoint.state_in_ids:
        response = state_in_ids.load_response(response, endpoint)
    adapter = adapters.get(endpoint.adapter)
    own_rule: StreamLoss | None = getattr(
        adapter, "stream_loss", None
    )  # for wires whose stream expresses more or less than the whole response
    answer = response_of(response)
    return adapter.to_wire_response(answer, endpoint)[1] if own_rule is None else own_rule(answer, endpoint)


def of_the_message(loss: list[Entry]) -> list[Entry]:
    """Return the entries about the content of the response itself."""
    return [entry for entry in loss if entry["path"].startswith("/message/content/")]


# ------------------------------------------------------------------------------------------- the order of a stream

PROSE: Final = ("text_delta", "thinking_delta")
PIECES: Final = frozenset((*PROSE, "tool_use_start", "tool_use_input_delta", "tool_use_end"))
"""The events in which a block continues."""


class StreamTrace:
    """The part of a stream that its last event does not hold: the order in which blocks began and ended, and the pieces
    of blocks that were open at the same time, or are still open. Blocks that came one by one are complete in
    themselves."""

    __slots__ = ("_choice", "_mark", "events", "mixed", "open")

    def __init__(self, choice: int) -> None:
        self._choice = choice
        self.events: list[dict[str, Any]] = []
        self.open: set[int] = set()
        self.mixed = False
        self._mark = 0

    def turn(self, event: dict[str, Any]) -> None:
        """Record that a block begins or ends."""
        if event["type"] == "block_start":
            self.mixed = self.mixed or bool(self.open)
            self.open.add(event["index"])
            self.events.append(event)
            if not self.mixed:
                self._mark = len(self.events)
            return
        self.open.discard(event["index"])
        if not self.mixed:
            del self.events[self._mark :]
        elif not self.open:
            self.mixed = False
        self.events.append(event)

    def record(self, event: dict[str, Any]) -> None:
        """Record that a block continues."""
        if self.mixed or event["type"] not in PROSE:
            self.events.append(event)

    def replay(self, arrived: dict[str, Any]) -> list[dict[str, Any]]:
        """Return events that stream the content that had arrived in the same order."""
        content: list[dict[str, Any]] = arrived["message"]["content"]
        ended = {event["index"]: event["block"] for event in self.events if event["type"] == "block_stop"}
        begun = {event["index"]: event["block"] for event in self.events if event["type"] == "block_start"}
        texts: dict[int, str] = {}
        for event in self.events:
            if "text" in event:
                texts[event["index"]] = texts.get(event["index"], "") + event["text"]
        whole = _places(begun, ended, content)
        events: list[dict[str, Any]] = [] if self._choice else [{"type": "message_start"}]
        seen: set[tuple[str, int]] = (
            set()
        )  # the events that have come; for calls, they show which start and end is missing
        for event in self.events:
            index, kind = event["index"], event["type"]
            seen.add((kind, index))
            if kind == "block_stop" and event["block"]["type"] == "tool_use":
                events += [one for one in _call(event) if (one["type"], index) not in seen]
            events.append(event)
            if kind == "block_start":
                arrived_of = whole[index] if index in whole else event["block"]
                events += _beginning(event, arrived_of, texts.get(index, ""))
        return [{**event, "choice": self._choice} for event in events] if self._choice else events


def _places(
    begun: dict[int, dict[str, Any]], ended: dict[int, dict[str, Any]], content: list[dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Return what had arrived of each block. Empty blocks may have no place in the message."""
    blocks = dict(ended)
    place = 0
    for index, block in sorted(begun.items()):
        if place < len(content) and content[place]["type"] == ended.get(index, block)["type"]:
            blocks.setdefault(index, content[place])
            place += 1
    return blocks


def _beginning(start: dict[str, Any], block: dict[str, Any], so_far: str) -> list[dict[str, Any]]:
    """Return the part of a text before `so_far`, as the event after the one that begins the text."""
    begun = start["block"]
    text: str = block.get("text") or ""
    if begun["type"] not in ("text", "thinking") or not text.endswith(so_far):
        return []
    first = text.removesuffix(so_far).removeprefix(begun["text"])
    return [{"type": f"{begun['type']}_delta", "index": start["index"], "text": first}] if first else []


def _call(stop: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the start and the end event of a call."""
    block, index = stop["block"], stop["index"]
    start: dict[str, Any] = {"index": index, "id": block["id"], "name": block["name"]}
    end = {name: block[name] for name in ("input", "input_raw") if name in block}
    return [{"type": "tool_use_start", **start}, {"type": "tool_use_end", **start, **end}]


_COMPARED: Final = ("type", "kind", "name", "text", "refusal", "input", "input_raw", "signature", "citations")
_FAILED: Final[dict[str, Any]] = {"category": "server_error", "message": "it failed", "retryable": True}


def loss_of_arrived(
    loss: list[Entry], events: list[dict[str, Any]], content: list[dict[str, Any]], endpoint: Endpoint
) -> list[Entry]:
    """Return the losses of content that had arrived: those of the whole response, unless a reader of the stream finds
    something else. A wire may send blocks only when they are whole, or in pieces that a reader joins to fewer, more or
    other blocks if the end is missing."""
    read = _read_content([*events, {"type": "error", "error": _FAILED}], endpoint)
    if endpoint.state_in_ids:
        content, read = _without_state(content), _without_state(read)
    return _loss_by_reading(loss, content, read, _CONTENT)


def _loss_by_reading(
    loss: list[Entry], content: list[dict[str, Any]], read: list[dict[str, Any]], at: Path
) -> list[Entry]:
    """Return a report on the content at a place that turns the content into what the reader found."""
    if _reads_as(loss, content, read, at):
        return loss
    loss = _matched(loss, content, read, at)
    if not _reads_as(loss, content, read, at):
        message = "the reader of this wire finds other content in the pieces"
        loss = [entry_of("replace", pointer(at), "unsupported_value", "weakened", message, value=read)]
    return loss


def needs_a_reader(response: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether the losses must be found by reading the stream back: if the response holds data of the endpoint's own
    provider, and on wires that are `READ_BACK`, unless each block is separate from those before it."""
    if _holds_native(response, endpoint):
        return True
    choices = [response, *(response.get("alternatives") or ())]
    read_back = getattr(adapters.get(endpoint.adapter), "READ_BACK", False)
    return read_back and not all(_are_apart(choice["message"]["content"]) for choice in choices)


def _are_apart(content: list[dict[str, Any]]) -> bool:
    """Whether the blocks are those of most responses: reasoning, a text and calls, none of them empty."""
    last = -1
    for block in content:
        rank = _RANKS.get(block["type"], -1)
        if rank < last or rank < 0 or (rank == last and rank != _CALLS) or block.get("text") == "":
            return False
        last = rank
    return True


_RANKS: Final = {"thinking": 0, "text": 1, "tool_use": 2}
_CALLS: Final = 2


def _holds_native(response: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether a response holds data of the endpoint's own provider: only a reader shows how pieces express it."""
    for choice in (response, *(response.get("alternatives") or ())):
        message = choice["message"]
        if endpoint.owns(choice.get("provider_state") or _NOBODY) or endpoint.owns(
            message.get("provider_state") or _NOBODY
        ):
            return True
        if any(
            _is_native(block, endpoint) or (block["type"] == "opaque" and endpoint.owns(block))
            for block in message["content"]
        ):
            return True
    return False


_NOBODY: Final[dict[str, Any]] = {"adapter": ""}


def loss_as_read(
    loss: list[Entry], end: dict[str, Any], traces: dict[int, StreamTrace], endpoint: Endpoint
) -> list[Entry]:
    """Return the losses of a response: those of the whole one, unless a reader of the stream finds something else."""
    response: dict[str, Any] = end["response"]
    choices: list[dict[str, Any]] = [response, *(response.get("alternatives") or ())]
    events = [
        event
        for number, trace in sorted(traces.items())
        if number < len(choices)
        for event in trace.replay(choices[number])
    ]
    last = _read_back([*events, end], endpoint)
    if last is None or last["type"] != "message_complete":
        return loss  # a response that failed is an error on this wire
    read = last["response"]
    for number, (choice, seen) in enumerate(zip(choices, [read, *(read.get("alternatives") or ())], strict=False)):
        at: Path = ("message",) if number == 0 else ("alternatives", number - 1, "message")
        message, read_message = choice["message"], seen["message"]
        content, streamed_content = message["content"], read_message["content"]
        if endpoint.state_in_ids:
            content, streamed_content = _without_state(content), _without_state(streamed_content)
        here = pointer((*at, "content"))
        of_content = [entry for entry in loss if entry["path"].startswith(f"{here}/")]
        others = [entry for entry in loss if not entry["path"].startswith(f"{here}/")]
        loss = [*_loss_by_reading(of_content, content, streamed_content, (*at, "content")), *others]
        name = pointer((*at, "name"))
        if message.get("name") and not read_message.get("name") and all(entry["path"] != name for entry in loss):
            why = "a stream has no names of participants"
            loss.append(_drop(name, "unsupported_field", why, "weakened"))
    return loss


def loss_of_late_text(
    loss: list[Entry], end: dict[str, Any], trace: StreamTrace, blocks: dict[int, dict[str, Any]], endpoint: Endpoint
) -> tuple[dict[str, Any], list[Entry]]:
    """Return a response and its losses if a text continued in an earlier block (spec/4-streams.md#places): those of the
    whole response, if its reader joins the pieces again; else the response with the pieces as blocks, and their
    losses."""
    response: dict[str, Any] = end["response"]
    message: dict[str, Any] = response["message"]
    read = _read_content([*trace.replay(response), end], endpoint)
    content: list[dict[str, Any]] = message["content"]
    if endpoint.state_in_ids:
        content, read = _without_state(content), _without_state(read)
    if _reads_as(of_the_message(loss), content, read, _CONTENT):
        return response, loss
    pieces = [blocks[index] for index in sorted(blocks)]
    message_text = "a text that continues in an earlier block is written when it comes"
    in_pieces = entry_of("replace", pointer(_CONTENT), "reordered", "representation", message_text, value=pieces)
    response = {**response, "message": {**message, "content": pieces}}
    return response, [in_pieces, *stream_loss(response, endpoint)]


def _read_content(events: list[dict[str, Any]], endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the blocks that a reader of the wire finds in a stream of these events."""
    end = _read_back(events, endpoint) or {}
    return (end.get("response") or {"message": {"content": []}})["message"]["content"]


def _without_state(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks without the state that the ids of calls carry."""
    return [{name: value for name, value in block.items() if name != "provider_state"} for block in content]


def _reads_as(loss: list[Entry], content: list[dict[str, Any]], read: list[dict[str, Any]], at: Path) -> bool:
    """Whether a reader finds the content with the report applied."""
    reported = content
    if loss:
        here = pointer(at)
        moved: list[dict[str, Any]] = [{**entry} for entry in loss]
        for entry in moved:
            for name in ("path", "to"):
                if name in entry:
                    entry[name] = _CONTENT_PATH + entry[name].removeprefix(here)
        reported = apply({"message": {"content": content}}, moved)["message"]["content"]
    return difference(_seen(reported), _seen(read)) is None


def _seen(content: list[dict[str, Any]]) -> Any:
    return visible({"messages": [{"role": "assistant", "content": content}]})["messages"][0]["content"]


def _matched(
    loss: list[Entry], content: list[dict[str, Any]], read: list[dict[str, Any]], at_content: Path
) -> list[Entry]:
    """Return a report that turns the content into what was found: it assigns each block to a found one."""
    inside: list[list[Entry]] = [[] for _ in content]  # the losses of each block in the whole response, without merges
    dropped: dict[int, Entry] = {}
    for entry in loss:
        steps = parse_pointer(entry["path"])
        if entry["code"] == _MERGED:
            continue
        if entry["op"] == "drop" and len(steps) == len(at_content) + 1:
            dropped[int(steps[-1])] = entry
        elif entry["op"] in ("drop", "replace"):
            inside[int(steps[len(at_content)])].append({**entry, "path": pointer(tuple(steps[len(at_content) + 1 :]))})
    places = _Places(read)
    homes: dict[int, list[int]] = {}
    report: list[Entry] = []
    # blocks that the whole response would drop are assigned last
    for place in sorted(range(len(content)), key=dropped.__contains__):
        at = places.take(_alone(content[place], inside[place]))
        if at is not None:
            homes.setdefault(at, []).append(place)
        elif place in dropped:
            report += [*_at(pointer((*at_content, place)), inside[place]), dropped[place]]
        elif content[place].get("text") == "":
            here = pointer((*at_content, place))
            report += _at(here, inside[place])
            report.append(_drop(here, "empty_content", "a stream has no empty pieces", "representation"))
        else:
            message = "the wire sends nothing of such a block before it has ended"
            report.append(_drop(pointer((*at_content, place)), "unsupported_block", message))
    for at, (home, *others) in homes.items():
        here = pointer((*at_content, home))
        report += _at(here, _at_home(content[home], inside[home], read[at]))
        for one in others:
            here = pointer((*at_content, one))
            report += _at(here, inside[one])
            report.append(_drop(here, _MERGED, _ONE_TEXT, "representation"))
    return report + _moved([homes[at][0] for at in sorted(homes)], len(content), at_content)


def _at(path: str, loss: list[Entry]) -> list[Entry]:
    """Return the entries about an item with their pointers at the item's place."""
    return [{**entry, "path": path + entry["path"]} for entry in loss]


_CONTENT: Final[Path] = ("message", "content")
_CONTENT_PATH: Final = "/message/content"
_MERGED: Final = "merged_turn"
_ONE_TEXT: Final = "the pieces of a stream do not show where one text ends and another begins"


def _alone(block: dict[str, Any], loss: list[Entry]) -> dict[str, Any]:
    """Return a block with the entries about it applied; their pointers begin at the block."""
    if not loss:
        return block
    return apply({"block": block}, [{**entry, "path": f"/block{entry['path']}"} for entry in loss])["block"]


class _Places:
    """The blocks that a reader found, and the part of each that is not yet assigned."""

    def __init__(self, read: list[dict[str, Any]]) -> None:
        self._read = read
        self._rest: list[str | None] = [block.get("text") for block in read]
        self._free = set(range(len(read)))

    def take(self, block: dict[str, Any]) -> int | None:
        """Return the place where a block was found; a text may also follow another one of its kind in a found block."""
        kind, text = block["type"], block.get("text")
        for place, other in enumerate(self._read):
            if other["type"] != kind or bool(other.get("refusal")) is not bool(block.get("refusal")):
                continue
            rest = self._rest[place]
            if rest is None or text is None:
                fits = place in self._free
            else:
                fits = rest.startswith(text) if text else (rest == "" and place in self._free)
            if fits:
                self._rest[place] = None if rest is None or text is None else rest[len(text) :]
                self._free.discard(place)
                return place
        return None


def _at_home(block: dict[str, Any], loss: list[Entry], read: dict[str, Any]) -> list[Entry]:
    """Return the entries that turn a block into what was found of it, with those of the whole response as far as they
    apply; their pointers begin at the block."""
    target = _seen([read])
    message = "the reader of this wire finds other content in the pieces of the block that was cut off"
    merged = entry_of("replace", "/text", _MERGED, "representation", _ONE_TEXT, value=read.get("text"))
    outside = [entry for entry in loss if entry["path"][1:].partition("/")[0] not in _COMPARED]
    compared = {name: value for name, value in read.items() if name in _COMPARED}
    rest = {name: value for name, value in block.items() if name not in _COMPARED}
    for candidate in (
        loss,
        [entry for entry in loss if entry["op"] != "drop" or not _holds(read, entry["path"])],
        [*loss, merged],
        [*loss, *_not_streamed(_alone(block, loss), read)],
        [_changed(message, {**rest, **compared}), *outside],
    ):
        if difference(_seen([_alone(block, candidate)]), target) is None:
            return candidate
    return [_changed(message, read)]


def _changed(message: str, value: dict[str, Any]) -> Entry:
    return entry_of("replace", "", "unsupported_value", "weakened", message, value=value)


def _holds(value: Any, path: str) -> bool:
    """Whether a value exists at a place."""
    for step in parse_pointer(path):
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    return True


def _not_streamed(block: dict[str, Any], read: dict[str, Any]) -> list[Entry]:
    """Return the loss of members without canonical meaning that the wire sends only with the end of a block."""
    fields = (block.get("provider_state") or {}).get("fields") or {}
    streamed_fields = (read.get("provider_state") or {}).get("fields") or {}
    message = "the wire sends this member only when a block has ended"
    return [
        _drop(pointer(("provider_state", "fields", name)), "unsupported_field", message, "weakened")
        for name in fields
        if name not in streamed_fields
    ]


def _moved(homes: list[int], end: int, at: Path) -> list[Entry]:
    """Return the moves that bring blocks into the order in which they were found."""
    ahead = end
    moves: list[Entry] = []
    for home in reversed(homes):
        if home < ahead:
            ahead = home
            continue
        message = "pieces that interleave are written in the order of the wire"
        to = pointer((*at, ahead))
        moves.insert(0, entry_of("move", pointer((*at, home)), "reordered", "representation", message, to=to))
    return moves


def _drop(path: str, code: str, message: str, severity: str = "lost") -> Entry:
    return entry_of("drop", path, code, severity, message)


def error_loss(failure: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """Return the losses of an error that ends a stream: the difference to the error that a reader finds."""
    end = _read_back([{"type": "error", "error": failure}], endpoint)
    if end is None or "error" not in end:
        return [_drop("/error", "unsupported_field", "the wire has no frame for an error")]
    return [{**entry, "path": f"/error{entry['path']}"} for entry in failures.report(failure, end["error"], endpoint)]


def _read_back(events: list[dict[str, Any]], endpoint: Endpoint) -> dict[str, Any] | None:
    """Return the last event that a reader of the wire finds in a stream of these events."""
    adapter = adapters.get(endpoint.adapter)
    decoder = adapter.stream_decoder(endpoint, DERIVED_IDS)
    next(decoder)
    read: list[Any] = []
    encoder = adapter.stream_encoder(endpoint)
    next(encoder)
    write: Callable[[Any], list[Any]] = encoder.send
    try:
        for event in events:
            for frame in write(event):
                read += decoder.send(frame)
        read += decoder.send(None)
    except StopIteration:
        pass  # the reader has found the end of the stream
    return read[-1] if read else None


_PROBE: Final = "…"


def block_loss(event: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """Return the losses of a block that are known by now: for a block that begins, only the loss of the whole block.

    Whether the response comes from this wire is not known before its end. So only losses that occur in both cases
    count.
    """
    block: dict[str, Any] = event["block"]
    begins = event["type"] == "block_start"
    if _is_native(block, endpoint) or (begins and block["type"] == "opaque"):
        return []  # an opaque block is written when it ends, and may be another one then
    if begins and block.get("text") == "":
        block = {**block, "text": _PROBE}
    answer = {"message": {"role": "assistant", "content": [block]}, "finish_reason": "stop"}
    here = "/message/content/0"
    losses = [
        entry
        for entry in stream_loss(answer, endpoint)
        if (entry["path"] == here and entry["op"] == "drop") or (not begins and entry["path"].startswith(here + "/"))
    ]
    if losses:
        of_answer = {entry["path"] for entry in stream_loss({**answer, "provider_state": endpoint.state()}, endpoint)}
        losses = [entry for entry in losses if entry["path"] in of_answer]
    place = f"/message/content/{event['index']}"
    return [{**entry, "path": place + entry["path"].removeprefix(here)} for entry in losses]


def _is_native(block: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether a block holds state of the endpoint's own provider."""
    parts = [block, *(block.get("citations") or ())]
    states = [part.get("provider_state") for part in parts]
    return any(state is not None and endpoint.owns(state) for state in states)
