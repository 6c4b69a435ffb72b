"""Outcomes, gaps, profiles and reports, on the toy implementation."""

import copy
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toy
from runner import render, requirements, schema
from runner.__main__ import main
from runner.cases import CaseError, matches, read
from runner.compare import dumps, loads
from runner.discover import Check, plan
from runner.lint import lint
from runner.plug import FunctionPlug, ProcessPlug
from runner.session import Session
from runner.verdict import GapError, Result, assign_gaps, clean, conforms, counts, read_gaps, run

CASES = Path(__file__).parent / "cases"
Data = dict[str, Any]


def session_of(change: Callable[[Data, Data], Data] = lambda message, answer: answer) -> Session:
    return Session(FunctionPlug(lambda message: change(message, toy.handle(copy.deepcopy(message)))))


def checks_of(session: Session, pattern: str | None = None) -> list[Check]:
    return plan(read([CASES]), sorted(session.adapters), [pattern] if pattern else None)


def outcomes(session: Session, pattern: str | None = None) -> dict[str, Result]:
    return {result.check.id: result for result in run(session, checks_of(session, pattern))}


def test_a_sound_implementation_passes() -> None:
    results = outcomes(session_of())

    assert {result.outcome for result in results.values()} == {"pass", "unsupported"}
    assert [check_id for check_id, result in results.items() if result.outcome == "unsupported"] == [
        "toy/hello#streamed:toy",
        "toy/hello#stream_encode",
    ]


def test_checks_follow_from_the_files_of_a_folder() -> None:
    names = {check.id for check in checks_of(session_of())}

    assert {
        "toy/hello#to_wire",
        "toy/hello#chunks:utf8",
        "toy/hello#truncated:frames",
        "toy/hello#unknown:turn-member",
    } <= names
    assert {"toy/errors#busy", "toy/picture-dropped#accounting"} <= names
    assert {"toy/hello#generate:broken", "toy/hello#generate:ended"} <= names
    assert "toy/hello#after_end" not in names  # the wire has no frame that ends it
    assert "toy/picture-dropped#stream" not in names
    assert "toy/picture-dropped#from_wire_response" not in names


def broken(operation: str, change: Callable[[Data], None]) -> Session:
    def apply(message: Data, answer: Data) -> Data:
        if message["op"] == operation and "output" in answer:
            change(answer["output"])
        return answer

    return session_of(apply)


@pytest.mark.parametrize(
    ("operation", "change", "check", "told"),
    [
        ("to_wire", lambda output: output["loss"].clear(), "toy/picture-dropped#loss", "is missing"),
        (
            "to_wire",
            lambda output: output["loss"].clear(),
            "toy/picture-dropped#accounting",
            "the loss report is silent",
        ),
        (
            "to_wire",
            lambda output: output["wire"]["body"].pop("limit", None),
            "toy/hello#accounting",
            "/max_output_tokens",
        ),
        ("to_wire", lambda output: output["wire"].update(path="/x"), "toy/hello#to_wire", "/path"),
        ("to_wire", lambda output: output.update(loss=[{"op": "drop"}]), "toy/hello#schema:loss", "not valid"),
        (
            "from_wire_request",
            lambda output: output["request"].pop("options", None),
            "toy/hello#unknown:request-field",
            "x_planted",
        ),
        (
            "from_wire_response",
            lambda output: output["response"].pop("provider_state", None),
            "toy/hello#unknown:field",
            "silent",
        ),
        (
            "from_wire_response",
            lambda output: output["response"].update(finish_reason="done"),
            "toy/hello#schema:response",
            "done",
        ),
        (
            "from_wire_response",
            lambda output: output["response"]["message"]["content"].clear(),
            "toy/hello#echo",
            "/say",
        ),
        (
            "to_wire_response",
            lambda output: output["body"].update(say="Hello, Zoë."),
            "toy/hello#answer:toy",
            "no answer of this wire: /say",
        ),
        (
            "stream",
            lambda output: output["events"][-1].append({"type": "text_delta", "index": 0, "text": "x"}),
            "toy/hello#stream",
            "more follow",
        ),
        ("stream", lambda output: output["events"].insert(0, output["events"].pop()), "toy/hello#prompt", "frame"),
        ("error", lambda output: output.update(retryable=False), "toy/errors#busy", "/retryable"),
    ],
)
def test_a_fault_is_found_and_told(operation: str, change: Callable[[Data], None], check: str, told: str) -> None:
    result = outcomes(broken(operation, change), check)[check]

    assert result.outcome == "fail"
    assert told in result.message


