"""
Assistant messages, in a history and as an answer: reasoning, content, refusal, images, sound, calls.

The blocks are sorted into the members of the wire, which have an order of their own. An answer that is played for a client has
one text and one refusal, and what follows its like is one with it: what a stream of it adds up to.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Wire, report_foreign_state, report_own_state, report_unknown, within
from interlingua.adapters._spelling import ABSENT, EMPTY, LIST, Spelt, lone_text, read_elements
from interlingua.adapters._verbatim import keep_item
from interlingua.adapters.openai_chat.parts import (
    ASSISTANT,
    SAYING,
    Block,
    Kept,
    annotations_from_wire,
    annotations_to_wire,
    answer_content,
    as_content,
    as_said,
    filled,
    finish_message,
    finish_reading,
    is_bare,
    keep_places,
    own_citations,
    part_from_wire,
    part_to_wire,
    report_reading,
)
from interlingua.adapters.openai_chat.reasoning import (
    DETAILS,
    MEMBERS,
    PART,
    TEXTS,
    are_words,
    detail_from_wire,
    detail_text,
    reasoning_from_wire,
    reasoning_to_wire,
)
from interlingua.adapters.openai_chat.tables import FILLER, NAME, Reading, Writing
from interlingua.adapters.openai_chat.tools import CALLS, call_from_wire, call_to_wire, legacy_call
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Loss, Path, pointer

Message = dict[str, Any]

# the members in their order
REASONING: Final = 0
CONTENT: Final = 1
REFUSAL: Final = 2
IMAGES: Final = 3
SOUND: Final = 4
CALLS_LAST: Final = 5


class Turn:
    """The blocks of an assistant message, sorted into the members of the wire."""

    __slots__ = (
        "_first", "_moves", "answer", "calls", "details", "dropped", "images", "legacy", "parts", "parts_at", "path", "refusal",
        "refusals", "sound", "texts", "texts_at", "writing", "citations",
    )  # fmt: skip

    def __init__(self, path: Path, writing: Writing, *, answer: bool = False) -> None:
        self.path = path
        self.writing = writing
        self.answer = answer
        self.texts: list[tuple[str, str]] = []
        self.texts_at: list[int] = []
        self.details: list[Wire] = []
        self.parts: list[Wire] = []
        self.parts_at: list[int] = []
        self.refusal: str | None = None
        self.refusals: list[tuple[int, str]] = []
        self.images: list[Wire] = []
        self.sound: Wire | None = None
        self.calls: list[Wire] = []
        self.legacy = ""  # the call that is told by its name, as of the time before tools
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
            self.writing.loss.move((*content, index), (*content, to), "reordered", "representation", message)


def one_refusal(turn: Turn) -> str | None:
    """The refusals of an answer as one."""
    if not turn.refusals:
        return turn.refusal
    whole = "".join(text for _, text in turn.refusals)
    (kept, _), *others = turn.refusals
    if others:
        message = "an answer has one refusal on this wire"
        path, loss = (*turn.path, "content"), turn.writing.loss
        loss.replace((*path, kept, "text"), whole, "merged_turn", "representation", message)
        for index, _ in others:
            loss.drop((*path, index), "merged_turn", "representation", message)
            turn.dropped.add(index)
    return whole


def is_plain(part: Wire) -> bool:
    """Whether a part is text and nothing else."""
    return len(part) == 2 and part.get("type") == "text"


def one_text(turn: Turn) -> str | None:
    """The texts of an answer as the one that clients of this wire read: what the stream of it adds up to."""
    whole = "".join(part["text"] for part in turn.parts) or None
    kept, *others = turn.parts_at
    message = "an answer has one text on this wire"
    path, loss = (*turn.path, "content"), turn.writing.loss
    if whole is None:
        others = turn.parts_at
    else:
        loss.replace((*path, kept, "text"), whole, "merged_turn", "representation", message)
    for index in others:
        loss.drop((*path, index), "merged_turn", "representation", message)
    turn.dropped.update(others)
    return whole


def joined_parts(turn: Turn, content: list[Block]) -> list[Wire]:
    """The parts of an answer as a stream of it adds up to: what follows its like is one with it, and an empty text none."""
    joined: list[Wire] = []
    kept, path, loss = -1, (*turn.path, "content"), turn.writing.loss
    for part, index in zip(turn.parts, turn.parts_at, strict=True):
        if is_plain(part) and not part["text"]:
            loss.drop((*path, index), "empty_content", "representation", "an empty text says nothing beside the rest")
            turn.dropped.add(index)
        elif joined and _goes_on(joined[-1], part, content[kept + 1 : index]):
            joined[-1] = _longer(joined[-1], part)
            message = "what follows its like is one with it on this wire"
            loss.replace((*path, kept, "text"), _words(joined[-1]), "merged_turn", "representation", message)
            loss.drop((*path, index), "merged_turn", "representation", message)
            turn.dropped.add(index)
        else:
            joined.append(part)
            kept = index
    return joined


def _goes_on(before: Wire, part: Wire, between: list[Block]) -> bool:
    """Whether a part of an answer goes on with the one before it; reasoning ends where anything else is told."""
    if is_plain(part):
        return is_plain(before)
    ended = any(block["type"] == "tool_use" or (block.get("refusal") and block["text"]) for block in between)
    return not ended and _is_worded(before) and _is_worded(part)


def _longer(before: Wire, part: Wire) -> Wire:
    text = _words(before) + _words(part)
    return {**before, "text": text} if is_plain(part) else {**before, "thinking": [{"type": "text", "text": text}]}


def _words(part: Wire) -> str:
    """The words of a part of text or of reasoning."""
    return part["text"] if is_plain(part) else "".join(piece["text"] for piece in part["thinking"])


def _is_worded(part: Wire) -> bool:
    """Whether a part is reasoning in words and nothing else."""
    return len(part) == 2 and part.get("type") == "thinking" and are_words(part.get("thinking"))


# ---------------------------------------------------------------------------------------------- to the wire


def assistant_to_wire(message: Message, position: int, writing: Writing) -> Wire:
    """An assistant's message of the history, which stands at `position` in the request."""
    path: Path = ("messages", position)
    plain = _plain_turn(message, path, writing)
    return _sorted(Turn(path, writing), message) if plain is None else plain


