"""
One generation for a client of a wire: read and route the request, call the provider, write the response
(spec/11-gateway.md#generation).

The adapters hold all knowledge of wires, and the client makes all calls to providers.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from interlingua import adapters, translate
from interlingua.access import Key
from interlingua.adapters._engine.kit import data_of
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import OPERATOR_CATEGORIES, InterlinguaError, NotConfigured, ProviderError
from interlingua.canonical.loss import Entry
from interlingua.canonical.types import TokenEstimate
from interlingua.client import Client
from interlingua.client.call import Answered
from interlingua.client.routing import Choice, Routing
from interlingua.client.stream import Stream
from interlingua.client.transport import STREAMS
from interlingua.gateway.calls import Call, severity_counts
from interlingua.gateway.past import Keeper, Past, keep
from interlingua.refusals import Refused, defect, field_of_call, no_model, not_found
from interlingua.registry import Registry, names
from interlingua.router import served

Data = dict[str, Any]

_PATH_BEGINNINGS = ("v1", "v1beta", "v2", "api", "model")
"""The beginnings of the paths of wires. When one of them is in the place of a provider's name, the base URL of the
client repeats it."""
_MAX_ADVISED = 3
_BAD_GATEWAY = 502
_RETURNED_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-", "openai-", "x-amzn-")
_RETURNED_NAMES = frozenset(("request-id", "x-request-id", "retry-after", "retry-after-ms"))
"""Headers of a provider's response that are returned to a client of the same wire: its limits, and the id of the
call."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation that a client requests.

    `wire` is the request as its adapter reads it (method, path, headers, body). `provider` is the one that the path
    names. `sdk` is the provider of the client's SDK, where it reads another dialect than the wire's own. `strict` is
    the severity of loss that refuses the request, `past` what comes before the request.
    """

    adapter: str
    wire: Data
    provider: str | None = None
    sdk: str | None = None
    strict: str | None = None
    past: Past | None = None

    def read(self, endpoint: Endpoint) -> tuple[Data, list[Entry]]:
        """The request in canonical form, read in the dialect of the endpoint."""
        canonical, loss = translate.from_wire_request(self.wire, endpoint)
        request = data_of(canonical)
        return request if self.past is None else self.past.joined(request, self.wire, endpoint), loss


@dataclass(frozen=True, slots=True)
class Prepared:
    """A generation that is read and routed: the models to call, the wire of the calls, and the endpoint for the
    response to the client.

    `shown_model` is the model that the answer names, where that is not the model that answers. `past` is the past of
    the request, with the place where the answer is stored. `bare_name` is the requested name, where only the wire
    determines the model's provider. `created` is the time of an answer without a time of its provider, in seconds since
    1970.
    """

    request: Data
    choice: Choice
    adapter: str | None
    client: Endpoint
    loss: list[Entry]
    shown_model: str | None
    past: Past | None = None
    bare_name: str | None = None
    created: int = 0

    @property
    def keeper(self) -> Keeper | None:
        """Where the answer is stored; None for nowhere."""
        return None if self.past is None else self.past.keeper

    @property
    def streamed(self) -> bool:
        """Whether the client requests a stream."""
        return bool(self.request.get("stream"))


class Generator:
    """Makes generations with one client and one routing."""

    def __init__(self, client: Client, routing: Routing) -> None:
        self.client = client
        self.routing = routing
        self.registry = routing.registry

    # ------------------------------------------------------------------------------------------------ routing

    def prepare(self, generation: Generation, key: Key, call: Call, health: Data) -> Callable[[], Prepared]:
        """Read a request and choose the models that answer it, in two steps like `Routing.weigh`: the first step may
        run in another thread, and the function that it returns publishes the decision. `health` holds the models in
        cooldown. Both raise the errors of reading and routing, and `Refused`."""
        endpoint = self.home(generation.adapter, generation.provider or generation.sdk)
        home = endpoint.provider
        request, loss = generation.read(endpoint)
        name = self._name(request, endpoint)
        call.asked_model, call.streamed = name, bool(request.get("stream"))
        with field_of_call("model"):
            spec, mapped = self._spec(name, generation, endpoint)
            native_provider = (
                self._native(spec, generation.adapter) if spec is not None and generation.sdk is None else None
            )
        if native_provider not in (None, endpoint.provider):
            # the provider speaks the client's wire: the request is read in the dialect of that provider, members that
            # it alone knows included
            native = self.registry.endpoint(adapter=generation.adapter, provider=native_provider)
            if not translate.is_beyond(request, native.dialect):
                endpoint = native
                request, loss = generation.read(endpoint)
        if generation.strict is not None:
            request = {**request, "loss_policy": {**(request.get("loss_policy") or {}), "strict": generation.strict}}
        if spec is None:
            moment = self.client.now().isoformat().replace("+00:00", "Z")
            decide = self.routing.weigh({**request, "model": None}, None, None, moment, health)
        else:
            decide = self.routing.weigh(request, spec)
        shown_model = endpoint.model_id(name) if mapped else None
        bare_name = name if generation.provider is None and not mapped and spec == f"{home}:{name}" else None

        now = int(self.client.now().timestamp())

        def publish() -> Prepared:
            choice = allowed(decide(), key, self.registry)
            call.record_choice(choice, mapped=mapped)
            adapter = (
                generation.adapter if all(self.registry.speaks(m, generation.adapter) for m in choice.models) else None
            )
            if generation.past is not None:
                generation.past.unless_stored(native=adapter is not None)
            return Prepared(
                choice.request,
                choice,
                adapter,
                _client_endpoint(endpoint, request),
                loss,
                shown_model,
                generation.past,
                bare_name,
                now,
            )

        return publish

    def home(self, adapter: str, provider: str | None) -> Endpoint:
        """The endpoint as which the client speaks its wire: that of the provider that the path names, else that of the
        wire's own provider."""
        if provider is not None:
            if not self.registry.is_provider(provider):
                if provider in _PATH_BEGINNINGS:
                    raise not_found(
                        f"the path begins with /{provider} twice; the base URL of this client must not have it"
                    )
                raise not_found(names.unknown_provider(provider).message)
            row = self.registry.provider(provider)
            if adapter != row["adapter"] and adapter not in row.get("other_wires", {}):
                wires = ", ".join((row["adapter"], *row.get("other_wires", {})))
                raise not_found(
                    f"{provider} does not speak {adapter} but {wires}; call it by a path of these, or name its model without /{provider}"
                )
        return self.registry.endpoint(adapter=adapter, provider=provider)

    def _name(self, request: Data, endpoint: Endpoint) -> str:
        model: str | None = request.get("model")
        if not model:
            raise no_model()
        return model.removeprefix(f"{endpoint.provider or endpoint.adapter}:")

    def _spec(self, name: str, generation: Generation, endpoint: Endpoint) -> tuple[str | None, bool]:
        """The models of a name, None where the slots of routing decide; and whether the policy maps the name."""
        if generation.provider is not None:
            return f"{generation.provider}:{name}", False
        policy = self.routing.policy
        if (entry := served.served(policy, name)) is not None:
            return entry.spec, True
        if name in policy.get("aliases", {}):
            return name, True
        return str(self.registry.from_client(name, endpoint.provider or "")), False

    def _native(self, spec: str, adapter: str) -> str | None:
        """The provider of the first model, when it speaks the client's wire: its dialect is read. Else None."""
        first = str(self.registry.expand(spec, aliases=self.routing.policy.get("aliases"))[0])
        return first.partition(":")[0] if self.registry.speaks(first, adapter) else None

    def estimate(self, prepared: Prepared) -> TokenEstimate:
        """How many prompt tokens a request takes at the model that would answer it: low, likely, high."""
        endpoint = self.registry.endpoint(model=prepared.choice.models[0], adapter=prepared.adapter)
        return translate.estimate_for(prepared.request, endpoint)

    # ------------------------------------------------------------------------------------------------ whole responses

    async def whole(self, prepared: Prepared, call: Call) -> tuple[bytes, dict[str, str]]:
        """Return the body of a response, and its headers."""
        answers: list[Answered] = []
        try:
            response = await self.client.generate(
                prepared.request,
                model=prepared.choice.models[0],
                fallbacks=prepared.choice.models[1:],
                adapter=prepared.adapter,
                routing=prepared.choice.record,
                validated=True,
                on_answer=answers.append,
            )
        except NotConfigured as problem:
            raise self._with_advice(problem, prepared) from None
        record_answer(call, answers[0], response)
        call.request_loss = [*prepared.loss, *answers[0].loss]
        response = _as_shown(response, prepared, call)
        body, loss = translate.to_wire_response(response, prepared.client, created=prepared.created)
        call.answer_loss = _answer_loss(loss, prepared)
        if prepared.past is not None:
            body = await keep(prepared.past, response, body, prepared.client)
        encoded = json.dumps(body)
        if call.content is not None:
            call.content.event({"type": "response", "response": response}, encoded.decode())
        return encoded, returned_headers(answers[0], prepared.client)

    def _with_advice(self, problem: NotConfigured, prepared: Prepared) -> NotConfigured:
        """The problem with advice: a bare name meant a model of this provider, and the text states what to write
        instead."""
        if prepared.bare_name is None:
            return problem
        ids = [row["id"] for row in self.registry.models() if row["name"] == prepared.bare_name]
        alternatives = [id for id in ids if not id.startswith(f"{problem.provider}:")][:_MAX_ADVISED]
        suggestion = " or ".join(alternatives) or "provider:name"
        advice = f"a name alone means a model of {problem.provider} on this wire: write {suggestion}, or map the name in serve of the policy"
        return NotConfigured(problem.provider, f"{problem.lacks}; {advice}", adapter=problem.to_dict().get("adapter"))

    # ------------------------------------------------------------------------------------------------ streams

    async def begin(self, prepared: Prepared, call: Call) -> "Streamed":
        """Begin a stream, and wait for its first event. Raises errors that end the call before that."""
        answers: list[Answered] = []
        stream = self.client.stream(
            prepared.request,
            model=prepared.choice.models[0],
            fallbacks=prepared.choice.models[1:],
            adapter=prepared.adapter,
            routing=prepared.choice.record,
            validated=True,
            on_answer=answers.append,
        )
        try:
            first = await anext(stream.arriving())
        except BaseException as problem:
            await stream.aclose()
            if isinstance(problem, NotConfigured):
                raise self._with_advice(problem, prepared) from None
            raise
        record_answer(call, answers[0])
        call.request_loss = [*prepared.loss, *answers[0].loss]
        return Streamed(stream, first, prepared, call, returned_headers(answers[0], prepared.client))


