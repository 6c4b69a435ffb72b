"""Images within the limits of a target: R-133, R-144, R-190, R-194."""

import copy
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua import CannotAdapt, InvalidRequest, LossRefused, Request, adapt, apply, media, registry
from interlingua.canonical import json
from interlingua.canonical.validate import validate

from .pictures import FORMATS, asking, content, data_of, image, medium, opened, picture

pytest.importorskip("PIL")

Data = dict[str, Any]
COMMON = ["image/png", "image/jpeg", "image/gif", "image/webp"]


def fitted(request: Data, **limits: Any) -> tuple[Data, list[Data]]:
    """`fit`, and what must hold for every call of it."""
    before = copy.deepcopy(request)
    result, changes = media.fit(request, limits)
    assert before == request, "the input was changed"
    validate(result)
    for change in changes:
        validate(change, "LossEntry")
        assert change["code"] in registry.data("loss_codes")["codes"]
    assert result == apply(request, changes)
    assert (result is request) == (not changes)
    return result, changes


def said(changes: list[Data]) -> list[tuple[str, str, str]]:
    """Path, code and severity of each change."""
    return [(change["path"], change["code"], change["severity"]) for change in changes]


# ---------------------------------------------------------------------------------------------------- what fits


@pytest.mark.parametrize("media_type", COMMON)
def test_what_fits_is_not_touched(media_type: str) -> None:
    """The very same request comes back."""
    request = asking(image(picture(media_type)))
    fitted(request)
    limits = {"max_image_bytes": 100_000, "max_image_dimension": 64, "max_images_per_request": 1}
    result, changes = fitted(request, accepted_image_media_types=COMMON, **limits)
    assert result is request
    assert changes == []


def test_a_request_without_images() -> None:
    """Whatever the limits."""
    request = asking({"type": "text", "text": "hello"}, medium("url", "https://example.com/a.mp3", "audio"))
    assert (request, []) == fitted(
        request, supports_images=False, accepted_image_media_types=[], max_images_per_request=0
    )


