"""
What users can do with the generated models beside reading them: constructors, modifiers and views, written by hand.

A constructed message is a draft: id, session and time are bound when it is appended to a session or answered by the
client, because pure code has neither clock nor randomness.
"""

import base64
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, cast

from interlingua.canonical.check import refuse_incomplete_medium, refuse_misplaced, refuse_misplaced_in_result
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.hash import comparable, content_hash
from interlingua.canonical.validate import is_base64

if TYPE_CHECKING:
    from decimal import Decimal

    from interlingua.canonical.models import KnownBlock, Message, ToolResultBlock, ToolUseBlock, UnknownBlock

    Block = KnownBlock | UnknownBlock

T = TypeVar("T")


class ThreeLists(NamedTuple):
    """A message as seeds 000 and 001 see it. The order between the lists is not in this view."""

    role: str
    parts: list[Any]
    tool_calls: list[Any]
    tool_results: list[Any]


class SingleContent(NamedTuple):
    """A message of one block as seed 002 sees it."""

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
    raise InvalidRequest(f"content is a text, a block, or a list of them, not {type(value).__name__}", path="/content")


class Made:
    """Mixed into models whose constructor asks more than types can say (spec/1-values.md#typed)."""

    __slots__ = ()

    def __init__(self, /, **members: Any) -> None:
        super().__init__(**members)
        self.check_rules()

    # pydantic's word for an __init__ that its validators do without: what is read is not asked
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]

    def check_rules(self) -> None:
        """Raises `InvalidRequest` for what the contract forbids."""
        raise NotImplementedError


class MessageMethods(Made):
    """Mixed into `Message`."""

    __slots__ = ()

    def check_rules(self) -> None:
        """Raises `InvalidRequest` for blocks that the role does not take, for too few and too many, for a lost link."""
        refuse_misplaced(self)

    # -- constructors

    @classmethod
    def _new(cls, role: str, content: Any, members: dict[str, Any]) -> Self:
        make: Any = cls  # the generated class has the members; the mixin cannot know them
        return make(role=role, content=_blocks(content), **members)

    @classmethod
    def user(cls, content: Any, **members: Any) -> Self:
        """What a person says: a text, a block, or a list of texts and blocks."""
        return cls._new("user", content, members)

    @classmethod
    def system(cls, content: Any, **members: Any) -> Self:
        """Instructions."""
        return cls._new("system", content, members)

    @classmethod
    def developer(cls, content: Any, **members: Any) -> Self:
        """Instructions of the application, which rank above system at some providers."""
        return cls._new("developer", content, members)

    @classmethod
    def assistant(cls, content: Any, **members: Any) -> Self:
        """What a model says: a text, a block, or a list of texts and blocks."""
        return cls._new("assistant", content, members)

    @classmethod
    def tool(cls, tool_use_id: str, content: Any, *, is_error: bool = False, **members: Any) -> Self:
        """The result of one tool call, linked to the call in both places."""
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
        """Messages from three lists: parts before calls in one message; each tool result is a message of its own."""
        from interlingua.canonical.models import ToolResultBlock

        said = [cls._new(role, [*parts, *tool_calls], {})] if parts or tool_calls else []
        results = [ToolResultBlock.of(result) for result in tool_results]
        return said + [cls.tool(result.tool_use_id, result.content, is_error=result.is_error) for result in results]

    @classmethod
    def join(cls, messages: "Sequence[Message]") -> "list[Message]":
        """Groups neighbouring assistant messages into one message each; the inverse of `split`.

        Those that differ in more than their content stay apart: a hint or a name of one is not that of the others.
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
        """The message with a cache hint: keep the prompt up to here for `ttl` (5m, 1h), or the provider's default."""
        from interlingua.canonical.models import CacheHint

        return _changed(self, cache=CacheHint(ttl=ttl) if ttl else CacheHint())

    def with_priority(self, priority: int) -> Self:
        """The message with a priority for explicit sorting; lower is earlier."""
        return _changed(self, priority=priority)

    def build(self) -> Self:
        """The message. A chain of modifiers may end with it."""
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
        """On a tool message, the id of the call that it answers."""
        return next((result.tool_use_id for result in self.tool_results), None)

    def lists(self) -> ThreeLists:
        """Role, parts, tool calls and tool results as three lists; the order between the lists is lost."""
        return ThreeLists(cast("Message", self).role, self.parts, self.tool_calls, self.tool_results)

    def single(self) -> SingleContent:
        """Role, the one content value, and the attributes. Raises `InvalidRequest` unless there is exactly one block."""
        message = cast("Message", self)
        if len(message.content) != 1:
            raise InvalidRequest(
                "this view shows messages of exactly one block; split the message first", path="/content"
            )
        attributes = {"cache_control": message.cache, "priority": message.priority, "metadata": message.extra}
        return SingleContent(message.role, message.content[0], attributes)

    def split(self) -> list[Self]:
        """The message as messages of one block each, in order."""
        return [_changed(self, content=[block]) for block in _content(self)]

    def content_hash(self) -> str:
        """SHA-256 of what the message says; the same in every session, at every provider."""
        return content_hash(cast("Message", self).plain())

    def __eq__(self, other: object) -> bool:
        """Equal in all but what adapters keep for themselves and the cache hint."""
        if not isinstance(other, MessageMethods):
            return NotImplemented
        return comparable(cast("Message", self).plain()) == comparable(cast("Message", other).plain())

    def __hash__(self) -> int:
        return hash(self.content_hash())


