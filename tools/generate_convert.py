"""
Generates `verbs/convert.py` from the schema: plain data to Protobuf messages and back, field by field. `--check` only
compares.

The code is generated, because protobuf's own JSON mapping is six times slower and has another JSON format.
"""

import sys

from _schema import (
    PACKAGE,
    Definition,
    Enum,
    Field,
    Object,
    Union,
    enums,
    formatted,
    objects,
    read,
    settle,
    snake,
    unions,
)
from generate_proto import field_name, fields, oneof_name, value_name

OUTPUT = PACKAGE / "verbs" / "convert.py"

HEADER = '''\
# GENERATED from spec/schema/interlingua.schema.json by tools/generate_convert.py: do not edit.
# pyright: basic
"""
Plain data to Protobuf messages and back, exactly.

`to_proto(types_pb2.Request, data)` or `fill(message, data)`, and `from_proto(message)`, convert every type of the schema.
All raise `InvalidRequest` with the JSON Pointer of the error. They do not apply the rules that only the schema has.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from google.protobuf.message import Message as ProtoMessage

from interlingua.canonical.errors import InvalidRequest
from interlingua.verbs.convert_base import (
    Data, are_int32, is_double, is_int32, is_int64, is_text, is_text_map, is_texts, missing, no_arm, read_each, read_enum, read_json,
    read_number, read_object, read_one, read_rest, read_time, read_unknown, write_each, write_enum, write_json, write_one,
    write_rest, write_time, write_unknown,
)
from interlingua.v1 import types_pb2 as pb

M = TypeVar("M", bound=ProtoMessage)


def to_proto(kind: type[M], data: Data) -> M:
    """Return the message for plain data. Raises `InvalidRequest`."""
    message = kind()
    fill(message, data)
    return message


def fill(message: ProtoMessage, data: Data) -> None:
    """Write plain data into a new message, which may be a field of another one. Raises `InvalidRequest`."""
    kind = type(message)
    message.SetInParent()
    try:
        _WRITE[kind](data, message)
    except (AttributeError, TypeError, UnicodeError, ValueError, RecursionError) as problem:
        raise InvalidRequest(f"cannot be written as {kind.__name__}: {type(problem).__name__}", path="") from None


def from_proto(message: ProtoMessage) -> Data:
    """Return the plain data of a message. Raises `InvalidRequest`."""
    try:
        return _READ[type(message)](message)
    except RecursionError:
        raise InvalidRequest("the message is nested too deeply", path="") from None
'''


def main(arguments: list[str]) -> int:
    definitions = read()
    parts = [HEADER, *(_tables(item) for item in enums(definitions))]
    for item in definitions.values():
        match item:
            case Object() if item in objects(definitions):
                parts += [_reader(item, definitions), _writer(item, definitions)]
            case Union():
                parts += [_union_reader(item), _union_writer(item)]
            case _:
                pass
    parts.append(_dispatch(definitions))
    return settle({OUTPUT: formatted("\n\n".join(parts), OUTPUT)}, arguments)


def _tables(item: Enum) -> str:
    name = snake(item.name).upper()
    numbers = ", ".join(f"{word!r}: pb.{value_name(item.name, word)}" for word in item.words)
    return (
        f"_{name}: dict[str, int] = {{{numbers}}}\n_{name}_WORDS = {{number: word for word, number in _{name}.items()}}"
    )


# ---------------------------------------------------------------------------------------------------- reading


def _reader(item: Object, definitions: dict[str, Definition]) -> str:
    lines = [f"def _read_{snake(item.name)}(message: pb.{item.name}) -> Data:"]
    first = [f"'type': {item.tag!r}"] if item.tag else []
    plain = [
        f
        for f in fields(item)
        if f.required and not f.type.name and f.type.kind in {"string", "integer", "int64", "boolean"}
    ]
    first += [f"{f.name!r}: {_texts(f)}" for f in plain]
    lines.append(f"    data: Data = {{{', '.join(first)}}}")
    for field in fields(item):
        if field not in plain:
            lines += [f"    {line}" for line in _read(field, definitions)]
    bare = ", ".join(repr(field.name) for field in fields(item) if field.required and _is_bare(field))
    arguments = f"message.rest_json, data, {{{bare}}}" if bare else "message.rest_json, data"
    lines += ["    if message.rest_json:", f"        read_rest({arguments})", "    return data"]
    return "\n".join(lines)


def _is_bare(field: Field) -> bool:
    """Whether the field of a required member does not show if it is set: its zero value may mean either."""
    return field.type.many or field.type.kind in {"string", "decimal", "integer", "int64", "number", "boolean", "map"}


def _texts(field: Field) -> str:
    return f"list(message.{field.name})" if field.type.many else f"message.{field.name}"


def _read(field: Field, definitions: dict[str, Definition]) -> list[str]:
    name, kind = field.name, field.type
    here = f"message.{field_name(field)}"
    match kind.kind:
        case "ref" if kind.many:
            present, value = here, f"read_each(_read_{snake(str(kind.name))}, {here}, {name!r})"
        case "ref":
            present, value = f"message.HasField({name!r})", f"read_one(_read_{snake(str(kind.name))}, {here}, {name!r})"
        case "enum":
            words = f"_{snake(str(kind.name)).upper()}_WORDS"
            other = repr(_other(kind.name, definitions))
            present, value = here, f"read_enum({words}, {here}, {other}, {name!r})"
        case "object":
            present, value = here, f"read_object({here}, {name!r})"
        case "any":
            present, value = here, f"read_json({here}, {name!r})"
        case "timestamp":
            present, value = f"message.HasField({name!r})", f"read_time({here}, {name!r})"
        case "map":
            present, value = here, f"dict({here})"
        case "number":
            present, value = f"message.HasField({name!r})", f"read_number({here}, {name!r})"
        case _ if kind.many:
            present, value = here, f"list({here})"
        case _:
            present, value = f"message.HasField({name!r})", here
    if not field.required:
        return [f"if {present}:", f"    data[{name!r}] = {value}"]
    if kind.kind == "ref" and not kind.many:
        return [f"if not {present}:", f"    raise missing({name!r})", f"data[{name!r}] = {value}"]
    return [f"data[{name!r}] = {value}"]


