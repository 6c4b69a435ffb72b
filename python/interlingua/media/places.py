"""The places of media in a request, and a copy of a request with other values in some of these places."""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar, cast

import pybase64

from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path, pointer
from interlingua.canonical.magic import sniff
from interlingua.canonical.validate import validate

Data = dict[str, Any]
R = TypeVar("R")
"""A request as plain data or as `Request`."""

_DEEPEST = 100  # steps from the request to a block; a report could not be applied much deeper


class Place(NamedTuple):
    """A block that holds a medium: its path, its message, and whether it must not be dropped."""

    path: Path
    block: Data
    message: Data
    critical: bool


def checked(request: Any) -> Data:
    """Return the data of a request, plain data or a `Request`. Raises `InvalidRequest` when it is not canonical."""
    plain = getattr(request, "plain", None)
    data: Any = plain() if callable(plain) else request
    if not isinstance(data, dict):
        raise InvalidRequest(f"a request must be plain data or a Request, not {type(request).__name__}", path="")
    try:
        validate(data)
    except RecursionError:
        raise InvalidRequest("the value is nested too deeply") from None
    return data


def like(request: R, data: Data, changed: Data) -> R:
    """Return changed data of a request in the type of the given request, which is returned itself without a change."""
    if changed is data:
        return request
    return cast("R", changed) if isinstance(request, dict) else cast("Any", type(request)).of(changed)


def places(request: Data) -> Iterator[Place]:
    """Yield every medium of a request in order: in messages, in tool results, in documents of blocks."""
    for position, message in enumerate(request["messages"]):
        critical = bool(message.get("critical"))
        waiting = _blocks(message["content"], ("messages", position, "content"), critical)
        while waiting:
            path, block, critical = waiting.pop()
            if len(path) > _DEEPEST:
                raise InvalidRequest("the blocks are nested too deeply", path=pointer(path[:4]))
            match block["type"]:
                case "image" | "audio" | "video":
                    yield Place(path, block, message, critical)
                case "document":
                    yield Place(path, block, message, critical)
                    if block["source"]["kind"] == "blocks":
                        waiting += _blocks(block["source"].get("content") or [], (*path, "source", "content"), critical)
                case "tool_result":
                    waiting += _blocks(block["content"], (*path, "content"), critical)
                case _:
                    pass


def _blocks(blocks: list[Data], path: Path, critical: bool) -> list[tuple[Path, Data, bool]]:
    """Return the blocks with their places, the last one first, because it is cheap to take from the end of a list."""
    return [
        ((*path, at), blocks[at], critical or bool(blocks[at].get("critical"))) for at in range(len(blocks) - 1, -1, -1)
    ]


def with_values(request: Data, values: dict[Path, Any]) -> Data:
    """Return the request with other values in some places. Only the objects and lists on the way to them are copied."""
    copied: dict[Path, Any] = {}
    for path, value in values.items():
        holder = _copied((), request, copied)
        for depth, step in enumerate(path[:-1]):
            holder[step] = holder = _copied(path[: depth + 1], holder[step], copied)
        holder[path[-1]] = value
    return copied.get((), request)


def _copied(path: Path, value: Any, copied: dict[Path, Any]) -> Any:
    if path not in copied:
        copied[path] = value.copy()
    return copied[path]


def decoded(place: Place) -> bytes:
    """Return the bytes of a base64 source. Raises `InvalidRequest` when the data is not base64."""
    try:
        return pybase64.b64decode(place.block["source"]["data"], validate=True)
    except (KeyError, ValueError):
        raise InvalidRequest(
            "the data is not base64 text (standard alphabet, padded); encode the bytes again",
            path=pointer((*place.path, "source", "data")),
        ) from None


def mismatches(request: Any) -> list[dict[str, str]]:
    """Return the places where the declared media type is not that of the bytes: violations of the rule `media_type`.

    Only bytes (sources of kind base64) are inspected, and only types that `sniff` knows for this kind of block count.
    Raises `InvalidRequest` when the request is not canonical.
    """
    mismatched: list[dict[str, str]] = []
    for place in places(checked(request)):
        if place.block["source"]["kind"] != "base64":
            continue
        media_type = fitting_type(place.block["type"], decoded(place)[:4096])
        if media_type is not None and not same_type(media_type, place.block.get("media_type")):
            message = f"the bytes are {media_type}, but another media type is declared"
            mismatched.append({"rule": "media_type", "path": pointer((*place.path, "media_type")), "message": message})
    return mismatched


def fitting_type(kind: str, data: bytes) -> str | None:
    """Return the media type of bytes if a block of this kind can have it; else None.

    A container can hold sound or pictures or both, so its bytes do not overrule the type of the block.
    """
    media_type = sniff(data)
    if media_type is None:
        return None
    main = media_type.partition("/")[0]
    return media_type if main == ("application" if kind == "document" else kind) else None


_SYNONYMS = {
    "image/jpg": "image/jpeg",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-flac": "audio/flac",
    "image/x-ms-bmp": "image/bmp",
}


def plain_type(media_type: str | None) -> str | None:
    """Return a media type without parameters, in lower case, with its registered name."""
    if media_type is None:
        return None
    bare = media_type.partition(";")[0].strip().lower()
    return _SYNONYMS.get(bare, bare)


def same_type(one: str, other: str | None) -> bool:
    """Whether two media types have the same meaning."""
    return plain_type(one) == plain_type(other)
