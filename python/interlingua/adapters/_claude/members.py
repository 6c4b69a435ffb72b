"""Members of a request, in the direction of the wire."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._kit import (
    is_stored,
    report_foreign_option,
    report_foreign_options,
    stored_elsewhere,
)
from interlingua.adapters._members import within
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path


def kept_stops(stop: list[str], writing: Writing) -> list[str]:
    """The stop texts that are taken; one of white space alone is not."""
    kept: list[str] = []
    for position, text in enumerate(stop):
        if text.strip() or writing.same("stop"):
            kept.append(text)
        else:
            message = "the target takes no stop text of white space"
            writing.loss.drop(("stop", position), "unsupported_value", "weakened", message)
    return kept


def wanted_schema(wanted: Item, writing: Writing) -> Item | None:
    """The schema that an answer is to have; None where none is enforced, which is reported."""
    path: Path = ("response_format",)
    kind = wanted["type"]
    if kind == "text":
        for name in wanted:
            if name != "type":
                writing.loss.drop((*path, name), "unsupported_field", "representation", "free text has no such member")
    elif kind != "json_schema" or "schema" not in wanted:
        writing.loss.drop(path, "unsupported_value", "lost", "the target only takes a format that has a schema")
    elif writing.lacks("supports_structured_output", "response_format"):
        writing.loss.drop(path, "unsupported_model", "lost", "the model does not enforce schemas")
    else:
        return wanted["schema"]
    return None


# ---------------------------------------------------------------------------------------------- options

Read = Callable[[Item], tuple[Item, Item, Mapping[str, Any]]]
"""Reads members of a wire: what of them is canonical, what is an option, how they were spelt."""


def options_to_wire(body: Item, read: Read, settings: tuple[str, ...], writing: Writing) -> None:
    """Lays the wire's own members over those that are written, where they are read as options again.

    `settings` are members that are nothing without what of them is canonical.
    """
    report_foreign_options(writing.source, writing.endpoint, writing.loss)
    adapter = writing.endpoint.adapter
    stored = stored_elsewhere(writing.source, writing.endpoint) is not None
    for name, value in (writing.source["options"].get(adapter) or {}).items():
        if value is None:
            continue
        if stored and is_stored(adapter, name, value):
            report_foreign_option(adapter, name, value, writing.loss, "")
            continue
        where = ("options", writing.endpoint.adapter, name)
        if name in settings and name not in body and not writing.had_quirk(f"options/{name}", "combination"):
            writing.loss.drop(where, "combination", "lost", "what this stood beside is gone")
            continue
        made = _laid_over(body.get(name), value)
        if _is_option(name, value, body.get(name), made, read):
            body[name] = made
        else:
            message = "the request has a member of its own for this"
            writing.loss.drop(where, "combination", "lost" if value else "representation", message)


def _is_option(name: str, value: Any, present: Any, made: Any, read: Read) -> bool:
    try:
        said, options, encoding = read({} if present is None else {name: present})
        return read({name: made}) == (said, {**options, name: value}, encoding)
    except InvalidWire:
        return False


def _laid_over(present: Any, option: Any) -> Any:
    if isinstance(present, dict) and isinstance(option, dict):
        return {**present, **{name: _laid_over(present.get(name), value) for name, value in option.items()}}
    return option


# ---------------------------------------------------------------------------------------------- sampling


def sampling(name: str, value: Any, budgeted: bool, tempered: bool, writing: Writing) -> Any:
    """A member of sampling in the range that is taken; None for one that is not taken. Both are reported.

    `budgeted`: the model thinks with a fixed budget. `tempered`: a temperature is written already.
    """
    problem = _refused(name, value, budgeted, tempered, writing)
    if problem is not None:
        writing.loss.drop((name,), problem[0], "weakened", problem[1])
        return None
    if name != "top_k":
        return within(name, value, 0, 1, writing)
    fitted = max(int(value), 0)
    if fitted == value or writing.same(name):
        return value
    writing.loss.replace((name,), fitted, "unsupported_value", "weakened", "the target takes a whole number")
    return fitted


def _refused(name: str, value: Any, budgeted: bool, tempered: bool, writing: Writing) -> tuple[str, str] | None:
    if writing.lacks("sampling", name):
        return "unsupported_model", f"the model takes no {name}"
    if name == "top_p" and tempered and writing.says("temperature_or_top_p", "temperature", "top_p"):
        return "combination", "the model takes temperature or top_p"
    taken = name != "top_k" and (value == 1 if name == "temperature" else value >= _TOP_P)
    if budgeted and not taken and not writing.same(name, "reasoning"):
        return "combination", f"the target does not take this {name} together with reasoning"
    return None


_TOP_P: Final = 0.95  # the least that is taken together with reasoning of a fixed budget
