import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from interlingua.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND_UNSPECIFIED: _ClassVar[Kind]
    KIND_REQUEST: _ClassVar[Kind]
    KIND_RESPONSE: _ClassVar[Kind]
    KIND_STREAM: _ClassVar[Kind]
    KIND_ERROR: _ClassVar[Kind]

class RouteSlot(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROUTE_SLOT_UNSPECIFIED: _ClassVar[RouteSlot]
    ROUTE_SLOT_OVERRIDE: _ClassVar[RouteSlot]
    ROUTE_SLOT_MANUAL: _ClassVar[RouteSlot]
    ROUTE_SLOT_RULE: _ClassVar[RouteSlot]
    ROUTE_SLOT_PATTERN: _ClassVar[RouteSlot]
    ROUTE_SLOT_DELEGATE: _ClassVar[RouteSlot]
    ROUTE_SLOT_WORKSPACE_DEFAULT: _ClassVar[RouteSlot]
    ROUTE_SLOT_GLOBAL_DEFAULT: _ClassVar[RouteSlot]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_NOT_APPLICABLE: _ClassVar[Verdict]
    VERDICT_DEFERRED: _ClassVar[Verdict]
    VERDICT_REJECTED: _ClassVar[Verdict]
    VERDICT_CHOSE: _ClassVar[Verdict]
KIND_UNSPECIFIED: Kind
KIND_REQUEST: Kind
KIND_RESPONSE: Kind
KIND_STREAM: Kind
KIND_ERROR: Kind
ROUTE_SLOT_UNSPECIFIED: RouteSlot
ROUTE_SLOT_OVERRIDE: RouteSlot
ROUTE_SLOT_MANUAL: RouteSlot
ROUTE_SLOT_RULE: RouteSlot
ROUTE_SLOT_PATTERN: RouteSlot
ROUTE_SLOT_DELEGATE: RouteSlot
ROUTE_SLOT_WORKSPACE_DEFAULT: RouteSlot
ROUTE_SLOT_GLOBAL_DEFAULT: RouteSlot
VERDICT_UNSPECIFIED: Verdict
VERDICT_NOT_APPLICABLE: Verdict
VERDICT_DEFERRED: Verdict
VERDICT_REJECTED: Verdict
VERDICT_CHOSE: Verdict

class Side(_message.Message):
    __slots__ = ("adapter", "provider", "model", "origin", "state_in_ids")
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    STATE_IN_IDS_FIELD_NUMBER: _ClassVar[int]
    adapter: str
    provider: str
    model: str
    origin: str
    state_in_ids: bool
    def __init__(self, adapter: _Optional[str] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., origin: _Optional[str] = ..., state_in_ids: _Optional[bool] = ...) -> None: ...

class Chunks(_message.Message):
    __slots__ = ("chunks",)
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, chunks: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Events(_message.Message):
    __slots__ = ("events", "events_json", "completed_by")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_BY_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_types_pb2.StreamEvent]
    events_json: _containers.RepeatedScalarFieldContainer[str]
    completed_by: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, events: _Optional[_Iterable[_Union[_types_pb2.StreamEvent, _Mapping]]] = ..., events_json: _Optional[_Iterable[str]] = ..., completed_by: _Optional[_Iterable[int]] = ...) -> None: ...

class ErrorAnswer(_message.Message):
    __slots__ = ("status", "headers", "body")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    STATUS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    status: int
    headers: _containers.ScalarMap[str, str]
    body: str
    def __init__(self, status: _Optional[int] = ..., headers: _Optional[_Mapping[str, str]] = ..., body: _Optional[str] = ...) -> None: ...

