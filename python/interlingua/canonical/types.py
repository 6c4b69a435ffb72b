# GENERATED from spec/schema/interlingua.schema.json by tools/generate_types.py: do not edit.
"""
The canonical values, as they are inside: plain JSON data, typed.

A block, and likewise an event, is told apart by its member `type`; a comparison narrows::

    if block["type"] == "text":
        print(block["text"])

Members that this version does not know are kept in the dicts and written back.
"""

from typing import Any, Literal, Required, TypeAlias, TypedDict

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

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Who speaks. system and developer hold instructions, tool holds one tool result."""


class ProviderState(TypedDict, total=False):
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""

    adapter: Required[str]
    """The wire protocol that wrote this state, e.g. anthropic_messages."""
    provider: str | None
    """The provider that issued it, e.g. anthropic; null when not known."""
    origin: str
    """
    Where exactly it was issued, an opaque text (spec/1-values.md#origin): only there does it mean anything.
    Absent when it is not bound to more than its provider, or when that is not known.
    """
    id: str
    """The provider's own id of this item (tool call id, message id, item id)."""
    signature: str
    """An opaque signature or encrypted token bound to this item, e.g. a thought signature."""
    fields: dict[str, Any]
    """Members of the provider's own item that have no canonical meaning, verbatim."""
    encoding: dict[str, Any]
    """
    How the provider's item was spelt (a string instead of a list, an explicit null, the argument text). It
    changes no meaning and is used only to write the same wire again.
    """


class CacheHint(TypedDict, total=False):
    """Asks the provider to keep the prompt up to and including this item in its cache."""

    ttl: str
    """How long to keep it, e.g. 5m or 1h; the provider's default when absent."""


MediaSourceKind: TypeAlias = Literal["base64", "url", "file_ref", "file_id", "text", "blocks"]
"""
How a medium is given. base64: as base64 text. url: by an address that the provider fetches. file_ref: by
a path relative to the workspace. file_id: by the provider's file id. text: as plain text. blocks: as a
list of blocks.
"""


class MediaSource(TypedDict, total=False):
    """Where the bytes of a medium are."""

    kind: Required[MediaSourceKind]
    """
    base64: data is base64 text. url: data is a URL that the provider fetches. file_ref: data is a path
    relative to the workspace. file_id: data is a provider's file id. text: data is plain text. blocks: the
    document is the list in content.
    """
    data: str
    """Base64 text, URL, path, file id or plain text, by kind."""
    content: "list[ContentBlock]"
    """The blocks of a document of kind blocks."""
    provider: str | None
    """The provider that a file_id belongs to."""


class Citation(TypedDict, total=False):
    """A place that supports a span of text."""

    type: Required[str]
    """The provider's kind of citation, e.g. char_location, page_location, url_citation."""
    url: str
    """The cited address."""
    title: str
    """Title of the cited source."""
    cited_text: str
    """The quoted text."""
    start_index: int
    """Start of the cited span in the answer's text, in characters."""
    end_index: int
    """End of the cited span in the answer's text, in characters."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class TextBlock(TypedDict, total=False):
    """Text."""

    type: Required[Literal["text"]]
    """Always text."""
    text: Required[str]
    """The text; it may be empty."""
    citations: list[Citation]
    """Sources of this text."""
    refusal: bool
    """True when the text is the model's refusal to answer."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class ImageBlock(TypedDict, total=False):
    """A picture."""

    type: Required[Literal["image"]]
    """Always image."""
    source: Required[MediaSource]
    """Where the bytes of a medium are."""
    media_type: str
    """IANA media type, e.g. image/png."""
    detail: str
    """How closely to look: auto, low, high or original."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class AudioBlock(TypedDict, total=False):
    """Sound."""

    type: Required[Literal["audio"]]
    """Always audio."""
    source: Required[MediaSource]
    """Where the bytes of a medium are."""
    media_type: str
    """IANA media type, e.g. audio/wav."""
    transcript: str
    """What is said, where the provider gives it."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class VideoBlock(TypedDict, total=False):
    """A film."""

    type: Required[Literal["video"]]
    """Always video."""
    source: Required[MediaSource]
    """Where the bytes of a medium are."""
    media_type: str
    """IANA media type, e.g. video/mp4."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class DocumentBlock(TypedDict, total=False):
    """A document, e.g. a PDF."""

    type: Required[Literal["document"]]
    """Always document."""
    source: Required[MediaSource]
    """Where the bytes of a medium are."""
    media_type: str
    """IANA media type, e.g. application/pdf."""
    name: str
    """File name."""
    title: str
    """Title shown to the model."""
    context: str
    """What the model should know about the document; never cited."""
    citations_enabled: bool
    """True when the answer may cite this document."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


ToolUseKind: TypeAlias = Literal["function", "custom"]
"""How the arguments of a call are written. function: JSON. custom: free text."""


class ToolUseBlock(TypedDict, total=False):
    """The model asks for a tool to be run."""

    type: Required[Literal["tool_use"]]
    """Always tool_use."""
    id: Required[str]
    """Canonical id, tu_ and a ULID."""
    name: Required[str]
    """Name of the tool."""
    input: Required[dict[str, Any]]
    """The arguments, an object that satisfies the tool's schema."""
    input_raw: str
    """
    The arguments exactly as the model wrote them, present when they are not a JSON object (input is then
    empty), and for custom tools.
    """
    kind: ToolUseKind
    """function: arguments are JSON. custom: the argument is free text in input_raw."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class ToolResultBlock(TypedDict, total=False):
    """The answer to one tool call."""

    type: Required[Literal["tool_result"]]
    """Always tool_result."""
    tool_use_id: Required[str]
    """Id of the tool_use block that this answers."""
    content: Required["list[ContentBlock]"]
    """What the tool returned: text, images, audio, video, documents and opaque blocks."""
    is_error: bool
    """True when the tool failed."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class ThinkingBlock(TypedDict, total=False):
    """The model's reasoning."""

    type: Required[Literal["thinking"]]
    """Always thinking."""
    text: Required[str]
    """The reasoning; it may be empty when only the signature was given."""
    signature: str | None
    """The provider's opaque proof that it wrote this block."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class RedactedThinkingBlock(TypedDict, total=False):
    """Reasoning that the provider encrypted."""

    type: Required[Literal["redacted_thinking"]]
    """Always redacted_thinking."""
    data: Required[str]
    """The opaque blob."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class OpaqueBlock(TypedDict, total=False):
    """
    A provider's own item that has no canonical meaning. It goes back verbatim to its adapter and is a loss
    elsewhere.
    """

    type: Required[Literal["opaque"]]
    """Always opaque."""
    adapter: Required[str]
    """The wire protocol that the item belongs to."""
    provider: str | None
    """The provider that issued it."""
    origin: str
    """Where exactly it was issued, as in ProviderState."""
    kind: str
    """The provider's own type word."""
    value: Required[dict[str, Any]]
    """The item, verbatim."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    critical: bool
    """When true this block is never dropped: a projection that cannot carry it fails."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class UnknownBlock(TypedDict):
    """
    A block of a later version: kept whole and written back, never constructed. Its type is any other word;
    one stands for them here, so that a comparison narrows.
    """

    type: Literal["(any other)"]


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
"""One piece of a message's content. Those that this version knows."""

ContentBlock: TypeAlias = KnownBlock | UnknownBlock
"""One piece of a message's content."""

MessageStatus: TypeAlias = Literal["complete", "partial", "cancelled", "error"]
"""
complete: finished. partial: a stream is in progress. cancelled: stopped by the user. error: the
generation failed.
"""

RoutingMode: TypeAlias = Literal["override", "manual", "rule", "pattern", "delegate", "default"]
"""Why this model answered, in short."""


class RoutingDecisionRecord(TypedDict, total=False):
    """Compact record of a routing decision; the whole chain is in the route.decided event."""

    mode: Required[RoutingMode]
    """Why this model answered, in short."""
    chosen_model: Required[str]
    """Canonical model id; the same as metadata.model."""
    reason: Required[str]
    """Why, for a person."""
    rule_name: str | None
    """Name of the rule, for mode rule."""
    confidence: float | None
    """Between 0 and 1, for mode pattern."""
    alternatives_considered: list[str]
    """Canonical ids of the candidates that were passed over, in order."""


class Usage(TypedDict, total=False):
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """

    input_tokens: Required[int]
    """Prompt tokens that were neither read from nor written to a cache."""
    output_tokens: Required[int]
    """Generated tokens, reasoning included."""
    cached_input_tokens: int
    """Prompt tokens read from a cache."""
    cache_creation_input_tokens: int
    """Prompt tokens written to a cache."""
    cache_creation_1h_input_tokens: int
    """The part of cache_creation_input_tokens that is kept for one hour."""
    reasoning_tokens: int
    """The part of output_tokens spent on reasoning."""
    cost_usd: str | None
    """Exact decimal US dollars from the local price table; null when unpriced."""
    pricing_version: str | None
    """Version of the price table that was used."""
    latency_ms: int
    """Wall time of the call in milliseconds."""
    estimated: bool
    """True when the provider gave no usage and the counts are estimates."""
    raw: dict[str, Any]
    """The provider's own usage object, verbatim."""


class MessageMetadata(TypedDict, total=False):
    """What is known about a message beside its content."""

    model: str | None
    """Canonical model id, provider:name."""
    provider: str | None
    """Provider key, e.g. anthropic."""
    routing: RoutingDecisionRecord | None
    """Why this model answered."""
    usage: Usage | None
    """Tokens, money and time."""
    parent_tool_use_id: str | None
    """On tool messages, the id of the call that is answered."""
    status: MessageStatus
    """Where the message stands."""
    provider_raw: dict[str, Any] | None
    """The adapter's own data, opaque to everyone else; not part of equality or of the hash."""
    user_id: str | None
    """Pseudonymous principal, usr_ and a ULID."""
    team_id: str | None
    """Pseudonymous team, team_ and a ULID."""


class Message(TypedDict, total=False):
    """One turn of a conversation."""

    id: str
    """ULID, strictly increasing in a session; filled in by the core."""
    session_id: str | None
    """The session that it belongs to; bound when it is appended."""
    role: Required[Role]
    """Who speaks. system and developer hold instructions, tool holds one tool result."""
    content: Required[list[ContentBlock]]
    """The blocks, in order; the order has meaning."""
    name: str
    """Name of the participant, where the provider takes one."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    priority: int
    """For explicit sorting only; lower is earlier, 50 when absent."""
    critical: bool
    """When true no block of this message is ever dropped."""
    metadata: MessageMetadata
    """What is known about a message beside its content."""
    created_at: str
    """
    When it was made: RFC 3339 with an offset; canonical is UTC with six fractional digits, e.g.
    2026-05-08T12:00:00.000000Z.
    """
    schema_version: Literal[1]
    """Version of the message schema."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""
    extra: dict[str, Any]
    """The user's own data, namespaced keys; never sent."""


SideEffects: TypeAlias = Literal["none", "read", "write", "execute", "network"]
"""The worst that a tool can do; a tool that does not say is treated as execute."""

ToolKind: TypeAlias = Literal["function", "custom", "provider"]
"""
Who defines a tool and how its arguments are written. function: JSON arguments. custom: free text.
provider: defined by a provider.
"""


class Tool(TypedDict, total=False):
    """A tool that the model may call."""

    kind: ToolKind
    """
    function: JSON arguments. custom: free text. provider: run or defined by a provider, kept whole in
    definition.
    """
    name: Required[str]
    """Unique in the request; snake_case in the strict profile."""
    description: str
    """What the tool does, shown to the model."""
    input_schema: dict[str, Any]
    """JSON Schema of the arguments."""
    side_effects: SideEffects
    """The worst that a tool can do; a tool that does not say is treated as execute."""
    requires_workspace: bool
    """True when the tool needs a workspace."""
    strict: bool
    """True when the provider must enforce the schema."""
    format: dict[str, Any]
    """Grammar of a custom tool's text, as the provider defines it."""
    adapter: str
    """For kind provider, the wire protocol that it belongs to."""
    definition: dict[str, Any]
    """For kind provider, the provider's tool object, verbatim."""
    cache: CacheHint
    """Asks the provider to keep the prompt up to and including this item in its cache."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


ToolChoiceType: TypeAlias = Literal["auto", "none", "required", "tool", "allowed"]
"""
How freely tools may be called. auto: as the model likes. none: not at all. required: at least one. tool:
the named one. allowed: only the listed ones.
"""

ToolChoiceMode: TypeAlias = Literal["auto", "required"]
"""Whether one of the allowed tools must be called. auto: as the model likes. required: at least one."""


class ToolChoice(TypedDict, total=False):
    """How freely the model may call tools."""

    type: Required[ToolChoiceType]
    """
    auto: as it likes. none: not at all. required: at least one. tool: the named one. allowed: only those in
    names.
    """
    name: str
    """For type tool, the name."""
    names: list[str]
    """For type allowed, the names."""
    mode: ToolChoiceMode
    """For type allowed, whether a call is required."""
    kind: ToolKind
    """Kind of the named tool."""


ResponseFormatType: TypeAlias = Literal["text", "json", "json_schema"]
"""The form of an answer. text: free. json: any JSON object. json_schema: JSON that satisfies a schema."""


class ResponseFormat(TypedDict, total=False):
    """The form that the answer must have."""

    type: Required[ResponseFormatType]
    """text: free. json: any JSON object. json_schema: JSON that satisfies schema."""
    name: str
    """Name of the schema."""
    description: str
    """What the schema is for."""
    schema: dict[str, Any]
    """The JSON Schema."""
    strict: bool | None
    """Whether the provider must enforce the schema."""


class Reasoning(TypedDict, total=False):
    """How much the model may think."""

    mode: str
    """adaptive, enabled, disabled, or a provider's own word."""
    effort: str
    """none, minimal, low, medium, high, xhigh or max."""
    budget_tokens: int
    """Limit of reasoning tokens."""
    display: str
    """How the reasoning is shown: summarized, omitted or a provider's own word."""


OnDrop: TypeAlias = Literal["drop", "error", "placeholder"]
"""
What to do with content that cannot be carried. drop: leave it out and report. error: refuse. placeholder:
put a short text in its place and report.
"""

Unanswered: TypeAlias = Literal["error", "placeholder"]
"""
What to do with a tool call that has no result. error: refuse. placeholder: put a result that says so
behind it and report.
"""


class LossPolicy(TypedDict, total=False):
    """What to do with content that the target cannot express."""

    on_drop: OnDrop
    """drop: leave it out and report. error: refuse. placeholder: put a short text in its place and report."""
    strict: "LossSeverity"
    """Refuse when any loss is at least this severe."""
    unanswered: Unanswered
    """
    What to do with tool calls of a request that have no result. error: refuse where the target takes none.
    placeholder: put a result that says so behind each and report.
    """


class Request(TypedDict, total=False):
    """All that a model is asked, for any provider."""

    model: str
    """Canonical model id, provider:name."""
    system: list[TextBlock]
    """Instructions placed before all messages; the same as a first system message."""
    messages: Required[list[Message]]
    """The conversation, in order."""
    tools: list[Tool]
    """The tools that may be called."""
    tool_choice: ToolChoice
    """How freely the model may call tools."""
    parallel_tool_calls: bool
    """Whether one answer may hold several calls."""
    response_format: ResponseFormat
    """The form that the answer must have."""
    max_output_tokens: int
    """Limit of generated tokens, reasoning included."""
    temperature: float
    """Sampling temperature."""
    top_p: float
    """Nucleus sampling."""
    top_k: float
    """Sample from the k likeliest tokens."""
    frequency_penalty: float
    """Penalty on repeated tokens."""
    presence_penalty: float
    """Penalty on tokens that occurred."""
    seed: int
    """Seed of the sampler; any integer."""
    stop: list[str]
    """Texts that end the answer."""
    n: int
    """How many answers."""
    logprobs: bool
    """Whether to return log probabilities."""
    top_logprobs: int
    """How many alternatives per token."""
    reasoning: Reasoning
    """How much the model may think."""
    verbosity: str
    """How long the answer should be: low, medium or high."""
    service_tier: str
    """The provider's service class."""
    user: str
    """Stable pseudonymous id of the end user, for abuse detection."""
    metadata: dict[str, Any]
    """Data kept with the request by the provider."""
    cache: CacheHint
    """Caches the longest possible prefix."""
    stream: bool
    """Whether the answer is streamed."""
    options: dict[str, Any]
    """Per adapter, members of its wire request that have no canonical meaning, verbatim."""
    loss_policy: LossPolicy
    """What to do with content that the target cannot express."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


LossOp: TypeAlias = Literal["drop", "replace", "move", "merge"]
"""What happened to the value at path."""

LossSeverity: TypeAlias = Literal["representation", "weakened", "lost"]
"""
representation: another representation, the same meaning. weakened: the meaning is there but weaker. lost:
the meaning is gone.
"""


class LossEntry(TypedDict, total=False):
    """One change that a projection made."""

    op: Required[LossOp]
    """What happened to the value at path."""
    path: Required[str]
    """JSON Pointer into the request as written."""
    to: str
    """For move and merge, the JSON Pointer of the destination, in the request as written."""
    value: Any
    """For replace, the value that stands there now. For move, what is left behind; nothing when absent."""
    code: Required[str]
    """Reason, from the closed list in spec/registry/loss_codes.json."""
    severity: Required[LossSeverity]
    """
    representation: another representation, the same meaning. weakened: the meaning is there but weaker. lost:
    the meaning is gone.
    """
    message: Required[str]
    """What happened, for a person; it never holds content."""


FinishReason: TypeAlias = Literal[
    "stop", "stop_sequence", "length", "tool_calls", "content_filter", "refusal", "pause", "cancelled", "error", "other"
]
"""Why the answer ended. tool_calls whenever the answer holds calls to run."""


class Choice(TypedDict, total=False):
    """One of several answers."""

    message: Required[Message]
    """One turn of a conversation."""
    finish_reason: Required[FinishReason]
    """Why the answer ended. tool_calls whenever the answer holds calls to run."""
    finish_reason_raw: str | None
    """The provider's own word."""
    stop_sequence: str | None
    """The stop text that ended the answer."""
    logprobs: dict[str, Any]
    """Log probabilities, as the provider gives them."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""


class Response(TypedDict, total=False):
    """A model's answer."""

    id: str
    """The provider's id of the answer."""
    model: str
    """Canonical id of the model that served the call."""
    requested_model: str
    """Canonical id of the model that was asked for."""
    message: Required[Message]
    """One turn of a conversation."""
    finish_reason: Required[FinishReason]
    """Why the answer ended. tool_calls whenever the answer holds calls to run."""
    finish_reason_raw: str | None
    """The provider's own word."""
    stop_sequence: str | None
    """The stop text that ended the answer."""
    usage: Usage
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """
    alternatives: list[Choice]
    """Further answers, when n was above 1."""
    logprobs: dict[str, Any]
    """Log probabilities, as the provider gives them."""
    loss: list[LossEntry]
    """What was lost on the way to the provider."""
    skipped: "list[SkippedTarget]"
    """Candidates that did not serve the call, each with the reason."""
    attempts: "list[FailedAttempt]"
    """Calls that failed before the one that gave this answer, in order."""
    provider_state: ProviderState
    """State that belongs to one provider: it is replayed only to its origin and is reported as lost elsewhere."""
    raw: dict[str, Any]
    """The provider's whole answer, on request."""


class SkippedTarget(TypedDict, total=False):
    """A target that did not serve the call."""

    model: Required[str]
    """Canonical model id."""
    reason: Required[str]
    """Machine word."""
    message: str
    """For a person."""


class FailedAttempt(TypedDict, total=False):
    """One call to a provider that gave no answer."""

    model: Required[str]
    """Canonical id of the model that was asked."""
    category: Required["ErrorCategory"]
    """Whose fault and what kind."""
    status: int
    """HTTP status of the provider."""
    waited: float
    """Seconds that were waited before the same model was asked again; absent when it was not."""


class MessageStartEvent(TypedDict, total=False):
    """The answer begins."""

    type: Required[Literal["message_start"]]
    """Always message_start."""
    message_id: str
    """The message that the event belongs to."""
    model: str
    """Canonical id of the serving model."""
    response_id: str
    """The provider's id of the answer."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""


class BlockStartEvent(TypedDict, total=False):
    """A block begins; block is what is known of it."""

    type: Required[Literal["block_start"]]
    """Always block_start."""
    message_id: str
    """The message that the event belongs to."""
    index: Required[int]
    """Position of the block in the message."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""
    block: Required[ContentBlock]
    """One piece of a message's content."""


class BlockStopEvent(TypedDict, total=False):
    """A block ends; block is authoritative."""

    type: Required[Literal["block_stop"]]
    """Always block_stop."""
    message_id: str
    """The message that the event belongs to."""
    index: Required[int]
    """Position of the block in the message."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""
    block: Required[ContentBlock]
    """One piece of a message's content."""


class TextDeltaEvent(TypedDict, total=False):
    """More text of a text block."""

    type: Required[Literal["text_delta"]]
    """Always text_delta."""
    message_id: str
    """The message that the event belongs to."""
    index: Required[int]
    """Position of the block in the message."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""
    text: Required[str]
    """The added text."""


class ThinkingDeltaEvent(TypedDict, total=False):
    """More reasoning of a thinking block."""

    type: Required[Literal["thinking_delta"]]
    """Always thinking_delta."""
    message_id: str
    """The message that the event belongs to."""
    index: Required[int]
    """Position of the block in the message."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""
    text: Required[str]
    """The added reasoning."""
    signature: str | None
    """Only on the last delta of a block."""


class ToolUseStartEvent(TypedDict, total=False):
    """A tool call begins."""

    type: Required[Literal["tool_use_start"]]
    """Always tool_use_start."""
    message_id: str
    """The message that the event belongs to."""
    index: Required[int]
    """Position of the block in the message."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""
    id: Required[str]
    """Canonical id."""
    name: Required[str]
    """Name of the tool."""


class ToolUseInputDeltaEvent(TypedDict, total=False):
    """More argument text, as the provider wrote it."""

    type: Required[Literal["tool_use_input_delta"]]
    """Always tool_use_input_delta."""
    message_id: str
    """The message that the event belongs to."""
    index: Required[int]
    """Position of the block in the message."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""
    id: Required[str]
    """Canonical id."""
    text: Required[str]
    """A fragment of the argument text."""


class ToolUseEndEvent(TypedDict, total=False):
    """A tool call is complete."""

    type: Required[Literal["tool_use_end"]]
    """Always tool_use_end."""
    message_id: str
    """The message that the event belongs to."""
    index: Required[int]
    """Position of the block in the message."""
    choice: int
    """Which answer, when n was above 1; 0 when absent."""
    id: Required[str]
    """Canonical id."""
    name: Required[str]
    """Name of the tool."""
    input: Required[dict[str, Any]]
    """The whole arguments."""
    input_raw: str
    """The argument text, when it is not a JSON object."""


class UsageUpdateEvent(TypedDict, total=False):
    """Usage so far; later ones replace earlier ones."""

    type: Required[Literal["usage_update"]]
    """Always usage_update."""
    message_id: str
    """The message that the event belongs to."""
    usage: Required[Usage]
    """
    Tokens, money and time of one answer. The input buckets are disjoint: the prompt is input + cached + cache
    creation.
    """


class MessageCompleteEvent(TypedDict, total=False):
    """The answer is complete; nothing follows."""

    type: Required[Literal["message_complete"]]
    """Always message_complete."""
    message_id: str
    """The message that the event belongs to."""
    response: Required[Response]
    """A model's answer."""
    places: list[int]
    """
    Where each block, by its index, stands in the content of the message. Present only where blocks came late:
    then some stand elsewhere, or are one with another.
    """


class ErrorEvent(TypedDict, total=False):
    """The answer failed; nothing follows."""

    type: Required[Literal["error"]]
    """Always error."""
    message_id: str
    """The message that the event belongs to."""
    error: Required["Error"]
    """What went wrong, where, and whether to try again."""
    response: Response
    """What had arrived, with status error."""


class UnknownEvent(TypedDict):
    """
    An event of a later version, to be skipped. Its type is any other word; one stands for them here, so that
    a comparison narrows.
    """

    type: Literal["(any other)"]


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
"""One event of a streamed answer. Those that this version knows."""

StreamEvent: TypeAlias = KnownEvent | UnknownEvent
"""One event of a streamed answer."""

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
"""Whose fault and what kind."""


class Error(TypedDict, total=False):
    """What went wrong, where, and whether to try again."""

    category: Required[ErrorCategory]
    """Whose fault and what kind."""
    message: Required[str]
    """What is wrong and what to do; it holds no content and no secret."""
    provider_message: str
    """
    What the provider said, in its own words, at most 2,000 characters without anything that looks like a key.
    It may hold content of the conversation: it is for whoever made the call, and for no log.
    """
    path: str
    """JSON Pointer to the place in the input."""
    retryable: bool
    """Whether the same call may succeed later."""
    retry_after: float
    """Seconds to wait before trying again."""
    status: int
    """HTTP status of the provider."""
    code: str
    """The provider's own error word."""
    request_id: str
    """The provider's id of the call that failed, for whoever asks the provider about it."""
    provider: str
    """The provider that failed."""
    adapter: str
    """The adapter that was at work."""
    loss: list[LossEntry]
    """For loss_refused, the whole report."""
    violations: "list[Violation]"
    """For invalid_request, all that is wrong."""
    attempts: list[FailedAttempt]
    """All calls that failed, in order, when there was more than one."""
    skipped: list[SkippedTarget]
    """Candidates that could not serve the call, each with the reason, when there were several."""
    raw: Any
    """The provider's error body, on request."""


class Violation(TypedDict, total=False):
    """A broken rule."""

    rule: Required[str]
    """Name of the rule."""
    path: Required[str]
    """JSON Pointer to the place."""
    message: Required[str]
    """What is wrong and what to do."""


class TokenEstimate(TypedDict, total=False):
    """How many tokens a request will take."""

    low: Required[int]
    """Hardly fewer."""
    likely: Required[int]
    """The best guess."""
    high: Required[int]
    """Hardly more."""


class WireRequest(TypedDict, total=False):
    """An HTTP request in a provider's own format; it holds no secret."""

    method: Required[str]
    """HTTP method."""
    path: Required[str]
    """Path below the provider's base URL."""
    headers: dict[str, str]
    """Headers that belong to the wire format."""
    body: Required[dict[str, Any]]
    """The JSON body."""


EventActor: TypeAlias = Literal["user", "agent", "system", "tool", "worker"]
"""Who did what an event tells."""

EventSensitivity: TypeAlias = Literal["private", "user_controlled", "pseudonymous", "aggregatable"]
"""How private an event is, the most private first."""


class Event(TypedDict, total=False):
    """
    Something that happened to a session or to a turn, for programs that observe them. It holds no content of
    a conversation and no secret.
    """

    id: Required[str]
    """ULID."""
    type: Required[str]
    """
    What happened, e.g. route.decided. It says what the payload is; a reader skips types that it does not
    know.
    """
    alias: str
    """Another name of the type, in the dotted form of event catalogues."""
    timestamp: Required[str]
    """When it happened: UTC with six fractional digits, e.g. 2026-05-08T12:00:00.000000Z."""
    session_id: str | None
    """The session that it belongs to; null when there is none."""
    turn_id: str | None
    """The turn that it belongs to; null when the caller named none."""
    parent_event_id: str | None
    """The event that led to it; null when there is none."""
    actor: Required[EventActor]
    """Who did what an event tells."""
    sensitivity: Required[EventSensitivity]
    """How private an event is, the most private first."""
    payload: Required[dict[str, Any]]
    """What there is to say, by type."""


RoutingSlot: TypeAlias = Literal[
    "per_message_override",
    "manual_sticky",
    "rule",
    "pattern",
    "delegate_request",
    "workspace_default",
    "global_default",
]
"""The places that may name a model, in the order in which they are asked."""

RoutingVerdict: TypeAlias = Literal["not_applicable", "deferred", "rejected", "chose"]
"""What became of a candidate, or of a slot without one."""


class RoutingChainEntry(TypedDict, total=False):
    """The verdict on one candidate, or on a slot that has none."""

    policy: Required[RoutingSlot]
    """The slot."""
    verdict: Required[RoutingVerdict]
    """What became of a candidate, or of a slot without one."""
    candidate_model: Required[str | None]
    """Canonical model id, or the target that leads to none; null for a slot without a candidate."""
    reason: Required[str]
    """Why the slot named it, for a person."""
    rule_name: str
    """Name of the rule, for the slot rule."""
    confidence: float
    """Between 0 and 1, for the slot pattern."""
    pattern_alternatives: list[str]
    """The models behind the proposed one, the best first, for the slot pattern."""
    validation_failure: str
    """The first reason for which it was rejected, a machine word."""
    missing: str
    """What its provider lacks to be called, for not_configured."""


class RouteDecidedPayload(TypedDict, total=False):
    """Payload of the event route.decided: the whole decision of a turn."""

    chosen_model: Required[str | None]
    """Canonical model id; null when no model can serve the turn."""
    winner_index: Required[int]
    """Position of the winner in the chain; -1 when no model can serve the turn."""
    elapsed_ms: Required[float | None]
    """How long the decision took, in milliseconds; null when it was not measured."""
    chain: Required[list[RoutingChainEntry]]
    """The verdicts in order, up to the winner and no further."""


class RoutingConstraintFailurePayload(TypedDict, total=False):
    """Payload of the event routing_constraint_failure: a change of the session's model that was refused."""

    requested_model: Required[str]
    """Canonical id of the model that was asked for."""
    active_model: Required[str | None]
    """The model that stays; null when the session had none."""
    failures: Required[list[str]]
    """Why the conversation cannot go on there, machine words."""
    message: Required[str]
    """What the user is told."""


class SessionChangePayload(TypedDict, total=False):
    """Payload of the events session.*, message.* and turn.*: what changed in a session."""

    message_id: str
    """The message that it is about."""
    message_ids: list[str]
    """The messages that were appended, in order; role, status and model are those of the last."""
    role: Role
    """Who speaks. system and developer hold instructions, tool holds one tool result."""
    status: MessageStatus
    """
    complete: finished. partial: a stream is in progress. cancelled: stopped by the user. error: the
    generation failed.
    """
    model: str
    """Canonical id of the model that answers, or that the session has from now on; absent when it has none."""
    superseded_by: str
    """The message that stands for this one and all that were behind it."""
    parent_session_id: str
    """The session that this one was made from."""
    parent_message_id: str
    """The last message of that session that this one began with."""
    category: ErrorCategory
    """Whose fault and what kind."""
