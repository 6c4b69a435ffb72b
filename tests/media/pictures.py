"""Pictures and requests for the tests of this folder."""

import base64
import io
import random
from typing import Any

from interlingua.media import sniff

Data = dict[str, Any]

FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/bmp": "BMP",
    "image/tiff": "TIFF",
}


def picture(
    media_type: str = "image/png",
    size: tuple[int, int] = (64, 48),
    mode: str = "RGB",
    *,
    noisy: bool = False,
    **save: Any,
) -> bytes:
    """A picture of a size; a noisy one does not compress."""
    from PIL import Image

    if noisy:
        bands = len(Image.new(mode, (1, 1)).getbands())
        image = Image.frombytes(mode, size, random.Random(1).randbytes(size[0] * size[1] * bands))
    else:
        image = Image.linear_gradient("L").resize(size).convert(mode)
    into = io.BytesIO()
    image.save(into, format=FORMATS[media_type], **save)
    return into.getvalue()


def opened(data: bytes) -> Any:
    """The picture, decoded."""
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def image(data: bytes, media_type: str | None = None, **members: Any) -> Data:
    """An image block of some bytes, with the right media type unless told another."""
    source = {"kind": "base64", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source, "media_type": media_type or sniff(data) or "image/png", **members}


def medium(kind: str, data: str, type: str = "image", **members: Any) -> Data:
    """A block with a source of some kind."""
    return {"type": type, "source": {"kind": kind, "data": data}, **members}


def asking(*blocks: Data, **members: Any) -> Data:
    """A request with one user message."""
    return {"messages": [{"role": "user", "content": list(blocks)}], **members}


def data_of(block: Data) -> bytes:
    """The bytes of a block."""
    assert block["source"]["kind"] == "base64"
    return base64.b64decode(block["source"]["data"], validate=True)


def content(request: Data, message: int = 0) -> list[Data]:
    """The blocks of a message."""
    return request["messages"][message]["content"]
