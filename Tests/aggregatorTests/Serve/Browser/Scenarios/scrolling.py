"""Endless scrolling over three pages, with an address for each."""

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
