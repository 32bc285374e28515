"""Rules of WCAG 2.2 AA that axe can judge, light and dark."""

from playwright.sync_api import expect
from site_under_test import fits, is_accessible


def run(site):
    site.may_fail = True
    for scheme in ("light", "dark"):
        page = site.open("/sources/heroes", color_scheme=scheme)
        is_accessible(page, scheme)
        page.locator(".record").first.click()
        expect(page.locator("#detail h2")).to_be_focused()
        is_accessible(page, scheme)
        page.locator("form.delete button").click()
        undo = page.get_by_role("button", name="Undo")
        expect(undo).to_be_visible()
        is_accessible(page, scheme)
        undo.click()
        expect(page.locator("#toast > *")).to_have_count(0)
        page.locator("#list .badge summary").first.click()
        is_accessible(page, scheme)
        for path in (
            "/",
            "/changes/countries",
            "/sources/countries?filters=shown&where=name~a&sort=-name",
            "/sources/countries",
            "/sources/products",
            "/search",
            "/search?query=a",
            "/sources/heroes?query=zzzz",
            "/sources/heroes?cursor=unknown",
            "/sources/heroes/99999999",
            "/unknown",
        ):
            page.goto(site.origin + path)
            is_accessible(page, scheme)
        page = site.open("/sources/heroes", color_scheme=scheme, width=360, height=740)
        is_accessible(page, scheme)
        page = site.open("/", signed_in=False, color_scheme=scheme)
        is_accessible(page, scheme)

    # Colours that the person's system forces, and a zoom of 200 %, which halves the width.
    page = site.open(forced_colors="active", width=640, height=400)
    for path in ("/", "/search?query=a", "/sql", "/sources/countries?filters=shown", "/sources/heroes"):
        page.goto(site.origin + path)
        fits(page)
        is_accessible(page)
    # What is chosen is not told by a colour of ours alone.
    current = page.locator("nav [aria-current]").evaluate("each => getComputedStyle(each).outlineStyle")
    assert current == "solid", current
    colours = page.locator(".views .button").evaluate_all(
        "all => all.map(each => getComputedStyle(each).backgroundColor)")
    assert len(set(colours)) == 2, colours

    site.tell("stop heroes")
    for scheme in ("light", "dark"):
        page = site.open("/sources/heroes?query=opal&cache=live", color_scheme=scheme)
        expect(page.get_by_role("link", name="Use local data")).to_be_visible()
        is_accessible(page, scheme)
        page = site.open("/sources/heroes?query=opal", color_scheme=scheme)
        expect(page.locator("#list .note").first).to_be_visible()
        is_accessible(page, scheme)
        page.goto(site.origin + "/search?query=opal&cache=live")
        expect(page.locator(".note.failed")).to_be_visible()
        is_accessible(page, scheme)
