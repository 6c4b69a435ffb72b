"""Every requirement of the source documents has a row, and a row names nothing that does not exist."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from runner import seeds, trace
from runner.cases import read

Document = dict[str, Any]


@cache
def known() -> seeds.Evidence:
    return seeds.evidence(read(), {clause.address for clause in trace.clauses()})


def problems(document: Document) -> list[str]:
    return seeds.problems(document, known())


def with_row(**members: Any) -> Callable[[Document], None]:
    """Makes of R-001 a row of these members, without any other evidence."""

    def change(document: Document) -> None:
        kept = {name: value for name, value in document["rows"][0].items() if name in ("id", "group", "level", "says")}
        document["rows"][0] = {**kept, **members}

    return change


CHANGES: dict[str, tuple[Callable[[Document], Any], str]] = {
    "no row": (lambda document: document["rows"].pop(0), "R-001: has no row"),
    "two rows": (lambda document: document["rows"].append(document["rows"][0]), "R-001: has 2 rows"),
    "a number too many": (
        lambda document: document["rows"].append({**document["rows"][0], "id": "R-302"}),
        "R-302: is no requirement; there are 301",
    ),
    "nothing shows it": (with_row(), "R-001: a must without a case, a test, a reason or open work"),
    "a case": (
        with_row(cases=["invariants/conversations#nowhere"]),
        "there is no case invariants/conversations#nowhere",
    ),
    "a check": (with_row(checks=["folded"]), "no check is named folded"),
    "a test": (
        with_row(tests=["tests/conformance/test_seeds.py::test_nothing"]),
        "there is no test tests/conformance/test_seeds.py::test_nothing",
    ),
    "a module": (with_row(tests=["tests/test_nothing.py::test_it"]), "there is no test tests/test_nothing.py::test_it"),
    "a clause": (with_row(clauses=["values#nothing"]), "there is no clause values#nothing"),
    "a file": (with_row(files=["nothing.md"]), "there is no file nothing.md"),
    "work": (with_row(open={"work": "someday", "lacks": "all of it"}), "the open work 'someday' is not described"),
    "both": (
        with_row(**{"not": "no need", "open": {"work": "sessions", "lacks": "all of it"}}),
        "it is either left out by design or open",
    ),
}


def test_the_rows_are_in_order() -> None:
    assert problems(seeds.read()) == []


@pytest.mark.parametrize("name", CHANGES)
def test_a_row_that_says_what_is_not_so_is_found(name: str) -> None:
    change, told = CHANGES[name]
    document = copy.deepcopy(seeds.read())
    change(document)

    assert any(problem.endswith(told) for problem in problems(document))


def test_a_row_may_be_left_out_by_design_or_open() -> None:
    for members in ({"not": "no need"}, {"open": {"work": "tools", "lacks": "all of it"}}):
        document = copy.deepcopy(seeds.read())
        document["work"]["tools"] = "What there is still to do."
        with_row(**members)(document)
        assert problems(document) == []


def test_the_page_has_every_row() -> None:
    document = seeds.read()
    page = seeds.page(document)

    assert all(f"| {row['id']} | " in page for row in document["rows"])
    assert page.count("MUST") == sum(row["level"] == "must" for row in document["rows"])
    assert "| R-001 | MUST | A message is one record" in page