def _changed(value: T, **members: Any) -> T:
    """A copy of a model with other members, which are checked as when it is made. None takes a member away."""
    model: Any = value
    kept = {name: given for name, given in _set_members(model).items() if name not in members}
    return type(model).of({**kept, **{name: given for name, given in members.items() if given is not None}})


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
    """The messages sorted by priority, lower first (50 when absent), ties in order; results stay behind their calls.

    They are of the type or plain data. Returns a new list; nothing is ever reordered implicitly.
    """
    groups: list[list[T]] = []
    for message in messages:
        if _member(message, "role") == "tool" and groups:
            groups[-1].append(message)
        else:
            groups.append([message])
    groups.sort(key=lambda group: _DEFAULT_PRIORITY if (given := _member(group[0], "priority")) is None else given)
    return [message for group in groups for message in group]


_DEFAULT_PRIORITY = 50


def _member(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, dict) else getattr(message, name)


class MediaMethods(Made):
    """Mixed into the blocks that hold a medium."""

    __slots__ = ()

    def check_rules(self) -> None:
        """Raises `InvalidRequest` for a source without its data, and for bytes without their media type."""
        refuse_incomplete_medium(self)

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str, **members: Any) -> Self:
        """A medium from its bytes. Nothing is inspected or converted."""
        from interlingua.canonical.models import MediaSource

        make: Any = cls
        source = MediaSource(kind="base64", data=base64.b64encode(data).decode("ascii"))
        return make(source=source, media_type=media_type, **members)

    @classmethod
    def from_url(cls, url: str, media_type: str | None = None, **members: Any) -> Self:
        """A medium that the provider fetches. Interlingua itself never fetches it."""
        from interlingua.canonical.models import MediaSource

        make: Any = cls
        known = {} if media_type is None else {"media_type": media_type}
        return make(source=MediaSource(kind="url", data=url), **known, **members)

    def bytes(self: Any) -> bytes:
        """The bytes of a base64 source. Raises `InvalidRequest` for any other source and for data that is not base64."""
        if self.source.kind != "base64":
            raise InvalidRequest(f"a {self.source.kind} source holds no bytes; resolve it first", path="/source/kind")
        if not is_base64(self.source.data):
            raise InvalidRequest("the data is not base64 text", path="/source/data")
        return base64.b64decode(self.source.data)


class ToolResultMethods(Made):
    """Mixed into `ToolResultBlock`."""

    __slots__ = ()

    def check_rules(self) -> None:
        """Raises `InvalidRequest` for calls, results and reasoning inside of a result."""
        refuse_misplaced_in_result(self)


class RequestMethods:
    """Mixed into `Request`."""

    __slots__ = ()

    def with_options(self, **members: Any) -> Self:
        """A copy with other members; the request itself stays as it is and can be used again."""
        return _changed(self, **members)


class ResponseMethods:
    """Mixed into `Response`."""

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
        """What the call cost in US dollars; None when the price is not known."""
        return None if self.usage is None else self.usage.cost_usd
