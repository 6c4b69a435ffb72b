"""
The registry: providers, models, prices and vocabularies, all of them data (spec/registry).

The functions of this module use the shared registry, which reads the data files once, at the first call, and uses the
process environment. Create a `Registry` to use other data or another environment.

    >>> endpoint(model="anthropic:claude-sonnet-4-6").adapter
    'anthropic_messages'
    >>> cost({"input_tokens": 8, "output_tokens": 42}, price("anthropic:claude-sonnet-4-6", "2026-05-08"))
    Decimal('0.000654')
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, TypeVar, cast

from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.spec_files import spec_file
from interlingua.registry import connection as _connection
from interlingua.registry import names, prices, signing
from interlingua.registry.connection import Connection
from interlingua.registry.names import ModelName, Resolver
from interlingua.registry.prices import Price, cost

__all__ = [
    "Connection",
    "ModelName",
    "Price",
    "Registry",
    "capabilities",
    "configured",
    "connection",
    "cost",
    "default",
    "endpoint",
    "expand",
    "missing",
    "model",
    "models",
    "parse",
    "price",
    "price_versions",
    "priced",
    "provider",
    "providers",
    "snapshot",
    "standing",
    "vocabulary",
]

K = TypeVar("K")
V = TypeVar("V")
Row = dict[str, Any]
Connect = Callable[[Endpoint], Connection]
_MOST_REMEMBERED = 1024  # entries of one cache; callers may name any model
_NOT_ASKED: Any = object()


@cache
def data(name: str) -> Row:
    """Return a data file of the registry: the installed copy, or the one of the checkout."""
    return json.loads(spec_file("registry", f"{name}.json").read_bytes())


def _family(name: str, families: dict[str, Row]) -> Row:
    """Return what a family declares: the declarations of the family in its `like`, then its own."""
    own = {key: value for key, value in families[name].items() if key != "like"}
    return {**_family(families[name]["like"], families), **own} if "like" in families[name] else own


def _state_on(row: Row, adapter: str | None) -> Row:
    """Return what a provider's row declares about state on one of its wires."""
    return row.get("state", {}).get(adapter or row["adapter"], {})


