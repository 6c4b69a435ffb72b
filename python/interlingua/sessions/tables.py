"""
The tables. Those of seed 004 §9.1 are as in the seed, with columns and indexes that are only added. Each added column
has a default, so that programs written for the seed's tables work on these.

A time is microseconds since 1970, UTC. `tenant` is the tenant that owns a row; it is empty where there is only one
tenant.
"""

from typing import Final

VERSION: Final = 3
"""The version of the tables. It is stored in the table `storage_version`; a database with a higher one is not
opened."""

SEED: Final = (
    """CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY,
  workspace_path TEXT NOT NULL,
  active_model TEXT,
  routing_policy_json TEXT,
  schema_version INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
)""",
    """CREATE TABLE IF NOT EXISTS messages (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  role TEXT NOT NULL,
  content_json TEXT NOT NULL,
  metadata_json TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  schema_version INTEGER NOT NULL,
  FOREIGN KEY (session_id) REFERENCES sessions(id)
)""",
    "CREATE INDEX IF NOT EXISTS idx_messages_session_created ON messages(session_id, created_at)",
    """CREATE TABLE IF NOT EXISTS tool_calls (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  result_message_id TEXT,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  provider_id TEXT,
  provider TEXT,
  created_at BIGINT NOT NULL,
  completed_at BIGINT,
  FOREIGN KEY (session_id) REFERENCES sessions(id),
  FOREIGN KEY (message_id) REFERENCES messages(id),
  FOREIGN KEY (result_message_id) REFERENCES messages(id)
)""",
    "CREATE INDEX IF NOT EXISTS idx_tool_calls_session_status ON tool_calls(session_id, status)",
)
"""The tables as in the seed. BIGINT replaces its INTEGER: it is the same in SQLite, and holds microseconds in
PostgreSQL."""

ADDED_COLUMNS: Final = {
    "sessions": (
        "tenant TEXT NOT NULL DEFAULT ''",
        "revision BIGINT NOT NULL DEFAULT 0",
        "last_message_id TEXT",
        "queued_model TEXT",
        "turn_id TEXT",
        "turn_message_id TEXT",
        "turn_until BIGINT",
        "extra_json TEXT",
        "parent_session_id TEXT",
        "parent_message_id TEXT",
    ),
    "messages": ("tenant TEXT NOT NULL DEFAULT ''", "superseded_by TEXT", "members_json TEXT"),
    "tool_calls": ("tenant TEXT NOT NULL DEFAULT ''",),
}

ADDED: Final = (
    # columns that never change: an index over `updated_at` would be written again with every message
    "CREATE INDEX IF NOT EXISTS idx_sessions_tenant_created ON sessions(tenant, created_at, id)",
    "CREATE INDEX IF NOT EXISTS idx_messages_session_id ON messages(session_id, id)",
    # the id of a tool call on a wire, and its canonical id in the session
    """CREATE TABLE IF NOT EXISTS tool_ids (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  adapter TEXT NOT NULL,
  provider TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  occurrence INTEGER NOT NULL,
  canonical_id TEXT NOT NULL,
  PRIMARY KEY (session_id, adapter, provider, provider_id, occurrence),
  FOREIGN KEY (session_id) REFERENCES sessions(id)
)""",
    "CREATE INDEX IF NOT EXISTS idx_tool_ids_canonical ON tool_ids(session_id, canonical_id)",
    # the messages that were appended under a client key
    """CREATE TABLE IF NOT EXISTS client_keys (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  client_key TEXT NOT NULL,
  digest TEXT NOT NULL,
  first_message_id TEXT NOT NULL,
  last_message_id TEXT NOT NULL,
  revision BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (session_id, client_key),
  FOREIGN KEY (session_id) REFERENCES sessions(id)
)""",
    # the outbox: the events, in the order in which they happened
    """CREATE TABLE IF NOT EXISTS events (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  revision BIGINT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  event_json TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (session_id, revision),
  FOREIGN KEY (session_id) REFERENCES sessions(id)
) WITHOUT ROWID""",
    # the cost of a message by other price tables; its original cost stays in the message
    """CREATE TABLE IF NOT EXISTS prices (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  pricing_version TEXT NOT NULL,
  cost_usd TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (message_id, pricing_version),
  FOREIGN KEY (message_id) REFERENCES messages(id)
)""",
    "CREATE INDEX IF NOT EXISTS idx_prices_session ON prices(session_id)",
    # objects that clients of a gateway have stored and refer to by id (since version 2)
    """CREATE TABLE IF NOT EXISTS objects (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner_id TEXT,
  position BIGINT NOT NULL DEFAULT 0,
  previous_id TEXT,
  body_json TEXT NOT NULL,
  items_json TEXT NOT NULL,
  messages_json TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  PRIMARY KEY (tenant, id)
)""",
    "CREATE INDEX IF NOT EXISTS idx_objects_kind ON objects(tenant, kind, created_at, id)",
    "CREATE INDEX IF NOT EXISTS idx_objects_owner ON objects(tenant, owner_id, position)",
    "CREATE INDEX IF NOT EXISTS idx_objects_previous ON objects(tenant, previous_id)",
    "CREATE INDEX IF NOT EXISTS idx_objects_expires ON objects(expires_at)",
    # the cost of the calls of a key of a server on a day, UTC (since version 3)
    """CREATE TABLE IF NOT EXISTS spending (
  tenant TEXT NOT NULL,
  key_name TEXT NOT NULL,
  day TEXT NOT NULL,
  cost_usd TEXT NOT NULL,
  PRIMARY KEY (tenant, day, key_name)
)""",
)


def for_sqlite(statement: str) -> str:
    """Return a statement for SQLite: its INTEGER has 64 bits."""
    return statement.replace("BIGINT", "INTEGER")


def for_postgresql(statement: str) -> str:
    """Return a statement for PostgreSQL: its tables have no ROWID, so it does not know WITHOUT ROWID."""
    return statement.removesuffix(" WITHOUT ROWID")


OF_A_SESSION: Final = ("prices", "events", "client_keys", "tool_ids", "tool_calls", "messages")
"""The tables with rows that belong to a session, in an order in which the rows can be deleted."""
