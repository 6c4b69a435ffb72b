"""
Framing only: bytes to frames and back. Imports nothing of Interlingua.

A byte that is no UTF-8 becomes half of a surrogate pair (`surrogateescape`) in the text of its frame: no JSON can hold
one, so who reads the frame refuses it, and what is not read (a comment) does no harm (spec/4-streams.md#not-utf8).
"""
