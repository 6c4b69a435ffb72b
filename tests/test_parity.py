"""The schema, the Protobuf contract, the TypedDicts and the models say the same, member by member.

All of them are generated, so this guards against a hand edit and against a mistake in a generator; the schema is
therefore read here from its file, and not through the generators' eyes.
"""

import json
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, get_args, get_origin

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

from interlingua.canonical import models
from interlingua.canonical import types as typed
from interlingua.v1 import types_pb2

ROOT = Path(__file__).resolve().parent.parent
DEFS: dict[str, Any] = json.loads((ROOT / "spec/schema/interlingua.schema.json").read_text())["$defs"]
LOCK = json.loads((ROOT / "proto/field_numbers.lock.json").read_text())

ENUMS = {name for name, node in DEFS.items() if "enum" in node}
OPEN = {name: [arm["$ref"].split("/")[-1] for arm in node["anyOf"]] for name, node in DEFS.items() if "anyOf" in node}
REST = {rest for _, rest in OPEN.values()}
OBJECTS = {name for name, node in DEFS.items() if "properties" in node} - REST

F = FieldDescriptorProto
SCALARS = {"string": F.TYPE_STRING, "integer": F.TYPE_INT32, "number": F.TYPE_DOUBLE, "boolean": F.TYPE_BOOL}


def descriptor() -> FileDescriptorProto:
    """The contract as it was compiled."""
    file = FileDescriptorProto()
    types_pb2.DESCRIPTOR.CopyToProto(file)
    return file


# ---------------------------------------------------------------------------------------------------- protobuf


def upper_snake(name: str) -> str:
    return "".join(f"_{c}" if c.isupper() and i else c for i, c in enumerate(name)).upper()


def differences(file: FileDescriptorProto) -> list[str]:
    """All places where a compiled contract and the schema differ."""
    found: list[str] = []
    messages = {message.name: message for message in file.message_type}
    enums = {enum.name: enum for enum in file.enum_type}

    def expect(where: str, is_: Any, should: Any) -> None:
        if is_ != should:
            found.append(f"{where}: is {is_!r}, should be {should!r}")

    expect("messages", set(messages), OBJECTS | set(OPEN) | REST)
    expect("enums", set(enums), ENUMS)
    for name in ENUMS & set(enums):
        numbers = {value.name: value.number for value in enums[name].value}
        locked = LOCK[name]["numbers"]
        should = {f"{upper_snake(name)}_{word.upper()}": locked.get(word) for word in DEFS[name]["enum"]}
        expect(name, numbers, {f"{upper_snake(name)}_UNSPECIFIED": 0} | should)
    for name in OBJECTS & set(messages):
        fields = {field.name: field for field in messages[name].field}
        should_fields = object_fields(name)
        expect(f"{name} fields", set(fields), set(should_fields))
        for field in set(fields) & set(should_fields):
            number = 100 if field == "rest_json" else LOCK[name]["numbers"].get(field)
            expect(f"{name}.{field}", described(fields[field]), {"number": number, **should_fields[field]})
    for name in set(OPEN) & set(messages):
        closed, rest = OPEN[name]
        arms = [arm["$ref"].split("/")[-1] for arm in DEFS[closed]["oneOf"]]
        should = {DEFS[arm]["properties"]["type"]["const"]: arm for arm in arms}
        should_arms = {tag: (arm, LOCK[name]["numbers"].get(tag)) for tag, arm in should.items()}
        is_ = {field.name: (field.type_name.split(".")[-1], field.number) for field in messages[name].field}
        expect(name, is_, should_arms | {"unknown": (rest, 100)})
        expect(
            f"{name} oneof", {field.oneof_index for field in messages[name].field if field.HasField("oneof_index")}, {0}
        )
        expect(f"{name} oneofs", len(messages[name].oneof_decl), 1)
    for name in REST & set(messages):
        expect(name, {field.name: field.number for field in messages[name].field}, {"type": 1, "json": 2})
    return found


