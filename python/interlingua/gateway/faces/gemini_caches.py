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
_MOST, _SOME = 1000, 50
_SPELLINGS = {
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
            raise InvalidRequest("a cache is one of a model", path="/model")
        model = f"models/{_bare(model)}"
        cached: Data = {_SPELLINGS[name]: value for name, value in body.items() if name in _SPELLINGS}
        cached["contents"] = body.get("contents") or []
        now = objects.marks.moment()
        told: Data = {"model": model, "createTime": write_time(now), "updateTime": write_time(now)}
        if isinstance(title := body.get("displayName", body.get("display_name")), str):
            told["displayName"] = title
        key = await gateway.caller(request)
        likely = await gateway.estimate(request, ADAPTER, cached, key, f"/v1beta/{model}:generateContent")
        told["usageMetadata"] = {"totalTokenCount": likely}
        expires = _expiry(body, objects)
        made = Stored(
            objects.marks.token(),
            CACHE,
            told,
            [cached],
            created_at=now,
            expires_at=now + _HOUR // timedelta(microseconds=1) if expires is None else expires,
        )
        await objects.put(made)
        return _shown(made)

    async def listing(request: Request, objects: Objects) -> Any:
        given = request.query_params.get("pageSize", str(_SOME))
        if not given.isdecimal() or not 1 <= int(given[:9]) <= _MOST:
            raise InvalidRequest(f"pageSize is a number from 1 to {_MOST}", path="/pageSize")
        after = request.query_params.get("pageToken") or None
        if after is not None and await objects.find(CACHE, after) is None:
            raise InvalidRequest("there is no page behind this pageToken", path="/pageToken")
        rows = await objects.listed(CACHE, after=after, limit=int(given) + 1)
        page: Data = {"cachedContents": [_shown(row) for row in rows[: int(given)]]}
        return page | ({"nextPageToken": rows[int(given) - 1].id} if len(rows) > int(given) else {})

    async def retrieve(request: Request, objects: Objects) -> Any:
        return _shown(await _cache(objects, request.path_params["id"]))

    async def update(request: Request, objects: Objects) -> Any:
        identity = (await _cache(objects, request.path_params["id"])).id
        expires = _expiry(await gateway.object(request), objects)
        if expires is None:
            raise InvalidRequest("a cache can be given another ttl or expireTime, and nothing else", path="/ttl")
        told = {"updateTime": write_time(objects.marks.now())}
        changed = await objects.change(
            CACHE, identity, lambda one: replace(one, body={**one.body, **told}, expires_at=expires)
        )
        if changed is None:
            raise _no_cache()
        return _shown(changed)

    async def delete(request: Request, objects: Objects) -> Any:
        if not await objects.remove(CACHE, request.path_params["id"]):
            raise _no_cache()
        return {}

    all_of_them, one = "/cachedContents", "/cachedContents/{id}"
    places = (
        (all_of_them, "POST", create),
        (all_of_them, "GET", listing),
        (one, "GET", retrieve),
        (one, "PATCH", update),
        (one, "DELETE", delete),
    )
    return [
        Route(f"/{version}{path}", gateway.stored(ADAPTER, work), methods=[method])
        for version in VERSIONS
        for path, method, work in places
    ]


async def past(request: Request, body: Data, objects: Objects) -> Past:
    """A request with the beginning that its cache holds."""
    named = body.get("cachedContent", body.get("cached_content"))
    if not isinstance(named, str):
        return Past(body)
    found = await objects.find(CACHE, named.removeprefix("cachedContents/"))
    if found is None:
        return Past(body, unknown=_no_cache())
    doubled = next((name for name in body if name in _SPELLINGS), None)
    if doubled is not None:
        message = "a request that names a cache has its instructions and tools from there"
        raise InvalidRequest(message, path=f"/{doubled}")
    model = _bare(request.path_params["id"])
    if f"models/{model}" != found.body["model"]:
        message = f"the cache is one of {found.body['model']}, and the request is for models/{model[:200]}"
        raise InvalidRequest(message, path="/cachedContent")
    rest = {name: value for name, value in body.items() if name not in ("cachedContent", "cached_content")}
    cached = found.items[0]
    return Past({**rest, **cached, "contents": [*cached["contents"], *(rest.get("contents") or ())]})


def _shown(found: Stored) -> Data:
    return {"name": f"cachedContents/{found.id}", **found.body, "expireTime": write_time(found.expires_at or 0)}


async def _cache(objects: Objects, identity: str) -> Stored:
    found = await objects.find(CACHE, identity)
    if found is None:
        raise _no_cache()
    return found


def _no_cache() -> NotStored:
    # the API does not distinguish a cache that does not exist from one of another account
    return NotStored("CachedContent not found (or permission denied)", 403, category="permission")


def _bare(model: str) -> str:
    return model.removeprefix("models/")


def _expiry(body: Data, objects: Objects) -> int | None:
    """When a cache with a `ttl` or an `expireTime` ends, in microseconds since 1970; None when the body has neither.
    Raises `InvalidRequest`."""
    ttl = body.get("ttl")
    until = body.get("expireTime", body.get("expire_time"))
    now = objects.marks.now()
    if ttl is not None:
        found = _SECONDS.fullmatch(ttl) if isinstance(ttl, str) else None
        if found is None or not 0 < float(ttl[:-1]) <= _LONGEST_S:
            raise InvalidRequest('ttl is a number of seconds above 0, such as "300s"', path="/ttl")
        return now + round(float(ttl[:-1]) * 1_000_000)
    if until is None:
        return None
    try:
        moment = datetime.fromisoformat(until)
    except (TypeError, ValueError):
        raise InvalidRequest(
            "expireTime is a time with its offset, such as 2026-05-08T12:00:00Z", path="/expireTime"
        ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    if microseconds(moment) <= now:
        raise InvalidRequest("expireTime has passed", path="/expireTime")
    return microseconds(moment)
