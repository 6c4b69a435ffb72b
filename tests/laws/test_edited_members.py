"""
What an edit made of a member of a request is repaired and reported as if the request had no origin; what it left alone goes
back as it came (spec/2-requests.md#edited). On every wire, for every member, against the rules of the wire and of the model.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters, apply, difference, registry, visible
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import load, project

Data = dict[str, Any]
SCHEMA: Data = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
REQUEST: Data = json.loads((Path(__file__).resolve().parents[2] / "spec/schema/interlingua.schema.json").read_bytes())[
    "$defs"
]["Request"]["properties"]
MEMBERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    **{name: (0.5, (3.5, 9, -1)) for name, node in REQUEST.items() if node.get("type") == "number"},
    "top_p": (0.75, (1.5, 7, -1)),
    "top_k": (7, (-3, -4)),
    "frequency_penalty": (0.25, (3, -9)),
    "presence_penalty": (0.125, (4, -8)),
    "seed": (11, (2**40, 2**41)),
    "max_output_tokens": (4321, (0, 1, 2, 10**9)),
    "stop": (["END"], ([" "], [""], ["a", "b", "c", "d", "e", "f", "g"])),
    "top_logprobs": (3, (50, 60)),
    "service_tier": ("auto", ("unheard", "unseen")),
    "verbosity": ("low", ("loud", "louder")),
    "metadata": ({"user_id": "u"}, ({"user_id": "u" * 600}, {"user_id": "v" * 700}, {"a b": "c\n"})),
    "user": ("u", ("v",)),
    "n": (2, (1, 3)),
    "logprobs": (True, (False,)),
    "parallel_tool_calls": (False, (True,)),
    "reasoning": ({"effort": "low"}, ({"effort": "odd"}, {"effort": "odder"}, {"effort": "max"}, {"mode": "disabled"})),
    "tool_choice": (
        {"type": "required"},
        ({"type": "tool", "name": "nobody"}, {"type": "tool", "name": "nothing"}, {"type": "allowed", "names": ["x"]}),
    ),
    "response_format": (
        {"type": "json_schema", "name": "answer", "schema": SCHEMA},
        (
            {"type": "json_schema", "name": "a b", "schema": SCHEMA},
            {"type": "json_schema", "name": "c d", "schema": SCHEMA},
        ),
    ),
}
"""For each member what nearly all take, and what hardly anybody does; each is an edit of the others. A member of which the
schema says no more than that it is a number needs no line here."""
REFUSING: Data = {
    **{f"supports_{name}": False for name in (*MEMBERS, "thinking", "structured_output", "reasoning_effort")},
    **{f"supports_{name}": False for name in ("images", "audio", "video", "documents", "prompt_caching")},
    **dict.fromkeys(("sampling", "prefill", "forced_tool_choice", "sampling_with_reasoning"), False),
    "max_output_tokens": 100,
    "effort": ["high"],
    "reasoning_efforts": ["high"],
}
"""A model that takes next to nothing but texts and tools."""
ABOUT = [(adapter, member) for adapter in adapters.names() for member in MEMBERS]


def ask(**members: Any) -> Data:
    text = {"type": "text", "text": "Hello."}
    tool = {"name": "look_up", "description": "Looks up.", "input_schema": SCHEMA}
    return {"model": "x:a-model", "messages": [{"role": "user", "content": [text]}], "tools": [tool], **members}


def endpoint_of(adapter: str, **capabilities: Any) -> Endpoint:
    known = registry.endpoint(adapter=adapter, model="a-model")
    return Endpoint(adapter, known.provider, "a-model", known.dialect, capabilities)


def read(wire: Data, endpoint: Endpoint) -> Data:
    """The request as it is read, by somebody who does not know the model, and stored."""
    reader = Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect)
    request, _ = adapters.get(endpoint.adapter).from_wire_request(wire, reader, DERIVED_IDS)
    stored: Data = json.loads(json.dumps(request))
    return stored


def written(request: Data, endpoint: Endpoint) -> tuple[Data, list[Any]]:
    """The wire and its report, which obey the loss law."""
    load(request)
    projection = project(request, endpoint)
    wire = projection.wire | {"body": json.loads(projection.body)}
    back, _ = adapters.get(endpoint.adapter).from_wire_request(wire, endpoint, DERIVED_IDS)
    assert difference(visible(apply(request, projection.loss)), visible(back)) is None
    return wire, projection.loss


def originless(value: Any) -> Any:
    """A request, or a part of one, without anything that says where it came from."""
    if isinstance(value, dict):
        return {name: originless(item) for name, item in value.items() if name != "provider_state"}
    return [originless(item) for item in value] if isinstance(value, list) else value


def about(loss: list[Any], member: str) -> list[Data]:
    found = [entry for entry in loss if f"{entry['path']}/".startswith(f"/{member}/")]
    return [{name: item for name, item in entry.items() if name != "message"} for entry in found]


def with_value(body: Any, usual: Any, odd: Any) -> Any:
    """A body with another value in each place that holds this one."""
    if type(body) is type(usual) and body == usual:
        return copy.deepcopy(odd)
    if isinstance(body, dict):
        return {name: with_value(item, usual, odd) for name, item in body.items()}
    return [with_value(item, usual, odd) for item in body] if isinstance(body, list) else body


def wires(member: str, endpoint: Endpoint) -> Iterator[tuple[Data, Data]]:
    """Requests of the wire that say something of a member, odd or not, and how they are read."""
    usual, odd = MEMBERS[member]
    wire, _ = written(ask(**{member: usual}), endpoint)
    for value in (usual, *odd):
        body = wire["body"] if value is usual else with_value(wire["body"], usual, value)
        if value is not usual and body == wire["body"]:
            body, _ = written(ask(**{member: value}), endpoint)  # it has no place of its own: as far as it goes
            body = body["body"]
        try:
            request = read({**wire, "body": body}, endpoint)
        except InterlinguaError:
            continue
        yield {**wire, "body": body}, request


@pytest.mark.parametrize(("adapter", "member"), ABOUT)
@pytest.mark.parametrize("capabilities", [{}, REFUSING], ids=["wire", "model"])
def test_an_edited_member_is_held_to_the_rules(adapter: str, member: str, capabilities: Data) -> None:
    free, endpoint = endpoint_of(adapter), endpoint_of(adapter, **capabilities)
    for wire, request in wires(member, free):
        again, loss = written(request, endpoint)
        assert difference(wire["body"], again["body"]) is None, f"read and written again: {wire['body']}"
        assert loss == [], wire["body"]
        for value in (None, MEMBERS[member][0], *MEMBERS[member][1]):
            if value == request.get(member):
                continue
            edited = {name: item for name, item in request.items() if name != member}
            if value is not None:
                edited[member] = value
            try:
                expected = about(written(originless(edited), endpoint)[1], member)
            except InterlinguaError:
                with pytest.raises(InterlinguaError):
                    written(edited, endpoint)
                continue
            assert about(written(edited, endpoint)[1], member) == expected, f"{request.get(member)} became {value}"


PNG: Data = {"type": "image", "source": {"kind": "base64", "data": "iVBORw0KGgo="}, "media_type": "image/png"}
BMP: Data = {"type": "image", "source": {"kind": "base64", "data": "Qk0="}, "media_type": "image/bmp"}
TIFF: Data = {"type": "image", "source": {"kind": "base64", "data": "SUkqAA=="}, "media_type": "image/tiff"}
ANSWER: Data = {"role": "assistant", "content": [{"type": "text", "text": "Well,"}]}


def add_tool(request: Data) -> None:
    request["tools"] = [*request.get("tools", []), {"name": "another", "input_schema": SCHEMA}]


def add_picture(request: Data) -> None:
    request["messages"][0]["content"].append(copy.deepcopy(PNG))


def begin_answer(request: Data) -> None:
    request["messages"].append(copy.deepcopy(ANSWER))


def mark_for_cache(request: Data) -> None:
    request["messages"][0]["content"][0]["cache"] = {}


CONTENT: dict[str, tuple[Any, Data]] = {
    "tools": (add_tool, {"supports_tools": False}),
    "picture": (add_picture, {"supports_images": False, "accepted_image_media_types": []}),
    "prefill": (begin_answer, {"prefill": False}),
    "marks": (mark_for_cache, {"supports_prompt_caching": False}),
}
"""What a model may not take beside the members: how it gets into a request, and what says that it is not taken."""


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("what", CONTENT)
def test_content_that_the_model_does_not_take(adapter: str, what: str) -> None:
    """Added by an edit it is reported, or refused, as of any origin; read so, it goes back, and more of it with it."""
    add, capabilities = CONTENT[what]
    free, endpoint = endpoint_of(adapter), endpoint_of(adapter, **capabilities)
    plain = ask()
    del plain["tools"]
    edited = read(written(plain, free)[0], free)
    add(edited)
    try:
        expected = written(originless(edited), endpoint)[1]
    except InterlinguaError:
        with pytest.raises(InterlinguaError):
            written(edited, endpoint)
    else:
        assert [entry["path"] for entry in written(edited, endpoint)[1]] == [entry["path"] for entry in expected]
    add(plain)
    wire, _ = written(plain, free)
    request = read(wire, free)
    again, loss = written(request, endpoint)
    assert difference(wire["body"], again["body"]) is None
    assert loss == []


@pytest.mark.parametrize("adapter", ["openai_chat", "openai_responses"])
def test_json_is_spoken_of(adapter: str) -> None:
    """JSON mode without the word: as it came where it came so, with the word where an edit asks for JSON."""
    endpoint = endpoint_of(adapter)
    plain = ask()
    wire, _ = written(plain, endpoint)
    edited = read(wire, endpoint) | {"response_format": {"type": "json"}}
    repaired, loss = written(edited, endpoint)
    assert "JSON" in json.dumps(repaired["body"]).decode()
    assert about(loss, "response_format") == about(written(originless(edited), endpoint)[1], "response_format") != []
    silent = read(repaired, endpoint)
    mode = {"text": {"format": {"type": "json_object"}}} if adapter == "openai_responses" else {}
    mode = mode or {"response_format": {"type": "json_object"}}
    unsaid = {**wire, "body": wire["body"] | mode}
    silent = read(unsaid, endpoint)
    again, loss = written(silent, endpoint)
    assert (again["body"], loss) == (unsaid["body"], [])
    silent["messages"][0]["content"][0]["text"] = "Changed."
    assert written(silent, endpoint)[1] == []


@pytest.mark.parametrize("adapter", adapters.names())
def test_an_odd_picture_that_is_edited(adapter: str) -> None:
    """A picture that the wire does not take goes back where it was read, and is reported where an edit made it."""
    endpoint = endpoint_of(adapter)
    plain = ask()
    plain["messages"][0]["content"].append(copy.deepcopy(PNG))
    wire, _ = written(plain, endpoint)
    body = wire["body"]
    for usual, odd in (("image/png", "image/bmp"), ("png", "bmp"), (PNG["source"]["data"], BMP["source"]["data"])):
        body = with_value(body, usual, odd)
    body = json.loads(json.dumps(body).replace(b"data:image/png;base64,iVBORw0KGgo=", b"data:image/bmp;base64,Qk0="))
    try:
        request = read({**wire, "body": body}, endpoint)
    except InterlinguaError:
        return
    again, loss = written(request, endpoint)
    assert (again["body"], loss) == (body, [])
    place = next((at for at, block in enumerate(request["messages"][0]["content"]) if block["type"] == "image"), None)
    if place is None:
        return  # it is no picture there
    for changed in (PNG, TIFF):
        edited = copy.deepcopy(request)
        edited["messages"][0]["content"][place].update(copy.deepcopy(changed))
        expected = about(written(originless(edited), endpoint)[1], f"messages/0/content/{place}")
        assert about(written(edited, endpoint)[1], f"messages/0/content/{place}") == expected, changed["media_type"]


@pytest.mark.parametrize("adapter", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize(
    ("member", "usual", "odd", "odder"),
    [("detail", "low", "closely", "very closely"), ("cache", {"ttl": "30m"}, {"ttl": "7m"}, {"ttl": "8m"})],
)
def test_an_odd_member_of_a_block_that_is_edited(adapter: str, member: str, usual: Any, odd: Any, odder: Any) -> None:
    known = endpoint_of(adapter)
    marking = {**known.dialect, "cache_hints": "prompt_cache_breakpoint"}
    endpoint = Endpoint(adapter, known.provider, "a-model", marking)
    plain = ask()
    plain["messages"][0]["content"].append({**PNG, member: usual})
    wire, _ = written(plain, endpoint)
    raw = (usual, odd) if member == "detail" else (usual["ttl"], odd["ttl"])
    body = with_value(wire["body"], *raw)
    assert body != wire["body"]
    request = read({**wire, "body": body}, endpoint)
    again, loss = written(request, endpoint)
    assert (again["body"], loss) == (body, [])
    request["messages"][0]["content"][1][member] = odder
    expected = about(written(originless(request), endpoint)[1], "messages")
    assert about(written(request, endpoint)[1], "messages") == expected != []


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("strict", [False, True])
def test_an_odd_schema_that_is_edited(adapter: str, strict: bool) -> None:
    """What a wire cannot say, keep or enforce of a schema goes back where it was read, and is reported where an edit made it."""
    endpoint = endpoint_of(adapter)
    part = {"type": "object", "properties": {"deep": {"type": "string", "pattern": "^x", "default": "x"}}}
    odd = {"type": "object", "properties": {"a": part, "b": {"const": 1}}, "not": {"required": ["c"]}}
    plain = ask()
    usual = plain["tools"][0]["input_schema"] = {**SCHEMA, "additionalProperties": False}
    if strict:
        plain["tools"][0]["strict"] = True
    wire, _ = written(plain, endpoint)
    body = with_value(with_value(wire["body"], usual, odd), SCHEMA, odd)
    request = read({**wire, "body": body}, endpoint)
    again, loss = written(request, endpoint)
    assert (again["body"], loss) == (body, [])
    edited = copy.deepcopy(request)
    edited["tools"][0]["input_schema"]["properties"]["a"]["properties"]["deep"]["pattern"] = "^y"
    expected = about(written(originless(edited), endpoint)[1], "tools")
    assert about(written(edited, endpoint)[1], "tools") == expected
