"""
Generates `proto/interlingua/v1/types.proto` from the schema. `--check` only compares.

Field numbers come from `proto/field_numbers.lock.json`: a new member gets the next free number, the number and the name
of a removed member stay reserved for ever, and no number is ever used twice.

The mapping of each form:

* an object is a message; a constant `type` is not a field, because the arm of the union expresses it;
* a union is a message with one oneof, its arms named by their tags, and `unknown` for the rest: the block as JSON text;
* an enum is an enum with prefixed values and an UNSPECIFIED that means absence;
* free JSON is a `string …_json` that holds canonical JSON text, marked x-json in its comment (a Struct would turn
  integers into floats); a required one is never the empty string;
* an optional scalar keeps its presence;
* an integer is an int32, which the plain number type of every language can hold; one marked x-int64 is an int64;
* `rest_json` on every message holds the members that have no field of their own.
"""

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from _schema import ROOT, Definition, Enum, Field, Object, Union, objects, read, settle, snake

OUTPUT = ROOT / "proto" / "interlingua" / "v1" / "types.proto"
LOCK = ROOT / "proto" / "field_numbers.lock.json"

REST = 100  # the number of rest_json, and of unknown in a union: above all others, and the same in every message
REST_FIELD = f"string rest_json = {REST};"

HEADER = """\
// GENERATED from spec/schema/interlingua.schema.json by tools/generate_proto.py: do not edit.

// The canonical data types of Interlingua.
//
// A field whose name ends in _json holds canonical JSON text; its comment says x-json.
// An empty string means that the member is absent.
//
// Every message has a field rest_json. It holds, as one JSON object, the members that have no field of their own: those
// of a later version, and values that their field cannot hold exactly, e.g. an explicit null, an explicit empty list,
// or an integer beyond the bits of its field. A field that is set takes precedence over null and over an empty list or
// object in rest_json; any other value there that differs from the field is refused.
syntax = "proto3";

package interlingua.v1;
"""
TIMESTAMP = 'import "google/protobuf/timestamp.proto";\n'
OPTIONS = """\
option csharp_namespace = "Interlingua.V1";
option go_package = "github.com/interlingua/interlingua/clients/go/interlinguav1";
option java_multiple_files = true;
option java_outer_classname = "TypesProto";
option java_package = "interlingua.v1";
option php_metadata_namespace = "Interlingua\\\\V1\\\\GPBMetadata";
option php_namespace = "Interlingua\\\\V1";
option ruby_package = "Interlingua::V1";
option swift_prefix = "Interlingua";
"""

SCALARS = {
    "string": "string",
    "timestamp": "google.protobuf.Timestamp",
    "decimal": "string",
    "integer": "int32",
    "int64": "int64",
    "number": "double",
    "boolean": "bool",
    "object": "string",
    "any": "string",
    "map": "map<string, string>",
}

Lock = dict[str, dict[str, dict[str, int]]]


def main(arguments: list[str]) -> int:
    definitions = read()
    lock = numbered(definitions, json.loads(LOCK.read_text("utf-8")) if LOCK.exists() else {})
    rests = {item.rest for item in definitions.values() if isinstance(item, Union)}
    parts = [HEADER, TIMESTAMP, OPTIONS]
    for item in definitions.values():
        match item:
            case Enum():
                parts.append(_enum(item, lock[item.name]))
            case Object() if item.name in rests:
                parts.append(_rest(item))
            case Object():
                parts.append(_message(item, lock[item.name]))
            case Union():
                parts.append(_union(item, lock[item.name]))
    files: dict[Path, str | bytes] = {
        OUTPUT: "\n".join(parts),
        LOCK: json.dumps(lock, indent=2) + "\n",
    }
    return settle(files, arguments)


# ---------------------------------------------------------------------------------------------------- names


def field_name(field: Field) -> str:
    """Return the name in the message: the name of free JSON ends in _json."""
    return f"{field.name}_json" if field.type.kind in {"object", "any"} else field.name


def value_name(enum: str, word: str) -> str:
    """Return the name of an enum's value: ``FINISH_REASON_STOP``."""
    return f"{snake(enum)}_{word}".upper()


def oneof_name(union: Union) -> str:
    """Return the name of a union's oneof: ``block`` for ContentBlock."""
    return snake(union.name).rsplit("_", 1)[-1]


def fields(item: Object) -> list[Field]:
    """Return the members that are fields: all except the tag."""
    return [field for field in item.fields if field.type.kind != "const"]


# ---------------------------------------------------------------------------------------------------- numbers


def numbered(definitions: dict[str, Definition], lock: Lock) -> Lock:
    """Return the lock with a number for every present member, and with the removed members reserved."""
    present = {item.name: [field_name(field) for field in fields(item)] for item in objects(definitions)}
    for item in definitions.values():
        if isinstance(item, Enum):
            present[item.name] = list(item.words)
        elif isinstance(item, Union):
            present[item.name] = list(item.arms)
    gone = {name: [] for name in lock if name not in present}
    return {name: _numbered(name, names, lock.get(name, {})) for name, names in (present | gone).items()}


