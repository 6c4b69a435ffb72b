"""A judge that lets everything pass proves nothing: each must object to what is plainly wrong."""

import checks
import judges
import pytest
from expected import known_judges
from material import cases, framing, written_stream

BOGUS_PART = {"type": "bogus"}
BOGUS_REQUESTS = {
    "anthropic_messages": {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [BOGUS_PART]}]},
    "openai_chat": {"model": "m", "messages": [{"role": "user", "content": [BOGUS_PART]}]},
    "openai_responses": {"model": "m", "input": [{"role": "user", "content": [BOGUS_PART]}]},
    # this SDK lets parts of unknown types pass, and tells messages apart by their role
    "openai_chat_mistral": {
        "model": "m",
        "messages": [{"role": "user", "content": "a"}, {"role": "bogus", "content": "b"}],
    },
    "cohere_chat": {"model": "m", "messages": [{"role": "user", "content": [BOGUS_PART]}]},
    "gemini_generate": {"contents": [{"role": "user", "parts": [BOGUS_PART]}]},
    "ollama_chat": {"model": "m", "messages": [{"role": "user", "content": [BOGUS_PART]}]},
}
STREAMED = {case.id: case for case in cases("stream.events.jsonl")}


@pytest.mark.parametrize("judge", judges.NAMES)
def test_objects_to_what_is_unknown(judge: str) -> None:
    """Also deep in a list, which SDKs look at late."""
    problems = judges.get(judge).request(BOGUS_REQUESTS[judge])
    assert len(problems) == 1
    assert problems[0].path.startswith(("/messages", "/input", "/contents"))


@pytest.mark.parametrize("judge", judges.NAMES)
def test_objects_to_an_answer_that_is_none(judge: str) -> None:
    """A member of another type."""
    wrong = {"choices": 7, "content": 7, "output": 7, "candidates": 7, "message": 7, "model": 7}
    assert judges.get(judge).answer(wrong)


@pytest.mark.parametrize("judge", known_judges())
def test_sees_what_a_stream_leaves_out(judge: str) -> None:
    """One text delta less is another answer."""
    case = STREAMED["anthropic_messages/text-basic"]
    events = list(case.events)
    deltas = [event for event in events if event["type"] == "text_delta"]
    sent = written_stream(judges.get(judge), events)
    less = sent.replace(deltas[-1]["text"].encode(), b"", 1)
    assert less != sent
    checks.PROVIDER.answer = lambda _: (framing(judges.get(judge)), less)
    found = judges.get(judge).stream(checks.PROVIDER.address, {})
    assert found[0].text != "".join(event["text"] for event in deltas)
