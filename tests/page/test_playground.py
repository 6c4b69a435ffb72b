"""The playground: a person pastes, looks, edits and copies (spec/11-gateway.md#inspector)."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interlingua import translate
from tests.page.conftest import example, until

CASES = Path(__file__).parents[2] / "conformance" / "cases"
WIRES = [
    "canonical",
    "openai_chat",
    "openai_responses",
    "gemini_generate",
    "ollama_chat",
    "bedrock_converse",
    "cohere_chat",
    "anthropic_messages",
]


@pytest.fixture
def playground(serving: Any, page: Any) -> Any:
    """The page with the first example, compared."""
    with serving() as at:
        page.goto(at.url)
        page.wait_for_selector(".side .loss")
        page.at = at
        yield page


def paste(page: Any, text: str) -> None:
    """Puts a text into the editor as a person would, and waits until it is compared."""
    with page.expect_response("**/v1/interlingua/compare"):
        page.fill("#given", text)
    page.wait_for_selector('#sides[aria-busy="false"]')


def marked(page: Any, wire: str) -> str:
    """What is marked in a side, without the spaces between."""
    texts = page.locator(f'.side[data-wire="{wire}"] mark').all_inner_texts()
    return "".join("".join(texts).split())


def test_the_first_screen_says_what_it_is_for(playground: Any) -> None:
    """A title, what to do, an example that is there already, and every wire with what it loses."""
    assert playground.title() == "Playground · Interlingua inspector"
    assert playground.inner_text("h1") == "What arrives when you switch models?"
    assert playground.inner_text("#recognised") == "Recognised: a request of Anthropic Messages"
    sides = playground.locator(".side").evaluate_all("sides => sides.map(side => side.dataset.wire)")
    assert sides == WIRES  # the one that it was written for comes last
    chip = playground.inner_text('.chip[data-wire="openai_chat"]')
    assert "".join(chip.split()) == "OpenAIChat1lost3weakened3representation"
    assert "exact" in playground.inner_text('.chip[data-wire="anthropic_messages"]')
    assert "the meaning is gone" in playground.inner_text(".legend")


def test_losses_are_coloured_on_both_sides(playground: Any) -> None:
    """The thinking in the source, the cache mark in the canonical form, what moved in the target."""
    playground.click('.chip[data-wire="openai_chat"]')
    source = "".join(playground.locator("#marks mark.lost").all_inner_texts())
    assert '"type": "thinking"' in source
    assert '"cache_control"' in "".join(playground.locator("#marks mark.weakened").all_inner_texts())
    assert '"reasoning_effort"' in marked(playground, "openai_chat")
    # the colours stand exactly behind the text that they are of
    assert playground.locator("#marks").evaluate("pre => pre.textContent.trimEnd()") == playground.input_value("#given")
    playground.click('.chip[data-wire="canonical"]')
    assert '"type":"thinking"' in marked(playground, "canonical")


def test_a_loss_can_be_looked_at(playground: Any) -> None:
    """Its line says severity, reason, what happened and where; choosing it brings both sides into sight."""
    playground.click('.chip[data-wire="openai_chat"]')
    line = playground.locator('.side[data-wire="openai_chat"] .loss', has_text="reasoning of another provider")
    assert line.inner_text().split("\n")[0] == "lost"
    assert "dropped /messages/2/content/0" in line.inner_text()
    line.focus()
    playground.keyboard.press("Enter")
    assert line.get_attribute("aria-pressed") == "true"
    assert "lost: reasoning of another provider cannot be replayed, /messages/2/content/0" in playground.inner_text(
        "#said"
    )
    chosen = playground.locator("#marks mark.chosen").first
    box, editor = chosen.bounding_box(), playground.locator(".editor").bounding_box()
    assert editor["y"] <= box["y"] <= editor["y"] + editor["height"]
    assert playground.locator('.side[data-wire="openai_chat"] mark.chosen').count() >= 1
    line.click()
    assert line.get_attribute("aria-pressed") == "false"
    assert playground.locator("mark.chosen").count() == 0
    playground.locator('.side[data-wire="openai_chat"] mark.weakened').first.click()
    assert playground.locator('.loss[aria-pressed="true"]').count() == 1


def test_an_edit_is_compared_again(playground: Any) -> None:
    """What is added shows everywhere; what is taken away is lost no more; what is broken is told, and stays to be mended."""
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "one"}], "seed": 4}
    paste(playground, json.dumps(body))
    assert playground.inner_text("#recognised") == "Recognised: a request of OpenAI Chat"
    assert playground.input_value("#example") == ""
    assert "/seed" in playground.inner_text('.side[data-wire="anthropic_messages"] .losses')
    paste(playground, json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": "two"}]}))
    assert "two" in playground.inner_text('.side[data-wire="gemini_generate"] pre')
    assert "/seed" not in playground.inner_text('.side[data-wire="anthropic_messages"]')
    paste(playground, '{"model": "gpt-4.1", "messages": [')
    assert "say which it is" in playground.inner_text("#problem")
    assert playground.locator("#sides.stale").count() == 1
    playground.select_option("#kind", "request")
    playground.select_option("#wire", "openai_chat")
    until(playground, "document.getElementById('problem').textContent.includes('JSON')")
    playground.click("#clear")
    assert playground.input_value("#given") == ""
    assert playground.is_hidden("#problem")
    assert "Paste something" in playground.inner_text("#sides")


@pytest.mark.parametrize("number", range(8))
def test_every_example_is_shown_in_every_wire(playground: Any, number: int) -> None:
    """The kind and the wire are recognised, and each side is what the library makes of it."""
    chosen = example(number)
    with playground.expect_response("**/v1/interlingua/compare"):
        playground.select_option("#example", "")
        playground.select_option("#example", str(number))
    playground.wait_for_selector('#sides[aria-busy="false"]')
    kind = {"request": "a request", "response": "an answer", "stream": "a stream", "error": "an error"}[chosen["kind"]]
    assert playground.inner_text("#recognised").startswith(f"Recognised: {kind} of ")
    assert playground.locator(".side").count() == len(WIRES)
    assert playground.locator(".side .problem").count() == 0
    if chosen["kind"] == "request" and chosen["wire"] != "canonical":
        read, _ = translate.read_request(chosen["text"], chosen["wire"])
        for wire in WIRES[1:]:
            shown = playground.locator(f'.side[data-wire="{wire}"] pre').evaluate("pre => pre.textContent")
            assert json.loads(shown) == translate.project(read, translate.endpoint_of(wire)).wire["body"]


def test_what_is_recognised_can_be_changed(playground: Any) -> None:
    """The same text, read as another wire's."""
    paste(playground, json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))
    with playground.expect_response("**/v1/interlingua/compare"):
        playground.select_option("#wire", "ollama_chat")
    until(playground, "document.getElementById('recognised').textContent === 'Read as a request of Ollama'")
    with playground.expect_response("**/v1/interlingua/compare"):
        playground.select_option("#kind", "response")
    playground.wait_for_selector("#problem:not([hidden])")


