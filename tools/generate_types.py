"""
Generates `canonical/types.py` (TypedDicts) and `canonical/models.py` (pydantic models) from the schema, with
datamodel-code-generator. `--check` only compares.

This file and `templates/` have what the Python types need beyond the schema
(spec/decisions/0040-standard-generators.md).
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _schema import PACKAGE, SCHEMA, formatted, read, settle, unions
from datamodel_code_generator import generate

CANONICAL = PACKAGE / "canonical"
BASE = "interlingua.canonical.model_base"
METHODS = "interlingua.canonical.methods"

# hand-written constructors and views, by class
MIXINS = {
    "Message": "MessageMethods",
    "Request": "RequestMethods",
    "Response": "ResponseMethods",
    "ImageBlock": "MediaMethods",
    "AudioBlock": "MediaMethods",
    "VideoBlock": "MediaMethods",
    "DocumentBlock": "MediaMethods",
    "ToolResultBlock": "ToolResultMethods",
}

# lists of blocks; a program may write one text instead
TEXTS = {"Message": ["content"], "ToolResultBlock": ["content"], "Request": ["system"]}

HEADER = """\
# GENERATED from spec/schema/interlingua.schema.json by tools/generate_types.py: do not edit.
"""

TYPES = '''
"""
The canonical values in their internal form: plain JSON data, typed.

The member `type` distinguishes blocks, and events; a comparison narrows the type::

    if block["type"] == "text":
        print(block["text"])

Members that this version does not know are kept in the dicts and written back.
"""
'''

MODELS = '''
"""
The canonical values as pydantic models, for users who prefer objects.

`Message.of(data)` reads plain data and refuses data that breaks the contract; `message.plain()` returns the data.
A block of a type that this version does not know is an `UnknownBlock`, kept whole.
"""
'''

FORMATS = {"date-time": "Timestamp", "decimal": "Money"}


def main(arguments: list[str]) -> int:
    return settle({CANONICAL / "types.py": _types(), CANONICAL / "models.py": _models()}, arguments)


def _types() -> str:
    schema = _schema()
    for node in _nodes(schema):
        node.pop("default", None)  # plain data has no defaults
        if node.get("format"):
            del node["format"]  # plain data has strings here
        if node.get("x-json") and "additionalProperties" in node:
            node["additionalProperties"] = True
        if "not" in node:  # one value represents all others, so that a comparison narrows the type
            node |= {
                "const": "(any other)",
                "description": f"{node['description']} One value represents them all here.",
            }
    return _generated(schema, TYPES, output_model_type="typing.TypedDict")


def _models() -> str:
    schema, data = _schema(), {name: {"text_as_blocks": members} for name, members in TEXTS.items()}
    bases = {name: [f"{METHODS}.{mixin}", f"{BASE}.Model"] for name, mixin in MIXINS.items()}
    for name, definition in schema["$defs"].items():
        members = definition.get("properties", {})
        data.setdefault(name, {})["nullable"] = [member for member, node in members.items() if _without_null(node)]
    for node in _nodes(schema):
        if kind := _python_type(node):
            node["customTypePath"] = f"{BASE}.{kind}"
    for union in unions(read()):
        data[union.name] = {"arms": list(union.arms.items()), "rest": union.rest}
        data[union.rest]["known"] = list(union.arms)
        bases[union.rest] = [f"{BASE}.ReadModel"]
    return _generated(
        schema,
        MODELS,
        output_model_type="pydantic_v2.BaseModel",
        use_one_literal_as_default=True,
        base_class=f"{BASE}.Model",
        base_class_map=bases,
        custom_template_dir=Path(__file__).parent / "templates",
        extra_template_data=data,
        additional_imports=[
            *(f"typing.{name}" for name in ("Annotated", "ClassVar", "TypeAlias")),
            *(f"pydantic.{name}" for name in ("Discriminator", "Tag")),
            *(f"{BASE}.{name}" for name in ("TEXT_AS_BLOCKS", "Maybe")),
        ],
    )


def _generated(schema: dict[str, Any], docstring: str, **options: Any) -> str:
    code = generate(
        json.dumps(schema),
        input_file_type="jsonschema",
        target_python_version="3.11",
        target_pydantic_version="2.12",
        custom_file_header=f"{HEADER}{docstring.strip()}",
        disable_future_imports=True,
        enum_field_as_literal="all",
        field_constraints=True,
        formatters=[],
        skip_root_model=True,
        strict_nullable=True,
        use_annotated=True,
        use_field_description=True,
        use_schema_description=True,
        use_single_line_docstring=True,
        use_type_alias=True,
        use_union_operator=True,
        **options,
    )
    # validators are built when they are first used: to build all of them would be the longest part of the import
    code = re.sub(r"^\w+\.model_rebuild\(\)$", "", str(code), flags=re.MULTILINE)
    # type checkers read the name of an argument from the default alone, not from an annotation
    argument = re.compile(r": Annotated\[(\S+), Field\((alias=['\"]\w+['\"])\)\] = None$", re.MULTILINE)
    code = argument.sub(r": \1 = Field(None, \2)", code)
    return formatted(f"{code.rstrip()}\n\n__all__ = {sorted(schema['$defs'])!r}", CANONICAL)


def _schema() -> dict[str, Any]:
    """Return the schema with wrapped descriptions; a member without one gets the description of its named type."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    for definition in schema["$defs"].values():
        for node in definition.get("properties", {}).values():
            target = schema["$defs"].get(node.get("$ref", "").removeprefix("#/$defs/"))
            if target:
                node.setdefault("description", target["description"])
    for node in _nodes(schema):
        node.get("items", {}).pop("minimum", None)  # an item with a limit would become a named type of its own
        if "description" in node:
            node["description"] = textwrap.fill(node["description"], 106)
    return schema


def _nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every schema in it: definitions, members, and the items of lists and maps."""
    waiting = list(schema["$defs"].values())
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.get("properties", {}).values()
        waiting += [inner for key in ("items", "additionalProperties") if isinstance(inner := node.get(key), dict)]


def _without_null(node: dict[str, Any]) -> bool:
    """Remove null from the types of a member. Returns whether it was there."""
    if {"type": "null"} in node.get("oneOf", ()):
        node |= next(arm for arm in node.pop("oneOf") if "$ref" in arm)
        return True
    if isinstance(words := node.get("type"), list):
        node["type"] = next(word for word in words if word != "null")
        return True
    return False


def _python_type(node: dict[str, Any]) -> str | None:
    """Return the type of `model_base` for a type that JSON does not have; else None."""
    if node.get("x-json"):
        return "FreeObject" if node.get("type") == "object" else "FreeJson"
    if node.get("format"):
        node.pop("pattern", None)  # the type checks it
        return FORMATS[node["format"]]
    if node.get("additionalProperties") == {"type": "string"}:
        return "TextMap"
    return "Text" if node.get("type") == "string" and not {"const", "enum"} & node.keys() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
