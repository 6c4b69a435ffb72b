"""
Answers that a provider compressed: none is asked for, and what a server compresses nevertheless is understood, within
limits (spec/9-service.md#inflated-answers).
"""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any

from interlingua.client.transport import TransportFailed

_PIECE = 64 << 10  # bytes of an answer that are inflated at a time
_FREE = 16 << 20  # bytes of an answer that may come out of any number of compressed ones
_MOST_TIMES = 100  # and beyond those, so many for each compressed byte: ten times what text and JSON give


async def inflated(body: AsyncIterable[bytes], encoding: str) -> AsyncGenerator[bytes, None]:
    """A compressed body as it was. Raises `TransportFailed` for one that is broken or was made to explode, before more of
    it is inflated than its own size allows."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise TransportFailed("network", f"the provider compressed its answer ({encoding[:20]}) without being asked to")
    received = inflated = 0
    inflate: Any = None
    try:
        async for chunk in body:
            received += len(chunk)
            if not chunk:
                continue
            if inflate is None:
                # `deflate` means the format of zlib; some servers leave its head away
                bare = encoding == "deflate" and chunk[0] & 0x0F != zlib.DEFLATED
                inflate = zlib.decompressobj(-zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32)
            rest = chunk
            while rest:
                piece = inflate.decompress(rest, _PIECE)
                rest = inflate.unconsumed_tail
                inflated += len(piece)
                if inflated > _FREE and inflated > _MOST_TIMES * received:
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
