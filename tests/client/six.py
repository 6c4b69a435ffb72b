"""A provider that speaks all wires: the model `every:<adapter>` is asked over the wire of that name."""

from copy import deepcopy

from interlingua import adapters
from interlingua.registry import Registry, data


def every_wire() -> Registry:
    """The registry with the provider `every` in it."""
    providers, models = deepcopy(data("providers")), deepcopy(data("models"))
    dialects = {
        name: data("providers")["providers"][home].get("dialect", {}) for name, home in providers["home"].items()
    }
    providers["providers"]["every"] = {
        "title": "All wires",
        "adapter": "openai_chat",
        "base_url": None,
        "auth": {"header": "authorization", "prefix": "Bearer ", "env": ["EVERY_KEY"], "required": False},
        "dialect": dialects["openai_chat"],
        "other_wires": {
            name: {"base_url": None, "dialect": dialects[name] if name != "openai_responses" else {}}
            for name in adapters.names()
            if name != "openai_chat"
        },
    }
    for name in adapters.names():
        models["models"][f"every:{name}"] = {"adapter": name}
    return Registry(providers=providers, models=models, environment={"EVERY_KEY": "sk-every-0123"})
