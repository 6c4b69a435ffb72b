"""
Blocks both ways: the same cases in the same order.

A wire block is an object with one member that names what it holds; a mark for the cache is a block of its own behind what
it is for. What a block holds without canonical meaning is kept as a tree of the same shape and laid over the written block.
"""

from typing import Any, Final

from interlingua.adapters._claude import (
    FILLER,
    IMAGE_STARTS,
    NOT_SPELT,
    THINKING_TYPES,
    UNREADABLE,
    Reading,
    free_text_call,
    raw_arguments,
    spelt_arguments,
    string,
)
from interlingua.adapters._kit import (
    BLOCK_MEMBERS,
    CALL_MEMBERS,
    RESULT_MEMBERS,
    THINKING_MEMBERS,
    Mirror,
    Wire,
    arguments_text,
    gravity,
    parse_data_uri,
    report_foreign_state,
    report_unknown,
)
from interlingua.adapters._media import may_be_base64, source_refused
from interlingua.adapters.bedrock_converse.tables import (
    ALIASES,
    AUDIO_FORMATS,
    DOCUMENT_FORMATS,
    IMAGE_FORMATS,
    S3,
    TEXTS,
    VIDEO_FORMATS,
    Writing,
    cache_from_wire,
    unreadable,
)
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]

# the places that take different blocks
SYSTEM, USER, ASSISTANT, RESULT = "system", "user", "assistant", "result"

# ---------------------------------------------------------------------------------------------- from the wire


def blocks_from_wire(
    content: list[Any], place: str, reading: Reading, path: Path, failure: type[InvalidWire] = InvalidWire
) -> list[Block]:
    """The blocks of one list; raises `failure` with the pointer of the block that cannot be read."""
    blocks: list[Block] = []
    wire: Any = None
    try:
        for wire in content:
            if len(wire) != 1:
                blocks.append(block_from_wire(wire, place, reading))
                continue
            (kind,) = wire
            if kind == "text":
                text = wire[kind]
                if type(text) is str and text and not text.isspace():
                    blocks.append({"type": "text", "text": text})
                    continue
            elif (
                kind == "cachePoint"
                and place != RESULT
                and blocks
                and "cache" not in blocks[-1]
                and (hint := cache_from_wire(wire[kind])) is not None
            ):
                blocks[-1]["cache"] = hint
                continue
            if type(wire) is not dict:
                raise TypeError("block")
            reader = _READERS.get(kind)
            found = reader(wire, place, reading) if reader else None
            blocks.append(found or reading.opaque("unknown" if kind == "type" else kind, wire))
    except UNREADABLE as problem:
        position = next(number for number, item in enumerate(content) if item is wire)
        raise unreadable("a block", (*path, position), failure) from problem
    return blocks


def block_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """One block of the wire. What is not shaped as the wire documents it stays whole, as an opaque block.

    Raises KeyError or TypeError for a known block that lacks a member or has one of a wrong type.
    """
    kind = next((name for name in wire if name in _READERS), None)
    if kind is None:
        if type(wire) is not dict or not wire:
            raise TypeError("block")
        return reading.opaque(next((name for name in wire if name != "type"), "unknown"), wire)
    return _READERS[kind](wire, place, reading) or reading.opaque(kind, wire)


def _finished(
    canonical: Block, wire: Wire, kind: str, inner: Any, reading: Reading, state: Wire | None = None
) -> Block:
    """Adds the provider state: members without canonical meaning, and how the block was spelt.

    `inner` holds what is left over inside the member that names the kind; None when nothing is.
    """
    fields: Wire = {} if inner is None else {kind: inner}
    form: Wire = {}
    if len(wire) > 1:
        for name, value in wire.items():
            if name == "type" and type(value) is str:
                form["type"] = value
            elif name != kind:
                fields[name] = value
    if state is not None or fields or form:
        canonical["provider_state"] = state = state or reading.state()
        if fields:
            state["fields"] = fields
        if form:
            state["form"] = {**state.get("form", {}), **form}
    return canonical


def _left(item: Wire, known: frozenset[str]) -> Wire | None:
    """The members of an item that have no canonical meaning; None when there are none."""
    return None if item.keys() <= known else {name: value for name, value in item.items() if name not in known}


def _text_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    text = string(wire["text"])
    state = None if text and not text.isspace() else reading.state(form={"blank": True})
    return _finished({"type": "text", "text": text}, wire, "text", None, reading, state)


