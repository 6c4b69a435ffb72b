"""OpenAI's Responses API over HTTP: https://platform.openai.com/docs/api-reference/responses."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.unfold import unfold
from interlingua.gateway.faces.openai_items import ADAPTER, items_of, page_of
from interlingua.gateway.past import NotStored, Past
from interlingua.refusals import Refused
from interlingua.sessions import Objects
from interlingua.sessions.objects import CONVERSATION, PART, RESPONSE, Stored

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

PATHS = (("POST", "/v1/responses"), ("GET", "/v1/models"), ("GET", "/v1/models/{id}"))
STORED_PATHS = (
    ("GET", "/v1/responses/{id}"),
    ("DELETE", "/v1/responses/{id}"),
    ("POST", "/v1/responses/{id}/cancel"),
    ("GET", "/v1/responses/{id}/input_items"),
)

Data = dict[str, Any]

_SECOND = 1_000_000  # microseconds


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def recall(_: Request, body: Data, objects: Objects) -> Past:
        return await _past(gateway, body, objects)

    return [Route("/v1/responses", gateway.generation(ADAPTER, recall=recall), methods=["POST"])]


def stored_routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths of stored objects, and their operations."""

    async def retrieve(request: Request, objects: Objects) -> Any:
        stored = await _response(request, objects)
        return _streamed(gateway, request, stored.body) if request.query_params.get("stream") == "true" else stored.body

    async def delete(request: Request, objects: Objects) -> Any:
        identity = request.path_params["id"]
        if not await objects.remove(RESPONSE, identity):
            raise _no_response(identity)
        return {"id": identity, "object": "response", "deleted": True}

    async def cancel(request: Request, objects: Objects) -> Any:
        await _response(request, objects)
        raise Refused("invalid_request", "Cannot cancel a synchronous response.", 400)

    async def input_items(request: Request, objects: Objects) -> Any:
        response = await _response(request, objects)
        before = await objects.before(RESPONSE, response.id) or []
        earlier = (
            before[:-1]
            if response.owner_id is None
            else [previous for previous in before if previous.position < response.position]
        )
        return page_of(request, [*(item for previous in earlier for item in previous.said()), *response.items], "desc")

    return [
        Route("/v1/responses/{id}", gateway.stored(ADAPTER, retrieve), methods=["GET"]),
        Route("/v1/responses/{id}", gateway.stored(ADAPTER, delete), methods=["DELETE"]),
        Route("/v1/responses/{id}/cancel", gateway.stored(ADAPTER, cancel), methods=["POST"]),
        Route("/v1/responses/{id}/input_items", gateway.stored(ADAPTER, input_items), methods=["GET"]),
    ]


async def _response(request: Request, objects: Objects) -> Stored:
    identity = request.path_params["id"]
    response = await objects.find(RESPONSE, identity)
    if response is None:
        raise _no_response(identity)
    return response


def _no_response(identity: str) -> NotStored:
    return NotStored(f"Response with id '{identity[:200]}' not found.")


# ---------------------------------------------------------------------------------------------------- the past of a request


async def _past(gateway: "Gateway", body: Data, objects: Objects) -> Past:
    """What a request continues from, by the id of a response or of a conversation, and where its answer is stored."""
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    identity = conversation if previous is None else previous
    stores = body.get("store") in (None, True)
    if identity is None and not stores:
        return Past(body)
    before: list[Stored] = []
    if identity is not None:
        if previous is not None and conversation is not None:
            message = "a request continues from a response or from a conversation; leave out previous_response_id or conversation"
            raise InvalidRequest(message, path="/conversation")
        if not isinstance(identity, str):
            return Past(body)  # the reader of the request reports the error
        stored_before = await objects.before(RESPONSE if previous is not None else CONVERSATION, identity)
        if stored_before is None:
            return Past(body, unknown=_unknown_past(previous, identity))
        before = stored_before
    rest = {name: value for name, value in body.items() if name not in ("previous_response_id", "conversation")}
    if stores:
        rest.pop("store", None)  # the gateway stores it
    if identity is not None and not isinstance(rest.get("input"), list):
        rest["input"] = [{"role": "user", "content": rest["input"]}] if rest.get("input") else []
    return Past(
        body=rest,
        before=[message for stored in before for message in stored.messages],
        instructions=None if body.get("instructions") is None else {**rest, "input": []},
        keeper=_Keeper(gateway, objects, body, previous, conversation, stores=stores),
        runs_there=body.get("background") is True,
    )


