"""Where state was issued, on every wire alike: what is read says it, and what was issued elsewhere is not written.

litellm#18094, litellm#40364. The material is every answer and every request of the suite.
"""

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters, registry, translate
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint, origin_of
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import apply, difference, visible

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
HERE, ELSEWHERE = "0c1d2e3f4a5b6c7d", "ffeeddccbbaa9988"


def folders(name: str) -> list[Any]:
    found = [path.parent for path in sorted(CASES.glob(f"*/*/{name}")) if path.parent.parent.name in adapters.names()]
    return [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in found]


def endpoint(folder: Path, origin: str | None) -> Endpoint:
    meta = json.loads((folder / "case.json").read_bytes())
    request = folder / "request.canonical.json"
    model = json.loads(request.read_bytes()).get("model") if request.exists() else None
    found = registry.endpoint(
        adapter=folder.parent.name, provider=meta.get("provider"), model=meta.get("model") or model
    )
    return replace(found, origin=origin)


def owned(value: Any) -> Iterator[dict[str, Any]]:
    """Every provider state and every opaque block in a value."""
    if isinstance(value, dict):
        if value.get("type") == "opaque":
            yield value
        for name, item in value.items():
            if name == "provider_state":
                yield item
            elif name not in ("raw", "value", "fields", "input"):
                yield from owned(item)
    elif isinstance(value, list):
        for item in value:
            yield from owned(item)


def marked(value: Any, adapter: str, origin: str) -> Any:
    """A copy whose state of this wire says where it was issued."""
    value = copy.deepcopy(value)
    for state in owned(value):
        if state["adapter"] == adapter:
            state["origin"] = origin
    return value


def unmarked(value: Any) -> Any:
    value = copy.deepcopy(value)
    for state in owned(value):
        state.pop("origin", None)
    return value


def tokens(value: Any, adapter: str) -> set[str]:
    """The texts that only their issuer can read."""
    found: set[str] = set()
    for state in owned(value):
        if state["adapter"] == adapter and "signature" in state:
            found.add(state["signature"])
    for message in value["messages"]:
        for block in message["content"]:
            if (block.get("provider_state") or {}).get("adapter") == adapter:
                found |= {block[name] for name in ("signature", "data") if isinstance(block.get(name), str)}
    return {token for token in found if len(token) > 7}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


@pytest.mark.parametrize("folder", folders("response.wire.json"))
def test_what_an_answer_brings_says_where_it_was_issued(folder: Path) -> None:
    wire = json.loads((folder / "response.wire.json").read_bytes())
    read = adapters.get(folder.parent.name).from_wire_response
    plain, _ = read(copy.deepcopy(wire), endpoint(folder, None), DERIVED_IDS)
    here, _ = read(wire, endpoint(folder, HERE), DERIVED_IDS)

    assert [state.get("origin") for state in owned(here)] == [HERE for _ in owned(plain)]
    assert unmarked(here) == plain


@pytest.mark.parametrize("folder", folders("stream.wire.*"))
def test_what_a_streamed_answer_brings_says_so_too(folder: Path) -> None:
    data = next(folder.glob("stream.wire.*")).read_bytes()
    events: list[list[Any]] = []
    for origin in (None, HERE):
        reader = translate.StreamReader(endpoint(folder, origin))
        events.append([*reader.feed(data), *reader.end()])
    plain, here = events

    assert [state.get("origin") for state in owned(here)] == [HERE for _ in owned(plain)]
    assert unmarked(here) == plain


@pytest.mark.parametrize("folder", folders("request.canonical.json"))
def test_state_goes_back_to_its_issuer_and_to_nobody_else(folder: Path) -> None:
    request = unmarked(json.loads((folder / "request.canonical.json").read_bytes()))
    adapter = folder.parent.name
    write = adapters.get(adapter).to_wire
    own = marked(request, adapter, HERE)
    try:
        plain = write(request, endpoint(folder, None))
    except InterlinguaError:
        return
    assert write(own, endpoint(folder, HERE)) == plain
    assert write(own, endpoint(folder, None)) == plain, "an unknown origin is no other origin"
    assert write(request, endpoint(folder, HERE)) == plain, "state of an unknown origin is not state of another one"

    there = endpoint(folder, ELSEWHERE)
    try:
        wire, loss = write(own, there)
    except InterlinguaError:
        return  # without its state there may be nothing left to send
    assert tokens(own, adapter).isdisjoint(texts(wire["body"]))
    back, _ = adapters.get(adapter).from_wire_request(wire, there, DERIVED_IDS)
    assert difference(visible(back), visible(apply(own, loss))) is None


def test_an_origin_tells_nothing_and_confuses_nothing() -> None:
    parts = ("openai", "api.openai.com", "sk-0123456789abcdef")
    origin = origin_of(*parts)

    assert len(origin) == 16
    assert set(origin) <= set("0123456789abcdef")
    assert origin == origin_of(*parts)
    others = [("azure-openai", *parts[1:]), (parts[0], "eu.openai.com", parts[2]), (*parts[:2], "sk-0123456789abcdee")]
    assert len({origin, *(origin_of(*other) for other in others)}) == 4