def _tool_use_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    use = wire["toolUse"]
    if use.get("type", "tool_use") != "tool_use" or place != ASSISTANT:
        return None  # what the provider runs itself
    wire_id, name, arguments = string(use["toolUseId"]), string(use["name"]), use.get("input")
    if not name:
        raise ValueError("name")
    canonical: Block = {"type": "tool_use", "id": reading.call(wire_id), "name": name, "input": arguments}
    state: Wire = {**reading.whose, "id": wire_id}
    if type(arguments) is not dict:
        canonical["input"] = {}
        if "input" in use:
            canonical["input_raw"] = raw_arguments(arguments)
        else:
            state["form"] = {"absent": ["input"]}
    elif len(use) == 3 and len(wire) == 1:
        canonical["provider_state"] = state
        return canonical
    if "type" in use:
        state["form"] = {**state.get("form", {}), "use_type": use["type"]}
    return _finished(canonical, wire, "toolUse", _left(use, _TOOL_USE_WIRE), reading, state)


_TOOL_USE_WIRE: Final = frozenset(("toolUseId", "name", "input", "type"))


def _result_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    if place != USER:
        return None  # of a tool that the provider runs itself
    result = wire["toolResult"]
    wire_id = string(result["toolUseId"])
    content = result["content"]
    if type(content) is not list:
        raise TypeError("content")
    canonical_id = reading.result(wire_id)
    state = None
    if canonical_id is None:
        canonical_id, state = reading.orphan(wire_id), reading.state(id=wire_id)
    parts = blocks_from_wire(content, RESULT, reading, ())
    canonical: Block = {"type": "tool_result", "tool_use_id": canonical_id, "content": parts}
    known = _RESULT_WIRE
    if "status" in result:
        if result["status"] in _STATUS:
            canonical["is_error"] = result["status"] == "error"
        else:
            known = known - {"status"}
    return _finished(canonical, wire, "toolResult", _left(result, known), reading, state)


_RESULT_WIRE: Final = frozenset(("toolUseId", "content", "status"))
_STATUS: Final = ("success", "error")


def _json_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    if place != RESULT:
        return None
    text = arguments_text(wire["json"])
    return _finished({"type": "text", "text": text}, wire, "json", None, reading, reading.state(form={"json": True}))


def _reasoning_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    reasoning = wire["reasoningContent"]
    if len(reasoning) != 1 or place != ASSISTANT:
        return None
    if type(data := reasoning.get("redactedContent")) is str:
        block = {"type": "redacted_thinking", "data": data}
        return _finished(block, wire, "reasoningContent", None, reading, reading.state())
    inner = reasoning.get("reasoningText")
    if type(inner) is not dict:
        return None
    canonical: Block = {"type": "thinking", "text": string(inner["text"])}
    if inner.get("signature") is not None:
        canonical["signature"] = string(inner["signature"])
    left = _left(inner, _REASONING_WIRE if "signature" in canonical else frozenset(("text",)))
    inner_left = None if left is None else {"reasoningText": left}
    return _finished(canonical, wire, "reasoningContent", inner_left, reading, reading.state())


_REASONING_WIRE: Final = frozenset(("text", "signature"))


def _guarded_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """A text that a guardrail is to look at: the text is the user's, the rest stays with the provider."""
    guarded = wire["guardContent"]
    if guarded.keys() != {"text"} or place not in (USER, SYSTEM) or type(guarded["text"].get("text")) is not str:
        return None
    left = _left(guarded["text"], frozenset(("text",)))
    text = guarded["text"]["text"]
    state = None if text and not text.isspace() else reading.state(form={"blank": True})
    inner = {} if left is None else {"text": left}
    return _finished({"type": "text", "text": text}, wire, "guardContent", inner, reading, state)


def _cited_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    cited = wire["citationsContent"]
    texts = cited.get("content", [])
    if place != ASSISTANT or not all(part.keys() == {"text"} for part in texts):
        return None
    spoken = [string(part["text"]) for part in texts]
    canonical: Block = {"type": "text", "text": "".join(spoken)}
    form: Wire = {"cited": True}
    if len(spoken) != 1:
        form["texts"] = [len(text) for text in spoken] if "content" in cited else None
    canonical["citations"] = [_citation_from_wire(citation, reading) for citation in cited.get("citations", [])]
    if "citations" not in cited:
        form["uncited"] = True
    left = _left(cited, frozenset(("content", "citations")))
    return _finished(canonical, wire, "citationsContent", left, reading, reading.state(form=form))


