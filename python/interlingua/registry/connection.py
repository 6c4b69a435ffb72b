"""
The address and the key of a provider: base URLs, DSNs and keys, all from an environment that is an argument.

A DSN is `scheme://[token@]host[/path]`. Its scheme names the row that the provider copies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from interlingua.canonical.endpoint import Endpoint, origin_of
from interlingua.canonical.errors import InvalidRequest
from interlingua.registry.names import dsn_variable
from interlingua.registry.signing import Signing

DSN_PREFIX = "LLM_"
_LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
_PLACE = re.compile(r"^[A-Za-z0-9._:-]+$")


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider's address and the headers of every call. The headers contain the key and are not printed.

    `bound` is true when state from this connection is not valid at another host or with another key. A `boundary` is a
    name that is used instead of the key, where keys change or several are equivalent. `signing` is set when each call
    is signed because there is no key. `address_variables` may hold the address.
    """

    provider: str
    base_url: str | None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    signing: Signing | None = None
    bound: bool = False
    boundary: str | None = field(default=None, repr=False)
    address_variables: tuple[str, ...] = ()

    def url(self, path: str) -> str:
        """Return the address of a wire's path. A version at the end of the base URL and at the start of the path is
        written once.

        Raises `InvalidRequest` when the provider has no address.
        """
        if self.base_url is None:
            wanted = " or ".join(self.address_variables) or "one in the environment"
            raise InvalidRequest(f"the provider {self.provider!r} has no base URL; set {wanted}")
        base, path = self.base_url.rstrip("/"), "/" + path.lstrip("/")
        first = path.split("/", 2)[1]
        if base.endswith("/" + first):
            path = path[len(first) + 1 :]
        return base + path

    @property
    def origin(self) -> str | None:
        """The origin of bound state of this connection: a digest of provider, host and key."""
        if not self.bound:
            return None
        host = (self.base_url or "").partition("://")[2].partition("/")[0].lower()
        key = "".join(value.rpartition(" ")[2] for value in self.headers.values())
        return origin_of(self.provider, host, self.boundary or key)

    def located(self, endpoint: Endpoint) -> Endpoint:
        """Return the endpoint as it is called over this connection: with its origin, where state is bound to one."""
        return replace(endpoint, origin=self.origin) if self.bound else endpoint


@dataclass(frozen=True, slots=True)
class Dsn:
    """A parsed DSN. The token is not printed."""

    scheme: str
    host: str
    path: str
    token: str | None = field(default=None, repr=False)


def parse_dsn(text: str, where: str) -> Dsn:
    """Read a DSN: split at the first `://`, then at the first `@`; trailing slashes are cut.

    Raises `InvalidRequest`, which names `where` it is from, never its text, which may contain a key.
    """
    scheme, mark, rest = text.strip().partition("://")
    if not mark or not scheme:
        raise InvalidRequest(f"{where} is not a DSN: write scheme://[token@]host[/path]")
    token, at, address = rest.partition("@")
    if not at:
        token, address = "", rest
    host, _, path = address.partition("/")
    if not host:
        raise InvalidRequest(f"{where} names no host: write scheme://[token@]host[/path]")
    path = path.rstrip("/")
    return Dsn(scheme.lower(), host, "/" + path if path else "", token or None)


def dsn_row(dsn: Dsn, rows: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, Any]:
    """Return the row of a provider that a DSN describes: the row of its scheme, at another address. It holds no token.

    Raises `InvalidRequest` when no row has the scheme.
    """
    schemes = {scheme: name for name, row in rows.items() for scheme in row.get("dsn", {}).get("schemes", ())}
    like = schemes.get(dsn.scheme)
    if like is None:
        raise InvalidRequest(f"{where} has the unknown scheme {dsn.scheme!r}; there are {', '.join(sorted(schemes))}")
    row = rows[like]
    loopback = dsn.host.rsplit(":", 1)[0] in _LOOPBACK or dsn.host in _LOOPBACK
    transport = "http" if loopback else row["dsn"]["transport"]
    given = f"{transport}://{dsn.host}{dsn.path or row['dsn']['path']}"
    auth = row["auth"] and {**row["auth"], "env": [], "required": row["auth"]["required"] and dsn.token is None}
    others: Mapping[str, Mapping[str, Any]] = row.get("other_wires", {})
    own: str | None = row["base_url"]
    known = [own, *(other["base_url"] for other in others.values())]
    moved = {
        adapter: {**other, "base_url": _same_server(given, own, other["base_url"], known)}
        for adapter, other in others.items()
    }
    # the base URLs of the environment belong to the original
    address = _same_server(given, own, own, known)
    here = {"base_url": address, "base_url_env": {}, "places": {}, "other_wires": moved, "auth": auth}
    return {**row, **here, "like": like, "dsn_variable": where, "moved_from": own}


