"""Over which wires a model can be called (spec/7-routing.md#wires)."""

import pytest

from interlingua import registry


@pytest.mark.parametrize(
    ("model", "adapter", "can"),
    [
        ("anthropic:claude-sonnet-4-6", "anthropic_messages", True),
        ("anthropic:claude-sonnet-4-6", "openai_chat", False),
        ("openai:gpt-4.1", "openai_chat", True),
        ("openai:gpt-4.1", "openai_responses", True),
        ("openai:gpt-5-pro", "openai_responses", True),
        ("openai:gpt-5-pro", "openai_chat", False),
        ("bedrock:us.anthropic.claude-sonnet-4-6", "bedrock_converse", True),
        ("bedrock:us.anthropic.claude-sonnet-4-6", "anthropic_messages", True),
        ("bedrock:us.amazon.nova-pro-v1:0", "bedrock_converse", True),
        ("bedrock:us.amazon.nova-pro-v1:0", "anthropic_messages", False),
        ("vertex:claude-sonnet-4-6", "anthropic_messages", True),
        ("vertex:claude-sonnet-4-6", "gemini_generate", False),
        ("vertex:gemini-2.5-pro", "gemini_generate", True),
        ("vertex:gemini-2.5-pro", "anthropic_messages", False),
    ],
)
def test_a_model_is_called_over_the_wires_that_its_provider_serves_it_on(model: str, adapter: str, can: bool) -> None:
    """Those of its provider, unless its row, its name, or the row of the wire says otherwise."""
    assert registry.default().speaks(model, adapter) is can
