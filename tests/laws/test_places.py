"""
Every member of a request has its places: a line in the spec, a wire that has it, and on all others a loss of one severity.

Whoever adds a member is told here what is missing (CONTRIBUTING.md, "Add an option").
"""

import re
from pathlib import Path
from typing import Any

import pytest
from test_edited_members import MEMBERS, REQUEST, ask

from interlingua import adapters, registry
from interlingua.adapters._engine.kit import STRUCTURE
from interlingua.adapters._requests.members import SEVERITY
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS

PAGE = (Path(__file__).resolve().parents[2] / "spec/2-requests.md").read_text("utf-8")
TABLE = re.findall(
    r"^\| (`[^|]*`) \| [^|]* \| ([^|]*) \|$",
    PAGE.partition("{#options}")[2].partition("{#absent-members}")[0],
    re.MULTILINE,
)
SAID = {name: severity for names, severity in TABLE for name in re.findall(r"`(\w+)`", names)}
"""What the spec says of a member on a wire that has none such."""
ELSEWHERE = frozenset(("model", "system", "messages", "options", "loss_policy", "provider_state"))
"""Members that are no options: what is asked, and of whom."""
OPTIONS = [name for name in REQUEST if name not in ELSEWHERE]
GRAVE = ("weakened", "lost")
VALUES: dict[str, Any] = {**{name: usual for name, (usual, _) in MEMBERS.items()}, "cache": {}, "stream": True}
# a target of each wire, and a provider of each dialect
TARGETS = [
    registry.endpoint(adapter=adapter, provider=name, model="a-model")
    for name in registry.providers()
    for adapter in [registry.provider(name)["adapter"], *registry.provider(name).get("other_wires", {})]
    if adapter in adapters.names()
]


@pytest.mark.parametrize("member", OPTIONS)
def test_the_spec_names_it(member: str) -> None:
    assert member in SAID, "add it to the table of options in spec/2-requests.md"


@pytest.mark.parametrize("member", [name for name in OPTIONS if name not in STRUCTURE])
def test_it_is_as_grave_as_the_spec_says(member: str) -> None:
    said = SAID.get(member)
    if said in GRAVE or member in SEVERITY:
        assert said == SEVERITY.get(member), "spec/2-requests.md and SEVERITY of adapters/_requests/members.py differ"


@pytest.mark.parametrize("member", [name for name in OPTIONS if name not in STRUCTURE])
def test_a_wire_has_it_and_all_others_report_it(member: str) -> None:
    arrives = 0
    for target in TARGETS:
        if _arrives(member, target):
            arrives += 1
        else:
            entries = [entry for entry in _written(member, target)[1] if entry["path"].split("/")[1] == member]
            assert entries, f"{target.provider}: nobody is told that {member} is not sent"
            if member in SEVERITY:
                assert {entry["severity"] for entry in entries} <= {SEVERITY[member], "representation"}
    assert arrives, f"no wire has a row for {member}"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.provider}/{target.adapter}")
def test_a_model_that_is_known_not_to_take_it_does_not_get_it(target: Any) -> None:
    for member in [name for name in OPTIONS if name in SEVERITY and name != "cache"]:
        if _arrives(member, target):
            known = {f"supports_{member}": False}
            model = Endpoint(target.adapter, target.provider, "a-model", target.dialect, known)
            entries = [entry for entry in _written(member, model)[1] if entry["path"] == f"/{member}"]
            assert [entry["code"] for entry in entries] == ["unsupported_model"], member


def _written(member: str, target: Any) -> tuple[dict[str, Any], list[Any]]:
    return adapters.get(target.adapter).to_wire(ask(**{member: VALUES[member]}), target)  # type: ignore[no-any-return]


def _arrives(member: str, target: Any) -> bool:
    """Whether a member is read again as it was written."""
    assert member in VALUES, f"give {member} values in MEMBERS of tests/laws/test_edited_members.py"
    read, _ = adapters.get(target.adapter).from_wire_request(_written(member, target)[0], target, DERIVED_IDS)
    return bool(read.get(member) == VALUES[member])