def answer_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    """The message of an answer, at its place in the response."""
    plain = None if writing.same_origin else _plain_turn(message, path, writing)
    wire = _sorted(Turn(path, writing, answer=True), message) if plain is None else plain
    if not writing.same_origin:
        wire.setdefault("refusal", None)
    return wire


def _sorted(turn: Turn, message: Message) -> Wire:
    """A turn whose blocks are sorted into the members of the wire."""
    content, path, writing = message["content"], turn.path, turn.writing
    for index, block in enumerate(content):
        _place(block, index, content, turn)
    state = writing.owned(message)
    wire = _turn_to_wire(turn, content, state, path, writing)
    if turn.texts or DETAILS in wire or (writing.dialect.get("reasoning_replay_required") and not turn.answer):
        _reasoning_members(turn, wire, writing.encoding_of(message), path, writing)
    turn.report_moves()
    return wire if len(message) == 2 else finish_message(message, wire, state, path, writing)


def _plain_turn(message: Message, path: Path, writing: Writing) -> Wire | None:
    """The turn that most are: a text, calls, or a text before calls. None for any other."""
    content: list[Block] = message["content"]
    if len(message) > 2 and not is_bare(message):
        return None
    wire: Wire = {"role": "assistant", "content": None}
    begin = 0  # of the calls
    first = content[0] if content else None
    if first is not None and first["type"] == "text":
        if len(first) > 2 or not first["text"]:
            return None
        wire["content"] = first["text"]
        if len(content) == 1:
            return wire
        begin = 1
    if begin == len(content) or writing.dialect.get("reasoning_replay_required"):
        return None
    for index in range(begin, len(content)):
        block = content[index]
        if block["type"] != "tool_use" or writing.is_legacy(block):
            return None
    wire["tool_calls"] = [call_to_wire(content[index], index, path, writing) for index in range(begin, len(content))]
    return wire


