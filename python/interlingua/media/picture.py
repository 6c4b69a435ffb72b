"""Decoding and encoding of pictures with Pillow. Only this module needs Pillow, and imports it at the first use."""

import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.canonical.errors import CannotAdapt
from interlingua.canonical.magic import AVIF, BMP, GIF, HEIC, HEIF, JPEG, PNG, TIFF, WEBP, dimensions

if TYPE_CHECKING:
    from PIL.Image import Image

_NAMES = {
    PNG: "PNG",
    JPEG: "JPEG",
    GIF: "GIF",
    WEBP: "WEBP",
    BMP: "BMP",
    TIFF: "TIFF",
    AVIF: "AVIF",
    HEIC: "HEIF",  # known to Pillow when a plug-in for it is registered
    HEIF: "HEIF",
}
_LOSSY = frozenset((JPEG, WEBP, AVIF, HEIC, HEIF))
_EXACT = frozenset((PNG, BMP, TIFF))
_WITHOUT_ALPHA = frozenset((JPEG, BMP))
_WITH_PROFILE = frozenset((PNG, JPEG, WEBP))
_PLAIN_MODES = frozenset(("1", "L", "LA", "P", "PA", "RGB", "RGBA"))  # they convert to grey or colours without loss

_QUALITIES = (85, 65, 45, 30)
_ATTEMPTS = 6
_MOST_PIXELS = 89_000_000  # decoded, that is a third of a gigabyte; Pillow itself warns above this
_MOST_PROFILE = 4096  # a colour profile larger than this is not worth its bytes


class Converted(NamedTuple):
    """A picture that was encoded again, and the loss that this caused."""

    data: bytes
    media_type: str
    severity: str
    message: str


class _Attempt(NamedTuple):
    media_type: str
    quality: int | None
    halvings: int


def size(data: bytes, media_type: str, where: str) -> tuple[int, int]:
    """Return width and height of a picture whose header only a decoder can read."""
    with _opened(data, media_type, where) as image:
        return image.size


def convert(
    data: bytes,
    media_type: str,
    accepted: tuple[str, ...] | None,
    most_bytes: int | None,
    longest_side: int | None,
    where: str,
) -> Converted:
    """Convert a picture to an accepted type, within the limits of bytes and of pixels a side, never larger than it was.

    The type is the same one, else JPEG, else PNG, else the first accepted one that can be written. If there are too
    many bytes, it tries JPEG or another lossy type with decreasing quality, then half the size, repeatedly. Raises
    `CannotAdapt` at `where` when no attempt fits.
    """
    with _opened(data, media_type, where) as image:
        types = _types(media_type, accepted)
        if not types:
            raise CannotAdapt("the picture cannot be converted to a media type that the target accepts", path=where)
        animated = bool(getattr(image, "is_animated", False))
        plain = image.mode in _PLAIN_MODES
        profile = image.info.get("icc_profile") if plain else None
        upright = _upright(image)
        largest = _within(upright.size, longest_side)
        for attempt in _attempts(types):
            target = max(1, largest[0] >> attempt.halvings), max(1, largest[1] >> attempt.halvings)
            try:
                encoded = _encoded(upright, target, attempt, profile)
            except (OSError, ValueError):  # a format has limits of its own, and a smaller attempt may keep within them
                continue
            if most_bytes is None or len(encoded) <= most_bytes:
                smaller = target != upright.size
                exact = plain and attempt.media_type in _EXACT and _keeps(attempt.media_type, upright, profile)
                harmed = [
                    *(["in fewer pixels"] if smaller else []),
                    *([] if exact else ["with less detail"]),
                    *(["as its first frame"] if animated else []),
                ]
                message = " ".join(["it is encoded again", *harmed])
                return Converted(encoded, attempt.media_type, "weakened" if harmed else "representation", message)
    raise CannotAdapt("the picture cannot be made small enough for the target", path=where)


def _types(media_type: str, accepted: tuple[str, ...] | None) -> list[str]:
    """Return the media types to write, the best first."""
    candidates = [media_type, JPEG, PNG, *(accepted or ())]
    return [
        candidate
        for candidate in dict.fromkeys(candidates)
        if (accepted is None or candidate in accepted) and _can("SAVE", candidate)
    ]


