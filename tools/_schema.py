"""
The schema file as the generators see it: enums, objects and tagged unions, in the order of the file.

The schema uses a small part of JSON Schema, on purpose, so that every consumer can read it:

* an enum is ``{"type": "string", "enum": […]}``;
* an object has ``properties``; one property per member, a ``$ref`` for every named type;
* a union is ``{"oneOf": [{"$ref"}, …], "discriminator": {"propertyName": "type"}}``,
  each arm an object with a constant ``type``;
* an open union is ``{"anyOf": [{"$ref": a union}, {"$ref": the object of everything else}]}``;
* free JSON carries ``"x-json": true``;
* an integer is a count and fits into 32 bits in all likelihood; one that needs 64 carries ``"x-int64": true``.

Any other form raises an error here, at generation time.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "spec" / "schema" / "interlingua.schema.json"
PACKAGE = ROOT / "python" / "interlingua"

Kind = Literal[
    "string",
    "timestamp",
    "decimal",
    "integer",
    "int64",
    "number",
    "boolean",
    "object",
    "any",
    "map",
    "enum",
    "ref",
    "const",
]


@dataclass(frozen=True)
class Type:
    """The type of a member: object and any are free JSON; `name` is set for enum and ref; `many` means a list."""

    kind: Kind
    name: str | None = None
    many: bool = False
    const: str | int | None = None


@dataclass(frozen=True)
class Field:
    """One member of an object."""

    name: str
    type: Type
    description: str
    required: bool


@dataclass(frozen=True)
class Enum:
    """A closed list of words."""

    name: str
    description: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Object:
    """A JSON object with named members. `tag` is the constant of its member `type`, when it is the arm of a union."""

    name: str
    description: str
    fields: tuple[Field, ...]
    tag: str | None


@dataclass(frozen=True)
class Union:
    """An open tagged union: `arms` maps each tag to the object's name, `rest` names the object of all other tags."""

    name: str
    description: str
    arms: dict[str, str]
    rest: str
    closed: str


Definition = Enum | Object | Union

FORMATS: dict[str | None, Kind] = {"date-time": "timestamp", "decimal": "decimal"}


def read(path: Path = SCHEMA) -> dict[str, Definition]:
    """Read the schema. A closed union that is only part of an open one is folded into the open one."""
    definitions: dict[str, Any] = json.loads(path.read_text("utf-8"))["$defs"]
    out: dict[str, Definition] = {}
    for name, node in definitions.items():
        if "enum" in node:
            out[name] = Enum(name, node["description"], tuple(node["enum"]))
        elif "anyOf" in node:
            closed, rest = (_target(arm) for arm in node["anyOf"])
            arms = {_tag(definitions[arm]): arm for arm in map(_target, definitions[closed]["oneOf"])}
            out[name] = Union(name, node["description"], arms, rest, closed)
        elif "oneOf" in node:
            if node["discriminator"] != {"propertyName": "type"}:
                raise ValueError(f"{name}: the discriminator of a union must be its member type")
        elif "properties" in node:
            required = set(node.get("required", ()))
            fields = tuple(_field(name, key, prop, required, definitions) for key, prop in node["properties"].items())
            out[name] = Object(name, node["description"], fields, _tag(node))
        else:
            raise ValueError(f"{name}: neither enum, object nor union")
    return out


def objects(definitions: dict[str, Definition]) -> list[Object]:
    """Return the objects that have members of their own: all except the rest of an open union."""
    rests = {union.rest for union in unions(definitions)}
    return [item for item in definitions.values() if isinstance(item, Object) and item.name not in rests]


def unions(definitions: dict[str, Definition]) -> list[Union]:
    """Return the unions, in order."""
    return [item for item in definitions.values() if isinstance(item, Union)]


def enums(definitions: dict[str, Definition]) -> list[Enum]:
    """Return the enums, in order."""
    return [item for item in definitions.values() if isinstance(item, Enum)]


def _field(owner: str, name: str, node: dict[str, Any], required: set[str], definitions: dict[str, Any]) -> Field:
    kind = _type(f"{owner}.{name}", node, definitions)
    description = node.get("description") or _fallback(kind, definitions)
    return Field(name, kind, description, name in required)


def _type(where: str, node: dict[str, Any], definitions: dict[str, Any]) -> Type:
    if "oneOf" in node:  # a named type, or null
        refs = [arm for arm in node["oneOf"] if "$ref" in arm]
        if len(refs) != 1 or len(node["oneOf"]) != 2:
            raise ValueError(f"{where}: only a named type or null is allowed here")
        return _type(where, refs[0], definitions)
    if "$ref" in node:
        name = _target(node)
        return Type("enum" if "enum" in definitions[name] else "ref", name)
    words = node.get("type", [])
    word = next((w for w in words if w != "null"), None) if isinstance(words, list) else words
    if "const" in node:
        return Type("integer" if word == "integer" else "const", const=node["const"])
    if node.get("x-json"):
        return Type("object" if word == "object" else "any")
    match word:
        case "string":
            return Type(FORMATS.get(node.get("format"), "string"))
        case "integer" if node.get("x-int64"):
            return Type("int64")
        case "integer" | "number" | "boolean":
            return Type(word)
        case "array":
            item = _type(where, node["items"], definitions)
            return Type(item.kind, item.name, many=True)
        case "object" if node.get("additionalProperties") == {"type": "string"}:
            return Type("map")
        case _:
            raise ValueError(f"{where}: a form that the generators do not know: {node}")


def _fallback(kind: Type, definitions: dict[str, Any]) -> str:
    if kind.kind == "const":
        return f"Always {kind.const}."
    return definitions[kind.name]["description"] if kind.name else ""


def _target(node: dict[str, str]) -> str:
    return node["$ref"].removeprefix("#/$defs/")


def _tag(node: dict[str, Any]) -> Any:
    return node.get("properties", {}).get("type", {}).get("const")


def snake(name: str) -> str:
    """Convert ``ToolUseBlock`` to ``tool_use_block``."""
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def formatted(code: str, name: Path) -> str:
    """Return Python source in the format that `make check` requires."""
    for verb in (["check", "--select", "I,F401", "--fix"], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *verb, "--quiet", "--stdin-filename", str(name), "-"],
            input=code,
            text=True,
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        if done.returncode:
            raise RuntimeError(f"ruff refuses the code that was generated for {name}:\n{done.stderr}")
        code = done.stdout
    return code


def settle(files: dict[Path, str | bytes], arguments: list[str]) -> int:
    """Write the files, or with ``--check`` only report which of them are out of date. Returns the exit code."""
    stale = [path for path, text in files.items() if not path.exists() or path.read_bytes() != _bytes(text)]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run make generate", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes(files[path]))
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
