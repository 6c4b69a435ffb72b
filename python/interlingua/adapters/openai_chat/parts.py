"""
Content: parts and blocks, by rows, the citations of a text, and the members that all messages have.

A part that cannot be read in full becomes an opaque block. It is kept and restored whole, and the reader guesses
nothing.
"""

import re
from typing import Any, Final

from interlingua.adapters._content.citations import (
    SPAN,
    are_citations,
    has_native_citations,
    read_citation,
    read_members,
    select_members,
    with_origin,
)
from interlingua.adapters._content.media import (
    BYTES,
    FILE,
    KINDS,
    WEB,
    Medium,
    bare_type,
    document_as_text,
    read_medium,
    refuse_kind,
    sent_as,
    source,
)
from interlingua.adapters._engine.items import Item, ItemRow, Member, inside, opaque, read_item, text, write_item
from interlingua.adapters._engine.kit import Wire, keep, keep_spelling, note_spelling, within
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import Spellings, lone_text
from interlingua.adapters._engine.verbatim import keep_spellings
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import OF_MESSAGE, finish, native_item, no_place
from interlingua.adapters._openai.parts import CacheMark, address, detail, file_name, located_for
from interlingua.adapters.openai_chat.reasoning import MEMBERS, PART, PARTS, thinking_part_from_wire
from interlingua.adapters.openai_chat.tables import AUDIO, PARTICIPANT, Kept, Writing
from interlingua.canonical import json
from interlingua.canonical.loss import Path

Block = dict[str, Any]
Message = dict[str, Any]

SYSTEM: Final = "system"
USER: Final = "user"
ASSISTANT: Final = "assistant"
TOOL: Final = "tool"

# ---------------------------------------------------------------------------------------------------- rows

MARK: Final = CacheMark("cache_control", "prompt_cache_breakpoint")


