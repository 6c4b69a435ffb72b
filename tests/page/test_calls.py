"""The live list of calls, and one call opened (spec/11-gateway.md#live, #call-content)."""

import contextlib
import threading
from typing import Any

import httpx
import pytest

from interlingua.access import Key, digest
from interlingua.client.fake import Refuse, Say
from tests.page.conftest import until

ASKED = "What is in here?"


def ask(url: str, model: str = "routed", **more: Any) -> httpx.Response:
    body = {"model": model, "max_tokens": 50, "messages": [{"role": "user", "content": ASKED}], **more}
    return httpx.post(f"{url}/v1/messages", json=body, timeout=30, headers=more.pop("headers", {}))


def asked_beside(url: str) -> threading.Thread:
    """A streamed call that runs meanwhile. A test that fails before it has ended ends it."""

    def run() -> None:
        with contextlib.suppress(httpx.HTTPError):
            ask(url, stream=True)

    asking = threading.Thread(target=run)
    asking.start()
    return asking


def test_without_calls_it_says_how_to_make_one(serving: Any, page: Any) -> None:
    with serving(inspect=0) as at:
        page.goto(f"{at.url}/#calls")
        page.wait_for_selector("#live.up")
        assert page.title() == "Calls · Interlingua inspector"
        assert f"curl {at.url}/v1/messages" in page.inner_text("#no-calls")
        assert "--inspect" in page.inner_text("#content-note")


def test_a_call_appears_and_changes_while_it_runs(serving: Any, page: Any) -> None:
    """Running first, then its status, tokens, cost and both times, without a reload."""
    with serving(Say("Two files.", pause=0.5, usage={"input_tokens": 1000, "output_tokens": 20})) as at:
        page.goto(f"{at.url}/#calls")
        page.wait_for_selector("#live.up")
        asking = asked_beside(at.url)
        page.wait_for_selector("tbody tr:has-text('running')")
        assert page.inner_text("#running") == "1 running"
        page.wait_for_selector("tbody tr:has-text('1000 in · 20 out')")
        asking.join()
        cells = page.locator("tbody tr td").all_inner_texts()
        assert cells[1].split("\n") == ["routed", "Anthropic Messages"]
        assert cells[2] == "anthropic:claude-sonnet-4-6"
        assert cells[3] == "200"
        assert cells[5].startswith("$0.00")
        assert cells[6] == "nothing lost"
        assert cells[7].endswith("ms")
        assert page.is_hidden("#running")


def test_a_call_opened_shows_why_and_what(serving: Any, page: Any) -> None:
    """The seven slots; the client's request, the canonical one, the provider's; the answer event by event."""
    with serving(Say("Two files.", calls=[("list", {"path": "."})])) as at:
        ask(at.url, "mapped", stream=True, top_k=3)
        page.goto(f"{at.url}/#calls")
        page.click("tbody tr a")
        page.wait_for_selector(".events li:has-text('message_complete')")
        slots = page.locator(".slots li").all_inner_texts()
        assert len(slots) == 7
        assert "chose" in slots[1]
        assert "openai:gpt-4.1" in slots[1]
        assert all("not asked" in slot for slot in slots[2:])
        assert "dropped /top_k" in page.inner_text("#call .losses")
        for part, said in (("1 ·", "/v1/messages"), ("2 ·", "max_output_tokens"), ("3 ·", "chat/completions")):
            pane = page.locator("details", has=page.locator(f"summary:has-text('{part}')"))
            pane.locator("summary").click()
            assert said in pane.locator("pre").inner_text()
            assert ASKED in pane.locator("pre").inner_text()
        events = page.locator(".events summary code").all_inner_texts()
        assert (events[0], events[-1]) == ("message_start", "message_complete")
        said = page.locator(".events li", has_text="text_delta").first
        said.locator("summary").click()
        assert "content_block_delta" in said.inner_text()  # as the client was sent it
        page.click("#call a:has-text('Close')")
        page.wait_for_selector("#call", state="hidden")


