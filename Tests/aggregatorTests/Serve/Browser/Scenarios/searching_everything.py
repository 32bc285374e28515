"""A search across sources shows the matches of each of them."""

import re

from playwright.sync_api import expect
from site_under_test import is_at


def run(site):
    # Who opens it types.
    page = site.open("/search")
    expect(page.locator("#query")).to_be_focused()
    page.close()
    page = site.open("/search?query=e")
    # The service of the products names no total.
    expect(page.locator(".bar > .count")).to_have_text("At least 230 matches for “e” in 3 sources")
    groups = page.locator("section.group h2")
    expect(groups).to_have_text(["Countries 172", "Heroes 53", "Products at least 5"])
    for name in ("Countries", "Heroes", "Products"):
        group = page.locator(f"section.group[aria-label={name}]")
        expect(group.locator(".record").first).to_be_visible()
        # A page that has looked again says what it has fetched before.
        expect(group.locator(".badge .label").first).to_have_text(re.compile(r"^(Live|Cached|Fetched)\b"))
    # Five cards fill the row.
    row, last = (page.locator(f"section.group[aria-label=Heroes] {each}").last.bounding_box() for each in (".bar", ".gallery li"))
    assert abs(row["x"] + row["width"] - last["x"] - last["width"]) < 12, (row, last)

    # A phone has room for two of them, whose texts need no label.
    page.set_viewport_size({"width": 390, "height": 800})
    cards = page.locator("section.group[aria-label=Heroes] .gallery")
    assert cards.evaluate("each => getComputedStyle(each).gridTemplateColumns.split(' ').length") == 2
    expect(cards.locator(".fact .label", has_text="Publisher")).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 720})

    # The matches are marked, without case and accents.
    page.goto(site.origin + "/search?query=CURACAO")
    expect(page.locator("section.group[aria-label=Countries] .record").first).to_be_visible()
    marked = page.evaluate("[...CSS.highlights.get('match')].map(String)")
    assert "Curaçao" in marked, marked
    page.goto(site.origin + "/search?query=%22port+of%22")
    expect(page.locator("section.group[aria-label=Countries] .record").first).to_be_visible()
    marked = page.evaluate("[...CSS.highlights.get('match')].map(String)")
    assert set(marked) == {"Port of"}, marked
    page.goto(site.origin + "/search?query=CURACAO")
    expect(page.locator(".bar > .count")).to_have_text("1 match for “CURACAO” in 1 source")
    # The sources without matches take one line.
    expect(page.locator("section.group")).to_have_count(1)
    expect(page.locator(".note.nothing")).to_have_text("No matches in heroes and products")

    # The others do not wait for a service that has not answered yet, and the page looks again by itself.
    site.tell("stall heroes")
    with page.expect_request(lambda request: request.headers.get("x-part") == "list"):
        text = page.goto(site.origin + "/search?query=port").text()
    assert re.search("Still asking the services? of heroes", text) and "Wait for the answer" in text, text
    expect(page.locator("section.group[aria-label=Countries] .record").first).to_be_visible()
    page.close()

    # Whoever waits for the answer keeps the page, of which the results alone are replaced.
    def answer(route):
        if "x-part" not in route.request.headers:
            route.continue_()
        elif "cache=reload" in route.request.url:
            route.fulfill(content_type="text/html", body='<section id="list"><p class="count">All of them</p></section>')
        # Else the page has looked again by itself, and goes on to wait.

    page = site.context().new_page()
    page.route("**/search?*", answer)
    # The script is at work once the page has looked again.
    with page.expect_request(lambda request: request.headers.get("x-part") == "list"):
        page.goto(site.origin + "/search?query=port")
    page.get_by_role("link", name="Wait for the answer").click()
    expect(page.locator("#list > .count")).to_have_text("All of them")
    is_at(page, "/search?query=port")
