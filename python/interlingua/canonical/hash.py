"""
When two messages are the same, and the hash that says so (spec/1-values.md#equality).

Left out everywhere: what an adapter keeps for itself (`provider_raw`, `provider_state`) and the cache hint, which
change nothing that was said. The content hash also leaves out the envelope, so the same words hash alike in any session.
"""

import hashlib
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, too_deep

_NOT_COMPARED = frozenset(("provider_raw", "provider_state", "cache"))
_HASHED = ("role", "name", "content")
_FREE = frozenset(("input", "value", "extra"))


def comparable(value: Any) -> Any:
    """A value without what does not take part in equality. Free JSON (tool input, opaque items) is left whole."""
    if isinstance(value, dict):
        left = {
            key: item if key in _FREE else comparable(item) for key, item in value.items() if key not in _NOT_COMPARED
        }
        if left.get("metadata") == {}:
            del left["metadata"]  # it held nothing else
        return left
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value


def content_hash(message: Any) -> str:
    """SHA-256, as hex, of what a message says: role, name and content as canonical JSON (sorted keys, UTF-8, no spaces).

    `message` is plain data or a `Message`; anything else raises `InvalidRequest`. Equal across processes, platforms and
    key orders; it differs whenever a block, its order, the role or the name differs.
    """
    data = json.plain(message)
    if not isinstance(data, dict):
        raise InvalidRequest(f"a message is plain data or a Message, not {type(message).__name__}")
    try:
        said = {key: comparable(data[key]) for key in _HASHED if data.get(key) is not None}
    except RecursionError:
        raise too_deep() from None
    return hashlib.sha256(json.dumps_sorted(said)).hexdigest()
