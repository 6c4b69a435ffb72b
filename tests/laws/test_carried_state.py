"""A stream that is served with state in its ids says the same ids as the whole answer, on every wire."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_served_streams import SERVED, events_of

from interlingua import adapters, registry
from interlingua.canonical import carriage
from interlingua.translate import StreamReader, encode_stream, to_wire_response


def wire_ids(response: dict[str, Any]) -> list[str | None]:
    """The ids that a wire gave the calls of an answer."""
    content = response["message"]["content"]
    return [(block.get("provider_state") or {}).get("id") for block in content if block["type"] == "tool_use"]


@pytest.mark.parametrize(("path", "adapter"), SERVED)
def test_streams_and_whole_answers_carry_the_same(path: Path, adapter: str) -> None:
    """What rides with a call is known when its block begins."""
    given = events_of(path)
    endpoint = replace(registry.endpoint(adapter=adapter), state_in_ids=True)
    whole = carriage.load_response(given[-1]["response"], endpoint) if given[-1]["type"] == "message_complete" else None
    if whole is None or whole == given[-1]["response"]:
        assert list(encode_stream(given, endpoint)) == list(encode_stream(given, replace(endpoint, state_in_ids=False)))
        return

    reader = StreamReader(endpoint)
    data = b"".join(encode_stream(given, endpoint))
    streamed = [*reader.feed(data), *reader.end()][-1]["response"]

    body, _ = to_wire_response(given[-1]["response"], endpoint)
    unary, _ = adapters.get(adapter).from_wire_response(body, endpoint)
    loaded = [found for found in wire_ids(whole) if found is not None and found.startswith(carriage.MARK)]
    assert loaded
    assert [found for found in wire_ids(streamed) if found in loaded] == loaded
    assert [found for found in wire_ids(unary) if found in loaded] == loaded
