"""Ollama's API over HTTP: https://github.com/ollama/ollama/blob/main/docs/api.md."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua import __version__
from interlingua.access import Key
from interlingua.canonical import json
from interlingua.canonical.errors import CannotAdapt, InvalidWire
from interlingua.gateway.listing import Model, list_models, model_named
from interlingua.refusals import no_model

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "ollama_chat"
PATHS = (
    ("POST", "/api/chat"),
    ("POST", "/api/generate"),
    ("GET", "/api/tags"),
    ("POST", "/api/show"),
    ("GET", "/api/version"),
)

_DIGEST = "0" * 64  # models of other providers have no digest; clients use the text as it is
_EPOCH = "1970-01-01T00:00:00Z"


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""
    from interlingua.gateway.gateway import OlderOperation, Reframed

    completion = Reframed("application/x-ndjson", _completions, "jsonl")
    older = OlderOperation(_chat_request, _completion_response)

    async def tags(request: Request, key: Key) -> Any:
        return {
            "models": [_tag(row) for row in list_models(gateway, key, ADAPTER, request.path_params.get("provider"))]
        }

    async def show(request: Request, key: Key) -> Any:
        body = await gateway.object(request)
        name = body.get("model", body.get("name"))
        if not isinstance(name, str) or not name:
            raise no_model()
        return _show_body(model_named(gateway, key, ADAPTER, request.path_params.get("provider"), name))

    async def version(_: Request, __: Key) -> Any:
        return {"version": __version__}

    return [
        Route("/api/chat", gateway.generation(ADAPTER), methods=["POST"]),
        Route("/api/generate", gateway.generation(ADAPTER, lambda _: completion, older), methods=["POST"]),
        Route("/api/tags", gateway.operation(ADAPTER, tags), methods=["GET"]),
        Route("/api/show", gateway.operation(ADAPTER, show), methods=["POST"]),
        Route("/api/version", gateway.operation(ADAPTER, version), methods=["GET"]),
    ]


_PROMPT_MEMBERS = ("prompt", "system", "images")
_LOCAL_MODEL_MEMBERS = ("context", "raw", "suffix", "template")


def _chat_request(body: dict[str, Any]) -> dict[str, Any]:
    """A request of `/api/generate` as one of `/api/chat`: the prompt is the message of a user.

    Raises `CannotAdapt` for members that need the tokens of a model that runs at the server.
    """
    for name in _LOCAL_MODEL_MEMBERS:
        if body.get(name):
            raise CannotAdapt(
                f"{name} is for a model that runs at the server; use /api/chat", adapter=ADAPTER, path=f"/{name}"
            )
    prompt, system = body.get("prompt", ""), body.get("system")
    for name, text in (("prompt", prompt), ("system", system or "")):
        if not isinstance(text, str):
            raise InvalidWire(f"{name} must be a text", path=f"/{name}")
    if not prompt:
        raise InvalidWire("the body needs a prompt; there is no model to load here", path="/prompt")
    images = {"images": body["images"]} if body.get("images") else {}
    messages = [{"role": "system", "content": system}] if system else []
    rest = {name: value for name, value in body.items() if name not in (*_PROMPT_MEMBERS, *_LOCAL_MODEL_MEMBERS)}
    return {**rest, "messages": [*messages, {"role": "user", "content": prompt, **images}]}


def _completion_response(line: bytes) -> bytes:
    """A response of `/api/chat`, or a line of its stream, as one of `/api/generate`."""
    body = json.loads(line)
    message = body.pop("message", None) if isinstance(body, dict) else None
    if message is None:
        return line  # an error
    thinking = {"thinking": message["thinking"]} if message.get("thinking") else {}
    return json.dumps({**body, "response": message.get("content", ""), **thinking})


async def _completions(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in lines:
        yield b"".join(_completion_response(line) + b"\n" for line in chunk.splitlines() if line.strip())


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


def _show_body(model: Model) -> dict[str, Any]:
    flags = {"tools": "supports_tools", "vision": "supports_images", "thinking": "supports_thinking"}
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
        "capabilities": [
            "completion",
            *(capability for capability, name in flags.items() if model.capabilities.get(name)),
        ],
    }
