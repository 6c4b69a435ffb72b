"""
The rows of tool calls. They repeat what the messages contain, so that an index can find the calls without a result.

`rebuilt` makes them from the messages alone. Code that changes messages changes the rows to what `rebuilt` would
return.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from interlingua.canonical.model_response import status_of
from interlingua.sessions.messages import from_row
from interlingua.sessions.rows import MessageRow, ToolCallRow, ToolIdRow

Block = dict[str, Any]

PENDING: Final = "pending"
SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"


def calls_in(content: Iterable[Block]) -> Iterator[Block]:
    """Return the calls of a message, in order."""
    return (block for block in content if block.get("type") == "tool_use")


def result_in(content: Iterable[Block]) -> Block | None:
    """Return the result that a message holds, if any."""
    return next((block for block in content if block.get("type") == "tool_result"), None)


def opened(row: MessageRow, content: list[Block], status: str) -> list[ToolCallRow]:
    """Return the rows of the calls in a finished message. The calls of an answer that broke off were never to be
    executed and are cancelled."""
    done = row.superseded_by is not None or status in ("cancelled", "error")
    found: list[ToolCallRow] = []
    for block in calls_in(content):
        state = block.get("provider_state") or {}
        found.append(
            ToolCallRow(
                tenant=row.tenant,
                id=block["id"],
                session_id=row.session_id,
                message_id=row.id,
                result_message_id=None,
                name=block["name"],
                status=CANCELLED if done else PENDING,
                provider_id=state.get("id"),
                provider=state.get("provider"),
                created_at=row.created_at,
                completed_at=row.created_at if done else None,
            )
        )
    return found


def answered(call: ToolCallRow, row: MessageRow, result: Block) -> ToolCallRow:
    """Return the row of a call whose result is in a message."""
    return call._replace(
        result_message_id=row.id,
        status=FAILED if result.get("is_error") else SUCCEEDED,
        completed_at=row.created_at,
    )


def rebuilt(rows: Iterable[MessageRow]) -> list[ToolCallRow]:
    """Return the rows of all tool calls of a session, from its messages in their order, superseded ones included."""
    calls: dict[str, ToolCallRow] = {}
    for row in rows:
        message = from_row(row)
        status = status_of(message)
        if status == "partial":
            continue
        for one in opened(row, message["content"], status):
            calls[one.id] = one
        result = result_in(message["content"]) if row.superseded_by is None else None
        if result is not None and (call := calls.get(result["tool_use_id"])) is not None:
            calls[call.id] = answered(call, row, result)
    return sorted(calls.values(), key=lambda call: (call.message_id, call.id))


def named(
    tenant: str, session_id: str, content: Iterable[Block], known: dict[tuple[str, str, str], int]
) -> list[ToolIdRow]:
    """Return the rows of the id map for the calls of a message. `known` counts how often each name occurs in the
    session; the count is updated."""
    found: list[ToolIdRow] = []
    for block in calls_in(content):
        state = block.get("provider_state") or {}
        if not state.get("id"):
            continue
        name = (state["adapter"], state.get("provider") or "", state["id"])
        occurrence = known.get(name, 0)
        known[name] = occurrence + 1
        found.append(ToolIdRow(tenant, session_id, *name, occurrence, block["id"]))
    return found
