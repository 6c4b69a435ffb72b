"""
The records and contents of calls (spec/11-gateway.md#call-records, #live, #call-content). They come from this process
and, where several workers serve, from the worker that has the call.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from interlingua.canonical import json
from interlingua.gateway.calls import KEPT, Call, severity_counts
from interlingua.gateway.gateway import Gateway
from interlingua.refusals import Refused

Data = dict[str, Any]


async def record(gateway: Gateway, id: str, tenant: str) -> Data:
    """The record of a call of a tenant. Raises `Refused` where there is none."""
    call = gateway.calls.find(id, tenant)
    if call is not None:
        return call.to_dict()
    if gateway.peers is not None:
        for answer in await gateway.peers.ask({"tell": "record", "id": id, "tenant": tenant}):
            return json.loads(answer)
    raise _no_record()


async def list_records(gateway: Gateway, tenant: str) -> list[Data]:
    """The records of a tenant's last calls, the newest first."""
    own_records = [call.to_dict() for call in gateway.calls.of(tenant)]
    if gateway.peers is None:
        return own_records
    others = await gateway.peers.ask({"tell": "list", "tenant": tenant})
    # ids begin with the time
    together = [*own_records, *(record for answer in others for record in json.loads(answer))]
    return sorted(together, key=lambda record: record["id"], reverse=True)[:KEPT]


def live(gateway: Gateway, tenant: str) -> AsyncIterator[bytes]:
    """The records of a tenant's calls as server-sent events. A record is sent again when it has changed."""
    own_records = _own_live(gateway, tenant)
    return (
        own_records
        if gateway.peers is None
        else gateway.peers.with_others(own_records, {"tell": "live", "tenant": tenant})
    )


async def content(gateway: Gateway, id: str, tenant: str) -> AsyncIterator[bytes]:
    """The content of a tenant's call, as server-sent events until the call has ended. Raises `Refused` where there is
    no such call."""
    call = gateway.calls.find(id, tenant)
    if call is not None:
        return _own_content(gateway, call)
    if gateway.peers is not None:
        answer = await gateway.peers.first_answer({"tell": "content", "id": id, "tenant": tenant})
        if answer is not None:
            return answer
    raise _no_record()


def _no_record() -> Refused:
    message = "there is no record of this call; GET /v1/interlingua/calls lists those that there are"
    return Refused("not_found", message, 404, code="call_not_found")


async def answer(gateway: Gateway, question: Mapping[str, Any]) -> AsyncIterator[bytes]:
    """The answer to another worker; empty where this one has no such call."""
    tenant = question["tenant"]
    named_call = gateway.calls.find(question.get("id", ""), tenant)
    match question["tell"]:
        case "record" if named_call is not None:
            yield json.dumps(named_call.to_dict())
        case "list":
            yield json.dumps([call.to_dict() for call in gateway.calls.of(tenant)])
        case "live":
            async for piece in _own_live(gateway, tenant):
                yield piece
        case "content" if named_call is not None:
            async for piece in _own_content(gateway, named_call):
                yield piece
        case _:
            pass


async def _own_live(gateway: Gateway, tenant: str) -> AsyncIterator[bytes]:
    version = 0
    async for number in gateway.news.since(-1):
        changed = gateway.calls.since(version, tenant)
        version = number
        yield b"".join(_event("call", summary(call)) for call in changed) or b": alive\n\n"


async def _own_content(gateway: Gateway, call: Call) -> AsyncIterator[bytes]:
    sent_parts: dict[str, int] = {}
    position = 0
    content = call.content
    if content is None or gateway.contents is None or gateway.contents.find(call.id) is not content:
        yield _event("none", {"inspect": gateway.contents is not None})
        return
    async for _ in gateway.news.since(-1):
        new = b"".join(
            _raw_event(name, part) for name, part in tuple(content.parts.items()) if sent_parts.get(name) != id(part)
        )
        sent_parts = {name: id(part) for name, part in content.parts.items()}
        new += b"".join(_raw_event("event", event) for event in content.events[position:])
        position = len(content.events)
        ended = content.ended or content.forgotten
        yield new or b": alive\n\n"
        if ended:
            yield _event("end", call.to_dict())
            return


def summary(call: Call) -> Data:
    """A row of the list: the record with the number of the entries of its reports instead of the entries."""
    record = call.to_dict()
    del record["request_loss"], record["answer_loss"]
    usage = record["usage"]
    if usage is not None:
        record["usage"] = {name: value for name, value in usage.items() if name != "raw"}
    return {**record, "loss": severity_counts([*call.request_loss, *call.answer_loss])}


def _event(name: str, value: Data) -> bytes:
    return _raw_event(name, json.dumps(value))


def _raw_event(name: str, value: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + value + b"\n\n"
