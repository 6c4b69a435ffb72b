# GENERATED from spec/schema/interlingua.schema.json by tools/generate_types.py: do not edit.
"""
The canonical values in their internal form: plain JSON data, typed.

The member `type` distinguishes blocks, and events; a comparison narrows the type::

    if block["type"] == "text":
        print(block["text"])

Members that this version does not know are kept in the dicts and written back.
"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""The speaker. system and developer hold instructions, tool holds one tool result."""


class ProviderState(TypedDict):
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""

    adapter: str
    """The wire protocol that wrote this state, e.g. anthropic_messages."""
    provider: NotRequired[str | None]
    """The provider that issued it, e.g. anthropic; null when not known."""
    origin: NotRequired[str]
    """
    Where exactly the state was issued, as an opaque text (spec/1-values.md#origin). It has a meaning only
    there. Absent when the state is bound to its provider alone, or when the origin is not known.
    """
    id: NotRequired[str]
    """The provider's own id of this item (tool call id, message id, item id)."""
    signature: NotRequired[str]
    """An opaque signature or encrypted token bound to this item, e.g. a thought signature."""
    fields: NotRequired[dict[str, Any]]
    """Members of the provider's own item that have no canonical meaning, verbatim."""
    encoding: NotRequired[dict[str, Any]]
    """
    How the provider's item was spelt (a string instead of a list, an explicit null, the argument text). It
    changes no meaning and is used only to write the same wire again.
    """


class CacheHint(TypedDict):
    """Asks the provider to keep the prompt up to and including this item in its cache."""

    ttl: NotRequired[str]
    """How long to keep it, e.g. 5m or 1h; the provider's default when absent."""


MediaSourceKind: TypeAlias = Literal["base64", "url", "file_ref", "file_id", "text", "blocks"]
"""
How a medium is given. base64: as base64 text. url: by an address that the provider fetches. file_ref: by
a path relative to the workspace. file_id: by the provider's file id. text: as plain text. blocks: as a
list of blocks.
"""


class Citation(TypedDict):
    """A place that supports a span of text."""

    type: str
    """The provider's kind of citation, e.g. char_location, page_location, url_citation."""
    url: NotRequired[str]
    """The cited address."""
    title: NotRequired[str]
    """Title of the cited source."""
    cited_text: NotRequired[str]
    """The quoted text."""
    start_index: NotRequired[int]
    """Start of the cited span in the answer's text, in characters."""
    end_index: NotRequired[int]
    """End of the cited span in the answer's text, in characters."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class TextBlock(TypedDict):
    """Text."""

    type: Literal["text"]
    text: str
    """The text; it may be empty."""
    citations: NotRequired[list[Citation]]
    """Sources of this text."""
    refusal: NotRequired[bool]
    """True when the text is the model's refusal to answer."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


ToolUseKind: TypeAlias = Literal["function", "custom"]
"""How the arguments of a call are written. function: JSON. custom: free text."""


