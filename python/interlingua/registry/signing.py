"""
Providers whose calls are signed instead of carrying a key: the service to sign for, and the credentials in the
environment.

A row has `auth.signing` in addition to the header of a key: `{"scheme": "sigv4", "service": "bedrock"}`.
A key, where there is one, takes precedence over a signature.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_REGION_IN_HOST = re.compile(r"//(?:[^/]+\.)?bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
_REGION = "us-east-1"

ELSEWHERE = (
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Variables that state where credentials are, when they are not in the environment themselves."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key of AWS. The secret and the token are not printed."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Signing:
    """The service for which a call is signed. Without `credentials` the caller searches for them outside of the
    environment."""

    scheme: str
    service: str
    region: str
    credentials: Credentials | None = None


def signing(row: Mapping[str, Any], base_url: str | None, environment: Mapping[str, str]) -> Signing | None:
    """Return how the calls to a provider are signed; None when they are not."""
    about = (row["auth"] or {}).get("signing")
    if about is None:
        return None
    found = _REGION_IN_HOST.search(base_url or "")
    regions = (environment.get(name, "").strip() for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    region = found[1] if found else next((name for name in regions if name), _REGION)
    return Signing(about["scheme"], about["service"], region, credentials(environment))


def credentials(environment: Mapping[str, str]) -> Credentials | None:
    """Return the credentials in the environment, if they are complete."""
    access_key = environment.get("AWS_ACCESS_KEY_ID", "").strip()
    secret_key = environment.get("AWS_SECRET_ACCESS_KEY", "").strip()
    token = environment.get("AWS_SESSION_TOKEN", "").strip()
    return Credentials(access_key, secret_key, token or None) if access_key and secret_key else None


def can_sign(row: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Whether the calls to a provider are signed and there are credentials for it, as far as environment variables
    show."""
    if "signing" not in (row["auth"] or {}):
        return False
    return credentials(environment) is not None or any(environment.get(name) for name in ELSEWHERE)