def test_nothing_is_decoded_for_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Pillow, fitting images pass, wrong types are corrected, and only a conversion is refused, with advice."""
    small, large = asking(image(picture())), asking(image(picture(size=(300, 2)), "image/gif"))
    for name in [name for name in sys.modules if name == "PIL" or name.startswith("PIL.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    fitted(small, accepted_image_media_types=COMMON, max_image_dimension=64, max_image_bytes=10_000)
    assert [("/messages/0/content/0/media_type", "unsupported_value", "representation")] == said(fitted(large)[1])
    with pytest.raises(CannotAdapt, match=r"interlingua\[images\]") as caught:
        media.fit(large, {"max_image_dimension": 100})
    assert "/messages/0/content/0/source/data" == caught.value.path


# ---------------------------------------------------------------------------------------------------- media types


def test_the_bytes_say_what_they_are() -> None:
    """A wrong declaration is corrected; no byte changes."""
    data = picture("image/jpeg")
    result, changes = fitted(asking(image(data, "image/png")), accepted_image_media_types=["image/jpeg"])
    assert [("/messages/0/content/0/media_type", "unsupported_value", "representation")] == said(changes)
    assert "image/jpeg" == content(result)[0]["media_type"]
    assert data == data_of(content(result)[0])


def test_a_missing_declaration_is_added() -> None:
    """The media type is that of the bytes."""
    block = image(picture("image/webp"))
    del block["media_type"]
    result, changes = fitted(asking(block))
    assert [("/messages/0/content/0/media_type", "required_default", "representation")] == said(changes)
    assert "image/webp" == content(result)[0]["media_type"]


def test_the_bytes_decide_whether_the_type_is_accepted() -> None:
    """A TIFF that calls itself PNG is converted."""
    result, changes = fitted(
        asking(image(picture("image/tiff"), "image/png")), accepted_image_media_types=["image/png"]
    )
    assert [("/messages/0/content/0/source/data", "unsupported_source", "representation")] == said(changes)
    assert "PNG" == opened(data_of(content(result)[0])).format


@pytest.mark.parametrize(
    ("given", "accepted", "made", "severity"),
    [
        ("image/bmp", ["image/png", "image/jpeg"], "image/jpeg", "weakened"),
        ("image/bmp", ["image/gif", "image/png"], "image/png", "representation"),
        ("image/png", ["image/gif", "image/webp"], "image/gif", "weakened"),
        ("image/tiff", ["image/webp", "image/gif"], "image/webp", "weakened"),
        ("image/gif", ["image/heic", "image/bmp"], "image/bmp", "representation"),
    ],
)
def test_the_order_of_encodings(given: str, accepted: list[str], made: str, severity: str) -> None:
    """JPEG, then PNG, then the first that can be written."""
    result, changes = fitted(asking(image(picture(given))), accepted_image_media_types=accepted)
    assert ("/messages/0/content/0/source/data", "unsupported_source", severity) == said(changes)[0]
    assert made == content(result)[0]["media_type"]
    assert FORMATS[made] == opened(data_of(content(result)[0])).format


def test_a_type_that_nothing_can_be_made_of() -> None:
    """No accepted type, or none that can be written."""
    for accepted in ([], ["image/heic"], ["image/svg+xml"]):
        with pytest.raises(CannotAdapt) as caught:
            media.fit(asking(image(picture())), {"accepted_image_media_types": accepted})
        assert "/messages/0/content/0/source/data" == caught.value.path
        assert "unsupported" == caught.value.to_dict()["category"]


# ---------------------------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize("media_type", FORMATS)
def test_too_many_pixels(media_type: str) -> None:
    """Reduced to the limit, in proportion, in the same type."""
    result, changes = fitted(asking(image(picture(media_type, (400, 100)))), max_image_dimension=200)
    assert [("/messages/0/content/0/source/data", "limit_exceeded", "weakened")] == said(changes)
    made = opened(data_of(content(result)[0]))
    assert (200, 50) == made.size
    assert FORMATS[media_type] == made.format


def test_a_line_keeps_its_pixel() -> None:
    """No side becomes nothing."""
    result, _ = fitted(asking(image(picture(size=(1000, 1)))), max_image_dimension=10)
    assert (10, 1) == opened(data_of(content(result)[0])).size


def test_too_many_bytes_in_a_lossy_type() -> None:
    """First less quality, at full size."""
    data = picture("image/jpeg", (200, 200), noisy=True, quality=100)
    result, _ = fitted(asking(image(data)), max_image_bytes=len(data) // 2)
    made = data_of(content(result)[0])
    assert len(made) <= len(data) // 2
    assert (200, 200) == opened(made).size


def test_too_many_bytes_in_an_exact_type() -> None:
    """JPEG takes over where it is accepted; where it is not, the picture becomes smaller."""
    data = picture("image/png", (200, 200), noisy=True)
    limit = len(data) // 3
    result, changes = fitted(asking(image(data)), accepted_image_media_types=COMMON, max_image_bytes=limit)
    assert ["limit_exceeded", "unsupported_value"] == [change["code"] for change in changes]
    assert "image/jpeg" == content(result)[0]["media_type"]
    assert (200, 200) == opened(data_of(content(result)[0])).size

    result, _ = fitted(asking(image(data)), accepted_image_media_types=["image/png"], max_image_bytes=limit)
    assert "image/png" == content(result)[0]["media_type"]
    assert (100, 100) == opened(data_of(content(result)[0])).size


def test_the_ladder_ends_with_half_the_size() -> None:
    """Where the lowest quality is too much."""
    data = picture("image/jpeg", (400, 400), noisy=True, quality=95)
    lowest = picture("image/jpeg", (400, 400), noisy=True, quality=30)
    result, _ = fitted(asking(image(data)), max_image_bytes=len(lowest) // 2)
    assert (200, 200) == opened(data_of(content(result)[0])).size


def test_the_ladder_ends() -> None:
    """What no attempt makes small enough is refused."""
    with pytest.raises(CannotAdapt, match="small enough"):
        media.fit(asking(image(picture(size=(64, 64), noisy=True))), {"max_image_bytes": 40})


def test_a_lossless_rewriting_may_be_enough() -> None:
    """A badly packed PNG is packed better, and every pixel stays."""
    data = picture(size=(200, 200), compress_level=0)
    result, changes = fitted(asking(image(data)), max_image_bytes=len(data) // 2)
    assert [("/messages/0/content/0/source/data", "limit_exceeded", "representation")] == said(changes)
    assert opened(data).tobytes() == opened(data_of(content(result)[0])).tobytes()


# ---------------------------------------------------------------------------------------------------- kinds of pictures


def test_transparency() -> None:
    """White where the type has none, kept where it has."""
    from PIL import Image

    for mode in ("RGBA", "LA"):
        data = picture("image/png", (300, 200), mode)
        result, _ = fitted(asking(image(data)), max_image_dimension=100)
        assert "RGBA" == opened(data_of(content(result)[0])).mode
        result, _ = fitted(asking(image(data)), accepted_image_media_types=["image/jpeg"])
        assert "RGB" == opened(data_of(content(result)[0])).mode

    import io

    into = io.BytesIO()
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(into, "PNG")
    result, _ = fitted(asking(image(into.getvalue())), accepted_image_media_types=["image/jpeg"])
    assert (255, 255, 255) == opened(data_of(content(result)[0])).getpixel((10, 10))


@pytest.mark.parametrize("mode", ["1", "L", "P", "I;16", "RGBA", "LA"])
def test_modes_of_png(mode: str) -> None:
    """All can be written as JPEG, and keep about their colours."""
    data = picture("image/png", (40, 40), "L") if mode == "I;16" else picture("image/png", (40, 40), mode)
    if mode == "I;16":
        import io

        from PIL import Image

        into = io.BytesIO()
        Image.new("I;16", (40, 40), 0x8000).save(into, "PNG")
        data = into.getvalue()
        assert opened(data).mode.startswith("I")
    result, _ = fitted(asking(image(data)), accepted_image_media_types=["image/jpeg"])
    made = opened(data_of(content(result)[0]))
    assert (40, 40) == made.size
    if mode == "I;16":
        assert made.getpixel((20, 20)) == pytest.approx(0x80, abs=2)


def test_what_else_a_picture_has() -> None:
    """A colour profile stays where the type has a place for it; where something is left behind, the report says so."""
    request = asking(image(picture("image/tiff", icc_profile=b"profile")))
    result, changes = fitted(request, accepted_image_media_types=["image/png"])
    assert "representation" == changes[0]["severity"]
    assert b"profile" == opened(data_of(content(result)[0])).info["icc_profile"]
    _, changes = fitted(request, accepted_image_media_types=["image/bmp"])
    assert "weakened" == changes[0]["severity"]
    _, changes = fitted(asking(image(picture(mode="RGBA"))), accepted_image_media_types=["image/bmp"])
    assert "weakened" == changes[0]["severity"]


def test_a_cmyk_photo() -> None:
    """JPEG of four colours becomes PNG."""
    request = asking(image(picture("image/jpeg", mode="CMYK")))
    result, changes = fitted(request, accepted_image_media_types=["image/png"])
    assert "weakened" == changes[0]["severity"]
    assert "RGB" == opened(data_of(content(result)[0])).mode


def test_a_photo_that_lies_on_its_side_stands_up() -> None:
    """The turn is in the metadata, which do not survive."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    data = picture("image/jpeg", (400, 200), exif=exif.tobytes())
    result, _ = fitted(asking(image(data)), max_image_dimension=200)
    made = opened(data_of(content(result)[0]))
    assert (100, 200) == made.size
    assert not made.getexif()


