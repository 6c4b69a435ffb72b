"""Errors: the shapes are those of all wires of OpenAI."""

from interlingua.adapters._openai_errors import error, error_from_body, error_in_stream, is_failure, to_wire_error

__all__ = ["error", "error_from_body", "error_in_stream", "is_failure", "to_wire_error"]
