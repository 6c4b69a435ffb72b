"""Blocks both ways: a part of the wire is one block."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import (
    BLOCK_MEMBERS,
    CALL_MEMBERS,
    RESULT_MEMBERS,
    THINKING_MEMBERS,
    Wire,
    arguments_text,
    is_only_named,
    parse_arguments,
    parse_data_uri,
    report_foreign_state,
    report_unknown,
)
from interlingua.adapters._media import WORKSPACE, may_be_base64
from interlingua.adapters.gemini_generate.tables import (
    CAMEL,
    DETAIL,
    MEDIA_TYPE,
    UNREADABLE,
    Reading,
    Writing,
    camelised,
    snaked,
)
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]

# the places that take different blocks
SYSTEM, USER, MODEL, RESULT = "system", "user", "model", "result"

_DATA: Final = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
_SIBLINGS: Final = frozenset(("thought", "thoughtSignature"))
_NOTHING: Final[Mapping[str, Any]] = {}

# ---------------------------------------------------------------------------------------------- from the wire


def blocks_from_parts(parts: list[Wire], place: str, reading: Reading) -> list[Block]:
    """The parts of one place, each as a block."""
    blocks: list[Block] = []
    for part in parts:
        if len(part) == 1 and type(text := part.get("text")) is str and text:
            blocks.append({"type": "text", "text": text})
        else:
            blocks.append(block_from_part(part, place, reading))
    return blocks


def block_from_part(part: Wire, place: str, reading: Reading) -> Block:
    """One part of the wire. What is not shaped as the wire documents it stays whole, as an opaque block."""
    if len(part) == 1:
        if type(text := part.get("text")) is str:
            said: Block = {"type": "text", "text": text}
            return said if text else {**said, "provider_state": reading.state(form={"empty": True})}
        if (plain := _plain_part(part, place, reading)) is not None:
            return plain
    try:
        block = _known_part(part, place, reading)
    except UNREADABLE:
        block = None
    return opaque_part(part, reading) if block is None else block


def _plain_part(part: Wire, place: str, reading: Reading) -> Block | None:
    """The calls and results that are shaped as nearly all are."""
    if place == MODEL and type(call := part.get("functionCall")) is dict and len(call) == 2:
        name, arguments = call.get("name"), call.get("args")
        if type(name) is str and name and type(arguments) is dict:
            return {"type": "tool_use", "id": reading.call(name, None), "name": name, "input": arguments}
    elif place == USER and type(answer := part.get("functionResponse")) is dict and len(answer) == 2:
        name, response = answer.get("name"), answer.get("response")
        if type(name) is str and type(response) is dict and len(response) == 1:
            text = response.get("result")
            if type(text) is str and (call_id := reading.plain_result(name)) is not None:
                return {"type": "tool_result", "tool_use_id": call_id, "content": [{"type": "text", "text": text}]}
    return None


def opaque_part(part: Wire, reading: Reading) -> Block:
    """A part without canonical meaning, verbatim."""
    kind = next((CAMEL.get(name, name) for name in part if CAMEL.get(name, name) not in _SIBLINGS), "part")
    return {"type": "opaque", **reading.whose, "kind": kind, "value": part}


def _known_part(part: Wire, place: str, reading: Reading) -> Block | None:
    members, snake = camelised(part), snaked(part)
    named = [name for name in _DATA if name in members]
    if len(named) > 1 or (not named and not (members.get("thought") is True and members.keys() <= _SIBLINGS)):
        return None
    kind = named[0] if named else "text"
    fields: dict[str, Any] = {}
    form: dict[str, Any] = {} if named else {"absent": True}
    inner: Any = members.get(kind, "")
    if kind != "text":
        if type(inner) is not dict:
            return None
        snake += [f"{kind}.{name}" for name in snaked(inner)]
        inner = camelised(inner)
    signature = members.get("thoughtSignature")
    if signature is not None and type(signature) is not str:
        return None
    state: dict[str, Any] | None = None
    match kind:
        case "text" if type(inner) is not str:
            return None
        case "text" if members.get("thought") is True:
            block: Block = {"type": "thinking", "text": inner}
            state = reading.state()
            if signature is not None:
                block["signature"], signature = signature, None
        case "text":
            block = {"type": "text", "text": inner}
            if not inner:
                form["empty"] = True
        case "inlineData":
            block = _inline_from_wire(inner, fields, form)
        case "fileData":
            block = _file_from_wire(inner, fields, reading)
        case "functionCall":
            if place != MODEL:
                return None
            block, state = _call_from_wire(inner, fields, form, reading)
        case _:
            if place != USER:
                return None
            block, state = _result_from_wire(inner, fields, form, reading)
    for name, value in members.items():
        if name == kind or (name == "thoughtSignature" and value is not None):
            continue
        if name == "thought" and value is False:
            form["thought"] = False
        elif name == "mediaResolution" and block["type"] == "image" and (detail := _detail(value)) is not None:
            block["detail"] = detail
        elif not (name == "thought" and block["type"] == "thinking"):
            fields[name] = value
    if snake:
        form["snake"] = snake
    if fields or form or signature is not None or state is not None:
        block["provider_state"] = state = state or reading.state()
        if signature is not None:
            state["signature"] = signature
        if fields:
            state["fields"] = fields
        if form:
            state["form"] = form
    return block


def _rest(inner: Wire, known: tuple[str, ...], name: str, fields: dict[str, Any]) -> None:
    if not inner.keys() <= set(known):
        fields[name] = {key: value for key, value in inner.items() if key not in known}


_BLOCK_TYPES: Final = {"image": "image", "audio": "audio", "video": "video"}


def _block_type(media_type: str | None, uri: str = "") -> str:
    """The block that a medium is."""
    if media_type is None:
        return "video" if uri.startswith(_VIDEOS) else "document"
    return _BLOCK_TYPES.get(media_type.partition("/")[0].lower(), "document")


def _detail(resolution: Any) -> str | None:
    """How closely to look at an image; None for a resolution that the contract has no word for."""
    level = resolution.get("level") if type(resolution) is dict and len(resolution) == 1 else None
    return DETAIL.back.get(level) if type(level) is str else None


def _inline_from_wire(inner: Any, fields: dict[str, Any], form: dict[str, Any]) -> Block:
    media_type, data = inner["mimeType"], inner["data"]
    if type(data) is not str or not data or not MEDIA_TYPE.fullmatch(media_type):
        raise TypeError("inlineData")
    plain = _plain_base64(data)
    if not may_be_base64(plain):
        raise TypeError("inlineData")
    if plain != data:
        spelling = {"url_safe": "-" in data or "_" in data, "padded": len(plain) == len(data)}
        if _base64_as(plain, spelling) == data:
            form["base64"], data = spelling, plain
    _rest(inner, ("mimeType", "data"), "inlineData", fields)
    source = {"kind": "base64", "data": data}
    return {"type": _block_type(media_type), "source": source, "media_type": media_type}


def _plain_base64(data: str) -> str:
    """Base64 in the usual alphabet and with its padding."""
    if "-" in data or "_" in data:
        data = data.replace("-", "+").replace("_", "/")
    return data + "=" * (-len(data) % 4)


def _base64_as(data: str, spelling: Mapping[str, Any]) -> str:
    if spelling["url_safe"]:
        data = data.replace("+", "-").replace("/", "_")
    return data if spelling["padded"] else data.rstrip("=")


_VIDEOS: Final = ("https://www.youtube.com/", "https://youtube.com/", "https://youtu.be/")
_OWN_FILES: Final = "https://generativelanguage.googleapis.com/"
_FILE_URIS: Final = (_OWN_FILES, *_VIDEOS)


def _file_from_wire(inner: Any, fields: dict[str, Any], reading: Reading) -> Block:
    media_type, uri = inner.get("mimeType"), inner["fileUri"]
    if type(uri) is not str or (media_type is not None and not MEDIA_TYPE.fullmatch(media_type)):
        raise TypeError("fileData")
    known = ("fileUri", "mimeType") if media_type is not None else ("fileUri",)
    _rest(inner, known, "fileData", fields)
    source: dict[str, Any] = {"kind": _uri_kind(uri), "data": uri}
    if source["kind"] == "file_id":
        source["provider"] = reading.provider
    block: Block = {"type": _block_type(media_type, uri), "source": source}
    if media_type is not None:
        block["media_type"] = media_type
    return block


def _uri_kind(uri: str) -> str:
    """A file that the provider keeps has an id, anything else an address."""
    return "file_id" if uri.startswith(_OWN_FILES) or "://" not in uri else "url"


def _call_from_wire(
    inner: Any, fields: dict[str, Any], form: dict[str, Any], reading: Reading
) -> tuple[Block, dict[str, Any] | None]:
    name, arguments, wire_id = inner["name"], inner.get("args"), inner.get("id")
    if type(name) is not str or not name or (wire_id is not None and type(wire_id) is not str):
        raise TypeError("functionCall")
    if arguments is None:
        form["args"] = "null" if "args" in inner else "absent"
        arguments = {}
    elif type(arguments) is not dict:
        raise TypeError("args")
    known = ("name", "args", "id") if wire_id is not None else ("name", "args")
    _rest(inner, known, "functionCall", fields)
    block = {"type": "tool_use", "id": reading.call(name, wire_id or None), "name": name, "input": arguments}
    return block, (reading.state(id=wire_id) if wire_id is not None else None)


def _result_from_wire(
    inner: Any, fields: dict[str, Any], form: dict[str, Any], reading: Reading
) -> tuple[Block, dict[str, Any] | None]:
    name, wire_id = inner.get("name", ""), inner.get("id")
    if type(name) is not str or (wire_id is not None and type(wire_id) is not str):
        raise TypeError("functionResponse")
    content, is_error = _unwrapped(inner.get("response", _ABSENT), form)
    known = ("name", "response") if wire_id is None else ("name", "response", "id")
    if type(inner.get("parts")) is list:
        known = (*known, "parts")
        if not inner["parts"]:
            form["parts"] = True
        for part in inner["parts"]:
            if type(part) is not dict:
                raise TypeError("parts")
            block = block_from_part(part, RESULT, reading)
            content.append(opaque_part(part, reading) if block["type"] in ("text", "thinking") else block)
    _rest(inner, known, "functionResponse", fields)
    canonical, call_id, call_name = reading.result(name, wire_id or None)
    if call_name != name:
        form["name"] = name if "name" in inner else None
    state = None
    if wire_id != call_id:
        form["id"] = wire_id
    if wire_id is not None:
        state = reading.state(id=wire_id)
    result: Block = {"type": "tool_result", "tool_use_id": canonical, "content": content}
    if is_error:
        result["is_error"] = True
    return result, state


_ABSENT: Final = object()
_WRAPPERS: Final = ("result", "output", "error")


def _unwrapped(response: Any, form: dict[str, Any]) -> tuple[list[Block], bool]:
    """What a tool said, out of the object that the wire demands, and whether it failed (spec: results of tools)."""
    if response is _ABSENT or response is None:
        form["response"] = "absent" if response is _ABSENT else "null"
        return [], False
    if type(response) is not dict:
        raise TypeError("response")
    if not response:
        return [], False
    key, value = next(iter(response.items()))
    if len(response) > 1 or key not in _WRAPPERS:
        form["response"] = "object"
        return [{"type": "text", "text": json.dumps(response).decode()}], False
    if key == "output":
        form["key"] = key
    if key == "error" and value == "":
        return [], True
    if type(value) is str:
        return [{"type": "text", "text": value}], key == "error"
    if _is_texts(value):
        return [{"type": "text", "text": text} for text in value], key == "error"
    form["response"] = "json"
    return [{"type": "text", "text": json.dumps(value).decode()}], key == "error"


def _is_texts(value: Any) -> bool:
    return type(value) is list and len(value) > 1 and all(type(text) is str for text in value)


# ---------------------------------------------------------------------------------------------- to the wire

_TEXT: Final = BLOCK_MEMBERS | {"text", "citations", "refusal"}
_MEDIUM: Final = BLOCK_MEMBERS | {"source", "media_type"}
_MEDIA_EXTRAS: Final = ("detail", "transcript", "name", "title", "context", "citations_enabled")
_OPAQUE: Final = BLOCK_MEMBERS | {"adapter", "provider", "origin", "kind", "value"}
_MEDIA: Final = ("image", "audio", "video", "document")


def parts_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """The blocks of one place on the wire; those that it cannot carry are reported."""
    parts: list[Wire] = []
    for position, block in enumerate(blocks):
        kind: str = block["type"]
        if kind == "text" and len(block) == 2 and block["text"]:
            parts.append({"text": block["text"]})
        elif kind == "tool_use" and len(block) == 4 and place == MODEL:
            parts.append(_plain_call_to_wire(block, writing, (*path, position)))
        elif (part := part_to_wire(block, place, writing, (*path, position))) is not None:
            parts.append(part)
    return parts


def part_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """One block on the wire; None when this place cannot carry it, which is reported."""
    kind: str = block["type"]
    match kind:
        case "text":
            return _text_to_wire(block, writing, path)
        case "image" | "audio" | "video" | "document" if place != SYSTEM or writing.own:
            return _medium_to_wire(block, place, writing, path)
        case "tool_use" if place == MODEL:
            return _call_to_wire(block, writing, path)
        case "thinking" if place == MODEL or writing.own:
            return _thinking_to_wire(block, writing, path)
        case "redacted_thinking" if place == MODEL:
            return instead(block, writing, path, "foreign_state", "reasoning of another provider cannot be replayed")
        case "opaque" if place != SYSTEM or writing.own:
            return _opaque_to_wire(block, place, writing, path)
        case "tool_use" | "tool_result":
            message = f"a {kind} does not stand in a message of this role"
            raise InvalidRequest(message, path=pointer(path))
        case "image" | "audio" | "video" | "document" | "thinking" | "redacted_thinking" | "opaque":
            return instead(block, writing, path, "unsupported_block", f"{kind} has no form in this place")
        case _:
            return instead(block, writing, path, "unknown_block", "a block that this version does not know")


def instead(block: Block, writing: Writing, path: Path, code: str, message: str) -> Wire | None:
    """Reports a block that is not carried; the part that stands for it, where the policy asks for one."""
    text = writing.loss.block(path, block, code, "lost", message)
    return None if text is None else {"text": text["text"]}


def _reported(block: Block, known: frozenset[str], writing: Writing, path: Path) -> Mapping[str, Any]:
    """Reports the members that no item has a place for; gives the block's own provider state."""
    report_unknown(block, known, writing.loss, path)
    if block.get("cache") is not None:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")
    state: dict[str, Any] | None = block.get("provider_state")
    if state is None:
        return _NOTHING
    if writing.endpoint.owns(state):
        return state
    report_foreign_state(block, writing.endpoint, writing.loss, path)
    return _NOTHING


