"""
The errors of sessions, in addition to those of the core (spec/12-sessions.md#errors).

InterlinguaError
├── SessionNotFound    the caller: this tenant has no such session, message or event
├── Conflict           another writer was first: read again, then decide
│   ├── TurnInProgress … and its turn is in progress: wait, or cancel it
│   └── KeyReused      … under the same key, with other content
├── SwapRefused        the conversation cannot continue with that model; carries the verdict
└── StorageFailed      the operator: the database cannot be reached, or has tables that this version does not know
"""

from collections.abc import Mapping
from typing import Any

from interlingua.canonical.errors import InterlinguaError


class SessionNotFound(InterlinguaError):
    """This tenant has nothing with that id. The error does not reveal whether another tenant has. `what` names what was
    looked for."""

    category = "not_found"

    def __init__(self, what: str = "session") -> None:
        super().__init__(f"there is no such {what}")


class Conflict(InterlinguaError):
    """The session has changed since the caller read it. `revision` is its current one. Nothing was written."""

    category = "other"

    def __init__(self, message: str, *, revision: int | None = None, path: str | None = None) -> None:
        super().__init__(message, path=path)
        self.revision = revision

    def to_dict(self) -> dict[str, Any]:
        """The error as a canonical `Error` object; its code distinguishes it from other errors of its category."""
        return super().to_dict() | {"code": "conflict", "retryable": True}


class TurnInProgress(Conflict):
    """Another caller's answer is being generated in this session. `until` is when its lease ends at the latest, as a
    canonical time; `message_id` is the id that the answer will have."""

    def __init__(self, message: str, *, until: str, message_id: str, revision: int | None = None) -> None:
        super().__init__(message, revision=revision)
        self.until = until
        self.message_id = message_id

    def to_dict(self) -> dict[str, Any]:
        """The error as a canonical `Error` object."""
        return super().to_dict() | {"code": "turn_in_progress"}


class KeyReused(Conflict):
    """The client key was used for other messages before."""

    category = "invalid_request"

    def to_dict(self) -> dict[str, Any]:
        """The error as a canonical `Error` object. The same call will not succeed later."""
        return super().to_dict() | {"code": "key_reused", "retryable": False}


class SwapRefused(InterlinguaError):
    """The session cannot continue with that model; its active model is unchanged. `verdict` is that of `check_swap`."""

    category = "unsupported"

    def __init__(self, verdict: Mapping[str, Any]) -> None:
        super().__init__(verdict["message"])
        self.verdict = dict(verdict)


class StorageFailed(InterlinguaError):
    """The database failed: changes that were not acknowledged may or may not be stored. Repeat the call with the same
    client key, which stores them once."""

    category = "server_error"

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self._retryable = retryable

    def to_dict(self) -> dict[str, Any]:
        """The error as a canonical `Error` object."""
        return super().to_dict() | {"retryable": self._retryable, "code": "storage"}
