"""Requests of all wires, both ways: what stands around the reading and the writing of their members."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from interlingua.adapters._as_read import JSON_UNMENTIONED, keep_read
from interlingua.adapters._kit import NOTHING, Wire, data_of, expect
from interlingua.adapters._members import Body, Members, Reader, Rows, wrong_member
from interlingua.adapters._structured import escape_reserved, mentions_json, write_with_format
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]
Item = dict[str, Any]
Written = tuple[types.WireRequest, list[Entry]]

UNREADABLE = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What reading a part raises that lacks a member or has one of a wrong type."""


# ---------------------------------------------------------------------------------------------------- from the wire


def body_of(wire: Mapping[str, Any]) -> Wire:
    """The body of a wire request. Raises `InvalidWire` where there is none."""
    body: Wire = expect(expect(wire, dict, "the wire request").get("body"), dict, "the body", "body")
    return body


def unmeasured(endpoint: Endpoint, *known: str) -> Endpoint:
    """The wire of an endpoint, of whose model nothing is known but some of its capabilities."""
    capabilities = {name: endpoint.capabilities[name] for name in known if name in endpoint.capabilities}
    return Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect, capabilities, endpoint.origin)


def keep_request(
    request: Request, body: Wire, encoding: Item, endpoint: Endpoint, members: Body, *facts: str, unusual: bool = False
) -> None:
    """Gives a request that was just read its provider state, with what is kept of it (`keep_read`, `Body.keep`)."""
    keep_read(request, encoding, *facts)
    request["provider_state"] = endpoint.state(encoding=encoding)
    members.keep(request, body, endpoint, unusual=unusual)


def unmentioned_json(request: Request, messages: list[Item]) -> tuple[str, ...]:
    """The fact that JSON is asked for, and none of these messages speaks of it."""
    if (request.get("response_format") or NOTHING).get("type") != "json":
        return ()
    return () if mentions_json([message["content"] for message in messages]) else (JSON_UNMENTIONED,)


def keep_names(request: Request, encoding: Item, called: Collection[str], fits: Callable[[str], bool]) -> None:
    """Keeps the names of tools that do not fit, and those that several tools have; `called` are those of calls."""
    names: set[str] = set()
    again: set[str] = set()
    for tool in request.get("tools") or ():
        name: Any = (tool.get("definition") or tool).get("name")
        if type(name) is str:
            (again if name in names else names).add(name)
    if again:
        encoding["again"] = sorted(again)
    names.update(called)
    if odd := [name for name in names if not fits(name)]:
        encoding["names"] = sorted(odd)


def tools_reader(read: Callable[[Any, Any], Any]) -> Reader:
    """The reader of a list of tools, of which `read` reads one."""

    def read_tools(name: str, value: Any, members: Members[Any]) -> bool:
        if type(value) is not list:
            return False
        tools: list[Item] = []
        try:
            for tool in value:
                tools.append(read(tool, members.reading))
        except UNREADABLE as problem:
            where = f"/{name}/{len(tools)}"
            message = "a tool cannot be read: a member is missing or has the wrong type"
            raise InvalidWire(message, path=where, adapter=members.endpoint.adapter) from problem
        members.request["tools"] = tools
        return True

    return read_tools


Refusal = Callable[[Mapping[str, Any], Mapping[str, Any]], InvalidWire | None]


def refuser(adapter: str, rows: Rows) -> Refusal:
    """What refuses what was read of a request, its options and its encoding, where a member with a canonical word is of a
    wrong type."""

    def wrong_type(options: Mapping[str, Any], encoding: Mapping[str, Any]) -> InvalidWire | None:
        return wrong_member(adapter, options, rows)

    return wrong_type


# ---------------------------------------------------------------------------------------------------- to the wire


def posted(path: str, body: Wire, headers: Mapping[str, str] = NOTHING) -> types.WireRequest:
    """A wire request."""
    return {"method": "POST", "path": path, "headers": dict(headers), "body": body}


def request_writer(
    write: Callable[[Request, Endpoint, Loss], types.WireRequest], *, speaks_json: bool = False
) -> Callable[[types.Request, Endpoint], Written]:
    """What writes canonical requests of a wire as WireRequests, and reports what the wire cannot say.

    `write` writes one, and reports; `speaks_json` is that of `write_with_format`.
    It raises `InvalidRequest` with a pointer for a conversation that has no valid wire.
    """

    def written(asked: Request, target: Endpoint) -> Written:
        loss = Loss(asked.get("loss_policy"))
        try:
            wire = write(asked, target, loss)
        except UNREADABLE as problem:
            # the schema has checked all but what providers left in `encoding` and `fields`
            why = "a provider state of the request has an unexpected shape"
            raise InvalidRequest(why, adapter=target.adapter) from problem
        return wire, loss.entries

    def with_format(asked: Request, target: Endpoint) -> Written:
        if "response_format" in asked:
            return write_with_format(asked, target, written, speaks_json=speaks_json)
        return written(asked, target)

    def to_wire(request: types.Request, endpoint: Endpoint) -> Written:
        return escape_reserved(data_of(request), endpoint, with_format)

    return to_wire
