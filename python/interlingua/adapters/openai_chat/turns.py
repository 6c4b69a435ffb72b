"""
Assistant messages, in a history and as an answer: reasoning, content, refusal, images, audio, calls.

The blocks are sorted into the members of the wire, which have a fixed order. An answer of another origin that is
written for a client has one text and one refusal. Adjacent blocks of the same kind are joined, as the pieces of a
stream would be.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._content.citations import has_native_citations
from interlingua.adapters._engine.items import report_not_written
from interlingua.adapters._engine.kit import BLOCK_MEMBERS, NOTHING, Wire, report_unknown, within
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import LIST, Spellings, imprint, lone_text, read_elements
from interlingua.adapters._engine.verbatim import keep_item
from interlingua.adapters._engine.writing import FILLER
from interlingua.adapters._history.messages import (
    OF_TEXT,
    Members,
    as_one,
    first_call,
    misplaced,
    native_item,
    report_empty,
    report_order,
    report_rest,
)
from interlingua.adapters.openai_chat.parts import (
    ASSISTANT,
    CONTENT_MEMBERS,
    Block,
    Kept,
    annotations_from_wire,
    annotations_to_wire,
    answer_content,
    as_content,
    finish_message,
    finish_reading,
    is_bare,
    keep_member,
    keep_places,
    part_from_wire,
    part_to_wire,
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
from interlingua.adapters.openai_chat.tables import Writing
from interlingua.adapters.openai_chat.tools import CALLS, call_from_wire, call_to_wire, legacy_call
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

Message = dict[str, Any]

_Placed = list[tuple[int, Any]]
_TEXTS: Final = "reasoning"
"""Reasoning as plain text, each text with the name of the member that holds it."""


class _Turn:
    """The blocks of an assistant message, sorted into the members of the wire. `played`: an answer of another origin
    that is written for a client. `legacy` is the id of the call that is written by its name, as `function_call`.
    `index` is the position of the block that is being sorted."""

    __slots__ = ("citations", "content", "index", "legacy", "members", "path", "played", "writing")

    def __init__(self, message: Message, path: Path, writing: Writing) -> None:
        self.content: list[Block] = message["content"]
        self.index = 0
        self.path = path
        self.writing = writing
        self.played = writing.answering and not writing.same_origin
        self.members: Members = {name: [] for name in _ORDER}
        self.legacy = ""
        self.citations: tuple[int, Block] | None = None

    def add(self, member: str, value: Any) -> None:
        """Put what is written of the block into a member."""
        self.members[member].append((self.index, value))


_ORDER: Final = (_TEXTS, DETAILS, "content", "refusal", "images", "audio", CALLS)


# ---------------------------------------------------------------------------------------------- to the wire


def assistant_to_wire(message: Message, position: int, writing: Writing) -> Wire:
    """Write an assistant message of the history, which is at `position` in the request."""
    path: Path = ("messages", position)
    plain = _plain_turn(message, path, writing)
    return _sorted(_Turn(message, path, writing), message) if plain is None else plain


def answer_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    """Write the message of an answer, at its place in the response."""
    plain = None if writing.same_origin else _plain_turn(message, path, writing)
    wire = _sorted(_Turn(message, path, writing), message) if plain is None else plain
    if not writing.same_origin:
        wire.setdefault("refusal", None)
    return wire


def _sorted(turn: _Turn, message: Message) -> Wire:
    """Write a turn by sorting its blocks into the members of the wire."""
    path, writing = turn.path, turn.writing
    for index, block in enumerate(turn.content):
        turn.index = index
        part = writing.or_placeholder(_sort, block, turn, (*path, "content", index))
        if part is not None:
            turn.add("content", part)
    wire = _turn_to_wire(turn, writing.state_of(message))
    if (
        turn.members[_TEXTS]
        or turn.members[DETAILS]
        or (writing.dialect.get("reasoning_replay_required") and not turn.writing.answering)
    ):
        _reasoning_members(turn, wire, writing.encoding_of(message))
    report_order(turn.members, (*path, "content"), writing)
    return wire if len(message) == 2 else finish_message(message, wire, path, writing)


def _plain_turn(message: Message, path: Path, writing: Writing) -> Wire | None:
    """Write a turn of a text and calls, the most frequent kind; None for any other turn."""
    content: list[Block] = message["content"]
    begin = first_call(content) if len(message) == 2 or is_bare(message) else -1
    if begin < 0:
        return None
    wire: Wire = {"role": "assistant", "content": content[0]["text"] if begin else None}
    if begin == len(content):
        return wire
    if writing.dialect.get("reasoning_replay_required"):
        return None
    for index in range(begin, len(content)):
        if writing.is_legacy(content[index]):
            return None
    wire[CALLS] = [
        call_to_wire(content[index], (*path, "content", index), writing) for index in range(begin, len(content))
    ]
    return wire


def keep_message(message: Message, raw: Wire, endpoint: Endpoint) -> None:
    """Keep how an answer's message differs from the same message written in a request."""
    writing = Writing({"messages": [message], "provider_state": endpoint.state()}, endpoint, Loss())
    written = assistant_to_wire(message, 0, writing)
    keep_item(message, raw, written, endpoint, writing.loss.entries)