class AdaptRequest(_message.Message):
    __slots__ = ("request", "response", "request_json", "response_json", "wire_json", "chunks", "events", "error_answer", "error", "error_json", "kind", "source", "target", "loss_policy", "json_output", "include_raw", "answered_request", "answered_request_json")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    WIRE_JSON_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_ANSWER_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ERROR_JSON_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    LOSS_POLICY_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_RAW_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    request: _types_pb2.Request
    response: _types_pb2.Response
    request_json: str
    response_json: str
    wire_json: str
    chunks: Chunks
    events: Events
    error_answer: ErrorAnswer
    error: _types_pb2.Error
    error_json: str
    kind: Kind
    source: Side
    target: Side
    loss_policy: _types_pb2.LossPolicy
    json_output: bool
    include_raw: bool
    answered_request: _types_pb2.Request
    answered_request_json: str
    def __init__(self, request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., response: _Optional[_Union[_types_pb2.Response, _Mapping]] = ..., request_json: _Optional[str] = ..., response_json: _Optional[str] = ..., wire_json: _Optional[str] = ..., chunks: _Optional[_Union[Chunks, _Mapping]] = ..., events: _Optional[_Union[Events, _Mapping]] = ..., error_answer: _Optional[_Union[ErrorAnswer, _Mapping]] = ..., error: _Optional[_Union[_types_pb2.Error, _Mapping]] = ..., error_json: _Optional[str] = ..., kind: _Optional[_Union[Kind, str]] = ..., source: _Optional[_Union[Side, _Mapping]] = ..., target: _Optional[_Union[Side, _Mapping]] = ..., loss_policy: _Optional[_Union[_types_pb2.LossPolicy, _Mapping]] = ..., json_output: _Optional[bool] = ..., include_raw: _Optional[bool] = ..., answered_request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., answered_request_json: _Optional[str] = ...) -> None: ...

class AdaptResponse(_message.Message):
    __slots__ = ("request", "response", "request_json", "response_json", "wire_json", "chunks", "events", "error", "error_json", "error_answer", "loss", "loss_json")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    WIRE_JSON_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ERROR_JSON_FIELD_NUMBER: _ClassVar[int]
    ERROR_ANSWER_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    LOSS_JSON_FIELD_NUMBER: _ClassVar[int]
    request: _types_pb2.Request
    response: _types_pb2.Response
    request_json: str
    response_json: str
    wire_json: str
    chunks: Chunks
    events: Events
    error: _types_pb2.Error
    error_json: str
    error_answer: ErrorAnswer
    loss: _containers.RepeatedCompositeFieldContainer[_types_pb2.LossEntry]
    loss_json: str
    def __init__(self, request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., response: _Optional[_Union[_types_pb2.Response, _Mapping]] = ..., request_json: _Optional[str] = ..., response_json: _Optional[str] = ..., wire_json: _Optional[str] = ..., chunks: _Optional[_Union[Chunks, _Mapping]] = ..., events: _Optional[_Union[Events, _Mapping]] = ..., error: _Optional[_Union[_types_pb2.Error, _Mapping]] = ..., error_json: _Optional[str] = ..., error_answer: _Optional[_Union[ErrorAnswer, _Mapping]] = ..., loss: _Optional[_Iterable[_Union[_types_pb2.LossEntry, _Mapping]]] = ..., loss_json: _Optional[str] = ...) -> None: ...