def _citation_from_wire(citation: Wire, reading: Reading) -> dict[str, Any]:
    location: Any = citation.get("location")
    place = _citation_type(citation)
    canonical: dict[str, Any] = {"type": place}
    if type(title := citation.get("title")) is str:
        canonical["title"] = title
    source = citation.get("sourceContent")
    if type(source) is list and len(source) == 1 and source[0].keys() == {"text"}:
        canonical["cited_text"] = string(source[0]["text"])
    fields = {name: value for name, value in citation.items() if name not in ("title", "sourceContent")}
    if place == "web" and type(url := location["web"].get("url")) is str:
        canonical["url"] = url
        others = {name: value for name, value in location["web"].items() if name != "url"}
        fields["location"] = {**location, "web": others}
    for name, read in (("title", "title"), ("sourceContent", "cited_text")):
        if name in citation and read not in canonical:
            fields[name] = citation[name]
    canonical["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return canonical


def _citation_type(citation: Wire) -> str:
    """What a citation is, by the place that it names."""
    location = citation.get("location")
    return (next(iter(location), "") if type(location) is dict else "") or "citation"


def _image_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    return _medium_from_wire(wire, "image", IMAGE_FORMATS, reading)


def _video_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    return _medium_from_wire(wire, "video", VIDEO_FORMATS, reading)


def _audio_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    return _medium_from_wire(wire, "audio", AUDIO_FORMATS, reading)


def _medium_from_wire(wire: Wire, kind: str, formats: Mirror[str, str], reading: Reading) -> Block | None:
    medium = wire[kind]
    media_type = formats.there.get(medium["format"])
    read = _source_from_wire(medium["source"], reading)
    if media_type is None or read is None:
        return None
    source, left = read
    canonical: Block = {"type": kind, "source": source, "media_type": media_type}
    inner = _left(medium, _MEDIUM_WIRE)
    if left is not None:
        inner = {**(inner or {}), "source": left}
    return _finished(canonical, wire, kind, inner, reading)


_MEDIUM_WIRE: Final = frozenset(("format", "source"))


def _source_from_wire(source: Wire, reading: Reading) -> tuple[dict[str, Any], Wire | None] | None:
    """A canonical source and what is left of the wire's; None for a source that is not shaped as documented."""
    if len(source) != 1:
        return None
    if type(data := source.get("bytes")) is str and may_be_base64(data):
        return {"kind": "base64", "data": data}, None
    place = source.get("s3Location")
    if type(place) is dict and type(uri := place.get("uri")) is str:
        left = _left(place, frozenset(("uri",)))
        canonical = {"kind": "file_id", "data": uri, "provider": reading.provider}
        return canonical, None if left is None else {"s3Location": left}
    return None


def _document_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    document = wire["document"]
    source = document["source"]
    media_type = DOCUMENT_FORMATS.there.get(document["format"]) if "format" in document else None
    left: Wire | None = None
    if len(source) == 1 and type(text := source.get("text")) is str:
        read: dict[str, Any] = {"kind": "text", "data": text}
    elif len(source) == 1 and type(parts := source.get("content")) is list:
        if not all(part.keys() == {"text"} for part in parts):
            return None  # only texts stand in a document
        read = {"kind": "blocks", "content": [_text_from_wire(part, place, reading) for part in parts]}
    elif (found := _source_from_wire(source, reading)) is not None:
        read, left = found
    else:
        return None
    if media_type is None and ("format" in document or read["kind"] == "base64"):
        return None
    canonical: Block = {"type": "document", "source": read}
    if media_type is not None:
        canonical["media_type"] = media_type
    known: set[str] = set(_DOCUMENT_WIRE)
    for name in ("name", "context"):
        if type(document.get(name)) is str:
            canonical[name] = document[name]
            known.add(name)
    match document.get("citations"):
        case {"enabled": bool(enabled), **others} if not others:
            canonical["citations_enabled"] = enabled
            known.add("citations")
        case _:
            pass
    inner = _left(document, frozenset(known))
    if left is not None:
        inner = {**(inner or {}), "source": left}
    return _finished(canonical, wire, "document", inner, reading)


_DOCUMENT_WIRE: Final = frozenset(("format", "source"))

_READERS: Final = {
    "text": _text_from_wire,
    "toolUse": _tool_use_from_wire,
    "toolResult": _result_from_wire,
    "json": _json_from_wire,
    "reasoningContent": _reasoning_from_wire,
    "guardContent": _guarded_from_wire,
    "citationsContent": _cited_from_wire,
    "image": _image_from_wire,
    "document": _document_from_wire,
    "video": _video_from_wire,
    "audio": _audio_from_wire,
}


# ---------------------------------------------------------------------------------------------- to the wire

_TEXT: Final = BLOCK_MEMBERS | {"text", "citations", "refusal"}
_MEDIUM: Final = BLOCK_MEMBERS | {"source", "media_type"}
_MEDIUM_DROPPED: Final = {"detail": "weakened", "transcript": "weakened"}
_MEDIUM_READ: Final = frozenset((*_MEDIUM, *_MEDIUM_DROPPED))
_DOCUMENT: Final = _MEDIUM | {"name", "title", "context", "citations_enabled"}
_REDACTED: Final = BLOCK_MEMBERS | {"data"}
_OPAQUE: Final = BLOCK_MEMBERS | {"adapter", "provider", "origin", "kind", "value"}
_SOURCE: Final = frozenset(("kind", "data", "provider"))


def blocks_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """The blocks of one place on the wire, marks for the cache among them; those that it cannot carry are reported."""
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        if len(block) == 2 and block["type"] == "text" and (text := block["text"]) and not text.isspace():
            wires.append({"text": text})
            continue
        where = (*path, position)
        wire = block_to_wire(block, place, writing, where)
        if wire is None:
            continue
        wires.append(wire)
        if block["type"] != "text" and wire.keys() == {"text"}:
            continue  # a placeholder, which has no hint
        if "cache" in block and (mark := _mark(block, place, writing, where)) is not None:
            wires.append(mark)
    return wires


def _mark(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if place == RESULT or (block["type"] in THINKING_TYPES and not writing.own):
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "no mark for the cache may stand here")
        return None
    return writing.mark(block["cache"], path)


def block_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """One block on the wire; None when this place cannot carry it, which is reported."""
    match block["type"]:
        case "text":
            return _text_to_wire(block, place, writing, path)
        case "tool_use" if place == ASSISTANT or writing.own:
            return _tool_use_to_wire(block, writing, path)
        case "image" if place in _MEDIA_PLACES or writing.own:
            return _medium_to_wire(block, IMAGE_FORMATS, "supports_images", writing, path)
        case "document" if place in _MEDIA_PLACES or writing.own:
            return _document_to_wire(block, writing, path)
        case "video" if place in _MEDIA_PLACES or writing.own:
            return _medium_to_wire(block, VIDEO_FORMATS, "supports_video", writing, path)
        case "audio" if place == USER or writing.own:
            return _medium_to_wire(block, AUDIO_FORMATS, "supports_audio", writing, path)
        case "thinking" if place == ASSISTANT or writing.own:
            return _thinking_to_wire(block, writing, path)
        case "redacted_thinking" if place == ASSISTANT or writing.own:
            return _redacted_to_wire(block, writing, path)
        case "opaque":
            return _opaque_to_wire(block, place, writing, path)
        case "tool_result":
            raise InvalidRequest(
                "a tool result stands alone in a message of role tool; move it there", path=pointer(path)
            )
        case "image" | "audio" | "video" | "document" | "tool_use" | "thinking" | "redacted_thinking" as kind:
            return _instead(block, writing, path, "unsupported_block", f"{kind} has no form in this place")
        case _:
            return _instead(block, writing, path, "unknown_block", "a block that this version does not know")


_MEDIA_PLACES: Final = (USER, RESULT)


def _instead(block: Block, writing: Writing, path: Path, code: str, message: str) -> Wire | None:
    text = writing.loss.block(path, block, code, "lost", message)
    return None if text is None else {"text": text["text"]}


def finished(block: Block, kind: str, inner: Any, known: frozenset[str], writing: Writing, path: Path) -> Wire:
    """The wire block, with what its provider state holds for this wire; members that are not known are reported."""
    wire: Wire = {kind: inner}
    if not block.keys() <= known:
        report_unknown(block, known, writing.loss, path)
    state = block.get("provider_state")
    if state is None:
        return wire
    if not writing.endpoint.owns(state):
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        return wire
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "the wire has no signature in this place")
    if fields := state.get("fields"):
        others = {name: value for name, value in fields.items() if name == kind or name not in KINDS}
        for name in fields.keys() - others:
            where = (*path, "provider_state", "fields", name)
            writing.loss.drop(where, "unsupported_field", "lost", "a block holds one kind of content")
        wire = overlaid(wire, others, writing, (*path, "provider_state", "fields"))
    if form := state.get("form"):
        if "type" in form and writing.own:
            wire["type"] = form["type"]
    return wire