def test_an_animation_becomes_its_first_frame() -> None:
    """And the report says so."""
    import io

    from PIL import Image

    frames = [Image.new("RGB", (100, 100), color) for color in ("red", "green", "blue")]
    into = io.BytesIO()
    frames[0].save(into, "GIF", save_all=True, append_images=frames[1:])
    result, changes = fitted(asking(image(into.getvalue())), accepted_image_media_types=["image/png"])
    assert "weakened" == changes[0]["severity"]
    assert "first frame" in changes[0]["message"]
    red, green, blue = opened(data_of(content(result)[0])).convert("RGB").getpixel((50, 50))
    assert red > 200 > green + blue


# ---------------------------------------------------------------------------------------------------- what cannot be done


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, {"accepted_image_media_types": ["image/jpeg"]}),
        (b"\xff\xd8\xff\xe0 broken", {"max_image_dimension": 10}),
        (b"MM\0*\0\0\0\x08", {"max_image_dimension": 10}),
        (b"<svg/>", {"accepted_image_media_types": ["image/jpeg"]}),
        (b"<svg/>", {"max_image_bytes": 3}),
        (b"<svg/>", {"max_image_dimension": 10}),
        (b"%PDF-1.7", {}),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", {"accepted_image_media_types": ["image/jpeg"]}),
    ],
)
def test_what_cannot_be_read_is_refused(data: bytes, limits: Data) -> None:
    """With the pointer, as unsupported; the text says nothing of the content."""
    with pytest.raises(CannotAdapt) as caught:
        media.fit(asking(image(data, "image/png")), limits)
    assert "/messages/0/content/0/source/data" == caught.value.path
    assert "svg" not in str(caught.value)