def dsn_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the names of providers, in lower case, and the variables that hold their DSNs, in order."""
    for variable in sorted(environment):
        if variable.startswith(DSN_PREFIX) and len(variable) > len(DSN_PREFIX) and "://" in environment[variable]:
            yield variable[len(DSN_PREFIX) :].lower(), variable


def base_url(name: str, row: Mapping[str, Any], adapter: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the address of a provider for one wire: that of the environment, else that of the row. Raises
    `InvalidRequest`."""
    others: Mapping[str, Mapping[str, Any]] = row.get("other_wires", {})
    own: str | None = row["base_url"]
    other = others.get(adapter) if adapter is not None else None
    wanted: str | None = own if other is None else other["base_url"]
    for variable, suffix in row.get("base_url_env", {}).items():
        if given := environment.get(variable, "").strip().rstrip("/"):
            address = urlsplit(given)
            if address.scheme not in ("http", "https") or not address.netloc:
                raise InvalidRequest(f"{variable} of provider {name!r} must begin with http:// or https://")
            known = [own, *(each["base_url"] for each in others.values())]
            return _same_server(given if given.endswith(suffix) else given + suffix, own, wanted, known)
    return None if wanted is None else _filled(wanted, row.get("places", {}), environment)


def is_elsewhere(row: Mapping[str, Any], address: str | None, environment: Mapping[str, str]) -> bool:
    """Whether an address has another host than the provider's own: it is a server that the caller chose."""
    own: str | None = row.get("moved_from", row["base_url"])
    if own is None or address is None:
        return False
    home = _filled(own, row.get("places", {}), environment)
    return home is None or urlsplit(home).netloc.lower() != urlsplit(address).netloc.lower()


def _same_server(given: str, own: str | None, wanted: str | None, known: Iterable[str | None]) -> str:
    """Return the address of one wire on a server, from the given address of one of the server's wires."""
    if own is None or wanted is None:
        return given
    ends = (end for base in known if base is not None and (end := _path(base)) and given.endswith(end))
    end = max(ends, key=len, default="")
    if wanted == own and end in ("", _path(own)):
        return given
    return given.removesuffix(end) + _path(wanted)


def _path(base: str) -> str:
    """Return the path of a base URL, after its last placeholder."""
    return urlsplit(base).path.rpartition("}")[2]


def _filled(base: str, places: Mapping[str, Mapping[str, Any]], environment: Mapping[str, str]) -> str | None:
    """Return the address with its placeholders filled from the environment; None while one is missing."""
    for place, definition in places.items():
        value = next(
            (value for name in definition["env"] if (value := environment.get(name, "").strip())),
            definition.get("default"),
        )
        if value is None:
            return None
        if not _PLACE.match(value):
            raise InvalidRequest(
                f"{' or '.join(definition['env'])} may contain only letters, digits and the signs - _ . :"
            )
        written: Mapping[str, str] = definition.get("written", {})
        base = base.replace(f"{{{place}}}", written.get(value, written.get("*", "{}")).replace("{}", value))
    return base


def address_variables(row: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """Return the variables of which one has to be set for an address; first those of an empty placeholder."""
    places: Mapping[str, Mapping[str, Any]] = row.get("places", {})
    empty = [
        name
        for definition in places.values()
        if "default" not in definition and not any(environment.get(name, "").strip() for name in definition["env"])
        for name in definition["env"]
    ]
    return [*empty, *row.get("base_url_env", {})]


def shown(address: str | None) -> str | None:
    """Return an address as it may be printed: without user and query, which can be secrets."""
    if address is None:
        return None
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def every_address_variable(row: Mapping[str, Any]) -> list[str]:
    """Return all variables that affect the address, set or not."""
    places: Mapping[str, Mapping[str, Any]] = row.get("places", {})
    named = [name for definition in places.values() for name in definition["env"]]
    return list(dict.fromkeys([*named, *row.get("base_url_env", {})]))


def headers(row: Mapping[str, Any], adapter: str | None, key: str | None) -> dict[str, str]:
    """Return the headers with the key for one wire; none without a key, and for a provider without one."""
    if not key or not row["auth"]:
        return {}
    auth = {**row["auth"], **row.get("other_wires", {}).get(adapter, {}).get("auth", {})}
    return {auth["header"]: auth["prefix"] + key}


def boundary(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the name that replaces a provider's key in the origin of its state: `LLM_<NAME>_ORIGIN`, unless that is a
    DSN."""
    named = environment.get(f"{dsn_variable(name)}_ORIGIN", "").strip()
    return named if named and "://" not in named else None


def key(row: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """Return the key of a provider: from its DSN, else from the first of its variables that is set."""
    variable = key_variable(row, environment)
    if variable is None:
        return None
    if variable == row.get("dsn_variable"):
        return parse_dsn(environment[variable], variable).token
    return environment[variable].strip()


def key_variable(row: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """Return the variable that holds the key of a provider; None when there is no key."""
    if variable := row.get("dsn_variable"):
        has = variable in environment and parse_dsn(environment[variable], variable).token
        return variable if has else None
    return next((name for name in key_variables(row) if environment.get(name, "").strip()), None)


def key_variables(row: Mapping[str, Any]) -> list[str]:
    """Return the variables that may hold the key of a provider: its DSN, or those of its row."""
    if variable := row.get("dsn_variable"):
        return [variable]
    return list(row["auth"]["env"]) if row["auth"] else []
