"""
The conformance plug: one JSON message a line on standard input, one answer a line on standard output.

Protocol: conformance/protocol.md. No content of a message ends the process.
"""

import asyncio
import base64
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from interlingua import adapters, registry, translate
from interlingua.adapters._engine.kit import data_of
from interlingua.canonical import json
from interlingua.canonical.check import check, check_call
from interlingua.canonical.errors import InterlinguaError, InvalidRequest, too_deep
from interlingua.canonical.hash import content_hash
from interlingua.canonical.loss import Entry
from interlingua.canonical.validate import schema, violations

Message = dict[str, Any]
_FUNCTIONS = {
    "to_wire": "to_wire",
    "from_wire_request": "from_wire_request",
    "from_wire_response": "from_wire_response",
    "to_wire_response": "to_wire_response",
    "stream": "stream_decoder",
    "stream_encode": "stream_encoder",
    "relay": "stream_encoder",
    "error": "error",
    "to_wire_error": "to_wire_error",
    "estimate": "estimate",
}


def handle(message: Message) -> Message:
    """Return the answer to one message: `{id, output}`, `{id, error}` or `{id, unsupported}`."""
    answer: Message = {"id": message.get("id")}
    name, parameters, adapter = message.get("op"), message.get("input", {}), message.get("adapter")
    operation = _OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        return answer | {"unsupported": f"there is no operation {name!r}"}
    try:
        if not isinstance(parameters, dict) or not isinstance(adapter, str | None):
            raise InvalidRequest("the input of a message must be an object, and its adapter a name")
        return answer | {"output": operation(parameters, adapter)}
    except InterlinguaError as problem:
        return answer | {"error": problem.to_dict()}
    except RecursionError:
        return answer | {"error": too_deep().to_dict()}
    except KeyError as problem:
        return answer | {"error": InvalidRequest(f"the message lacks the member {problem}").to_dict()}
    except Exception as problem:  # noqa: BLE001 the process survives its own bugs, and the suite counts them as bugs
        return answer | {"error": InterlinguaError(f"a bug: {type(problem).__name__}").to_dict()}


def _hello(_: Message, __: str | None) -> Message:
    from interlingua import __version__

    modules = {name: adapters.get(name) for name in adapters.names()}
    calls = ["generate"] if find_spec("httpx") is not None else []
    return {
        "protocol": 1,
        "implementation": {"name": "interlingua-py", "version": __version__, "language": "python"},
        "adapters": {
            name: [operation for operation, function in _FUNCTIONS.items() if hasattr(module, function)] + calls
            for name, module in modules.items()
        },
        "operations": ["cost", "route", "route_by_file", "validate", "check", "check_call", "content_hash"],
        "capabilities": [
            "tools",
            "streaming",
            "images",
            "reasoning",
            "documents",
            "audio",
            "structured_output",
            "citations",
            "caching",
            "choices",
            "state_in_ids",
            "calls_as_offered",
        ],
    }


_KINDS: dict[str, type | tuple[type, ...]] = {
    "provider": (str, type(None)),
    "model": (str, type(None)),
    "origin": (str, type(None)),
    "wire": dict,
    "body": dict,
    "chunks": list,
    "target": str,
    "policy": (dict, type(None)),
    "events": list,
    "status": int,
    "raw": bool,
    "state_in_ids": bool,
    "usage": dict,
    "price": (dict, type(None)),
    "policy_file": str,
    "type": str,
    "profile": str,
    "tools": list,
    "base_url": str,
    "key": (str, type(None)),
    "stream": bool,
    "deadline": (int, float, type(None)),
    "cancel_after": (int, type(None)),
}


def _member(parameters: Message, name: str, **default: Any) -> Any:
    """Return a member of a message's input, of the type that the protocol states. A missing member is a `KeyError`."""
    value = default.get("default") if "default" in default and name not in parameters else parameters[name]
    if not isinstance(value, _KINDS[name]):
        raise InvalidRequest("the member has a wrong type; see conformance/protocol.md", path=f"/{name}")
    return value


def _endpoint(parameters: Message, adapter: str | None) -> Any:
    if adapter is None:
        raise InvalidRequest("the message names no adapter")
    provider, model = _member(parameters, "provider", default=None), _member(parameters, "model", default=None)
    endpoint = registry.endpoint(adapter=adapter, provider=provider, model=model)
    origin = _member(parameters, "origin", default=None)
    return replace(endpoint, origin=origin, state_in_ids=_member(parameters, "state_in_ids", default=False))


def _to_wire(parameters: Message, adapter: str | None) -> Message:
    request = translate.validated(parameters["request"])
    projection = translate.project(request, translate.for_request(_endpoint(parameters, adapter), request))
    return {"wire": projection.wire, "loss": projection.loss}


