"""
The contents of the last calls, in memory only, and only where the operator asks for it (spec/11-gateway.md#inspect):
the client's request, the canonical one, the provider's, and the answer event by event.

A gateway that is not configured to inspect has no `Contents`, and nothing of this module runs.
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
_MAX_ALL = 64 << 20  # bytes of all contents together
_MAX_PART = 4 << 20  # bytes of one part of a call

_HEADER_PREFIXES = (
    "accept",
    "anthropic-",
    "content-type",
    "interlingua-",
    "openai-",
    "user-agent",
    "x-goog-api-client",
)
"""The beginnings of the names of headers that are kept. None of them can hold a key."""


@dataclass(slots=True)
class Content:
    """The content of one call. `events` holds the answer: each event with the seconds since the beginning of the call
    and with what was sent to the client for it."""

    clock: Callable[[], float]
    began: float
    news: News
    parts: Data = field(default_factory=dict[str, Any])
    events: list[bytes] = field(default_factory=list[bytes])
    keeper: "Contents | None" = None
    size: int = 0
    ended: bool = False
    forgotten: bool = False

    def client(self, wire: Mapping[str, Any]) -> None:
        """Keep the request as the client sent it, without the headers that may hold a key."""
        headers = {name: value for name, value in wire["headers"].items() if name.startswith(_HEADER_PREFIXES)}
        self._part("client", {**wire, "headers": headers})

    def canonical(self, request: Mapping[str, Any]) -> None:
        """Keep the request in canonical form."""
        self._part("canonical", request)

    def provider(self, model: str, wire: Mapping[str, Any] | None) -> None:
        """Keep the request that was sent to the provider of a model, without what authorizes it."""
        if wire is not None:
            self._part("provider", {"model": model, **wire})

    def error(self, error: Mapping[str, Any]) -> None:
        """Keep the error of the call."""
        self._part("error", {name: value for name, value in error.items() if name != "raw"})

    def event(self, event: Mapping[str, Any], sent: str | None = None) -> None:
        """Keep the next event of the answer, or the whole answer as one event."""
        if self.forgotten or self.size > _MAX_ALL // 4:
            return  # one call must not remove all others
        entry = {"at": round(self.clock() - self.began, 6), "event": event, "sent": sent}
        self.events.append(_encoded(entry))
        self._count(len(self.events[-1]))

    def _part(self, name: str, value: Mapping[str, Any]) -> None:
        encoded = _encoded(value)
        if len(encoded) > _MAX_PART:
            encoded = json.dumps({"left_out": f"{len(encoded)} bytes are more than the {_MAX_PART} that are kept"})
        if not self.forgotten:
            self.parts[name] = encoded
            self._count(len(encoded))

    def _count(self, size: int) -> None:
        self.size += size
        if self.keeper is not None:
            self.keeper.grew(size)
        self.news.publish()


class Contents:
    """The contents of the last `capacity` calls; of fewer when they are large."""

    def __init__(self, capacity: int = KEPT) -> None:
        self.capacity = capacity
        self._contents: OrderedDict[str, Content] = OrderedDict()
        self._size = 0

    def open(self, id: str, content: Content) -> None:
        """Keep the content of a call that begins. When there are too many, the oldest is forgotten."""
        content.keeper = self
        self._contents[id] = content
        if len(self._contents) > self.capacity:
            self._forget()

    def grew(self, size: int) -> None:
        """Count the growth of a content. While all contents together are too large, the oldest is forgotten."""
        self._size += size
        while self._size > _MAX_ALL and len(self._contents) > 1:
            self._forget()

    def _forget(self) -> None:
        oldest = self._contents.popitem(last=False)[1]
        self._size -= oldest.size
        oldest.forgotten = True
        oldest.parts, oldest.events = {}, []

    def find(self, id: str) -> Content | None:
        """The content of a call; None when it is forgotten."""
        return self._contents.get(id)


def _encoded(value: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(value)
    except InvalidRequest as problem:  # the body of a client may not be JSON
        return json.dumps({"left_out": problem.message})
