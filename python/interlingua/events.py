"""
Events: what happened to a turn or a session, for observers (spec/7-routing.md#events).

    events = Events(log_event)
    client = Client(events=events)
    events.subscribe(print)

Observers are called in the order of subscription, in the task that publishes, so an observer must return at once. For
slow work, an observer uses a queue of its own. Diagnostics (dropped blocks, attempts that failed, observers that fail)
are log entries and never events.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from interlingua.canonical.ids import UlidSource
from interlingua.canonical.validate import violations

Event = dict[str, Any]
Observer = Callable[[Event], None]
"""Takes an event, and must not change it. What it raises is logged, and affects nothing else."""

_LOG = logging.getLogger("interlingua.events")


class EventType(NamedTuple):
    """The properties of all events of a type: the schema of the payload, the sensitivity, the dotted name."""

    payload: str
    sensitivity: str
    alias: str | None = None


ROUTE_DECIDED = "route.decided"
ROUTING_CONSTRAINT_FAILURE = "routing_constraint_failure"

SESSION_CREATED = "session.created"
SESSION_SWAPPED = "session.swapped"
SWAP_QUEUED = "session.swap_queued"
MESSAGE_APPENDED = "message.appended"
MESSAGE_SUPERSEDED = "message.superseded"
MESSAGE_SAVED = "message.saved"
TURN_STARTED = "turn.started"
TURN_ENDED = "turn.ended"

_SESSION = EventType("SessionChangePayload", "pseudonymous")

TYPES: Mapping[str, EventType] = {
    ROUTE_DECIDED: EventType("RouteDecidedPayload", "pseudonymous"),
    ROUTING_CONSTRAINT_FAILURE: EventType(
        "RoutingConstraintFailurePayload", "pseudonymous", "routing.constraint_failure"
    ),
    SESSION_CREATED: _SESSION,
    SESSION_SWAPPED: _SESSION,
    SWAP_QUEUED: _SESSION,
    MESSAGE_APPENDED: _SESSION,
    MESSAGE_SUPERSEDED: _SESSION,
    MESSAGE_SAVED: _SESSION,
    TURN_STARTED: _SESSION,
    TURN_ENDED: _SESSION,
}
"""The types that are published. A reader ignores other types."""

SENSITIVITIES = ("private", "user_controlled", "pseudonymous", "aggregatable")
"""The sensitivities of events, the most private first."""


def check_event(event: Any) -> list[dict[str, str]]:
    """All violations of an event, as Violation objects. The payload of an unknown type is not inspected."""
    problems = violations(event, "Event")
    event_type = None if problems else TYPES.get(event["type"])
    if event_type is None:
        return problems
    problems = [
        {**problem, "path": f"/payload{problem['path']}"}
        for problem in violations(event["payload"], event_type.payload)
    ]
    if SENSITIVITIES.index(event["sensitivity"]) < SENSITIVITIES.index(event_type.sensitivity):
        message = f"an event of the type {event['type']} is not more private than {event_type.sensitivity}"
        problems.append({"rule": "event_sensitivity", "path": "/sensitivity", "message": message})
    return problems


def log_event(event: Event) -> None:
    """An observer that logs one entry for each event, at level INFO, with the event in its fields."""
    _LOG.info("%s", event["type"], extra={"event": event})


def envelope(
    name: str,
    payload: Mapping[str, Any],
    *,
    id: str,
    moment: datetime,
    session_id: str | None = None,
    turn_id: str | None = None,
    parent_event_id: str | None = None,
    actor: str = "system",
) -> Event:
    """An event of a type of `TYPES`: `id` is a ULID, `moment` the time when it happened."""
    event_type = TYPES[name]
    event: Event = {"id": id, "type": name}
    if event_type.alias is not None:
        event["alias"] = event_type.alias
    return event | {
        "timestamp": moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "session_id": session_id,
        "turn_id": turn_id,
        "parent_event_id": parent_event_id,
        "actor": actor,
        "sensitivity": event_type.sensitivity,
        "payload": dict(payload),
    }


def _now() -> datetime:
    return datetime.now(UTC)


class Events:
    """Sends events to observers. `now` dates the events, `ulids` numbers them."""

    def __init__(
        self, *observers: Observer, now: Callable[[], datetime] = _now, ulids: UlidSource | None = None
    ) -> None:
        self._observers = observers
        self._now = now
        self._ulids = ulids or UlidSource()

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Send all events to an observer from now on. Returns a function that ends the subscription."""
        self._observers = (*self._observers, observer)

        def unsubscribe() -> None:
            self._observers = tuple(other for other in self._observers if other is not observer)

        return unsubscribe

    def publish(
        self,
        name: str,
        payload: Mapping[str, Any],
        *,
        session_id: str | None = None,
        turn_id: str | None = None,
        parent_event_id: str | None = None,
        actor: str = "system",
    ) -> None:
        """Send an event of a type of `TYPES` to every observer. An observer that fails is logged at level WARN."""
        if self._observers:
            self.give(
                envelope(
                    name,
                    payload,
                    id=self._ulids.next(),
                    moment=self._now(),
                    session_id=session_id,
                    turn_id=turn_id,
                    parent_event_id=parent_event_id,
                    actor=actor,
                )
            )

    def give(self, event: Event) -> None:
        """Send an event that has its envelope to every observer. An observer that fails is logged at level WARN."""
        for observer in self._observers:
            try:
                observer(event)
            except Exception as problem:  # noqa: BLE001 an observer that raises must not affect anything else
                # the text of a foreign exception may quote any data
                _LOG.warning("an observer of events failed: %s", type(problem).__name__, extra={"type": event["type"]})
