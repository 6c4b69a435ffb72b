"""Checked by pyright, never run: what the types promise to those who write adapters and to those who use them."""

from typing import Any, assert_type

from interlingua import Message, Request, TextBlock, ToolUseBlock, UnknownBlock, media
from interlingua.canonical import types


def a_comparison_narrows(block: types.ContentBlock) -> str:
    if block["type"] == "text":
        assert_type(block, types.TextBlock)
        return block["text"]
    match block["type"]:
        case "tool_use":
            assert_type(block, types.ToolUseBlock)
            return block["name"]
        case "image" | "audio":
            assert_type(block, types.ImageBlock | types.AudioBlock)
            return block["source"]["kind"]
        case "video" | "document" | "tool_result" | "thinking" | "redacted_thinking" | "opaque":
            return ""
        case _:
            # all that is left is what this version does not know
            assert_type(block, types.UnknownBlock)
            return ""


def an_event_narrows(event: types.StreamEvent) -> str:
    match event["type"]:
        case "text_delta" | "thinking_delta":
            return event["text"]
        case "message_complete":
            assert_type(event["response"], types.Response)
            return event["response"]["finish_reason"]
        case _:
            return ""


def media_come_back_as_they_were_given(plain: dict[str, Any], request: Request) -> None:
    assert_type(media.fit(plain, {})[0], dict[str, Any])
    assert_type(media.fit(request, {})[0], Request)
    assert_type(media.resolve(request), Request)


def required_members_are_required() -> None:
    _missing: types.TextBlock = {"type": "text"}  # pyright: ignore[reportAssignmentType]
    _wrong: types.Message = {"role": "wizard", "content": []}  # pyright: ignore[reportAssignmentType]
    _right: types.Message = {"role": "user", "content": [{"type": "text", "text": "hello"}]}


def models_narrow_by_class(message: Message) -> str:
    for block in message.content:
        match block:
            case TextBlock(text=text):
                assert_type(text, str)
                return text
            case ToolUseBlock(name=name):
                return name
            case UnknownBlock(type=word):
                return word
            case _:
                pass
    return ""


def constructors_take_what_the_contract_takes() -> None:
    Message(role="user", content=[TextBlock(text="hello")])
    Message(role="wizard", content=[])  # pyright: ignore[reportArgumentType]
    TextBlock()  # pyright: ignore[reportCallIssue]
