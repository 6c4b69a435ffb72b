"""openai, Responses: parameter types, answer type, `create` and the accumulator of `stream`."""

import inspect
from functools import cache
from typing import Any

import openai
from openai.resources.responses import Responses
from openai.types.responses import Response, ResponseInputItemParam
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter

from judges._shared import Problem, Said, arguments, check, check_json, split

ADAPTER = "openai_responses"
PROVIDER = "openai"


class Failed(Exception):
    """A stream that told of an error: the SDK hands the event on and raises nothing."""


FAILURES = (openai.APIError, Failed)
DEFAULTS: dict[Any, dict[str, Any]] = {"output_text": {"annotations": []}, "input_image": {"detail": "auto"}}
PARAMETERS = frozenset(inspect.signature(Responses.create).parameters)


@cache
def _params(*, stream: bool) -> TypeAdapter[Any]:
    return TypeAdapter(ResponseCreateParamsStreaming if stream else ResponseCreateParamsNonStreaming)


def request(body: dict[str, Any]) -> list[Problem]:
    """By the parameter types, the items one by one, with what the service does without and the types demand."""
    body = _completed(body)
    items = body["input"] if isinstance(body.get("input"), list) else []
    problems = check(_params(stream=body.get("stream") is True), {**body, "input": []} if items else body)
    for index, item in enumerate(items):
        if found := check(_input(), item):  # every arm of a large union speaks: one problem for each item
            problems.append(Problem(f"/input/{index}", "; ".join(map(str, found))))
    return problems


@cache
def _input() -> TypeAdapter[Any]:
    return TypeAdapter(ResponseInputItemParam)


def _completed(body: dict[str, Any]) -> dict[str, Any]:
    """
    The request with the members that the types demand and the service does without.

    These are what may be null in a function, the detail of an image, and in the items of a history the ids, status and
    annotations that the service gave them. Every other member stays what it is, so that what is wrong in it is seen.
    """
    completed = _tools(body)
    if isinstance(items := body.get("input"), list):
        completed["input"] = [_item(item) for item in items]
    return completed


def _tools(value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(tools := value.get("tools"), list):
        return dict(value)
    nothing = {"strict": None, "parameters": None}
    return {**value, "tools": [{**nothing, **tool} if tool.get("type") == "function" else tool for tool in tools]}


def _item(item: dict[str, Any]) -> dict[str, Any]:
    if item.get("type") == "reasoning":
        return {"id": "rs", **item}
    if item.get("type") == "additional_tools":
        return _tools(item)
    if item.get("role") == "assistant" and isinstance(item.get("content"), list):
        item = {"type": "message", "id": "msg", "status": "completed", **item}
    for name in ("content", "output"):
        if isinstance(parts := item.get(name), list):
            item = {**item, name: [{**DEFAULTS.get(part.get("type"), {}), **part} for part in parts]}
    return item


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
    """`responses.stream`, read to its end: the answer of its last event, with the text that the deltas told."""
    last: Any = None
    told: dict[tuple[int, int], str] = {}
    try:
        with _client(address).responses.stream(model="m", input="") as events:
            for event in events:
                match event.type:
                    case "response.output_text.delta":
                        place = (event.output_index, event.content_index)
                        told[place] = told.get(place, "") + event.delta
                    case "response.completed" | "response.incomplete" | "response.failed":
                        last = event.response
                    case "error":
                        raise Failed(event.message)
                    case _:
                        pass
    except RuntimeError as failure:
        if "before `error`" in str(failure):  # the SDK has no answer yet to which the error could belong
            raise Failed(str(failure)) from failure
        raise
    if last is None:
        raise AssertionError("the stream has no last event")
    found = _said(last)
    found[0].text = "".join(told[place] for place in sorted(told))
    return found


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