def _unknown_past(previous: str | None, identity: str) -> NotStored:
    if previous is None:
        return NotStored(f"Conversation with id '{identity[:200]}' not found.", path="/conversation")
    return NotStored(
        f"Previous response with id '{identity[:200]}' not found.",
        400,
        category="invalid_request",
        code="previous_response_not_found",
        path="/previous_response_id",
    )


# ---------------------------------------------------------------------------------------------------- storing


_LAST = ("response.completed", "response.incomplete", "response.failed")


class _Keeper:
    """Stores an answer as a response, as the last part of a conversation, or as both."""

    def __init__(
        self,
        gateway: "Gateway",
        objects: Objects,
        request: Data,
        previous: str | None,
        conversation: str | None,
        *,
        stores: bool,
    ) -> None:
        self.id = f"resp_{objects.marks.token()}"
        self._gateway = gateway
        self._objects = objects
        self._request = request
        self._previous = previous
        self._conversation = conversation
        self._stores = stores
        self._now = objects.marks.moment()
        self._streamed: Data | None = None

    def for_client(self, body: Data, status: str) -> Data:
        """The answer with the members that state where it is stored."""
        if self._streamed is not None:
            body = self._streamed
        if status == "cancelled":
            body = {**body, "status": "cancelled", "error": None}
        return self._with_members(body)

    def _with_members(self, body: Data) -> Data:
        stamped = {
            "instructions": self._request.get("instructions"),
            "metadata": self._request.get("metadata") or {},
            **body,
            "id": self.id,
            "created_at": body.get("created_at") or self._now // _SECOND,
            "previous_response_id": self._previous,
            "store": self._stores,
        }
        if self._conversation is not None:
            stamped["conversation"] = {"id": self._conversation}
        return stamped

    def chunk(self, chunk: bytes) -> bytes:
        """A chunk of a stream: each event in it that holds the whole answer gets these members too."""
        if b'"response":{' not in chunk:
            return chunk
        return b"".join(self._frame(frame) for frame in _frames(chunk))

    def _frame(self, frame: bytes) -> bytes:
        head, mark, data = frame.partition(b"data: ")
        event: Any = json.loads(data) if mark else None
        if not isinstance(event, dict) or not isinstance(event.get("response"), dict):
            return frame
        event["response"] = self._with_members(event["response"])
        if event.get("type") in _LAST:
            self._streamed = event["response"]
        return head + mark + json.dumps(event) + b"\n\n"

    async def keep(self, messages: list[Data], answer: Data, body: Data) -> None:
        """Store the answer, and the messages before it."""
        items = items_of(self._request.get("input"), self._objects.marks.token)
        all_messages = [*messages, answer]
        rows: list[Stored] = []
        if self._stores:
            rows.append(
                Stored(
                    self.id,
                    RESPONSE,
                    body,
                    items,
                    all_messages,
                    owner_id=self._conversation,
                    previous_id=self._previous,
                    created_at=self._now,
                    expires_at=self._gateway.expiry(),
                )
            )
        part = None
        if self._conversation is not None:
            part = Stored("", PART, {}, [*items, *body["output"]], all_messages, owner_id=self._conversation)
        await self._objects.put(*rows, part=part)


# ---------------------------------------------------------------------------------------------------- stored responses as streams


def _frames(stream: bytes) -> Iterator[bytes]:
    """The frames of a chunk of an event stream, each with its end."""
    return (frame + b"\n\n" for frame in stream.split(b"\n\n") if frame)


def _streamed(gateway: "Gateway", request: Request, body: Data) -> Response:
    """A stored response as the stream of its events, after the event with the number `starting_after`. Raises `Refused`
    for a response that broke off."""
    after = request.query_params.get("starting_after", "-1")
    if not after.removeprefix("-").isdecimal():
        raise InvalidRequest("starting_after must be the number of an event", path="/starting_after")
    if body["status"] not in ("completed", "incomplete"):
        raise Refused(
            "invalid_request",
            f"a response whose status is {body['status']} cannot be streamed again; retrieve it without stream",
            400,
        )
    home = gateway.registry.endpoint(adapter=ADAPTER)
    response, _ = translate.from_wire_response(body, home)
    writer = translate.StreamWriter(home)
    stream = b"".join(b"".join(writer.feed(event)) for event in unfold(response)) + b"".join(writer.end())
    frames = [*_frames(stream)][int(after) + 1 :]
    return StreamingResponse(iter(frames), media_type="text/event-stream")
