"""An error that we write is, to the provider's own SDK, the error that it would raise for its provider."""

from typing import Any

import judges
import pytest
from checks import PROVIDER
from expected import known_judges
from loopback import Refusal

from interlingua import registry, translate
from interlingua.canonical import json

CATEGORIES = tuple(registry.data("vocabularies")["error_categories"]["words"])
MESSAGE = "it went wrong"
ASKED: dict[str, dict[str, Any]] = {
    "anthropic_messages": {"max_tokens": 1, "messages": [{"role": "user", "content": "x"}]},
    "gemini_generate": {"contents": [{"role": "user", "parts": [{"text": "x"}]}]},
    "openai_responses": {"input": "x"},
}
CHAT = {"messages": [{"role": "user", "content": "x"}]}
CLASSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    429: "RateLimitError",
}
"""What the SDKs of OpenAI and Anthropic raise; from 500 on it is an error of the server, by whatever name."""


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("name", known_judges())
def test_error(name: str, category: str) -> None:
    """Its class, its status, its words and, where the SDK shows them, code, place and id of the call."""
    judge = judges.get(name)
    error = {"category": category, "message": MESSAGE, "retryable": False, "path": "/model", "request_id": "req_1"}
    wire, _ = translate.write_error({**error, "retry_after": 3}, judge.ADAPTER, provider=judge.PROVIDER)
    body = json.dumps(wire["body"])

    def refuse(_: dict[str, Any]) -> Any:
        raise Refusal(wire["status"], wire["headers"], body)

    PROVIDER.answer = refuse
    with pytest.raises(judge.FAILURES) as told:
        judge.ask(PROVIDER.address, {"model": "a-model", **ASKED.get(judge.ADAPTER, CHAT)})
    failure: Any = told.value
    status = getattr(failure, "status_code", None) or failure.code
    assert status == wire["status"]
    assert MESSAGE in str(failure)
    if name in ("anthropic_messages", "openai_chat", "openai_responses"):
        if wire["status"] in CLASSES:
            assert type(failure).__name__ == CLASSES[wire["status"]]
        assert failure.request_id == "req_1"
        assert failure.response.headers["retry-after"] == "3"
    if judge.PROVIDER == "openai":
        assert (failure.code, failure.param) == (wire["body"]["error"]["code"], "model")
