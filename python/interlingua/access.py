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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.meters import Bucket, Meter, Meters, OwnMeters
from interlingua.refusals import (
    Refused,
    budget_spent,
    nameless_certificate,
    no_valid_key,
    too_many_unknown_keys,
    used_up,
)

_PREFIX = "ilk_"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MEMBERS = {
    "name", "sha256", "tenant", "models", "calls_per_minute", "tokens_per_minute", "budget_usd_per_day", "user_id",
    "team_id",
}  # fmt: skip
_PRINCIPALS = {"user_id": "usr_", "team_id": "team_"}
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_SIGNING_SECRET_BYTES = 32
_FAILURES_PER_MINUTE = 20.0
_REMEMBERED = 10_000
"""How many peers with failed attempts are remembered, and how many peers with known keys."""

K = TypeVar("K")
V = TypeVar("V")


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

    def may_use(self, model: str) -> bool:
        """Whether the key may use a model, given by its canonical id."""
        return self.models is None or any(fnmatchcase(model, pattern) for pattern in self.models)


ANYBODY = Key("anybody", "", "anybody")
"""The key of every caller where the server has no keys."""


def key_of_certificate(subject: str) -> Key:
    """The key of a client that shows a certificate with this subject, where the server has no keys. Raises `Refused`
    for an empty subject."""
    if not subject:
        raise nameless_certificate()
    return Key(f"x509:{subject}", "", f"x509:{subject}")


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
        content = json.loads(file.read_bytes())
    except OSError as problem:
        raise InvalidRequest(f"cannot read the keys in {file}: {problem.strerror or type(problem).__name__}") from None
    except InvalidRequest as problem:
        raise InvalidRequest(f"{file}: {problem.message}", path=problem.path) from None
    rows: Any = content.get("keys") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise InvalidRequest(f'{file} must hold {{"keys": [...]}}', path="/keys")
    if not rows:
        # without keys anyone may call, and an operator who names a file does not mean that
        raise InvalidRequest(f"{file} holds no key; interlingua key NAME makes one", path="/keys")
    keys = [_key(row, f"/keys/{position}") for position, row in enumerate(rows)]
    for member in ("name", "digest"):
        values = [getattr(key, member) for key in keys]
        for position, value in enumerate(values):
            if value in values[:position]:
                member_name = "sha256" if member == "digest" else member
                raise InvalidRequest(f"two keys have the same {member_name}", path=f"/keys/{position}/{member_name}")
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
    if not isinstance(name, str) or not name:
        raise InvalidRequest("a key needs a name", path=f"{path}/name")
    if not isinstance(sha256, str) or not _DIGEST.fullmatch(sha256):
        raise InvalidRequest("a key needs its SHA-256: 64 hexadecimal digits", path=f"{path}/sha256")
    tenant = row.get("tenant", name)
    if not isinstance(tenant, str) or not tenant:
        raise InvalidRequest("a tenant must be a text", path=f"{path}/tenant")
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
    return float(value)


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


class Access:
    """The keys of a server, and the usage of each. Without keys, anybody may use everything.

    `clock` gives seconds, `now` the time of day. Limits and budgets live as long as `meters` do, by default as long as
    this object. With a `signing_secret`, a key may also be shown by a signature.
    """

    def __init__(
        self,
        keys: Iterable[Key] = (),
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        signing_secret: bytes | None = None,
        meters: Meters | None = None,
    ) -> None:
        self._keys = {key.digest: key for key in keys}
        self._signing_secret = signing_secret
        self._by_id = {} if signing_secret is None else {access_key_id(digest): digest for digest in self._keys}
        self._meters = meters or OwnMeters()
        self._clock = clock
        self._now = now
        self._guesses = Guesses(clock)

    @property
    def open(self) -> bool:
        """Whether anybody may call."""
        return not self._keys

    def key(self, text: str | None, peer: str = "") -> Key:
        """The key that a peer has shown. Raises `Refused` with the same message for a missing and an unknown key, and
        for any key when the peer has shown too many unknown ones."""
        if not self._keys:
            return ANYBODY
        if not text:
            raise no_valid_key()
        key_digest = digest(text)
        self._guesses.check(peer, key_digest)
        key = self._keys.get(key_digest)
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
        key_digest = self._by_id.get(access_key, "")
        self._guesses.check(peer, key_digest)
        if not key_digest:
            self._guesses.count_failure(peer)
            raise no_valid_key()
        return self._keys[key_digest], signing_key(self._signing_secret, key_digest)

    def judged(self, key: Key, peer: str, *, valid: bool) -> Key:
        """The key, when the signature of a call is `valid`. Else raises like `key`."""
        if not valid:
            self._guesses.count_failure(peer)
            raise no_valid_key()
        self._guesses.remember_key(peer, key.digest)
        return key

    def now(self) -> datetime:
        """The time of day."""
        return self._now()

    def admit(self, key: Key) -> None:
        """Count a call that begins. Raises `Refused` when a limit is reached or the budget is used up."""
        if not key.limited:
            return
        now = self._clock()
        with self._meters.of(key.digest) as meter:
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
        if usage is None or not key.limited:
            return
        with self._meters.of(key.digest) as meter:
            if meter.tokens is not None:
                meter.tokens.left -= tokens(usage)
            if (cost := usage.get("cost_usd")) is not None:
                self._spent(meter)
                meter.spent += Decimal(cost)

    def _spent(self, meter: Meter) -> Decimal:
        today = self._now().astimezone(UTC).date()
        if meter.day != today:
            meter.day, meter.spent = today, Decimal(0)
        return meter.spent


_BUCKETS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_creation_input_tokens")


def tokens(usage: Mapping[str, Any]) -> int:
    """The number of all tokens of a usage; its buckets are disjoint (spec/5-usage-and-cost.md)."""
    return sum(usage.get(bucket) or 0 for bucket in _BUCKETS)