def _numbered(owner: str, names: list[str], entry: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    numbers, reserved = entry.get("numbers", {}), dict(entry.get("reserved", {}))
    if again := set(names) & set(reserved):
        raise ValueError(f"{owner}: {', '.join(sorted(again))} was removed once; give the new member another name")
    reserved |= {name: number for name, number in numbers.items() if name not in names}
    used = {*numbers.values(), *reserved.values(), REST}
    kept: dict[str, int] = {}
    for name in names:
        number = numbers.get(name)
        if number is None:
            number = next(n for n in range(1, 2**29) if n not in used)
            used.add(number)
        kept[name] = number
    return {"numbers": kept, **({"reserved": reserved} if reserved else {})}


# ---------------------------------------------------------------------------------------------------- text


def _message(item: Object, lock: dict[str, dict[str, int]]) -> str:
    lines = [_comment(item.description), f"message {item.name} {{", *_reserved(lock)]
    for field in fields(item):
        name = field_name(field)
        lines += _indented(
            _comment(field.description + _note(field)), f"{_type(field)} {name} = {_number(lock, name)};"
        )
    lines += _indented(
        "// The members without a field of their own, see the head of this file. (x-json: object)", REST_FIELD
    )
    return "\n".join([*lines, "}", ""])


def _type(field: Field) -> str:
    kind = field.type
    text = str(kind.name) if kind.name else SCALARS[kind.kind]
    if kind.many:
        return f"repeated {text}"
    # messages and maps have presence; an enum's zero and an empty JSON text mean absence
    keeps_presence = kind.kind in {"string", "decimal", "integer", "int64", "number", "boolean"}
    return f"optional {text}" if keeps_presence and not field.required else text


def _note(field: Field) -> str:
    match field.type.kind:
        case "object":
            return " (x-json: object)"
        case "any":
            return " (x-json: any)"
        case "decimal":
            return " A decimal without exponent."
        case _:
            return ""


def _union(item: Union, lock: dict[str, dict[str, int]]) -> str:
    lines = [_comment(item.description), f"message {item.name} {{", *_reserved(lock)]
    lines += ["  // The arm is named by its type.", f"  oneof {oneof_name(item)} {{"]
    by_name = {definition.name: definition for definition in read().values()}
    for tag, arm in item.arms.items():
        text = [*_indented(_comment(by_name[arm].description), f"{arm} {tag} = {_number(lock, tag)};")]
        lines += _indented("\n".join(text))
    rest = _indented(_comment(by_name[item.rest].description), f"{item.rest} unknown = {REST};")
    return "\n".join([*lines, *_indented("\n".join(rest)), "  }", "}", ""])


def _rest(item: Object) -> str:
    word = next(field.description for field in item.fields if field.name == "type")
    lines = [_comment(item.description), f"message {item.name} {{"]
    lines += _indented(_comment(word), "string type = 1;")
    lines += _indented(_comment("The whole value, type included. (x-json: object)"), "string json = 2;")
    return "\n".join([*lines, "}", ""])


def _enum(item: Enum, lock: dict[str, dict[str, int]]) -> str:
    lines = [_comment(item.description), f"enum {item.name} {{", *_reserved(lock, item.name)]
    lines += _indented("// Absent.", f"{value_name(item.name, 'unspecified')} = 0;")
    for word in item.words:
        lines += _indented(_comment(_meaning(item, word)), f"{value_name(item.name, word)} = {_number(lock, word)};")
    return "\n".join([*lines, "}", ""])


def _meaning(item: Enum, word: str) -> str:
    """Return what the enum's description states about one of its words: ``word: meaning.``"""
    found = re.search(rf"(?:^|\. ){re.escape(word)}: (.+?)\.(?= [a-z_0-9]+:|$| [A-Z])", item.description)
    if found:
        return f"`{word}`: {found[1]}."
    if word == "other":
        return "`other`: none of the others. A reader treats every number that it does not know as this one."
    return f"`{word}`."


def _number(lock: dict[str, dict[str, int]], name: str) -> int:
    return lock["numbers"][name]


def _reserved(lock: dict[str, dict[str, int]], enum: str | None = None) -> list[str]:
    reserved: dict[str, Any] = lock.get("reserved", {})
    if not reserved:
        return []
    names = ", ".join(f'"{value_name(enum, name) if enum else name}"' for name in reserved)
    return [f"  reserved {', '.join(map(str, sorted(reserved.values())))};", f"  reserved {names};"]


def _comment(text: str) -> str:
    return "\n".join(f"// {line}" for line in textwrap.wrap(text, 114))


def _indented(*texts: str) -> list[str]:
    return [f"  {line}" if line else line for text in texts for line in text.split("\n")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
