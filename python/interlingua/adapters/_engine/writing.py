"""
The state of a writer: the endpoint that it writes for, the loss report, what was kept when the source was read, the
names of tools, and the ids of calls.
"""

import hashlib
import re
from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

from interlingua.adapters._engine.as_read import AsRead
from interlingua.adapters._engine.kit import NOTHING, UnusedNames, severity_of
from interlingua.adapters._engine.reading import Reading
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import encode_ulid
from interlingua.canonical.loss import Loss, Path
from interlingua.canonical.state_in_ids import carries_state

Item = dict[str, Any]
P = TypeVar("P")

FILLER: Final = "(empty)"
"""The text that is written where a wire does not accept an empty content."""
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class CallIds:
    """The ids of calls that a wire accepts: a `pattern` of the whole id, or the length of the `longest`. Derived ids
    begin with `prefix`.

    If `length` is set, derived ids have exactly that length, and letters and digits only (for grammars without room for
    a ULID).
    """

    __slots__ = ("length", "longest", "pattern", "prefix")

    def __init__(
        self,
        prefix: str = "call_",
        pattern: re.Pattern[str] | None = None,
        longest: int | None = None,
        length: int | None = None,
    ) -> None:
        self.prefix = prefix
        self.pattern = pattern
        self.longest = longest
        self.length = length


ANY_ID: Final = CallIds()


class ToolNames:
    """The names of tools that a wire accepts.

    `characters` are those that a name may have, `first` those that it may begin with, and `longest` is its greatest
    length. `pattern` is a provider's own pattern of the whole name.

    Every grammar accepts the ASCII identifiers, unless it has such a pattern.
    """

    __slots__ = ("_begins", "_other", "_pattern", "_takes_identifiers", "longest")

    def __init__(
        self, longest: int = 64, characters: str = "a-zA-Z0-9_-", first: str = "", pattern: str | None = None
    ) -> None:
        self.longest = longest
        self._takes_identifiers = pattern is None
        self._pattern = re.compile(pattern or f"[{characters}]+")
        self._begins = re.compile(f"[{first or characters}]")
        self._other = re.compile(f"[^{characters}]")

    def of(self, dialect: dict[str, Any]) -> "ToolNames":
        """The names that a provider of this dialect accepts."""
        pattern: str | None = dialect.get("tool_name")
        return self if pattern is None else ToolNames(self.longest, pattern=pattern)

    def fit(self, name: str) -> bool:
        """Whether the wire accepts a name."""
        if not 0 < len(name) <= self.longest:
            return False
        # every call has a name, and most names are identifiers: this is much faster than a regular expression
        if self._takes_identifiers and name.isascii() and name.isidentifier():
            return True
        return self._pattern.fullmatch(name) is not None and self._begins.match(name) is not None

    def fitted(self, name: str) -> str:
        """A similar name that fits the grammar except for its length: `_` replaces every other character."""
        plain = self._other.sub("_", name)
        return plain if not plain or self._begins.match(plain) else f"_{plain}"


PLAIN_NAMES: Final = ToolNames()
"""Letters, digits, `_` and `-`: the grammar of most wires."""