@given(st.data())
def test_broken_pictures(data: st.DataObject) -> None:
    """Whatever is wrong with the bytes: a picture that fits, or a typed refusal."""
    broken = bytearray(drawn(data.draw(st.sampled_from(list(FORMATS))), (60, 80), "RGB", False))
    for _ in range(data.draw(st.integers(1, 5))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del broken[data.draw(st.integers(1, len(broken))) :]
    limits = {"accepted_image_media_types": ["image/webp"], "max_image_dimension": 20, "max_image_bytes": 2000}
    try:
        result, _ = fitted(asking(image(bytes(broken), "image/png")), **limits)
    except CannotAdapt as problem:
        if problem.path != "/messages/0/content/0/source/data":
            raise
        return
    assert max(opened(data_of(content(result)[0])).size) <= 20


def test_a_cut_picture_is_refused() -> None:
    """Where it must be decoded; where it fits, the provider is the judge."""
    data = picture(size=(300, 300), noisy=True)[:5000]
    fitted(asking(image(data)), max_image_dimension=300)
    with pytest.raises(CannotAdapt):
        media.fit(asking(image(data)), {"max_image_dimension": 100})


def test_a_bomb_is_refused_before_it_is_opened() -> None:
    """By what the header says."""
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (100_000).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0" + bytes(100)
    with pytest.raises(CannotAdapt, match="too many pixels"):
        media.fit(asking(image(header)), {"max_image_dimension": 100})


def test_unknown_bytes_that_fit_pass() -> None:
    """As far as can be told without reading them."""
    request = asking(image(b"<svg/>", "image/svg+xml"))
    assert (request, []) == fitted(request, accepted_image_media_types=["image/svg+xml"], max_image_bytes=6)


def test_other_sources() -> None:
    """They pass unless their declared type is not accepted; nothing is fetched."""
    limits = {"accepted_image_media_types": ["image/png"], "max_image_bytes": 10, "max_image_dimension": 10}
    for kind in ("url", "file_ref", "file_id"):
        for declared in ({}, {"media_type": "image/png"}):
            request = asking(medium(kind, "https://example.com/a", **declared))
            assert (request, []) == fitted(request, **limits)
        with pytest.raises(CannotAdapt, match="resolve") as caught:
            media.fit(asking(medium(kind, "https://example.com/a", media_type="image/tiff")), limits)
        assert "/messages/0/content/0/source" == caught.value.path


def test_a_target_without_images() -> None:
    """Refused at the first one."""
    request = asking({"type": "text", "text": "look"}, image(picture()))
    with pytest.raises(CannotAdapt) as caught:
        media.fit(request, {"supports_images": False, "accepted_image_media_types": COMMON})
    assert "/messages/0/content/1" == caught.value.path


@pytest.mark.parametrize(
    "limits",
    [
        {"max_image_bytes": 0},
        {"max_image_bytes": "1"},
        {"max_image_dimension": True},
        {"max_images_per_request": -1},
        {"max_image_dimension": 1.5},
        {"accepted_image_media_types": "image/png"},
        {"accepted_image_media_types": [1]},
    ],
)
def test_odd_limits(limits: Data) -> None:
    """Told, not stumbled over."""
    with pytest.raises(InvalidRequest, match=next(iter(limits))):
        media.fit(asking(image(picture())), limits)


def nested(depth: int) -> Data:
    """Documents in documents."""
    block: Data = image(picture())
    for _ in range(depth):
        block = {"type": "document", "source": {"kind": "blocks", "content": [block]}}
    return asking(block)


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        "{}",
        {},
        {"messages": [{"role": "user"}]},
        asking({"type": "image"}),
        asking({"type": "image", "source": {"kind": "base64"}}),
        asking({"type": "image", "source": {"kind": "base64", "data": "%%%"}}),
        asking({"type": "document", "source": {"kind": "blocks", "content": [medium("base64", "%")]}}),
        nested(5_000),
    ],
    ids=range(10),
)
def test_what_is_no_request(request_: Any) -> None:
    """A typed error."""
    with pytest.raises(InvalidRequest):
        media.fit(request_, {"max_image_bytes": 10})


