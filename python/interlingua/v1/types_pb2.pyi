import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_SYSTEM: _ClassVar[Role]
    ROLE_DEVELOPER: _ClassVar[Role]
    ROLE_USER: _ClassVar[Role]
    ROLE_ASSISTANT: _ClassVar[Role]
    ROLE_TOOL: _ClassVar[Role]

class MediaSourceKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEDIA_SOURCE_KIND_UNSPECIFIED: _ClassVar[MediaSourceKind]
    MEDIA_SOURCE_KIND_BASE64: _ClassVar[MediaSourceKind]
    MEDIA_SOURCE_KIND_URL: _ClassVar[MediaSourceKind]
    MEDIA_SOURCE_KIND_FILE_REF: _ClassVar[MediaSourceKind]
    MEDIA_SOURCE_KIND_FILE_ID: _ClassVar[MediaSourceKind]
    MEDIA_SOURCE_KIND_TEXT: _ClassVar[MediaSourceKind]
    MEDIA_SOURCE_KIND_BLOCKS: _ClassVar[MediaSourceKind]

class ToolUseKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_USE_KIND_UNSPECIFIED: _ClassVar[ToolUseKind]
    TOOL_USE_KIND_FUNCTION: _ClassVar[ToolUseKind]
    TOOL_USE_KIND_CUSTOM: _ClassVar[ToolUseKind]

class MessageStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MESSAGE_STATUS_UNSPECIFIED: _ClassVar[MessageStatus]
    MESSAGE_STATUS_COMPLETE: _ClassVar[MessageStatus]
    MESSAGE_STATUS_PARTIAL: _ClassVar[MessageStatus]
    MESSAGE_STATUS_CANCELLED: _ClassVar[MessageStatus]
    MESSAGE_STATUS_ERROR: _ClassVar[MessageStatus]

class RoutingMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROUTING_MODE_UNSPECIFIED: _ClassVar[RoutingMode]
    ROUTING_MODE_OVERRIDE: _ClassVar[RoutingMode]
    ROUTING_MODE_MANUAL: _ClassVar[RoutingMode]
    ROUTING_MODE_RULE: _ClassVar[RoutingMode]
    ROUTING_MODE_PATTERN: _ClassVar[RoutingMode]
    ROUTING_MODE_DELEGATE: _ClassVar[RoutingMode]
    ROUTING_MODE_DEFAULT: _ClassVar[RoutingMode]