def test_what_is_claimed_and_not_done_is_false_advertising() -> None:
    session = session_of(
        lambda message, answer: {"id": message["id"], "unsupported": True} if message["op"] == "error" else answer
    )

    result = outcomes(session)["toy/errors#busy"]

    assert result.outcome == "fail"
    assert "false advertising" in result.message


def test_a_crash_is_an_error_and_the_rest_goes_on() -> None:
    def crash(message: Data, answer: Data) -> Data:
        if message["op"] == "error":
            raise RuntimeError("gone")
        return answer

    results = outcomes(session_of(crash))

    assert results["toy/errors#busy"].outcome == "error"
    assert results["toy/hello#to_wire"].outcome == "pass"


def test_three_crashes_in_a_row_end_the_run() -> None:
    def crash(message: Data, answer: Data) -> Data:
        if message["op"] != "hello":
            raise RuntimeError("gone")
        return answer

    found = [result.outcome for result in outcomes(session_of(crash)).values() if result.outcome != "unsupported"]

    assert found[:3] == ["error"] * 3
    assert set(found[3:]) == {"unreached"}


def test_an_unclaimed_operation_is_visible_and_does_not_conform() -> None:
    def modest(message: Data, answer: Data) -> Data:
        if message["op"] == "hello":
            answer["output"]["adapters"] = {"toy": ["to_wire"]}
        return answer

    session = session_of(modest)
    lines = [result.line() for result in run(session, checks_of(session))]

    assert clean(lines)
    assert counts(lines)["must"]["unsupported"] > 20
    assert not conforms(lines, "adapter:toy")[0]


def claiming(*operations: str, **more: Any) -> Session:
    def modest(message: Data, answer: Data) -> Data:
        if message["op"] == "hello":
            answer["output"] = {**answer["output"], "adapters": {"toy": list(operations)}, **more}
        return answer

    return session_of(modest)


@pytest.fixture
def gated(tmp_path: Path) -> Callable[[Any], Path]:
    """The toy's cases, `toy/hello` with other needs."""

    def write(needs: Any) -> Path:
        shutil.copytree(CASES, tmp_path, dirs_exist_ok=True)
        about = tmp_path / "toy" / "hello" / "case.json"
        about.write_text(dumps({**loads(about.read_bytes()), "needs": needs}), "utf-8")
        return tmp_path

    return write


ALL = tuple(toy.OPERATIONS)


@pytest.mark.parametrize(
    ("needs", "supported"),
    [
        ([], "to_wire from_wire_request cross from_wire_response echo"),
        (["images"], ""),
        ({"request": ["images"]}, "from_wire_response echo"),
        ({"response": ["images"]}, "to_wire from_wire_request"),
        ({"request": ["images"], "response": ["images"]}, ""),
    ],
)
def test_a_need_gates_the_checks_that_need_it(
    needs: Any, supported: str, gated: Callable[[Any], Path], tmp_path: Path
) -> None:
    session = claiming(*ALL, capabilities=[])
    checks = plan(read([gated(needs)]), ["toy"], ["toy/hello#"])
    found = {result.check.name: result for result in run(session, checks)}

    named = ("to_wire", "from_wire_request", "from_wire_response", "echo")
    assert [name for name in named if found[name].outcome == "pass"] == [
        name for name in named if name in supported.split()
    ]
    for name in ("stream", "fold", "chunks:whole", "truncated:inside", "generate:stream"):
        assert found[name].outcome == "unsupported", "a stream is no text"
    assert (
        found["stream"].message
        == f"the capability {'images' if 'response' in needs or needs == ['images'] else 'streaming'} is not claimed"
    )


def test_who_claims_streaming_is_asked_for_streams() -> None:
    results = outcomes(claiming(*ALL, capabilities=["streaming"]), "toy/hello#")

    assert results["toy/hello#stream"].outcome == results["toy/hello#to_wire"].outcome == "pass"


def test_lint_refuses_a_need_that_follows_from_the_stream(gated: Callable[[Any], Path]) -> None:
    for needs in (["streaming"], {"response": ["streaming"]}):
        assert any(
            "toy/hello: the checks of its stream need streaming anyway" in told for told in lint([gated(needs)])[0]
        )
    assert lint([gated({"request": ["images"], "response": ["tools"]})])[0] == []
    assert any("'smell'" in told for told in lint([gated({"request": ["smell"]})])[0])
    assert lint([gated({"stream": ["images"]})])[0], "no side of this name"


