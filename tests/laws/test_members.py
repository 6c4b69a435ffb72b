"""The loss law where one member of a real request or answer is another: absent, or any value that the schema allows."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_answers import is_sound, without_fields
from test_loss_law import wire_under_the_law
from test_made_streams import told

from interlingua import adapters, apply, registry
from interlingua.canonical.errors import CannotAdapt, InvalidRequest, LossRefused
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import same_answer
from interlingua.translate import load, read_stream, to_wire_response, write_stream

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "conformance"), str(ROOT / "tests")]
ORACLES = pytest.importorskip("runner.oracles")
SCHEMA = pytest.importorskip("schema_values")

CASES = ROOT / "conformance" / "cases"
REQUESTS = sorted(CASES.glob("*/*/request.canonical.json"))
ANSWERS = sorted(CASES.glob("*/*/response.canonical.json"))
# texts that mean something in one member or another, where any text may stand
TELLING = (
    "",
    "auto",
    "low",
    "image/png",
    "application/pdf",
    "https://example.com/a.png",
    "data:image/png;base64,iVBORw0KGgo=",
    "iVBORw0KGgo=",
    "file-1",
    "openai",
    "get_weather",
    "x" * 70,
)

Data = dict[str, Any]


def values(node: Data) -> st.SearchStrategy[Any]:
    """Values of a member; of one that may be any text, those that mean something somewhere too."""
    found: st.SearchStrategy[Any] = SCHEMA.member(node)
    is_any_text = node.get("type") == "string" and node.keys() <= {"description", "type"}
    return st.one_of(st.sampled_from(TELLING), found) if is_any_text else found


def change(value: Data, name: str, data: st.DataObject) -> None:
    """One member of the value, or of something inside it, is taken away or becomes another."""
    places = list(SCHEMA.objects(value, name))
    whole, kind = places[data.draw(st.integers(0, len(places) - 1), "object")]
    members = SCHEMA.DEFS[kind]["properties"]
    member = data.draw(st.sampled_from([*(key for key in members if key != "provider_state"), "x_later"]), "member")
    if member in whole and data.draw(st.booleans(), "absent"):
        del whole[member]
    else:
        whole[member] = data.draw(values(members.get(member, {})), "value")


@pytest.mark.parametrize("adapter", adapters.names())
@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
def test_of_a_request(adapter: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(REQUESTS), "case")
    request = json.loads(path.read_bytes())
    change(request, "Request", data)
    try:
        request = load(request)
    except InvalidRequest as refusal:
        if refusal.path is None:
            raise AssertionError("a refusal points somewhere") from refusal
        return
    wire = wire_under_the_law(request, adapter, (InvalidRequest, CannotAdapt, LossRefused))
    if path.parent.parent.name != adapter:  # what was read odd from a wire goes back as odd
        assert wire is None or [] == ORACLES.violations(adapter, wire)


@pytest.mark.parametrize("adapter", adapters.names())
@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
def test_of_an_answer(adapter: str, data: st.DataObject) -> None:
    answer = json.loads(data.draw(st.sampled_from(ANSWERS), "case").read_bytes())
    change(answer, "Response", data)
    endpoint = registry.endpoint(adapter=adapter)
    try:
        answer = load(answer, "Response")
        body, loss = to_wire_response(answer, endpoint)
    except (InvalidRequest, CannotAdapt) as refusal:
        if refusal.path is None:
            raise AssertionError("a refusal points somewhere") from refusal
        return
    read, _ = adapters.get(adapter).from_wire_response(json.loads(json.dumps(body)), endpoint, DERIVED_IDS)

    load(read, "Response")
    assert same_answer(apply(answer, loss), read) is None


@pytest.mark.parametrize("adapter", adapters.names())
@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
def test_of_a_streamed_answer(adapter: str, data: st.DataObject) -> None:
    answer = json.loads(data.draw(st.sampled_from(ANSWERS), "case").read_bytes())
    answer.pop("alternatives", None)
    change(answer, "Response", data)
    loss: list[Data] = []
    try:
        answer = load(answer, "Response")
        content = answer["message"]["content"]
        says_two_things = any(block.get("input") and block.get("input_raw") is not None for block in content)
        if "alternatives" in answer or not is_sound(answer["message"]) or says_two_things:
            return
        chunks = list(write_stream(told(answer), adapter, loss=loss))
    except (InvalidRequest, CannotAdapt):
        return
    last = list(read_stream(chunks, adapter))[-1]
    if last["type"] == "error":
        assert answer["finish_reason"] == "error"
        return
    reported, read = (without_fields(one) for one in (apply(answer, loss), last["response"]))
    assert same_answer(reported, read) is None
