"""What every writer carries: for whom it writes, what is lost on the way, what was read before, and the names of tools."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._as_read import AsRead
from interlingua.adapters._kit import NOTHING, UnusedNames, is_plain_name, plain_name, severity_of
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

Item = dict[str, Any]

LONGEST_TOOL_NAME: Final = 64


class Writing:
    """The endpoint that is written for, the report, and what was kept of the `source` (a request or an answer) when it was
    read.

    `same_origin`: the source came from this wire, so it is spelt as it was read. `same_model`: and it goes to the model that it was
    written for. `whole`: nothing of it is repaired: an answer, or a request that has no other wire than the one it came in.
    Of all others, a rule is held against what was edited alone (`same`, `verbatim`, `had_quirk`).
    `encoding` says how the source was spelt. `folds_custom`: tools that take free text are written as functions. `marks_definitions`: a mark for the
    cache stands beside the definition of a provider's tool.
    """

    __slots__ = (
        "_longest_name",
        "_names",
        "_read",
        "_unused",
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
        "whole",
    )

    def __init__(self, source: Item, endpoint: Endpoint, loss: Loss, longest_name: int = LONGEST_TOOL_NAME) -> None:
        self.source = source
        self.endpoint = endpoint
        self.dialect = endpoint.dialect
        self.capabilities = endpoint.capabilities
        self.loss = loss
        self._read = AsRead(source, endpoint)
        self.same_origin = self._read.same_origin
        self.same_model = self._read.same_model
        self.encoding: Mapping[str, Any] = self.encoding_of(source)
        self.whole = False
        self.folds_custom = True
        self.marks_definitions = False
        self._longest_name = longest_name
        names: Any = self.encoding.get("names")
        self._names: dict[str, str] = {}
        if isinstance(names, list):
            self._names.update((name, name) for name in names if isinstance(name, str))
        if endpoint.spellings:  # the client has tools of these names
            self._names.update((name, name) for name in endpoint.spellings)
        self._unused: UnusedNames | None = None

    def reader(self) -> Any:
        """A reader of the wire that is written, for values that were kept as they came: each wire has its own."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------ what was read

    def same(self, *members: str) -> bool:
        """Whether members of the request are as they were read from this wire, which is their judge."""
        return self.whole or self._read.same(*members)

    def verbatim(self, *members: str) -> bool:
        """Whether members go as they were read to the model for which they were written."""
        return self.whole or self._read.verbatim(*members)

    def had_quirk(self, member: str, code: str) -> bool:
        """Whether a member of the request is written as it is, because it was odd in this way when it was read."""
        return self.whole or self._read.had_quirk(member, code)

    @property
    def from_another(self) -> bool:
        """Whether the source was read from this wire, but from another provider of it."""
        state: Mapping[str, Any] = self.source.get("provider_state") or NOTHING
        return not self.same_origin and state.get("adapter") == self.endpoint.adapter

    def state_of(self, item: Item) -> Mapping[str, Any]:
        """The provider state of an item when it may be replayed here, else nothing."""
        state: Item | None = item.get("provider_state")
        return state if state is not None and self.endpoint.owns(state) else NOTHING

    def encoding_of(self, item: Item) -> Mapping[str, Any]:
        """How an item of this wire was spelt; nothing for an item of another origin."""
        state: Item | None = item.get("provider_state")
        if state is None or not (encoding := state.get("encoding")) or not self.endpoint.owns(state):
            return NOTHING
        found: Item = encoding
        return found

    # ------------------------------------------------------------------------------------------ what the target takes

    def lacks(self, capability: str, *members: str) -> bool:
        """Whether the model is known not to take something. Members that were written for it, and are as they were read,
        are not measured by it."""
        return self.capabilities.get(capability) is False and not self.verbatim(*members)

    def has_trait(self, capability: str, *members: str) -> bool:
        """Whether the model is known to have a trait that forbids something."""
        return self.capabilities.get(capability) is True and not self.verbatim(*members)

    def known(self, *members: str) -> Mapping[str, Any]:
        """What is known of the model; nothing for members that were written for it."""
        return NOTHING if self.verbatim(*members) else self.capabilities

    def refuses(self, name: str, member: str | None = None) -> bool:
        """Whether the provider's wire or the model does not take a member of the request; `member` is what it is called
        there."""
        if name in self.dialect.get("unsupported", ()):
            return True
        return bool(self.capabilities) and self.lacks(f"supports_{name}", member or name)

    def report_refused(self, name: str, value: Any, severity: str = "weakened") -> None:
        """Reports that a member of the request is left out; one that states what is so anyway is no great loss."""
        severity = severity_of(name, value, severity)
        if name in self.dialect.get("unsupported", ()):
            self.loss.drop((name,), "unsupported_field", severity, f"the provider takes no {name}")
        else:
            self.loss.drop((name,), "unsupported_model", severity, f"the model takes no {name}")

    # ------------------------------------------------------------------------------------------ names of tools

    def tool_name(self, name: str) -> str:
        """The name of a tool in the target's grammar: the same in tools, choice and history, and no other's.

        The caller reports a name that is not the given one (`report_name`).
        """
        wire = self._names.get(name)
        if wire is None:
            wire = self._names[name] = name if self.whole or self.fits_name(name) else self._rewritten(name)
        return wire

    def written_tool_name(self, name: str, path: Path) -> str:
        """The same, reported; `path` is that of the item whose member `name` it is."""
        wire = self.tool_name(name)
        if wire != name:
            self.report_name((*path, "name"), wire)
        return wire

    def report_name(self, where: Path, wire: str) -> None:
        """Reports a name that was rewritten."""
        self.loss.replace(where, wire, "name_rewritten", "representation", "the name does not fit the target's grammar")

    def fits_name(self, name: str) -> bool:
        """Whether the wire takes the name of a tool."""
        return is_plain_name(name, self._longest_name)

    def had_twice(self, name: str) -> bool:
        """Whether two tools had this name when they were read."""
        return self.whole or (self.same_origin and name in (self.encoding.get("again") or ()))

    def plain_name(self, name: str) -> str:
        """A name like this one, within the grammar but for its length."""
        return plain_name(name) or "tool"

    def _rewritten(self, name: str) -> str:
        if self._unused is None:
            self._unused = UnusedNames(set(self._names.values()) | tool_names(self.source))
        return self._unused.name(self.plain_name(name), self._longest_name)


def tool_names(source: Item) -> set[str]:
    """All names of tools that stand in a request or an answer."""
    names = {tool["name"] for tool in source.get("tools") or ()}
    messages = source.get("messages") or [
        choice["message"] for choice in (source, *(source.get("alternatives") or ())) if "message" in choice
    ]
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use":
                names.add(block["name"])
    return names
