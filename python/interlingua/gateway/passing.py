"""
Passing on: a call of an operation that the wire has and the gateway does not have is sent to a provider of that wire,
unchanged (spec/11-gateway.md#passthrough).

Bodies are streamed both ways and never read. The gateway checks only who calls, and where the call is sent.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from interlingua.access import Key
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    Cancelled,
    CannotAdapt,
    InterlinguaError,
    InvalidRequest,
    NotConfigured,
    ProviderError,
)
from interlingua.client import Client
from interlingua.client.answers import ERROR_BODY_LIMIT, whole
from interlingua.client.call import Limits
from interlingua.client.transport import TransportFailed
from interlingua.gateway.bodies import PATIENCE_S, RAW_BODY, body_too_slow, unless_ended
from interlingua.refusals import Refused, client_gone, not_priced
from interlingua.verbs.calls import Calls

if TYPE_CHECKING:
    from interlingua.client.httpx_transport import HttpxAnswer, HttpxTransport
    from interlingua.gateway.gateway import Gateway, Running

_WIRE_PATH = re.compile(r"/(?:upload/)?(?:v\d+(?:alpha|beta)?\d*|api|model)/(?!interlingua/)")
"""The beginnings of the paths of wires, after the name of a provider or without one. The gateway's own paths have none
of them."""

_VERSION = re.compile(r"v\d+(?:alpha|beta)?\d*")
_CONNECTION_HEADERS = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split()
)
_GATEWAY_HEADERS = frozenset(
    b"host expect authorization x-api-key api-key x-goog-api-key x-amz-date x-amz-security-token x-amz-content-sha256 "
    b"cookie origin referer forwarded via x-real-ip traceparent tracestate baggage".split()
)
"""Headers that hold a key of the gateway, on any wire, and headers that concern only the way from the client to the
gateway."""

_GATEWAY_HEADER_PREFIXES = (b"interlingua-", b"x-forwarded-", b"sec-")
_HOST_HEADERS = frozenset((b"date", b"set-cookie", b"alt-svc", b"strict-transport-security"))
"""Headers that a provider sends about its own host; the gateway is another host."""


class Target(NamedTuple):
    """Where a call is sent: the endpoint, and the path with the query as they were received."""

    endpoint: Endpoint
    path: str


class Passing:
    """Passes calls on. `client` holds the keys and the addresses of the providers."""

    def __init__(self, gateway: "Gateway", client: Client) -> None:
        self._gateway = gateway
        self._client = client
        self._transport: HttpxTransport | None = None

    async def aclose(self) -> None:
        """Close all connections. It may be called any number of times."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def answer(self, request: Request, adapter: str, is_served: Callable[[str], bool]) -> Response | None:
        """Return the provider's response, or an error of the wire; None for a path that belongs to no wire. `is_served`
        returns whether the gateway would serve this call itself at another path."""
        target = self._target(request, adapter)
        if target is None:
            return None
        running: Running | None = None
        try:
            gateway = self._gateway
            key = await gateway.caller(request)
            provider = target.endpoint.provider or ""
            _demand_passing(key, provider)
            gateway.access.admit(key)
            _refuse_ambiguous(target.path, is_served)
            running = gateway.begin(key, target.endpoint.adapter)
            running.call.asked_model = f"{request.method} {target.path.partition('?')[0][:200]}"
            running.changed()
            with gateway.in_flight.cut_off():
                return await self._pass_on(request, target, running)
        except Exception as problem:  # noqa: BLE001 each is written as an error of the wire
            return self._gateway.error_response(request, target.endpoint.adapter, problem, running)

    # ------------------------------------------------------------------------------------------------ the target

    def _target(self, request: Request, adapter: str) -> Target | None:
        """The provider that the path names, else the home provider of the client's wire. A provider that does not speak
        this wire is called in its own."""
        scope = request.scope
        path: str = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        registry = self._gateway.registry
        _, name, rest = (*path.split("/", 2), "", "")[:3]
        if registry.is_provider(name) and _WIRE_PATH.match(f"/{rest}"):
            row = registry.provider(name)
            wire = adapter if adapter in row.get("other_wires", {}) else row["adapter"]
            endpoint = registry.endpoint(adapter=wire, provider=name)
            path = f"/{rest}"
        elif _WIRE_PATH.match(path):
            endpoint = registry.endpoint(adapter=adapter)
        else:
            return None
        return Target(endpoint, path + _query(scope["query_string"]))

    def _url(self, target: Target) -> tuple[str, list[tuple[bytes, bytes]]]:
        """The address at the provider, and the headers that authorize the call. Raises the reason why the call cannot
        be made."""
        connection = self._client.connection(target.endpoint)
        provider = connection.provider
        missing = self._client.missing(provider)
        if missing and connection.signing is None:
            raise NotConfigured(provider, "; ".join(missing), adapter=target.endpoint.adapter)
        if connection.signing is not None and not connection.headers:
            raise CannotAdapt(
                f"calls to {provider} are signed, and only operations of the gateway can be; set an API key of {provider} "
                "to pass on others",
                adapter=target.endpoint.adapter,
            )
        url = connection.url(target.path)
        steps = target.path.split("/")
        base = (connection.base_url or "").rstrip("/")
        version = base.rpartition("/")[2]
        if _VERSION.fullmatch(version) and len(steps) > 3 and steps[1] != version and steps[2] == version:
            url = base.removesuffix(f"/{version}") + target.path  # /upload/v1beta/files is next to /v1beta
        if not url.startswith(("http://", "https://")):
            raise Refused(
                "not_found", f"{provider} is replayed from recordings here, so no call is passed on to it", 404
            )
        return url, [(name.encode("latin-1"), value.encode("latin-1")) for name, value in connection.headers.items()]

    # ------------------------------------------------------------------------------------------------ sending and responding

    async def _pass_on(self, request: Request, target: Target, running: "Running") -> Response:
        from interlingua.client.httpx_transport import HttpxTransport

        url, authorizing = self._url(target)
        headers = [(name, value) for name, value in _forwarded(request.scope["headers"], _is_gateway_header)]
        names = {name for name, _ in authorizing}
        headers = [(name, value) for name, value in headers if name not in names] + authorizing
        if self._transport is None:
            self._transport = HttpxTransport()
        body = _Body(request)
        provider = target.endpoint.provider or target.endpoint.adapter
        try:
            passing = self._transport.pass_on(
                request.method, url, headers, body.chunks() if body.is_present else None, Limits().idle
            )
            answer = await body.unless_gone(passing)
        except TransportFailed as problem:
            raise body.problem or _unreachable(problem, provider) from None
        return await self._respond(answer, body, running, authorizing, provider)

    async def _respond(
        self,
        answer: "HttpxAnswer",
        body: "_Body",
        running: "Running",
        authorizing: Iterable[tuple[bytes, bytes]],
        provider: str,
    ) -> Response:
        headers = list(_forwarded(answer.raw_headers, _is_host_header))
        headers += [(name.encode(), value.encode()) for name, value in running.headers().items()]
        if answer.status < 400:
            return _PassedResponse(answer, headers, body, running, provider, self._gateway.in_flight)
        # the text of a failure may quote the key. It is short, so the gateway reads it before it sends it
        answer.as_sent = False
        try:
            error_body = await body.unless_gone(whole(answer, ERROR_BODY_LIMIT, cut=True))
        except TransportFailed:
            error_body = b""
        finally:
            await answer.aclose()
        for _, value in authorizing:
            error_body = error_body.replace(value.rpartition(b" ")[2], b"[secret]")
        left_out = (b"content-length", b"content-encoding")
        response = Response(error_body, answer.status)
        length = (b"content-length", str(len(error_body)).encode())
        response.raw_headers = [*((name, value) for name, value in headers if name not in left_out), length]
        running.end(answer.status)
        return response


