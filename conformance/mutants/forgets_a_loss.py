"""Leaves the last entry out of every loss report."""

CAUGHT_BY = ["*#loss", "*#accounting", "portable/*#cross:{wire}"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "to_wire" and answer.get("output", {}).get("loss"):
        answer["output"]["loss"] = answer["output"]["loss"][:-1]
    return answer
