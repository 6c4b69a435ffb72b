"""Says 0 where there is no price."""

CAUGHT_BY = ["cost/*"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "cost" and "output" in answer and answer["output"]["cost_usd"] is None:
        answer["output"]["cost_usd"] = "0"
    return answer
