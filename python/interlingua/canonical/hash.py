"""
Equality of messages, and the hash of their content (spec/1-values.md#equality).

Both leave out an adapter's own data (`provider_raw`, `provider_state`) and the cache hint, which do not change the
meaning of a message. The hash also leaves out the envelope, so the same content has the same hash in every session.
"""

import hashlib
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, too_deep

_NOT_COMPARED = frozenset(("provider_raw", "provider_state", "cache"))
_HASHED = ("role", "name", "content")
_FREE = frozenset(("input", "value", "extra"))


def comparable(value: Any) -> Any:
    """Return a value without the members that equality ignores. Free JSON (tool input, opaque items) stays whole."""
    if isinstance(value, dict):
        compared = {
            key: item if key in _FREE else comparable(item) for key, item in value.items() if key not in _NOT_COMPARED
        }
        if compared.get("metadata") == {}:
            del compared["metadata"]  # it held only ignored members
        return compared
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value


def content_hash(message: Any) -> str:
    """Return the SHA-256 of a message's role, name and content, as hex.

    They are hashed as canonical JSON (sorted keys, UTF-8, no spaces). `message` is plain data or a `Message`; anything
    else raises `InvalidRequest`. The hash is equal across processes, platforms and key orders; it differs whenever a
    block, the order of blocks, the role or the name differs.
    """
    data = json.plain(message)
    if not isinstance(data, dict):
        raise InvalidRequest(f"a message must be plain data or a Message, not {type(message).__name__}")
    try:
        hashed = {key: comparable(data[key]) for key in _HASHED if data.get(key) is not None}
    except RecursionError:
        raise too_deep() from None
    return hashlib.sha256(json.dumps_sorted(hashed)).hexdigest()
