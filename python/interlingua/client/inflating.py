"""
Responses that a provider compressed. We request no compression; a body that a server compresses nevertheless is
decompressed, within limits (spec/9-service.md#inflated-answers).
"""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any

from interlingua.client.transport import TransportFailed

_PIECE = 64 << 10  # bytes of a response that are inflated at a time
_ALWAYS_ALLOWED = 16 << 20  # bytes of a response that any number of compressed bytes may inflate to
_MAX_RATIO = 100  # beyond those, so many bytes for each compressed byte: ten times the ratio of text and JSON


async def inflated(body: AsyncIterable[bytes], encoding: str) -> AsyncGenerator[bytes, None]:
    """Decompress a body.

    Raises `TransportFailed` for a broken one, and for one that inflates to more than its compressed size allows, before
    it is inflated further."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        text = f"the provider compressed its answer ({encoding[:20]}), which was not requested"
        raise TransportFailed("network", text)
    received = inflated = 0
    inflate: Any = None
    try:
        async for chunk in body:
            received += len(chunk)
            if not chunk:
                continue
            if inflate is None:
                # `deflate` means the format of zlib; some servers omit its header
                bare = encoding == "deflate" and chunk[0] & 0x0F != zlib.DEFLATED
                inflate = zlib.decompressobj(-zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32)
            rest = chunk
            while rest:
                piece = inflate.decompress(rest, _PIECE)
                rest = inflate.unconsumed_tail
                inflated += len(piece)
                if inflated > _ALWAYS_ALLOWED and inflated > _MAX_RATIO * received:
                    text = (
                        f"the provider's compressed answer of {received} bytes inflates to more than {inflated} bytes"
                    )
                    raise TransportFailed("network", text, retryable=False)
                if piece:
                    yield piece
                if inflate.eof:
                    break
        if inflate is not None and (piece := inflate.flush()):
            yield piece
    except zlib.error:
        raise TransportFailed("network", "the provider's compressed answer is broken") from None