KINDS: Final = frozenset((*_READERS, "cachePoint", "searchResult", "toolAddition", "toolRemoval"))


def overlaid(wire: Wire, fields: Wire, writing: Writing, path: Path) -> Wire:
    """The wire with the members of a tree that it lacks; what it holds already is reported. Changes neither."""
    made, said_already, _ = _laid_over(wire, fields, path)
    for where in said_already:
        writing.loss.drop(where, "combination", "shape", "the canonical member says it already")
    return made


def _laid_over(wire: Wire, fields: Wire, path: Path) -> tuple[Wire, list[Path], bool]:
    """The wire with the tree laid over it, the branches that found no place, and whether anything did."""
    made = dict(wire)
    said_already: list[Path] = []
    found_place = not fields  # an empty tree is only there
    for name, value in fields.items():
        if name not in made:
            made[name] = value
            found_place = True
        elif (
            isinstance(made[name], dict)
            and isinstance(value, dict)
            and (laid := _laid_over(made[name], value, (*path, name)))[2]
        ):
            made[name] = laid[0]
            said_already += laid[1]
            found_place = True
        else:
            said_already.append((*path, name))
    return made, said_already, found_place


# ------------------------------------------------------------------------------------------ text


def _text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    text: str = block["text"]
    form = writing.form_of(block) if "provider_state" in block else {}
    cited = form.get("cited") and place == ASSISTANT
    if not cited and (not text or text.isspace()) and not (form.get("blank") and (text or writing.own)):
        writing.loss.drop(path, "empty_content", "shape", "the target takes no text without visible characters")
        return None
    if block.get("refusal"):
        writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", "a refusal travels as ordinary text")
    if cited:
        return _cited_to_wire(block, form, writing, path)
    for position in range(len(block.get("citations") or ())):
        where = (*path, "citations", position)
        writing.loss.drop(where, "foreign_state", "weakened", "a citation of another provider has no form here")
    if form.get("json") and place == RESULT and (value := _json_value(text)) is not _NO_JSON:
        return finished(block, "json", value, _TEXT, writing, path)
    fields = (block.get("provider_state") or {}).get("fields") or {}
    if (
        isinstance(fields.get("guardContent"), dict)
        and place in (USER, SYSTEM)
        and writing.endpoint.owns(block["provider_state"])
    ):
        return finished(block, "guardContent", {"text": {"text": text}}, _TEXT, writing, path)
    return finished(block, "text", text, _TEXT, writing, path)


