"""Knows a provider but not its keys: encrypted state goes wherever the provider's name is the same."""

CAUGHT_BY = ["openai_responses/state-other-origin#to_wire", "openai_responses/state-other-origin-item#to_wire"]


def handle(message, reference):
    if message["op"] == "to_wire":
        given = {name: value for name, value in message["input"].items() if name != "origin"}
        message = {**message, "input": given}
    return reference(message)
