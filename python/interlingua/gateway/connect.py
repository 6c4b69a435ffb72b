"""
The verbs over HTTP: the unary form of the Connect protocol (https://connectrpc.com/docs/protocol), so that curl and a
browser call the service by its own names (spec/11-gateway.md#verbs).

    POST /interlingua.v1.InterlinguaService/Adapt
    content-type: application/json

A message is ProtoJSON. A failure is the JSON error of Connect, with the same details as over gRPC.
"""

import base64
import re
from collections.abc import Awaitable, Callable
from typing import Any

from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.message import Message
from google.rpc import code_pb2
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from interlingua.access import Key
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.client.call import Answered
from interlingua.gateway.bodies import read_body
from interlingua.gateway.gateway import Gateway, unless_gone
from interlingua.gateway.generating import allowed, record_answer
from interlingua.refusals import Refused, not_found
from interlingua.v1 import service_pb2 as service
from interlingua.verbs.failures import status_of

SERVICE = service.DESCRIPTOR.services_by_name["InterlinguaService"].full_name
PREFIX = f"/{SERVICE}/"
CANONICAL = "canonical"
"""The wire, in records and counters, of a call that does not use the wire of a provider."""

Verb = Callable[[Request, Key, Any], Awaitable[Message]]

_STATUSES = {
    "invalid_argument": 400,
    "failed_precondition": 400,
    "out_of_range": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "already_exists": 409,
    "aborted": 409,
    "resource_exhausted": 429,
    "canceled": 499,
    "unimplemented": 501,
    "unavailable": 503,
    "deadline_exceeded": 504,
}
"""The HTTP status of each code; any other code has 500."""

_JSON = "application/json"
_TIMEOUT = re.compile(r"[0-9]{1,10}")
_FIELD = re.compile(r"Failed to parse (\w+) field")
_UNKNOWN_FIELD = re.compile(r'Message type "[\w.]*?(\w+)" has no field named "(\w{1,60})".*?"\[(.*)\]"', re.DOTALL)


def routes(gateway: Gateway) -> list[BaseRoute]:
    """The paths of the verbs and their operations."""

    async def generate(request: Request, key: Key, message: service.GenerateRequest) -> Message:
        return await _generate(gateway, request, key, message)

    async def adapt(_: Request, __: Key, message: service.AdaptRequest) -> Message:
        return await gateway.verbs.adapt(message)

    async def route(_: Request, __: Key, message: service.RouteRequest) -> Message:
        return await gateway.verbs.route(message)

    async def estimate(_: Request, __: Key, message: service.EstimateRequest) -> Message:
        return await gateway.verbs.estimate(message)

    async def check(_: Request, __: Key, message: service.CheckRequest) -> Message:
        return await gateway.verbs.check(message)

    async def list_models(_: Request, key: Key, message: service.ListModelsRequest) -> Message:
        models = gateway.verbs.list_models(message)
        usable = [model for model in models.models if key.may_use(model.id, gateway.registry.is_priced)]
        return service.ListModelsResponse(models=usable, adapters=models.adapters)

    verbs: dict[str, Verb] = {
        "Adapt": adapt,
        "Route": route,
        "Generate": generate,
        "Estimate": estimate,
        "Check": check,
        "ListModels": list_models,
    }

    def operation(name: str, verb: Verb) -> Callable[[Request], Awaitable[Response]]:
        input_type = service.DESCRIPTOR.services_by_name["InterlinguaService"].methods_by_name[name].input_type

        async def answer(request: Request) -> Response:
            try:
                key = await gateway.caller(request)
                if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
                    text = f"the content type must be {_JSON}; with curl: -H 'content-type: {_JSON}'"
                    return _no_call(gateway, request, 415, text, **{"accept-post": _JSON})
                message = _parse(await read_body(request, gateway.limits.body), input_type)
                result = await verb(request, key, message)
                headers = dict(getattr(request.state, "headers", {}))
                return Response(json_format.MessageToJson(result, indent=None), 200, headers, _JSON)
            except Exception as problem:  # noqa: BLE001 each is written as an error of Connect
                return refusal(gateway, request, gateway.as_our_error(problem))

        return answer

    async def unknown(request: Request) -> Response:
        name = request.path_params["name"]
        if name in verbs:
            return _no_call(gateway, request, 405, "call a verb with POST", allow="POST")
        names = ", ".join(verbs)
        problem = not_found(f"there is no such verb over HTTP; use {names}, or gRPC for streams")
        return refusal(gateway, request, problem, "unimplemented")

    return [
        *(Route(f"{PREFIX}{name}", operation(name, verb), methods=["POST"]) for name, verb in verbs.items()),
        Route(f"{PREFIX}{{name:path}}", unknown, methods=["GET", "POST", "PUT", "DELETE"]),
    ]


