"""A record that a link leads to stands in its list, between those before and after it."""

from playwright.sync_api import expect


def run(site):
    page = site.open("/sources/countries")
    page.get_by_role("button", name="Sync").click()
    expect(page.locator(".sync-words")).to_contain_text("countries synced")
    for order in ("", "?sort=-capital"):
        page = site.open(f"/sources/countries/FR{order}", height=600)
        title = page.locator("#detail h2")
        expect(title).to_have_text("France")
        marked = page.locator(".record[aria-current]")
        expect(marked).to_have_text("France")
        # In the middle of its list, also on a low screen.
        expect(marked).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("link", name="Back to the beginning of the list")).to_be_visible()
        names = page.locator(".record").all_inner_texts()
        place = names.index("France")
        page.get_by_role("button", name="Next record").click()
        expect(title).to_have_text(names[place + 1])
        for step in (0, -1, -2):
            page.get_by_role("button", name="Previous record").click()
            expect(title).to_have_text(names[place + step])
