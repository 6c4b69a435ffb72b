"""`conformance/acceptance.md` against the suite: every named case exists and carries a flag that leads to the issue."""

import re
from collections import defaultdict

import pytest
from runner.cases import read
from runner.compare import loads
from runner.schema import CONFORMANCE

PAGE = (CONFORMANCE / "acceptance.md").read_text("utf-8")
FLAGS = loads((CONFORMANCE / "flags.json").read_bytes())["flags"]
CARRIED: dict[str, set[str]] = defaultdict(set)
for case in read():
    CARRIED[case.path].update(case.flags)


def rows() -> list[list[str]]:
    """The five cells of each row of both tables, without their headers; those of routing have no number."""
    found = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")
    ]
    return [cells if len(cells) == 5 else ["", *cells] for cells in found if cells[-1] != "seen at"]


ROWS = rows()
SHOWN = [row for row in ROWS if row[2] != "–"]


def name(row: list[str]) -> str:
    return row[0] or row[1]


def cases_of(row: list[str]) -> list[str]:
    return re.findall(r"`([^`]+)`", row[2])


def test_all_forty_are_there_in_order() -> None:
    assert [row[0] for row in ROWS if row[0]] == [str(number) for number in range(1, 41)]


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_a_row_names_cases_that_exist_or_a_reason(row: list[str]) -> None:
    assert [path for path in cases_of(row) if path not in CARRIED] == [], "no such case"
    assert cases_of(row) or row[3] != "–", "neither a case nor a reason"


@pytest.mark.parametrize("row", SHOWN, ids=name)
def test_the_flags_of_its_cases_lead_to_the_issues(row: list[str]) -> None:
    """The effect of a defect is printed where its case fails, with the places where it was seen."""
    flags = {flag for path in cases_of(row) for flag in CARRIED[path]}
    led_to = {link for flag in flags for link in FLAGS[flag].get("links", [])}

    assert [link for link in re.findall(r"\((https://[^)]+)\)", row[4]) if link not in led_to] == []
    assert [path for path in cases_of(row) if not CARRIED[path]] == [], "a case without a flag"


def test_no_flag_is_idle() -> None:
    """A flag that no case carries guards nothing."""
    carried = set().union(*CARRIED.values())

    assert [flag for flag in FLAGS if flag not in carried] == []
