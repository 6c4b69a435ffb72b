"""
Documents: what the model answers from and cites.

The wire lists them beside the messages; the model reads them before what the user said last, and there they stand in a
conversation. A document is a text, or an object of which the model reads every member with its name.
"""

from typing import Any, Final

from interlingua.adapters._items import report_unsaid
from interlingua.adapters._kit import (
    Wire,
    arguments_text,
    parse_arguments,
    report_foreign_state,
    report_own_state,
    report_unknown,
)
from interlingua.adapters._media import source_refused, text_of_bytes
from interlingua.adapters.cohere_chat.tables import Reading, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]
Message = dict[str, Any]

LISTED: Final = "documents"
"""The place of a document that stood beside the messages."""
_AS: Final = "document"
"""Spelling of a document: of what it came."""
_EMPTY: Final = "empty"
_AGAIN: Final = "again"
"""The spelling of an id that a document before has, too."""
_TEXT, _JSON = "text/plain", "application/json"
_DESCRIBED: Final = ("title", "context")
_WORDS: Final = ("text", "title", "context")
_BARE: Final = "text"
_STRING: Final = "string"
_COVERED: Final = frozenset(
    ("type", "critical", "provider_state", "source", "media_type", "title", "context", "citations_enabled")
)
_SOURCE: Final = frozenset(("kind", "data", "provider"))


# ---------------------------------------------------------------------------------------------- from the wire


def documents_from_wire(documents: Any, cited: bool, messages: list[Message], reading: Reading) -> bool:
    """Puts the documents of a request before what the user said last. Whether all could be read and have a place there.

    `cited`: the answer is to cite them.
    """
    last = last_of_user(messages)
    if type(documents) is not list or last is None:
        return False
    try:
        blocks = [document_from_wire(document, reading, LISTED) for document in documents]
    except (KeyError, TypeError):
        return False
    named: set[str] = set()
    for block in blocks:
        if cited:
            block["citations_enabled"] = True
        state = block["provider_state"]
        if (identity := state.get("id")) is not None:
            if identity in named:
                state["encoding"]["id"] = _AGAIN
            named.add(identity)
    messages[last]["content"] = blocks + messages[last]["content"]
    return True


def last_of_user(messages: list[Message]) -> int | None:
    """The position of what the user said last."""
    for position in range(len(messages) - 1, -1, -1):
        if messages[position]["role"] == "user":
            return position
    return None


def document_from_wire(document: Any, reading: Reading, place: str) -> Block:
    """A document. Raises KeyError or TypeError for what is none."""
    encoding: dict[str, Any] = {"place": place}
    state = reading.endpoint.state(encoding=encoding)
    data: Any = document
    if type(document) is dict:
        data = document["data"]
        if "id" in document:
            if type(document["id"]) is not str:
                raise TypeError("id")
            state["id"] = document["id"]
            reading.document(document["id"])
        if fields := {name: value for name, value in document.items() if name not in ("id", "data")}:
            state["fields"] = fields
    elif type(document) is str:
        encoding[_AS] = _BARE
    else:
        raise TypeError("document")
    block: Block = {"type": "document", "media_type": _TEXT}
    if type(data) is str:
        block["source"] = {"kind": "text", "data": data}
        if type(document) is dict:
            encoding[_AS] = _STRING
    elif type(data) is not dict:
        raise TypeError("data")
    elif _is_described(data):
        block["source"] = {"kind": "text", "data": data["text"]}
        block.update({name: data[name] for name in _DESCRIBED if name in data})
    else:
        block["media_type"] = _JSON
        block["source"] = {"kind": "text", "data": arguments_text(data)}
    if not block["source"]["data"]:
        encoding.setdefault(_AS, _EMPTY)
    block["provider_state"] = state
    return block


def _is_described(data: dict[str, Any]) -> bool:
    return "text" in data and all(name in _WORDS and type(data[name]) is str for name in data)


# ---------------------------------------------------------------------------------------------- to the wire


def document_refused(block: Block) -> tuple[str, str] | None:
    """Code and message when a document cannot be written."""
    source = block["source"]
    content: list[Block] = source.get("content") or []
    if source["kind"] == "text" or (
        source["kind"] == "blocks" and content and all(part["type"] == "text" for part in content)
    ):
        return None
    if text_of_bytes(block) is not None:
        return None
    return "unsupported_source", source_refused(block, "the wire takes documents as text")


def document_to_wire(block: Block, path: Path, writing: Writing) -> Any:
    """A document; None for one without words, which is reported."""
    text = _text_of(block, path, writing)
    spelt = writing.encoding_of(block).get(_AS)
    if not text and spelt is None:
        writing.loss.drop(path, "empty_content", "lost", "the provider takes no document without words")
        return None
    media_type = block.get("media_type")
    parsed = parse_arguments(text) if media_type == _JSON else None
    described = {name: block[name] for name in _DESCRIBED if block.get(name) is not None}
    if parsed is not None and not described and arguments_text(parsed) == text and not _is_described(parsed):
        data: Any = parsed
    else:
        if media_type != _TEXT:
            message = "a document is a plain text here"
            writing.loss.replace((*path, "media_type"), _TEXT, "unsupported_value", "representation", message)
        data = text if spelt in (_BARE, _STRING) and not described else {"text": text, **described}
    state = block.get("provider_state")
    report_unsaid(block, _COVERED, writing.loss, path)
    wire: Wire = {"data": data}
    if state is None:
        return wire
    if not writing.endpoint.owns(state):
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        return wire
    report_own_state(state, writing.loss, path)
    if "id" in state and (writing.encoding_of(block).get("id") == _AGAIN or writing.is_free(state["id"])):
        wire = {"id": state["id"], **wire}
    wire.update(state.get("fields") or {})
    return text if spelt == _BARE and wire.keys() == {"data"} and data is text else wire


def _text_of(block: Block, path: Path, writing: Writing) -> str:
    source = block["source"]
    if source["kind"] == "text":
        report_unknown(source, _SOURCE, writing.loss, (*path, "source"))
        text: str = source.get("data") or ""
        return text
    if (whole := text_of_bytes(block)) is None:
        whole = "\n\n".join([part["text"] for part in source["content"]])
    message = "a document has one text here"
    value = {"kind": "text", "data": whole}
    writing.loss.replace((*path, "source"), value, "unsupported_source", "representation", message)
    return whole
