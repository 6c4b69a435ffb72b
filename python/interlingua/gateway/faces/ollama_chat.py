"""Ollama's API over HTTP: https://github.com/ollama/ollama/blob/main/docs/api.md."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua import __version__
from interlingua.access import Key
from interlingua.canonical.errors import InvalidWire
from interlingua.gateway.listing import Model, listed, named

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "ollama_chat"
PATHS = (("POST", "/api/chat"), ("GET", "/api/tags"), ("POST", "/api/show"), ("GET", "/api/version"))

_DIGEST = "0" * 64  # models of others have none; clients take the text as it is
_EPOCH = "1970-01-01T00:00:00Z"


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def tags(request: Request, key: Key) -> Any:
        return {"models": [_tag(row) for row in listed(gateway, key, ADAPTER, request.path_params.get("provider"))]}

    async def show(request: Request, key: Key) -> Any:
        body = await gateway.object(request)
        name = body.get("model", body.get("name"))
        if not isinstance(name, str) or not name:
            raise InvalidWire("the body names no model", path="/model")
        return _shown(named(gateway, key, ADAPTER, request.path_params.get("provider"), name))

    async def version(_: Request, __: Key) -> Any:
        return {"version": __version__}

    return [
        Route("/api/chat", gateway.generation(ADAPTER), methods=["POST"]),
        Route("/api/tags", gateway.operation(ADAPTER, tags), methods=["GET"]),
        Route("/api/show", gateway.operation(ADAPTER, show), methods=["POST"]),
        Route("/api/version", gateway.operation(ADAPTER, version), methods=["GET"]),
    ]


def _details(model: Model) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "",
        "family": model.provider,
        "families": [model.provider],
        "parameter_size": "",
        "quantization_level": "",
    }


def _tag(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _EPOCH,
        "size": 0,
        "digest": _DIGEST,
        "details": _details(model),
    }


def _shown(model: Model) -> dict[str, Any]:
    able = {"tools": "supports_tools", "vision": "supports_images", "thinking": "supports_thinking"}
    info: dict[str, Any] = {"general.architecture": model.provider}
    if model.max_input_tokens is not None:
        info[f"{model.provider}.context_length"] = model.max_input_tokens
    return {
        "license": "",
        "modelfile": "",
        "parameters": "",
        "template": "",
        "modified_at": _EPOCH,
        "details": _details(model),
        "model_info": info,
        "capabilities": ["completion", *(word for word, name in able.items() if model.capabilities.get(name))],
    }