def described(field: FieldDescriptorProto) -> dict[str, Any]:
    many = field.label == F.LABEL_REPEATED
    return {
        "number": field.number,
        "type": field.type,
        "of": field.type_name.split(".")[-1],
        "many": many,
        "presence": field.proto3_optional,
    }


def object_fields(name: str) -> dict[str, dict[str, Any]]:
    node = DEFS[name]
    out: dict[str, dict[str, Any]] = {
        "rest_json": {"type": F.TYPE_STRING, "of": "", "many": False, "presence": False},
    }
    for key, member in node["properties"].items():
        if key == "type" and "const" in member:
            continue
        required = key in node.get("required", ())
        if member.get("x-json"):
            out[f"{key}_json"] = {"type": F.TYPE_STRING, "of": "", "many": False, "presence": False}
            continue
        out[key] = field_of(key, member, required)
    return out


def field_of(key: str, member: dict[str, Any], required: bool) -> dict[str, Any]:
    arms = member.get("oneOf", [member])
    ref = next((arm["$ref"].split("/")[-1] for arm in arms if "$ref" in arm), None)
    if ref is not None:
        kind = F.TYPE_ENUM if ref in ENUMS else F.TYPE_MESSAGE
        return {"type": kind, "of": ref, "many": False, "presence": False}
    words = member["type"] if isinstance(member["type"], list) else [member["type"]]
    word = next(word for word in words if word != "null")
    if word == "array":
        return {**field_of(key, member["items"], True), "many": True}
    if word == "object":
        entry = "".join(part.title() for part in key.split("_")) + "Entry"
        return {"type": F.TYPE_MESSAGE, "of": entry, "many": True, "presence": False}
    if member.get("x-int64"):
        return {"type": F.TYPE_INT64, "of": "", "many": False, "presence": not required}
    if member.get("format") == "date-time":
        return {"type": F.TYPE_MESSAGE, "of": "Timestamp", "many": False, "presence": False}
    return {"type": SCALARS[word], "of": "", "many": False, "presence": not required}


def test_the_protobuf_contract_is_the_schemas() -> None:
    """Every field by name, number, type, label and presence; every enum by words and numbers; every union by arms."""
    assert differences(descriptor()) == []


def test_no_number_is_given_twice() -> None:
    """The lock numbers each name once, and none that is reserved."""
    for owner, entry in LOCK.items():
        numbers = [*entry["numbers"].values(), *entry.get("reserved", {}).values()]
        assert len(numbers) == len(set(numbers)), owner


def message_named(file: FileDescriptorProto, name: str) -> descriptor_pb2.DescriptorProto:
    return next(message for message in file.message_type if message.name == name)


def field_named(file: FileDescriptorProto, message: str, name: str) -> FieldDescriptorProto:
    return next(field for field in message_named(file, message).field if field.name == name)


def _change(message: str, field: str, **members: Any) -> Callable[[FileDescriptorProto], None]:
    def change(file: FileDescriptorProto) -> None:
        for member, value in members.items():
            setattr(field_named(file, message, field), member, value)

    return change


def _remove_enum_value(file: FileDescriptorProto) -> None:
    next(enum for enum in file.enum_type if enum.name == "FinishReason").value.pop()


def _renumber_enum_value(file: FileDescriptorProto) -> None:
    next(enum for enum in file.enum_type if enum.name == "Role").value[2].number = 77


def _remove_field(file: FileDescriptorProto) -> None:
    message_named(file, "Usage").field.pop()


def _add_field(file: FileDescriptorProto) -> None:
    message_named(file, "Usage").field.add(name="made_up", number=99, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)


def _remove_arm(file: FileDescriptorProto) -> None:
    del message_named(file, "ContentBlock").field[3]


def _remove_message(file: FileDescriptorProto) -> None:
    file.message_type.pop()


