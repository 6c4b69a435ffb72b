"""The transports: what a plug may do wrong, and what the runner makes of it."""

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import toy
from runner.__main__ import main
from runner.cases import wires
from runner.doctor import examine
from runner.mutants import load
from runner.plug import (
    ADAPTER_OPERATIONS,
    CAPABILITIES,
    HELLO_MEMBERS,
    OPERATIONS,
    FunctionPlug,
    PlugCrashError,
    PlugTimeoutError,
    ProcessPlug,
    ProtocolError,
    read_answer,
    read_hello,
    telling,
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
        with pytest.raises(PlugCrashError, match="exit status 7; on stderr: no memory left"):
            plug.call("cost", None, {})
        plug.restart()
        with pytest.raises(PlugCrashError, match="exit status 7; on stderr: no memory left"):
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
    with pytest.raises(PlugCrashError, match=r"^no-such-command does not start: "):
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


SOME = {"protocol": 1, "implementation": {"name": "a", "version": "1"}}


@pytest.mark.parametrize(
    ("hello", "told"),
    [
        ({}, "protocol 1 is spoken here"),
        ({**SOME, "protocol": 2}, "protocol 1 is spoken here"),
        ({**SOME, "implementation": {"name": "a"}}, "implementation.version"),
        ({**SOME, "adapters": {"x": ["to_wires"]}}, "hello.adapters.x: .*; the nearest is 'to_wire'"),
        ({**SOME, "adapters": {"x": ["fly"]}}, "is not an operation of an adapter; there are error, .*to_wire"),
        ({**SOME, "adapters": {"x": ["cost"]}}, "claim it in hello.operations"),
        ({**SOME, "adapters": {"x": "to_wire"}}, "a list is due"),
        ({**SOME, "operations": ["validates"]}, "hello.operations: .*; the nearest is 'validate'"),
        ({**SOME, "capabilities": ["image"]}, "hello.capabilities: .*; the nearest is 'images'"),
        ({**SOME, "capabilites": []}, "no member .*; the nearest is 'capabilities'"),
    ],
)
def test_a_hello_that_claims_nonsense(hello: dict[str, Any], told: str) -> None:
    with pytest.raises(ProtocolError, match=told):
        read_hello(hello)


MISSPELT = """
for line in sys.stdin:
    m = json.loads(line)
    hello = {"protocol": 1, "implementation": {"name": "a", "version": "1"}, "adapters": {"ollama_chatt": ["to_wire"]}}
    print(json.dumps({"id": m["id"], **({"output": hello} if m["op"] == "hello" else {"unsupported": True})}), flush=True)
    if m["op"] == "bye":
        break
"""


def test_an_adapter_that_does_not_exist_is_not_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = script(tmp_path, MISSPELT).command
    told = "hello.adapters: \"ollama_chatt\" is not an adapter of the suite; the nearest is 'ollama_chat'"

    assert main(["run", "-k", "ollama_chat/text-basic", "--", *command]) == 3
    assert told in capsys.readouterr().err
    assert main(["doctor", "--", *command]) == 1
    assert told in capsys.readouterr().out


def test_a_wire_of_ones_own_is_known_by_its_folder() -> None:
    cases = Path(toy.__file__).parent / "cases"

    assert "toy" not in wires()
    assert wires([cases]) == wires([cases / "toy"]) == wires([cases / "toy" / "hello"]) == wires() | {"toy"}


NODE = """node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/tmp/nofile.mjs'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
  code: 'MODULE_NOT_FOUND',
}

Node.js v20.20.2
"""


def test_a_plug_that_does_not_start_is_told_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "said").write_text(NODE, "utf-8")
    command = script(tmp_path, f"sys.stderr.write(open({str(tmp_path / 'said')!r}).read()); sys.exit(1)").command

    assert main(["run", "--", *command]) == 3
    first = capsys.readouterr().err.splitlines()[0]
    assert first == (
        "conformance: the plug ended before it said hello: the process ended with exit status 1; "
        "on stderr: Error: Cannot find module '/tmp/nofile.mjs'"
    )
    assert main(["doctor", "--", *command]) == 1
    assert "      | node:internal/modules/cjs/loader:1228" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (["Traceback (most recent call last):", '  File "p.py"', "KeyError: 'a'"], ["KeyError: 'a'"]),
        (["panic: nil map", "", "goroutine 1 [running]:"], ["panic: nil map"]),
        (["one", "two", "", "three", "four"], ["two", "three", "four"]),
        ([], []),
    ],
)
def test_what_a_log_says_of_an_end(log: list[str], told: list[str]) -> None:
    assert telling(log) == told


