"""OpenAI's Chat Completions API over HTTP: https://platform.openai.com/docs/api-reference/chat."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua.gateway.faces import openai_completions
from interlingua.gateway.past import Past
from interlingua.sessions import Objects

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "openai_chat"
PATHS = (("POST", "/v1/chat/completions"), ("GET", "/v1/models"), ("GET", "/v1/models/{id}"))


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def recall(_: Request, body: dict[str, Any], objects: Objects) -> Past:
        return await openai_completions.past(gateway, body, objects)

    return [Route("/v1/chat/completions", gateway.generation(ADAPTER, recall=recall), methods=["POST"])]
