"""Facts about a client from its request: its key, its SDK, its address, and its certificate."""

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from interlingua.proxies import Proxies

_SDKS = {"openai_chat": {"mistral-client": "mistral"}}
"""SDKs that use the wire of another provider and read a dialect of their own: the beginnings of their `User-Agent`."""


class ClientRequest(Request):
    """A request with its headers in a table: Starlette searches all headers for each one that is read."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        super().__init__(scope, receive, send)
        self._table = _Headers(scope)

    @property
    def headers(self) -> Headers:
        """The headers. Of two headers with the same name, the first is returned."""
        return self._table


class _Headers(Headers):
    def __init__(self, scope: Scope) -> None:
        super().__init__(scope=scope)
        self._first = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}

    def __getitem__(self, key: str) -> str:
        return self._first[key.lower()]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._first


def sdk_of(request: Request, adapter: str) -> str | None:
    """The provider of the client's SDK, where that SDK reads another dialect than the wire's own; else None."""
    agent = request.headers.get("user-agent", "").lower()
    return next((name for prefix, name in _SDKS.get(adapter, {}).items() if agent.startswith(prefix)), None)


def is_cohere_sdk(request: Request) -> bool:
    """Whether a client is an SDK of Cohere, which names itself in a header of its own and in its `User-Agent`."""
    names = (request.headers.get("x-fern-sdk-name", ""), request.headers.get("user-agent", ""))
    return any("cohere" in name.lower() for name in names)


def key_of(request: Request) -> str | None:
    """The key that a client sends, in any place that one of the wires uses (spec/11-gateway.md#keys)."""
    headers = request.headers
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or request.query_params.get("key")


def address_of(request: Request, proxies: Proxies) -> str:
    """The address of the client. It is that of the peer that has connected, unless this is a trusted proxy: any other
    client can make up the headers that name addresses."""
    peer = request.client.host if request.client is not None else ""
    return proxies.client(peer, Headers(scope=request.scope).getlist("x-forwarded-for"))


def certificate_of(request: Request) -> str | None:
    """The subject of the certificate that a client has shown; None where it has shown none."""
    subject: str | None = request.scope.get("extensions", {}).get("tls", {}).get("client_cert_name")
    return subject
