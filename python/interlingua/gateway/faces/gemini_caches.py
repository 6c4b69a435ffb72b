"""Caches of Google's Gemini API over HTTP: https://ai.google.dev/api/caching.

A cache is the beginning of requests. A request that names its id is expanded to begin with the content of the cache, so
that it can be sent to any provider.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from interlingua.canonical.errors import InvalidRequest
from interlingua.gateway.past import NotStored, Past
from interlingua.sessions import Objects
from interlingua.sessions.marks import microseconds, write_time
from interlingua.sessions.objects import CACHE, Stored

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "gemini_generate"
STORED_PATHS = (
    ("POST", "/v1beta/cachedContents"),
    ("GET", "/v1beta/cachedContents"),
    ("GET", "/v1beta/cachedContents/{id}"),
    ("PATCH", "/v1beta/cachedContents/{id}"),
    ("DELETE", "/v1beta/cachedContents/{id}"),
)

Data = dict[str, Any]

VERSIONS = ("v1beta", "v1")
"""Versions of the API: an SDK may use either."""

_HOUR = timedelta(hours=1)
_LONGEST_S = 10 * 365 * 86_400
_SECONDS = re.compile(r"(\d{1,10})(\.\d{1,9})?s")
_MAX_PAGE, _DEFAULT_PAGE = 1000, 50
_CACHED_MEMBERS = {
    "systemInstruction": "systemInstruction",
    "system_instruction": "systemInstruction",
    "tools": "tools",
    "toolConfig": "toolConfig",
    "tool_config": "toolConfig",
}
"""Members of a cache besides the contents. A request that names a cache must not have them."""


def stored_routes(gateway: "Gateway") -> list[BaseRoute]:
    """The paths and their operations."""

    async def create(request: Request, objects: Objects) -> Any:
        body = await gateway.object(request)
        model = body.get("model")
        if not isinstance(model, str) or not model:
            raise InvalidRequest("a cache needs a model", path="/model")
        model = f"models/{_without_prefix(model)}"
        cached: Data = {_CACHED_MEMBERS[name]: value for name, value in body.items() if name in _CACHED_MEMBERS}
        cached["contents"] = body.get("contents") or []
        now = objects.marks.moment()
        members: Data = {"model": model, "createTime": write_time(now), "updateTime": write_time(now)}
        if isinstance(title := body.get("displayName", body.get("display_name")), str):
            members["displayName"] = title
        key = await gateway.caller(request)
        tokens = await gateway.estimate(request, ADAPTER, cached, key, f"/v1beta/{model}:generateContent")
        members["usageMetadata"] = {"totalTokenCount": tokens}
        expires = _expiry(body, objects)
        cache = Stored(
            objects.marks.token(),
            CACHE,
            members,
            [cached],
            created_at=now,
            expires_at=now + _HOUR // timedelta(microseconds=1) if expires is None else expires,
        )
        await objects.put(cache)
        return _resource(cache)

    async def listing(request: Request, objects: Objects) -> Any:
        size = request.query_params.get("pageSize", str(_DEFAULT_PAGE))
        if not size.isdecimal() or not 1 <= int(size[:9]) <= _MAX_PAGE:
            raise InvalidRequest(f"pageSize must be a number from 1 to {_MAX_PAGE}", path="/pageSize")
        after = request.query_params.get("pageToken") or None
        if after is not None and await objects.find(CACHE, after) is None:
            raise InvalidRequest(
                "the pageToken belongs to no page of this list; list from the beginning", path="/pageToken"
            )
        rows = await objects.listed(CACHE, after=after, limit=int(size) + 1)
        page: Data = {"cachedContents": [_resource(row) for row in rows[: int(size)]]}
        return page | ({"nextPageToken": rows[int(size) - 1].id} if len(rows) > int(size) else {})

    async def retrieve(request: Request, objects: Objects) -> Any:
        return _resource(await _cache(objects, request.path_params["id"]))

    async def update(request: Request, objects: Objects) -> Any:
        identity = (await _cache(objects, request.path_params["id"])).id
        expires = _expiry(await gateway.object(request), objects)
        if expires is None:
            raise InvalidRequest("only the time of a cache can be changed; set ttl or expireTime", path="/ttl")
        update_time = {"updateTime": write_time(objects.marks.now())}
        changed = await objects.change(
            CACHE, identity, lambda cache: replace(cache, body={**cache.body, **update_time}, expires_at=expires)
        )
        if changed is None:
            raise _no_cache()
        return _resource(changed)

    async def delete(request: Request, objects: Objects) -> Any:
        if not await objects.remove(CACHE, request.path_params["id"]):
            raise _no_cache()
        return {}

    collection, one = "/cachedContents", "/cachedContents/{id}"
    operations = (
        (collection, "POST", create),
        (collection, "GET", listing),
        (one, "GET", retrieve),
        (one, "PATCH", update),
        (one, "DELETE", delete),
    )
    return [
        Route(f"/{version}{path}", gateway.stored(ADAPTER, work), methods=[method])
        for version in VERSIONS
        for path, method, work in operations
    ]


async def past(request: Request, body: Data, objects: Objects) -> Past:
    """A request with the beginning that its cache holds."""
    identity = body.get("cachedContent", body.get("cached_content"))
    if not isinstance(identity, str):
        return Past(body)
    cache = await objects.find(CACHE, identity.removeprefix("cachedContents/"))
    if cache is None:
        return Past(body, unknown=_no_cache())
    duplicate = next((name for name in body if name in _CACHED_MEMBERS), None)
    if duplicate is not None:
        message = "a request with cachedContent has the instructions and tools of the cache; leave out its own"
        raise InvalidRequest(message, path=f"/{duplicate}")
    model = _without_prefix(request.path_params["id"])
    if f"models/{model}" != cache.body["model"]:
        message = f"the cache belongs to {cache.body['model']} and cannot be used with models/{model[:200]}"
        raise InvalidRequest(message, path="/cachedContent")
    rest = {name: value for name, value in body.items() if name not in ("cachedContent", "cached_content")}
    cached = cache.items[0]
    return Past({**rest, **cached, "contents": [*cached["contents"], *(rest.get("contents") or ())]})


def _resource(cache: Stored) -> Data:
    return {"name": f"cachedContents/{cache.id}", **cache.body, "expireTime": write_time(cache.expires_at or 0)}


async def _cache(objects: Objects, identity: str) -> Stored:
    cache = await objects.find(CACHE, identity)
    if cache is None:
        raise _no_cache()
    return cache


def _no_cache() -> NotStored:
    # the API does not distinguish a cache that does not exist from one of another account
    return NotStored("CachedContent not found (or permission denied)", 403, category="permission")


def _without_prefix(model: str) -> str:
    return model.removeprefix("models/")


def _expiry(body: Data, objects: Objects) -> int | None:
    """When a cache with a `ttl` or an `expireTime` ends, in microseconds since 1970; None when the body has neither.
    Raises `InvalidRequest`."""
    ttl = body.get("ttl")
    until = body.get("expireTime", body.get("expire_time"))
    now = objects.marks.now()
    if ttl is not None:
        seconds = _SECONDS.fullmatch(ttl) if isinstance(ttl, str) else None
        if seconds is None or not 0 < float(ttl[:-1]) <= _LONGEST_S:
            raise InvalidRequest('ttl must be a number of seconds above 0, such as "300s"', path="/ttl")
        return now + round(float(ttl[:-1]) * 1_000_000)
    if until is None:
        return None
    try:
        moment = datetime.fromisoformat(until)
    except (TypeError, ValueError):
        raise InvalidRequest(
            "expireTime must be a time with its offset, such as 2026-05-08T12:00:00Z", path="/expireTime"
        ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    if microseconds(moment) <= now:
        raise InvalidRequest("expireTime must be in the future", path="/expireTime")
    return microseconds(moment)