class Registry:
    """Providers, models and prices, together with one environment.

    `providers`, `models` and `prices` replace a data file. `environment` holds keys, base URLs and `LLM_*` DSNs
    (default: that of the process). `resolvers` are called for words that are neither alias nor model.
    """

    def __init__(
        self,
        *,
        providers: Row | None = None,
        models: Row | None = None,
        prices: Row | None = None,
        environment: Mapping[str, str] | None = None,
        resolvers: Sequence[Resolver] = (),
    ) -> None:
        providers = providers or data("providers")
        models = models or data("models")
        self._rows: dict[str, Row] = providers["providers"]
        self._home: dict[str, str] = providers["home"]
        self._models: dict[str, Row] = models["models"]
        self._listed = {**self._short_names(), **self._models}
        self._families: dict[str, Row] = {name: _family(name, models["families"]) for name in models["families"]}
        self.undeclared: Row = models["undeclared"]
        self.aliases: dict[str, str] = models["aliases"]
        self._tables: dict[str, Row] = {table["version"]: table for table in (prices or data("prices"))["tables"]}
        self._newest = max(self._tables, default="")
        self._environment: Mapping[str, str] = os.environ if environment is None else environment
        self._resolvers = tuple(resolvers)
        # cached endpoints, by provider, model and adapter
        self.endpoints: dict[tuple[str | None, str | None, str | None], Endpoint] = {}
        self._spoken: dict[tuple[str, str], bool] = {}
        self._prices: dict[tuple[str, str], Price | None] = {}
        self._settled = False
        self._connections: dict[tuple[str, str | None, str | None], Connection] = {}
        self._missing: dict[tuple[str, str | None, str | None], list[str]] = {}

    def settle(self) -> None:
        """Freeze the environment as it is now: connections and missing settings are then determined once, and not for
        each call. For a process whose environment variables do not change."""
        self._environment = dict(self._environment)
        self._settled = True

    # ------------------------------------------------------------------------------------------ providers

    def provider(self, name: str) -> Row:
        """Return the row of a provider, with its `name`. Raises `InvalidRequest` when it is in no row and in no DSN."""
        row = self._rows.get(name)
        if row is None:
            variable = names.dsn_variable(name)
            if variable not in self._environment:
                raise self._unknown_provider(name)
            dsn = _connection.parse_dsn(self._environment[variable], variable)
            row = _connection.dsn_row(dsn, self._rows, variable)
        return {"name": name, **row}

    def is_provider(self, name: str) -> bool:
        """Whether a provider of this name is in a row or in a DSN."""
        return name in self._rows or names.dsn_variable(name) in self._environment

    def nearest(self, word: str) -> list[str]:
        """Return the names that an unknown word may mean, the likeliest first."""
        return names.nearest(word, self.aliases, self._models, self._rows)

    def _unknown_provider(self, name: str) -> InvalidRequest:
        from difflib import get_close_matches

        return names.unknown_provider(name, get_close_matches(name, self._rows, n=2))

    def providers(self) -> list[str]:
        """Return the names of all providers: those of the rows, then those of valid DSNs."""
        return [*self._rows, *(name for name, problem in self.dsn_providers().items() if problem is None)]

    def dsn_providers(self) -> dict[str, InvalidRequest | None]:
        """Return the providers that `LLM_*` variables describe, each with the error of its DSN, or None."""
        found: dict[str, InvalidRequest | None] = {}
        for name, variable in _connection.dsn_variables(self._environment):
            if name in self._rows:
                continue
            try:
                dsn = _connection.parse_dsn(self._environment[variable], variable)
                _connection.dsn_row(dsn, self._rows, variable)
                found[name] = None
            except InvalidRequest as problem:
                found[name] = problem
        return found

    def configured(self, provider: str) -> bool:
        """Whether a provider can be called: it has an address where it needs one, and a key where it needs one."""
        return self.is_provider(provider) and not self.missing(provider)

    def missing(self, provider: str, *, key: str | None = None, base_url: str | None = None) -> list[str]:
        """Return the settings that a provider lacks to be called, as texts that name the variables to set; empty when
        it is configured.

        A `key` and a `base_url` of the caller override those of the environment. No key is required when the address is
        not the provider's own: only the person who chose that address knows whether it needs a key.
        Raises `InvalidRequest` for an unknown provider.
        """
        asked = (provider, key, base_url)
        if (known := self._missing.get(asked)) is not None:
            return known
        found = self._lacking(provider, key, base_url)
        if self._settled:
            self._missing[asked] = found
        return found

    def _lacking(self, provider: str, key: str | None, base_url: str | None) -> list[str]:
        if not self.is_provider(provider):
            raise self._unknown_provider(provider)
        try:
            row = self.provider(provider)
            address = base_url or _connection.base_url(provider, row, None, self._environment)
            key = key or _connection.key(row, self._environment)
            elsewhere = _connection.is_elsewhere(row, address, self._environment)
        except InvalidRequest as problem:
            return [problem.message]
        auth = row["auth"]
        if auth is None:
            return []
        wanted: list[str] = []
        if address is None:
            wanted.append(f"no address: set {' or '.join(_connection.address_variables(row, self._environment))}")
        if auth["required"] and key is None and not elsewhere and not signing.can_sign(row, self._environment):
            variable = row.get("dsn_variable")
            way = f"write scheme://key@host into {variable}" if variable else f"set {' or '.join(auth['env'])}"
            wanted.append(f"no key: {way}")
        return wanted

    def standing(self, provider: str) -> Row:
        """Return the settings of a provider, for display: wires, address, variables, what is missing. Contains no key.

        `needs_key` is the value in its row; `missing` is empty when it can be called. Raises `InvalidRequest` for an
        unknown provider.
        """
        row = self.provider(provider)
        try:
            address = _connection.base_url(provider, row, None, self._environment)
        except InvalidRequest:
            address = None  # `missing` reports it
        missing = self.missing(provider)
        return {
            "name": provider,
            "title": row["title"],
            "adapters": [row["adapter"], *row.get("other_wires", {})],
            "base_url": _connection.shown(address),
            "address_variables": _connection.every_address_variable(row),
            "needs_key": bool(row["auth"] and row["auth"]["required"]),
            "key_variables": _connection.key_variables(row),
            "signing": row["auth"]["signing"]["scheme"] if row["auth"] and "signing" in row["auth"] else None,
            "local": bool(row.get("local")),
            "models": sum(1 for model in self._models if model.partition(":")[0] == provider),
            "configured": not missing,
            "missing": missing,
        }

    def key_variable(self, provider: str) -> str | None:
        """Return the variable that holds the key of a provider; None when there is no key. Raises `InvalidRequest` for
        an unknown provider."""
        return _connection.key_variable(self.provider(provider), self._environment)

    def connection(self, provider: str, adapter: str | None = None, *, key: str | None = None) -> Connection:
        """Return address and headers for calling a provider over one of its wires, with `key` or that of the
        environment.

        A missing key is no error here (see `missing`). Raises `InvalidRequest` for an unknown provider and for a
        malformed base URL.
        """
        asked = (provider, adapter, key)
        if (known := self._connections.get(asked)) is not None:
            return known
        found = self._connection(provider, adapter, key)
        if self._settled:
            self._connections[asked] = found
        return found

    def _connection(self, provider: str, adapter: str | None, key: str | None) -> Connection:
        row = self.provider(provider)
        address = _connection.base_url(provider, row, adapter, self._environment)
        key = key or _connection.key(row, self._environment)
        signed = None if key else signing.signing(row, address, self._environment)
        bound = _state_on(row, adapter).get("bound_to") == "credential"
        boundary = _connection.boundary(provider, self._environment) if bound else None
        variables = tuple(_connection.address_variables(row, self._environment))
        return Connection(provider, address, _connection.headers(row, adapter, key), signed, bound, boundary, variables)

    # ------------------------------------------------------------------------------------------ models

    def endpoint(
        self, *, provider: str | None = None, model: str | None = None, adapter: str | None = None
    ) -> Endpoint:
        """Return the endpoint: the adapter, the provider's dialect, and what the model takes.

        Without `provider`, a `model` written as `provider:name` (or an alias) names it; else it is the home provider of
        the wire. A provider that is in no row is accepted when `adapter` is given. Raises `InvalidRequest` otherwise.
        """
        asked = (provider, model, adapter)
        if asked in self.endpoints:
            return self.endpoints[asked]
        found = self._endpoint(*self._at(provider, model, adapter), adapter)
        if found.provider in self._rows:  # the DSN of any other provider may change
            _remember(self.endpoints, asked, found)
        return found

    def _endpoint(self, provider: str | None, name: str | None, adapter: str | None) -> Endpoint:
        row = self._row_for(provider, adapter)
        if row is None:
            return Endpoint(adapter or "", provider, name)
        entry = self._entry(ModelName(provider or "", name), row) if name else {}
        wire = adapter or self._wire(row, entry, name)
        spoken = row if wire == row["adapter"] else row.get("other_wires", {}).get(wire, {})
        return Endpoint(
            wire,
            provider,
            name,
            {**spoken.get("dialect", {}), **entry.get("dialect", {})},
            self._declared(row, entry),
        )

    def _at(self, provider: str | None, model: str | None, adapter: str | None) -> tuple[str | None, str | None]:
        if provider is not None:
            return provider, model.removeprefix(f"{provider}:") if model else None
        home = self._home.get(adapter) if adapter else None
        if model is None:
            if adapter is None:
                raise InvalidRequest("name a provider, a model or an adapter")
            return home, None
        written = names.split(model)
        if written is not None and self.is_provider(written.provider) and self._means(written, model, adapter):
            return written
        if adapter is not None and model not in self.aliases:
            return home, model  # the wire is given, so the name is the provider's own, with any marks in it
        return self.parse(model)

    def _means(self, written: ModelName, text: str, adapter: str | None) -> bool:
        """Whether a text means this provider and name. On another provider's wire, `anthropic/claude` is a model name
        of an aggregator."""
        if adapter is None or text == str(written):
            return True
        row = self.provider(written.provider)
        return adapter == row["adapter"] or adapter in row.get("other_wires", {})

    def _row_for(self, provider: str | None, adapter: str | None) -> Row | None:
        if provider is not None and self.is_provider(provider):
            return self.provider(provider)
        if adapter is None:
            raise self._unknown_provider(provider or "")
        return None

    def _wire(self, row: Row, entry: Row, name: str | None) -> str:
        """The wire over which a model is called when none is named: its own, that of names like its, the provider's."""
        if "adapter" in entry or name is None:
            return entry.get("adapter", row["adapter"])
        like: dict[str, str] = row.get("wires_by_name", {})
        return next((wire for pattern, wire in like.items() if re.search(pattern, name)), row["adapter"])

    def speaks(self, model: str, adapter: str) -> bool:
        """Whether a model, given by its canonical id, can be called over a wire.

        It is one of the wires of its provider, unless its row or its name demands another one
        (spec/7-routing.md#wires). Raises `InvalidRequest` for an unknown provider.
        """
        if (known := self._spoken.get((model, adapter))) is not None:
            return known
        name = self.parse(model)
        found = self._speaks(name, adapter)
        if name.provider in self._rows:  # the DSN of any other provider may change
            _remember(self._spoken, (model, adapter), found)
        return found

    def _speaks(self, name: ModelName, adapter: str) -> bool:
        row = self.provider(name.provider)
        own = self._wire(row, self._entry(name, row), name.name)
        if adapter == own:
            return True
        other = row.get("other_wires", {}).get(adapter)
        # a model whose row or name demands a wire is called only over that wire
        return own == row["adapter"] and other is not None and re.search(other.get("models", ""), name.name) is not None

    def _short_names(self) -> dict[str, Row]:
        """Return the models of providers with regions under their names without region, edition and date."""
        found: dict[str, Row] = {}
        for model, entry in self._models.items():
            provider, _, name = model.partition(":")
            regions = self._rows.get(provider, {}).get("regions", ())
            for way in names.written_ways(name, regions) if regions else ():
                found.setdefault(f"{provider}:{way}", entry)
        return found

    def _entry(self, name: ModelName, row: Row) -> Row:
        """Return the row of a model, also for another written form of its name; empty when there is none.

        A provider that a DSN describes has the models of the row that it copies; a provider may host models of others.
        """
        ways = names.written_ways(name.name, row.get("regions", ()))
        for home in (row.get("like", name.provider), *row.get("models_of", ())):
            for way in ways:
                if (entry := self._listed.get(f"{home}:{way}")) is not None:
                    wire = entry.get("adapter", self._rows[home]["adapter"]) if home in self._rows else None
                    return {**entry, "adapter": wire} if wire in row.get("other_wires", {}) else entry
        return {}

    def _declared(self, row: Row, entry: Row) -> Row:
        family = self._families[entry["family"]] if "family" in entry else {}
        return {**row.get("capabilities", {}), **family, **entry.get("capabilities", {})}

    def capabilities(self, model: str) -> Row:
        """Return the declared capabilities of a model: those of its provider, of its family, and its own; later ones
        win.

        An absent member means that nothing is known against it; for routing the registry's `undeclared` is used.
        """
        name = self.parse(model)
        row = self.provider(name.provider)
        return self._declared(row, self._entry(name, row))

    def model(self, model: str) -> Row:
        """Return a model: id, provider, name, title, tier, capabilities, and whether the registry knows it.

        A model that is in no row is accepted, with the declarations of its provider. An unknown provider is an
        `InvalidRequest`.
        """
        name = self.parse(model)
        row = self.provider(name.provider)
        entry = self._entry(name, row)
        rest = {key: value for key, value in entry.items() if key not in ("family", "capabilities", "dialect")}
        return {
            "id": str(name),
            "provider": name.provider,
            "name": name.name,
            "title": name.name,
            "tier": None,
            **rest,
            "adapter": self._wire(row, entry, name.name),
            "known": bool(entry),
            "capabilities": self._declared(row, entry),
        }

    def may_have(self, model: str) -> bool:
        """Return whether a provider may have a model: whether the model is listed, or nothing is known of the models of
        its provider, such as of a local one."""
        row = self.model(model)
        provider = row["provider"]
        known = any(name.partition(":")[0] == provider for name in self._models)
        return row["known"] or not known or bool(self.provider(provider).get("local"))

    def models(self, *, provider: str | None = None, capability: str | None = None) -> list[Row]:
        """Return the models of the registry in its order: all, those of a provider, or those that declare a
        capability."""
        found = [self.model(model_id) for model_id in self._models]
        return [
            model
            for model in found
            if (provider is None or model["provider"] == provider)
            and (capability is None or bool(model["capabilities"].get(capability)))
        ]

    def expand(
        self, spec: str, *, default_provider: str | None = None, aliases: Mapping[str, str] | None = None
    ) -> list[ModelName]:
        """Return the targets of a spec such as `a/x,b/y,thinking` (see `names.expand`); `aliases` override the
        registry's."""
        known = {**self.aliases, **aliases} if aliases else self.aliases
        written = names.split(spec)
        if written is not None and "," not in spec and spec not in known and written.provider in self._rows:
            return [ModelName(written.provider, written.name.strip())]  # one model, as in nearly all specs
        return names.expand(
            spec,
            known,
            self.is_provider,
            default_provider=default_provider,
            resolvers=self._resolvers,
            hint=lambda word: names.nearest(word, known, self._models, self._rows),
        )

    def parse(self, text: str, *, default_provider: str | None = None) -> ModelName:
        """Return the model of an id or an alias. Raises `InvalidRequest` also when it stands for a chain."""
        written = names.split(text.strip())
        if written is not None and text not in self.aliases and written.provider in self._rows and "," not in text:
            return written
        return names.only_one(text, self.expand(text, default_provider=default_provider))

    def from_client(self, text: str, provider: str) -> ModelName:
        """Return the model that a client of a provider's wire means: an alias, an id of any provider, or else a model
        of that provider."""
        written = names.split(text)
        if text in self.aliases or (written is not None and self.is_provider(written.provider)):
            return self.parse(text)
        return ModelName(provider, text)

    # ------------------------------------------------------------------------------------------ prices

    def price_versions(self) -> list[str]:
        """Return the versions of the price tables, the newest last."""
        return sorted(self._tables)

    def price(self, model: str, version: str | None = None) -> Price | None:
        """Return the price of a model, by id or alias, in a table (the newest by default), with the table's version;
        None when it is unpriced.

        Raises `InvalidRequest` when there is no such table, and for a word that is neither an id nor an alias.
        """
        version = version or self._newest
        known = self._prices.get((model, version), _NOT_ASKED)
        if known is not _NOT_ASKED:
            return known
        found = self._price(model, version)
        _remember(self._prices, (model, version), found)
        return found

    def _price(self, model: str, version: str) -> Price | None:
        table = self._tables.get(version)
        if table is None:
            raise InvalidRequest(f"there is no price table {version!r}; there are {', '.join(self.price_versions())}")
        name = names.split(model) or self.parse(model)
        rows = table["models"]
        ways = names.written_ways(name.name, self._rows.get(name.provider, {}).get("regions", ()))
        homes = (name.provider, *table.get("same_prices", {}).get(name.provider, ()))
        listed = (rows.get(f"{home}:{way}") for home in homes for way in ways)
        row = next((row for row in listed if row is not None), table.get("providers", {}).get(name.provider))
        return cast("Price", {"version": version, **row}) if row is not None else None

    def is_priced(self, model: str) -> bool:
        """Return whether the newest table prices each answer of a model, however long the prompt is."""
        return prices.is_complete(self.price(model))

    def priced(self, usage: Mapping[str, Any], model: str | None, version: str | None = None) -> Row:
        """Return a copy of a usage with `cost_usd` and `pricing_version`; both are null when the model is unpriced.

        A price that the provider itself reports is ignored.
        """
        # the model name that a provider reports may be any text
        known = model is not None and (model in self.aliases or names.split(model) is not None)
        price = self.price(model, version) if model is not None and known else None
        amount = prices.cost_text(usage, price)
        if price is None or amount is None:
            return {**usage, "cost_usd": None, "pricing_version": None}
        return {**usage, "cost_usd": amount, "pricing_version": price.get("version")}

    # ------------------------------------------------------------------------------------------ for the router

    @cached_property
    def _catalogue(self) -> Row:
        """The models of the rows, as the router sees them. They do not change."""
        return {model_id: _described(self.model(model_id)) for model_id in self._models}

    def snapshot(
        self,
        models: Iterable[str] = (),
        connect: Connect | None = None,
        missing: Callable[[str], Sequence[str]] | None = None,
    ) -> Row:
        """Return the registry as the router sees it: plain data that can be recorded, without keys and addresses.

        `models` adds models that are in no row. `connect` returns the connection of an endpoint and `missing` the
        settings that a provider lacks, for a caller that has keys of its own; by default both use the environment.
        """
        asked = [self.model(model) for model in models]
        return {
            "providers": {
                name: {
                    **_reachable((missing or self.missing)(name)),
                    "adapter": self.provider(name)["adapter"],
                    "wires": self._wires(name, connect or self.connection_of),
                    "capabilities": self.provider(name).get("capabilities", {}),
                }
                for name in self.providers()
            },
            "models": self._catalogue | {model["id"]: _described(model) for model in asked},
            "aliases": dict(self.aliases),
            "undeclared": dict(self.undeclared),
        }

    def connection_of(self, endpoint: Endpoint) -> Connection:
        """Return the connection of an endpoint, with the key of the environment (see `connection`)."""
        return self.connection(endpoint.provider or endpoint.adapter, endpoint.adapter)

    def _wires(self, provider: str, connect: Connect) -> Row:
        """Return what routing needs to know of the wires of a provider: whose state each takes, and how it treats
        reasoning."""
        row = self.provider(provider)
        found: Row = {}
        for adapter in dict.fromkeys((row["adapter"], *row.get("other_wires", {}), *row.get("state", {}))):
            endpoint, state = self.endpoint(provider=provider, adapter=adapter), _state_on(row, adapter)
            wire: Row = {}
            if "reasoning_replay" in state:
                wire["reasoning_replay"] = state["reasoning_replay"]
            if same := endpoint.dialect.get("same_state_as"):
                wire["same_state_as"] = same
            try:
                connection = connect(endpoint)
            except InvalidRequest:
                connection = None  # the address is invalid: no call is sent to it
            if connection is not None and connection.bound and (connection.headers or self.configured(provider)):
                wire["origin"] = connection.origin
            if wire:
                found[adapter] = wire
        return found


