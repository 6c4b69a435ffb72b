"""ollama: its models of requests and answers, and `Client.chat`, whole and as JSON lines."""

import inspect
from functools import cache
from typing import Any

import ollama
from ollama import _types as types
from pydantic import TypeAdapter

from judges._shared import Problem, Said, check

ADAPTER = "ollama_chat"
PROVIDER = "ollama"
FAILURES = (ollama.ResponseError,)
PARAMETERS = frozenset(inspect.signature(ollama.Client.chat).parameters)
# the server takes these members; the SDK of this version has no place for them
SERVER_ONLY = frozenset(("truncate", "shift"))
SERVER_ONLY_OF_MESSAGES = frozenset(("tool_call_id",))
SERVER_ONLY_OF_CALLS = frozenset(("id",))
SERVER_ONLY_OF_FUNCTIONS = frozenset(("index",))


@cache
def _type(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def request(body: dict[str, Any]) -> list[Problem]:
    """By `ChatRequest`; messages and options by their own types, as the request takes any mapping for them."""
    problems = check(_type(types.ChatRequest), _without(body, SERVER_ONLY))
    for index, message in enumerate(body.get("messages", ())):
        problems += check(_type(types.Message), _message(message), f"/messages/{index}")
    if "options" in body:
        problems += check(_type(types.Options), body["options"], "/options")
    return problems


def _without(value: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name not in names}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """A message of the wire as the SDK has it before it writes: images are objects, calls have no ids."""
    message = _without(message, SERVER_ONLY_OF_MESSAGES)
    if "images" in message:
        message["images"] = [{"value": image} for image in message["images"]]
    if "tool_calls" in message:
        message["tool_calls"] = [
            _without({**call, "function": _without(call["function"], SERVER_ONLY_OF_FUNCTIONS)}, SERVER_ONLY_OF_CALLS)
            for call in message["tool_calls"]
        ]
    return message


def answer(body: dict[str, Any]) -> list[Problem]:
    """By `ChatResponse`."""
    try:
        types.ChatResponse.model_validate(body)
    except ValueError as error:
        return [Problem("", str(error))]
    return []


@cache
def _client(address: str) -> ollama.Client:
    return ollama.Client(host=address)


def said(body: dict[str, Any]) -> list[Said]:
    """The answer as `ChatResponse` shows it."""
    return _said([types.ChatResponse.model_validate(body)])


def ask(address: str, body: dict[str, Any]) -> list[Said]:
    """`Client.chat`; it has no place for members that it does not know."""
    known = {name: value for name, value in body.items() if name in PARAMETERS}
    return _said([_client(address).chat(**{**known, "stream": False})])


def stream(address: str, body: dict[str, Any]) -> list[Said]:
    """The lines of `Client.chat`, added up: this SDK has no accumulator."""
    return _said(list(_client(address).chat(model="m", messages=[], stream=True)))


def _said(lines: list[Any]) -> list[Said]:
    one = Said()
    for line in lines:
        one.text += line.message.content or ""
        one.reasoning += line.message.thinking or ""
        one.calls += tuple(
            (call.function.name, dict(call.function.arguments)) for call in line.message.tool_calls or ()
        )
        one.finish = line.done_reason or one.finish
        if line.prompt_eval_count is not None or line.eval_count is not None:
            one.tokens = (line.prompt_eval_count or 0, line.eval_count or 0)
    if not lines or not lines[-1].done:
        raise AssertionError("the last line does not say that it is the last")
    return [one]
