"""Items that are put back as they came: what is kept as a word follows an edit, what is kept raw does not."""

from typing import Any

import pytest

from interlingua.adapters._engine.verbatim import Items, keep_item, put_back_item
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss

HERE = Endpoint("gemini_generate", "gemini")
BYTES = "iVBORw0KGgo/+/8="


def part(data: str, **members: Any) -> dict[str, Any]:
    """An item of one image, as it is written."""
    return {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": data}, **members}]}


def came(raw: Any, written: Any, later: Any = None) -> Any:
    """An item that came raw, where `written` was written when it was read and `later` is written now."""
    item: dict[str, Any] = {}
    keep_item(item, raw, written, HERE, [])
    later = written if later is None else later
    return put_back_item(json.loads(json.dumps(item)), later, HERE, [], Loss())


@pytest.mark.parametrize("data", ["iVBORw0KGgo_-_8=", "iVBORw0KGgo_-_8", "iVBORw0KGgo/+/8", BYTES])
@pytest.mark.parametrize(
    "names", [("inlineData", "mimeType"), ("inline_data", "mime_type"), ("inline_data", "mimeType")]
)
def test_names_and_base64_come_back_in_their_letters(data: str, names: tuple[str, str]) -> None:
    outer, inner = names
    raw = {"role": "user", "parts": [{outer: {inner: "image/png", "data": data}}]}

    assert came(raw, part(BYTES)) == raw
    edited = came(raw, part(BYTES), part("AA+/"))
    assert edited["parts"][0][outer][inner] == "image/png"
    assert edited["parts"][0][outer]["data"] == ("AA-_" if "_" in data else "AA+/")


def test_words_keep_nothing_twice() -> None:
    item: dict[str, Any] = {}
    keep_item(item, {"role": "user", "parts": [{"inline_data": {"data": "_-_8" * 99}}]}, part("/+/8" * 99), HERE, [])

    assert len(json.dumps(item)) < 600


def test_what_is_kept_raw_is_put_back_beside_words_while_it_is_written_as_it_was() -> None:
    raw = {"parts": [{"inline_data": {"mime_type": "IMAGE/PNG", "data": BYTES}, "mark": 1}]}

    assert came(raw, part(BYTES)) == raw
    assert came(raw, part(BYTES), part("AAAA")) == {
        "parts": [{"inline_data": {"mime_type": "image/png", "data": "AAAA"}}]
    }


@pytest.mark.parametrize("nothing", [None, False])
def test_nothing_is_put_back_where_nothing_stands(nothing: Any) -> None:
    raw = {"parts": [{"text": "a", "thought": nothing}]}

    assert came(raw, {"parts": [{"text": "a"}]}) == raw
    assert came(raw, {"parts": [{"text": "a"}]}, {"parts": [{"text": "b"}]}) == {
        "parts": [{"text": "b", "thought": nothing}]
    }
    for later in ({"parts": [{"thought": True}]}, {"parts": []}, {"parts": "a"}):
        assert came(raw, {"parts": [{"text": "a"}]}, later) == later


@pytest.mark.parametrize("value", [None, False])
def test_null_or_false_that_is_written_as_another_member_is_no_nothing(value: Any) -> None:
    raw, written = {"parts": [{"result": [{"json": value}]}]}, {"parts": [{"result": [{"text": "false"}]}]}

    assert came(raw, written) == raw
    later = {"parts": [{"result": [{"text": "false"}], "status": "error"}]}
    assert came(raw, written, later) == later


def test_a_name_that_stands_beside_its_other_one_is_another_member() -> None:
    raw = {"mimeType": "a", "mime_type": "b"}

    assert came(raw, {"mimeType": "a"}) == raw


@pytest.mark.parametrize("later", [{"role": "user", "parts": []}, {"role": "user"}, {"role": "user", "parts": "a"}, []])
def test_a_word_whose_place_is_gone_says_nothing(later: Any) -> None:
    raw = {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "_-_8"}}]}

    assert came(raw, part("/+/8"), later) == later


