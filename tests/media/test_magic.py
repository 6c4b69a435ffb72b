"""What bytes are, by how they begin: R-194."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.media import dimensions, sniff

from .pictures import FORMATS, picture


def iso(major: bytes, *compatible: bytes) -> bytes:
    """The first box of an ISO base media file."""
    body = b"ftyp" + major + b"\0\0\2\0" + b"".join(compatible)
    return struct.pack(">I", len(body) + 4) + body + b"\0\0\0\x08mdat"


def matroska(kind: bytes) -> bytes:
    """The header of an EBML document."""
    return b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82" + bytes([0x80 | len(kind)]) + kind


KNOWN = {
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
    "gif 87": (b"GIF87a\1\0\1\0", "image/gif"),
    "gif 89": (b"GIF89a\1\0\1\0", "image/gif"),
    "webp": (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    "wav": (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
    "heic": (iso(b"heic", b"mif1", b"heic"), "image/heic"),
    "heic that begins as heif": (iso(b"mif1", b"mif1", b"heic"), "image/heic"),
    "heif": (iso(b"mif1", b"mif1"), "image/heif"),
    "avif": (iso(b"avif", b"mif1", b"miaf"), "image/avif"),
    "avif that begins as heif": (iso(b"mif1", b"avif"), "image/avif"),
    "bmp": (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0", "image/bmp"),
    "tiff little": (b"II*\0\x08\0\0\0", "image/tiff"),
    "tiff big": (b"MM\0*\0\0\0\x08", "image/tiff"),
    "pdf": (b"%PDF-1.7\n", "application/pdf"),
    "mp3 with tags": (b"ID3\4\0\0", "audio/mpeg"),
    "mp3 frame": (b"\xff\xfb\x90\x64", "audio/mpeg"),
    "mp3 frame of lower rate": (b"\xff\xf3\x48\xc4", "audio/mpeg"),
    "ogg": (b"OggS\0\2" + bytes(22) + b"\x01vorbis", "audio/ogg"),
    "ogg video": (b"OggS\0\2" + bytes(22) + b"\x80theora", "video/ogg"),
    "flac": (b"fLaC\0\0\0\x22", "audio/flac"),
    "mp4": (iso(b"isom", b"isom", b"avc1"), "video/mp4"),
    "mp4 of version 2": (iso(b"mp42", b"isom"), "video/mp4"),
    "m4a": (iso(b"M4A ", b"isom"), "audio/mp4"),
    "quicktime": (iso(b"qt  "), "video/quicktime"),
    "webm": (matroska(b"webm"), "video/webm"),
    "matroska": (matroska(b"matroska"), "video/x-matroska"),
}

UNKNOWN = {
    "nothing": b"",
    "text": b"hello",
    "text that begins with BM": b"BMW builds cars, and has done so for a long time",
    "another RIFF": b"RIFF\x24\0\0\0AVI LIST",
    "cut off": b"\x89PNG\r\n",
    "UTF-16": b"\xff\xfeh\0i\0",
    "AAC": b"\xff\xf1\x50\x80",
    "a raw photo in an ISO box": iso(b"crx ", b"crx "),
    "SVG": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "zip": b"PK\3\4",
    "EBML of another kind": matroska(b"other"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known(name: str) -> None:
    """Each row of the table."""
    data, media_type = KNOWN[name]
    assert media_type == sniff(data)


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown(name: str) -> None:
    """Nothing is guessed."""
    assert sniff(UNKNOWN[name]) is None


@given(
    st.one_of(
        st.binary(max_size=200),
        st.sampled_from([data for data, _ in KNOWN.values()]).flatmap(
            lambda start: st.binary(max_size=80).map(lambda rest: start + rest)
        ),
    )
)
def test_any_bytes(data: bytes) -> None:
    """Whatever the bytes, there is an answer."""
    media_type, size = sniff(data), dimensions(data)
    assert media_type is None or "/" in media_type
    assert size is None or min(size) > 0


@pytest.mark.parametrize("media_type", [media_type for media_type in FORMATS if media_type != "image/tiff"])
@pytest.mark.parametrize("size", [(1, 1), (17, 300), (640, 5)])
def test_dimensions(media_type: str, size: tuple[int, int]) -> None:
    """The header tells them without a decoder."""
    pytest.importorskip("PIL")
    data = picture(media_type, size)
    assert media_type == sniff(data)
    assert size == dimensions(data)


@pytest.mark.parametrize(
    ("media_type", "save"),
    [
        ("image/webp", {"lossless": True}),
        ("image/webp", {"exif": b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"}),
        ("image/jpeg", {"progressive": True}),
        ("image/jpeg", {"comment": b"x" * 60_000}),
    ],
)
def test_dimensions_of_other_headers(media_type: str, save: dict[str, object]) -> None:
    """Lossless and extended WebP; progressive JPEG; a header far from the beginning."""
    pytest.importorskip("PIL")
    assert (33, 44) == dimensions(picture(media_type, (33, 44), **save))


def test_dimensions_of_what_is_no_picture() -> None:
    """None, not an error."""
    assert dimensions(b"%PDF-1.7") is None
    assert dimensions(KNOWN["jpeg"][0]) is None
