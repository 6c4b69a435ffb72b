"""
The methods of the generated models, written by hand: constructors, modifiers and views.

A constructed message is a draft: it gets its id, session and time when it is appended to a session or made by the
client from a response, because pure code has neither a clock nor randomness.
"""

import base64
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, cast

from interlingua.canonical.check import refuse_incomplete_medium, refuse_misplaced, refuse_misplaced_in_result
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.hash import canonical_text, content_hash
from interlingua.canonical.validate import is_base64

if TYPE_CHECKING:
    from decimal import Decimal

    from interlingua.canonical.models import KnownBlock, Message, ToolResultBlock, ToolUseBlock, UnknownBlock

    Block = KnownBlock | UnknownBlock

T = TypeVar("T")


class ThreeLists(NamedTuple):
    """A message in the form of seeds 000 and 001. This view does not show the order between the lists."""

    role: str
    parts: list[Any]
    tool_calls: list[Any]
    tool_results: list[Any]


class SingleContent(NamedTuple):
    """A message of one block in the form of seed 002."""

    role: str
    content: Any
    attributes: dict[str, Any]


def _blocks(content: Any) -> list[Any]:
    from interlingua.canonical.models import TextBlock

    if isinstance(content, str):
        return [TextBlock(text=content)]
    if isinstance(content, (list, tuple)):
        items = cast("list[Any]", content)
        return [TextBlock(text=item) if isinstance(item, str) else _block(item) for item in items]
    return [_block(content)]


def _block(value: Any) -> Any:
    if isinstance(value, dict) or hasattr(value, "type"):
        return value
    raise InvalidRequest(
        f"content must be a text, a block, or a list of them, not {type(value).__name__}", path="/content"
    )


class Made:
    """The base of models whose constructor checks more than the types express (spec/1-values.md#typed)."""

    __slots__ = ()

    def __init__(self, /, **members: Any) -> None:
        super().__init__(**members)
        self.check_rules()

    # pydantic's mark of an __init__ that its validators do not call: values that are read are not checked
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]

    def check_rules(self) -> None:
        """Raise `InvalidRequest` if the value breaks the contract."""
        raise NotImplementedError


