"""
Edited conversations: what was read from a wire, changed, and goes back there or elsewhere.

`EDIT_SEED=n` takes other edits, `EDIT_ROUNDS=n` more of them.
"""

import json as standard_json
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from edits import EDITS, WISHES, Edit, edited

from interlingua import adapters, apply, check, difference, registry, visible
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import load, project

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance"))
ORACLES = pytest.importorskip("runner.oracles")

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
SEED = os.environ["EDIT_SEED"]
ROUNDS = int(os.environ["EDIT_ROUNDS"])
ALLOWED = {"known_block", "tool_input_invalid"}


def conversations(adapter: str) -> Iterator[tuple[str, dict[str, Any], Endpoint, set[str]]]:
    """The requests of the wire's cases as they are read, for whom they are, and what is wrong with them."""
    for path in sorted((CASES / adapter).glob("*/request.wire.json")):
        meta = standard_json.loads((path.parent / "case.json").read_bytes())
        canonical = path.parent / "request.canonical.json"
        model = standard_json.loads(canonical.read_bytes()).get("model") if canonical.exists() else None
        endpoint = registry.endpoint(adapter=adapter, provider=meta.get("provider"), model=meta.get("model") or model)
        wire = json.loads(path.read_bytes())
        try:
            request, _ = adapters.get(adapter).from_wire_request(wire, endpoint, DERIVED_IDS)
        except InterlinguaError:
            continue
        yield path.parent.name, request, endpoint, broken(adapter, wire)


def broken(adapter: str, wire: dict[str, Any]) -> set[str]:
    """The rules of the provider that a request breaks, wherever."""
    return {re.sub(r"'.*?'", "…", reason) for _, reason in ORACLES.violations(adapter, wire)}


def edits(request: dict[str, Any], name: str, choice: tuple[Edit, ...] = EDITS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Edited conversations that are still valid, or break no other rule than the one that was read."""
    given = {violation["rule"] for violation in check(request)} | ALLOWED
    for number in range(ROUNDS):
        changed, names = edited(request, random.Random(f"{SEED}/{name}/{number}"), choice)
        try:
            load(changed)
        except InterlinguaError:
            continue
        if {violation["rule"] for violation in check(changed)} <= given:
            yield f"EDIT_SEED={SEED} {name} round {number}: {', '.join(names)}", changed


def written(request: dict[str, Any], endpoint: Endpoint) -> tuple[dict[str, Any], list[Any]] | None:
    """The wire request and its report; None for a refusal, which is typed and points somewhere."""
    try:
        projection = project(request, endpoint)
    except InterlinguaError as refusal:
        if refusal.path is None:
            raise AssertionError("a refusal points somewhere") from refusal
        return None
    return projection.wire | {"body": json.loads(projection.body)}, projection.loss


def law(request: dict[str, Any], wire: dict[str, Any], loss: list[Any], endpoint: Endpoint) -> str | None:
    """Where what is read back is not what was reported."""
    read, _ = adapters.get(endpoint.adapter).from_wire_request(wire, endpoint, DERIVED_IDS)
    load(read)
    return difference(visible(apply(request, loss)), visible(read))


@pytest.mark.parametrize("adapter", adapters.names())
def test_an_edited_conversation_obeys_the_law(adapter: str) -> None:
    """At the wire that it came from, and at all others."""
    others = [registry.endpoint(adapter=name, model="a-model") for name in adapters.names() if name != adapter]
    for name, request, endpoint, _ in conversations(adapter):
        for what, changed in edits(request, f"{adapter}/{name}"):
            for target in (endpoint, *others):
                if (result := written(changed, target)) is not None:
                    assert law(changed, *result, target) is None, f"{what} to {target.adapter}"


@pytest.mark.parametrize("adapter", adapters.names())
def test_an_edited_conversation_is_valid_where_it_came_from(adapter: str) -> None:
    """An oddity is kept where it was read and repaired where it was made: no rule is broken that was not broken."""
    home = standard_json.loads((CASES / adapter / "adapter.json").read_bytes())["provider"]
    for name, request, endpoint, wrong in conversations(adapter):
        # the rules are not those of the vendors that speak a dialect of the wire
        judged = ORACLES.judges(adapter, endpoint.provider, home)
        for what, changed in edits(request, f"{adapter}/{name}", EDITS + WISHES):
            if (result := written(changed, endpoint)) is not None:
                assert law(changed, *result, endpoint) is None, what
                assert not judged or broken(adapter, result[0]) <= wrong, what
