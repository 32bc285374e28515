"""A phone: one thing at a time, and nothing moves sideways."""

from playwright.sync_api import expect
from site_under_test import fits, is_at


def run(site):
    page = site.open("/sources/heroes", width=360, height=740, has_touch=True, is_mobile=True)
    expect(page.locator(".record").nth(6)).to_be_attached()
    fits(page)
    page.locator(".record").nth(6).scroll_into_view_if_needed()
    top = page.evaluate("scrollY")
    assert top > 0
    page.locator(".record").nth(6).tap()
    expect(page.locator("#detail h2")).to_be_visible()
    expect(page.locator(".column")).to_be_hidden()
    fits(page)
    page.locator(".close").tap()
    expect(page.locator(".column")).to_be_visible()
    expect(page.locator("#detail")).to_be_hidden()
    page.wait_for_function("top => Math.abs(scrollY - top) < 5", arg=top)
    site.may_fail = True
    for path in (
        "/sources/products",
        "/sources/countries",
        "/sources/countries/CW",
        "/search",
        "/search?query=a",
        "/sources/heroes?query=zzzz",
        "/sources/heroes?cursor=unknown",
        "/sources/countries?filters=shown&where=region%3DEurope&where=capitall%3D" + 40 * "Longer",
        "/sources/heroes?query=" + 40 * "Unbreakable",
        "/unknown",
    ):
        page.goto(site.origin + path)
        fits(page)
    # The sources of the first page are as tall as a finger needs.
    page.goto(site.origin + "/")
    for link in page.locator(".sources h2 a").all():
        assert link.bounding_box()["height"] >= 44, (link.inner_text(), link.bounding_box())
    # All kinds and times of changes can be chosen.
    page.goto(site.origin + "/changes/countries")
    expect(page.locator(".tools .button:visible")).to_have_count(9)
    fits(page)
    # However large the numbers are, the kinds stay beside each other.
    kinds = page.get_by_role("navigation", name="Kind")
    kinds.get_by_role("link").last.evaluate("each => { each.textContent = 'Removed ' + 100000000000; }")
    tops = kinds.get_by_role("link").evaluate_all("all => all.map(each => each.offsetTop)")
    assert len(set(tops)) == 1, tops
    fits(page)
    # Its links are as tall as a target must be.
    for link in page.locator(".column .summary a, .column .note a, .changes a").all():
        assert link.bounding_box()["height"] >= 24, (link.inner_text(), link.bounding_box())
    # The chosen one is in sight.
    page.goto(site.origin + "/changes/countries?kind=removed")
    expect(kinds.locator("[aria-current]")).to_be_in_viewport(ratio=1)
    # The controls leave room for records, and their menus are whole.
    page.goto(site.origin + "/sources/countries")
    top = page.locator(".record").first.bounding_box()["y"]
    assert top < 400, top
    for path in ("/sources/heroes", "/sources/countries"):
        page.goto(site.origin + path)
        tools = page.locator(".tools > .actions").evaluate("all => [all.scrollWidth, all.clientWidth]")
        assert tools[0] <= tools[1], tools
        # Each of them is on the screen as a whole.
        for button in page.locator(".tools :is(a, summary).button:visible").all():
            box = button.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 360, box
    page.get_by_text("Columns", exact=True).tap()
    panel = page.locator(".tools .panel:visible").bounding_box()
    assert panel["x"] >= 0 and panel["width"] > 250 and panel["x"] + panel["width"] <= 360, panel
    # Fields are folded, so that the list is not far below, and one that is opened has the width of the screen.
    page.goto(site.origin + "/sources/heroes?filters=shown")
    section = page.locator(".filters > .facets > section").first
    expect(section.locator("li a").first).to_be_hidden()
    # A folded one says how much there is to choose from.
    expect(section.locator("summary span")).to_be_visible()
    assert page.locator(".filters").bounding_box()["height"] < 600
    # The list is below them, so that no place in it is named.
    expect(page.locator(".position")).to_be_hidden()
    section.locator("summary").first.tap()
    expect(section.locator("li a").first).to_be_visible()
    expect(section.locator("summary span")).to_be_hidden()
    assert section.bounding_box()["width"] > 280
    fits(page)
    # The bar of sources leads everywhere.
    page.get_by_role("button", name="Go to…").tap()
    expect(page.get_by_role("dialog", name="Go to")).to_be_visible()
    page.keyboard.press("Escape")
    page.goto(site.origin + "/sources/products")
    page.locator(".record").nth(3).tap()
    expect(page.locator("#detail h2")).to_contain_text("Unbreakable")
    fits(page)
    page.go_back()
    is_at(page, "/sources/products")
    # A list of cached records is left for any of them.
    page.goto(site.origin + "/sources/countries")
    expect(page.get_by_role("button", name="Sync")).to_be_visible()
    top = page.locator(".search").bounding_box()["y"]
    page.get_by_role("button", name="Sync").tap()
    expect(page.locator(".sync-words")).to_have_text("249 countries synced")
    # What it says is below the name for a while, which makes room for it, so that nothing moves.
    name, state = (page.locator(each).bounding_box() for each in ("h1", ".sync-state"))
    assert name["y"] + name["height"] <= state["y"] + 2, (name, state)
    assert page.locator(".search").bounding_box()["y"] == top, top
    expect(page.locator(".sync-state")).to_be_hidden()
    page.goto(site.origin + "/sources/countries")
    # The links of its data are as tall as a finger needs.
    page.get_by_text("Export", exact=True).tap()
    link = page.get_by_role("link", name="CSV", exact=True).first
    assert link.bounding_box()["height"] >= 40, link.bounding_box()
    expect(page.get_by_role("button", name="Copy the command that lists")).to_be_visible()
    # Its buttons are in the menu.
    panel = page.locator(".tools .panel:visible").bounding_box()
    for button in page.locator(".tools .panel .button:visible").all():
        box = button.bounding_box()
        assert box["x"] + box["width"] <= panel["x"] + panel["width"], (box, panel)
    page.keyboard.press("Escape")
    # So are those of a filter.
    page.goto(site.origin + "/sources/countries?where=name~a")
    for link in page.locator(".chip a").all():
        box = link.bounding_box()
        assert min(box["height"], box["width"]) >= 36, box
    # A value of a record leads to the list of those that have it, for which an open record leaves no room.
    page.goto(site.origin + "/sources/countries/FR")
    # Buttons that are always in sight cover no value, and say nothing before they are used.
    for copy in page.locator("#detail .copy-value").all():
        covered, mark = copy.evaluate(
            """each => {
                const range = document.createRange();
                range.setStart(each.parentElement, 0);
                range.setEndBefore(each);
                const edges = [range.getBoundingClientRect().right, each.getBoundingClientRect().left];
                return [edges[0] - edges[1], getComputedStyle(each, "::after").content];
            }""")
        assert covered <= 0 and mark == "none", (copy.get_attribute("aria-label"), covered, mark)
    page.locator("#detail a.chip").first.tap()
    expect(page.locator("#detail")).to_be_hidden()
    expect(page.locator(".tools .chip .remove")).to_have_count(1)
    fits(page)
    # The result of a query is read, without a keyboard over it.
    page.goto(site.origin + "/sql?sql=SELECT+1")
    expect(page.locator("#result table")).to_be_visible()
    expect(page.locator("#sql")).not_to_be_focused()
    page.goto(site.origin + "/search")
    expect(page.locator(".shortcuts").first).to_be_attached()
    expect(page.locator("#query")).not_to_be_focused()
    page.goto(site.origin + "/sources/countries")
    page.get_by_label("Go to no.").fill("100")
    page.get_by_role("button", name="Go", exact=True).tap()
    is_at(page, "/sources/countries?offset=99")
    fits(page)
    # The heading of a list is one row, also beside an open record.
    page.goto(site.origin + "/sources/countries")
    for each in (page, site.open("/sources/countries/FR", width=1100, height=800)):
        expect(each.locator(".sync")).to_be_visible()
        title = each.locator("h1").bounding_box()
        for button in each.locator(".heading .button").all():
            box = button.bounding_box()
            assert box["x"] > title["x"] and box["y"] < title["y"] + title["height"], (title, box)
    # A filter moves no list: its words have two lines beside the other controls.
    page = site.open("/sources/countries?filters=shown&where=region%3DEU", width=1024, height=768)
    expect(page.locator(".count").first).to_contain_text("where region is EU")
    count, badge = (page.locator(each).first.bounding_box() for each in (".bar > .count", ".bar .badge"))
    assert badge["y"] < count["y"] + count["height"] and count["y"] < badge["y"] + badge["height"], (count, badge)
    # Nor are those of an order cut.
    page.goto(site.origin + "/sources/countries?filters=shown&sort=-capital")
    heights = page.locator(".bar > .count").first.evaluate("each => [each.scrollHeight, each.clientHeight]")
    assert heights[0] <= heights[1], heights
    # Cards without pictures are as wide as the field above them.
    page.goto(site.origin + "/sources/countries?view=gallery")
    places = [page.locator(each).bounding_box()["x"] for each in (".gallery.plain >> nth=0", ".search .field")]
    assert places[0] == places[1], places
    # What is above a list takes a third of the screen at most, and the names of the orders are whole.
    page = site.open("/sources/countries", width=390, height=844, has_touch=True, is_mobile=True)
    expect(page.get_by_label("Go to no.")).to_be_visible()
    # What a number is typed for is said also where little room is left.
    words = page.locator(".jump label").evaluate(
        "each => [...each.childNodes].filter(({ parentElement: here, firstChild }) => getComputedStyle(firstChild ? firstChild.parentElement : here).fontSize !== '0px').map(node => node.textContent.trim()).join(' ').trim()")
    assert words == "Go to", words
    # Its bar has room for many records, and for when they were cached.
    page.locator(".jump input[max]").evaluate("each => { each.placeholder = '1–20,000'; }")
    label = page.locator("#list .badge .label")
    for place, words in ((page.locator(".bar > .count"), "20,000 items"), (label, "Cached 2 min ago")):
        place.evaluate("(each, words) => { each.textContent = words; }", words)
        lines, width = place.evaluate("each => [each.getClientRects().length, each.scrollWidth - each.clientWidth]")
        assert lines == 1 and width <= 0, (words, lines, width)
        assert place.bounding_box()["height"] < 25, (words, place.bounding_box())
    page.reload()
    expect(page.get_by_label("Go to no.")).to_be_visible()
    top = page.locator(".table-box").bounding_box()["y"]
    assert top <= 844 / 3, top
    # The links of its rows are as tall as a finger needs, in rows that are no taller for it.
    link = page.locator("tbody .record").first
    row = page.locator("tbody tr:has(.record)").first.bounding_box()
    assert link.bounding_box()["height"] >= 32 and row["height"] <= 40, (link.bounding_box(), row)
    # The origin is in one line with what is beside it, and opens into the rest.
    page.goto(site.origin + "/sources/countries?cache=offline")
    page.locator("#list .badge summary").tap()
    expect(page.locator("#list .badge .panel p").first).to_be_visible()
    tops = page.locator("#list .bar > :visible").evaluate_all("all => all.map(each => each.getBoundingClientRect()).map(each => each.top + each.height / 2)")
    assert max(tops) - min(tops) < 4, tops
    fits(page)
    # The column by which it is sorted is in sight, and so is the current source, however long its name is.
    page.goto(site.origin + "/sources/countries?sort=-capital")
    expect(page.locator("th[aria-sort]")).to_be_in_viewport(ratio=0.95)
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(site.origin + "/sources/countries")
        expect(page.get_by_role("button", name="Go to…")).to_be_visible()
        for words in ("Countries", "Countries " + 5 * "and territories "):
            nav, link = page.locator("nav [aria-current]").evaluate(
                """(link, words) => {
                    const name = link.querySelector("span:last-of-type");
                    if (name.textContent !== words) {
                        name.textContent = words;
                        link.scrollIntoView({ block: "nearest", inline: "center" });
                    }
                    return [link.closest("nav"), link].map(each => each.getBoundingClientRect().toJSON());
                }""", words)
            assert nav["left"] <= link["left"] and link["right"] <= nav["right"], (width, nav, link)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.origin + "/sources/heroes")
    page.get_by_text("Sort", exact=True).tap()
    expect(page.locator(".sort li span").first).to_be_visible()
    cut = page.locator(".sort li span").evaluate_all(
        "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.textContent)")
    assert not cut, cut
    fits(page)

    # On the smallest one, what is above a list has a line each.
    page = site.open("/sources/heroes?view=gallery", width=320, height=600, has_touch=True, is_mobile=True)
    for path in ("/sources/heroes?view=gallery", "/sources/countries?view=table"):
        page.goto(site.origin + path)
        for row in (".tools", "#list .bar"):
            height = page.locator(row).bounding_box()["height"]
            assert height < 50, (path, row, height)
        fits(page)
