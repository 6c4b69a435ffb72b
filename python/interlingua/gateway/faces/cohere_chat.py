"""Cohere's Chat over HTTP: https://docs.cohere.com/reference/chat."""

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "cohere_chat"
PATHS = (("POST", "/v2/chat"), ("GET", "/v1/models"), ("GET", "/v1/models/{id}"))


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations; the lists of models are `models.routes`."""
    return [Route("/v2/chat", gateway.generation(ADAPTER), methods=["POST"])]
