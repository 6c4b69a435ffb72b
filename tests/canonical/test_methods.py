"""Copies with other members."""

from typing import Any

import pytest

from interlingua import (
    ImageBlock,
    InvalidRequest,
    MediaSource,
    Message,
    MessageMetadata,
    Request,
    Response,
    ToolResultBlock,
    ToolUseBlock,
    check,
)


def test_a_request_with_other_options_is_another_request() -> None:
    """The first one stays as it is and can be used again."""
    request = Request(messages=[Message.user("hi")])
    limited = request.with_options(max_output_tokens=5)

    assert limited.max_output_tokens == 5
    assert request.max_output_tokens is None
    assert limited.messages == request.messages


def test_an_option_of_none_is_taken_away() -> None:
    """Others stay, those that this version does not know among them."""
    request = Request.of({"messages": [], "top_k": 3, "temperature": 0.1, "later": {"a": 1}})

    assert request.with_options(top_k=None).plain() == {"messages": [], "temperature": 0.1, "later": {"a": 1}}


def test_a_changed_copy_is_checked_as_a_new_value() -> None:
    """A wrong type is refused where it is written, and not when the request is sent."""
    changes: list[Any] = [
        lambda: Request(messages=[]).with_options(temperature="hot"),
        lambda: Message.user("hi").with_priority("high"),  # type: ignore[arg-type]
        lambda: Message.user("hi").cacheable("soon"),
    ]
    for change in changes:
        with pytest.raises(InvalidRequest):
            change()


def test_content_is_a_text_a_block_or_a_list_of_them() -> None:
    """Anything else is told in words."""
    for wrong in (5, None, b"bytes", ["text", 5], iter("ab")):
        with pytest.raises(InvalidRequest, match="a text, a block, or a list of them"):
            Message.user(wrong)


def test_no_error_of_the_types_holds_content() -> None:
    """What stands in a wrong place may be anybody's words."""
    with pytest.raises(InvalidRequest) as error:
        Message(role="user", content=["the launch code is 0000"])  # type: ignore[arg-type]
    assert "0000" not in str(error.value)


def test_the_metadata_of_a_result_may_be_plain_data() -> None:
    """It is linked to its call either way."""
    plain = Message.tool("tu_1", "4.1 bar", metadata={"user_id": "usr_1"})
    made = Message.tool("tu_1", "4.1 bar", metadata=MessageMetadata(user_id="usr_1"))

    assert plain.plain() == made.plain()
    assert plain.plain()["metadata"] == {"user_id": "usr_1", "parent_tool_use_id": "tu_1"}


def test_three_lists_may_hold_plain_data() -> None:
    """And what is no result is refused."""
    said, result = Message.from_lists(
        "assistant", ["one"], [ToolUseBlock(id="tu_1", name="f", input={})], [{"tool_use_id": "tu_1", "content": []}]
    )

    assert (said.text, result.tool_use_id) == ("one", "tu_1")
    with pytest.raises(InvalidRequest):
        Message.from_lists("assistant", tool_results=["4.1 bar"])


def test_messages_that_differ_in_more_than_content_are_not_joined() -> None:
    """Joined, the hint of one would be that of all, or of none; and what is split comes back as it was."""
    said = Message.assistant("one")
    hinted = Message.assistant("two").cacheable("1h")

    assert Message.join([said, hinted]) == [said, hinted]
    assert Message.join([said, hinted])[1].cache is not None
    assert [one.text for one in Message.join([said, Message.assistant("three"), hinted])] == ["onethree", "two"]
    assert Message.join(Message.assistant(["a", "b"], name="x").split()) == [Message.assistant(["a", "b"], name="x")]


def test_the_view_of_one_block_is_refused_where_there_are_more_or_none() -> None:
    for message in (Message.user(["one", "two"]), Message.of({"role": "user", "content": []})):
        with pytest.raises(InvalidRequest, match="split the message first") as caught:
            message.single()
        assert caught.value.path == "/content"


