"""Examples of the specification are cases; an example that says another thing is told."""

from pathlib import Path

import pytest
from runner.cases import read
from runner.examples import count, problems

CASES = read()


def test_the_examples_of_the_specification_are_cases() -> None:
    assert problems(CASES) == []
    assert count() >= 3


@pytest.mark.parametrize(
    ("head", "text", "told"),
    [
        ("case=cost/unpriced#input-only at=/cost", '{"total": null}', None),
        ("case=cost/unpriced#input-only at=/cost", '{"total": "0"}', "expected null"),
        ("case=cost/unpriced#nowhere at=/cost", "{}", "no such case"),
        ("case=cost/unpriced#input-only at=/nowhere", "{}", "nothing stands there"),
        ("case=cost/unpriced#input-only at=/cost", "{", "Expecting"),
        ("case=openai_chat/text-basic file=no.json", "{}", "no.json"),
        ("case=openai_chat/text-basic file=request.wire.json at=/method", '"POST"', None),
    ],
)
def test_an_example_that_says_another_thing_is_told(tmp_path: Path, head: str, text: str, told: str | None) -> None:
    (tmp_path / "chapter.md").write_text(f"Words.\n\n```json {head}\n{text}\n```\n\nMore words.\n", "utf-8")

    found = problems(CASES, tmp_path)

    assert len(found) == (0 if told is None else 1)
    assert told is None or told in found[0]
