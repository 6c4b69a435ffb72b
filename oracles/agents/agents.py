"""How each coding agent is run headless through the task, in a home and a folder of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from interlingua.gateway.agents import settings

TASK = "Run the commands that you are led to, one step after the other, and say what you found."

# a name of each agent's own kind: some decide by it what they send
MODELS = {
    "claude": "claude-sonnet-4-6",
    "codex": "gpt-5.5",  # with which it searches its tools
    "gemini": "gemini-2.5-pro",
    "opencode": "gpt-4.1",
    "pi": "gpt-4.1",
}

HEADLESS = {
    "claude": ("-p", TASK, "--dangerously-skip-permissions"),
    "codex": ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK),
    "gemini": ("-p", TASK, "--yolo"),
    "opencode": ("run", TASK),
    "pi": ("-p", TASK),
}
VARIABLES = {"claude": {"IS_SANDBOX": "1"}, "gemini": {"GEMINI_CLI_TRUST_WORKSPACE": "true"}}


@dataclass(frozen=True)
class Run:
    """A command and what its environment has beside PATH and HOME."""

    command: list[str]
    environment: Mapping[str, str]


def prepared(agent: str, url: str, folder: Path) -> Run:
    """What runs an agent against a gateway, by the settings with which `interlingua launch` starts it."""
    chosen = settings(agent, url, "none", MODELS[agent], folder)
    return Run([agent, *chosen.arguments, *HEADLESS[agent]], {**chosen.environment, **VARIABLES.get(agent, {})})