class AdaptStreamRequest(_message.Message):
    __slots__ = ("start", "chunk", "event", "event_json")
    class Start(_message.Message):
        __slots__ = ("source", "target", "json_output", "include_raw", "loss_policy", "answered_request", "answered_request_json")
        SOURCE_FIELD_NUMBER: _ClassVar[int]
        TARGET_FIELD_NUMBER: _ClassVar[int]
        JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
        INCLUDE_RAW_FIELD_NUMBER: _ClassVar[int]
        LOSS_POLICY_FIELD_NUMBER: _ClassVar[int]
        ANSWERED_REQUEST_FIELD_NUMBER: _ClassVar[int]
        ANSWERED_REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
        source: Side
        target: Side
        json_output: bool
        include_raw: bool
        loss_policy: _types_pb2.LossPolicy
        answered_request: _types_pb2.Request
        answered_request_json: str
        def __init__(self, source: _Optional[_Union[Side, _Mapping]] = ..., target: _Optional[_Union[Side, _Mapping]] = ..., json_output: _Optional[bool] = ..., include_raw: _Optional[bool] = ..., loss_policy: _Optional[_Union[_types_pb2.LossPolicy, _Mapping]] = ..., answered_request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., answered_request_json: _Optional[str] = ...) -> None: ...
    START_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_JSON_FIELD_NUMBER: _ClassVar[int]
    start: AdaptStreamRequest.Start
    chunk: bytes
    event: _types_pb2.StreamEvent
    event_json: str
    def __init__(self, start: _Optional[_Union[AdaptStreamRequest.Start, _Mapping]] = ..., chunk: _Optional[bytes] = ..., event: _Optional[_Union[_types_pb2.StreamEvent, _Mapping]] = ..., event_json: _Optional[str] = ...) -> None: ...

class AdaptStreamResponse(_message.Message):
    __slots__ = ("events", "events_json", "chunks", "completed_by", "loss", "loss_json")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_BY_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    LOSS_JSON_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_types_pb2.StreamEvent]
    events_json: _containers.RepeatedScalarFieldContainer[str]
    chunks: _containers.RepeatedScalarFieldContainer[bytes]
    completed_by: int
    loss: _containers.RepeatedCompositeFieldContainer[_types_pb2.LossEntry]
    loss_json: str
    def __init__(self, events: _Optional[_Iterable[_Union[_types_pb2.StreamEvent, _Mapping]]] = ..., events_json: _Optional[_Iterable[str]] = ..., chunks: _Optional[_Iterable[bytes]] = ..., completed_by: _Optional[int] = ..., loss: _Optional[_Iterable[_Union[_types_pb2.LossEntry, _Mapping]]] = ..., loss_json: _Optional[str] = ...) -> None: ...

class RouteRequest(_message.Message):
    __slots__ = ("request", "request_json", "target", "policy_json", "registry_json", "health_json", "now", "with_candidates", "context_json")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_JSON_FIELD_NUMBER: _ClassVar[int]
    HEALTH_JSON_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    WITH_CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_JSON_FIELD_NUMBER: _ClassVar[int]
    request: _types_pb2.Request
    request_json: str
    target: str
    policy_json: str
    registry_json: str
    health_json: str
    now: _timestamp_pb2.Timestamp
    with_candidates: bool
    context_json: str
    def __init__(self, request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., request_json: _Optional[str] = ..., target: _Optional[str] = ..., policy_json: _Optional[str] = ..., registry_json: _Optional[str] = ..., health_json: _Optional[str] = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., with_candidates: _Optional[bool] = ..., context_json: _Optional[str] = ...) -> None: ...

class RouteResponse(_message.Message):
    __slots__ = ("decision", "decision_json", "candidates")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    DECISION_JSON_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    decision: RouteDecision
    decision_json: str
    candidates: _containers.RepeatedCompositeFieldContainer[RouteCandidate]
    def __init__(self, decision: _Optional[_Union[RouteDecision, _Mapping]] = ..., decision_json: _Optional[str] = ..., candidates: _Optional[_Iterable[_Union[RouteCandidate, _Mapping]]] = ...) -> None: ...

class RouteDecision(_message.Message):
    __slots__ = ("chosen_model", "mode", "reason", "fallbacks", "chain")
    CHOSEN_MODEL_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    CHAIN_FIELD_NUMBER: _ClassVar[int]
    chosen_model: str
    mode: _types_pb2.RoutingMode
    reason: str
    fallbacks: _containers.RepeatedScalarFieldContainer[str]
    chain: _containers.RepeatedCompositeFieldContainer[SlotVerdict]
    def __init__(self, chosen_model: _Optional[str] = ..., mode: _Optional[_Union[_types_pb2.RoutingMode, str]] = ..., reason: _Optional[str] = ..., fallbacks: _Optional[_Iterable[str]] = ..., chain: _Optional[_Iterable[_Union[SlotVerdict, _Mapping]]] = ...) -> None: ...

