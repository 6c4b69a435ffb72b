"""
`fit`: the images of a request within the limits of a target (spec/10-media.md#fit).

An image that fits is not changed. An image that does not fit is decoded once and encoded again, never larger than it
was. Every change is an entry of a loss report, and the report applied to the request gives the result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pybase64

from interlingua.canonical.errors import CannotAdapt, InvalidRequest, LossRefused
from interlingua.canonical.logs import logger
from interlingua.canonical.loss import PLACEHOLDER, SEVERITIES, Entry, Loss, Path, pointer
from interlingua.canonical.magic import dimensions, sniff
from interlingua.media import picture
from interlingua.media.places import Data, Place, R, checked, decoded, like, places, plain_type, with_values

_LOG = logger("media")


@dataclass(frozen=True, slots=True)
class _Limits:
    accepted: tuple[str, ...] | None
    most_bytes: int | None
    longest_side: int | None
    most_images: int | None


def fit(request: R, limits: Mapping[str, Any]) -> tuple[R, list[Entry]]:
    """Return a request with images that a target accepts, and a report of the changes.

    `apply(request, changes)` gives the same result. The request is plain data or a `Request`, and the result has the
    same type. `limits` are a model's capabilities (`Endpoint.capabilities`, `registry.capabilities`), of which
    `supports_images`, `accepted_image_media_types`, `max_image_bytes`, `max_image_dimension` and
    `max_images_per_request` are used; each of them may be absent. Without changes the result is the request itself.

    Raises `CannotAdapt`, with the pointer of the image, when an image cannot be made to fit; another target may accept
    it. Raises `LossRefused` when the request's `loss_policy` forbids the change, `InvalidRequest` when the request is
    not canonical.
    """
    bounds = _limits(limits)
    data = checked(request)
    images = [place for place in places(data) if place.block["type"] == "image"]
    if images and limits.get("supports_images") is False:
        raise CannotAdapt("the target takes no images", path=pointer(images[0].path))
    kept = _positions_to_keep(images, bounds.most_images)
    loss = Loss()
    values: dict[Path, Any] = {}
    for position, place in enumerate(images):
        if position in kept:
            _fit_image(place, bounds, values, loss)
        else:
            _leave_out(place, bounds, values, loss)
    _refuse_by_policy(data.get("loss_policy") or {}, loss.entries)
    for place in (place for position, place in enumerate(images) if position not in kept):
        _log(place)
    return like(request, data, with_values(data, values)), loss.entries


def _limits(limits: Mapping[str, Any]) -> _Limits:
    accepted = limits.get("accepted_image_media_types")
    if accepted is not None:
        if not isinstance(accepted, (list, tuple)) or not all(isinstance(word, str) for word in accepted):
            raise InvalidRequest("the limit accepted_image_media_types must be a list of media types")
        accepted = tuple(plain_type(word) or "" for word in accepted)
    return _Limits(
        accepted=accepted,
        most_bytes=_whole_number(limits, "max_image_bytes", 1),
        longest_side=_whole_number(limits, "max_image_dimension", 1),
        most_images=_whole_number(limits, "max_images_per_request", 0),
    )


def _whole_number(limits: Mapping[str, Any], name: str, minimum: int) -> int | None:
    value = limits.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < minimum):
        raise InvalidRequest(
            f"the limit {name} must be a whole number of at least {minimum}; leave it out if there is no limit"
        )
    return value


# ---------------------------------------------------------------------------------------------------- how many


def _positions_to_keep(images: list[Place], most: int | None) -> set[int]:
    """Return the positions of the images that stay: the critical ones, then the newest."""
    if most is None or len(images) <= most:
        return set(range(len(images)))
    critical = [position for position, place in enumerate(images) if place.critical]
    if len(critical) > most:
        raise CannotAdapt(
            f"a critical image cannot be left out, and the target takes no more than {most}",
            path=pointer(images[critical[0]].path),
        )
    others = [position for position, place in enumerate(images) if not place.critical]
    free = most - len(critical)
    return {*critical, *(others[-free:] if free else ())}


def _leave_out(place: Place, limits: _Limits, values: dict[Path, Any], loss: Loss) -> None:
    message = f"the target takes no more than {limits.most_images} images, and newer ones stay"
    text: Data = {"type": "text", "text": "[image omitted: the target takes no more images]"}
    if "cache" in place.block:
        text["cache"] = place.block["cache"]  # it marks a place in the prompt, which is still there
    values[place.path] = text
    loss.replace(place.path, text, PLACEHOLDER, "lost", message)


def _log(place: Place) -> None:
    fields = {
        "session_id": place.message.get("session_id"),
        "message_id": place.message.get("id"),
        "block_type": "image",
        "adapter": None,
        "reason": "the target takes no more images",
    }
    _LOG.warning("block dropped %s", fields, extra=fields)


def _refuse_by_policy(policy: Data, entries: list[Entry]) -> None:
    """Raise `LossRefused` for changes that the request's policy forbids (spec/6-loss.md#loss-policy)."""
    strict = policy.get("strict")
    refused = [e for e in entries if strict and SEVERITIES.index(e["severity"]) >= SEVERITIES.index(strict)]
    if policy.get("on_drop") == "error":
        refused += [entry for entry in entries if entry["code"] == PLACEHOLDER]
    if refused:
        raise LossRefused(
            f"the loss policy refuses to fit the images: {refused[0]['message']}", entries, path=refused[0]["path"]
        )


