"""When messages are the same."""

from interlingua import ImageBlock, Message, TextBlock, ToolUseBlock, content_hash


def test_the_hash_does_not_depend_on_key_order() -> None:
    """Equal values, equal hash."""
    one = {"role": "user", "content": [{"type": "text", "text": "ü"}]}
    two = {"content": [{"text": "ü", "type": "text"}], "role": "user"}

    assert content_hash(one) == content_hash(two)


def test_the_hash_is_the_same_everywhere() -> None:
    """A fixed vector: SHA-256 of the canonical text."""
    message = {"role": "user", "content": [{"type": "text", "text": "hi"}]}

    assert "da3ac0b4d79dbe28c3c6684e1e4d037992df0e519e410c56436a23ecadf5c3c1" == content_hash(message)


def test_order_of_blocks_has_meaning() -> None:
    """Permuted content is another message."""
    one, two = Message.user(["a", "b"]), Message.user(["b", "a"])

    assert one.content_hash() != two.content_hash()
    assert one != two


def test_provider_raw_and_cache_do_not_count() -> None:
    """Two messages that differ only there are equal and hash the same."""
    plain = Message.user("hi")
    raw = Message.user("hi", metadata={"provider_raw": {"secret": 1}})
    assert raw == Message.user("hi")
    bare = Message.user("hi", metadata={})

    assert raw == bare
    assert plain.content_hash() == raw.content_hash() == plain.cacheable("1h").content_hash()
    assert plain == plain.cacheable()


def test_tool_input_counts_whole() -> None:
    """An argument that is called cache is an argument."""
    one = Message.assistant(ToolUseBlock(id="tu_1", name="f", input={"cache": 1}))
    two = Message.assistant(ToolUseBlock(id="tu_1", name="f", input={}))

    assert one != two


def test_bytes_and_their_base64_are_the_same_image() -> None:
    """Construction from bytes equals construction from their text."""
    image = ImageBlock.from_bytes(b"abc", "image/png")

    assert ImageBlock(source={"kind": "base64", "data": "YWJj"}, media_type="image/png") == image
    assert b"abc" == image.bytes()
    assert TextBlock(text="x") == Message.user("x").content[0]
