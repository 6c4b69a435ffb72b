"""The transports: what a plug may do wrong, and what the runner makes of it."""

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import toy
from runner.doctor import examine
from runner.mutants import load
from runner.plug import (
    ADAPTER_OPERATIONS,
    CAPABILITIES,
    OPERATIONS,
    FunctionPlug,
    PlugCrashError,
    PlugTimeoutError,
    ProcessPlug,
    ProtocolError,
    read_answer,
    read_hello,
)
from runner.schema import CONFORMANCE

TOY = [sys.executable, str(Path(toy.__file__))]


def script(tmp_path: Path, body: str, timeout: float = 5.0) -> ProcessPlug:
    path = tmp_path / "plug.py"
    path.write_text("import json, sys, time\n" + textwrap.dedent(body), "utf-8")
    return ProcessPlug([sys.executable, str(path)], timeout)


def test_a_process_answers() -> None:
    plug = ProcessPlug(TOY)
    try:
        assert plug.hello()["implementation"]["name"] == "toy"
        answer = plug.call("to_wire", "toy", {"request": {"model": "toy:ü", "messages": []}})
        assert answer.output["wire"]["body"] == {"model": "ü", "turns": []}
    finally:
        plug.close()


def test_a_message_larger_than_a_pipe(tmp_path: Path) -> None:
    plug = script(
        tmp_path,
        "for line in sys.stdin:\n m=json.loads(line); print(json.dumps({'id': m['id'], 'output': m['input']}), flush=True)",
    )
    given = {"text": "x" * 3_000_000}
    try:
        assert plug.call("to_wire", "a", given).output == given
    finally:
        plug.close()


def test_a_crash_tells_the_last_words_and_a_restart_helps(tmp_path: Path) -> None:
    plug = script(tmp_path, "sys.stdin.readline(); print('no memory left', file=sys.stderr, flush=True); sys.exit(7)")
    try:
        with pytest.raises(PlugCrashError, match="exit code 7"):
            plug.call("cost", None, {})
        plug.restart()
        with pytest.raises(PlugCrashError, match="exit code 7"):
            plug.call("cost", None, {})
    finally:
        plug.close()


def test_silence_is_a_timeout(tmp_path: Path) -> None:
    plug = script(tmp_path, "time.sleep(60)", timeout=0.2)
    with pytest.raises(PlugTimeoutError):
        plug.call("cost", None, {})
    plug.restart()


def test_a_log_line_on_stdout_is_quoted_with_a_hint(tmp_path: Path) -> None:
    plug = script(tmp_path, "sys.stdin.readline(); print('Loading models', flush=True); time.sleep(5)")
    with pytest.raises(ProtocolError, match=r"Loading models.*stderr"):
        plug.call("cost", None, {})
    plug.restart()


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(PlugCrashError, match="no-such-command"):
        ProcessPlug(["no-such-command"]).hello()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ([], "JSON object"),
        ({"id": 1}, "exactly one"),
        ({"id": 1, "output": {}, "error": {}}, "exactly one"),
        ({"id": 2, "output": {}}, "id 1"),
        ({"id": True, "output": {}}, "id 1"),
        ({"id": 1, "output": []}, "output is a JSON object"),
        ({"id": 1, "output": {}, "more": 1}, "more"),
        ({"id": 1, "error": {"category": "oops", "message": ""}}, "oops"),
        ({"id": 1, "error": {"category": "unsupported"}}, "category and message"),
        ({"id": 1, "error": {"category": "internal", "message": "IndexError"}}, "internally"),
    ],
)
def test_answers_that_break_the_protocol(message: Any, told: str) -> None:
    with pytest.raises(ProtocolError, match=told):
        read_answer(message, 1)