def _finished(block: Block, part: Wire, kind: str, known: frozenset[str], writing: Writing, path: Path) -> Wire:
    """The part with the members that all items have: the block's own provider state."""
    state = _reported(block, known, writing, path)
    if not state:
        return part
    signature = state.get("signature")
    if signature or (signature == "" and writing.own):
        if "thoughtSignature" in part:
            message = "the block has a signature of its own"
            writing.loss.drop((*path, "provider_state", "signature"), "combination", "shape", message)
        else:
            part["thoughtSignature"] = signature
    if fields := state.get("fields"):
        for name, value in fields.items():
            _replay(part, name, value, kind, writing, (*path, "provider_state", "fields", name))
    if form := state.get("form"):
        if form.get("thought") is False:
            part.setdefault("thought", False)
        if snake := form.get("snake"):
            return _respelt(part, kind, snake)
    return part


def _replay(part: Wire, name: str, value: Any, kind: str, writing: Writing, path: Path) -> None:
    if name == kind and type(value) is dict and kind != "text":
        for member, item in value.items():
            if part[kind].setdefault(member, item) is not item:
                writing.loss.drop((*path, member), "combination", "shape", "the canonical member says it already")
    elif name in part or name in _DATA:
        writing.loss.drop(path, "combination", "shape", "the canonical member says it already")
    else:
        part[name] = value


