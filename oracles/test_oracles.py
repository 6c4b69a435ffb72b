"""Every case through every judge, and every expected exception through the cases that it names."""

from fnmatch import fnmatchcase

import pytest
from checks import CHECKS, material
from expected import Expected, expected, known_judges, unexpected
from material import Case


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in material("request")])
@pytest.mark.parametrize("judge", known_judges())
def test_request(judge: str, case: Case) -> None:
    """What we send is what the provider's own SDK could send."""
    _judge("request", judge, case)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in material("answer")])
@pytest.mark.parametrize("judge", known_judges())
def test_answer(judge: str, case: Case) -> None:
    """What we answer is what the provider's own SDK can read."""
    _judge("answer", judge, case)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in material("stream")])
@pytest.mark.parametrize("judge", known_judges())
def test_stream(judge: str, case: Case) -> None:
    """What we stream is put together by the provider's own SDK as the answer that it was."""
    _judge("stream", judge, case)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in material("exchange")])
@pytest.mark.parametrize("judge", known_judges())
def test_exchange(judge: str, case: Case) -> None:
    """A program written with the provider's own SDK cannot tell us from the provider."""
    _judge("exchange", judge, case)


@pytest.mark.parametrize(
    "entry", [pytest.param(entry, id=f"{entry.check}-{entry.judge}-{entry.case}") for entry in expected()]
)
def test_exception_still_holds(entry: Expected) -> None:
    """An exception that no longer happens is taken out of `expected.json`."""
    named = [case for case in material(entry.check) if fnmatchcase(case.id, entry.case)]
    assert any(entry.says in told for case in named for told in CHECKS[entry.check](entry.judge, case)), (
        "stale: take it out"
    )


def _judge(check: str, judge: str, case: Case) -> None:
    problems = unexpected(check, judge, case.id, CHECKS[check](judge, case))
    assert not problems, "\n".join(problems)
