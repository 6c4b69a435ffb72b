"""The synchronous client: what the asynchronous one gives, from any thread, without a thread or a call left behind."""

import asyncio
import gc
import inspect
import itertools
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from interlingua import Client, ModelResponse, Request, Response, SyncClient, content_hash, fold, structured
from interlingua.canonical import json
from interlingua.canonical.errors import Cancelled, InvalidRequest, LossRefused, ProviderError, StreamTruncated
from interlingua.client import Bytes, Fail, FakeTransport, Refuse, Say
from interlingua.client.background import BackgroundLoop
from interlingua.client.call import GenerateOptions, StreamOptions
from interlingua.client.sync import ClientOptions

from .upstream import ask

GPT, CLAUDE = "openai:gpt-4.1", "anthropic:claude-sonnet-4-6"


def client_over(*steps: Any, **members: Any) -> SyncClient:
    """A client over a script, which asks once."""
    members.setdefault("retry", "none")
    return SyncClient(FakeTransport(*steps), **members)


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    """Whoever closes a client has no thread of it any more."""
    before = set(threading.enumerate())
    yield
    gc.collect()
    left = [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()]
    assert not left


# ---------------------------------------------------------------------------------------------------- the same


def test_it_gives_what_the_asynchronous_one_gives() -> None:
    """But for what no two calls have in common."""

    async def other() -> ModelResponse:
        async with Client(FakeTransport(Say("Hello!")), retry="none") as client:
            return await client.generate(ask(), model=GPT)

    with client_over(Say("Hello!")) as client:
        mine = client.generate(ask(), model=GPT)
    theirs = asyncio.run(other())
    for response in (mine, theirs):
        response["message"] = {"content": response["message"]["content"]}
        response["usage"].pop("latency_ms")
    assert mine == theirs


