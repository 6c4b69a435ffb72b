"""
The transport over httpx.

It uses httpx's own transport, one level below `AsyncClient`: cookies, redirects and the merging of URLs cost a third
of a call, and none of them is wanted here. Proxies of the environment are used.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Self, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from interlingua.client.cancellation import cancelled_at_waits
from interlingua.client.inflating import inflated
from interlingua.client.transport import TransportFailed


class HttpxTransport:
    """Calls over HTTP/1.1 with connections that are kept and used again.

    A connection belongs to the event loop that opened it: another loop, such as that of a second `asyncio.run`, opens
    its own.
    `verify` is the TLS context; by default it has the certificates that httpx trusts.
    `connections` limits the open connections, `connect_timeout` the wait for one, in seconds.
    """

    def __init__(
        self, *, verify: ssl.SSLContext | None = None, connections: int = 1_000, connect_timeout: float = 10.0
    ) -> None:
        self._verify = verify
        self._limits = httpx.Limits(max_connections=connections, max_keepalive_connections=100, keepalive_expiry=30.0)
        self._connect_timeout = connect_timeout
        self._pools: dict[str | None, httpx.AsyncHTTPTransport] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        idle: float | None,
    ) -> "HttpxAnswer":
        """Post a body (see `Transport`)."""
        connect = self._connect_timeout if idle is None else min(idle, self._connect_timeout)
        limits = {"connect": connect, "read": idle, "write": idle, "pool": connect}
        with _translated():
            request = httpx.Request("POST", url, headers=dict(headers), content=body, extensions={"timeout": limits})
            return await cancelled_at_waits(self._post(url, request), HttpxAnswer.aclose)

    async def pass_on(
        self,
        method: str,
        url: str,
        headers: Sequence[tuple[bytes, bytes]],
        body: AsyncIterator[bytes] | None,
        idle: float | None,
    ) -> "HttpxAnswer":
        """Send a call of any method. It has these headers and no others but `host`. A body is sent as it arrives.

        The body of the response is given as it was sent, compressed or not. Raises `TransportFailed`."""
        connect = self._connect_timeout if idle is None else min(idle, self._connect_timeout)
        limits = {"connect": connect, "read": idle, "write": idle, "pool": connect}
        with _translated():
            request = httpx.Request(method, url, headers=headers, content=body, extensions={"timeout": limits})
            answer = await cancelled_at_waits(self._post(url, request), HttpxAnswer.aclose)
        answer.as_sent = True
        return answer

    async def _post(self, url: str, request: httpx.Request) -> "HttpxAnswer":
        return HttpxAnswer(await self._pool(url).handle_async_request(request), request)

    async def aclose(self) -> None:
        """Close all connections."""
        self._leave_other_loop()
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    def _leave_other_loop(self) -> None:
        """Forget the connections of another event loop: only that loop could close them, and mostly it has ended."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._pools = {}

    def _pool(self, url: str) -> httpx.AsyncHTTPTransport:
        self._leave_other_loop()
        proxy = self.proxy_for(url)
        if proxy not in self._pools:
            self._pools[proxy] = httpx.AsyncHTTPTransport(verify=self._tls, limits=self._limits, proxy=proxy)
        return self._pools[proxy]

    def proxy_for(self, url: str) -> str | None:
        """The proxy through which a URL is called; None when it is called directly."""
        if not self._proxies:
            return None
        address = urlsplit(url)
        if proxy_bypass(address.netloc):
            return None
        return self._proxies.get(address.scheme) or self._proxies.get("all")

    @cached_property
    def _proxies(self) -> dict[str, str]:
        return getproxies()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # to load the certificates takes tens of milliseconds: once, and only when there is a call
        return self._verify or httpx.create_ssl_context()


class HttpxAnswer:
    """A response of httpx."""

    def __init__(self, response: httpx.Response, request: httpx.Request) -> None:
        response.request = request
        self._response = response
        self._body = self._read()
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.as_sent = False
        """Whether the body is given as it was sent; otherwise it is decompressed."""

    @property
    def raw_headers(self) -> Sequence[tuple[bytes, bytes]]:
        """The headers as received, repeated names included."""
        return self._response.headers.raw

    def chunks(self) -> AsyncIterator[bytes]:
        """The body, as it arrives."""
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        return await cancelled_at_waits(self._body.__anext__())

    async def aclose(self) -> None:
        """End the call. A connection with a body that was not read to its end is closed, also after a cancellation."""
        await cancelled_at_waits(self._close())

    async def _close(self) -> None:
        await self._body.aclose()
        with suppress(httpx.HTTPError):  # a broken connection is closed already
            await self._response.aclose()

    async def _read(self) -> AsyncGenerator[bytes, None]:
        body = cast("httpx.AsyncByteStream", self._response.stream)
        encoding = self.headers.get("content-encoding", "identity").strip().lower() or "identity"
        with _translated():
            # we request no compression; a body that a server compresses nevertheless is decompressed, within limits
            async for chunk in body if self.as_sent or encoding == "identity" else inflated(body, encoding):
                yield chunk


@contextmanager
def _translated() -> Generator[None]:
    """Turn the errors of httpx into ours.

    Only their names are passed on: their texts can quote a header, and a header can hold a key.
    """
    try:
        yield
    except httpx.TimeoutException as problem:
        text = f"the provider did not answer in time ({type(problem).__name__})"
        raise TransportFailed("timeout", text, sent=not isinstance(problem, _UNSENT)) from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        text = "the base URL cannot be used; it must begin with http:// or https://"
        raise TransportFailed("network", text, sent=False, retryable=False) from None
    except httpx.HTTPError as problem:
        text = f"the connection to the provider failed ({type(problem).__name__})"
        raise TransportFailed("network", text, sent=not isinstance(problem, _UNSENT)) from None


# no connection, or one on which the request was not sent completely
_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.LocalProtocolError,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.WriteError,
    httpx.WriteTimeout,
)
