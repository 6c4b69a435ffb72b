"""
Where a provider is and with what key: base URLs, DSNs and keys, all from an environment that is an argument.

A DSN is `scheme://[token@]host[/path]`. The scheme names the row that it is a copy of.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from interlingua.canonical.endpoint import Endpoint, origin_of
from interlingua.canonical.errors import InvalidRequest
from interlingua.registry.names import dsn_variable

DSN_PREFIX = "LLM_"
_LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider's address and the headers that every call carries. The headers hold the key and are not printed.

    `bound` says that state which comes over it means nothing at another host or with another key; a `boundary` names
    what stands for the key, where keys change or several mean the same.
    """

    provider: str
    base_url: str | None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    bound: bool = False
    boundary: str | None = field(default=None, repr=False)

    def url(self, path: str) -> str:
        """The address of a wire's path. A version that both end and begin with stands once.

        Raises `InvalidRequest` when the provider has no address.
        """
        if self.base_url is None:
            raise InvalidRequest(f"the provider {self.provider!r} has no base URL; set one in the environment")
        base, path = self.base_url.rstrip("/"), "/" + path.lstrip("/")
        first = path.split("/", 2)[1]
        if base.endswith("/" + first):
            path = path[len(first) + 1 :]
        return base + path

    @property
    def origin(self) -> str | None:
        """Where bound state of this connection belongs: provider, host and key, of which the text shows none."""
        if not self.bound:
            return None
        host = (self.base_url or "").partition("://")[2].partition("/")[0].lower()
        key = "".join(value.rpartition(" ")[2] for value in self.headers.values())
        return origin_of(self.provider, host, self.boundary or key)

    def located(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint as it is called over this connection: with its origin, where state is bound to one."""
        return replace(endpoint, origin=self.origin) if self.bound else endpoint


@dataclass(frozen=True, slots=True)
class Dsn:
    """A parsed DSN. The token is not printed."""

    scheme: str
    host: str
    path: str
    token: str | None = field(default=None, repr=False)


def parse_dsn(text: str, where: str) -> Dsn:
    """Reads a DSN: split at the first `://`, then at the first `@`; trailing slashes are cut.

    Raises `InvalidRequest` naming `where` it stands, never its text, which may hold a key.
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
    """The row of a provider that a DSN describes: the row of its scheme, elsewhere. Holds no token.

    Raises `InvalidRequest` when no row has the scheme.
    """
    schemes = {scheme: name for name, row in rows.items() for scheme in row.get("dsn", {}).get("schemes", ())}
    like = schemes.get(dsn.scheme)
    if like is None:
        raise InvalidRequest(f"{where} has the unknown scheme {dsn.scheme!r}; there are {', '.join(sorted(schemes))}")
    row = rows[like]
    loopback = dsn.host.rsplit(":", 1)[0] in _LOOPBACK or dsn.host in _LOOPBACK
    transport = "http" if loopback else row["dsn"]["transport"]
    base_url = f"{transport}://{dsn.host}{dsn.path or row['dsn']['path']}"
    auth = row["auth"] and {**row["auth"], "env": [], "required": row["auth"]["required"] and dsn.token is None}
    # the base URLs of the environment belong to the original, and so do the addresses of its other wires
    here = {"base_url": base_url, "base_url_env": {}, "other_wires": {}, "auth": auth}
    return {**row, **here, "like": like, "dsn_variable": where}


def dsn_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names of providers, lower case, and the variables that hold their DSNs, in order."""
    for variable in sorted(environment):
        if variable.startswith(DSN_PREFIX) and len(variable) > len(DSN_PREFIX) and "://" in environment[variable]:
            yield variable[len(DSN_PREFIX) :].lower(), variable


def base_url(name: str, row: Mapping[str, Any], adapter: str | None, environment: Mapping[str, str]) -> str | None:
    """The address of a provider for one wire: the environment's, else the row's. Raises `InvalidRequest`."""
    other: Mapping[str, Any] | None = row.get("other_wires", {}).get(adapter)
    for variable, suffix in row.get("base_url_env", {}).items():
        if given := environment.get(variable, "").strip().rstrip("/"):
            address = urlsplit(given)
            if address.scheme not in ("http", "https") or not address.netloc:
                raise InvalidRequest(f"{variable} of provider {name!r} must begin with http:// or https://")
            if other is not None:  # the same server: the path of one wire gives way to that of the other
                return given.removesuffix(urlsplit(row["base_url"]).path) + urlsplit(other["base_url"]).path
            return given if given.endswith(suffix) else given + suffix
    return row["base_url"] if other is None else other["base_url"]


def headers(row: Mapping[str, Any], adapter: str | None, key: str | None) -> dict[str, str]:
    """The headers that show the key on one wire; none without a key, or where none is wanted."""
    if not key or not row["auth"]:
        return {}
    auth = {**row["auth"], **row.get("other_wires", {}).get(adapter, {}).get("auth", {})}
    return {auth["header"]: auth["prefix"] + key}


def boundary(name: str, environment: Mapping[str, str]) -> str | None:
    """What stands for a provider's key in the origin of its state: `LLM_<NAME>_ORIGIN`, unless that is a DSN."""
    named = environment.get(f"{dsn_variable(name)}_ORIGIN", "").strip()
    return named if named and "://" not in named else None


def key(row: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """The key of a provider: from its DSN, else from the first of its variables that is set."""
    if variable := row.get("dsn_variable"):
        return parse_dsn(environment[variable], variable).token if variable in environment else None
    auth = row["auth"]
    names: list[str] = auth["env"] if auth else []
    return next((value for name in names if (value := environment.get(name, "").strip())), None)
