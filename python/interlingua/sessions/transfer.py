"""
Sessions as lines of JSON, and new sessions made from them: export, import, fork.

The first line is the session; each further line is a message, an entry of the id map or a price, according to its
`type`. The rows of tool calls are made from the messages.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.model_response import status_of
from interlingua.client.call_ids import renamed
from interlingua.events import SESSION_CREATED
from interlingua.sessions import calls
from interlingua.sessions.appending import Rules, demand_sound, rebuild_calls
from interlingua.sessions.change import Change
from interlingua.sessions.errors import Conflict, SessionNotFound
from interlingua.sessions.marks import Marks, read_time, write_time
from interlingua.sessions.messages import for_request, from_row, stored, to_row
from interlingua.sessions.rows import MessageRow, PriceRow, Rows, SessionRow, ToolIdRow
from interlingua.sessions.versions import CURRENT, migrated

Message = dict[str, Any]
Line = dict[str, Any]


def exported(rows: Rows, session_id: str) -> list[str]:
    """Return the lines of a session. Raises `SessionNotFound`."""
    row = rows.session(session_id)
    if row is None:
        raise SessionNotFound
    return [json.dumps(line).decode() for line in _lines(rows, row)]


def _lines(rows: Rows, row: SessionRow) -> Iterable[Line]:
    yield {
        "type": "session",
        "id": row.id,
        "workspace_path": row.workspace_path,
        "active_model": row.active_model,
        "policy": json.loads(row.routing_policy_json) if row.routing_policy_json else None,
        "extra": json.loads(row.extra_json) if row.extra_json else {},
        "schema_version": row.schema_version,
        "created_at": write_time(row.created_at),
        "updated_at": write_time(row.updated_at),
        "parent_session_id": row.parent_session_id,
        "parent_message_id": row.parent_message_id,
    }
    for message in rows.messages(row.id, superseded=True):
        yield {"type": "message", "superseded_by": message.superseded_by, "message": stored(message)}
    for name in rows.tool_ids(row.id):
        yield {
            "type": "tool_id",
            "adapter": name.adapter,
            "provider": name.provider,
            "provider_id": name.provider_id,
            "occurrence": name.occurrence,
            "canonical_id": name.canonical_id,
        }
    for price in rows.prices(row.id):
        yield {
            "type": "price",
            "message_id": price.message_id,
            "pricing_version": price.pricing_version,
            "cost_usd": price.cost_usd,
            "created_at": write_time(price.created_at),
        }


def conversation(lines: Sequence[Line]) -> list[Message]:
    """Return the conversation of an export, in the current version: its messages without superseded and partial ones.
    Raises `InvalidRequest`."""
    try:
        found = [line["message"] for line in lines if line.get("type") == "message" and not line.get("superseded_by")]
        present = [migrated({"schema_version": CURRENT, **message}) for message in found]
        return [for_request(message) for message in present if status_of(message) != "partial"]
    except (KeyError, TypeError, AttributeError) as problem:
        raise not_of_an_export(problem) from None


def not_of_an_export(problem: Exception) -> InvalidRequest:
    """Return the error for lines of which one lacks a member, or has one of a wrong type."""
    lacking = f" (a line lacks {problem.args[0]})" if isinstance(problem, KeyError) else ""
    return InvalidRequest(f"the lines are not those of an export{lacking}; import what an export has written")


def separated(lines: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Split lines that hold several exports in sequence; yield each with the number of its first line. Raises
    `InvalidRequest` when they do not begin with a session."""
    first, held = 0, list[bytes]()
    for number, line in enumerate(lines, start=1):
        if b'"session"' in line and _read(line, number).get("type") == "session":
            if first:
                yield first, held
            first, held = number, []
        elif not first and line.strip():
            break
        held.append(line)
    if not first:
        raise InvalidRequest("the first line must be the session, as an export writes it", path="/0")
    yield first, held


def imported(rows: Rows, given: Sequence[str | bytes], marks: Marks, rules: Rules, *, keep_ids: bool = False) -> Change:
    """Create a session from lines; return the change, which is committed with the transaction."""
    lines = [_read(line, number) for number, line in enumerate(given, start=1) if line.strip()]
    if not lines or lines[0].get("type") != "session":
        raise InvalidRequest("the first line must be the session, as an export writes it", path="/0")
    try:
        return _imported(rows, lines, marks, rules, keep_ids=keep_ids)
    except (KeyError, TypeError, AttributeError) as problem:
        raise not_of_an_export(problem) from None


def _read(line: str | bytes, number: int) -> Line:
    try:
        data = json.loads(line)
    except InvalidRequest as problem:
        raise InvalidRequest(f"line {number}: {problem.message}", path=f"/{number - 1}") from None
    if not isinstance(data, dict):
        raise InvalidRequest(f"line {number} must be a JSON object", path=f"/{number - 1}")
    return data


