"""Estimate the number of tokens of a request."""
