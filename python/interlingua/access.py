"""
The keys of the callers: who calls, which models the caller may use, how much and at what cost
(spec/11-gateway.md#keys). The gateway and the service use the same file, and the usage of a key on one counts on the
other.

Keys are compared by their SHA-256. A key has at least 128 random bits, so a digest without salt cannot be reversed. A
lookup in a table by the digest does not reveal how much of a guessed key was right.
"""

import base64
import hashlib
import hmac
import ipaddress
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.meters import Bucket, Meter, Meters, OwnMeters
from interlingua.proxies import Proxies
from interlingua.refusals import (
    Refused,
    budget_spent,
    nameless_certificate,
    no_valid_key,
    not_for_key,
    not_priced,
    too_many_unknown_keys,
    used_up,
)
from interlingua.renewal import Renewed, Unreadable

_PREFIX = "ilk_"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MEMBERS = {
    "name", "sha256", "tenant", "models", "calls_per_minute", "tokens_per_minute", "budget_usd_per_day",
    "allow_unpriced", "user_id", "team_id", "all_metrics",
}  # fmt: skip
_PRINCIPALS = {"user_id": "usr_", "team_id": "team_"}
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_SIGNING_SECRET_BYTES = 32
_FAILURES_PER_MINUTE = 20.0
_REMEMBERED = 10_000
"""How many peers with failed attempts are remembered, and how many peers with known keys."""

K = TypeVar("K")
V = TypeVar("V")
IsPriced = Callable[[str], bool]
"""Whether the price of a model is known, given by its canonical id: `Registry.is_priced`."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its name, its rights, and the tenant and the principals that it represents. None means no limit, or no
    principal."""

    name: str
    digest: str = field(repr=False)
    tenant: str
    models: tuple[str, ...] | None = None
    calls_per_minute: float | None = None
    tokens_per_minute: float | None = None
    budget_usd_per_day: Decimal | None = None
    user_id: str | None = None
    team_id: str | None = None
    allow_unpriced: bool = False
    """Whether a key with a budget may use models whose price is not known. Their calls do not count."""
    all_metrics: bool = False
    """Whether the key sees all metrics, and not only those of the keys of its tenant."""

    @property
    def principals(self) -> dict[str, str]:
        """The metadata for messages that are written with this key: those of `user_id` and `team_id` that it
        represents."""
        ids = {"user_id": self.user_id, "team_id": self.team_id}
        return {name: value for name, value in ids.items() if value is not None}

    @property
    def limited(self) -> bool:
        """Whether the usage of the key is counted."""
        limits = (self.calls_per_minute, self.tokens_per_minute, self.budget_usd_per_day)
        return any(limit is not None for limit in limits)

    @property
    def needs_prices(self) -> bool:
        """Whether the key may only use models whose price is known: else its budget would not hold."""
        return self.budget_usd_per_day is not None and not self.allow_unpriced

    def covers(self, model: str) -> bool:
        """Whether the patterns of the key name a model, given by its canonical id."""
        return self.models is None or any(fnmatchcase(model, pattern) for pattern in self.models)

    def may_use(self, model: str, is_priced: IsPriced) -> bool:
        """Whether the key may use a model, given by its canonical id. `is_priced` is that of the registry."""
        return self.covers(model) and (not self.needs_prices or is_priced(model))

    def usable(self, models: Sequence[str], is_priced: IsPriced) -> tuple[str, ...]:
        """The models of a chain that the key may use, in order. Raises `Refused` when there is none."""
        found = tuple(model for model in models if self.may_use(model, is_priced))
        if found:
            return found
        unpriced = [model for model in models if self.covers(model)]
        if not unpriced:
            raise not_for_key(self.name, models)
        raise not_priced(self.name, f"the price of {', '.join(unpriced)}", "use a model that has a price")


ANYBODY = Key("anybody", "", "anybody")
"""The key of every caller where the server has no keys."""


OF_CERTIFICATE = "x509:"
"""With this begin the names of the keys of certificates."""


