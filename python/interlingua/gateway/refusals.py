"""Failures of the gateway itself, as canonical errors with the corresponding HTTP status."""

from interlingua.access import Refused

__all__ = ["Refused", "not_found"]


def not_found(message: str) -> Refused:
    """The error for an unknown operation, provider, model or record."""
    return Refused("not_found", message, 404)
