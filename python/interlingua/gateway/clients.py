"""What the headers of a request say of its client: whose key it has, whose SDK it is, and where it comes from."""

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

_SDKS = {"openai_chat": {"mistral-client": "mistral"}}
"""SDKs that read a dialect of their own where they speak a wire of another provider: how their `User-Agent` begins."""


class ClientRequest(Request):
    """A request whose headers stand in a table: Starlette looks through all of them for each one that is asked for."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        super().__init__(scope, receive, send)
        self._table = _Headers(scope)

    @property
    def headers(self) -> Headers:
        """The headers; of two with the same name the first."""
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
    """The provider whose SDK a client is, where the dialect of that is another one than the wire's own."""
    agent = request.headers.get("user-agent", "").lower()
    return next((name for begin, name in _SDKS.get(adapter, {}).items() if agent.startswith(begin)), None)


def is_coheres(request: Request) -> bool:
    """Whether a client is an SDK of Cohere, which says so in a header of its own and in its `User-Agent`."""
    names = (request.headers.get("x-fern-sdk-name", ""), request.headers.get("user-agent", ""))
    return any("cohere" in name.lower() for name in names)


def key_of(request: Request) -> str | None:
    """The key that a client sends, in the way of any of the wires (spec/11-gateway.md#keys)."""
    headers = request.headers
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or request.query_params.get("key")


def peer_of(request: Request) -> str:
    """The address of whoever has connected: what stands between is that, for headers about others can be made up."""
    return request.client.host if request.client is not None else ""


def certificate_of(request: Request) -> str | None:
    """The subject of the certificate that a client has shown; None where it has shown none."""
    shown: str | None = request.scope.get("extensions", {}).get("tls", {}).get("client_cert_name")
    return shown
