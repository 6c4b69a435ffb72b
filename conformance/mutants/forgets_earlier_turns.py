"""Keeps no state of a provider when the conversation has been elsewhere: its own turns change after a swap."""

CAUGHT_BY = ["*#swap:*"]


def foreign(messages, adapter):
    return any(
        block.get("provider_state", {}).get("adapter", adapter) != adapter
        for turn in messages
        for block in turn.get("content", [])
    )


def handle(message, reference):
    if message["op"] == "to_wire" and isinstance(message["input"].get("request"), dict):
        messages = message["input"]["request"].get("messages", [])
        if foreign(messages, message["adapter"]):
            for turn in messages:
                turn.pop("provider_state", None)
                for block in turn.get("content", []):
                    block.pop("provider_state", None)
                    block.pop("signature", None)
    return reference(message)
