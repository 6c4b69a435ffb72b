"""
The caller of a call, and the tenant whose sessions the call sees (spec/9-service.md#callers).

The tenant follows from the caller's credentials: a key of the server, or the subject of the connection's certificate.
It is never taken from a request.
"""

from collections.abc import Iterable
from typing import Any, Self, cast
from urllib.parse import unquote

from interlingua.access import Access, Key, key_of_certificate
from interlingua.client import Client
from interlingua.service.methods import Context
from interlingua.sessions import Sessions

ONLY = ""
"""The tenant where there is only one. The library uses it too, so that a program finds its sessions on a server as
well."""


class Caller:
    """A caller: its key and its tenant."""

    def __init__(self, key: Key, tenant: str) -> None:
        self.key = key
        self.tenant = tenant


def key_of(context: Context, access: Access) -> Key:
    """Return the key with which a call is made. Raises `Refused` for a call without a valid key, where there are
    keys."""
    if access.open:
        return access.key(None)
    metadata = list(context.invocation_metadata() or ())
    forwarded = [str(value) for name, value in metadata if name == "x-forwarded-for"]
    return access.key(_bearer(metadata), access.proxies.client(_address(context.peer()), forwarded))


def caller(context: Context, access: Access) -> Caller:
    """Return the caller of a call. Raises `Refused` for a call without a valid key, where there are keys."""
    key = key_of(context, access)
    return Caller(key, _tenant_of_certificate(context.auth_context()) if access.open else key.tenant)


def _address(peer: str) -> str:
    """Return the address in a peer of gRPC, `ipv4:192.0.2.1:50123` or `ipv6:%5B2001:db8::1%5D:50123`."""
    return unquote(peer).partition(":")[2].rpartition(":")[0].strip("[]")


def _bearer(metadata: Iterable[Any]) -> str | None:
    given = [value for name, value in metadata if name == "authorization"]
    scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _tenant_of_certificate(proved: Any) -> str:
    if not proved.get("x509_pem_cert"):
        return ONLY
    return key_of_certificate(b"".join(proved.get("x509_subject") or ()).decode("utf-8", "backslashreplace")).tenant


class CallersSessions(Sessions):
    """The sessions of a server. For the sessions of a caller, only the models that its key may use are called."""

    _key: Key | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        _ = self.routing  # created now, so that the sessions of all callers share it
        return self

    def of_caller(self, who: Caller) -> "CallersSessions":
        """Return the sessions that a caller sees."""
        found = cast("CallersSessions", self.of(who.tenant))
        found._key = who.key
        if principals := who.key.principals:
            found.rules = found.rules._replace(principals=principals)
        return found

    @property
    def client(self) -> Client:
        """The client that calls the providers."""
        client = super().client
        restricted = self._key is not None and (self._key.models is not None or self._key.needs_prices)
        return cast("Client", _ClientOfKey(client, self._key)) if restricted and self._key is not None else client


class _ClientOfKey:
    """A client that calls only the models that a key may use."""

    def __init__(self, client: Client, key: Key) -> None:
        self._client = client
        self._key = key

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def generate(self, request: Any, *, model: str, fallbacks: Iterable[str] = (), **rest: Any) -> Any:
        """`Client.generate`."""
        first, *others = self._allowed((model, *fallbacks))
        return await self._client.generate(request, model=first, fallbacks=others, **rest)

    def stream(self, request: Any, *, model: str, fallbacks: Iterable[str] = (), **rest: Any) -> Any:
        """`Client.stream`."""
        first, *others = self._allowed((model, *fallbacks))
        return self._client.stream(request, model=first, fallbacks=others, **rest)

    def _allowed(self, models: tuple[str, ...]) -> tuple[str, ...]:
        return self._key.usable(models, self._client.registry.is_priced)