def _demand_passing(key: Key, provider: str) -> None:
    """Raise `Refused` for a key with which no call is passed on to a provider."""
    if not key.covers(f"{provider}:*"):
        message = f"calls to {provider} are passed on only for a key that may use all of its models; {key.name} may not"
        raise Refused("permission", message, 403, key=key.name)
    if key.needs_prices:
        raise not_priced(key.name, "the cost of a call that is passed on", "use another operation")


class _Body:
    """The body of a call while it arrives. After the end of the body, it reports when the client goes away."""

    def __init__(self, request: Request) -> None:
        self.problem: InterlinguaError | None = None
        """Why the body did not reach its end."""
        self._receive = request.receive
        self._body: bytes | None = request.scope.get(RAW_BODY)
        self.is_present = any(name in (b"content-length", b"transfer-encoding") for name, _ in request.scope["headers"])
        """Whether the call has a body, even an empty one."""
        self._ended = asyncio.Event()
        if self._body is not None or not self.is_present:
            self._ended.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The chunks of the body. Raises `TransportFailed` when the body does not reach its end; `problem` holds the
        reason."""
        if self._body is not None:  # it was read to check a signature
            yield self._body
            return
        more = self.is_present
        while more:
            try:
                async with asyncio.timeout(PATIENCE_S):
                    message = await self._receive()
            except TimeoutError:
                self.problem = body_too_slow()
                raise TransportFailed("network", "the client stopped") from None
            if message["type"] == "http.disconnect":
                self.problem = client_gone("while it sent the body")
                raise TransportFailed("network", "the client went away")
            more = message.get("more_body", False)
            if not more:
                self._ended.set()
            if message.get("body"):
                yield message["body"]

    async def wait_until_gone(self) -> None:
        """Return when the client has gone away. This is known only after the end of the body."""
        await self._ended.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def unless_gone(self, work: Any) -> Any:
        """Return the result of `work`. When the client goes away, the work is cancelled and `Cancelled` is raised."""
        return await unless_ended(self.wait_until_gone(), work)


class _PassedResponse(Response):
    """A response that is sent on as it arrives, until it ends or the client goes away."""

    def __init__(
        self,
        answer: "HttpxAnswer",
        headers: list[tuple[bytes, bytes]],
        body: _Body,
        running: "Running",
        provider: str,
        in_flight: Calls,
    ) -> None:
        self._answer = answer
        self._in_flight = in_flight
        self._body = body
        self._running = running
        self._provider = provider
        self.status_code = answer.status
        self.background = None
        self.raw_headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send the response."""
        problem: Exception | None = None
        try:
            with self._in_flight.cut_off():
                await self._body.unless_gone(self._send(send))
        except Cancelled as cancelled:
            problem = cancelled
        except OSError:
            problem = client_gone()
        except TransportFailed as failed:
            # the response gets no end, so the server closes the connection: a response that broke off must not look
            # complete
            problem = _unreachable(failed, self._provider)
        except ProviderError as cut_off:
            problem = cut_off
        finally:
            await self._answer.aclose()
            self._running.end(self.status_code, problem)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for chunk in self._answer.chunks():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


