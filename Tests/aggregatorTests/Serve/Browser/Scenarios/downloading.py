"""A download with live progress, which can be stopped."""

import re

from playwright.sync_api import expect


def run(site):
    page = site.open("/sources/countries")
    words = page.locator(".download-words")
    words.evaluate(
        """words => {
            window.said = [];
            new MutationObserver(changes => {
                for (const { addedNodes } of changes)
                    for (const node of addedNodes) said.push(node.textContent);
            }).observe(words, { childList: true });
        }"""
    )
    page.get_by_role("button", name="Sync").click()
    expect(words).to_have_text(re.compile("^2[0-9]+ countries synced$"))
    said = page.evaluate("said")
    assert said[0] == "Starting…" and said[-1] == words.inner_text(), said
    assert any(re.match("[0-9]+ (of [0-9]+ )?countries$", each) for each in said), said
    page.goto(site.origin + "/sources/countries?cache=offline")
    expect(page.locator("#list .badge .label")).to_contain_text("Offline · cached")

    # The only one without a picture, which nothing requests meanwhile.
    page = site.open("/sources/heroes?query=nobody")
    expect(page.locator(".record")).to_have_count(1)
    site.tell("stall heroes")
    words = page.locator(".download-words")
    page.get_by_role("button", name="Sync").click()
    expect(words).to_have_text("Starting…")
    expect(page.locator(".download progress")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(words).to_have_text("Stopped after 0 heroes")
    expect(page.locator(".download progress")).to_be_hidden()
    expect(page.get_by_role("button", name="Sync")).to_be_enabled()
