"""mistralai: its models of requests and answers, `chat.complete`, and the chunks of `chat.stream`."""

import json
from functools import cache
from typing import Any

from mistralai.client import Mistral, errors, models
from pydantic import TypeAdapter, ValidationError

from judges._shared import Problem, Said, arguments, check_json

ADAPTER = "openai_chat"
PROVIDER = "mistral"
FAILURES = (errors.MistralError, errors.NoResponseError, ValidationError)


@cache
def _type(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(models, name))


def request(body: dict[str, Any]) -> list[Problem]:
    """By `ChatCompletionRequest`."""
    name = "ChatCompletionStreamRequest" if body.get("stream") else "ChatCompletionRequest"
    return check_json(_type(name), body)


def answer(body: dict[str, Any]) -> list[Problem]:
    """By `ChatCompletionResponse`."""
    return check_json(_type("ChatCompletionResponse"), body, closed=False)


@cache
def _client(address: str) -> Mistral:
    return Mistral(api_key="none", server_url=address)


def said(body: dict[str, Any]) -> list[Said]:
    """The answer as `ChatCompletionResponse` shows it."""
    return _said(models.ChatCompletionResponse.model_validate(body))


def ask(address: str, body: dict[str, Any]) -> list[Said]:
    """`chat.complete`."""
    return _said(_client(address).chat.complete(**{"stream": False, **body}))


def unadorned(body: dict[str, Any]) -> dict[str, Any]:
    """A request without what the SDK adds: every assistant message says that it is no prefix."""
    messages = [
        {name: value for name, value in message.items() if (name, value) != ("prefix", False)}
        for message in body["messages"]
    ]
    return {**body, "messages": messages}


def stream(address: str, body: dict[str, Any]) -> list[Said]:
    """The chunks of `chat.stream`, added up: this SDK has no accumulator. A call comes whole, in one delta."""
    choices: dict[int, Said] = {}
    tokens = None
    with _client(address).chat.stream(model="m", messages=[]) as events:
        for event in events:
            for choice in event.data.choices:
                one = choices.setdefault(choice.index, Said())
                _add(one, choice.delta)
                one.finish = choice.finish_reason or one.finish
            if event.data.usage is not None and event.data.usage.prompt_tokens is not None:
                tokens = (event.data.usage.prompt_tokens, event.data.usage.completion_tokens)
    for one in choices.values():
        one.tokens = tokens
    return [choices[index] for index in sorted(choices)]


def _said(completion: Any) -> list[Said]:
    usage = completion.usage
    found = []
    for choice in completion.choices:
        one = Said(finish=choice.finish_reason, tokens=(usage.prompt_tokens, usage.completion_tokens))
        _add(one, choice.message)
        found.append(one)
    return found


def _add(one: Said, message: Any) -> None:
    content = message.content or ""
    for part in [content] if isinstance(content, str) else content:
        match getattr(part, "type", "string"):
            case "string":
                one.text += part
            case "text":
                one.text += part.text
            case "thinking":
                one.reasoning += "".join(item.text for item in part.thinking)
            case _:
                pass
    for call in message.tool_calls or ():
        given = call.function.arguments
        one.calls += (
            (call.function.name, arguments(given) if isinstance(given, str) else json.loads(json.dumps(given))),
        )