def _imported(rows: Rows, lines: list[Line], marks: Marks, rules: Rules, *, keep_ids: bool) -> Change:
    head = lines[0]
    now = marks.now()
    row = SessionRow(
        tenant=rows.tenant,
        id=head["id"] if keep_ids else marks.session_id(),
        workspace_path=head.get("workspace_path") or "",
        active_model=head.get("active_model"),
        routing_policy_json=json.dumps(head["policy"]).decode() if head.get("policy") else None,
        schema_version=CURRENT,
        created_at=read_time(head["created_at"]),
        updated_at=now,
        extra_json=json.dumps(head["extra"]).decode() if head.get("extra") else None,
        parent_session_id=head.get("parent_session_id"),
        parent_message_id=head.get("parent_message_id"),
    )
    if keep_ids and rows.session(row.id) is not None:
        raise Conflict("a session with this id exists already; import this one with new ids")
    parts = _Parts(lines)
    names: dict[str, str] = {} if keep_ids else _new_names(parts.messages, marks)
    found = [
        to_row(rows.tenant, _moved(message, row.id, names), _new(names, by))
        for message, by in zip(parts.messages, parts.superseded, strict=True)
    ]
    _demand_ordered(found, parts.messages, rules)
    change = Change(rows, row, marks)
    change.add_event(SESSION_CREATED, {"model": row.active_model}, "user")
    change.alter(last_message_id=found[-1].id if found else None)
    rows.insert([change.row])
    rows.insert(found)
    rebuild_calls(change)
    rows.insert(
        ToolIdRow(
            rows.tenant,
            row.id,
            name["adapter"],
            name["provider"],
            name["provider_id"],
            name["occurrence"],
            _new(names, name["canonical_id"]),
        )
        for name in parts.tool_ids
    )
    rows.insert(
        PriceRow(
            rows.tenant,
            row.id,
            _new(names, price["message_id"]),
            price["pricing_version"],
            price["cost_usd"],
            read_time(price["created_at"]),
        )
        for price in parts.prices
    )
    change.write_events()
    return change


class _Parts:
    """The lines after the first, by type. Lines of unknown types are skipped."""

    def __init__(self, lines: list[Line]) -> None:
        self.messages: list[Message] = []
        self.superseded: list[str | None] = []
        self.tool_ids = [line for line in lines if line.get("type") == "tool_id"]
        self.prices = [line for line in lines if line.get("type") == "price"]
        for number, line in enumerate(lines, start=1):
            if line.get("type") != "message":
                continue
            message = line["message"]
            version = message.get("schema_version", CURRENT)
            try:
                # an export may hold messages of an older version; they are saved here, so in the current one
                self.messages.append(
                    translate.load(migrated(message), "Message") if version <= CURRENT else dict(message)
                )
            except InvalidRequest as problem:
                path = f"/{number - 1}/message{problem.path or ''}"
                raise InvalidRequest(f"line {number}: {problem.message}", path=path) from None
            self.superseded.append(line.get("superseded_by"))


def _new_names(messages: list[Message], marks: Marks) -> dict[str, str]:
    """Return new ids for messages and calls, in the old order."""
    names: dict[str, str] = {}
    last: str | None = None
    for message in messages:
        names[message["id"]] = last = marks.message_id(last)
        for block in calls.calls_in(message["content"]):
            names.setdefault(block["id"], marks.tool_id())
    return names


def _new(names: dict[str, str], identity: Any) -> Any:
    return names.get(identity, identity)


def _moved(message: Message, session_id: str, names: dict[str, str]) -> Message:
    metadata = dict(message.get("metadata") or {})
    if metadata.get("parent_tool_use_id") in names:
        metadata["parent_tool_use_id"] = names[metadata["parent_tool_use_id"]]
    if metadata.get("status") == "partial":
        metadata["status"] = "error"  # its turn does not continue in this session
    return {
        **message,
        "id": names.get(message["id"], message["id"]),
        "session_id": session_id,
        "content": renamed(message["content"], names),
        "metadata": metadata,
    }


def _demand_ordered(found: list[MessageRow], messages: list[Message], rules: Rules) -> None:
    last = ""
    for position, row in enumerate(found, start=1):
        if row.id <= last:
            raise InvalidRequest("the ids of messages must increase in a session", path=f"/{position}/message/id")
        last = row.id
    whole = (
        (position, from_row(row))
        for position, (row, message) in enumerate(zip(found, messages, strict=True), start=1)
        if status_of(message) == "complete" and row.schema_version <= CURRENT
    )
    demand_sound(whole, rules)


def forked(rows: Rows, session_id: str, message_id: str | None, marks: Marks, rules: Rules) -> Change:
    """Create a session that begins as another one was at a message, by default its last. Messages after it and
    superseded ones are left out."""
    row = rows.session(session_id)
    if row is None:
        raise SessionNotFound
    end = row.last_message_id if message_id is None else message_id
    if message_id is not None:
        at = rows.message(message_id)
        if at is None or at.session_id != session_id or at.superseded_by is not None:
            raise SessionNotFound("message in this session")
    head, *others = _lines(rows, row)
    head |= {"parent_session_id": row.id, "parent_message_id": end, "created_at": write_time(marks.now())}
    kept = [
        line
        for line in others
        if line["type"] == "message" and line["superseded_by"] is None and line["message"]["id"] <= (end or "")
    ]
    ids = {line["message"]["id"] for line in kept}
    ids |= {block["id"] for line in kept for block in calls.calls_in(line["message"]["content"])}
    kept += [
        line
        for line in others
        if line.get("canonical_id") in ids or (line["type"] == "price" and line["message_id"] in ids)
    ]
    return _imported(rows, [head, *kept], marks, rules, keep_ids=False)
