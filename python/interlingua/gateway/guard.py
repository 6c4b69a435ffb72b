"""
Admission of calls before they are read: the names that `Host` may have, the origin of web pages, and the number of
calls at a time (spec/11-gateway.md#origin, #calls-in-flight).
"""

import asyncio
import ipaddress
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interlingua.canonical.errors import InterlinguaError
from interlingua.refusals import Refused, calls_at_limit
from interlingua.verbs.calls import Calls

Fail = Callable[[Request, InterlinguaError], Response]

HEAD_LIMIT = 256 << 10
"""Bytes of a head: its line and its headers."""

_HEAD_TOO_LONG = 431
_RETRY_AFTER_S = 1.0
_LINGER_S = 1.0
_LINGER_BYTES = 16 << 20
_NOT_COUNTED = frozenset(("/healthz", "/metrics"))
"""These paths are served even when the gateway is full, so that it can report that it is alive."""
_BODY = frozenset((b"content-length", b"transfer-encoding"))
_ONCE = frozenset((b"host", b"origin", b"authorization", b"x-api-key", b"x-goog-api-key"))
"""Headers that may occur only once: a second one is a trick, because a proxy before the gateway may have used the
other."""


class Guard:
    """Forwards a call to `app`, or responds with a refusal, which `fail` writes as an error of the wire.

    `names` are the names that `Host` may have; with None it may have any. Names have no port.
    """

    def __init__(self, app: ASGIApp, fail: Fail, names: frozenset[str] | None, calls: Calls) -> None:
        self._app = app
        self._fail = fail
        self._names = names
        self._calls = calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one call."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["http_version"] != "2" and _has_body(scope):  # a stream of HTTP/2 ends without its connection
            receive, send = _closing_unread(receive, send)
        refusal = self._refusal(scope)
        if refusal is not None:
            response = self._fail(Request(scope), refusal)
            if refusal.status == _HEAD_TOO_LONG and scope["http_version"] != "2":
                response.headers["connection"] = "close"
            await response(scope, receive, send)
            return
        if scope["path"] in _NOT_COUNTED:
            await self._app(scope, receive, send)
            return
        try:
            self._calls.admit()
        except InterlinguaError as problem:
            await self._fail(Request(scope), problem)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._calls.left()

    def _refusal(self, scope: Scope) -> Refused | None:
        if _head_length(scope) > HEAD_LIMIT:
            return Refused("invalid_request", f"the head of the call is longer than {HEAD_LIMIT} bytes", _HEAD_TOO_LONG)
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        once = [name for name, _ in scope["headers"] if name in _ONCE]
        if len(once) > len(set(once)):
            return Refused(
                "invalid_request",
                "the call has a header twice that may occur once: host, origin, or one that holds a key",
                400,
            )
        if self._names is not None and name_of(host) not in self._names:
            return Refused(
                "permission",
                "this gateway is not known by the name in the header host; call it as localhost, or add the name with serve --name",
                403,
            )
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin.decode("latin-1").lower()).netloc != host:
            return Refused("permission", "this gateway accepts no calls from web pages of another origin", 403)
        if self._calls.full and scope["path"] not in _NOT_COUNTED:
            message = calls_at_limit("gateway", self._calls.limit)
            return Refused("overloaded", message, 503, retry_after=_RETRY_AFTER_S)
        return None


def _head_length(scope: Scope) -> int:
    """The bytes of a head. A head that arrives at once, with its end, is only measured here."""
    length = len(scope.get("raw_path", b"")) + len(scope["query_string"])
    for name, value in scope["headers"]:
        length += len(name) + len(value) + 4
    return length


def _has_body(scope: Scope) -> bool:
    return any(name in _BODY and value != b"0" for name, value in scope["headers"])


def _closing_unread(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Return `receive` and `send` of a call whose connection ends when the response is complete before the end of the
    body. Else a client could continue to send for ever, and nobody would read it.

    The gateway discards for a moment what the client still sends: a client that is writing when its connection ends may
    not read the response.
    """
    body_ended = False

    async def receive_part() -> Message:
        nonlocal body_ended
        message = await receive()
        body_ended = body_ended or not message.get("more_body", False)
        return message

    async def send_closing(message: Message) -> None:
        if body_ended:
            await send(message)
        elif message["type"] == "http.response.start":
            await send({**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]})
        elif message.get("more_body", False):
            await send(message)
        else:
            await send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(_LINGER_S):
                    bytes_left = _LINGER_BYTES
                    while not body_ended and bytes_left > 0:
                        bytes_left -= len((await receive_part()).get("body", b""))
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return receive_part, send_closing


def name_of(host: str) -> str:
    """The name in a `Host` header, without the port."""
    return host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]


LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
