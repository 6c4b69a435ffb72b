"""Failures of the gateway itself, as canonical errors with the HTTP status that says the same."""

from interlingua.access import Refused

__all__ = ["Refused", "not_found"]


def not_found(message: str) -> Refused:
    """There is no such operation, provider, model or record."""
    return Refused("not_found", message, 404)
