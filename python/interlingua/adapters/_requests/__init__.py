"""The members of a request other than its messages."""
