"""Check: the rules of the contract that a value breaks."""

from typing import Any

from interlingua.canonical import check as rules
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.validate import schema, violations
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import adapting, convert


def check(request: service.CheckRequest) -> service.CheckResponse:
    """Return all rules that a value breaks. Raises `InvalidRequest` for a call without a value, and for an unknown type
    or profile."""
    value, name = _value(request)
    found = violations(value, name)
    if not found and name in ("Request", "Message", "Response"):
        with adapting.field_of_call("profile"):
            found = rules.check(value, request.profile or "core")
    return service.CheckResponse(violations=[convert.to_proto(types.Violation, one) for one in found])


def _value(request: service.CheckRequest) -> tuple[Any, str]:
    match request.WhichOneof("value"):
        case "request":
            return convert.from_proto(request.request), "Request"
        case "message":
            return convert.from_proto(request.message), "Message"
        case "value_json":
            name = request.type or "Request"
            if name not in schema()["$defs"]:
                raise InvalidRequest(f"the schema has no type {name!r}", path="/type")
            with adapting.field_of_call("value_json"):
                return json.loads(request.value_json), name
        case _:
            raise adapting.none_set("there is no value", request, "value")
