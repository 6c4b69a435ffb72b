"""
The loss law on edited conversations: what was read from a wire, changed, and goes back there or elsewhere.

`EDIT_SEED=n` takes other edits, `EDIT_ROUNDS=n` more of them.
"""

import json as standard_json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from edits import edited

from interlingua import adapters, apply, check, difference, registry, visible
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import load, project

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
SEED = os.environ["EDIT_SEED"]
ROUNDS = int(os.environ["EDIT_ROUNDS"])
ALLOWED = {"known_block", "tool_input_invalid"}


def conversations(adapter: str) -> Iterator[tuple[str, dict[str, Any], Endpoint]]:
    """The requests of the wire's cases as they are read, and for whom they are."""
    for path in sorted((CASES / adapter).glob("*/request.wire.json")):
        meta = standard_json.loads((path.parent / "case.json").read_bytes())
        canonical = path.parent / "request.canonical.json"
        model = standard_json.loads(canonical.read_bytes()).get("model") if canonical.exists() else None
        endpoint = registry.endpoint(adapter=adapter, provider=meta.get("provider"), model=meta.get("model") or model)
        try:
            request, _ = adapters.get(adapter).from_wire_request(json.loads(path.read_bytes()), endpoint, DERIVED_IDS)
        except InterlinguaError:
            continue
        yield path.parent.name, request, endpoint


def edits(request: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Edited conversations that are still valid, or break no other rule than the one that was read."""
    given = {violation["rule"] for violation in check(request)} | ALLOWED
    for number in range(ROUNDS):
        changed, names = edited(request, random.Random(f"{SEED}/{name}/{number}"))
        try:
            load(changed)
        except InterlinguaError:
            continue
        if {violation["rule"] for violation in check(changed)} <= given:
            yield f"EDIT_SEED={SEED} {name} round {number}: {', '.join(names)}", changed


def law(request: dict[str, Any], endpoint: Endpoint) -> str | None:
    """Where what is read back is not what was reported; a refusal is typed and points somewhere."""
    try:
        projection = project(request, endpoint)
    except InterlinguaError as refusal:
        return None if refusal.path is not None else "a refusal points somewhere"
    wire = projection.wire | {"body": json.loads(projection.body)}
    read, _ = adapters.get(endpoint.adapter).from_wire_request(wire, endpoint, DERIVED_IDS)
    load(read)
    return difference(visible(apply(request, projection.loss)), visible(read))


@pytest.mark.parametrize("adapter", adapters.names())
def test_an_edited_conversation_obeys_the_law(adapter: str) -> None:
    """At the wire that it came from, and at all others."""
    others = [registry.endpoint(adapter=name, model="a-model") for name in adapters.names() if name != adapter]
    for name, request, endpoint in conversations(adapter):
        for what, changed in edits(request, f"{adapter}/{name}"):
            for target in (endpoint, *others):
                assert law(changed, target) is None, f"{what} to {target.adapter}"