class SlotVerdict(_message.Message):
    __slots__ = ("slot", "verdict", "candidate_model", "reason", "validation_failure", "rule_name", "confidence")
    SLOT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_MODEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_FAILURE_FIELD_NUMBER: _ClassVar[int]
    RULE_NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    slot: RouteSlot
    verdict: Verdict
    candidate_model: str
    reason: str
    validation_failure: str
    rule_name: str
    confidence: float
    def __init__(self, slot: _Optional[_Union[RouteSlot, str]] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., candidate_model: _Optional[str] = ..., reason: _Optional[str] = ..., validation_failure: _Optional[str] = ..., rule_name: _Optional[str] = ..., confidence: _Optional[float] = ...) -> None: ...

class RouteCandidate(_message.Message):
    __slots__ = ("model", "rejection", "tokens", "cost", "loss", "worst_loss")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    WORST_LOSS_FIELD_NUMBER: _ClassVar[int]
    model: str
    rejection: str
    tokens: _types_pb2.TokenEstimate
    cost: CostEstimate
    loss: _containers.RepeatedCompositeFieldContainer[_types_pb2.LossEntry]
    worst_loss: _types_pb2.LossSeverity
    def __init__(self, model: _Optional[str] = ..., rejection: _Optional[str] = ..., tokens: _Optional[_Union[_types_pb2.TokenEstimate, _Mapping]] = ..., cost: _Optional[_Union[CostEstimate, _Mapping]] = ..., loss: _Optional[_Iterable[_Union[_types_pb2.LossEntry, _Mapping]]] = ..., worst_loss: _Optional[_Union[_types_pb2.LossSeverity, str]] = ...) -> None: ...

class CostEstimate(_message.Message):
    __slots__ = ("low_usd", "likely_usd", "high_usd", "pricing_version")
    LOW_USD_FIELD_NUMBER: _ClassVar[int]
    LIKELY_USD_FIELD_NUMBER: _ClassVar[int]
    HIGH_USD_FIELD_NUMBER: _ClassVar[int]
    PRICING_VERSION_FIELD_NUMBER: _ClassVar[int]
    low_usd: str
    likely_usd: str
    high_usd: str
    pricing_version: str
    def __init__(self, low_usd: _Optional[str] = ..., likely_usd: _Optional[str] = ..., high_usd: _Optional[str] = ..., pricing_version: _Optional[str] = ...) -> None: ...

class GenerateRequest(_message.Message):
    __slots__ = ("request", "request_json", "target", "policy_json", "include_raw", "json_output", "adapter", "context_json")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_RAW_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_JSON_FIELD_NUMBER: _ClassVar[int]
    request: _types_pb2.Request
    request_json: str
    target: str
    policy_json: str
    include_raw: bool
    json_output: bool
    adapter: str
    context_json: str
    def __init__(self, request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., request_json: _Optional[str] = ..., target: _Optional[str] = ..., policy_json: _Optional[str] = ..., include_raw: _Optional[bool] = ..., json_output: _Optional[bool] = ..., adapter: _Optional[str] = ..., context_json: _Optional[str] = ...) -> None: ...

class GenerateResponse(_message.Message):
    __slots__ = ("response", "response_json", "decision")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    response: _types_pb2.Response
    response_json: str
    decision: RouteDecision
    def __init__(self, response: _Optional[_Union[_types_pb2.Response, _Mapping]] = ..., response_json: _Optional[str] = ..., decision: _Optional[_Union[RouteDecision, _Mapping]] = ...) -> None: ...

