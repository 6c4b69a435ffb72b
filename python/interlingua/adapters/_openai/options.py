"""Options of both wires of OpenAI: an option with one meaning on both is carried from one wire to the other."""

from typing import Any, Final

from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._openai.writing import Target
from interlingua.canonical.endpoint import Endpoint

Request = dict[str, Any]

SHARED_MEMBERS: Final = frozenset(
    (
        "moderation",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "store",
        "stream_options",
    )
)
"""OpenAI's own members of both wires that have no canonical counterpart."""


_SIBLINGS: Final = {"openai_chat": "openai_responses", "openai_responses": "openai_chat"}
_SHARED_OPTIONS: Final = frozenset(
    ("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "store")
)


def from_sibling(request: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether a request was read from the other wire of the same provider."""
    state = request.get("provider_state") or {}
    provider = state.get("provider")
    return provider is not None and provider == endpoint.provider and state["adapter"] == _SIBLINGS[endpoint.adapter]


def carry_shared(request: dict[str, Any], body: Wire, writing: Target) -> set[tuple[str, str]]:
    """Write the options that have one meaning on both wires of a provider, and return them as pairs of adapter and name
    (spec/2-requests.md#shared-options)."""
    endpoint = writing.endpoint
    sibling = _SIBLINGS[endpoint.adapter]
    carried: set[tuple[str, str]] = set()
    options = request.get("options") or {}
    if not from_sibling(request, endpoint):
        return carried
    native_options = options.get(endpoint.adapter) or {}
    for name, value in (options.get(sibling) or {}).items():
        if (
            name in _SHARED_OPTIONS
            and name not in native_options
            and name not in endpoint.dialect.get("unsupported", ())
        ):
            body[name] = value
            carried.add((sibling, name))
            message = "both wires of the provider have this member"
            writing.loss.move(
                ("options", sibling, name),
                ("options", endpoint.adapter, name),
                "foreign_options",
                "representation",
                message,
            )
    return carried
