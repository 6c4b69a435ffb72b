"""
The base of the generated pydantic models: their base class, and the types that JSON does not have.

The models are an interface for users who prefer objects; internally, values are plain data (`canonical.types`).
`Model.of` takes plain data and refuses data that breaks the contract; `plain` returns the same data.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    field_validator,
)

from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path, pointer
from interlingua.canonical.texts import as_blocks
from interlingua.canonical.validate import check_plain, readable_name

T = TypeVar("T")


_WITHOUT_RULES = frozenset(("id", "session_id", "created_at", "cache", "priority", "extra", "provider_state"))
"""Members that the rules of content do not inspect: an id may be added to an empty response that was read."""


class Model(BaseModel):
    """A canonical value as an object: frozen, equal by value; members that this version does not know are kept."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        # a text is never converted to a number, nor a number to a text: the schema accepts neither
        strict=True,
        allow_inf_nan=False,
        # an error states what is wrong and where; the value there may be content of a conversation
        hide_input_in_errors=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        # to build sixty validators takes longer than all other imports
        defer_build=True,
    )

    TAG: ClassVar[str | None] = None
    """The constant value of `type`, for the arm of a union."""

    def __init__(self, /, **members: Any) -> None:
        try:
            super().__init__(**members)
        except ValidationError as problem:
            raise _refusal(type(self), members, problem) from None

    # pydantic's mark of an __init__ that its validators do not call
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        # only a member `type` that is a constant has a default
        tag = cls.__pydantic_fields__.get("type")
        cls.TAG = tag.default if tag is not None and not tag.is_required() else None

    def model_post_init(self, _context: Any, /) -> None:
        # the tag is part of the value, even if the caller did not write it
        if self.TAG is not None:
            self.__pydantic_fields_set__.add("type")
        if self.__pydantic_extra__:
            _refuse_no_json(self.__pydantic_extra__)

    def check_rules(self) -> None:
        """Raise `InvalidRequest` for a constructed value that the types allow and the contract forbids.

        Data that is read (`of`) is not checked: a provider's data is kept unchanged, and `check` judges it.
        """

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if name in self.model_fields_set)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Make the object from plain data. Raises `InvalidRequest` for data that does not fit the schema.

        `check` judges the other rules of the contract: data that is read is kept unchanged.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as problem:
            raise _refusal(cls, value, problem) from None

    def plain(self) -> dict[str, Any]:
        """Return the value as plain JSON data, with the members that were set and no others."""
        return self.model_dump(exclude_unset=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with `update` as its new members. Raises `InvalidRequest` if these are of a wrong type or break
        a rule."""
        copied = super().model_copy(deep=deep)
        if not update:
            return copied
        members = {name: getattr(copied, name) for name in copied.model_fields_set}
        changed = self.of({**members, **update})
        if not _WITHOUT_RULES.issuperset(update):
            changed.check_rules()
        return changed


def _refusal(model: type[Model], value: Any, problem: ValidationError) -> InvalidRequest:
    """The error for a value that does not fit a model, with every violation. It holds no part of the value."""
    violations = [
        {
            "rule": f"schema.{error['type']}",
            "path": pointer(_path(value, error["loc"])),
            "message": _WORDS.get(error["type"], error["msg"]),
        }
        for error in problem.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = violations[0]
    message = f"not a canonical {readable_name(model.__name__)}: {first['message']}"
    return InvalidRequest(message, path=first["path"], violations=violations)


_WORDS = {"union_tag_not_found": "must be an object with a type, which is a text"}
"""Messages where pydantic's own speak of its machinery."""


def _path(value: Any, steps: tuple[int | str, ...]) -> Path:
    """The place that pydantic names by these steps; some of them name no member, but the arm of a union."""
    path: list[int | str] = []
    tag: Any = None
    members: Any
    for position, step in enumerate(steps):
        if step == tag and tag is not None:
            tag = None
            continue
        members = dict(value) if isinstance(value, BaseModel) else value
        is_place = step in members if isinstance(members, Mapping) else isinstance(step, int)
        if is_place or position == len(steps) - 1:
            path.append(step)
        if is_place and isinstance(members, (Mapping, list, tuple)):
            value = cast("Any", members)[step]
            tag = value.get("type") if isinstance(value, Mapping) else getattr(value, "type", None)
    return tuple(path)


class ReadModel(Model):
    """
    The arm of an open union for every type that this version does not know. Only a reader makes it, from data (`of`);
    programs have no constructor for it.
    """

    KNOWN: ClassVar[frozenset[str]] = frozenset()
    """The values of `type` that have a class of their own."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError(f"{type(self).__name__} has no constructor: it holds data of a later version that was read")

    # pydantic's mark of an __init__ that its validators do not call
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]

    @field_validator("type", check_fields=False)
    @classmethod
    def _is_unknown(cls, tag: str) -> str:
        if tag in cls.KNOWN:
            raise ValueError(f"{tag!r} has a class of its own")
        return tag

    @classmethod
    def tag_of(cls, value: Any) -> str | None:
        """Return the arm of the union, by `type`; `*` is this one. A known type never falls through to it."""
        tag = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
        if not isinstance(tag, str):
            return None
        return tag if tag in cls.KNOWN else "*"


def _is_none(value: Any) -> bool:
    return value is None


def _refuse_no_json(value: T) -> T:
    try:
        check_plain(value)
    except InvalidRequest as problem:
        raise ValueError(f"{problem.message} (at {problem.path or 'the top'})") from None
    return value


# with any limit pydantic inspects the characters, and refuses half of a surrogate pair
Text = Annotated[str, Field(min_length=0)]
"""A text of whole characters."""

TextMap = dict[Text, Text]
"""Texts by name."""

FreeObject = Annotated[dict[str, Any], AfterValidator(_refuse_no_json)]
"""A free JSON object."""

FreeJson = Annotated[Any, AfterValidator(_refuse_no_json)]
"""Free JSON."""

Maybe = Annotated[T | None, Field(exclude_if=_is_none)]
"""A member that may be absent, but is never null in JSON: None means that it is absent."""


TEXT_AS_BLOCKS = BeforeValidator(as_blocks)
"""A list of blocks; a program may write one text instead (spec/1-values.md#text-as-content)."""


def _read_time(value: Any) -> Any:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("not a time of RFC 3339") from None  # the original quotes the value


def _utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("not between the years 1 and 9999 in UTC") from None


def _write_time(value: datetime) -> str:
    return f"{value.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


Timestamp = Annotated[
    AwareDatetime,
    BeforeValidator(_read_time),
    AfterValidator(_utc),
    PlainSerializer(_write_time, return_type=str),
]
"""A moment in UTC, exact to the microsecond; in JSON, RFC 3339 with six fractional digits."""


def _read_money(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return Decimal(value)
        except InvalidOperation:
            raise ValueError("not a decimal number") from None
    return Decimal(value) if type(value) is int else value


def _write_money(value: Decimal) -> str:
    return format(value, "f")


Money = Annotated[
    Decimal,
    Field(ge=0),
    BeforeValidator(_read_money),
    PlainSerializer(_write_money, return_type=str),
]
"""An exact decimal; in JSON, a string without exponent. Floats are refused."""
