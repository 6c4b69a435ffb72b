"""Exchanges the ids of the first two results of a request."""

CAUGHT_BY = ["*#to_wire", "*#accounting"]


def handle(message, reference):
    if message["op"] == "to_wire" and isinstance(message["input"].get("request"), dict):
        results = [
            block
            for turn in message["input"]["request"].get("messages", [])
            for block in turn.get("content", [])
            if block.get("type") == "tool_result"
        ]
        if len(results) > 1:
            one, two = results[:2]
            one["tool_use_id"], two["tool_use_id"] = two["tool_use_id"], one["tool_use_id"]
    return reference(message)
