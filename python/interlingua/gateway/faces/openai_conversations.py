"""OpenAI's Conversations API over HTTP: https://platform.openai.com/docs/api-reference/conversations.

A conversation is stored in parts. A part holds items that were added together, or the input and the output of one
response.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.gateway.faces.openai_items import ADAPTER, items_of, messages_of, metadata_of, page, page_of
from interlingua.gateway.past import NotStored
from interlingua.sessions import Objects
from interlingua.sessions.objects import CONVERSATION, PART, Stored

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

STORED_PATHS = (
    ("POST", "/v1/conversations"),
    ("GET", "/v1/conversations/{id}"),
    ("POST", "/v1/conversations/{id}"),
    ("DELETE", "/v1/conversations/{id}"),
    ("GET", "/v1/conversations/{id}/items"),
    ("POST", "/v1/conversations/{id}/items"),
    ("GET", "/v1/conversations/{id}/items/{item}"),
    ("DELETE", "/v1/conversations/{id}/items/{item}"),
)

Data = dict[str, Any]

_MAX_ITEMS = 20  # added by one request


def stored_routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def create(request: Request, objects: Objects) -> Any:
        body = await gateway.object(request, empty=True)
        metadata = metadata_of(body)
        items = _added(objects, body.get("items") or [])
        messages = messages_of(gateway, items) if items else []
        marks = objects.marks
        conversation = Stored(f"conv_{marks.token()}", CONVERSATION, metadata, created_at=marks.moment())
        await objects.put(conversation)
        if items:
            await objects.put(part=Stored("", PART, {}, items, messages, owner_id=conversation.id))
        return _resource(conversation)

    async def retrieve(request: Request, objects: Objects) -> Any:
        return _resource(await _conversation(request, objects))

    async def update(request: Request, objects: Objects) -> Any:
        identity = (await _conversation(request, objects)).id
        metadata = metadata_of(await gateway.object(request))
        changed = await objects.change(
            CONVERSATION, identity, lambda conversation: replace(conversation, body=metadata)
        )
        if changed is None:
            raise _no_conversation(identity)
        return _resource(changed)

    async def delete(request: Request, objects: Objects) -> Any:
        identity = request.path_params["id"]
        if not await objects.remove(CONVERSATION, identity):
            raise _no_conversation(identity)
        return {"id": identity, "object": "conversation.deleted", "deleted": True}

    async def items(request: Request, objects: Objects) -> Any:
        return page_of(request, [item for part in await _parts(request, objects) for item in part.items], "desc")

    async def add(request: Request, objects: Objects) -> Any:
        identity = (await _conversation(request, objects)).id
        added = _added(objects, (await gateway.object(request)).get("items"))
        if not added:
            raise InvalidRequest("items must have at least one item", path="/items")
        part = Stored("", PART, {}, added, messages_of(gateway, added), owner_id=identity)
        await objects.put(part=part)
        return page(added, more=False)

    async def item(request: Request, objects: Objects) -> Any:
        return (await _item(request, objects))[1]

    async def remove(request: Request, objects: Objects) -> Any:
        part, removed = await _item(request, objects)

        def without(part: Stored) -> Stored | None:
            remaining = [item for item in part.items if item["id"] != removed["id"]]
            return replace(part, items=remaining, messages=messages_of(gateway, remaining)) if remaining else None

        await objects.change(PART, part.id, without)
        return _resource(await _conversation(request, objects))

    operations_by_path = {
        "/v1/conversations": {"POST": create},
        "/v1/conversations/{id}": {"GET": retrieve, "POST": update, "DELETE": delete},
        "/v1/conversations/{id}/items": {"GET": items, "POST": add},
        "/v1/conversations/{id}/items/{item}": {"GET": item, "DELETE": remove},
    }
    return [
        Route(path, gateway.stored(ADAPTER, work), methods=[method])
        for path, operations in operations_by_path.items()
        for method, work in operations.items()
    ]


def _added(objects: Objects, items: Any) -> list[Data]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InvalidWire("items must be a list of items", path="/items")
    if len(items) > _MAX_ITEMS:
        raise InvalidRequest(
            f"items must have at most {_MAX_ITEMS} items; add the others in another call", path="/items"
        )
    return items_of(items, objects.marks.token)


def _resource(conversation: Stored) -> Data:
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created_at // 1_000_000,
        "metadata": conversation.body,
    }


async def _conversation(request: Request, objects: Objects) -> Stored:
    identity = request.path_params["id"]
    conversation = await objects.find(CONVERSATION, identity)
    if conversation is None:
        raise _no_conversation(identity)
    return conversation


async def _parts(request: Request, objects: Objects) -> list[Stored]:
    identity = request.path_params["id"]
    parts = await objects.before(CONVERSATION, identity)
    if parts is None:
        raise _no_conversation(identity)
    return parts


async def _item(request: Request, objects: Objects) -> tuple[Stored, Data]:
    """An item of a conversation, and the part that holds it."""
    identity = request.path_params["item"]
    for part in await _parts(request, objects):
        for item in part.items:
            if item["id"] == identity:
                return part, item
    raise NotStored(f"Item with id '{identity[:200]}' not found in the conversation.")


def _no_conversation(identity: str) -> NotStored:
    return NotStored(f"Conversation with id '{identity[:200]}' not found.")