class MessageMethods(Made):
    """The methods of `Message`."""

    __slots__ = ()

    def check_rules(self) -> None:
        """Raise `InvalidRequest` for blocks that the role does not allow, a wrong number of them, and a missing link."""
        refuse_misplaced(self)

    # -- constructors

    @classmethod
    def _new(cls, role: str, content: Any, members: dict[str, Any]) -> Self:
        make: Any = cls  # the generated class has the members; the mixin cannot know them
        return make(role=role, content=_blocks(content), **members)

    @classmethod
    def user(cls, content: Any, **members: Any) -> Self:
        """Make a message of a person: a text, a block, or a list of texts and blocks."""
        return cls._new("user", content, members)

    @classmethod
    def system(cls, content: Any, **members: Any) -> Self:
        """Make a message with instructions."""
        return cls._new("system", content, members)

    @classmethod
    def developer(cls, content: Any, **members: Any) -> Self:
        """Make a message with instructions of the application, which rank above system at some providers."""
        return cls._new("developer", content, members)

    @classmethod
    def assistant(cls, content: Any, **members: Any) -> Self:
        """Make a message of a model: a text, a block, or a list of texts and blocks."""
        return cls._new("assistant", content, members)

    @classmethod
    def tool(cls, tool_use_id: str, content: Any, *, is_error: bool = False, **members: Any) -> Self:
        """Make a message with the result of one tool call; message and block both name the call."""
        from interlingua.canonical.models import MessageMetadata, ToolResultBlock

        result = ToolResultBlock(tool_use_id=tool_use_id, content=_blocks(content), is_error=is_error)
        given = members.pop("metadata", None) or {}
        metadata = MessageMetadata.of(given) if isinstance(given, dict) else given
        linked = metadata.model_copy(update={"parent_tool_use_id": tool_use_id})
        return cls._new("tool", result, members | {"metadata": linked})

    @classmethod
    def from_lists(
        cls,
        role: str,
        parts: Sequence[Any] = (),
        tool_calls: Sequence[Any] = (),
        tool_results: Sequence[Any] = (),
    ) -> list[Self]:
        """Make messages from three lists: one message of parts and then calls, and one message for each tool result."""
        from interlingua.canonical.models import ToolResultBlock

        without_results = [cls._new(role, [*parts, *tool_calls], {})] if parts or tool_calls else []
        results = [ToolResultBlock.of(result) for result in tool_results]
        return without_results + [
            cls.tool(result.tool_use_id, result.content, is_error=result.is_error) for result in results
        ]

    @classmethod
    def join(cls, messages: "Sequence[Message]") -> "list[Message]":
        """Join consecutive assistant messages into one message; the inverse of `split`.

        Messages that differ in more than their content stay separate: a hint or a name belongs to one message only.
        """
        groups: list[list[Message]] = []
        for message in messages:
            if groups and message.role == "assistant" and _envelope(message) == _envelope(groups[-1][0]):
                groups[-1].append(message)
            else:
                groups.append([message])
        return [_joined(group) for group in groups]

    # -- modifiers

    def cacheable(self, ttl: str | None = None) -> Self:
        """Return the message with a cache hint, to keep the prompt up to it for `ttl` (5m, 1h; default: the provider's)."""
        from interlingua.canonical.models import CacheHint

        return _changed(self, cache=CacheHint(ttl=ttl) if ttl else CacheHint())

    def with_priority(self, priority: int) -> Self:
        """Return the message with a priority for explicit sorting; lower is earlier."""
        return _changed(self, priority=priority)

    def build(self) -> Self:
        """Return the message itself, as an optional end of a chain of modifiers."""
        return self

    # -- views

    @property
    def text(self) -> str:
        """All text blocks joined; "" when there is none."""
        return "".join(block.text for block in _content(self) if block.type == "text")

    @property
    def parts(self) -> "list[Block]":
        """The blocks that are neither tool calls nor tool results, in order."""
        return [block for block in _content(self) if block.type not in ("tool_use", "tool_result")]

    @property
    def tool_calls(self) -> "list[ToolUseBlock]":
        """The tool calls, in order."""
        return [block for block in _content(self) if block.type == "tool_use"]

    @property
    def tool_results(self) -> "list[ToolResultBlock]":
        """The tool results, in order."""
        return [block for block in _content(self) if block.type == "tool_result"]

    @property
    def tool_use_id(self) -> str | None:
        """On a tool message, the id of the call that its result belongs to."""
        return next((result.tool_use_id for result in self.tool_results), None)

    def lists(self) -> ThreeLists:
        """Return the role, and parts, tool calls and results as three lists; the order between the lists is lost."""
        return ThreeLists(cast("Message", self).role, self.parts, self.tool_calls, self.tool_results)

    def single(self) -> SingleContent:
        """Return the role, the only block and the attributes. Raises `InvalidRequest` unless there is just one block."""
        message = cast("Message", self)
        if len(message.content) != 1:
            raise InvalidRequest(
                "this view shows messages of exactly one block; split the message first", path="/content"
            )
        attributes = {"cache_control": message.cache, "priority": message.priority, "metadata": message.extra}
        return SingleContent(message.role, message.content[0], attributes)

    def split(self) -> list[Self]:
        """Return the message as messages of one block each, in order."""
        return [_changed(self, content=[block]) for block in _content(self)]

    def content_hash(self) -> str:
        """Return the SHA-256 of role, name and content; it is the same in every session and at every provider."""
        return content_hash(cast("Message", self).plain())

    def __eq__(self, other: object) -> bool:
        """Whether two messages are equal: all members count except the adapters' own data and the cache hint."""
        if not isinstance(other, MessageMethods):
            return NotImplemented
        return canonical_text(cast("Message", self).plain()) == canonical_text(cast("Message", other).plain())

    def __hash__(self) -> int:
        return hash(self.content_hash())


