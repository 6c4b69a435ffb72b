"""
The gateway: the state that all faces share, and the life of a client's call from its first byte to its last.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any, TypeVar
from urllib.parse import urlencode

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from interlingua.access import ANYBODY, Access, Key, key_of_certificate
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    Cancelled,
    InterlinguaError,
    InvalidRequest,
    ProviderError,
    too_deep,
)
from interlingua.canonical.ids import UlidSource
from interlingua.client import Client
from interlingua.client.routing import Routing
from interlingua.client.threads import done, size_of
from interlingua.gateway import signatures
from interlingua.gateway.bodies import RAW_BODY, raw_body, read_body, unless_ended
from interlingua.gateway.calls import Call, Calls, severity_counts
from interlingua.gateway.clients import address_of, certificate_of, key_of, sdk_of
from interlingua.gateway.contents import Content, Contents
from interlingua.gateway.generating import Generation, Generator, Prepared, Streamed, failure
from interlingua.gateway.metrics import Metrics
from interlingua.gateway.passing import Passing
from interlingua.gateway.past import KEPT, Past
from interlingua.gateway.peers import Peers
from interlingua.gateway.watching import News
from interlingua.refusals import Refused, client_gone, defect, invalid_json, not_an_object
from interlingua.sessions import Objects
from interlingua.sessions.marks import microseconds
from interlingua.verbs.calls import Calls as CallsInFlight
from interlingua.verbs.verbs import Verbs

_LOG = logging.getLogger("interlingua.gateway")

T = TypeVar("T")
Data = dict[str, Any]
Operation = Callable[[Request], Awaitable[Response]]
StoredWork = Callable[[Request, Objects], Awaitable[Any]]
Recall = Callable[[Request, Data, Objects], Awaitable[Past]]
Frames = Callable[[AsyncIterator[bytes]], AsyncIterator[bytes]]

_STRICT = ("representation", "weakened", "lost")
_CLIENT_CLOSED = 499  # the status that proxies log for a client that went away; no client receives it
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a gateway: the bytes of a body, and the number of calls at a time."""

    body: int = 64 << 20
    calls: int = 1000