def test_a_stream_is_shown_piece_by_piece(playground: Any) -> None:
    """The events of the block that is lost are coloured in the source; where they would stand is shown in the target."""
    playground.select_option("#example", "4")
    until(playground, "document.getElementById('recognised').textContent.includes('a stream of')")
    playground.click('.chip[data-wire="openai_chat"]')
    lost = "".join(playground.locator("#marks mark.lost").all_inner_texts())
    assert "thinking_delta" in lost
    assert "text_delta" not in lost
    assert playground.locator('.side[data-wire="openai_chat"] mark.around').count() >= 1


def test_files_are_opened_and_dropped(playground: Any) -> None:
    """Text and AWS's binary frames alike."""
    binary = CASES / "bedrock_converse" / "text-basic" / "stream.wire.eventstream"
    playground.set_input_files("#file", str(binary))
    until(playground, "document.getElementById('recognised').textContent.includes('a stream of Bedrock')")
    assert playground.input_value("#given").startswith("event: messageStart")
    text = (CASES / "gemini_generate" / "text-basic" / "response.wire.json").read_text()
    drop = """text => {
        const data = new DataTransfer();
        data.items.add(new File([text], "answer.json"));
        document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    playground.evaluate(drop, text)
    until(playground, "document.getElementById('recognised').textContent.includes('an answer of Gemini')")
    assert playground.input_value("#given") == text


@pytest.mark.parametrize("number", range(8))
def test_copied_commands_run(playground: Any, number: int) -> None:
    """Each side as curl does with the gateway what the page shows; a request arrives there in its wire."""
    playground.select_option("#example", "")
    playground.select_option("#example", str(number))
    playground.wait_for_selector('#sides[aria-busy="false"]')
    kind = example(number)["kind"]
    for wire in WIRES:
        playground.click(f'.side[data-wire="{wire}"] button:has-text("curl")')
        command = playground.evaluate("navigator.clipboard.readText()")
        assert command.startswith(f"curl '{playground.at.url}/")
        done = subprocess.run(
            ["bash", "-c", command.replace("curl ", "curl -sS ", 1)], capture_output=True, text=True, check=True
        )
        answer = json.loads(done.stdout.split("\n")[0] if kind == "request" else done.stdout)
        if kind == "request":
            asked = playground.at.gateway.calls.of("anybody")[0]
            assert asked.adapter == wire
            assert asked.category not in ("invalid_request", "not_found") or "names no model" in done.stdout, (
                done.stdout
            )
        else:
            assert "code" not in answer, answer
    playground.click('.side[data-wire="canonical"] button:text-is("Copy")')
    copied = playground.evaluate("navigator.clipboard.readText()")
    assert copied == playground.locator('.side[data-wire="canonical"] pre').evaluate("pre => pre.textContent")
    assert playground.inner_text("#said") == "Copy Canonical form: copied"


def test_what_is_shown_is_never_read_as_markup(playground: Any) -> None:
    """Content is text, whatever it holds."""
    evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    paste(playground, json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": evil}], evil: 1}))
    assert playground.title().startswith("Playground")
    assert playground.locator("main img, main script").count() == 0
    assert "<img src=x" in playground.inner_text('.side[data-wire="gemini_generate"] pre')
