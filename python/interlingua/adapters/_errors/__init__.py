"""Errors both ways."""