def _respelt(part: Wire, kind: str, snake: list[str]) -> Wire:
    """The part under the names that it came with."""
    inner = {CAMEL[name]: name for _, dot, name in (text.rpartition(".") for text in snake) if dot and name in CAMEL}
    if inner and type(part.get(kind)) is dict:
        part[kind] = {inner.get(name, name): value for name, value in part[kind].items()}
    outer = {CAMEL[name]: name for name in snake if name in CAMEL}
    return {outer.get(name, name): value for name, value in part.items()} if outer else part


# ------------------------------------------------------------------------------------------ text, reasoning, calls


def _text_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    text: str = block["text"]
    # an empty part that only carries a signature is the provider's own and goes back
    if not text and not _came_empty(block, writing):
        writing.loss.drop(path, "empty_content", "shape", "the target takes no empty text")
        return None
    _text_extras(block, writing, path)
    return _finished(block, {"text": text}, "text", _TEXT, writing, path)


def _came_empty(block: Block, writing: Writing) -> bool:
    """Whether an empty text is the provider's own, and not what an edit has left."""
    state = writing.owned(block)
    return bool(state.get("signature")) or (writing.own and bool((state.get("form") or {}).get("empty")))


def _text_extras(block: Block, writing: Writing, path: Path) -> None:
    if block.get("citations"):
        message = "citations have no form in requests"
        writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
    if block.get("refusal"):
        message = "the wire has no mark of refusal on text"
        writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", message)