def keep_message(message: Message, raw: Wire, endpoint: Endpoint) -> None:
    """Keeps of the message of an answer what a request that holds it says otherwise."""
    loss = Loss()
    writing = Writing({"messages": [message], "provider_state": endpoint.state()}, endpoint, loss)
    written = assistant_to_wire(message, 0, writing)
    keep_item(message, raw, written, endpoint, loss.entries, by_role=True)


def _place(block: Block, index: int, content: list[Block], turn: Turn) -> None:
    writing, path = turn.writing, (*turn.path, "content", index)
    match block["type"]:
        case "tool_use":
            turn.stands(CALLS_LAST, index)
            turn.calls.append(call_to_wire(block, index, turn.path, writing))
            if writing.is_legacy(block):
                turn.legacy = block["id"]
            return
        case "text" if block.get("refusal") and writing.dialect.get("refusals") is False:
            message = "the wire does not mark refusals"
            writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", message)
            _place({**block, "refusal": False}, index, content, turn)
            return
        case "text" if block.get("refusal") and turn.answer and not writing.same_origin:
            _place_refusal(block, index, turn)
            return
        case "text" if block.get("refusal") and _is_member(block, index, content, turn):
            turn.stands(REFUSAL, index)
            turn.refusal = block["text"]
            _finish_refusal(block, path, writing)
            return
        case "text":
            part = part_to_wire(block, path, writing, ASSISTANT)
            if block.get("citations"):
                _note_citations(block, index, turn)
        case "thinking" | "redacted_thinking":
            place, written = reasoning_to_wire(block, path, writing)
            if place != PART:
                turn.stands(REASONING, index)
                if place == DETAILS:
                    turn.details.append(written)
                else:
                    turn.texts.append((place, written))
                    turn.texts_at.append(index)
                return
            part = written
        case "opaque" if writing.endpoint.owns(block) and block.get("kind") in (CALLS, DETAILS):
            kind = block["kind"]
            turn.stands(CALLS_LAST if kind == CALLS else REASONING, index)
            (turn.calls if kind == CALLS else turn.details).append(block["value"])
            read = call_from_wire if kind == CALLS else detail_from_wire
            report_reading(block, read(block["value"], Reading(writing.endpoint, DERIVED_IDS)), path, writing)
            return
        case "image" if writing.encoding_of(block).get("member") == "images":
            part = part_to_wire(block, path, writing, ASSISTANT)
            if part is not None and part["type"] == "image_url":
                turn.stands(IMAGES, index)
                turn.images.append(part)
                return
        case "audio" if (sound := _sound(block, path, turn)) is not None:
            turn.stands(SOUND, index)
            turn.sound = sound
            return
        case "tool_result":
            raise InvalidRequest(
                "a tool_result stands in a tool message",
                path=pointer(path),
                adapter=NAME,
            )
        case _:
            part = part_to_wire(block, path, writing, ASSISTANT)
    if part is not None:
        turn.stands(CONTENT, index)
        turn.parts.append(part)
        turn.parts_at.append(index)


def _place_refusal(block: Block, index: int, turn: Turn) -> None:
    """The clients of an answer read one refusal, behind its text: what a stream of it adds up to."""
    path = (*turn.path, "content", index)
    if not block["text"]:
        turn.writing.loss.drop(path, "empty_content", "representation", "a refusal without words is none on this wire")
        turn.dropped.add(index)
        return
    turn.stands(REFUSAL, index)
    turn.refusals.append((index, block["text"]))
    if block.get("cache") is not None:
        message = "a refusal carries no cache mark"
        turn.writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)
    _finish_refusal(block, path, turn.writing)


def _is_member(block: Block, index: int, content: list[Block], turn: Turn) -> bool:
    """Whether a refusal goes to the member of that name: it does when it is alone and comes after the text."""
    state = turn.writing.owned(block)
    if turn.refusal is not None or block.get("cache") is not None or state.get("fields") or not block["text"]:
        return False
    return turn.writing.encoding_of(block).get("part") != "refusal" and not any(
        later["type"] == "text" for later in content[index + 1 :]
    )