@pytest.mark.parametrize(
    ("options", "method"),
    [(GenerateOptions, Client.generate), (StreamOptions, Client.stream), (ClientOptions, Client.__init__)],
)
def test_it_takes_what_the_asynchronous_one_takes(options: Any, method: Any) -> None:
    """The options have the names and the types of the parameters."""
    parameters = inspect.signature(method).parameters.values()
    named = {one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    assert set(options.__annotations__) == named


def test_it_has_what_the_asynchronous_one_has() -> None:
    """Each public name, where `a` stands for what is awaited."""
    public = {name.removeprefix("a") for name in vars(Client) if not name.startswith("_")}
    # what servers ask of a client, and who signs: values of one call, without a place to wait
    assert public - set(dir(SyncClient)) <= {"connection"}


def test_a_stream() -> None:
    """Its events fold to its answer; it is iterated, or asked for the next one."""
    with client_over(Say("Hello, you"), Say("x")) as client:
        with client.stream(ask(), model=GPT) as stream:
            assert stream.response is None
            first = next(stream)
            events = [first, *stream]
        assert first["type"] == "message_start"
        assert stream.response is not None
        assert stream.response.text == "Hello, you"
        assert fold(events)["message"]["content"] == stream.response["message"]["content"]
        assert list(stream) == []
        assert [event["type"] for event in client.stream(ask(), model=GPT)][-1] == "message_complete"


def test_a_stream_gives_its_final_response() -> None:
    """With and without events read before, and as often as one asks; none when it was closed before its end."""
    with client_over(Say("Hello!"), Say("Hello!"), Say("Hello!")) as client:
        with client.stream(ask(), model=GPT) as stream:
            assert stream.final_response().text == "Hello!"
            assert stream.final_response() is stream.response
        with client.stream(ask(), model=GPT) as stream:
            assert next(stream)["type"] == "message_start"
            assert stream.final_response().text == "Hello!"
        with client.stream(ask(), model=GPT) as stream:
            next(stream)
        with pytest.raises(RuntimeError, match="closed before its end"):
            stream.final_response()


def test_strict_refuses_what_would_be_lost() -> None:
    """Of a call, of a client, and of a request; the call has the last word, then the request."""
    lossy = {**ask(), "xyzzy": 1}
    with client_over(Say("A"), Say("B"), strict="lost") as client:
        for request, options in ((lossy, {}), ({**lossy, "loss_policy": {"strict": "representation"}}, {})):
            with pytest.raises(LossRefused):
                client.generate(request, model=GPT, **options)
        assert client.generate(ask(), model=GPT).text == "A"
    with client_over(Say("A")) as client:
        with pytest.raises(LossRefused):
            client.generate(lossy, model=GPT, strict="lost")
        with pytest.raises(InvalidRequest) as refused:
            client.generate(lossy, model=GPT, strict="none")
        assert refused.value.path == "/loss_policy/strict"
        assert client.generate(lossy, model=GPT).text == "A"
    with pytest.raises(InvalidRequest):
        client_over(strict="none")


def test_a_base_url_names_a_scheme() -> None:
    """Else each call would fail as if the network were down."""
    with pytest.raises(InvalidRequest, match="anthropic"):
        client_over(base_urls={"anthropic": "127.0.0.1:9"})


def test_chains_and_errors() -> None:
    """Another model answers; a failure is of the same type with what was tried."""
    with client_over(Refuse(529), Say("at last"), Fail("network"), Refuse(401)) as client:
        response = client.generate(ask(), model=GPT, fallbacks=["openai:gpt-4o"])
        assert response["skipped"][0]["reason"] == "overloaded"
        with pytest.raises(ProviderError) as failed:
            client.generate(ask(), model=CLAUDE)
        assert failed.value.error["category"] == "network"
        with pytest.raises(ProviderError) as failed:
            client.generate(ask(), model="gemini:gemini-2.5-flash")
        assert failed.value.error["category"] == "authentication"
        with pytest.raises(InvalidRequest, match="model") as refused:
            client.generate(ask())
        assert refused.value.path == "/model"


def test_a_deadline() -> None:
    """It is that of the whole call."""
    with client_over(Say("late", delay=60)) as client, pytest.raises(ProviderError) as late:
        client.generate(ask(), model=GPT, deadline=0.05)
    assert late.value.error["category"] == "timeout"


def test_a_stream_that_breaks_off() -> None:
    """The last event tells what had arrived; then it is raised."""
    events: list[dict[str, Any]] = []
    body = b'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}\n\n'
    step = Bytes([body], headers={"content-type": "text/event-stream"}, breaks="network")
    with client_over(step) as client, client.stream(ask(), model=GPT) as stream:
        with pytest.raises(StreamTruncated):
            events.extend(stream)
        assert events[-1]["type"] == "error"
        assert stream.response is not None
        assert stream.response.text == "Hel"
        with pytest.raises(RuntimeError, match="the stream failed"):
            stream.final_response()


# ---------------------------------------------------------------------------------------------------- the views


def test_the_views_of_a_response() -> None:
    """They say what the plain data say, typed."""
    with client_over(Say("Look:", calls=[("look", {"at": "it"})], thinking="Hm.")) as client:
        response = client.generate(ask(top_k=5), model=GPT)
    assert (response.text, response.finish_reason, response.model) == ("Look:", "tool_calls", GPT)
    assert [(call.name, call.input) for call in response.tool_calls] == [("look", {"at": "it"})]
    assert response.usage is not None
    assert response.usage.output_tokens == response["usage"]["output_tokens"] == 5
    assert response.cost == Decimal(response["usage"]["cost_usd"]) == response.typed.cost == Decimal("0.00006")
    assert [(entry.path, entry.code) for entry in response.loss] == [("/top_k", response["loss"][0]["code"])]
    assert isinstance(response.typed, Response)
    assert response.typed.plain() == response
    assert response.typed.text == response.text
    assert response.message.text == "Look:"


def test_a_response_is_plain_data() -> None:
    """Whatever takes plain data takes it: JSON, copies, equality, the functions of the package."""
    with client_over(Say('{"a": 1}')) as client:
        response = client.generate(ask(), model=GPT)
    assert json.loads(json.dumps(response)) == response == dict(response)
    assert {**response}["finish_reason"] == "stop"
    form = {"response_format": {"type": "json"}, "messages": []}
    assert structured(response, form) == {"a": 1}
    assert content_hash(response["message"]) == response.message.content_hash()
    assert (response.loss, response.reasoning, response.tool_calls) == ([], "", [])


def test_what_is_not_known_is_not_made_up() -> None:
    """No price, no usage: None."""
    with client_over(Say("x")) as client:
        response = client.generate(ask(), model="openai:gpt-of-tomorrow")
    assert response.cost is None
    assert ModelResponse(message={"content": []}, finish_reason="other").usage is None


def test_the_request_may_be_typed() -> None:
    """As for the asynchronous client."""
    with client_over(Say("x")) as client:
        assert client.generate(Request.of(ask()), model=GPT).text == "x"


# ---------------------------------------------------------------------------------------------------- threads


def test_several_threads_share_a_client() -> None:
    """Each gets the answer to its own call, at the same time."""
    arrived: list[int] = []
    together = asyncio.Event()

    class Together(FakeTransport):
        async def send(self, *arguments: Any) -> Any:
            arrived.append(1)
            if len(arrived) == 8:
                together.set()
            await together.wait()
            return await super().send(*arguments)

    transport = Together(*(Say(str(number)) for number in range(8)))
    with SyncClient(transport) as client, ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(client.generate, ask(), model=GPT) for _ in range(8)]
        assert sorted(one.result(30).text for one in asked) == [str(number) for number in range(8)]


@pytest.mark.asyncio
async def test_inside_of_a_running_loop() -> None:
    """In a thread of the loop's own, and in the loop itself, which then waits."""
    with client_over(Say("a"), Say("b")) as client:
        assert (await asyncio.to_thread(client.generate, ask(), model=GPT)).text == "a"
        assert client.generate(ask(), model=GPT).text == "b"


