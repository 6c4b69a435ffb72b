"""
JSON Schemas in the dialects of providers: what all dialects do alike.

A dialect takes some keywords, and some of them with some values. What has an equal inside of it is rewritten; what has none is
left out and said in the description, which a model still reads. Each change is reported at its pointer. A wire says which
keywords it takes, and rewrites a schema by the functions below; those that take a `made` schema change it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.loss import Loss, Path

Schema = dict[str, Any]

NAMED: Final = "named"
LISTED: Final = "listed"
SINGLE: Final = "single"
Places = Mapping[str, str]
"""The keywords that hold schemas: by name, in a list, or one that is an object."""

DEEPEST: Final = 192
"""A pointer of more steps leads beyond what anybody means by a schema: there it is left as it is."""


# ---------------------------------------------------------------------------------------------------- the schemas inside


def parts(schema: Schema, places: Places) -> Iterator[Any]:
    """The schemas inside a schema."""
    for name, place in places.items():
        value = schema.get(name)
        if place == NAMED and type(value) is dict:
            yield from value.values()
        elif place == LISTED and type(value) is list:
            yield from value
        elif place == SINGLE and type(value) is dict:
            yield value


def with_parts(schema: Schema, places: Places, path: Path, fit: Callable[[Any, Path], Any]) -> Schema:
    """A copy of a schema, with the schemas inside it as `fit` makes them, which is given each and its path."""
    made: Schema = {}
    for name, value in schema.items():
        place = places.get(name)
        if place is None:
            made[name] = value
        elif place == NAMED and type(value) is dict:
            made[name] = {key: fit(part, (*path, name, key)) for key, part in value.items()}
        elif place == LISTED and type(value) is list:
            made[name] = [fit(part, (*path, name, number)) for number, part in enumerate(value)]
        elif place == SINGLE and type(value) is dict:
            made[name] = fit(value, (*path, name))
        else:
            made[name] = value
    return made


def definitions(schema: Schema) -> dict[str, Any]:
    """The definitions of a schema, by the references to them."""
    return {
        f"#/{place}/{name}": part
        for place in ("$defs", "definitions")
        if type(named := schema.get(place)) is dict
        for name, part in named.items()
    }


def are_texts(value: Any) -> bool:
    """Whether a value is a list of texts alone."""
    if type(value) is not list:
        return False
    for text in value:  # noqa: SIM110 a generator costs more than what it asks
        if type(text) is not str:
            return False
    return True


# ---------------------------------------------------------------------------------------------------- keywords with an equal


def as_object(made: Schema, loss: Loss, path: Path) -> None:
    """The arguments of a tool are an object."""
    kind = made.get("type")
    if kind == "object":
        return
    same = kind is None or (type(kind) is list and "object" in kind)
    code, severity = ("schema_rewritten", "representation") if same else ("schema_weakened", "weakened")
    made["type"] = "object"
    loss.replace((*path, "type"), "object", code, severity, "the target takes an object at the root")


def demanded(schema: Schema | None, loss: Loss, path: Path) -> Schema:
    """The schema of a tool, where a wire demands one of each."""
    if schema is not None:
        return schema
    none: Schema = {"type": "object", "properties": {}}
    loss.replace(path, none, "required_default", "representation", "the target demands a schema of each tool")
    return none


def anything(part: Any, loss: Loss, path: Path) -> Schema:
    """The empty schema, in the place of one that is no object."""
    code, severity = ("schema_rewritten", "representation") if part is True else ("schema_weakened", "weakened")
    loss.replace(path, {}, code, severity, "the target takes an object as a schema: any value is the empty one")
    return {}


def rename(made: Schema, name: str, equal: str, loss: Loss, path: Path) -> None:
    """A keyword under another name, with the same value."""
    made[equal] = made.pop(name)
    message = f"the target has {equal} in the place of {name}"
    loss.move((*path, name), (*path, equal), "schema_rewritten", "representation", message)


def replace(made: Schema, name: str, equal: str, value: Any, loss: Loss, path: Path) -> None:
    """A keyword as another one, with a value that says the same."""
    del made[name]
    made[equal] = value
    message = f"the target has {equal} in the place of {name}"
    loss.drop((*path, name), "schema_rewritten", "representation", message)
    loss.replace((*path, equal), value, "schema_rewritten", "representation", message)


def one_of_as_any_of(made: Schema, loss: Loss, path: Path) -> None:
    """Alternatives of which one alone holds, as such of which any does."""
    if type(made.get("oneOf")) is list and "anyOf" not in made:
        rename(made, "oneOf", "anyOf", loss, path)


def const_as_enum(made: Schema, loss: Loss, path: Path) -> None:
    """A constant as an enumeration of one value."""
    if "const" in made and "enum" not in made:
        replace(made, "const", "enum", [made["const"]], loss, path)


# ---------------------------------------------------------------------------------------------------- keywords without

Gone = tuple[str, str, bool]
"""Of a keyword that is left out: code and severity of the report, and whether the description says it."""
LIMIT: Final[Gone] = ("schema_weakened", "weakened", True)


def leave_out(made: Schema, gone: Mapping[str, Gone], loss: Loss, path: Path) -> None:
    """Leaves keywords out, and says in the description what a model should still know of them."""
    limits: list[str] = []
    for name, (code, severity, in_description) in gone.items():
        value = made.pop(name)
        if in_description:
            limits.append(f"{name}: {json.dumps(value).decode()}")
        loss.drop((*path, name), code, severity, "the target does not take this keyword")
    if not limits:
        return
    before = made.get("description")
    text = f"{{{', '.join(limits)}}}"
    made["description"] = f"{before}\n\n{text}" if type(before) is str and before else text
    message = "the description says what the target does not take"
    loss.replace((*path, "description"), made["description"], "schema_weakened", "weakened", message)
