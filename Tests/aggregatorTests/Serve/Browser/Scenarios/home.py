"""The first page says what there is, and changes are listed by day."""

import re

from playwright.sync_api import expect
from site_under_test import fits, focused, is_accessible, is_at


def run(site):
    page = site.open("/")
    countries = page.locator(".sources li", has_text="Countries")
    expect(countries).to_contain_text("250 bundled sample records")
    lead = page.locator("#sources > .summary")
    expect(lead).to_contain_text("Nothing is cached yet: open a source to list its records, or sync it")
    fits(page)
    # Cards beside each other have their buttons at the same height.
    expect(page.locator(".sync").last).to_be_visible()
    rows = page.locator(".sources li").evaluate_all("all => all.map(li => [li.offsetTop, li.querySelector('.sync button').offsetTop])")
    assert len({top for top, _ in rows}) == len({tuple(row) for row in rows}), rows
    # They end at the same height, too.
    rows = page.locator(".sources li").evaluate_all("all => all.map(li => [li.offsetTop, li.offsetHeight])")
    assert len({top for top, _ in rows}) == len({tuple(row) for row in rows}), rows
    # From here: a list that is opened first has all of them, and the sync after it adds none.
    countries.get_by_role("button", name="Sync").click()
    expect(countries).to_contain_text(re.compile("All 2[0-9]+ cached, synced "))
    countries.locator("h2 a").click()
    page.get_by_role("link", name="Changes").click()
    is_at(page, "/changes/countries")
    page.goto(site.origin + "/sources/countries/changes?since=7d")
    is_at(page, "/changes/countries?since=7d")
    page.goto(site.origin + "/changes/countries")
    expect(page.locator(".count")).to_have_text(re.compile(r"^First sync: 2\d\d records; later syncs show what has changed$"))
    page.get_by_role("link", name="1 day").click()
    # The first sync is where the history begins, and its row leads to what it added.
    expect(page.locator(".count")).to_contain_text("No changes since ")
    expect(page.locator(".note", has_text="The history begins with the first sync")).to_be_visible()
    site.may_fail = True
    page.get_by_text("Other time").click()
    page.get_by_label("Since", exact=True).fill("soon")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("main")).to_contain_text("or a span of time such as 90m, 2h or 3d")
    # What was typed is there to be corrected, and any time is accepted as pages write it.
    since = page.get_by_label("Since", exact=True)
    focused(page, "#since")
    expect(since).to_have_value("soon")
    is_accessible(page)
    since.fill("1 Jan 2020, 14:30")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".count")).to_contain_text("No changes since ")
    expect(since).to_have_value("1 Jan 2020, 14:30")
    expect(since).to_be_hidden()
    site.may_fail = False
    page.goto(site.origin + "/changes/countries?since=1d")
    page.get_by_text("Details of this sync", exact=True).click()
    page.get_by_role("region", name="Syncs").locator("tbody a").first.click()
    page.wait_for_url("**/changes/countries?since=20*Z")
    expect(page.locator(".changes .added").first).to_be_visible()
    expect(page.locator(".changes .kind").first).to_have_text(re.compile(r"^Added \d\d:\d\d$"))
    # They are of one day, whose number is that of all.
    expect(page.locator(".count")).to_have_text(re.compile(r"^2\d\d added since "))
    expect(page.locator("h2 .difference")).to_have_count(0)
    # The kinds have their numbers, and the syncs their outcome.
    expect(page.get_by_role("navigation", name="Kind").get_by_role("link")).to_have_text(
        [re.compile(r"^All 2\d\d$"), re.compile(r"^Added 2\d\d$"), "Changed 0", "Removed 0"]
    )
    last = page.locator(".note", has_text="Last sync run by a server")
    expect(last).to_contain_text("complete after")
    # Only links have the colour of links.
    colors = [place.evaluate("one => getComputedStyle(one).color") for place in (last.locator("span"), page.locator(".count"))]
    assert colors[0] == colors[1], colors
    page.get_by_text("Details of this sync", exact=True).click()
    expect(page.get_by_role("region", name="Syncs").locator("tbody tr")).to_have_count(1)
    is_accessible(page)
    # All of them are a file, whatever a page shows.
    file = page.get_by_role("link", name="CSV").get_attribute("href")
    text = page.evaluate("async address => (await fetch(address)).text()", file)
    assert text.lower().startswith("change,") and len(text.strip().splitlines()) > 200, text[:200]
    page.get_by_role("link", name="Changed").click()
    page.wait_for_url("**/changes/countries?since=20*&kind=changed")
    expect(page.locator(".count")).to_contain_text("No changes")
    page.go_back()
    page.locator(".changes a").first.click()
    expect(page.locator("#detail h2")).to_be_visible()
    page.get_by_text("History (no changes)").click()
    expect(page.locator(".history li")).to_have_text(re.compile(r"^First seen \d+ \w{3} 20\d\d$"))
    page.locator(".brand").click()
    expect(countries).to_contain_text(re.compile("All 2[0-9]+ cached, synced "))
    expect(lead).to_have_text(re.compile(r"^2[0-9]+ records cached from 1 of 3 sources, and [0-9]+ bundled sample records of the others: search them here, or query them with SQL\.$"))
    # What is cached comes first on request, and stays so after a sync of all.
    page.get_by_role("link", name="Most records first").click()
    is_at(page, "/?sort=count")
    expect(page.locator(".sources h2").first).to_have_text("Countries")
    page.get_by_role("button", name="Sync all").click()
    is_at(page, "/")
    # They may have ended before the page is there.
    started = page.evaluate("async () => (await fetch('/api/v1/sync')).text()")
    assert '"heroes"' in started and '"products"' in started, started
    # What is typed is found in the place of the sources, which come back, and Enter leads to the page of the search.
    sources, groups = page.locator("#sources"), page.locator("section.group h2")
    page.fill("#query", "island")
    expect(groups.first).to_be_visible()
    expect(sources).to_be_hidden()
    is_at(page, "/")
    page.fill("#query", "")
    expect(sources).to_be_visible()
    expect(page.locator("#list")).to_be_hidden()
    page.fill("#query", "island")
    page.keyboard.press("Enter")
    is_at(page, "/search?query=island")
    many_sources(site)
    stop_all(site)
    narrow = site.open("/", width=320, height=640)
    fits(narrow)


