"""Framing only: bytes to frames and back. Imports nothing of Interlingua."""
