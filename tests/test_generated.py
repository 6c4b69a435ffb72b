"""The generated code does what it is for, and is what the generators make."""

import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from schema_values import DEFS, SCHEMA, values

from interlingua.canonical import json, models
from interlingua.canonical.errors import InvalidRequest
from interlingua.v1 import types_pb2 as pb
from interlingua.verbs.convert import from_proto, to_proto

ROOT = Path(__file__).resolve().parent.parent
WHOLE = ["Request", "Response", "StreamEvent", "Error", "WireRequest", "TokenEstimate"]


def valid(value: Any, name: str) -> bool:
    return validator(name).is_valid(value)


@cache
def validator(name: str) -> Any:
    schema = json.loads(SCHEMA.read_bytes())
    return jsonschema_rs.validator_for({**schema, "$ref": f"#/$defs/{name}"})


def named_values() -> st.SearchStrategy[tuple[str, Any]]:
    return st.sampled_from(WHOLE).flatmap(lambda name: st.tuples(st.just(name), values(name)))


# ---------------------------------------------------------------------------------------------------- up to date


def test_the_generated_code_is_up_to_date() -> None:
    """`make generate` would change nothing."""
    command = [sys.executable, str(ROOT / "tools" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def test_numbers_are_appended_and_never_given_again() -> None:
    """A new field gets a new number, a removed one stays reserved and may not come back."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from generate_proto import numbered  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    from _schema import Enum  # type: ignore[import-not-found]

    def enum(*words: str) -> dict[str, Any]:
        return {"Colour": Enum("Colour", "", words)}

    first = numbered(enum("red", "green"), {})
    assert first == {"Colour": {"numbers": {"red": 1, "green": 2}}}
    second = numbered(enum("blue", "green"), first)
    assert second == {"Colour": {"numbers": {"blue": 3, "green": 2}, "reserved": {"red": 1}}}
    with pytest.raises(ValueError, match="red was removed once"):
        numbered(enum("red", "green"), second)
    assert numbered({}, second)["Colour"]["reserved"] == {"red": 1, "blue": 3, "green": 2}


# ---------------------------------------------------------------------------------------------------- models


@given(named_values())
def test_models_give_back_what_they_read(named: tuple[str, Any]) -> None:
    """Plain data → model → the same plain data, unknown members, unknown blocks, nulls and big integers included."""
    name, value = named
    assert valid(value, name)
    if name == "StreamEvent":
        name, value = "ErrorEvent", {"type": "error", "error": {"category": "other", "message": ""}, "event": value}
    plain = getattr(models, name).of(value).plain()
    assert plain == value
    assert valid(plain, name)


@given(values("Message"), st.data())
def test_a_malformed_block_is_refused(message: Any, data: st.DataObject) -> None:
    """A known block that lacks a member is not taken for an unknown one: neither by the schema nor by the models."""
    arm = data.draw(st.sampled_from([arm["$ref"].removeprefix("#/$defs/") for arm in DEFS["KnownBlock"]["oneOf"]]))
    block = data.draw(values(arm))
    del block[data.draw(st.sampled_from([key for key in DEFS[arm]["required"] if key != "type"]))]
    broken = {**message, "content": [*message["content"], block]}
    assert not valid(broken, "Message")
    with pytest.raises(InvalidRequest):
        models.Message.of(broken)


def test_an_unknown_block_is_kept() -> None:
    """A block of a later version arrives as what it is and goes out whole."""
    block = {"type": "hologram", "depth": {"z": 2**80}}
    message = models.Message.of({"role": "user", "content": [block]})
    assert isinstance(message.content[0], models.UnknownBlock)
    assert message.plain()["content"] == [block]
    assert message.model_copy() == models.Message.of(message.plain()) == message


@pytest.mark.parametrize("word", ["hologram", "text"])
@pytest.mark.parametrize("kind", [models.UnknownBlock, models.UnknownEvent])
def test_what_is_unknown_is_read_and_never_made(kind: Any, word: str) -> None:
    """Nor does a known word come in by the way of an unknown one."""
    with pytest.raises(TypeError, match="has no constructor"):
        kind(type=word)
    with pytest.raises(TypeError, match="has no constructor"):
        type("Mine", (kind,), {})(type=word)
    read = kind.of({"type": "hologram"})
    assert read.model_copy(update={"depth": 1}).plain() == {"type": "hologram", "depth": 1}
    known = "text" if kind is models.UnknownBlock else "text_delta"
    with pytest.raises(InvalidRequest, match="has a class of its own"):
        kind.of({"type": known})
    with pytest.raises(InvalidRequest, match="has a class of its own"):
        read.model_copy(update={"type": known})


def test_a_changed_copy_is_checked_as_when_it_is_made() -> None:
    message = models.Message.user("hello")
    assert message.model_copy(update={"name": "Ada"}).plain() == {**message.plain(), "name": "Ada"}
    for members in ({"role": "nobody"}, {"content": [{"type": "text"}]}, {"priority": "high"}):
        with pytest.raises(InvalidRequest):
            message.model_copy(update=members)


def test_a_constructed_model_is_valid_data() -> None:
    """Tags need not be written, None stands for absence, moments become UTC, money is exact."""
    message = models.Message(
        role="assistant",
        content=[models.TextBlock(text="hello", cache=None)],
        metadata=models.MessageMetadata(usage=models.Usage(input_tokens=1, output_tokens=2, cost_usd="0.000650")),
        created_at="2026-05-08T14:00:00+02:00",
    )
    assert message.plain() == {
        "role": "assistant",
        "content": [{"type": "text", "text": "hello"}],
        "metadata": {"usage": {"input_tokens": 1, "output_tokens": 2, "cost_usd": "0.000650"}},
        "created_at": "2026-05-08T12:00:00.000000Z",
    }
    with pytest.raises(InvalidRequest):
        models.Usage(input_tokens=1, output_tokens=2, cost_usd=0.1)
    with pytest.raises(InvalidRequest):
        models.TextBlock(text=3)
    with pytest.raises(ValidationError):
        message.role = "user"


# ---------------------------------------------------------------------------------------------------- Protobuf


@given(named_values())
def test_protobuf_gives_back_what_it_carried(named: tuple[str, Any]) -> None:
    """Plain data → message → bytes → message → the same plain data, for everything that the schema allows."""
    name, value = named
    kind = getattr(pb, name)
    assert from_proto(kind.FromString(to_proto(kind, value).SerializeToString())) == value


@given(named_values(), st.data())
def test_no_message_crashes_the_reader(named: tuple[str, Any], data: st.DataObject) -> None:
    """Whatever bytes parse as a message become plain data or an InvalidRequest."""
    name, value = named
    kind = getattr(pb, name)
    damaged = bytearray(to_proto(kind, value).SerializeToString())
    for _ in range(data.draw(st.integers(0, min(3, len(damaged))))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        message = kind.FromString(bytes(damaged))
    except DecodeError:
        return
    with suppress(InvalidRequest):
        json.dumps(from_proto(message))


MEMBERS = ["messages", "role", "content", "type", "text", "source", "tools", "input", "created_at", "provider_state"]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["text", "image"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from([pb.Request, pb.Message, pb.StreamEvent]), anything)
def test_no_value_crashes_the_writer(kind: Any, value: Any) -> None:
    """Whatever is given for plain data becomes a message or an InvalidRequest."""
    for data in (value, {"messages": value, "role": value, "content": value, "type": value}):
        with suppress(InvalidRequest):
            assert isinstance(to_proto(kind, data), kind)


BAD_MESSAGES = {
    "/messages/0/role": pb.Request(messages=[pb.Message()]),
    "/messages/0/content/0": pb.Request(messages=[pb.Message(role=pb.ROLE_USER, content=[pb.ContentBlock()])]),
    "/content/0/input": pb.Message(role=pb.ROLE_USER, content=[pb.ContentBlock(tool_use=pb.ToolUseBlock(id="tu_1"))]),
    "/content/1/input": pb.Message(
        role=pb.ROLE_USER,
        content=[
            pb.ContentBlock(text=pb.TextBlock()),
            pb.ContentBlock(tool_use=pb.ToolUseBlock(id="tu_1", name="f", input_json="[]")),
        ],
    ),
    "/content/0/type": pb.Message(
        role=pb.ROLE_USER, content=[pb.ContentBlock(unknown=pb.UnknownBlock(type="a", json='{"type": "b"}'))]
    ),
    "/role": pb.Message(role=99),
    "/rest_json": pb.CacheHint(rest_json="{"),
    "/temperature": pb.Request(temperature=float("inf")),
    "/created_at": pb.Message(role=pb.ROLE_USER, created_at={"seconds": 10**15}),
}


@pytest.mark.parametrize("path", BAD_MESSAGES)
def test_a_bad_message_is_refused_where_it_is_bad(path: str) -> None:
    """The error points at the member."""
    with pytest.raises(InvalidRequest) as caught:
        from_proto(BAD_MESSAGES[path])
    assert caught.value.path == path


BAD_DATA = {
    "/messages/0": {"messages": [3]},
    "/messages/0/role": {"messages": [{"role": "wizard", "content": []}]},
    "/messages/0/content/0": {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
    "/messages/0/content/0/type": {"messages": [{"role": "user", "content": [{"text": "x"}]}]},
    "/loss_policy/strict": {"messages": [], "loss_policy": {"strict": "no"}},
}


@pytest.mark.parametrize("path", BAD_DATA)
def test_bad_data_is_refused_where_it_is_bad(path: str) -> None:
    """The error points at the member."""
    with pytest.raises(InvalidRequest) as caught:
        to_proto(pb.Request, BAD_DATA[path])
    assert caught.value.path == path


def sample(node: dict[str, Any]) -> Any:
    """A value of a member that its field holds, and that is not the zero of the field."""
    if "$ref" in node:
        return sample_of(node["$ref"].removeprefix("#/$defs/"))
    if "oneOf" in node:
        return sample(next(arm for arm in node["oneOf"] if "$ref" in arm))
    if "const" in node:
        return node["const"]
    kind = node.get("type", "object")
    match kind[0] if isinstance(kind, list) else kind:
        case "string" if node.get("format") == "date-time":
            return "2026-05-08T12:00:00.000000Z"
        case "string":
            return "1"
        case "array":
            return [sample(node["items"])]
        case "object":
            return {"a": "b"}
        case "boolean":
            return True
        case _:
            return 1


def sample_of(name: str) -> Any:
    """The smallest value of a named type."""
    node = DEFS[name]
    if "enum" in node:
        return node["enum"][0]
    if "properties" not in node:
        arms = node.get("anyOf") or node["oneOf"]
        return sample(arms[0])
    return {key: sample(node["properties"][key]) for key in node.get("required", ())}


FIELDS = [
    (name, key)
    for name in pb.DESCRIPTOR.message_types_by_name
    if "rest_json" in getattr(pb, name).DESCRIPTOR.fields_by_name
    for key in DEFS[name]["properties"]
]


def test_the_walk_sees_every_message() -> None:
    assert {name for name, _ in FIELDS} == {name for name, node in DEFS.items() if "properties" in node} - {
        "UnknownBlock",
        "UnknownEvent",
    }


@pytest.mark.parametrize(("name", "key"), FIELDS)
def test_a_field_that_is_set_is_never_overruled(name: str, key: str) -> None:
    """spec/9-service.md#rest-json: emptiness in rest_json gives way, any other value is refused where it stands."""
    data = {**sample_of(name), key: sample(DEFS[name]["properties"][key])}
    message = to_proto(getattr(pb, name), data)
    assert not message.rest_json
    for empty in (None, [], {}, data[key]):
        message.rest_json = json.dumps({key: empty, "x_later": 1}).decode()
        assert from_proto(message) == {**data, "x_later": 1}
    message.rest_json = json.dumps({key: {"another": "value"}}).decode()
    with pytest.raises(InvalidRequest) as caught:
        from_proto(message)
    assert caught.value.path == f"/rest_json/{key}"


@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for name, key in FIELDS if key not in DEFS[name].get("required", ())]
)
def test_a_member_in_rest_json_stands_while_its_field_is_unset(name: str, key: str) -> None:
    """So null, a value that the field cannot hold, and the value of a later version travel."""
    data = sample_of(name)
    data.pop(key, None)
    message = to_proto(getattr(pb, name), data)
    for value in (None, [], 2**80, {"another": "value"}):
        message.rest_json = json.dumps({key: value}).decode()
        assert from_proto(message) == {**data, key: value}


