"""Gives the provider's body with every error, whether anybody asked for it or not."""

CAUGHT_BY = ["{wire}/errors#*"]


def handle(message, reference):
    if message["op"] == "error":
        message = {**message, "input": {**message["input"], "raw": True}}
    return reference(message)