def test_odd_members_of_a_message() -> None:
    """A message with a member `type` is no block."""
    request = asking(image(picture(size=(20, 20))))
    request["messages"][0] |= {"type": "image", "source": 1}
    result, _ = fitted(request, max_image_dimension=10)
    assert (10, 10) == opened(data_of(content(result)[0])).size


# ---------------------------------------------------------------------------------------------------- places


def conversation() -> Data:
    """Images everywhere that they can be, of 40 by 40 pixels."""
    block = image(picture(size=(40, 40)))
    return {
        "messages": [
            {"role": "user", "content": [block, {"type": "text", "text": "look"}]},
            {"role": "assistant", "content": [block, {"type": "tool_use", "id": "tu_1", "name": "see", "input": {}}]},
            {
                "role": "tool",
                "content": [
                    {"type": "tool_result", "tool_use_id": "tu_1", "content": [{"type": "text", "text": "a"}, block]}
                ],
                "metadata": {"parent_tool_use_id": "tu_1"},
            },
            {"role": "user", "content": [{"type": "document", "source": {"kind": "blocks", "content": [block]}}]},
        ]
    }


PLACES = [
    "/messages/0/content/0",
    "/messages/1/content/0",
    "/messages/2/content/0/content/1",
    "/messages/3/content/0/source/content/0",
]


def test_images_in_every_place() -> None:
    """Messages, results, documents made of blocks."""
    result, changes = fitted(conversation(), max_image_dimension=20)
    assert [f"{place}/source/data" for place in PLACES] == [change["path"] for change in changes]
    assert result["messages"][0]["content"][1] is not None


def test_only_the_way_is_copied() -> None:
    """What does not change is shared."""
    request = asking(image(picture(size=(40, 40))), image(picture(size=(9, 9))), tools=[{"name": "x"}])
    request["messages"].append({"role": "assistant", "content": [{"type": "text", "text": "ah"}]})
    result, _ = fitted(request, max_image_dimension=20)
    assert result["messages"][1] is request["messages"][1]
    assert result["tools"] is request["tools"]
    assert content(result)[1] is content(request)[1]
    assert content(result)[0] is not content(request)[0]


# ---------------------------------------------------------------------------------------------------- how many


def test_the_newest_stay() -> None:
    """Older ones are told with a short text."""
    for most in range(5):
        result, changes = fitted(conversation(), max_images_per_request=most)
        assert [(place, "placeholder", "lost") for place in PLACES[: 4 - most]] == said(changes)
        assert 4 - most == json.dumps(result).count(b"image omitted")


