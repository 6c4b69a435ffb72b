"""Requests and answers of Gemini made at random, odd and spelt in all ways: each comes back as it came."""

import random
from typing import Any

import pytest

from interlingua import adapters, difference, registry
from interlingua.adapters._requests import requests
from interlingua.canonical import json
from interlingua.canonical.ids import DERIVED_IDS

GEMINI = adapters.get("gemini_generate")
HERE = registry.endpoint(adapter="gemini_generate")
ROUNDS = 150
DATA = ["iVBORw0KGgo=", "iVBORw0KGgo", "_-_8", "/+/8", "AA", "AAA=", "A_A-", "!!", ""]
RESPONSES: list[Any] = [
    {"result": "x"}, {"output": "x"}, {"a": 1}, {}, {"result": {"b": 2}}, "t", [1], None, {"error": "e"}, {"error": ""},
    {"result": ["a", "b"]}, {"output": 3},
]  # fmt: skip
SNAKE = {
    name: "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    for name in (
        "inlineData",
        "mimeType",
        "functionCall",
        "functionResponse",
        "thoughtSignature",
        "fileData",
        "fileUri",
    )
}


class Made:
    """What a chance makes."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def happens(self, share: float) -> bool:
        """Whether something happens that does in this share of all cases."""
        return self.chance.random() < share

    def spelt(self, item: dict[str, Any]) -> dict[str, Any]:
        """Some names in the second case."""
        return {
            SNAKE.get(name, name) if self.happens(0.5) else name: self.spelt(value)
            if type(value) is dict and self.happens(0.7)
            else value
            for name, value in item.items()
        }

    def call(self) -> dict[str, Any]:
        """A call."""
        call: dict[str, Any] = {"name": self.chance.choice(["f", "g", "a b"])}
        if self.happens(0.85):
            call["args"] = self.chance.choice([{}, {"a": 1}, None, [1]])
        return self.identified(call)

    def identified(self, item: dict[str, Any]) -> dict[str, Any]:
        """An item that may have an id."""
        return {**item, "id": self.chance.choice(["1", "2", "", None])} if self.happens(0.3) else item

    def result(self) -> dict[str, Any]:
        """A result, which may lack a member."""
        result: dict[str, Any] = {
            "name": self.chance.choice(["f", "g", "a b"]),
            "response": self.chance.choice(RESPONSES),
        }
        result = self.identified(result)
        if self.happens(0.1):
            result["parts"] = self.chance.choice([[], [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]])
        if self.happens(0.07):
            del result[self.chance.choice(list(result))]
        return result

    def part(self, role: str) -> dict[str, Any]:
        """A part for a content of this role, mostly."""
        choice = self.chance.choice
        part: dict[str, Any]
        match choice(["text", "text", "data", "file", "tool", "tool", "tool", "other"]):
            case "text":
                part = {"text": choice(["a", "b", "", " "])}
            case "data":
                kind = choice(["image/png", "image/gif", "audio/wav", "x", "image/jpg"])
                part = {"inlineData": {"mimeType": kind, "data": choice(DATA)}}
            case "file":
                part = {"fileData": {"fileUri": choice(["https://youtu.be/a", "gs://b", "https://x/y.png", "files/1"])}}
                if self.happens(0.5):
                    part["fileData"]["mimeType"] = "image/png"
            case "tool" if (role == "model") != self.happens(0.07):
                part = {"functionCall": self.call()}
            case "tool":
                part = {"functionResponse": self.result()}
            case _:
                part = {choice(["executableCode", "codeExecutionResult", "toolCall", "weird"]): {"code": "1"}}
        if self.happens(0.2):
            part.setdefault(choice(["text", "functionCall", "x", "inlineData", "videoMetadata"]), None)
        if self.happens(0.2):
            part["thought"] = choice([False, False, True, None])
        if self.happens(0.15):
            part["thoughtSignature"] = choice(["c2ln", "", None])
        if self.happens(0.1):
            part["y"] = choice([1, None, False, {"z": 1}])
        return self.spelt(part) if self.happens(0.3) else part

    def content(self, *roles: str | None) -> dict[str, Any]:
        """A content of one of these roles."""
        role = self.chance.choice(roles)
        parts = [self.part(role or "user") for _ in range(self.chance.choice([0, 1, 1, 1, 2, 2, 3]))]
        content: dict[str, Any] = {"parts": parts[0] if len(parts) == 1 and self.happens(0.1) else parts}
        if not parts and self.happens(0.5):
            content["parts"] = None
        if role is not None:
            content["role"] = role
        if self.happens(0.05):
            content["z"] = 1
        return content

    def request(self) -> dict[str, Any]:
        """The body of a request."""
        roles = ("user", "model", "model", "user", "function", None)
        body: dict[str, Any] = {"contents": [self.content(*roles) for _ in range(self.chance.choice([1, 2, 3, 5, 7]))]}
        if self.happens(0.4):
            body["systemInstruction"] = self.content("user", "system", None)
        return body

    def answer(self) -> dict[str, Any]:
        """The body of an answer."""
        candidates: list[dict[str, Any]] = []
        for index in range(self.chance.choice([0, 1, 1, 2])):
            content = self.content("model", "model", "user")
            if type(content["parts"]) is dict:
                content["parts"] = [content["parts"]]
            finish = self.chance.choice(["STOP", "MAX_TOKENS", 1, "X", None])
            candidate: dict[str, Any] = {"content": content, "index": index, "finishReason": finish}
            if self.happens(0.2):
                del candidate[self.chance.choice(list(candidate))]
            if self.happens(0.1):
                candidate["index"] = self.chance.choice([5, None, "0"])
            candidates.append(candidate)
        body: dict[str, Any] = {"candidates": candidates, "usageMetadata": {"promptTokenCount": 1}}
        if self.happens(0.2):
            body["promptFeedback"] = self.chance.choice([{"blockReason": "SAFETY"}, {"blockReason": "X"}, {}])
        if not candidates and self.happens(0.6):
            del body["candidates"]
        return body


@pytest.mark.parametrize("seed", range(4))
def test_a_request_comes_back_as_it_came(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(seed)
    for _ in range(ROUNDS):
        body = made.request()
        model = made.chance.choice(["gemini-3-flash-preview", "gemini-2.5-flash"])
        wire = {"method": "POST", "path": f"/models/{model}:generateContent", "headers": {}, "body": body}
        request, _ = GEMINI.from_wire_request(json.loads(json.dumps(wire)), HERE, DERIVED_IDS)
        with monkeypatch.context() as patch:
            patch.setattr(requests, "may_differ", lambda must_compare: True)
            assert GEMINI.from_wire_request(json.loads(json.dumps(wire)), HERE, DERIVED_IDS)[0] == request, body
        again, loss = GEMINI.to_wire(json.loads(json.dumps(request)), HERE)
        assert difference(body, again["body"]) is None, body
        assert [entry for entry in loss if entry["code"] != "envelope"] == [], body


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_comes_back_as_it_came(seed: int) -> None:
    made = Made(seed)
    for _ in range(ROUNDS):
        body = made.answer()
        answer, _ = GEMINI.from_wire_response(json.loads(json.dumps(body)), HERE, DERIVED_IDS)
        again, loss = GEMINI.to_wire_response(json.loads(json.dumps(answer)), HERE)
        assert (difference(body, again), loss) == (None, []), body