class Gateway:
    """The state of a gateway: the keys and their usage, the records of calls, and the routing to providers.

    `clock` gives seconds, `ulids` numbers the calls. `inspect` is the number of calls whose content is kept, in memory.
    `objects` is the store for objects that clients later name by an id; None where there is none. Answers are `kept`
    there for this time; None keeps them for ever. With `passthrough`, a call of an operation that a wire has and the
    gateway does not have is sent to a provider of that wire. `peers` are the other workers, where several processes
    serve.
    """

    def __init__(
        self,
        client: Client,
        routing: Routing | None = None,
        access: Access | None = None,
        limits: Limits | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        ulids: UlidSource | None = None,
        inspect: int = 0,
        objects: Objects | None = None,
        kept: timedelta | None = KEPT,
        passthrough: bool = False,
        peers: Peers | None = None,
    ) -> None:
        self.routing = routing or Routing(connect=client.connection)
        self.registry = self.routing.registry
        self.generator = Generator(client, self.routing)
        self.verbs = Verbs(client, self.routing)
        self.access = access or Access(clock=clock, now=client.now)
        self.limits = limits or Limits()
        self.calls = Calls()
        self.in_flight = CallsInFlight(self.limits.calls)
        """The running calls: how many there may be, and how they end when the server does."""
        self.news = News()
        self.contents = Contents(inspect) if inspect else None
        """The contents of the last calls; None where contents are not kept."""
        self.metrics = Metrics({row["id"] for row in self.registry.models()}, shared=peers is not None)
        client.health.observe(self.metrics.cooldown)
        self.peers = peers
        """The other workers, which also have records of calls; None where this process serves alone."""
        self.objects = objects
        """The store for objects of clients; None where there is none."""
        self.passing = Passing(self, client) if passthrough else None
        """Passes on the calls that the gateway does not serve; None where calls are not passed on."""
        self._kept = kept
        self._now = client.now
        self._clock = clock
        self._ulids = ulids or UlidSource()

    async def aclose(self) -> None:
        """Close the gateway's own connections. It may be called any number of times."""
        if self.passing is not None:
            await self.passing.aclose()
        if self.peers is not None:
            await self.peers.aclose()

    # ------------------------------------------------------------------------------------------------ operations

    def generation(
        self,
        adapter: str,
        reframed: Callable[[Request], "Reframed | None"] = lambda _: None,
        older: "OlderOperation | None" = None,
        recall: "Recall | None" = None,
    ) -> Operation:
        """The operation that generates on a wire. `reframed` returns the frame of a stream where that is not the wire's
        own; `older` converts an older operation of the wire to the one that the adapter reads; `recall` returns the
        past of a request where objects are stored."""

        async def generate(request: Request) -> Response:
            running: Running | None = None
            try:
                key = await self.caller(request)
                self.access.admit(key)
                running = self.begin(key, adapter)
                with self.in_flight.cut_off():
                    prepared = await self._prepare(request, adapter, key, running.call, older, recall)
                    running.changed()
                    if not prepared.streamed:
                        body, headers = await unless_gone(request, self.generator.whole(prepared, running.call))
                        body = body if older is None else older.from_newer(body)
                        running.end(200)
                        return Response(body, 200, {**headers, **running.headers(), "content-type": _JSON})
                    stream = await unless_gone(request, self.generator.begin(prepared, running.call))
                running.first_event()
                return _StreamResponse(stream, running, reframed(request), self.in_flight)
            except Exception as problem:  # noqa: BLE001 each is written as an error of the wire
                return self.error_response(request, adapter, problem, running)

        return generate

    def operation(self, adapter: str, work: Callable[[Request, Key], Awaitable[Any]]) -> Operation:
        """An operation that responds with JSON and calls no model."""

        async def answer(request: Request) -> Response:
            value = await work(request, await self.caller(request))
            return Response(json.dumps(value), media_type=_JSON)

        return self.guarded(adapter, answer)

    def stored(self, adapter: str, work: "StoredWork") -> Operation:
        """An operation on the stored objects of the caller's tenant, which responds with JSON."""

        async def answer(request: Request) -> Response:
            value = await work(request, self.objects_of(await self.caller(request)))
            return value if isinstance(value, Response) else Response(json.dumps(value), media_type=_JSON)

        return self.guarded(adapter, answer)

    async def caller(self, request: Request) -> Key:
        """The key with which a call is made. Raises `Refused` for a call without a known key, where the gateway has
        keys."""
        if self.access.open:
            subject = certificate_of(request)
            return ANYBODY if subject is None else key_of_certificate(subject)
        signature = signatures.of(request)
        if signature is None:
            return self.access.key(key_of(request), address_of(request, self.access.proxies))
        peer = address_of(request, self.access.proxies)
        key, secret = self.access.signer(signature.access_key, peer)
        signature.check_time(self.access.now())
        # the signature covers the body as it was sent; nothing else is done with the body before the signature is
        # checked
        body = request.scope[RAW_BODY] = await raw_body(request, self.limits.body)
        return self.access.judged(key, peer, valid=signature.is_of(request, body, secret))

    def objects_of(self, key: Key) -> Objects:
        """The stored objects of a key's tenant. Without keys there is one tenant, that of the library."""
        if self.objects is None:
            raise AssertionError("nothing is stored here")
        return self.objects.of("" if key is ANYBODY else key.tenant)

    def expiry(self) -> int | None:
        """When an answer that is stored now expires, in microseconds since 1970; None for never."""
        return None if self._kept is None else microseconds(self._now() + self._kept)

    def guarded(self, adapter: str, operation: Operation) -> Operation:
        """The same operation, with its failures written as errors of a wire."""

        async def answer(request: Request) -> Response:
            try:
                with self.in_flight.cut_off():
                    return await operation(request)
            except Exception as problem:  # noqa: BLE001 each is written as an error of the wire
                return self.error_response(request, adapter, problem)

        return answer

    async def object(self, request: Request, *, empty: bool = False) -> Data:
        """The body of a request as a JSON object. A body without bytes is an empty object where it may be `empty`."""
        body = await read_body(request, self.limits.body)
        return {} if empty and not body else _object(body)

    async def estimate(self, request: Request, adapter: str, body: Data, key: Key, path: str | None = None) -> int:
        """How many prompt tokens a request of a wire will likely take at the model that would answer it. `path` is the
        path of the generation, where the request itself has another one."""
        call = Call("", key.tenant, key.name, adapter, "")
        wire = _wire(request, body)
        generation = Generation(
            adapter,
            wire if path is None else {**wire, "path": path},
            request.path_params.get("provider"),
            sdk_of(request, adapter),
        )
        prepared = self.generator.prepare(generation, key, call, self.generator.client.health.snapshot())
        return self.generator.estimate(prepared())["likely"]

    # ------------------------------------------------------------------------------------------------ one call

    def begin(self, key: Key, adapter: str) -> "Running":
        """Begin a call. It has a record from now on."""
        call = Call(self._ulids.next(), key.tenant, key.name, adapter, self.now())
        running = Running(call, key, self.access, self.metrics, self._clock, self.news)
        if self.contents is not None:
            call.content = Content(self._clock, running.began, news=self.news)
            self.contents.open(call.id, call.content)
        self.calls.add(call)
        self.metrics.begin()
        running.changed()
        return running

    def now(self) -> str:
        """The time in the format of records and lists."""
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    async def _prepare(
        self,
        request: Request,
        adapter: str,
        key: Key,
        call: Call,
        older: "OlderOperation | None" = None,
        recall: "Recall | None" = None,
    ) -> Prepared:
        body = await read_body(request, self.limits.body)
        strict = request.headers.get("interlingua-strict")
        if strict is not None and strict not in _STRICT:
            raise InvalidRequest(
                f"the header interlingua-strict must be one of {', '.join(_STRICT)}, not {strict[:40]!r}"
            )

        if call.content is not None:
            call.content.client(_wire(request, _json_or_text(body)))

        past: Past | None = None
        if recall is not None and self.objects is not None:
            past = await recall(request, await done(len(body), _object, body), self.objects_of(key))

        def prepare() -> Callable[[], Prepared]:
            parsed = _object(body) if past is None else past.body
            wire = _wire(request, parsed if older is None else older.to_newer(parsed))
            provider = request.path_params.get("provider")
            sdk = sdk_of(request, adapter)
            return self.generator.prepare(Generation(adapter, wire, provider, sdk, strict, past), key, call, health)

        # the tracker belongs to the event loop, and the rest may run in a thread
        health = self.generator.client.health.snapshot()
        size = len(body) + (0 if past is None else size_of({"messages": past.before}))
        prepared = (await done(size, prepare))()
        if call.content is not None:
            call.content.canonical(prepared.choice.request)
        return prepared

    def error_response(
        self, request: Request, adapter: str, problem: Exception, running: "Running | None" = None
    ) -> Response:
        """A failure as a provider of the wire would write it."""
        problem = self.as_our_error(problem)
        status, headers, body = failure(problem, self._endpoint_of(request, adapter))
        if running is None:
            self.note_refusal(request, adapter, status, problem)
        else:
            running.end(status, problem)
            headers |= running.headers()
        return Response(body, status, headers | {"content-type": headers.get("content-type", _JSON)})

    def note_refusal(self, request: Request, adapter: str, status: int, problem: InterlinguaError) -> None:
        """Log and count a failed call that has no record: a refused key, an unknown path, too many calls. The entry has
        the path as it was sent, in the characters of a URL, without its query, the address of the client, and the name
        of a key that has used up its limit or its budget."""
        if isinstance(problem, Cancelled):
            return
        category = problem.to_dict()["category"]
        key = problem.key if isinstance(problem, Refused) else None
        self.metrics.refused(adapter, category)
        path = _printable(request.scope.get("raw_path", b"").decode("latin-1")[:200])
        peer = address_of(request, self.access.proxies)
        sender = peer if key is None else f"{peer} with the key {key}"
        message = "%s %s %s from %s: %d %s"
        fields = {"category": category, "peer": peer, "key": key}
        _LOG.info(message, adapter, request.method[:20], path, sender, status, category, extra=fields)

    def as_our_error(self, problem: Exception) -> InterlinguaError:
        """A failure as one of our errors. Any other exception is a defect: it is logged without its text, which may
        quote content."""
        if isinstance(problem, RecursionError):
            return too_deep()
        if isinstance(problem, ClientDisconnect):
            return client_gone()
        if not isinstance(problem, InterlinguaError):
            where = "".join(traceback.format_tb(problem.__traceback__))
            _LOG.error("%s in the gateway\n%s", type(problem).__name__, where)
            return defect()
        return problem

    def _endpoint_of(self, request: Request, adapter: str) -> Endpoint:
        try:
            return self.generator.home(adapter, request.path_params.get("provider") or sdk_of(request, adapter))
        except InterlinguaError:
            return self.registry.endpoint(adapter=adapter)


