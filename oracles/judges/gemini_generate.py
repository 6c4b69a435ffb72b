"""google-genai: its models, which forbid unknown members, and `generate_content`, whole and as chunks."""

from functools import cache
from typing import Any

from google import genai
from google.genai import errors, types
from pydantic import TypeAdapter, ValidationError

from judges._shared import Problem, Said, check_json

ADAPTER = "gemini_generate"
PROVIDER = "gemini"
FAILURES = (errors.APIError, errors.UnknownApiResponseError)


class Generation(types.GenerationConfig):
    """The wire's configuration of generation: the SDK writes this member there, from its flat configuration alone."""

    image_config: types.ImageConfig | None = None


# the SDK has one flat configuration; the members of the wire are these types
MEMBERS: dict[str, Any] = {
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "generationConfig": Generation,
    "safetySettings": list[types.SafetySetting],
    "cachedContent": str,
    "labels": dict[str, str],
    "serviceTier": types.ServiceTier,
    "store": bool,
}


@cache
def _type(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(MEMBERS[name])


@cache
def _answer() -> TypeAdapter[Any]:
    return TypeAdapter(types.GenerateContentResponse)


def request(body: dict[str, Any]) -> list[Problem]:
    """Member by member."""
    problems: list[Problem] = []
    for name, value in body.items():
        if name == "model":
            continue
        problems += (
            check_json(_type(name), value, f"/{name}")
            if name in MEMBERS
            else [Problem(f"/{name}", "not known to the SDK")]
        )
    return problems


def answer(body: dict[str, Any]) -> list[Problem]:
    """By `GenerateContentResponse`."""
    return check_json(_answer(), body, closed=False)


@cache
def _client(address: str) -> genai.Client:
    return genai.Client(api_key="none", http_options=types.HttpOptions(base_url=address))


def said(body: dict[str, Any]) -> list[Said]:
    """The answer as `GenerateContentResponse` shows it."""
    return _said([types.GenerateContentResponse.model_validate(body)])


def ask(address: str, body: dict[str, Any]) -> list[Said]:
    """`generate_content`, from the members of the wire."""
    flat = {name: value for name, value in body.items() if name not in ("contents", "generationConfig", "model")}
    config = types.GenerateContentConfig.model_validate({**flat, **body.get("generationConfig", {})})
    config.automatic_function_calling = types.AutomaticFunctionCallingConfig(disable=True)
    contents = [types.Content.model_validate(content) for content in body.get("contents", ())]
    return _said([_client(address).models.generate_content(model="m", contents=contents, config=config)])


def stream(address: str, body: dict[str, Any]) -> list[Said]:
    """The chunks of `generate_content_stream`, added up: this SDK has no accumulator."""
    chunks = list(_client(address).models.generate_content_stream(model="m", contents="x"))
    for chunk in chunks:
        try:
            types.GenerateContentResponse.model_validate(chunk.model_dump(exclude={"sdk_http_response"}))
        except ValidationError as error:
            raise AssertionError(str(error)) from None
    return _said(chunks)


def _said(chunks: list[Any]) -> list[Said]:
    choices: dict[int, Said] = {}
    tokens = None
    for chunk in chunks:
        for position, candidate in enumerate(chunk.candidates or ()):
            one = choices.setdefault(candidate.index if candidate.index is not None else position, Said())
            for part in (candidate.content and candidate.content.parts) or ():
                if part.function_call is not None:
                    one.calls += ((part.function_call.name, part.function_call.args or {}),)
                elif part.thought:
                    one.reasoning += part.text or ""
                else:
                    one.text += part.text or ""
            if candidate.finish_reason is not None:
                one.finish = candidate.finish_reason.value
        if (usage := chunk.usage_metadata) is not None:
            prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
            tokens = (prompt, (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0))
    for one in choices.values():
        one.tokens = tokens
    return [choices[index] for index in sorted(choices)]
