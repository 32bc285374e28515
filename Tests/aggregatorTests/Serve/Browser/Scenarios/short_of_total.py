"""A list that ends before the total that its service has named says so at its end."""

from playwright.sync_api import expect


def run(site):
    page = site.open("/sources/heroes")
    records = page.locator(".record")
    expect(records.first).to_be_visible()
    expect(page.locator("#list .note")).to_have_count(0)
    # Pictures of heroes that the service no longer has.
    site.may_fail = True
    site.tell("empty heroes")
    # A page that was asked for before that makes the list longer, and is followed by another.
    while page.locator(".end").count() == 0:
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_timeout(20)
    expect(page.locator(".end")).to_be_visible()
    expect(page.locator("#list .note").last).to_contain_text("reports")
    # Nothing is said twice.
    notes = page.locator("#list .note").all_text_contents()
    assert len(set(notes)) == len(notes), notes