@dataclass(slots=True)
class Running:
    """A call that has begun: its record, and the key for which its usage counts."""

    call: Call
    key: Key
    access: Access
    metrics: Metrics
    clock: Callable[[], float]
    news: News
    began: float = 0.0

    def __post_init__(self) -> None:
        self.began = self.clock()

    def changed(self) -> None:
        """Notify the watchers that the record has changed."""
        self.call.version = self.news.publish()

    def headers(self) -> dict[str, str]:
        """The headers of the response that describe the call, as far as it is known now."""
        call = self.call
        headers = {"interlingua-request-id": call.id}
        if call.model is not None:
            headers["interlingua-model"] = call.model.encode("ascii", "replace").decode()
            headers["interlingua-loss"] = severity_counts([*call.request_loss, *call.answer_loss])
        return headers

    def first_event(self) -> None:
        """Record the time of the first event of a stream."""
        self.call.first_event_s = round(self.clock() - self.began, 6)
        self.changed()

    def end(self, status: int, problem: Exception | None = None) -> None:
        """Complete the record, and count the usage of the call."""
        call = self.call
        call.status = status
        call.took_s = round(self.clock() - self.began, 6)
        if isinstance(problem, InterlinguaError):
            error = problem.to_dict()
            call.category = error["category"]
            if "attempts" in error or "skipped" in error:  # an answer that broke off has recorded its own
                call.record_attempts(error.get("attempts", ()), error.get("skipped", ()))
            call.provider_failed = isinstance(problem, ProviderError)
            if call.content is not None:
                call.content.error(problem.error if isinstance(problem, ProviderError) else error)
        if call.content is not None:
            call.content.ended = True
        self.changed()
        self.access.record(self.key, call.usage)
        self.metrics.end(call)
        _LOG.info(
            "%s %s → %s: %d%s in %.3f s",
            call.adapter,
            _printable(call.asked_model or "-"),
            _printable(call.tried or "-"),
            status,
            f" {call.category}" if call.category else "",
            call.took_s,
            extra={"call_id": call.id, "key": call.key, "category": call.category},
        )


