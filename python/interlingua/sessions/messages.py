"""
Messages and their rows. A row stores the canonical message and nothing else: content, metadata and unknown members as
JSON, the other members in columns. So reading returns exactly what was written, unknown members included.
"""

from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.logs import logger
from interlingua.sessions.marks import read_time, write_time
from interlingua.sessions.rows import MessageRow
from interlingua.sessions.versions import CURRENT, migrated

Message = dict[str, Any]

_IN_COLUMNS: Final = frozenset(
    ("id", "session_id", "role", "content", "metadata", "created_at", "schema_version", "superseded_by")
)
_NAMES: Final = ("id", "session_id", "role", "content", "metadata", "created_at", "schema_version")
_LOG = logger("sessions")


def to_row(
    tenant: str, message: Message, superseded_by: str | None = None, created_at: int | None = None
) -> MessageRow:
    """Return the row of a message with a complete envelope. `created_at` is its time as a number, where that is
    known."""
    others = None
    if len(message) > len(_NAMES):
        others = {name: value for name, value in message.items() if name not in _IN_COLUMNS}
    return MessageRow(
        tenant,
        message["id"],
        message["session_id"],
        message["role"],
        json.dumps(message["content"]).decode(),
        json.dumps(message["metadata"]).decode(),
        read_time(message["created_at"]) if created_at is None else created_at,
        message["schema_version"],
        superseded_by,
        json.dumps(others).decode() if others else None,
    )


def stored(row: MessageRow) -> Message:
    """Return the message of a row as it was written, whatever its version."""
    _, identity, session_id, role, content, metadata, created_at, version, _, members = row
    held = json.loads(f"[{content},{metadata}]")  # one call for both
    message: Message = {
        "id": identity,
        "session_id": session_id,
        "role": role,
        "content": held[0],
        "metadata": held[1],
        "created_at": write_time(created_at),
        "schema_version": version,
    }
    if members is not None:
        message |= json.loads(members)
    return message


def from_row(row: MessageRow) -> Message:
    """Return the message of a row, in the current version."""
    message = stored(row)
    return message if row.schema_version == CURRENT else migrated(message)


def for_request(message: Message) -> Message:
    """Return a message as a request takes it. A message of a later version loses its `schema_version` and is read as
    one of the current version."""
    if message["schema_version"] <= CURRENT:
        return message
    return {name: value for name, value in message.items() if name != "schema_version"}


def capped(message: Message, limit: int | None) -> Message:
    """Return the message without its `provider_raw` if that is longer than `limit` bytes of JSON; the log reports
    it."""
    raw = message["metadata"].get("provider_raw")
    if limit is None or raw is None:
        return message
    size = len(json.dumps(raw))
    if size <= limit:
        return message
    where = {"session_id": message["session_id"], "message_id": message["id"], "bytes": size, "limit": limit}
    _LOG.warning("provider_raw of %d bytes is not stored", size, extra=where)
    metadata = {name: value for name, value in message["metadata"].items() if name != "provider_raw"}
    return {**message, "metadata": metadata}
