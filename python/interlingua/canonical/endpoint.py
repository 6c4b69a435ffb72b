"""The endpoint on the other side of a wire, as a value: the registry makes it, and adapters take it as an argument."""

import hashlib
from dataclasses import dataclass, field
from typing import Any, Final

_ORIGIN_LENGTH: Final = 16


def origin_of(provider: str, host: str, credential: str) -> str:
    """Return the origin of state as a short text that reveals neither host nor key: 64 bits of a SHA-256.

    It is equal for the same three arguments and different for any others. The constant prefix keeps the digest
    different from a digest that is made for another purpose.
    """
    text = f"interlingua origin\0{provider}\0{host}\0{credential}"
    return hashlib.sha256(text.encode()).hexdigest()[:_ORIGIN_LENGTH]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one provider behind one wire protocol.

    `adapter` names the wire protocol, `provider` the row of the registry (None when not known), `model` the provider's
    own name of the model (None: take it from the request).
    `dialect` holds the provider's switches of the wire, `capabilities` what the model accepts; an absent capability
    means that nothing speaks against it.
    `origin` is the exact destination of a provider call (`origin_of`), for providers whose state is bound to it. It is
    None when the state is not bound or the destination is not known. The caller of the provider sets it.
    `state_in_ids` means that responses written here are sent to a client that keeps only the standard members: the ids
    of calls carry what other providers need back (spec/3-responses.md#carried-state). The server of such clients sets
    it.
    `spellings` holds, by name, how such a client spelt the tools that it offered: their calls are spelt in the same
    way.
    """

    adapter: str
    provider: str | None = None
    model: str | None = None
    dialect: dict[str, Any] = field(default_factory=dict)
    capabilities: dict[str, Any] = field(default_factory=dict)
    origin: str | None = None
    state_in_ids: bool = False
    spellings: dict[str, dict[str, Any]] = field(default_factory=dict)

    def owns(self, state: dict[str, Any]) -> bool:
        """Whether a provider state, or an opaque block, may be replayed here (spec/1-values.md#provider-state).

        It needs the same adapter, and the same origin and the same provider, each as far as both are known. No other
        code decides this.
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
        """Return a provider state with the adapter, the provider and the origin of this endpoint."""
        if self.origin is None:
            return {"adapter": self.adapter, "provider": self.provider, **members}
        return {"adapter": self.adapter, "provider": self.provider, "origin": self.origin, **members}

    def model_id(self, name: str | None) -> str | None:
        """Return the canonical id of a model of this endpoint: provider:name."""
        return f"{self.provider or self.adapter}:{name}" if name else None
