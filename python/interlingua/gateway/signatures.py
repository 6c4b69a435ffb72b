"""
Signatures of AWS's clients, version 4, which prove that a client has a key without sending it
(spec/11-gateway.md#signed).
"""

import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from starlette.requests import Request

from interlingua.client.sigv4 import ALGORITHM, canonical_call, signature
from interlingua.refusals import Refused

WINDOW = timedelta(minutes=5)
"""How far the time of a signature may be from that of the server; the same as at AWS."""

SERVICE = "bedrock"
"""The service for which Bedrock's clients sign, in any region."""

_AUTHORIZATION = re.compile(
    rf"{ALGORITHM} +Credential=(?P<access_key>[!-+\--.0-~]+)/(?P<scope>[0-9]{{8}}/[a-z0-9-]+/{SERVICE}/aws4_request), *"
    r"SignedHeaders=(?P<names>[:a-z0-9;_-]+), *Signature=(?P<signature>[0-9a-f]{64})"
)
_TIME = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_ALWAYS = frozenset(("host", "x-amz-date"))
_AUTHORITY = ":authority"
"""The name of the host in HTTP/2, where clients sign it by this name."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature as a call shows it: the key, the time and the scope of the signature, and the headers that it
    covers."""

    access_key: str
    time: str
    scope: str
    names: tuple[str, ...]
    signature: str

    def check_time(self, now: datetime) -> None:
        """Raises `Refused` when the time of the signature is outside the window."""
        try:
            signed_at = datetime.strptime(self.time, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            raise _malformed() from None
        if abs(now - signed_at) > WINDOW:
            minutes = WINDOW // timedelta(minutes=1)
            message = f"the time of the signature is more than {minutes} minutes from that of this server; set the clock of the client"
            raise Refused("authentication", message, 401)

    def is_of(self, request: Request, body: bytes, secret: str) -> bool:
        """Whether the signature was made with a secret over exactly this request."""
        headers = {name: _covered(request.headers.getlist(_header_name(name, request))) for name in self.names}
        path: bytes = request.scope.get("raw_path", request.scope["path"].encode())
        query: bytes = request.scope["query_string"]
        call = canonical_call(
            request.method, path.decode("latin-1"), query.decode("latin-1"), headers, sha256(body).hexdigest()
        )
        return hmac.compare_digest(signature(call, self.time, self.scope, secret), self.signature)


def of(request: Request) -> Signature | None:
    """The signature that a call shows; None for a call without one. Raises `Refused` for a signature that covers too
    little."""
    authorization = request.headers.get("authorization", "")
    if not authorization.startswith(ALGORITHM):
        return None
    match = _AUTHORIZATION.fullmatch(authorization)
    time = request.headers.get("x-amz-date", "")
    if match is None or not _TIME.fullmatch(time) or not match["scope"].startswith(time[:8]):
        raise _malformed()
    names = tuple(match["names"].split(";"))
    # anybody could have added a header of AWS that the signature does not cover
    demanded = _ALWAYS | {name for name in request.headers if name.startswith("x-amz-")}
    covered = {_header_name(name, request) for name in names}
    if not demanded <= covered or any(name not in request.headers for name in covered):
        raise _malformed()
    return Signature(match["access_key"], time, match["scope"], names, match["signature"])


def _header_name(name: str, request: Request) -> str:
    """The header of a call to which a name in a signature refers."""
    return "host" if name == _AUTHORITY and request.scope["http_version"] == "2" else name


def _covered(values: list[str]) -> str:
    return ",".join(" ".join(value.split()) for value in values)


def _malformed() -> Refused:
    message = f"the signature must be of version 4, for the service {SERVICE}, over the body, host, x-amz-date and all other x-amz- headers"
    return Refused("authentication", message, 401)
