"""
Signatures of AWS, version 4: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html

The signature is a pure function of the call, the credentials and the time. Credentials that are not in the environment
(of profiles, roles and machines) are found by botocore, where it is installed (the extra `aws`).
"""

import asyncio
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol, cast
from urllib.parse import parse_qsl, quote, urlsplit

from interlingua.canonical.errors import ProviderError
from interlingua.canonical.logs import logger
from interlingua.registry.signing import Credentials, Signing

_LOG = logger("client")
ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNED = ("content-type",)  # in addition to host and x-amz-*: a header that proxies do not change


def signed(
    url: str, headers: Mapping[str, str], body: bytes, about: Signing, credentials: Credentials, now: datetime
) -> dict[str, str]:
    """The headers of a POST with its signature."""
    address = urlsplit(url)
    time = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    added = {"x-amz-date": time}
    if credentials.token is not None:
        added["x-amz-security-token"] = credentials.token
    covered = {name: " ".join(value.split()) for name, value in headers.items() if name in _SIGNED}
    covered |= {"host": address.netloc.rpartition("@")[2].lower(), **added}
    names = ";".join(sorted(covered))
    scope = f"{time[:8]}/{about.region}/{about.service}/aws4_request"
    call = canonical_call("POST", address.path, address.query, covered, sha256(body).hexdigest())
    proof = signature(call, time, scope, credentials.secret_key)
    authorization = f"{ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={proof}"
    return {**headers, **added, "authorization": authorization}


def canonical_call(method: str, path: str, query: str, headers: Mapping[str, str], payload: str) -> str:
    """The canonical text of a call, which is signed.

    `path` and `query` are encoded as they are sent, `headers` are those that the signature covers, with names in lower
    case, `payload` is the SHA-256 of the body in hexadecimal."""
    return "\n".join(
        (
            method,
            # for every service but S3 the path is encoded once more, so that %3A becomes %253A
            quote(path or "/", safe="/~"),
            _query(query),
            *(f"{name}:{headers[name]}" for name in sorted(headers)),
            "",
            ";".join(sorted(headers)),
            payload,
        )
    )


def signature(call: str, time: str, scope: str, secret: str) -> str:
    """The signature of a call, in hexadecimal; `time` has the format of `x-amz-date`."""
    text = f"{ALGORITHM}\n{time}\n{scope}\n{sha256(call.encode()).hexdigest()}"
    key = f"AWS4{secret}".encode()
    for step in scope.split("/"):
        key = hmac.digest(key, step.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def _query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return "&".join(sorted(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in pairs))


class _Frozen(Protocol):
    access_key: str
    secret_key: str
    token: str | None


class Wallet:
    """Credentials outside of the environment, which botocore keeps and renews."""

    def __init__(self) -> None:
        self._botocore_credentials: Any = None
        self._empty = False

    async def credentials(self) -> Credentials | None:
        """Credentials that are valid now; None when there are none. Raises `ProviderError` when they cannot be used."""
        if self._empty:
            return None
        # not in the event loop: it reads files and calls services of the cloud
        return await asyncio.to_thread(self._find)

    def _find(self) -> Credentials | None:
        try:
            from botocore import exceptions, session
        except ImportError:
            self._empty = True
            _LOG.warning("no AWS credentials in the environment; for profiles and roles install the extra aws")
            return None
        try:
            if self._botocore_credentials is None:
                self._botocore_credentials = session.Session().get_credentials()
            if self._botocore_credentials is None:
                _LOG.warning("no AWS credentials were found")
                self._empty = True
                return None
            frozen = cast("_Frozen", self._botocore_credentials.get_frozen_credentials())
        except exceptions.BotoCoreError as problem:
            # their texts may quote the credentials
            message = f"the AWS credentials cannot be used ({type(problem).__name__})"
            raise ProviderError({"category": "authentication", "message": message, "retryable": False}) from None
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)
