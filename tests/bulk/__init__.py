"""Bulk adaptation."""
