"""Media types and image dimensions, recognized from the first bytes of a medium (spec/10-media.md#sniff)."""

import re
import struct
from collections.abc import Callable

PNG = "image/png"
JPEG = "image/jpeg"
GIF = "image/gif"
WEBP = "image/webp"
BMP = "image/bmp"
TIFF = "image/tiff"
HEIC = "image/heic"
HEIF = "image/heif"
AVIF = "image/avif"

_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"%PDF-", "application/pdf"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
)

_RIFF = {b"WEBP": WEBP, b"WAVE": "audio/wav"}

# brands of an ISO base media file, the most specific first: the codec of an image is more specific than its container
_BRANDS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"avi[fs]"), AVIF),
    (re.compile(rb"hei[cxms]|hev[cxms]"), HEIC),
    (re.compile(rb"m[is]f1|mif2|heif"), HEIF),
    (re.compile(rb"M4[AB] "), "audio/mp4"),
    (re.compile(rb"qt  "), "video/quicktime"),
    (re.compile(rb"iso[m1-9]|mp4[12]|avc1|M4V |MSNV|dash|cmf.|3g[p2]."), "video/mp4"),
)

_BITMAP_HEADERS = frozenset((12, 40, 52, 56, 64, 108, 124))


def sniff(data: bytes) -> str | None:
    """Return the media type that the first bytes indicate; None if the table does not have it. Never raises.

    The table has PNG, JPEG, GIF, WebP, HEIC and HEIF, AVIF, BMP, TIFF, PDF, WAV, MP3, Ogg, FLAC, MP4, QuickTime, WebM
    and Matroska.
    """
    for start, media_type in _STARTS:
        if data.startswith(start):
            return media_type
    if data.startswith(b"RIFF"):
        return _RIFF.get(data[8:12])
    if data[4:8] == b"ftyp":
        return _iso(data)
    if data.startswith(b"OggS"):
        return "video/ogg" if b"\x80theora" in data[:256] else "audio/ogg"
    if data.startswith(b"\x1a\x45\xdf\xa3"):
        return _matroska(data[:256])
    if data.startswith(b"BM") and len(data) >= 18 and _little(data, 14, 4) in _BITMAP_HEADERS:
        return BMP
    return "audio/mpeg" if _is_mpeg_audio(data) else None


def _iso(data: bytes) -> str | None:
    # the major brand comes first, then a version number, then the compatible brands
    end = min(int.from_bytes(data[:4], "big"), 256)
    others = [data[place : place + 4] for place in range(16, end - 3, 4)]
    # these two mean only that the file is an image; the other brands name its kind
    major = [] if data[8:12] in (b"mif1", b"msf1") else [data[8:12]]
    for brands in (major, [*others, data[8:12]]):
        for pattern, media_type in _BRANDS:
            if any(pattern.fullmatch(brand) for brand in brands):
                return media_type
    return None


def _matroska(data: bytes) -> str | None:
    if b"webm" in data:
        return "video/webm"
    return "video/x-matroska" if b"matroska" in data else None


def _is_mpeg_audio(data: bytes) -> bool:
    """Whether bytes begin with a frame header of layer III: sync bits, then version, layer and rates, none reserved."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE0 != 0xE0:
        return False
    version, layer = data[1] >> 3 & 3, data[1] >> 1 & 3
    return version != 1 and layer == 1 and data[2] >> 4 != 15 and data[2] >> 2 & 3 != 3


# ---------------------------------------------------------------------------------------------------- dimensions


def dimensions(data: bytes) -> tuple[int, int] | None:
    """Return width and height from the header of an image; None for a broken header or another format. Never raises."""
    read = _DIMENSIONS.get(sniff(data) or "")
    if read is None:
        return None
    try:
        width, height = read(data)
    except (IndexError, struct.error, ValueError):
        return None
    return (width, height) if width > 0 and height > 0 else None


def _little(data: bytes, at: int, size: int) -> int:
    if len(data) < at + size:
        raise ValueError("the header is cut off")
    return int.from_bytes(data[at : at + size], "little")


def _png(data: bytes) -> tuple[int, int]:
    return struct.unpack_from(">II", data, 16)


def _gif(data: bytes) -> tuple[int, int]:
    return struct.unpack_from("<HH", data, 6)


def _bmp(data: bytes) -> tuple[int, int]:
    if _little(data, 14, 4) == 12:
        return struct.unpack_from("<HH", data, 18)
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)  # a negative height: the rows go from top to bottom


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
        case b"VP8L":
            bits = _little(data, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
        case _:
            raise ValueError("another kind of chunk")


_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD8)))
_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def _jpeg(data: bytes) -> tuple[int, int]:
    place = 2
    while True:
        if data[place] != 0xFF:
            raise ValueError("no marker where one must be")
        marker = data[place + 1]
        if marker == 0xFF:  # padding
            place += 1
        elif marker in _WITHOUT_LENGTH:
            place += 2
        elif marker in _FRAME_HEADERS:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        else:
            (length,) = struct.unpack_from(">H", data, place + 2)
            place += 2 + max(length, 2)


_DIMENSIONS: dict[str, Callable[[bytes], tuple[int, int]]] = {
    PNG: _png,
    JPEG: _jpeg,
    GIF: _gif,
    WEBP: _webp,
    BMP: _bmp,
}
