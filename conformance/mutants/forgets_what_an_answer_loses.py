"""Writes answers and streams for clients of other wires without telling what they lose."""

CAUGHT_BY = ["*/*#answer:{wire}", "*/*#streamed:{wire}"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] in ("to_wire_response", "stream_encode") and "loss" in answer.get("output", {}):
        answer["output"]["loss"] = []
    return answer