class SideEffects(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIDE_EFFECTS_UNSPECIFIED: _ClassVar[SideEffects]
    SIDE_EFFECTS_NONE: _ClassVar[SideEffects]
    SIDE_EFFECTS_READ: _ClassVar[SideEffects]
    SIDE_EFFECTS_WRITE: _ClassVar[SideEffects]
    SIDE_EFFECTS_EXECUTE: _ClassVar[SideEffects]
    SIDE_EFFECTS_NETWORK: _ClassVar[SideEffects]

class ToolKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_KIND_UNSPECIFIED: _ClassVar[ToolKind]
    TOOL_KIND_FUNCTION: _ClassVar[ToolKind]
    TOOL_KIND_CUSTOM: _ClassVar[ToolKind]
    TOOL_KIND_PROVIDER: _ClassVar[ToolKind]

class ToolChoiceType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_CHOICE_TYPE_UNSPECIFIED: _ClassVar[ToolChoiceType]
    TOOL_CHOICE_TYPE_AUTO: _ClassVar[ToolChoiceType]
    TOOL_CHOICE_TYPE_NONE: _ClassVar[ToolChoiceType]
    TOOL_CHOICE_TYPE_REQUIRED: _ClassVar[ToolChoiceType]
    TOOL_CHOICE_TYPE_TOOL: _ClassVar[ToolChoiceType]
    TOOL_CHOICE_TYPE_ALLOWED: _ClassVar[ToolChoiceType]

class ToolChoiceMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_CHOICE_MODE_UNSPECIFIED: _ClassVar[ToolChoiceMode]
    TOOL_CHOICE_MODE_AUTO: _ClassVar[ToolChoiceMode]
    TOOL_CHOICE_MODE_REQUIRED: _ClassVar[ToolChoiceMode]

class ResponseFormatType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESPONSE_FORMAT_TYPE_UNSPECIFIED: _ClassVar[ResponseFormatType]
    RESPONSE_FORMAT_TYPE_TEXT: _ClassVar[ResponseFormatType]
    RESPONSE_FORMAT_TYPE_JSON: _ClassVar[ResponseFormatType]
    RESPONSE_FORMAT_TYPE_JSON_SCHEMA: _ClassVar[ResponseFormatType]

class OnDrop(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_DROP_UNSPECIFIED: _ClassVar[OnDrop]
    ON_DROP_DROP: _ClassVar[OnDrop]
    ON_DROP_ERROR: _ClassVar[OnDrop]
    ON_DROP_PLACEHOLDER: _ClassVar[OnDrop]

class Unanswered(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNANSWERED_UNSPECIFIED: _ClassVar[Unanswered]
    UNANSWERED_ERROR: _ClassVar[Unanswered]
    UNANSWERED_PLACEHOLDER: _ClassVar[Unanswered]

class LossOp(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOSS_OP_UNSPECIFIED: _ClassVar[LossOp]
    LOSS_OP_DROP: _ClassVar[LossOp]
    LOSS_OP_REPLACE: _ClassVar[LossOp]
    LOSS_OP_MOVE: _ClassVar[LossOp]
    LOSS_OP_MERGE: _ClassVar[LossOp]

class LossSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOSS_SEVERITY_UNSPECIFIED: _ClassVar[LossSeverity]
    LOSS_SEVERITY_REPRESENTATION: _ClassVar[LossSeverity]
    LOSS_SEVERITY_WEAKENED: _ClassVar[LossSeverity]
    LOSS_SEVERITY_LOST: _ClassVar[LossSeverity]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_STOP_SEQUENCE: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
    FINISH_REASON_TOOL_CALLS: _ClassVar[FinishReason]
    FINISH_REASON_CONTENT_FILTER: _ClassVar[FinishReason]
    FINISH_REASON_REFUSAL: _ClassVar[FinishReason]
    FINISH_REASON_PAUSE: _ClassVar[FinishReason]
    FINISH_REASON_CANCELLED: _ClassVar[FinishReason]
    FINISH_REASON_ERROR: _ClassVar[FinishReason]
    FINISH_REASON_OTHER: _ClassVar[FinishReason]

class ErrorCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_CATEGORY_UNSPECIFIED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_INVALID_REQUEST: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_UNSUPPORTED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_LOSS_REFUSED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_AUTHENTICATION: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_PERMISSION: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_BILLING: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_NOT_FOUND: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_RATE_LIMIT: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_CONTEXT_OVERFLOW: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_CONTENT_FILTER: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_TIMEOUT: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_NETWORK: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_SERVER_ERROR: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_OVERLOADED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_INVALID_RESPONSE: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_STREAM_TRUNCATED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_CANCELLED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_NO_CANDIDATE: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_INTERNAL: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_OTHER: _ClassVar[ErrorCategory]

class EventActor(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_ACTOR_UNSPECIFIED: _ClassVar[EventActor]
    EVENT_ACTOR_USER: _ClassVar[EventActor]
    EVENT_ACTOR_AGENT: _ClassVar[EventActor]
    EVENT_ACTOR_SYSTEM: _ClassVar[EventActor]
    EVENT_ACTOR_TOOL: _ClassVar[EventActor]
    EVENT_ACTOR_WORKER: _ClassVar[EventActor]

class EventSensitivity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_SENSITIVITY_UNSPECIFIED: _ClassVar[EventSensitivity]
    EVENT_SENSITIVITY_PRIVATE: _ClassVar[EventSensitivity]
    EVENT_SENSITIVITY_USER_CONTROLLED: _ClassVar[EventSensitivity]
    EVENT_SENSITIVITY_PSEUDONYMOUS: _ClassVar[EventSensitivity]
    EVENT_SENSITIVITY_AGGREGATABLE: _ClassVar[EventSensitivity]

class RoutingSlot(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROUTING_SLOT_UNSPECIFIED: _ClassVar[RoutingSlot]
    ROUTING_SLOT_PER_MESSAGE_OVERRIDE: _ClassVar[RoutingSlot]
    ROUTING_SLOT_MANUAL_STICKY: _ClassVar[RoutingSlot]
    ROUTING_SLOT_RULE: _ClassVar[RoutingSlot]
    ROUTING_SLOT_PATTERN: _ClassVar[RoutingSlot]
    ROUTING_SLOT_DELEGATE_REQUEST: _ClassVar[RoutingSlot]
    ROUTING_SLOT_WORKSPACE_DEFAULT: _ClassVar[RoutingSlot]
    ROUTING_SLOT_GLOBAL_DEFAULT: _ClassVar[RoutingSlot]

class RoutingVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROUTING_VERDICT_UNSPECIFIED: _ClassVar[RoutingVerdict]
    ROUTING_VERDICT_NOT_APPLICABLE: _ClassVar[RoutingVerdict]
    ROUTING_VERDICT_DEFERRED: _ClassVar[RoutingVerdict]
    ROUTING_VERDICT_REJECTED: _ClassVar[RoutingVerdict]
    ROUTING_VERDICT_CHOSE: _ClassVar[RoutingVerdict]
ROLE_UNSPECIFIED: Role
ROLE_SYSTEM: Role
ROLE_DEVELOPER: Role
ROLE_USER: Role
ROLE_ASSISTANT: Role
ROLE_TOOL: Role
MEDIA_SOURCE_KIND_UNSPECIFIED: MediaSourceKind
MEDIA_SOURCE_KIND_BASE64: MediaSourceKind
MEDIA_SOURCE_KIND_URL: MediaSourceKind
MEDIA_SOURCE_KIND_FILE_REF: MediaSourceKind
MEDIA_SOURCE_KIND_FILE_ID: MediaSourceKind
MEDIA_SOURCE_KIND_TEXT: MediaSourceKind
MEDIA_SOURCE_KIND_BLOCKS: MediaSourceKind
TOOL_USE_KIND_UNSPECIFIED: ToolUseKind
TOOL_USE_KIND_FUNCTION: ToolUseKind
TOOL_USE_KIND_CUSTOM: ToolUseKind
MESSAGE_STATUS_UNSPECIFIED: MessageStatus
MESSAGE_STATUS_COMPLETE: MessageStatus
MESSAGE_STATUS_PARTIAL: MessageStatus
MESSAGE_STATUS_CANCELLED: MessageStatus
MESSAGE_STATUS_ERROR: MessageStatus
ROUTING_MODE_UNSPECIFIED: RoutingMode
ROUTING_MODE_OVERRIDE: RoutingMode
ROUTING_MODE_MANUAL: RoutingMode
ROUTING_MODE_RULE: RoutingMode
ROUTING_MODE_PATTERN: RoutingMode
ROUTING_MODE_DELEGATE: RoutingMode
ROUTING_MODE_DEFAULT: RoutingMode
SIDE_EFFECTS_UNSPECIFIED: SideEffects
SIDE_EFFECTS_NONE: SideEffects
SIDE_EFFECTS_READ: SideEffects
SIDE_EFFECTS_WRITE: SideEffects
SIDE_EFFECTS_EXECUTE: SideEffects
SIDE_EFFECTS_NETWORK: SideEffects
TOOL_KIND_UNSPECIFIED: ToolKind
TOOL_KIND_FUNCTION: ToolKind
TOOL_KIND_CUSTOM: ToolKind
TOOL_KIND_PROVIDER: ToolKind
TOOL_CHOICE_TYPE_UNSPECIFIED: ToolChoiceType
TOOL_CHOICE_TYPE_AUTO: ToolChoiceType
TOOL_CHOICE_TYPE_NONE: ToolChoiceType
TOOL_CHOICE_TYPE_REQUIRED: ToolChoiceType
TOOL_CHOICE_TYPE_TOOL: ToolChoiceType
TOOL_CHOICE_TYPE_ALLOWED: ToolChoiceType
TOOL_CHOICE_MODE_UNSPECIFIED: ToolChoiceMode
TOOL_CHOICE_MODE_AUTO: ToolChoiceMode
TOOL_CHOICE_MODE_REQUIRED: ToolChoiceMode
RESPONSE_FORMAT_TYPE_UNSPECIFIED: ResponseFormatType
RESPONSE_FORMAT_TYPE_TEXT: ResponseFormatType
RESPONSE_FORMAT_TYPE_JSON: ResponseFormatType
RESPONSE_FORMAT_TYPE_JSON_SCHEMA: ResponseFormatType
ON_DROP_UNSPECIFIED: OnDrop
ON_DROP_DROP: OnDrop
ON_DROP_ERROR: OnDrop
ON_DROP_PLACEHOLDER: OnDrop
UNANSWERED_UNSPECIFIED: Unanswered
UNANSWERED_ERROR: Unanswered
UNANSWERED_PLACEHOLDER: Unanswered
LOSS_OP_UNSPECIFIED: LossOp
LOSS_OP_DROP: LossOp
LOSS_OP_REPLACE: LossOp
LOSS_OP_MOVE: LossOp
LOSS_OP_MERGE: LossOp
LOSS_SEVERITY_UNSPECIFIED: LossSeverity
LOSS_SEVERITY_REPRESENTATION: LossSeverity
LOSS_SEVERITY_WEAKENED: LossSeverity
LOSS_SEVERITY_LOST: LossSeverity
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_STOP_SEQUENCE: FinishReason
FINISH_REASON_LENGTH: FinishReason
FINISH_REASON_TOOL_CALLS: FinishReason
FINISH_REASON_CONTENT_FILTER: FinishReason
FINISH_REASON_REFUSAL: FinishReason
FINISH_REASON_PAUSE: FinishReason
FINISH_REASON_CANCELLED: FinishReason
FINISH_REASON_ERROR: FinishReason
FINISH_REASON_OTHER: FinishReason
ERROR_CATEGORY_UNSPECIFIED: ErrorCategory
ERROR_CATEGORY_INVALID_REQUEST: ErrorCategory
ERROR_CATEGORY_UNSUPPORTED: ErrorCategory
ERROR_CATEGORY_LOSS_REFUSED: ErrorCategory
ERROR_CATEGORY_AUTHENTICATION: ErrorCategory
ERROR_CATEGORY_PERMISSION: ErrorCategory
ERROR_CATEGORY_BILLING: ErrorCategory
ERROR_CATEGORY_NOT_FOUND: ErrorCategory
ERROR_CATEGORY_RATE_LIMIT: ErrorCategory
ERROR_CATEGORY_CONTEXT_OVERFLOW: ErrorCategory
ERROR_CATEGORY_CONTENT_FILTER: ErrorCategory
ERROR_CATEGORY_TIMEOUT: ErrorCategory
ERROR_CATEGORY_NETWORK: ErrorCategory
ERROR_CATEGORY_SERVER_ERROR: ErrorCategory
ERROR_CATEGORY_OVERLOADED: ErrorCategory
ERROR_CATEGORY_INVALID_RESPONSE: ErrorCategory
ERROR_CATEGORY_STREAM_TRUNCATED: ErrorCategory
ERROR_CATEGORY_CANCELLED: ErrorCategory
ERROR_CATEGORY_NO_CANDIDATE: ErrorCategory
ERROR_CATEGORY_INTERNAL: ErrorCategory
ERROR_CATEGORY_OTHER: ErrorCategory
EVENT_ACTOR_UNSPECIFIED: EventActor
EVENT_ACTOR_USER: EventActor
EVENT_ACTOR_AGENT: EventActor
EVENT_ACTOR_SYSTEM: EventActor
EVENT_ACTOR_TOOL: EventActor
EVENT_ACTOR_WORKER: EventActor
EVENT_SENSITIVITY_UNSPECIFIED: EventSensitivity
EVENT_SENSITIVITY_PRIVATE: EventSensitivity
EVENT_SENSITIVITY_USER_CONTROLLED: EventSensitivity
EVENT_SENSITIVITY_PSEUDONYMOUS: EventSensitivity
EVENT_SENSITIVITY_AGGREGATABLE: EventSensitivity
ROUTING_SLOT_UNSPECIFIED: RoutingSlot
ROUTING_SLOT_PER_MESSAGE_OVERRIDE: RoutingSlot
ROUTING_SLOT_MANUAL_STICKY: RoutingSlot
ROUTING_SLOT_RULE: RoutingSlot
ROUTING_SLOT_PATTERN: RoutingSlot
ROUTING_SLOT_DELEGATE_REQUEST: RoutingSlot
ROUTING_SLOT_WORKSPACE_DEFAULT: RoutingSlot
ROUTING_SLOT_GLOBAL_DEFAULT: RoutingSlot
ROUTING_VERDICT_UNSPECIFIED: RoutingVerdict
ROUTING_VERDICT_NOT_APPLICABLE: RoutingVerdict
ROUTING_VERDICT_DEFERRED: RoutingVerdict
ROUTING_VERDICT_REJECTED: RoutingVerdict
ROUTING_VERDICT_CHOSE: RoutingVerdict

class ProviderState(_message.Message):
    __slots__ = ("adapter", "provider", "origin", "id", "signature", "fields_json", "encoding_json", "rest_json")
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    FIELDS_JSON_FIELD_NUMBER: _ClassVar[int]
    ENCODING_JSON_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    adapter: str
    provider: str
    origin: str
    id: str
    signature: str
    fields_json: str
    encoding_json: str
    rest_json: str
    def __init__(self, adapter: _Optional[str] = ..., provider: _Optional[str] = ..., origin: _Optional[str] = ..., id: _Optional[str] = ..., signature: _Optional[str] = ..., fields_json: _Optional[str] = ..., encoding_json: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class CacheHint(_message.Message):
    __slots__ = ("ttl", "rest_json")
    TTL_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    ttl: str
    rest_json: str
    def __init__(self, ttl: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class MediaSource(_message.Message):
    __slots__ = ("kind", "data", "content", "provider", "rest_json")
    KIND_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    kind: MediaSourceKind
    data: str
    content: _containers.RepeatedCompositeFieldContainer[ContentBlock]
    provider: str
    rest_json: str
    def __init__(self, kind: _Optional[_Union[MediaSourceKind, str]] = ..., data: _Optional[str] = ..., content: _Optional[_Iterable[_Union[ContentBlock, _Mapping]]] = ..., provider: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ("type", "url", "title", "cited_text", "start_index", "end_index", "provider_state", "rest_json")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CITED_TEXT_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    type: str
    url: str
    title: str
    cited_text: str
    start_index: int
    end_index: int
    provider_state: ProviderState
    rest_json: str
    def __init__(self, type: _Optional[str] = ..., url: _Optional[str] = ..., title: _Optional[str] = ..., cited_text: _Optional[str] = ..., start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class TextBlock(_message.Message):
    __slots__ = ("text", "citations", "refusal", "cache", "critical", "provider_state", "rest_json")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    text: str
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    refusal: bool
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, text: _Optional[str] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., refusal: _Optional[bool] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ImageBlock(_message.Message):
    __slots__ = ("source", "media_type", "detail", "cache", "critical", "provider_state", "rest_json")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    source: MediaSource
    media_type: str
    detail: str
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, source: _Optional[_Union[MediaSource, _Mapping]] = ..., media_type: _Optional[str] = ..., detail: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class AudioBlock(_message.Message):
    __slots__ = ("source", "media_type", "transcript", "cache", "critical", "provider_state", "rest_json")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    source: MediaSource
    media_type: str
    transcript: str
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, source: _Optional[_Union[MediaSource, _Mapping]] = ..., media_type: _Optional[str] = ..., transcript: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class VideoBlock(_message.Message):
    __slots__ = ("source", "media_type", "cache", "critical", "provider_state", "rest_json")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    source: MediaSource
    media_type: str
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, source: _Optional[_Union[MediaSource, _Mapping]] = ..., media_type: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class DocumentBlock(_message.Message):
    __slots__ = ("source", "media_type", "name", "title", "context", "citations_enabled", "cache", "critical", "provider_state", "rest_json")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_ENABLED_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    source: MediaSource
    media_type: str
    name: str
    title: str
    context: str
    citations_enabled: bool
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, source: _Optional[_Union[MediaSource, _Mapping]] = ..., media_type: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., context: _Optional[str] = ..., citations_enabled: _Optional[bool] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ToolUseBlock(_message.Message):
    __slots__ = ("id", "name", "input_json", "input_raw", "kind", "cache", "critical", "provider_state", "rest_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_RAW_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    input_json: str
    input_raw: str
    kind: ToolUseKind
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., input_json: _Optional[str] = ..., input_raw: _Optional[str] = ..., kind: _Optional[_Union[ToolUseKind, str]] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ToolResultBlock(_message.Message):
    __slots__ = ("tool_use_id", "content", "is_error", "cache", "critical", "provider_state", "rest_json")
    TOOL_USE_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    tool_use_id: str
    content: _containers.RepeatedCompositeFieldContainer[ContentBlock]
    is_error: bool
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, tool_use_id: _Optional[str] = ..., content: _Optional[_Iterable[_Union[ContentBlock, _Mapping]]] = ..., is_error: _Optional[bool] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ThinkingBlock(_message.Message):
    __slots__ = ("text", "signature", "cache", "critical", "provider_state", "rest_json")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    text: str
    signature: str
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, text: _Optional[str] = ..., signature: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class RedactedThinkingBlock(_message.Message):
    __slots__ = ("data", "cache", "critical", "provider_state", "rest_json")
    DATA_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    data: str
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, data: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class OpaqueBlock(_message.Message):
    __slots__ = ("adapter", "provider", "origin", "kind", "value_json", "cache", "critical", "provider_state", "rest_json")
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    adapter: str
    provider: str
    origin: str
    kind: str
    value_json: str
    cache: CacheHint
    critical: bool
    provider_state: ProviderState
    rest_json: str
    def __init__(self, adapter: _Optional[str] = ..., provider: _Optional[str] = ..., origin: _Optional[str] = ..., kind: _Optional[str] = ..., value_json: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., critical: _Optional[bool] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class UnknownBlock(_message.Message):
    __slots__ = ("type", "json")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    type: str
    json: str
    def __init__(self, type: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class ContentBlock(_message.Message):
    __slots__ = ("text", "image", "audio", "video", "document", "tool_use", "tool_result", "thinking", "redacted_thinking", "opaque", "unknown")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    VIDEO_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_USE_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    REDACTED_THINKING_FIELD_NUMBER: _ClassVar[int]
    OPAQUE_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    text: TextBlock
    image: ImageBlock
    audio: AudioBlock
    video: VideoBlock
    document: DocumentBlock
    tool_use: ToolUseBlock
    tool_result: ToolResultBlock
    thinking: ThinkingBlock
    redacted_thinking: RedactedThinkingBlock
    opaque: OpaqueBlock
    unknown: UnknownBlock
    def __init__(self, text: _Optional[_Union[TextBlock, _Mapping]] = ..., image: _Optional[_Union[ImageBlock, _Mapping]] = ..., audio: _Optional[_Union[AudioBlock, _Mapping]] = ..., video: _Optional[_Union[VideoBlock, _Mapping]] = ..., document: _Optional[_Union[DocumentBlock, _Mapping]] = ..., tool_use: _Optional[_Union[ToolUseBlock, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResultBlock, _Mapping]] = ..., thinking: _Optional[_Union[ThinkingBlock, _Mapping]] = ..., redacted_thinking: _Optional[_Union[RedactedThinkingBlock, _Mapping]] = ..., opaque: _Optional[_Union[OpaqueBlock, _Mapping]] = ..., unknown: _Optional[_Union[UnknownBlock, _Mapping]] = ...) -> None: ...

class RoutingDecisionRecord(_message.Message):
    __slots__ = ("mode", "chosen_model", "reason", "rule_name", "confidence", "alternatives_considered", "rest_json")
    MODE_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_MODEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RULE_NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_CONSIDERED_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    mode: RoutingMode
    chosen_model: str
    reason: str
    rule_name: str
    confidence: float
    alternatives_considered: _containers.RepeatedScalarFieldContainer[str]
    rest_json: str
    def __init__(self, mode: _Optional[_Union[RoutingMode, str]] = ..., chosen_model: _Optional[str] = ..., reason: _Optional[str] = ..., rule_name: _Optional[str] = ..., confidence: _Optional[float] = ..., alternatives_considered: _Optional[_Iterable[str]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_creation_input_tokens", "cache_creation_1h_input_tokens", "reasoning_tokens", "cost_usd", "pricing_version", "latency_ms", "estimated", "raw_json", "rest_json")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_CREATION_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_CREATION_1H_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    PRICING_VERSION_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    RAW_JSON_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    cache_creation_input_tokens: int
    cache_creation_1h_input_tokens: int
    reasoning_tokens: int
    cost_usd: str
    pricing_version: str
    latency_ms: int
    estimated: bool
    raw_json: str
    rest_json: str
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ..., cache_creation_input_tokens: _Optional[int] = ..., cache_creation_1h_input_tokens: _Optional[int] = ..., reasoning_tokens: _Optional[int] = ..., cost_usd: _Optional[str] = ..., pricing_version: _Optional[str] = ..., latency_ms: _Optional[int] = ..., estimated: _Optional[bool] = ..., raw_json: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class MessageMetadata(_message.Message):
    __slots__ = ("model", "provider", "routing", "usage", "parent_tool_use_id", "status", "provider_raw_json", "user_id", "team_id", "rest_json")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    ROUTING_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    PARENT_TOOL_USE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_RAW_JSON_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    model: str
    provider: str
    routing: RoutingDecisionRecord
    usage: Usage
    parent_tool_use_id: str
    status: MessageStatus
    provider_raw_json: str
    user_id: str
    team_id: str
    rest_json: str
    def __init__(self, model: _Optional[str] = ..., provider: _Optional[str] = ..., routing: _Optional[_Union[RoutingDecisionRecord, _Mapping]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., parent_tool_use_id: _Optional[str] = ..., status: _Optional[_Union[MessageStatus, str]] = ..., provider_raw_json: _Optional[str] = ..., user_id: _Optional[str] = ..., team_id: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("id", "session_id", "role", "content", "name", "cache", "priority", "critical", "metadata", "created_at", "schema_version", "provider_state", "extra_json", "rest_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    CRITICAL_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    EXTRA_JSON_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    session_id: str
    role: Role
    content: _containers.RepeatedCompositeFieldContainer[ContentBlock]
    name: str
    cache: CacheHint
    priority: int
    critical: bool
    metadata: MessageMetadata
    created_at: _timestamp_pb2.Timestamp
    schema_version: int
    provider_state: ProviderState
    extra_json: str
    rest_json: str
    def __init__(self, id: _Optional[str] = ..., session_id: _Optional[str] = ..., role: _Optional[_Union[Role, str]] = ..., content: _Optional[_Iterable[_Union[ContentBlock, _Mapping]]] = ..., name: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., priority: _Optional[int] = ..., critical: _Optional[bool] = ..., metadata: _Optional[_Union[MessageMetadata, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., schema_version: _Optional[int] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., extra_json: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Tool(_message.Message):
    __slots__ = ("kind", "name", "description", "input_schema_json", "side_effects", "requires_workspace", "strict", "format_json", "adapter", "definition_json", "cache", "provider_state", "rest_json")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    SIDE_EFFECTS_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    FORMAT_JSON_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    kind: ToolKind
    name: str
    description: str
    input_schema_json: str
    side_effects: SideEffects
    requires_workspace: bool
    strict: bool
    format_json: str
    adapter: str
    definition_json: str
    cache: CacheHint
    provider_state: ProviderState
    rest_json: str
    def __init__(self, kind: _Optional[_Union[ToolKind, str]] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema_json: _Optional[str] = ..., side_effects: _Optional[_Union[SideEffects, str]] = ..., requires_workspace: _Optional[bool] = ..., strict: _Optional[bool] = ..., format_json: _Optional[str] = ..., adapter: _Optional[str] = ..., definition_json: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ToolChoice(_message.Message):
    __slots__ = ("type", "name", "names", "mode", "kind", "rest_json")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    type: ToolChoiceType
    name: str
    names: _containers.RepeatedScalarFieldContainer[str]
    mode: ToolChoiceMode
    kind: ToolKind
    rest_json: str
    def __init__(self, type: _Optional[_Union[ToolChoiceType, str]] = ..., name: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., mode: _Optional[_Union[ToolChoiceMode, str]] = ..., kind: _Optional[_Union[ToolKind, str]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ResponseFormat(_message.Message):
    __slots__ = ("type", "name", "description", "schema_json", "strict", "rest_json")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    type: ResponseFormatType
    name: str
    description: str
    schema_json: str
    strict: bool
    rest_json: str
    def __init__(self, type: _Optional[_Union[ResponseFormatType, str]] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., schema_json: _Optional[str] = ..., strict: _Optional[bool] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Reasoning(_message.Message):
    __slots__ = ("mode", "effort", "budget_tokens", "display", "rest_json")
    MODE_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    mode: str
    effort: str
    budget_tokens: int
    display: str
    rest_json: str
    def __init__(self, mode: _Optional[str] = ..., effort: _Optional[str] = ..., budget_tokens: _Optional[int] = ..., display: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class LossPolicy(_message.Message):
    __slots__ = ("on_drop", "strict", "unanswered", "rest_json")
    ON_DROP_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    UNANSWERED_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    on_drop: OnDrop
    strict: LossSeverity
    unanswered: Unanswered
    rest_json: str
    def __init__(self, on_drop: _Optional[_Union[OnDrop, str]] = ..., strict: _Optional[_Union[LossSeverity, str]] = ..., unanswered: _Optional[_Union[Unanswered, str]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Request(_message.Message):
    __slots__ = ("model", "system", "messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "max_output_tokens", "temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "seed", "stop", "n", "logprobs", "top_logprobs", "reasoning", "verbosity", "service_tier", "user", "metadata_json", "cache", "stream", "options_json", "loss_policy", "provider_state", "rest_json")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CHOICE_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FORMAT_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    MIN_P_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_PENALTY_FIELD_NUMBER: _ClassVar[int]
    PRESENCE_PENALTY_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    N_FIELD_NUMBER: _ClassVar[int]
    LOGPROBS_FIELD_NUMBER: _ClassVar[int]
    TOP_LOGPROBS_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    VERBOSITY_FIELD_NUMBER: _ClassVar[int]
    SERVICE_TIER_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    LOSS_POLICY_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    model: str
    system: _containers.RepeatedCompositeFieldContainer[TextBlock]
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    tool_choice: ToolChoice
    parallel_tool_calls: bool
    response_format: ResponseFormat
    max_output_tokens: int
    temperature: float
    top_p: float
    top_k: float
    min_p: float
    frequency_penalty: float
    presence_penalty: float
    seed: int
    stop: _containers.RepeatedScalarFieldContainer[str]
    n: int
    logprobs: bool
    top_logprobs: int
    reasoning: Reasoning
    verbosity: str
    service_tier: str
    user: str
    metadata_json: str
    cache: CacheHint
    stream: bool
    options_json: str
    loss_policy: LossPolicy
    provider_state: ProviderState
    rest_json: str
    def __init__(self, model: _Optional[str] = ..., system: _Optional[_Iterable[_Union[TextBlock, _Mapping]]] = ..., messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., tool_choice: _Optional[_Union[ToolChoice, _Mapping]] = ..., parallel_tool_calls: _Optional[bool] = ..., response_format: _Optional[_Union[ResponseFormat, _Mapping]] = ..., max_output_tokens: _Optional[int] = ..., temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., top_k: _Optional[float] = ..., min_p: _Optional[float] = ..., frequency_penalty: _Optional[float] = ..., presence_penalty: _Optional[float] = ..., seed: _Optional[int] = ..., stop: _Optional[_Iterable[str]] = ..., n: _Optional[int] = ..., logprobs: _Optional[bool] = ..., top_logprobs: _Optional[int] = ..., reasoning: _Optional[_Union[Reasoning, _Mapping]] = ..., verbosity: _Optional[str] = ..., service_tier: _Optional[str] = ..., user: _Optional[str] = ..., metadata_json: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., stream: _Optional[bool] = ..., options_json: _Optional[str] = ..., loss_policy: _Optional[_Union[LossPolicy, _Mapping]] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class LossEntry(_message.Message):
    __slots__ = ("op", "path", "to", "value_json", "code", "severity", "message", "rest_json")
    OP_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    op: LossOp
    path: str
    to: str
    value_json: str
    code: str
    severity: LossSeverity
    message: str
    rest_json: str
    def __init__(self, op: _Optional[_Union[LossOp, str]] = ..., path: _Optional[str] = ..., to: _Optional[str] = ..., value_json: _Optional[str] = ..., code: _Optional[str] = ..., severity: _Optional[_Union[LossSeverity, str]] = ..., message: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Choice(_message.Message):
    __slots__ = ("message", "finish_reason", "finish_reason_raw", "stop_sequence", "logprobs_json", "provider_state", "rest_json")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_RAW_FIELD_NUMBER: _ClassVar[int]
    STOP_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LOGPROBS_JSON_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message: Message
    finish_reason: FinishReason
    finish_reason_raw: str
    stop_sequence: str
    logprobs_json: str
    provider_state: ProviderState
    rest_json: str
    def __init__(self, message: _Optional[_Union[Message, _Mapping]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., finish_reason_raw: _Optional[str] = ..., stop_sequence: _Optional[str] = ..., logprobs_json: _Optional[str] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Response(_message.Message):
    __slots__ = ("id", "model", "requested_model", "message", "finish_reason", "finish_reason_raw", "stop_sequence", "usage", "alternatives", "logprobs_json", "loss", "skipped", "attempts", "provider_state", "raw_json", "rest_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_MODEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_RAW_FIELD_NUMBER: _ClassVar[int]
    STOP_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    LOGPROBS_JSON_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATE_FIELD_NUMBER: _ClassVar[int]
    RAW_JSON_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    model: str
    requested_model: str
    message: Message
    finish_reason: FinishReason
    finish_reason_raw: str
    stop_sequence: str
    usage: Usage
    alternatives: _containers.RepeatedCompositeFieldContainer[Choice]
    logprobs_json: str
    loss: _containers.RepeatedCompositeFieldContainer[LossEntry]
    skipped: _containers.RepeatedCompositeFieldContainer[SkippedTarget]
    attempts: _containers.RepeatedCompositeFieldContainer[FailedAttempt]
    provider_state: ProviderState
    raw_json: str
    rest_json: str
    def __init__(self, id: _Optional[str] = ..., model: _Optional[str] = ..., requested_model: _Optional[str] = ..., message: _Optional[_Union[Message, _Mapping]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., finish_reason_raw: _Optional[str] = ..., stop_sequence: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., alternatives: _Optional[_Iterable[_Union[Choice, _Mapping]]] = ..., logprobs_json: _Optional[str] = ..., loss: _Optional[_Iterable[_Union[LossEntry, _Mapping]]] = ..., skipped: _Optional[_Iterable[_Union[SkippedTarget, _Mapping]]] = ..., attempts: _Optional[_Iterable[_Union[FailedAttempt, _Mapping]]] = ..., provider_state: _Optional[_Union[ProviderState, _Mapping]] = ..., raw_json: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class SkippedTarget(_message.Message):
    __slots__ = ("model", "reason", "message", "rest_json")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    model: str
    reason: str
    message: str
    rest_json: str
    def __init__(self, model: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class FailedAttempt(_message.Message):
    __slots__ = ("model", "category", "status", "waited", "rest_json")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    WAITED_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    model: str
    category: ErrorCategory
    status: int
    waited: float
    rest_json: str
    def __init__(self, model: _Optional[str] = ..., category: _Optional[_Union[ErrorCategory, str]] = ..., status: _Optional[int] = ..., waited: _Optional[float] = ..., rest_json: _Optional[str] = ...) -> None: ...

class MessageStartEvent(_message.Message):
    __slots__ = ("message_id", "model", "response_id", "choice", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_ID_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    model: str
    response_id: str
    choice: int
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., model: _Optional[str] = ..., response_id: _Optional[str] = ..., choice: _Optional[int] = ..., rest_json: _Optional[str] = ...) -> None: ...

class BlockStartEvent(_message.Message):
    __slots__ = ("message_id", "index", "choice", "block", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    index: int
    choice: int
    block: ContentBlock
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., index: _Optional[int] = ..., choice: _Optional[int] = ..., block: _Optional[_Union[ContentBlock, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class BlockStopEvent(_message.Message):
    __slots__ = ("message_id", "index", "choice", "block", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    index: int
    choice: int
    block: ContentBlock
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., index: _Optional[int] = ..., choice: _Optional[int] = ..., block: _Optional[_Union[ContentBlock, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class TextDeltaEvent(_message.Message):
    __slots__ = ("message_id", "index", "choice", "text", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    index: int
    choice: int
    text: str
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., index: _Optional[int] = ..., choice: _Optional[int] = ..., text: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ThinkingDeltaEvent(_message.Message):
    __slots__ = ("message_id", "index", "choice", "text", "signature", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    index: int
    choice: int
    text: str
    signature: str
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., index: _Optional[int] = ..., choice: _Optional[int] = ..., text: _Optional[str] = ..., signature: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ToolUseStartEvent(_message.Message):
    __slots__ = ("message_id", "index", "choice", "id", "name", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    index: int
    choice: int
    id: str
    name: str
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., index: _Optional[int] = ..., choice: _Optional[int] = ..., id: _Optional[str] = ..., name: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ToolUseInputDeltaEvent(_message.Message):
    __slots__ = ("message_id", "index", "choice", "id", "text", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    index: int
    choice: int
    id: str
    text: str
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., index: _Optional[int] = ..., choice: _Optional[int] = ..., id: _Optional[str] = ..., text: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ToolUseEndEvent(_message.Message):
    __slots__ = ("message_id", "index", "choice", "id", "name", "input_json", "input_raw", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_RAW_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    index: int
    choice: int
    id: str
    name: str
    input_json: str
    input_raw: str
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., index: _Optional[int] = ..., choice: _Optional[int] = ..., id: _Optional[str] = ..., name: _Optional[str] = ..., input_json: _Optional[str] = ..., input_raw: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class UsageUpdateEvent(_message.Message):
    __slots__ = ("message_id", "usage", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    usage: Usage
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class MessageCompleteEvent(_message.Message):
    __slots__ = ("message_id", "response", "places", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    response: Response
    places: _containers.RepeatedScalarFieldContainer[int]
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., response: _Optional[_Union[Response, _Mapping]] = ..., places: _Optional[_Iterable[int]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class ErrorEvent(_message.Message):
    __slots__ = ("message_id", "error", "response", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    error: Error
    response: Response
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., response: _Optional[_Union[Response, _Mapping]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class UnknownEvent(_message.Message):
    __slots__ = ("type", "json")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    type: str
    json: str
    def __init__(self, type: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class StreamEvent(_message.Message):
    __slots__ = ("message_start", "block_start", "text_delta", "thinking_delta", "tool_use_start", "tool_use_input_delta", "tool_use_end", "block_stop", "usage_update", "message_complete", "error", "unknown")
    MESSAGE_START_FIELD_NUMBER: _ClassVar[int]
    BLOCK_START_FIELD_NUMBER: _ClassVar[int]
    TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    THINKING_DELTA_FIELD_NUMBER: _ClassVar[int]
    TOOL_USE_START_FIELD_NUMBER: _ClassVar[int]
    TOOL_USE_INPUT_DELTA_FIELD_NUMBER: _ClassVar[int]
    TOOL_USE_END_FIELD_NUMBER: _ClassVar[int]
    BLOCK_STOP_FIELD_NUMBER: _ClassVar[int]
    USAGE_UPDATE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    message_start: MessageStartEvent
    block_start: BlockStartEvent
    text_delta: TextDeltaEvent
    thinking_delta: ThinkingDeltaEvent
    tool_use_start: ToolUseStartEvent
    tool_use_input_delta: ToolUseInputDeltaEvent
    tool_use_end: ToolUseEndEvent
    block_stop: BlockStopEvent
    usage_update: UsageUpdateEvent
    message_complete: MessageCompleteEvent
    error: ErrorEvent
    unknown: UnknownEvent
    def __init__(self, message_start: _Optional[_Union[MessageStartEvent, _Mapping]] = ..., block_start: _Optional[_Union[BlockStartEvent, _Mapping]] = ..., text_delta: _Optional[_Union[TextDeltaEvent, _Mapping]] = ..., thinking_delta: _Optional[_Union[ThinkingDeltaEvent, _Mapping]] = ..., tool_use_start: _Optional[_Union[ToolUseStartEvent, _Mapping]] = ..., tool_use_input_delta: _Optional[_Union[ToolUseInputDeltaEvent, _Mapping]] = ..., tool_use_end: _Optional[_Union[ToolUseEndEvent, _Mapping]] = ..., block_stop: _Optional[_Union[BlockStopEvent, _Mapping]] = ..., usage_update: _Optional[_Union[UsageUpdateEvent, _Mapping]] = ..., message_complete: _Optional[_Union[MessageCompleteEvent, _Mapping]] = ..., error: _Optional[_Union[ErrorEvent, _Mapping]] = ..., unknown: _Optional[_Union[UnknownEvent, _Mapping]] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("category", "message", "provider_message", "path", "retryable", "retry_after", "status", "code", "request_id", "provider", "adapter", "loss", "violations", "attempts", "skipped", "raw_json", "rest_json")
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    RAW_JSON_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    category: ErrorCategory
    message: str
    provider_message: str
    path: str
    retryable: bool
    retry_after: float
    status: int
    code: str
    request_id: str
    provider: str
    adapter: str
    loss: _containers.RepeatedCompositeFieldContainer[LossEntry]
    violations: _containers.RepeatedCompositeFieldContainer[Violation]
    attempts: _containers.RepeatedCompositeFieldContainer[FailedAttempt]
    skipped: _containers.RepeatedCompositeFieldContainer[SkippedTarget]
    raw_json: str
    rest_json: str
    def __init__(self, category: _Optional[_Union[ErrorCategory, str]] = ..., message: _Optional[str] = ..., provider_message: _Optional[str] = ..., path: _Optional[str] = ..., retryable: _Optional[bool] = ..., retry_after: _Optional[float] = ..., status: _Optional[int] = ..., code: _Optional[str] = ..., request_id: _Optional[str] = ..., provider: _Optional[str] = ..., adapter: _Optional[str] = ..., loss: _Optional[_Iterable[_Union[LossEntry, _Mapping]]] = ..., violations: _Optional[_Iterable[_Union[Violation, _Mapping]]] = ..., attempts: _Optional[_Iterable[_Union[FailedAttempt, _Mapping]]] = ..., skipped: _Optional[_Iterable[_Union[SkippedTarget, _Mapping]]] = ..., raw_json: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Violation(_message.Message):
    __slots__ = ("rule", "path", "message", "rest_json")
    RULE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    rule: str
    path: str
    message: str
    rest_json: str
    def __init__(self, rule: _Optional[str] = ..., path: _Optional[str] = ..., message: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class TokenEstimate(_message.Message):
    __slots__ = ("low", "likely", "high", "rest_json")
    LOW_FIELD_NUMBER: _ClassVar[int]
    LIKELY_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    low: int
    likely: int
    high: int
    rest_json: str
    def __init__(self, low: _Optional[int] = ..., likely: _Optional[int] = ..., high: _Optional[int] = ..., rest_json: _Optional[str] = ...) -> None: ...

class WireRequest(_message.Message):
    __slots__ = ("method", "path", "headers", "body_json", "rest_json")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    BODY_JSON_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    method: str
    path: str
    headers: _containers.ScalarMap[str, str]
    body_json: str
    rest_json: str
    def __init__(self, method: _Optional[str] = ..., path: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ..., body_json: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("id", "type", "alias", "timestamp", "session_id", "turn_id", "parent_event_id", "actor", "sensitivity", "payload_json", "rest_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: str
    alias: str
    timestamp: _timestamp_pb2.Timestamp
    session_id: str
    turn_id: str
    parent_event_id: str
    actor: EventActor
    sensitivity: EventSensitivity
    payload_json: str
    rest_json: str
    def __init__(self, id: _Optional[str] = ..., type: _Optional[str] = ..., alias: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., parent_event_id: _Optional[str] = ..., actor: _Optional[_Union[EventActor, str]] = ..., sensitivity: _Optional[_Union[EventSensitivity, str]] = ..., payload_json: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class RoutingChainEntry(_message.Message):
    __slots__ = ("policy", "verdict", "candidate_model", "reason", "rule_name", "confidence", "pattern_alternatives", "validation_failure", "missing", "rest_json")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_MODEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RULE_NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    PATTERN_ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_FAILURE_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    policy: RoutingSlot
    verdict: RoutingVerdict
    candidate_model: str
    reason: str
    rule_name: str
    confidence: float
    pattern_alternatives: _containers.RepeatedScalarFieldContainer[str]
    validation_failure: str
    missing: str
    rest_json: str
    def __init__(self, policy: _Optional[_Union[RoutingSlot, str]] = ..., verdict: _Optional[_Union[RoutingVerdict, str]] = ..., candidate_model: _Optional[str] = ..., reason: _Optional[str] = ..., rule_name: _Optional[str] = ..., confidence: _Optional[float] = ..., pattern_alternatives: _Optional[_Iterable[str]] = ..., validation_failure: _Optional[str] = ..., missing: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class RouteDecidedPayload(_message.Message):
    __slots__ = ("chosen_model", "winner_index", "elapsed_ms", "chain", "rest_json")
    CHOSEN_MODEL_FIELD_NUMBER: _ClassVar[int]
    WINNER_INDEX_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    CHAIN_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    chosen_model: str
    winner_index: int
    elapsed_ms: float
    chain: _containers.RepeatedCompositeFieldContainer[RoutingChainEntry]
    rest_json: str
    def __init__(self, chosen_model: _Optional[str] = ..., winner_index: _Optional[int] = ..., elapsed_ms: _Optional[float] = ..., chain: _Optional[_Iterable[_Union[RoutingChainEntry, _Mapping]]] = ..., rest_json: _Optional[str] = ...) -> None: ...

class RoutingConstraintFailurePayload(_message.Message):
    __slots__ = ("requested_model", "active_model", "failures", "message", "rest_json")
    REQUESTED_MODEL_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_MODEL_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    requested_model: str
    active_model: str
    failures: _containers.RepeatedScalarFieldContainer[str]
    message: str
    rest_json: str
    def __init__(self, requested_model: _Optional[str] = ..., active_model: _Optional[str] = ..., failures: _Optional[_Iterable[str]] = ..., message: _Optional[str] = ..., rest_json: _Optional[str] = ...) -> None: ...

class SessionChangePayload(_message.Message):
    __slots__ = ("message_id", "message_ids", "role", "status", "model", "superseded_by", "parent_session_id", "parent_message_id", "category", "rest_json")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    PARENT_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    REST_JSON_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    message_ids: _containers.RepeatedScalarFieldContainer[str]
    role: Role
    status: MessageStatus
    model: str
    superseded_by: str
    parent_session_id: str
    parent_message_id: str
    category: ErrorCategory
    rest_json: str
    def __init__(self, message_id: _Optional[str] = ..., message_ids: _Optional[_Iterable[str]] = ..., role: _Optional[_Union[Role, str]] = ..., status: _Optional[_Union[MessageStatus, str]] = ..., model: _Optional[str] = ..., superseded_by: _Optional[str] = ..., parent_session_id: _Optional[str] = ..., parent_message_id: _Optional[str] = ..., category: _Optional[_Union[ErrorCategory, str]] = ..., rest_json: _Optional[str] = ...) -> None: ...
