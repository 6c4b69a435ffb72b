"""One loss is equally grave on every wire: who asks with `strict` must not be refused by one and served by another for
the same member that neither can say."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters, registry
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
REQUESTS = sorted(CASES.glob("*/*/request.canonical.json"))

WHAT_BECOMES_OF_IT = frozenset(
    ("merged_turn", "combination", "schema_rewritten", "schema_weakened", "reasoning_mapped", "response_format")
)
"""Codes of entries that are part of a rewriting: how grave it is, is the rewriting's affair and not that of the member."""


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_what_is_dropped_is_equally_grave_everywhere(path: Path) -> None:
    request = json.loads(path.read_bytes())
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for adapter in adapters.names():
        for entry in report(request, adapter):
            if entry["op"] == "drop" and entry["code"] not in WHAT_BECOMES_OF_IT:
                found[entry["path"]][entry["severity"]].append(adapter)
    assert {} == {place: severities for place, severities in found.items() if len(severities) > 1}


def report(request: dict[str, Any], adapter: str) -> list[dict[str, Any]]:
    try:
        return adapters.get(adapter).to_wire(request, registry.endpoint(adapter=adapter, model="a-model"))[1]
    except InterlinguaError:
        return []
