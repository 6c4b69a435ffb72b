"""
Tools that a program carries out for a model: a definition, and the function behind it (spec/2-requests.md#tool-loop).

    @tool(side_effects="read")
    def read_gauge(number: int) -> str:
        "The reading of a gauge."

    ActiveTool(Tool(name="read_gauge", input_schema=…), run)     # the same with a definition of one's own
"""

import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, overload

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.validate import validate

Data = dict[str, Any]
Function = Callable[..., Any]
SideEffects = Literal["none", "read", "write", "execute", "network"]

_TIME_LIMIT_S: Final = 60.0
_LONG_TIME_LIMIT_S: Final = 600.0  # for commands and networks, which take the time that they take


class ActiveTool:
    """A tool and what carries it out.

    `definition` is a `Tool` or plain data. `run` is called with the input of a call: an object as a dictionary, for a tool
    of kind `custom` the text. It may be a coroutine function; any other runs in a thread of its own. What it gives is the
    result: a text, blocks, or any value, which is told as JSON; what it raises is told as a failure.
    `time_limit` in seconds is how long a call may take (default: 60; 600 where the side effects are `execute` or `network`).
    Raises `InvalidRequest` for what is no tool.
    """

    def __init__(
        self, definition: Any, run: Callable[[Any], Any | Awaitable[Any]], *, time_limit: float | None = None
    ) -> None:
        self.definition: Data = json.plain(definition)
        validate(self.definition, "Tool")
        self.run = run
        self.asynchronous = is_asynchronous(run)
        if time_limit is None:
            time_limit = _LONG_TIME_LIMIT_S if self.side_effects in ("execute", "network") else _TIME_LIMIT_S
        self.time_limit = time_limit

    @property
    def name(self) -> str:
        """The name by which a model calls it."""
        return self.definition["name"]

    @property
    def side_effects(self) -> SideEffects:
        """What a call may change; `execute` where the definition does not say."""
        return self.definition.get("side_effects") or "execute"


class FunctionTool(ActiveTool):
    """A function of Python as a tool; calling it calls the function."""

    def __init__(self, function: Function, definition: Data, arguments: Any, time_limit: float | None) -> None:
        self._function = function
        self._arguments = arguments
        super().__init__(definition, self._run, time_limit=time_limit)
        self.asynchronous = is_asynchronous(function)

    def __call__(self, *values: Any, **named: Any) -> Any:
        """What the function gives."""
        return self._function(*values, **named)

    def _run(self, given: Data) -> Any:
        return self._function(**_converted(self._arguments, given))


class UnfitArguments(Exception):
    """Arguments that no values of the parameters' types can be made of; `violations` say where and why."""

    def __init__(self, violations: list[dict[str, str]]) -> None:
        super().__init__("the arguments do not fit the parameters of the function")
        self.violations = violations


@overload
def tool(function: Function, /) -> FunctionTool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    side_effects: SideEffects | None = None,
    time_limit: float | None = None,
    **members: Any,
) -> Callable[[Function], FunctionTool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    side_effects: SideEffects | None = None,
    time_limit: float | None = None,
    **members: Any,
) -> FunctionTool | Callable[[Function], FunctionTool]:
    """A function as a tool, for `run_tools`: its name, its docstring, and the JSON Schema of its parameters' types.

    A parameter gets a description from `Annotated[int, pydantic.Field(description="…")]`; the values of a call are
    converted to the types of the parameters. `members` are further ones of `Tool`, `time_limit` is that of `ActiveTool`.
    Raises `InvalidRequest` for a function whose parameters cannot be given by name, or have a type without a schema.
    """

    def made(function: Function) -> FunctionTool:
        arguments = _arguments(function)
        told = description if description is not None else inspect.getdoc(function)
        definition: Data = {"name": name or function.__name__, "input_schema": _schema(arguments, function), **members}
        if told:
            definition["description"] = told
        if side_effects is not None:
            definition["side_effects"] = side_effects
        return FunctionTool(function, definition, arguments, time_limit)

    return made if function is None else made(function)


def is_asynchronous(function: Any) -> bool:
    """Whether calling it gives a coroutine at once, so that no thread is needed."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 asked of the method


# ---------------------------------------------------------------------------------------------------- parameters


def _arguments(function: Function) -> Any:
    """The type of the arguments: one field for each parameter, numbered, for a parameter may have any name."""
    from pydantic import ConfigDict, Field, PydanticUserError, create_model

    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as problem:
        raise InvalidRequest(f"the types of {function.__name__} are not known: {problem}") from None
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise _no_tool(function, f"{parameter} is not given by name")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[f"parameter_{number}"] = (hints.get(parameter.name, Any), Field(default, alias=parameter.name))
    try:
        return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
    except PydanticUserError as problem:
        raise _no_tool(function, problem.message) from None


def _no_tool(function: Function, why: str) -> InvalidRequest:
    return InvalidRequest(f"{function.__name__} cannot be a tool: {why.splitlines()[0]}")


def _schema(arguments: Any, function: Function) -> Data:
    """The schema of the arguments, without the titles that pydantic makes of names, and without references."""
    from pydantic import PydanticUserError
    from pydantic.json_schema import GenerateJsonSchema

    class WithoutTitles(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 asked by pydantic
            return False

    try:
        schema: Data = arguments.model_json_schema(schema_generator=WithoutTitles)
    except PydanticUserError as problem:
        raise _no_tool(function, problem.message) from None
    del schema["title"]
    schema.setdefault("properties", {})
    definitions = schema.get("$defs", {})
    try:
        return _inlined({name: value for name, value in schema.items() if name != "$defs"}, definitions, ())
    except RecursionError:
        return schema


def _inlined(node: Any, definitions: Data, within: tuple[str, ...]) -> Any:
    """A schema with what its references name in their place. Raises `RecursionError` where a type holds itself."""
    if isinstance(node, list):
        return [_inlined(item, definitions, within) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" not in node:
        return {name: _inlined(value, definitions, within) for name, value in node.items()}
    name = node["$ref"].rpartition("/")[2]
    if name in within:
        raise RecursionError
    beside = {member: value for member, value in node.items() if member != "$ref"}
    named = {member: value for member, value in definitions[name].items() if member != "title"}
    return _inlined({**named, **beside}, definitions, (*within, name))


def _converted(arguments: Any, given: Data) -> Mapping[str, Any]:
    """The values that a function is called with. Raises `UnfitArguments`."""
    from pydantic import ValidationError

    try:
        values = arguments.model_validate(given)
    except ValidationError as problem:
        raise UnfitArguments(
            [
                {
                    "rule": "tool_input_invalid",
                    "path": "".join(f"/{step}" for step in ("input", *error["loc"])),
                    "message": error["msg"],
                }
                for error in problem.errors(include_input=False, include_url=False, include_context=False)
            ]
        ) from None
    fields = type(values).model_fields
    return {fields[name].alias: getattr(values, name) for name in values.model_fields_set}
