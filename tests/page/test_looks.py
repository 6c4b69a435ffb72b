"""What holds for the whole page: its widths and colours, the keyboard, names for screen readers, what it may load."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from interlingua.client.fake import Say
from tests.page.conftest import until
from tests.page.test_calls import ask

PICTURES = os.environ.get("PICTURES", "")
VIEWS = {"playground": ".side .loss", "calls": "tbody tr"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_overflows_and_everything_can_be_read(
    serving: Any, page: Any, view: str, width: int, scheme: str
) -> None:
    """No sideways scrolling of the page, and the contrast of WCAG AA for every text. PICTURES=FOLDER keeps pictures."""
    with serving(Say("Yes."), Say("No.")) as at:
        ask(at.url)
        ask(at.url, "mapped", top_k=4)
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{at.url}/#{view}")
        page.wait_for_selector(VIEWS[view])
        if view == "calls":
            page.click("tbody tr a")
            page.wait_for_selector(".events li")
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{view}-{width}-{scheme}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(_CONTRAST) == []


def test_a_loss_chosen_is_seen_at_once_on_both_sides(serving: Any, page: Any) -> None:
    """The picture of the README: with PICTURES=FOLDER it is kept."""
    with serving() as at:
        page.set_viewport_size({"width": 1360, "height": 800})
        page.goto(at.url)
        page.wait_for_selector(".side .loss")
        page.click('.chip[data-wire="openai_chat"]')
        page.locator('.side[data-wire="openai_chat"] .loss', has_text="reasoning of another provider").click()
        page.evaluate("scrollTo(0, document.querySelector('.bench').offsetTop - 70)")
        for pane in ("#marks", '.side[data-wire="openai_chat"] pre'):
            chosen, shown = page.locator(f"{pane} mark.chosen").first.bounding_box(), page.locator(pane).bounding_box()
            assert shown["y"] <= chosen["y"] <= min(shown["y"] + shown["height"], 800)
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / "inspector.png")


def test_the_colours_can_be_chosen(serving: Any, page: Any) -> None:
    """As the system, light, dark; kept over a reload."""
    with serving() as at:
        page.emulate_media(color_scheme="light")
        page.goto(at.url)
        page.wait_for_selector(".side")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.click("#theme")
        assert page.inner_text("#theme") == "Light"
        page.click("#theme")
        assert page.get_attribute("#theme", "aria-label") == "Colours: dark"
        assert page.evaluate(ground) != light
        page.reload()
        page.wait_for_selector(".side")
        assert page.evaluate(ground) != light


def test_everything_can_be_done_with_the_keyboard(serving: Any, page: Any) -> None:
    """From the first key to a chosen loss and an opened call, with a focus that is seen."""
    with serving(Say("Yes.")) as at:
        ask(at.url)
        page.goto(at.url)
        page.wait_for_selector(".side .loss")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        reached = []
        for _ in range(40):
            page.keyboard.press("Tab")
            name = page.evaluate(
                "document.activeElement.id || document.activeElement.className || document.activeElement.textContent"
            )
            reached.append(name)
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", name
        for wanted in (
            "to-playground",
            "to-calls",
            "theme",
            "example",
            "kind",
            "wire",
            "given",
            "file",
            "clear",
            "chip",
            "loss",
        ):
            assert wanted in reached, wanted
        page.focus("#to-calls")
        page.keyboard.press("Enter")
        page.wait_for_selector("tbody tr")
        page.focus("tbody tr a")
        page.keyboard.press("Enter")
        page.wait_for_selector("#call:not([hidden])")
        until(page, "document.activeElement.id === 'call'")


@pytest.mark.parametrize("view", VIEWS)
def test_everything_has_a_name(serving: Any, page: Any, view: str) -> None:
    """Whatever can be reached has a name for a screen reader; headings go down one step at a time; ids are there once."""
    with serving(Say("Yes.")) as at:
        ask(at.url)
        page.goto(f"{at.url}/#{view}")
        page.wait_for_selector(VIEWS[view])
        if view == "calls":
            page.click("tbody tr a")
            page.wait_for_selector(".events li")
        assert page.evaluate(_NAMELESS) == []
        levels = page.locator("h1:visible, h2:visible, h3:visible, h4:visible").evaluate_all(
            "all => all.map(one => Number(one.tagName[1]))"
        )
        assert levels[0] == 1
        assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
        assert len(ids) == len(set(ids))
        assert page.locator("main").count() == page.locator("nav[aria-label]").count() == 1


def test_scripts_of_others_do_not_run(serving: Any, page: Any) -> None:
    """The policy stops what somebody would bring in: inline, from elsewhere, or as markup."""
    with serving() as at:
        page.goto(at.url)
        page.wait_for_selector(".side")
        tried = page.evaluate("""() => {
            const script = document.createElement("script");
            try { script.textContent = "window.ran = 1"; document.body.append(script); } catch { window.kept = 1; }
            try { document.body.innerHTML += "<b onclick='1'>x</b>"; } catch { window.kept = (window.kept ?? 0) + 1; }
            return [window.ran ?? 0, window.kept];
        }""")
        assert tried == [0, 2]
        assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'kept')") == "kept"
        page.expected("Content Security Policy")
        page.expected("TrustedScript")
        page.expected("TrustedHTML")


_CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, index) => sum + v * [0.2126, 0.7152, 0.0722][index], 0);
    const ground = (element) => {
        for (let one = element; one; one = one.parentElement) {
            const colour = rgba(getComputedStyle(one).backgroundColor);
            if (colour[3] > 250) return colour;
        }
        return [255, 255, 255, 255];
    };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || !element.checkVisibility() || element.closest(".editor pre, .said, .skip, select")) continue;
        const [one, other] = [light(rgba(getComputedStyle(element).color)), light(ground(element))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) found.push(`${element.tagName}.${element.className} ${contrast.toFixed(2)} ${element.textContent.slice(0, 30)}`);
    }
    return [...new Set(found)];
}"""

_NAMELESS = """() => [...document.querySelectorAll("a, button, input, select, textarea, summary, [tabindex='0'], [role='region']")]
    .filter((one) => one.checkVisibility())
    .filter((one) => {
        const labelled = (one.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("");
        const labels = [...(one.labels ?? [])].map((label) => label.textContent).join("");
        return !(one.getAttribute("aria-label") || labelled.trim() || labels.trim() || (!one.matches("[role='region'], [tabindex='0']") && one.textContent.trim()));
    })
    .map((one) => one.outerHTML.slice(0, 100))"""
