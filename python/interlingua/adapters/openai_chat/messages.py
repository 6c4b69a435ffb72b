"""Messages: `message_to_wire` above `message_from_wire`, and the order that the wire demands of calls and results."""

from collections.abc import Mapping
from typing import Any

from interlingua.adapters._kit import Wire, malformed, report_foreign_state, report_unknown
from interlingua.adapters.openai_chat.context import Reading, Writing, extras, report_own_state
from interlingua.adapters.openai_chat.parts import (
    ASSISTANT,
    SYSTEM,
    TOOL,
    USER,
    Block,
    cache_from_wire,
    cache_to_wire,
    part_from_wire,
    part_to_wire,
    report_reading,
)
from interlingua.adapters.openai_chat.reasoning import (
    DETAILS,
    MEMBERS,
    PART,
    TEXTS,
    detail_from_wire,
    reasoning_from_wire,
    reasoning_to_wire,
    thinking_part_from_wire,
)
from interlingua.adapters.openai_chat.tables import FILLER, PARTICIPANT, TOOL_ERROR, TOOL_OK
from interlingua.adapters.openai_chat.tools import CALLS, call_from_wire, call_to_wire, read_arguments
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]
Request = Mapping[str, Any]

_MESSAGE = frozenset(
    (
        "role",
        "content",
        "name",
        "cache",
        "provider_state",
        "id",
        "session_id",
        "created_at",
        "schema_version",
        "metadata",
        "priority",
        "critical",
        "extra",
    )
)
_RESULT = frozenset(("type", "tool_use_id", "content", "is_error", "cache", "critical", "provider_state"))
_NOTHING: Mapping[str, Any] = {}


# ---------------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: Request, writing: Writing) -> list[Wire]:
    """All messages, in the order that the wire demands: results directly after their calls.

    Raises `InvalidRequest` for a conversation that no order makes valid.
    """
    messages: list[Message] = request["messages"]
    body: list[Wire] = []
    if request.get("system"):
        content = _plain_content(request["system"], ("system",), writing, SYSTEM, _NOTHING)
        if content is not None:
            body.append({"role": "system", "content": content})
    runs = _Runs(writing)
    for position in _order(messages, writing):
        message = messages[position]
        role = message["role"]
        if runs.waiting and role != "tool" and position not in writing.moved:
            runs.close(body, message, position)
        if role == "assistant":
            body.append(_assistant_to_wire(message, position, writing, request))
        elif role == "tool":
            body.append(_tool_to_wire(message, position, writing, runs))
        else:
            body.append(_plain_to_wire(message, position, writing, runs))
    if runs.waiting:
        runs.close(body, None, len(messages))
    # last of all: what an entry names must still stand in its place
    for position, to in writing.moves:
        message = "results follow their calls directly"
        writing.loss.move(("messages", position), ("messages", to), "reordered", "shape", message)
    runs.report()
    return body


def _order(messages: list[Message], writing: Writing) -> range | list[int]:
    """Positions of the messages in the order of the wire."""
    if writing.own:
        return range(len(messages))
    open_calls: dict[str, Path] = {}
    for position, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            block = _result(message, position)
            if open_calls.pop(block["tool_use_id"], None) is None:
                return _reorder(messages, writing)
        elif open_calls:
            return _reorder(messages, writing)
        if role == "assistant":
            for index, block in enumerate(message["content"]):
                if block["type"] == "tool_use":
                    open_calls[block["id"]] = ("messages", position, "content", index)
    return (
        range(len(messages)) if not open_calls or messages[-1]["role"] == "assistant" else _reorder(messages, writing)
    )


def _result(message: Message, position: int) -> Block:
    content = message["content"]
    if len(content) != 1 or content[0]["type"] != "tool_result":
        raise InvalidRequest(
            "a tool message holds exactly one tool_result", path=f"/messages/{position}/content", adapter=_NAME
        )
    return content[0]


_NAME = "openai_chat"


def _reorder(messages: list[Message], writing: Writing) -> list[int]:
    """Brings every result directly behind its calls; notes each message that leaves its place."""
    answers = _answers(messages)
    order: list[int] = []
    for position, message in enumerate(messages):
        if message["role"] != "tool":
            order.append(position)
            order += answers.get(position, ())
    start, highest = 0, -1
    for end, position in enumerate(order):
        highest = max(highest, position)
        if highest == end:  # the order is settled up to here
            if end > start:
                _note_window(order[start : end + 1], end + 1, messages, writing)
            start = end + 1
    return order


def _note_window(window: list[int], after: int, messages: list[Message], writing: Writing) -> None:
    kept = _kept(window, messages)
    to = after
    entries: list[tuple[int, int]] = []
    for position in reversed(window):
        if position in kept:
            to = position
        else:
            entries.append((position, to))
    writing.moved.update(position for position, _ in entries)
    writing.moves += reversed(entries)


def _kept(window: list[int], messages: list[Message]) -> set[int]:
    """The heaviest rising selection of a window: what keeps its place. Results would rather stay than others."""
    weights = [1000.0 if messages[position]["role"] == "tool" else 1.0 for position in window]
    best: list[tuple[float, int]] = []
    for i, position in enumerate(window):
        before = [(best[k][0], k) for k in range(i) if window[k] < position]
        weight, k = max(before, default=(0.0, -1))
        best.append((weight + weights[i], k))
    i = max(range(len(window)), key=lambda k: best[k][0])
    kept: set[int] = set()
    while i >= 0:
        kept.add(window[i])
        i = best[i][1]
    return kept


