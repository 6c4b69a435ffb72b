"""The plug operations as calls of the service that ships: `interlingua.v1.InterlinguaService`.

The server describes itself (gRPC reflection), so nothing generated is needed here. Needs the packages grpcio,
grpcio-reflection and googleapis-common-protos; nothing else of the suite does.

`CALLS` is the whole seam: for each operation the RPC, how the input becomes its request, and how its response becomes the
output. An operation that the service learns to answer in another way changes one row.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.rpc import error_details_pb2, status_pb2
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from .compare import dumps, loads
from .plug import ADAPTER_OPERATIONS, Answer, InternalError, PlugCrashError, PlugTimeoutError, ProtocolError, read_hello
from .upstream import home

SERVICE = "interlingua.v1.InterlinguaService"
Data = dict[str, Any]


def _side(adapter: str | None, given: Data) -> Data:
    side = {"adapter": adapter, **{name: given.get(name) for name in ("provider", "model", "origin")}}
    side["stateInIds"] = given.get("state_in_ids")
    return {name: value for name, value in side.items() if value}


def _loss(response: Data) -> list[Any]:
    return loads(response["lossJson"]) if response.get("lossJson") else response.get("loss", [])


def _canonical(name: str, json_name: str) -> Callable[[Data], Data]:
    return lambda response: {name: loads(response[json_name]), "loss": _loss(response)}


def _events(response: Data) -> Data:
    """Events by the chunk that completed them. The number of chunks is only known to the caller, see `call`."""
    events = response.get("events", {})
    values = [loads(text) for text in events.get("eventsJson", [])]
    places = [int(place) for place in events.get("completedBy", [])]
    answer = values[-1].get("response") if values else None
    return {"values": values, "places": places, "response": answer}


def _entry(message: Any) -> Data:
    """An entry of a loss report, out of its message."""
    entry = json_format.MessageToDict(message, preserving_proto_field_name=True)
    words = {name: entry[name].split("_", 2)[2].lower() for name in ("op", "severity")}
    value = {"value": loads(entry.pop("value_json"))} if "value_json" in entry else {}
    return {**entry, **words, **value}


def _error_answer(given: Data) -> Data:
    body = given.get("body")
    text = body if isinstance(body, str) else "" if body is None else dumps(body)
    return {"status": given["status"], "headers": given.get("headers") or {}, "body": text}


def _wire_error(answer: Data) -> Data:
    text = answer.get("body", "")
    try:
        body = loads(text)
    except ValueError:
        body = text
    return {"status": int(answer.get("status", 0)), "headers": answer.get("headers", {}), "body": body}


def _cost(response: Data) -> Data:
    return {"cost_usd": response.get("cost", {}).get("likelyUsd")}


def _tokens(response: Data) -> Data:
    tokens = response.get("tokens", {})
    return {name: int(tokens.get(name, 0)) for name in ("low", "likely", "high")}


def _any_model(adapter: str | None, given: Data) -> str:
    """The service wants a model to be named; without one the wire's own provider is meant."""
    named = given["request"].get("model") if isinstance(given["request"], dict) else None
    return named or f"{home(adapter or '')}:a-model"


def _verdict(response: Data) -> Data:
    broken = [item for item in response.get("violations", []) if str(item.get("rule", "schema")).startswith("schema")]
    return {"valid": not broken, "path": broken[0].get("path", "") if broken else None}


def _route(adapter: str | None, given: Data) -> Data:
    parts = {"policyJson": "policy", "registryJson": "catalog", "healthJson": "health", "contextJson": "context"}
    request = {name: dumps(given[part]) for name, part in parts.items() if given.get(part) is not None}
    return {**request, "requestJson": dumps(given["request"]), **({"now": given["now"]} if "now" in given else {})}


def _answered(given: Data) -> Data:
    """The request beside an answer."""
    return {"answeredRequestJson": dumps(given["request"])} if "request" in given else {}


def _loss_policy(policy: Data) -> Data:
    words = {"strict": "LOSS_SEVERITY_", "on_drop": "ON_DROP_", "unanswered": "UNANSWERED_"}
    return {name: word + policy[name].upper() for name, word in words.items() if name in policy}


@dataclass(frozen=True)
class Call:
    rpc: str
    request: Callable[[str | None, Data], Data]
    output: Callable[[Data], Data]


