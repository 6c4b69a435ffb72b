"""Says that every answer ended by itself."""

CAUGHT_BY = ["*#from_wire_response", "*#fold"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "from_wire_response" and "output" in answer:
        answer["output"]["response"]["finish_reason"] = "stop"
    if message["op"] == "stream" and "output" in answer:
        for part in answer["output"]["events"]:
            for event in part:
                if event["type"] == "message_complete":
                    event["response"]["finish_reason"] = "stop"
    return answer