def test_zero_of_a_required_field_is_unset() -> None:
    """A number that int32 does not hold stands in rest_json, beside a field that cannot say that it is unset."""
    usage = {"input_tokens": 2**80, "output_tokens": 0}
    message = to_proto(pb.Usage, usage)
    assert from_proto(message) == usage
    message.input_tokens = 3
    with pytest.raises(InvalidRequest) as caught:
        from_proto(message)
    assert caught.value.path == "/rest_json/input_tokens"


def test_an_edit_of_a_message_that_was_read_is_kept() -> None:
    """The client's way: read an answer with an explicit null, set the field, send it back, deep inside of a message."""
    answer = {
        "message": {"role": "assistant", "content": [{"type": "text", "text": "a", "citations": []}]},
        "finish_reason": "stop",
        "stop_sequence": None,
    }
    assert valid(answer, "Response")
    message = to_proto(pb.Response, answer)
    assert from_proto(message) == answer
    message.stop_sequence = "END"
    message.message.content[0].text.citations.add(type="url_citation")
    read = from_proto(message)
    assert read["stop_sequence"] == "END"
    assert read["message"]["content"][0]["citations"] == [{"type": "url_citation"}]
    message.message.content[0].text.rest_json = '{"text": "another"}'
    with pytest.raises(InvalidRequest) as caught:
        from_proto(message)
    assert caught.value.path == "/message/content/0/rest_json/text"


def test_words_and_numbers_of_a_later_version_are_other() -> None:
    """An enum that has `other` never fails on what it does not know."""
    answer = {"message": {"role": "assistant", "content": []}, "finish_reason": "bored"}
    assert from_proto(to_proto(pb.Response, answer))["finish_reason"] == "other"
    message = pb.Response(message=pb.Message(role=pb.ROLE_ASSISTANT), finish_reason=99)
    assert from_proto(message)["finish_reason"] == "other"


def test_no_refusal_of_a_type_quotes_the_value() -> None:
    """Neither in its text nor in its violations."""
    content = [{"type": "text", "text": "Hi"}]
    for wrong in (
        {"created_at": "sk-SECRET"},
        {"role": "sk-SECRET"},
        {"cache": {"ttl": "sk-SECRET"}},
        {"priority": "sk-SECRET"},
    ):
        with pytest.raises(InvalidRequest) as refused:
            models.Message.of({"role": "user", "content": content, **wrong})
        assert "SECRET" not in repr(vars(refused.value))
