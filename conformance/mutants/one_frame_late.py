"""Gives each event with the chunk after the one that completed it."""

CAUGHT_BY = ["*#prompt"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "stream" and len(answer.get("output", {}).get("events", [])) > 1:
        events = answer["output"]["events"]
        answer["output"]["events"] = [[], *events[:-2], events[-2] + events[-1]]
    return answer
