"""What is made of a type is of that type, whichever SDK it is from, and the same from the same seed."""

import json
import random
from typing import Any

import pytest
from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.genai.types import GenerateContentResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter
from typed_values import Maker

KINDS = [
    *[ChatCompletion, Response, ResponseCreateParamsNonStreaming, Message, MessageCreateParamsNonStreaming],
    *[GenerateContentResponse, ChatResponse],
]


@pytest.mark.parametrize("kind", KINDS)
def test_value_is_of_its_type(kind: Any) -> None:
    adapter = TypeAdapter(kind)
    for seed in range(20):
        text = json.dumps(Maker(kind, random.Random(seed)).value())
        adapter.validate_json(text)
        assert text == json.dumps(Maker(kind, random.Random(seed)).value())


def test_overrides_and_members_of_a_later_version() -> None:
    made = Maker(
        ChatCompletion, random.Random(1), {"ChatCompletion.id": lambda draw: "given", "Choice": lambda _: {}}, later=1
    ).value()
    assert made["id"] == "given"
    assert "x_later" in made
    assert all(choice == {} for choice in made["choices"])
