# GENERATED from spec/schema/interlingua.schema.json by tools/generate_types.py: do not edit.
"""
The canonical values as pydantic models, for users who prefer objects.

`Message.of(data)` reads plain data and refuses data that breaks the contract; `message.plain()` returns the data.
A block of a type that this version does not know is an `UnknownBlock`, kept whole.
"""

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from interlingua.canonical.methods import (
    MediaMethods,
    MessageMethods,
    RequestMethods,
    ResponseMethods,
    ToolResultMethods,
)
from interlingua.canonical.model_base import (
    TEXT_AS_BLOCKS,
    FreeJson,
    FreeObject,
    Maybe,
    Model,
    Money,
    ReadModel,
    Text,
    TextMap,
    Timestamp,
)

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""The speaker. system and developer hold instructions, tool holds one tool result."""


class ProviderState(Model):
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""

    adapter: Text
    """The wire protocol that wrote this state, e.g. anthropic_messages."""
    provider: Text | None = None
    """The provider that issued it, e.g. anthropic; null when not known."""
    origin: Maybe[Text] = None
    """
    Where exactly the state was issued, as an opaque text (spec/1-values.md#origin). It has a meaning only
    there. Absent when the state is bound to its provider alone, or when the origin is not known.
    """
    id: Maybe[Text] = None
    """The provider's own id of this item (tool call id, message id, item id)."""
    signature: Maybe[Text] = None
    """An opaque signature or encrypted token bound to this item, e.g. a thought signature."""
    fields: Maybe[FreeObject] = None
    """Members of the provider's own item that have no canonical meaning, verbatim."""
    encoding: Maybe[FreeObject] = None
    """
    How the provider's item was spelt (a string instead of a list, an explicit null, the argument text). It
    changes no meaning and is used only to write the same wire again.
    """


class CacheHint(Model):
    """Asks the provider to keep the prompt up to and including this item in its cache."""

    ttl: Annotated[Maybe[Text], Field(pattern="^[0-9]+[mh]$")] = None
    """How long to keep it, e.g. 5m or 1h; the provider's default when absent."""


MediaSourceKind: TypeAlias = Literal["base64", "url", "file_ref", "file_id", "text", "blocks"]
"""
How a medium is given. base64: as base64 text. url: by an address that the provider fetches. file_ref: by
a path relative to the workspace. file_id: by the provider's file id. text: as plain text. blocks: as a
list of blocks.
"""


class Citation(Model):
    """A place that supports a span of text."""

    type: Text
    """The provider's kind of citation, e.g. char_location, page_location, url_citation."""
    url: Maybe[Text] = None
    """The cited address."""
    title: Maybe[Text] = None
    """Title of the cited source."""
    cited_text: Maybe[Text] = None
    """The quoted text."""
    start_index: Annotated[Maybe[int], Field(ge=0)] = None
    """Start of the cited span in the answer's text, in characters."""
    end_index: Annotated[Maybe[int], Field(ge=0)] = None
    """End of the cited span in the answer's text, in characters."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class TextBlock(Model):
    """Text."""

    type: Literal["text"] = "text"
    text: Text
    """The text; it may be empty."""
    citations: Maybe[list[Citation]] = None
    """Sources of this text."""
    refusal: Maybe[bool] = None
    """True when the text is the model's refusal to answer."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


ToolUseKind: TypeAlias = Literal["function", "custom"]
"""How the arguments of a call are written. function: JSON. custom: free text."""


class ToolUseBlock(Model):
    """A request of the model to run a tool."""

    type: Literal["tool_use"] = "tool_use"
    id: Annotated[Text, Field(pattern="^tu_[0-9A-Za-z]+$")]
    """Canonical id: tu_ and a ULID, or other letters and digits where a person wrote it."""
    name: Annotated[Text, Field(min_length=1)]
    """Name of the tool."""
    input: FreeObject
    """The arguments, an object that satisfies the tool's schema."""
    input_raw: Maybe[Text] = None
    """
    The arguments exactly as the model wrote them, present when they are not a JSON object (input is then
    empty), and for custom tools.
    """
    kind: Maybe[ToolUseKind] = None
    """function: arguments are JSON. custom: the argument is free text in input_raw."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class ThinkingBlock(Model):
    """The model's reasoning."""

    type: Literal["thinking"] = "thinking"
    text: Text
    """The reasoning; it may be empty when only the signature was given."""
    signature: Text | None = None
    """The provider's opaque proof that it wrote this block."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class RedactedThinkingBlock(Model):
    """Reasoning that the provider encrypted."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: Text
    """The opaque blob."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class OpaqueBlock(Model):
    """
    A provider's own item that has no canonical meaning. Its adapter writes it back verbatim; elsewhere it is
    a loss.
    """

    type: Literal["opaque"] = "opaque"
    adapter: Text
    """The wire protocol that the item belongs to."""
    provider: Text | None = None
    """The provider that issued it."""
    origin: Maybe[Text] = None
    """Where exactly it was issued, as in ProviderState."""
    kind: Maybe[Text] = None
    """The provider's own name of the item's type."""
    value: FreeObject
    """The item, verbatim."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class UnknownBlock(ReadModel):
    """A block of a later version: kept whole and written back, never constructed."""

    KNOWN: ClassVar[frozenset[str]] = frozenset(
        [
            "text",
            "image",
            "audio",
            "video",
            "document",
            "tool_use",
            "tool_result",
            "thinking",
            "redacted_thinking",
            "opaque",
        ]
    )

    type: Text
    """A type that this version does not know."""


MessageStatus: TypeAlias = Literal["complete", "partial", "cancelled", "error"]
"""
complete: finished. partial: a stream is in progress. cancelled: stopped by the user. error: the
generation failed.
"""


RoutingMode: TypeAlias = Literal["override", "manual", "rule", "pattern", "delegate", "default"]
"""Why this model answered, in short."""


class RoutingDecisionRecord(Model):
    """Compact record of a routing decision; the whole chain is in the route.decided event."""

    mode: RoutingMode
    """Why this model answered, in short."""
    chosen_model: Text
    """Canonical model id; the same as metadata.model."""
    reason: Text
    """The reason, for a person."""
    rule_name: Text | None = None
    """Name of the rule, for mode rule."""
    confidence: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    """Between 0 and 1, for mode pattern."""
    alternatives_considered: Maybe[list[Text]] = None
    """Canonical ids of the candidates that were passed over, in order."""


class Usage(Model):
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """

    input_tokens: Annotated[int, Field(ge=0)]
    """Prompt tokens that were neither read from nor written to a cache."""
    output_tokens: Annotated[int, Field(ge=0)]
    """Generated tokens, reasoning included."""
    cached_input_tokens: Annotated[int, Field(ge=0)] = 0
    """Prompt tokens read from a cache."""
    cache_creation_input_tokens: Annotated[int, Field(ge=0)] = 0
    """Prompt tokens written to a cache."""
    cache_creation_1h_input_tokens: Annotated[Maybe[int], Field(ge=0)] = None
    """The part of cache_creation_input_tokens that is kept for one hour."""
    reasoning_tokens: Annotated[Maybe[int], Field(ge=0)] = None
    """The part of output_tokens spent on reasoning."""
    cost_usd: Money | None = None
    """Exact decimal US dollars from the local price table; null when unpriced."""
    pricing_version: Text | None = None
    """Version of the price table that was used."""
    latency_ms: Annotated[Maybe[int], Field(ge=0)] = None
    """Wall time of the call in milliseconds."""
    estimated: Maybe[bool] = None
    """True when the provider gave no usage and the counts are estimates."""
    raw: Maybe[FreeObject] = None
    """The provider's own usage object, verbatim."""


class MessageMetadata(Model):
    """What is known about a message besides its content."""

    model: Text | None = None
    """Canonical model id, provider:name."""
    provider: Text | None = None
    """Provider key, e.g. anthropic."""
    routing: RoutingDecisionRecord | None = None
    """Why this model answered."""
    usage: Usage | None = None
    """Tokens, money and time."""
    parent_tool_use_id: Text | None = None
    """On tool messages, the id of the call that the result belongs to."""
    status: MessageStatus = "complete"
    """Status of the message."""
    provider_raw: FreeObject | None = None
    """The adapter's own data, opaque to everyone else; not part of equality or of the hash."""
    user_id: Text | None = None
    """Pseudonymous principal, usr_ and a ULID."""
    team_id: Text | None = None
    """Pseudonymous team, team_ and a ULID."""


SideEffects: TypeAlias = Literal["none", "read", "write", "execute", "network"]
"""The most severe side effect of a tool; a tool without this member is treated as execute."""


ToolKind: TypeAlias = Literal["function", "custom", "provider"]
"""
Who defines a tool and how its arguments are written. function: JSON arguments. custom: free text.
provider: defined by a provider.
"""


class Tool(Model):
    """A tool that the model may call."""

    kind: Maybe[ToolKind] = None
    """
    function: JSON arguments. custom: free text. provider: run or defined by a provider, kept whole in
    definition.
    """
    name: Annotated[Text, Field(min_length=1)]
    """Unique in the request; snake_case in the strict profile."""
    description: Maybe[Text] = None
    """What the tool does, shown to the model."""
    input_schema: Maybe[FreeObject] = None
    """JSON Schema of the arguments."""
    side_effects: Maybe[SideEffects] = None
    """The most severe side effect of a tool; a tool without this member is treated as execute."""
    requires_workspace: bool = True
    """True when the tool needs a workspace."""
    strict: Maybe[bool] = None
    """True when the provider must enforce the schema."""
    format: Maybe[FreeObject] = None
    """Grammar of a custom tool's text, as the provider defines it."""
    adapter: Maybe[Text] = None
    """For kind provider, the wire protocol that it belongs to."""
    definition: Maybe[FreeObject] = None
    """For kind provider, the provider's tool object, verbatim."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


ToolChoiceType: TypeAlias = Literal["auto", "none", "required", "tool", "allowed"]
"""
Which tools the model may or must call. auto: the model decides. none: no tool. required: at least one.
tool: the named one. allowed: only the listed ones.
"""


ToolChoiceMode: TypeAlias = Literal["auto", "required"]
"""Whether one of the allowed tools must be called. auto: the model decides. required: at least one."""


class ToolChoice(Model):
    """Which tools the model may or must call."""

    type: ToolChoiceType
    """
    auto: the model decides. none: no tool. required: at least one. tool: the named one. allowed: only those
    in names.
    """
    name: Maybe[Text] = None
    """For type tool, the name."""
    names: Maybe[list[Text]] = None
    """For type allowed, the names."""
    mode: Maybe[ToolChoiceMode] = None
    """For type allowed, whether a call is required."""
    kind: Maybe[ToolKind] = None
    """Kind of the named tool."""


ResponseFormatType: TypeAlias = Literal["text", "json", "json_schema"]
"""The format of an answer. text: free. json: any JSON object. json_schema: JSON that satisfies a schema."""


class ResponseFormat(Model):
    """The format that the answer must have."""

    type: ResponseFormatType
    """text: free. json: any JSON object. json_schema: JSON that satisfies schema."""
    name: Maybe[Text] = None
    """Name of the schema."""
    description: Maybe[Text] = None
    """What the schema is for."""
    schema_: Maybe[FreeObject] = Field(None, alias="schema")
    """The JSON Schema."""
    strict: bool | None = None
    """Whether the provider must enforce the schema."""


class Reasoning(Model):
    """How much the model may think."""

    mode: Maybe[Text] = None
    """adaptive, enabled, disabled, or a provider's own value."""
    effort: Maybe[Text] = None
    """none, minimal, low, medium, high, xhigh or max."""
    budget_tokens: Annotated[Maybe[int], Field(ge=0)] = None
    """Limit of reasoning tokens."""
    display: Maybe[Text] = None
    """How the reasoning is shown: summarized, omitted or a provider's own value."""


OnDrop: TypeAlias = Literal["drop", "error", "placeholder"]
"""
What to do with content that cannot be carried. drop: leave it out and report. error: refuse. placeholder:
put a short text in its place and report.
"""


Unanswered: TypeAlias = Literal["error", "placeholder"]
"""
What to do with a tool call that has no result. error: refuse. placeholder: add a result that states this
after it and report.
"""


LossOp: TypeAlias = Literal["drop", "replace", "move", "merge"]
"""What happened to the value at path."""


LossSeverity: TypeAlias = Literal["representation", "weakened", "lost"]
"""
representation: another representation, the same meaning. weakened: the meaning is there but weaker. lost:
the meaning is gone.
"""


class LossEntry(Model):
    """One change that a projection made."""

    op: LossOp
    """What happened to the value at path."""
    path: Annotated[Text, Field(pattern="^(/.*)?$")]
    """JSON Pointer into the request as written."""
    to: Annotated[Maybe[Text], Field(pattern="^(/.*)?$")] = None
    """For move and merge, the JSON Pointer of the destination, in the request as written."""
    value: FreeJson = None
    """
    For replace, the value that is at path now. For move, the value that is left behind at path; nothing when
    absent.
    """
    code: Annotated[Text, Field(pattern="^[a-z][a-z0-9_]*$")]
    """Reason, from the closed list in spec/registry/loss_codes.json."""
    severity: LossSeverity
    """
    representation: another representation, the same meaning. weakened: the meaning is there but weaker. lost:
    the meaning is gone.
    """
    message: Text
    """What happened, for a person; it never holds content."""


FinishReason: TypeAlias = Literal[
    "stop", "stop_sequence", "length", "tool_calls", "content_filter", "refusal", "pause", "cancelled", "error", "other"
]
"""Why the answer ended. tool_calls whenever the answer holds calls to execute."""


class SkippedTarget(Model):
    """A target that did not serve the request."""

    model: Text
    """Canonical model id."""
    reason: Text
    """The reason, a fixed word for programs."""
    message: Maybe[Text] = None
    """The reason, for a person."""


class MessageStartEvent(Model):
    """The answer begins."""

    type: Literal["message_start"] = "message_start"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    model: Maybe[Text] = None
    """Canonical id of the serving model."""
    response_id: Maybe[Text] = None
    """The provider's id of the response."""
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""


class TextDeltaEvent(Model):
    """More text of a text block."""

    type: Literal["text_delta"] = "text_delta"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    index: Annotated[int, Field(ge=0)]
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""
    text: Text
    """The added text."""


class ThinkingDeltaEvent(Model):
    """More reasoning of a thinking block."""

    type: Literal["thinking_delta"] = "thinking_delta"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    index: Annotated[int, Field(ge=0)]
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""
    text: Text
    """The added reasoning."""
    signature: Text | None = None
    """Only on the last delta of a block."""


class ToolUseStartEvent(Model):
    """A tool call begins."""

    type: Literal["tool_use_start"] = "tool_use_start"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    index: Annotated[int, Field(ge=0)]
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""
    id: Text
    """Canonical id."""
    name: Text
    """Name of the tool."""


class ToolUseInputDeltaEvent(Model):
    """More argument text, as the provider wrote it."""

    type: Literal["tool_use_input_delta"] = "tool_use_input_delta"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    index: Annotated[int, Field(ge=0)]
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""
    id: Text
    """Canonical id."""
    text: Text
    """A fragment of the argument text."""


class ToolUseEndEvent(Model):
    """A tool call is complete."""

    type: Literal["tool_use_end"] = "tool_use_end"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    index: Annotated[int, Field(ge=0)]
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""
    id: Text
    """Canonical id."""
    name: Text
    """Name of the tool."""
    input: FreeObject
    """The whole arguments."""
    input_raw: Maybe[Text] = None
    """The argument text, when it is not a JSON object."""


class UsageUpdateEvent(Model):
    """Usage so far; later ones replace earlier ones."""

    type: Literal["usage_update"] = "usage_update"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    usage: Usage
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """


class UnknownEvent(ReadModel):
    """An event of a later version, to be skipped."""

    KNOWN: ClassVar[frozenset[str]] = frozenset(
        [
            "message_start",
            "block_start",
            "text_delta",
            "thinking_delta",
            "tool_use_start",
            "tool_use_input_delta",
            "tool_use_end",
            "block_stop",
            "usage_update",
            "message_complete",
            "error",
        ]
    )

    type: Text
    """An event type that this version does not know."""


ErrorCategory: TypeAlias = Literal[
    "invalid_request",
    "unsupported",
    "loss_refused",
    "authentication",
    "permission",
    "billing",
    "not_found",
    "rate_limit",
    "context_overflow",
    "content_filter",
    "timeout",
    "network",
    "server_error",
    "overloaded",
    "invalid_response",
    "stream_truncated",
    "cancelled",
    "no_candidate",
    "internal",
    "other",
]
"""The kind of an error, by its cause."""


class Violation(Model):
    """A broken rule."""

    rule: Text
    """Name of the rule."""
    path: Text
    """JSON Pointer to the place."""
    message: Text
    """What is wrong and what to do."""


class TokenEstimate(Model):
    """How many tokens a request will take."""

    low: Annotated[int, Field(ge=0)]
    """A low estimate: fewer are unlikely."""
    likely: Annotated[int, Field(ge=0)]
    """The best guess."""
    high: Annotated[int, Field(ge=0)]
    """A high estimate: more are unlikely."""


class WireRequest(Model):
    """An HTTP request in a provider's own format; it holds no secret."""

    method: Text
    """HTTP method."""
    path: Text
    """Path below the provider's base URL."""
    headers: Maybe[TextMap] = None
    """Headers that belong to the wire format."""
    body: FreeObject
    """The JSON body."""


EventActor: TypeAlias = Literal["user", "agent", "system", "tool", "worker"]
"""The actor that caused an event."""


EventSensitivity: TypeAlias = Literal["private", "user_controlled", "pseudonymous", "aggregatable"]
"""How private an event is, the most private first."""


class Event(Model):
    """
    Something that happened to a session or to a turn, for programs that observe them. It holds no content of
    a conversation and no secret.
    """

    id: Annotated[Text, Field(pattern="^[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
    """ULID."""
    type: Text
    """What happened, e.g. route.decided. It determines the payload; a reader skips types that it does not know."""
    alias: Maybe[Text] = None
    """Another name of the type, in the dotted form of event catalogues."""
    timestamp: Timestamp
    """When it happened: UTC with six fractional digits, e.g. 2026-05-08T12:00:00.000000Z."""
    session_id: Text | None = None
    """The session that it belongs to; null when there is none."""
    turn_id: Text | None = None
    """The turn that it belongs to; null when the caller named none."""
    parent_event_id: Text | None = None
    """The event that led to it; null when there is none."""
    actor: EventActor
    """The actor that caused an event."""
    sensitivity: EventSensitivity
    """How private an event is, the most private first."""
    payload: FreeObject
    """Details of the event; the members depend on the type."""


RoutingSlot: TypeAlias = Literal[
    "per_message_override",
    "manual_sticky",
    "rule",
    "pattern",
    "delegate_request",
    "workspace_default",
    "global_default",
]
"""The places that may name a model, in the order in which they are tried."""


RoutingVerdict: TypeAlias = Literal["not_applicable", "deferred", "rejected", "chose"]
"""The outcome of a candidate, or of a slot without one."""


class RoutingChainEntry(Model):
    """The verdict on one candidate, or on a slot that has none."""

    policy: RoutingSlot
    """The slot."""
    verdict: RoutingVerdict
    """The outcome of a candidate, or of a slot without one."""
    candidate_model: Text | None
    """Canonical model id, or the target that resolves to no model; null for a slot without a candidate."""
    reason: Text
    """Why the slot named it, for a person."""
    rule_name: Maybe[Text] = None
    """Name of the rule, for the slot rule."""
    confidence: Annotated[Maybe[float], Field(ge=0.0, le=1.0)] = None
    """Between 0 and 1, for the slot pattern."""
    pattern_alternatives: Maybe[list[Text]] = None
    """The models that rank below the proposed one, the best first, for the slot pattern."""
    validation_failure: Maybe[Text] = None
    """The first reason for which it was rejected, a fixed word for programs."""
    missing: Maybe[Text] = None
    """For not_configured, what is missing before its provider can be called."""


class RouteDecidedPayload(Model):
    """Payload of the event route.decided: the whole decision of a turn."""

    chosen_model: Text | None
    """Canonical model id; null when no model can serve the turn."""
    winner_index: Annotated[int, Field(ge=-1)]
    """Position of the winner in the chain; -1 when no model can serve the turn."""
    elapsed_ms: Annotated[float | None, Field(ge=0.0)]
    """How long the decision took, in milliseconds; null when it was not measured."""
    chain: list[RoutingChainEntry]
    """The verdicts in order, up to the winner and no further."""


class RoutingConstraintFailurePayload(Model):
    """Payload of the event routing_constraint_failure: a change of the session's model that was refused."""

    requested_model: Text
    """Canonical id of the model that was requested."""
    active_model: Text | None
    """The model that stays; null when the session had none."""
    failures: list[Text]
    """Why the conversation cannot continue with that model, as fixed words for programs."""
    message: Text
    """The message for the user."""


class SessionChangePayload(Model):
    """Payload of the events session.*, message.* and turn.*: what changed in a session."""

    message_id: Maybe[Text] = None
    """The message that it is about."""
    message_ids: Maybe[list[Text]] = None
    """The messages that were appended, in order; role, status and model are those of the last."""
    role: Maybe[Role] = None
    """The speaker. system and developer hold instructions, tool holds one tool result."""
    status: Maybe[MessageStatus] = None
    """
    complete: finished. partial: a stream is in progress. cancelled: stopped by the user. error: the
    generation failed.
    """
    model: Maybe[Text] = None
    """Canonical id of the model that answers, or that the session has from now on; absent when it has none."""
    superseded_by: Maybe[Text] = None
    """The message that replaces this one and all that came after it."""
    parent_session_id: Maybe[Text] = None
    """The session from which this one was forked."""
    parent_message_id: Maybe[Text] = None
    """The last message that this session took from it."""
    category: Maybe[ErrorCategory] = None
    """The kind of an error, by its cause."""


class LossPolicy(Model):
    """What to do with content that the target cannot express."""

    on_drop: OnDrop = "drop"
    """drop: leave it out and report. error: refuse. placeholder: put a short text in its place and report."""
    strict: Maybe[LossSeverity] = None
    """Refuse when any loss is at least this severe."""
    unanswered: Unanswered = "error"
    """
    What to do with tool calls of a request that have no result. error: refuse where the target takes none.
    placeholder: add a result that states this after each and report.
    """


class FailedAttempt(Model):
    """One provider call that gave no response."""

    model: Text
    """Canonical id of the model that was called."""
    category: ErrorCategory
    """The kind of an error, by its cause."""
    status: Annotated[Maybe[int], Field(ge=0)] = None
    """HTTP status of the provider."""
    waited: Maybe[float] = None
    """Seconds before the same model was called again; absent when it was not called again."""


class Error(Model):
    """What went wrong, where, and whether to try again."""

    category: ErrorCategory
    """The kind of an error, by its cause."""
    message: Text
    """What is wrong and what to do; it holds no content and no secret."""
    provider_message: Maybe[Text] = None
    """
    The provider's own message, at most 2,000 characters, without anything that looks like a key. It may hold
    content of the conversation: it is for the caller, and for no log.
    """
    path: Maybe[Text] = None
    """JSON Pointer to the place in the input."""
    retryable: bool = False
    """Whether the same call may succeed later."""
    retry_after: Maybe[float] = None
    """Seconds to wait before trying again."""
    status: Annotated[Maybe[int], Field(ge=0)] = None
    """HTTP status of the provider."""
    code: Maybe[Text] = None
    """The provider's own error code."""
    request_id: Maybe[Text] = None
    """The provider's id of the call that failed, for inquiries at the provider."""
    provider: Maybe[Text] = None
    """The provider that failed."""
    adapter: Maybe[Text] = None
    """The adapter that was used."""
    loss: Maybe[list[LossEntry]] = None
    """For loss_refused, the whole report."""
    violations: Maybe[list[Violation]] = None
    """For invalid_request, all that is wrong."""
    attempts: Maybe[list[FailedAttempt]] = None
    """All provider calls that failed, in order, when there was more than one."""
    skipped: Maybe[list[SkippedTarget]] = None
    """Candidates that could not serve the request, each with the reason, when there were several."""
    raw: FreeJson = None
    """The provider's error body, on request."""


class MediaSource(Model):
    """Where the bytes of a medium are."""

    kind: MediaSourceKind
    """
    base64: data is base64 text. url: data is a URL that the provider fetches. file_ref: data is a path
    relative to the workspace. file_id: data is a provider's file id. text: data is plain text. blocks: the
    document is the list in content.
    """
    data: Maybe[Text] = None
    """Base64 text, URL, path, file id or plain text, by kind."""
    content: Maybe[list["ContentBlock"]] = None
    """The blocks of a document of kind blocks."""
    provider: Text | None = None
    """The provider that a file_id belongs to."""


class ImageBlock(MediaMethods, Model):
    """An image."""

    type: Literal["image"] = "image"
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: Annotated[
        Maybe[Text], Field(pattern="^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?$")
    ] = None
    """IANA media type, e.g. image/png."""
    detail: Maybe[Text] = None
    """The level of detail at which the model sees the image: auto, low, high or original."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class AudioBlock(MediaMethods, Model):
    """Audio."""

    type: Literal["audio"] = "audio"
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: Annotated[
        Maybe[Text], Field(pattern="^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?$")
    ] = None
    """IANA media type, e.g. audio/wav."""
    transcript: Maybe[Text] = None
    """Transcript of the speech, when the provider gives one."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class VideoBlock(MediaMethods, Model):
    """A video."""

    type: Literal["video"] = "video"
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: Annotated[
        Maybe[Text], Field(pattern="^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?$")
    ] = None
    """IANA media type, e.g. video/mp4."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class DocumentBlock(MediaMethods, Model):
    """A document, e.g. a PDF."""

    type: Literal["document"] = "document"
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: Annotated[
        Maybe[Text], Field(pattern="^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?$")
    ] = None
    """IANA media type, e.g. application/pdf."""
    name: Maybe[Text] = None
    """File name."""
    title: Maybe[Text] = None
    """Title shown to the model."""
    context: Maybe[Text] = None
    """What the model should know about the document; never cited."""
    citations_enabled: Maybe[bool] = None
    """True when the answer may cite this document."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class ToolResultBlock(ToolResultMethods, Model):
    """The result of one tool call."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: Annotated[Text, Field(pattern="^tu_[0-9A-Za-z]+$")]
    """Id of the tool_use block that the result belongs to."""
    content: Annotated[list["ContentBlock"], TEXT_AS_BLOCKS]
    """What the tool returned: text, images, audio, video, documents and opaque blocks."""
    is_error: bool = False
    """True when the tool failed."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: Maybe[bool] = None
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


KnownBlock: TypeAlias = (
    TextBlock
    | ImageBlock
    | AudioBlock
    | VideoBlock
    | DocumentBlock
    | ToolUseBlock
    | ToolResultBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | OpaqueBlock
)
"""The blocks that this version knows; only these can be constructed."""


ContentBlock: TypeAlias = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[AudioBlock, Tag("audio")]
    | Annotated[VideoBlock, Tag("video")]
    | Annotated[DocumentBlock, Tag("document")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[RedactedThinkingBlock, Tag("redacted_thinking")]
    | Annotated[OpaqueBlock, Tag("opaque")]
    | Annotated[UnknownBlock, Tag("*")],
    Discriminator(UnknownBlock.tag_of),
]
"""One piece of a message's content."""


class Message(MessageMethods, Model):
    """One turn of a conversation."""

    id: Annotated[Maybe[Text], Field(pattern="^[0-7][0-9A-HJKMNP-TV-Z]{25}$")] = None
    """ULID, strictly increasing in a session; filled in by the core."""
    session_id: Text | None = None
    """The session that it belongs to; bound when it is appended."""
    role: Role
    """The speaker. system and developer hold instructions, tool holds one tool result."""
    content: Annotated[list[ContentBlock], TEXT_AS_BLOCKS]
    """The blocks, in order; the order has meaning."""
    name: Maybe[Text] = None
    """Name of the participant, where the provider takes one."""
    cache: Maybe[CacheHint] = None
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    priority: Maybe[int] = None
    """For explicit sorting only; lower is earlier, 50 when absent."""
    critical: Maybe[bool] = None
    """When true no block of this message is ever dropped."""
    metadata: Maybe[MessageMetadata] = None
    """What is known about a message besides its content."""
    created_at: Maybe[Timestamp] = None
    """
    When it was made: RFC 3339 with an offset; canonical is UTC with six fractional digits, e.g.
    2026-05-08T12:00:00.000000Z.
    """
    schema_version: Literal[1] = 1
    """Version of the message schema."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""
    extra: Maybe[FreeObject] = None
    """The user's own data, namespaced keys; never sent."""


class Request(RequestMethods, Model):
    """A request to a model, independent of the provider."""

    model: Annotated[Maybe[Text], Field(pattern="^[^:]+:.+$")] = None
    """Canonical model id, provider:name."""
    system: Maybe[Annotated[list[TextBlock], TEXT_AS_BLOCKS]] = None
    """Instructions placed before all messages; the same as a first system message."""
    messages: list[Message]
    """The conversation, in order."""
    tools: Maybe[list[Tool]] = None
    """The tools that may be called."""
    tool_choice: Maybe[ToolChoice] = None
    """Which tools the model may or must call."""
    parallel_tool_calls: Maybe[bool] = None
    """Whether one answer may hold several calls."""
    response_format: Maybe[ResponseFormat] = None
    """The format that the answer must have."""
    max_output_tokens: Annotated[Maybe[int], Field(ge=0)] = None
    """Limit of generated tokens, reasoning included."""
    temperature: Maybe[float] = None
    """Sampling temperature."""
    top_p: Maybe[float] = None
    """Nucleus sampling."""
    top_k: Maybe[float] = None
    """Sample from the k most likely tokens."""
    min_p: Maybe[float] = None
    """Leave out tokens that are less likely than this fraction of the most likely one."""
    frequency_penalty: Maybe[float] = None
    """Penalty on repeated tokens."""
    presence_penalty: Maybe[float] = None
    """Penalty on tokens that have occurred."""
    seed: Maybe[int] = None
    """Seed of the sampler; any integer."""
    stop: Maybe[list[Text]] = None
    """Texts that end the answer."""
    n: Annotated[Maybe[int], Field(ge=1)] = None
    """Number of answers."""
    logprobs: Maybe[bool] = None
    """Whether to return log probabilities."""
    top_logprobs: Annotated[Maybe[int], Field(ge=0)] = None
    """Number of alternatives per token."""
    reasoning: Maybe[Reasoning] = None
    """How much the model may think."""
    verbosity: Maybe[Text] = None
    """How long the answer should be: low, medium or high."""
    service_tier: Maybe[Text] = None
    """The provider's service class."""
    user: Maybe[Text] = None
    """Stable pseudonymous id of the end user, for abuse detection."""
    metadata: Maybe[FreeObject] = None
    """Data kept with the request by the provider."""
    cache: Maybe[CacheHint] = None
    """Caches the longest possible prefix."""
    stream: Maybe[bool] = None
    """Whether the answer is streamed."""
    options: Maybe[FreeObject] = None
    """Per adapter, members of its wire request that have no canonical meaning, verbatim."""
    loss_policy: Maybe[LossPolicy] = None
    """What to do with content that the target cannot express."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class Choice(Model):
    """One of several answers."""

    message: Message
    """One turn of a conversation."""
    finish_reason: FinishReason
    """Why the answer ended. tool_calls whenever the answer holds calls to execute."""
    finish_reason_raw: Text | None = None
    """The provider's own value."""
    stop_sequence: Text | None = None
    """The stop text that ended the answer."""
    logprobs: Maybe[FreeObject] = None
    """Log probabilities, as the provider gives them."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class Response(ResponseMethods, Model):
    """A model's response."""

    id: Maybe[Text] = None
    """The provider's id of the response."""
    model: Maybe[Text] = None
    """Canonical id of the model that gave the response."""
    requested_model: Maybe[Text] = None
    """Canonical id of the model that was requested."""
    message: Message
    """One turn of a conversation."""
    finish_reason: FinishReason
    """Why the answer ended. tool_calls whenever the answer holds calls to execute."""
    finish_reason_raw: Text | None = None
    """The provider's own value."""
    stop_sequence: Text | None = None
    """The stop text that ended the answer."""
    usage: Maybe[Usage] = None
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """
    alternatives: Maybe[list[Choice]] = None
    """Further answers, when n was above 1."""
    logprobs: Maybe[FreeObject] = None
    """Log probabilities, as the provider gives them."""
    loss: Maybe[list[LossEntry]] = None
    """What was lost on the way to the provider."""
    skipped: Maybe[list[SkippedTarget]] = None
    """Candidates that did not serve the request, each with the reason."""
    attempts: Maybe[list[FailedAttempt]] = None
    """Provider calls that failed before the one that gave this response, in order."""
    provider_state: Maybe[ProviderState] = None
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""
    raw: Maybe[FreeObject] = None
    """The provider's whole response, on request."""


class BlockStartEvent(Model):
    """A block begins; block holds what is known of it."""

    type: Literal["block_start"] = "block_start"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    index: Annotated[int, Field(ge=0)]
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""
    block: ContentBlock
    """One piece of a message's content."""


class BlockStopEvent(Model):
    """A block ends; block is authoritative."""

    type: Literal["block_stop"] = "block_stop"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    index: Annotated[int, Field(ge=0)]
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: Annotated[Maybe[int], Field(ge=0)] = None
    """Which answer, when n was above 1; 0 when absent."""
    block: ContentBlock
    """One piece of a message's content."""


class MessageCompleteEvent(Model):
    """The answer is complete; nothing follows."""

    type: Literal["message_complete"] = "message_complete"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    response: Response
    """A model's response."""
    places: Maybe[list[int]] = None
    """
    The position of each block, by its index, in the content of the message. Present only when blocks came
    late: then some have another position, or share one with another block.
    """


class ErrorEvent(Model):
    """The answer failed; nothing follows."""

    type: Literal["error"] = "error"
    message_id: Maybe[Text] = None
    """The message that the event belongs to."""
    error: Error
    """What went wrong, where, and whether to try again."""
    response: Maybe[Response] = None
    """What had arrived, with status error."""


KnownEvent: TypeAlias = (
    MessageStartEvent
    | BlockStartEvent
    | TextDeltaEvent
    | ThinkingDeltaEvent
    | ToolUseStartEvent
    | ToolUseInputDeltaEvent
    | ToolUseEndEvent
    | BlockStopEvent
    | UsageUpdateEvent
    | MessageCompleteEvent
    | ErrorEvent
)
"""The events that this version knows."""


StreamEvent: TypeAlias = Annotated[
    Annotated[MessageStartEvent, Tag("message_start")]
    | Annotated[BlockStartEvent, Tag("block_start")]
    | Annotated[TextDeltaEvent, Tag("text_delta")]
    | Annotated[ThinkingDeltaEvent, Tag("thinking_delta")]
    | Annotated[ToolUseStartEvent, Tag("tool_use_start")]
    | Annotated[ToolUseInputDeltaEvent, Tag("tool_use_input_delta")]
    | Annotated[ToolUseEndEvent, Tag("tool_use_end")]
    | Annotated[BlockStopEvent, Tag("block_stop")]
    | Annotated[UsageUpdateEvent, Tag("usage_update")]
    | Annotated[MessageCompleteEvent, Tag("message_complete")]
    | Annotated[ErrorEvent, Tag("error")]
    | Annotated[UnknownEvent, Tag("*")],
    Discriminator(UnknownEvent.tag_of),
]
"""One event of a streamed answer."""

__all__ = [
    "AudioBlock",
    "BlockStartEvent",
    "BlockStopEvent",
    "CacheHint",
    "Choice",
    "Citation",
    "ContentBlock",
    "DocumentBlock",
    "Error",
    "ErrorCategory",
    "ErrorEvent",
    "Event",
    "EventActor",
    "EventSensitivity",
    "FailedAttempt",
    "FinishReason",
    "ImageBlock",
    "KnownBlock",
    "KnownEvent",
    "LossEntry",
    "LossOp",
    "LossPolicy",
    "LossSeverity",
    "MediaSource",
    "MediaSourceKind",
    "Message",
    "MessageCompleteEvent",
    "MessageMetadata",
    "MessageStartEvent",
    "MessageStatus",
    "OnDrop",
    "OpaqueBlock",
    "ProviderState",
    "Reasoning",
    "RedactedThinkingBlock",
    "Request",
    "Response",
    "ResponseFormat",
    "ResponseFormatType",
    "Role",
    "RouteDecidedPayload",
    "RoutingChainEntry",
    "RoutingConstraintFailurePayload",
    "RoutingDecisionRecord",
    "RoutingMode",
    "RoutingSlot",
    "RoutingVerdict",
    "SessionChangePayload",
    "SideEffects",
    "SkippedTarget",
    "StreamEvent",
    "TextBlock",
    "TextDeltaEvent",
    "ThinkingBlock",
    "ThinkingDeltaEvent",
    "TokenEstimate",
    "Tool",
    "ToolChoice",
    "ToolChoiceMode",
    "ToolChoiceType",
    "ToolKind",
    "ToolResultBlock",
    "ToolUseBlock",
    "ToolUseEndEvent",
    "ToolUseInputDeltaEvent",
    "ToolUseKind",
    "ToolUseStartEvent",
    "Unanswered",
    "UnknownBlock",
    "UnknownEvent",
    "Usage",
    "UsageUpdateEvent",
    "VideoBlock",
    "Violation",
    "WireRequest",
]
