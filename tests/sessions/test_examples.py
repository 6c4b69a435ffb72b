"""The pages of examples run, and the five lines of the front page."""

import re
from pathlib import Path

import pytest

from interlingua.sessions import Sessions, SyncSessions

ROOT = Path(__file__).resolve().parents[2]


def test_the_worked_examples_run() -> None:
    """The examples run from top to bottom, as one program: R-278 to R-281."""
    program = "\n".join(
        re.findall(r"^```python\n(.*?)^```$", (ROOT / "examples/sessions.md").read_text(), re.MULTILINE | re.DOTALL)
    )
    assert program.count("sessions.create(") == 3
    exec(compile(program, "examples/sessions.md", "exec"), {})


@pytest.mark.asyncio
async def test_five_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database, a session, a message: the environment variable names a model, which is scripted here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERLINGUA_MODEL", "replay:anything")
    async with Sessions("sqlite:///chats.db") as s:
        chat = await s.create()
        answer = await chat.say("What is a ULID?")
    assert answer["message"]["role"] == "assistant"
    assert (tmp_path / "chats.db").exists()


def test_five_lines_without_await(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with the synchronous API; both see the messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERLINGUA_MODEL", "replay:anything")
    with SyncSessions("sqlite:///chats.db") as s:
        chat = s.create()
        chat.say("What is a ULID?")
        with chat.stream("And a UUID?") as stream:
            texts = [event["text"] for event in stream if event["type"] == "text_delta"]
        assert stream.response is not None
        assert stream.response["message"]["content"][-1]["text"] == "".join(texts)
    with SyncSessions("sqlite:///chats.db") as s:
        [info] = s.latest()
        again = s.open(info.id)
        assert len(again.history()) == 4
        assert len(again.fork().history()) == 4
        assert s.find(again.history()[0]["id"]) == info.id
        again.swap("replay:other")
        assert again.info().active_model == "replay:other"
        assert again.preview("replay:other", max_output_tokens=9)[0]["loss"] == []
        copied = s.import_(again.export())
        copied.append({"role": "user", "content": "x"})
        assert again.calls() == []
        again.delete()
        assert len(s.latest()) == 2
