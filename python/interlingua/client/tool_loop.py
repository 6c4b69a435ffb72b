"""
The tool loop: a model is called, its tool calls are executed, and it is called again with the results, until it has
answered (spec/2-requests.md#tool-loop).

A tool that fails never ends the loop; its result states the failure. A provider call that fails ends the loop as it
ends `generate`.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC
from decimal import Decimal
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypedDict

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.check import check_call
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.logs import logger
from interlingua.canonical.model_response import ModelResponse
from interlingua.canonical.validate import check_plain
from interlingua.client.answers import failure as failure_of
from interlingua.client.call import Tracing
from interlingua.client.call_ids import Names
from interlingua.client.interrupt import Interrupt, Interrupted
from interlingua.client.routing import session_of
from interlingua.client.stream import Pulled, Stream
from interlingua.client.threads import in_separate_thread
from interlingua.client.tools import ActiveTool, SideEffects, UnfitArguments, is_asynchronous
from interlingua.registry import prices

if TYPE_CHECKING:
    from interlingua.canonical.models import LossEntry, Tool, ToolUseBlock, Usage
    from interlingua.client.client import Client

Data = dict[str, Any]
Event = dict[str, Any]
Message = dict[str, Any]

Outcome = Literal["answered", "open_calls", "round_limit", "stopped"]
Failure = Literal[
    "not_found",
    "validation_error",
    "permission_denied",
    "user_denied",
    "confirmation_timeout",
    "timeout",
    "execution_error",
    "cancelled",
]

_LOG = logger("client")
_ANSWERED: Final = ("stop", "stop_sequence")
_SUMMED: Final = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
    "reasoning_tokens",
    "latency_ms",
)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """The argument of `approve`: a call with valid arguments, its tool, and the side effects of the tool."""

    call: "ToolUseBlock"
    tool: "Tool"
    side_effects: SideEffects


Approve = Callable[[ApprovalRequest], bool | str | Awaitable[bool | str]]
"""Decides whether a call may be executed: `True`, or `False`, or a reason for the model why not."""
OnMessage = Callable[[Message], Any]
"""Called with each new message; a result that is awaitable is awaited."""


class RunOptions(TypedDict, total=False):
    """The options of a tool run besides its request and tools; `Client.run_tools` explains each of them."""

    model: str | None
    adapter: str | None
    fallbacks: Sequence[str]
    deadline: float | None
    fail_over_on: Collection[str]
    strict: str | None
    max_rounds: int
    concurrency: int
    approve: Approve | None
    approve_within: float | None
    on_message: OnMessage | None


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of one call: `message` holds its result, `failure` is the class of its failure, if it failed."""

    call: Data
    message: Message
    failure: Failure | None
    seconds: float


@dataclass(slots=True)
class ToolRun:
    """The result of a tool run. Append `messages` to the conversation to continue it.

    `outcome` is `answered`, `open_calls` (of passive tools), `round_limit`, or `stopped`: the response
    ended for another reason, which is its `finish_reason`.
    """

    outcome: Outcome
    responses: list[ModelResponse] = field(default_factory=list[ModelResponse])
    """The responses of the model, in order, each with its usage and its loss report."""
    results: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    """The outcomes of the calls that were executed or refused, in order."""
    messages: list[Message] = field(default_factory=list[Message])
    """The messages of the model and the results, as plain data, in order."""

    @property
    def response(self) -> ModelResponse:
        """The last response."""
        return self.responses[-1]

    @property
    def open_calls(self) -> "list[ToolUseBlock]":
        """The calls of the last response that have no result."""
        from interlingua.canonical.models import ToolUseBlock

        return [ToolUseBlock.of(call) for call in _open_calls(self.messages)]

    @property
    def usage(self) -> "Usage":
        """The tokens and the time of all responses together; the cost is null when that of one is not known."""
        from interlingua.canonical.models import Usage

        return Usage.of(_sum([response.get("usage") for response in self.responses]))

    @property
    def cost(self) -> Decimal | None:
        """The cost of all responses together in US dollars; None when the price of one is not known."""
        cost = _sum([response.get("usage") for response in self.responses])["cost_usd"]
        return None if cost is None else Decimal(cost)

    @property
    def loss(self) -> "list[LossEntry]":
        """The loss reports of the requests of all rounds, each entry once. A conversation only grows, so a pointer has
        the same meaning in every round."""
        from interlingua.canonical.models import LossEntry

        entries: list[Data] = []
        for response in self.responses:
            entries += [entry for entry in response.get("loss") or () if entry not in entries]
        return [LossEntry.of(entry) for entry in entries]