def test_what_is_left_out_need_not_fit() -> None:
    """Nobody converts a picture that is not sent."""
    request = asking(image(b"<svg/>"), image(picture()))
    _, changes = fitted(request, max_images_per_request=1, accepted_image_media_types=["image/png"])
    assert ["/messages/0/content/0"] == [change["path"] for change in changes]


def test_a_cache_hint_stays_in_its_place() -> None:
    """The prompt up to there can still be kept."""
    result, _ = fitted(asking(image(picture(), cache={"ttl": "1h"}), image(picture())), max_images_per_request=1)
    assert {"ttl": "1h"} == content(result)[0]["cache"]


def test_critical_images_stay() -> None:
    """Newer ones make room; where there is no room, the request is refused."""
    request = asking(image(picture(), critical=True), image(picture()), image(picture()))
    _, changes = fitted(request, max_images_per_request=1)
    assert ["/messages/0/content/1", "/messages/0/content/2"] == [change["path"] for change in changes]
    _, changes = fitted(request, max_images_per_request=2)
    assert ["/messages/0/content/1"] == [change["path"] for change in changes]
    with pytest.raises(CannotAdapt) as caught:
        media.fit(request, {"max_images_per_request": 0})
    assert "/messages/0/content/0" == caught.value.path

    request = conversation()
    request["messages"][2]["content"][0]["critical"] = True
    with pytest.raises(CannotAdapt) as caught:
        media.fit(request, {"max_images_per_request": 0})
    assert PLACES[2] == caught.value.path
    request["messages"][1]["critical"] = True
    _, changes = fitted(request, max_images_per_request=2)
    assert [PLACES[0], PLACES[3]] == [change["path"] for change in changes]


def test_a_log_line_for_each_image_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """With the fields of a dropped block."""
    request = conversation()
    request["messages"][0] |= {"id": "01JD3V5Q6M8H2N4R7T9WAXCZE0", "session_id": "s"}
    fitted(request, max_images_per_request=3)
    (record,) = caplog.records
    assert "s" == getattr(record, "session_id")  # noqa: B009 a record has what the caller adds
    assert "WARNING" == record.levelname


# ---------------------------------------------------------------------------------------------------- policies


@pytest.mark.parametrize(
    ("policy", "limits"),
    [
        ({"on_drop": "error"}, {"max_images_per_request": 1}),
        ({"strict": "lost"}, {"max_images_per_request": 1}),
        ({"strict": "weakened"}, {"max_image_dimension": 20}),
        ({"strict": "representation"}, {"accepted_image_media_types": ["image/tiff"]}),
    ],
)
def test_the_policy_of_the_request_holds(policy: Data, limits: Data) -> None:
    """The refusal carries the whole report."""
    with pytest.raises(LossRefused) as caught:
        media.fit(conversation() | {"loss_policy": policy}, limits)
    assert len(caught.value.loss) >= 3
    assert caught.value.path is not None


def test_a_policy_that_allows_it() -> None:
    """A weaker change than the one that is refused."""
    policy = {"strict": "lost", "on_drop": "error"}
    _, changes = fitted(conversation() | {"loss_policy": policy}, max_image_dimension=20)
    assert {"weakened"} == {change["severity"] for change in changes}


# ---------------------------------------------------------------------------------------------------- together


def test_the_limits_of_the_registry() -> None:
    """Capabilities go in as they are, and the wire then takes every image."""
    endpoint = registry.endpoint(adapter="anthropic_messages", model="claude-sonnet-4-6")
    assert 8000 == endpoint.capabilities["max_image_dimension"]
    request = asking(image(picture("image/bmp", (50, 50))), image(picture(size=(9000, 3))), max_output_tokens=9)
    result, _ = fitted(request, **endpoint.capabilities)
    projection = adapt(result, "anthropic_messages", model="claude-sonnet-4-6")
    assert projection.loss == []
    assert {"image/jpeg", "image/png"} == {
        block["source"]["media_type"] for block in projection.wire["body"]["messages"][0]["content"]
    }


