"""Calls that clients spell otherwise than the wire documents them."""

from typing import Any

from interlingua import adapters
from interlingua.canonical.endpoint import Endpoint


def test_arguments_that_clients_spell_otherwise_are_those_of_a_call() -> None:
    """An object where the wire has a text, and nothing where it has an object: the call is one, and goes back as it came."""
    called = {"name": "f", "arguments": {"a": 1}}
    bodies: dict[str, Any] = {
        "openai_responses": {"input": [{"type": "function_call", "call_id": "c", **called}]},
        "openai_chat": {"messages": [_turn({"id": "c", "type": "function", "function": called})]},
        "cohere_chat": {"messages": [_turn({"id": "c", "type": "function", "function": called})]},
        "ollama_chat": {"messages": [_turn({"id": "c", "function": {"name": "f", "arguments": None}})]},
    }
    for name, body in bodies.items():
        wire, endpoint = adapters.get(name), Endpoint(name)
        request, _ = wire.from_wire_request({"method": "POST", "path": "/", "body": {"model": "m", **body}}, endpoint)
        (block,) = request["messages"][0]["content"]
        assert block["type"] == "tool_use" and block["input"] == ({} if name == "ollama_chat" else {"a": 1}), name
        written, loss = wire.to_wire(request, endpoint)
        assert written["body"] == {"model": "m", **body} and not loss, name


def _turn(call: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None if "type" in call else "", "tool_calls": [call]}
