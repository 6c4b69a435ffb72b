"""A small catalogue that every test of the router can read at a glance."""

import pytest

CAPABLE = {
    "supports_images": True,
    "supports_tools": True,
    "supports_structured_output": True,
    "max_context_tokens": 100_000,
}


@pytest.fixture
def catalog():
    return {
        "providers": {
            "a": {"configured": True, "capabilities": {}},
            "b": {"configured": True, "capabilities": {"supports_structured_output": True}},
            "off": {"configured": False, "capabilities": {}},
        },
        "models": {
            **{f"a:{name}": {"title": name, "tier": None, "capabilities": CAPABLE} for name in ("x", "y", "z")},
            "a:blind": {"title": "Blind", "capabilities": {**CAPABLE, "supports_images": False}},
            "a:png": {"title": "Png", "capabilities": {**CAPABLE, "accepted_image_media_types": ["image/png"]}},
            "a:small": {"title": "Small", "capabilities": {**CAPABLE, "max_context_tokens": 2_000}},
            "a:toolless": {"title": "Toolless", "capabilities": {**CAPABLE, "supports_tools": False}},
            "a:plain": {"title": "Plain", "capabilities": {**CAPABLE, "supports_system_prompt": False}},
            "a:prose": {"title": "Prose", "capabilities": {**CAPABLE, "supports_structured_output": False}},
        },
        "aliases": {"ex": "a:x", "thinking": "a/z,a/x", "both": "a/x,a/y"},
        "undeclared": {"supports_tools": True, "supports_system_prompt": True, "supports_structured_output": False},
    }


def user(*content):
    blocks = [{"type": "text", "text": item} if isinstance(item, str) else item for item in content]
    return {"role": "user", "content": blocks}


def image(media_type="image/png"):
    return {"type": "image", "media_type": media_type, "source": {"kind": "base64", "data": "AAAA"}}
