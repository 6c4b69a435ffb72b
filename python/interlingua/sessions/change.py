"""
One change of one session: its locked row, and the events that describe the change.

Events describe each change, each event increments the session's revision by one, and events and revision are written in
the transaction that changes the rows. So the revision shows whether a session has changed, and is the cursor of a
watcher.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from interlingua.canonical import json
from interlingua.events import Event, envelope
from interlingua.sessions.errors import Conflict, SessionNotFound, TurnInProgress
from interlingua.sessions.marks import Marks, write_time
from interlingua.sessions.rows import EventRow, Rows, SessionRow


class Change:
    """A session that is being changed. `row` is its new state; `finish` writes it."""

    def __init__(self, rows: Rows, row: SessionRow, marks: Marks) -> None:
        self.rows = rows
        self.row = row
        self.marks = marks
        self.now = marks.now()
        self.events: list[Event] = []
        self._written_revision = row.revision
        self._stored = row

    @classmethod
    def of(cls, rows: Rows, session_id: str, marks: Marks) -> "Change":
        """Lock a session for the transaction, to change it. Raises `SessionNotFound`."""
        row = rows.session(session_id, lock=True)
        if row is None:
            raise SessionNotFound
        return cls(rows, row, marks)

    def expect(self, revision: int | None) -> None:
        """Raise `Conflict` when the session has another revision than the caller has seen."""
        if revision is not None and revision != self.row.revision:
            raise Conflict(
                f"the session has changed: its revision is {self.row.revision} and not {revision}; read it again",
                revision=self.row.revision,
            )

    def demand_free(self, turn_id: str | None = None) -> None:
        """Raise `TurnInProgress` while a turn of another caller is in progress."""
        row = self.row
        if row.turn_id is not None and row.turn_id != turn_id and (row.turn_until or 0) >= self.now:
            raise TurnInProgress(
                "an answer is being generated in this session; wait for it, or cancel it",
                until=write_time(row.turn_until or 0),
                message_id=row.turn_message_id or "",
                revision=row.revision,
            )

    def alter(self, **columns: Any) -> None:
        """Change columns of the session."""
        self.row = self.row._replace(**columns)

    def add_event(
        self, name: str, payload: Mapping[str, Any], actor: str = "system", turn_id: str | None = None
    ) -> None:
        """Add an event, in its envelope."""
        present = {member: value for member, value in payload.items() if value is not None}
        moment = datetime.fromisoformat(write_time(self.now))
        turn = turn_id or self.row.turn_id
        self.take(
            envelope(
                name,
                present,
                id=self.marks.ulid(),
                moment=moment,
                session_id=self.row.id,
                turn_id=turn,
                actor=actor,
            )
        )

    def take(self, event: Event) -> None:
        """Add an event that has its envelope already."""
        self.events.append(event)
        self.alter(revision=self.row.revision + 1)

    def finish(self) -> None:
        """Write the session and the events that are not written yet."""
        self.alter(updated_at=max(self.now, self.row.updated_at))
        self.keep()
        self.write_events()

    def keep(self) -> None:
        """Write the session alone."""
        self.rows.update(self.row, self._stored)
        self._stored = self.row

    def write_events(self) -> None:
        """Write the events alone, for a session whose row was just inserted."""
        new = self.events[len(self.events) - (self.row.revision - self._written_revision) :]
        self.rows.insert(
            EventRow(
                tenant=self.rows.tenant,
                session_id=self.row.id,
                revision=revision,
                id=event["id"],
                type=event["type"],
                event_json=json.dumps(event).decode(),
                created_at=self.now,
            )
            for revision, event in enumerate(new, start=self._written_revision + 1)
        )
        self._written_revision = self.row.revision