CALLS: dict[str, Call] = {
    "to_wire": Call(
        "Adapt",
        lambda adapter, given: {"requestJson": dumps(given["request"]), "target": _side(adapter, given)},
        _canonical("wire", "wireJson"),
    ),
    "from_wire_request": Call(
        "Adapt",
        lambda adapter, given: {
            "wireJson": dumps(given["wire"]),
            "kind": "KIND_REQUEST",
            "source": _side(adapter, given),
        },
        _canonical("request", "requestJson"),
    ),
    "from_wire_response": Call(
        "Adapt",
        lambda adapter, given: {
            "wireJson": dumps(given["body"]),
            "kind": "KIND_RESPONSE",
            "source": _side(adapter, given),
            **_answered(given),
        },
        _canonical("response", "responseJson"),
    ),
    "to_wire_response": Call(
        "Adapt",
        lambda adapter, given: {
            "responseJson": dumps(given["response"]),
            "target": _side(adapter, given),
            **_answered(given),
        },
        _canonical("body", "wireJson"),
    ),
    "stream": Call(
        "Adapt",
        lambda adapter, given: {
            "chunks": {"chunks": given["chunks"]},
            "source": _side(adapter, given),
            **_answered(given),
        },
        _events,
    ),
    "stream_encode": Call(
        "Adapt",
        lambda adapter, given: {
            "events": {"eventsJson": [dumps(event) for event in given["events"]]},
            "target": _side(adapter, given),
            **_answered(given),
        },
        lambda response: {"chunks": response.get("chunks", {}).get("chunks", []), "loss": _loss(response)},
    ),
    "error": Call(
        "Adapt",
        lambda adapter, given: {
            "errorAnswer": _error_answer(given),
            "source": _side(adapter, given),
            "includeRaw": bool(given.get("raw")),
        },
        lambda response: loads(response["errorJson"]),
    ),
    "to_wire_error": Call(
        "Adapt",
        lambda adapter, given: {"errorJson": dumps(given["error"]), "target": _side(adapter, given)},
        lambda response: {"wire": _wire_error(response["errorAnswer"]), "loss": _loss(response)},
    ),
    "estimate": Call(
        "Estimate",
        lambda adapter, given: {
            "requestJson": dumps(given["request"]),
            "model": given.get("model") or _any_model(adapter, given),
            "adapter": adapter or "",
        },
        _tokens,
    ),
    "cost": Call(
        "Estimate",
        lambda adapter, given: {
            "usageJson": dumps(given["usage"]),
            # No price is an empty row: without any the server would look the model up in its own table.
            "priceJson": dumps(given.get("price") or {}),
        },
        _cost,
    ),
    "route": Call("Route", _route, lambda response: loads(response["decisionJson"])),
    # The server knows the file by its command line, and whoever gave it there gives it to the suite.
    "route_by_file": Call(
        "Route",
        lambda adapter, given: _route(adapter, {**given, "policy": None}),
        lambda response: loads(response["decisionJson"]),
    ),
    "validate": Call(
        "Check",
        lambda adapter, given: {"valueJson": dumps(given["instance"]), "type": given.get("type", "Request")},
        _verdict,
    ),
    "check": Call(
        "Check",
        lambda adapter, given: {
            "valueJson": dumps(given["instance"]),
            "type": given.get("type", "Request"),
            "profile": given.get("profile", ""),
        },
        lambda response: {
            "violations": [
                {"rule": item.get("rule", ""), "path": item.get("path", "")} for item in response.get("violations", [])
            ]
        },
    ),
}


