"""The tool loop: calls carried out, whatever the tools do, with everything told."""

import asyncio
import threading
import time
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from interlingua import ActiveTool, Client, ImageBlock, Request, SyncClient, TextBlock, Tool, check, fold, tool
from interlingua.canonical.errors import Cancelled, InterlinguaError, InvalidRequest, ProviderError
from interlingua.client import ApprovalRequest, Fail, FakeTransport, Refuse, Say, ToolRun
from interlingua.events import Events, check_event

from .upstream import ask

CLAUDE = "anthropic:claude-sonnet-4-6"


@tool(side_effects="read")
def read_gauge(number: int) -> str:
    """The reading of a gauge."""
    return f"gauge {number}: {number / 2} bar"


def calling(*numbers: Any, text: str = "") -> Say:
    """An answer that reads gauges."""
    return Say(text, calls=[("read_gauge", {"number": number}) for number in numbers])


def run(*steps: Any, tools: Any = (read_gauge,), request: Any = None, **options: Any) -> ToolRun:
    """A run against a script."""
    transport = FakeTransport(*steps)
    options.setdefault("model", CLAUDE)

    async def running() -> ToolRun:
        async with Client(transport, retry="none") as client:
            return await client.run_tools(request or ask("How high?"), tools, **options)

    done = asyncio.run(running())
    assert transport.left == 0
    return done


def contents(made: ToolRun) -> list[str]:
    """The texts of the results."""
    return [
        "".join(block.get("text", "") for block in message["content"][0]["content"])
        for message in made.messages
        if message["role"] == "tool"
    ]


# ---------------------------------------------------------------------------------------------------- a run


def test_calls_are_carried_out_and_the_model_answers() -> None:
    """Two in one answer, one in the next; results in the order of the calls, each a message behind its answer."""
    sent: list[Any] = []
    made = run(
        calling(4, 2, text="Let me look."),
        Say(calls=[("read_gauge", {"number": 9})], check=sent.append),
        Say("All is well.", check=sent.append),
    )
    assert made.outcome == "answered"
    assert made.response.text == "All is well."
    assert contents(made) == ["gauge 4: 2.0 bar", "gauge 2: 1.0 bar", "gauge 9: 4.5 bar"]
    assert [message["role"] for message in made.messages] == [
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [result.failure for result in made.results] == [None, None, None]
    assert made.open_calls == []
    wire = sent[0].request
    assert wire["tools"][0]["name"] == "read_gauge"
    assert wire["tools"][0]["description"] == "The reading of a gauge."
    called = [block["id"] for block in wire["messages"][1]["content"] if block["type"] == "tool_use"]
    assert [message["content"][0]["tool_use_id"] for message in wire["messages"][2:]] == called
    whole = {"messages": [*ask("How high?")["messages"], *made.messages]}
    assert check(whole["messages"]) == []
    # the messages go on as any conversation does
    Request.of(whole)


def test_ids_of_calls_are_never_met_twice() -> None:
    """The scripted provider counts anew in each answer, as real ones do: a call made again has an id of its own."""
    made = run(calling(1), calling(1), calling(1), Say("done"))
    assert len({result.call["id"] for result in made.results}) == 3
    assert [result.message["content"][0]["tool_use_id"] for result in made.results] == [
        result.call["id"] for result in made.results
    ]
    assert check([*ask()["messages"], *made.messages]) == []


def test_usage_and_cost_are_those_of_all_rounds() -> None:
    """Each round has its own beside; one answer without a price makes the sum unknown."""
    said = {"usage": {"input_tokens": 1000, "output_tokens": 100}}
    made = run(Say(calls=[("read_gauge", {"number": 1})], **said), Say("done", **said))
    assert (made.usage.input_tokens, made.usage.output_tokens) == (2000, 200)
    assert [response.cost for response in made.responses] == [Decimal("0.0045"), Decimal("0.0045")]
    assert made.cost == made.usage.cost_usd == Decimal("0.009")
    assert made.usage.latency_ms == sum(response["usage"]["latency_ms"] for response in made.responses)
    other = run(Say(calls=[("read_gauge", {"number": 1})], model="fake:x"), Say("done"), model="gemini:nobody-knows")
    assert (other.cost, other.usage.cost_usd) == (None, None)


def test_reports_of_loss_are_kept() -> None:
    """Each round has its own; the run has each entry once."""
    made = run(calling(1), Say("done"), request=ask(seed=7))
    for response in made.responses:
        assert [entry["path"] for entry in response["loss"]] == ["/max_output_tokens", "/seed"]
    assert [entry.path for entry in made.loss] == ["/max_output_tokens", "/seed"]


def test_a_limit_of_rounds() -> None:
    """The model is asked once more than calls are carried out, and its last calls stay open; the run can go on."""
    made = run(calling(1), calling(2), calling(3), max_rounds=2)
    assert made.outcome == "round_limit"
    assert len(made.responses) == 3
    assert [result.call["input"] for result in made.results] == [{"number": 1}, {"number": 2}]
    assert [call.input for call in made.open_calls] == [{"number": 3}]
    going_on = {"messages": [*ask("How high?")["messages"], *made.messages]}
    after = run(Say("done"), request=going_on)
    assert (after.outcome, contents(after)) == ("answered", ["gauge 3: 1.5 bar"])
    off = run(calling(1), max_rounds=0)
    assert (off.outcome, off.results, len(off.open_calls)) == ("round_limit", [], 1)


def test_tools_of_the_caller_are_left_to_the_caller() -> None:
    """A tool that the request offers and nobody carries out: its calls come back open, beside those that had a result."""
    request = ask(tools=[{"name": "ask_user", "input_schema": {"type": "object", "properties": {}}}])
    mixed = Say(calls=[("ask_user", {}), ("read_gauge", {"number": 1})])
    made = run(mixed, request=request)
    assert made.outcome == "open_calls"
    assert [call.name for call in made.open_calls] == ["ask_user"]
    assert contents(made) == ["gauge 1: 0.5 bar"]


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("refusal", "stopped"), ("length", "stopped"), ("content_filter", "stopped"), ("stop_sequence", "answered")],
)
def test_an_answer_that_ends_otherwise_ends_the_run(reason: str, outcome: str) -> None:
    """Nothing is carried out of it."""
    made = run(Say("no", finish_reason=reason), model="openai:gpt-4.1" if reason == "content_filter" else CLAUDE)
    assert (made.outcome, made.response.finish_reason, made.results) == (outcome, reason, [])