def _remember(known: dict[K, V], asked: K, found: V) -> None:
    if len(known) == _MOST_REMEMBERED:
        known.clear()
    known[asked] = found


def _reachable(missing: Sequence[str]) -> Row:
    return {"configured": False, "missing": list(missing)} if missing else {"configured": True}


def _described(model: Row) -> Row:
    return {name: model[name] for name in ("title", "tier", "adapter", "capabilities")}


@cache
def default() -> Registry:
    """Return the shared registry: the data files of the package, the process environment."""
    return Registry()


def endpoint(*, provider: str | None = None, model: str | None = None, adapter: str | None = None) -> Endpoint:
    """Return the endpoint of a wire, a provider or a model (see `Registry.endpoint`)."""
    return default().endpoint(provider=provider, model=model, adapter=adapter)


def provider(name: str) -> Row:
    """Return the row of a provider (see `Registry.provider`)."""
    return default().provider(name)


def providers() -> list[str]:
    """Return the names of all providers."""
    return default().providers()


def configured(name: str) -> bool:
    """Whether a provider can be called (see `Registry.configured`)."""
    return default().configured(name)


def missing(name: str) -> list[str]:
    """Return the settings that a provider lacks to be called (see `Registry.missing`)."""
    return default().missing(name)


def standing(name: str) -> Row:
    """Return the settings of a provider (see `Registry.standing`)."""
    return default().standing(name)


