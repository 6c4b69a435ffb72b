"""
Messages of other versions (spec/12-sessions.md#versions).

A row keeps the version with which it was written. Reading converts it to the current one by registered steps, in
memory; the stored row is unchanged until `save` is called. A message of a later version is read unchanged: its unknown
members are kept.
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua.canonical.logs import logger
from interlingua.sessions.errors import StorageFailed

Message = dict[str, Any]
Step = Callable[[Message], Message]
"""A function that makes a message of the next version from one of its own version. It changes nothing in place and does
not write `schema_version`."""

CURRENT: Final = 1
"""The version of the message schema (spec/README.md#versions)."""

_LOG = logger("sessions")
_STEPS: dict[int, Step] = {}


def register(version: int, step: Step) -> None:
    """Register the step from messages of a version to those of the next one. The last registration counts."""
    _STEPS[version] = step


def migrated(message: Message) -> Message:
    """Convert a message of any version to the current version. A message of a later version is returned unchanged.

    Raises `StorageFailed` when a step is missing.
    """
    version: int = message["schema_version"]
    if version > CURRENT:
        where = {"session_id": message["session_id"], "message_id": message["id"], "schema_version": version}
        _LOG.warning("a message of version %d is read unchanged", version, extra=where)
        return message
    while version < CURRENT:
        step = _STEPS.get(version)
        if step is None:
            raise StorageFailed(
                f"there is no step from version {version} of messages to {version + 1}: register one", retryable=False
            )
        version += 1
        message = {**step(message), "schema_version": version}
    return message


def _from_0(message: Message) -> Message:
    """Convert version 0, of drafts of seed 004: content could be one text, and the metadata held the counts of
    tokens."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    metadata = dict(message["metadata"])
    counts = {name: metadata.pop(name) for name in ("input_tokens", "output_tokens") if name in metadata}
    if counts:
        metadata["usage"] = {"input_tokens": 0, "output_tokens": 0, **counts, "cost_usd": None, "pricing_version": None}
    return {**message, "role": message["role"].lower(), "content": content, "metadata": metadata}


register(0, _from_0)