def _other(name: str | None, definitions: dict[str, Definition]) -> str | None:
    item = definitions[str(name)]
    return "other" if isinstance(item, Enum) and "other" in item.words else None


def _union_reader(item: Union) -> str:
    table = f"_READ_{snake(item.name).upper()}"
    arms = ", ".join(f"{tag!r}: _read_{snake(arm)}" for tag, arm in item.arms.items())
    word = oneof_name(item)
    return f"""\
{table}: dict[str, Callable[[Any], Data]] = {{{arms}, 'unknown': read_unknown}}


def _read_{snake(item.name)}(message: pb.{item.name}) -> Data:
    arm = message.WhichOneof({word!r})
    if arm is None:
        raise no_arm({word!r})
    return {table}[arm](getattr(message, arm))"""


# ---------------------------------------------------------------------------------------------------- writing


def _writer(item: Object, definitions: dict[str, Definition]) -> str:
    lines = [f"def _write_{snake(item.name)}(data: Data, message: pb.{item.name}) -> None:"]
    lines += [
        line
        for field in fields(item)
        if field.required
        for line in (f"    if {field.name!r} not in data:", f"        raise missing({field.name!r})")
    ]
    lines += ["    rest: Data = {}", "    for name, value in data.items():", "        match name:"]
    if item.tag:
        lines += ["            case 'type':", "                pass"]
    for field in fields(item):
        condition, statement = _write(field, definitions)
        guard = f" if {condition}" if condition else ""
        lines += [f"            case {field.name!r}{guard}:", f"                {statement}"]
    lines += ["            case _:", "                rest[name] = value"]
    lines += ["    if rest:", "        message.rest_json = write_rest(rest)"]
    return "\n".join(lines)


def _write(field: Field, definitions: dict[str, Definition]) -> tuple[str, str]:
    name, kind = field.name, field.type
    here = f"message.{field_name(field)}"
    filled = "" if field.required else " and value"
    match kind.kind:
        case "ref" if kind.many:
            write = f"_write_{snake(str(kind.name))}"
            return f"type(value) is list{filled}", f"write_each({write}, value, {here}, {name!r})"
        case "ref":
            return "type(value) is dict", f"write_one(_write_{snake(str(kind.name))}, value, {here}, {name!r})"
        case "enum":
            enum = definitions[str(kind.name)]
            other = f"pb.{value_name(enum.name, 'other')}" if _other(kind.name, definitions) else None
            numbers = f"_{snake(enum.name).upper()}"
            condition = "" if field.required else "value is not None"
            return condition, f"{here} = write_enum({numbers}, value, {other}, {name!r})"
        case "object":
            return "type(value) is dict", f"{here} = write_json(value, {name!r})"
        case "any":
            return "", f"{here} = write_json(value, {name!r})"
        case "timestamp":
            return f"write_time(value, {here})", "pass"
        case "map":
            return f"is_text_map(value){filled}", f"{here}.update(value)"
        case "string" | "decimal" if kind.many:
            return f"is_texts(value){filled}", f"{here}.extend(value)"
        case "string" | "decimal":
            return "is_text(value)", f"{here} = value"
        case "integer" if kind.many:
            return f"are_int32(value){filled}", f"{here}.extend(value)"
        case "integer":
            return "is_int32(value)", f"{here} = value"
        case "int64":
            return "is_int64(value)", f"{here} = value"
        case "number":
            return "is_double(value)", f"{here} = value"
        case "boolean":
            return "type(value) is bool", f"{here} = value"
        case _:
            raise ValueError(f"{name}: no way to write {kind}")


def _union_writer(item: Union) -> str:
    table = f"_WRITE_{snake(item.name).upper()}"
    arms = ", ".join(f"{tag!r}: _write_{snake(arm)}" for tag, arm in item.arms.items())
    return f"""\
{table}: dict[str, Callable[[Data, Any], None]] = {{{arms}}}


def _write_{snake(item.name)}(data: Data, message: pb.{item.name}) -> None:
    word = data.get('type')
    if not isinstance(word, str):
        raise InvalidRequest('the member type is missing, or is not a text', path='/type')
    write = {table}.get(word)
    if write is None:
        write_unknown(data, message.unknown)
        return
    arm = getattr(message, word)
    arm.SetInParent()
    write(data, arm)"""


def _dispatch(definitions: dict[str, Definition]) -> str:
    names = [item.name for item in definitions.values() if item in objects(definitions) or item in unions(definitions)]
    read = ", ".join(f"pb.{name}: _read_{snake(name)}" for name in names)
    write = ", ".join(f"pb.{name}: _write_{snake(name)}" for name in names)
    return (
        f"_READ: dict[type, Callable[[Any], Data]] = {{{read}}}\n\n"
        f"_WRITE: dict[type, Callable[[Any, Any], None]] = {{{write}}}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
