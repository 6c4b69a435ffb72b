"""
The official SDKs as clients of a gateway: each asks in its own words and gives back what it understood.

A client has `ask(stream, tools, picture, schema, history)`, which returns `Understood`, `leave`, which goes away from a
stream after its first text and returns that, `refused`, the class of error of its SDK for a rate limit, and, where its
SDK has them, `models`, the names that it lists, and `count`, the tokens of the question.
"""

import base64
import json
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from oracles.gateway.serving import PICTURE

QUESTION, RESULT = "What is in here?", "a.txt"
TOOL = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@dataclass
class Understood:
    """What a client read of an answer: its text, its calls as (id, name, input), and tokens; `turn` is the client's own
    form of it, to be sent back."""

    text: str
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    output_tokens: int | None = None
    turn: Any = None


class OpenAIChat:
    """openai, Chat Completions."""

    def __init__(self, url: str) -> None:
        import openai

        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        self.refused = openai.RateLimitError
        self.model = "gpt-4.1"

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        content: Any = QUESTION
        if picture:
            url = {"url": f"data:image/png;base64,{PICTURE}"}
            content = [{"type": "text", "text": content}, {"type": "image_url", "image_url": url}]
        messages: list[Any] = [{"role": "user", "content": content}]
        if history is not None:
            results = [{"role": "tool", "tool_call_id": id, "content": RESULT} for id, _, _ in history.calls]
            messages += [history.turn, *results]
        more: dict[str, Any] = {}
        if tools:
            more["tools"] = [{"type": "function", "function": {"name": "list", "parameters": TOOL}}]
        if schema:
            more["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": SCHEMA, "strict": True},
            }
        if not stream:
            answer = self.client.chat.completions.create(model=self.model, messages=messages, **more)
        else:
            more["stream_options"] = {"include_usage": True}
            with self.client.chat.completions.stream(model=self.model, messages=messages, **more) as events:
                for _ in events:
                    pass
                answer = events.get_final_completion()
        message = answer.choices[0].message
        calls = [
            (call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()
        ]
        kept = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            kept["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in message.tool_calls
            ]
        return Understood(message.content or "", calls, answer.usage and answer.usage.completion_tokens, kept)

    def leave(self) -> str:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        with self.client.chat.completions.create(model=self.model, messages=messages, stream=True) as chunks:
            return next(text for chunk in chunks if (text := chunk.choices[0].delta.content))

    def models(self) -> list[str]:
        return [model.id for model in self.client.models.list()]


class OpenAIResponses(OpenAIChat):
    """openai, Responses."""

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        content: list[Any] = [{"type": "input_text", "text": QUESTION}]
        if picture:
            content.append({"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"})
        items: list[Any] = [{"role": "user", "content": content}]
        if history is not None:
            results = [{"type": "function_call_output", "call_id": id, "output": RESULT} for id, _, _ in history.calls]
            items += [*history.turn, *results]
        more: dict[str, Any] = {}
        if tools:
            more["tools"] = [{"type": "function", "name": "list", "parameters": TOOL, "strict": False}]
        if schema:
            more["text"] = {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True}}
        if stream:
            with self.client.responses.stream(model=self.model, input=items, **more) as events:
                for _ in events:
                    pass
                answer = events.get_final_response()
        else:
            answer = self.client.responses.create(model=self.model, input=items, **more)
        found = [item for item in answer.output if item.type == "function_call"]
        calls = [(item.call_id, item.name, json.loads(item.arguments)) for item in found]
        turn = [
            item.model_dump(exclude_none=True, exclude={"parsed_arguments"})
            for item in answer.output
            if item.type != "reasoning"
        ]
        for item in turn:
            for part in item.get("content") or ():
                part.pop("parsed", None)
        return Understood(answer.output_text, calls, answer.usage and answer.usage.output_tokens, turn)

    def leave(self) -> str:
        with self.client.responses.create(model=self.model, input=QUESTION, stream=True) as events:
            return next(event.delta for event in events if event.type == "response.output_text.delta")