def _attempts(types: list[str]) -> Iterator[_Attempt]:
    """Yield the attempts in order: full size first, then less quality, then less size."""
    lossy = next((media_type for media_type in types if media_type in _LOSSY), None)
    if types[0] != lossy:
        yield _Attempt(types[0], None, 0)
    if lossy is None:
        for halvings in range(1, _ATTEMPTS):
            yield _Attempt(types[0], None, halvings)
        return
    for quality in _QUALITIES:
        yield _Attempt(lossy, quality, 0)
    for halvings in range(1, _ATTEMPTS - len(_QUALITIES) + 1):
        yield _Attempt(lossy, _QUALITIES[-1], halvings)


def _within(original: tuple[int, int], longest_side: int | None) -> tuple[int, int]:
    longest = max(original)
    if longest_side is None or longest <= longest_side:
        return original
    width, height = (max(1, side * longest_side // longest) for side in original)
    return width, height


# ---------------------------------------------------------------------------------------------------- Pillow


def _pillow(name: str = "Image") -> Any:
    return import_module(f"PIL.{name}")


def _can(what: str, media_type: str) -> bool:
    """Whether Pillow can `OPEN` or `SAVE` a media type: its own codecs, and those of registered plug-ins."""
    name, image = _NAMES.get(media_type), _pillow()
    if name is None:
        return False
    image.preinit()
    if name not in getattr(image, what):
        image.init()
    return name in getattr(image, what)


@contextmanager
def _opened(data: bytes, media_type: str, where: str) -> "Generator[Image]":
    """Open a picture as the media type of its bytes, and as no other type."""
    stated = dimensions(data)
    if stated is not None and stated[0] * stated[1] > _MOST_PIXELS:
        raise CannotAdapt("the picture has too many pixels to be decoded", path=where)
    try:
        pillow = _pillow()
    except ImportError:
        raise CannotAdapt(
            "the picture must be converted, but Pillow is not installed; install interlingua[images]", path=where
        ) from None
    if not _can("OPEN", media_type):
        raise CannotAdapt(f"there is no decoder for {media_type}", path=where)
    try:
        with pillow.open(io.BytesIO(data), formats=(_NAMES[media_type],)) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise CannotAdapt("the picture has too many pixels to be decoded", path=where)
            yield image
    except CannotAdapt:
        raise
    except Exception as problem:  # a decoder may fail in any way on bytes that are invented
        raise CannotAdapt(
            f"the picture cannot be decoded or encoded ({type(problem).__name__})", path=where
        ) from problem


def _upright(image: "Image") -> "Image":
    """Return the first frame, turned upright by its metadata, in plain grey or colours, without metadata."""
    turned: Image = _pillow("ImageOps").exif_transpose(image)
    if turned.mode.startswith("I"):
        # sixteen bits of grey: keep the upper eight
        turned = turned.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif turned.has_transparency_data:
        turned = turned.convert("RGBA")
    elif turned.mode not in ("RGB", "L"):
        turned = turned.convert("L" if turned.mode in ("1", "F") else "RGB")
    turned.info = {}
    return turned


def _keeps(media_type: str, image: "Image", profile: bytes | None) -> bool:
    """Whether a type can hold what a picture has besides its colours: transparency and a colour profile."""
    if image.mode == "RGBA" and media_type in _WITHOUT_ALPHA:
        return False
    return profile is None or (media_type in _WITH_PROFILE and len(profile) <= _MOST_PROFILE)


def _encoded(image: "Image", target: tuple[int, int], attempt: _Attempt, profile: bytes | None) -> bytes:
    if target != image.size:
        image = image.resize(target, _pillow().Resampling.LANCZOS)
    if image.mode == "RGBA" and attempt.media_type in _WITHOUT_ALPHA:
        ground: Image = _pillow().new("RGB", image.size, "white")
        ground.paste(image, mask=image.getchannel("A"))
        image = ground
    options: dict[str, Any] = {}
    if attempt.quality is not None:
        options["quality"] = attempt.quality
    if attempt.media_type in (PNG, JPEG, GIF):
        options["optimize"] = True
    if attempt.media_type == TIFF:
        options["compression"] = "tiff_deflate"
    if profile is not None and attempt.media_type in _WITH_PROFILE and len(profile) <= _MOST_PROFILE:
        options["icc_profile"] = profile
    into = io.BytesIO()
    image.save(into, format=_NAMES[attempt.media_type], **options)
    return into.getvalue()
