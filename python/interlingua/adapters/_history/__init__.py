"""
The history of a conversation: turns, the order of messages, calls and their results.

A wire uses one of two modules.

- `messages`: the wire has one message or item for each canonical message, and a role of its own for results (OpenAI's
  wires, Ollama, Cohere). The module has functions; the wire has its own loop over the messages.
- `turns`: the wire has only turns of a user and a model, which hold the results, and instructions next to them
  (Anthropic, Bedrock, Gemini). The class `Turns` writes them all, and a wire overrides methods where it differs. With
  `joins=False` a wire of this kind has one message for each canonical message.

`order` (of messages and results) and `pairing` (of calls and results, before any wire writes) serve both. `envelope`
marks failed results on wires that have no mark for them.
"""
