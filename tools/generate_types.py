"""Schema to `canonical/types.py`: the canonical values as TypedDicts. `--check` only compares."""

import sys
import textwrap

from _schema import PACKAGE, Definition, Enum, Field, Object, Type, Union, formatted, read, settle

OUTPUT = PACKAGE / "canonical" / "types.py"

HEADER = '''\
# GENERATED from spec/schema/interlingua.schema.json by tools/generate_types.py: do not edit.
"""
The canonical values, as they are inside: plain JSON data, typed.

A block, and likewise an event, is told apart by its member `type`; a comparison narrows::

    if block["type"] == "text":
        print(block["text"])

Members that this version does not know are kept in the dicts and written back.
"""

from typing import Any, Literal, Required, TypeAlias, TypedDict
'''

SCALARS = {
    "string": "str",
    "timestamp": "str",
    "decimal": "str",
    "integer": "int",
    "int64": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "any": "Any",
    "map": "dict[str, str]",
}
WIDTH = 116


def main(arguments: list[str]) -> int:
    definitions = read()
    rests = {item.rest: item for item in definitions.values() if isinstance(item, Union)}
    parts = [HEADER, _names(definitions)]
    defined: set[str] = set()
    for item in definitions.values():
        match item:
            case Enum():
                parts.append(_alias(item.name, f"Literal[{', '.join(map(repr, item.words))}]", item.description))
            case Object() if item.name in rests:
                parts.append(_rest(item))
            case Object():
                parts.append(_object(item, defined))
            case Union():
                known = f"{item.description} Those that this version knows."
                parts.append(_alias(item.closed, " | ".join(item.arms.values()), known))
                parts.append(_alias(item.name, f"{item.closed} | {item.rest}", item.description))
        defined.add(item.name)
    return settle({OUTPUT: formatted("\n\n".join(parts), OUTPUT)}, arguments)


def _names(definitions: dict[str, Definition]) -> str:
    names = [*definitions, *(item.closed for item in definitions.values() if isinstance(item, Union))]
    return f"__all__ = [{', '.join(map(repr, sorted(names)))}]"


def _alias(name: str, value: str, description: str) -> str:
    return f"{name}: TypeAlias = {value}\n{docstring(description)}"


def _object(item: Object, defined: set[str]) -> str:
    members = "\n".join(_member(field, defined) for field in item.fields)
    return f"class {item.name}(TypedDict, total=False):\n{_indented(docstring(item.description))}\n\n{members}"


def _member(field: Field, defined: set[str]) -> str:
    kind = annotation(field.type) + (" | None" if field.nullable else "")
    if field.type.name and field.type.name not in defined:
        kind = f'"{kind}"'  # it stands further down
    kind = f"Required[{kind}]" if field.required else kind
    return _indented(f"{field.name}: {kind}\n{docstring(field.description)}")


def _rest(item: Object) -> str:
    text = f"{item.description} Its type is any other word; one stands for them here, so that a comparison narrows."
    return f"class {item.name}(TypedDict):\n{_indented(docstring(text))}\n\n    type: Literal['(any other)']"


def annotation(kind: Type) -> str:
    """The annotation of a member's type."""
    match kind.kind:
        case "const":
            text = f"Literal[{kind.const!r}]"
        case "integer" if kind.const is not None:
            text = f"Literal[{kind.const!r}]"
        case "enum" | "ref":
            text = str(kind.name)
        case scalar:
            text = SCALARS[scalar]
    return f"list[{text}]" if kind.many else text


def docstring(text: str) -> str:
    """The text as a docstring, wrapped."""
    lines = textwrap.wrap(text, WIDTH - 10) or [""]
    if len(lines) == 1 and len(lines[0]) < WIDTH - 10:
        return f'"""{lines[0]}"""'
    return '"""\n' + "\n".join(lines) + '\n"""'


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
