"""Forgets the usage that comes at the end of a stream."""

CAUGHT_BY = ["*#fold", "*#stream"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "stream" and "output" in answer:
        answer["output"]["events"] = [
            [event for event in part if event["type"] != "usage_update"] for part in answer["output"]["events"]
        ]
        for part in answer["output"]["events"]:
            for event in part:
                event.get("response", {}).pop("usage", None)
    return answer