def key_of_certificate(subject: str) -> Key:
    """The key of a client that shows a certificate with this subject, where the server has no keys. Raises `Refused`
    for an empty subject."""
    if not subject:
        raise nameless_certificate()
    name = OF_CERTIFICATE + subject
    return Key(name, "", name)


def new_key() -> str:
    """A new random key with 256 bits."""
    return _PREFIX + secrets.token_urlsafe(32)


def digest(key: str) -> str:
    """The SHA-256 of a key, which a file of keys holds in place of the key."""
    return hashlib.sha256(key.encode()).hexdigest()


def access_key_id(digest: str) -> str:
    """The id by which AWS's clients name a key: 20 characters that are derived from its digest and reveal nothing of
    the key."""
    return "ILKA" + base64.b32encode(bytes.fromhex(digest)[:10]).decode()


def signing_key(secret: bytes, digest: str) -> str:
    """The secret with which AWS's clients sign, in place of the key. It is derived from the signing secret of the
    server and the digest of the key, so that the file of keys alone enables nobody to sign."""
    return base64.urlsafe_b64encode(hmac.digest(secret, b"sigv4:" + digest.encode(), "sha256")).decode().rstrip("=")


def read_signing_secret(file: Path) -> bytes:
    """Read the signing secret in a file. Raises `InvalidRequest` for a file that cannot be read or a secret that is too
    short."""
    try:
        secret = file.read_bytes().strip()
    except OSError as problem:
        why = problem.strerror or type(problem).__name__
        raise InvalidRequest(f"cannot read the signing secret in {file}: {why}") from None
    if len(secret) < _SIGNING_SECRET_BYTES:
        raise InvalidRequest(
            f"the signing secret in {file} has fewer than {_SIGNING_SECRET_BYTES} bytes; "
            f"openssl rand -base64 {_SIGNING_SECRET_BYTES} makes one"
        )
    return secret


def read_keys(file: Path) -> list[Key]:
    """Read the keys of a file. Raises `InvalidRequest` with the path of the error."""
    try:
        return keys_of(json.loads(file.read_bytes()))
    except OSError as problem:
        raise Unreadable(f"cannot read the keys in {file}: {problem.strerror or type(problem).__name__}") from None
    except InvalidRequest as problem:
        raise InvalidRequest(f"{file}: {problem.message}", path=problem.path) from None


def keys_of(content: Any) -> list[Key]:
    """The keys of the content of a file. Raises `InvalidRequest` with the path of the error."""
    rows: Any = content.get("keys") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise InvalidRequest('must hold {"keys": [...]}', path="/keys")
    if not rows:
        # without keys anyone may call, and an operator who names a file does not mean that
        raise InvalidRequest("holds no key; interlingua key NAME makes one", path="/keys")
    keys = [_key(row, f"/keys/{position}") for position, row in enumerate(rows)]
    for member in ("name", "digest"):
        seen: set[str] = set()
        for position, value in enumerate(getattr(key, member) for key in keys):
            if value in seen:
                member_name = "sha256" if member == "digest" else member
                raise InvalidRequest(f"two keys have the same {member_name}", path=f"/keys/{position}/{member_name}")
            seen.add(value)
    return keys


def _key(row: Any, path: str) -> Key:
    if not isinstance(row, dict):
        raise InvalidRequest("a key must be an object", path=path)
    for name in row:
        if name not in _MEMBERS:
            raise InvalidRequest(
                f"a key has no member {name}; it has {', '.join(sorted(_MEMBERS))}", path=f"{path}/{name}"
            )
    name, sha256 = row.get("name"), row.get("sha256")
    if not isinstance(name, str) or not name or not name.isprintable():
        raise InvalidRequest("a key needs a name, a text of printable characters", path=f"{path}/name")
    if not isinstance(sha256, str) or not _DIGEST.fullmatch(sha256):
        raise InvalidRequest("a key needs its SHA-256: 64 hexadecimal digits", path=f"{path}/sha256")
    tenant = row.get("tenant", name)
    if not isinstance(tenant, str) or not tenant or not tenant.isprintable():
        raise InvalidRequest("a tenant must be a text of printable characters", path=f"{path}/tenant")
    models = row.get("models")
    if models is not None and not (isinstance(models, list) and all(isinstance(model, str) for model in models)):
        raise InvalidRequest("models must be a list of patterns, such as anthropic:*", path=f"{path}/models")
    return Key(
        name,
        sha256,
        tenant,
        None if models is None else tuple(models),
        _limit(row, "calls_per_minute", path),
        _limit(row, "tokens_per_minute", path),
        _budget(row, path),
        *(_principal(row, name, path) for name in _PRINCIPALS),
        allow_unpriced=_allow_unpriced(row, path),
        all_metrics=_flag(row, "all_metrics", path),
    )


