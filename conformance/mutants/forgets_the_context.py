"""Routes by the request alone: what is known beside it is not looked at."""

CAUGHT_BY = ["route/context-*#route"]


def handle(message, reference):
    if message["op"] == "route":
        given = {name: value for name, value in message["input"].items() if name != "context"}
        message = {**message, "input": given}
    return reference(message)
