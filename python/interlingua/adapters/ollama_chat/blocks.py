"""Images in both directions: bytes, of which the server detects the type; and items of the wire that are kept whole."""

from typing import Any, Final

from interlingua.adapters._content.media import (
    BYTES,
    WEB,
    Medium,
    located,
    may_be_base64,
    refuse_kind,
    refuse_source,
    sent_as,
    sniff,
    source_of,
)
from interlingua.adapters._engine.items import opaque
from interlingua.adapters._engine.kit import parse_data_uri
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import report_rest
from interlingua.adapters.ollama_chat.tables import IMAGES, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


_IMAGE: Final = frozenset(("type", "critical", "provider_state", "source", "media_type"))


def image_to_wire(block: Block, path: Path, writing: Writing) -> str:
    """Return the base64 data of an image; the server detects its type. Raises `Refused` for one that cannot be written.

    A response has images only if it was read from this wire with them. The clients of the wire do not agree on what an
    image of a response is, and the official Python client fails on the texts that its server would send.
    """
    if writing.answering and not writing.state_of(block):
        raise Refused("unsupported_block", "a response has no images that every client of this wire can read")
    refuse_kind(block, writing)
    data: str = located(block).data
    refuse_source(block, located(block), (BYTES,), writing)
    sent_as(block, Medium(BYTES, data, sniff("image", data)), writing.loss, path)
    report_rest(block, _IMAGE, writing, path)
    return data


# ---------------------------------------------------------------------------------------------------- from the wire


def answered_image(image: Any, reading: Reading) -> Block:
    """Read an image of a response, with its origin: the writer of responses refuses an image without one."""
    block = image_from_wire(image, reading)
    if block["type"] == "image":
        block["provider_state"] = reading.endpoint.state()
    return block


def image_from_wire(image: Any, reading: Reading) -> Block:
    """Read an image. The wire expects bare base64 data; an address, which some servers also take, is read as one."""
    if isinstance(image, str):
        inline = parse_data_uri(image)
        data = image if inline is None else inline[1]
        reading.must_compare = reading.must_compare or inline is not None
        if data and may_be_base64(data):
            return {
                "type": "image",
                "source": source_of(BYTES, data, reading.endpoint),
                "media_type": sniff("image", data),
            }
        reading.must_compare = True
        if image.startswith(("http://", "https://")):
            return {"type": "image", "source": source_of(WEB, image, reading.endpoint)}
    reading.must_compare = True
    return opaque({"image": image}, IMAGES, reading)
