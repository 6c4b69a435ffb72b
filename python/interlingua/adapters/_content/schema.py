"""
Fit JSON Schemas into the dialects of providers: one walker for all of them.

A dialect accepts some keywords, and some of them only with certain values. A keyword with an equivalent in the
dialect is rewritten. A keyword without one is removed and stated in the description, which a model still reads. Each
change is reported at its pointer. A wire declares in a `Dialect` which keywords it accepts, and what happens to all
others. Functions with a parameter `made` change that schema in place.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.loss import Loss, Path

Schema = dict[str, Any]

NAMED: Final = "named"
LISTED: Final = "listed"
SINGLE: Final = "single"
Places = dict[str, str]
"""The keywords that hold schemas: several by name, several in a list, or a single one."""
PLACES: Final[Places] = {
    **dict.fromkeys(("properties", "$defs", "definitions"), NAMED),
    **dict.fromkeys(("anyOf", "prefixItems"), LISTED),
    **dict.fromkeys(("items", "additionalProperties"), SINGLE),
}
"""The places in most dialects."""

DEEPEST: Final = 192
"""The most steps of a pointer at which a schema is changed. No real schema is deeper; below that it is left
unchanged."""
_NOTHING: Final[dict[str, type]] = {}


# ---------------------------------------------------------------------------------------------------- a dialect

Gone = tuple[str, str, bool]
"""For a keyword that is removed: the code and the severity of the report, and whether the description states the
keyword."""
LIMIT: Final[Gone] = ("schema_weakened", "weakened", True)
Rewrite = Callable[[Schema, Loss, Path], None]


class Dialect:
    """The part of JSON Schema that a target accepts.

    `places` are the keywords that hold schemas. `plain` are the keywords that are accepted with any value of a type.
    `types` are the accepted values of `type`. For everything else, `takes` checks whether a keyword is accepted with
    a value, and `gone` states what happens to it if not. `renamed` are lists of schemas that get another name if that
    name is free: the name, the other name, and whether only a list of a single schema is renamed. `rewrite` rewrites
    other keywords that have an equivalent, and removes keywords that cannot be used together with the keyword
    `alone`.

    `loose`: true and false are schemas, too; else the empty schema replaces them. `inside` is the dialect of the inner
    schemas, if that is another one.
    """

    def __init__(
        self,
        places: Places,
        takes: Callable[[str, Any], bool],
        gone: Callable[[str, Any], Gone],
        plain: dict[str, type] = _NOTHING,
        types: frozenset[str] = frozenset(),
        renamed: tuple[tuple[str, str, bool], ...] = (),
        rewrite: Rewrite | None = None,
        *,
        alone: str = "",
        loose: bool = False,
        inside: "Dialect | None" = None,
    ) -> None:
        self.places = places
        self.plain = plain
        self.types = types
        self.takes = takes
        self.gone = gone
        self.renamed = renamed
        self.rewrite = rewrite
        self.alone = alone
        self.loose = loose
        self.inside = self if inside is None else inside


def fits(schema: Any, dialect: Dialect, level: int = 0) -> bool:
    """Whether a dialect accepts a schema unchanged. The keywords in the schema are checked; nearly all schemas fit."""
    if type(schema) is not dict:
        return dialect.loose
    if level > _MOST_LEVELS:
        return True
    members: Schema = schema
    plain = dialect.plain
    for name, value in members.items():
        if name == "type" and type(value) is str and value in dialect.types:
            continue
        kind = plain.get(name)
        if type(value) is not kind:
            if not dialect.takes(name, value) or name == dialect.alone:
                return False
        elif kind is str or (place := dialect.places.get(name)) is None:
            continue
        elif not _parts_fit(members[name], place, dialect.inside, level + 1):
            return False
    return True


def _parts_fit(value: Any, place: str, dialect: Dialect, level: int) -> bool:
    """Whether a dialect accepts the schemas in a keyword."""
    if place == SINGLE:
        return fits(value, dialect, level)
    if place == NAMED:
        named: Schema = value
        for part in named.values():  # noqa: SIM110
            if not fits(part, dialect, level):
                return False
        return True
    listed: list[Any] = value
    for item in listed:  # noqa: SIM110 a generator costs more than the checks
        if not fits(item, dialect, level):
            return False
    return True


_MOST_LEVELS: Final = 64


def fitted(
    schema: Any, dialect: Dialect, loss: Loss, path: Path, resolve: Callable[[Schema, Path], Schema] | None = None
) -> Any:
    """Return the schema in a dialect; the same object if nothing had to change. `resolve` returns the schema that an
    inner one refers to."""
    if len(path) > DEEPEST:
        return schema
    if type(schema) is not dict:
        return schema if dialect.loose else anything(schema, loss, path)
    if dialect.plain and fits(schema, dialect):
        return schema
    names = [name for name, equal, lone in dialect.renamed if _is_renamed(schema, name, equal, lone)]
    places = {**dialect.places, **dict.fromkeys(names, LISTED)} if names else dialect.places

    def inside(part: Any, where: Path) -> Any:
        part = part if resolve is None or type(part) is not dict else resolve(part, where)
        return fitted(part, dialect.inside, loss, where, resolve)

    made = with_parts(schema, places, path, inside)
    for name, equal, _ in dialect.renamed:
        if name in names:
            rename(made, name, equal, loss, path)
    if dialect.rewrite is not None:
        dialect.rewrite(made, loss, path)
    gone = {name: dialect.gone(name, value) for name, value in made.items() if not dialect.takes(name, value)}
    leave_out(made, gone, loss, path)
    return made


def _is_renamed(schema: Schema, name: str, equal: str, lone: bool) -> bool:
    value = schema.get(name)
    return type(value) is list and equal not in schema and (len(value) == 1 or not lone)


def leave_out(made: Schema, gone: Mapping[str, Gone], loss: Loss, path: Path) -> None:
    """Remove keywords, and state in the description those that a model should still know."""
    limits: list[str] = []
    for name, (code, severity, in_description) in gone.items():
        value = made.pop(name)
        if in_description:
            limits.append(f"{name}: {json.dumps(value).decode()}")
        loss.drop((*path, name), code, severity, "the target does not accept this keyword")
    if not limits:
        return
    before = made.get("description")
    text = f"{{{', '.join(limits)}}}"
    made["description"] = f"{before}\n\n{text}" if type(before) is str and before else text
    message = "the description states what the target does not accept"
    loss.replace((*path, "description"), made["description"], "schema_weakened", "weakened", message)


# ---------------------------------------------------------------------------------------------- inner schemas


def parts(schema: Schema, places: Places) -> Iterator[Any]:
    """Yield the inner schemas of a schema."""
    for name, place in places.items():
        value = schema.get(name)
        if place == NAMED and type(value) is dict:
            yield from value.values()
        elif place == LISTED and type(value) is list:
            yield from value
        elif place == SINGLE and type(value) is dict:
            yield value


def with_parts(schema: Schema, places: Places, path: Path, fit: Callable[[Any, Path], Any]) -> Schema:
    """Return a copy of a schema in which `fit` replaces each inner schema; `fit` receives the inner schema and its
    path."""
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


def holds(schema: Any, places: Places, check: Callable[[Schema], bool], level: int = 0) -> bool:
    """Whether a check holds for a schema and all its inner schemas. A schema with too many levels fails."""
    if type(schema) is not dict:
        return True
    if level > _DEEPEST_CHECKED or not check(schema):
        return False
    for part in parts(schema, places):  # noqa: SIM110 a generator costs more than the checks
        if not holds(part, places, check, level + 1):
            return False
    return True


_DEEPEST_CHECKED: Final = 100


def definitions(schema: Schema) -> dict[str, Any]:
    """Return the definitions of a schema, by the references to them."""
    return {
        f"#/{place}/{name}": part
        for place in ("$defs", "definitions")
        if type(named := schema.get(place)) is dict
        for name, part in named.items()
    }


def are_texts(value: Any) -> bool:
    """Whether a value is a list that holds only texts."""
    if type(value) is not list:
        return False
    for text in value:  # noqa: SIM110 a generator costs more than the checks
        if type(text) is not str:
            return False
    return True


# ---------------------------------------------------------------------------------------- keywords with an equivalent


def as_object(made: Schema, loss: Loss, path: Path) -> None:
    """Make an object of the root type of a tool's schema: the arguments of a tool are an object."""
    kind = made.get("type")
    if kind == "object":
        return
    same = kind is None or (type(kind) is list and "object" in kind)
    code, severity = ("schema_rewritten", "representation") if same else ("schema_weakened", "weakened")
    made["type"] = "object"
    loss.replace((*path, "type"), "object", code, severity, "the target requires an object at the root")


