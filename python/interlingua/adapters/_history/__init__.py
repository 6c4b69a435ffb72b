"""
The history of a conversation: turns, the order of messages, calls and their results.

A wire takes one of two modules. `messages`: the wire has one message for each canonical one, with roles of its own for results
(OpenAI's wires, Ollama, Cohere). `turns`: the wire has turns of a user and a model alone, which hold results, and instructions
beside them (Anthropic, Bedrock, Gemini); its class `Turns` writes them all, and a wire overrides what it does otherwise. `order`
and `pairing` bring calls and results together for both.
"""
