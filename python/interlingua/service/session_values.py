"""Sessions over gRPC: convert the values of a call to plain data, and sessions and their parts to Protobuf messages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.sessions import Appended, SessionInfo, Watched
from interlingua.sessions.appending import drafts_of
from interlingua.sessions.rows import ToolCallRow
from interlingua.v1 import sessions_pb2 as messages
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import adapting, convert, routing

Data = dict[str, Any]

_LONGEST_KEY = 200


# ---------------------------------------------------------------------------------------------------- in


def drafts(request: messages.AppendMessagesRequest) -> list[Data]:
    """Return the messages to append, validated. Raises `InvalidRequest`."""
    if request.messages and request.messages_json:
        raise InvalidRequest("give messages or messages_json, not both", path="/messages")
    if request.messages:
        with adapting.field_of_call("messages"):
            given: Any = [convert.from_proto(one) for one in request.messages]
    else:
        with adapting.field_of_call("messages_json"):
            given = json.loads(request.messages_json) if request.messages_json else []
    if not isinstance(given, list) or not given:
        raise InvalidRequest("there is no message to append", path="/messages")
    return drafts_of(given)


def moved(problem: InvalidRequest, at: str) -> InvalidRequest:
    """Return the same error with a prefix before its paths."""
    violations = [{**one, "path": f"{at}{one['path']}"} for one in problem.violations]
    return InvalidRequest(problem.message, path=f"{at}{problem.path or ''}", violations=violations)


def conversation(request: messages.GenerateInSessionRequest) -> tuple[list[Data], str | None, Data]:
    """Return the messages, the model, and the other members of the request, validated."""
    match request.WhichOneof("conversation"):
        case "request":
            data = adapting.message_data(request.request, "Request")
        case "request_json":
            data = adapting.load(request.request_json, "Request", "request_json")
        case _:
            return [], None, {}
    members = {name: value for name, value in data.items() if name not in ("messages", "model", "stream")}
    return data["messages"], data.get("model"), members


def members(text: str) -> Data:
    """Return members of the next requests, validated. Raises `InvalidRequest`."""
    given = routing.optional_object(text, "members_json") or {}
    for name in ("messages", "model"):
        if name in given:
            raise InvalidRequest(
                f"the session determines {name}; leave it out of members_json", path=f"/members_json/{name}"
            )
    try:
        data = translate.load({"messages": [], **given})
    except InvalidRequest as problem:
        raise moved(problem, "/members_json") from None
    return {name: value for name, value in data.items() if name != "messages"}


def client_key(text: str) -> str | None:
    """Return the client key of a call, if it has one. Raises `InvalidRequest` for one that is too long."""
    if len(text) > _LONGEST_KEY:
        raise InvalidRequest(f"a client key must have at most {_LONGEST_KEY} characters", path="/client_key")
    return plain_text(text, "client_key") or None


def plain_text(text: str, name: str) -> str:
    """Return a text that every database can hold. Raises `InvalidRequest` for one with a NUL."""
    if "\0" in text:
        raise InvalidRequest("the text must not contain the character U+0000, which cannot be stored", path=f"/{name}")
    return text


def page_size(given: int, usual: int, most: int) -> int:
    """Return the largest number of entries of a page. Raises `InvalidRequest`."""
    if given < 0:
        raise InvalidRequest("a page size must be 1 or more, or 0 for the default size", path="/page_size")
    return min(given or usual, most)


def place(token: str) -> SessionInfo | None:
    """Return the place at which a list of sessions continues. Raises `InvalidRequest` for an invalid token."""
    if not token:
        return None
    moment, _, identity = plain_text(token, "page_token").partition("/")
    try:
        if datetime.fromisoformat(moment).tzinfo is None or not identity:
            raise ValueError
    except ValueError:
        raise InvalidRequest(
            "the page token belongs to no list of sessions; list from the beginning", path="/page_token"
        ) from None
    return SessionInfo(identity, "", None, None, None, {}, 0, moment, moment, None, None, None, None)


# ---------------------------------------------------------------------------------------------------- out


def token(info: SessionInfo) -> str:
    """Return the page token with which a list of sessions continues after this one."""
    return f"{info.updated_at}/{info.id}"


def session(info: SessionInfo) -> messages.Session:
    """Return a session as a message."""
    return messages.Session(
        id=info.id,
        revision=info.revision,
        created_at=_moment(info.created_at),
        updated_at=_moment(info.updated_at),
        active_model=info.active_model or "",
        queued_model=info.queued_model or "",
        workspace_path=info.workspace_path,
        policy_json="" if info.policy is None else text(info.policy),
        extra_json=text(info.extra) if info.extra else "",
        last_message_id=info.last_message_id or "",
        parent_session_id=info.parent_session_id or "",
        parent_message_id=info.parent_message_id or "",
        turn_until=None if info.turn_until is None else _moment(info.turn_until),
    )


def _moment(written: str) -> Timestamp:
    moment = Timestamp()
    moment.FromJsonString(written)
    return moment


def tool_call(row: ToolCallRow) -> messages.ToolCall:
    """Return a tool call as a message."""
    call = messages.ToolCall(
        id=row.id,
        message_id=row.message_id,
        result_message_id=row.result_message_id or "",
        name=row.name,
        status=row.status,
    )
    call.created_at.FromMicroseconds(row.created_at)
    if row.completed_at is not None:
        call.completed_at.FromMicroseconds(row.completed_at)
    return call


def listed(
    found: list[Data], most_bytes: int, *, after: str, more: bool, as_json: bool
) -> messages.ListMessagesResponse:
    """Return a page of messages, of no more than `most_bytes` unless the first is larger. `more` is true when further
    messages follow those in `found`."""
    page = messages.ListMessagesResponse()
    total, last = 0, after
    for one in found:
        value: Any = text(one) if as_json else convert.to_proto(types.Message, one)
        total += len(value.encode()) if as_json else value.ByteSize()
        if total > most_bytes and last != after:
            page.next_page_token = last
            return page
        (page.messages_json if as_json else page.messages).append(value)
        last = one["id"]
    page.next_page_token = last if more else ""
    return page


def appended(stored: Appended, *, as_json: bool) -> messages.AppendMessagesResponse:
    """Return the response to an append: the messages as they are stored."""
    answer = messages.AppendMessagesResponse(revision=stored.revision, already_stored=stored.repeated)
    for one in stored.messages:
        if as_json:
            answer.messages_json.append(text(one))
        else:
            answer.messages.append(convert.to_proto(types.Message, one))
    return answer


def piece(events: Sequence[Data], request: messages.GenerateInSessionRequest) -> messages.GenerateInSessionResponse:
    """Return events of an answer as one message, in the requested format; only batched messages hold several events."""
    message = messages.GenerateInSessionResponse()
    for event in events:
        if not request.json_output:
            convert.fill(message.events.events.add() if request.batched else message.event, event)
        elif request.batched:
            message.events.events_json.append(text(event))
        else:
            message.event_json = text(event)
    return message


def watched(one: Watched, *, as_json: bool) -> messages.WatchSessionResponse:
    """Return an event of a session as a message."""
    if as_json:
        return messages.WatchSessionResponse(revision=one.revision, event_json=text(one.event))
    return messages.WatchSessionResponse(revision=one.revision, event=convert.to_proto(types.Event, one.event))


def text(value: Any) -> str:
    """Return a value as JSON text."""
    return json.dumps(value).decode()
