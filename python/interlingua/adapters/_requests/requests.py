"""Read and write the requests of all wires: the steps around the reading and the writing of their members."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from interlingua.adapters._engine.as_read import JSON_UNMENTIONED, keep_read
from interlingua.adapters._engine.kit import NOTHING, UNREADABLE, Wire, data_of, expect, parallel_severity
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.verbatim import may_differ
from interlingua.adapters._engine.writing import PLAIN_NAMES, ToolNames, Writing
from interlingua.adapters._history.messages import report_state
from interlingua.adapters._requests.body import Body
from interlingua.adapters._requests.members import (
    MODEL,
    BodyMembers,
    Members,
    Reader,
    model_to_wire,
    places,
    write_members,
    wrong_member,
)
from interlingua.adapters._requests.options import Options, options_to_wire
from interlingua.adapters._structured import (
    escape_reserved,
    extract_format,
    is_any_json,
    mentions_json,
    write_with_format,
)
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]
Item = dict[str, Any]
R = TypeVar("R", bound=Reading)
Written = tuple[types.WireRequest, list[Entry]]


# ---------------------------------------------------------------------------------------------------- from the wire


def body_of(wire: Mapping[str, Any]) -> Wire:
    """Return the body of a wire request. Raises `InvalidWire` if there is none."""
    body: Wire = expect(expect(wire, dict, "the wire request").get("body"), dict, "the body", "body")
    return body


def unmeasured(endpoint: Endpoint, *known: str) -> Endpoint:
    """Return the endpoint without its model, and with only the `known` ones of its capabilities."""
    capabilities = {name: endpoint.capabilities[name] for name in known if name in endpoint.capabilities}
    return Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect, capabilities, endpoint.origin)


def unmentioned_json(request: Request, messages: list[Item]) -> tuple[str, ...]:
    """Return the fact that the request asks for JSON and none of these messages contains the word; empty if that is
    not so."""
    wanted: Item | None = request.get("response_format")
    if wanted is None or not is_any_json(wanted):
        return ()
    return () if mentions_json([message["content"] for message in messages]) else (JSON_UNMENTIONED,)


def tools_reader(read: Callable[[Any, Any], Any]) -> Reader:
    """Return a reader of a list of tools; `read` reads one tool."""

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


Conversation = Callable[..., Wire]
"""Writes the messages, instructions and tools of a request, and returns the body with them. It takes the request, a
`Writing` and, if they were just read, what they were read from: then it keeps what is written differently."""


class Table(Body):
    """The requests of a wire: how their members are read, kept verbatim, and written.

    `structural`, `always` and `switches` are those of `Body`: the first place is that of the messages. `shared`
    and `needed` are those of `Options`. `conversation` writes the structural members, `write` the others in the wire's
    order, both with the `Writing` that `writing` makes. `known` are the capabilities that a request which was just read
    is compared with; it is written for a model without any others. `named` renames the members of a body to the names
    of the rows; it is used only for reading. `other_names` are further names of members with a canonical counterpart.
    `tool_names` are the names of tools that the wire accepts.
    """

    def __init__(
        self,
        adapter: str,
        rows: BodyMembers,
        structural: tuple[str, ...],
        conversation: Conversation,
        write: Callable[[Request, Wire, Any], None],
        writing: Callable[[Request, Endpoint, Loss], Writing],
        always: tuple[str, ...] = (),
        *,
        switches: Mapping[str, tuple[str, ...]] = NOTHING,
        shared: Collection[str] | None = None,
        needed: Mapping[str, str] = NOTHING,
        known: Collection[str] = (),
        named: Callable[[Wire], Wire] | None = None,
        other_names: Collection[str] = (),
        tool_names: ToolNames = PLAIN_NAMES,
    ) -> None:
        super().__init__(rows, structural, write, writing, always, switches=switches)
        self.adapter = adapter
        self.conversation = conversation
        self.known = known
        self.named = named
        self.tool_names = tool_names
        self._unread = frozenset(name for name in structural if name not in rows)
        self._places = places(rows)
        self._says_model = rows.get("model") is MODEL
        self._says_parallel = any(
            row.member == "parallel_tool_calls" or "parallel_tool_calls" in row.covers for row in rows.values()
        )
        self._options = Options(self.read, frozenset((*rows, *other_names)), shared, needed)

    def read(self, body: Wire, reading: R, skip: Collection[str] = ()) -> Members[R]:
        """Read the members of a body, except those in `skip`, which are read elsewhere. A member of an unexpected
        type is no error: it becomes an option, and is written back unchanged."""
        members = Members(body if self.named is None else self.named(body), reading)
        members.read(self.rows, self._unread.union(skip) if skip else self._unread)
        return members

    def keep_request(
        self,
        members: Members[Any],
        messages: list[Item],
        facts: Sequence[str] = (),
        *,
        read: Any = None,
        empty: bool = False,
        must_compare: bool = False,
    ) -> types.Request:
        """Return the request of the members and messages that were just read, with the state that is kept of it.

        `facts` are those that the reader knows already. `read` is what `conversation` gets if messages and tools must
        be compared; without it, that is the body. `empty`: there is nothing to answer. `must_compare`: a member may be
        written differently than it was received.
        """
        request, encoding, endpoint = members.request, members.words, members.endpoint
        request["messages"] = messages
        if "tools" in request or members.reading.names:
            self._keep_names(request, encoding, members.reading.names, endpoint.dialect)
        keep_read(request, encoding, facts, empty=empty)
        request["provider_state"] = members.reading.state(encoding=encoding)
        self.keep(request, members.body, endpoint, must_compare=must_compare)
        if may_differ(members.reading.must_compare):
            writing = self.writing(request, unmeasured(endpoint, *self.known), Loss())
            self.conversation(request, writing, members.body if read is None else read)
        return extract_format(request)

    def write_body(self, request: Request, writing: Writing) -> Wire:
        """Write the body of a request; restore kept members verbatim where they still fit. Report the state of a
        provider that the request itself holds."""
        body = self.conversation(request, writing)
        self.write(request, body, writing)
        self.put_back(body, writing)
        if "provider_state" in request:
            report_state(request, writing, (), fields=True)
        return body

    def write_members(self, request: Request, body: Wire, writing: Writing, skip: Collection[str] = ()) -> None:
        """Write the members of a request that have a row, except those in `skip`, which are written elsewhere.
        Report the others."""
        if self._says_model and "{model}" not in writing.dialect.get("path", ""):
            model = model_to_wire(request, writing.endpoint)
            if model is not None:
                body["model"] = model
        write_members(request, body, self._places, writing, skip)
        if not self._says_parallel and request.get("parallel_tool_calls") is not None:
            message = "the wire does not state whether several tools may be called at once"
            severity = parallel_severity(request)
            writing.loss.drop(("parallel_tool_calls",), "unsupported_field", severity, message)

    def write_options(
        self, request: Request, body: Wire, writing: Writing, carried: Collection[tuple[str, str]] = ()
    ) -> None:
        """Write the wire's own options, and report others, except those that are `carried` already."""
        if request.get("options"):
            options_to_wire(request, body, self._options, writing, carried)

    def wrong_type(self, options: dict[str, Any], _: dict[str, Any]) -> InvalidWire | None:
        """Return the error for a request that was read here, if a member with a canonical counterpart has a wrong
        type."""
        return wrong_member(self.adapter, options, self.rows)

    def _keep_names(self, request: Request, encoding: Item, called: Collection[str], dialect: dict[str, Any]) -> None:
        """Keep the names of tools that the wire does not accept, and those that several tools have. `called` are the
        names in calls."""
        names: set[str] = set()
        again: set[str] = set()
        tools: list[Item] = request.get("tools") or []
        for tool in tools:
            definition: Item = tool.get("definition") or tool
            name: Any = definition.get("name")
            if type(name) is str:
                (again if name in names else names).add(name)
        if again:
            encoding["again"] = sorted(again)
        names.update(called)
        taken = self.tool_names.of(dialect)
        if odd := [name for name in names if not taken.fit(name)]:
            encoding["names"] = sorted(odd)


