"""Which members of an item state only how it was served (spec/6-loss.md#serving)."""

from functools import cache
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.spec_files import spec_file

Item = dict[str, Any]


def states_serving(item: Item, adapter: str, name: str, value: Any) -> bool:
    """Whether a member of a response or block of a wire states only how, when or where it was served, or repeats the
    request. Of a response, this also holds for a value that states nothing: null, false, 0, or a structure of these."""
    kind: Any = item.get("type") or ("response" if "finish_reason" in item else None)
    if kind == "response" and _is_blank(value):
        return True
    rules = _table().get(adapter, {}).get(kind, {})
    return name in rules and _holds(rules[name], value)


def _holds(rule: Any, value: Any) -> bool:
    """Whether a value is as a rule of the table says: any, one of a list, or an object with such members alone."""
    if rule is True:
        return True
    if isinstance(rule, list):
        return value in rule
    return isinstance(value, dict) and all(name in rule and _holds(rule[name], inner) for name, inner in value.items())


def _is_blank(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_blank, value.values()))
    return all(map(_is_blank, value)) if isinstance(value, list) else not value


@cache
def _table() -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, Any] = json.loads(spec_file("registry", "answer_members.json").read_bytes())
    del found["description"]
    return found
