"""The history of a conversation: turns, the order of messages, calls and their results."""
