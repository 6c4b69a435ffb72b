"""Requests of all wires: what stands around the writing of a body."""

from collections.abc import Callable
from typing import Any

from interlingua.adapters._kit import Wire
from interlingua.adapters._structured import escape_reserved, write_with_format
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]


def request_to_wire(
    request: Request,
    endpoint: Endpoint,
    body: Callable[[Request, Endpoint, Loss], Wire],
    path: str,
    *,
    speaks_json: bool = False,
) -> tuple[Wire, list[Entry]]:
    """Writes a canonical request as a WireRequest to this path, and reports what the wire cannot say.

    `body` writes the body; `speaks_json` is that of `write_with_format`.
    Raises `InvalidRequest` with a pointer for a conversation that has no valid wire.
    """

    def written(asked: Request, target: Endpoint) -> tuple[Wire, list[Entry]]:
        loss = Loss(asked.get("loss_policy"))
        try:
            wire = {"method": "POST", "path": path, "headers": {}, "body": body(asked, target, loss)}
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
            # the schema has checked all but what providers left in `encoding` and `fields`
            why = "a provider state of the request has an unexpected shape"
            raise InvalidRequest(why, adapter=target.adapter) from problem
        return wire, loss.entries

    def with_format(asked: Request, target: Endpoint) -> tuple[Wire, list[Entry]]:
        if "response_format" in asked:
            return write_with_format(asked, target, written, speaks_json=speaks_json)
        return written(asked, target)

    return escape_reserved(request, endpoint, with_format)
