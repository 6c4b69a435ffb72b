"""What a release demands is frozen: it only grows, and whatever changes under it needs an entry that says why."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from runner import requirements
from runner.cases import read

TOY = Path(__file__).resolve().parent / "cases"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of its own, whose first release is frozen."""
    shutil.copytree(TOY, tmp_path / "cases")
    (tmp_path / "requirements").mkdir()
    monkeypatch.setattr(requirements, "FOLDER", tmp_path / "requirements")
    requirements.freeze("1.0", read([tmp_path / "cases"]), "2026-01-02")
    return tmp_path


def problems(suite: Path) -> list[str]:
    return requirements.problems(read([suite / "cases"]), suite / "requirements")


def released(suite: Path, version: str = "1.0") -> dict[str, Any]:
    return json.loads((suite / "requirements" / f"{version}.json").read_text("utf-8"))


def write(suite: Path, document: dict[str, Any], version: str = "1.0") -> None:
    (suite / "requirements" / f"{version}.json").write_text(json.dumps(document), "utf-8")


def some_case(suite: Path) -> Path:
    return suite / "cases" / "toy" / "picture-dropped"


def name_of(suite: Path, case: Path) -> str:
    return case.relative_to(suite / "cases").as_posix()


def test_nothing_has_happened_yet(suite: Path) -> None:
    assert released(suite)["released"] == "2026-01-02"
    assert requirements.demanded(released(suite))
    assert problems(suite) == []


def test_a_release_is_not_written_again(suite: Path) -> None:
    before = released(suite)

    told = requirements.freeze("1.0", read([suite / "cases"]), "2027-01-02")

    assert "released and does not change" in told
    assert released(suite) == before


def test_what_is_not_released_is_not_held_to_anything(suite: Path) -> None:
    write(suite, {**released(suite), "released": None})
    shutil.rmtree(some_case(suite))

    assert problems(suite) == []


def test_a_changed_golden_file_needs_an_erratum(suite: Path) -> None:
    case = some_case(suite)
    path = case / "request.wire.json"
    value = json.loads(path.read_text("utf-8"))
    value["body"]["changed"] = True
    path.write_text(json.dumps(value), "utf-8")

    assert problems(suite) == [f"{name_of(suite, case)}: changed since 1.0; say why in errata"]

    document = released(suite)
    document["errata"].append({"case": name_of(suite, case), "why": "the provider's documentation was misread"})
    write(suite, document)
    assert problems(suite) == []


def test_another_spelling_and_another_title_are_no_change(suite: Path) -> None:
    case = some_case(suite)
    path, meta = case / "request.wire.json", json.loads((case / "case.json").read_text("utf-8"))
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")), indent=8), "utf-8")
    (case / "case.json").write_text(json.dumps({**meta, "title": "said better"}), "utf-8")

    assert problems(suite) == []


def test_a_comparator_that_is_added_later_is_a_change(suite: Path) -> None:
    case = some_case(suite)
    meta = json.loads((case / "case.json").read_text("utf-8"))
    meta["compare"] = [{"path": "/body", "as": "ignore"}]
    (case / "case.json").write_text(json.dumps(meta), "utf-8")

    assert problems(suite) == [f"{name_of(suite, case)}: changed since 1.0; say why in errata"]


def test_a_case_that_goes_needs_a_tombstone(suite: Path) -> None:
    case = some_case(suite)
    name = name_of(suite, case)
    shutil.rmtree(case)

    assert problems(suite) == [f"{name}: released with 1.0 and gone; add a tombstone or `was`"]

    document = released(suite)
    document["tombstones"].append({"case": name, "why": "the provider has withdrawn the wire"})
    write(suite, document)
    assert problems(suite) == []


def test_a_renamed_case_says_what_it_was(suite: Path) -> None:
    case = some_case(suite)
    name, moved = name_of(suite, case), case.with_name("another-name")
    case.rename(moved)
    meta = json.loads((moved / "case.json").read_text("utf-8"))
    (moved / "case.json").write_text(json.dumps({**meta, "was": [name]}), "utf-8")

    assert problems(suite) == []


def test_a_check_that_is_asked_no_longer_is_told(suite: Path) -> None:
    document = released(suite)
    profile = next(iter(document["profiles"].values()))
    path = next(iter(profile))
    profile[path].append("once_asked")
    write(suite, document)

    assert problems(suite) == [f"{path}#once_asked: demanded by 1.0 and asked no longer; add a tombstone"]


def test_the_next_release_demands_what_the_last_one_did(suite: Path) -> None:
    requirements.freeze("1.1", read([suite / "cases"]), "2026-06-01")
    assert problems(suite) == []

    document = released(suite, "1.1")
    profile = next(iter(document["profiles"].values()))
    path, names = next(iter(profile.items()))
    dropped = names.pop()
    write(suite, document, "1.1")

    assert problems(suite) == [f"{path}#{dropped}: demanded by 1.0 and not by 1.1"]


def test_a_new_row_of_a_file_leaves_the_other_rows_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cases" / "cost"
    folder.mkdir(parents=True)
    row = {"usage": {"input_tokens": 1, "output_tokens": 1}, "price": None, "cost": {"total": None}}
    path = folder / "rows.json"
    path.write_text(json.dumps({"spec": ["x#y"], "rows": [{"id": "one", **row}]}), "utf-8")
    (tmp_path / "requirements").mkdir()
    monkeypatch.setattr(requirements, "FOLDER", tmp_path / "requirements")
    requirements.freeze("1.0", read([tmp_path / "cases"]), "2026-01-02")

    path.write_text(json.dumps({"spec": ["x#y"], "rows": [{"id": "one", **row}, {"id": "two", **row}]}), "utf-8")
    assert problems(tmp_path) == []

    path.write_text(json.dumps({"spec": ["x#y"], "rows": [{"id": "two", **row}]}), "utf-8")
    assert problems(tmp_path) == ["cost/rows#one: released with 1.0 and gone; add a tombstone or `was`"]
