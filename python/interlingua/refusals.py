"""
The refusals that several entrances share (the library, the service, the gateway): each is worded here and nowhere else.

A refusal states what is wrong, where (a JSON Pointer), and what to do. Its category states whose fault it is
(spec/8-errors.md#categories). It holds no content and no secret.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

from interlingua.canonical.errors import Cancelled, InterlinguaError, InvalidRequest, InvalidWire

UNENCRYPTED = "no TLS on %s: conversations and keys are sent unencrypted, and anyone who reaches it can read them"
"""The warning of a server that listens beyond this machine without TLS; its argument is the address."""


class Refused(InterlinguaError):
    """A call that is refused. `category` is a category of spec/8-errors.md, `status` the corresponding HTTP status.
    `retry_after` is in seconds. `code` is the error code of the client's wire, where it has one for exactly this
    error. `key` is the name of the key that is refused, where it is known."""

    def __init__(
        self,
        category: str,
        message: str,
        status: int,
        *,
        retry_after: float | None = None,
        code: str = "",
        key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.category = category
        self.status = status
        self.key = key
        self._error: dict[str, Any] = {
            "category": category,
            "message": message,
            "retryable": retry_after is not None,
            "status": status,
        }
        if retry_after is not None:
            self._error["retry_after"] = retry_after
        if code:
            self._error["code"] = code

    def to_dict(self) -> dict[str, Any]:
        """The canonical error object."""
        return dict(self._error)


# ------------------------------------------------------------------------------------------------ keys


def no_valid_key() -> Refused:
    """The refusal of a call without a key, and of one with an unknown key or a wrong signature: they must not differ."""
    message = "the call has no valid key of this server; send one of its keys in the place of a provider's key"
    return Refused("authentication", message, 401)


def too_many_unknown_keys(retry_after: float) -> Refused:
    """The refusal of an address that has shown too many unknown keys."""
    message = "too many unknown keys came from this address; wait before the next call"
    return Refused("rate_limit", message, 429, retry_after=retry_after)


def used_up(key: str, counted: str, retry_after: float) -> Refused:
    """The refusal when a key has used its limit of what is `counted` for this minute."""
    message = f"the key {key} has used its {counted} for this minute; wait before the next call"
    return Refused("rate_limit", message, 429, retry_after=retry_after, key=key)


def budget_spent(key: str) -> Refused:
    """The refusal when the budget of a key is used up."""
    message = f"the key {key} has spent its budget for today; the next day begins at 00:00 UTC"
    return Refused("billing", message, 402, key=key)


def not_for_key(key: str, models: Iterable[str]) -> Refused:
    """The refusal of models that a key may not use."""
    return Refused("permission", f"the key {key} may not use {', '.join(models)}; name another model", 403, key=key)


def not_priced(key: str, what: str, instead: str) -> Refused:
    """The refusal of a call whose price is not known, with a key whose budget needs it. `instead` states what else to
    do."""
    message = f"the key {key} has a budget, and {what} is not known; {instead}, or set allow_unpriced of the key"
    return Refused("permission", message, 403, key=key)


def nameless_certificate() -> Refused:
    """The refusal of a certificate that names nobody."""
    return Refused("permission", "the client's certificate has no subject; use one whose subject names the client", 403)


# ------------------------------------------------------------------------------------------------ requests


def not_found(message: str) -> Refused:
    """The refusal of an unknown operation, provider, model or record."""
    return Refused("not_found", message, 404)


def no_model() -> InvalidRequest:
    """The refusal of a request that names no model where one is needed."""
    return InvalidRequest("the request names no model; give one as provider:name", path="/model")


@contextmanager
def field_of_call(name: str) -> Generator[None]:
    """Give an `InvalidRequest` without a path the path of this field of the call."""
    try:
        yield
    except InvalidRequest as problem:
        if problem.path is None:
            problem.path = f"/{name}"
        raise


def invalid_json(problem: InvalidRequest) -> InvalidWire:
    """The refusal of a body that is not JSON."""
    return InvalidWire(f"the body is {problem.message}", path="")


def not_an_object() -> InvalidWire:
    """The refusal of a body that is JSON and no object."""
    return InvalidWire("the body must be a JSON object", path="")


# ------------------------------------------------------------------------------------------------ the server


def calls_at_limit(server: str, limit: int) -> str:
    """Why a server takes no further call now."""
    return f"the {server} already runs {limit} calls, which is its limit; wait, or call another server"


def client_gone(when: str = "") -> Cancelled:
    """The end of a call whose client has gone; `when` states when, for example `while it sent the body`."""
    return Cancelled(f"the client went away {when}".rstrip())


def defect() -> InterlinguaError:
    """The error that replaces an exception that is not ours. Its text may quote content, so only the log names it."""
    return InterlinguaError("a defect of the server; its log states where. Please report it")
