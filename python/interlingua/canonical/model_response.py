"""
The result of a provider call: the response as plain data, with typed views as attributes (spec/3-responses.md#views).

    response = await client.generate(request)
    response["message"]["content"]    # plain data, as everywhere
    response.text, response.tool_calls, response.usage, response.cost, response.loss
"""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlingua.canonical.models import LossEntry, Message, Response, ToolUseBlock, Usage


class ModelResponse(dict[str, Any]):
    """A canonical response: a dictionary of plain JSON data. The attributes are views of its members. A view is made
    when its attribute is read; a change of a view does not change the data."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """All text of the answer; "" when it has none."""
        return _text(self, "text")

    @property
    def reasoning(self) -> str:
        """All reasoning text of the answer; "" when it has none."""
        return _text(self, "thinking")

    @property
    def tool_calls(self) -> "list[ToolUseBlock]":
        """The tool calls of the answer, in order."""
        from interlingua.canonical.models import ToolUseBlock

        return [ToolUseBlock.of(block) for block in self["message"]["content"] if block["type"] == "tool_use"]

    @property
    def message(self) -> "Message":
        """The message of the response, to be appended to the conversation."""
        from interlingua.canonical.models import Message

        return Message.of(self["message"])

    @property
    def finish_reason(self) -> str:
        """Why the answer ended: a word of the closed list (spec/3-responses.md#finish-reasons)."""
        return self["finish_reason"]

    @property
    def model(self) -> str | None:
        """Canonical id of the model that gave the response."""
        return self.get("model")

    @property
    def usage(self) -> "Usage | None":
        """The tokens of the provider call, in disjoint buckets."""
        from interlingua.canonical.models import Usage

        usage = self.get("usage")
        return None if usage is None else Usage.of(usage)

    @property
    def cost(self) -> Decimal | None:
        """The cost of the provider call in US dollars; None when the price is not known."""
        cost = (self.get("usage") or {}).get("cost_usd")
        return None if cost is None else Decimal(cost)

    @property
    def loss(self) -> "list[LossEntry]":
        """The loss report of the request; empty when nothing was lost on the way to the provider."""
        from interlingua.canonical.models import LossEntry

        return [LossEntry.of(entry) for entry in self.get("loss") or ()]

    @property
    def typed(self) -> "Response":
        """The whole response as a frozen object. Raises `InvalidRequest` if it is no canonical response."""
        from interlingua.canonical.models import Response

        return Response.of(dict(self))


def status_of(message: dict[str, Any]) -> str:
    """Return the status of a message: `complete` where it has none."""
    return (message.get("metadata") or {}).get("status") or "complete"


def _text(response: ModelResponse, kind: str) -> str:
    return "".join(block["text"] for block in response["message"]["content"] if block["type"] == kind)