def refusing(message: Data, answer: Data) -> Data:
    if message["op"] == "to_wire" and "output" in answer:
        return {"id": message["id"], "error": {"category": "unsupported", "message": "not yet"}}
    return answer


def test_one_refusal_is_one_failure() -> None:
    session = session_of(refusing)
    results = outcomes(session, "toy/hello#")
    first = results["toy/hello#to_wire"]
    following = {check_id: result for check_id, result in results.items() if result.outcome == "unreached"}

    assert first.outcome == "fail"
    assert {"toy/hello#loss", "toy/hello#schema:loss", "toy/hello#accounting"} <= following.keys()
    assert {result.follows for result in following.values()} == {first.check.id}
    assert {result.message for result in following.values()} == {first.message}
    assert outcomes(session, "toy/hello#loss")["toy/hello#loss"].outcome == "fail", "alone, it tells why itself"
    shown = render.text(report_of(session))
    assert "FAIL  toy/hello#to_wire" in shown
    assert "unreached for that reason: loss, schema:loss" in shown
    assert "FAIL  toy/hello#loss" not in shown
    assert "UNREACHED" not in shown


def test_a_gap_covers_what_follows_from_it(tmp_path: Path) -> None:
    path = gap_file(tmp_path, GAP.replace("picture-dropped#loss", "hello#to_wire") + 'fails = "to_wire refused"\n')
    results = with_gaps(session_of(refusing), path)

    assert results["toy/hello#to_wire"].outcome == results["toy/hello#loss"].outcome == "gap"
    assert results["toy/picture-dropped#loss"].outcome == "unreached", "another case"
    own = gap_file(tmp_path, GAP.replace("picture-dropped#loss", "hello#loss"))
    results = with_gaps(session_of(refusing), own)
    assert results["toy/hello#to_wire"].outcome == "fail"
    assert results["toy/hello#loss"].outcome == "gap", "declared, and not passing"


def test_the_same_question_crashes_a_plug_once() -> None:
    asked: list[str] = []

    def crash(message: Data, answer: Data) -> Data:
        if message["op"] == "to_wire" and message["input"]["request"] == read_hello_request():
            asked.append(dumps(message["input"]))
            raise RuntimeError("gone")
        return answer

    results = outcomes(session_of(crash), "toy/hello#")

    assert results["toy/hello#to_wire"].outcome == "error"
    assert results["toy/hello#loss"].outcome == "unreached"
    assert results["toy/hello#from_wire_response"].outcome == "pass"
    assert len(asked) == len(set(asked))


def read_hello_request() -> Data:
    return loads((CASES / "toy/hello/request.canonical.json").read_bytes())


def test_one_operation_of_a_wire_has_a_profile() -> None:
    writer = claiming("to_wire")
    lines = [result.line() for result in run(writer, checks_of(writer))]

    assert conforms(lines, "adapter:toy:to_wire")[0]
    assert not conforms(lines, "adapter:toy")[0]
    names = {
        line["id"].partition("#")[2].partition(":")[0] for line in lines if "adapter:toy:to_wire" in line["profiles"]
    }
    assert names == {"to_wire", "loss", "schema", "hostile"}
    reader = claiming("from_wire_request")
    assert conforms([result.line() for result in run(reader, checks_of(reader))], "adapter:toy:from_wire_request")[0]


def test_who_conforms_to_a_wire_conforms_to_its_parts() -> None:
    caller = claiming("to_wire", "from_wire_response", "stream", "error")
    lines = [result.line() for result in run(caller, checks_of(caller))]

    assert conforms(lines, "adapter:toy")[0]
    for part in ("to_wire", "from_wire_response", "stream", "error"):
        assert conforms(lines, f"adapter:toy:{part}")[0], part


def test_the_report_shows_the_parts_of_what_is_not_whole() -> None:
    shown = " ".join(render.text(report_of(claiming("to_wire"))).split())
    assert "adapter:toy:to_wire conforms" in shown
    assert "adapter:toy:stream" not in shown
    assert "not claimed: gateway, service" in shown

    whole = " ".join(render.text(report_of(session_of())).split())
    assert "adapter:toy conforms" in whole
    assert "adapter:toy:to_wire" not in whole