def test_a_paused_answer_goes_on() -> None:
    """It is sent back, which counts as a round."""
    made = run(Say("searching", finish_reason="pause"), Say("found"), model="anthropic:claude-sonnet-4-5")
    assert (made.outcome, made.response.text) == ("answered", "found")
    assert run(Say("searching", finish_reason="pause"), max_rounds=0).outcome == "round_limit"


def test_a_demanded_call_is_demanded_once() -> None:
    """Otherwise the model could never answer."""
    seen: list[Any] = []
    made = run(
        Say(calls=[("read_gauge", {"number": 1})], check=seen.append),
        Say("done", check=seen.append),
        request=ask(tool_choice={"type": "required"}),
    )
    assert made.outcome == "answered"
    assert seen[0].request["tool_choice"]["type"] == "required"
    assert seen[1].request["tool_choice"]["type"] == "auto"


# ---------------------------------------------------------------------------------------------------- what tools do


def _told(function: Any, given: dict[str, Any] | None = None, **options: Any) -> tuple[str | None, str, bool]:
    made = run(Say(calls=[(function.name, given or {})]), Say("done"), tools=[function], **options)
    assert made.outcome == "answered"
    result = made.results[0]
    return result.failure, contents(made)[0], result.message["content"][0]["is_error"]


def test_what_goes_wrong_is_a_result() -> None:
    """Each with the word of its class; the run goes on."""

    @tool
    def raises() -> None:
        raise ValueError("the valve is stuck")

    @tool
    async def raises_later() -> None:
        await asyncio.sleep(0)
        raise KeyError("pump")

    @tool
    def leaves() -> None:
        raise SystemExit(3)

    @tool
    def stops() -> None:
        raise StopIteration

    @tool
    async def gives_up() -> None:
        raise asyncio.CancelledError

    @tool
    def unspeakable() -> Any:
        return object()

    @tool
    def half() -> str:
        return "\ud800"

    @tool(time_limit=0.05)
    def slow() -> None:
        time.sleep(1)

    @tool(time_limit=0.05)
    async def slow_too() -> None:
        await asyncio.sleep(60)

    @tool
    def its_own_timeout() -> None:
        raise TimeoutError("the line is dead")

    assert _told(raises) == ("execution_error", "execution_error: ValueError: the valve is stuck", True)
    assert _told(raises_later) == ("execution_error", "execution_error: KeyError: 'pump'", True)
    assert _told(leaves)[:1] == ("execution_error",)
    assert _told(stops)[:1] == ("execution_error",)
    assert _told(gives_up) == ("cancelled", "cancelled: the tool was cancelled", True)
    assert _told(unspeakable)[0] == "execution_error"
    assert _told(half)[0] == "execution_error"
    assert _told(slow) == ("timeout", "timeout: the tool took longer than 0.05 s", True)
    assert _told(slow_too)[0] == "timeout"
    assert _told(its_own_timeout) == ("execution_error", "execution_error: TimeoutError: the line is dead", True)


