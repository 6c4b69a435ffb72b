"""Answers, whole and streamed."""
