"""
The events of one response, pulled by the caller: nothing runs between two of them, nothing is queued, and the provider
is read only as fast as the caller pulls. A stream that is closed, cancelled, or out of time closes the provider call at
once.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, cast

from interlingua.canonical.errors import Cancelled, InterlinguaError, ProviderError, StreamTruncated
from interlingua.canonical.model_response import ModelResponse, status_of
from interlingua.client.answers import REFUSAL, check_no_page, failure, in_band, is_refusal
from interlingua.client.attempts import Attempts
from interlingua.client.call import Call, Plan
from interlingua.client.interrupt import Interrupt, Interrupted
from interlingua.client.reading import Reader, reader
from interlingua.client.transport import Answer, TransportFailed

if TYPE_CHECKING:
    from interlingua.canonical.types import StreamEvent

R = TypeVar("R")
Event = dict[str, Any]
Response = dict[str, Any]
_WITHOUT_CONTENT = ("message_start", "usage_update")
"""Events that can come before the first content of a response."""

Complete = Callable[[Response, Call, str], ModelResponse]
"""Adds what only the caller of the provider knows of a response; the text is the status of its message."""


class Pulled(ABC, Generic[R]):
    """The common base of all streams of events, which are pulled one by one.

    A subclass sets `_events` and `response`, and overrides `aclose` when it holds more resources."""

    response: R | None = None
    """The response: complete after the last event, the part that had arrived after `error`, None before."""
    _events: AsyncGenerator[Event, None]

    def __aiter__(self) -> "AsyncIterator[StreamEvent]":
        # the generator itself, so that an event costs no additional call
        return cast("AsyncIterator[StreamEvent]", self._events)

    async def __anext__(self) -> "StreamEvent":
        return cast("StreamEvent", await anext(self._events))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Discard unread events. May be called any number of times."""
        await self._events.aclose()

    async def final_response(self) -> R:
        """Read the events that are left, and return the whole response.

        Raises what reading raises, and `RuntimeError` for a stream that was closed before its end, or whose error was
        raised before, where its events were read.
        """
        async for _ in self._events:
            pass
        if self.response is None:
            raise RuntimeError("the stream was closed before its end, so it has no response")
        if isinstance(self.response, dict) and status_of(self.response["message"]) != "complete":
            raise RuntimeError("the stream failed, so it has no whole response; `response` has the part that arrived")
        return self.response

    @abstractmethod
    def cancel(self, reason: Literal["cancelled", "shutdown"] = "cancelled") -> None:
        """Stop the response, from any task. May be called any number of times."""


