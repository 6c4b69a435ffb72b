"""Anthropic's Messages API over HTTP: https://docs.anthropic.com/en/api/messages, …/messages-count-tokens."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua.access import Key

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "anthropic_messages"
PATHS = (
    ("POST", "/v1/messages"),
    ("POST", "/v1/messages/count_tokens"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{id}"),
)


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def count_tokens(request: Request, key: Key) -> Any:
        body = await gateway.object(request)
        # an estimate needs no limit of the answer, but the adapter requires one
        return {"input_tokens": await gateway.estimate(request, ADAPTER, {"max_tokens": 1, **body}, key)}

    return [
        Route("/v1/messages", gateway.generation(ADAPTER), methods=["POST"]),
        Route("/v1/messages/count_tokens", gateway.operation(ADAPTER, count_tokens), methods=["POST"]),
    ]