MUTATIONS: dict[str, Callable[[FileDescriptorProto], None]] = {
    "renamed field": _change("Message", "session_id", name="conversation_id"),
    "renumbered field": _change("Message", "role", number=55),
    "int64 made int32": _change("Request", "seed", type=F.TYPE_INT32),
    "int32 made int64": _change("Usage", "input_tokens", type=F.TYPE_INT64),
    "list made single": _change("Message", "content", label=F.LABEL_OPTIONAL),
    "presence given up": _change("ToolResultBlock", "is_error", proto3_optional=False),
    "free JSON made bytes": _change("ToolUseBlock", "input_json", type=F.TYPE_BYTES),
    "another type": _change("Response", "usage", type_name=".interlingua.v1.TokenEstimate"),
    "another arm": _change("StreamEvent", "text_delta", type_name=".interlingua.v1.ThinkingDeltaEvent"),
    "removed enum value": _remove_enum_value,
    "renumbered enum value": _renumber_enum_value,
    "removed field": _remove_field,
    "added field": _add_field,
    "removed arm": _remove_arm,
    "removed message": _remove_message,
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_changed_contract_is_found(name: str) -> None:
    """The comparison is worth something: each planted change is seen."""
    file = descriptor()
    MUTATIONS[name](file)
    assert differences(file) != []


# ---------------------------------------------------------------------------------------------------- Python types


def test_the_typed_dicts_are_the_schemas() -> None:
    """Members, required members and types of every TypedDict; words of every alias."""
    assert set(typed.__all__) == set(DEFS)
    for name in OBJECTS:
        hints = typing.get_type_hints(getattr(typed, name), include_extras=True)
        node = DEFS[name]
        assert set(hints) == set(node["properties"]), name
        assert getattr(typed, name).__required_keys__ == set(node.get("required", ())), name
        for key, member in node["properties"].items():
            assert shape(hints[key], typed) == schema_shape(member), f"{name}.{key}"
    for name in ENUMS:
        assert list(get_args(getattr(typed, name))) == DEFS[name]["enum"]


def test_the_models_are_the_schemas() -> None:
    """Members, required members and types of every model."""
    assert set(models.__all__) == set(DEFS)
    for name in OBJECTS:
        model, node = getattr(models, name), DEFS[name]
        model.model_rebuild()
        members = {field.alias or key: field for key, field in model.model_fields.items()}
        assert set(members) == set(node["properties"]), name
        for key, member in node["properties"].items():
            tag = key == "type" and "const" in member
            assert members[key].is_required() == (key in node.get("required", ()) and not tag), f"{name}.{key}"
            if "default" in member and not tag:
                assert members[key].default == member["default"], f"{name}.{key}"


def shape(hint: Any, module: types.ModuleType) -> Any:
    """A TypedDict's annotation in plain words."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (NotRequired, Annotated):
        return shape(arguments[0], module)
    if origin is types.UnionType or origin is typing.Union:
        names = [name for name in (*OPEN, *(closed for closed, _ in OPEN.values())) if getattr(module, name) == hint]
        if names:
            return names[0]
        return (*(shape(one, module) for one in arguments if one is not type(None)), "null")
    if origin is Literal:
        return next((name for name in ENUMS if getattr(module, name) == hint), list(arguments))
    if origin is list:
        return [shape(arguments[0], module)]
    if origin is dict:
        return {"str": shape(arguments[1], module)}
    return "Any" if hint is Any else hint.__name__


def schema_shape(member: dict[str, Any]) -> Any:
    """A member's type in the same words."""
    words = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
    if "oneOf" in member:
        return (*(schema_shape(arm) for arm in member["oneOf"] if "$ref" in arm), "null")
    if "$ref" in member:
        return member["$ref"].split("/")[-1]
    if "const" in member:
        return [member["const"]]
    kinds = member.get("type", "any")
    if isinstance(kinds, list):
        return (schema_shape({**member, "type": kinds[0]}), "null")
    if kinds == "array":
        return [schema_shape(member["items"])]
    if kinds == "object":
        return {"str": "Any" if member.get("x-json") else "str"}
    return words.get(kinds, "Any")