def test_what_says_nothing_is_put_back_beside_what_is_reported() -> None:
    raw, written = (
        {"parts": [{"text": "", "thought": None}, {"mark": 1}]},
        {"parts": [{"text": "(empty)"}, {"mark": 2}]},
    )
    entry = {"op": "replace", "path": "/messages/0/content", "code": "filler", "severity": "representation"}
    item: dict[str, Any] = {}
    keep_item(item, raw, written, HERE, [entry])
    loss = Loss()
    loss.entries.append(dict(entry))

    assert put_back_item(item, written, HERE, [entry], loss) == raw
    assert loss.entries == []


def test_a_group_is_put_back_where_its_own_items_are_written() -> None:
    """Another item that is written as one of them is none of it."""
    items: list[dict[str, Any]] = [{"role": "tool"}, {"role": "user"}, {"role": "user"}]
    result, empty = {"role": "user", "parts": [{"result": 1}]}, {"role": "user", "parts": [{"text": "(empty)"}]}
    both, other = {"role": "user", "parts": [{"result": 1}, {"code": 1}]}, {"role": "user", "parts": []}
    Items(items, "messages", Writing({}, HERE, Loss())).keep(
        [both, other], [(0, 1), (2,)], [result, empty, empty], [(0,), (1,), (2,)]
    )

    def put_back(*of: int) -> list[Any]:
        written = {0: result, 1: empty, 2: empty}
        return Items(items, "messages", Writing({}, HERE, Loss())).put_back(
            [written[at] for at in of], [(at,) for at in of]
        )

    assert put_back(0, 1, 2) == [both, other]
    assert put_back(0, 2, 1) == [result, other, empty]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ({"inline_data": {"mime_type": "image/png", "data": "_-_8"}}, {"inlineData": {"mimeType": "image/png"}}),
        ({"inlineData": {"mimeType": "image/png", "data": "_-_8"}}, {"inlineData": {"data": "/+/8", "x": 1}}),
        ({"inlineData": {"mimeType": "image/png", "data": "/+/8"}, "text": None}, {"inlineData": 1}),
    ],
)
def test_an_opaque_value_is_spelt_in_no_way(first: dict[str, Any], other: dict[str, Any]) -> None:
    """Where an edit took what stood before it, or had it stand before what was there."""
    raw, written = {"role": "user", "parts": [first, other]}, part("/+/8")
    item: dict[str, Any] = {"content": [{"type": "image"}, {"type": "opaque", "value": other}]}
    keep_item(item, raw, {**written, "parts": [*written["parts"], other]}, HERE, [])

    for parts in ([other], [other, *written["parts"]]):
        assert put_back_item(item, {"role": "user", "parts": parts}, HERE, [], Loss())["parts"] == parts
    edited = put_back_item(item, {"role": "user", "parts": [*written["parts"], {"text": "a"}, other]}, HERE, [], Loss())
    assert edited["parts"] == [first, {"text": "a"}, other]


def test_a_report_stays_where_not_all_that_it_is_of_is_put_back() -> None:
    opaque = {"result": [{"text": "(empty)"}]}
    raw, written = {"parts": [{"result": [opaque]}]}, {"parts": [opaque]}
    entry = {"op": "drop", "path": "/messages/0/content/0/content/0", "code": "unsupported_block", "severity": "lost"}
    item: dict[str, Any] = {"content": [{"type": "opaque", "value": opaque}]}
    keep_item(item, raw, written, HERE, [entry])
    loss = Loss()
    loss.entries.append(dict(entry))

    later = {"parts": [{"result": [{"text": "Edited."}]}]}
    assert put_back_item(item, later, HERE, [entry], loss) == later
    assert loss.entries == [entry]
    assert put_back_item(item, json.loads(json.dumps(written)), HERE, [entry], loss) == raw
    assert loss.entries == []


def test_a_list_for_which_nothing_is_written_does_not_outlive_an_edit_beside_it() -> None:
    raw = {"summary": [], "content": [{"text": "Plain."}], "status": "completed", "role": "user"}
    written = {"summary": [{"text": "Plain."}], "role": "user"}

    assert came(raw, written) == raw
    edited = {"summary": [{"text": "Edited."}], "role": "user"}
    assert came(raw, written, edited) == {**edited, "status": "completed"}