class ToolUseBlock(TypedDict):
    """A request of the model to run a tool."""

    type: Literal["tool_use"]
    id: str
    """Canonical id: tu_ and a ULID, or other letters and digits where a person wrote it."""
    name: str
    """Name of the tool."""
    input: dict[str, Any]
    """The arguments, an object that satisfies the tool's schema."""
    input_raw: NotRequired[str]
    """
    The arguments exactly as the model wrote them, present when they are not a JSON object (input is then
    empty), and for custom tools.
    """
    kind: NotRequired[ToolUseKind]
    """function: arguments are JSON. custom: the argument is free text in input_raw."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class ThinkingBlock(TypedDict):
    """The model's reasoning."""

    type: Literal["thinking"]
    text: str
    """The reasoning; it may be empty when only the signature was given."""
    signature: NotRequired[str | None]
    """The provider's opaque proof that it wrote this block."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class RedactedThinkingBlock(TypedDict):
    """Reasoning that the provider encrypted."""

    type: Literal["redacted_thinking"]
    data: str
    """The opaque blob."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class OpaqueBlock(TypedDict):
    """
    A provider's own item that has no canonical meaning. Its adapter writes it back verbatim; elsewhere it is
    a loss.
    """

    type: Literal["opaque"]
    adapter: str
    """The wire protocol that the item belongs to."""
    provider: NotRequired[str | None]
    """The provider that issued it."""
    origin: NotRequired[str]
    """Where exactly it was issued, as in ProviderState."""
    kind: NotRequired[str]
    """The provider's own name of the item's type."""
    value: dict[str, Any]
    """The item, verbatim."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class UnknownBlock(TypedDict):
    """A block of a later version: kept whole and written back, never constructed."""

    type: Literal["(any other)"]
    """A type that this version does not know. One value represents them all here."""


MessageStatus: TypeAlias = Literal["complete", "partial", "cancelled", "error"]
"""
complete: finished. partial: a stream is in progress. cancelled: stopped by the user. error: the
generation failed.
"""


RoutingMode: TypeAlias = Literal["override", "manual", "rule", "pattern", "delegate", "default"]
"""Why this model answered, in short."""


class RoutingDecisionRecord(TypedDict):
    """Compact record of a routing decision; the whole chain is in the route.decided event."""

    mode: RoutingMode
    """Why this model answered, in short."""
    chosen_model: str
    """Canonical model id; the same as metadata.model."""
    reason: str
    """The reason, for a person."""
    rule_name: NotRequired[str | None]
    """Name of the rule, for mode rule."""
    confidence: NotRequired[float | None]
    """Between 0 and 1, for mode pattern."""
    alternatives_considered: NotRequired[list[str]]
    """Canonical ids of the candidates that were passed over, in order."""


class Usage(TypedDict):
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """

    input_tokens: int
    """Prompt tokens that were neither read from nor written to a cache."""
    output_tokens: int
    """Generated tokens, reasoning included."""
    cached_input_tokens: NotRequired[int]
    """Prompt tokens read from a cache."""
    cache_creation_input_tokens: NotRequired[int]
    """Prompt tokens written to a cache."""
    cache_creation_1h_input_tokens: NotRequired[int]
    """The part of cache_creation_input_tokens that is kept for one hour."""
    reasoning_tokens: NotRequired[int]
    """The part of output_tokens spent on reasoning."""
    cost_usd: NotRequired[str | None]
    """Exact decimal US dollars from the local price table; null when unpriced."""
    pricing_version: NotRequired[str | None]
    """Version of the price table that was used."""
    latency_ms: NotRequired[int]
    """Wall time of the call in milliseconds."""
    estimated: NotRequired[bool]
    """True when the provider gave no usage and the counts are estimates."""
    raw: NotRequired[dict[str, Any]]
    """The provider's own usage object, verbatim."""


class MessageMetadata(TypedDict):
    """What is known about a message besides its content."""

    model: NotRequired[str | None]
    """Canonical model id, provider:name."""
    provider: NotRequired[str | None]
    """Provider key, e.g. anthropic."""
    routing: NotRequired[RoutingDecisionRecord | None]
    """Why this model answered."""
    usage: NotRequired[Usage | None]
    """Tokens, money and time."""
    parent_tool_use_id: NotRequired[str | None]
    """On tool messages, the id of the call that the result belongs to."""
    status: NotRequired[MessageStatus]
    """Status of the message."""
    provider_raw: NotRequired[dict[str, Any] | None]
    """The adapter's own data, opaque to everyone else; not part of equality or of the hash."""
    user_id: NotRequired[str | None]
    """Pseudonymous principal, usr_ and a ULID."""
    team_id: NotRequired[str | None]
    """Pseudonymous team, team_ and a ULID."""


SideEffects: TypeAlias = Literal["none", "read", "write", "execute", "network"]
"""The most severe side effect of a tool; a tool without this member is treated as execute."""


ToolKind: TypeAlias = Literal["function", "custom", "provider"]
"""
Who defines a tool and how its arguments are written. function: JSON arguments. custom: free text.
provider: defined by a provider.
"""