def test_what_is_younger_than_the_release_is_not_scored(tmp_path: Path) -> None:
    assert requirements.scored(tmp_path)("anything"), "nothing is released"

    profiles = {"adapter:toy": {"toy/hello": ["to_wire"]}}
    (tmp_path / "1.0.json").write_text(dumps({"released": "2026-01-01", "profiles": profiles}), "utf-8")
    known = requirements.scored(tmp_path)
    session = broken("to_wire", lambda output: output["loss"].clear())
    lines = [result.line() for result in run(session, checks_of(session))]
    for line in lines:
        line["scored"] = known(line["id"])

    assert known("toy/hello#to_wire")
    assert not known("toy/picture-dropped#loss")
    assert clean(lines)
    assert conforms(lines, "adapter:toy") == (True, "1 checks")


# --- gaps ----------------------------------------------------------------------------------------------------------------


def gap_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "gaps.toml"
    path.write_text(text, "utf-8")
    return path


GAP = '[[gap]]\ncheck = "toy/picture-dropped#loss"\nreason = "later"\nissue = "https://example.com/1"\n'


def with_gaps(session: Session, path: Path) -> dict[str, Result]:
    checks = checks_of(session)
    gaps = assign_gaps(read_gaps(path), checks, {"toy/greeting": "toy/hello"}, partial=False)
    return {result.check.id: result for result in run(session, checks, gaps)}


def test_a_declared_failure_is_a_gap(tmp_path: Path) -> None:
    results = with_gaps(broken("to_wire", lambda output: output["loss"].clear()), gap_file(tmp_path, GAP))

    assert results["toy/picture-dropped#loss"].outcome == "gap"
    assert results["toy/picture-dropped#accounting"].outcome == "fail"


def test_a_gap_that_passes_is_stale(tmp_path: Path) -> None:
    assert with_gaps(session_of(), gap_file(tmp_path, GAP))["toy/picture-dropped#loss"].outcome == "stale"


@pytest.mark.parametrize(("beginning", "outcome"), [("1 entries expected", "gap"), ("something else", "stale")])
def test_a_gap_may_say_how_it_fails(tmp_path: Path, beginning: str, outcome: str) -> None:
    path = gap_file(tmp_path, GAP + f'fails = "{beginning}"\n')

    assert (
        with_gaps(broken("to_wire", lambda output: output["loss"].clear()), path)["toy/picture-dropped#loss"].outcome
        == outcome
    )


def test_a_gap_knows_renamed_cases(tmp_path: Path) -> None:
    path = gap_file(tmp_path, GAP.replace("picture-dropped#loss", "greeting#to_wire"))

    assert with_gaps(session_of(), path)["toy/hello#to_wire"].outcome == "stale"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[gap]]\ncheck = "x"\nreason = ""\nissue = "i"\n', "reason"),
        ('[[gap]]\ncheck = "x"\nreason = "r"\n', "issue"),
        ('[[gap]]\ncheck = "x"\nreason = "r"\nissue = "i"\nmore = 1\n', "more"),
        ("[[gap]\n", "gaps.toml"),
        ('[[gap]]\ncheck = "nothing#*"\nreason = "r"\nissue = "i"\n', "matches no check"),
        ('[[gap]]\ncheck = "toy/*"\nreason = "r"\nissue = "i"\n', "many = true"),
    ],
)
def test_a_wrong_gap_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(GapError, match=told):
        with_gaps(session_of(), gap_file(tmp_path, text))


@pytest.mark.parametrize(
    ("pattern", "check_id", "same"),
    [
        ("hello", "toy/hello#to_wire", True),
        ("toy/*#truncated:*", "toy/hello#truncated:frames", True),
        ("toy/*#loss", "toy/hello#schema:loss", False),
        ("a[1]*", "a[1]#x", True),
    ],
)
def test_patterns(pattern: str, check_id: str, same: bool) -> None:
    assert matches(pattern, check_id) is same


# --- reports ----------------------------------------------------------------------------------------------------------------


def report_of(session: Session) -> render.Report:
    header = {
        "kind": "header",
        "suite": "1.0.0",
        "protocol": 1,
        "implementation": {"name": "toy", "version": "1"},
        "partial": False,
    }
    return render.Report(header, [result.line() for result in run(session, checks_of(session))])


def faulty() -> render.Report:
    return report_of(broken("to_wire", lambda output: output["loss"].clear()))