def demanded(schema: Schema | None, loss: Loss, path: Path) -> Schema:
    """Return the schema of a tool, or an empty one, for a wire that requires a schema for each tool."""
    if schema is not None:
        return schema
    none: Schema = {"type": "object", "properties": {}}
    loss.replace(path, none, "required_default", "representation", "the target requires a schema for each tool")
    return none


def anything(part: Any, loss: Loss, path: Path) -> Schema:
    """Return the empty schema instead of one that is no object; report it."""
    code, severity = ("schema_rewritten", "representation") if part is True else ("schema_weakened", "weakened")
    loss.replace(path, {}, code, severity, "the target accepts only an object as a schema: any value is the empty one")
    return {}


def rename(made: Schema, name: str, equal: str, loss: Loss, path: Path) -> None:
    """Rename a keyword; its value stays the same."""
    made[equal] = made.pop(name)
    message = f"the target has {equal} instead of {name}"
    loss.move((*path, name), (*path, equal), "schema_rewritten", "representation", message)


def replace(made: Schema, name: str, equal: str, value: Any, loss: Loss, path: Path) -> None:
    """Replace a keyword with another one, with a value of the same meaning."""
    del made[name]
    made[equal] = value
    message = f"the target has {equal} instead of {name}"
    loss.drop((*path, name), "schema_rewritten", "representation", message)
    loss.replace((*path, equal), value, "schema_rewritten", "representation", message)


def const_as_enum(made: Schema, loss: Loss, path: Path) -> None:
    """Replace a constant with an enumeration of one value."""
    if "const" in made and "enum" not in made:
        replace(made, "const", "enum", [made["const"]], loss, path)
