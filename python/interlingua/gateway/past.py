"""
What a request goes on from, and where its answer is kept: the part of a stateful wire that all faces share
(spec/11-gateway.md#stateful).

A face reads its own words of a request and gives a `Past`; everything that is said is kept in canonical form, with the
state of whoever answered, so that any provider can be asked to go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from interlingua import translate
from interlingua.access import Refused
from interlingua.adapters._engine.kit import data_of
from interlingua.canonical.endpoint import Endpoint
from interlingua.client.call_ids import renamed
from interlingua.sessions.calls import calls_in
from interlingua.sessions.messages import status_of

Data = dict[str, Any]

KEPT = timedelta(days=30)
"""How long responses and completions are kept, unless the operator says otherwise."""


class NotStored(Refused):
    """This tenant has stored nothing of that id; whether another one has, is not told. `code` is that of the wire, `path`
    the member of the request that names it."""

    def __init__(
        self, message: str, status: int = 404, *, category: str = "not_found", code: str = "", path: str = ""
    ) -> None:
        super().__init__(category, message, status, code=code)
        if path:
            self._error["path"] = path


class Keeper(Protocol):
    """Where an answer is kept, and how its client is shown that."""

    id: str
    """The id of the answer."""

    def shown(self, body: Data, status: str) -> Data:
        """The body of an answer as its client sees it; `status` is that of its message: complete, error, cancelled."""
        ...

    def chunk(self, chunk: bytes) -> bytes:
        """The same for a piece of a stream."""
        ...

    async def keep(self, said: list[Data], answer: Data, body: Data) -> None:
        """Stores an answer: what was said to the model, its message, and the body that the client sees."""
        ...


@dataclass(slots=True)
class Past:
    """What comes before a request.

    `body` is the request without the members that name what is stored here, `before` are the messages for which they
    stand, `instructions` a request whose messages come before those and are not stored. `unknown` is what a client is
    told of an id that is not stored here, where the provider behind does not speak its wire. `keeper` keeps the answer;
    not where the provider does so itself, when it is asked for something that `runs_there`.
    """

    body: Data
    before: Sequence[Data] = ()
    instructions: Data | None = None
    unknown: Refused | None = None
    keeper: Keeper | None = None
    runs_there: bool = False
    said: list[Data] = field(default_factory=list[Data])
    """What is said now."""

    def joined(self, request: Data, wire: Data, speaks: Endpoint) -> Data:
        """A request as it was read, with what comes before it."""
        lead = 0
        if self.instructions is not None:
            alone, _ = translate.from_wire_request({**wire, "body": self.instructions}, speaks)
            lead = len(alone["messages"])
        messages = request["messages"]
        self.said = messages[lead:]
        if not self.before:
            return request
        joined = {**request, "messages": [*messages[:lead], *self.before, *self.said]}
        if any(status_of(one) != "complete" and any(calls_in(one["content"])) for one in self.before):
            # nobody will answer calls that broke off with their answer
            joined["loss_policy"] = {"unanswered": "placeholder", **(request.get("loss_policy") or {})}
        return joined

    def unless_stored(self, *, native: bool) -> None:
        """Raises what is told of an id that is stored nowhere: a provider of the client's wire may know it."""
        if self.unknown is not None and not native:
            raise self.unknown
        if native and self.runs_there:
            self.keeper = None


async def keep(past: Past, response: Data, body: Data, client: Endpoint) -> Data:
    """Stores an answer; gives its body as the client sees it."""
    keeper = past.keeper
    if keeper is None:
        return body
    message = response["message"]
    body = keeper.shown(body, status_of(message))
    await keeper.keep(past.said, _as_named(message, body, client), body)
    return body


def _as_named(message: Data, body: Data, client: Endpoint) -> Data:
    """A message whose calls have the ids that they have when the client names them: their results come under those."""
    called = [block["id"] for block in calls_in(message["content"])]
    if not called:
        return message
    read, _ = translate.from_wire_response(body, client)
    names = [block["id"] for block in calls_in(data_of(read)["message"]["content"])]
    return {**message, "content": renamed(message["content"], dict(zip(called, names, strict=False)))}
