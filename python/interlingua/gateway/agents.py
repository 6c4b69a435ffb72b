"""
Coding agents as clients of a gateway: the settings that connect each agent to it. All settings are variables of the
environment, arguments, or files in a folder that is used for nothing else. The user's own files are never written.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

WIRES: Mapping[str, str] = {
    "claude": "anthropic_messages",
    "codex": "openai_responses",
    "gemini": "gemini_generate",
    "opencode": "openai_chat",
    "pi": "openai_chat",
}
"""The agents, by the command that starts each, with the wire that the agent uses."""

PACKAGES: Mapping[str, str] = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "pi": "@mariozechner/pi-coding-agent",
}
"""The name of each agent in the npm registry."""

_CODEX = 'model_providers.interlingua={{name="interlingua",base_url="{url}/v1",env_key="INTERLINGUA_KEY",wire_api="responses"}}'


@dataclass(frozen=True, slots=True)
class Settings:
    """How an agent is started: arguments that precede the user's own, and variables of its environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def settings(agent: str, url: str, key: str, model: str, folder: Path) -> Settings:
    """Return the settings that make an agent a client of the gateway at `url`.

    `key` is a key of the gateway (any text where the gateway has no keys), `model` the name of the model to request,
    `folder` a folder for files that nothing else reads.
    """
    match agent:
        case "claude":
            variables = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": key, "ANTHROPIC_MODEL": model}
            return Settings((), variables | {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"})
        case "codex":
            arguments = ("-c", 'model_provider="interlingua"', "-c", _CODEX.format(url=url), "-m", model)
            return Settings(arguments, {"INTERLINGUA_KEY": key})
        case "gemini":
            # the agent reads a file of settings for the whole system only if nobody else may write to its folder and
            # the parents
            file = _write_json(folder / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
            variables = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": key, "GEMINI_MODEL": model}
            return Settings((), variables | {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(file)})
        case "opencode":
            provider = {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{url}/v1", "apiKey": key},
                "models": {model: {}},
            }
            model_name = f"interlingua/{model}"
            config = {"provider": {"interlingua": provider}, "model": model_name, "small_model": model_name}
            return Settings((), {"OPENCODE_CONFIG": str(_write_json(folder / "opencode.json", config))})
        case "pi":
            provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": key, "models": [{"id": model}]}
            _write_json(folder / "models.json", {"providers": {"interlingua": provider}})
            model_name = ("--provider", "interlingua", "--model", model)
            return Settings(model_name, {"PI_CODING_AGENT_DIR": str(folder)})
        case _:
            raise ValueError(agent)


def _write_json(file: Path, value: object) -> Path:
    file.write_text(json.dumps(value))
    return file