class Anthropic:
    """anthropic, Messages."""

    def __init__(self, url: str) -> None:
        import anthropic

        self.client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        self.refused = anthropic.RateLimitError
        self.model = "claude-sonnet-4-6"

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        content: list[Any] = [{"type": "text", "text": QUESTION}]
        if picture:
            source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
            content.append({"type": "image", "source": source})
        messages: list[Any] = [{"role": "user", "content": content}]
        if history is not None:
            results = [{"type": "tool_result", "tool_use_id": id, "content": RESULT} for id, _, _ in history.calls]
            messages += [{"role": "assistant", "content": history.turn}, {"role": "user", "content": results}]
        more: dict[str, Any] = {"model": self.model, "max_tokens": 100, "messages": messages}
        if tools:
            more["tools"] = [{"name": "list", "input_schema": TOOL}]
        if schema:
            more["output_config"] = {"format": {"type": "json_schema", "schema": SCHEMA}}
        if stream:
            with self.client.messages.stream(**more) as events:
                answer = events.get_final_message()
        else:
            answer = self.client.messages.create(**more)
        text = "".join(block.text for block in answer.content if block.type == "text")
        calls = [(block.id, block.name, block.input) for block in answer.content if block.type == "tool_use"]
        turn = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in answer.content]
        return Understood(text, calls, answer.usage.output_tokens, turn)

    def leave(self) -> str:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        with self.client.messages.stream(model=self.model, max_tokens=100, messages=messages) as events:
            return next(events.text_stream)

    def models(self) -> list[str]:
        return [model.id for model in self.client.models.list()]

    def count(self) -> int:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        return self.client.messages.count_tokens(model=self.model, messages=messages).input_tokens