def _sort(block: Block, turn: _Turn, writing: Writing, path: Path) -> Wire | None:
    """Put a block into its member of the message; return the part if it is one of the content. Raises `Refused` for a
    block without a place."""
    kind: str = block["type"]
    match kind:
        case "tool_use":
            turn.add(CALLS, call_to_wire(block, path, writing))
            if writing.is_legacy(block):
                turn.legacy = block["id"]
            return None
        case "text" if block.get("refusal") and writing.dialect.get("refusals") is False:
            message = "the wire does not mark refusals"
            writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", message)
            return _sort({**block, "refusal": False}, turn, writing, path)
        case "text" if block.get("refusal") and (turn.played or _is_member(block, turn)):
            if block["text"]:
                turn.add("refusal", block["text"])
                report_rest(block, _OF_REFUSAL, writing, path)
            else:
                report_empty(turn.index, path[:-1], writing)
            return None
        case "text":
            part = part_to_wire(block, ASSISTANT, writing, path)
            if block.get("citations"):
                _note_citations(block, turn)
            return part
        case "thinking" | "redacted_thinking":
            place, value = reasoning_to_wire(block, path, writing)
            if place == PART:
                found: Wire | None = value
                return found
            if place == DETAILS:
                turn.add(DETAILS, value)
            else:
                turn.add(_TEXTS, (place, value))
            return None
        case "opaque" if writing.endpoint.owns(block) and block.get("kind") in _KEPT_WHOLE:
            kind = block["kind"]
            turn.add(kind, native_item(block, kind, _KEPT_WHOLE[kind], writing, path))
            return None
        case "image" if writing.encoding_of(block).get("member") == "images":
            turn.add("images", part_to_wire(block, ASSISTANT, writing, path))
            return None
        case "audio" if (sound := _sound(block, path, turn)) is not None:
            turn.add("audio", sound)
            return None
        case "tool_result":
            raise misplaced(block, path, writing)
        case _:
            return part_to_wire(block, ASSISTANT, writing, path)


_KEPT_WHOLE: Final[Mapping[Any, Callable[[Wire, Reading], Block]]] = {CALLS: call_from_wire, DETAILS: detail_from_wire}
"""Members with items that may be kept whole, and the function that reads an item."""


def _is_member(block: Block, turn: _Turn) -> bool:
    """Whether a refusal is written to the member `refusal`: it must be the only one and come after the text."""
    state = turn.writing.state_of(block)
    if turn.members["refusal"] or block.get("cache") is not None or state.get("fields") or not block["text"]:
        return False
    return turn.writing.encoding_of(block).get("part") != "refusal" and not any(
        later["type"] == "text" for later in turn.content[turn.index + 1 :]
    )


_OF_REFUSAL: Final = OF_TEXT | {"refusal"}


def _note_citations(block: Block, turn: _Turn) -> None:
    if turn.citations is not None or not has_native_citations(block, turn.writing):
        _drop_citations(turn.index, turn)
    else:
        turn.citations = (turn.index, block)


