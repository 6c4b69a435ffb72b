"""Every request of the suite at every provider of the registry: the loss law, and no block that crashes a swap.

The suite asks each wire once, at its own provider. Here a dialect, a row of data, is what changes.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters, apply, difference, registry, visible
from interlingua.canonical import json
from interlingua.canonical.errors import CannotAdapt, InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import load, project

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
REQUESTS = {
    f"{path.parent.parent.name}/{path.parent.name}": json.loads(path.read_bytes())
    for path in sorted(CASES.glob("*/*/request.canonical.json"))
}
DIALECTS = [
    (name, adapter)
    for name in registry.providers()
    for adapter in [registry.provider(name)["adapter"], *registry.provider(name).get("other_wires", {})]
    if adapter in adapters.names()
]


def thoughts(request: dict[str, Any]) -> set[str]:
    """The text of each thinking block that no text of the conversation says as well."""
    blocks = [block for message in request["messages"] for block in message["content"]]
    said = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    return {text for block in blocks if block["type"] == "thinking" and (text := block["text"]) and text not in said}


@pytest.mark.parametrize(("provider", "adapter"), DIALECTS, ids=lambda value: value)
def test_every_request_obeys_the_law_at_every_provider(
    provider: str, adapter: str, share: Callable[[Sequence[Any], int], Sequence[Any]]
) -> None:
    """R-149, R-152, R-203: a swap is a projection or a typed refusal; thinking never becomes text; turns alternate."""
    endpoint = registry.endpoint(adapter=adapter, provider=provider, model="a-model")
    module = adapters.get(adapter)
    wrong: list[str] = []
    for name, request in share(list(REQUESTS.items()), 4):
        try:
            projection = project({**request, "loss_policy": None}, endpoint)
        except (InvalidRequest, CannotAdapt) as refusal:
            if refusal.path is None:
                wrong.append(f"{name}: the refusal points nowhere: {refusal}")
            continue
        wire = projection.wire | {"body": json.loads(projection.body)}
        read, _ = module.from_wire_request(wire, endpoint, DERIVED_IDS)
        load(read)
        place = difference(visible(apply(request, projection.loss)), visible(read))
        if place is not None:
            wrong.append(f"{name}: {place}")
        texts = [b["text"] for m in read["messages"] for b in m["content"] if b["type"] == "text"]
        if adapter == "anthropic_messages" and not name.startswith(adapter):
            roles = [turn["role"] for turn in wire["body"]["messages"] if turn["role"] != "system"]
            wrong += [
                f"{name}: turn {n} and the next are both {role}"
                for n, role in enumerate(roles)
                if roles[n + 1 : n + 2] == [role]
            ]
        wrong += [f"{name}: a thought became text" for thought in thoughts(request) if any(thought in t for t in texts)]
    assert wrong == []
