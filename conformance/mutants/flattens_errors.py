"""Tells every failure as status 500 with the words of a failed server, whatever it was."""

CAUGHT_BY = ["*#*:written:*", "*/written-errors#rate-limit", "*/written-errors#authentication"]


def handle(message, reference):
    if message["op"] == "to_wire_error" and isinstance(message["input"].get("error"), dict):
        error = message["input"]["error"]
        flat = {"category": "server_error", "message": error.get("message", "it failed"), "retryable": True}
        message = {**message, "input": {**message["input"], "error": flat}}
    return reference(message)
