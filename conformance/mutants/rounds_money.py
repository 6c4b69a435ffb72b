"""Computes money with floats."""

CAUGHT_BY = ["cost/*"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "cost" and answer.get("output", {}).get("cost_usd"):
        answer["output"]["cost_usd"] = f"{float(answer['output']['cost_usd']) * 3 / 3 + 1e-19:.18f}"
    return answer
