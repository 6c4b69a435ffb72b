"""
Bodies of requests: they are read with a limit of bytes, a limit of time, and in the encodings that clients use
(spec/11-gateway.md#body-limit).

The limit also holds for the decompressed body while it grows, so that a small body cannot fill the memory.
`unless_ended` cancels work when its client goes away.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from starlette.requests import Request

from interlingua.client.threads import done
from interlingua.refusals import Refused, client_gone

T = TypeVar("T")

PATIENCE_S = 60.0
"""How long a client may take to send the next bytes of a body."""

WHOLE_PATIENCE_S = 600.0
"""How long a client may take to send a whole body."""

RAW_BODY = "interlingua.raw_body"
"""The member of a call's scope that holds the body when the body was read to check a signature."""

_GROWTH = 16  # how many times larger a body may become: estimates the work of decompressing it


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body of a request, decompressed. Raises `Refused` when it is too long, too slow, or has another
    encoding."""
    body = await raw_body(request, limit)
    for encoding in reversed(_encodings(request)):
        body = await done(len(body) * _GROWTH, _DECODERS[encoding], body, limit)
    return body


async def raw_body(request: Request, limit: int) -> bytes:
    """Return the body of a request as it was sent. A body that the scope holds is not read again. Raises `Refused` like
    `read_body`."""
    stored: bytes | None = request.scope.get(RAW_BODY)
    if stored is not None:
        return stored
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
            raise body_too_slow() from None
        if message["type"] == "http.disconnect":
            raise client_gone("while it sent the body")
        length += len(message["body"])
        if length > limit:
            raise _too_long(limit)
        parts.append(message["body"])
        more = message["more_body"]
    return b"".join(parts)


def _encodings(request: Request) -> list[str]:
    """The encodings of a body, in the order in which they were applied."""
    names = [word.strip().lower() for word in request.headers.get("content-encoding", "").split(",")]
    encodings = [word for word in names if word not in ("", "identity")]
    for word in encodings:
        if word not in _DECODERS:
            known = ", ".join(_DECODERS)
            raise Refused(
                "invalid_request",
                f"the content encoding {word[:40]!r} is not supported; use one of {known}, or none",
                415,
            )
    if len(encodings) > 1:
        raise Refused("invalid_request", "the body has several content encodings; use one", 415)
    return encodings


def body_too_slow() -> Refused:
    """The refusal of a body that does not arrive in time."""
    text = (
        f"the body arrived too slowly: {PATIENCE_S:.0f} s without a byte, or more than {WHOLE_PATIENCE_S:.0f} s in all"
    )
    return Refused("timeout", text, 408)


def _too_long(limit: int) -> Refused:
    return Refused("invalid_request", f"the body is longer than {limit} bytes, the limit of this gateway", 413)


def _damaged(encoding: str) -> Refused:
    return Refused("invalid_request", f"the body is not valid {encoding}, which its content encoding states", 400)


_ZSTD_PIECE = 512


def _gzip(body: bytes, limit: int) -> bytes:
    return _inflated(body, limit, zlib.MAX_WBITS | 16, "gzip")


def _deflate(body: bytes, limit: int) -> bytes:
    # some clients send the bare data without the zlib header that the standard requires
    bare = not (body[:1] and body[0] & 0x0F == zlib.DEFLATED)
    return _inflated(body, limit, -zlib.MAX_WBITS if bare else zlib.MAX_WBITS, "deflate")


def _inflated(body: bytes, limit: int, window: int, encoding: str) -> bytes:
    parts: list[bytes] = []
    length = 0
    rest = body
    try:
        while rest:  # gzip data may consist of several members, one after another
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

    # no client needs a window above 8 MiB, and RFC 9659 forbids it in HTTP
    decompressor = zstandard.ZstdDecompressor(max_window_size=8 << 20)
    parts: list[bytes] = []
    length = at = 0
    try:
        while at < len(body):
            inflater = decompressor.decompressobj()
            while at < len(body) and not inflater.eof:
                # a block of 4 bytes may expand to 128 KiB: small pieces are decompressed at a time, so that the output
                # stays small
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
    data = body
    try:
        while True:
            part: bytes = inflater.process(data, output_buffer_limit=min(limit + 1 - length, 1 << 20))
            data = b""
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
    """Return the result of `work`. When `leaving` ends first because the client goes away, the work is cancelled and
    `Cancelled` is raised."""
    task = cast("asyncio.Task[object]", asyncio.current_task())
    cancellations_before = task.cancelling()
    works, cancelled_here = True, False

    def leave(departure: "asyncio.Future[Any]") -> None:
        nonlocal cancelled_here
        if departure.cancelled():
            return
        departure.exception()  # retrieved, so that it is not logged: nobody is there any more
        if works:
            cancelled_here = True
            task.cancel()

    departure = asyncio.ensure_future(leaving)
    departure.add_done_callback(leave)
    try:
        return await work
    except asyncio.CancelledError:
        # it is our own cancellation, unless other code cancelled the task as well
        if cancelled_here and task.uncancel() <= cancellations_before:
            raise client_gone("before its answer was complete") from None
        raise
    finally:
        works = False
        departure.cancel()