def test_a_signal_is_told_by_its_name(tmp_path: Path) -> None:
    plug = script(tmp_path, "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(PlugCrashError, match="before it said hello: the process ended with signal SIGKILL"):
        plug.hello()
    plug.close()


def test_a_function_that_raises_has_crashed() -> None:
    def broken(message: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("messages")

    with pytest.raises(PlugCrashError, match="KeyError"):
        FunctionPlug(broken).call("to_wire", "toy", {})


def test_the_doctor_finds_a_healthy_plug_healthy() -> None:
    plug = ProcessPlug(TOY)
    try:
        advice = examine(plug, {"toy"})
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

    advice = examine(plug, {"toy"})
    plug.close()

    assert not advice.healthy
    assert "the plug ended before it said hello" in advice.lines[0]


def test_the_doctor_finds_a_plug_that_dies_of_bad_input() -> None:
    def fragile(message: dict[str, Any]) -> dict[str, Any]:
        if message["op"] == "hello":
            return toy.handle(message)
        return {"id": message["id"], "output": toy.op_to_wire(message["input"])}

    advice = examine(FunctionPlug(fragile), {"toy"})

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
        advice = examine(plug, wires())
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


def test_the_schema_of_messages_knows_what_the_runner_knows_of_hello() -> None:
    claims = json.loads((CONFORMANCE / "schema" / "plug.schema.json").read_bytes())["$defs"]["Hello"]
    assert list(claims["properties"]) == list(HELLO_MEMBERS)
    assert claims["additionalProperties"] is False
    assert set(claims["properties"]["capabilities"]["items"]["enum"]) == CAPABILITIES


def test_a_skeleton_passes_the_first_case(capsys: pytest.CaptureFixture[str]) -> None:
    """As conformance/README.md says."""
    assert main(["run", "-k", "openai_chat/text-basic", "--", *SKELETONS["python"]]) == 0
    assert "5 pass   0 fail" in capsys.readouterr().out


@pytest.mark.parametrize("language", SKELETONS)
def test_skeletons_write_the_same(language: str) -> None:
    command = SKELETONS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    turn = {"role": "user", "content": [{"type": "text", "text": "Hi."}]}
    plug = ProcessPlug(command, 60.0)
    try:
        assert plug.hello()["capabilities"] == []
        given = {"model": "openai:gpt", "messages": [turn], "max_output_tokens": 9, "seed": 7}
        output = plug.call("to_wire", "openai_chat", {"request": given}).output
    finally:
        plug.close()

    messages = [{"role": "user", "content": "Hi."}]
    assert output["wire"]["body"] == {"model": "gpt", "messages": messages, "max_completion_tokens": 9}
    loss = {"op": "drop", "path": "/seed", "code": "unsupported_field", "severity": "lost", "message": "not yet"}
    assert output["loss"] == [loss]


@pytest.mark.parametrize("name", ["null", "echo"])
def test_a_plug_that_does_nothing_claims_everything(name: str) -> None:
    hello = load(CONFORMANCE / "plugs" / f"{name}.py").handle({"id": 0, "op": "hello"})["output"]
    assert all(sorted(claimed) == sorted(ADAPTER_OPERATIONS) for claimed in hello["adapters"].values())
    assert {*hello["operations"]} == {*OPERATIONS} - {*ADAPTER_OPERATIONS}


def test_the_protocol_tells_of_every_operation_and_capability() -> None:
    told = (CONFORMANCE / "protocol.md").read_text("utf-8")
    assert [name for name in OPERATIONS if f"| `{name}`" not in told] == []
    assert [word for word in sorted(CAPABILITIES) if f"`{word}`" not in told] == []