class Gemini:
    """google-genai."""

    def __init__(self, url: str) -> None:
        from google import genai
        from google.genai import errors, types

        self.types = types
        self.client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
        self.refused = errors.ClientError
        self.model = "gemini-2.5-pro"

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        types = self.types
        parts = [types.Part(text=QUESTION)]
        if picture:
            parts.append(types.Part.from_bytes(data=base64.b64decode(PICTURE), mime_type="image/png"))
        contents: list[Any] = [types.Content(role="user", parts=parts)]
        if history is not None:
            results = [
                types.Part(function_response=types.FunctionResponse(id=id, name=name, response={"output": RESULT}))
                for id, name, _ in history.calls
            ]
            contents += [history.turn, types.Content(role="user", parts=results)]
        config: dict[str, Any] = {"automatic_function_calling": {"disable": True}}
        if tools:
            declared = types.FunctionDeclaration(name="list", parameters_json_schema=TOOL)
            config["tools"] = [types.Tool(function_declarations=[declared])]
        if schema:
            config |= {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
        given: dict[str, Any] = {
            "model": self.model,
            "contents": contents,
            "config": types.GenerateContentConfig(**config),
        }
        if stream:
            chunks = list(self.client.models.generate_content_stream(**given))
        else:
            chunks = [self.client.models.generate_content(**given)]
        found = [
            part
            for chunk in chunks
            for one in chunk.candidates or ()
            if one.content
            for part in one.content.parts or ()
        ]
        text = "".join(part.text for part in found if part.text and not part.thought)
        calls = [
            (part.function_call.id, part.function_call.name, part.function_call.args)
            for part in found
            if part.function_call
        ]
        usage = chunks[-1].usage_metadata
        return Understood(text, calls, usage and usage.candidates_token_count, types.Content(role="model", parts=found))

    def leave(self) -> str:
        chunks = self.client.models.generate_content_stream(model=self.model, contents=QUESTION)
        with closing(chunks):
            return next(chunk.text for chunk in chunks if chunk.text)

    def models(self) -> list[str]:
        return [str(model.name).removeprefix("models/") for model in self.client.models.list()]

    def count(self) -> int:
        return self.client.models.count_tokens(model=self.model, contents=QUESTION).total_tokens or 0


class Ollama:
    """ollama."""

    def __init__(self, url: str) -> None:
        import ollama

        self.client = ollama.Client(host=url)
        self.refused = ollama.ResponseError
        self.model = "qwen3"

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        message: dict[str, Any] = {"role": "user", "content": QUESTION}
        if picture:
            message["images"] = [PICTURE]
        messages: list[Any] = [message]
        if history is not None:
            messages += [
                *history.turn,
                *({"role": "tool", "tool_name": name, "content": RESULT} for _, name, _ in history.calls),
            ]
        given: dict[str, Any] = {"model": self.model, "messages": messages}
        if tools:
            given["tools"] = [{"type": "function", "function": {"name": "list", "description": "", "parameters": TOOL}}]
        if schema:
            given["format"] = SCHEMA
        answers = list(self.client.chat(**given, stream=True)) if stream else [self.client.chat(**given)]
        text = "".join(one.message.content or "" for one in answers)
        found = [call for one in answers for call in one.message.tool_calls or ()]
        calls = [("", call.function.name, dict(call.function.arguments)) for call in found]
        turn: dict[str, Any] = {"role": "assistant", "content": text}
        if found:
            turn["tool_calls"] = found
        return Understood(text, calls, answers[-1].eval_count, [turn])

    def leave(self) -> str:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        with closing(self.client.chat(model=self.model, messages=messages, stream=True)) as answers:
            return next(one.message.content for one in answers if one.message.content)

    def models(self) -> list[str]:
        return [str(model.model) for model in self.client.list().models]


class Bedrock:
    """boto3, Converse and ConverseStream."""

    def __init__(self, url: str) -> None:
        import boto3
        from botocore.config import Config

        self.client: Any = boto3.client(
            "bedrock-runtime", endpoint_url=url, region_name="us-east-1", aws_access_key_id="none",
            aws_secret_access_key="none", config=Config(retries={"total_max_attempts": 1}),  # noqa: S106
        )  # fmt: skip
        self.refused = self.client.exceptions.ThrottlingException
        self.model = "us.anthropic.claude-sonnet-4-6-v1:0"

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        content: list[Any] = [{"text": QUESTION}]
        if picture:
            content.append({"image": {"format": "png", "source": {"bytes": base64.b64decode(PICTURE)}}})
        messages: list[Any] = [{"role": "user", "content": content}]
        if history is not None:
            results = [{"toolResult": {"toolUseId": id, "content": [{"text": RESULT}]}} for id, _, _ in history.calls]
            messages += [{"role": "assistant", "content": history.turn}, {"role": "user", "content": results}]
        given: dict[str, Any] = {"modelId": self.model, "messages": messages}
        if tools:
            given["toolConfig"] = {"tools": [{"toolSpec": {"name": "list", "inputSchema": {"json": TOOL}}}]}
        if schema:
            form = {"jsonSchema": {"name": "n", "schema": json.dumps(SCHEMA)}}
            given["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": form}}
        blocks, usage = self._streamed(given) if stream else self._whole(given)
        text = "".join(block.get("text", "") for block in blocks)
        calls = [(one["toolUseId"], one["name"], one["input"]) for block in blocks if (one := block.get("toolUse"))]
        return Understood(text, calls, usage["outputTokens"], blocks)

    def leave(self) -> str:
        messages: list[Any] = [{"role": "user", "content": [{"text": QUESTION}]}]
        with closing(self.client.converse_stream(modelId=self.model, messages=messages)["stream"]) as events:
            deltas = (event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event)
            return next(delta["text"] for delta in deltas if "text" in delta)

    def _whole(self, given: dict[str, Any]) -> Any:
        answer = self.client.converse(**given)
        return answer["output"]["message"]["content"], answer["usage"]

    def _streamed(self, given: dict[str, Any]) -> Any:
        blocks: dict[int, dict[str, Any]] = {}
        usage: Any = None
        for event in self.client.converse_stream(**given)["stream"]:
            if start := event.get("contentBlockStart"):
                blocks[start["contentBlockIndex"]] = {"toolUse": {**start["start"]["toolUse"], "input": ""}}
            elif delta := event.get("contentBlockDelta"):
                block = blocks.setdefault(delta["contentBlockIndex"], {})
                if "text" in delta["delta"]:
                    block["text"] = block.get("text", "") + delta["delta"]["text"]
                elif "toolUse" in delta["delta"]:
                    block["toolUse"]["input"] += delta["delta"]["toolUse"]["input"]
                elif "text" in delta["delta"].get("reasoningContent", {}):
                    reasoning = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})
                    reasoning["reasoningText"]["text"] += delta["delta"]["reasoningContent"]["text"]
            elif metadata := event.get("metadata"):
                usage = metadata["usage"]
        for block in blocks.values():
            if "toolUse" in block:
                block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
        return [blocks[index] for index in sorted(blocks)], usage


