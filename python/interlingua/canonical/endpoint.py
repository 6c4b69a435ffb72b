"""Who is on the other side of a wire, as a value: adapters take it, the registry makes it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_ORIGIN_LENGTH: Final = 16


def origin_of(provider: str, host: str, credential: str) -> str:
    """Where state comes from, as a short text that shows neither host nor key: 64 bits of a SHA-256.

    Equal for the same three, different for any other; the first part keeps the digest from being one of anything else.
    """
    text = f"interlingua origin\0{provider}\0{host}\0{credential}"
    return hashlib.sha256(text.encode()).hexdigest()[:_ORIGIN_LENGTH]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one provider behind one wire protocol.

    `adapter` names the wire protocol, `provider` the row of the registry (None when not known),
    `model` the provider's own name of the model (None: take it from the request).
    `dialect` holds the provider's switches of the wire, `capabilities` what the model takes;
    an absent capability means that nothing is known against it.
    `origin` is where exactly a call goes (`origin_of`), for providers whose state is bound to that; None when it is not
    bound or not known. Who makes calls sets it.
    `state_in_ids` says that answers written here go to a client that keeps the standard members alone: what other
    providers need back rides in the ids of calls (spec/3-responses.md#carried-state). Who serves such clients sets it.
    `spellings` says of the tools that such a client offered, by name, how it spelt them: calls are spelt likewise.
    """

    adapter: str
    provider: str | None = None
    model: str | None = None
    dialect: dict[str, Any] = field(default_factory=dict)
    capabilities: dict[str, Any] = field(default_factory=dict)
    origin: str | None = None
    state_in_ids: bool = False
    spellings: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def owns(self, state: dict[str, Any]) -> bool:
        """Whether a provider state, or an opaque block, may be replayed here (spec/1-values.md#provider-state).

        The same adapter; the same origin and the same provider, each as far as both are known. Nobody else decides this.
        """
        adapter: str = state["adapter"]
        if adapter != self.adapter:
            return False
        if self.origin is not None:
            origin = state.get("origin")
            if origin is not None and origin != self.origin:
                return False
        provider: str | None = state.get("provider")
        if provider is None or self.provider is None or provider == self.provider:
            return True
        return self._boundary(provider) == self._boundary(self.provider)

    def _boundary(self, provider: str) -> str:
        # clouds that host another provider's models replay its state, e.g. Anthropic's on Vertex
        return self.dialect.get("same_state_as", {}).get(provider, provider)

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates here."""
        if self.origin is None:
            return {"adapter": self.adapter, "provider": self.provider, **members}
        return {"adapter": self.adapter, "provider": self.provider, "origin": self.origin, **members}

    def model_id(self, name: str | None) -> str | None:
        """The canonical id of a model of this endpoint: provider:name."""
        return f"{self.provider or self.adapter}:{name}" if name else None