def is_own_thinking(block: Block, writing: Writing) -> bool:
    """Whether reasoning came from here; a block that says no origin has that of its message."""
    state = block.get("provider_state")
    if state is not None:
        return writing.endpoint.owns(state)
    provider = (writing.message.get("metadata") or {}).get("provider")
    return provider is not None and provider == writing.endpoint.provider


def _thinking_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    text, signature = block["text"], block.get("signature")
    if not is_own_thinking(block, writing):
        if not signature and "provider_state" not in block:
            message = "reasoning is only taken back from where it came"
            return instead(block, writing, path, "unsigned_thinking", message)
        return instead(block, writing, path, "foreign_state", "reasoning of another provider cannot be replayed")
    if not text and not signature and not writing.own:
        writing.loss.drop(path, "empty_content", "shape", "the target takes no empty text")
        return None
    part: Wire = {"text": text, "thought": True}
    if (writing.owned(block).get("form") or _NOTHING).get("absent") and not text:
        del part["text"]
    if signature or (signature == "" and writing.own):
        part["thoughtSignature"] = signature
    elif writing.owned(block).get("signature"):
        message = "reasoning has its signature as a member"
        writing.loss.move((*path, "provider_state", "signature"), (*path, "signature"), "combination", "shape", message)
    return _finished(block, part, "text", THINKING_MEMBERS, writing, path)