@pytest.mark.parametrize(
    "hello",
    [
        {},
        {"protocol": 2, "implementation": {"name": "a", "version": "1"}},
        {"protocol": 1, "implementation": {"name": "a"}},
        {"protocol": 1, "implementation": {"name": "a", "version": "1"}, "adapters": {"x": ["fly"]}},
        {"protocol": 1, "implementation": {"name": "a", "version": "1"}, "operations": ["fly"]},
    ],
)
def test_a_hello_that_claims_nonsense(hello: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        read_hello(hello)


def test_a_function_that_raises_has_crashed() -> None:
    def broken(message: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("messages")

    with pytest.raises(PlugCrashError, match="KeyError"):
        FunctionPlug(broken).call("to_wire", "toy", {})


def test_the_doctor_finds_a_healthy_plug_healthy() -> None:
    plug = ProcessPlug(TOY)
    try:
        advice = examine(plug, TOY)
    finally:
        plug.close()

    assert advice.healthy, advice.lines
    assert len(advice.lines) > 7


def test_the_doctor_names_what_is_wrong(tmp_path: Path) -> None:
    plug = script(
        tmp_path,
        """
        import toy_missing_on_purpose
        """,
    )

    advice = examine(plug, plug.command)
    plug.close()

    assert not advice.healthy
    assert "does not start" in advice.lines[0]


def test_the_doctor_finds_a_plug_that_dies_of_bad_input() -> None:
    def fragile(message: dict[str, Any]) -> dict[str, Any]:
        if message["op"] == "hello":
            return toy.handle(message)
        return {"id": message["id"], "output": toy.op_to_wire(message["input"])}

    advice = examine(FunctionPlug(fragile), [])

    assert not advice.healthy
    assert any("empty input ends the process" in line for line in advice.lines)


# --- the skeletons to start from ------------------------------------------------------------------------------------------------

PLUGS = Path(__file__).resolve().parents[2] / "conformance" / "plugs"
SKELETONS = {
    "python": [sys.executable, str(PLUGS / "python.py")],
    "javascript": ["node", str(PLUGS / "javascript.mjs")],
    "go": ["go", "run", str(PLUGS / "go.go")],
}


@pytest.mark.parametrize("language", SKELETONS)
def test_a_skeleton_is_in_order(language: str) -> None:
    command = SKELETONS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    plug = ProcessPlug(command, 60.0)
    try:
        advice = examine(plug, command)
    finally:
        plug.close()

    assert advice.healthy, "\n".join(advice.lines)


def test_the_plug_of_the_shell_says_hello_and_refuses() -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    plug = ProcessPlug(["sh", str(PLUGS / "shell.sh")])
    try:
        assert plug.hello()["implementation"]["name"] == "shell"
        answer = plug.call("to_wire", "openai_chat", {"request": {"messages": []}})
        assert answer.error is not None and answer.error["category"] == "unsupported"
        assert plug.call("x_no_such_operation", None, {}).unsupported
    finally:
        plug.close()


def test_the_schema_of_messages_names_every_operation() -> None:
    claims = json.loads((CONFORMANCE / "schema" / "plug.schema.json").read_bytes())["$defs"]["Hello"]["properties"]
    assert claims["adapters"]["additionalProperties"]["items"]["enum"] == list(ADAPTER_OPERATIONS)
    both = {"error", "estimate"}
    assert set(claims["operations"]["items"]["enum"]) == {*OPERATIONS, *both} - {*ADAPTER_OPERATIONS} | both


@pytest.mark.parametrize("name", ["null", "echo"])
def test_a_plug_that_does_nothing_claims_everything(name: str) -> None:
    hello = load(CONFORMANCE / "plugs" / f"{name}.py").handle({"id": 0, "op": "hello"})["output"]
    assert all(sorted(claimed) == sorted(ADAPTER_OPERATIONS) for claimed in hello["adapters"].values())
    assert {*hello["operations"]} == {*OPERATIONS} - {*ADAPTER_OPERATIONS}


def test_the_protocol_tells_of_every_operation_and_capability() -> None:
    told = (CONFORMANCE / "protocol.md").read_text("utf-8")
    assert [name for name in OPERATIONS if f"| `{name}`" not in told] == []
    assert [word for word in sorted(CAPABILITIES) if f"`{word}`" not in told] == []