class Tool(TypedDict):
    """A tool that the model may call."""

    kind: NotRequired[ToolKind]
    """
    function: JSON arguments. custom: free text. provider: run or defined by a provider, kept whole in
    definition.
    """
    name: str
    """Unique in the request; snake_case in the strict profile."""
    description: NotRequired[str]
    """What the tool does, shown to the model."""
    input_schema: NotRequired[dict[str, Any]]
    """JSON Schema of the arguments."""
    side_effects: NotRequired[SideEffects]
    """The most severe side effect of a tool; a tool without this member is treated as execute."""
    requires_workspace: NotRequired[bool]
    """True when the tool needs a workspace."""
    strict: NotRequired[bool]
    """True when the provider must enforce the schema."""
    format: NotRequired[dict[str, Any]]
    """Grammar of a custom tool's text, as the provider defines it."""
    adapter: NotRequired[str]
    """For kind provider, the wire protocol that it belongs to."""
    definition: NotRequired[dict[str, Any]]
    """For kind provider, the provider's tool object, verbatim."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


ToolChoiceType: TypeAlias = Literal["auto", "none", "required", "tool", "allowed"]
"""
Which tools the model may or must call. auto: the model decides. none: no tool. required: at least one.
tool: the named one. allowed: only the listed ones.
"""


ToolChoiceMode: TypeAlias = Literal["auto", "required"]
"""Whether one of the allowed tools must be called. auto: the model decides. required: at least one."""


class ToolChoice(TypedDict):
    """Which tools the model may or must call."""

    type: ToolChoiceType
    """
    auto: the model decides. none: no tool. required: at least one. tool: the named one. allowed: only those
    in names.
    """
    name: NotRequired[str]
    """For type tool, the name."""
    names: NotRequired[list[str]]
    """For type allowed, the names."""
    mode: NotRequired[ToolChoiceMode]
    """For type allowed, whether a call is required."""
    kind: NotRequired[ToolKind]
    """Kind of the named tool."""


ResponseFormatType: TypeAlias = Literal["text", "json", "json_schema"]
"""The format of an answer. text: free. json: any JSON object. json_schema: JSON that satisfies a schema."""


class ResponseFormat(TypedDict):
    """The format that the answer must have."""

    type: ResponseFormatType
    """text: free. json: any JSON object. json_schema: JSON that satisfies schema."""
    name: NotRequired[str]
    """Name of the schema."""
    description: NotRequired[str]
    """What the schema is for."""
    schema: NotRequired[dict[str, Any]]
    """The JSON Schema."""
    strict: NotRequired[bool | None]
    """Whether the provider must enforce the schema."""


class Reasoning(TypedDict):
    """How much the model may think."""

    mode: NotRequired[str]
    """adaptive, enabled, disabled, or a provider's own value."""
    effort: NotRequired[str]
    """none, minimal, low, medium, high, xhigh or max."""
    budget_tokens: NotRequired[int]
    """Limit of reasoning tokens."""
    display: NotRequired[str]
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


class LossEntry(TypedDict):
    """One change that a projection made."""

    op: LossOp
    """What happened to the value at path."""
    path: str
    """JSON Pointer into the request as written."""
    to: NotRequired[str]
    """For move and merge, the JSON Pointer of the destination, in the request as written."""
    value: NotRequired[Any]
    """
    For replace, the value that is at path now. For move, the value that is left behind at path; nothing when
    absent.
    """
    code: str
    """Reason, from the closed list in spec/registry/loss_codes.json."""
    severity: LossSeverity
    """
    representation: another representation, the same meaning. weakened: the meaning is there but weaker. lost:
    the meaning is gone.
    """
    message: str
    """What happened, for a person; it never holds content."""


FinishReason: TypeAlias = Literal[
    "stop", "stop_sequence", "length", "tool_calls", "content_filter", "refusal", "pause", "cancelled", "error", "other"
]
"""Why the answer ended. tool_calls whenever the answer holds calls to execute."""


class SkippedTarget(TypedDict):
    """A target that did not serve the request."""

    model: str
    """Canonical model id."""
    reason: str
    """The reason, a fixed word for programs."""
    message: NotRequired[str]
    """The reason, for a person."""