def _finish_refusal(block: Block, path: Path, writing: Writing) -> None:
    if block.get("citations"):
        message = "a refusal has no citations"
        writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
    if state := writing.owned(block):
        report_own_state(state, writing.loss, path, fields=True)
    else:
        report_foreign_state(block, writing.endpoint, writing.loss, path)
    report_unknown(block, _REFUSED, writing.loss, path)


_REFUSED: Final = frozenset(("type", "text", "refusal", "citations", "cache", "critical", "provider_state"))


def _note_citations(block: Block, index: int, turn: Turn) -> None:
    if turn.citations is not None or not own_citations(block, turn.writing):
        message = "citations are not replayed on this wire"
        path = (*turn.path, "content", index, "citations")
        turn.writing.loss.drop(path, "unsupported_field", "weakened", message)
    else:
        turn.citations = (index, block)


def _sound(block: Block, path: Path, turn: Turn) -> Wire | None:
    """The `audio` member for a sound that this provider spoke: in an answer the sound, in a history its id."""
    state = turn.writing.owned(block)
    source = block["source"]
    if "id" not in state or turn.sound is not None or source["kind"] != "base64":
        return None
    if turn.answer:
        read: Block = {name: block[name] for name in ("type", "transcript", "provider_state") if name in block}
        read["source"] = {"kind": "base64", "data": source["data"]}
        report_reading(block, read, path, turn.writing)
        return audio_to_wire(block, state)
    loss = turn.writing.loss
    loss.drop(path, "unsupported_source", "representation", "the provider has the sound under its id")
    where = (*turn.path, "provider_state", "fields", "audio")
    loss.replace(
        where, {"id": state["id"]}, "unsupported_source", "representation", "the provider has the sound under its id"
    )
    return {"id": state["id"]}


def audio_to_wire(block: Block, state: Mapping[str, Any]) -> Wire:
    """The `audio` member of an answer."""
    audio: Wire = {**state.get("fields", NOTHING), "id": state["id"], "data": block["source"]["data"]}
    if "transcript" in block:
        audio["transcript"] = block["transcript"]
    return audio


def _turn_to_wire(turn: Turn, content: list[Block], state: Mapping[str, Any], path: Path, writing: Writing) -> Wire:
    wire: Wire = {"role": "assistant"}
    turn.refusal = one_refusal(turn)
    written = as_content(turn.parts)
    others = bool(turn.calls or turn.refusal or turn.sound or turn.images or turn.texts or turn.details)
    spoken = not _SPOKEN_FIELDS.isdisjoint(state.get("fields") or ())  # an empty text beside them says nothing either
    if written == "" and (others or turn.answer):
        _drop_empty(turn, content)
        written = None
    if written:
        wire["content"] = written
    elif written is not None:
        wire["content"] = _filled_text(turn, content, path, writing)
    elif not (others or spoken or turn.answer):
        wire["content"] = filled(path, writing)
    elif turn.answer or not others or turn.calls or turn.refusal or turn.sound or turn.images:
        wire["content"] = None
    else:
        wire["content"] = ""
    if turn.citations is not None:
        _annotations_to_wire(turn, wire, writing)
    if turn.answer and not writing.same_origin and len(turn.parts) > 1:
        wire["content"] = one_text(turn) if all(map(is_plain, turn.parts)) else joined_parts(turn, content)
    for name, value in (("refusal", turn.refusal), (DETAILS, turn.details), ("images", turn.images),
                        ("audio", turn.sound), ("tool_calls", turn.calls)):  # fmt: skip
        if value:
            wire[name] = value
    if turn.legacy and len(turn.calls) == 1 and turn.calls[0]["type"] == "function":
        wire["function_call"] = wire.pop("tool_calls")[0]["function"]
        writing.legacy[turn.legacy] = wire["function_call"]["name"]
    return wire


def _empty_text(turn: Turn, content: list[Block]) -> int | None:
    empty = (n for n, block in enumerate(content) if block["type"] == "text" and not block["text"])
    return next((n for n in empty if n not in turn.dropped), None)


