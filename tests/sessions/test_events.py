"""The outbox, the bus, and watching: every change once and in order."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from interlingua.canonical import json
from interlingua.client import Say
from interlingua.events import Events, check_event, envelope
from interlingua.sessions import Overflowed
from interlingua.sessions.bus import Bus
from interlingua.sessions.marks import Marks

from .conftest import assistant, user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]
SECRET = "the treasure is under the oak"


async def test_every_change_is_an_event(open_sessions: Open) -> None:
    """Each event has the whole envelope, no content, and consecutive numbers; observers get the same: R-269."""
    seen: list[dict[str, Any]] = []
    sessions = await open_sessions(Say(SECRET), events=Events(seen.append))
    chat = await sessions.create()
    await chat.say(SECRET)
    await chat.append(user(SECRET), instead_of=(await chat.history())[1]["id"])
    outbox: list[dict[str, Any]] = []
    last = (await chat.info()).revision
    async for one in chat.watch():
        outbox.append(one.event)
        assert one.revision == len(outbox)
        if one.revision == last:
            break
    assert [event["type"] for event in outbox] == [
        "session.created",
        "message.appended",
        "turn.started",
        "route.decided",
        "message.appended",
        "turn.ended",
        "message.superseded",
        "message.appended",
    ]
    assert seen == outbox
    for event in outbox:
        assert check_event(event) == []
        assert event["session_id"] == chat.id
        assert SECRET not in json.dumps(event).decode()
    turns = {event["turn_id"] for event in outbox[2:6]}
    assert len(turns) == 1
    assert None not in turns


async def test_watching_has_neither_gap_nor_double(open_sessions: Open) -> None:
    """From any cursor, while two processes write, a watcher that stops and continues gets every event once."""
    first, second = await open_sessions(), await open_sessions()
    chat = await first.create()
    wanted = 1 + 60

    async def write(sessions: Any, name: str) -> None:
        for number in range(30):
            await sessions.chat(chat.id).append(user(f"{name} {number}"))

    async def read(sessions: Any, stop_every: int) -> list[int]:
        found: list[int] = []
        while len(found) < wanted:
            watch = sessions.chat(chat.id).watch(found[-1] if found else 0, poll=0.02)
            async for one in watch:
                found.append(one.revision)
                if len(found) % stop_every == 0 or len(found) == wanted:
                    break
            await watch.aclose()
        return found

    reads = [read(first, 1000), read(second, 1000), read(first, 7), read(second, 3)]
    done = await asyncio.wait_for(asyncio.gather(write(first, "a"), write(second, "b"), *reads), 60)
    for found in done[2:]:
        assert found == list(range(1, wanted + 1))


async def test_what_is_not_stored_is_not_told(open_sessions: Open) -> None:
    """A change that fails has no event."""
    seen: list[dict[str, Any]] = []
    sessions = await open_sessions(events=Events(seen.append))
    chat = await sessions.create()
    with pytest.raises(Exception, match="hold a block"):
        await chat.append([user(), assistant(), user(content=[])])
    assert [event["type"] for event in seen] == ["session.created"]


def event(number: int = 0, **members: Any) -> dict[str, Any]:
    """Return an event for the tests of the bus."""
    marks = Marks()
    from datetime import UTC, datetime

    made = envelope("turn.started", {"message_id": str(number)}, id=marks.ulid(), moment=datetime.now(UTC))
    return {**made, **members}


async def test_subscribers_have_queues_of_their_own() -> None:
    """A subscriber gets all events, or those of some types; a closed one gets no more."""
    bus = Bus()
    everything, some = bus.subscribe(), bus.subscribe({"turn.ended"})
    bus(event(1))
    bus(event(2, type="turn.ended"))
    bus(event(3, type="of.a.later.version"))
    everything.close()
    bus(event(4))
    some.close()
    assert [one["payload"]["message_id"] async for one in everything] == ["1", "2", "3"]
    assert [one["payload"]["message_id"] async for one in some] == ["2"]


async def test_a_slow_subscriber_is_told_and_holds_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    """Its queue is bounded; an overflow is a log entry, and an error for this subscriber only: R-270."""
    bus = Bus()
    slow, fast = bus.subscribe(size=3), bus.subscribe()
    for number in range(5):
        bus(event(number))
    fast.close()
    assert len([one async for one in fast]) == 5
    iterator = aiter(slow)
    assert [(await anext(iterator))["payload"]["message_id"] for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(Overflowed):
        await anext(iterator)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_publishing_takes_no_time_of_its_own() -> None:
    """A waiting subscriber gets the event as soon as it is published; publishing does not wait for the subscriber."""
    bus = Bus()
    subscription = bus.subscribe()
    iterator = aiter(subscription)
    task = asyncio.ensure_future(anext(iterator))
    await asyncio.sleep(0)
    bus(event(7))
    assert not task.done()
    assert (await task)["payload"]["message_id"] == "7"


async def test_malformed_events_are_dropped_or_refused(caplog: pytest.LogCaptureFixture) -> None:
    """By default they are logged at WARN; with strict, publishing them raises an error."""
    bus, strict = Bus(), Bus(strict=True)
    seen = bus.subscribe()
    strict.subscribe()
    bad = event(1, sensitivity="private")
    bus(bad)
    seen.close()
    assert [one async for one in seen] == []
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    with pytest.raises(ValueError, match="malformed"):
        strict(bad)