def _drop_citations(index: int, turn: _Turn) -> None:
    message = "the wire supports citations of only one text, and only those of its own provider"
    path = (*turn.path, "content", index, "citations")
    turn.writing.loss.drop(path, "unsupported_field", "weakened", message)


def _sound(block: Block, path: Path, turn: _Turn) -> Wire | None:
    """Return the `audio` member for audio that this provider produced: in an answer the audio, in a history its id."""
    state = turn.writing.state_of(block)
    source = block["source"]
    if "id" not in state or turn.members["audio"] or source["kind"] != "base64":
        return None
    if turn.writing.answering:
        report_unknown(source, _OF_SOURCE, turn.writing.loss, (*path, "source"))
        report_not_written(block, _OF_SOUND, turn.writing.loss, path)
        return audio_to_wire(block, state)
    loss = turn.writing.loss
    loss.drop(path, "unsupported_source", "representation", "the provider stores the audio under its id")
    where = (*turn.path, "provider_state", "fields", "audio")
    loss.replace(
        where, {"id": state["id"]}, "unsupported_source", "representation", "the provider stores the audio under its id"
    )
    return {"id": state["id"]}


_OF_SOURCE: Final = frozenset(("kind", "data"))
_OF_SOUND: Final = BLOCK_MEMBERS | {"source", "transcript"}


def audio_to_wire(block: Block, state: dict[str, Any]) -> Wire:
    """Return the `audio` member of an answer."""
    audio: Wire = {**state.get("fields", NOTHING), "id": state["id"], "data": block["source"]["data"]}
    if "transcript" in block:
        audio["transcript"] = block["transcript"]
    return audio


def _turn_to_wire(turn: _Turn, state: dict[str, Any]) -> Wire:
    """Write a message whose blocks are sorted into its members; `state` is its provider state, if that may be replayed
    here."""
    writing, path, members = turn.writing, (*turn.path, "content"), turn.members
    refusal = "".join([text for _, text in members["refusal"]])
    members["refusal"] = as_one(members["refusal"], refusal, path, writing)
    written = _content_of(turn, state, path)
    wire: Wire = {"role": "assistant", "content": written}
    if turn.citations is not None:
        index, block = turn.citations
        if len(members["content"]) == 1:
            wire["annotations"] = annotations_to_wire(block, writing)
        else:
            _drop_citations(index, turn)
    if turn.played and len(members["content"]) > 1:
        wire["content"] = _played_content(turn, path)
    if refusal:
        wire["refusal"] = refusal
    for name in (DETAILS, "images", "audio", CALLS):
        if placed := members[name]:
            wire[name] = placed[0][1] if name == "audio" else [value for _, value in placed]
    if turn.legacy and len(members[CALLS]) == 1 and members[CALLS][0][1]["type"] == "function":
        wire["function_call"] = wire.pop(CALLS)[0]["function"]
        writing.legacy[turn.legacy] = wire["function_call"]["name"]
    return wire


def _content_of(turn: _Turn, state: dict[str, Any], path: Path) -> Any:
    """The member `content` of a message. A history has no empty message: the content of one is filled."""
    writing, members = turn.writing, turn.members
    written = as_content([part for _, part in members["content"]])
    has_members = bool(members[CALLS] or members["refusal"] or members["audio"] or members["images"])
    others = bool(has_members or members[_TEXTS] or members[DETAILS])
    if written == "":
        index: int = members["content"][0][0]
        if not (others or writing.answering):
            where = (*path, index, "text")
            writing.loss.replace(where, FILLER, "filler", "representation", "the wire does not accept an empty message")
            return FILLER
        report_empty(index, path, writing)
        members["content"], turn.citations, written = [], None, None
    if written is not None or has_members or writing.answering:
        return written
    if others:
        return ""
    if _MEANINGFUL_FIELDS.isdisjoint(state.get("fields") or ()):
        return writing.fill(path)
    return None  # an empty text next to such fields adds nothing


