"""Ctrl-K leads to pages, actions, earlier searches and records."""

import re

from playwright.sync_api import expect
from site_under_test import fits, focused, is_accessible, is_at


def run(site):
    page = site.open("/sources/heroes")
    dialog = page.get_by_role("dialog", name="Go to")
    options = dialog.get_by_role("option")
    chosen = dialog.get_by_role("option", selected=True)
    page.keyboard.press("Control+k")
    focused(page, "#palette input")
    expect(options.first).to_have_text("HomePage")
    is_accessible(page)
    # The pointer chooses as the arrows do: one of them at a time.
    options.nth(2).hover()
    expect(options.nth(2)).to_have_attribute("aria-selected", "true")
    expect(chosen).to_have_count(1)
    page.mouse.move(0, 0)
    page.keyboard.type("coun")
    expect(chosen).to_have_text(re.compile("^Countries"))
    page.keyboard.press("Enter")
    is_at(page, "/sources/countries")

    # So are the orders and files of the list.
    page.goto(site.origin + "/sources/countries")
    page.keyboard.press("Control+k")
    page.keyboard.type("download csv")
    expect(chosen).to_have_text("Download CSVCountries")
    page.keyboard.press("Control+a")
    page.keyboard.type("sort by name")
    expect(chosen).to_have_text("Sort by NameCountries")
    page.keyboard.press("Enter")
    is_at(page, "/sources/countries?sort=name")
    page.goto(site.origin + "/sources/countries")

    # Records of all sources, which are cached: Enter does the same before and after they have arrived.
    page.keyboard.press("Control+k")
    page.keyboard.type("kabul")
    search = re.compile("^Search all sources for “kabul”")
    expect(chosen).to_have_text(search)
    # What is found elsewhere than in the name is shown, before the search of all sources, which stays chosen.
    expect(options.first).to_contain_text("Countries · Capital Kabul")
    expect(options.last).to_have_text(search)
    expect(chosen).to_have_text(search)
    # The arrows go round.
    page.keyboard.press("ArrowUp")
    expect(chosen).not_to_have_text(search)
    page.keyboard.press("ArrowDown")
    expect(chosen).to_have_text(search)
    # A letter may be missing, another or too much where nothing else fits; the search stays chosen.
    for typed in ("coutries", "ctry"):
        page.keyboard.press("Control+k")
        page.keyboard.type(typed)
        expect(options.filter(has_text=re.compile("^CountriesPage$"))).to_be_visible()
        expect(chosen).to_have_text(re.compile(f"^Search all sources for “{typed}”"))
    page.keyboard.press("Control+k")
    page.keyboard.type("anvil")
    record = options.filter(has_text="Heroes").first
    expect(record).to_be_visible()
    # Records of such a name come first.
    expect(chosen).to_have_text(re.compile("anvil", re.IGNORECASE))
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(options.last).to_have_text(re.compile("^Search all sources for “anvil”"))
    record.click()
    expect(page.locator("#detail h2")).to_contain_text(re.compile("anvil", re.IGNORECASE))
    assert "cache" not in page.url

    # A search that was used is offered again.
    page.keyboard.press("Control+k")
    page.keyboard.type("nowhere at all")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    is_at(page, "/search?query=nowhere+at+all")
    page.keyboard.press("Control+k")
    expect(options.first).to_have_text(re.compile("^nowhere at allEarlier search$"))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.goto(site.origin + "/search")
    page.get_by_role("link", name="nowhere at all").click()
    is_at(page, "/search?query=nowhere+at+all")

    # The first record of a name is what was meant, also if Enter is faster than the search.
    page.goto(site.origin + "/search")
    page.keyboard.press("Control+k")
    page.keyboard.type("afghanis")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sources/countries/AF*")

    # A source is synced from any page, also from one with other navigation and without a list.
    page.goto(site.origin + "/changes/countries")
    page.keyboard.press("Control+k")
    page.keyboard.type("sync countries")
    expect(chosen).to_contain_text("Sync Countries")
    page.goto(site.origin + "/sql")
    page.keyboard.press("Control+k")
    page.keyboard.type("sync countries")
    expect(chosen).to_contain_text("Sync Countries")
    page.keyboard.press("Enter")
    expect(page.locator("#toast p")).to_contain_text("records synced")
    page.locator("#toast").get_by_role("button", name="Dismiss").click()
    expect(page.locator("#toast p")).to_have_count(0)
    page.goto(site.origin + "/search")
    page.keyboard.press("Control+k")
    page.keyboard.type("sync coun")
    expect(chosen).to_contain_text("Sync Countries")
    with page.expect_request("**/api/v1/sync/countries") as request:
        page.keyboard.press("Enter")
    assert request.value.method == "POST"
    # A page without its progress says how it ended.
    expect(page.locator("#toast p")).to_have_text(re.compile("^Countries: [0-9,]+ (changed )?records synced"))
    page.goto(site.origin + "/")
    expect(page.locator(".sync:not([hidden])").first).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("sync all")
    expect(chosen).to_contain_text("Sync all")
    page.keyboard.press("Escape")

    # An action of the page.
    page.goto(site.origin + "/sources/countries")
    expect(page.get_by_role("button", name="Sync countries")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("sync")
    # As the button says, or the name of the source while the button is not there.
    expect(chosen).to_contain_text("Sync countries", ignore_case=True)
    page.keyboard.press("Enter")
    expect(page.locator(".sync-words")).to_have_text(re.compile("synced$"))

    narrow = site.open("/", width=320, height=640)
    narrow.keyboard.press("Control+k")
    expect(narrow.get_by_role("option").first).to_be_visible()
    fits(narrow)