def _answers(messages: list[Message]) -> dict[int, list[int]]:
    """For each message with calls, the positions of their results. Raises `InvalidRequest` when they do not pair."""
    asked: dict[str, tuple[int, int]] = {}
    answered: set[str] = set()
    runs: dict[int, list[int]] = {}
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            block = _result(message, position)
            call = asked.get(block["tool_use_id"])
            path = f"/messages/{position}/content/0/tool_use_id"
            if call is None:
                raise InvalidRequest("no call before this result has its id", path=path, adapter=_NAME)
            if block["tool_use_id"] in answered:
                raise InvalidRequest("this call is already answered", path=path, adapter=_NAME)
            answered.add(block["tool_use_id"])
            runs[call[0]].append(position)
        elif message["role"] == "assistant":
            for index, block in enumerate(message["content"]):
                if block["type"] == "tool_use":
                    asked[block["id"]] = (position, index)
                    runs.setdefault(position, [])
    for call_id, (position, index) in asked.items():
        if call_id not in answered and position != len(messages) - 1:
            raise InvalidRequest(
                "this call has no result and other turns follow; add a result or remove the call",
                path=f"/messages/{position}/content/{index}",
                adapter=_NAME,
            )
    return runs


class _Runs:
    """The results of one turn: media that a tool message cannot hold wait here for the next user message."""

    __slots__ = ("_count", "_entries", "moved", "waiting", "writing")

    def __init__(self, writing: Writing) -> None:
        self.writing = writing
        self._entries: list[tuple[Path, Path, str]] = []
        self.waiting: list[tuple[Path, str, Wire]] = []
        self.moved: list[Wire] = []
        self._count = 0

    def add(self, path: Path, kind: str, part: Wire) -> Wire:
        """Takes a medium; gives the text that stands in its place."""
        self._count += 1
        left = {"type": "text", "text": f"[{kind} {self._count}: see the next user message]"}
        self.waiting.append((path, left["text"], part))
        return left

    def close(self, body: list[Wire], following: Message | None, position: int) -> None:
        """The run of results has ended: the media go to the start of the user message that follows, or to one of their own."""
        joins = following is not None and following["role"] == USER and following["content"]
        to: Path = ("messages", position, "content", 0) if joins else ("messages", position)
        self._entries += [(path, to, left) for path, left, _ in self.waiting]
        parts = [part for _, _, part in self.waiting]
        if joins:
            self.moved = parts
        else:
            body.append({"role": "user", "content": parts})
        self.waiting = []
        self._count = 0

    def report(self) -> None:
        """Reports what was moved."""
        for path, to, left in self._entries:
            message = "a tool message holds text alone: the medium travels in the next user message"
            value = {"type": "text", "text": left}
            self.writing.loss.move(path, to, "media_moved", "weakened", message, left=value)


# -- system, developer and user messages


def _plain_to_wire(message: Message, position: int, writing: Writing, runs: _Runs) -> Wire:
    role, content = message["role"], message["content"]
    if len(message) == 2 and len(content) == 1 and len(content[0]) == 2 and not runs.moved and role != "developer":
        block = content[0]
        if block["type"] == "text":
            return {"role": role, "content": block["text"]}
    path: Path = ("messages", position)
    if role == "developer" and writing.dialect.get("developer_role") is False:
        role = "system"
        writing.loss.replace((*path, "role"), role, "role_folded", "shape", "the provider knows no developer role")
    _refuse_results(content, path)
    state = writing.owns(message)
    written = _plain_content(
        content, (*path, "content"), writing, USER if role == USER else SYSTEM, state.get("form") or _NOTHING
    )
    if runs.moved:
        parts: list[Wire] = [{"type": "text", "text": written}] if isinstance(written, str) else written or []
        written, runs.moved = runs.moved + parts, []
    wire: Wire = {"role": role}
    if written is not None:
        wire["content"] = written
    elif not _absent(wire, content, state):
        wire["content"] = _filled(path, writing)
    return wire if len(message) == 2 else _finish_message(message, wire, state, path, writing)


def _refuse_results(content: list[Block], path: Path) -> None:
    for index, block in enumerate(content):
        if block["type"] in ("tool_use", "tool_result"):
            raise InvalidRequest(
                f"a {block['type']} does not stand in a message of this role",
                path=f"/messages/{path[1]}/content/{index}",
                adapter=_NAME,
            )


def _plain_content(
    content: list[Block], path: Path, writing: Writing, place: str, form: Mapping[str, Any]
) -> str | list[Wire] | Any:
    """The content of a message: a string for a single plain text, else parts; None when nothing is left of it."""
    parts: list[Wire] = []
    for index, block in enumerate(content):
        if block["type"] == "text" and len(block) == 2:
            parts.append({"type": "text", "text": block["text"]})
        elif (part := part_to_wire(block, (*path, index), writing, place)) is not None:
            parts.append(part)
    return _spelt(parts, form)


def _spelt(parts: list[Wire], form: Mapping[str, Any]) -> str | list[Wire] | Any:
    if not parts:
        return None
    if len(parts) == 1 and len(part := parts[0]) == 2 and part.get("type") == "text" and "text" in part:
        if form:
            if form.get("parts"):
                return parts
            if form.get("json") and (value := _json_value(part["text"])) is not None:
                return value
        return part["text"]
    return parts


def _json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except InvalidRequest:
        return None


def _absent(wire: Wire, content: list[Block], state: Mapping[str, Any]) -> bool:
    """Writes the emptiness that an own message had. False when there is none to write."""
    form = state.get("form") or _NOTHING
    if content:
        return False
    if "content" in form.get("empty", _NOTHING):
        wire["content"] = form["empty"]["content"]
        return True
    return "content" in form.get("absent", ())


def _filled(path: Path, writing: Writing) -> str:
    value = [{"type": "text", "text": FILLER}]
    message = "the wire takes no empty message"
    writing.loss.replace((*path, "content"), value, "filler", "shape", message)
    return FILLER


