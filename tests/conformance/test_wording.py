"""An implementation with other words for the same things passes; one that says another thing does not."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from runner.cases import read
from runner.discover import plan
from runner.plug import FunctionPlug
from runner.session import Session
from runner.verdict import run
from runner.wording import WordingError, Words, compare_reports

from interlingua.plug import handle

Data = dict[str, Any]

TEXTS = (
    ("(empty)", "…"),
    ("(document)", "[see the document]"),
    ("see the next user message", "shown below"),
    (" omitted: ", " left out, because "),
    ("<system-message>", "<instructions>"),
    ("</system-message>", "</instructions>"),
    ("/filler", "/opening"),
)
WORDED = ("filler", "placeholder", "media_moved", "marker", "name_rewritten", "required_default", "schema_weakened")


def other_words(message: Data) -> Data:
    """The reference, its words exchanged in what it writes. What it reads it takes as it stands."""
    answer = handle(message)
    if message["op"] != "to_wire" or "output" not in answer:
        return answer
    loss = answer["output"]["loss"]
    worded = {json.dumps(entry["path"]) for entry in loss if entry["code"] in WORDED}
    if not worded:
        return answer
    text = json.dumps(answer["output"], ensure_ascii=False)
    for one, two in TEXTS:
        text = text.replace(one, two)
    for entry in loss:
        if entry["code"] == "name_rewritten" and isinstance(entry.get("value"), str):
            name = json.dumps(entry["value"], ensure_ascii=False)
            text = text.replace(name, name[:-2] + 'Z"')
    output = json.loads(text)
    for entry in reversed(output["loss"]):
        entry["message"] = "said otherwise"
    return {**answer, "output": output}


def test_other_words_pass() -> None:
    worded = [
        case
        for case in read()
        if case.has("request.loss.json")
        and any(entry["code"] in WORDED for entry in case.value("request.loss.json"))
        and not (
            any("requests#form" in clause for clause in case.meta["spec"])
            and b"(empty)" in case.data("request.wire.json")
        )
    ]  # a reader that looks for the form of the answer passes over the filler, which is then no word like any other
    kinds = ("to_wire", "loss", "accounting", "schema:loss", "from_wire_request")
    session = Session(FunctionPlug(other_words))
    checks = [check for check in plan(worded, sorted(session.adapters)) if check.name in kinds]

    results = list(run(session, checks))

    assert len(worded) >= 40
    assert [f"{result.check.id}: {result.message}" for result in results if result.outcome != "pass"] == []


REQUEST: Data = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "audio", "source": {}}]},
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
    ],
    "tools": [{"name": "a b"}, {"name": "a.b"}],
}


def entry(code: str, path: str, value: Any, severity: str = "representation", op: str = "replace") -> Data:
    return {"op": op, "path": path, "value": value, "code": code, "severity": severity, "message": "why"}


PLACEHOLDER = entry("placeholder", "/messages/0/content/1", {"type": "text", "text": "[audio omitted]"}, "lost")
MARKED = entry("marker", "/messages/1/content/0/text", "<s>\nBe brief.\n</s>", "weakened")
ROLE = entry("marker", "/messages/1/role", "user", "weakened")
NAMES = [entry("name_rewritten", "/tools/0/name", "a_b"), entry("name_rewritten", "/tools/1/name", "a_b_2")]
GOLDEN = [PLACEHOLDER, ROLE, MARKED, *NAMES]


def with_value(number: int, value: Any) -> list[Data]:
    return [{**one, "value": value} if index == number else one for index, one in enumerate(GOLDEN)]


def test_words_and_order_are_free() -> None:
    own = [*NAMES, {**MARKED, "value": "[[Be brief.]]"}, ROLE, {**PLACEHOLDER, "value": {"type": "text", "text": "?"}}]

    words = compare_reports(REQUEST, GOLDEN, own)

    assert words.put({"a": "<s>\nBe brief.\n</s> [audio omitted]", "b": ["a_b"]}) == {
        "a": "[[Be brief.]] ?",
        "b": ["a_b"],
    }


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda: GOLDEN[:-1], "5 entries expected, got 4; replace /tools/1/name .* is missing"),
        (lambda: GOLDEN[:3], "got 3; replace /tools/0/name .* is missing; replace /tools/1/name .* is missing"),
        (lambda: [GOLDEN[1]] * 9, "got 9; .* is missing; .* is not expected; .*; and 6 more"),
        (lambda: [*GOLDEN, NAMES[0]], "5 entries expected, got 6; .* is not expected"),
        (lambda: with_value(0, {"type": "text", "text": " "}), "content/1"),
        (lambda: with_value(0, {"type": "thinking", "text": "x"}), "content/1"),
        (lambda: with_value(1, "assistant"), "/messages/1/role"),
        (lambda: with_value(2, "<s>\nBe long.\n</s>"), "/messages/1/content/0/text"),
        (lambda: with_value(4, "a_b"), "two names became one"),
        (lambda: [{**PLACEHOLDER, "severity": "weakened"}, *GOLDEN[1:]], "an entry of the loss report"),
        (lambda: [{**PLACEHOLDER, "path": "/messages/0/content/0"}, *GOLDEN[1:]], "is missing"),
    ],
)
def test_another_meaning_fails(change: Callable[[], list[Data]], told: str) -> None:
    with pytest.raises(WordingError, match=re.compile(told, re.DOTALL)):
        compare_reports(REQUEST, GOLDEN, change())


def test_values_that_are_no_words_are_compared_by_letter() -> None:
    golden = [entry("required_default", "/max_output_tokens", 4096)]

    assert compare_reports(REQUEST, golden, golden) == Words()
    with pytest.raises(WordingError):
        compare_reports(REQUEST, golden, [{**golden[0], "value": 100}])
