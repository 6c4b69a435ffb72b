"""
Bodies of requests: read with a limit, a patience and the encodings that clients use (spec/11-gateway.md#body-limit).

What a body becomes is limited while it is decompressed, so that a small body cannot fill the memory. And what ends when the
client who sent the request goes away.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from starlette.requests import Request

from interlingua.canonical.errors import Cancelled
from interlingua.client.threads import done
from interlingua.gateway.refusals import Refused

T = TypeVar("T")

PATIENCE_S = 60.0
"""How long a client may take to send the next bytes of a body."""

WHOLE_PATIENCE_S = 600.0
"""How long a client may take to send a whole body."""

RAW_BODY = "interlingua.raw_body"
"""Where the scope of a call has its body when that was read to judge a signature."""

_GROWTH = 16  # how much larger a body may become, as a guess at the work of decompressing it


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request, decompressed. Raises `Refused` when it is too long, too slow, or encoded in another way."""
    body = await raw_body(request, limit)
    for encoding in reversed(_encodings(request)):
        body = await done(len(body) * _GROWTH, _DECODERS[encoding], body, limit)
    return body


async def raw_body(request: Request, limit: int) -> bytes:
    """The body of a request as it was sent; the same again for whoever asks later. Raises `Refused` as `read_body`."""
    kept: bytes | None = request.scope.get(RAW_BODY)
    if kept is not None:
        return kept
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_long(limit)
    return await _received(request, limit)


async def _received(request: Request, limit: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    clock = asyncio.get_running_loop().time
    end = clock() + WHOLE_PATIENCE_S
    more = True
    while more:
        try:
            async with asyncio.timeout(min(PATIENCE_S, end - clock())):
                message = await request.receive()
        except TimeoutError:
            text = f"the body stopped for {PATIENCE_S:.0f} s before its end, or took more than {WHOLE_PATIENCE_S:.0f} s"
            raise Refused("timeout", text, 408) from None
        if message["type"] == "http.disconnect":
            raise Cancelled("the client went away while it sent the body")
        length += len(message["body"])
        if length > limit:
            raise _too_long(limit)
        parts.append(message["body"])
        more = message["more_body"]
    return b"".join(parts)


def _encodings(request: Request) -> list[str]:
    """How a body is encoded, in the order in which that was done."""
    named = [word.strip().lower() for word in request.headers.get("content-encoding", "").split(",")]
    found = [word for word in named if word not in ("", "identity")]
    for word in found:
        if word not in _DECODERS:
            known = ", ".join(_DECODERS)
            raise Refused("invalid_request", f"bodies may be encoded as {known}; not as {word[:40]!r}", 415)
    if len(found) > 1:
        raise Refused("invalid_request", "a body may be encoded once", 415)
    return found


def _too_long(limit: int) -> Refused:
    return Refused("invalid_request", f"the body is longer than {limit} bytes", 413)


def _damaged(encoding: str) -> Refused:
    return Refused("invalid_request", f"the body is no {encoding} data", 400)


_ZSTD_PIECE = 512


def _gzip(body: bytes, limit: int) -> bytes:
    return _inflated(body, limit, zlib.MAX_WBITS | 16, "gzip")


def _deflate(body: bytes, limit: int) -> bytes:
    # some send the bare data without the zlib header that the standard asks for
    bare = not (body[:1] and body[0] & 0x0F == zlib.DEFLATED)
    return _inflated(body, limit, -zlib.MAX_WBITS if bare else zlib.MAX_WBITS, "deflate")


def _inflated(body: bytes, limit: int, window: int, encoding: str) -> bytes:
    parts: list[bytes] = []
    length = 0
    rest = body
    try:
        while rest:  # gzip may hold several members, one behind the other
            inflater = zlib.decompressobj(window)
            part = inflater.decompress(rest, limit + 1 - length)
            length += len(part)
            if length > limit:
                raise _too_long(limit)
            if not inflater.eof:
                raise _damaged(encoding)
            parts.append(part)
            rest = inflater.unused_data
    except zlib.error:
        raise _damaged(encoding) from None
    return b"".join(parts)


def _zstd(body: bytes, limit: int) -> bytes:
    import zstandard

    # a window above 8 MiB is what no client needs and RFC 9659 forbids in HTTP
    decompressor = zstandard.ZstdDecompressor(max_window_size=8 << 20)
    parts: list[bytes] = []
    length = at = 0
    try:
        while at < len(body):
            inflater = decompressor.decompressobj()
            while at < len(body) and not inflater.eof:
                # a block of 4 bytes may stand for 128 KiB: little is given at a time, so little can come of it
                piece = body[at : at + _ZSTD_PIECE]
                part = inflater.decompress(piece)
                at += len(piece) - len(inflater.unused_data)
                length += len(part)
                if length > limit:
                    raise _too_long(limit)
                parts.append(part)
            if not inflater.eof:
                raise _damaged("zstd")
    except zstandard.ZstdError:
        raise _damaged("zstd") from None
    return b"".join(parts)


def _brotli(body: bytes, limit: int) -> bytes:
    import brotli

    inflater: Any = brotli.Decompressor()
    parts: list[bytes] = []
    length = 0
    given = body
    try:
        while True:
            part: bytes = inflater.process(given, output_buffer_limit=min(limit + 1 - length, 1 << 20))
            given = b""
            length += len(part)
            if length > limit:
                raise _too_long(limit)
            parts.append(part)
            if inflater.is_finished():
                return b"".join(parts)
            if not part and inflater.can_accept_more_data():
                raise _damaged("br")
    except brotli.error:
        raise _damaged("br") from None


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
    "br": _brotli,
}


async def unless_ended(leaving: Awaitable[Any], work: Awaitable[T]) -> T:
    """What a piece of work gives; it is cancelled when `leaving` ends first, as the client goes away. Raises `Cancelled` then."""
    task = cast("asyncio.Task[object]", asyncio.current_task())
    before = task.cancelling()
    works, left = True, False

    def leave(gone: "asyncio.Future[Any]") -> None:
        nonlocal left
        if gone.cancelled():
            return
        gone.exception()  # looked at: whatever it is, nobody is there any more
        if works:
            left = True
            task.cancel()

    gone = asyncio.ensure_future(leaving)
    gone.add_done_callback(leave)
    try:
        return await work
    except asyncio.CancelledError:
        # ours, unless somebody else cancelled the task as well
        if left and task.uncancel() <= before:
            raise Cancelled("the client went away before its answer was there") from None
        raise
    finally:
        works = False
        gone.cancel()
