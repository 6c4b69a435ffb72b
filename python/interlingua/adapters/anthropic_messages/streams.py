"""Streamed answers both ways."""

from typing import Any


def stream_decoder(endpoint, ids):
    raise NotImplementedError


def encode_stream(events, endpoint):
    raise NotImplementedError
