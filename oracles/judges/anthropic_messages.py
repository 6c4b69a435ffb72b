"""anthropic: parameter types, answer type, `messages.create` and the accumulator of `messages.stream`."""

import inspect
from functools import cache
from typing import Any

import anthropic
from anthropic.types import Message
from anthropic.types.beta import BetaMessage
from anthropic.types.beta import message_create_params as beta_params
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from pydantic import TypeAdapter

from judges._shared import Problem, Said, check, check_json, split

ADAPTER = "anthropic_messages"
PROVIDER = "anthropic"
FAILURES = (anthropic.APIError,)
PARAMETERS = frozenset(inspect.signature(anthropic.resources.Messages.create).parameters)


@cache
def _params(*, stream: bool, beta: bool) -> TypeAdapter[Any]:
    if beta:
        return TypeAdapter(
            beta_params.MessageCreateParamsStreaming if stream else beta_params.MessageCreateParamsNonStreaming
        )
    return TypeAdapter(MessageCreateParamsStreaming if stream else MessageCreateParamsNonStreaming)


def request(body: dict[str, Any]) -> list[Problem]:
    """By the types of `messages`; what these do not know is looked up in those of `beta.messages`."""
    stream = body.get("stream") is True
    problems = check(_params(stream=stream, beta=False), body)
    return problems and (check(_params(stream=stream, beta=True), body) and problems)


def answer(body: dict[str, Any]) -> list[Problem]:
    """By `Message`, else by `BetaMessage`."""
    problems = check_json(_answer(beta=False), body, closed=False, strict=True)
    return problems and (check_json(_answer(beta=True), body, closed=False, strict=True) and problems)


@cache
def _answer(*, beta: bool) -> TypeAdapter[Any]:
    return TypeAdapter(BetaMessage if beta else Message)


@cache
def _client(address: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="none", base_url=address, max_retries=0)


def said(body: dict[str, Any]) -> list[Said]:
    """The answer as `Message` or `BetaMessage` shows it."""
    stable = not check_json(_answer(beta=False), body, closed=False, strict=True)
    return _said((Message if stable else BetaMessage).model_validate(body))


def ask(address: str, body: dict[str, Any]) -> list[Said]:
    """`messages.create`."""
    known, other = split(body, PARAMETERS.__contains__)
    return _said(_client(address).messages.create(**known, extra_body=other))


def stream(address: str, body: dict[str, Any]) -> list[Said]:
    """`messages.stream`, read to its end, and the message that it put together."""
    with _client(address).messages.stream(model="m", max_tokens=1, messages=[]) as events:
        return _said(events.get_final_message())


def _said(message: Any) -> list[Said]:
    one = Said(finish=message.stop_reason)
    calls = []
    for block in message.content:
        match block.type:
            case "text":
                one.text += block.text
            case "thinking":
                one.reasoning += block.thinking
            case "tool_use":
                calls.append((block.name, block.input))
            case _:
                pass
    one.calls = tuple(calls)
    usage = message.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    one.tokens = (usage.input_tokens + cached, usage.output_tokens)
    return [one]
