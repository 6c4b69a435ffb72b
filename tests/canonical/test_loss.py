"""The report as a patch: what each op does, and what a model can see."""

from typing import Any

import pytest

from interlingua import InvalidRequest, apply, difference, visible

Data = dict[str, Any]


def text(words: str) -> Data:
    return {"type": "text", "text": words}


def request(*messages: tuple[str, list[Data]], **members: Any) -> Data:
    return {"messages": [{"role": role, "content": content} for role, content in messages], **members}


def contents(given: Data) -> list[list[str]]:
    return [[block["text"] for block in message["content"]] for message in given["messages"]]


THREE = request(("user", [text("a"), text("b")]), ("user", [text("c")]), ("assistant", [text("d")]))


def test_drops_do_not_shift_positions() -> None:
    """Two drops name positions of the request as written."""
    loss = [{"op": "drop", "path": "/messages/0/content/0"}, {"op": "drop", "path": "/messages/0/content/1"}]

    assert [[], ["c"], ["d"]] == contents(apply(THREE, loss))


def test_merge_appends_and_removes() -> None:
    """A later entry sees what an earlier one left."""
    loss = [
        {"op": "drop", "path": "/messages/1/content/0"},
        {"op": "merge", "path": "/messages/1", "to": "/messages/0"},
        {"op": "merge", "path": "/messages/2", "to": "/messages/0"},
    ]

    assert [["a", "b", "d"]] == contents(apply(THREE, loss))


def test_move_inserts_before_the_written_position() -> None:
    """A message moved to the front stands before the first written one."""
    loss = [{"op": "move", "path": "/messages/2", "to": "/messages/0"}]

    assert [["d"], ["a", "b"], ["c"]] == contents(apply(THREE, loss))


def test_blocks_moved_among_messages_arrive_in_one_user_message() -> None:
    """Both blocks join the message that the first of them made; what is left behind stays."""
    loss = [
        {"op": "move", "path": "/messages/0/content/0", "to": "/messages/3", "value": text("gone")},
        {"op": "move", "path": "/messages/0/content/1", "to": "/messages/3"},
    ]

    after = apply(THREE, loss)

    assert [["gone"], ["c"], ["d"], ["a", "b"]] == contents(after)
    assert "user" == after["messages"][3]["role"]


def test_replace_adds_absent_members() -> None:
    """Missing parents are made."""
    after = apply(THREE, [{"op": "replace", "path": "/reasoning/effort", "value": "high"}])

    assert {"effort": "high"} == after["reasoning"]


def test_merge_into_system_makes_it() -> None:
    """The request's own instructions are a list."""
    after = apply(THREE, [{"op": "merge", "path": "/messages/1", "to": "/system"}])

    assert [text("c")] == after["system"]


@pytest.mark.parametrize(
    "entry",
    [
        {"op": "drop", "path": "/nowhere"},
        {"op": "drop", "path": "/messages/9"},
        {"op": "explode", "path": "/messages/0"},
        {"op": "merge", "path": "/messages/0", "to": "/messages/7"},
    ],
)
def test_a_report_that_does_not_fit_is_refused(entry: Data) -> None:
    """A reported loss of something that is not there is an error in the report."""
    with pytest.raises(InvalidRequest):
        apply(THREE, [entry])


def test_the_request_itself_stays_as_it_is() -> None:
    """Apply gives a new value."""
    before = repr(THREE)

    apply(THREE, [{"op": "drop", "path": "/messages/0/content/0"}])

    assert before == repr(THREE)


def test_a_request_level_system_is_a_first_message() -> None:
    """Two spellings of the same instructions."""
    spelled = request(("user", [text("q")]), system=[text("s")])
    message = request(("system", [text("s")]), ("user", [text("q")]))

    assert visible(spelled) == visible(message)


def test_the_envelope_is_not_visible() -> None:
    """Ids, times and metadata of messages do not count; tool ids count by their order."""
    one = request(("assistant", [{"type": "tool_use", "id": "tu_A1", "name": "f", "input": {}}]))
    two = request(("assistant", [{"type": "tool_use", "id": "tu_B2", "name": "f", "input": {}, "kind": "function"}]))
    two["messages"][0] |= {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "metadata": {"status": "complete"}}

    assert visible(one) == visible(two)


def test_arguments_are_not_normalised() -> None:
    """What looks like a default inside free JSON is a value."""
    one = request(
        ("assistant", [{"type": "tool_use", "id": "tu_A1", "name": "f", "input": {"is_error": False, "x": None}}])
    )
    two = request(("assistant", [{"type": "tool_use", "id": "tu_A1", "name": "f", "input": {}}]))

    where = difference(visible(one), visible(two))

    assert where in ("/messages/0/content/0/input/is_error", "/messages/0/content/0/input/x")


def test_true_is_not_one() -> None:
    """Numbers compare by value, booleans only with booleans."""
    assert "/a" == difference({"a": True}, {"a": 1})
    assert difference({"a": 1}, {"a": 1.0}) is None
