"""Glues the texts of several answers into the first."""

CAUGHT_BY = ["openai_chat/*#stream"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "stream" and "output" in answer:
        for part in answer["output"]["events"]:
            for event in part:
                event.pop("choice", None)
    return answer