CALL = ToolUseBlock(id="tu_1", name="f", input={})
PICTURE = ImageBlock.from_bytes(b"x", "image/png")
RESULT = ToolResultBlock(tool_use_id="tu_1", content=[])


@pytest.mark.parametrize(
    ("rule", "path", "make"),
    [
        ("content_not_empty", "/content", lambda: Message.user([])),
        ("content_not_empty", "/content", lambda: Message.assistant([])),
        ("content_not_empty", "/content", lambda: Message(role="user", content=[])),
        ("content_not_empty", "/content", lambda: Message.user("hi").model_copy(update={"content": []})),
        ("block_in_role", "/content/1/type", lambda: Message.user(["look", CALL])),
        ("block_in_role", "/content/0/type", lambda: Message.user(CALL)),
        ("block_in_role", "/content/0/type", lambda: Message.user("hi").model_copy(update={"content": [CALL]})),
        ("block_in_role", "/content/0/type", lambda: Message.assistant("hi").model_copy(update={"content": [RESULT]})),
        ("block_in_role", "/content/0/type", lambda: Message.assistant(CALL).model_copy(update={"role": "user"})),
        ("block_in_role", "/content/0/type", lambda: Message.system(PICTURE)),
        ("block_in_role", "/content/0/type", lambda: Message.developer(PICTURE)),
        ("block_in_role", "/content/0/type", lambda: Message.from_lists("user", tool_calls=[CALL])),
        ("block_in_role", "/content/0/type", lambda: ToolResultBlock(tool_use_id="tu_1", content=[CALL])),
        ("block_in_role", "/content/0/type", lambda: Message.tool("tu_1", RESULT)),
        (
            "block_in_role",
            "/content/0/content/0/type",
            lambda: Message.of({"role": "user", "content": []}).model_copy(
                update={
                    "role": "tool",
                    "content": [{"type": "tool_result", "tool_use_id": "tu_1", "content": [CALL.plain()]}],
                }
            ),
        ),
        ("media_type", "", lambda: ImageBlock(source=MediaSource(kind="base64", data="YQ=="))),
        ("media_source", "/source", lambda: ImageBlock(source=MediaSource(kind="url"))),
        ("media_source", "/source", lambda: PICTURE.model_copy(update={"source": MediaSource(kind="blocks")})),
        ("one_result_per_message", "/content", lambda: Message(role="tool", content=[RESULT, RESULT])),
        ("parent_tool_use_id", "/metadata/parent_tool_use_id", lambda: Message(role="tool", content=[RESULT])),
        (
            "parent_tool_use_id",
            "/metadata/parent_tool_use_id",
            lambda: Message.tool("tu_1", "x").model_copy(
                update={"metadata": MessageMetadata(parent_tool_use_id="tu_2")}
            ),
        ),
    ],
)
def test_what_the_contract_forbids_is_not_made(rule: str, path: str, make: Any) -> None:
    """The rules of content hold for what a program makes, when it is made (spec/1-values.md#made)."""
    with pytest.raises(InvalidRequest) as error:
        make()
    assert error.value.path == path
    assert rule in {violation["rule"] for violation in error.value.violations}


def test_an_unfinished_message_is_made_of_anything() -> None:
    """As `check` has it: rules of content are for what is complete."""
    made = Message(role="assistant", content=[], metadata=MessageMetadata(status="partial"))
    assert not check(made)
    with pytest.raises(InvalidRequest):
        made.model_copy(update={"metadata": MessageMetadata(status="complete")})


def test_an_empty_answer_is_read_and_given_an_id() -> None:
    """A model may say nothing: its answer is kept as it is, and bound to a session as any other."""
    answer = Response.of({"message": {"role": "assistant", "content": []}, "finish_reason": "stop"})
    bound = answer.message.model_copy(update={"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "session_id": "s"})
    assert bound.content == []
    assert {violation["rule"] for violation in check(bound)} == {"content_not_empty"}
