"""`conformance/matrix.md` is a report of this suite and of these adapters: every column and every row that there must be."""

import pytest
from runner.cases import read
from runner.discover import Check, plan
from runner.render import capabilities, kind, wire_of
from runner.schema import CONFORMANCE

from interlingua import adapters

STALE = "run `make matrix`"


def tables() -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    """The tables of the page by their corner: their columns, and their cells by row."""
    found: dict[str, tuple[list[str], dict[str, list[str]]]] = {}
    rows: dict[str, list[str]] = {}
    for line in (CONFORMANCE / "matrix.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|---"):
            continue
        if not line.startswith("| "):
            rows = {}
        elif not rows:
            rows[cells[0]] = []
            found[cells[0]] = (cells[1:], rows)
        else:
            rows[cells[0]] = cells[1:]
    return {
        corner: (columns, {row: cells for row, cells in rows.items() if cells})
        for corner, (columns, rows) in found.items()
    }


TABLES = tables()
CHECKS = plan(read(), adapters.names())


def column_of(check: Check) -> str | None:
    return wire_of({"id": check.id, "adapter": check.case.adapter})


def rows_of(check: Check, corner: str) -> list[str]:
    return capabilities({"needs": list(check.capabilities)}) if corner == "capability" else [kind(check.id)]


@pytest.mark.parametrize("corner", ["capability", "check"])
def test_every_adapter_is_a_column(corner: str) -> None:
    assert TABLES[corner][0] == sorted({column for check in CHECKS if (column := column_of(check))}), STALE
    assert set(adapters.names()) <= set(TABLES[corner][0]), STALE


@pytest.mark.parametrize("corner", ["capability", "check", "without a wire"])
def test_every_must_check_has_its_row(corner: str) -> None:
    with_wire = corner != "without a wire"
    wanted = {
        row
        for check in CHECKS
        if check.level == "must" and (column_of(check) is not None) is with_wire
        for row in rows_of(check, corner)
    }

    assert wanted - TABLES[corner][1].keys() == set(), STALE


def test_nothing_fails_and_nothing_that_is_asked_is_missing() -> None:
    asked = {(row, column_of(check)) for check in CHECKS for row in rows_of(check, "check")}
    columns, rows = TABLES["check"]
    for row, cells in rows.items():
        for column, cell in zip(columns, cells, strict=True):
            assert not cell.startswith("✗"), f"{row}, {column}"
            assert (cell == "–") is ((row, column) not in asked), f"{row}, {column}: {STALE}"
