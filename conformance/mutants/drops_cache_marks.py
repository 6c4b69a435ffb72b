"""Drops every cache mark before writing, and says nothing of it."""

CAUGHT_BY = ["{wire}/*#to_wire", "portable/*#cross:{wire}", "openai_responses/cache-breakpoints#edited:to_wire"]
NOT_ON = {
    "{wire}/*#to_wire": {
        "cohere_chat": "the wire has no cache marks",
        "gemini_generate": "the wire has no cache marks",
        "ollama_chat": "the wire has no cache marks",
        "openai_responses": "only marks that were read there go out; the edited case shows them",
    }
}


def without_cache(value):
    if isinstance(value, dict):
        return {name: without_cache(item) for name, item in value.items() if name != "cache"}
    return [without_cache(item) for item in value] if isinstance(value, list) else value


def handle(message, reference):
    request = message.get("input", {}).get("request")
    if message["op"] == "to_wire" and isinstance(request, dict):
        parts = {name: without_cache(request[name]) for name in ("messages", "system", "tools") if name in request}
        message["input"]["request"] = {**{name: item for name, item in request.items() if name != "cache"}, **parts}
    return reference(message)
