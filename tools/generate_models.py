"""
Schema to `canonical/models.py`: the canonical values as pydantic models. `--check` only compares.

An own generator, because the general ones lose what matters here: they let a malformed block pass as an unknown one,
fill absent members with empty objects, and write null where the schema has nothing.
"""

import sys
import textwrap

from _schema import PACKAGE, Definition, Enum, Field, Object, Union, formatted, read, settle, snake
from generate_types import docstring
from pydantic import BaseModel

OUTPUT = PACKAGE / "canonical" / "models.py"

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

# lists of blocks for which a program may write one text
TEXTS = {("Message", "content"), ("ToolResultBlock", "content"), ("Request", "system")}

HEADER = '''\
# GENERATED from spec/schema/interlingua.schema.json by tools/generate_models.py: do not edit.
"""
The canonical values as pydantic models, for users who like objects.

`Message.of(data)` reads plain data and refuses what breaks the contract, `message.plain()` gives it back.
A block of a type that this version does not know is an `UnknownBlock`, kept whole.
"""

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from interlingua.canonical.methods import {mixins}
from interlingua.canonical.model_base import (
    TEXT_AS_BLOCKS, FreeJson, FreeObject, Maybe, Model, Money, ReadModel, Text, Timestamp, none_of, tag_among,
)
'''

SCALARS = {
    "string": "Text",
    "timestamp": "Timestamp",
    "decimal": "Money",
    "integer": "int",
    "int64": "int",
    "number": "float",
    "boolean": "bool",
    "object": "FreeObject",
    "any": "FreeJson",
    "map": "dict[Text, Text]",
}
LIMITS = {"pattern": "pattern", "minLength": "min_length", "minimum": "ge", "maximum": "le"}


def main(arguments: list[str]) -> int:
    definitions = read()
    opens = {item.rest: item for item in definitions.values() if isinstance(item, Union)}
    parts = [HEADER.replace("{mixins}", ", ".join(sorted(set(MIXINS.values())))), _names(definitions)]
    defined: set[str] = set()
    for item in definitions.values():
        match item:
            case Enum():
                words = ", ".join(map(repr, item.words))
                parts.append(f"{item.name}: TypeAlias = Literal[{words}]\n{docstring(item.description)}")
            case Object() if item.name in opens:
                parts.append(_rest(item, opens[item.name]))
            case Object():
                parts.append(_object(item, defined))
            case Union():
                parts.append(_union(item))
        defined.add(item.name)
    return settle({OUTPUT: formatted("\n\n".join(parts), OUTPUT)}, arguments)


def _names(definitions: dict[str, Definition]) -> str:
    names = [*definitions, *(item.closed for item in definitions.values() if isinstance(item, Union))]
    return f"__all__ = [{', '.join(map(repr, sorted(names)))}]"


def _object(item: Object, defined: set[str]) -> str:
    lines = [docstring(item.description)]
    if item.tag:
        lines.append(f"\nTAG: ClassVar[str | None] = {item.tag!r}\n\ntype: Literal[{item.tag!r}] = {item.tag!r}")
    else:
        lines.append("")
    lines += [
        f"{_member(item.name, field, defined)}\n{docstring(field.description)}"
        for field in item.fields
        if field.type.kind != "const"
    ]
    bases = ", ".join(filter(None, (MIXINS.get(item.name), "Model")))
    return f"class {item.name}({bases}):\n" + textwrap.indent("\n".join(lines), "    ")


def _member(owner: str, field: Field, defined: set[str]) -> str:
    kind, name = _annotation(field), field.name
    if (owner, name) in TEXTS:
        kind = f"Annotated[{kind}, TEXT_AS_BLOCKS]"
    limits = [f"{LIMITS[limit]}={_literal(value)}" for limit, value in field.limits.items()]
    if limits and field.type.kind not in {"decimal", "timestamp"}:
        kind = f"Annotated[{kind}, Field({', '.join(limits)})]"
    if field.nullable:
        kind = f"{kind} | None"
    elif not field.required and field.default is None and field.type.kind != "any":
        kind = f"Maybe[{kind}]"
    if hasattr(BaseModel, name):  # pydantic's own; the plain data has the right name
        name, kind = f"{name}_", f"Annotated[{kind}, Field(alias={name!r})]"
    if field.type.name and field.type.name not in defined:
        kind = f'"{kind}"'  # it stands further down
    return f"{name}: {kind}" if field.required else f"{name}: {kind} = {field.default!r}"


def _literal(value: object) -> str:
    return f"r{value!r}" if isinstance(value, str) and "\\" not in repr(value) else repr(value)


def _annotation(field: Field) -> str:
    kind = field.type
    if kind.kind in {"enum", "ref"}:
        text = str(kind.name)
    elif kind.const is not None:
        text = f"Literal[{kind.const!r}]"
    else:
        text = SCALARS[kind.kind]
    return f"list[{text}]" if kind.many else text


def _rest(item: Object, union: Union) -> str:
    words = _words(union)
    constant = f"{words} = frozenset({{{', '.join(map(repr, union.arms))}}})"
    body = f"{docstring(item.description)}\n\ntype: Annotated[str, none_of({words})]\n{docstring(_type_text(item))}"
    return f"{constant}\n\n\nclass {item.name}(ReadModel):\n" + textwrap.indent(body, "    ")


def _type_text(item: Object) -> str:
    return next(field.description for field in item.fields if field.name == "type")


def _union(item: Union) -> str:
    arms = " | ".join(f"Annotated[{name}, Tag({tag!r})]" for tag, name in item.arms.items())
    rest = f"Annotated[{item.rest}, Tag('*')], Discriminator(tag_among({_words(item)}, '*'))"
    return "\n".join(
        [
            f"{item.closed}: TypeAlias = {' | '.join(item.arms.values())}",
            docstring(f"{item.description} Those that this version knows."),
            "",
            f"{item.name}: TypeAlias = Annotated[{arms} | {rest}]",
            docstring(item.description),
        ]
    )


def _words(item: Union) -> str:
    return f"_{snake(item.closed).upper()}_TYPES"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
