"""Endless scrolling over three pages, with an address for each."""

import re

from playwright.sync_api import expect
from site_under_test import is_at


def run(site):
    page = site.open("/sources/heroes")
    records = page.locator(".record")
    bottom = "scrollTo(0, document.documentElement.scrollHeight)"
    expect(records.first).to_be_visible()
    for count in (40, 55):
        while records.count() < count:
            loaded = records.count()
            page.evaluate(bottom)
            expect(records).not_to_have_count(loaded)
    expect(records).to_have_count(55)
    expect(page.locator(".end")).to_be_visible()
    ids = records.evaluate_all("records => records.map(each => each.dataset.id)")
    assert len(set(ids)) == 55

    pages = page.locator(".records > li[data-page]")
    expect(pages).to_have_count(3)
    second = pages.nth(1)
    second.evaluate("each => each.scrollIntoView({ block: 'start' })")
    address = second.get_attribute("data-page")
    page.wait_for_url(address)
    assert "cursor=" in address

    # The address leads another visitor to the same records.
    linked = site.context().new_page()
    linked.goto(address)
    expect(linked.locator(".record").first).to_have_attribute("data-id", ids[20])
    linked.locator(".beginning a").click()
    is_at(linked, "/sources/heroes")
    expect(linked.locator(".record").first).to_have_attribute("data-id", ids[0])

    page.evaluate("scrollTo(0, 0)")
    is_at(page, "/sources/heroes")

    # A page that does not come is requested again only when that is wanted.
    attempts = []

    def refuse_once(route):
        attempts.append(route.request.url)
        route.abort() if len(attempts) == 1 else route.continue_()

    site.may_fail = True
    page.route("**/sources/heroes?*cursor=*", refuse_once)
    page.goto(site.origin + "/sources/heroes")
    page.evaluate(bottom)
    expect(page.locator(".more .note")).to_contain_text("Cannot reach aggregator")
    page.evaluate("scrollTo(0, 0)")
    page.evaluate(bottom)
    assert len(attempts) == 1
    page.locator(".more a").click()
    expect(records.nth(39)).to_be_attached()

    # A long table has the rows near the screen alone, in their places.
    page = site.open("/sources/countries?sort=name")
    rows = page.locator("tbody tr:not(.gap)")
    expect(rows.first).to_be_visible()
    first = rows.first.inner_text()
    while not page.locator(".end").count():
        before = page.locator(".more a").get_attribute("href")
        page.evaluate(bottom)
        expect(page.locator(f'.more a[href="{before}"]')).to_have_count(0)
    expect(page.locator("tbody tr.gap").first).to_be_attached()
    assert rows.count() < 240
    height = page.evaluate("document.documentElement.scrollHeight")
    page.locator(".record").last.focus()
    page.keyboard.press("Home")
    expect(page.locator(".record:focus")).to_have_text(first.split("\t")[1].strip())
    page.evaluate("scrollTo(0, 0)")
    expect(rows.first).to_have_text(re.compile(re.escape(first.split("\t")[1].strip())))
    expect(page.locator("tbody tr.gap").last).to_be_attached()
    assert abs(page.evaluate("document.documentElement.scrollHeight") - height) < 3