def test_an_answer_is_seen_coming_in(serving: Any, page: Any) -> None:
    """Events appear while the call still runs."""
    with serving(Say("One word after the other comes.", pause=0.4)) as at:
        asking = asked_beside(at.url)
        page.goto(f"{at.url}/#calls")
        page.click("tbody tr a")
        page.wait_for_selector(".events li:has-text('text_delta')")
        assert "running" in page.inner_text("#call .facts")
        before = page.locator(".events li").count()
        until(page, f"document.querySelectorAll('.events li').length > {before}")
        page.wait_for_selector(".events li:has-text('message_complete')")
        until(page, "!document.querySelector('#call .facts').textContent.includes('running')")
        asking.join()


def test_a_routed_call_shows_the_slot_that_won(serving: Any, page: Any) -> None:
    with serving(Say("Yes.")) as at:
        ask(at.url, "routed")
        page.goto(f"{at.url}/#calls")
        page.click("tbody tr a")
        winner = page.locator(".slots .winner")
        assert winner.inner_text().startswith("Default of the policy")
        assert "chose" in winner.inner_text()


def test_a_failed_call_shows_its_error(serving: Any, page: Any) -> None:
    refusal = {"type": "error", "error": {"type": "overloaded_error", "message": "come back later"}}
    with serving(Refuse(529, refusal)) as at:
        ask(at.url)
        page.goto(f"{at.url}/#calls")
        assert "overloaded" in page.locator("tbody tr").inner_text()
        page.click("tbody tr a")
        pane = page.locator("details", has=page.locator("summary:has-text('The error')"))
        pane.locator("summary").click()
        assert "come back later" in pane.locator("pre").inner_text()


def test_without_inspect_nothing_is_shown_of_content(serving: Any, page: Any) -> None:
    with serving(Say("Yes."), inspect=0) as at:
        ask(at.url)
        page.goto(f"{at.url}/#calls")
        page.click("tbody tr a")
        page.wait_for_selector(".contents:has-text('without --inspect')")
        assert ASKED not in page.content()


def test_calls_are_found_by_words(serving: Any, page: Any) -> None:
    with serving(Say("Yes."), Say("No.")) as at:
        ask(at.url, "routed")
        ask(at.url, "mapped")
        page.goto(f"{at.url}/#calls")
        page.wait_for_selector("tbody tr >> nth=1")
        page.fill("#filter", "gpt-4.1 200")
        until(page, "document.querySelectorAll('tbody tr').length === 1")
        assert "mapped" in page.inner_text("tbody tr")


def test_it_goes_on_when_the_gateway_comes_back(serving: Any, page: Any) -> None:
    """The page says that nobody answers, and is live again by itself."""
    with serving() as at:
        page.goto(f"{at.url}/#calls")
        page.wait_for_selector("#live.up")
        at.gateway.news.end()
        page.wait_for_selector("#live:has-text('Trying again')")
        at.gateway.news.__init__()
        page.wait_for_selector("#live.up")


@pytest.mark.parametrize("remembered", [True, False])
def test_a_key_is_asked_for_and_kept_in_the_tab_alone(serving: Any, page: Any, remembered: bool) -> None:
    """A wrong one is refused with words; a right one shows its own tenant's calls; a new tab asks again."""
    keys = [Key(name, digest(name), name) for name in ("first", "second")]
    with serving(Say("Yes."), Say("No."), keys=keys) as at:
        for name in ("first", "second"):
            body = {"model": "routed", "max_tokens": 5, "messages": [{"role": "user", "content": ASKED}]}
            httpx.post(f"{at.url}/v1/messages", json=body, headers={"x-api-key": name})
        page.goto(f"{at.url}/#calls")
        page.wait_for_selector("dialog[open]")
        assert page.locator("tbody tr").count() == 0
        page.fill("#key-value", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#key-problem:not([hidden])")
        page.fill("#key-value", "first")
        page.click("dialog button")
        page.wait_for_selector("tbody tr")
        assert page.locator("tbody tr").count() == 1
        assert "first" in page.inner_text("tbody tr")
        page.expected("401")
        assert page.evaluate("JSON.stringify(localStorage)") == "{}"
        assert page.evaluate("document.cookie") == ""
        if remembered:
            page.reload()
            page.wait_for_selector("tbody tr")
        else:
            page.click("#key")
            page.wait_for_selector("dialog[open]")
            page.expected("401")
            assert page.evaluate("JSON.stringify(sessionStorage)") == "{}"