@dataclass(frozen=True, slots=True)
class Job:
    """A tool run to do: the checked request, the tools by name, and the options."""

    request: Data
    tools: Mapping[str, ActiveTool]
    streamed: bool
    max_rounds: int = 10
    concurrency: int = 4
    approve: Approve | None = None
    approve_within: float | None = None
    on_message: OnMessage | None = None
    deadline: float | None = None
    options: Data = field(default_factory=dict[str, Any])
    """The options of each provider call."""

    @classmethod
    def of(cls, request: Any, tools: Sequence[ActiveTool], *, streamed: bool, options: RunOptions) -> Self:
        """Check a request and its tools. Raises `InvalidRequest` for an invalid one and for two tools of one name."""
        canonical = translate.load(request)
        by_name: dict[str, ActiveTool] = {}
        for tool in tools:
            if tool.name in by_name:
                raise InvalidRequest(f"two tools have the name {tool.name!r}", path="/tools")
            by_name[tool.name] = tool
        offered: list[Data] = canonical.get("tools") or []
        known = {tool["name"] for tool in offered}
        added = [tool.definition for tool in tools if tool.name not in known]
        call_options: Data = dict(options)
        return cls(
            {**canonical, "tools": [*offered, *added]} if offered or added else canonical,
            by_name,
            streamed,
            **{
                name: call_options.pop(name)
                for name in ("max_rounds", "concurrency", "approve", "approve_within", "on_message", "deadline")
                if name in call_options
            },
            options=call_options,
        )


class _Failed(Exception):
    """A call that was not executed, or that failed; the text is for the model."""

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.failure: Failure = failure
        self.message = message