def _no_call(gateway: Gateway, request: Request, status: int, message: str, **headers: str) -> Response:
    """The response to an HTTP request that is not a call of Connect. Connect has no code for it."""
    gateway.note_refusal(request, CANONICAL, status, InvalidRequest(message))
    return Response(json.dumps({"code": "unknown", "message": message}), status, headers, _JSON)


async def _generate(
    gateway: Gateway, request: Request, key: Key, message: service.GenerateRequest
) -> service.GenerateResponse:
    """Generate a response, and keep the record of the call. Of a chain, a key may use only the models that it is
    allowed."""
    deadline = _deadline(request)
    gateway.access.admit(key)
    running = gateway.begin(key, CANONICAL)
    call = running.call
    try:
        with gateway.in_flight.cut_off():
            choice = allowed(await gateway.verbs.choose(message), key, gateway.registry)
            call.asked_model = message.target or choice.request.get("model")
            call.record_choice(choice)
            running.changed()
            if call.content is not None:
                call.content.canonical(choice.request)
            answers: list[Answered] = []
            generating = gateway.verbs.generate(message, choice, deadline, answers.append)
            answer, response = await unless_gone(request, generating)
            record_answer(call, answers[0], response)
            call.request_loss = answers[0].loss
            if call.content is not None:
                call.content.event({"type": "response", "response": response})
        running.end(200)
    except Exception as problem:  # noqa: BLE001 it is written as an error of Connect
        error = gateway.as_our_error(problem)
        running.end(_STATUSES.get(_code_name(status_of(error).code), 500), error)
        raise error from None
    finally:
        request.state.headers = running.headers()
    return answer


def refusal(gateway: Gateway, request: Request, problem: InterlinguaError, code: str | None = None) -> Response:
    """A failure in the format of Connect: the HTTP status, and a JSON body with the code, the message and the details.
    It is logged, unless its call has a record."""
    status = status_of(problem)
    code_name = code or _code_name(status.code)
    body = {"code": code_name, "message": status.message, "details": [_detail(detail) for detail in status.details]}
    of_record = getattr(request.state, "headers", None)
    headers = (of_record or {}) | {"content-type": _JSON}
    if isinstance(problem, Refused) and (wait := problem.to_dict().get("retry_after")) is not None:
        headers["retry-after"] = str(max(1, round(wait)))
    http_status = _STATUSES.get(code_name, 500)
    if of_record is None:
        gateway.note_refusal(request, CANONICAL, http_status, problem)
    return Response(json.dumps(body), http_status, headers)


def _code_name(code: int) -> str:
    return code_pb2.Code.Name(code).lower().replace("cancelled", "canceled")


def _detail(packed: Any) -> dict[str, Any]:
    name = packed.type_url.rpartition("/")[2]
    message = message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))()
    packed.Unpack(message)
    value = base64.b64encode(packed.value).decode().rstrip("=")
    return {"type": name, "value": value, "debug": json_format.MessageToDict(message)}


def _parse(body: bytes, kind: Any) -> Any:
    """Read the message in a body. Raises `InvalidRequest` with the path of the wrong field, but without its value."""
    message: Any = message_factory.GetMessageClass(kind)()
    if not (first := body.lstrip()[:1]):  # an empty body, such as that of curl -d '', is a message without fields
        return message
    if first == b'"':
        raise InvalidRequest(f"the body must be a JSON object with the fields of {kind.name}", path="")
    try:
        return json_format.Parse(body, message)
    except (json_format.Error, ValueError, RecursionError) as problem:  # the text of the problem may quote content
        text = str(problem)
    path = "".join(f"/{name}" for name in _FIELD.findall(text))
    if text.startswith("Failed to load JSON"):
        reason = "the body is not valid JSON, or has a member twice"
    elif unknown := _UNKNOWN_FIELD.search(text):
        fields = unknown[3].replace("'", "")
        reason = f"there is no field {unknown[2]}; {unknown[1]} has {fields}"
    elif "oneof" in text:
        reason = "only one field of a oneof may be set"
    else:
        reason = (
            "the value does not have the type of the field"
            if path
            else f"the body must be a JSON object with the fields of {kind.name}"
        )
    raise InvalidRequest(reason, path=path)


def _deadline(request: Request) -> float | None:
    """How long the client waits, in seconds; None where it sets no limit."""
    milliseconds = request.headers.get("connect-timeout-ms")
    if milliseconds is None:
        return None
    if not _TIMEOUT.fullmatch(milliseconds):
        raise InvalidRequest("the header connect-timeout-ms must be a number of milliseconds, of at most ten digits")
    return int(milliseconds) / 1000