class GrpcPlug:
    """A running server as a plug."""

    def __init__(self, target: str, timeout: float = 10.0, generates: bool = False, reads_policy: bool = False) -> None:
        """`generates`: the server's providers are at the scripted upstream, so Generate may be asked; `reads_policy`: its
        policy stands in a file that the suite may write."""
        self.target = target
        self.timeout = timeout
        streamed = ("generate", "relay") if generates else ("relay",)
        self._adapter_operations = [name for name in ADAPTER_OPERATIONS if name in CALLS or name in streamed]
        by_file = ["route_by_file"] if reads_policy else []
        self._operations = ["cost", "route", *by_file, "validate", "check"]
        self._connect()

    def _connect(self) -> None:
        options = [("grpc.max_receive_message_length", 64 << 20), ("grpc.max_send_message_length", 64 << 20)]
        self._channel = grpc.insecure_channel(self.target, options=options)
        self._pool: descriptor_pool.DescriptorPool | None = None

    def hello(self) -> dict[str, Any]:
        adapters = self._ask("ListModels", {}).get("adapters", [])
        implementation = {"name": f"the service at {self.target}", "version": "interlingua.v1"}
        claimed = {name: list(self._adapter_operations) for name in adapters}
        return read_hello(
            {"protocol": 1, "implementation": implementation, "adapters": claimed, "operations": self._operations}
        )

    def call(self, operation: str, adapter: str | None, input: Any) -> Answer:
        if operation == "generate" and operation in self._adapter_operations:
            return self._generate(adapter, input)
        if operation == "relay":
            return self._relay(adapter, input)
        row = CALLS.get(operation)
        if row is None:
            return Answer(unsupported=True)
        try:
            request = row.request(adapter, input)
        except KeyError as error:
            return Answer(error={"category": "invalid_request", "message": f"the input has no member {error}"})
        try:
            response = self._ask(row.rpc, {**request, **({"jsonOutput": True} if row.rpc == "Adapt" else {})})
        except grpc.RpcError as error:
            return Answer(error=_canonical_error(error, self._words(error)))
        except json_format.ParseError as error:
            return Answer(error={"category": "invalid_request", "message": f"no such message: {error}"})
        try:
            output = row.output(response)
        except (KeyError, ValueError) as error:
            raise ProtocolError(f"{row.rpc} answers without {error}") from None
        return Answer(output=_by_chunk(output, len(input["chunks"])) if operation == "stream" else output)

    def _generate(self, adapter: str | None, given: Data) -> Answer:
        """Generate or GenerateStream. Where the providers are the server knows by its environment."""
        try:
            request = {"requestJson": dumps(given["request"]), "adapter": adapter or "", "jsonOutput": True}
            request["includeRaw"] = True  # what a provider says of keys comes to a client that asks for all
        except KeyError as error:
            return Answer(error={"category": "invalid_request", "message": f"the input has no member {error}"})
        deadline = given.get("deadline")
        try:
            if not given.get("stream"):
                response = self._ask("Generate", request, deadline)
                return Answer(output={"response": loads(response["responseJson"])})
            return Answer(output=self._streamed(request, deadline, given.get("cancel_after")))
        except grpc.RpcError as error:
            return Answer(error=_generate_error(error, deadline, self._words(error)))

    def _streamed(self, request: Data, deadline: float | None, cancel_after: int | None) -> Data:
        call, message = self._method("GenerateStream", request)
        answers = call(message, timeout=deadline or self.timeout)
        events: list[Any] = []
        at: list[float] = []
        output: Data = {"events": events, "at": at}
        try:
            for answer in answers:
                piece = json_format.MessageToDict(answer)
                if "eventJson" in piece:
                    events.append(loads(piece["eventJson"]))
                    at.append(time.monotonic())
                if len(events) == cancel_after:
                    answers.cancel()
                    return output
        except grpc.RpcError as error:
            output["error"] = _generate_error(error, deadline, self._words(error))
        return output

    def _words(self, error: Any) -> Data:
        """What the provider said and what would be lost, as the canonical error in the details of a failed call has them."""
        kind = self._descriptors().FindMessageTypeByName("interlingua.v1.Error")
        canonical: Any = message_factory.GetMessageClass(kind)()
        for name, value in error.trailing_metadata() or ():
            if name == "grpc-status-details-bin":
                for detail in status_pb2.Status.FromString(value).details:
                    if detail.type_url.endswith("/interlingua.v1.Error"):
                        canonical.ParseFromString(detail.value)
        words: Data = {"provider_message": canonical.provider_message} if canonical.provider_message else {}
        if canonical.loss:
            words["loss"] = [_entry(entry) for entry in canonical.loss]
        return words

    def _relay(self, adapter: str | None, given: Data) -> Answer:
        """AdaptStream, all pieces sent as fast as they are taken."""
        try:
            sides = {"source": _side(adapter, {}), "target": {"adapter": given["target"]}}
            start = {**sides, "jsonOutput": True, "lossPolicy": _loss_policy(given.get("policy") or {})}
            pieces = [{"start": start}, *({"chunk": chunk} for chunk in given["chunks"])]
        except KeyError as error:
            return Answer(error={"category": "invalid_request", "message": f"the input has no member {error}"})
        try:
            answers = asyncio.run(self._relayed(pieces))
        except grpc.RpcError as error:
            return Answer(error=_canonical_error(error, self._words(error)))
        chunks = [chunk for answer in answers for chunk in answer.get("chunks", [])]
        return Answer(output={"chunks": chunks, "loss": _loss(answers[-1]) if answers else []})

    async def _relayed(self, pieces: list[Data]) -> list[Data]:
        """By grpc.aio, which forgets a status that comes while it writes (https://github.com/grpc/grpc/issues/36066): what
        such a client learns, any client does."""
        kind, described = self._described("AdaptStream")
        async with grpc.aio.insecure_channel(self.target) as channel:
            call = channel.stream_stream(f"/{SERVICE}/AdaptStream", **described)
            sent = [json_format.ParseDict(piece, kind()) for piece in pieces]
            return [json_format.MessageToDict(answer) async for answer in call(iter(sent), timeout=self.timeout)]

    def _method(self, rpc: str, request: Data) -> tuple[Any, Any]:
        """The callable of a method, and its request as a message."""
        kind, described = self._described(rpc)
        opened = self._channel.unary_stream if rpc == "GenerateStream" else self._channel.unary_unary
        return opened(f"/{SERVICE}/{rpc}", **described), json_format.ParseDict(request, kind())

    def _described(self, rpc: str) -> tuple[Any, dict[str, Any]]:
        """The class of a method's requests, and how these and its responses travel."""
        method = self._descriptors().FindServiceByName(SERVICE).methods_by_name[rpc]
        taken, given = (message_factory.GetMessageClass(kind) for kind in (method.input_type, method.output_type))
        return taken, {"request_serializer": taken.SerializeToString, "response_deserializer": given.FromString}

    def _ask(self, rpc: str, request: Data, deadline: float | None = None) -> Data:
        call, message = self._method(rpc, request)
        return json_format.MessageToDict(call(message, timeout=deadline or self.timeout))

    def _descriptors(self) -> descriptor_pool.DescriptorPool:
        """The server's own description of the service, with all that it imports."""
        if self._pool is not None:
            return self._pool
        question = reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE)
        try:
            answers = list(
                reflection_pb2_grpc.ServerReflectionStub(self._channel).ServerReflectionInfo(
                    iter([question]), timeout=self.timeout
                )
            )
        except grpc.RpcError as error:
            raise PlugCrashError(f"{self.target}: {error.details()}; the server must offer reflection") from None
        found = answers[0].file_descriptor_response.file_descriptor_proto if answers else []
        if not found:
            raise ProtocolError(f"{self.target} does not offer {SERVICE}")
        files = {item.name: item for item in map(descriptor_pb2.FileDescriptorProto.FromString, found)}
        pool = descriptor_pool.DescriptorPool()
        for name in list(files):
            self._add(pool, files, name)
        self._pool = pool
        return pool

    def _add(self, pool: descriptor_pool.DescriptorPool, files: dict[str, Any], name: str) -> None:
        if name not in files:
            files[name] = self._file(name)
        item = files[name]
        if item is None:
            return
        files[name] = None
        for other in item.dependency:
            self._add(pool, files, other)
        pool.Add(item)

    def _file(self, name: str) -> Any:
        question = reflection_pb2.ServerReflectionRequest(file_by_filename=name)
        answers = list(
            reflection_pb2_grpc.ServerReflectionStub(self._channel).ServerReflectionInfo(
                iter([question]), timeout=self.timeout
            )
        )
        return descriptor_pb2.FileDescriptorProto.FromString(
            answers[0].file_descriptor_response.file_descriptor_proto[0]
        )

    def restart(self) -> None:
        self._channel.close()
        self._connect()

    def close(self) -> None:
        self._channel.close()


