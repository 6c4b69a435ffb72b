"""Google's Gemini API over HTTP: https://ai.google.dev/api/generate-content, …/tokens, …/models."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua.access import Key
from interlingua.gateway.faces import gemini_caches
from interlingua.gateway.listing import Model, find, list_models

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "gemini_generate"
PATHS = (
    ("POST", "/v1beta/models/{id}:generateContent"),
    ("POST", "/v1beta/models/{id}:streamGenerateContent"),
    ("POST", "/v1beta/models/{id}:countTokens"),
    ("GET", "/v1beta/models"),
    ("GET", "/v1beta/models/{id}"),
)

Work = Callable[[Request, Key], Awaitable[Any]]


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""
    from interlingua.gateway.gateway import Reframed

    array = Reframed("application/json", as_array, "jsonl")

    async def count_tokens(request: Request, key: Key) -> Any:
        body = await gateway.object(request)
        # the body is the request itself, or holds it as the generation request that would be sent
        inner = body.get("generateContentRequest")
        return {
            "totalTokens": await gateway.estimate(request, ADAPTER, inner if isinstance(inner, dict) else body, key)
        }

    def framed(request: Request) -> Reframed | None:
        return None if request.query_params.get("alt") == "sse" else array

    stream = gateway.generation(ADAPTER, framed, recall=gemini_caches.past)
    generate = gateway.generation(ADAPTER, recall=gemini_caches.past)
    count = gateway.operation(ADAPTER, count_tokens)
    verbs = (("generateContent", generate), ("streamGenerateContent", stream), ("countTokens", count))
    return [
        *(
            Route(f"/{version}/models/{{id:path}}:{verb}", operation, methods=["POST"])
            for version in gemini_caches.VERSIONS
            for verb, operation in verbs
        ),
        Route("/v1beta/models", gateway.operation(ADAPTER, models(gateway)), methods=["GET"]),
        Route("/v1beta/models/{id:path}", gateway.operation(ADAPTER, model(gateway)), methods=["GET"]),
    ]


def models(gateway: "Gateway") -> Work:
    """The operation that lists the models, in the format of this wire."""

    async def listing(request: Request, key: Key) -> Any:
        return {
            "models": [_model(row) for row in list_models(gateway, key, ADAPTER, request.path_params.get("provider"))]
        }

    return listing


def model(gateway: "Gateway") -> Work:
    """The operation that shows one model of the list."""

    async def retrieve(request: Request, key: Key) -> Any:
        return _model(find(gateway, key, ADAPTER, request))

    return retrieve


async def as_array(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """One JSON array of lines that hold one element each. Each element is sent when it arrives."""
    opened = False
    async for chunk in lines:
        for line in chunk.splitlines():
            yield (b",\r\n" if opened else b"[") + line
            opened = True
    yield b"]" if opened else b"[]"


def _model(model: Model) -> dict[str, Any]:
    limits = {"inputTokenLimit": model.max_input_tokens, "outputTokenLimit": model.max_output_tokens}
    return {
        "name": f"models/{model.name}",
        "displayName": model.title,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        **{name: value for name, value in limits.items() if value is not None},
    }