_NO_JSON: Final = object()


def _json_value(text: str) -> Any:
    """The value that a text spells; `_NO_JSON` when writing it again would not give the text."""
    try:
        value = json.loads(text)
    except InvalidRequest:
        return _NO_JSON
    return value if arguments_text(value) == text else _NO_JSON


def _cited_to_wire(block: Block, form: Wire, writing: Writing, path: Path) -> Wire | None:
    text: str = block["text"]
    citations = [
        wire
        for position, citation in enumerate(block.get("citations") or ())
        if (wire := _citation_to_wire(citation, writing, (*path, "citations", position))) is not None
    ]
    inner: Wire = {}
    lengths = form.get("texts", [len(text)])
    if lengths is not None or text:
        if lengths is None or sum(lengths) != len(text):
            lengths = [len(text)]
        ends = [sum(lengths[: number + 1]) for number in range(len(lengths))]
        inner["content"] = [{"text": text[end - length : end]} for length, end in zip(lengths, ends, strict=True)]
    if citations or not form.get("uncited"):
        inner["citations"] = citations
    return finished(block, "citationsContent", inner, _TEXT, writing, path)


_CITATION: Final = frozenset(("type", "url", "title", "cited_text", "start_index", "end_index", "provider_state"))


def _citation_to_wire(citation: dict[str, Any], writing: Writing, path: Path) -> Wire | None:
    # a citation points into the provider's own documents and results, so only its own can go back
    state = citation.get("provider_state")
    if state is None or not writing.endpoint.owns(state):
        writing.loss.drop(path, "foreign_state", "weakened", "a citation of another provider has no form here")
        return None
    wire: Wire = {}
    if "title" in citation:
        wire["title"] = citation["title"]
    if "cited_text" in citation:
        wire["sourceContent"] = [{"text": citation["cited_text"]}]
    if "url" in citation:
        wire["location"] = {"web": {"url": citation["url"]}}
    for name in citation.keys() & {"start_index", "end_index"}:
        writing.loss.drop((*path, name), "unsupported_field", "weakened", "the wire has no place for the span")
    report_unknown(citation, _CITATION, writing.loss, path)
    wire = overlaid(wire, state.get("fields") or {}, writing, (*path, "provider_state", "fields"))
    if (kind := _citation_type(wire)) != citation["type"]:
        writing.loss.replace(
            (*path, "type"), kind, "unsupported_field", "weakened", "its place says what a citation is"
        )
    return wire


# ------------------------------------------------------------------------------------------ media


def _medium_to_wire(
    block: Block, formats: Mirror[str, str], capability: str, writing: Writing, path: Path
) -> Wire | None:
    kind: str = block["type"]
    if writing.lacks(capability):
        return _instead(block, writing, path, "unsupported_model", f"the model takes no {kind}")
    media_type = _fitted_type(block, formats)
    source = _source_to_wire(block, writing, path) if media_type is not None else None
    if source is None or media_type is None:
        message = source_refused(block, f"the target does not take {kind} of this source")
        return _instead(block, writing, path, "unsupported_source", message)
    _report_type(block, media_type, writing, path)
    for name, severity in _MEDIUM_DROPPED.items():
        if name in block:
            found = gravity(name, block[name], severity)
            writing.loss.drop((*path, name), "unsupported_field", found, f"the wire has no {name}")
    inner = {"format": formats.back[media_type], "source": source}
    return finished(block, kind, inner, _MEDIUM_READ, writing, path)


