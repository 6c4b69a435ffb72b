"""Options: a wire's own members that the contract has no word for, laid over those that are written."""

from collections.abc import Callable
from typing import Any

from interlingua.adapters._kit import is_stored, report_foreign_option, report_foreign_options, stored_elsewhere
from interlingua.adapters._writing import Item, Writing
from interlingua.canonical.errors import InvalidWire

Read = Callable[[Item], tuple[Item, Item]]
"""Reads members of a wire: what of them is canonical, and what is an option."""


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
        said, options = read({} if present is None else {name: present})
        return read({name: made}) == (said, {**options, name: value})
    except InvalidWire:
        return False


def _laid_over(present: Any, option: Any) -> Any:
    if isinstance(present, dict) and isinstance(option, dict):
        return {**present, **{name: _laid_over(present.get(name), value) for name, value in option.items()}}
    return option
