"""The scripted upstream, and what the checks of Generate say of an implementation that calls providers wrongly."""

import copy
import http.client
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toy
from runner.cases import read
from runner.discover import plan
from runner.plug import FunctionPlug
from runner.session import Session
from runner.upstream import KEY, Break, Hang, Pause, Script, Upstream, auth_header, environment, played
from runner.verdict import run

CASES = Path(__file__).parent / "cases"
Data = dict[str, Any]


# --- the upstream ---------------------------------------------------------------------------------------------------------------


def post(upstream: Upstream, body: bytes = b"{}", timeout: float = 5.0) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(upstream.address, timeout=timeout)
    OPEN.append(connection)
    connection.request("POST", "/there/talk", body, {"content-type": "application/json", "X-Key": "k"})
    return connection.getresponse()


OPEN: list[http.client.HTTPConnection] = []


@pytest.fixture
def upstream() -> Any:
    found = Upstream()
    yield found
    while OPEN:
        OPEN.pop().close()
    found.close()


def test_a_whole_answer_and_what_was_sent(upstream: Upstream) -> None:
    with upstream.play(Script((b'{"a":1}',), 429, {"retry-after": "3"}, whole=True)) as seen:
        answer = post(upstream, b'{"x":[1]}')
        body = answer.read()

    assert (answer.status, answer.headers["retry-after"], body) == (429, "3", b'{"a":1}')
    assert [(one.method, one.path, one.headers["x-key"], one.json) for one in seen] == [
        ("POST", "/there/talk", "k", {"x": [1]})
    ]


def test_a_stream_in_pieces_with_a_pause(upstream: Upstream) -> None:
    with upstream.play(played([b"one\n"], Pause(0.1), b"two\n", kind="application/x-ndjson")):
        answer = post(upstream)
        assert answer.readline() == b"one\n"
        assert upstream.late is None
        assert answer.readline() == b"two\n"
        assert upstream.late is not None and upstream.late <= time.monotonic()
        assert answer.read() == b""


def test_a_connection_that_breaks(upstream: Upstream) -> None:
    with upstream.play(played([b"half"], Pause(0.01), Break(), kind="text/plain")):
        answer = post(upstream)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            answer.read()


def test_no_answer_at_all(upstream: Upstream) -> None:
    with upstream.play(Script((Break(),))), pytest.raises((http.client.HTTPException, ConnectionError)):
        post(upstream)


def test_it_sees_the_caller_go(upstream: Upstream) -> None:
    with upstream.play(Script((Hang(), b""))) as seen:
        with pytest.raises(TimeoutError):
            post(upstream, timeout=0.05)
        OPEN.pop().close()
        assert seen[0].closed.wait(2)


def test_nothing_is_played_outside_of_a_script(upstream: Upstream) -> None:
    assert post(upstream).status == 500


def test_the_environment_puts_every_provider_at_the_upstream() -> None:
    told = environment("127.0.0.1:9")

    assert told["OPENAI_BASE_URL"] == "http://127.0.0.1:9/at-openai"
    assert told["ANTHROPIC_API_KEY"] == KEY
    assert auth_header("anthropic", "anthropic_messages") == ("x-api-key", KEY)
    assert auth_header("gemini", "openai_chat") == ("authorization", f"Bearer {KEY}")
    assert auth_header("nobody", "openai_chat") is None


# --- implementations that call wrongly --------------------------------------------------------------------------------------------


def outcomes(change: Callable[[Data], Data]) -> dict[str, str]:
    def handle(message: Data) -> Data:
        message = copy.deepcopy(message)
        return change(message) if message["op"] == "generate" else toy.handle(message)

    session = Session(FunctionPlug(handle))
    try:
        checks = plan(read([CASES]), sorted(session.adapters), ["generate"])
        return {result.check.id: result.message for result in run(session, checks) if result.outcome != "pass"}
    finally:
        session.close()


def changed(**members: Any) -> Callable[[Data], Data]:
    """The toy, its input to generate changed."""
    return lambda message: toy.handle({**message, "input": {**message["input"], **members}})


def answered(change: Callable[[Data], None]) -> Callable[[Data], Data]:
    """The toy, its output of generate changed."""

    def handle(message: Data) -> Data:
        answer = toy.handle(message)
        if "output" in answer:
            change(answer["output"])
        return answer

    return handle


def twice(message: Data) -> Data:
    toy.handle(message)
    return toy.handle(message)


def elsewhere(message: Data) -> Data:
    request = message["input"]["request"]
    return changed(request={**request, "messages": request["messages"][:-1]})(message)


def other_path(message: Data) -> Data:
    return changed(base_url=message["input"]["base_url"].replace("/at-toy", "/at-boy"))(message)


def no_deadline(message: Data) -> Data:
    return changed(deadline=30)(message)


def told_late(output: Data) -> None:
    output["at"] = [time.monotonic() for _ in output.get("at", [])]


def no_usage_mark(output: Data) -> None:
    if "response" in output:
        output["response"]["usage"] = {"input_tokens": 1, "output_tokens": 1}


def no_model(output: Data) -> None:
    output.get("response", {}).pop("requested_model", None)


def happy_end(output: Data) -> None:
    if output.pop("error", None):
        output["events"][-1] = {"type": "message_complete", "response": output["events"][-1].get("response")}


def silent_error(output: Data) -> None:
    output.pop("error", None)


def other_start(output: Data) -> None:
    if "events" in output:
        output["events"][0]["model"] = "toy:another"


def lost_start(output: Data) -> None:
    if "events" in output:
        output["events"] = output["events"][1:]


@pytest.mark.parametrize(
    ("change", "check", "told"),
    [
        (twice, "toy/hello#generate", "one call to the provider is due, 2 were made"),
        (twice, "toy/errors#unknown:generate", "not retryable, yet 2 calls"),
        (elsewhere, "toy/hello#generate:stream", "another body than to_wire writes"),
        (other_path, "toy/hello#generate", "to_wire writes /talk"),
        (no_deadline, "toy/hello#generate:deadline", "network"),
        (answered(told_late), "toy/hello#generate:paced", "0 came before it ended"),
        (answered(no_usage_mark), "toy/hello#generate", "an estimate must be marked as one"),
        (answered(no_model), "toy/hello#generate", "requested_model"),
        (answered(happy_end), "toy/hello#generate:ended", "clean finish on a truncated stream"),
        (answered(happy_end), "toy/hello#generate:broken", "clean finish on a truncated stream"),
        (answered(silent_error), "toy/hello#generate:broken", "the call ended well"),
        (answered(other_start), "toy/hello#generate:stream", "model of message_start"),
        (answered(lost_start), "toy/hello#generate:stream", "message_start"),
        (lambda message: {"id": message["id"], "unsupported": True}, "toy/hello#generate", "false advertising"),
        (lambda message: {"id": message["id"], "output": {}}, "toy/hello#generate", "answers {response}"),
    ],
)
def test_a_caller_that_calls_wrongly_is_caught(change: Callable[[Data], Data], check: str, told: str) -> None:
    assert told in outcomes(change)[check]


def test_a_sound_caller_passes() -> None:
    assert outcomes(toy.handle) == {}
