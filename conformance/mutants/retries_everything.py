"""Calls every failure retryable."""

CAUGHT_BY = ["{wire}/errors*"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "error" and "output" in answer:
        answer["output"]["retryable"] = True
    return answer