def _from_wire_request(parameters: Message, adapter: str | None) -> Message:
    endpoint = _endpoint(parameters, adapter)
    request, loss = translate.from_wire_request(_member(parameters, "wire"), endpoint)
    return {"request": request, "loss": loss}


def _request_of(parameters: Message) -> Message | None:
    """Return the canonical request that the response belongs to, if the message has it."""
    return translate.validated(parameters["request"]) if "request" in parameters else None


def _sent_tools(parameters: Message, endpoint: Any) -> Any:
    """Return the tools of the request that the response belongs to, as they were sent to this endpoint."""
    request = _request_of(parameters)
    return None if request is None else translate.offered(request, translate.project(request, endpoint).loss)


def _endpoint_with_spellings(parameters: Message, endpoint: Any) -> Any:
    """Return the endpoint with the spellings of the tools in the request that the response belongs to."""
    request = _request_of(parameters)
    return endpoint if request is None else replace(endpoint, spellings=translate.spellings(request, endpoint))


def _from_wire_response(parameters: Message, adapter: str | None) -> Message:
    endpoint = _endpoint(parameters, adapter)
    response, loss = translate.from_wire_response(
        _member(parameters, "body"), endpoint, tools=_sent_tools(parameters, endpoint)
    )
    return {"response": response, "loss": loss}


def _to_wire_response(parameters: Message, adapter: str | None) -> Message:
    endpoint = _endpoint_with_spellings(parameters, _endpoint(parameters, adapter))
    response = translate.validated(parameters["response"], "Response")
    body, loss = translate.to_wire_response(response, endpoint)
    return {"body": body, "loss": loss}


def _chunks(parameters: Message) -> list[bytes]:
    try:
        return [base64.b64decode(chunk, validate=True) for chunk in _member(parameters, "chunks")]
    except (TypeError, ValueError):
        raise InvalidRequest("a chunk must be base64 text", path="/chunks") from None


def _stream(parameters: Message, adapter: str | None) -> Message:
    endpoint = _endpoint(parameters, adapter)
    reader = translate.StreamReader(endpoint, tools=_sent_tools(parameters, endpoint))
    events = [reader.feed(chunk) for chunk in _chunks(parameters)]
    events.append(reader.end())
    last = next((event for events_of_chunk in reversed(events) for event in reversed(events_of_chunk)), {})
    return {"events": events, "response": last.get("response")}


def _stream_encode(parameters: Message, adapter: str | None) -> Message:
    events = [translate.validated(event, "StreamEvent") for event in _member(parameters, "events")]
    endpoint = _endpoint_with_spellings(parameters, _endpoint(parameters, adapter))
    loss: list[Entry] = []
    chunks = [base64.b64encode(chunk).decode() for chunk in translate.encode_stream(events, endpoint, loss=loss)]
    return {"chunks": chunks, "loss": loss}


def _relay(parameters: Message, adapter: str | None) -> Message:
    target = registry.endpoint(adapter=_member(parameters, "target"))
    reader = translate.StreamReader(_endpoint(parameters, adapter), raw=True)
    pieces = _chunks(parameters)

    def events() -> Iterator[Any]:
        for piece in pieces:
            yield from reader.feed(piece)
        yield from reader.end()

    loss: list[Entry] = []
    chunks = translate.encode_stream(events(), target, loss=loss, policy=_member(parameters, "policy", default=None))
    return {"chunks": [base64.b64encode(chunk).decode() for chunk in chunks], "loss": loss}


def _headers(parameters: Message) -> dict[str, str]:
    headers = parameters.get("headers") or {}
    if not isinstance(headers, dict):
        raise InvalidRequest("headers must be an object", path="/headers")
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _error(parameters: Message, adapter: str | None) -> Message:
    endpoint = _endpoint(parameters, adapter)
    body = parameters.get("body")
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body).decode()
    raw = _member(parameters, "raw", default=False)
    return data_of(
        translate.from_wire_error(_member(parameters, "status"), _headers(parameters), text, endpoint, raw=raw)
    )


def _to_wire_error(parameters: Message, adapter: str | None) -> Message:
    wire, loss = translate.to_wire_error(
        translate.validated(parameters["error"], "Error"), _endpoint(parameters, adapter)
    )
    return {"wire": wire, "loss": loss}


def _estimate(parameters: Message, adapter: str | None) -> Message:
    endpoint = _endpoint(parameters, adapter)
    return data_of(translate.estimate_for(translate.validated(parameters["request"]), endpoint))


@cache
def _network() -> tuple[asyncio.Runner, Any]:
    """Return one event loop and one pool of connections for the life of the process."""
    from interlingua.client.httpx_transport import HttpxTransport

    return asyncio.Runner(), HttpxTransport()