def _played_content(turn: _Turn, path: Path) -> str | list[Wire] | None:
    """Write the content of an answer in the form to which its stream adds up: adjacent parts of the same kind are
    joined, and an empty text is left out. If all parts are plain texts, they become one string, which is the only form
    that clients of this wire read."""
    members, writing = turn.members, turn.writing
    parts = members["content"]
    if all(_is_plain(part) for _, part in parts):
        whole = "".join([part["text"] for _, part in parts])
        if whole:
            members["content"] = as_one(parts, whole, path, writing)
            return whole
        for index, _ in parts:
            writing.loss.drop((*path, index), "merged_turn", "representation", "empty texts are left out")
        members["content"] = []
        return None
    runs: list[_Placed] = []
    for index, part in parts:
        if _is_plain(part) and not part["text"]:
            report_empty(index, path, writing)
        elif runs and _goes_on(runs[-1][-1], index, part, turn.content):
            runs[-1].append((index, part))
        else:
            runs.append([(index, part)])
    members["content"] = [_one_part(run, path, writing) for run in runs]
    return [part for _, part in members["content"]]


def _goes_on(before: tuple[int, Wire], index: int, part: Wire, content: list[Block]) -> bool:
    """Whether a part of an answer continues the one before it. Reasoning ends where another block comes between."""
    if _is_plain(part):
        return _is_plain(before[1])
    between = content[before[0] + 1 : index]
    ended = any(block["type"] == "tool_use" or (block.get("refusal") and block["text"]) for block in between)
    return not ended and _has_text(before[1]) and _has_text(part)


def _one_part(run: _Placed, path: Path, writing: Writing) -> tuple[int, Wire]:
    """Join parts of text, or of plain-text reasoning, into one."""
    first, part = run[0]
    if len(run) == 1:
        return first, part
    if _is_plain(part):
        text = "".join([one["text"] for _, one in run])
        part = {**part, "text": text}
    else:
        text = "".join([piece["text"] for _, one in run for piece in one["thinking"]])
        part = {**part, "thinking": [{"type": "text", "text": text}]}
    as_one(run, text, path, writing)
    return first, part


def _is_plain(part: Wire) -> bool:
    """Whether a part is text and nothing else."""
    return len(part) == 2 and part.get("type") == "text"


def _has_text(part: Wire) -> bool:
    """Whether a part is plain-text reasoning and nothing else."""
    return len(part) == 2 and part.get("type") == "thinking" and are_words(part.get("thinking"))


def _reasoning_members(turn: _Turn, wire: Wire, encoding: dict[str, Any]) -> None:
    writing, path, texts = turn.writing, (*turn.path, "content"), turn.members[_TEXTS]
    words = "".join([detail_text(item) for _, item in turn.members[DETAILS]])
    if words:
        for index, _ in texts:
            message = "reasoning details have no other reasoning text next to them"
            writing.loss.drop((*path, index), "combination", "lost", message)
        turn.members[_TEXTS] = []
    elif texts:
        words = wire[texts[0][1][0]] = "".join([text for _, (_, text) in texts])
        turn.members[_TEXTS] = as_one(texts, words, path, writing)
    for name in encoding.get("also", ()):
        wire.setdefault(name, words)
    replay = writing.dialect.get("reasoning_replay")
    if writing.dialect.get("reasoning_replay_required") and turn.members[CALLS] and replay in TEXTS:
        wire.setdefault(replay, "")


_ASSISTANT: Final = frozenset(
    ("role", "content", "name", "tool_calls", "function_call", "refusal", "annotations", "audio", "images", *MEMBERS)
)


_REASONING: Final = frozenset(MEMBERS)
_MEANINGFUL_FIELDS: Final = frozenset((*CONTENT_MEMBERS, *MEMBERS))


def answer_from_wire(message: Wire, reading: Reading) -> Message:
    """Read the message of an answer as in a history, but an empty text is an empty answer, and the role may be
    absent."""
    if message.get("role") != "assistant":
        reading.must_compare = True
    return assistant_from_wire(message, reading, answer=True)