def _finish_message(message: Message, wire: Wire, state: Mapping[str, Any], path: Path, writing: Writing) -> Wire:
    """What all messages have: a name, a cache hint, own members, and what this version does not know."""
    form = state.get("form") or _NOTHING
    if message.get("name") is not None:
        _name_to_wire(message["name"], wire, path, writing)
    if message.get("cache") is not None:
        _message_cache(message["cache"], wire, form, path, writing)
    if state:
        for name, value in form.get("empty", _NOTHING).items():
            wire.setdefault(name, value)
        if fields := state.get("fields"):
            for name, value in fields.items():
                wire.setdefault(name, value)
        report_own_state(state, writing.loss, path)
    elif "provider_state" in message:
        report_foreign_state(message, writing.endpoint, writing.loss, path)
    report_unknown(message, _MESSAGE, writing.loss, path)
    return wire


def _name_to_wire(name: str, wire: Wire, path: Path, writing: Writing) -> None:
    loss = writing.loss
    if writing.own:
        wire["name"] = name
    elif wire["role"] == TOOL or writing.dialect.get("participant_name") is False:
        loss.drop((*path, "name"), "unsupported_field", "weakened", "messages of this role have no name here")
    elif PARTICIPANT.fullmatch(name):
        wire["name"] = name
    else:
        fitted = "_".join(PARTICIPANT.findall(name)) or "_"
        loss.replace((*path, "name"), fitted, "name_rewritten", "shape", "the name does not fit the wire's grammar")
        wire["name"] = fitted


def _message_cache(cache: dict[str, Any], wire: Wire, form: Mapping[str, Any], path: Path, writing: Writing) -> None:
    """A hint on a message goes back to the message where it stood there; else it has no place of its own."""
    if "cache" in form:
        cache_to_wire(cache, wire, {"form": form}, (*path, "cache"), writing)
    else:
        message = "the wire marks parts, not messages"
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)


# -- assistant messages

_REASONING, _CONTENT, _REFUSAL, _IMAGES, _SOUND, _CALLS = range(6)


def _assistant_to_wire(message: Message, position: int, writing: Writing, request: Request) -> Wire:
    content = message["content"]
    if len(message) == 2 and len(content) == 1:
        block = content[0]
        if block["type"] == "text" and len(block) == 2 and (block["text"] or writing.own):
            return {"role": "assistant", "content": block["text"]}
    if (plain := _plain_turn(message, content, position, writing, request)) is not None:
        return plain
    path: Path = ("messages", position)
    turn = _Turn(path, writing)
    for index, block in enumerate(content):
        _place(block, index, content, turn, request)
    state = writing.owns(message)
    wire = _turn_to_wire(turn, content, state, path, writing)
    if turn.texts or DETAILS in wire or writing.dialect.get("reasoning_replay_required"):
        _reasoning_members(turn, wire, state.get("form") or _NOTHING, path, writing)
    turn.report_moves()
    return wire if len(message) == 2 else _finish_message(message, wire, state, path, writing)


def _plain_turn(
    message: Message, content: list[Block], position: int, writing: Writing, request: Request
) -> Wire | None:
    """The turn that most are: calls, and perhaps a text before them. None for any other."""
    wire: Wire = {"role": "assistant", "content": None}
    if len(message) > 2:
        # all that may stand beside is how emptiness was spelt
        state = writing.owns(message)
        if len(message) > 3 or not state or not state.keys() <= _STATE_OF_FORM:
            return None
        form = state.get("form") or _NOTHING
        if not form.keys() <= _EMPTINESS or not form.get("empty", _NOTHING).keys() <= _CONTENT_ALONE:
            return None
        if form.get("empty"):
            wire["content"] = form["empty"]["content"]
        elif form.get("absent") == ["content"]:
            del wire["content"]
    calls: list[Block] = content
    first = content[0] if content else None
    if first is not None and first["type"] == "text":
        if len(first) > 2 or not first["text"]:
            return None
        wire["content"] = first["text"]
        calls = content[1:]
    if not calls or writing.dialect.get("reasoning_replay_required"):
        return None
    for block in calls:
        if block["type"] != "tool_use":
            return None
        state = block.get("provider_state")
        if state is not None and "form" in state and "legacy" in state["form"]:
            return None
    offset = len(content) - len(calls)
    path: Path = ("messages", position)
    wire["tool_calls"] = [
        call_to_wire(block, index, path, writing, request) for index, block in enumerate(calls, offset)
    ]
    return wire


_STATE_OF_FORM = frozenset(("adapter", "provider", "form"))
_EMPTINESS = frozenset(("empty", "absent"))
_CONTENT_ALONE = frozenset(("content",))


def answer_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    """The message of an answer, at its place in the response."""
    turn = _Turn(path, writing, answer=True)
    content = message["content"]
    for index, block in enumerate(content):
        _place(block, index, content, turn, {"messages": [message]})
    state = writing.owns(message)
    form = state.get("form") or _NOTHING
    wire = _turn_to_wire(turn, content, state, path, writing)
    if turn.texts or DETAILS in wire:
        _reasoning_members(turn, wire, form, path, writing)
    turn.report_moves()
    wire = _finish_message(message, wire, state, path, writing)
    if not writing.own:
        wire.setdefault("refusal", None)
    elif "role" in form:
        wire["role"] = form["role"]
    elif "role" in form.get("absent", ()):
        del wire["role"]
    return wire


