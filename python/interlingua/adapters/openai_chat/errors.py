"""Errors: the shapes are those of all wires of OpenAI."""

from interlingua.adapters._openai_errors import error, error_from_body, is_failure

__all__ = ["error", "error_from_body", "is_failure"]
