"""Calls the provider twice and gives the second answer, or the second failure."""

CAUGHT_BY = ["*#generate", "*#generate:stream", "{wire}/errors*:generate"]


def handle(message, reference):
    if message["op"] == "generate":
        reference(message)
    return reference(message)
