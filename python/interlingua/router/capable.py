"""
Can this model serve this turn? One pure function for routing, for swaps and for callers that check beforehand.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from interlingua.canonical.errors import InvalidRequest

REASONS = (
    "not_configured",
    "provider_unavailable",
    "no_vision_support",
    "exceeds_context_window",
    "no_tool_support",
    "no_system_prompt_support",
    "no_structured_output_support",
    "pinned_elsewhere",
)
"""Why a model cannot serve a turn, in the order in which it is checked."""


def capabilities(model: str, catalog: Mapping[str, Any]) -> Mapping[str, Any]:
    """The declared capabilities of a model in a catalogue; for a model that is not in it, those of its provider."""
    entry = catalog["models"].get(model)
    if entry is not None:
        return entry.get("capabilities") or {}
    return catalog["providers"].get(model.partition(":")[0], {}).get("capabilities") or {}


def missing(provider: str, catalog: Mapping[str, Any]) -> str:
    """What a provider lacks so that it can be called, as text; empty when the catalogue does not state it."""
    lacks = catalog["providers"].get(provider, {}).get("missing")
    return "; ".join(map(str, lacks)) if isinstance(lacks, list) else ""


def failures(
    turn: Mapping[str, Any], model: str, catalog: Mapping[str, Any], health: Mapping[str, Any], now: datetime
) -> list[str]:
    """The reasons why a model cannot serve a turn, in fixed order; none when it can.

    The reason that a policy adds when it keeps state at its origin comes from `state.against`.
    """
    provider = catalog["providers"].get(model.partition(":")[0], {})
    reasons = [] if provider.get("configured") else ["not_configured"]
    if unavailable(model, health, now):
        reasons.append("provider_unavailable")
    return reasons + incapable(turn, {**catalog.get("undeclared", {}), **capabilities(model, catalog)})


def incapable(turn: Mapping[str, Any], declared: Mapping[str, Any]) -> list[str]:
    """The reasons why a model with these declarations cannot take this turn. An absent declaration is no reason."""
    needs = turn.get("needs", {})
    window = declared.get("max_context_tokens")
    checks = (
        ("no_vision_support", needs.get("images", 0) and not _takes_images(needs, declared)),
        ("exceeds_context_window", window and turn.get("estimated_input_tokens", 0) > window),
        ("no_tool_support", needs.get("tools") and not declared.get("supports_tools", True)),
        ("no_system_prompt_support", needs.get("system_prompt") and not declared.get("supports_system_prompt", True)),
        (
            "no_structured_output_support",
            needs.get("structured_output") and not declared.get("supports_structured_output", False),
        ),
    )
    return [reason for reason, failed in checks if failed]


def unavailable(model: str, health: Mapping[str, Any], now: datetime) -> bool:
    """Whether a model, or its provider, is in cooldown at this time."""
    return bool(cooldowns(model, health, now))


def cooldowns(model: str, health: Mapping[str, Any], now: datetime) -> list[Mapping[str, Any]]:
    """The marks that put a model, or its provider, into cooldown at this time."""
    marks = (
        health.get("models", {}).get(model),
        health.get("providers", {}).get(model.partition(":")[0]),
    )
    return [mark for mark in marks if mark is not None and (mark.get("until") is None or moment(mark["until"]) > now)]


def moment(value: str | datetime) -> datetime:
    """A time from RFC 3339 text. Raises `InvalidRequest` for text that is not a time or has no offset."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidRequest("a time must be RFC 3339 text, such as 2026-11-20T12:00:00Z") from None
    if value.tzinfo is None:
        raise InvalidRequest("a time must state its offset from UTC, such as 2026-11-20T12:00:00Z")
    return value


def _takes_images(needs: Mapping[str, Any], declared: Mapping[str, Any]) -> bool:
    if not declared.get("supports_images", True):
        return False
    accepted = declared.get("accepted_image_media_types")
    return accepted is None or all(kind in accepted for kind in needs.get("image_media_types", ()))