class Streamed:
    """A stream that has begun."""

    def __init__(
        self, stream: Stream, first: list[Data], prepared: Prepared, call: Call, headers: Mapping[str, str]
    ) -> None:
        self.headers = headers
        """The headers of the provider's response that are returned to the client."""
        self.problem: InterlinguaError | None = None
        """The failure of a stream that has ended; None where it ended well."""
        self._stream = stream
        self._first = first
        self._prepared = prepared
        self._call = call

    @property
    def content_type(self) -> str:
        """The content type of the stream in the wire's own frame."""
        return STREAMS[translate.framing(self._prepared.client)]

    def cancel(self, reason: Literal["cancelled", "shutdown"] = "cancelled") -> None:
        """End the call to the provider, from any task. It may be called any number of times."""
        self._stream.cancel(reason)

    async def aclose(self) -> None:
        """End the call to the provider, and record its usage and attempts. It may be called any number of times."""
        await self._stream.aclose()
        if self._stream.response is not None:
            self._call.usage = self._stream.response.get("usage")
            self._call.record_attempts(
                self._stream.response.get("attempts", ()), self._stream.response.get("skipped", ())
            )

    async def chunks(self, framing: str | None = None) -> AsyncIterator[bytes]:
        """The stream in the wire's own frame: one chunk for all events that arrived together. In another frame: one
        chunk for each event that has something to write.

        A failure is the last thing that the client reads.
        """
        client = self._prepared.client
        if framing is not None:
            client = replace(client, dialect={**client.dialect, "framing": framing})
        writer = translate.StreamWriter(client, created=self._prepared.created)
        async for events in self._events():
            chunks = [chunk for event in events if (chunk := await self._chunk(event, writer))]
            if framing is not None:
                for chunk in chunks:
                    yield chunk
            elif chunks:
                yield b"".join(chunks)
        chunk = b"".join(writer.end())
        self._call.answer_loss = _answer_loss(writer.loss, self._prepared)
        if translate.framing(client) == "sse":  # Google's SDK cannot read comments, but its wire has another framing
            loss = severity_counts([*self._call.request_loss, *self._call.answer_loss])
            chunk += f": interlingua-loss {loss}\n\n".encode()
        if chunk:
            yield chunk

    async def _chunk(self, event: Data, writer: translate.StreamWriter) -> bytes:
        chunk = b"".join(writer.feed(event))
        if (keeper := self._prepared.keeper) is not None:
            chunk = keeper.chunk(chunk)
            if "response" in event:
                chunk = await self._store(event["response"]) or chunk
        if (content := self._call.content) is not None:
            content.event(event, _text(chunk))
        return chunk

    async def _store(self, response: Data) -> bytes:
        """Store an answer before its client gets the end of it. Returns the chunk that replaces the end when storing
        fails; else an empty one."""
        prepared = self._prepared
        if prepared.past is None or not response["message"]["content"]:
            return b""
        try:
            body, _ = translate.to_wire_response(response, prepared.client, created=prepared.created)
            await keep(prepared.past, response, body, prepared.client)
        except InterlinguaError as problem:
            self.problem = problem
            return b"".join(translate.StreamWriter(prepared.client).feed({"type": "error", "error": problem.to_dict()}))
        return b""

    async def _events(self) -> AsyncIterator[list[Data]]:
        prepared, call = self._prepared, self._call
        first, *more = self._first
        identity = first.get("response_id", call.id) if prepared.keeper is None else prepared.keeper.id
        yield [{**self._for_client(first), "response_id": identity}, *[self._for_client(event) for event in more]]
        try:
            async for events in self._stream.arriving():
                is_last = events[-1]["type"] in ("message_complete", "error")
                yield [self._for_client(event) for event in events] if is_last else events
        except InterlinguaError as problem:
            self.problem = problem  # the last event has reported it already

    def _for_client(self, event: Data) -> Data:
        """An event that names the model or holds the whole answer or an error, as its client sees it."""
        if event["type"] == "error" and event["error"]["category"] in OPERATOR_CATEGORIES:
            event = {**event, "error": _for_operator(event["error"], self._prepared.client)}
        if "response" in event:
            return {**event, "response": _as_shown(event["response"], self._prepared, self._call)}
        return _as_shown(event, self._prepared, self._call) if event["type"] == "message_start" else event


