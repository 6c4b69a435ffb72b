"""
The faces: one module per wire, with the paths that the clients of the wire use. A face has an `ADAPTER`, its `PATHS`,
and the function `routes`, which gives each path its operation.
"""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.routing import BaseRoute

from interlingua.gateway.clients import is_cohere_sdk
from interlingua.gateway.faces import (
    anthropic_messages,
    bedrock_converse,
    cohere_chat,
    gemini_caches,
    gemini_generate,
    models,
    ollama_chat,
    openai_chat,
    openai_completions,
    openai_conversations,
    openai_responses,
)

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

FACES = (
    anthropic_messages,
    openai_chat,
    openai_responses,
    gemini_generate,
    ollama_chat,
    bedrock_converse,
    cohere_chat,
)
STORING = (openai_completions, openai_responses, openai_conversations, gemini_caches)
"""The modules with the paths that exist where objects are stored: `STORED_PATHS` and `stored_routes`."""

UNKNOWN_OPERATION: dict[str, str] = dict.fromkeys((openai_chat.ADAPTER, openai_responses.ADAPTER), "unknown_url")
"""The error code for an unknown operation, by wire, where it differs from the code for an unknown model."""


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths of all faces, and the lists of models that two of them share."""
    all_routes = [*models.routes(gateway), *(route for face in FACES for route in face.routes(gateway))]
    if gateway.objects is not None:
        all_routes += [route for face in STORING for route in face.stored_routes(gateway)]
    return all_routes


def of(request: Request) -> str:
    """The wire that the client of a request seems to use, by path and headers: an error at any path is an error of a
    wire."""
    path = request.url.path
    if (
        "/v1beta/" in path
        or "x-goog-api-key" in request.headers
        or "Content" in path.rpartition(":")[2]
        or "/cachedContents" in path
    ):
        return gemini_generate.ADAPTER
    if "/model/" in path:
        return bedrock_converse.ADAPTER
    if "/api/" in path:
        return ollama_chat.ADAPTER
    if "/v2/" in path or is_cohere_sdk(request):
        return cohere_chat.ADAPTER
    if "anthropic-version" in request.headers or "/v1/messages" in path:
        return anthropic_messages.ADAPTER
    return openai_responses.ADAPTER if "/v1/responses" in path or "/v1/conversations" in path else openai_chat.ADAPTER


def likely_operations(request: Request, *, stored: bool) -> list[tuple[str, str]]:
    """Methods and paths that the client may have meant by a request that matches no route: those of the wire that it
    seems to use. A request without signs of a wire also gets the generation path of each wire. `stored` adds the paths
    of stored objects."""
    adapter = of(request)
    operations = [path for face in FACES if adapter == face.ADAPTER for path in face.PATHS]
    if adapter == openai_chat.ADAPTER:
        operations += [face.PATHS[0] for face in FACES]
    if stored:
        operations += [path for face in STORING if adapter == face.ADAPTER for path in face.STORED_PATHS]
    return operations
