"""What a person gets to read: drafts of gap files, long lists of failures, badges of partial runs, advice."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from runner import render
from runner.__main__ import main
from runner.gaps import beginning, draft
from runner.verdict import read_gaps

Data = dict[str, Any]
HEADER: Data = {"kind": "header", "suite": "1.0.0", "protocol": 1, "implementation": {"name": "some", "version": "1"}}
TOY = Path(__file__).parent


def line(check_id: str, outcome: str = "fail", message: str = "the answer is wrong", **more: Any) -> Data:
    found = {"kind": "check", "id": check_id, "adapter": "toy", "outcome": outcome, "level": "must"}
    return {**found, "profiles": ["adapter:toy"], "milliseconds": 1.0, "message": message, **more}


def report(*lines: Data, **header: Any) -> render.Report:
    return render.Report({**HEADER, **header}, list(lines))


GAPS = """# what we know
[[gap]]
check  = "toy/a#loss"  # said twice already
reason = "not yet"
issue  = "https://example.com/1"

# the ones below hang together
[[gap]]
check  = "toy/b#*"
reason = "nor this"
issue  = "https://example.com/2"
"""


def test_a_draft_names_what_fails_and_its_words_without_values() -> None:
    text = draft(report(line("toy/a#loss", message='/messages/0: the text is "x", got 7')), None)

    assert 'check  = "toy/a#loss"' in text
    assert 'fails  = "the text is"' in text


def test_a_draft_is_added_and_what_is_mended_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "gaps.toml"
    path.write_text(GAPS, "utf-8")
    stale = line("toy/a#loss", "stale", "declared as a gap (not yet), yet it passes: remove it from the gap file")

    told = draft(report(stale, line("toy/b#fold", "gap", gap={"check": "toy/b#*"}), line("toy/c#loss")), path)

    text = path.read_text("utf-8")
    assert "1 added, 1 taken out" in told
    assert "toy/a#loss" not in text
    assert "toy/b#*" in text
    assert 'check  = "toy/c#loss"' in text
    assert "# what we know" in text
    assert "# the ones below hang together" in text
    path.write_text(text.replace('reason = ""', 'reason = "r"').replace('issue  = ""', 'issue = "i"'), "utf-8")
    assert [gap.check for gap in read_gaps(path)] == ["toy/b#*", "toy/c#loss"]


def test_a_gap_that_fails_otherwise_stays_and_is_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / "gaps.toml"
    path.write_text(GAPS, "utf-8")
    other = line("toy/a#loss", "stale", "declared to fail with 'x', but fails otherwise: y")

    draft(report(other, line("toy/b#fold", "gap", gap={"check": "toy/b#*"})), path)

    assert path.read_text("utf-8") == GAPS


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("cost_usd: /: expected null, got 0", "cost_usd"),
        (
            "clean finish on a truncated stream, cut before frame 3 of 9",
            "clean finish on a truncated stream, cut before frame",
        ),
        ('/a/b: written "x", the model would see nothing, the loss report is silent', "written"),
        ("nothing of value", "nothing of value"),
    ],
)
def test_the_beginning_of_a_message_is_the_same_for_other_values(message: str, words: str) -> None:
    assert beginning(message) == words


def test_many_failures_are_counted_by_what_was_asked() -> None:
    lines = [line(f"toy/case-{number}#loss") for number in range(40)] + [line("toy/x#fold")]

    shown = render.text(report(*lines))

    assert shown.count("FAIL") == render.MOST_SHOWN
    assert "41 failures, 30 shown. All by check: loss 40 · fold 1" in shown
    assert render.text(report(*lines), most=None).count("FAIL") == 41


def test_a_part_of_the_checks_gets_no_bright_badge() -> None:
    whole, part = report(line("toy/a#loss", "pass")), report(line("toy/a#loss", "pass"), narrowed=True)

    assert json.loads(render.badge(whole))["color"] == "brightgreen"
    assert json.loads(render.badge(part))["color"] == "lightgrey"


def test_a_part_of_the_checks_is_told_as_one() -> None:
    part = report(line("toy/a#loss", "pass"), narrowed=True)

    assert json.loads(render.badge(part))["label"] == "interlingua 1.0.0 · a part"
    assert "says nothing about conformance" in render.text(part)
    assert "says nothing" not in render.text(report(line("toy/a#loss", "pass"), partial=True), profile="adapter:toy")


def test_where_nothing_passes_the_reasons_are_told() -> None:
    idle = [line(f"toy/{number}#loss", "unsupported", "to_wire is not claimed for toy") for number in range(3)]

    shown = render.text(report(*idle, line("toy/a#stream", "unsupported", "the capability streaming is not claimed")))

    assert "no check passes, so this run shows nothing" in shown
    assert "unsupported      3  to_wire is not claimed for toy" in shown


def test_what_the_end_of_a_run_left_is_counted() -> None:
    rest = [
        line(f"toy/{number}#loss", "unreached", "not run: the plug crashed 3 times in a row") for number in range(9)
    ]

    shown = render.text(report(line("toy/a#loss", "error"), *rest))

    assert shown.count("toy/") == 2, "the error and how to run it again"
    assert "9 unreached: not run: the plug crashed 3 times in a row" in shown


def test_a_server_that_is_not_there_is_told_as_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("grpc_reflection")

    assert main(["doctor", "--grpc", "127.0.0.1:1"]) == 1
    told = capsys.readouterr().out
    assert "the server cannot be reached" in told
    assert "type the hello line" not in told


def test_a_server_that_ends_at_once_is_told_with_its_last_words(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", "print('no port left')"]

    assert main(["run", "--serve", "--", *command]) == 3
    assert "its last words: no port left" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--upstream", "127.0.0.1:1", "--", "x"],
        ["--serve"],
        ["--serve", "--grpc", "a:1"],
        ["--grpc", "a:1", "--upstream", "x"],
        ["--grpc", "a:1", "--jobs", "2"],
        ["--jobs", "2", "--policy", "x", "--serve", "--", "x"],
    ],
)
def test_ways_to_a_server_that_do_not_go_together(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *arguments]) == 2
    assert "conformance: --" in capsys.readouterr().err


def test_doctor_says_for_each_adapter_once_that_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--cases", str(TOY / "cases"), "--", sys.executable, str(TOY / "toy.py")]) == 0
    told = capsys.readouterr().out
    assert "toy, each of its 8 operations with an empty input: error" in told
    assert "wrong" not in told
