"""
The paths of the inspector: the page and its files, the playground's comparisons, the live list of calls
(spec/11-gateway.md#inspector).
"""

import base64
import binascii
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from interlingua import __version__, adapters
from interlingua.access import Key
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.threads import LARGE, done
from interlingua.gateway import records
from interlingua.gateway.gateway import Gateway
from interlingua.gateway.inspector.comparing import compare
from interlingua.gateway.watching import MOST_WATCHERS
from interlingua.refusals import Refused

Data = dict[str, Any]

_WIRE = "openai_chat"
"""The wire for the errors of these paths."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
PAGE_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_STREAM = {"cache-control": "no-store", "x-accel-buffering": "no"}


def routes(gateway: Gateway) -> list[BaseRoute]:
    """The paths and their operations."""

    async def about(_: Request, __: Key) -> Any:
        capacity = 0 if gateway.contents is None else gateway.contents.capacity
        return {"version": __version__, "wires": adapters.names(), "inspect": capacity, "keys": not gateway.access.open}

    async def comparison(request: Request, _: Key) -> Any:
        body = await gateway.object(request)
        value = _body_bytes(body)
        return await done(max(len(value), LARGE + 1), compare, value, body.get("kind"), body.get("wire"))

    async def live(request: Request, key: Key) -> Response:
        return _watched(gateway, key, records.live(gateway, key.tenant))

    async def content(request: Request, key: Key) -> Response:
        return _watched(gateway, key, await records.content(gateway, request.path_params["id"], key.tenant))

    def watched(work: Callable[[Request, Key], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await work(request, await gateway.caller(request))

        return gateway.guarded(_WIRE, answer)

    return [
        Route("/v1/interlingua/about", gateway.operation(_WIRE, about), methods=["GET"]),
        Route("/v1/interlingua/compare", gateway.operation(_WIRE, comparison), methods=["POST"]),
        Route("/v1/interlingua/live", watched(live), methods=["GET"]),
        Route("/v1/interlingua/calls/{id}/content", watched(content), methods=["GET"]),
        Route("/inspector/{name}", _file, methods=["GET"]),
    ]


def page() -> Response:
    """The response with the page."""
    return _answer("index.html")


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "examples.json":
        return Response(_examples(), headers={**PAGE_HEADERS, "content-type": "application/json"})
    return _answer(name) if name in _files() else Response(status_code=404, headers=PAGE_HEADERS)


def _answer(name: str) -> Response:
    content_type = _TYPES[name.rpartition(".")[2]]
    headers = {**PAGE_HEADERS, "content-type": f"{content_type}; charset=utf-8"}
    return Response(_files()[name], headers=headers)


@cache
def _files() -> dict[str, bytes]:
    """The files of the page by their names. The path of a request is never looked up on a disk."""
    folder = resources.files("interlingua.gateway.inspector") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES}


@cache
def _examples() -> bytes:
    """The examples, in the order of their titles' numbers: title, kind, wire and text."""
    folder = resources.files("interlingua.gateway.inspector") / "examples"
    examples = sorted(
        (file.name, json.loads(file.read_bytes())) for file in folder.iterdir() if file.name.endswith(".json")
    )
    return json.dumps([example for _, example in examples])


def _body_bytes(body: Data) -> bytes:
    text, encoded = body.get("text"), body.get("base64")
    if isinstance(text, str):
        return text.encode("utf-8", "replace")
    if not isinstance(encoded, str):
        raise InvalidRequest("set text or base64", path="/text")
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise InvalidRequest("the value is not valid base64", path="/base64") from None


# ---------------------------------------------------------------------------------------------------- live


def _watched(gateway: Gateway, key: Key, events: AsyncIterator[bytes]) -> Response:
    async def while_known() -> AsyncIterator[bytes]:
        async for piece in events:
            if not gateway.access.knows(key):
                return
            yield piece

    if gateway.news.watchers >= MOST_WATCHERS:
        raise Refused(
            "overloaded",
            f"{MOST_WATCHERS} pages already watch this gateway, which is its limit; close one, or wait",
            503,
            retry_after=5.0,
        )
    return StreamingResponse(while_known(), headers=_STREAM, media_type="text/event-stream")
