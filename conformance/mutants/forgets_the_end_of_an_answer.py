"""Tells what the blocks of an answer lose, but not that it ended otherwise, nor what it took."""

CAUGHT_BY = ["*/*#answer:{wire}"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "to_wire_response" and "loss" in answer.get("output", {}):
        loss = answer["output"]["loss"]
        answer["output"]["loss"] = [entry for entry in loss if not entry["path"].startswith(("/finish", "/usage"))]
    return answer