class MessageStartEvent(TypedDict):
    """The answer begins."""

    type: Literal["message_start"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    model: NotRequired[str]
    """Canonical id of the serving model."""
    response_id: NotRequired[str]
    """The provider's id of the response."""
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""


class TextDeltaEvent(TypedDict):
    """More text of a text block."""

    type: Literal["text_delta"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    index: int
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""
    text: str
    """The added text."""


class ThinkingDeltaEvent(TypedDict):
    """More reasoning of a thinking block."""

    type: Literal["thinking_delta"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    index: int
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""
    text: str
    """The added reasoning."""
    signature: NotRequired[str | None]
    """Only on the last delta of a block."""


class ToolUseStartEvent(TypedDict):
    """A tool call begins."""

    type: Literal["tool_use_start"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    index: int
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""
    id: str
    """Canonical id."""
    name: str
    """Name of the tool."""


class ToolUseInputDeltaEvent(TypedDict):
    """More argument text, as the provider wrote it."""

    type: Literal["tool_use_input_delta"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    index: int
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""
    id: str
    """Canonical id."""
    text: str
    """A fragment of the argument text."""


class ToolUseEndEvent(TypedDict):
    """A tool call is complete."""

    type: Literal["tool_use_end"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    index: int
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""
    id: str
    """Canonical id."""
    name: str
    """Name of the tool."""
    input: dict[str, Any]
    """The whole arguments."""
    input_raw: NotRequired[str]
    """The argument text, when it is not a JSON object."""


class UsageUpdateEvent(TypedDict):
    """Usage so far; later ones replace earlier ones."""

    type: Literal["usage_update"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    usage: Usage
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """


class UnknownEvent(TypedDict):
    """An event of a later version, to be skipped."""

    type: Literal["(any other)"]
    """An event type that this version does not know. One value represents them all here."""


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


class Violation(TypedDict):
    """A broken rule."""

    rule: str
    """Name of the rule."""
    path: str
    """JSON Pointer to the place."""
    message: str
    """What is wrong and what to do."""


class TokenEstimate(TypedDict):
    """How many tokens a request will take."""

    low: int
    """A low estimate: fewer are unlikely."""
    likely: int
    """The best guess."""
    high: int
    """A high estimate: more are unlikely."""


class WireRequest(TypedDict):
    """An HTTP request in a provider's own format; it holds no secret."""

    method: str
    """HTTP method."""
    path: str
    """Path below the provider's base URL."""
    headers: NotRequired[dict[str, str]]
    """Headers that belong to the wire format."""
    body: dict[str, Any]
    """The JSON body."""


EventActor: TypeAlias = Literal["user", "agent", "system", "tool", "worker"]
"""The actor that caused an event."""


EventSensitivity: TypeAlias = Literal["private", "user_controlled", "pseudonymous", "aggregatable"]
"""How private an event is, the most private first."""


class Event(TypedDict):
    """
    Something that happened to a session or to a turn, for programs that observe them. It holds no content of
    a conversation and no secret.
    """

    id: str
    """ULID."""
    type: str
    """What happened, e.g. route.decided. It determines the payload; a reader skips types that it does not know."""
    alias: NotRequired[str]
    """Another name of the type, in the dotted form of event catalogues."""
    timestamp: str
    """When it happened: UTC with six fractional digits, e.g. 2026-05-08T12:00:00.000000Z."""
    session_id: NotRequired[str | None]
    """The session that it belongs to; null when there is none."""
    turn_id: NotRequired[str | None]
    """The turn that it belongs to; null when the caller named none."""
    parent_event_id: NotRequired[str | None]
    """The event that led to it; null when there is none."""
    actor: EventActor
    """The actor that caused an event."""
    sensitivity: EventSensitivity
    """How private an event is, the most private first."""
    payload: dict[str, Any]
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


class RoutingChainEntry(TypedDict):
    """The verdict on one candidate, or on a slot that has none."""

    policy: RoutingSlot
    """The slot."""
    verdict: RoutingVerdict
    """The outcome of a candidate, or of a slot without one."""
    candidate_model: str | None
    """Canonical model id, or the target that resolves to no model; null for a slot without a candidate."""
    reason: str
    """Why the slot named it, for a person."""
    rule_name: NotRequired[str]
    """Name of the rule, for the slot rule."""
    confidence: NotRequired[float]
    """Between 0 and 1, for the slot pattern."""
    pattern_alternatives: NotRequired[list[str]]
    """The models that rank below the proposed one, the best first, for the slot pattern."""
    validation_failure: NotRequired[str]
    """The first reason for which it was rejected, a fixed word for programs."""
    missing: NotRequired[str]
    """For not_configured, what is missing before its provider can be called."""


class RouteDecidedPayload(TypedDict):
    """Payload of the event route.decided: the whole decision of a turn."""

    chosen_model: str | None
    """Canonical model id; null when no model can serve the turn."""
    winner_index: int
    """Position of the winner in the chain; -1 when no model can serve the turn."""
    elapsed_ms: float | None
    """How long the decision took, in milliseconds; null when it was not measured."""
    chain: list[RoutingChainEntry]
    """The verdicts in order, up to the winner and no further."""


class RoutingConstraintFailurePayload(TypedDict):
    """Payload of the event routing_constraint_failure: a change of the session's model that was refused."""

    requested_model: str
    """Canonical id of the model that was requested."""
    active_model: str | None
    """The model that stays; null when the session had none."""
    failures: list[str]
    """Why the conversation cannot continue with that model, as fixed words for programs."""
    message: str
    """The message for the user."""


class SessionChangePayload(TypedDict):
    """Payload of the events session.*, message.* and turn.*: what changed in a session."""

    message_id: NotRequired[str]
    """The message that it is about."""
    message_ids: NotRequired[list[str]]
    """The messages that were appended, in order; role, status and model are those of the last."""
    role: NotRequired[Role]
    """The speaker. system and developer hold instructions, tool holds one tool result."""
    status: NotRequired[MessageStatus]
    """
    complete: finished. partial: a stream is in progress. cancelled: stopped by the user. error: the
    generation failed.
    """
    model: NotRequired[str]
    """Canonical id of the model that answers, or that the session has from now on; absent when it has none."""
    superseded_by: NotRequired[str]
    """The message that replaces this one and all that came after it."""
    parent_session_id: NotRequired[str]
    """The session from which this one was forked."""
    parent_message_id: NotRequired[str]
    """The last message that this session took from it."""
    category: NotRequired[ErrorCategory]
    """The kind of an error, by its cause."""


class LossPolicy(TypedDict):
    """What to do with content that the target cannot express."""

    on_drop: NotRequired[OnDrop]
    """drop: leave it out and report. error: refuse. placeholder: put a short text in its place and report."""
    strict: NotRequired[LossSeverity]
    """Refuse when any loss is at least this severe."""
    unanswered: NotRequired[Unanswered]
    """
    What to do with tool calls of a request that have no result. error: refuse where the target takes none.
    placeholder: add a result that states this after each and report.
    """


class FailedAttempt(TypedDict):
    """One provider call that gave no response."""

    model: str
    """Canonical id of the model that was called."""
    category: ErrorCategory
    """The kind of an error, by its cause."""
    status: NotRequired[int]
    """HTTP status of the provider."""
    waited: NotRequired[float]
    """Seconds before the same model was called again; absent when it was not called again."""


class Error(TypedDict):
    """What went wrong, where, and whether to try again."""

    category: ErrorCategory
    """The kind of an error, by its cause."""
    message: str
    """What is wrong and what to do; it holds no content and no secret."""
    provider_message: NotRequired[str]
    """
    The provider's own message, at most 2,000 characters, without anything that looks like a key. It may hold
    content of the conversation: it is for the caller, and for no log.
    """
    path: NotRequired[str]
    """JSON Pointer to the place in the input."""
    retryable: NotRequired[bool]
    """Whether the same call may succeed later."""
    retry_after: NotRequired[float]
    """Seconds to wait before trying again."""
    status: NotRequired[int]
    """HTTP status of the provider."""
    code: NotRequired[str]
    """The provider's own error code."""
    request_id: NotRequired[str]
    """The provider's id of the call that failed, for inquiries at the provider."""
    provider: NotRequired[str]
    """The provider that failed."""
    adapter: NotRequired[str]
    """The adapter that was used."""
    loss: NotRequired[list[LossEntry]]
    """For loss_refused, the whole report."""
    violations: NotRequired[list[Violation]]
    """For invalid_request, all that is wrong."""
    attempts: NotRequired[list[FailedAttempt]]
    """All provider calls that failed, in order, when there was more than one."""
    skipped: NotRequired[list[SkippedTarget]]
    """Candidates that could not serve the request, each with the reason, when there were several."""
    raw: NotRequired[Any]
    """The provider's error body, on request."""


class MediaSource(TypedDict):
    """Where the bytes of a medium are."""

    kind: MediaSourceKind
    """
    base64: data is base64 text. url: data is a URL that the provider fetches. file_ref: data is a path
    relative to the workspace. file_id: data is a provider's file id. text: data is plain text. blocks: the
    document is the list in content.
    """
    data: NotRequired[str]
    """Base64 text, URL, path, file id or plain text, by kind."""
    content: NotRequired[list["ContentBlock"]]
    """The blocks of a document of kind blocks."""
    provider: NotRequired[str | None]
    """The provider that a file_id belongs to."""


class ImageBlock(TypedDict):
    """An image."""

    type: Literal["image"]
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: NotRequired[str]
    """IANA media type, e.g. image/png."""
    detail: NotRequired[str]
    """The level of detail at which the model sees the image: auto, low, high or original."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class AudioBlock(TypedDict):
    """Audio."""

    type: Literal["audio"]
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: NotRequired[str]
    """IANA media type, e.g. audio/wav."""
    transcript: NotRequired[str]
    """Transcript of the speech, when the provider gives one."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class VideoBlock(TypedDict):
    """A video."""

    type: Literal["video"]
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: NotRequired[str]
    """IANA media type, e.g. video/mp4."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class DocumentBlock(TypedDict):
    """A document, e.g. a PDF."""

    type: Literal["document"]
    source: MediaSource
    """Where the bytes of a medium are."""
    media_type: NotRequired[str]
    """IANA media type, e.g. application/pdf."""
    name: NotRequired[str]
    """File name."""
    title: NotRequired[str]
    """Title shown to the model."""
    context: NotRequired[str]
    """What the model should know about the document; never cited."""
    citations_enabled: NotRequired[bool]
    """True when the answer may cite this document."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class ToolResultBlock(TypedDict):
    """The result of one tool call."""

    type: Literal["tool_result"]
    tool_use_id: str
    """Id of the tool_use block that the result belongs to."""
    content: list["ContentBlock"]
    """What the tool returned: text, images, audio, video, documents and opaque blocks."""
    is_error: NotRequired[bool]
    """True when the tool failed."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: NotRequired[bool]
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: NotRequired[ProviderState]
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


ContentBlock: TypeAlias = KnownBlock | UnknownBlock
"""One piece of a message's content."""


class Message(TypedDict):
    """One turn of a conversation."""

    id: NotRequired[str]
    """ULID, strictly increasing in a session; filled in by the core."""
    session_id: NotRequired[str | None]
    """The session that it belongs to; bound when it is appended."""
    role: Role
    """The speaker. system and developer hold instructions, tool holds one tool result."""
    content: list[ContentBlock]
    """The blocks, in order; the order has meaning."""
    name: NotRequired[str]
    """Name of the participant, where the provider takes one."""
    cache: NotRequired[CacheHint]
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    priority: NotRequired[int]
    """For explicit sorting only; lower is earlier, 50 when absent."""
    critical: NotRequired[bool]
    """When true no block of this message is ever dropped."""
    metadata: NotRequired[MessageMetadata]
    """What is known about a message besides its content."""
    created_at: NotRequired[str]
    """
    When it was made: RFC 3339 with an offset; canonical is UTC with six fractional digits, e.g.
    2026-05-08T12:00:00.000000Z.
    """
    schema_version: NotRequired[Literal[1]]
    """Version of the message schema."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""
    extra: NotRequired[dict[str, Any]]
    """The user's own data, namespaced keys; never sent."""


class Request(TypedDict):
    """A request to a model, independent of the provider."""

    model: NotRequired[str]
    """Canonical model id, provider:name."""
    system: NotRequired[list[TextBlock]]
    """Instructions placed before all messages; the same as a first system message."""
    messages: list[Message]
    """The conversation, in order."""
    tools: NotRequired[list[Tool]]
    """The tools that may be called."""
    tool_choice: NotRequired[ToolChoice]
    """Which tools the model may or must call."""
    parallel_tool_calls: NotRequired[bool]
    """Whether one answer may hold several calls."""
    response_format: NotRequired[ResponseFormat]
    """The format that the answer must have."""
    max_output_tokens: NotRequired[int]
    """Limit of generated tokens, reasoning included."""
    temperature: NotRequired[float]
    """Sampling temperature."""
    top_p: NotRequired[float]
    """Nucleus sampling."""
    top_k: NotRequired[float]
    """Sample from the k most likely tokens."""
    min_p: NotRequired[float]
    """Leave out tokens that are less likely than this fraction of the most likely one."""
    frequency_penalty: NotRequired[float]
    """Penalty on repeated tokens."""
    presence_penalty: NotRequired[float]
    """Penalty on tokens that have occurred."""
    seed: NotRequired[int]
    """Seed of the sampler; any integer."""
    stop: NotRequired[list[str]]
    """Texts that end the answer."""
    n: NotRequired[int]
    """Number of answers."""
    logprobs: NotRequired[bool]
    """Whether to return log probabilities."""
    top_logprobs: NotRequired[int]
    """Number of alternatives per token."""
    reasoning: NotRequired[Reasoning]
    """How much the model may think."""
    verbosity: NotRequired[str]
    """How long the answer should be: low, medium or high."""
    service_tier: NotRequired[str]
    """The provider's service class."""
    user: NotRequired[str]
    """Stable pseudonymous id of the end user, for abuse detection."""
    metadata: NotRequired[dict[str, Any]]
    """Data kept with the request by the provider."""
    cache: NotRequired[CacheHint]
    """Caches the longest possible prefix."""
    stream: NotRequired[bool]
    """Whether the answer is streamed."""
    options: NotRequired[dict[str, Any]]
    """Per adapter, members of its wire request that have no canonical meaning, verbatim."""
    loss_policy: NotRequired[LossPolicy]
    """What to do with content that the target cannot express."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class Choice(TypedDict):
    """One of several answers."""

    message: Message
    """One turn of a conversation."""
    finish_reason: FinishReason
    """Why the answer ended. tool_calls whenever the answer holds calls to execute."""
    finish_reason_raw: NotRequired[str | None]
    """The provider's own value."""
    stop_sequence: NotRequired[str | None]
    """The stop text that ended the answer."""
    logprobs: NotRequired[dict[str, Any]]
    """Log probabilities, as the provider gives them."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""


class Response(TypedDict):
    """A model's response."""

    id: NotRequired[str]
    """The provider's id of the response."""
    model: NotRequired[str]
    """Canonical id of the model that gave the response."""
    requested_model: NotRequired[str]
    """Canonical id of the model that was requested."""
    message: Message
    """One turn of a conversation."""
    finish_reason: FinishReason
    """Why the answer ended. tool_calls whenever the answer holds calls to execute."""
    finish_reason_raw: NotRequired[str | None]
    """The provider's own value."""
    stop_sequence: NotRequired[str | None]
    """The stop text that ended the answer."""
    usage: NotRequired[Usage]
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """
    alternatives: NotRequired[list[Choice]]
    """Further answers, when n was above 1."""
    logprobs: NotRequired[dict[str, Any]]
    """Log probabilities, as the provider gives them."""
    loss: NotRequired[list[LossEntry]]
    """What was lost on the way to the provider."""
    skipped: NotRequired[list[SkippedTarget]]
    """Candidates that did not serve the request, each with the reason."""
    attempts: NotRequired[list[FailedAttempt]]
    """Provider calls that failed before the one that gave this response, in order."""
    provider_state: NotRequired[ProviderState]
    """State that belongs to one provider. It is replayed only to its owner and is reported as lost elsewhere."""
    raw: NotRequired[dict[str, Any]]
    """The provider's whole response, on request."""


class BlockStartEvent(TypedDict):
    """A block begins; block holds what is known of it."""

    type: Literal["block_start"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    index: int
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""
    block: ContentBlock
    """One piece of a message's content."""


class BlockStopEvent(TypedDict):
    """A block ends; block is authoritative."""

    type: Literal["block_stop"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    index: int
    """
    Number of the block in the stream, from 0. It is also the position in the message unless the last event
    has places.
    """
    choice: NotRequired[int]
    """Which answer, when n was above 1; 0 when absent."""
    block: ContentBlock
    """One piece of a message's content."""


class MessageCompleteEvent(TypedDict):
    """The answer is complete; nothing follows."""

    type: Literal["message_complete"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    response: Response
    """A model's response."""
    places: NotRequired[list[int]]
    """
    The position of each block, by its index, in the content of the message. Present only when blocks came
    late: then some have another position, or share one with another block.
    """


class ErrorEvent(TypedDict):
    """The answer failed; nothing follows."""

    type: Literal["error"]
    message_id: NotRequired[str]
    """The message that the event belongs to."""
    error: Error
    """What went wrong, where, and whether to try again."""
    response: NotRequired[Response]
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


StreamEvent: TypeAlias = KnownEvent | UnknownEvent
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