class ToolStream(Pulled["ToolRun"]):
    """The events of all responses of a tool run, one response after the other. Iterate it once; `response` is the
    result of the run when it has ended."""

    def __init__(
        self,
        client: "Client",
        job: Job,
        new_id: Callable[[], str],
        clock: Callable[[], float],
        tracing: Tracing | None = None,
    ) -> None:
        self._tracing = tracing
        self._client = client
        self._job = job
        self._new_id = new_id
        self._clock = clock
        self._run = ToolRun("stopped")
        self._interrupt = Interrupt()
        self._stream: Stream | None = None
        self._due = None if job.deadline is None else clock() + job.deadline
        self._places = asyncio.Semaphore(job.concurrency)
        self._approval_lock = asyncio.Lock()
        self._events = self._rounds()

    async def aclose(self) -> None:
        """Discard unread events and close the provider call. May be called any number of times."""
        await self._events.aclose()

    def cancel(self, reason: Literal["cancelled", "shutdown"] = "cancelled") -> None:
        """Stop the run, from any task: a response as in `Stream.cancel`; tools are cancelled."""
        self._interrupt.stop(reason)
        if self._stream is not None:
            self._stream.cancel(reason)

    # ------------------------------------------------------------------------------------------------ rounds

    async def _rounds(self) -> AsyncGenerator[Event, None]:
        run = self._run
        calls = _open_calls(self._job.request["messages"])
        rounds_left = self._job.max_rounds
        while True:
            active = [call for call in calls if not self._is_passive(call)]
            if active and rounds_left > 0:
                rounds_left -= 1
                await self._execute(active)
                calls = [call for call in calls if self._is_passive(call)]
                if calls and run.responses:
                    break  # the model is called again when all its calls have results
            elif run.responses and not (run.response.finish_reason == "pause" and rounds_left > 0):
                break
            elif run.responses:
                rounds_left -= 1
            async with aclosing(self._answer()) as events:  # a consumer that stops closes the provider call at once
                async for event in events:
                    yield event
            calls = _calls(run.response["message"]) if run.response.finish_reason == "tool_calls" else []
        run.outcome = self._outcome(calls)
        self.response = run

    def _outcome(self, calls: list[Data]) -> Outcome:
        finish_reason = self._run.response.finish_reason
        if finish_reason == "pause" or any(not self._is_passive(call) for call in calls):
            return "round_limit"
        if calls:
            return "open_calls"
        return "answered" if finish_reason in _ANSWERED else "stopped"

    async def _answer(self) -> AsyncGenerator[Event, None]:
        """Get the next response and append its message to the conversation. When streamed, yields its events."""
        names = Names(self._unused_id)
        remaining = None if self._due is None else self._due - self._clock()
        options: Data = {**self._job.options, "deadline": remaining, "validated": True}
        try:
            if self._job.streamed:
                self._interrupt.demand()
                stream = self._stream = self._client.stream(self._request(), **options)
                async with stream:
                    async for events in stream.arriving():
                        for event in events:
                            yield names.event(event)
                self._stream = None
                response = stream.response
                if response is None:
                    raise AssertionError("a stream that ends without an error has a response")
            else:
                response = await self._interrupt.wait(self._client.generate(self._request(), **options))
        except Interrupted as problem:
            raise failure_of(problem, None) from None
        response = ModelResponse(names.response(response))
        self._run.responses.append(response)
        await self._add(response["message"])

    def _request(self) -> Data:
        """The next request. A demand to call a tool is made only once: otherwise the model would never answer."""
        request: Data = {**self._job.request, "messages": [*self._job.request["messages"], *self._run.messages]}
        choice: Data | None = request.get("tool_choice")
        if self._run.results and choice is not None:
            if choice["type"] in ("required", "tool"):
                request["tool_choice"] = {"type": "auto"}
            elif choice.get("mode") == "required":
                request["tool_choice"] = {**choice, "mode": "auto"}
        return request

    async def _add(self, message: Message) -> None:
        self._run.messages.append(message)
        if self._job.on_message is not None:
            returned = self._job.on_message(message)
            if isawaitable(returned):
                await returned

    def _unused_id(self, identity: str) -> str:
        """The id of a call; a new id when the conversation already has a call of that id, because some providers count
        from the start in each response. A repeated call is a new call (spec/1-values.md#invariants)."""
        taken = any(
            call["id"] == identity
            for message in (*self._job.request["messages"], *self._run.messages)
            for call in _calls(message)
        )
        return f"tu_{self._new_id()}" if taken else identity

    # ------------------------------------------------------------------------------------------------ calls

    def _is_passive(self, call: Data) -> bool:
        """Whether a call is for the caller: its tool is offered, and is not active."""
        name = call["name"]
        return name not in self._job.tools and any(
            tool["name"] == name for tool in self._job.request.get("tools") or ()
        )

    async def _execute(self, calls: list[Data]) -> None:
        """Execute calls and append their results to the conversation, in the order of the calls. After an interruption
        the results that exist are appended too, because these calls were executed."""
        remaining = None if self._due is None else max(self._due - self._clock(), 0.0)
        tasks = [asyncio.ensure_future(self._outcome_of(call)) for call in calls]
        try:
            async with asyncio.timeout(remaining):
                await self._interrupt.wait(asyncio.gather(*tasks))
        except TimeoutError:
            raise failure_of(Interrupted("deadline"), None) from None
        except Interrupted as problem:
            raise failure_of(problem, None) from None
        finally:
            for task in tasks:
                if task.done() and not task.cancelled() and task.exception() is None:
                    result = task.result()
                    self._run.results.append(result)
                    await self._add(result.message)

    async def _outcome_of(self, call: Data) -> ToolOutcome:
        started = self._clock()
        failure: Failure | None = None
        try:
            message = self._message(call, await self._traced_result(call), is_error=False)
        except _Failed as problem:
            failure = problem.failure
            message = self._message(call, f"{failure}: {problem.message}", is_error=True)
            fields = {"tool": call["name"], "tool_use_id": call["id"], "failure": failure}
            _LOG.warning("the tool %s failed: %s", call["name"], failure, extra=fields)
        return ToolOutcome(call, message, failure, self._clock() - started)

    async def _traced_result(self, call: Data) -> Any:
        if self._tracing is None:
            return await self._result(call)
        tool = self._job.tools.get(call["name"])
        with self._tracing.tool(call, None if tool is None else tool.side_effects) as failed:
            try:
                return await self._result(call)
            except _Failed as problem:
                failed(problem.failure)
                raise

    async def _result(self, call: Data) -> Any:
        """The content of the result of a call. Raises `_Failed`."""
        tool = self._job.tools.get(call["name"])
        definitions = [tool.definition for tool in self._job.tools.values()]
        violations = check_call(call, definitions, self._emit)
        if tool is None:
            raise _Failed(
                "not_found", f"there is no tool of this name; the tools are {', '.join(self._job.tools) or 'none'}"
            )
        if violations:
            raise _Failed("validation_error", _violations_text(violations))
        await self._demand_approval(call, tool)
        async with self._places:
            value = await _run(tool, call)
        try:
            content = _content(value)
            check_plain(self._message(call, content, is_error=False))
        except Exception as problem:  # noqa: BLE001 a tool may return anything
            message = f"the value of the tool cannot be written: {_exception_text(problem)}"
            raise _Failed("execution_error", message) from None
        return content

    async def _demand_approval(self, call: Data, tool: ActiveTool) -> None:
        """Call `approve` for a call, for one call at a time. Raises `_Failed` unless the call may be executed."""
        from interlingua.canonical.models import Tool, ToolUseBlock

        approve = self._job.approve
        if approve is None:
            return
        approval_request = ApprovalRequest(ToolUseBlock.of(call), Tool.of(tool.definition), tool.side_effects)
        async with self._approval_lock:
            limit = asyncio.timeout(self._job.approve_within)
            try:
                async with limit:
                    decision = await _call_function(approve, approval_request, "approve")
            except TimeoutError:
                if not limit.expired():
                    raise _Failed("permission_denied", "the caller could not be asked for approval") from None
                raise _Failed("confirmation_timeout", "the call was not allowed in time") from None
            except Exception as problem:  # noqa: BLE001
                # without an answer the call is not allowed; the text of a foreign exception may quote anything
                _LOG.error("approve failed: %s", type(problem).__name__, extra={"tool": tool.name})
                raise _Failed("permission_denied", "the caller could not be asked for approval") from None
        if decision is not True:
            raise _Failed(
                "user_denied", f"the call was not allowed{f': {decision}' if isinstance(decision, str) else ''}"
            )

    def _message(self, call: Data, content: Any, *, is_error: bool) -> Message:
        from interlingua.canonical.models import Message

        members = {"id": self._new_id(), "created_at": self._moment()}
        message = Message.tool(call["id"], content, is_error=is_error, **members)
        return message.plain() | {"schema_version": 1}

    def _emit(self, event: Event) -> None:
        """Publish the event that a call is not executed (spec/1-values.md#input-event)."""
        self._client.events.give(
            {
                "id": self._new_id(),
                "type": event.pop("type"),
                "alias": event.pop("alias"),
                "timestamp": self._moment(),
                "session_id": session_of(self._job.request),
                "turn_id": None,
                "parent_event_id": None,
                "actor": "system",
                "sensitivity": "pseudonymous",
                "payload": event,
            }
        )

    def _moment(self) -> str:
        return self._client.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# ---------------------------------------------------------------------------------------------------- execution


