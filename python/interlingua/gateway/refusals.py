"""Failures of the gateway itself, as canonical errors with the HTTP status that says the same."""

from typing import Any

from interlingua.canonical.errors import InterlinguaError


class Refused(InterlinguaError):
    """A call that the gateway does not serve. `category` is a word of spec/8-errors.md, `retry_after` is in seconds."""

    def __init__(self, category: str, message: str, status: int, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self._error: dict[str, Any] = {
            "category": category,
            "message": message,
            "retryable": retry_after is not None,
            "status": status,
        }
        if retry_after is not None:
            self._error["retry_after"] = retry_after

    def to_dict(self) -> dict[str, Any]:
        """The canonical error object."""
        return dict(self._error)


def not_found(message: str) -> Refused:
    """There is no such operation, provider, model or record."""
    return Refused("not_found", message, 404)