class Stream(Pulled[ModelResponse]):
    """The events of one response. Iterate it once; `response` is the whole response when the stream has ended."""

    def __init__(self, attempts: Attempts, complete: Complete, plan: Plan, deadline: float | None) -> None:
        self._attempts = attempts
        self._complete = complete
        self._plan = plan
        self._deadline = deadline
        self._interrupt: Interrupt | None = None
        self._arriving = self._run()
        self._events = self._one_by_one()

    def arriving(self) -> AsyncIterator[list[Event]]:
        """Iterate over lists of events instead, so that a caller can pass on a whole list at once.

        A list has the events that the same bytes of the provider completed, and is never empty. The stream itself does
        not give these events again."""
        return self._arriving

    async def aclose(self) -> None:
        """Discard unread events and close the provider call. May be called any number of times."""
        await self._events.aclose()
        await self._arriving.aclose()

    def cancel(self, reason: Literal["cancelled", "shutdown"] = "cancelled") -> None:
        """Stop the response, from any task. May be called any number of times.

        The task that waits for an event gets an `error` event of category `cancelled` with the part that had arrived,
        then `Cancelled`. When the process is about to end, the reason is `shutdown`, and the error is a
        `ProviderError` of category `server_error`."""
        if self._interrupt is not None:
            self._interrupt.stop(reason)

    async def _one_by_one(self) -> AsyncGenerator[Event, None]:
        async for events in self._arriving:
            for event in events:
                yield event

    async def _run(self) -> AsyncGenerator[list[Event], None]:
        self._interrupt = interrupt = Interrupt(self._deadline)
        call: Call | None = None
        answer: Answer | None = None
        event: Event = {}
        try:
            call, answer, beginning = await self._attempts.begin(
                self._plan, interrupt, self._deadline, self._receive, _is_refusal
            )
            call.begun(answer.status, answer.headers)
            if call.attempt is not None:
                call.attempt.begun()
            try:
                events = beginning.events
                while True:
                    for event in events:
                        if self._complete_event(event, call):
                            # before the last event is delivered: the caller may be slow, the provider has finished
                            await answer.aclose()
                            self._report_health(event, call)
                    yield events
                    if beginning.reader.done:
                        break
                    events = await self._pull(beginning, interrupt)
                if event["type"] == "error":
                    raise StreamTruncated(event["error"], event.get("response"))
            except (TransportFailed, Interrupted) as problem:
                error = failure(problem, call)
                if isinstance(problem, TransportFailed):
                    self._attempts.health.failed(call.model, problem.category)
                await answer.aclose()
                yield self._ending_events(beginning.reader, error, call)
                if isinstance(error, ProviderError):
                    error = StreamTruncated(error.error, self.response)
                raise error from None
        finally:
            interrupt.done()
            if call is not None:
                call.failed("cancelled")
            if answer is not None:
                await answer.aclose()

    async def _receive(self, call: Call, answer: Answer, interrupt: Interrupt) -> "_Beginning":
        """Read the first events. An error that comes before any other event is raised as the error of the call.

        If a refusal leads to another candidate, events without content are held until the first event with content.
        """
        without_content = _WITHOUT_CONTENT if REFUSAL in call.plan.fail_over_on else ()
        await check_no_page(call, answer)
        beginning = _Beginning(reader(call, answer), answer.chunks(), [])
        while not beginning.reader.done and all(event["type"] in without_content for event in beginning.events):
            beginning.events = [*beginning.events, *await self._pull(beginning, interrupt)]
        if beginning.events[0]["type"] == "error":
            raise ProviderError(in_band(call, beginning.events[0]["error"]))
        return beginning

    async def _pull(self, beginning: "_Beginning", interrupt: Interrupt) -> list[Event]:
        """The events that the next bytes complete, or those at the end of input."""
        waiting = 0
        while waiting <= self._attempts.limits.answer:
            try:
                chunk = await interrupt.wait(anext(beginning.chunks))
            except StopAsyncIteration:
                return beginning.reader.end()
            if events := beginning.reader.feed(chunk):
                return events
            waiting += len(chunk)
        raise TransportFailed("network", f"the provider sent {waiting} bytes without completing an event")

    def _complete_event(self, event: Event, call: Call) -> bool:
        """Complete the members of an event. Returns whether it is the last one."""
        event["message_id"] = call.plan.message_id
        match event["type"]:
            case "message_complete":
                self.response = self._complete(event["response"], call, "complete")
                call.answered(self.response)
            case "error":
                event["error"] = in_band(call, event["error"])
                call.failed(event["error"]["category"])
                if "response" in event:
                    self.response = self._complete(event["response"], call, "error")
            case "message_start":
                event.setdefault("model", call.model)  # some wires do not name it here, but in the whole response
                return False
            case _:
                return False
        return True

    def _report_health(self, event: Event, call: Call) -> None:
        health = self._attempts.health
        if event["type"] == "error":
            health.failed(call.model, event["error"]["category"])
        else:
            health.succeeded(call.model)

    def _ending_events(self, reader: Reader, error: InterlinguaError, call: Call) -> list[Event]:
        """The last events of a stream that the provider did not end: those of an unfinished frame, then the error with
        the part that had arrived."""
        events = reader.end()
        if not events or events[-1]["type"] != "error":
            events = [event for event in events if event["type"] != "message_complete"]
            events.append({"type": "error"})
        event: Event = events[-1]
        event["error"] = error.to_dict()
        for item in events:
            self._complete_event(item, call)
        if isinstance(error, Cancelled) and "response" in event:
            event["response"]["finish_reason"] = "cancelled"
            event["response"]["message"]["metadata"]["status"] = "cancelled"
        return events


@dataclass(slots=True)
class _Beginning:
    """A response that has begun: its first events, and the source of the next ones."""

    reader: Reader
    chunks: AsyncIterator[bytes]
    events: list[Event]


def _is_refusal(beginning: _Beginning) -> bool:
    """Whether the first events hold a whole response that is a refusal. Later, the delivery has begun."""
    last = beginning.events[-1]
    return last["type"] == "message_complete" and is_refusal(last["response"])