def test_every_line_of_a_report_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text("\n".join(faulty().lines()), "utf-8")

    for line in path.read_text("utf-8").splitlines():
        assert schema.suite("report").validate(loads(line)) is None
    assert render.read_report(path).checks == faulty_without_times(render.read_report(path))


def faulty_without_times(report: render.Report) -> list[Data]:
    return report.checks


def test_a_report_without_its_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text("\n".join(faulty().lines()[:-1]), "utf-8")
    with pytest.raises(render.ReportFormatError, match="footer"):
        render.read_report(path)

    lines = faulty().lines()
    path.write_text("\n".join([*lines[:3], *lines[4:]]), "utf-8")
    with pytest.raises(render.ReportFormatError, match="does not count"):
        render.read_report(path)


def test_the_text_tells_pointer_reason_and_how_to_run_again() -> None:
    shown = render.text(faulty(), {"SilentDrop": {"effect": "The picture is gone and nobody knows."}}, ["--", "./plug"])

    assert "0 unreached" in shown
    assert "FAIL  toy/picture-dropped#accounting" in shown
    assert "the loss report is silent" in shown
    assert "why it matters: The picture is gone" in shown
    assert "run -k 'toy/picture-dropped#accounting' -- ./plug" in shown
    assert shown.index("does not conform") < shown.index("FAIL")

    quiet = render.text(faulty(), verdicts=False)
    assert "FAIL  toy/picture-dropped#accounting" in quiet
    assert "conform" not in quiet.replace("conformance/runner", "")


def test_junit_and_tap_and_badge_and_matrix() -> None:
    report = faulty()

    suite = ET.fromstring(render.junit(report))
    assert suite.get("tests") == str(len(report.checks))
    assert len(suite.findall(".//failure")) == sum(line["outcome"] == "fail" for line in report.checks) > 0
    shown = render.tap(report).splitlines()
    assert shown[:2] == ["TAP version 14", f"1..{len(report.checks)}"]
    assert any(line.startswith("not ok") for line in shown)
    assert any("# SKIP" in line for line in shown)
    assert loads(render.badge(report))["color"] == "red"
    assert "| loss | ✗ 1/2 |" in render.markdown([report])


def test_the_badge_is_bright_only_without_gaps() -> None:
    report = report_of(session_of())
    assert loads(render.badge(report, "adapter:toy"))["color"] == "brightgreen"

    report.checks[0] = {**report.checks[0], "outcome": "gap"}
    assert loads(render.badge(report, report.checks[0]["profiles"][0]))["color"] == "yellow"


def test_diff_names_what_changed() -> None:
    shown = render.diff(report_of(session_of()), faulty())

    names = (
        "added#accounting",
        "added#edited:loss",
        "added#generate",
        "dropped#accounting",
        "dropped#generate",
        "dropped#loss",
    )
    failing = "".join(f"\n  toy/picture-{name}" for name in names)
    assert f"newly failing: {len(names)}{failing}\n" in shown
    assert "newly passing: 0" in shown


# --- the command line ----------------------------------------------------------------------------------------------------------


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plug = ["--", "python3", str(Path(toy.__file__))]
    files = [f"--{name}={tmp_path / name}" for name in ("report", "junit", "tap", "markdown", "badge")]

    assert main(["run", "--cases", str(CASES), *files, *plug]) == 0
    assert all((tmp_path / name).stat().st_size for name in ("report", "junit", "tap", "markdown", "badge"))
    assert main(["render", str(tmp_path / "report"), "--format", "tap"]) == 0
    assert main(["diff", str(tmp_path / "report"), str(tmp_path / "report")]) == 0
    assert main(["run", "--cases", str(CASES), "--profile", "adapter:toy", *plug]) == 0
    assert main(["run", "--cases", str(CASES), "--profile", "gateway", *plug]) == 1, "stream_encode is not claimed"
    assert main(["status", "--cases", str(CASES)]) == 0
    assert main(["run", "--cases", str(CASES), "--profile", "adapter:toy:stream", *plug]) == 0
    capsys.readouterr()
    assert main(["run", "--cases", str(CASES), "-k", "toy/helo#loss", *plug]) == 2
    assert "the nearest is 'toy/hello'" in capsys.readouterr().err
    assert main(["run", "--cases", str(CASES), "--profile", "adapter:toys", *plug]) == 2
    assert "the nearest is 'adapter:toy'" in capsys.readouterr().err
    assert main(["run", "--cases", str(CASES), "--adapter", "toys", *plug]) == 2
    assert "the nearest is 'toy'" in capsys.readouterr().err
    assert main(["run", "--cases", str(CASES), "-k", "toy/hello#stream_encode", *plug]) == 1, "nothing passes"
    assert "stream_encode is not claimed for toy" in capsys.readouterr().out
    assert main(["run", "--cases", str(CASES)]) == 2
    assert main(["run", "--cases", str(CASES), "--", "false"]) == 3
    capsys.readouterr()


