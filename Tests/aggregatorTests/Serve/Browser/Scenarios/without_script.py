"""Lists, paging, detail and search without JavaScript."""

from playwright.sync_api import expect
from site_under_test import is_at


def run(site):
    page = site.open("/sources/heroes", java_script_enabled=False)
    first = page.locator(".record").first.get_attribute("data-id")
    page.locator(".more a").click()
    page.wait_for_url("**/sources/heroes?cursor=*")
    record = page.locator(".record").first
    assert record.get_attribute("data-id") != first
    name = record.locator(".name").inner_text()
    record.click()
    expect(page.locator("#detail h2")).to_have_text(name)
    page.locator(".close").click()
    expect(page.locator("#detail")).to_be_hidden()
    page.fill("#query", "anvil")
    page.get_by_role("button", name="Search").click()
    is_at(page, "/sources/heroes?query=anvil")
    expect(page.locator(".record")).to_have_count(16)
    page.get_by_role("link", name="Search", exact=True).click()
    expect(page.locator("h1")).to_have_text("Search all sources")
    page.fill("#query", "island")
    page.get_by_role("button", name="Search").click()
    is_at(page, "/search?query=island")
    expect(page.locator(".group[aria-label=Countries]")).to_have_count(1)
    # They may not have answered yet.
    expect(page.locator(".note.nothing", has_text="products").first).to_be_visible()
    # What needs the script is not offered.
    page.goto(site.origin + "/sources/heroes")
    expect(page.get_by_role("button", name="Sync")).to_have_count(0)
