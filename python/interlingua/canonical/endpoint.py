"""Who is on the other side of a wire, as a value: adapters take it, the registry makes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one provider behind one wire protocol.

    `adapter` names the wire protocol, `provider` the row of the registry (None when not known),
    `model` the provider's own name of the model (None: take it from the request).
    `dialect` holds the provider's switches of the wire, `capabilities` what the model takes;
    an absent capability means that nothing is known against it.
    """

    adapter: str
    provider: str | None = None
    model: str | None = None
    dialect: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    capabilities: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)

    def owns(self, state: Mapping[str, Any]) -> bool:
        """Whether a provider state may be replayed here: same adapter, and the same provider as far as both are known."""
        if state["adapter"] != self.adapter:
            return False
        provider = state.get("provider")
        if provider is None or self.provider is None or provider == self.provider:
            return True
        return self._boundary(provider) == self._boundary(self.provider)

    def _boundary(self, provider: str) -> str:
        # clouds that host another provider's models replay its state, e.g. Anthropic's on Vertex
        return self.dialect.get("same_state_as", {}).get(provider, provider)

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates here."""
        return {"adapter": self.adapter, "provider": self.provider, **members}

    def model_id(self, name: str | None) -> str | None:
        """The canonical id of a model of this endpoint: provider:name."""
        return f"{self.provider or self.adapter}:{name}" if name else None