def _generate(parameters: Message, adapter: str | None) -> Message:
    endpoint = _endpoint(parameters, adapter)
    members = ("base_url", "key", "stream", "deadline", "cancel_after")
    options = {name: _member(parameters, name, default=False if name == "stream" else None) for name in members[1:]}
    request = translate.validated(parameters["request"])
    return _network()[0].run(_call_provider(request, endpoint, _member(parameters, "base_url"), options))


async def _call_provider(request: Message, endpoint: Any, base_url: str, options: Message) -> Message:
    from interlingua.client import Client

    provider = endpoint.provider or endpoint.adapter
    keys = {provider: options["key"]} if options["key"] else {}
    rows = _with_row(provider, endpoint.adapter)
    client = Client(_network()[1], keys=keys, base_urls={provider: base_url}, registry=rows, retry="none")
    if not options["stream"]:
        answer = await client.generate(request, adapter=endpoint.adapter, deadline=options["deadline"])
        return {"response": answer}
    events: list[Any] = []
    at: list[float] = []
    async with client.stream(request, adapter=endpoint.adapter, deadline=options["deadline"]) as stream:
        try:
            async for event in stream:
                events.append(event)
                at.append(time.monotonic())
                if len(events) == options["cancel_after"]:
                    break
        except InterlinguaError as problem:
            return {"events": events, "at": at, "error": problem.to_dict()}
    return {"events": events, "at": at}


@cache
def _with_row(provider: str, adapter: str) -> registry.Registry:
    """Return the registry, with a row added for a provider that it does not have: that of an external adapter."""
    shared = registry.default()
    if shared.is_provider(provider):
        return shared
    rows = registry.data("providers")
    row = {"title": provider, "adapter": adapter, "base_url": None, "auth": None, "dialect": {}, "capabilities": {}}
    return registry.Registry(providers={**rows, "providers": {**rows["providers"], provider: row}})


def _cost(parameters: Message, _: str | None) -> Message:
    price = _member(parameters, "price", default=None)
    cost = None if price is None else registry.cost(_member(parameters, "usage"), price)
    return {"cost_usd": None if cost is None else format(cost, "f")}


def _route(parameters: Message, _: str | None) -> Message:
    from interlingua import router

    return router.decide_json(parameters)


@cache
def _routing(policy_file: str) -> Any:
    """Return one routing for each file: while the file is invalid, its last valid policy applies."""
    from interlingua.client.routing import Routing

    return Routing(policy=Path(policy_file))


def _route_by_file(parameters: Message, adapter: str | None) -> Message:
    return _route({**parameters, "policy": _routing(_member(parameters, "policy_file")).policy}, adapter)


def _type(parameters: Message) -> str:
    name = _member(parameters, "type", default="Request")
    if name not in schema()["$defs"]:
        raise InvalidRequest(f"the schema has no type {name!r}", path="/type")
    return name


def _check(parameters: Message, _: str | None) -> Message:
    name = _type(parameters)
    broken = violations(parameters["instance"], name)
    if not broken and name in ("Request", "Message", "Response"):
        broken = check(parameters["instance"], _member(parameters, "profile", default="core"))
    return {"violations": [{"rule": violation["rule"], "path": violation["path"]} for violation in broken]}


def _check_call(parameters: Message, _: str | None) -> Message:
    events: list[Message] = []
    check_call(parameters["call"], _member(parameters, "tools"), events.append)
    return {"events": events}


def _content_hash(parameters: Message, _: str | None) -> Message:
    return {"hash": content_hash(parameters["message"])}


def _validate(parameters: Message, _: str | None) -> Message:
    broken = violations(parameters["instance"], _type(parameters))
    return {"valid": not broken, "path": broken[0]["path"] if broken else None}


_OPERATIONS: dict[str, Callable[[Message, str | None], Message]] = {
    "hello": _hello,
    "to_wire": _to_wire,
    "from_wire_request": _from_wire_request,
    "from_wire_response": _from_wire_response,
    "to_wire_response": _to_wire_response,
    "stream": _stream,
    "stream_encode": _stream_encode,
    "relay": _relay,
    "error": _error,
    "to_wire_error": _to_wire_error,
    "estimate": _estimate,
    "generate": _generate,
    "cost": _cost,
    "route": _route,
    "route_by_file": _route_by_file,
    "validate": _validate,
    "check": _check,
    "check_call": _check_call,
    "content_hash": _content_hash,
    "bye": lambda _, __: {},
}


def serve(lines: BinaryIO = sys.stdin.buffer, answers: BinaryIO = sys.stdout.buffer) -> None:
    """Answer messages until `bye` or the end of the input."""
    for line in lines:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise InvalidRequest("a message must be an object")
        except InvalidRequest as problem:
            message, answer = {}, {"id": None, "error": problem.to_dict()}
        else:
            answer = handle(message)
        answers.write(json.dumps(answer) + b"\n")
        answers.flush()
        if message.get("op") == "bye":
            return
