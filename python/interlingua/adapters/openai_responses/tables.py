"""Tables that both directions use, and the state while one request or response is read or written."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine import reading as _reading
from interlingua.adapters._engine.kit import NOTHING
from interlingua.adapters._engine.writing import CallIds
from interlingua.adapters._openai.writing import Target
from interlingua.adapters.openai_responses.built_in import ran
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Loss

NAME: Final = "openai_responses"

CALLS_FOR_THE_CALLER: Final = frozenset(("computer_call", "local_shell_call", "apply_patch_call", "shell_call"))
"""Calls of the provider's own tools that the caller has to execute."""

SERVICE_TIERS: Final = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
LEAST_OUTPUT_TOKENS: Final = 16

CALL_IDS: Final = CallIds(longest=64)

BETWEEN: Final = "\n\n"
"""The separator between the parts of a reasoning item, which are one text in canonical form."""

LOGPROBS: Final = "message.output_text.logprobs"
"""The value of `include` that requests log probabilities."""

ELSEWHERE: Final = ("previous_response_id", "conversation", "prompt")
"""Members that name a conversation, or the beginning of one, that the provider stores."""


Answers = tuple[set[str], set[str], dict[Any, str]]
"""The facts about calls that are kept whole, as `items` collects them."""


class Reading(_reading.Reading):
    """The additional state of a reader of this wire. The name of a call is its kind: function, custom, or that of a
    built-in tool."""

    __slots__ = ("_among", "counts", "found", "items", "kinds", "offered", "ran")

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> None:
        super().__init__(endpoint, ids)
        self.items: list[dict[str, Any]] = []
        """The items of a request, with the instructions before them."""
        self.counts: list[int] = []
        """For each item, how much was read from it: blocks of a turn of the model, or one message."""
        self.kinds: Mapping[str, str] = NOTHING
        """The kinds of earlier calls that are not read here, by their wire ids."""
        self.ran: set[str] | None = None
        """The shell calls that the provider has run; None before the items are searched."""
        self._among: list[Any] = []
        self.offered: list[dict[str, Any]] = []
        """The tools of the request and of its items, as received, including those of namespaces."""
        self.found: list[list[dict[str, Any]]] = []
        """The tools that each search of the client returned."""

    def among(self, items: list[Any]) -> None:
        """Set the items around a call: they show whether the provider has run it."""
        self._among = items
        self.ran = None

    def has_run(self, wire_id: Any) -> bool:
        """Whether a call stays an item of the provider because of its output."""
        if not isinstance(wire_id, str):
            return False
        if self.ran is None:
            self.ran = ran(self._among)
        return wire_id in self.ran

    def kind_of(self, wire_id: Any) -> str | None:
        """Return the kind of an earlier call; None where there is none."""
        if not isinstance(wire_id, str):
            return None
        call = self._latest.get(wire_id)
        return self.kinds.get(wire_id) if call is None else self.calls[call][1]


class Writing(Target):
    """Write one body: holds the endpoint, the losses and the ids that are used.

    `answer`: a response of another origin is written, so its items get ids, a status, and all their members. `identity`
    is the id of the response; with it, items of two responses do not get the same id. `calls` holds the kinds of the
    calls so far; calls in `confused` do not use the ids that were read. `found` holds the names of the tools that searches
    of the client returned, as their items state. `named` holds the kinds of the calls so far by their wire ids, for
    built-in tools their names. `answers` holds the facts about calls that are kept whole, once they are collected.
    `reshaped` holds, by their identity, the calls and results of built-in tools that are written as those of functions.
    """

    __slots__ = ("answer", "answers", "confused", "calls", "found", "identity", "named", "reshaped")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, CALL_IDS)
        self.identity: str | None = source.get("id") if self.answering else None
        self.answer = self.answering and not self.same_origin
        self.calls: dict[str, str] = {}
        self.confused: set[str] = set()
        self.answers: Answers | None = None
        self.found: list[str] = []
        self.named: dict[str, str] = {}
        self.reshaped: set[int] = set()

    def reader(self) -> Reading:
        """Return a reader of this wire."""
        return Reading(self.endpoint)

    def text(self, text: str) -> dict[str, Any]:
        """Return a text of the writer's own for the wire."""
        return {"type": "input_text", "text": text}

    def call_id(self, block: dict[str, Any], state: dict[str, Any]) -> str:
        """Return the wire id of a call."""
        kind = self.calls[block["id"]] = block.get("kind") or "function"
        wire_id = super().call_id(block, {} if block["id"] in self.confused else state)
        self.named[wire_id] = kind
        return wire_id
