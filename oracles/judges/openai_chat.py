"""openai, Chat Completions: parameter types, answer type, `create` and the accumulator of `stream`."""

import inspect
from functools import cache
from typing import Any

import openai
from openai.resources.chat.completions import Completions
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter

from judges._shared import Problem, Said, arguments, check, check_json, split

ADAPTER = "openai_chat"
PROVIDER = "openai"
FAILURES = (openai.APIError,)
PARAMETERS = frozenset(inspect.signature(Completions.create).parameters)


@cache
def _params(*, stream: bool) -> TypeAdapter[Any]:
    return TypeAdapter(CompletionCreateParamsStreaming if stream else CompletionCreateParamsNonStreaming)


def request(body: dict[str, Any]) -> list[Problem]:
    """By the parameter types."""
    return check(_params(stream=body.get("stream") is True), body)


def answer(body: dict[str, Any]) -> list[Problem]:
    """By `ChatCompletion`."""
    return check_json(_answer(), body, closed=False, strict=True)


@cache
def _answer() -> TypeAdapter[Any]:
    return TypeAdapter(ChatCompletion)


@cache
def _client(address: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=address, max_retries=0)


def said(body: dict[str, Any]) -> list[Said]:
    """The answer as `ChatCompletion` shows it."""
    return _said(ChatCompletion.model_validate(body))


def ask(address: str, body: dict[str, Any]) -> list[Said]:
    """`chat.completions.create`."""
    known, other = split(body, PARAMETERS.__contains__)
    return _said(_client(address).chat.completions.create(**known, extra_body=other))


def stream(address: str, body: dict[str, Any]) -> list[Said]:
    """`chat.completions.stream`, read to its end, and the completion that it put together.

    The SDK raises at the end of an answer that was cut off or filtered, though it has put it together.
    """
    with _client(address).chat.completions.stream(model="m", messages=[]) as events:
        try:
            for _ in events:
                pass
            return _said(events.get_final_completion())
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError):
            return _said(events.current_completion_snapshot)


def _said(completion: Any) -> list[Said]:
    usage = completion.usage
    tokens = None if usage is None else (usage.prompt_tokens, usage.completion_tokens)
    return [_choice(choice, tokens) for choice in sorted(completion.choices, key=lambda choice: choice.index)]


def _choice(choice: Any, tokens: tuple[int, int] | None) -> Said:
    message = choice.message
    calls = [
        (call.custom.name, call.custom.input)
        if call.type == "custom"
        else (call.function.name, arguments(call.function.arguments))
        for call in message.tool_calls or ()
    ]
    return Said(
        text=message.content or "",
        refusal=message.refusal or "",
        calls=tuple(calls),
        finish=choice.finish_reason,
        tokens=tokens,
    )