class _Turn:
    """The blocks of an assistant message, sorted into the members of the wire."""

    __slots__ = (
        "_first", "_moves", "answer", "calls", "details", "dropped", "images", "legacy", "parts", "path", "refusal", "sound", "texts",
        "texts_at", "writing", "citations",
    )  # fmt: skip

    def __init__(self, path: Path, writing: Writing, *, answer: bool = False) -> None:
        self.path = path
        self.writing = writing
        self.answer = answer
        self.texts: list[tuple[str, str]] = []
        self.texts_at: list[int] = []
        self.details: list[Wire] = []
        self.parts: list[Wire] = []
        self.refusal: str | None = None
        self.images: list[Wire] = []
        self.sound: Wire | None = None
        self.calls: list[Wire] = []
        self.legacy: Wire | None = None
        self.citations: tuple[int, Block] | None = None
        self._first: dict[int, int] = {}
        self._moves: list[tuple[int, int, int]] = []
        self.dropped: set[int] = set()

    def stands(self, kind: int, index: int) -> None:
        """Notes that the block at `index` goes to a member of this kind: the members have an order of their own."""
        later = [first for other, first in self._first.items() if other > kind]
        if later:
            self._moves.append((kind, index, min(later)))
        elif kind not in self._first:
            self._first[kind] = index

    def report_moves(self) -> None:
        """Reports the blocks that stand elsewhere on the wire."""
        for _, index, to in sorted(self._moves):
            if index in self.dropped:
                continue
            content = (*self.path, "content")
            message = "the wire puts reasoning before text and calls last"
            self.writing.loss.move((*content, index), (*content, to), "reordered", "shape", message)


def _place(block: Block, index: int, content: list[Block], turn: _Turn, request: Request) -> None:
    writing, path = turn.writing, (*turn.path, "content", index)
    match block["type"]:
        case "tool_use":
            turn.stands(_CALLS, index)
            form = writing.owns(block).get("form") or _NOTHING
            call = call_to_wire(block, index, turn.path, writing, request)
            if form.get("legacy") and turn.legacy is None and not turn.calls and call["type"] == "function":
                turn.legacy = call["function"]
            else:
                turn.calls.append(call)
            return
        case "text" if block.get("refusal") and _is_member(block, index, content, turn):
            turn.stands(_REFUSAL, index)
            turn.refusal = block["text"]
            _finish_refusal(block, path, writing)
            return
        case "text":
            part = part_to_wire(block, path, writing, ASSISTANT)
            if block.get("citations"):
                _note_citations(block, index, turn)
        case "thinking" | "redacted_thinking":
            place, part = reasoning_to_wire(block, path, writing)
            if place != PART:
                turn.stands(_REASONING, index)
                if place == DETAILS:
                    turn.details.append(part)
                else:
                    turn.texts.append((place, part))
                    turn.texts_at.append(index)
                return
        case "opaque" if writing.endpoint.owns(block) and block.get("kind") in (CALLS, DETAILS):
            kind = block["kind"]
            turn.stands(_CALLS if kind == CALLS else _REASONING, index)
            (turn.calls if kind == CALLS else turn.details).append(block["value"])
            read = call_from_wire if kind == CALLS else detail_from_wire
            report_reading(block, read(block["value"], Reading(writing.endpoint, DERIVED_IDS)), path, writing)
            return
        case "image" if writing.owns(block).get("form", _NOTHING).get("member") == "images":
            part = part_to_wire(block, path, writing, ASSISTANT if writing.own else USER)
            if part is not None and part["type"] == "image_url":
                turn.stands(_IMAGES, index)
                turn.images.append(part)
                return
        case "audio" if (sound := _sound(block, path, turn)) is not None:
            turn.stands(_SOUND, index)
            turn.sound = sound
            return
        case "tool_result":
            raise InvalidRequest(
                "a tool_result stands in a tool message",
                path=pointer(path),
                adapter=_NAME,
            )
        case _:
            part = part_to_wire(block, path, writing, ASSISTANT)
    if part is not None:
        turn.stands(_CONTENT, index)
        turn.parts.append(part)


def _is_member(block: Block, index: int, content: list[Block], turn: _Turn) -> bool:
    """Whether a refusal goes to the member of that name: it does when it is alone and comes after the text."""
    state = turn.writing.owns(block)
    if turn.refusal is not None or block.get("cache") is not None or state.get("fields") or not block["text"]:
        return False
    return (state.get("form") or _NOTHING).get("part") != "refusal" and not any(
        later["type"] == "text" for later in content[index + 1 :]
    )


def _finish_refusal(block: Block, path: Path, writing: Writing) -> None:
    if block.get("citations"):
        message = "a refusal has no citations"
        writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
    if state := writing.owns(block):
        report_own_state(state, writing.loss, path)
    else:
        report_foreign_state(block, writing.endpoint, writing.loss, path)
    report_unknown(block, _REFUSED, writing.loss, path)


_REFUSED = frozenset(("type", "text", "refusal", "citations", "cache", "critical", "provider_state"))


def _note_citations(block: Block, index: int, turn: _Turn) -> None:
    if turn.citations is not None or not _own_citations(block, turn.writing):
        message = "citations are not replayed on this wire"
        path = (*turn.path, "content", index, "citations")
        turn.writing.loss.drop(path, "unsupported_field", "weakened", message)
    else:
        turn.citations = (index, block)


def _own_citations(block: Block, writing: Writing) -> bool:
    return all(writing.owns(citation) for citation in block["citations"])


def _sound(block: Block, path: Path, turn: _Turn) -> Wire | None:
    """The `audio` member for a sound that this provider spoke: in an answer the sound, in a history its id."""
    state = turn.writing.owns(block)
    if "id" not in state or turn.sound is not None:
        return None
    if turn.answer:
        return audio_to_wire(block, state)
    loss = turn.writing.loss
    loss.drop(path, "unsupported_source", "shape", "the provider has the sound under its id")
    where = (*turn.path, "provider_state", "fields", "audio")
    loss.replace(where, {"id": state["id"]}, "unsupported_source", "shape", "the provider has the sound under its id")
    return {"id": state["id"]}