def _read_format(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str or not _FORMAT.fullmatch(raw) or raw in _OTHER_AUDIO_NAMES:
        raise TypeError("format")
    block["media_type"] = AUDIO.there.get(raw) or f"audio/{raw}"


_FORMAT: Final = re.compile(r"[A-Za-z0-9_.+-]+")
_OTHER_AUDIO_NAMES: Final = ("mpeg", "x-wav", "wave", "vnd.wave")


def _format(media_type: str) -> str:
    """Return the wire's name of an audio type."""
    return AUDIO.back.get(media_type) or media_type.removeprefix("audio/")


_TEXT: Final = ItemRow({"type": "text"}, text("text", "text", needed=True), mark=MARK)
_OUTPUT_TEXT: Final = ItemRow({"type": "text"}, text("text", "text", needed=True), mark=MARK, elsewhere=("citations",))
_REFUSAL: Final = ItemRow(
    {"type": "refusal"}, text("refusal", "text", needed=True), mark=MARK, elsewhere=("refusal", "citations")
)
_IMAGE: Final = ItemRow(
    {"type": "image_url"},
    inside("image_url", ItemRow({}, address("url", WEB, BYTES), detail(soft=True)), "url"),
    mark=MARK,
)
_VIDEO: Final = ItemRow(
    {"type": "video_url"}, inside("video_url", ItemRow({}, address("url", WEB, BYTES)), "url"), mark=MARK
)
_AUDIO: Final = ItemRow(
    {"type": "input_audio"},
    inside(
        "input_audio",
        ItemRow(
            {},
            source("data", BYTES),
            Member(
                "format", ("media_type",), _read_format, lambda block, _, __: _format(block["media_type"]), needed=True
            ),
        ),
    ),
    mark=MARK,
)
_FILE: Final = ItemRow(
    {"type": "file"},
    inside("file", ItemRow({}, address("file_id", FILE), address("file_data", WEB, BYTES), file_name(soft=True))),
    mark=MARK,
)
_DOCUMENT: Final = ItemRow(
    {"type": "document_url"},
    address("document_url", WEB, BYTES),
    text("document_name", "name"),
    mark=MARK,
)

# ---------------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire:
    """Write a block as a part of a message of the role `place`. Raises `Refused` for a block that has no place there."""
    writing.place = place
    match block["type"]:
        case "text":
            return _text_to_wire(block, place, writing, path)
        case "document" if place != ASSISTANT and (words := document_as_text(block, path, writing.loss)) is not None:
            return _text_to_wire(words, place, writing, path)
        case "image" | "audio" | "video" | "document":
            return _medium_to_wire(block, place, writing, path)
        case "opaque" if writing.endpoint.owns(block):
            return native_item(block, block["value"].get("type"), part_from_wire, writing, path)
        case _:
            raise no_place(block, writing)


def _text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire:
    row = _TEXT if place != ASSISTANT else _REFUSAL if block.get("refusal") else _OUTPUT_TEXT
    return write_item(row, block, writing, path)


def _medium_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire:
    kind: str = block["type"]
    dialect, encoding = writing.dialect, writing.encoding_of(block)
    part = encoding.get("part")
    if place != ASSISTANT or "member" not in encoding:  # the provider accepts again what its model produced
        if kind == "video" and not (dialect.get("video_url") or part):
            raise Refused("unsupported_block", "the wire does not support video")
        refuse_kind(block, writing)
        if place != USER and not (place == TOOL and dialect.get("tool_result_media")):
            raise Refused("unsupported_block", f"{kind} cannot be represented in a message of this role")
    by_url = kind == "document" and block["source"]["kind"] == WEB and not part and dialect.get("document_url")
    may_be_url = part or by_url or (kind == "document" and dialect.get("file_url"))
    sent = located_for(block, (*_TAKES[kind], WEB) if may_be_url else _TAKES[kind], writing)
    if kind == "audio":
        sent = _audio(sent, writing)
    row = _DOCUMENT if (by_url or part == "document_url") and sent.kind != FILE else _MEDIA[kind]
    return write_item(row, sent_as(block, sent, writing.loss, path), writing, path)


def _audio(sent: Medium, writing: Writing) -> Medium:
    """Return audio with the usual name of its type. Raises `Refused` for a format that the provider does not accept."""
    media_type = bare_type(sent.media_type or "")
    media_type = _AUDIO_ALIASES.get(media_type, media_type)
    if _format(media_type) not in (writing.dialect.get("audio_formats") or AUDIO.there):
        raise Refused("unsupported_source", "the wire does not accept audio of this format")
    return Medium(BYTES, sent.data, media_type)


_MEDIA: Final = {"image": _IMAGE, "audio": _AUDIO, "video": _VIDEO, "document": _FILE}
_TAKES: Final = {"image": (WEB, BYTES), "audio": (BYTES,), "video": (WEB, BYTES), "document": (BYTES, FILE)}
_AUDIO_ALIASES: Final = {
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
}

# ---------------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading) -> Block:
    """Return the block for a content part. Raises `KeyError` or a similar error for a value that is no part at all."""
    kind = part.get("type")
    try:
        block = _read_part(part, kind, reading)
    except (KeyError, TypeError):
        block = None
    return opaque(part, kind, reading) if block is None else block


def _read_part(part: Wire, kind: Any, reading: Reading) -> Block | None:
    """Return the block of a part of a known type, or None for any other part."""
    match kind:
        case "text":
            if len(part) == 2 and type(part["text"]) is str:  # most parts
                return {"type": "text", "text": part["text"]}
            return read_item(_TEXT, part, {"type": "text"}, reading)
        case "refusal":
            return read_item(_REFUSAL, part, _begun("text", part, reading) | {"refusal": True}, reading)
        case "image_url":
            return read_medium(_IMAGE, part, {"type": "image"}, reading)
        case "input_audio":
            return read_medium(_AUDIO, part, {"type": "audio"}, reading)
        case "file":
            block = read_medium(_FILE, part, {"type": "document"}, reading)
            if block["source"]["kind"] == WEB:
                note_spelling(block, "part", reading.state, kind)
            return block
        case "video_url":  # it may be sent back to its origin, even when nothing is known of the provider
            return read_medium(_VIDEO, part, _begun("video", part, reading), reading)
        case "document_url":
            return read_medium(_DOCUMENT, part, _begun("document", part, reading), reading)
        case _:
            return None


def _begun(kind: str, part: Wire, reading: Reading) -> Block:
    """Return the start of a block that is written as the same part again, which not every provider accepts."""
    return {"type": kind, "provider_state": reading.state(encoding={"part": part["type"]})}


# ---------------------------------------------------------------------------------------------------- citations

_CITED: Final = ("url", "title", *SPAN)
_NEVER_NESTED: Final = ("type", *_CITED)


def annotations_to_wire(block: Block, writing: Writing) -> list[Wire] | None:
    """Return the annotations of a text that this provider cited, or None when it has none of this provider."""
    if not block.get("citations") or not has_native_citations(block, writing):
        return None
    return [_annotation_to_wire(citation, writing) for citation in block["citations"]]


def _annotation_to_wire(citation: Block, writing: Writing) -> Wire:
    kind, members = citation["type"], select_members(citation, _CITED)
    fields: dict[str, Any] = writing.state_of(citation).get("fields") or {}
    if writing.encoding_of(citation).get("flat"):
        return {**fields, **members, "type": kind}
    return {**fields, "type": kind, kind: {**fields.get(kind, {}), **members}}


def annotations_from_wire(annotations: Any, texts: list[Block], reading: Reading, kept: Kept) -> None:
    """Put annotations on the text that they belong to. If that text is not known, they stay a field of the message."""
    if len(texts) == 1 and texts[0]["type"] == "text" and are_citations(annotations):
        texts[0]["citations"] = [_citation_from_wire(item, reading) for item in annotations]
    else:
        kept.fields["annotations"] = annotations


def _citation_from_wire(item: Wire, reading: Reading) -> Block:
    kind = item["type"]
    inner = item.get(kind)
    if type(inner) is not dict or kind in _NEVER_NESTED:
        citation = read_citation(item, _CITED, reading.endpoint)
        keep_spelling(citation["provider_state"], "flat", True)
        return citation
    members, rest = read_members(inner, _CITED)
    if "type" in inner:
        rest["type"] = inner["type"]
    fields = {name: value for name, value in item.items() if name not in ("type", kind)}
    if rest:
        fields[kind] = rest
    return with_origin({"type": kind, **members}, fields, reading.endpoint)


# ---------------------------------------------------------------------------------------------------- content and common members


def content_to_wire(content: list[Block], path: Path, writing: Writing, place: str) -> str | list[Wire] | None:
    """Write the content of a message: a string for a single plain text, else parts; None when nothing is left of it."""
    return as_content(writing.parts(part_to_wire, content, place, path))


def as_content(parts: list[Wire]) -> str | list[Wire] | None:
    """Return parts as the content of a message: a string for a single plain text; None when there are no parts."""
    text = lone_text(parts)
    return (parts or None) if text is None else text


def has_no_effect(item: Item) -> bool:
    """Whether the provider state of a message or a call, of any origin, holds nothing that could be lost."""
    state: dict[str, Any] | None = item.get("provider_state")
    return state is None or not (state.get("fields") or state.get("signature"))


def is_bare(message: Message) -> bool:
    """Whether a message has nothing to write or to report besides its role and its content."""
    return within(message, _BARE) and has_no_effect(message)


_BARE: Final = frozenset(("role", "content", "metadata", "provider_state"))


def finish_message(message: Message, wire: Wire, path: Path, writing: Writing) -> Wire:
    """Write what all messages have: a name, a cache hint, the provider's members, and members unknown to this
    version."""
    if message.get("name") is not None:
        _name_to_wire(message, wire, path, writing)
    covered = _WITH_NAME
    if message.get("cache") is not None and "cache" in (encoding := writing.encoding_of(message)):
        MARK.write(message["cache"], wire, encoding, (*path, "cache"), writing)  # the hint was on the message
        covered = _WITH_MARK
    return finish(message, wire, covered, writing, path)


_WITH_NAME: Final = OF_MESSAGE | {"name"}
_WITH_MARK: Final = _WITH_NAME | {"cache"}


def _name_to_wire(message: Message, wire: Wire, path: Path, writing: Writing) -> None:
    name, loss = message["name"], writing.loss
    if wire["role"] == TOOL or writing.dialect.get("participant_name") is False:
        loss.drop((*path, "name"), "unsupported_field", "weakened", "messages of this role have no name here")
    elif PARTICIPANT.fullmatch(name):
        wire["name"] = name
    else:
        fitted = "_".join(PARTICIPANT.findall(name)) or "_"
        loss.replace(
            (*path, "name"), fitted, "name_rewritten", "representation", "the name does not fit the wire's grammar"
        )
        wire["name"] = fitted


CONTENT_MEMBERS: Final = ("tool_calls", "function_call", "refusal", "audio", "images")
OF_THE_MODEL: Final = frozenset((*CONTENT_MEMBERS, *MEMBERS, "annotations", "prefix"))
"""Members of messages that only a turn of the model has."""


def content_from_wire(message: Wire, reading: Reading) -> list[Block]:
    """Read the blocks of `content`."""
    content, role = message.get("content"), message["role"]
    if type(content) is str:
        return [{"type": "text", "text": content}]
    if not content:
        reading.must_compare = True
    if content is None:
        return []
    if type(content) is list:
        blocks = [part_from_wire(part, reading) for part in content]
        for block in blocks:
            if block["type"] != "text" or "refusal" in block:
                usual = (block["type"] == "image" and role == USER) or block["type"] == "opaque"
                reading.must_compare = reading.must_compare or not usual
        return blocks
    if type(content) is not dict:
        raise TypeError("content")
    return [_as_text(content, reading)]


def answer_content(message: Wire, reading: Reading) -> list[Block]:
    """Read the `content` of an assistant message, which may have parts of its own and be of any type."""
    content = message.get("content")
    if type(content) is str:
        return [{"type": "text", "text": content}]
    if content is None:
        return []
    if type(content) is list and all(type(part) is dict for part in content):
        return [_assistant_part(part, reading) for part in content]
    return [_as_text(content, reading)]


def _as_text(content: Any, reading: Reading) -> Block:
    """Return the text of a content that is no list of parts: the object that a schema required (Cloudflare)."""
    reading.must_compare = True
    return {"type": "text", "text": json.dumps(content).decode()}


def _assistant_part(part: Wire, reading: Reading) -> Block:
    if part.get("type") in PARTS and (block := thinking_part_from_wire(part, reading)) is not None:
        return block
    return keep_member(part_from_wire(part, reading), PART, reading)


def keep_member(block: Block, member: str, reading: Reading) -> Block:
    """Return a block of an assistant message. A medium keeps the name of the member that held it, to be restored
    there."""
    if block["type"] in KINDS:
        note_spelling(block, "member", reading.state, member)
        reading.must_compare = reading.must_compare or block["type"] != "image"
    return block


def finish_reading(
    message: Wire, read: Message, known: frozenset[str], kept: Kept, reading: Reading, form: Wire | None
) -> Message:
    """Read what all messages have: a name, a cache hint, the provider's members. `form` is the spelling of the
    content."""
    if not within(message, known):
        kept.fields.update(kept.others(message, known))
    if "name" in message and "name" in known and read["role"] != "tool":
        _read_name(message["name"], read, kept, reading)
    if kept.fields:
        MARK.read(kept.fields, read, kept.places, reading)
        if read["role"] != "assistant" and not OF_THE_MODEL.isdisjoint(kept.fields):
            reading.must_compare = True
    if kept.fields or kept.places:
        read["provider_state"] = reading.state()
        keep(read["provider_state"], kept.fields, kept.places)
    return keep_places(read, kept.spellings, form, reading)


def keep_places(read: Message, spellings: Spellings, form: Wire | None, reading: Reading) -> Message:
    """Keep the spellings of a message that are found without a comparison. `form` is the spelling of the content."""
    if form is not None:
        spellings["/content"] = form
    if spellings:
        keep_spellings(read, spellings, reading.endpoint, read["role"])
    return read


def _read_name(name: Any, read: Message, kept: Kept, reading: Reading) -> None:
    if name is None:
        kept.silent(None, "name")
    elif type(name) is str:
        read["name"] = name
        fits = PARTICIPANT.fullmatch(name) is not None and reading.endpoint.dialect.get("participant_name") is not False
        reading.must_compare = reading.must_compare or not fits
    else:
        reading.must_compare = True
