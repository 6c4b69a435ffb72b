"""Reports of a stream that fails what the whole answer would lose, and not what a reader finds of its pieces."""

CAUGHT_BY = ["*/*#streamed:{wire}"]
NOT_ON = {"*": {"openai_responses": "what had arrived reads from its pieces as it does from the whole answer"}}


def handle(message, reference):
    answer = reference(message)
    events = message["input"].get("events") if message["op"] == "stream_encode" else None
    if events and events[-1].get("type") == "error" and events[-1].get("response") and "output" in answer:
        asked = {**message, "op": "to_wire_response"}
        asked["input"] = {**message["input"], "response": events[-1]["response"]}
        del asked["input"]["events"]
        loss = reference(asked).get("output", {}).get("loss", [])
        of_error = [e for e in answer["output"]["loss"] if e["path"].startswith("/error")]
        answer["output"]["loss"] = [e for e in loss if e["path"].startswith("/message/content/")] + of_error
    return answer