def _by_chunk(found: Data, chunks: int) -> Data:
    parts: list[list[Any]] = [[] for _ in range(chunks + 1)]
    for value, place in zip(found["values"], found["places"] or [chunks] * len(found["values"]), strict=True):
        parts[min(place, chunks)].append(value)
    return {"events": parts, "response": found["response"]}


_FACTS: dict[str, Callable[[str], Any]] = {
    "path": str,
    "code": str,
    "request_id": str,
    "provider": str,
    "adapter": str,
    "status": int,
    "retryable": lambda word: word == "true",
}


def _told(error: Any) -> Data | None:
    """The canonical error that the details of a failed call hold."""
    found: Data | None = None
    for name, value in error.trailing_metadata() or ():
        if name != "grpc-status-details-bin":
            continue
        for detail in status_pb2.Status.FromString(value).details:
            info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
            if detail.Unpack(info):
                if info.reason == "internal":
                    raise InternalError(f"the implementation failed internally: {error.details()}")
                facts = {key: _FACTS[key](item) for key, item in info.metadata.items() if key in _FACTS}
                found = {"category": info.reason, "message": error.details(), **facts}
            elif found is not None and detail.Unpack(retry):
                found["retry_after"] = retry.retry_delay.ToTimedelta().total_seconds()
    return found


def _generate_error(error: Any, deadline: float | None, words: Data) -> Data:
    """The error of a call. Where the caller's own deadline passed first, nobody is left to tell of it."""
    if deadline is not None and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return _told(error) or {"category": "timeout", "message": "the deadline passed", "retryable": True}
    return _canonical_error(error, words)


def _canonical_error(error: Any, words: Data) -> dict[str, Any]:
    """The canonical error in the details of a failed call; the crash and the timeout are none."""
    told = _told(error)
    if told is not None:
        return {**told, **words}
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        raise PlugTimeoutError(error.details()) from None
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        raise PlugCrashError(f"the server is gone: {error.details()}") from None
    raise ProtocolError(f"a call failed with {error.code().name} and no canonical error: {error.details()}") from None