def _drop_empty(turn: Turn, content: list[Block]) -> None:
    index = _empty_text(turn, content)
    if index is not None:
        message = "an empty text says nothing beside the rest"
        turn.writing.loss.drop((*turn.path, "content", index), "empty_content", "representation", message)
        turn.dropped.add(index)
        turn.citations = None


def _filled_text(turn: Turn, content: list[Block], path: Path, writing: Writing) -> str:
    index = _empty_text(turn, content) or 0
    where = (*path, "content", index, "text")
    writing.loss.replace(where, FILLER, "filler", "representation", "the wire takes no empty message")
    return FILLER


def _reasoning_members(turn: Turn, wire: Wire, encoding: Mapping[str, Any], path: Path, writing: Writing) -> None:
    if turn.texts and any(map(detail_text, turn.details)):
        for index in turn.texts_at:
            message = "reasoning that is told in detail has no other text beside it"
            writing.loss.drop((*path, "content", index), "combination", "lost", message)
        turn.dropped.update(turn.texts_at)
        turn.texts = []
    if turn.texts:
        member = turn.texts[0][0]
        text = wire[member] = "".join(said for _, said in turn.texts)
        if len(turn.texts) > 1:
            first, *others = turn.texts_at
            content = (*path, "content")
            message = "reasoning before one answer is one text on this wire"
            writing.loss.replace((*content, first, "text"), text, "merged_turn", "representation", message)
            for index in others:
                writing.loss.drop((*content, index), "merged_turn", "representation", message)
                turn.dropped.add(index)
    said = "".join(map(detail_text, turn.details)) or "".join(said for _, said in turn.texts)
    for name in encoding.get("also", ()):
        wire.setdefault(name, said)
    required = writing.dialect.get("reasoning_replay_required")
    replay = writing.dialect.get("reasoning_replay")
    if required and turn.calls and replay in TEXTS:
        wire.setdefault(replay, "")


def _annotations_to_wire(turn: Turn, wire: Wire, writing: Writing) -> None:
    index, block = turn.citations or (0, {})
    if len(turn.parts) != 1:
        message = "citations belong to one text on this wire"
        path = (*turn.path, "content", index, "citations")
        writing.loss.drop(path, "unsupported_field", "weakened", message)
        return
    wire["annotations"] = annotations_to_wire(block, writing)


_ASSISTANT: Final = frozenset(
    ("role", "content", "name", "tool_calls", "function_call", "refusal", "annotations", "audio", "images", *MEMBERS)
)


_SPOKEN: Final = frozenset(MEMBERS)
_SPOKEN_FIELDS: Final = frozenset((*SAYING, *MEMBERS))


def answer_from_wire(message: Wire, reading: Reading) -> Message:
    """The message of an answer: as in a history, but an empty text is an empty answer, and the role goes without saying."""
    if message.get("role") != "assistant":
        reading.unusual = True
    return assistant_from_wire(message, reading, answer=True)


def assistant_from_wire(message: Wire, reading: Reading, *, answer: bool = False) -> Message:
    """An assistant's message: reasoning, then content, then calls."""
    content = message.get("content")
    if len(message) == 2 and "role" in message and type(content) is str and content:
        return {"role": "assistant", "content": [{"type": "text", "text": content}]}
    calls = message.get("tool_calls")
    spelt: Spelt = {}
    word = _form_of(content, message, reading)
    required = bool(reading.endpoint.dialect.get("reasoning_replay_required"))
    if calls and required:
        reading.unusual = True
    if calls and within(message, _PLAIN_TURN):
        blocks = answer_content(message, reading) if content else []
        reading.turn()
        blocks += read_elements(call_from_wire, calls, reading, CALLS, "index", spelt)
        return keep_places({"role": "assistant", "content": blocks}, spelt, word, reading)
    kept = Kept(spelt)
    blocks = [] if _SPOKEN.isdisjoint(message) else reasoning_from_wire(message, reading, kept)
    said: list[Block] = []
    if content != "" or not (answer or blocks or any(message.get(name) for name in SAYING)):
        said = answer_content(message, reading)
        blocks += said
    _read_members(message, blocks, said, reading, kept)
    if calls:
        reading.turn()
        blocks += read_elements(call_from_wire, calls, reading, CALLS, "index", spelt)
    elif "tool_calls" in message:
        kept.silent(calls, "tool_calls")
    if "function_call" in message:
        _legacy_from_wire(message["function_call"], blocks, bool(calls), reading, kept)
    return finish_reading(message, {"role": "assistant", "content": blocks}, _ASSISTANT, kept, reading, word)


