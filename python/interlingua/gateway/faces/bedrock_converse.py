"""Amazon Bedrock's Converse API over HTTP: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html."""

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "bedrock_converse"
PATHS = (("POST", "/model/{id}/converse"), ("POST", "/model/{id}/converse-stream"))


def routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""
    return [
        Route("/model/{id:path}/converse", gateway.generation(ADAPTER), methods=["POST"]),
        Route("/model/{id:path}/converse-stream", gateway.generation(ADAPTER), methods=["POST"]),
    ]