def audio_to_wire(block: Block, state: Mapping[str, Any]) -> Wire:
    """The `audio` member of an answer."""
    audio: Wire = {**state.get("fields", _NOTHING), "id": state["id"], "data": block["source"]["data"]}
    if "transcript" in block:
        audio["transcript"] = block["transcript"]
    return audio


def _turn_to_wire(turn: _Turn, content: list[Block], state: Mapping[str, Any], path: Path, writing: Writing) -> Wire:
    form = state.get("form") or _NOTHING
    empty = form.get("empty", _NOTHING)
    wire: Wire = {"role": "assistant"}
    written = _spelt(turn.parts, form)
    others = bool(turn.calls or turn.legacy or turn.refusal or turn.sound or turn.images or turn.texts or turn.details)
    if written == "" and (others or turn.answer):
        _drop_empty(turn, content)
        written = None
    if written is not None and (written != "" or writing.own):
        wire["content"] = written
    elif written is not None:
        wire["content"] = _filled_text(content, path, writing)
    elif "content" in empty:
        wire["content"] = empty["content"]
    elif "content" in form.get("absent", ()):
        pass
    elif turn.calls or turn.answer or state or writing.own or turn.legacy or turn.refusal or turn.sound or turn.images:
        wire["content"] = None
    elif others:
        wire["content"] = ""
    else:
        wire["content"] = _filled(path, writing)
    if turn.citations is not None:
        _annotations_to_wire(turn, wire, writing)
    for name, value in (("refusal", turn.refusal), (DETAILS, turn.details), ("images", turn.images),
                        ("audio", turn.sound), ("tool_calls", turn.calls), ("function_call", turn.legacy)):  # fmt: skip
        if value:
            wire[name] = value
    return wire


def _empty_text(content: list[Block]) -> int | None:
    return next((n for n, block in enumerate(content) if block["type"] == "text" and not block["text"]), None)


def _drop_empty(turn: _Turn, content: list[Block]) -> None:
    index = _empty_text(content)
    if index is not None:
        message = "an empty text says nothing beside the rest"
        turn.writing.loss.drop((*turn.path, "content", index), "empty_content", "shape", message)
        turn.dropped.add(index)


def _filled_text(content: list[Block], path: Path, writing: Writing) -> str:
    index = _empty_text(content) or 0
    where = (*path, "content", index, "text")
    writing.loss.replace(where, FILLER, "filler", "shape", "the wire takes no empty message")
    return FILLER


def _reasoning_members(turn: _Turn, wire: Wire, form: Mapping[str, Any], path: Path, writing: Writing) -> None:
    if turn.texts:
        member = turn.texts[0][0]
        text = wire[member] = "".join(said for _, said in turn.texts)
        if len(turn.texts) > 1:
            first, *others = turn.texts_at
            content = (*path, "content")
            message = "reasoning before one answer is one text on this wire"
            writing.loss.replace((*content, first, "text"), text, "merged_turn", "shape", message)
            for index in others:
                writing.loss.drop((*content, index), "merged_turn", "shape", message)
                turn.dropped.add(index)
    if DETAILS in wire and form.get("also"):
        said = "".join(item.get("text") or item.get("summary") or "" for item in turn.details)
    else:
        said = "".join(said for _, said in turn.texts)
    for name in form.get("also", ()):
        wire.setdefault(name, said)
    required = writing.dialect.get("reasoning_replay_required")
    replay = writing.dialect.get("reasoning_replay")
    if required and turn.calls and not writing.own and replay in TEXTS:
        wire.setdefault(replay, "")


# -- tool messages


def _tool_to_wire(message: Message, position: int, writing: Writing, runs: _Runs) -> Wire:
    block = _result(message, position)
    trivial = len(message) == 2 or (len(message) == 3 and "metadata" in message)
    if trivial and len(block) == 3:
        content = block["content"]
        if len(content) == 1 and content[0]["type"] == "text" and len(content[0]) == 2:
            text = content[0]["text"]
            if TOOL_ERROR not in text:
                return {"role": "tool", "tool_call_id": writing.result_id(block), "content": text}
    path: Path = ("messages", position, "content", 0)
    state = writing.owns(message)
    form = state.get("form") or _NOTHING
    if form.get("legacy"):
        wire: Wire = {"role": "function"}
    else:
        wire = {"role": "tool", "tool_call_id": writing.result_id(block)}
    content = _result_content(block, path, writing, runs, as_part=form.get("envelope") == "part")
    written = _spelt(content, form)
    if written is not None:
        wire["content"] = written
    elif not _absent(wire, block["content"], state):
        wire["content"] = ""
        value = [{"type": "text", "text": ""}]
        message_ = "an empty result is written as an empty text"
        writing.loss.replace((*path, "content"), value, "filler", "shape", message_)
    if "name" in form:
        wire["name"] = form["name"]
    if "tool_call_id" in form.get("absent", ()):
        wire.pop("tool_call_id", None)
    if len(block) > 3:
        _finish_result(block, path, writing)
    return wire if trivial else _finish_message(message, wire, state, ("messages", position), writing)


def _finish_result(block: Block, path: Path, writing: Writing) -> None:
    if block.get("cache") is not None:
        message = "the wire marks parts, not results"
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)
    state = block.get("provider_state")
    if state is not None:
        if writing.endpoint.owns(state):
            report_own_state(state, writing.loss, path, fields=True)
        else:
            report_foreign_state(block, writing.endpoint, writing.loss, path)
    report_unknown(block, _RESULT, writing.loss, path)