def assistant_from_wire(message: Wire, reading: Reading, *, answer: bool = False) -> Message:
    """Read an assistant message: reasoning, then content, then calls."""
    content = message.get("content")
    if len(message) == 2 and "role" in message and type(content) is str and content:
        return {"role": "assistant", "content": [{"type": "text", "text": content}]}
    calls = message.get("tool_calls")
    spellings: Spellings = {}
    form = _form_of(content, message, reading)
    if calls and reading.endpoint.dialect.get("reasoning_replay_required"):
        reading.must_compare = True
    if calls and within(message, _PLAIN_TURN):
        blocks = answer_content(message, reading) if content else []
        reading.turn()
        blocks += read_elements(call_from_wire, calls, reading, CALLS, "index", spellings)
        return keep_places({"role": "assistant", "content": blocks}, spellings, form, reading)
    kept = Kept(spellings)
    for name, value in message.items():
        if not value and name in _SILENT:
            kept.silent(value, name)
    blocks = [] if _REASONING.isdisjoint(message) else reasoning_from_wire(message, reading, kept)
    texts: list[Block] = []
    if content != "" or not (answer or blocks or any(message.get(name) for name in CONTENT_MEMBERS)):
        texts = answer_content(message, reading)
        blocks += texts
    _read_members(message, blocks, texts, reading, kept)
    if calls:
        reading.turn()
        blocks += read_elements(call_from_wire, calls, reading, CALLS, "index", spellings)
    if legacy := message.get("function_call"):
        _legacy_from_wire(legacy, blocks, bool(calls), reading, kept)
    return finish_reading(message, {"role": "assistant", "content": blocks}, _ASSISTANT, kept, reading, form)


_NULL: Final = imprint(None)
_PLAIN_TURN: Final = frozenset(("role", "content", "tool_calls"))
_SILENT: Final = _ASSISTANT - {"role", "content", "name"}
"""Members that have no meaning where they are empty."""


def _form_of(content: Any, message: Wire, reading: Reading) -> Wire | None:
    """Return the spelling of a content that the writer spells otherwise. If a content is neither usual nor known to be
    written otherwise, it is unusual."""
    if type(content) is str and content:
        return None
    if lone_text(content):
        return {"word": LIST}
    if content is None or content == "":
        if message.get("tool_calls"):
            if content is None and "content" in message:
                return None
            return {"written": _NULL} if content is None else {"raw": "", "written": _NULL}
        usual = content is None and "content" in message and bool(message.get("refusal"))
    else:
        usual = type(content) is list and bool(content) and lone_text(content) is None
    reading.must_compare = reading.must_compare or not usual
    return None


def _read_members(message: Wire, blocks: list[Block], texts: list[Block], reading: Reading, kept: Kept) -> None:
    """Read the members besides content that hold output of the model: annotations, refusal, images, audio."""
    if annotations := message.get("annotations"):
        annotations_from_wire(annotations, texts, reading, kept)
    if refusal := message.get("refusal"):
        if isinstance(refusal, str):
            blocks.append({"type": "text", "text": refusal, "refusal": True})
            reading.must_compare = reading.must_compare or reading.endpoint.dialect.get("refusals") is False
        else:
            kept.fields["refusal"] = refusal
    if images := message.get("images"):
        read = [part_from_wire(image, reading) for image in images] if isinstance(images, list) else []
        if read and all(block["type"] == "image" for block in read):
            blocks += [keep_member(block, "images", reading) for block in read]
        else:
            kept.fields["images"] = images
    if audio := message.get("audio"):
        _audio_from_wire(audio, blocks, reading, kept)


def _audio_from_wire(audio: Any, blocks: list[Block], reading: Reading, kept: Kept) -> None:
    if isinstance(audio, dict) and isinstance(audio.get("data"), str) and isinstance(audio.get("id"), str):
        block: Block = {"type": "audio", "source": {"kind": "base64", "data": audio["data"]}}
        if isinstance(audio.get("transcript"), str):
            block["transcript"] = audio["transcript"]
        fields = {k: v for k, v in audio.items() if k not in ("id", "data") and not (k == "transcript" and k in block)}
        block["provider_state"] = reading.state(id=audio["id"])
        if fields:
            block["provider_state"]["fields"] = fields
        blocks.append(block)
        reading.must_compare = True  # a history refers to audio by its id
    else:
        kept.fields["audio"] = audio


def _legacy_from_wire(legacy: Any, blocks: list[Block], calls: bool, reading: Reading, kept: Kept) -> None:
    """Read the legacy call, of which a message has one. It has no id, so its name is used instead."""
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
    blocks.append(legacy_call(legacy, reading.call(None, name), reading))