def connection(name: str, adapter: str | None = None, *, key: str | None = None) -> Connection:
    """Return address and headers for calling a provider (see `Registry.connection`)."""
    return default().connection(name, adapter, key=key)


def model(name: str) -> Row:
    """Return a model (see `Registry.model`)."""
    return default().model(name)


def models(*, provider: str | None = None, capability: str | None = None) -> list[Row]:
    """Return the models of the registry (see `Registry.models`)."""
    return default().models(provider=provider, capability=capability)


def capabilities(model: str) -> Row:
    """Return the declared capabilities of a model (see `Registry.capabilities`)."""
    return default().capabilities(model)


def parse(text: str, *, default_provider: str | None = None) -> ModelName:
    """Return the model of an id or an alias (see `Registry.parse`)."""
    return default().parse(text, default_provider=default_provider)


def expand(
    spec: str, *, default_provider: str | None = None, aliases: Mapping[str, str] | None = None
) -> list[ModelName]:
    """Return the targets of a spec (see `Registry.expand`)."""
    return default().expand(spec, default_provider=default_provider, aliases=aliases)


def price_versions() -> list[str]:
    """Return the versions of the price tables, the newest last."""
    return default().price_versions()


def price(model: str, version: str | None = None) -> Price | None:
    """Return the price of a model (see `Registry.price`)."""
    return default().price(model, version)


def priced(usage: Mapping[str, Any], model: str | None, version: str | None = None) -> Row:
    """Return a copy of a usage with its cost (see `Registry.priced`)."""
    return default().priced(usage, model, version)


def snapshot(models: Iterable[str] = ()) -> Row:
    """Return the registry as the router sees it (see `Registry.snapshot`)."""
    return default().snapshot(models)


def vocabulary(name: str) -> dict[str, str]:
    """Return a closed list of words with their meanings: finish_reasons, error_categories, routing_reasons,
    capabilities, …"""
    return data("vocabularies")[name]["words"]