async def _run(tool: ActiveTool, call: Data) -> Any:
    """Run a tool within its time limit and return its value. Raises `_Failed`."""
    custom = (tool.definition.get("kind") or "function") == "custom"
    # a copy: a tool may change its arguments, but not the call of the model
    arguments = call.get("input_raw", "") if custom else deepcopy(call["input"])
    limit = asyncio.timeout(tool.time_limit)
    try:
        async with limit:
            return await _call_function(tool.run, arguments, f"tool {tool.name}", asynchronous=tool.asynchronous)
    except TimeoutError as problem:
        if limit.expired():
            raise _Failed("timeout", f"the tool took longer than {tool.time_limit:g} s") from None
        raise _Failed("execution_error", _exception_text(problem)) from None
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _Failed("cancelled", "the tool was cancelled") from None
    except UnfitArguments as problem:
        raise _Failed("validation_error", _violations_text(problem.violations)) from None
    except (Exception, SystemExit) as problem:  # noqa: BLE001 a tool may raise anything
        raise _Failed("execution_error", _exception_text(problem)) from None


async def _call_function(
    function: Callable[[Any], Any], argument: Any, name: str, *, asynchronous: bool | None = None
) -> Any:
    """Call a function of the caller: a coroutine function runs here, any other in a thread of its own."""
    if is_asynchronous(function) if asynchronous is None else asynchronous:
        value = function(argument)
    else:
        value = await in_separate_thread(lambda: function(argument), name)
    return await value if isawaitable(value) else value