def test_no_error_text_and_no_report_text_holds_content() -> None:
    """Values do; messages do not."""
    data = content(conversation())[0]["source"]["data"]
    _, changes = fitted(conversation(), accepted_image_media_types=["image/jpeg"], max_image_dimension=20)
    assert all(data[:40] not in change["message"] for change in changes)


CACHED: dict[tuple[Any, ...], bytes] = {}


def drawn(media_type: str, size: tuple[int, int], mode: str, noisy: bool) -> bytes:
    """A picture, made once."""
    mode = "RGB" if media_type == "image/jpeg" else mode
    key = media_type, size, mode, noisy
    if key not in CACHED:
        CACHED[key] = picture(media_type, size, mode, noisy=noisy)
    return CACHED[key]


pictures = st.builds(
    drawn,
    st.sampled_from(list(FORMATS)),
    st.sampled_from([(1, 1), (60, 80), (200, 10), (3, 150)]),
    st.sampled_from(["RGB", "L"]),
    st.booleans(),
)
blocks = st.builds(
    image,
    pictures,
    st.sampled_from(["image/png", "image/jpeg", "image/tiff", None]),
    critical=st.sampled_from([False, False, False, True]),
)
some_limits = st.fixed_dictionaries(
    {},
    optional={
        "accepted_image_media_types": st.lists(st.sampled_from([*FORMATS, "image/heic"]), min_size=1, max_size=4),
        "max_image_bytes": st.integers(200, 20_000),
        "max_image_dimension": st.integers(1, 200),
        "max_images_per_request": st.integers(0, 4),
    },
)


@given(st.lists(blocks, min_size=1, max_size=4), some_limits)
def test_the_result_fits(given_blocks: list[Data], limits: Data) -> None:
    """Whatever the pictures and the limits: it fits, or it is refused with a pointer; nothing grows; nothing is done twice."""
    request = asking(*given_blocks)
    try:
        result, _ = fitted(request, **limits)
    except CannotAdapt as problem:
        if problem.path is None:
            raise
        return
    left = [block for block in content(result) if block["type"] == "image"]
    assert len(left) <= limits.get("max_images_per_request", 4)
    for before, after in zip(given_blocks, content(result), strict=True):
        if after["type"] != "image":
            assert not before["critical"]
            continue
        data, was, now = data_of(after), opened(data_of(before)), opened(data_of(after))
        assert len(data) <= limits.get("max_image_bytes", len(data))
        assert max(now.size) <= limits.get("max_image_dimension", max(now.size))
        assert after["media_type"] == media.sniff(data)
        assert after["media_type"] in limits.get("accepted_image_media_types", FORMATS)
        assert now.width <= was.width and now.height <= was.height
    assert (result, []) == fitted(result, **limits)


# ---------------------------------------------------------------------------------------------------- objects


def test_what_is_an_object_stays_one() -> None:
    """A `Request` in, a `Request` out: changed, or the very same."""
    plain = asking(image(picture(size=(64, 48))))
    request = Request.of(plain)
    result, changes = media.fit(request, {"max_image_dimension": 32})
    assert isinstance(result, Request)
    assert result.plain() == apply(plain, changes)
    assert changes
    same, nothing = media.fit(request, {})
    assert same is request
    assert nothing == []
    assert media.mismatches(request) == []


def test_objects_are_resolved(tmp_path: Path) -> None:
    """The same for sources."""
    (tmp_path / "a.png").write_bytes(picture())
    request = Request.of(asking(medium("file_ref", "a.png", "image")))
    resolved = media.resolve(request, root=tmp_path)
    assert isinstance(resolved, Request)
    assert resolved.plain()["messages"][0]["content"][0]["source"]["kind"] == "base64"
    assert media.resolve(request) is request
    with pytest.raises(InvalidRequest, match="not int"):
        media.fit(7, {})
