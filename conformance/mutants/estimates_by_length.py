"""Estimates the same for every request, whatever is in it."""

CAUGHT_BY = ["estimate/*"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "estimate" and "output" in answer:
        answer["output"].update(low=90, likely=100, high=110)
    return answer