class GenerateStreamRequest(_message.Message):
    __slots__ = ("request", "request_json", "target", "policy_json", "json_output", "buffered", "adapter", "context_json", "include_raw", "batched")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BUFFERED_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_JSON_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_RAW_FIELD_NUMBER: _ClassVar[int]
    BATCHED_FIELD_NUMBER: _ClassVar[int]
    request: _types_pb2.Request
    request_json: str
    target: str
    policy_json: str
    json_output: bool
    buffered: bool
    adapter: str
    context_json: str
    include_raw: bool
    batched: bool
    def __init__(self, request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., request_json: _Optional[str] = ..., target: _Optional[str] = ..., policy_json: _Optional[str] = ..., json_output: _Optional[bool] = ..., buffered: _Optional[bool] = ..., adapter: _Optional[str] = ..., context_json: _Optional[str] = ..., include_raw: _Optional[bool] = ..., batched: _Optional[bool] = ...) -> None: ...

class GenerateStreamResponse(_message.Message):
    __slots__ = ("decision", "event", "event_json", "events")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_JSON_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    decision: RouteDecision
    event: _types_pb2.StreamEvent
    event_json: str
    events: Events
    def __init__(self, decision: _Optional[_Union[RouteDecision, _Mapping]] = ..., event: _Optional[_Union[_types_pb2.StreamEvent, _Mapping]] = ..., event_json: _Optional[str] = ..., events: _Optional[_Union[Events, _Mapping]] = ...) -> None: ...

class EstimateRequest(_message.Message):
    __slots__ = ("request", "request_json", "usage", "usage_json", "model", "price_json", "at", "adapter")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    USAGE_JSON_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PRICE_JSON_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    request: _types_pb2.Request
    request_json: str
    usage: _types_pb2.Usage
    usage_json: str
    model: str
    price_json: str
    at: _timestamp_pb2.Timestamp
    adapter: str
    def __init__(self, request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., request_json: _Optional[str] = ..., usage: _Optional[_Union[_types_pb2.Usage, _Mapping]] = ..., usage_json: _Optional[str] = ..., model: _Optional[str] = ..., price_json: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., adapter: _Optional[str] = ...) -> None: ...

class EstimateResponse(_message.Message):
    __slots__ = ("tokens", "cost")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    tokens: _types_pb2.TokenEstimate
    cost: CostEstimate
    def __init__(self, tokens: _Optional[_Union[_types_pb2.TokenEstimate, _Mapping]] = ..., cost: _Optional[_Union[CostEstimate, _Mapping]] = ...) -> None: ...

class CheckRequest(_message.Message):
    __slots__ = ("request", "message", "value_json", "type", "profile")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    request: _types_pb2.Request
    message: _types_pb2.Message
    value_json: str
    type: str
    profile: str
    def __init__(self, request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., message: _Optional[_Union[_types_pb2.Message, _Mapping]] = ..., value_json: _Optional[str] = ..., type: _Optional[str] = ..., profile: _Optional[str] = ...) -> None: ...

class CheckResponse(_message.Message):
    __slots__ = ("violations",)
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    violations: _containers.RepeatedCompositeFieldContainer[_types_pb2.Violation]
    def __init__(self, violations: _Optional[_Iterable[_Union[_types_pb2.Violation, _Mapping]]] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ("provider",)
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    provider: str
    def __init__(self, provider: _Optional[str] = ...) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models", "adapters")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    ADAPTERS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    adapters: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ..., adapters: _Optional[_Iterable[str]] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("id", "provider", "adapter", "name", "aliases", "context_window", "max_output_tokens", "capabilities_json", "price_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_JSON_FIELD_NUMBER: _ClassVar[int]
    PRICE_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    provider: str
    adapter: str
    name: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    context_window: int
    max_output_tokens: int
    capabilities_json: str
    price_json: str
    def __init__(self, id: _Optional[str] = ..., provider: _Optional[str] = ..., adapter: _Optional[str] = ..., name: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., context_window: _Optional[int] = ..., max_output_tokens: _Optional[int] = ..., capabilities_json: _Optional[str] = ..., price_json: _Optional[str] = ...) -> None: ...