def stop_all(site):
    """Several syncs are stopped by the button that starts all."""
    page = site.context().new_page()
    items, stopped = [{"source": name, "state": "running", "startedAt": "2024-01-01T00:00:00Z", "result": {"kind": "full", "records": 1}} for name in ("countries", "heroes")], []
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": items}))

    def stop(route):
        stopped.append((route.request.method, route.request.url.split("/api/v1/")[1]))
        items.clear()
        route.fulfill(json={})

    page.route("**/api/v1/sync/*", stop)
    page.goto(site.origin + "/")
    button = page.get_by_role("button", name="Stop all")
    expect(button).to_be_visible()
    button.press("Enter")
    expect(page.get_by_role("button", name="Sync all")).to_be_focused()
    assert sorted(stopped) == [("DELETE", "sync/countries"), ("DELETE", "sync/heroes")], stopped
    # One sync has a button of its own.
    items[:] = [{"source": "heroes", "state": "running", "startedAt": "2024-01-01T00:00:01Z", "result": {"kind": "full", "records": 1}}]
    expect(page.get_by_role("button", name="Stop Heroes")).to_be_visible()
    expect(page.get_by_role("button", name="Sync all")).to_be_visible()


def many_sources(site):
    """Many sources have a row each, in which the state is beside the name."""
    page = site.context().new_page()
    # No sync ends meanwhile, after which the sources are fetched anew.
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": []}))
    page.goto(site.origin + "/")
    expect(page.locator(".sync").last).to_be_visible()
    keeps_heights(page)
    page.locator(".sources").evaluate("list => list.classList.add('dense')")
    keeps_heights(page)
    expect(page.locator(".sync").last).to_be_visible()
    for row in page.locator(".sources li").all():
        name, state, sync = (row.locator(each).bounding_box() for each in ("h2", ".tone", ".sync button"))
        assert name["x"] + name["width"] <= state["x"] and state["x"] + state["width"] <= sync["x"], (name, state, sync)
        assert abs(name["y"] - state["y"]) < 12 and abs(name["y"] - sync["y"]) < 12, (name, state, sync)
        # What the source is stands below its name, however long its state is.
        row.locator(".tone").evaluate("each => each.append(' and more'.repeat(20))")
        name, about = (row.locator(each).bounding_box() for each in ("h2", ".summary"))
        assert 0 <= about["y"] - name["y"] - name["height"] < 8, (name, about)
    # All and a part of the records have other marks.
    for colors in ("active", "none"):
        page.emulate_media(forced_colors=colors)
        marks = page.locator(".tone").first.evaluate(
            """each => ["tone cached", "tone cached part"].map(name => {
                each.className = name;
                return getComputedStyle(each, "::before").backgroundImage;
            })""")
        assert marks[0] != marks[1] and "gradient" in marks[0], (colors, marks)
    fits(page)
    is_accessible(page)
    page.set_viewport_size({"width": 320, "height": 640})
    fits(page)


# Every sync runs, or none does.
RUN = """isRunning => {
  for (const each of document.querySelectorAll(".sources .sync")) {
    for (const part of [each.querySelector(".sync-state"), each.querySelector("progress")]) part.hidden = !isRunning;
    each.querySelector(".sync-words").textContent = isRunning ? "1,200 of 2,000 records · 300 a second, about 12 s left" : "";
  }
}"""


def keeps_heights(page):
    """No source moves while all are synced."""
    places = "all => all.map(each => [each.offsetTop, each.offsetHeight])"
    before = page.locator(".sources li").evaluate_all(places)
    page.evaluate(RUN, True)
    assert page.locator(".sources li").evaluate_all(places) == before, before
    page.evaluate(RUN, False)
