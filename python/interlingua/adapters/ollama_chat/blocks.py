"""
Items that go back as they came; and images, which are bytes without an address, whose type the server tells by itself. Each is
written above read.
"""

from typing import Any, Final

from interlingua.adapters._kit import BLOCK_MEMBERS, parse_data_uri, report_unknown
from interlingua.adapters._media import may_be_base64, refuses_image, sniff, source_refused
from interlingua.adapters._messages import report_beside
from interlingua.adapters.ollama_chat.tables import IMAGES, Reading, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]


def opaque(value: Any, kind: str, reading: Reading) -> Block:
    """An item of the wire, kept whole."""
    if not isinstance(value, dict):
        raise TypeError(value)
    return {"type": "opaque", **reading.endpoint.state(), "kind": kind, "value": value}


_IMAGE: Final = BLOCK_MEMBERS - {"cache"} | {"source", "media_type"}
_SOURCE: Final = frozenset(("kind", "data", "provider"))


# ---------------------------------------------------------------------------------------------------- images, to the wire


def image_refused(block: Block, writing: Writing, *, answer: bool = False) -> tuple[str, str] | None:
    """Code and message when an image cannot be written.

    An answer has images only where it came from this wire with them: the clients of the wire do not agree on what an
    image of an answer is, and the official one for Python fails on the texts that its server would send.
    """
    if answer and not writing.owned(block):
        return "unsupported_block", "an answer has no images that every client of this wire can read"
    if writing.refuses("images", "image"):
        return "unsupported_model", "the model takes no image"
    if refuses_image(block, writing.capabilities) and not writing.verbatim("image"):
        return "unsupported_source", "the model does not take this media type"
    source = block["source"]
    data = source.get("data", "")
    if source["kind"] == "url":
        inline = parse_data_uri(data)
        data = inline[1] if inline is not None else ""
    if source["kind"] in ("base64", "url") and data and may_be_base64(data):
        return None
    return "unsupported_source", source_refused(block, "the wire takes images as base64 data only")


def image_to_wire(block: Block, path: Path, writing: Writing) -> str:
    """The base64 data of an image; the server tells its type from the bytes."""
    loss, source = writing.loss, block["source"]
    if len(block) > 3 or "media_type" not in block:
        report_beside(block, _IMAGE, writing, path)
    if len(source) > 2:
        report_unknown(source, _SOURCE, loss, (*path, "source"))
    data: str = source["data"]
    if source["kind"] == "url":
        _, data = parse_data_uri(data) or ("", "")
        value = {"kind": "base64", "data": data}
        loss.replace(
            (*path, "source"), value, "unsupported_source", "representation", "a data URI is written as its bytes"
        )
    told = sniff("image", data)
    if block.get("media_type") != told:
        code = "unsupported_value" if block.get("media_type") else "required_default"
        message = "the server tells the type of an image from its bytes"
        loss.replace((*path, "media_type"), told, code, "representation", message)
    return data


# ---------------------------------------------------------------------------------------------------- images, from the wire


def answered_image(image: Any, reading: Reading) -> Block:
    """An image of an answer, with its origin: it is written to this wire again, others are not."""
    block = image_from_wire(image, reading)
    if block["type"] == "image" and "provider_state" not in block:
        block["provider_state"] = reading.endpoint.state()
    return block


def image_from_wire(image: Any, reading: Reading) -> Block:
    """An image. The wire wants bare base64 data; servers that also take addresses are taken at their word."""
    if isinstance(image, str):
        if image and may_be_base64(image):
            source = {"kind": "base64", "data": image}
            return {"type": "image", "source": source, "media_type": sniff("image", image)}
        reading.unusual = True
        if (inline := parse_data_uri(image)) is not None and inline[1] and may_be_base64(inline[1]):
            source = {"kind": "base64", "data": inline[1]}
            block: Block = {"type": "image", "source": source, "media_type": sniff("image", inline[1])}
            return block
        if image.startswith(("http://", "https://")):
            return {"type": "image", "source": {"kind": "url", "data": image}}
    reading.unusual = True
    return opaque({"image": image}, IMAGES, reading)