# ---------------------------------------------------------------------------------------------------- paths and headers


def _query(query: bytes) -> str:
    """The query as it was sent, without the key of the gateway, which Gemini's clients put there."""
    pairs = [pair for pair in query.split(b"&") if pair and unquote(pair.partition(b"=")[0].decode("latin-1")) != "key"]
    return f"?{b'&'.join(pairs).decode('latin-1')}" if pairs else ""


def _refuse_ambiguous(path: str, is_served: Callable[[str], bool]) -> None:
    """Raises `InvalidRequest` for a path that another server could interpret differently: one whose steps are empty or
    lead upwards, however they are encoded, or one that is a path of the gateway in another spelling."""
    decoded_path = path.partition("?")[0]
    while (decoded := unquote(decoded_path)) != decoded_path:
        decoded_path = decoded
    steps = re.split(r"[/\\]", decoded_path)[1:]
    is_ambiguous = any(step in ("", ".", "..") or ";" in step or step != step.strip() for step in steps)
    if is_ambiguous or not decoded_path.isprintable() or is_served(decoded_path.lower()):
        raise InvalidRequest(
            "the path cannot be passed on: it has an empty step, a step of dots alone, a semicolon or a control character, "
            "or it is a path of the gateway in another spelling"
        )


def _forwarded(headers: Iterable[tuple[bytes, bytes]], left_out: Any) -> Iterable[tuple[bytes, bytes]]:
    """Headers without those of one connection and without those that `left_out` selects; their names are in lower
    case."""
    lowered = [(name.lower(), value) for name, value in headers]
    excluded = {
        token.strip().lower() for name, value in lowered if name == b"connection" for token in value.split(b",")
    } | _CONNECTION_HEADERS
    return [(name, value) for name, value in lowered if name not in excluded and not left_out(name)]


def _is_gateway_header(name: bytes) -> bool:
    return name in _GATEWAY_HEADERS or name.startswith(_GATEWAY_HEADER_PREFIXES)


def _is_host_header(name: bytes) -> bool:
    return name in _HOST_HEADERS or name.startswith(b"interlingua-")


def _unreachable(problem: TransportFailed, provider: str) -> ProviderError:
    error = {"category": problem.category, "message": f"{provider}: {problem.message}", "retryable": problem.retryable}
    return ProviderError({**error, "provider": provider})
