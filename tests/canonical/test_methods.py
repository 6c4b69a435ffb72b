"""Copies with other members."""

from interlingua import Message, Request


def test_a_request_with_other_options_is_another_request() -> None:
    """The first one stays as it is and can be used again."""
    request = Request(messages=[Message.user("hi")])
    limited = request.with_options(max_output_tokens=5)

    assert limited.max_output_tokens == 5
    assert request.max_output_tokens is None
    assert limited.messages == request.messages
