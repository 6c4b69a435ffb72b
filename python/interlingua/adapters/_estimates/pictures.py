"""Estimate the tokens of pictures with the formulas that providers document, from the sizes in the headers of the
files."""

import binascii
from collections.abc import Callable
from math import ceil
from typing import Any, Final

from interlingua.canonical.magic import dimensions

Range = tuple[float, float, float]
Size = tuple[int, int]
Sight = Callable[[Size | None, str | None], Range]
"""Returns the tokens (fewest, likely, most) of a picture, by its size (None: unknown) and its detail."""

_HEADER: Final = 64
_LONG_HEADER: Final = 65_536
"""The number of characters of base64 that contain the size: of a PNG, GIF, WebP or BMP, and nearly always of a JPEG."""


def size_of(source: dict[str, Any]) -> Size | None:
    """Return the width and the height of a picture in the request, from its first bytes; None if they do not contain
    them."""
    data = source.get("data")
    if source.get("kind") != "base64" or not isinstance(data, str):
        return None
    for length in (_HEADER, _LONG_HEADER):
        try:
            head = binascii.a2b_base64(data[: min(length, len(data) // 4 * 4)])
        except binascii.Error:
            return None
        size = dimensions(head)
        if size is not None or len(data) <= length:
            return size
    return None


def wave_rate(source: dict[str, Any]) -> int | None:
    """Return the bytes per second of uncompressed sound in the request, from its header; None for any other sound."""
    data = source.get("data")
    if not isinstance(data, str) or not data.startswith("UklGR"):
        return None
    try:
        head = binascii.a2b_base64(data[:44])
    except binascii.Error:
        return None
    rate = int.from_bytes(head[28:32], "little")
    return rate if head[8:16] == b"WAVEfmt " and rate > 0 else None


def _within(size: Size, longest: float) -> tuple[float, float]:
    """Return the size scaled down so that no side is longer than `longest`."""
    scale = min(1.0, longest / max(size))
    return size[0] * scale, size[1] * scale


def tiles(base: int, tile: int) -> Sight:
    """Count a base and tiles of 512 pixels, after the picture was fitted into 2048 pixels and its shorter side into
    768."""

    def tokens(size: Size | None, detail: str | None) -> Range:
        if detail == "low":
            return base, base, base + tile
        if size is None:
            return base, base + 4 * tile, base + 8 * tile
        width, height = _within(size, 2048)
        scale = min(1.0, 768 / min(width, height))
        likely = base + tile * ceil(width * scale / 512) * ceil(height * scale / 512)
        return base, likely, likely + tile

    return tokens


def patches(weight: float, most: int = 1536, longest: int = 2048) -> Sight:
    """Count patches of 32 pixels, at most as many as the model accepts, times a weight."""

    def tokens(size: Size | None, detail: str | None) -> Range:
        if size is None:
            return 1, most * weight / 2, most * weight * 1.7
        width, height = _within(size, longest)
        count = min(ceil(width / 32) * ceil(height / 32), most)
        return min(count, 60) * 0.7, count * weight, count * weight * 1.7 + 30

    return tokens


def _squares(longest: int, most: int) -> Sight:
    """Count patches of 28 pixels, after the picture was fitted into a longest side and a number of patches."""

    def tokens(size: Size | None, detail: str | None) -> Range:
        if size is None:
            return 4, most / 2, most * 1.05 + 10
        width, height = _within(size, longest)
        likely = min(ceil(width / 28) * ceil(height / 28), most)
        return likely * 0.85 - 5, likely + 2, likely * 1.1 + 10

    return tokens


claude_sight = _squares(1568, 1568)
claude_sight_later = _squares(2576, 4784)


def mistral_sight(size: Size | None, detail: str | None) -> Range:
    """Count patches of 28 pixels, and one more token for each row."""
    if size is None:
        return 4, 1500, 3500
    width, height = _within(size, 1540)
    rows = ceil(height / 28)
    likely = (ceil(width / 28) + 1) * rows
    return likely * 0.3, likely, likely * 3.2 + 10


def flat_sight(size: Size | None, detail: str | None) -> Range:
    """Count for an unknown model: patches of 28 pixels, or a fixed number for every size."""
    if size is None:
        return 16, 700, 5000
    width, height = _within(size, 2048)
    likely = ceil(width / 28) * ceil(height / 28)
    return min(16, likely * 0.5), max(likely, 64), max(likely * 2, 1800)


_TILE: Final = 258


def gemini_sight(size: Size | None, detail: str | None) -> Range:
    """Count one tile as likely; at most the tiles into which a picture larger than 384 pixels is cut."""
    return 64, _TILE, _cut(size) * _TILE


def gemini_2_sight(size: Size | None, detail: str | None) -> Range:
    """Count the tiles into which a picture larger than 384 pixels is cut."""
    most = _cut(size) * _TILE
    return 64, 5 * _TILE if size is None else most, most


def _cut(size: Size | None) -> int:
    """Return the number of tiles of a picture, plus one for a view of the whole, after it was fitted into 3,072
    pixels."""
    if size is None:
        return 17
    if max(size) <= 384:
        return 1
    width, height = _within(size, 3072)
    side = min(max(min(width, height) // 1.5, 256.0), 768.0)
    return ceil(width / side) * ceil(height / side) + 1


def gemini_3_sight(size: Size | None, detail: str | None) -> Range:
    """Count a budget, which depends on the resolution of media and hardly on anything else."""
    return 64, 1090, 2300