def test_where_it_would_wait_for_itself_it_is_refused() -> None:
    """What is called back is in the thread that does the work."""
    problems: list[RuntimeError] = []

    def on_answer(_: Any) -> None:
        for again in (lambda: client.generate(ask(), model=GPT), client.close):
            try:
                again()
            except RuntimeError as problem:
                problems.append(problem)

    with client_over(Say("x")) as client:
        assert client.generate(ask(), model=GPT, on_answer=on_answer).text == "x"
    assert len(problems) == 2
    assert all("wait for itself" in str(problem) for problem in problems)


def test_a_closed_client_says_so() -> None:
    """Closing twice is nothing; a call is refused; a stream that was open can be closed."""
    client = client_over(Say("x"))
    stream = client.stream(ask(), model=GPT)
    next(stream)
    client.close()
    client.close()
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.generate(ask(), model=GPT)
    with pytest.raises(RuntimeError, match="closed"):
        next(stream)


class Hanging:
    """A transport whose call hangs until it is given up."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.ended = threading.Event()

    async def send(self, *_: Any) -> Any:
        """Waits."""
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()

    async def aclose(self) -> None:
        """Nothing."""


def test_closing_ends_the_calls_of_other_threads() -> None:
    """They are told."""
    transport = Hanging()
    client = SyncClient(transport)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(client.generate, ask(), model=GPT)
        assert transport.began.wait(30)
        client.close()
        assert transport.ended.wait(30)
        with pytest.raises(Cancelled):
            asked.result(30)


class Stalls:
    """How time passes for a provider that sends one chunk, and then nothing more."""

    def __init__(self) -> None:
        self.stalled = threading.Event()
        self._pauses = itertools.count()

    async def __call__(self, _: float) -> None:
        if next(self._pauses):
            self.stalled.set()
            await asyncio.Event().wait()


def test_a_stream_is_cancelled_from_another_thread() -> None:
    """Whoever waits for an event gets the last one, then the error."""
    stalls = Stalls()
    fake = FakeTransport(Say("Hello, you", pause=1), sleep=stalls)
    with SyncClient(fake) as client, ThreadPoolExecutor(1) as threads:
        stream = client.stream(ask(), model=CLAUDE)
        events = [next(stream)]
        threads.submit(lambda: stalls.stalled.wait(30) and stream.cancel())
        with pytest.raises(Cancelled):
            events.extend(stream)
        assert events[-1]["error"]["category"] == "cancelled"
        assert fake.answers[0].closed


def test_a_client_that_nobody_holds_ends_its_thread() -> None:
    """Also when it was never closed."""
    client = client_over(Say("x"))
    client.generate(ask(), model=GPT)
    gone = weakref.ref(client)
    del client
    gc.collect()
    assert gone() is None


def test_a_stream_closed_early_closes_the_call() -> None:
    """What has not been read is given up."""
    fake = FakeTransport(Say("Hello, you", pause=1), sleep=Stalls())
    with SyncClient(fake) as client:
        with client.stream(ask(), model=CLAUDE) as stream:
            next(stream)
            assert not fake.answers[0].closed
        assert fake.answers[0].closed
        assert list(stream) == []


def test_context_variables_reach_the_work() -> None:
    """So that whoever traces finds the call below its caller's span."""
    from contextvars import ContextVar

    where: ContextVar[str] = ContextVar("where", default="nowhere")
    loop = BackgroundLoop("test")

    async def work() -> str:
        return where.get()

    where.set("here")
    assert loop.run(work()) == "here"
    loop.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_after_a_fork_it_is_refused() -> None:
    """The thread is in the parent: waiting for it would never end."""
    program = """
import os, sys
from interlingua import SyncClient
from interlingua.client import FakeTransport, Say
request = {"messages": [{"role": "user", "content": "Hi"}], "model": "openai:gpt-4.1"}
client = SyncClient(FakeTransport(Say("x"), Say("y")))
client.generate(request)
child = os.fork()
if child == 0:
    try:
        client.generate(request)
    except RuntimeError as problem:
        os._exit(7 if "forked" in str(problem) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(client.generate(request).text)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "y\n"), done.stderr


INTERRUPTED = """
import asyncio
import signal
from interlingua import SyncClient

signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may have it ignored

class Hanging:
    async def send(self, *_):
        print("sent", flush=True)
        try:
            await asyncio.Event().wait()
        finally:
            print("closed", flush=True)
    async def aclose(self):
        pass

client = SyncClient(Hanging())
request = {"messages": [{"role": "user", "content": "Hi"}], "model": "openai:gpt-4.1"}
try:
    list(client.stream(request)) if STREAM else client.generate(request)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of its own")
@pytest.mark.parametrize("stream", [False, True])
def test_ctrl_c_closes_the_call_to_the_provider(stream: bool) -> None:
    """Before it is raised; and the program ends, though nobody closed the client."""
    program = INTERRUPTED.replace("STREAM", str(stream))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            assert running.stdout.readline() == "sent\n"
            running.send_signal(signal.SIGINT)
            assert running.stdout.read() == "closed\ninterrupted\n"
            assert running.wait(60) == 0
        finally:
            with suppress(ProcessLookupError):
                running.kill()
