"""A record beside the list, with back, forward and Escape."""

import re

from playwright.sync_api import expect
from site_under_test import fits, is_at


def title_of(page):
    return page.locator("#detail h2")


def run(site):
    page = site.open("/sources/heroes?query=anvil")
    title = page.locator("#detail h2")
    first, second = page.locator(".record").nth(2), page.locator(".record").nth(3)
    names = [record.locator(".name").inner_text() for record in (first, second)]
    path = f"/sources/heroes/{first.get_attribute('data-id')}?query=anvil"
    first.click()
    expect(title).to_have_text(names[0])
    expect(title).to_be_focused()
    is_at(page, path)
    expect(page).to_have_title(f"{names[0]} – Heroes – aggregator")
    expect(first).to_have_attribute("aria-current", "true")
    second.click()
    expect(title).to_have_text(names[1])
    expect(page.locator(".record[aria-current]")).to_have_count(1)
    page.go_back()
    expect(title).to_have_text(names[0])
    page.go_back()
    expect(page.locator("#detail")).to_be_hidden()
    is_at(page, "/sources/heroes?query=anvil")
    expect(page).to_have_title(f"{page.locator('.count').inner_text()} – aggregator")
    page.go_forward()
    expect(title).to_have_text(names[0])
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).to_be_hidden()
    expect(first).to_be_focused()
    is_at(page, "/sources/heroes?query=anvil")

    # The list stays what it is while another is searched beside the record.
    first.click()
    expect(title).to_have_text(names[0])
    page.fill("#query", "dial")
    expect(page.locator(".count")).to_contain_text("for “dial”")
    expect(title).to_have_text(names[0])
    is_at(page, path.replace("anvil", "dial"))
    page.locator(".close").click()
    is_at(page, "/sources/heroes?query=dial")

    # From one record to the next, without a step of the history for each.
    page = site.open("/sources/heroes?query=anvil")
    records = page.locator(".record")
    records.nth(0).click()
    expect(page.get_by_role("button", name="Previous record")).to_be_disabled()
    page.get_by_role("button", name="Next record").click()
    expect(title_of(page)).to_have_text(records.nth(1).locator(".name").inner_text())
    expect(page.get_by_role("button", name="Next record")).to_be_focused()
    is_at(page, f"/sources/heroes/{records.nth(1).get_attribute('data-id')}?query=anvil")
    page.go_back()
    expect(page.locator("#detail")).to_be_hidden()

    # The same data elsewhere.
    records.nth(0).click()
    page.locator("#detail .menu summary").click()
    expect(page.locator("#detail .command").first).to_contain_text("aggregator heroes show")
    expect(page.locator("#detail").get_by_role("button", name="Copy the command")).to_be_visible()
    # A value is copied as the service has it, by a button that the pointer or the keyboard shows.
    page.keyboard.press("Escape")
    page.evaluate("navigator.clipboard.writeText = text => { window.copied = String(text); }")
    copy = page.locator("#detail .copy-value").first
    expect(copy).to_have_accessible_name(re.compile("^Copy "))
    opacity = "each => getComputedStyle(each).opacity"
    page.mouse.move(0, 0)
    assert copy.evaluate(opacity) == "0"
    copy.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(copy).to_be_focused()
    assert copy.evaluate(opacity) == "1"
    # The button says so for a while, but not before, and no message covers what is below it.
    mark = "getComputedStyle(each, '::after').content"
    marks = page.locator("#detail .copy-value").evaluate_all(f"all => all.map(each => {mark})")
    assert set(marks) == {"none"}, marks
    copy.evaluate(f"""each => {{
        new MutationObserver(() => {{ each.dataset.hasSaid ||= {mark}; }}).observe(each, {{ attributeFilter: ["data-copied"] }});
    }}""")
    page.keyboard.press("Enter")
    expect(copy).to_have_attribute("data-has-said", re.compile("✓"))
    expect(page.locator("#toast > *")).to_have_count(0)
    value = copy.locator("..").inner_text()
    assert page.evaluate("window.copied") == value.strip(), value
    fits(page)

    # The buttons of the bar are in it, however narrow it is.
    for width in (320, 720, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        bar, last = (page.locator(f".detail-bar{part}").bounding_box() for part in ("", " .delete"))
        assert last["x"] + last["width"] <= bar["x"] + bar["width"], width

    # On paper it has the whole width, without the list.
    page.emulate_media(media="print")
    assert page.locator("#detail").bounding_box()["width"] == 1440
    expect(page.locator(".column, .side, .detail-bar").filter(visible=True)).to_have_count(0)

    site.may_fail = True
    changes(site)
    linked = site.open(path)
    expect(linked.locator("#detail h2")).to_have_text(names[0])
    expect(linked.locator(".record[aria-current] .name")).to_have_text(names[0])
    linked.keyboard.press("Escape")
    expect(linked.locator("#detail")).to_be_hidden()
    is_at(linked, "/sources/heroes?query=anvil")

    unknown = site.open("/sources/heroes/99999999")
    expect(unknown.locator("#detail .state h2")).to_be_visible()
    expect(unknown.locator(".record").first).to_be_visible()


def changes(site):
    """The open record is shown as it is now, where the reader is in it, and says so if it is gone."""
    context = site.context(height=400)
    page, other = context.new_page(), context.new_page()
    page.goto(site.origin + "/sources/heroes?query=anvil")
    page.locator(".record").nth(1).click()
    title = title_of(page)
    expect(title).to_be_focused()
    name = title.inner_text()
    page.locator("#detail .menu summary").click()
    page.locator("#detail").evaluate("pane => pane.scrollTo(0, 50)")
    look = "document.dispatchEvent(new Event('visibilitychange'))"
    # What is the same stays, with all that was done to it.
    page.locator("#detail article").evaluate("article => { article.dataset.isOld = 'true'; }")
    with page.expect_response("**/sources/heroes/*"):
        page.evaluate(look)
    expect(page.locator("#detail [data-is-old]")).to_have_count(1)

    def change(route):
        # Outside the browser nothing finds the names of localhost.
        response = route.fetch(url=re.sub("//[^:/]+", "//127.0.0.1", route.request.url))
        route.fulfill(response=response, body=response.text().replace(name, f"{name} II"))

    page.route("**/sources/heroes/*", change)
    page.evaluate(look)
    expect(title).to_have_text(f"{name} II")
    expect(page.locator("#announcer")).to_have_text("The open record has changed")
    expect(page.locator("#detail .menu")).to_have_attribute("open", "")
    expect(page.locator("#detail .menu summary")).to_be_focused()
    assert page.locator("#detail").evaluate("pane => pane.scrollTop") == 50
    # A service that fails takes nothing away.
    page.unroute("**/sources/heroes/*")
    page.route("**/sources/heroes/*", lambda route: route.fulfill(status=503, body="<section id=detail></section>"))
    with page.expect_response("**/sources/heroes/*"):
        page.evaluate(look)
    expect(title).to_have_text(f"{name} II")
    page.unroute("**/sources/heroes/*")

    # It is deleted in another window, and restored there.
    identifier = page.locator("#detail").get_attribute("data-id")
    other.goto(page.url)
    other.locator("form.delete button").click()
    expect(page.locator("#detail .state h2")).to_have_text("Deleted")
    expect(page.locator(f".record[data-id='{identifier}']")).to_have_count(0)
    expect(page.locator("#announcer")).to_have_text(re.compile("deleted on this machine|heroes"))
    other.get_by_role("button", name="Undo").click()
    expect(title).to_have_text(name)
    expect(page.locator(f".record[data-id='{identifier}']")).to_have_attribute("aria-current", "true")
    # A deletion by another program is seen on return to the page.
    page.keyboard.press("Escape")
    page.evaluate("scrollTo(0, 0)")
    change = "([method, path]) => fetch('/api/v1/heroes/' + path, { method })"
    other.evaluate(change, ["DELETE", identifier])
    page.evaluate(look)
    expect(page.locator(f".record[data-id='{identifier}']")).to_have_count(0)
    other.evaluate(change, ["POST", f"{identifier}/restore"])
    context.close()
