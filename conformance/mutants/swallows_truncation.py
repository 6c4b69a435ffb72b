"""Takes a stream that was cut for one that ended."""

CAUGHT_BY = ["*#truncated:frames", "*#truncated:inside"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "stream" and "output" in answer:
        for events in answer["output"]["events"]:
            for index, event in enumerate(events):
                if event["type"] == "error" and event["error"]["category"] == "stream_truncated":
                    events[index] = {
                        "type": "message_complete",
                        "response": {**event.get("response", {}), "finish_reason": "stop"},
                    }
    return answer
