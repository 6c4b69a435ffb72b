"""
How a command parses its options: as Typer does, except for values that need no conversion.

Typer makes a pydantic adapter for every option, also for those that were not given. Importing pydantic takes longer
than most commands run, so the adapter is made only for values that have to be converted.
"""

from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command that does not load pydantic before an option needs it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, including those for the help."""
        return [_light(parameter) for parameter in super().get_params(ctx)]


class Group(TyperGroup):
    """The same for the options before the command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, including those for the help."""
        return [_light(parameter) for parameter in super().get_params(ctx)]


def _light(parameter: Any) -> Any:
    parameter.get_runtime_param = partial(_Plain, parameter)
    return parameter


class _Plain:
    """Convert texts, whole numbers within their range, and options that were not given; leave all else to Typer."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if not param.multiple and param.nargs == 1:
            kind = param.type_descriptor.annotation
            if value is None or (kind is str and type(value) is str):
                return value
            if kind is int and _is_number(value) and _within(int(value), param.type_descriptor.parameter_info):
                return int(value)
        return type(self._parameter).get_runtime_param(self._parameter).coerce(value, param=param, ctx=ctx)


def _is_number(value: Any) -> bool:
    return type(value) is str and value.isascii() and value.isdecimal() and len(value) < 20


def _within(number: int, limits: Any) -> bool:
    return (limits.min is None or number >= limits.min) and (limits.max is None or number <= limits.max)
