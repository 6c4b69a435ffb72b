"""The loss law on generated requests: what is written and read back is what the report says that a model sees."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import requests

from interlingua import adapters, apply, check, difference, registry, visible
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import load, project

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance"))
ORACLES = pytest.importorskip("runner.oracles")


def wire_under_the_law(
    request: dict[str, Any], adapter: str, refusals: tuple[type[InterlinguaError], ...] = (InvalidRequest,)
) -> dict[str, Any] | None:
    """The wire of a request that obeys the law; None where it is refused so, which points somewhere."""
    endpoint = registry.endpoint(adapter=adapter, model="a-model")
    try:
        projection = project(request, endpoint)
    except refusals as refusal:
        if refusal.path is None:
            raise AssertionError("a refusal points somewhere") from refusal
        return None

    wire = projection.wire | {"body": json.loads(projection.body)}
    read, _ = adapters.get(adapter).from_wire_request(wire, endpoint, DERIVED_IDS)

    load(read)
    assert difference(visible(apply(request, projection.loss)), visible(read)) is None
    return wire


@pytest.mark.parametrize("adapter", adapters.names())
@given(request=requests)
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
def test_what_is_read_back_is_what_was_reported(adapter: str, request: dict[str, Any]) -> None:
    """The law, and the written rules of the provider, for any request; a refusal is typed and points somewhere."""
    load(request)
    assert [] == [v for v in check(request) if v["rule"] not in ("known_block", "tool_input_invalid")]
    wire = wire_under_the_law(request, adapter)
    assert wire is None or [] == ORACLES.violations(adapter, wire)


@pytest.mark.parametrize("adapter", adapters.names())
@given(request=requests)
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
def test_writing_what_was_read_changes_nothing(adapter: str, request: dict[str, Any]) -> None:
    """The law for wires: what an adapter wrote once, it writes again, and reports no loss but what the wire lacks."""
    endpoint = registry.endpoint(adapter=adapter, model="a-model")
    module = adapters.get(adapter)
    try:
        first = project(request, endpoint)
    except InvalidRequest:
        return

    read, _ = module.from_wire_request(first.wire, endpoint, DERIVED_IDS)
    second, loss = module.to_wire(read, endpoint)

    assert difference(first.wire["body"], second["body"]) is None
    assert [] == [entry for entry in loss if entry["op"] != "replace" or entry["code"] != "envelope"]
