"""Whether messages are in the order that the wire wants already; the ordering itself is shared (`adapters._order`)."""

from typing import Any

Message = dict[str, Any]

PLAIN = frozenset(
    ("role", "content", "metadata", "id", "session_id", "created_at", "schema_version", "priority", "critical", "extra")
)
"""The members that a message may have without anything to write or to report."""


def surveyed(messages: list[Message], first: int) -> tuple[bool, bool]:
    """Whether results follow their calls directly and in order, and whether each turn is one message of plain members."""
    in_order = plain = True
    calls: list[str] = []
    answered = 0
    previous = ""
    for position in range(first, len(messages)):
        message = messages[position]
        role = message["role"]
        if role == "tool":
            content = message["content"]
            if answered == len(calls) or len(content) != 1 or content[0].get("tool_use_id") != calls[answered]:
                return False, False
            answered += 1
        elif role == "assistant":
            if previous != "assistant":
                in_order = in_order and answered == len(calls)
                calls, answered = [], 0
            for block in message["content"]:
                if block["type"] == "tool_use":
                    calls.append(block["id"])
            plain = plain and previous != "assistant"
        else:
            in_order = in_order and answered == len(calls)
            plain = plain and role == "user" and previous != "user"
        if len(message) > 2 and not message.keys() <= PLAIN:
            plain = False
        previous = role
    return in_order and (answered == len(calls) or previous == "assistant"), plain
