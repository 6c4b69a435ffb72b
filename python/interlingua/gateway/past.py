"""
What a request continues from, and where its answer is stored: the part of a stateful wire that all faces share
(spec/11-gateway.md#stateful).

A face reads the members of its own wire and returns a `Past`. All messages are stored in canonical form, with the state
of the provider that answered, so that any provider can continue from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from interlingua import translate
from interlingua.adapters._engine.kit import data_of
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.model_response import status_of
from interlingua.client.call_ids import renamed
from interlingua.refusals import Refused
from interlingua.sessions.calls import calls_in

Data = dict[str, Any]

KEPT = timedelta(days=30)
"""How long responses and completions are kept, unless the operator sets another time."""


class NotStored(Refused):
    """This tenant has stored no object with that id. Whether another tenant has one is not revealed. `code` is the
    error code of the wire, `path` the member of the request that holds the id."""

    def __init__(
        self, message: str, status: int = 404, *, category: str = "not_found", code: str = "", path: str = ""
    ) -> None:
        super().__init__(category, message, status, code=code)
        if path:
            self._error["path"] = path


class Keeper(Protocol):
    """Stores an answer, and writes the body that its client sees."""

    id: str
    """The id of the answer."""

    def for_client(self, body: Data, status: str) -> Data:
        """The body of an answer as its client sees it; `status` is that of its message: complete, error, cancelled."""
        ...

    def chunk(self, chunk: bytes) -> bytes:
        """A chunk of a stream as its client sees it."""
        ...

    async def keep(self, messages: list[Data], answer: Data, body: Data) -> None:
        """Store an answer: the messages of this request, the message of the answer, and the body that the client
        sees."""
        ...


@dataclass(slots=True)
class Past:
    """The past of a request.

    `body` is the request without the members that name stored objects, `before` are the messages of those objects.
    `instructions` is a request for the messages that come before them and are not stored. `unknown` is the error for an
    id that is not stored here; it is raised where the provider does not speak the client's wire. `keeper` stores the
    answer. Where the provider speaks the client's wire and the request `runs_there` in the background, the provider
    stores the answer, and the gateway does not.
    """

    body: Data
    before: Sequence[Data] = ()
    instructions: Data | None = None
    unknown: Refused | None = None
    keeper: Keeper | None = None
    runs_there: bool = False
    new_messages: list[Data] = field(default_factory=list[Data])
    """The messages of the request itself."""

    def joined(self, request: Data, wire: Data, endpoint: Endpoint) -> Data:
        """A request as it was read, with the messages of its past before its own."""
        count = 0
        if self.instructions is not None:
            instructions, _ = translate.from_wire_request({**wire, "body": self.instructions}, endpoint)
            count = len(instructions["messages"])
        messages = request["messages"]
        self.new_messages = messages[count:]
        if not self.before:
            return request
        joined = {**request, "messages": [*messages[:count], *self.before, *self.new_messages]}
        if any(status_of(message) != "complete" and any(calls_in(message["content"])) for message in self.before):
            # tool calls in an answer that broke off will get no results
            joined["loss_policy"] = {"unanswered": "placeholder", **(request.get("loss_policy") or {})}
        return joined

    def unless_stored(self, *, native: bool) -> None:
        """Raises the error for an id that is not stored here, unless `native`: then a provider of the client's wire may
        know it. Such a provider also stores what runs there."""
        if self.unknown is not None and not native:
            raise self.unknown
        if native and self.runs_there:
            self.keeper = None


async def keep(past: Past, response: Data, body: Data, client: Endpoint) -> Data:
    """Store an answer, and return its body as the client sees it."""
    keeper = past.keeper
    if keeper is None:
        return body
    message = response["message"]
    body = keeper.for_client(body, status_of(message))
    await keeper.keep(past.new_messages, _with_client_ids(message, body, client), body)
    return body


def _with_client_ids(message: Data, body: Data, client: Endpoint) -> Data:
    """A message whose tool calls have the ids by which the client will name them in its tool results."""
    ids = [block["id"] for block in calls_in(message["content"])]
    if not ids:
        return message
    response, _ = translate.from_wire_response(body, client)
    client_ids = [block["id"] for block in calls_in(data_of(response)["message"]["content"])]
    return {**message, "content": renamed(message["content"], dict(zip(ids, client_ids, strict=False)))}
