"""What reads the same in both directions, and what travels along while one request or answer is read or written."""

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
"""Items of the provider's own tools that the caller has to run."""

SERVICE_TIERS: Final = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
LEAST_OUTPUT_TOKENS: Final = 16

CALL_IDS: Final = CallIds(longest=64)

BETWEEN: Final = "\n\n"
"""Stands between the parts of a reasoning item, which are one text in the contract."""

LOGPROBS: Final = "message.output_text.logprobs"
"""The word of `include` that asks for log probabilities."""

ELSEWHERE: Final = ("previous_response_id", "conversation", "prompt")
"""Members that name a conversation, or the beginning of one, that the provider keeps."""


Answers = tuple[set[str], set[str], dict[Any, str]]
"""What answers calls that are kept whole, as `items` finds it."""


class Reading(_reading.Reading):
    """What a reader carries on this wire besides. The name of a call is its kind: function, custom, or that of a built-in tool."""

    __slots__ = ("_among", "counts", "found", "items", "kinds", "offered", "ran")

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> None:
        super().__init__(endpoint, ids)
        self.items: list[dict[str, Any]] = []
        """The items of a request, the instructions before them."""
        self.counts: list[int] = []
        """How much was read of each: blocks of a turn of the model, or one message."""
        self.kinds: Mapping[str, str] = NOTHING
        """The kinds of calls that came before and are not read here, by their wire ids."""
        self.ran: set[str] | None = None
        """The calls of a shell that the provider has run; None where nobody has looked among the items yet."""
        self._among: list[Any] = []
        self.offered: list[dict[str, Any]] = []
        """The tools of the request and of its items, as they came, those of namespaces among them."""
        self.found: list[list[dict[str, Any]]] = []
        """The tools that each search of the client gave."""

    def among(self, items: list[Any]) -> None:
        """Says among which items a call stands: they tell whether the provider has run it."""
        self._among = items
        self.ran = None

    def has_run(self, wire_id: Any) -> bool:
        """Whether a call stays an item of the provider, by what answers it."""
        if not isinstance(wire_id, str):
            return False
        if self.ran is None:
            self.ran = ran(self._among)
        return wire_id in self.ran

    def kind_of(self, wire_id: Any) -> str | None:
        """The kind of a call that came before; None where there is none."""
        if not isinstance(wire_id, str):
            return None
        call = self._latest.get(wire_id)
        return self.kinds.get(wire_id) if call is None else self.calls[call][1]


class Writing(Target):
    """Writes one body: for whom, what is lost on the way, and which ids are used.

    `answer` says that one of another origin is written: its items get ids, a status, and all their members. `identity` is the id of the answer, so that items of two answers have none in common. `calls` are the
    kinds of the calls so far; those `apart` do not use the ids that they came with. `found` are the names of the tools that
    items tell which searches of the client gave. `named` are the kinds of the calls so far by their
    wire ids, built-in tools by their names. `answers` is what answers calls that are kept whole, once it is looked for.
    `reshaped` are, by their identity, what was read as calls and results of built-in tools and is written as those of
    functions.
    """

    __slots__ = ("answer", "answers", "apart", "calls", "found", "identity", "named", "reshaped")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, CALL_IDS)
        self.identity: str | None = source.get("id") if self.answering else None
        self.answer = self.answering and not self.same_origin
        self.calls: dict[str, str] = {}
        self.apart: set[str] = set()
        self.answers: Answers | None = None
        self.found: list[str] = []
        self.named: dict[str, str] = {}
        self.reshaped: set[int] = set()

    def reader(self) -> Reading:
        """A reader of this wire."""
        return Reading(self.endpoint)

    def text(self, text: str) -> dict[str, Any]:
        """A text of the writer's own on the wire."""
        return {"type": "input_text", "text": text}

    def call_id(self, block: dict[str, Any], state: Mapping[str, Any]) -> str:
        """The wire id of a call."""
        kind = self.calls[block["id"]] = block.get("kind") or "function"
        wire_id = super().call_id(block, {} if block["id"] in self.apart else state)
        self.named[wire_id] = kind
        return wire_id