def _printable(text: str) -> str:
    """A text of a client for the log, with escapes for what is not printable: it must not look like another entry."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


class Reframed:
    """Another frame for a stream than its wire's own: `framing` is the one in which the wire is written, `frames`
    converts its chunks."""

    def __init__(self, content_type: str, frames: Frames, framing: str) -> None:
        self.content_type = content_type
        self.frames = frames
        self.framing = framing


@dataclass(frozen=True, slots=True)
class OlderOperation:
    """An older operation of a wire than the one that its adapter reads: `to_newer` converts its request to the newer
    one, `from_newer` converts the body of the response back."""

    to_newer: Callable[[Data], Data]
    from_newer: Callable[[bytes], bytes]


class _StreamResponse(Response):
    """A stream that is sent while it arrives. When the client goes away meanwhile, the call ends."""

    def __init__(self, stream: Streamed, running: Running, reframed: Reframed | None, in_flight: CallsInFlight) -> None:
        self._stream = stream
        self._running = running
        self._reframed = reframed
        self._in_flight = in_flight
        self._client_gone = False
        content_type = stream.content_type if reframed is None else reframed.content_type
        headers = {**stream.headers, **running.headers(), "content-type": content_type, "cache-control": "no-cache"}
        self.status_code = 200
        self.background = None
        self.init_headers(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send the stream."""
        watching = asyncio.ensure_future(self._cancel_when_gone(receive))
        chunks = self._stream.chunks(None if self._reframed is None else self._reframed.framing)
        if self._reframed is not None:
            chunks = self._reframed.frames(chunks)
        problem: Exception | None = None
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            with self._in_flight.cut_by(lambda: self._stream.cancel("shutdown")):
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            if self._client_gone:  # the server discards what is sent after the client has gone
                problem = client_gone()
        except OSError:
            problem = client_gone()
        finally:
            watching.cancel()
            await self._stream.aclose()
            self._running.end(200, problem or self._stream.problem)

    async def _cancel_when_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._client_gone = True
        self._stream.cancel()


# ---------------------------------------------------------------------------------------------------- requests


def _wire(request: Request, body: Any) -> Data:
    """A request of a wire, as its adapter reads it: the path as it was sent, without the name of a provider and without
    a key."""
    scope = request.scope
    path: str = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
    path = path.removeprefix(scope.get("root_path", ""))
    if scope["query_string"]:
        query = [(name, value) for name, value in request.query_params.multi_items() if name != "key"]
        path += f"?{urlencode(query)}" if query else ""
    return {"method": "POST", "path": path, "headers": dict(request.headers), "body": body}


def _json_or_text(body: bytes) -> Any:
    """A body for the inspector, even when it cannot be read as JSON."""
    try:
        return json.loads(body)
    except InvalidRequest:
        return body.decode("utf-8", "replace")


def _object(body: bytes) -> Data:
    try:
        value = json.loads(body)
    except InvalidRequest as problem:
        raise invalid_json(problem) from None
    if not isinstance(value, dict):
        raise not_an_object()
    return value


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. When the client goes away, the work is cancelled and `Cancelled` is raised."""
    return await unless_ended(request.receive(), work)
