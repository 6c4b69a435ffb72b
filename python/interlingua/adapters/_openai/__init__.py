"""The rules that both wires of OpenAI share."""
