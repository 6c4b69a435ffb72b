import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from interlingua.v1 import service_pb2 as _service_pb2
from interlingua.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Session(_message.Message):
    __slots__ = ("id", "revision", "created_at", "updated_at", "active_model", "queued_model", "workspace_path", "policy_json", "extra_json", "last_message_id", "parent_session_id", "parent_message_id", "turn_until")
    ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_MODEL_FIELD_NUMBER: _ClassVar[int]
    QUEUED_MODEL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_PATH_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    EXTRA_JSON_FIELD_NUMBER: _ClassVar[int]
    LAST_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_UNTIL_FIELD_NUMBER: _ClassVar[int]
    id: str
    revision: int
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    active_model: str
    queued_model: str
    workspace_path: str
    policy_json: str
    extra_json: str
    last_message_id: str
    parent_session_id: str
    parent_message_id: str
    turn_until: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., revision: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., active_model: _Optional[str] = ..., queued_model: _Optional[str] = ..., workspace_path: _Optional[str] = ..., policy_json: _Optional[str] = ..., extra_json: _Optional[str] = ..., last_message_id: _Optional[str] = ..., parent_session_id: _Optional[str] = ..., parent_message_id: _Optional[str] = ..., turn_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("id", "message_id", "result_message_id", "name", "status", "created_at", "completed_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    message_id: str
    result_message_id: str
    name: str
    status: str
    created_at: _timestamp_pb2.Timestamp
    completed_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., message_id: _Optional[str] = ..., result_message_id: _Optional[str] = ..., name: _Optional[str] = ..., status: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., completed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("model", "workspace_path", "policy_json", "extra_json")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_PATH_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    EXTRA_JSON_FIELD_NUMBER: _ClassVar[int]
    model: str
    workspace_path: str
    policy_json: str
    extra_json: str
    def __init__(self, model: _Optional[str] = ..., workspace_path: _Optional[str] = ..., policy_json: _Optional[str] = ..., extra_json: _Optional[str] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session_id", "member_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MEMBER_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    member_id: str
    def __init__(self, session_id: _Optional[str] = ..., member_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "id_prefix")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ID_PREFIX_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    id_prefix: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., id_prefix: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    next_page_token: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListMessagesRequest(_message.Message):
    __slots__ = ("session_id", "page_size", "page_token", "with_superseded", "json_output")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WITH_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    page_size: int
    page_token: str
    with_superseded: bool
    json_output: bool
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., with_superseded: _Optional[bool] = ..., json_output: _Optional[bool] = ...) -> None: ...

class ListMessagesResponse(_message.Message):
    __slots__ = ("messages", "messages_json", "next_page_token")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_types_pb2.Message]
    messages_json: _containers.RepeatedScalarFieldContainer[str]
    next_page_token: str
    def __init__(self, messages: _Optional[_Iterable[_Union[_types_pb2.Message, _Mapping]]] = ..., messages_json: _Optional[_Iterable[str]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class AppendMessagesRequest(_message.Message):
    __slots__ = ("session_id", "messages", "messages_json", "client_key", "expected_revision", "instead_of", "json_output")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    CLIENT_KEY_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    INSTEAD_OF_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    messages: _containers.RepeatedCompositeFieldContainer[_types_pb2.Message]
    messages_json: str
    client_key: str
    expected_revision: int
    instead_of: str
    json_output: bool
    def __init__(self, session_id: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_types_pb2.Message, _Mapping]]] = ..., messages_json: _Optional[str] = ..., client_key: _Optional[str] = ..., expected_revision: _Optional[int] = ..., instead_of: _Optional[str] = ..., json_output: _Optional[bool] = ...) -> None: ...

class AppendMessagesResponse(_message.Message):
    __slots__ = ("messages", "messages_json", "revision", "already_stored")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ALREADY_STORED_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_types_pb2.Message]
    messages_json: _containers.RepeatedScalarFieldContainer[str]
    revision: int
    already_stored: bool
    def __init__(self, messages: _Optional[_Iterable[_Union[_types_pb2.Message, _Mapping]]] = ..., messages_json: _Optional[_Iterable[str]] = ..., revision: _Optional[int] = ..., already_stored: _Optional[bool] = ...) -> None: ...

