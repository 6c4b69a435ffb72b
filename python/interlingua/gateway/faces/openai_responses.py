"""OpenAI's Responses API over HTTP: https://platform.openai.com/docs/api-reference/responses."""

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "openai_responses"
PATHS = (("POST", "/v1/responses"), ("GET", "/v1/models"), ("GET", "/v1/models/{id}"))


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""
    return [Route("/v1/responses", gateway.generation(ADAPTER), methods=["POST"])]
