"""Reads answers without the proofs that the provider wants back: signatures, encrypted reasoning, what it kept hidden."""

CAUGHT_BY = ["*#from_wire_response", "*#echo"]
NOT_ON = {"*": dict.fromkeys(("cohere_chat", "ollama_chat"), "the wire has no proofs")}

PROOFS = ("signature", "encrypted_content", "thought_signature", "data")


def without_proofs(value):
    if isinstance(value, dict):
        return {name: without_proofs(item) for name, item in value.items() if name not in PROOFS}
    return [without_proofs(item) for item in value] if isinstance(value, list) else value


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "from_wire_response" and "output" in answer:
        content = answer["output"]["response"]["message"]["content"]
        kept = [block if block["type"] in ("image", "audio") else without_proofs(block) for block in content]
        content[:] = kept
    return answer
