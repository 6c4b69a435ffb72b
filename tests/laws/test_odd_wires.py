"""
Requests of a wire that are odd: what can be read goes back as it came, however wrong it is.

Wires of the cases, with a few members of their JSON taken away, doubled, moved or said otherwise. `EDIT_SEED=n` takes
other changes, `EDIT_ROUNDS=n` more of them.
"""

import copy
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters, difference, registry
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
SEED = os.environ.get("EDIT_SEED", "20261121")
ROUNDS = int(os.environ.get("EDIT_ROUNDS", "5"))
VALUES: tuple[Any, ...] = ("", " ", "a.b", 0, 1.5, -1, 10**7, True, False, {}, [], "x" * 70, "none", "image/bmp")


def containers(value: Any) -> Iterator[Any]:
    """All objects and lists that hold something."""
    if isinstance(value, dict | list) and value:
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


def change(body: Any, rng: random.Random) -> None:
    held = list(containers(body))
    if not held:
        return
    place, other = rng.choice(held), rng.choice(held)
    key: Any = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
    match rng.randrange(5):
        case 0:
            del place[key]
        case 1:
            place[key] = copy.deepcopy(rng.choice(VALUES))
        case 2 if isinstance(other, list):
            other.insert(rng.randint(0, len(other)), copy.deepcopy(place[key]))
        case 3 if isinstance(place, list):
            place.insert(rng.randint(0, len(place)), place.pop(key))
        case _ if isinstance(other, dict) and isinstance(place, dict):
            other[key] = copy.deepcopy(place[key])
        case _:
            pass


@pytest.mark.parametrize("adapter", adapters.names())
def test_an_odd_request_goes_back_as_it_came(adapter: str) -> None:
    module, endpoint = adapters.get(adapter), registry.endpoint(adapter=adapter)
    for path in sorted((CASES / adapter).glob("*/request.wire.json")):
        given = json.loads(path.read_bytes())
        for number in range(ROUNDS):
            rng = random.Random(f"{SEED}/{adapter}/{path.parent.name}/{number}")
            wire = copy.deepcopy(given)
            for _ in range(rng.randint(1, 3)):
                change(wire["body"], rng)
            try:
                request, _ = module.from_wire_request(wire, endpoint, DERIVED_IDS)
            except InterlinguaError:
                continue
            where = f"EDIT_SEED={SEED} {adapter}/{path.parent.name} round {number}"
            again, _ = module.to_wire(request, endpoint)
            assert difference(wire["body"], again["body"]) is None, where
