"""cohere: the types of its parameters and answers, `ClientV2.chat`, and the events of `chat_stream`."""

import json
import typing
from functools import cache
from typing import Any

import cohere
from cohere.core.api_error import ApiError
from cohere.v2.client import V2Client
from cohere.v2.types.v2chat_response import V2ChatResponse
from pydantic import TypeAdapter

from judges._shared import Problem, Said, arguments, check_json, split


class Failed(Exception):
    """A stream whose last event tells of an error, or that has none: this SDK raises nothing itself."""


ADAPTER = "cohere_chat"
PROVIDER = "cohere"
FAILURES = (ApiError, Failed)
PARAMETERS = {
    name: kind
    for name, kind in typing.get_type_hints(V2Client.chat).items()
    if name not in ("request_options", "return")
}


@cache
def _type(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(PARAMETERS[name])


def request(body: dict[str, Any]) -> list[Problem]:
    """By the parameters of `chat`, each with its type; the SDK has no type of the whole."""
    known, rest = split(body, PARAMETERS.__contains__)
    return [Problem(f"/{name}", "is no parameter") for name in rest if name != "stream"] + [
        Problem(f"/{name}{problem.path}", problem.says)
        for name, value in known.items()
        for problem in check_json(_type(name), value)
    ]


def answer(body: dict[str, Any]) -> list[Problem]:
    """By `V2ChatResponse`, which lets unknown members pass."""
    return check_json(TypeAdapter(V2ChatResponse), body, closed=False)


@cache
def _client(address: str) -> cohere.ClientV2:
    return cohere.ClientV2(api_key="none", base_url=address, max_retries=0)


def said(body: dict[str, Any]) -> list[Said]:
    """The answer as `V2ChatResponse` shows it."""
    return _said(TypeAdapter(V2ChatResponse).validate_json(json.dumps(body)))


def ask(address: str, body: dict[str, Any]) -> list[Said]:
    """`ClientV2.chat`."""
    known, rest = split(body, PARAMETERS.__contains__)
    options = {"additional_body_parameters": rest} if rest else {}
    return _said(_client(address).chat(**known, request_options=options))


def unadorned(body: dict[str, Any]) -> dict[str, Any]:
    """A request without what the SDK adds: it says that it wants no stream."""
    return {name: value for name, value in body.items() if (name, value) != ("stream", False)}


def stream(address: str, body: dict[str, Any]) -> list[Said]:
    """The events of `chat_stream`, added up: this SDK has no accumulator."""
    one = Said()
    texts: dict[int, str] = {}
    pieces: dict[int, list[str]] = {}
    ended = False
    for event in _client(address).chat_stream(model="m", messages=[]):
        message = getattr(getattr(event, "delta", None), "message", None)
        match event.type:
            case "tool-plan-delta":
                one.text += message.tool_plan
            case "content-start" | "content-delta":
                texts[event.index] = texts.get(event.index, "") + (message.content.text or "")
                one.reasoning += message.content.thinking or ""
            case "tool-call-start":
                function = message.tool_calls.function
                pieces[event.index] = [function.name, function.arguments or ""]
            case "tool-call-delta":
                pieces[event.index][1] += message.tool_calls.function.arguments
            case "message-end":
                if event.delta.error is not None:
                    raise Failed(event.delta.error)
                ended, one.finish, one.tokens = True, event.delta.finish_reason, _tokens(event.delta.usage)
            case _:
                pass
    if not ended:
        raise Failed("the stream has no last event")
    one.text += "".join(texts.values())
    one.calls = tuple((name, arguments(given)) for name, given in pieces.values())
    return [one]


def _tokens(usage: Any) -> tuple[int, int] | None:
    billed = usage and (usage.billed_units or usage.tokens)
    return (int(billed.input_tokens or 0), int(billed.output_tokens or 0)) if billed else None


def _said(answer: V2ChatResponse) -> list[Said]:
    message = answer.message
    one = Said(finish=answer.finish_reason, tokens=_tokens(answer.usage), text=message.tool_plan or "")
    for part in message.content or ():
        one.text += getattr(part, "text", "")
        one.reasoning += getattr(part, "thinking", "")
    one.calls = tuple((call.function.name, arguments(call.function.arguments)) for call in message.tool_calls or ())
    return [one]
