"""Drops every cache mark on the way to the wire, and says nothing."""

CAUGHT_BY = ["anthropic_messages/*#to_wire", "*#accounting"]


def without_cache(value):
    if isinstance(value, dict):
        return {name: without_cache(item) for name, item in value.items() if name != "cache_control"}
    return [without_cache(item) for item in value] if isinstance(value, list) else value


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "to_wire" and "output" in answer:
        answer["output"]["wire"] = without_cache(answer["output"]["wire"])
    return answer
