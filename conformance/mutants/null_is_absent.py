"""Leaves members that are null out of the wire."""

CAUGHT_BY = ["*#wire_fixpoint", "*#to_wire_response"]
NOT_ON = {"*#to_wire_response": dict.fromkeys(("cohere_chat", "ollama_chat"), "it answers without null")}


def without_null(value):
    if isinstance(value, dict):
        return {name: without_null(item) for name, item in value.items() if item is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


def handle(message, reference):
    answer = reference(message)
    if message["op"] in ("to_wire", "to_wire_response") and "output" in answer:
        answer["output"] = without_null(answer["output"])
    return answer
