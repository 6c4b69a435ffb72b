"""How each coding agent is run headless against a gateway: in a home and a folder of its own, with nothing but its own
settings for the address of a provider."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "pi": "@mariozechner/pi-coding-agent",
}
WIRES = {
    "claude": "anthropic_messages",
    "codex": "openai_responses",
    "gemini": "gemini_generate",
    "opencode": "openai_chat",
    "pi": "openai_chat",
}
TASK = "Run the commands that you are led to, one step after the other, and say what you found."
MODELS = {
    "claude": "claude-sonnet-4-6",
    "codex": "gpt-5.4",
    "gemini": "gemini-2.5-pro",
    "opencode": "gpt-4.1",
    "pi": "gpt-4.1",
}


@dataclass(frozen=True)
class Run:
    """A command and what its environment has beside PATH and HOME."""

    command: list[str]
    environment: Mapping[str, str]


def prepared(agent: str, url: str, home: Path, folder: Path) -> Run:
    """What runs an agent against a gateway; writes the settings that it reads into its own home and folder."""
    model = MODELS[agent]
    match agent:
        case "claude":
            environment = {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "sk-ant-none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "IS_SANDBOX": "1",
            }
            return Run(["claude", "-p", TASK, "--model", model, "--dangerously-skip-permissions"], environment)
        case "codex":
            provider = 'model_providers.gateway={name="gateway",base_url="%s/v1",env_key="OPENAI_API_KEY",wire_api="responses"}'
            settings = ("-c", 'model_provider="gateway"', "-c", provider % url, "-m", model)
            flags = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
            return Run(["codex", "exec", *settings, *flags, TASK], {"OPENAI_API_KEY": "none"})
        case "gemini":
            _write(home / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
            environment = {
                "GEMINI_API_KEY": "none",
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
            }
            return Run(["gemini", "-m", model, "-p", TASK, "--yolo"], environment)
        case "opencode":
            options = {"baseURL": f"{url}/v1", "apiKey": "none"}
            provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {model: {}}}
            _write(folder / "opencode.json", {"provider": {"gateway": provider}})
            return Run(["opencode", "run", "--model", f"gateway/{model}", TASK], {})
        case _:
            provider = {
                "baseUrl": f"{url}/v1",
                "api": "openai-completions",
                "apiKey": "none",
                "models": [{"id": model}],
            }
            _write(home / ".pi" / "agent" / "models.json", {"providers": {"gateway": provider}})
            return Run(["pi", "--provider", "gateway", "--model", model, "-p", TASK], {})


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
