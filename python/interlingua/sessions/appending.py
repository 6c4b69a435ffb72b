"""
Append messages to a session, together with the rows of their tool calls: all of them, or none.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.check import broken_rules
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.model_response import status_of
from interlingua.canonical.validate import check_plain, validate
from interlingua.client.call_ids import renamed
from interlingua.events import MESSAGE_APPENDED, MESSAGE_SUPERSEDED
from interlingua.sessions import calls
from interlingua.sessions.change import Change
from interlingua.sessions.errors import KeyReused, SessionNotFound
from interlingua.sessions.marks import read_time, write_time
from interlingua.sessions.messages import capped, from_row, to_row
from interlingua.sessions.rows import KeyRow, MessageRow, ToolCallRow, ToolIdRow
from interlingua.sessions.versions import CURRENT

Message = dict[str, Any]
Violation = dict[str, str]

_ACTORS = {"user": "user", "assistant": "agent", "tool": "tool", "system": "system", "developer": "system"}


class Appended(NamedTuple):
    """The result of an append: the messages as they are stored, and the session's revision after it. `repeated` is true
    when they had already been stored under the same client key."""

    messages: list[Message]
    revision: int
    repeated: bool = False


class Rules(NamedTuple):
    """The rules for a message that is stored: a profile of the contract, and the most bytes of `provider_raw`.
    `principals` is metadata (`user_id`, `team_id`) that replaces the metadata of appended messages."""

    profile: str = "core"
    raw_limit: int | None = None
    principals: Mapping[str, str] = MappingProxyType({})


def drafts_of(values: Any) -> list[Message]:
    """Return the messages to append as plain data. `values` is one message or a list of them, of the types or plain.
    Raises `InvalidRequest` with every violation."""
    given = values if isinstance(values, (list, tuple)) else [values]
    if not given:
        raise InvalidRequest("there is no message to append")
    plain = json.plain(list(given))
    if all(isinstance(one, dict) and isinstance(one.get("content"), list) for one in plain):
        with suppress(InvalidRequest, RecursionError):  # validate all of them at once, as the messages of a request
            check_plain(plain)
            validate({"messages": plain})
            return plain
    found: list[Message] = []
    for position, value in enumerate(given):
        try:
            found.append(translate.load(value, "Message"))
        except InvalidRequest as problem:
            raise _placed(problem, position) from None
    return found


def _placed(problem: InvalidRequest, position: int) -> InvalidRequest:
    violations = [{**one, "path": f"/{position}{one['path']}"} for one in problem.violations]
    path = f"/{position}{problem.path or ''}"
    return InvalidRequest(problem.message, path=path, violations=violations)


def append(
    change: Change,
    drafts: Sequence[Message],
    rules: Rules,
    *,
    key: str | None = None,
    expected: int | None = None,
    instead_of: str | None = None,
) -> Appended:
    """Append drafts, and return them as they are stored.

    When `key` was used before, nothing is appended, and the messages stored under it are returned again. `expected` is
    the revision that the caller has seen. `instead_of` names a message that the drafts replace, with all messages after
    it. Raises `Conflict`, `KeyReused`, `TurnInProgress`, and `InvalidRequest` with every broken rule; then nothing is
    stored.
    """
    digest = _digest(drafts) if key is not None else ""
    if key is not None and (before := change.rows.key(change.row.id, key)) is not None:
        return _repeated(change, before, digest)
    change.expect(expected)
    change.demand_free()
    messages = _bound(change, drafts, rules)
    if instead_of is not None:
        supersede(change, instead_of, messages[0]["id"])
    _store(change, messages, rules)
    add_appended_event(change, messages)
    if key is not None:
        ends = (messages[0]["id"], messages[-1]["id"])
        tenant = change.rows.tenant
        row = KeyRow(tenant, change.row.id, key, digest, *ends, change.row.revision, change.now)
        change.rows.insert([row])
    change.finish()
    return Appended(messages, change.row.revision)


def _digest(drafts: Sequence[Message]) -> str:
    return hashlib.sha256(json.dumps_sorted(list(drafts))).hexdigest()


def _repeated(change: Change, before: KeyRow, digest: str) -> Appended:
    if before.digest != digest:
        raise KeyReused("the client key was used for other messages: give each append a key of its own")
    rows = change.rows.messages(
        change.row.id, superseded=True, since=before.first_message_id, until=before.last_message_id
    )
    return Appended([from_row(row) for row in rows], before.revision, repeated=True)


def add_appended_event(change: Change, messages: Sequence[Message], turn_id: str | None = None) -> None:
    """Add the event for messages that were appended."""
    last = messages[-1]
    payload = {
        "message_ids": [message["id"] for message in messages],
        "role": last["role"],
        "status": status_of(last),
        "model": last["metadata"].get("model"),
    }
    change.add_event(MESSAGE_APPENDED, payload, _ACTORS.get(last["role"], "system"), turn_id)


# ---------------------------------------------------------------------------------------------------- one message


def _bound(change: Change, drafts: Sequence[Message], rules: Rules) -> list[Message]:
    """Turn drafts into messages of the session. They get new ids after the last one; ids of their own are ignored."""
    ids = change.marks.message_ids(change.row.last_message_id, len(drafts))
    now = write_time(change.now)
    messages: list[Message] = []
    for position, draft in enumerate(drafts):
        if draft.get("session_id") not in (None, change.row.id):
            raise _refused(
                "one_session",
                f"/{position}/session_id",
                "the message belongs to another session; leave out its session_id",
            )
        metadata = {"status": "complete", **(draft.get("metadata") or {}), **rules.principals}
        if metadata["status"] == "partial":
            raise _refused(
                "partial",
                f"/{position}/metadata/status",
                "a message of status partial cannot be appended; only a turn writes it",
            )
        moment = draft.get("created_at")
        message: Message = {
            **draft,
            "id": ids[position],
            "session_id": change.row.id,
            "metadata": metadata,
            "created_at": write_time(read_time(moment)) if moment else now,
            "schema_version": CURRENT,
        }
        messages.append(message if rules.raw_limit is None else capped(message, rules.raw_limit))
    change.alter(last_message_id=ids[-1])
    return messages


def demand_sound(messages: Iterable[tuple[int, Message]], rules: Rules) -> None:
    """Raise `InvalidRequest` with every rule that one of the messages breaks by itself, at the positions given with the
    messages. The messages fit the schema already."""
    found: list[Violation] = []
    for position, message in messages:
        broken = broken_rules(message, rules.profile)
        metadata = message["metadata"]
        if metadata.get("user_id") or metadata.get("team_id"):
            broken += _private(metadata)
        if broken:
            found += [{**one, "path": f"/{position}{one['path']}"} for one in broken]
    if found:
        raise InvalidRequest(found[0]["message"], path=found[0]["path"], violations=found)


def _private(metadata: dict[str, Any]) -> list[Violation]:
    text = "a principal is a pseudonym, usr_ or team_ and a ULID; an e-mail address is not stored"
    return [
        {"rule": "pseudonymous", "path": f"/metadata/{name}", "message": text}
        for name in ("user_id", "team_id")
        if "@" in (metadata.get(name) or "")
    ]


def _refused(rule: str, path: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, path=path, violations=[{"rule": rule, "path": path, "message": message}])


# ---------------------------------------------------------------------------------------------------- tool calls


def _store(change: Change, messages: list[Message], rules: Rules) -> None:
    """Write messages and the rows of their calls."""
    calls_of_ours = _calls(change, messages)
    demand_sound(enumerate(messages), rules)
    now = write_time(change.now)
    rows = [
        to_row(change.rows.tenant, message, None, change.now if message["created_at"] == now else None)
        for message in messages
    ]
    change.rows.insert(rows)
    if calls_of_ours is not None:
        write_calls(change, [*zip(rows, messages, strict=True)], calls_of_ours)


def write_calls(
    change: Change, pairs: list[tuple[MessageRow, Message]], known: dict[str, ToolCallRow] | None = None
) -> None:
    """Write the rows of the calls and results in stored messages. `known` are the calls to which the results belong."""
    opened: dict[str, ToolCallRow] = {}
    before: dict[str, ToolCallRow] = {}
    for row, message in pairs:
        for call in calls.opened(row, message["content"], status_of(message)):
            opened[call.id] = call
        result = calls.result_in(message["content"])
        if result is not None:
            identity = result["tool_use_id"]
            home = opened if identity in opened else before
            home[identity] = calls.answered(opened.get(identity) or (known or {})[identity], row, result)
    change.rows.insert(opened.values())
    for call in before.values():
        change.rows.update(call)
    if opened:
        change.rows.insert(_names(change, [message for _, message in pairs]))


def _names(change: Change, messages: list[Message]) -> list[ToolIdRow]:
    """Return the rows of the id map for the calls of messages."""
    counts: dict[tuple[str, str, str], int] = {}
    found: list[ToolIdRow] = []
    for message in messages:
        for block in calls.calls_in(message["content"]):
            state = block.get("provider_state") or {}
            if state.get("id"):
                name = (state["adapter"], state.get("provider") or "", state["id"])
                if name not in counts:
                    counts[name] = len(change.rows.canonical_ids(change.row.id, *name))
        found += calls.named(change.rows.tenant, change.row.id, message["content"], counts)
    return found


def _calls(change: Change, messages: list[Message]) -> dict[str, ToolCallRow] | None:
    """Return the calls of the session for which these messages hold results; None when they hold no call and no result.
    Calls whose ids are taken get new ids, in place.

    Raises `InvalidRequest` when two calls have one id, and when a result belongs to no call, or to one that has a
    result.
    """
    asked: list[str] = []
    results: list[str] = []
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use":
                asked.append(block["id"])
            elif block["type"] == "tool_result":
                results.append(block["tool_use_id"])
    if not asked and not results:
        return None
    names = _fresh_names(change, asked) if asked else {}
    known = change.rows.calls_of(change.row.id, results) if results else {}
    for identity in results:
        if identity not in known and identity not in names and identity not in asked:
            # the caller may know the call by the id that it had when it was appended
            aliases = change.rows.canonical_ids(change.row.id, "", "", identity)
            if aliases:
                names[identity] = aliases[-1].canonical_id
    if names:
        known |= change.rows.calls_of(change.row.id, names.values())
        for position, message in enumerate(messages):
            messages[position] = _renamed(message, names)
    _demand_paired(change, messages, known)
    return known


def _fresh_names(change: Change, asked: list[str]) -> dict[str, str]:
    """Return new ids for calls whose ids belong to calls of other sessions: two sessions never share an id."""
    taken = change.rows.taken_calls(asked)
    names: dict[str, str] = {}
    if taken:
        ours = change.rows.calls_of(change.row.id, taken)
        names = {identity: change.marks.tool_id() for identity in asked if identity in taken and identity not in ours}
        change.rows.insert(
            ToolIdRow(change.rows.tenant, change.row.id, "", "", old, 0, new) for old, new in names.items()
        )
    return names


def _renamed(message: Message, names: dict[str, str]) -> Message:
    message = {**message, "content": renamed(message["content"], names)}
    parent = message["metadata"].get("parent_tool_use_id")
    if parent in names:
        message["metadata"] = {**message["metadata"], "parent_tool_use_id": names[parent]}
    return message


def _demand_paired(change: Change, messages: list[Message], known: dict[str, ToolCallRow]) -> None:
    found: list[Violation] = []
    all_asked = [block["id"] for message in messages for block in calls.calls_in(message["content"])]
    ours = change.rows.calls_of(change.row.id, all_asked) if all_asked else {}
    open_calls = {identity for identity, call in known.items() if call.status == calls.PENDING}
    ended = {identity for identity in known if identity not in open_calls}
    asked: set[str] = set()
    for position, message in enumerate(messages):
        for place, block in enumerate(message["content"]):
            where = f"/{position}/content/{place}"
            if block.get("type") == "tool_use":
                if block["id"] in asked or block["id"] in ours:
                    text = "another call has this id; a retry gets an id of its own"
                    found.append({"rule": "tool_id_unique", "path": f"{where}/id", "message": text})
                asked.add(block["id"])
                home = open_calls if status_of(message) == "complete" else ended
                home.add(block["id"])
            elif block.get("type") == "tool_result":
                identity, path = block["tool_use_id"], f"{where}/tool_use_id"
                if identity in open_calls:
                    open_calls.discard(identity)
                    ended.add(identity)
                elif identity not in ended:
                    text = "no call before this result has this id"
                    found.append({"rule": "result_has_call", "path": path, "message": text})
                elif (call := known.get(identity)) is not None and call.status == calls.CANCELLED:
                    text = "the call was cancelled: it takes no result"
                    found.append({"rule": "call_cancelled", "path": path, "message": text})
                else:
                    text = "the call has a result already"
                    found.append({"rule": "one_result_per_call", "path": path, "message": text})
    if found:
        raise InvalidRequest(found[0]["message"], path=found[0]["path"], violations=found)


# ---------------------------------------------------------------------------------------------------- superseding


def supersede(change: Change, first: str, by: str) -> None:
    """Replace a message and all after it by a new one. The old ones stay stored, but are not read as part of the
    conversation."""
    row = change.rows.message(first)
    if row is None or row.session_id != change.row.id:
        raise SessionNotFound("message in this session")
    if row.superseded_by is not None:
        raise _refused("superseded", "/instead_of", "another message has replaced this one already")
    change.rows.supersede(change.row.id, first, by)
    rebuild_calls(change)
    change.add_event(MESSAGE_SUPERSEDED, {"message_id": first, "superseded_by": by}, "user")


def rebuild_calls(change: Change) -> list[ToolCallRow]:
    """Write the rows of all calls again, from the messages."""
    rows = calls.rebuilt(change.rows.messages(change.row.id, superseded=True))
    change.rows.delete_calls(change.row.id)
    change.rows.insert(rows)
    return rows