# ---------------------------------------------------------------------------------------------------- to the wire


def posted(path: str, body: Wire, headers: dict[str, str] | None = None) -> types.WireRequest:
    """Return a wire request with the method POST."""
    return {"method": "POST", "path": path, "headers": {} if headers is None else headers, "body": body}


Write = Callable[[Request, Endpoint, Loss], types.WireRequest]
"""Writes a request by the rules of a wire, and reports losses."""


def write_request(write: Write, request: types.Request, endpoint: Endpoint, *, speaks_json: bool = False) -> Written:
    """Write a canonical request as a WireRequest, and report what the wire cannot express. `speaks_json` is that of
    `write_with_format`.

    Raises `InvalidRequest` with a pointer for a conversation that cannot be written as a valid request of the wire.
    """
    asked, escaped = escape_reserved(data_of(request), endpoint)
    if "response_format" in asked:
        wire, entries = write_with_format(asked, endpoint, partial(_written, write), speaks_json=speaks_json)
    else:
        wire, entries = _written(write, asked, endpoint)
    return wire, [*escaped, *entries] if escaped else entries


def _written(write: Write, request: Request, endpoint: Endpoint) -> Written:
    loss = Loss(request.get("loss_policy"))
    try:
        return write(request, endpoint, loss), loss.entries
    except UNREADABLE as problem:
        # the schema has checked everything except the contents of `encoding` and `fields`
        why = "a provider state of the request has an unexpected shape"
        raise InvalidRequest(why, adapter=endpoint.adapter) from problem