def _plain_call_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A call that says no more than it must."""
    return {"functionCall": {"name": writing.call(block, path, None), "args": block["input"]}}


def _call_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    if len(block) == 4 or (len(block) == 5 and is_only_named(block, writing.endpoint)):
        return _plain_call_to_wire(block, writing, path)
    wire_id = writing.owned(block).get("id")
    call: Wire = {"name": writing.call(block, path, wire_id or None), "args": block["input"]}
    if wire_id is not None:
        call["id"] = wire_id
    if "input_raw" in block or block.get("kind", "function") != "function":
        _free_text_to_wire(block, call, writing, path)
    if not call["args"] and (missing := (writing.owned(block).get("form") or _NOTHING).get("args")):
        if missing == "null":
            call["args"] = None
        else:
            del call["args"]
    return _finished(block, {"functionCall": call}, "functionCall", CALL_MEMBERS, writing, path)


def _free_text_to_wire(block: Block, call: Wire, writing: Writing, path: Path) -> None:
    """Arguments that are not an object: a free text travels as the one argument `input`."""
    if block.get("kind", "function") != "function":
        call["args"] = arguments = {"input": block.get("input_raw", "")}
        message = "a free-text call travels as a call with one text argument"
        writing.loss.replace((*path, "input"), arguments, "custom_tool", "shape", message)
        writing.loss.drop((*path, "kind"), "custom_tool", "shape", message)
        if "input_raw" in block:
            writing.loss.drop((*path, "input_raw"), "custom_tool", "shape", message)
    else:
        message = "the wire takes a JSON object as arguments"
        writing.loss.drop((*path, "input_raw"), "arguments_invalid", "lost", message)


_MODEL_ITEMS: Final = frozenset(("executableCode", "codeExecutionResult", "toolCall", "toolResponse"))


def _opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if not writing.endpoint.owns(block):
        return instead(block, writing, path, "foreign_state", "an item of another provider has no meaning here")
    if not block["value"] and not writing.own:
        return instead(block, writing, path, "empty_content", "the target takes no empty part")
    value: Wire = dict(block["value"])
    kind = next((CAMEL.get(name, name) for name in value if CAMEL.get(name, name) not in _SIBLINGS), "part")
    if place != MODEL and kind in _MODEL_ITEMS and not writing.own:
        return instead(block, writing, path, "unsupported_block", "the item has no form in this place")
    if kind != block.get("kind"):
        writing.loss.replace((*path, "kind"), kind, "name_rewritten", "shape", "the item itself says its kind")
    # the item is verbatim: what its block says beside it has no place in it
    _reported(block, _OPAQUE, writing, path)
    _report_stateless(block, "the item goes back verbatim", writing, path)
    return value


def _report_stateless(block: Block, message: str, writing: Writing, path: Path) -> None:
    """Reports the own state of a block that has no members of its own on the wire."""
    state = writing.owned(block)
    if state.get("signature"):
        writing.loss.drop((*path, "provider_state", "signature"), "unsupported_field", "lost", message)
    for name in state.get("fields") or ():
        writing.loss.drop((*path, "provider_state", "fields", name), "unsupported_field", "weakened", message)


# ------------------------------------------------------------------------------------------ media

_IMAGES: Final = frozenset(("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"))
_DOCUMENTS: Final = frozenset(("application/pdf", "application/json", "application/rtf", "application/x-javascript", "application/x-python"))  # fmt: skip
_DEFAULT_TYPES: Final = {
    "image": "image/jpeg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "document": "application/pdf",
}
# the first bytes of each format, in base64
_STARTS: Final = {
    "/9j/": "image/jpeg",
    "iVBORw0KGgo": "image/png",
    "R0lGOD": "image/gif",
    "JVBERi": "application/pdf",
    "SUQz": "audio/mpeg",
    "T2dnUw": "audio/ogg",
    "ZkxhQ": "audio/flac",
}


def _sniffed(data: str, block_type: str) -> str:
    """The media type that the first bytes tell, else the usual one of such a block."""
    if data.startswith("UklGR"):
        # bytes 8 to 11 begin inside a group of the base64
        try:
            head = base64.b64decode(data[:16])
        except ValueError:
            head = b""
        if head[8:12] == b"WEBP":
            return "image/webp"
        if head[8:12] == b"WAVE":
            return "audio/wav"
    return next((kind for start, kind in _STARTS.items() if data.startswith(start)), _DEFAULT_TYPES[block_type])


def _takes(media_type: str, place: str, writing: Writing) -> bool:
    """Whether the target takes a medium of this type in this place."""
    kind = _block_type(media_type)
    if kind == "image":
        return media_type in writing.capabilities.get("accepted_image_media_types", _IMAGES)
    if kind == "document":
        return media_type in _DOCUMENTS or media_type.startswith("text/")
    return place != RESULT


def _medium_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    source, block_type = block["source"], block["type"]
    if writing.lacks(f"supports_{block_type}s" if block_type in ("image", "document") else f"supports_{block_type}"):
        return instead(block, writing, path, "unsupported_model", f"the model takes no {block_type}")
    data = source.get("data") or ""
    kind, media_type = source["kind"], block.get("media_type")
    new_source: dict[str, Any] | None = None
    if kind == "text":
        kind, data = "base64", base64.b64encode(data.encode()).decode()
        media_type = media_type if media_type is not None and media_type.startswith("text/") else "text/plain"
        new_source = {"kind": kind, "data": data}
    elif kind == "url" and (inline := parse_data_uri(data)) is not None:
        kind, media_type, data = "base64", inline[0] or media_type, inline[1]
        new_source = {"kind": kind, "data": data}
    if writing.own:
        fitted = media_type
    else:
        refusal = _source_refused(kind, data, source, writing)
        if refusal is not None:
            return instead(block, writing, path, "unsupported_source", refusal)
        fitted = _fitted_type(kind, data, media_type, block_type)
        if fitted is not None and not _takes(fitted, place, writing):
            return instead(block, writing, path, "unsupported_source", "the target does not take this media type")
        if kind != "base64" and kind != _uri_kind(data):
            new_source = {"kind": _uri_kind(data), "data": data}
        elif kind == "base64" and (plain := _plain_base64(data)) != data:
            data, new_source = plain, {"kind": "base64", "data": plain}
        if kind == "base64" and not may_be_base64(data):
            return instead(block, writing, path, "unsupported_source", "the data is no base64")
    part: Wire = {}
    if block_type == "image" and block.get("detail") in DETAIL.there and _takes_detail(place, writing):
        part["mediaResolution"] = {"level": DETAIL.there[block["detail"]]}
    _report_medium(block, fitted, data if kind != "base64" else "", new_source, part, writing, path)
    if kind == "base64":
        form = writing.owned(block).get("form") or _NOTHING
        if "base64" in form:
            data = _base64_as(data, form["base64"])
        part["inlineData"] = {"mimeType": fitted, "data": data}
        return _finished(block, part, "inlineData", _KNOWN_MEDIUM, writing, path)
    part["fileData"] = file = {"fileUri": data}
    if fitted is not None:
        file["mimeType"] = fitted
    return _finished(block, part, "fileData", _KNOWN_MEDIUM, writing, path)


def _takes_detail(place: str, writing: Writing) -> bool:
    """Whether a part says how closely to look at it."""
    taken = writing.capabilities.get("media_resolution")
    return writing.own or (place != RESULT and (writing.generation(0) > 2 if taken is None else taken is True))


_KNOWN_MEDIUM: Final = _MEDIUM | frozenset(_MEDIA_EXTRAS)


def _source_refused(kind: str, data: str, source: Mapping[str, Any], writing: Writing) -> str | None:
    if not data:
        return "there is nothing to send"
    match kind:
        case "base64":
            return None
        case "file_id" if source.get("provider") not in (None, writing.endpoint.provider):
            return "a file of another provider"
        case "file_id" | "url":
            taken = writing.dialect.get("file_uris", _FILE_URIS)
            return None if data.startswith(tuple(taken)) else "the target does not fetch this address"
        case "file_ref":
            return WORKSPACE
        case _:
            return "the target takes no medium of this source"


def _fitted_type(kind: str, data: str, media_type: str | None, block_type: str) -> str | None:
    if media_type is None:
        if kind == "base64":
            return _sniffed(data, block_type)
        return None if _block_type(None, data) == block_type else _DEFAULT_TYPES[block_type]
    bare = media_type.partition(";")[0].strip().lower()
    if bare == "image/jpg":
        return "image/jpeg"
    if bare.endswith("/*"):
        return _sniffed(data, block_type) if kind == "base64" else _DEFAULT_TYPES[block_type]
    return bare


def _report_medium(
    block: Block,
    media_type: str | None,
    uri: str,
    source: dict[str, Any] | None,
    part: Wire,
    writing: Writing,
    path: Path,
) -> None:
    loss = writing.loss
    if source is not None:
        loss.replace((*path, "source"), source, "unsupported_source", "shape", "the same medium in another form")
    given = block.get("media_type")
    if media_type != given:
        code = "required_default" if given is None else "unsupported_value"
        loss.replace((*path, "media_type"), media_type, code, "shape", "the media type as the target knows it")
    read = _block_type(media_type, uri)
    if read != block["type"]:
        loss.replace((*path, "type"), read, "unsupported_value", "shape", "the media type says what a medium is")
    for name in _MEDIA_EXTRAS:
        if block.get(name) not in (None, False) and not (name == "detail" and part):
            severity = "shape" if block[name] in ("", "auto") else "weakened"
            loss.drop((*path, name), "unsupported_field", severity, f"the wire has no {name.replace('_', ' ')} here")


# ------------------------------------------------------------------------------------------ results


def result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A tool result. Media that cannot stand in one are noted to travel in the next user content."""
    content: list[Block] = block["content"]
    if len(block) == 3 and len(content) == 1 and len(said := content[0]) == 2 and said["type"] == "text":
        called, call_id = _answered(block, writing, _NOTHING, path)
        answer: Wire = {"name": called, "response": {"result": said["text"]}}
        if call_id is not None:
            answer["id"] = call_id
        return {"functionResponse": answer}
    texts: list[str] = []
    media: list[Wire] = []
    late: list[Wire] = []
    inside = writing.own or (writing.capabilities.get("tool_result_media") is not False and writing.generation(3) > 2)
    last_text = max((at for at, item in enumerate(content) if _may_be_text(item, inside, writing)), default=-1)
    for position, item in enumerate(content):
        kind = item["type"]
        where = (*path, "content", position)
        if len(item) == 2 and kind == "text":
            texts.append(item["text"])
        elif (part := _said(item, writing, where)) is None:
            continue
        elif kind in _MEDIA and "text" not in part and not inside:
            texts.append(f"[{kind} {len(writing.outside) + 1}: see the next user message]")
            writing.outside.append((where, texts[-1], part))
        elif "text" in part and (kind != "opaque" or "text" not in item["value"]):
            texts.append(part["text"])
        elif position < last_text:
            writing.moves.append((where, (*path, "content", "-")))
            late.append(part)
        else:
            media.append(part)
    form = writing.owned(block).get("form") or _NOTHING
    name, wire_id = _answered(block, writing, form, path)
    response: Wire = {"name": name, "response": _wrapped(texts, bool(block.get("is_error")), form)}
    if wire_id is not None:
        response["id"] = wire_id
    if form and writing.own:
        _result_form(response, form)
    if media or late or (form.get("parts") and writing.own):
        response["parts"] = media + late
    if block.get("is_error"):
        message = "the failure travels as the member error of the response"
        writing.loss.replace((*path, "is_error"), True, "envelope", "shape", message)
        if texts == [""]:
            first = next(at for at, item in enumerate(content) if item["type"] == "text")
            message = "a failure without a text is the empty text on the wire"
            writing.loss.drop((*path, "content", first), "empty_content", "shape", message)
    return _finished(block, {"functionResponse": response}, "functionResponse", RESULT_MEMBERS, writing, path)