# ---------------------------------------------------------------------------------------------------- one image


def _fit_image(place: Place, limits: _Limits, values: dict[Path, Any], loss: Loss) -> None:
    declared, path = place.block.get("media_type"), place.path
    if place.block["source"]["kind"] != "base64":
        if not _is_accepted(plain_type(declared), limits):
            raise CannotAdapt(
                "the target does not accept this media type, and only bytes can be converted; resolve the source first",
                path=pointer((*path, "source")),
            )
        return
    data = decoded(place)
    where = pointer((*path, "source", "data"))
    media_type = sniff(data)
    if media_type is None:
        _check_unknown(data, declared, limits, where)
        return
    if not media_type.startswith("image/"):
        raise CannotAdapt(f"the bytes of the image are {media_type}", path=where)
    reason = _reason(data, media_type, limits, where)
    if reason is not None:
        code, message = reason
        converted = picture.convert(data, media_type, limits.accepted, limits.most_bytes, limits.longest_side, where)
        text = pybase64.b64encode(converted.data).decode("ascii")
        values[*path, "source", "data"] = text
        loss.replace((*path, "source", "data"), text, code, converted.severity, f"{message}; {converted.message}")
        media_type = converted.media_type
    if media_type != declared:
        values[*path, "media_type"] = media_type
        code = "required_default" if declared is None else "unsupported_value"
        loss.replace((*path, "media_type"), media_type, code, "representation", "the media type is that of the bytes")


def _is_accepted(media_type: str | None, limits: _Limits) -> bool:
    return limits.accepted is None or media_type is None or media_type in limits.accepted


def _check_unknown(data: bytes, declared: str | None, limits: _Limits, where: str) -> None:
    """Raise `CannotAdapt` for bytes of an unknown type that do not fit, as far as this shows without decoding."""
    if limits.longest_side is not None:
        raise CannotAdapt("the type of the picture is not known, so its dimensions cannot be determined", path=where)
    too_large = limits.most_bytes is not None and len(data) > limits.most_bytes
    if too_large or not _is_accepted(plain_type(declared), limits):
        raise CannotAdapt("the picture does not fit, and its type is not known, so it cannot be converted", path=where)


def _reason(data: bytes, media_type: str, limits: _Limits, where: str) -> tuple[str, str] | None:
    """Return the code and the message of the loss if an image must be converted; None when it fits."""
    if not _is_accepted(media_type, limits):
        return "unsupported_source", f"the target does not take {media_type}"
    if limits.most_bytes is not None and len(data) > limits.most_bytes:
        return "limit_exceeded", f"the target takes {limits.most_bytes} bytes"
    if limits.longest_side is not None:
        size = dimensions(data) or picture.size(data, media_type, where)
        if max(size) > limits.longest_side:
            return "limit_exceeded", f"the target takes {limits.longest_side} pixels a side"
    return None
