"""Generates without telling what was lost on the way to the provider."""

CAUGHT_BY = ["{wire}/*#generate"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "generate" and "response" in answer.get("output", {}):
        answer["output"]["response"].pop("loss", None)
    return answer