def _result_content(block: Block, path: Path, writing: Writing, runs: _Runs, *, as_part: bool = False) -> list[Wire]:
    parts: list[Wire] = []
    for index, inner in enumerate(block["content"]):
        if inner["type"] == "text" and len(inner) == 2:
            parts.append({"type": "text", "text": inner["text"]})
            continue
        where = (*path, "content", index)
        moves = inner["type"] in ("image", "audio", "video", "document") and not (
            writing.own or (inner["type"] == "image" and writing.dialect.get("tool_result_media"))
        )
        # a result that has left its place cannot send its media on from there
        moves = moves and path[1] not in writing.moved
        part = part_to_wire(inner, where, writing, USER if moves else TOOL)
        if part is not None and moves and part["type"] != "text":
            part = runs.add(where, inner["type"], part)
        if part is not None:
            parts.append(part)
    if block.get("is_error"):
        _envelop(parts, TOOL_ERROR, as_part=as_part)
        message = "the failure is told in the first line of the result"
        writing.loss.replace((*path, "is_error"), True, "envelope", "shape", message)
    elif parts and parts[0].get("type") == "text" and is_enveloped(parts[0]["text"]):
        _envelop(parts, TOOL_OK)
    return parts


def _envelop(parts: list[Wire], line: str, *, as_part: bool = False) -> None:
    if parts and parts[0].get("type") == "text" and not as_part:
        parts[0] = {**parts[0], "text": f"{line}\n{parts[0]['text']}"}
    else:
        parts.insert(0, {"type": "text", "text": line})


def is_enveloped(text: str) -> bool:
    """Whether a text begins like an envelope, be it one of a failure or one that guards such a beginning."""
    while text.startswith(TOOL_OK + "\n"):
        text = text[len(TOOL_OK) + 1 :]
    return text == TOOL_ERROR or text.startswith(TOOL_ERROR + "\n")


# ---------------------------------------------------------------------------------------------------- from the wire


def messages_from_wire(messages: Any, reading: Reading) -> list[Message]:
    """All messages. Raises `InvalidWire` with the pointer of the message that cannot be read."""
    if not isinstance(messages, list):
        raise InvalidWire("messages must be a list", path="/messages", adapter=_NAME)
    read: list[Message] = []
    try:
        for message in messages:
            read.append(message_from_wire(message, reading))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        raise malformed("the message", "messages", len(read)) from problem
    return read


def message_from_wire(message: Wire, reading: Reading) -> Message:
    """A message, by its role."""
    role = message["role"]
    if role == "assistant":
        return assistant_from_wire(message, reading)
    if role == "tool" or role == "function":
        return _tool_from_wire(message, reading)
    if role not in ("user", "system", "developer"):
        raise ValueError(role)
    content = message.get("content")
    if len(message) == 2 and type(content) is str:
        return {"role": role, "content": [{"type": "text", "text": content}]}
    form: dict[str, Any] = {}
    read: Message = {"role": role, "content": _content_from_wire(message, reading, form)}
    return _finish_reading(message, read, _PLAIN, None, form, reading)


_PLAIN = frozenset(("role", "content", "name"))


def _content_from_wire(
    message: Wire, reading: Reading, form: dict[str, Any], *, assistant: bool = False
) -> list[Block]:
    """The blocks of `content`; what the list does not tell of its spelling goes to the form."""
    content = message.get("content")
    match content:
        case str():
            return [{"type": "text", "text": content}]
        case list():
            blocks = [
                _assistant_part(part, reading) if assistant else part_from_wire(part, reading) for part in content
            ]
            if not blocks:
                form.setdefault("empty", {})["content"] = []
            elif len(blocks) == 1 and blocks[0].keys() == _TEXT:
                form["parts"] = True
            return blocks
        case None:
            if "content" not in message:
                form.setdefault("absent", []).append("content")
            elif not assistant:
                form.setdefault("empty", {})["content"] = None
            return []
        case dict():  # the object that a schema asked for (Cloudflare)
            form["json"] = True
            return [{"type": "text", "text": json.dumps(content).decode()}]
        case _:
            raise TypeError(content)


_TEXT = frozenset(("type", "text"))


def _assistant_part(part: Any, reading: Reading) -> Block:
    if isinstance(part, dict) and part.get("type") == "thinking":
        block = thinking_part_from_wire(part, reading)
        if block is not None:
            return block
    return part_from_wire(part, reading)


def _finish_reading(
    message: Wire,
    read: Message,
    known: frozenset[str],
    fields: dict[str, Any] | None,
    form: dict[str, Any],
    reading: Reading,
) -> Message:
    name = message.get("name")
    if isinstance(name, str) and "name" in known and read["role"] != "tool":
        read["name"] = name
    if not message.keys() <= known or (name is None and "name" in message):
        kept, empty = extras(message, known)
        if kept:
            form = cache_from_wire(kept, read, form) or form
            fields = {**(fields or {}), **kept}
        if "name" in message and not isinstance(name, str):
            empty = {**(empty or {}), "name": name}
        if empty:
            form["empty"] = {**form.get("empty", {}), **empty}
    return reading.mark(read, fields, form)


# -- assistant messages

_ASSISTANT = frozenset(
    ("role", "content", "name", "tool_calls", "function_call", "refusal", "annotations", "audio", "images", *MEMBERS)
)
_SPOKEN = frozenset(MEMBERS)
_SAYING = ("tool_calls", "function_call", "refusal", "audio", "images")


