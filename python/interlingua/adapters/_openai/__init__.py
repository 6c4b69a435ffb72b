"""What both wires of OpenAI have in common."""