class GenerateInSessionRequest(_message.Message):
    __slots__ = ("session_id", "request", "request_json", "client_key", "json_output", "buffered", "include_raw", "batched")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    CLIENT_KEY_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BUFFERED_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_RAW_FIELD_NUMBER: _ClassVar[int]
    BATCHED_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    request: _types_pb2.Request
    request_json: str
    client_key: str
    json_output: bool
    buffered: bool
    include_raw: bool
    batched: bool
    def __init__(self, session_id: _Optional[str] = ..., request: _Optional[_Union[_types_pb2.Request, _Mapping]] = ..., request_json: _Optional[str] = ..., client_key: _Optional[str] = ..., json_output: _Optional[bool] = ..., buffered: _Optional[bool] = ..., include_raw: _Optional[bool] = ..., batched: _Optional[bool] = ...) -> None: ...

class GenerateInSessionResponse(_message.Message):
    __slots__ = ("event", "event_json", "events")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_JSON_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    event: _types_pb2.StreamEvent
    event_json: str
    events: _service_pb2.Events
    def __init__(self, event: _Optional[_Union[_types_pb2.StreamEvent, _Mapping]] = ..., event_json: _Optional[str] = ..., events: _Optional[_Union[_service_pb2.Events, _Mapping]] = ...) -> None: ...

class SwapModelRequest(_message.Message):
    __slots__ = ("session_id", "model", "members_json")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_JSON_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    model: str
    members_json: str
    def __init__(self, session_id: _Optional[str] = ..., model: _Optional[str] = ..., members_json: _Optional[str] = ...) -> None: ...

class SwapModelResponse(_message.Message):
    __slots__ = ("model", "queued", "preview")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    model: str
    queued: bool
    preview: _service_pb2.RouteCandidate
    def __init__(self, model: _Optional[str] = ..., queued: _Optional[bool] = ..., preview: _Optional[_Union[_service_pb2.RouteCandidate, _Mapping]] = ...) -> None: ...

class PreviewSwapRequest(_message.Message):
    __slots__ = ("session_id", "models", "members_json")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_JSON_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    models: _containers.RepeatedScalarFieldContainer[str]
    members_json: str
    def __init__(self, session_id: _Optional[str] = ..., models: _Optional[_Iterable[str]] = ..., members_json: _Optional[str] = ...) -> None: ...

class PreviewSwapResponse(_message.Message):
    __slots__ = ("candidates",)
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[_service_pb2.RouteCandidate]
    def __init__(self, candidates: _Optional[_Iterable[_Union[_service_pb2.RouteCandidate, _Mapping]]] = ...) -> None: ...

class ForkSessionRequest(_message.Message):
    __slots__ = ("session_id", "message_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    message_id: str
    def __init__(self, session_id: _Optional[str] = ..., message_id: _Optional[str] = ...) -> None: ...

class ForkSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ListToolCallsRequest(_message.Message):
    __slots__ = ("session_id", "status")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    status: str
    def __init__(self, session_id: _Optional[str] = ..., status: _Optional[str] = ...) -> None: ...

class ListToolCallsResponse(_message.Message):
    __slots__ = ("calls",)
    CALLS_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    def __init__(self, calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ...) -> None: ...

class ExportSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class ExportSessionResponse(_message.Message):
    __slots__ = ("line",)
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: str
    def __init__(self, line: _Optional[str] = ...) -> None: ...

class ImportSessionRequest(_message.Message):
    __slots__ = ("line",)
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: str
    def __init__(self, line: _Optional[str] = ...) -> None: ...

class ImportSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class WatchSessionRequest(_message.Message):
    __slots__ = ("session_id", "after_revision", "json_output")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_REVISION_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    after_revision: int
    json_output: bool
    def __init__(self, session_id: _Optional[str] = ..., after_revision: _Optional[int] = ..., json_output: _Optional[bool] = ...) -> None: ...

class WatchSessionResponse(_message.Message):
    __slots__ = ("revision", "event", "event_json")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_JSON_FIELD_NUMBER: _ClassVar[int]
    revision: int
    event: _types_pb2.Event
    event_json: str
    def __init__(self, revision: _Optional[int] = ..., event: _Optional[_Union[_types_pb2.Event, _Mapping]] = ..., event_json: _Optional[str] = ...) -> None: ...