_PLAIN_TURN: Final = frozenset(("role", "content", "tool_calls"))


def _form_of(content: Any, message: Wire, reading: Reading) -> str | None:
    """The word for the form of a content that is not written as it came; what is neither usual nor has a word is unusual."""
    if type(content) is str and content:
        return None
    if lone_text(content):
        return LIST
    if content is None or content == "":
        if message.get("tool_calls"):
            return EMPTY if content == "" else None if "content" in message else ABSENT
        usual = content is None and "content" in message and bool(message.get("refusal"))
    else:
        usual = type(content) is list and bool(content) and lone_text(content) is None
    reading.unusual = reading.unusual or not usual
    return None


def _read_members(message: Wire, blocks: list[Block], said: list[Block], reading: Reading, kept: Kept) -> None:
    """The members beside content that hold what was said: annotations, refusal, images, sound."""
    if "annotations" in message:
        annotations_from_wire(message["annotations"], said, reading, kept)
    if "refusal" in message:
        refusal = message["refusal"]
        if isinstance(refusal, str) and refusal:
            blocks.append({"type": "text", "text": refusal, "refusal": True})
            reading.unusual = reading.unusual or reading.endpoint.dialect.get("refusals") is False
        elif refusal:
            kept.fields["refusal"] = refusal
        else:
            kept.silent(refusal, "refusal")
    if "images" in message:
        _images_from_wire(message["images"], blocks, reading, kept)
    if "audio" in message:
        _audio_from_wire(message["audio"], blocks, reading, kept)


def _images_from_wire(images: Any, blocks: list[Block], reading: Reading, kept: Kept) -> None:
    if not images:
        kept.silent(images, "images")
        return
    read = [part_from_wire(image, reading) for image in images] if isinstance(images, list) else []
    if not read or any(block["type"] != "image" for block in read):
        kept.fields["images"] = images
        return
    blocks += [as_said(block, "images", reading) for block in read]


def _audio_from_wire(audio: Any, blocks: list[Block], reading: Reading, kept: Kept) -> None:
    if audio is None:
        kept.silent(None, "audio")
    elif isinstance(audio, dict) and isinstance(audio.get("data"), str) and isinstance(audio.get("id"), str):
        block: Block = {"type": "audio", "source": {"kind": "base64", "data": audio["data"]}}
        if isinstance(audio.get("transcript"), str):
            block["transcript"] = audio["transcript"]
        fields = {k: v for k, v in audio.items() if k not in ("id", "data") and not (k == "transcript" and k in block)}
        block["provider_state"] = reading.state(id=audio["id"])
        if fields:
            block["provider_state"]["fields"] = fields
        blocks.append(block)
        reading.unusual = True  # a history names a sound by its id
    else:
        kept.fields["audio"] = audio


def _legacy_from_wire(legacy: Any, blocks: list[Block], calls: bool, reading: Reading, kept: Kept) -> None:
    """The one call of the time before tools: it has no id, so its name stands for one."""
    if legacy is None:
        kept.silent(None, "function_call")
        return
    readable = (
        isinstance(legacy, dict)
        and isinstance(legacy.get("name"), str)
        and legacy["name"]
        and isinstance(legacy.get("arguments"), str)
    )
    if calls or not readable:
        kept.fields["function_call"] = legacy
        return
    reading.turn()
    name = legacy["name"]
    blocks.append(legacy_call(legacy, reading.call(f"function:{name}", name), reading))
