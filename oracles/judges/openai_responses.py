"""openai, Responses: parameter types, answer type, `create` and the accumulator of `stream`."""

import inspect
from functools import cache
from typing import Any

import openai
from openai.resources.responses import Responses
from openai.types.responses import Response
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter

from judges._shared import Problem, Said, arguments, check, check_json, split

ADAPTER = "openai_responses"
PROVIDER = "openai"
FAILURES = (openai.APIError,)
PARAMETERS = frozenset(inspect.signature(Responses.create).parameters)


@cache
def _params(*, stream: bool) -> TypeAdapter[Any]:
    return TypeAdapter(ResponseCreateParamsStreaming if stream else ResponseCreateParamsNonStreaming)


def request(body: dict[str, Any]) -> list[Problem]:
    """By the parameter types."""
    return check(_params(stream=body.get("stream") is True), body)


def answer(body: dict[str, Any]) -> list[Problem]:
    """By `Response`."""
    return check_json(_answer(), body, closed=False, strict=True)


@cache
def _answer() -> TypeAdapter[Any]:
    return TypeAdapter(Response)


@cache
def _client(address: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=address, max_retries=0)


def said(body: dict[str, Any]) -> list[Said]:
    """The answer as `Response` shows it."""
    return _said(Response.model_validate(body))


def ask(address: str, body: dict[str, Any]) -> list[Said]:
    """`responses.create`."""
    known, other = split(body, PARAMETERS.__contains__)
    return _said(_client(address).responses.create(**known, extra_body=other))


def stream(address: str, body: dict[str, Any]) -> list[Said]:
    """
    `responses.stream`, read to its end: the accumulator's own snapshot must hold what the last event says.

    The events of failed answers carry the whole response as well; the SDK gives no final response for these.
    """
    last: Any = None
    text = ""
    with _client(address).responses.stream(model="m", input="") as events:
        for event in events:
            match event.type:
                case "response.output_text.delta":
                    text += event.delta
                case "response.completed" | "response.incomplete" | "response.failed":
                    last = event.response
                case _:
                    pass
    assert last is not None, "no final event"
    if last.status == "failed":
        raise openai.APIError(last.error.message if last.error else "failed", request=None, body=None)  # type: ignore[arg-type]
    one = _said(last)
    assert one[0].text == text, "the text deltas are not the text"
    return one


def _said(response: Any) -> list[Said]:
    one = Said(finish=response.status)
    calls: list[tuple[str, Any]] = []
    for item in response.output:
        match item.type:
            case "message":
                for part in item.content:
                    if part.type == "refusal":
                        one.refusal += part.refusal
                    else:
                        one.text += part.text
            case "reasoning":
                one.reasoning += "".join(part.text for part in [*(item.summary or ()), *(item.content or ())])
            case "function_call":
                calls.append((item.name, arguments(item.arguments)))
            case "custom_tool_call":
                calls.append((item.name, item.input))
            case _:
                pass
    one.calls = tuple(calls)
    if response.usage is not None:
        one.tokens = (response.usage.input_tokens, response.usage.output_tokens)
    return [one]
