"""The members of a request beside its messages."""
