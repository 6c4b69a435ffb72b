"""
Validation of a value with a JSON Schema of a caller (spec/1-values.md#schemas-of-callers).

The schema must be self-contained: nothing outside of it is fetched. Its regular expressions run like those of policies
(`patterns`). If one cannot be run there, the value is not reported as invalid, but the expression is always reported.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import jsonschema_rs

from interlingua.canonical.loss import pointer
from interlingua.canonical.patterns import NOT_RUN, pattern

UNCHECKED: Final = "unchecked"
"""The rule for what could not be validated. Other rules are keywords of JSON Schema, such as `type` and `pattern`."""

_NAMES_OF_MEMBERS: Final = jsonschema_rs.RegexOptions(size_limit=64 << 10)  # bytes; linear time, as in `patterns`


def schema_errors(value: Any, schema: Any) -> Iterator[tuple[str, str, str]]:
    """Yield each place where a value breaks a schema: (rule, JSON Pointer into the value, message).

    No message holds a part of the value. The rule `unchecked` means that a regular expression of the schema could not
    be run. Raises `ValueError` if the schema is invalid, or the value is not plain data.
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
            yield UNCHECKED, "", f"the schema's {pointer(tuple(where))} {NOT_RUN}; nothing was validated"
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
    if unrun and not placed:  # under `not` and the like, where a failed pattern makes the value valid
        yield UNCHECKED, "", unrun[0]


def _unrun(error: Any) -> str | None:
    """Return the message about the expression that was not run; for a union that of any arm; None if there is none."""
    if error.kind.name == "pattern" and error.message.endswith(NOT_RUN):
        return error.message
    arms: Any = getattr(error.kind, "context", [])
    return next((message for arm in arms for inner in arm if (message := _unrun(inner)) is not None), None)


class _Pattern:
    """The validator of the keyword `pattern`."""

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
    raise ValueError("a schema outside of the given schema")
