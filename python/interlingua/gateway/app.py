"""
The ASGI application of a gateway: the paths of all faces, also below the name of a provider, and the response at every
other path.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from interlingua.access import ANYBODY, Key
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError
from interlingua.gateway import connect, faces, records
from interlingua.gateway.clients import ClientRequest
from interlingua.gateway.gateway import Gateway, Operation
from interlingua.gateway.guard import Guard
from interlingua.gateway.inspector import paths
from interlingua.gateway.metrics import CONTENT_TYPE
from interlingua.refusals import Refused


def application(gateway: Gateway, names: frozenset[str] | None = None) -> ASGIApp:
    """The application. `names` are the names that the header `Host` may have; with None it may have any."""

    def refusal(request: Request, problem: InterlinguaError) -> Response:
        if request.url.path.startswith(connect.PREFIX):
            return connect.refusal(gateway, request, problem)
        return gateway.error_response(request, faces.of(request), problem)

    def is_served(method: str, path: str) -> bool:
        scope = {"type": "http", "method": method, "path": path}
        return any(route.matches(scope)[0] is Match.FULL for route in of_faces)

    def methods_at(path: str) -> list[str]:
        """The methods of a path; none where the gateway has no such path."""
        provider, _, rest = path.removeprefix("/").partition("/")
        is_below = gateway.registry.is_provider(provider)
        scope = {"type": "http", "method": "", "path": f"/{rest}" if is_below else path}
        matching = [route for route in (of_faces if is_below else own) if route.matches(scope)[0] is not Match.NONE]
        return sorted({method for route in matching if isinstance(route, Route) for method in route.methods or ()})

    async def other_path(request: Request, _: Exception) -> Response:
        if gateway.passing is not None:
            response = await gateway.passing.answer(request, faces.of(request), partial(is_served, request.method))
            if response is not None:
                return response
        if methods := methods_at(request.url.path):
            response = refusal(request, _wrong_method(request, methods))
            response.headers["allow"] = ", ".join(methods)
            return response
        return refusal(request, _unknown_operation(request, stored=gateway.objects is not None))

    of_faces = faces.routes(gateway)
    routes = all_routes(gateway, of_faces)
    own = [route for route in routes if isinstance(route, Route)]
    app = Starlette(routes=routes, exception_handlers={HTTPException: other_path})
    app.router.redirect_slashes = False
    return Guard(_with_table(operations_of(routes), app), refusal, names, gateway.in_flight)


def all_routes(gateway: Gateway, of_faces: Sequence[BaseRoute]) -> list[BaseRoute]:
    """All paths of a gateway with their operations; those of the faces also below the name of a provider."""
    return [
        *connect.routes(gateway),
        *_own_routes(gateway),
        *of_faces,
        Mount("/{provider}", routes=of_faces),
    ]


def operations_of(routes: Sequence[BaseRoute]) -> dict[tuple[str, str], Operation]:
    """The operations of methods and paths without parameters."""
    operations: dict[tuple[str, str], Operation] = {}
    for route in routes:
        if isinstance(route, Route) and not route.param_convertors:
            operations |= {(method, route.path): route.endpoint for method in route.methods or ()}
    return operations


def _with_table(operations: Mapping[tuple[str, str], Operation], app: ASGIApp) -> ASGIApp:
    """An application that finds the operation of a path in a table. Every other path is left to `app`, which tries its
    routes in turn, through layers that take more time for a call than reading its request does."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        operation = operations.get((scope.get("method", ""), scope["path"]))
        if operation is None or scope.get("root_path"):
            await app(scope, receive, send)
            return
        scope["endpoint"] = operation
        response = await operation(ClientRequest(scope, receive, send))
        await response(scope, receive, send)

    return answer


def _wrong_method(request: Request, methods: Sequence[str]) -> Refused:
    message = f"{request.url.path[:200]} is served with {', '.join(methods)}, not with {request.method[:20]}"
    return Refused("invalid_request", message, 405)


def _unknown_operation(request: Request, *, stored: bool) -> Refused:
    operations = [f"{method} {path}" for method, path in faces.likely_operations(request, stored=stored)]
    operation = f"{request.method[:20]} {request.url.path[:200]}"
    message = f"this gateway does not serve {operation}; it serves {', '.join(dict.fromkeys(operations))}"
    return Refused("not_found", message, 404, code=faces.UNKNOWN_OPERATION.get(faces.of(request), ""))


def _own_routes(gateway: Gateway) -> list[BaseRoute]:
    """The gateway's own paths: the records of calls, the metrics, the page, and whether the gateway is alive."""

    async def call(request: Request, key: Key) -> Any:
        return await records.record(gateway, request.path_params["id"], key.tenant)

    async def calls(_: Request, key: Key) -> Any:
        return {"calls": await records.list_records(gateway, key.tenant)}

    async def metrics(request: Request) -> Response:
        key = await gateway.caller(request)
        tenant = None if key is ANYBODY or key.all_metrics else key.tenant
        text = gateway.metrics.text(tenant, totals=gateway.access.open)
        return Response(text, headers={"content-type": CONTENT_TYPE})

    async def root(request: Request) -> Response:
        return paths.page() if "text/html" in request.headers.get("accept", "") else await alive(request)

    async def alive(_: Request) -> Response:
        return Response(json.dumps({"status": "serving"}), media_type="application/json")

    return [
        Route("/v1/interlingua/calls/{id}", gateway.operation("openai_chat", call), methods=["GET"]),
        Route("/v1/interlingua/calls", gateway.operation("openai_chat", calls), methods=["GET"]),
        Route("/metrics", gateway.guarded("openai_chat", metrics), methods=["GET"]),
        Route("/healthz", alive, methods=["GET"]),
        Route("/", root, methods=["GET", "HEAD"]),
        *paths.routes(gateway),
    ]