def record_answer(call: Call, answer: Answered, response: Data | None = None) -> None:
    """Record which model answers and, when the whole response is known, its usage and attempts."""
    call.model = answer.model
    if response is not None:
        call.usage = response.get("usage")
        call.record_attempts(response.get("attempts", ()), response.get("skipped", ()))
    if call.content is not None:
        call.content.provider(answer.model, answer.wire)


def _text(chunk: bytes) -> str | None:
    """A chunk that was sent to a client, where it is text; AWS frames its streams in binary."""
    return None if chunk[:1] == b"\0" else chunk.decode("utf-8", "replace")


def allowed(choice: Choice, key: Key, registry: Registry) -> Choice:
    """The choice without the models that a key may not use. Raises `Refused` when no model remains."""
    models = key.usable(choice.models, registry.is_priced)
    return choice if len(models) == len(choice.models) else replace(choice, models=models)


def _as_shown(value: Data, prepared: Prepared, call: Call) -> Data:
    """A response, or the first event of one, with an id and with the model that its client sees.

    Clients take two answers with the same id for one message, and some keep no reasoning of a model that they did not
    request.
    """
    if prepared.shown_model is not None and "model" in value:
        value = {**value, "model": prepared.shown_model}
    if prepared.keeper is not None and "message" in value:
        return {**value, "id": prepared.keeper.id}
    return value if "id" in value or "message" not in value else {**value, "id": call.id}


