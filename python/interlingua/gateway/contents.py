"""
What the last calls carried, in memory only, and only where the operator asked for it (spec/11-gateway.md#inspect): the
client's request, the canonical one, the provider's, and the answer event by event.

A gateway that was not told to inspect has no `Contents`, and nothing here runs.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.gateway.watching import News

Data = dict[str, Any]

KEPT = 50
_BUDGET = 64 << 20  # bytes of all contents together
_PART = 4 << 20  # bytes of one part of a call

_HEADERS = ("accept", "anthropic-", "content-type", "interlingua-", "openai-", "user-agent", "x-goog-api-client")
"""How the names of those headers begin that are kept: none that could hold a key."""


@dataclass(slots=True)
class Content:
    """What one call carried. `events` holds the answer, each event with the seconds from the begin of the call, and with
    what the client was sent for it."""

    clock: Callable[[], float]
    began: float
    news: News
    parts: Data = field(default_factory=dict[str, Any])
    events: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    ended: bool = False

    def client(self, wire: Mapping[str, Any]) -> None:
        """The request as the client sent it, without the headers that may hold a key."""
        headers = {name: value for name, value in wire["headers"].items() if name.startswith(_HEADERS)}
        self._part("client", {**wire, "headers": headers})

    def canonical(self, request: Mapping[str, Any]) -> None:
        """The request in canonical form."""
        self._part("canonical", request)

    def provider(self, model: str, wire: Mapping[str, Any] | None) -> None:
        """The request as the provider of a model was sent it, without what authorizes it."""
        if wire is not None:
            self._part("provider", {"model": model, **wire})

    def error(self, error: Mapping[str, Any]) -> None:
        """How the call failed."""
        self._part("error", {name: value for name, value in error.items() if name != "raw"})

    def event(self, event: Mapping[str, Any], sent: str | None = None) -> None:
        """The next piece of the answer, or the whole of it."""
        if self.size > _BUDGET // 4:
            return  # one call does not drive out all others
        told = {"at": round(self.clock() - self.began, 6), "event": event, "sent": sent}
        self.events.append(_encoded(told))
        self.size += len(self.events[-1])
        self.news.publish()

    def _part(self, name: str, value: Mapping[str, Any]) -> None:
        encoded = _encoded(value)
        if len(encoded) > _PART:
            encoded = json.dumps({"left_out": f"{len(encoded)} bytes are more than the {_PART} that are kept"})
        self.parts[name] = encoded
        self.size += len(encoded)
        self.news.publish()


class Contents:
    """The contents of the last `kept` calls; of fewer, when they are large."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self._contents: OrderedDict[str, Content] = OrderedDict()

    def open(self, id: str, content: Content) -> None:
        """Keeps the content of a call that begins, and forgets the oldest ones for it."""
        self._contents[id] = content
        size = sum(one.size for one in self._contents.values())
        while len(self._contents) > self.kept or (size > _BUDGET and len(self._contents) > 1):
            size -= self._contents.popitem(last=False)[1].size

    def find(self, id: str) -> Content | None:
        """The content of a call; None when it is forgotten."""
        return self._contents.get(id)


def _encoded(value: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(value)
    except InvalidRequest as problem:  # what a client sent may be no JSON
        return json.dumps({"left_out": problem.message})