def answer_from_wire(message: Wire, reading: Reading) -> Message:
    """The message of an answer: as in a history, but an empty text is an empty answer, and the role goes without saying."""
    read = assistant_from_wire(message, reading, answer=True)
    role = message.get("role")
    if role != "assistant":
        state = read.setdefault("provider_state", reading.state())
        form = state.setdefault("form", {})
        if "role" in message:
            form["role"] = role
        else:
            form.setdefault("absent", []).append("role")
    return read


def assistant_from_wire(message: Wire, reading: Reading, *, answer: bool = False) -> Message:
    """An assistant's message: reasoning, then content, then calls."""
    content = message.get("content")
    if len(message) == 2 and type(content) is str and (content or not answer):
        return {"role": "assistant", "content": [{"type": "text", "text": content}]}
    if message.keys() <= _PLAIN_TURN and message.get("tool_calls"):
        return _turn_from_wire(message, content, reading)
    form: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    blocks: list[Block] = [] if _SPOKEN.isdisjoint(message) else reasoning_from_wire(message, reading, fields, form)
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    if content == "" and (answer or blocks or any(message.get(name) for name in _SAYING)):
        form.setdefault("empty", {})["content"] = ""
        said: list[Block] = []
    else:
        said = _content_from_wire(message, reading, form, assistant=True)
        blocks += said
    if len(message) > 2:
        _read_members(message, blocks, said, reading, fields, form)
    if calls:
        reading.turn()
        blocks += [call_from_wire(call, reading) for call in calls]
    elif "tool_calls" in message:
        form.setdefault("empty", {})["tool_calls"] = calls
    if "function_call" in message:
        _legacy_from_wire(legacy, blocks, bool(calls), reading, fields, form)
    return _finish_reading(message, {"role": "assistant", "content": blocks}, _ASSISTANT, fields, form, reading)


_PLAIN_TURN = frozenset(("role", "content", "tool_calls"))


def _turn_from_wire(message: Wire, content: Any, reading: Reading) -> Message:
    """The turn that most are: calls, and perhaps a text before them."""
    form: dict[str, Any] | None = None
    blocks: list[Block] = []
    if content is None:
        if "content" not in message:
            form = {"absent": ["content"]}
    elif content == "":
        form = {"empty": {"content": ""}}
    elif type(content) is str:
        blocks.append({"type": "text", "text": content})
    else:
        form = {}
        blocks += _content_from_wire(message, reading, form, assistant=True)
    reading.turn()
    for call in message["tool_calls"]:
        blocks.append(call_from_wire(call, reading))
    return reading.mark({"role": "assistant", "content": blocks}, None, form)


def _read_members(
    message: Wire,
    blocks: list[Block],
    said: list[Block],
    reading: Reading,
    fields: dict[str, Any],
    form: dict[str, Any],
) -> None:
    """The members beside content that hold what was said: annotations, refusal, images, sound."""
    if "annotations" in message:
        _annotations_from_wire(message["annotations"], said, reading, fields, form)
    if "refusal" in message:
        refusal = message["refusal"]
        if isinstance(refusal, str) and refusal:
            blocks.append({"type": "text", "text": refusal, "refusal": True})
        elif not refusal:
            form.setdefault("empty", {})["refusal"] = refusal
        else:
            fields["refusal"] = refusal
    if "images" in message:
        _images_from_wire(message["images"], blocks, reading, fields, form)
    if "audio" in message:
        _audio_from_wire(message["audio"], blocks, reading, fields, form)


def _images_from_wire(
    images: Any, blocks: list[Block], reading: Reading, fields: dict[str, Any], form: dict[str, Any]
) -> None:
    if not images:
        form.setdefault("empty", {})["images"] = images
        return
    read = [part_from_wire(image, reading) for image in images] if isinstance(images, list) else []
    if not read or any(block["type"] != "image" for block in read):
        fields["images"] = images
        return
    for block in read:
        state = block.setdefault("provider_state", reading.state())
        state["form"] = {**state.get("form", {}), "member": "images"}
    blocks += read


def _audio_from_wire(
    audio: Any, blocks: list[Block], reading: Reading, fields: dict[str, Any], form: dict[str, Any]
) -> None:
    if audio is None:
        form.setdefault("empty", {})["audio"] = None
    elif isinstance(audio, dict) and isinstance(audio.get("data"), str) and isinstance(audio.get("id"), str):
        block: Block = {"type": "audio", "source": {"kind": "base64", "data": audio["data"]}}
        if isinstance(audio.get("transcript"), str):
            block["transcript"] = audio["transcript"]
        kept = {k: v for k, v in audio.items() if k not in ("id", "data") and not (k == "transcript" and k in block)}
        block["provider_state"] = reading.state(id=audio["id"])
        if kept:
            block["provider_state"]["fields"] = kept
        blocks.append(block)
    else:
        fields["audio"] = audio


def _legacy_from_wire(
    legacy: Any, blocks: list[Block], calls: bool, reading: Reading, fields: dict[str, Any], form: dict[str, Any]
) -> None:
    """The one call of the time before tools: it has no id, so its name stands for one."""
    if legacy is None:
        form.setdefault("empty", {})["function_call"] = None
        return
    readable = (
        isinstance(legacy, dict)
        and isinstance(legacy.get("name"), str)
        and legacy["name"]
        and isinstance(legacy.get("arguments"), str)
        and len(legacy) == 2
    )
    if calls or not readable:
        fields["function_call"] = legacy
        return
    reading.turn()
    name = legacy["name"]
    blocks.append(legacy_call(legacy, reading.call(f"function:{name}", name), reading))


def legacy_call(legacy: Wire, canonical: str, reading: Reading) -> Block:
    """The block of a `function_call`."""
    block: Block = {"type": "tool_use", "id": canonical, "name": legacy["name"]}
    spelling: dict[str, Any] = {"legacy": True}
    read_arguments(legacy, block, spelling)
    block["provider_state"] = reading.state(form=spelling)
    return block


