"""A policy in a file: read again for each turn, and never worse than the last good one (R-235)."""

import logging
from pathlib import Path
from typing import Any

import pytest

from interlingua import InvalidRequest, Message, Request
from interlingua.canonical import json
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing

CLAUDE, GPT = "replay:claude-sonnet-4-6", "replay:gpt-5.4"
REQUEST = Request(messages=[Message.user("What is a ULID?")]).plain()


def written(path: Path, policy: Any) -> None:
    path.write_bytes(policy if isinstance(policy, bytes) else json.dumps(policy))


def chosen(routing: Routing) -> str:
    return routing.choose(REQUEST, now="2026-11-20T12:00:00Z").models[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written(tmp_path / "policy.json", {"global": {"default": CLAUDE}})
    return tmp_path / "policy.json"


def test_the_next_turn_is_routed_by_what_the_file_says_then(path: Path) -> None:
    routing = Routing(open_registry(), path)
    routing.check()
    assert chosen(routing) == CLAUDE
    written(path, {"global": {"default": GPT}})
    assert chosen(routing) == GPT
    assert routing.decide(REQUEST, now="2026-11-20T12:00:00Z")["chosen_model"] == GPT


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"",
        b"[]",
        b'{"global": {"default": 1e999}}',
        {"mood": "good"},
        {"version": 7},
        {"global": {"default": "nobody"}},
        {"global": {"rules": [{"when": {"message_matches": "("}, "use": GPT}]}},
    ],
)
def test_a_file_that_is_not_valid_leaves_the_last_good_one_in_force(
    path: Path, bad: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Told once for each change, with the file's name."""
    routing = Routing(open_registry(), path)
    assert chosen(routing) == CLAUDE
    written(path, bad)
    assert [chosen(routing) for _ in range(3)] == [CLAUDE] * 3
    (told,) = caplog.records
    assert told.levelno == logging.WARNING
    assert told.getMessage().startswith(f"routing.policy_invalid: {path}: ")
    path.unlink()
    assert [chosen(routing) for _ in range(2)] == [CLAUDE] * 2
    assert "cannot read" in caplog.records[-1].getMessage()
    assert len(caplog.records) == 2
    written(path, {"global": {"default": GPT}})
    assert chosen(routing) == GPT
    assert len(caplog.records) == 2


@pytest.mark.parametrize("bad", [b"{", {"mood": "good"}, None])
def test_nothing_is_routed_before_there_is_a_good_one(tmp_path: Path, bad: Any) -> None:
    path = tmp_path / "policy.json"
    if bad is not None:
        written(path, bad)
    routing = Routing(open_registry(), path)
    with pytest.raises(InvalidRequest, match=r"policy\.json"):
        routing.check()
    written(path, {"global": {"default": GPT}})
    assert chosen(routing) == GPT


def test_models_that_the_registry_does_not_list_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They are accepted, for a registry may lag behind; a local provider has any (spec/7-routing.md#policy-doubts)."""
    policy = {
        "aliases": {"new": "openai:gpt-77,openai:gpt-5.4"},
        "serve": {"claude-*": "new", "a": "anthropic:claude-sonnet-4.6", "b": "ollama:mine", "c": None},
        "global": {"default": "new", "rules": [{"when": {}, "use": "anthropic:claude-sonnet-4-6"}]},
    }
    written(tmp_path / "policy.json", policy)
    with caplog.at_level("WARNING", logger="interlingua"):
        routing = Routing(open_registry(), tmp_path / "policy.json")
        routing.check()
        _ = routing.policy
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["routing.policy_doubtful"] * 2
    said = caplog.text
    assert "openai:gpt-77" in said
    assert "(at /aliases/new)" in said
    assert "claude-sonnet-4.6; did you mean anthropic:claude-sonnet-4-6" in said