def _content(value: Any) -> Any:
    """The value of a tool as the content of its result: text and blocks unchanged, anything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str) or _is_block(value):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) or _is_block(item) for item in value):
        if any(_is_block(item) for item in value):
            return value
    from pydantic_core import to_jsonable_python

    return json.dumps(to_jsonable_python(value)).decode()


def _is_block(value: Any) -> bool:
    """Whether a value is a block of the types of this package; plain data may be any JSON and is not a block."""
    return hasattr(value, "plain") and isinstance(getattr(value, "type", None), str)


def _violations_text(violations: list[dict[str, str]]) -> str:
    return "; ".join(
        f"{violation['path'].removeprefix('/input') or '/'}: {violation['message']}" for violation in violations
    )


def _exception_text(problem: BaseException) -> str:
    """The type and the text of a foreign exception."""
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001 `__str__` may fail too
        text = ""
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


# ---------------------------------------------------------------------------------------------------- conversations


def _calls(message: Message) -> list[Data]:
    return [block for block in message["content"] if block["type"] == "tool_use"]


def _open_calls(messages: Sequence[Message]) -> list[Data]:
    """The calls of the model's last message that have no result; none when more than results follows."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "assistant":
            return [call for call in _calls(message) if call["id"] not in answered]
        if message["role"] != "tool":
            break
        answered |= {block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"}
    return []


def _sum(usages: Sequence[Data | None]) -> Data:
    """The sum of usages. A count that none of them has is absent, and one unknown cost makes the sum unknown."""
    known = [usage for usage in usages if usage is not None]
    total: Data = {"input_tokens": 0, "output_tokens": 0}
    for name in _SUMMED:
        counts = [usage[name] for usage in known if usage.get(name) is not None]
        if counts:
            total[name] = sum(counts)
    costs = [usage.get("cost_usd") for usage in known]
    priced = len(known) == len(usages) and None not in costs
    total["cost_usd"] = (
        prices.text(sum((Decimal(cost) for cost in costs if cost is not None), Decimal(0))) if priced else None
    )
    versions = {usage.get("pricing_version") for usage in known}
    total["pricing_version"] = versions.pop() if priced and len(versions) == 1 else None
    if any(usage.get("estimated") for usage in known):
        total["estimated"] = True
    return total
