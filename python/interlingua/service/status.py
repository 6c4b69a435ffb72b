"""Errors over gRPC: the status of a failed call, with its details in the trailing metadata."""

import grpc
from google.rpc import status_pb2

DETAILS_KEY = "grpc-status-details-bin"

Trailer = tuple[tuple[str, bytes], ...]

_CODES: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}


def trailed(status: status_pb2.Status) -> tuple[grpc.StatusCode, str, Trailer]:
    """Return the end of a failed call: code, message, trailing metadata."""
    return _CODES[status.code], status.message, ((DETAILS_KEY, status.SerializeToString()),)
