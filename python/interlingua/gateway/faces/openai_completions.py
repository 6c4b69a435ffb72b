"""Stored completions of OpenAI's Chat API over HTTP: https://platform.openai.com/docs/api-reference/chat/list."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua.canonical.errors import InvalidRequest
from interlingua.gateway.faces.openai_items import limit_of, metadata_of, newest_first, page, page_of
from interlingua.gateway.past import NotStored, Past
from interlingua.sessions import Objects
from interlingua.sessions.objects import COMPLETION, Stored

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "openai_chat"
STORED_PATHS = (
    ("GET", "/v1/chat/completions"),
    ("GET", "/v1/chat/completions/{id}"),
    ("POST", "/v1/chat/completions/{id}"),
    ("DELETE", "/v1/chat/completions/{id}"),
    ("GET", "/v1/chat/completions/{id}/messages"),
)

Data = dict[str, Any]

_SECOND = 1_000_000  # microseconds
_AT_ONCE = 100


def stored_routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def listing(request: Request, objects: Objects) -> Any:
        filters, limit = _filters(request), limit_of(request)
        after, descending = request.query_params.get("after"), newest_first(request, "asc")
        if after is not None and await objects.find(COMPLETION, after) is None:
            raise InvalidRequest("after must be the id of an object of the list", path="/after")
        bodies: list[Data] = []
        while len(bodies) <= limit:
            rows = await objects.listed(COMPLETION, after=after, limit=_AT_ONCE, newest_first=descending)
            bodies += [row.body for row in rows if filters.items() <= _filtered_members(row.body).items()]
            if len(rows) < _AT_ONCE:
                break
            after = rows[-1].id
        return page(bodies[:limit], more=len(bodies) > limit)

    async def retrieve(request: Request, objects: Objects) -> Any:
        return (await _completion(request, objects)).body

    async def update(request: Request, objects: Objects) -> Any:
        identity = (await _completion(request, objects)).id
        metadata = metadata_of(await gateway.object(request))
        changed = await objects.change(
            COMPLETION, identity, lambda completion: replace(completion, body={**completion.body, "metadata": metadata})
        )
        if changed is None:
            raise _no_completion(identity)
        return changed.body

    async def delete(request: Request, objects: Objects) -> Any:
        identity = request.path_params["id"]
        if not await objects.remove(COMPLETION, identity):
            raise _no_completion(identity)
        return {"id": identity, "object": "chat.completion.deleted", "deleted": True}

    async def messages(request: Request, objects: Objects) -> Any:
        completion = await _completion(request, objects)
        return page_of(request, [_message(completion.id, *entry) for entry in enumerate(completion.items)], "asc")

    one = "/v1/chat/completions/{id}"
    operations = (
        ("/v1/chat/completions", "GET", listing),
        (one, "GET", retrieve),
        (one, "POST", update),
        (one, "DELETE", delete),
        (f"{one}/messages", "GET", messages),
    )
    return [Route(path, gateway.stored(ADAPTER, work), methods=[method]) for path, method, work in operations]


async def past(gateway: "Gateway", body: Data, objects: Objects) -> Past:
    """The request without `store`, with a keeper where the client wants the completion to be stored."""
    if body.get("store") is not True:
        return Past(body)
    rest = {name: value for name, value in body.items() if name != "store"}  # the gateway stores it
    return Past(rest, keeper=_Keeper(gateway, objects, body))


class _Keeper:
    """Stores one completion."""

    def __init__(self, gateway: "Gateway", objects: Objects, request: Data) -> None:
        self.id = f"chatcmpl-{objects.marks.token()}"
        self._gateway = gateway
        self._objects = objects
        self._request = request
        self._now = objects.marks.moment()

    def for_client(self, body: Data, status: str) -> Data:  # noqa: ARG002
        """The completion with its id, its time and its metadata."""
        created = body.get("created") or self._now // _SECOND
        return {**body, "id": self.id, "created": created, "metadata": self._request.get("metadata") or {}}

    def chunk(self, chunk: bytes) -> bytes:
        """The same chunk: a chunk of a stream has no metadata."""
        return chunk

    async def keep(self, messages: list[Data], answer: Data, body: Data) -> None:
        """Stores the completion."""
        completion = Stored(
            self.id,
            COMPLETION,
            body,
            self._request.get("messages") or [],
            [*messages, answer],
            created_at=self._now,
            expires_at=self._gateway.expiry(),
        )
        await self._objects.put(completion)


async def _completion(request: Request, objects: Objects) -> Stored:
    identity = request.path_params["id"]
    completion = await objects.find(COMPLETION, identity)
    if completion is None:
        raise _no_completion(identity)
    return completion


def _no_completion(identity: str) -> NotStored:
    return NotStored(f"Chat completion with id '{identity[:200]}' not found.")


def _filters(request: Request) -> dict[str, str]:
    """The conditions for the completions of a list: a model, entries of their metadata."""
    filters = {name: value for name, value in request.query_params.items() if name.startswith("metadata[")}
    model = request.query_params.get("model")
    return filters if model is None else {**filters, "model": model}


def _filtered_members(body: Data) -> Data:
    return {"model": body.get("model"), **{f"metadata[{name}]": value for name, value in body["metadata"].items()}}


def _message(identity: str, number: int, message: Data) -> Data:
    """A message of a completion, as it is listed: content in parts has a member of its own."""
    content = message.get("content")
    parts = content if isinstance(content, list) else None
    return {
        **message,
        "id": f"{identity}-{number}",
        "content": None if parts is not None else content,
        "content_parts": parts,
    }
