"""Deletion with undo, by the script and by forms."""

import re

from playwright.sync_api import expect
from site_under_test import is_at


def run(site):
    page = site.open("/sources/heroes?query=anvil")
    records = page.locator(".record")
    record = records.nth(1)
    name, identifier = record.locator(".name").inner_text(), record.get_attribute("data-id")
    chosen = page.locator(f".record[data-id='{identifier}']")
    record.click()
    page.locator("form.delete button").click()
    expect(page.locator("#toast")).to_contain_text(f"Deleted “{name}”")
    expect(chosen).to_have_count(0)
    expect(page.locator(".count")).to_contain_text("15 heroes")
    expect(page.locator("#detail")).to_be_hidden()
    is_at(page, "/sources/heroes?query=anvil")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    tops = page.locator("#toast button").evaluate_all("all => all.map(one => one.offsetTop)")
    assert len(tops) == 2 and len(set(tops)) == 1, tops
    undo.press("Enter")
    expect(records.nth(1)).to_be_focused()
    expect(records.nth(1)).to_have_attribute("data-id", identifier)
    expect(page.locator(".count")).to_contain_text("16 heroes")
    expect(page).to_have_title(re.compile("^16 heroes"))

    # It stays deleted, everywhere, until it is restored.
    chosen.click()
    page.locator("form.delete button").click()
    expect(chosen).to_have_count(0)
    expect(undo).to_be_visible()
    page.reload()
    expect(records).to_have_count(15)
    expect(chosen).to_have_count(0)

    # Its address offers to restore it.
    site.may_fail = True
    page.goto(f"{site.origin}/sources/heroes/{identifier}")
    expect(page.locator("#detail .state h2")).to_have_text("Deleted")
    expect(page.locator("#detail").get_by_role("button", name="Restore")).to_be_visible()
    expect(page.locator("#detail").get_by_text("Try again")).to_have_count(0)

    # The list leads back to it.
    page.goto(site.origin + "/sources/heroes")
    page.get_by_text("1 deleted hero", exact=True).click()
    page.get_by_role("button", name="Restore").click()
    expect(page.locator("#detail h2")).to_have_text(name)
    expect(page.locator("details.hidden")).to_have_count(0)

    # Without the script.
    page = site.open("/sources/countries?query=island", java_script_enabled=False)
    count = page.locator(".record").count()
    record = page.locator(".record").first
    identifier = record.get_attribute("data-id")
    chosen = page.locator(f".record[data-id='{identifier}']")
    record.click()
    page.locator("form.delete button").click()
    expect(page.locator(".notice")).to_contain_text(f"Deleted country {identifier}")
    expect(page.locator(".record")).to_have_count(count - 1)
    expect(chosen).to_have_count(0)
    page.locator(".notice button").click()
    is_at(page, f"/sources/countries/{identifier}?query=island")
    expect(chosen).to_have_count(1)
