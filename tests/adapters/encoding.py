"""The frames that an adapter makes of events."""

from collections.abc import Iterable
from typing import Any

from interlingua.canonical.endpoint import Endpoint


def frames_of(adapter: Any, events: Iterable[dict[str, Any]], endpoint: Endpoint) -> list[Any]:
    """All of them, as its encoder gives them event by event."""
    encoder = adapter.stream_encoder(endpoint)
    next(encoder)
    return [frame for event in events for frame in encoder.send(event)]