def _principal(row: Mapping[str, Any], name: str, path: str) -> str | None:
    value, prefix = row.get(name), _PRINCIPALS[name]
    if value is None:
        return None
    if not isinstance(value, str) or not value.startswith(prefix) or not _ULID.fullmatch(value.removeprefix(prefix)):
        raise InvalidRequest(f"{name} must be {prefix} followed by a ULID", path=f"{path}/{name}")
    return value


def _limit(row: Mapping[str, Any], name: str, path: str) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or value <= 0:
        raise InvalidRequest("a limit must be a number above 0", path=f"{path}/{name}")
    try:
        return float(value)
    except OverflowError:
        raise InvalidRequest("a limit is too large", path=f"{path}/{name}") from None


def _budget(row: Mapping[str, Any], path: str) -> Decimal | None:
    value = row.get("budget_usd_per_day")
    if value is None:
        return None
    try:
        amount = Decimal(value) if isinstance(value, str) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise InvalidRequest('a budget must be a decimal as text, such as "5.00"', path=f"{path}/budget_usd_per_day")
    return amount


def _flag(row: Mapping[str, Any], name: str, path: str) -> bool:
    value = row.get(name, False)
    if not isinstance(value, bool):
        raise InvalidRequest(f"{name} must be true or false", path=f"{path}/{name}")
    return value


def _allow_unpriced(row: Mapping[str, Any], path: str) -> bool:
    value = _flag(row, "allow_unpriced", path)
    if value and row.get("budget_usd_per_day") is None:
        raise InvalidRequest("allow_unpriced needs a budget_usd_per_day beside it", path=f"{path}/allow_unpriced")
    return value


class Guesses:
    """The failed attempts of each peer, and the known keys that each peer has shown.

    A peer is an IPv4 address or an IPv6 network of 64 bits. When a peer has failed too often, only keys that it has
    shown successfully before are checked: so a guesser does not lock out those who work behind the same address. Only
    the last peers, and the last keys of peers, are remembered, so that the memory is limited.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, Bucket] = OrderedDict()
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def check(self, peer: str, digest: str) -> None:
        """Raises `Refused` when a key with this digest must not be checked."""
        peer = _peer_of(peer)
        bucket = self._failures.get(peer)
        if bucket is None or (peer, digest) in self._known:
            return
        bucket.refill(_FAILURES_PER_MINUTE, self._clock())
        if bucket.left < 1:
            wait = round(bucket.wait(_FAILURES_PER_MINUTE, 1.0), 3)
            raise too_many_unknown_keys(wait)

    def count_failure(self, peer: str) -> None:
        """Count a failed attempt."""
        peer = _peer_of(peer)
        now = self._clock()
        bucket = self._failures.get(peer) or Bucket(_FAILURES_PER_MINUTE, now)
        bucket.refill(_FAILURES_PER_MINUTE, now)
        bucket.left -= 1
        _remember(self._failures, peer, bucket)

    def remember_key(self, peer: str, digest: str) -> None:
        """Remember that a peer has shown a key of the server."""
        _remember(self._known, (_peer_of(peer), digest), None)


def _remember(entries: "OrderedDict[K, V]", name: K, value: V) -> None:
    entries[name] = value
    entries.move_to_end(name)
    if len(entries) > _REMEMBERED:
        entries.popitem(last=False)


@lru_cache(maxsize=1024)
def _peer_of(peer: str) -> str:
    """The peer of an address. An IPv6 address counts as its network, because its owner has the whole network."""
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if address.version == 4:
        return peer
    mapped = address.ipv4_mapped
    return str(mapped) if mapped is not None else str(ipaddress.ip_network((address, 64), strict=False))


class Keys:
    """The keys of a server, by the SHA-256 and by the access key id of each."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self.by_digest = {key.digest: key for key in keys}
        self.by_id = {access_key_id(digest): key for digest, key in self.by_digest.items()}