def _answer_loss(loss: list[Entry], prepared: Prepared) -> list[Entry]:
    """The loss of an answer. Where the answer is stored, the provider's state is stored with it and is not lost."""
    return loss if prepared.keeper is None else [entry for entry in loss if entry["code"] != "foreign_state"]


def _client_endpoint(endpoint: Endpoint, request: Data) -> Endpoint:
    """The endpoint for the response to a client: in the client's dialect, with the spellings of the client's tools, and
    in the frame of the wire itself. A cloud that serves the wire may frame it in another way that its client does not
    know."""
    dialect = {**endpoint.dialect, "framing": adapters.get(endpoint.adapter).FRAMING}
    return replace(endpoint, dialect=dialect, state_in_ids=True, spellings=translate.spellings(request, endpoint))


def returned_headers(answer: Answered, client: Endpoint) -> dict[str, str]:
    """The headers of a provider's response that its client may need. They are returned only where both use the same
    wire."""
    if answer.endpoint.adapter != client.adapter:
        return {}
    return {
        name: value
        for name, value in answer.headers.items()
        if name in _RETURNED_NAMES or name.startswith(_RETURNED_PREFIXES)
    }


def _for_operator(error: Data, client: Endpoint) -> Data:
    """The error for a client when a provider refuses the gateway's own key, or has none here. In the words of its own
    wire the client would read that the key of its call is wrong."""
    message = error["message"]
    if "status" in error or "raw" in error:
        message += ". The key of this call is not at fault: the operator of the gateway must check its account"
        message += f" at {error['provider']}" if error.get("provider") else ""
    return {
        "category": "server_error",
        "message": message,
        "retryable": False,
        "status": _BAD_GATEWAY,
        "adapter": client.adapter,  # the status is kept
    }


def failure(problem: Exception, client: Endpoint) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a failure, as a provider of the client's wire would write them."""
    if isinstance(problem, Refused):
        error = problem.to_dict() | {"adapter": client.adapter}  # its own status is kept
    elif isinstance(problem, ProviderError | NotConfigured):
        error = problem.error
        if error["category"] in OPERATOR_CATEGORIES:
            error = _for_operator(error, client)
    elif isinstance(problem, InterlinguaError):
        error = problem.to_dict()
    else:
        error = defect().to_dict()
    wire, _ = translate.to_wire_error(error, client)
    body: Any = wire["body"]
    return wire["status"], dict(wire["headers"]), body.encode() if isinstance(body, str) else json.dumps(body)