def test_input_is_checked_before_a_call() -> None:
    """A tool never sees what does not fit: the violations go back, and one event tells of it, without the values."""
    told: list[Any] = []
    ran: list[int] = []

    @tool
    def note(number: int, day: date) -> None:
        ran.append(number)

    transport = FakeTransport(
        Say(calls=[("note", {"number": "secret", "day": "2026-01-01"}), ("nothing", {})]),
        Say(calls=[("note", {"number": 1, "day": "some day"})]),
        Say("done"),
    )

    async def running() -> ToolRun:
        events = Events(told.append)
        async with Client(transport, retry="none", events=events) as client:
            return await client.run_tools(ask(), [note], model=CLAUDE)

    made = asyncio.run(running())
    assert [result.failure for result in made.results] == ["validation_error", "not_found", "validation_error"]
    assert contents(made)[0].startswith("validation_error: /number: the argument ")
    assert contents(made)[1] == "not_found: there is no tool of this name; the tools are note"
    assert contents(made)[2].startswith("validation_error: /day: ")
    assert ran == []
    invalid = [event for event in told if event["type"] == "tool_input_invalid"]
    assert [event["payload"]["name"] for event in invalid] == ["note", "nothing"]
    assert all(check_event(event) == [] for event in told)
    assert "secret" not in str(invalid)


def test_what_a_tool_gives_is_its_result() -> None:
    """Texts and blocks as they are, other values as JSON."""

    class Reading(BaseModel):
        bar: Decimal
        day: date

    @dataclass
    class Pair:
        a: int
        b: list[str]

    picture = ImageBlock.from_bytes(b"\x89PNG", "image/png")
    for value, expected in [
        ("text", "text"),
        (None, ""),
        ({"type": "text", "text": "x"}, '{"type":"text","text":"x"}'),
        ([1, 2], "[1,2]"),
        (["a", "b"], '["a","b"]'),
        (4.5, "4.5"),
        (Reading(bar=Decimal("4.10"), day=date(2026, 5, 8)), '{"bar":"4.10","day":"2026-05-08"}'),
        (Pair(1, ["x"]), '{"a":1,"b":["x"]}'),
        (TextBlock(text="a block"), "a block"),
    ]:
        give = ActiveTool({"name": "give", "input_schema": {"type": "object"}}, lambda _, value=value: value)
        assert _told(give) == (None, expected, False)
    give = ActiveTool({"name": "give", "input_schema": {"type": "object"}}, lambda _: ["see", picture])
    made = run(Say(calls=[("give", {})]), Say("done"), tools=[give])
    assert [block["type"] for block in made.messages[1]["content"][0]["content"]] == ["text", "image"]


