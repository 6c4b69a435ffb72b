"""
Tools that a program runs for a model: a definition and its function (spec/2-requests.md#tool-loop).

    @tool(side_effects="read")
    def read_gauge(number: int) -> str:
        "The reading of a gauge."

    ActiveTool(Tool(name="read_gauge", input_schema=…), run)     # the same with your own definition
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
_LONG_TIME_LIMIT_S: Final = 600.0  # for commands and networks, which may be slow


class ActiveTool:
    """A tool and the function that runs it.

    `definition` is a `Tool` or plain data. `run` is called with the input of a call: a dictionary, or the text for a
    tool of kind `custom`. It may be a coroutine function; any other function runs in a thread of its own. It returns
    the result: a text, blocks, or any value, which is written as JSON. An exception becomes a result that is a failure.
    `time_limit` is the most seconds of a call (default: 60; 600 when the side effects are `execute` or `network`).
    Raises `InvalidRequest` for an invalid definition.
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
        """The side effects of a call; `execute` when the definition does not state them."""
        return self.definition.get("side_effects") or "execute"


class FunctionTool(ActiveTool):
    """A Python function as a tool. A call of the tool object calls the function."""

    def __init__(self, function: Function, definition: Data, arguments: Any, time_limit: float | None) -> None:
        self._function = function
        self._arguments = arguments
        super().__init__(definition, self._run, time_limit=time_limit)
        self.asynchronous = is_asynchronous(function)

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Call the function."""
        return self._function(*values, **named)

    def _run(self, arguments: Data) -> Any:
        return self._function(**_converted(self._arguments, arguments))


class UnfitArguments(Exception):
    """Arguments that cannot be converted to the types of the parameters; `violations` state where and why."""

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
    """Make a function a tool for `run_tools`, with its name, its docstring, and the JSON Schema of its parameters.

    A parameter gets a description from `Annotated[int, pydantic.Field(description="…")]`; the values of a call are
    converted to the types of the parameters. `members` are further members of `Tool`, `time_limit` is that of
    `ActiveTool`. Raises `InvalidRequest` for a function with a parameter that cannot be passed by name, or whose type
    has no schema.
    """

    def decorate(function: Function) -> FunctionTool:
        arguments = _arguments(function)
        text = description if description is not None else inspect.getdoc(function)
        definition: Data = {"name": name or function.__name__, "input_schema": _schema(arguments, function), **members}
        if text:
            definition["description"] = text
        if side_effects is not None:
            definition["side_effects"] = side_effects
        return FunctionTool(function, definition, arguments, time_limit)

    return decorate if function is None else decorate(function)


def is_asynchronous(function: Any) -> bool:
    """Whether a call of the function returns a coroutine at once, so that no thread is needed."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 the method is inspected


# ---------------------------------------------------------------------------------------------------- parameters


def _arguments(function: Function) -> Any:
    """The type of the arguments: one field for each parameter, numbered, because a parameter may have any name."""
    from pydantic import ConfigDict, Field, PydanticUserError, create_model

    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as problem:
        raise InvalidRequest(f"the types of {function.__name__} are not known: {problem}") from None
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise _not_a_tool(function, f"{parameter} cannot be passed by name")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[f"parameter_{number}"] = (hints.get(parameter.name, Any), Field(default, alias=parameter.name))
    try:
        return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
    except PydanticUserError as problem:
        raise _not_a_tool(function, problem.message) from None


def _not_a_tool(function: Function, why: str) -> InvalidRequest:
    return InvalidRequest(f"{function.__name__} cannot be a tool: {why.splitlines()[0]}")


def _schema(arguments: Any, function: Function) -> Data:
    """The schema of the arguments, without references and without the titles that pydantic makes from names."""
    from pydantic import PydanticUserError
    from pydantic.json_schema import GenerateJsonSchema

    class WithoutTitles(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 asked by pydantic
            return False

    try:
        schema: Data = arguments.model_json_schema(schema_generator=WithoutTitles)
    except PydanticUserError as problem:
        raise _not_a_tool(function, problem.message) from None
    del schema["title"]
    schema.setdefault("properties", {})
    definitions = schema.get("$defs", {})
    try:
        return _inlined({name: value for name, value in schema.items() if name != "$defs"}, definitions, ())
    except RecursionError:
        return schema


def _inlined(node: Any, definitions: Data, within: tuple[str, ...]) -> Any:
    """A schema with its references replaced by their targets. Raises `RecursionError` when a type contains itself."""
    if isinstance(node, list):
        return [_inlined(item, definitions, within) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" not in node:
        return {name: _inlined(value, definitions, within) for name, value in node.items()}
    name = node["$ref"].rpartition("/")[2]
    if name in within:
        raise RecursionError
    siblings = {member: value for member, value in node.items() if member != "$ref"}
    target = {member: value for member, value in definitions[name].items() if member != "title"}
    return _inlined({**target, **siblings}, definitions, (*within, name))


def _converted(arguments: Any, received: Data) -> Mapping[str, Any]:
    """The arguments of a function, converted to its types. Raises `UnfitArguments`."""
    from pydantic import ValidationError

    try:
        values = arguments.model_validate(received)
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
