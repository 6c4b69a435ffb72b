"""
The models that clients of a wire can request (spec/11-gateway.md#listed-models).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from interlingua.access import Key
from interlingua.canonical.errors import InvalidRequest
from interlingua.refusals import not_found
from interlingua.router import served

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway


@dataclass(frozen=True, slots=True)
class Model:
    """A model in a list: the name to request, and the facts about the model that answers."""

    name: str
    title: str
    provider: str
    capabilities: Mapping[str, Any]

    @property
    def max_input_tokens(self) -> int | None:
        """The context window, in tokens."""
        return self.capabilities.get("max_context_tokens")

    @property
    def max_output_tokens(self) -> int | None:
        """The longest answer, in tokens."""
        return self.capabilities.get("max_output_tokens")


def list_models(gateway: "Gateway", key: Key, adapter: str, provider: str | None) -> list[Model]:
    """The models that a key may use, by the names under which a client of this wire can request them."""
    models: dict[str, Model] = {}
    for name, target in _names(gateway, adapter, provider):
        if name not in models and (not target or key.may_use(target, gateway.registry.is_priced)):
            models[name] = _model(gateway, name, target)
    return list(models.values())


def model_named(gateway: "Gateway", key: Key, adapter: str, provider: str | None, name: str) -> Model:
    """The model with a name. Raises `Refused` when no list has it."""
    for model in list_models(gateway, key, adapter, provider):
        if model.name == name:
            return model
    raise not_found(f"there is no model {name[:200]!r}; the list of models has the names of all")


def find(gateway: "Gateway", key: Key, adapter: str, request: Request) -> Model:
    """The model that the path of a request names."""
    return model_named(gateway, key, adapter, request.path_params.get("provider"), request.path_params["id"])


def _names(gateway: "Gateway", adapter: str, provider: str | None) -> Iterator[tuple[str, str]]:
    """Names, with the canonical ids of their models."""
    registry = gateway.registry
    if provider is not None:
        gateway.generator.home(adapter, provider)  # raises the error of an unknown provider
        yield from ((row["name"], row["id"]) for row in registry.models(provider=provider))
        return
    policy = gateway.routing.policy
    aliases = {**registry.aliases, **policy.get("aliases", {})}
    for name in served.names(policy):
        entry = served.served(policy, name)
        spec = entry.spec if entry is not None else None
        yield name, str(registry.expand(spec, aliases=aliases)[0]) if spec is not None else ""
    home = registry.endpoint(adapter=adapter).provider
    usable = {name for name in registry.providers() if registry.configured(name)}
    for row in registry.models():
        if row["provider"] in usable:
            if row["provider"] == home:
                yield row["name"], row["id"]
            yield row["id"], row["id"]
    for alias in aliases:
        try:
            target = str(registry.expand(alias, aliases=aliases)[0])
        except InvalidRequest:
            continue
        if target.partition(":")[0] in usable:
            yield alias, target


def _model(gateway: "Gateway", name: str, target: str) -> Model:
    if not target:  # the slots of routing decide
        return Model(name, name, "interlingua", {})
    row = gateway.registry.model(target)
    return Model(
        name, row["title"] if name == row["name"] or name == target else name, row["provider"], row["capabilities"]
    )