def test_calls_of_one_answer_run_at_the_same_time() -> None:
    """As many as may; functions in threads of their own, coroutine functions in the loop."""
    meeting = threading.Barrier(3, timeout=5)
    running = 0
    most = 0

    @tool
    def meet(number: int) -> int:
        meeting.wait()
        return number

    @tool
    async def count(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return number

    made = run(Say(calls=[("meet", {"number": number}) for number in range(3)]), Say("done"), tools=[meet])
    assert contents(made) == ["0", "1", "2"]
    made = run(
        Say(calls=[("count", {"number": number}) for number in range(6)]), Say("done"), tools=[count], concurrency=2
    )
    assert (contents(made), most) == (["0", "1", "2", "3", "4", "5"], 2)


def test_what_a_tool_does_to_its_arguments_changes_nothing() -> None:
    """The conversation holds what the model said."""

    def take(given: Any) -> str:
        given["number"].append(9)
        return "taken"

    taking = ActiveTool(Tool(name="take", input_schema={"type": "object"}), take)
    made = run(Say(calls=[("take", {"number": [1]})]), Say("done"), tools=[taking])
    assert made.results[0].call["input"] == {"number": [1]}


# ---------------------------------------------------------------------------------------------------- asking first


def test_approve_is_asked_with_the_class_of_the_tool() -> None:
    """What may not be carried out is a result that says so; the reason goes to the model."""
    asked: list[ApprovalRequest] = []
    ran: list[str] = []

    @tool(side_effects="write")
    def open_valve() -> None:
        ran.append("open_valve")

    @tool
    def shell(command: str) -> None:
        ran.append(command)

    def approve(question: ApprovalRequest) -> bool | str:
        asked.append(question)
        if question.side_effects == "write":
            return "not on a Sunday"
        return question.side_effects in ("none", "read")

    calls = [("read_gauge", {"number": 1}), ("open_valve", {}), ("shell", {"command": "ls"})]
    made = run(Say(calls=calls), Say("done"), tools=[read_gauge, open_valve, shell], approve=approve)
    assert [(one.call.name, one.side_effects, one.tool.name) for one in asked] == [
        ("read_gauge", "read", "read_gauge"),
        ("open_valve", "write", "open_valve"),
        ("shell", "execute", "shell"),
    ]
    assert [result.failure for result in made.results] == [None, "user_denied", "user_denied"]
    assert contents(made)[1:] == [
        "user_denied: the call was not allowed: not on a Sunday",
        "user_denied: the call was not allowed",
    ]
    assert ran == []


def test_who_cannot_be_asked_has_not_allowed_it() -> None:
    """A hook that fails, that does not answer in time, or that gives anything but True."""

    def fails(_: ApprovalRequest) -> bool:
        raise RuntimeError("no terminal")

    async def waits(_: ApprovalRequest) -> bool:
        await asyncio.sleep(60)
        return True

    async def agrees(_: ApprovalRequest) -> bool:
        return True

    assert _told(read_gauge, {"number": 1}, approve=fails)[0] == "permission_denied"
    assert _told(read_gauge, {"number": 1}, approve=waits, approve_within=0.05)[0] == "confirmation_timeout"
    assert _told(read_gauge, {"number": 1}, approve=lambda _: 1)[0] == "user_denied"
    assert _told(read_gauge, {"number": 1}, approve=agrees)[0] is None


def test_it_is_not_asked_about_what_is_not_carried_out_anyway() -> None:
    """Look-up and check of the arguments come first."""

    def approve(_: ApprovalRequest) -> bool:
        raise AssertionError

    assert _told(read_gauge, {"number": "x"}, approve=approve)[0] == "validation_error"


# ---------------------------------------------------------------------------------------------------- what ends it


def test_a_failed_call_ends_it_as_it_ends_generate() -> None:
    """And what was done is with the caller by then."""
    kept: list[Any] = []
    with pytest.raises(ProviderError) as failed:
        run(calling(1), Refuse(529), on_message=kept.append)
    assert failed.value.error["category"] == "overloaded"
    assert [message["role"] for message in kept] == ["assistant", "tool"]

    async def keep(message: Any) -> None:
        await asyncio.sleep(0)
        kept.append(message)

    kept.clear()
    made = run(calling(1), Say("done"), on_message=keep)
    assert kept == made.messages


def test_a_deadline_is_that_of_the_whole_run() -> None:
    """Of the answers and of the tools; the results that were there are kept."""
    kept: list[Any] = []

    @tool
    async def fast() -> str:
        return "fast"

    @tool
    async def slow() -> str:
        await asyncio.sleep(60)
        return "slow"

    with pytest.raises(ProviderError) as late:
        run(Say(calls=[("fast", {}), ("slow", {})]), tools=[fast, slow], deadline=0.2, on_message=kept.append)
    assert late.value.error["category"] == "timeout"
    assert [message["role"] for message in kept] == ["assistant", "tool"]
    with pytest.raises(ProviderError) as late:
        run(calling(1), Say("late", delay=60), deadline=0.2)
    assert late.value.error["category"] == "timeout"


def test_whoever_stops_waiting_stops_the_tools() -> None:
    """Of a cancelled run nothing goes on in the loop."""
    ended: list[str] = []

    @tool
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("slow")

    async def running() -> None:
        async with Client(FakeTransport(Say(calls=[("slow", {})])), retry="none") as client:
            task = asyncio.ensure_future(client.run_tools(ask(), [slow], model=CLAUDE))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert ended == ["slow"]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(running())


def test_what_is_no_run() -> None:
    """Told before anything is sent."""
    with pytest.raises(InvalidRequest, match="two tools have the name 'read_gauge'"):
        run(tools=[read_gauge, read_gauge])
    with pytest.raises(InvalidRequest):
        run(request={"messages": "x"})
    with pytest.raises(InterlinguaError):
        ActiveTool({"description": "nameless"}, print)


# ---------------------------------------------------------------------------------------------------- streams


def test_the_events_of_every_answer() -> None:
    """One answer behind the other, each with its message id; folded, each is the answer that the run has."""

    async def streaming() -> None:
        transport = FakeTransport(calling(1, text="Let me look."), calling(1), Say("All is well."))
        async with Client(transport, retry="none") as client:
            async with client.stream_tools(ask(), [read_gauge], model=CLAUDE) as stream:
                events = [event async for event in stream]
            made = stream.response
        assert made is not None
        assert made.outcome == "answered"
        ids = list(dict.fromkeys(event["message_id"] for event in events))
        assert ids == [response["message"]["id"] for response in made.responses]
        for identity, response in zip(ids, made.responses, strict=True):
            folded = fold([event for event in events if event["message_id"] == identity])
            assert folded["message"]["content"] == response["message"]["content"]
        begun = [event["id"] for event in events if event["type"] == "tool_use_start"]
        assert begun == [result.call["id"] for result in made.results]
        assert len(set(begun)) == 2

    asyncio.run(streaming())


def test_a_stream_that_fails_or_is_stopped() -> None:
    """As that of one answer: an error event, then the error; stopped while a tool runs, the error alone."""

    @tool
    async def slow() -> None:
        await asyncio.sleep(60)

    async def streaming() -> None:
        async with Client(FakeTransport(calling(1), Fail("network")), retry="none") as client:
            stream = client.stream_tools(ask(), [read_gauge], model=CLAUDE)
            with pytest.raises(ProviderError):
                async for _ in stream:
                    pass
            assert stream.response is None
        async with Client(FakeTransport(Say(calls=[("slow", {})])), retry="none") as client:
            stream = client.stream_tools(ask(), [slow], model=CLAUDE)
            asyncio.get_running_loop().call_later(0.2, stream.cancel)
            with pytest.raises(Cancelled):
                [event async for event in stream]
        async with Client(FakeTransport(Say("a b c d", pause=0.05)), retry="none") as client:
            stream = client.stream_tools(ask(), [], model=CLAUDE)
            assert (await anext(stream))["type"] == "message_start"
            stream.cancel()
            while (event := await anext(stream))["type"] != "error":
                pass
            assert event["error"]["category"] == "cancelled"
            with pytest.raises(Cancelled):
                await anext(stream)

    asyncio.run(streaming())


def test_whoever_leaves_a_stream_closes_the_call() -> None:
    """At once, and not when somebody collects what is left."""

    async def leaving() -> None:
        transport = FakeTransport(Say("a b c d"))
        async with Client(transport, retry="none") as client:
            async with client.stream_tools(ask(), [], model=CLAUDE) as stream:
                await anext(stream)
            assert transport.answers[0].closed

    asyncio.run(leaving())


# ---------------------------------------------------------------------------------------------------- without await


def test_the_synchronous_client_does_the_same() -> None:
    """Tools run outside of its thread and may call it."""
    with SyncClient(FakeTransport(Say(calls=[("ask_other", {})]), Say("four"), Say("done")), retry="none") as client:

        @tool
        def ask_other() -> str:
            return client.generate(ask("two and two?"), model=CLAUDE).text

        made = client.run_tools(ask(), [ask_other], model=CLAUDE)
        assert (made.outcome, contents(made)) == ("answered", ["four"])
    with (
        SyncClient(FakeTransport(calling(1), Say("done")), retry="none") as client,
        client.stream_tools(ask(), [read_gauge], model=CLAUDE) as stream,
    ):
        assert [event["type"] for event in stream].count("message_complete") == 2
        assert stream.response is not None
        assert stream.response.outcome == "answered"


def test_the_recorded_provider_needs_no_key_and_no_network() -> None:
    """The exchanges that come with the package, as the README shows them."""

    @tool(name="read_gauge")
    def read_pump(pump: str) -> str:
        return {"A": "4.2 bar", "B": "2.9 bar"}[pump]

    with SyncClient() as client:
        made = client.run_tools(ask("How are the pumps?"), [read_pump], model="replay:claude-sonnet-4-6")
    assert made.outcome == "answered"
    assert [result.call["input"] for result in made.results] == [{"pump": "A"}, {"pump": "B"}]
    assert contents(made) == ["4.2 bar", "2.9 bar"]
    assert "Pump B" in made.response.text


# ---------------------------------------------------------------------------------------------------- functions


def test_a_function_as_a_tool() -> None:
    """Name, docstring and types make the definition; values are converted to the types."""

    class Place(BaseModel):
        """Where."""

        city: str
        country: str | None = None

    @tool(side_effects="network", strict=True)
    async def forecast(
        place: Place,
        day: date,
        unit: Annotated[Literal["C", "F"], Field(description="of the temperature")] = "C",
        *,
        json: bool = False,
    ) -> str:
        """The weather.

        As it will be.
        """
        return f"{place.city} {day:%d.%m.} {unit} {json}"

    assert forecast.definition == {
        "name": "forecast",
        "description": "The weather.\n\nAs it will be.",
        "side_effects": "network",
        "strict": True,
        "input_schema": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "place": {
                    "type": "object",
                    "description": "Where.",
                    "properties": {
                        "city": {"type": "string"},
                        "country": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                    },
                    "required": ["city"],
                },
                "day": {"type": "string", "format": "date"},
                "unit": {
                    "type": "string",
                    "enum": ["C", "F"],
                    "default": "C",
                    "description": "of the temperature",
                },
                "json": {"type": "boolean", "default": False},
            },
            "required": ["place", "day"],
        },
    }
    assert forecast.time_limit == 600
    assert read_gauge.time_limit == 60
    assert read_gauge(4) == "gauge 4: 2.0 bar"
    given = {"place": {"city": "Rome"}, "day": "2026-05-08"}
    assert _told(forecast, given) == (None, "Rome 08.05. C False", False)


class Tree(BaseModel):
    """A type that holds itself."""

    name: str
    children: list["Tree"] = []


def test_functions_that_are_no_tools_and_types_that_hold_themselves() -> None:
    """Told when they are declared."""

    @tool
    def count(tree: Tree) -> int:
        return len(tree.children)

    assert "$defs" in count.definition["input_schema"]
    assert _told(count, {"tree": {"name": "a", "children": [{"name": "b"}]}})[1] == "1"
    for function in (lambda *numbers: numbers, lambda **members: members):
        with pytest.raises(InvalidRequest, match="cannot be passed by name"):
            tool(function)

    def socket(line: threading.Lock) -> None: ...

    with pytest.raises(InvalidRequest, match="cannot be a tool"):
        tool(socket)


def test_tools_of_free_text() -> None:
    """They get the text."""
    told: list[str] = []
    patch = ActiveTool({"name": "apply_patch", "kind": "custom"}, told.append)

    made = run(Say(calls=[("apply_patch", {"input": "*** Begin"})]), Say("done"), tools=[patch])
    assert (made.results[0].failure, told) == (None, ["*** Begin"])
