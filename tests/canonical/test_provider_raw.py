"""What a provider sent whole is kept for its owner and never read: it changes nothing anywhere (R-101)."""

from typing import Any

import pytest

from interlingua import adapters, check, project, registry, visible

RAW: list[dict[str, Any] | None] = [
    None,
    {},
    {"n": 2**70, "text": "x"},
    {"type": "tool_use", "id": 5},
    {"role": "system", "content": [{"type": 7}]},
]


def request(**metadata: Any) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hi."}], "metadata": metadata},
            {"role": "user", "content": [{"type": "text", "text": "Bye"}]},
        ],
        "max_output_tokens": 5,
    }


@pytest.mark.parametrize("raw", RAW, ids=str)
@pytest.mark.parametrize("adapter", adapters.names())
def test_it_changes_nothing(adapter: str, raw: dict[str, Any] | None) -> None:
    endpoint = registry.endpoint(adapter=adapter, model="a-model")
    plain, laden = project(request(), endpoint), project(request(provider_raw=raw), endpoint)

    assert laden.body == plain.body
    assert laden.loss == plain.loss
    assert check(request(provider_raw=raw)) == check(request())
    assert visible(request(provider_raw=raw)) == visible(request())
