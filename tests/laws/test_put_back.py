"""
What is seen to be plain while it is read is written as it came: a reader that has everything compared keeps no more.

Readers skip the comparison for what they see to be usual (`_verbatim.may_differ`). Here it is made for every request and every
answer of the suite, and must find nothing that the shorter way did not.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS

CASES = Path(__file__).parents[2] / "conformance" / "cases"
BY_COMPARISON = adapters.names()
"""All wires: those that note spellings by hand have their members compared alone."""


def wires(adapter: str) -> Iterator[tuple[str, str, Any]]:
    for kind in ("request", "response"):
        for file in sorted((CASES / adapter).glob(f"*/{kind}.wire.json")):
            yield file.parent.name, kind, json.loads(file.read_text("utf-8"))


def read(adapter: str, kind: str, wire: Any) -> Any:
    module, endpoint = adapters.get(adapter), Endpoint(adapter)
    try:
        if kind == "request":
            return module.from_wire_request(wire, endpoint, DERIVED_IDS)[0]
        return module.from_wire_response(wire, endpoint, DERIVED_IDS)[0]
    except InterlinguaError as refusal:
        return type(refusal).__name__


@pytest.mark.parametrize("adapter", BY_COMPARISON)
def test_nothing_plain_is_written_otherwise(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(name, kind, wire, read(adapter, kind, wire)) for name, kind, wire in wires(adapter)]
    assert len(found) > 10
    for name, module in sys.modules.items():
        if name.startswith("interlingua.adapters.") and hasattr(module, "may_differ"):
            monkeypatch.setattr(module, "may_differ", lambda must_compare: True)
    for name, kind, wire, before in found:
        assert read(adapter, kind, wire) == before, f"{adapter}/{name}: {kind}"
