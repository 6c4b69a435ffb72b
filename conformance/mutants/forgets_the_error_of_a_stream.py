"""Streams that fail are written without telling what their wire does not say of the error."""

CAUGHT_BY = ["*/*#streamed:{wire}"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "stream_encode" and "output" in answer:
        answer["output"]["loss"] = [e for e in answer["output"]["loss"] if not e["path"].startswith("/error")]
    return answer