# -- annotations


def _annotations_to_wire(turn: _Turn, wire: Wire, writing: Writing) -> None:
    index, block = turn.citations or (0, {})
    if len(turn.parts) != 1:
        message = "citations belong to one text on this wire"
        path = (*turn.path, "content", index, "citations")
        writing.loss.drop(path, "unsupported_field", "weakened", message)
        return
    wire["annotations"] = [_annotation_to_wire(citation) for citation in block["citations"]]


def annotations_to_wire(block: Block, writing: Writing) -> list[Wire] | None:
    """The annotations of a text that this provider cited; None when there are none of its own."""
    if not block.get("citations") or not _own_citations(block, writing):
        return None
    return [_annotation_to_wire(citation) for citation in block["citations"]]


def _annotation_to_wire(citation: dict[str, Any]) -> Wire:
    state = citation["provider_state"]
    read = {name: citation[name] for name in _CITED if name in citation}
    inner = {**state.get("fields", {}), **read}
    if state.get("form", {}).get("flat"):
        return {**inner, "type": citation["type"]}
    outer = inner.pop("(beside)", {})
    return {**outer, "type": citation["type"], citation["type"]: inner}


_CITED = ("url", "title", "start_index", "end_index")


def _annotations_from_wire(
    annotations: Any, said: list[Block], reading: Reading, fields: dict[str, Any], form: dict[str, Any]
) -> None:
    if not annotations:
        form.setdefault("empty", {})["annotations"] = annotations
    elif (
        len(said) == 1
        and said[0]["type"] == "text"
        and isinstance(annotations, list)
        and all(isinstance(item, dict) and isinstance(item.get("type"), str) for item in annotations)
    ):
        said[0]["citations"] = [_citation_from_wire(item, reading) for item in annotations]
    else:
        fields["annotations"] = annotations


def _citation_from_wire(item: Wire, reading: Reading) -> dict[str, Any]:
    kind = item["type"]
    inner = item.get(kind)
    source: Wire = inner if isinstance(inner, dict) and kind not in ("type", *_CITED) else item
    nested = source is inner
    citation: dict[str, Any] = {"type": kind}
    fields: dict[str, Any] = {}
    for name, value in source.items():
        if name == "type" and not nested:
            continue
        fits = isinstance(value, str) if name in ("url", "title") else type(value) is int and value >= 0
        (citation if name in _CITED and fits else fields)[name] = value
    if nested and len(item) > 2:
        fields["(beside)"] = {name: value for name, value in item.items() if name not in ("type", kind)}
    citation["provider_state"] = reading.state()
    if fields:
        citation["provider_state"]["fields"] = fields
    if not nested:
        citation["provider_state"]["form"] = {"flat": True}
    return citation


# -- tool messages

_TOOL = frozenset(("role", "content", "tool_call_id"))


def _tool_from_wire(message: Wire, reading: Reading) -> Message:
    content, wire_id = message.get("content"), message.get("tool_call_id")
    if len(message) == 3 and type(content) is str and type(wire_id) is str and TOOL_ERROR not in content:
        canonical, paired = reading.result(wire_id)
        result: Block = {
            "type": "tool_result",
            "tool_use_id": canonical,
            "content": [{"type": "text", "text": content}],
        }
        if not paired:
            result["provider_state"] = reading.state(id=wire_id)
        return {"role": "tool", "content": [result], "metadata": {"parent_tool_use_id": canonical}}
    return _odd_tool_from_wire(message, reading)


def _odd_tool_from_wire(message: Wire, reading: Reading) -> Message:
    form: dict[str, Any] = {}
    known = _TOOL
    legacy = message["role"] == "function"
    wire_id, name = message.get("tool_call_id"), message.get("name")
    if legacy:
        form["legacy"] = True
        canonical, paired = reading.result(f"function:{name}")
    elif isinstance(wire_id, str):
        canonical, paired = reading.result(wire_id)
    else:
        canonical, paired = reading.nameless_result(name if isinstance(name, str) else None), True
        if "tool_call_id" in message:
            form["empty"] = {"tool_call_id": wire_id}
        form["absent"] = ["tool_call_id"]
    if isinstance(name, str) and (legacy or reading.names.get(canonical) == name):
        # the call tells the name already; it is kept for the spelling alone
        form["name"] = name
        known = _NAMED_TOOL
    content = message.get("content")
    if type(content) is str and TOOL_ERROR not in content:
        blocks: list[Block] = [{"type": "text", "text": content}]
        is_error = False
    else:
        blocks = _content_from_wire(message, reading, form)
        is_error = _open_envelope(blocks, form)
    block: Block = {"type": "tool_result", "tool_use_id": canonical, "content": blocks}
    if is_error:
        block["is_error"] = True
    if not paired and not legacy:
        block["provider_state"] = reading.state(id=wire_id)
    read: Message = {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": canonical}}
    return _finish_reading(message, read, known, None, form, reading)


_NAMED_TOOL = _TOOL | {"name"}


def _open_envelope(blocks: list[Block], form: dict[str, Any]) -> bool:
    """Takes the envelope off the first text. Whether it told of a failure."""
    if not blocks or blocks[0]["type"] != "text" or not is_enveloped(blocks[0]["text"]):
        return False
    text = blocks[0]["text"]
    line, _, rest = text.partition("\n")
    if line == TOOL_ERROR and rest == "" and not text.endswith("\n"):
        del blocks[0]
        if blocks and blocks[0]["type"] == "text":
            form["envelope"] = "part"
        return True
    blocks[0] = {**blocks[0], "text": rest}
    return line == TOOL_ERROR