def test_record_and_fill(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    (folder / "toy").mkdir(parents=True)
    (folder / "toy/adapter.json").write_bytes((CASES / "toy/adapter.json").read_bytes())
    body = tmp_path / "body.json"
    body.write_text('{"model": "small", "turns": [{"who": "user", "say": ["Hi"]}]}', "utf-8")
    name, cases = "toy/greeting", ["--cases", str(folder)]

    said = ["--", "echo", '{"say": ["Hello"], "end": "done", "id": "req_0123456789abcdef"}']
    assert main(["record", name, "--request", str(body), *cases, *said]) == 0
    assert main(["fill", name, *cases, "--", "python3", str(Path(toy.__file__))]) == 0

    case = next(case for case in read([folder]) if case.path == name)
    assert case.meta["draft"] is True
    assert case.value("response.wire.json")["id"] == "req_0000000000000000"
    assert case.value("request.canonical.json")["messages"][0]["content"] == [{"type": "text", "text": "Hi"}]
    assert case.value("response.canonical.json")["finish_reason"] == "stop"
    assert main(["record", name, *cases, *said]) == 2, "a recording is never written over"


def test_cases_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"a": 1, "a": 2}', "utf-8")
    with pytest.raises(CaseError, match="twice"):
        read([tmp_path])
    with pytest.raises(CaseError, match="no-such-folder"):
        read([tmp_path / "no-such-folder"])


def test_a_process_gives_the_same_verdicts_as_a_function() -> None:
    plug = ProcessPlug(["python3", str(Path(toy.__file__))])
    try:
        by_process = {check_id: result.outcome for check_id, result in outcomes(Session(plug)).items()}
    finally:
        plug.close()

    assert by_process == {check_id: result.outcome for check_id, result in outcomes(session_of()).items()}


CRASHES = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["op"] != "hello":
        sys.exit("no more")
    claims = {"adapters": {"toy": ["to_wire", "from_wire_request", "from_wire_response"]}, "operations": []}
    hello = {"protocol": 1, "implementation": {"name": "crashes", "version": "1"}, **claims}
    print(json.dumps({"id": message["id"], "output": hello}), flush=True)
"""
FORGETS = """
import json, os, pathlib, sys, toy
del toy.op_to_wire_error
for line in sys.stdin:
    message = json.loads(line)
    if message["op"] not in ("hello", "bye"):
        (pathlib.Path(__file__).parent / f"asked-{os.getpid()}").touch()
    print(json.dumps(toy.handle(message)), flush=True)
"""


@pytest.mark.parametrize(
    ("program", "status"), [("import toy", 0), (FORGETS, 1), (CRASHES, 1)], ids=["whole", "forgets", "crashes"]
)
def test_a_run_in_several_processes_tells_the_same(
    program: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(toy.__file__).parent
    monkeypatch.setenv("PYTHONPATH", str(folder))
    (tmp_path / "plug.py").write_text(program)
    command = [sys.executable, str(tmp_path / "plug.py" if status else folder / "toy.py")]
    found = []
    asked = [0]  # how many plugs have been asked, after each run
    for jobs in ("1", "2"):
        report = tmp_path / jobs
        assert main(["run", "--cases", str(CASES), "--jobs", jobs, "--report", str(report), "--", *command]) == status
        found.append([{**loads(line), "milliseconds": 0} for line in report.read_bytes().splitlines()])
        asked.append(len(list(tmp_path.glob("asked-*"))))

    if program is CRASHES:  # three times in a row in each process
        assert [line.get("id") for line in found[0]] == [line.get("id") for line in found[1]]
        assert 3 <= [line.get("outcome") for line in found[1]].count("error") <= 6
    else:
        assert found[0] == found[1]
    if program is FORGETS:
        assert asked == [0, 1, 3], "one plug, then two others"