def _answered(block: Block, writing: Writing, form: Mapping[str, Any], path: Path) -> tuple[str, str | None]:
    """The wire name and id of the call that a result answers. A result of none goes back only as it came."""
    call = writing.calls.get(block["tool_use_id"])
    if call is None and not (writing.own and "name" in form):
        message = "the result answers no call before it"
        raise InvalidRequest(message, path=pointer((*path, "tool_use_id")))
    return call or ("", None)


def _may_be_text(item: Block, inside: bool, writing: Writing) -> bool:
    """Whether a block of a result is said in its text."""
    kind = item["type"]
    return kind == "text" or writing.loss.placeholders or (kind in _MEDIA and not inside)


def _said(item: Block, writing: Writing, path: Path) -> Wire | None:
    """A block of a result as a part; texts have no members of their own inside a result."""
    if item["type"] != "text":
        return part_to_wire(item, RESULT, writing, path)
    _text_extras(item, writing, path)
    _reported(item, _TEXT, writing, path)
    _report_stateless(item, "a text of a result has no members of its own", writing, path)
    return {"text": item["text"]}


def _result_form(response: Wire, form: Mapping[str, Any]) -> None:
    if "name" in form:
        response["name"] = form["name"]
        if form["name"] is None:
            del response["name"]
    if "id" in form:
        if form["id"] is None:
            response.pop("id", None)
        else:
            response["id"] = form["id"]
    if response["response"]:
        return
    if form.get("response") == "absent":
        del response["response"]
    elif form.get("response") == "null":
        response["response"] = None


def _wrapped(texts: list[str], is_error: bool, form: Mapping[str, Any]) -> Wire:
    """What a tool said as the object that the wire demands: the reverse of `_unwrapped`."""
    key = "error" if is_error else form.get("key", "result")
    if len(texts) == 1:
        match form.get("response"):
            case "object" if not is_error and (value := parse_arguments(texts[0])):
                if (len(value) > 1 or next(iter(value)) not in _WRAPPERS) and arguments_text(value) == texts[0]:
                    return value
            case "json" if (found := _json_value(texts[0])) is not _ABSENT:
                return {key: found}
            case _:
                pass
        return {key: texts[0]}
    return {key: texts} if texts else {key: ""} if is_error else {}


def _json_value(text: str) -> Any:
    try:
        value = json.loads(text)
    except InvalidRequest:
        return _ABSENT
    return _ABSENT if type(value) is str or _is_texts(value) or json.dumps(value).decode() != text else value
