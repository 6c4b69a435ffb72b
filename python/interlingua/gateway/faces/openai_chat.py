"""OpenAI's Chat Completions API over HTTP: https://platform.openai.com/docs/api-reference/chat."""

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "openai_chat"
PATHS = (("POST", "/v1/chat/completions"), ("GET", "/v1/models"), ("GET", "/v1/models/{id}"))


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""
    return [Route("/v1/chat/completions", gateway.generation(ADAPTER), methods=["POST"])]
