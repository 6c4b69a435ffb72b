"""
Framing only: bytes to frames and back. Imports nothing of Interlingua.

A byte that is not UTF-8 becomes half of a surrogate pair (`surrogateescape`) in the text of its frame. JSON cannot hold
one, so the reader of the frame refuses it. In text that is not read (a comment) it does no harm
(spec/4-streams.md#not-utf8).
"""
