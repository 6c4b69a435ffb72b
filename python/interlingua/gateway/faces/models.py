"""`GET /v1/models`, which clients of several providers request. The list has the format of the client's provider
(spec/11-gateway.md#whose-models)."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from interlingua.access import Key
from interlingua.gateway.clients import is_cohere_sdk, sdk_of
from interlingua.gateway.faces import gemini_generate
from interlingua.gateway.listing import Model, find, list_models

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

_EPOCH = "1970-01-01T00:00:00Z"


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def as_openai(request: Request, key: Key) -> Any:
        rows = list_models(gateway, key, "openai_chat", request.path_params.get("provider"))
        format_model = _mistral if sdk_of(request, "openai_chat") == "mistral" else _openai
        return {"object": "list", "data": [format_model(row) for row in rows]}

    async def one_as_openai(request: Request, key: Key) -> Any:
        format_model = _mistral if sdk_of(request, "openai_chat") == "mistral" else _openai
        return format_model(find(gateway, key, "openai_chat", request))

    async def as_anthropic(request: Request, key: Key) -> Any:
        rows = [
            _anthropic(row)
            for row in list_models(gateway, key, "anthropic_messages", request.path_params.get("provider"))
        ]
        ends = {"first_id": rows[0]["id"], "last_id": rows[-1]["id"]} if rows else {"first_id": None, "last_id": None}
        return {"data": rows, "has_more": False, **ends}

    async def one_as_anthropic(request: Request, key: Key) -> Any:
        return _anthropic(find(gateway, key, "anthropic_messages", request))

    async def as_cohere(request: Request, key: Key) -> Any:
        rows = list_models(gateway, key, "cohere_chat", request.path_params.get("provider"))
        return {"models": [_cohere(row) for row in rows], "next_page_token": None}

    async def one_as_cohere(request: Request, key: Key) -> Any:
        return _cohere(find(gateway, key, "cohere_chat", request))

    def by_client(openai: Any, anthropic: Any, gemini: Any, cohere: Any) -> Any:
        for_openai = gateway.operation("openai_chat", openai)
        for_anthropic = gateway.operation("anthropic_messages", anthropic)
        for_gemini = gateway.operation("gemini_generate", gemini)
        for_cohere = gateway.operation("cohere_chat", cohere)

        async def answer(request: Request) -> Response:
            if "anthropic-version" in request.headers:
                return await for_anthropic(request)
            if "x-goog-api-key" in request.headers:
                return await for_gemini(request)
            return await (for_cohere if is_cohere_sdk(request) else for_openai)(request)

        return answer

    return [
        Route(
            "/v1/models",
            by_client(as_openai, as_anthropic, gemini_generate.models(gateway), as_cohere),
            methods=["GET"],
        ),
        Route(
            "/v1/models/{id:path}",
            by_client(one_as_openai, one_as_anthropic, gemini_generate.model(gateway), one_as_cohere),
            methods=["GET"],
        ),
    ]


def _openai(model: Model) -> dict[str, Any]:
    return {"id": model.name, "object": "model", "created": 0, "owned_by": model.provider}


def _mistral(model: Model) -> dict[str, Any]:
    """The format for Mistral's SDK, which rejects a model without its type and its capabilities."""
    flags = {"function_calling": "supports_tools", "vision": "supports_images"}
    capabilities = {feature: bool(model.capabilities.get(name)) for feature, name in flags.items()}
    return {**_openai(model), "type": "base", "capabilities": {"completion_chat": True, **capabilities}}


def _anthropic(model: Model) -> dict[str, Any]:
    return {"type": "model", "id": model.name, "display_name": model.title, "created_at": _EPOCH}


def _cohere(model: Model) -> dict[str, Any]:
    flags = {"tools": "supports_tools", "vision": "supports_images", "json_mode": "supports_structured_output"}
    return {
        "name": model.name,
        "is_deprecated": False,
        "endpoints": ["chat"],
        "finetuned": False,
        "context_length": model.max_input_tokens,
        "tokenizer_url": None,
        "default_endpoints": [],
        "features": [feature for feature, name in flags.items() if model.capabilities.get(name)],
    }