def keys_of_file(file: Path, check: Callable[[list[Key]], None] = lambda _: None) -> Renewed[Keys]:
    """The keys of a file, which is read again when it changes. Raises what `read_keys` raises when it is read first;
    later, the keys before stay in use. `check` gets the keys whenever they were read."""

    def read() -> Keys:
        keys = read_keys(file)
        check(keys)
        return Keys(keys)

    return Renewed([file], read)


class Access:
    """The keys of a server, and the usage of each. Without keys, anybody may use everything.

    `keys` do not change, or are those of a file (`keys_of_file`). `clock` gives seconds, `now` the time of day. Limits
    and budgets live as long as `meters` do, by default as long as this object, also when the keys are read again. With
    a `signing_secret`, a key may also be shown by a signature. `proxies` are those that name the clients behind them.
    """

    def __init__(
        self,
        keys: Iterable[Key] | Renewed[Keys] = (),
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        signing_secret: bytes | None = None,
        meters: Meters | None = None,
        proxies: Proxies | None = None,
    ) -> None:
        self.proxies = proxies or Proxies()
        """The proxies whose word on the address of a client counts."""
        self._latest_keys = keys.latest if isinstance(keys, Renewed) else partial(_same, Keys(keys))
        self._signing_secret = signing_secret
        self._meters = meters or OwnMeters()
        self._clock = clock
        self._now = now
        self._guesses = Guesses(clock)
        self._unsaved: dict[tuple[str, date], Decimal] | None = None
        self._learned: dict[tuple[str, date], Decimal] = {}

    @property
    def open(self) -> bool:
        """Whether anybody may call."""
        return not self._latest_keys().by_digest

    @property
    def has_budgets(self) -> bool:
        """Whether a key has a budget."""
        return any(key.budget_usd_per_day is not None for key in self._latest_keys().by_digest.values())

    def key(self, text: str | None, peer: str = "") -> Key:
        """The key that a peer has shown. Raises `Refused` with the same message for a missing and an unknown key, and
        for any key when the peer has shown too many unknown ones."""
        keys = self._latest_keys().by_digest
        if not keys:
            return ANYBODY
        if not text:
            raise no_valid_key()
        key_digest = digest(text)
        self._guesses.check(peer, key_digest)
        key = keys.get(key_digest)
        if key is None:
            self._guesses.count_failure(peer)
            raise no_valid_key()
        self._guesses.remember_key(peer, key_digest)
        return key

    def signer(self, access_key: str, peer: str) -> tuple[Key, str]:
        """The key with this id, and the secret to check the signature of a call with. Raises like `key`."""
        if self._signing_secret is None:
            message = "this server accepts no signatures; send the key as a bearer token"
            raise Refused("authentication", message, 401)
        key = self._latest_keys().by_id.get(access_key)
        self._guesses.check(peer, key.digest if key is not None else "")
        if key is None:
            self._guesses.count_failure(peer)
            raise no_valid_key()
        return key, signing_key(self._signing_secret, key.digest)

    def judged(self, key: Key, peer: str, *, valid: bool) -> Key:
        """The key, when the signature of a call is `valid`. Else raises like `key`."""
        if not valid:
            self._guesses.count_failure(peer)
            raise no_valid_key()
        self._guesses.remember_key(peer, key.digest)
        return key

    def knows(self, key: Key) -> bool:
        """Whether a key that has made a call is still one of the server's, with the same tenant."""
        if not key.digest:  # of anybody, or of a certificate
            return True
        known = self._latest_keys().by_digest.get(key.digest)
        return known is not None and known.tenant == key.tenant

    def demand_known(self, key: Key) -> None:
        """Raises `Refused` for a key that is not one of the server's any more."""
        if not self.knows(key):
            raise no_valid_key()

    def now(self) -> datetime:
        """The time of day."""
        return self._now()

    def admit(self, key: Key) -> None:
        """Count a call that begins. Raises `Refused` when a limit is reached or the budget is used up."""
        if not key.limited:
            return
        now = self._clock()
        with self._meters.of(key.name) as meter:
            if key.budget_usd_per_day is not None and self._spent(meter) >= key.budget_usd_per_day:
                raise budget_spent(key.name)
            if key.tokens_per_minute is not None:
                meter.tokens = meter.tokens or Bucket(key.tokens_per_minute, now)
                meter.tokens.refill(key.tokens_per_minute, now)
                if meter.tokens.left <= 0:
                    raise used_up(key.name, "tokens", round(meter.tokens.wait(key.tokens_per_minute, 1.0), 3))
            if key.calls_per_minute is not None:
                meter.calls = meter.calls or Bucket(max(key.calls_per_minute, 1.0), now)
                meter.calls.refill(key.calls_per_minute, now)
                if meter.calls.left < 1:
                    raise used_up(key.name, "calls", round(meter.calls.wait(key.calls_per_minute, 1.0), 3))
                meter.calls.left -= 1

    def record(self, key: Key, usage: Mapping[str, Any] | None) -> None:
        """Count the usage of a call: all of its tokens, cached ones included, and its cost, where it is known."""
        if usage is None:
            return
        cost = Decimal(usage.get("cost_usd") or 0)
        if self._unsaved is not None and cost and key.digest:
            unsaved = key.name, self.today
            self._unsaved[unsaved] = self._unsaved.get(unsaved, Decimal(0)) + cost
        if not key.limited:
            return
        with self._meters.of(key.name) as meter:
            if meter.tokens is not None:
                meter.tokens.left -= tokens(usage)
            self._spent(meter)
            meter.spent += cost

    @property
    def today(self) -> date:
        """The day of budgets, UTC."""
        return self._now().astimezone(UTC).date()

    def take_spending(self) -> dict[tuple[str, date], Decimal]:
        """What keys have spent since this was called last, by name and day, in USD; for a store that all servers
        share. What was spent before the first call is not in it."""
        taken, self._unsaved = self._unsaved or {}, {}
        return taken

    def put_spending_back(self, amounts: Mapping[tuple[str, date], Decimal]) -> None:
        """Give back what was taken and could not be stored."""
        unsaved = self._unsaved = self._unsaved or {}
        for place, amount in amounts.items():
            unsaved[place] = unsaved.get(place, Decimal(0)) + amount

    def learn_spending(self, totals: Mapping[str, Decimal], day: date) -> None:
        """Learn what keys have spent on a day, by name, in USD, at all servers of the store."""
        for name, total in totals.items():
            if self._learned.get((name, day)) == total:
                continue
            with self._meters.of(name) as meter:
                if meter.day < day:
                    meter.day, meter.spent = day, Decimal(0)
                if meter.day == day:
                    meter.spent = max(meter.spent, total)  # what is not stored yet is only here
        self._learned = {(name, day): total for name, total in totals.items()}

    def _spent(self, meter: Meter) -> Decimal:
        today = self.today
        if meter.day != today:
            meter.day, meter.spent = today, Decimal(0)
        return meter.spent


def _same(keys: Keys) -> Keys:
    return keys


_BUCKETS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_creation_input_tokens")


def tokens(usage: Mapping[str, Any]) -> int:
    """The number of all tokens of a usage; its buckets are disjoint (spec/5-usage-and-cost.md)."""
    return sum(usage.get(bucket) or 0 for bucket in _BUCKETS)
