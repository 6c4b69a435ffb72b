"""`GET /v1/models`, which clients of OpenAI's wires and of Anthropic's ask for, each in its own form
(spec/11-gateway.md#whose-models)."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from interlingua.gateway.access import Key
from interlingua.gateway.listing import Model, find, listed

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

_EPOCH = "1970-01-01T00:00:00Z"


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def as_openai(request: Request, key: Key) -> Any:
        rows = listed(gateway, key, "openai_chat", request.path_params.get("provider"))
        return {"object": "list", "data": [_openai(row) for row in rows]}

    async def one_as_openai(request: Request, key: Key) -> Any:
        return _openai(find(gateway, key, "openai_chat", request))

    async def as_anthropic(request: Request, key: Key) -> Any:
        rows = [
            _anthropic(row) for row in listed(gateway, key, "anthropic_messages", request.path_params.get("provider"))
        ]
        ends = {"first_id": rows[0]["id"], "last_id": rows[-1]["id"]} if rows else {"first_id": None, "last_id": None}
        return {"data": rows, "has_more": False, **ends}

    async def one_as_anthropic(request: Request, key: Key) -> Any:
        return _anthropic(find(gateway, key, "anthropic_messages", request))

    def by_client(openai: Any, anthropic: Any) -> Any:
        for_openai = gateway.operation("openai_chat", openai)
        for_anthropic = gateway.operation("anthropic_messages", anthropic)

        async def answer(request: Request) -> Response:
            return await (for_anthropic if "anthropic-version" in request.headers else for_openai)(request)

        return answer

    return [
        Route("/v1/models", by_client(as_openai, as_anthropic), methods=["GET"]),
        Route("/v1/models/{id:path}", by_client(one_as_openai, one_as_anthropic), methods=["GET"]),
    ]


def _openai(model: Model) -> dict[str, Any]:
    return {"id": model.name, "object": "model", "created": 0, "owned_by": model.provider}


def _anthropic(model: Model) -> dict[str, Any]:
    return {"type": "model", "id": model.name, "display_name": model.title, "created_at": _EPOCH}
