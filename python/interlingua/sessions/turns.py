"""
Turns: the rows of an answer while it is generated (spec/12-sessions.md#turns).

A process that generates holds the session's only lease. It renews the lease while the answer arrives, and each renewal
writes what has arrived as a message of status `partial`. A holder that dies leaves that message; the next caller after
the lease has ended closes it as `error`. A holder that has lost its lease writes nothing more.
"""

from typing import Any, NamedTuple

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.events import SESSION_SWAPPED, TURN_ENDED, TURN_STARTED, Event
from interlingua.sessions.appending import Rules, add_appended_event, supersede, write_calls
from interlingua.sessions.change import Change
from interlingua.sessions.errors import Conflict
from interlingua.sessions.marks import write_time
from interlingua.sessions.messages import capped, from_row, to_row
from interlingua.sessions.versions import CURRENT

Message = dict[str, Any]


class Turn(NamedTuple):
    """The lease of an answer to be generated: `message_id` is its id, `queued_model` a swap that waits for this turn,
    `instead_of` the first message of answers that broke off, which it will replace."""

    session_id: str
    turn_id: str
    message_id: str
    active_model: str | None
    queued_model: str | None
    workspace_path: str
    policy: dict[str, Any] | None
    instead_of: str | None = None


def hold(change: Change, lease: int) -> Turn:
    """Take the lease of a session for `lease` microseconds. Raises `TurnInProgress` while another caller holds it."""
    change.demand_free()
    close_abandoned(change)
    turn_id = f"turn_{change.marks.ulid()}"
    message_id = change.marks.message_id(change.row.last_message_id)
    change.alter(turn_id=turn_id, turn_message_id=message_id, turn_until=change.now + lease)
    change.add_event(TURN_STARTED, {"message_id": message_id})
    change.finish()
    row = change.row
    policy = json.loads(row.routing_policy_json) if row.routing_policy_json else None
    return Turn(row.id, turn_id, message_id, row.active_model, row.queued_model, row.workspace_path, policy)


def renew(change: Change, turn: Turn, lease: int, arrived: Message | None) -> None:
    """Renew the lease, and write what has arrived. Raises `Conflict` when the lease was lost to another caller."""
    _demand_ours(change, turn)
    change.alter(turn_until=change.now + lease)
    if arrived is not None:
        _put(change, _whole(change, turn, arrived, "partial"))
    change.keep()  # a renewal has no event


def end(
    change: Change,
    turn: Turn,
    message: Message | None,
    rules: Rules,
    *,
    events: list[Event],
    swapped: str | None = None,
    category: str | None = None,
) -> tuple[Message | None, int]:
    """End a turn with its answer, or with none when nothing had arrived; return the stored answer, and the revision.

    `events` are events that occurred in the turn. `swapped` states that the queued swap was carried out (a model, or `-`
    for none) or refused (empty). `category` is why there is no whole answer. Raises `Conflict` when the lease was lost.
    """
    _demand_ours(change, turn)
    if swapped is not None:
        _carry_out(change, turn, swapped)
    for event in events:
        change.take(event)
    whole = None
    if message is not None and message["content"]:
        whole = _whole(change, turn, message, message["metadata"].get("status") or "complete")
        whole = capped(whole, rules.raw_limit)
        if turn.instead_of is not None:
            supersede(change, turn.instead_of, turn.message_id)
        _put(change, whole)
        row = to_row(change.rows.tenant, whole)
        write_calls(change, [(row, whole)])
        add_appended_event(change, [whole], turn.turn_id)
    elif (before := change.rows.message(turn.message_id)) is not None:
        # a partial message was written, but the answer has no content
        whole = _closed(change, from_row(before))
    change.add_event(
        TURN_ENDED, {"message_id": turn.message_id if whole else None, "category": category}, "system", turn.turn_id
    )
    change.alter(turn_id=None, turn_message_id=None, turn_until=None)
    change.finish()
    return whole, change.row.revision


def close_abandoned(change: Change) -> Message | None:
    """End a turn whose lease ended unrenewed: what had arrived becomes a message of status `error`."""
    row = change.row
    if row.turn_id is None or row.turn_message_id is None:
        return None
    found = change.rows.message(row.turn_message_id)
    message = None if found is None else _closed(change, from_row(found))
    payload = {"message_id": message["id"] if message else None, "category": "stream_truncated"}
    change.add_event(TURN_ENDED, payload, "system", row.turn_id)
    change.alter(turn_id=None, turn_message_id=None, turn_until=None)
    return message


def _closed(change: Change, message: Message) -> Message:
    message = {**message, "metadata": {**message["metadata"], "status": "error"}}
    row = to_row(change.rows.tenant, message)
    change.rows.update(row)
    write_calls(change, [(row, message)])
    add_appended_event(change, [message])
    return message


def _demand_ours(change: Change, turn: Turn) -> None:
    if change.row.turn_id != turn.turn_id:
        raise Conflict("another caller ended the turn, because its lease had run out", revision=change.row.revision)


def _carry_out(change: Change, turn: Turn, swapped: str) -> None:
    if swapped:
        model = None if swapped == "-" else swapped
        change.alter(active_model=model)
        change.add_event(SESSION_SWAPPED, {"model": model}, "user", turn.turn_id)
    if change.row.queued_model == turn.queued_model:  # else a later swap waits already
        change.alter(queued_model=None)


def _whole(change: Change, turn: Turn, message: Message, status: str) -> Message:
    """Return an answer as a message of the session."""
    if "session_id" in message and message["session_id"] != turn.session_id:
        raise InvalidRequest("the answer belongs to another session", path="/session_id")
    return {
        **message,
        "id": turn.message_id,
        "session_id": turn.session_id,
        "metadata": {**message["metadata"], "status": status},
        "created_at": message.get("created_at") or write_time(change.now),
        "schema_version": CURRENT,
    }


def _put(change: Change, message: Message) -> None:
    """Insert the answer's row, or update it."""
    row = to_row(change.rows.tenant, message)
    if change.row.last_message_id == row.id:
        change.rows.update(row)
    else:
        change.rows.insert([row])
        change.alter(last_message_id=row.id)