def _fitted_type(block: Block, formats: Mirror[str, str]) -> str | None:
    """The media type in the words of the wire; None when it has none for it."""
    media_type = block.get("media_type")
    data = block["source"].get("data") or ""
    if media_type is None:
        inline = parse_data_uri(data) if block["source"]["kind"] == "url" else None
        media_type = inline[0] if inline else _type_of_name(data, formats)
    if media_type in formats.back:
        return media_type
    if media_type is None:
        return None
    bare = media_type.partition(";")[0].strip().lower()
    bare = ALIASES.get(bare, bare)
    if bare == "image/*":
        return next((kind for start, kind in IMAGE_STARTS.items() if data.startswith(start)), None)
    return bare if bare in formats.back else None


def _type_of_name(uri: str, formats: Mirror[str, str]) -> str | None:
    ending = uri.rpartition(".")[2].lower()
    return formats.there.get("jpeg" if ending == "jpg" else ending) if S3.fullmatch(uri) else None


def _report_type(block: Block, fitted: str, writing: Writing, path: Path) -> None:
    given = block.get("media_type")
    if fitted != given:
        code = "required_default" if given is None else "unsupported_value"
        writing.loss.replace((*path, "media_type"), fitted, code, "shape", "the target names the type so")


def _source_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    """The wire source of a medium; None when there is none."""
    source = block["source"]
    data: str = source.get("data") or ""
    where = (*path, "source")
    match source["kind"]:
        case "base64" if data or writing.own:
            wire: Wire = {"bytes": data}
        case "file_id" if (writing.own or S3.fullmatch(data)) and writing.owns_file(source):
            wire = {"s3Location": {"uri": data}}
        case "url" if S3.fullmatch(data):
            wire = {"s3Location": {"uri": data}}
            read = {"kind": "file_id", "data": data}
            writing.loss.replace(where, read, "unsupported_source", "shape", "an address of S3 is a file here")
            return wire
        case "url" if (inline := parse_data_uri(data)) is not None and inline[1] and may_be_base64(inline[1]):
            read = {"kind": "base64", "data": inline[1]}
            writing.loss.replace(where, read, "unsupported_source", "shape", "the target takes no data address")
            return {"bytes": inline[1]}
        case _:
            return None
    report_unknown(source, _SOURCE, writing.loss, where)
    return wire


def _document_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if writing.lacks("supports_documents"):
        return _instead(block, writing, path, "unsupported_model", "the model takes no documents")
    inner: Wire = {}
    media_type = block.get("media_type") if writing.own else _document_type(block)
    kind = block["source"]["kind"]
    source = None
    if kind == "blocks":
        source = _document_content(block, writing, path)
    elif kind == "text" and (block["source"].get("data") or writing.own):
        source = {"text": block["source"].get("data", "")}
        report_unknown(block["source"], _SOURCE, writing.loss, (*path, "source"))
    elif media_type is not None or kind == "file_id":
        source = _source_to_wire(block, writing, path)
    if source is None:
        message = source_refused(block, "the target does not take a document of this source")
        return _instead(block, writing, path, "unsupported_source", message)
    if media_type in DOCUMENT_FORMATS.back:
        inner["format"] = DOCUMENT_FORMATS.back[media_type]
        _report_type(block, media_type, writing, path)
    elif block.get("media_type") is not None:
        where = (*path, "media_type")
        writing.loss.drop(where, "unsupported_value", "shape", "the wire has no name for the type")
    _document_name(block, inner, writing, path)
    inner["source"] = source
    if "context" in block and (block["context"] or writing.own):
        inner["context"] = block["context"]
    elif "context" in block:
        writing.loss.drop((*path, "context"), "empty_content", "shape", "an empty context is not taken")
    if "citations_enabled" in block:
        inner["citations"] = {"enabled": block["citations_enabled"]}
    if writing.document is None and len(path) == _IN_MESSAGE:
        writing.document = path
    return finished(block, "document", inner, _DOCUMENT, writing, path)


_IN_MESSAGE: Final = 4  # steps to a block of a message; there are more to one of a result


def _document_type(block: Block) -> str | None:
    """The media type in the words of the wire: other texts are plain text."""
    fitted = _fitted_type(block, DOCUMENT_FORMATS)
    kind = block["source"]["kind"]
    if fitted is not None or kind == "blocks":
        return fitted
    media_type = (block.get("media_type") or "").partition(";")[0].strip().lower()
    return "text/plain" if kind == "text" or media_type.startswith("text/") or media_type in TEXTS else None