class Mistral:
    """mistralai, which speaks Chat Completions."""

    def __init__(self, url: str) -> None:
        from mistralai.client import Mistral as Client
        from mistralai.client.errors import SDKError

        self.client: Any = Client(api_key="none", server_url=url)
        self.refused = SDKError
        self.model = "mistral-large-latest"

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        content: Any = [{"type": "text", "text": QUESTION}]
        if picture:
            content.append({"type": "image_url", "image_url": f"data:image/png;base64,{PICTURE}"})
        messages: list[Any] = [{"role": "user", "content": content}]
        if history is not None:
            results = [
                {"role": "tool", "tool_call_id": id, "name": name, "content": RESULT} for id, name, _ in history.calls
            ]
            messages += [history.turn, *results]
        given: dict[str, Any] = {"model": self.model, "messages": messages}
        if tools:
            given["tools"] = [{"type": "function", "function": {"name": "list", "parameters": TOOL}}]
        if schema:
            form = {"name": "n", "schema_definition": SCHEMA, "strict": True}
            given["response_format"] = {"type": "json_schema", "json_schema": form}
        if stream:
            chunks = [event.data for event in self.client.chat.stream(**given)]
            deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
            text = "".join(delta.content for delta in deltas if isinstance(delta.content, str))
            parts: dict[int, list[Any]] = {}
            for delta in deltas:
                for call in delta.tool_calls or ():
                    parts.setdefault(call.index or 0, []).append(call)
            found = [
                (calls[0].id, calls[0].function.name, "".join(str(one.function.arguments) for one in calls))
                for calls in parts.values()
            ]
            usage = chunks[-1].usage
        else:
            answer = self.client.chat.complete(**given)
            message, usage = answer.choices[0].message, answer.usage
            text = message.content if isinstance(message.content, str) else ""
            found = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
        turn: dict[str, Any] = {"role": "assistant", "content": text}
        if found:
            turn["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": text}}
                for id, name, text in found
            ]
        calls = [(id, name, json.loads(text)) for id, name, text in found]
        return Understood(text, calls, usage and usage.completion_tokens, turn)

    def leave(self) -> str:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        with self.client.chat.stream(model=self.model, messages=messages) as events:
            return next(text for event in events if (text := event.data.choices[0].delta.content))

    def models(self) -> list[str]:
        return [model.id for model in self.client.models.list().data]


class Cohere:
    """cohere."""

    def __init__(self, url: str) -> None:
        import cohere
        from cohere.errors import TooManyRequestsError

        self.client = cohere.ClientV2(api_key="none", base_url=url, max_retries=0)
        self.refused = TooManyRequestsError
        self.model = "command-a-03-2025"

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        content: Any = QUESTION
        if picture:
            url = {"url": f"data:image/png;base64,{PICTURE}"}
            content = [{"type": "text", "text": content}, {"type": "image_url", "image_url": url}]
        messages: list[Any] = [{"role": "user", "content": content}]
        if history is not None:
            results = [{"role": "tool", "tool_call_id": id, "content": RESULT} for id, _, _ in history.calls]
            messages += [history.turn, *results]
        given: dict[str, Any] = {"model": self.model, "messages": messages}
        if tools:
            given["tools"] = [{"type": "function", "function": {"name": "list", "parameters": TOOL}}]
        if schema:
            given["response_format"] = {"type": "json_object", "json_schema": SCHEMA}
        text, found, usage = self._streamed(given) if stream else self._whole(given)
        calls = [(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in found]
        # the API takes no text beside calls: it is their plan
        turn: dict[str, Any] = {"role": "assistant", "content": text}
        if found:
            turn = {"role": "assistant", "tool_calls": found, **({"tool_plan": text} if text else {})}
        return Understood(text, calls, usage and int(usage.billed_units.output_tokens), turn)

    def leave(self) -> str:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        with closing(self.client.chat_stream(model=self.model, messages=messages)) as events:
            return next(event.delta.message.content.text for event in events if event.type == "content-delta")

    def _whole(self, given: dict[str, Any]) -> tuple[str, list[dict[str, Any]], Any]:
        answer = self.client.chat(**given)
        parts = [part.text for part in answer.message.content or () if part.type == "text"]
        calls = [
            {"id": call.id, "type": "function", "function": call.function.dict()}
            for call in answer.message.tool_calls or ()
        ]
        return (answer.message.tool_plan or "") + "".join(parts), calls, answer.usage

    def _streamed(self, given: dict[str, Any]) -> tuple[str, list[dict[str, Any]], Any]:
        text, calls, usage = "", [], None
        for event in self.client.chat_stream(**given):
            match event.type:
                case "tool-plan-delta":
                    text += event.delta.message.tool_plan
                case "content-delta":
                    text += event.delta.message.content.text or ""
                case "tool-call-start":
                    call = event.delta.message.tool_calls
                    calls.append({"id": call.id, "type": "function", "function": call.function.dict()})
                case "tool-call-delta":
                    calls[event.index]["function"]["arguments"] += event.delta.message.tool_calls.function.arguments
                case "message-end":
                    usage = event.delta.usage
                case _:
                    pass
        return text, calls, usage

    def models(self) -> list[str]:
        return [str(model.name) for model in self.client.models.list().models]


CLIENTS = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic": Anthropic,
    "google-genai": Gemini,
    "ollama": Ollama,
    "boto3": Bedrock,
    "mistralai": Mistral,
    "cohere": Cohere,
}
