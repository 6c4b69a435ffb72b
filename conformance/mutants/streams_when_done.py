"""Generates all events at once, when the provider has ended."""

import time

CAUGHT_BY = ["*#generate:paced"]


def handle(message, reference):
    answer = reference(message)
    output = answer.get("output", {})
    if message["op"] == "generate" and "at" in output:
        output["at"] = [time.monotonic() for _ in output["at"]]
    return answer
