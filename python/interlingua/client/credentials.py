"""
Where a provider is and which key opens it: the registry's row, what the caller gives, and the environment, in this order
from weakest to strongest for addresses, and caller before environment for keys.

A key is looked up when a call is made, so a client can be made without any; it is never part of a repr, a log or an error.
"""

import os
from collections.abc import Mapping
from typing import Any

from interlingua import registry
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, ProviderError


class Credentials:
    """Keys and base URLs by provider. What is not given is looked up in the environment, by the names in the registry."""

    def __init__(
        self,
        keys: Mapping[str, str] | None = None,
        base_urls: Mapping[str, str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._keys = dict(keys or {})
        self._base_urls = dict(base_urls or {})
        self._environment = os.environ if environment is None else environment

    def __repr__(self) -> str:
        return f"<credentials for {', '.join(sorted(self._keys)) or 'what the environment names'}>"