def _changed(value: T, **members: Any) -> T:
    """Return a copy of a model with other members, which are checked as in a constructor. None removes a member."""
    model: Any = value
    unchanged = {name: item for name, item in _set_members(model).items() if name not in members}
    return type(model).of({**unchanged, **{name: item for name, item in members.items() if item is not None}})


def _joined(group: "list[Message]") -> "Message":
    if len(group) == 1:
        return group[0]
    return group[0].model_copy(update={"content": [block for message in group for block in message.content]})


def _envelope(message: Any) -> dict[str, Any]:
    return {name: value for name, value in message.plain().items() if name != "content"}


def _set_members(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in model.model_fields_set}


def _content(message: Any) -> list[Any]:
    return message.content


def by_priority(messages: Iterable[T]) -> list[T]:
    """Return the messages sorted by priority, lower first (50 when absent).

    Ties keep their order, and results stay behind their calls. The messages are of the type or plain data. The result
    is a new list; nothing is ever reordered implicitly.
    """
    groups: list[list[T]] = []
    for message in messages:
        if _member(message, "role") == "tool" and groups:
            groups[-1].append(message)
        else:
            groups.append([message])
    groups.sort(
        key=lambda group: _DEFAULT_PRIORITY if (priority := _member(group[0], "priority")) is None else priority
    )
    return [message for group in groups for message in group]


_DEFAULT_PRIORITY = 50


def _member(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, dict) else getattr(message, name)


class MediaMethods(Made):
    """The methods of the blocks that hold a medium."""

    __slots__ = ()

    def check_rules(self) -> None:
        """Raise `InvalidRequest` for a source without its data, and for bytes without their media type."""
        refuse_incomplete_medium(self)

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str, **members: Any) -> Self:
        """Make a medium from its bytes, which are neither inspected nor converted."""
        from interlingua.canonical.models import MediaSource

        make: Any = cls
        source = MediaSource(kind="base64", data=base64.b64encode(data).decode("ascii"))
        return make(source=source, media_type=media_type, **members)

    @classmethod
    def from_url(cls, url: str, media_type: str | None = None, **members: Any) -> Self:
        """Make a medium that the provider fetches. Interlingua itself never fetches it."""
        from interlingua.canonical.models import MediaSource

        make: Any = cls
        optional = {} if media_type is None else {"media_type": media_type}
        return make(source=MediaSource(kind="url", data=url), **optional, **members)

    def bytes(self: Any) -> bytes:
        """Return the bytes of a base64 source. Raises `InvalidRequest` for other sources and for other data."""
        if self.source.kind != "base64":
            raise InvalidRequest(f"a {self.source.kind} source holds no bytes; resolve it first", path="/source/kind")
        if not is_base64(self.source.data):
            raise InvalidRequest("the data is not base64 text", path="/source/data")
        return base64.b64decode(self.source.data)


class ToolResultMethods(Made):
    """The methods of `ToolResultBlock`."""

    __slots__ = ()

    def check_rules(self) -> None:
        """Raise `InvalidRequest` for calls, results and reasoning inside of a result."""
        refuse_misplaced_in_result(self)


class RequestMethods:
    """The methods of `Request`."""

    __slots__ = ()

    def with_options(self, **members: Any) -> Self:
        """Return a copy with other members; the request itself is unchanged and can be used again."""
        return _changed(self, **members)


class ResponseMethods:
    """The methods of `Response`."""

    __slots__ = ()

    @property
    def text(self: Any) -> str:
        """All text of the answer."""
        return self.message.text

    @property
    def tool_calls(self: Any) -> "list[ToolUseBlock]":
        """The tool calls of the answer, in order."""
        return self.message.tool_calls

    @property
    def reasoning(self: Any) -> str:
        """All reasoning text of the answer."""
        return "".join(block.text for block in self.message.content if block.type == "thinking")

    @property
    def cost(self: Any) -> "Decimal | None":
        """The cost of the provider call in US dollars; None when the price is not known."""
        return None if self.usage is None else self.usage.cost_usd
