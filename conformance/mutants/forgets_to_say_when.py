"""Writes errors without the time to wait, and says nothing of it."""

CAUGHT_BY = ["*/errors*:written:*", "*/written-errors#rate-limit"]
NOT_ON = {"*/errors*:written:*": {"ollama_chat": "no error of its own provider tells a time"}}


def handle(message, reference):
    if message["op"] == "to_wire_error" and isinstance(message["input"].get("error"), dict):
        error = {name: value for name, value in message["input"]["error"].items() if name != "retry_after"}
        message = {**message, "input": {**message["input"], "error": error}}
    return reference(message)
