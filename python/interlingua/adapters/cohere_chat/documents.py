"""
Read and write documents, on which the model bases its answer and which it cites.

The wire lists them next to the messages. The model reads them before the last user message, so the reader places them at the
beginning of this message. A document is a text, or an object of which the model reads every member with its name.
"""

from typing import Any, Final

from interlingua.adapters._content.media import TEXT, Medium, sent_as, words_of
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, read_item, write_item
from interlingua.adapters._engine.kit import arguments_text, parse_arguments
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.verbatim import keep_item, put_back_item
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters.cohere_chat.tables import Writing
from interlingua.canonical.loss import Loss, Path

Block = dict[str, Any]
Message = dict[str, Any]

LISTED: Final = "documents"
"""The place of a document that was read from the list next to the messages."""
_TEXT, _JSON = "text/plain", "application/json"
_DESCRIBED: Final = ("title", "context")
_WORDS: Final = ("text", "title", "context")


# ---------------------------------------------------------------------------------------------- from the wire


def documents_from_wire(documents: Any, cited: bool, messages: list[Message], reading: Reading) -> bool:
    """Put the documents of a request before the last user message. Return whether all could be read and there is such a message.

    `cited` is whether the response is to cite them.
    """
    last = last_of_user(messages)
    if type(documents) is not list or last is None:
        return False
    try:
        blocks = [document_from_wire(document, reading, LISTED) for document in documents]
    except (KeyError, TypeError):
        return False
    writing = Writing({"messages": [], "provider_state": reading.endpoint.state()}, reading.endpoint, Loss())
    for position, block in enumerate(blocks):
        if cited:
            block["citations_enabled"] = True
        written = document_to_wire(block, ("messages", 0, "content", position), writing)
        keep_item(block, documents[position], written, reading.endpoint, writing.loss.entries)
        writing.loss.entries.clear()
    messages[last]["content"] = blocks + messages[last]["content"]
    return True


def last_of_user(messages: list[Message]) -> int | None:
    """Return the position of the last user message."""
    for position in range(len(messages) - 1, -1, -1):
        if messages[position]["role"] == "user":
            return position
    return None


def document_from_wire(document: Any, reading: Reading, place: str) -> Block:
    """Read a document. Raises KeyError or TypeError if it is not one."""
    block: Block = {"type": "document", "provider_state": reading.endpoint.state(encoding={"place": place})}
    if type(document) is str:
        reading.must_compare = True
        document = {"data": document}
    return read_item(_DOCUMENT, document, block, reading)


def _read_id(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not str:
        raise TypeError("id")
    block["provider_state"]["id"] = raw
    reading.must_compare = reading.must_compare or raw in reading.documents  # an id is written only once
    reading.documents.add(raw)


def _read_data(raw: Any, block: Block, reading: Reading) -> None:
    block["media_type"], words = _TEXT, raw
    reading.must_compare = reading.must_compare or type(raw) is str
    if type(raw) is dict and _is_described(raw):
        words = raw["text"]
        block.update({name: raw[name] for name in _DESCRIBED if name in raw})
    elif type(raw) is dict:
        block["media_type"], words = _JSON, arguments_text(raw)
    elif type(raw) is not str:
        raise TypeError("data")
    reading.must_compare = reading.must_compare or not words
    block["source"] = {"kind": TEXT, "data": words}


def _is_described(data: dict[str, Any]) -> bool:
    return "text" in data and all(name in _WORDS and type(data[name]) is str for name in data)


# ---------------------------------------------------------------------------------------------- to the wire


def document_to_wire(block: Block, path: Path, writing: Writing) -> Any:
    """Write a document; report an empty one and return None. Raises `Refused` for a document that is not a text."""
    text = words_of(block)
    if text is None or block["source"].get("content") == []:
        raise Refused("unsupported_source", "the wire accepts documents only as text")
    sent_as(block, Medium(TEXT, text, block.get("media_type")), writing.loss, path)
    if not text:
        writing.loss.drop(path, "empty_content", "lost", "the provider does not accept an empty document")
        return None
    return write_item(_DOCUMENT, block, writing, path)


def listed_document(block: Block, path: Path, writing: Writing) -> Any:
    """Write a document of the list next to the messages, unchanged if it was read so; return None if it is not written."""
    before = len(writing.loss.entries)
    written = document_to_wire(block, path, writing)
    return put_back_item(block, written, writing.endpoint, writing.loss.entries[before:], writing.loss)


def _write_id(block: Block, writing: Writing, _: Path) -> Any:
    identity = writing.state_of(block).get("id", ABSENT)
    return identity if identity is ABSENT or writing.is_free(identity) else ABSENT


def _write_data(block: Block, writing: Writing, path: Path) -> Any:
    text = words_of(block) or ""
    media_type = block.get("media_type")
    parsed = parse_arguments(text) if media_type == _JSON else None
    described = {name: block[name] for name in _DESCRIBED if block.get(name) is not None}
    if parsed is not None and not described and arguments_text(parsed) == text and not _is_described(parsed):
        return parsed
    if media_type != _TEXT:
        message = "a document is plain text here"
        writing.loss.replace((*path, "media_type"), _TEXT, "unsupported_value", "representation", message)
    return {"text": text, **described}


_DOCUMENT: Final = ItemRow(
    {},
    Member("id", ("provider_state",), _read_id, _write_id, null=True),
    Member(
        "data",
        ("source", "media_type", "title", "context", "citations_enabled"),
        _read_data,
        _write_data,
        needed=True,
        null=True,
    ),
)
