"""
Which members of a request are still as they were read from this wire (spec/2-requests.md#edited).

The writer sends unedited members back as they came, even if they break a rule of the wire or of the model: the provider
validates them. It repairs and reports edited members, as in a request of any other origin. To distinguish the two, a
reader keeps in the `encoding` of the request, as `read`, its members as they were read, and `true` for each other fact
that a rule may be about (`_FACTS`).

A rule names the members that it is about. If they are as they were read, the rule does not apply. Why:
spec/decisions/0022-edits-are-held-to-the-rules.md.
"""

from collections.abc import Sequence
from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING
from interlingua.canonical.endpoint import Endpoint

Request = dict[str, Any]
Item = dict[str, Any]

_APART: Final = frozenset(("messages", "system", "tools", "options", "stream", "loss_policy", "provider_state"))
"""Members that are not kept: content, and members that no rule of a model is about."""
PREFILL: Final = "prefill"
"""The conversation ends in a turn of the assistant, which the model is to continue."""
JSON_UNMENTIONED: Final = "json_unsaid"
"""JSON output is requested of a provider that requires the word JSON in the prompt, and the prompt does not have it."""
MARKS: Final = "marks"
"""There are marks for the cache."""
TOOLS: Final = "tools"
"""There are tools."""
STRICT: Final = "strict"
"""There is a tool with a schema that is to be enforced."""
RESULT_MEDIA: Final = "result_media"
"""There are media in results of tools."""
DETAIL: Final = "detail"
"""A medium has a `detail`."""
TOOLLESS: Final = "toolless"
"""There are calls, but no tools."""
_MEDIA: Final = frozenset(("image", "audio", "video", "document"))
_FACTS: Final = frozenset((TOOLS, TOOLLESS, STRICT, PREFILL, JSON_UNMENTIONED, MARKS, RESULT_MEDIA, DETAIL, *_MEDIA))


# ---------------------------------------------------------------------------------------------------- from the wire


def keep_read(request: Request, encoding: dict[str, Any], facts: Sequence[str] = (), *, empty: bool = False) -> None:
    """Keep in the `encoding` of a request that was just read the values of its members, before a caller can edit them.

    `facts` are those that the reader knows already. `empty`: the request has nothing to answer. The roles of its
    messages are kept then, and it is written back so while they are the same.
    """
    read: dict[str, Any] = {}
    for name, value in request.items():
        if name not in _APART:
            read[name] = _copy(value) if type(value) is dict or type(value) is list else value
    for fact in facts:
        read[fact] = True
    if empty:
        read["messages"] = _value(request, "messages")
    if "cache" in request:
        read[MARKS] = True
    tools: list[Item] | None = request.get("tools")
    if tools:
        read[TOOLS] = True
        for tool in tools:
            if tool.get("strict"):
                read[STRICT] = True
                break
    messages: list[Item] = request["messages"]
    if messages and messages[-1]["role"] == "assistant":
        read[PREFILL] = True
    for message in messages:
        content: list[Item] = message["content"]
        for block in content:
            kind: str = block["type"]
            if kind == "text" or kind == "tool_use":
                continue
            if kind in _MEDIA:
                _keep_medium(block, read)
            elif kind == "tool_result":
                parts: list[Item] = block["content"]
                for part in parts:
                    held: str = part["type"]
                    if held != "text" and held in _MEDIA:
                        read[RESULT_MEDIA] = True
                        _keep_medium(part, read)
    encoding["read"] = read


def _keep_medium(block: Item, read: dict[str, Any]) -> None:
    read[block["type"]] = True
    if "detail" in block:
        read[DETAIL] = True


def _copy(value: Any) -> Any:
    """Return a copy, because callers edit in place."""
    if type(value) is dict:
        return {name: _copy(item) for name, item in value.items()}
    return [_copy(item) for item in value] if type(value) is list else value


def _value(request: Request, member: str) -> Any:
    """The value of a member of a request; of `messages`, the list of their roles."""
    return [message["role"] for message in request["messages"]] if member == "messages" else request.get(member)


# ---------------------------------------------------------------------------------------------------- to the wire


class AsRead:
    """A request, and what was kept of it when it was read. No member of a request that was read elsewhere is as it was
    read.

    `same_origin`: it was read from this wire. `same_model`: and it is sent to the model that it was written for.
    `encoding`: how it was spelt.
    """

    __slots__ = ("_read", "_request", "_was_kept", "encoding", "same_model", "same_origin")

    def __init__(self, request: Request, endpoint: Endpoint) -> None:
        state: dict[str, Any] | None = request.get("provider_state")
        self._request = request
        self._was_kept = False
        self._read: dict[str, Any] = NOTHING
        self.same_origin = self.same_model = state is not None and endpoint.owns(state)
        self.encoding: dict[str, Any] = NOTHING
        encoding: Any = state.get("encoding") if state is not None and self.same_origin else None
        if type(encoding) is not dict:
            return
        self.encoding = encoding
        read = encoding.get("read")
        if type(read) is dict:
            self._read, self._was_kept = read, True
            asked: Any = read.get("model")
            model = endpoint.model or _bare(request.get("model"))
            self.same_model = type(asked) is not str or model in (None, asked, _bare(asked))

    def same(self, *members: str) -> bool:
        """Whether members have the values that they had when they were read, or are absent as they were then: no rule
        applies to them. Of a fact, it is whether it was true when the request was read."""
        if not self._was_kept:
            return False
        for member in members:
            read = self._read.get(member)
            if member in _FACTS:
                if read is not True:
                    return False
            elif read != _value(self._request, member):
                return False
        return True

    def verbatim(self, *members: str) -> bool:
        """Whether members are as they were read, and are sent to the model for which they were written: no known
        capability of the model is applied to them."""
        return self.same_model and self.same(*members)


def _bare(model: str | None) -> str | None:
    """The wire's name of a canonical model id: the part after the first colon."""
    return (model.partition(":")[2] or model) if model else None
