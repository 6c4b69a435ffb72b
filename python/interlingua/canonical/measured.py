"""
A value measured by a JSON Schema that a caller brings (spec/1-values.md#schemas-of-callers).

The schema stands alone: what it refers to outside of itself is not fetched. Its regular expressions are run as those of
policies are (`patterns`); one that cannot be run there is never taken as broken, and never passed over in silence.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import jsonschema_rs

from interlingua.canonical.loss import pointer
from interlingua.canonical.patterns import NOT_RUN, pattern

UNCHECKED: Final = "unchecked"
"""The rule of what could not be measured. Other rules are the words of JSON Schema, such as `type` and `pattern`."""

_NAMES_OF_MEMBERS: Final = jsonschema_rs.RegexOptions(size_limit=64 << 10)  # bytes; linear time, as in `patterns`


def measured(value: Any, schema: Any) -> Iterator[tuple[str, str, str]]:
    """Where a value breaks a schema: (rule, JSON Pointer into the value, what is wrong). No text holds a part of the value.

    The rule `unchecked` says that a regular expression of the schema could not be run. Raises `ValueError` for what is no
    schema, or no plain data.
    """
    unrun: list[str] = []
    try:
        validator = jsonschema_rs.validator_for(
            schema,
            retriever=_nothing,
            keywords={"pattern": partial(_Pattern, unrun)},  # pyright: ignore[reportArgumentType] any callable is taken
            pattern_options=_NAMES_OF_MEMBERS,
        )
    except jsonschema_rs.ValidationError as problem:
        where = list(problem.instance_path)
        if problem.kind.name == "format" and "patternProperties" in where:
            yield UNCHECKED, "", f"the schema's {pointer(tuple(where))} {NOT_RUN}; nothing was measured"
            return
        raise ValueError("no JSON Schema") from problem
    except (jsonschema_rs.ReferencingError, TypeError) as problem:
        raise ValueError("no JSON Schema, or one that refers to something outside of itself") from problem
    placed = False
    for error in validator.iter_errors(value):
        where = pointer(tuple(error.instance_path))
        if (message := _unrun(error)) is None:
            yield error.kind.name, where, f"breaks the schema's {error.kind.name}"
        else:
            placed = True
            yield UNCHECKED, where, message
    if unrun and not placed:  # where breaking it would have been right
        yield UNCHECKED, "", unrun[0]


def _unrun(error: Any) -> str | None:
    """What the expression at fault is, when it was not run; of a union that of any of its arms."""
    if error.kind.name == "pattern" and error.message.endswith(NOT_RUN):
        return error.message
    arms: Any = getattr(error.kind, "context", [])
    return next((found for arm in arms for inner in arm if (found := _unrun(inner)) is not None), None)


class _Pattern:
    """The keyword `pattern`."""

    def __init__(self, unrun: list[str], _: Any, value: Any, path: list[str | int]) -> None:
        self._unrun = unrun
        self._pattern = pattern(value)
        self._message = f"the schema's {pointer(tuple(path))} {NOT_RUN}"

    def validate(self, instance: Any) -> None:
        if not isinstance(instance, str):
            return
        if self._pattern is None:
            self._unrun.append(self._message)
            raise ValueError(self._message)
        if not self._pattern.found_in(instance):
            raise ValueError("does not match")


def _nothing(_: str) -> Any:
    raise ValueError("a schema outside of the one that was given")
