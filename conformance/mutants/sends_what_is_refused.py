"""Writes a turn of nobody whom the provider knows: what it refuses."""

CAUGHT_BY = ["*#valid:*"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "to_wire" and "output" in answer:
        body = answer["output"]["wire"]["body"]
        for name in ("messages", "contents", "input"):
            turns = body.get(name)
            for turn in turns if isinstance(turns, list) else []:
                if "role" in turn:
                    turn["role"] = "person"
    return answer