def _document_content(block: Block, writing: Writing, path: Path) -> Wire:
    where = (*path, "source", "content")
    texts: list[Wire] = []
    for position, part in enumerate(block["source"].get("content") or ()):
        at = (*where, position)
        if part["type"] != "text":
            _dropped_part(part, writing, at)
            continue
        if (part["text"] and not part["text"].isspace()) or (writing.form_of(part).get("blank") and writing.own):
            texts.append({"text": part["text"]})
            if len(part) > 2:
                _bare_text(part, writing, at)
        else:
            writing.loss.drop(at, "empty_content", "shape", "the target takes no text without visible characters")
    if not texts and not writing.own:
        filler = {"type": "text", "text": FILLER}
        writing.loss.replace(where, [filler], "filler", "shape", "a document is not empty")
        texts = [{"text": FILLER}]
    report_unknown(block["source"], _SOURCE | {"content"}, writing.loss, (*path, "source"))
    return {"content": texts}


def _dropped_part(part: Block, writing: Writing, path: Path) -> None:
    message = f"{part['type']} has no form inside a document"
    writing.loss.drop(path, "unsupported_block", "lost", message)


def _bare_text(part: Block, writing: Writing, path: Path) -> None:
    """Inside a document only the text itself is carried."""
    for name in part.keys() - {"type", "text", "critical", "provider_state"}:
        code = "cache_hint" if name == "cache" else "unsupported_field" if name in _TEXT else "unknown_field"
        writing.loss.drop((*path, name), code, "weakened", "inside a document only the text is carried")
    state = part.get("provider_state") or {}
    for name in state.get("fields") or ():
        where = (*path, "provider_state", "fields", name)
        writing.loss.drop(where, "unsupported_field", "weakened", "inside a document only the text is carried")
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "inside a document only the text is carried")


def _document_name(block: Block, inner: Wire, writing: Writing, path: Path) -> None:
    """The name that the wire demands: the document's own, its title, or one that is made up."""
    where = (*path, "name")
    if writing.own:
        if "name" in block:
            inner["name"] = block["name"]
        return
    name, title = block.get("name"), block.get("title")
    if title is not None and name is None:
        writing.loss.move((*path, "title"), where, "unsupported_field", "shape", "the title travels as the name")
        name = title
    elif title is not None:
        writing.loss.drop((*path, "title"), "unsupported_field", "weakened", "the wire has a name and no title")
    inner["name"] = fitted = writing.document_name(name or "document")
    if fitted != name:
        code = "required_default" if name is None else "name_rewritten"
        writing.loss.replace(where, fitted, code, "shape", "the target's grammar of names, each name once")


# ------------------------------------------------------------------------------------------ calls, results, reasoning


def _tool_use_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    name = writing.tool_name(block["name"], path)
    inner: Wire = {"toolUseId": writing.call_id(block, path), "name": name, "input": block["input"]}
    writing.tools_used[name] = None
    if len(block) == 4:
        return {"toolUse": inner}
    if "input_raw" in block or "kind" in block:
        _free_text_to_wire(block, inner, writing, path)
    if "provider_state" in block and writing.own:
        form = writing.form_of(block)
        if "use_type" in form:
            inner["type"] = form["use_type"]
        if "absent" in form and not inner["input"]:
            del inner["input"]
    return finished(block, "toolUse", inner, CALL_MEMBERS, writing, path)


def _free_text_to_wire(block: Block, inner: Wire, writing: Writing, path: Path) -> None:
    """The arguments that are not an object: a free text travels as the one argument `input`."""
    if block.get("kind", "function") != "function":
        inner["input"] = free_text_call(block, writing.loss, path)
    elif "input_raw" in block:
        state = block.get("provider_state")
        own = state is not None and writing.endpoint.owns(state)
        value = spelt_arguments(block["input_raw"], own) if writing.own else NOT_SPELT
        if value is not NOT_SPELT:
            inner["input"] = value
        else:
            where = (*path, "input_raw")
            writing.loss.drop(where, "arguments_invalid", "lost", "the wire takes a JSON object as arguments")