class Refused(Exception):
    """The target does not accept a block; has the code and the message of the report."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Writing:
    """The endpoint that is written for, the report, and what was kept of the `source` (a request or a response) when it
    was read.

    - `same_origin`: the source came from this wire, so it is spelt as it was read.
    - `same_model`: and it is sent to the model that it was written for.
    - `answering`: a response is written.
    - `untouched`: a response that came from this wire is written; nothing of it is repaired. In a request, rules apply only
      to the members that were edited (`same`, `verbatim`).
    - `encoding`: how the source was spelt.
    - `folds_custom`: tools that take free text are written as functions.
    - `marks_definitions`: a mark for the cache is placed next to the definition of a provider's tool.
    """

    __slots__ = (
        "_call_ids",
        "_ids",
        "_names",
        "_read",
        "_tool_names",
        "_unused",
        "answering",
        "capabilities",
        "dialect",
        "folds_custom",
        "marks_definitions",
        "endpoint",
        "same_model",
        "encoding",
        "loss",
        "same_origin",
        "source",
        "untouched",
    )

    def __init__(
        self,
        source: Item,
        endpoint: Endpoint,
        loss: Loss,
        tool_names: ToolNames = PLAIN_NAMES,
        call_ids: CallIds = ANY_ID,
    ) -> None:
        self.source = source
        self.endpoint = endpoint
        self.dialect = endpoint.dialect
        self.capabilities = endpoint.capabilities
        self.loss = loss
        self._read = AsRead(source, endpoint)
        self.same_origin = self._read.same_origin
        self.same_model = self._read.same_model
        self.encoding: dict[str, Any] = self._read.encoding
        self.answering = "message" in source
        self.untouched = self.answering and self.same_origin
        self.folds_custom = True
        self.marks_definitions = False
        self._tool_names = tool_names.of(endpoint.dialect)
        names: Any = self.encoding.get("names")
        self._names: dict[str, str] = {}
        if isinstance(names, list):
            self._names.update((name, name) for name in names if isinstance(name, str))
        if endpoint.spellings:  # the client has tools of these names
            self._names.update((name, name) for name in endpoint.spellings)
        self._unused: UnusedNames | None = None
        self._call_ids = call_ids
        self._ids: dict[str, str] = {}  # of the calls that are written, by their canonical ids

    def reader(self) -> Reading:
        """A reader of the wire that is written, for values that were kept as received."""
        return Reading(self.endpoint)

    # ------------------------------------------------------------------------------------------ content without a place

    def text(self, text: str) -> Item:
        """A text part on the wire for a text that the writer adds."""
        return {"type": "text", "text": text}

    def or_placeholder(
        self, write: Callable[[Item, P, Any, Path], Item | None], block: Item, place: P, path: Path
    ) -> Item | None:
        """Write a block. If `write` raises `Refused`, report the block and return the part that replaces it, or None if
        nothing does.

        The arguments of `write` are the block, its place, the writing and the path. The place is what `write` has to
        know of it: a role, or the turn that is put together.
        """
        try:
            return write(block, place, self, path)
        except Refused as refused:
            return self.placeholder_or_drop(block, path, refused)

    def parts(
        self, write: Callable[[Item, P, Any, Path], Item | None], blocks: list[Item], place: P, path: Path
    ) -> list[Item]:
        """Write the blocks of one place (`or_placeholder`); `path` is that of their list."""
        found: list[Item] = []
        for index, block in enumerate(blocks):
            if len(block) == 2 and block["type"] == "text" and (text := block["text"]) and not text.isspace():
                found.append(self.text(text))  # most blocks
                continue
            part = self.or_placeholder(write, block, place, (*path, index))
            if part is not None:
                found.append(part)
        return found

    def placeholder_or_drop(self, block: Item, path: Path, refused: Refused) -> Item | None:
        """Report a block that the wire cannot represent; return the part that replaces it, or None if nothing does."""
        placeholder = self.loss.block(path, block, refused.code, "lost", refused.message)
        return None if placeholder is None else self.text(placeholder["text"])

    def fill(self, path: Path, text: str = FILLER, before: Collection[Item] = ()) -> str:
        """Return the text for a content of which nothing is left, on a wire that accepts no empty one, and report it.

        `path` is that of the content. `before` are blocks that are read before the text.
        """
        value = [*before, {"type": "text", "text": text}]
        self.loss.replace(path, value, "filler", "representation", "the wire takes nothing empty here")
        return text

    # --------------------------------------------------------------------------- what was kept when the source was read

    def same(self, *members: str) -> bool:
        """Whether members of the request are as they were read from this wire; its provider then validates them, not
        the writer."""
        return self.untouched or self._read.same(*members)

    def verbatim(self, *members: str) -> bool:
        """Whether members are as they were read, and are sent to the model for which they were written."""
        return self.untouched or self._read.verbatim(*members)

    @property
    def from_another(self) -> bool:
        """Whether the source was read from this wire, but from another provider of it."""
        state: dict[str, Any] = self.source.get("provider_state") or NOTHING
        return not self.same_origin and state.get("adapter") == self.endpoint.adapter

    def state_of(self, item: Item) -> dict[str, Any]:
        """The provider state of an item if it may be replayed here, else an empty one."""
        state: Item | None = item.get("provider_state")
        return state if state is not None and self.endpoint.owns(state) else NOTHING

    def encoding_of(self, item: Item) -> dict[str, Any]:
        """How an item of this wire was spelt; empty for an item of another origin."""
        state: Item | None = item.get("provider_state")
        if state is None or not (encoding := state.get("encoding")) or not self.endpoint.owns(state):
            return NOTHING
        found: Item = encoding
        return found

    # ------------------------------------------------------------------------------------------ what the target accepts

    def lacks(self, capability: str, *members: str) -> bool:
        """Whether the model is known not to accept something. Members that were written for the model, and are as they
        were read, are not validated: the result is False."""
        return self.capabilities.get(capability) is False and not self.verbatim(*members)

    def has_trait(self, capability: str, *members: str) -> bool:
        """Whether the model is known to have a trait that forbids something; False for members that were written for
        the model."""
        return self.capabilities.get(capability) is True and not self.verbatim(*members)

    def known(self, *members: str) -> dict[str, Any]:
        """The known capabilities of the model; empty for members that were written for it."""
        return NOTHING if self.verbatim(*members) else self.capabilities

    def refuses(self, name: str, member: str | None = None) -> bool:
        """Whether the provider's wire or the model does not accept a member of the request.

        `name` is the name that dialect and capabilities have for it. `member` is the canonical member or the fact
        (`as_read`) that must be unedited for the model's capabilities not to apply; without it, `name` is.
        """
        if name in self.dialect.get("unsupported", ()):
            return True
        return bool(self.capabilities) and self.lacks(f"supports_{name}", member or name)

    def report_refused(self, name: str, value: Any, severity: str = "weakened") -> None:
        """Report that a member of the request is left out; if it states what is so anyway, the severity is lower."""
        severity = severity_of(name, value, severity)
        if name in self.dialect.get("unsupported", ()):
            self.loss.drop((name,), "unsupported_field", severity, f"the provider does not accept {name}")
        else:
            self.loss.drop((name,), "unsupported_model", severity, f"the model does not accept {name}")

    # ------------------------------------------------------------------------------------------ ids of calls

    def call_id(self, block: Item, state: dict[str, Any]) -> str:
        """Return the wire id of a call, and remember it for the result.

        It is the id in the `state` of the call if the target accepts that, else a derived one. An id that a provider
        repeats in a later turn is sent back unchanged.
        """
        canonical: str = block["id"]
        wire_id: str | None = state.get("id")
        if wire_id is None or not (self.same_origin or self.takes_id(wire_id)):
            wire_id = self._ids.get(canonical) or self._derived_id(canonical)
        self._ids[canonical] = wire_id
        return wire_id

    def result_id(self, block: Item) -> str:
        """The wire id of the call that a result answers."""
        canonical: str = block["tool_use_id"]
        wire_id = self._ids.get(canonical)
        if wire_id is None:
            wire_id = self.state_of(block).get("id")
        if wire_id is None:
            wire_id = self._ids[canonical] = self._derived_id(canonical)
        return wire_id

    def takes_id(self, wire_id: str) -> bool:
        """Whether the wire accepts the id of a call."""
        ids = self._call_ids
        if ids.pattern is not None:
            fits = ids.pattern.fullmatch(wire_id) is not None
        else:
            fits = 0 < len(wire_id) and (ids.longest is None or len(wire_id) <= ids.longest)
        return fits or carries_state(wire_id, self.endpoint)

    def _derived_id(self, canonical: str) -> str:
        ids = self._call_ids
        if ids.length is not None:
            return self._short_id(canonical, ids.length)
        wire_id = ids.prefix + canonical.removeprefix("tu_")
        if self.takes_id(wire_id):
            return wire_id
        digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).digest()
        return ids.prefix + encode_ulid(int.from_bytes(digest[:16], "big"))

    def _short_id(self, canonical: str, length: int) -> str:
        """An id of letters and digits that no other call has."""
        taken = set(self._ids.values())
        for attempt in range(1_000):
            digest = hashlib.sha256(f"{canonical}\0{attempt}".encode()).digest()
            number = int.from_bytes(digest, "big")
            wire_id = ""
            for _ in range(length):
                number, digit = divmod(number, len(_DIGITS))
                wire_id += _DIGITS[digit]
            if wire_id not in taken:
                return wire_id
        raise InvalidRequest("the grammar of the target has no more free tool ids")

    # ------------------------------------------------------------------------------------------ names of tools

    def tool_name(self, name: str) -> str:
        """The name of a tool in the target's grammar: the same in tools, choice and history, and different from that of
        every other tool.

        If it is not the given name, the caller reports that (`report_name`).
        """
        wire = self._names.get(name)
        if wire is None:
            wire = self._names[name] = name if self.untouched or self._tool_names.fit(name) else self._rewritten(name)
        return wire

    def written_tool_name(self, name: str, path: Path) -> str:
        """The same as `tool_name`, reported; `path` is that of the item that has the name as its member `name`."""
        wire = self.tool_name(name)
        if wire != name:
            self.report_name((*path, "name"), wire)
        return wire

    def report_name(self, where: Path, wire: str) -> None:
        """Report a name that was rewritten."""
        self.loss.replace(where, wire, "name_rewritten", "representation", "the name does not fit the target's grammar")

    def had_twice(self, name: str) -> bool:
        """Whether two tools had this name when they were read."""
        return self.untouched or (self.same_origin and name in (self.encoding.get("again") or ()))

    def _rewritten(self, name: str) -> str:
        if self._unused is None:
            self._unused = UnusedNames(set(self._names.values()) | tool_names(self.source))
        return self._unused.name(self._tool_names.fitted(name) or "tool", self._tool_names.longest)


def tool_names(source: Item) -> set[str]:
    """All names of tools in a request or a response."""
    names = {tool["name"] for tool in source.get("tools") or ()}
    messages = source.get("messages") or [
        choice["message"] for choice in (source, *(source.get("alternatives") or ())) if "message" in choice
    ]
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use":
                names.add(block["name"])
    return names
