"""
Who is let in at all, before anything is read: the names that `Host` may have, the origin of web pages, and how many
calls run at a time (spec/11-gateway.md#origin, #calls-in-flight).
"""

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from interlingua.gateway.refusals import Refused

Fail = Callable[[Request, Refused], Response]

_RETRY_AFTER_S = 1.0


class Guard:
    """Lets a call through to `app`, or answers it with a refusal in the words of its wire (`fail`).

    `names` are those that `Host` may have; None when any is taken. Names have no port.
    """

    def __init__(self, app: ASGIApp, fail: Fail, names: frozenset[str] | None, most: int) -> None:
        self._app = app
        self._fail = fail
        self._names = names
        self._most = most
        self.running = 0
        """How many calls run now."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one call."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            await self._fail(Request(scope), refused)(scope, receive, send)
            return
        self.running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self.running -= 1

    def _refused(self, scope: Scope) -> Refused | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self._names is not None and name_of(host) not in self._names:
            return Refused("permission", "this gateway does not serve the host that the call names", 403)
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin.decode("latin-1").lower()).netloc != host:
            return Refused("permission", "this gateway takes no calls from pages of another origin", 403)
        if self.running >= self._most:
            message = f"the gateway runs {self._most} calls, as many as it takes at a time"
            return Refused("overloaded", message, 503, retry_after=_RETRY_AFTER_S)
        return None


def name_of(host: str) -> str:
    """The name in a `Host` header, without the port."""
    return host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]


LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