def result_to_wire(block: Block, writing: Writing, path: Path) -> tuple[Wire, Wire | None]:
    """A tool result, and the mark for the cache behind it."""
    parts = block["content"]
    if len(block) == 3 and len(parts) == 1 and len(part := parts[0]) == 2 and part["type"] == "text":
        text: str = part["text"]
        if text and not text.isspace():  # the usual result, on a straight way
            return {"toolResult": {"toolUseId": writing.result_id(block), "content": [{"text": text}]}}, None
    where = (*path, "content")
    hint_at = None if "cache" in block or writing.own else _hint_within(parts)
    hint: dict[str, Any] | None = None
    if hint_at is not None:
        # the wire marks a result as a whole
        hint = parts[hint_at]["cache"]
        bare = {name: value for name, value in parts[hint_at].items() if name != "cache"}
        parts = [*parts[:hint_at], bare, *parts[hint_at + 1 :]]
    content = blocks_to_wire(parts, RESULT, writing, where)
    if not content and not writing.own:
        filler = {"type": "text", "text": FILLER}
        writing.loss.replace(where, [filler], "filler", "shape", "the target takes no empty result")
        content = [{"text": FILLER}]
        hint = None
    inner: Wire = {"toolUseId": writing.result_id(block), "content": content}
    if "is_error" in block:
        inner["status"] = "error" if block["is_error"] else "success"
    wire = (
        {"toolResult": inner}
        if len(block) == 3
        else finished(block, "toolResult", inner, RESULT_MEMBERS, writing, path)
    )
    if "cache" in block:
        return wire, writing.mark(block["cache"], path)
    if hint is not None and hint_at is not None:
        return wire, writing.mark(hint, (*where, hint_at), (*path, "cache"))
    return wire, None


def _hint_within(parts: list[Block]) -> int | None:
    """The last block of a result that asks for the cache and will stand on the wire."""
    for position in range(len(parts) - 1, -1, -1):
        part = parts[position]
        if "cache" in part and part["type"] == "text" and part["text"].strip():
            return position
    return None


def _thinking_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if not writing.owns_thinking(block):
        return _instead(block, writing, path, "foreign_state", "reasoning of another provider cannot be replayed")
    signature = block.get("signature")
    inner: Wire = {"text": block["text"]}
    if signature or (signature is not None and writing.own):
        inner["signature"] = signature
    elif not writing.own and not takes_unsigned(writing):
        return _instead(block, writing, path, "unsigned_thinking", "reasoning is only taken back with its signature")
    elif signature == "":
        writing.loss.drop((*path, "signature"), "unsigned_thinking", "shape", "an empty signature proves nothing")
    return finished(block, "reasoningContent", {"reasoningText": inner}, THINKING_MEMBERS, writing, path)


def takes_unsigned(writing: Writing) -> bool:
    """Whether the model takes its reasoning back without a signature."""
    return bool(writing.endpoint.dialect.get("unsigned_thinking"))


def _redacted_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if not writing.owns_thinking(block):
        return _instead(block, writing, path, "foreign_state", "reasoning of another provider cannot be replayed")
    return finished(block, "reasoningContent", {"redactedContent": block["data"]}, _REDACTED, writing, path)


def can_replay(block: Block, writing: Writing) -> bool:
    """Whether a reasoning block goes onto the wire."""
    return (
        block["type"] in THINKING_TYPES
        and writing.owns_thinking(block)
        and (
            block["type"] == "redacted_thinking"
            or bool(block.get("signature"))
            or (writing.own and "signature" in block)
            or takes_unsigned(writing)
        )
    )


# where the items that have no canonical meaning may stand
_PLACES: Final = {
    "guardContent": (USER, SYSTEM),
    "searchResult": (USER, RESULT),
    "cachePoint": (USER, SYSTEM, ASSISTANT),
    "toolUse": (ASSISTANT,),
    "toolResult": (ASSISTANT,),
    "reasoningContent": (ASSISTANT,),
    "citationsContent": (ASSISTANT,),
    "image": (USER, RESULT),
    "document": (USER, RESULT),
    "video": (USER, RESULT),
    "audio": (USER,),
    "json": (RESULT,),
}


def _opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if not writing.endpoint.owns(block):
        return _instead(block, writing, path, "foreign_state", "an item of another provider has no meaning here")
    value: Wire = block["value"]
    kind = next((name for name in value if name in KINDS), next((name for name in value if name != "type"), "unknown"))
    if not writing.own and place not in _PLACES.get(kind, (USER, ASSISTANT)):
        return _instead(block, writing, path, "unsupported_block", "the item has no form in this place")
    if not writing.own and not _reads_back(value, place, writing):
        return _instead(block, writing, path, "unsupported_block", "the item has a canonical form of its own")
    if kind != block.get("kind"):
        writing.loss.replace((*path, "kind"), kind, "required_default", "shape", "the item names its kind")
    state = block.get("provider_state")
    if state is not None:
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        if writing.endpoint.owns(state):
            for name in state.keys() & {"fields", "signature"}:
                where = (*path, "provider_state", name)
                writing.loss.drop(where, "unsupported_field", "lost", "the item goes back verbatim")
    report_unknown(block, _OPAQUE, writing.loss, path)
    return value


def _reads_back(value: Wire, place: str, writing: Writing) -> bool:
    """Whether an item is read as an opaque block again."""
    reading = Reading(writing.endpoint, DERIVED_IDS)
    if "cachePoint" in value:
        return cache_from_wire(value["cachePoint"]) is None
    try:
        return block_from_wire(value, place, reading)["type"] == "opaque"
    except UNREADABLE:
        return False
