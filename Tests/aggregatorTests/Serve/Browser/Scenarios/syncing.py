"""A sync goes on without its page, every page shows its progress, and any of them can stop it."""

import re

from playwright.sync_api import expect


def short(site):
    """A sync that begins and ends between two looks is noticed, with what it has changed."""
    page = site.context().new_page()
    result = {"kind": "full", "records": 250, "complete": True, "added": 1, "changed": 4, "unchanged": 245}
    jobs = []

    def sync(route):
        job = {"source": "countries", "state": "done", "startedAt": f"2026-01-0{len(jobs) + 1}T00:00:00Z"}
        jobs[:] = [*jobs, job | {"result": result | {"removedUpstream": len(jobs)}, "error": None}]
        route.fulfill(status=202, json={"items": jobs[-1:]})

    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": jobs[-1:]}))
    page.route("**/api/v1/sync/countries", sync)
    page.goto(site.origin + "/sources/countries?sort=name")
    button = page.get_by_role("button", name="Sync")
    # The record that is open is shown anew, too.
    page.locator(".record").first.click()
    title = page.locator("#detail h2")
    expect(title).to_be_focused()
    name = title.inner_text()
    page.evaluate("document.querySelector('#detail h2').textContent = 'Old'")
    page.evaluate("document.querySelector('#list').dataset.isOld = 'true'")
    button.click()
    expect(title).to_have_text(name)
    words = page.locator(".sync-words")
    expect(words).to_have_text("250 countries synced: 1 added, 4 changed")
    expect(page.locator("#list[data-is-old]")).to_have_count(0)
    # Where a refresh would move what is read, it is offered.
    page.evaluate("document.querySelector('#list').dataset.isOld = 'true'")
    page.locator(".table-box").evaluate("box => box.scrollTo(0, 300)")
    button.click()
    offer = page.locator("#toast")
    expect(offer).to_contain_text("250 countries synced: 1 added, 4 changed, 1 removed")
    expect(page.locator("#list[data-is-old]")).to_have_count(1)
    expect(offer.get_by_role("button", name="Show")).not_to_be_focused()
    offer.get_by_role("button", name="Show").click()
    expect(page.locator("#list[data-is-old]")).to_have_count(0)
    words.get_by_role("link").click()
    page.wait_for_url("**/changes/countries")
    page.close()


def lost(site):
    """A server that does not answer any more has no sync of which anything is known."""
    page = site.context().new_page()
    site.may_fail = True
    job = {"source": "countries", "state": "running", "startedAt": "2026-01-01T00:00:00Z", "result": {"kind": "full", "records": 20}}
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [job]}))
    page.goto(site.origin + "/sources/countries")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.route("**/api/v1/sync", lambda route: route.abort())
    expect(page.locator("#toast")).to_contain_text("Cannot reach aggregator")
    expect(page.locator(".sync-words")).to_have_text("20 countries when aggregator last answered")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.close()


def at_once(site):
    """A sync that has ended before the first look at it is noticed, also in the second in which the one before began."""
    result = {"kind": "full", "records": 250, "complete": True, "added": 0, "changed": 0, "unchanged": 250}
    job = {"source": "countries", "state": "done", "startedAt": "2026-01-01T00:00:00Z", "result": result, "error": None}
    page = site.context().new_page()
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [job]}))
    page.route("**/api/v1/sync/countries", lambda route: route.fulfill(status=202, json={"items": [job]}))
    page.goto(site.origin + "/sources/countries?sort=name")
    page.evaluate("document.querySelector('#list').dataset.isOld = 'true'")
    page.get_by_role("button", name="Sync").click()
    expect(page.locator(".sync-words")).to_have_text("250 countries synced")
    expect(page.locator("#list[data-is-old]")).to_have_count(0)
    page.goto(site.origin + "/")
    page.evaluate("document.querySelector('#sources').dataset.isOld = 'true'")
    page.locator(".sources li", has_text="Countries").get_by_role("button", name="Sync").click()
    expect(page.locator(".sync[data-source=countries] .sync-words")).to_have_text("250 countries synced")
    expect(page.locator("#sources[data-is-old]")).to_have_count(0)
    # A page without a place for it says so, however often.
    page.goto(site.origin + "/search")
    toast = page.locator("#toast")
    for _ in range(2):
        page.keyboard.press("Control+k")
        page.keyboard.type("sync countries")
        expect(page.get_by_role("option", selected=True)).to_contain_text("Sync Countries")
        page.keyboard.press("Enter")
        expect(toast.locator("p")).to_have_text("Countries: 250 records synced")
        toast.get_by_role("button", name="Dismiss").click()
        expect(toast).to_be_empty()
    page.close()


def pace(site):
    """A sync says how fast it is and how long it still takes, also if only the total of the last one is known."""
    looks, waiting = [], []

    def running(route):
        looks.append(route)
        result = {"kind": "full", "records": 100 * len(looks), "total": None if len(looks) < 9 else 5000}
        job = {"source": "heroes", "state": "running", "startedAt": "2026-01-01T00:00:00Z", "expected": 4000}
        job["waiting"] = waiting[0] if waiting else None
        route.fulfill(json={"items": [job | {"result": result, "error": None}]})

    page = site.context().new_page()
    page.route("**/api/v1/sync", running)
    page.goto(site.origin + "/sources/heroes?cache=offline")
    words = page.locator(".sync-words")
    expect(words).to_have_text(re.compile(r"^\d+ heroes, 4,000 the last time"))
    speed = r"^[\d,]+ of 5,000 heroes · [\d,]+ a (second|minute), about \d+ (s|min) left"
    expect(words).to_have_text(re.compile(speed + "$"))
    # Its records are not the requests that a rate limits.
    waiting.append("rate limit 5/s: waiting 3 s")
    expect(words).to_have_text(re.compile(speed + " · requests limited to 5/s: waiting 3 s$"))
    # While the service makes it wait, no time that is left is known, nor a rate.
    waiting[0] = "rate limited by the service: waiting 22 s"
    expect(words).to_have_text(re.compile(r"^[\d,]+ of 5,000 heroes · rate limited by the service: waiting 22 s$"))
    page.close()


def nothing_cached(site):
    """Where nothing is cached, the bundled records stay after a failure, and no cached ones."""
    failed = {"source": "heroes", "state": "failed", "result": {}, "error": {"message": "heroes failed (500)"}}
    page = site.context().new_page()
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [failed]}))
    for path in ("/", "/sources/heroes?cache=offline"):
        page.goto(site.origin + path)
        words = page.locator(".sync[data-source=heroes] .sync-words")
        expect(words).to_have_text("Sync failed: the service answered 500. The bundled sample records stay.")
    page.close()


def pausing(site):
    """A long pause has its end, a bar that does not move, and nothing that was read where nothing was."""
    job = {
        "source": "heroes", "state": "running", "startedAt": "2026-01-01T00:00:00Z", "result": {}, "error": None,
        "waiting": "rate limited by the service, after GET /characters: waiting 55 min", "waitingUntil": "2999-01-01T17:04:00Z",
    }
    page = site.context().new_page()
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [job]}))
    page.goto(site.origin + "/")
    card = page.locator(".sources li", has_text="Heroes")
    words = card.locator(".sync-words")
    expect(words).to_have_text("Waiting until 17:04 UTC · rate limited by the service, after GET /characters")
    # The words have two lines, and the number of cached records stays.
    expect(card.locator(".tone")).to_be_visible()
    assert words.evaluate("each => each.scrollWidth <= each.clientWidth"), words.inner_text()
    expect(card.locator("progress")).to_have_attribute("value", "0")
    # In a row, the whole amount is said in the place of the words.
    html = page.content().replace('<ul class="sources">', '<ul class="sources dense">')
    amount = '<p class="tone cached">All 20,000 cached, synced 5 s ago</p>'
    html = re.sub(r'<p class="tone [^<]*</p>', amount, html)
    job |= {"waiting": None, "waitingUntil": None}
    page.route(site.origin + "/", lambda route: route.fulfill(body=html, content_type="text/html; charset=utf-8"))
    page.reload()
    expect(words).to_have_text("Starting… · All 20,000 cached")
    page.unroute(site.origin + "/")
    job |= {"state": "cancelled"}
    expect(words).to_have_text("Stopped; nothing was read")
    # It is of no interest to those who come later.
    page.reload()
    expect(card.get_by_role("button", name="Sync")).to_be_visible()
    expect(words).to_be_hidden()
    page.close()


def failing(site):
    """A failure in sight is said once, also while the list is read; what came before it is offered."""
    job = {"source": "countries", "state": "running", "startedAt": "2026-01-01T00:00:00Z", "result": {}, "error": None}
    page = site.context().new_page()
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [job]}))
    page.goto(site.origin + "/sources/countries?sort=name")
    words, toast = page.locator(".sync-words"), page.locator("#toast")
    expect(words).to_have_text("Starting…")
    page.locator(".table-box").evaluate("box => box.scrollTo(0, 300)")
    job |= {"state": "failed", "error": {"message": "countries failed (500)"}}
    expect(words).to_have_text("Sync failed: the service answered 500. The bundled sample records stay.")
    expect(page.locator("#announcer")).to_have_text("Sync failed: the service answered 500. The bundled sample records stay.")
    expect(toast).to_be_empty()
    job |= {"state": "running", "startedAt": "2026-01-02T00:00:00Z"}
    expect(words).to_have_text("Starting…")
    job |= {"state": "failed", "result": {"records": 20}}
    expect(words).to_have_text("Sync failed: the service answered 500. 20 countries read so far stay cached; the next sync goes on there.")
    expect(toast).to_contain_text("Some records came before the sync failed")
    expect(toast.get_by_role("button", name="Show")).to_be_visible()
    page.close()


def growing(site):
    """The amounts and ages of the first page follow a sync that runs, and nothing else of it is replaced."""
    job = {"source": "heroes", "state": "running", "startedAt": "2026-01-01T00:00:00Z", "result": {}, "error": None}
    page = site.context().new_page()
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [job]}))
    page.goto(site.origin + "/")
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    page.evaluate("for (const each of document.querySelectorAll('#sources > .summary, #sources .tone')) each.textContent = 'Old'")
    expect(page.locator("#sources > .summary")).not_to_have_text("Old")
    expect(page.locator("#sources .tone", has_text="Old")).to_have_count(0)
    expect(stop).to_be_focused()
    page.close()


def together(site):
    """The words of the end of a sync come to the first page together with the amounts after it."""
    job = {"source": "countries", "state": "running", "startedAt": "2026-01-01T00:00:00Z", "result": {}, "error": None}
    held = []
    page = site.context().new_page()
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [job]}))
    page.goto(site.origin + "/")
    words = page.locator(".sync[data-source=countries] .sync-words")
    expect(words).to_have_text("Starting…")
    page.route(site.origin + "/", lambda route: held.append(route) if job["state"] == "done" else route.continue_())
    with page.expect_request(lambda request: request.url == site.origin + "/" and job["state"] == "done"):
        page.evaluate("document.querySelector('#sources').dataset.isOld = 'true'")
        job |= {"state": "done", "result": {"kind": "full", "records": 250, "complete": True, "added": 0, "changed": 0}}
    assert words.inner_text() == "Starting…", words.inner_text()
    held[0].continue_()
    expect(words).to_have_text("250 countries synced")
    expect(page.locator("#sources[data-is-old]")).to_have_count(0)
    page.close()


def run(site):
    growing(site)
    together(site)
    nothing_cached(site)
    pace(site)
    pausing(site)
    failing(site)
    page = site.open("/sources/countries")
    words = page.locator(".sync-words")
    # Its beginning and its end are said once each, and its progress is only shown.
    page.evaluate("""() => {
        window.said = [];
        const announcer = document.querySelector("#announcer");
        new MutationObserver(() => said.push(announcer.textContent)).observe(announcer, { childList: true });
    }""")
    page.get_by_role("button", name="Sync").click()
    expect(words).to_have_text(re.compile("^2[0-9]+ countries synced$"))
    page.wait_for_function("() => said.some(text => text.endsWith('synced'))")
    said = page.evaluate("said.filter(text => /Sync|synced/.test(text))")
    assert len(said) == 2 and said[0] == "Syncing…", said
    assert page.locator(".sync [role=status]").count() == 0
    page.goto(site.origin + "/sources/countries?cache=offline")
    expect(page.locator("#list .badge .label")).to_have_text(re.compile("^Cached"))
    expect(words).to_be_hidden()

    # The only one without a picture, which nothing requests meanwhile.
    page = site.open("/sources/heroes?query=nobody")
    expect(page.locator(".record")).to_have_count(1)
    site.tell("stall heroes")
    expect(page.get_by_role("button", name="Sync")).to_be_visible()
    places = "() => ['h1', '.search', '.records'].map(each => document.querySelector(each).getBoundingClientRect().top)"
    before = page.evaluate(places)
    page.get_by_role("button", name="Sync").click()
    expect(page.locator(".sync-words")).to_have_text("Starting…")
    expect(page.locator(".sync progress")).to_be_visible()
    # Nothing moves when it begins.
    assert page.evaluate(places) == before, before
    # What it says has a line of its own.
    buttons = page.locator(".heading > .button, .sync > button").evaluate_all("all => all.map(one => one.offsetTop)")
    assert len(set(buttons)) == 1 and page.locator(".sync-state").bounding_box()["y"] > buttons[0]
    # It is not the page's.
    page.goto(site.origin + "/search")
    expect(page.locator("nav [data-source=heroes] progress")).to_be_visible()
    page.close()
    home = site.open("/")
    heroes = home.locator(".sources li", has_text="Heroes")
    expect(heroes.locator(".sync-words")).to_have_text("Starting…")
    heroes.get_by_role("button", name="Stop").click()
    expect(heroes.locator(".sync-words")).to_have_text("Stopped; nothing was read")
    expect(heroes.locator("progress")).to_be_hidden()
    # How many records are cached is seen again.
    expect(heroes.locator(".tone")).to_be_visible()
    expect(heroes.get_by_role("button", name="Sync")).to_be_enabled()
    expect(home.locator("nav progress")).to_have_count(0)

    short(site)
    at_once(site)

    # A failure looks like one.
    page = site.context().new_page()
    error = {"message": "the key is wrong", "hint": "get another one at https://keys.invalid/new"}
    failed = {"source": "heroes", "state": "failed", "result": {}, "error": error}
    page.route("**/api/v1/sync", lambda route: route.fulfill(json={"items": [failed]}))
    page.goto(site.origin + "/sources/heroes?cache=offline")
    state = page.locator(".sync-state.failed")
    expect(state).to_have_text(re.compile(r"^Sync failed: the key is wrong\. The .* records stay\. Get another one at https://keys\.invalid/new\.$"))
    expect(state.get_by_role("link")).to_have_attribute("href", "https://keys.invalid/new")
    # An old one says when it was.
    failed |= {"updatedAt": "2026-03-04T05:06:07Z"}
    page.reload()
    expect(state).to_contain_text("Sync failed on 4 Mar 2026, 05:06 UTC: the key is wrong.")
    failed |= {"updatedAt": None, "result": {"records": 1250}, "error": {"message": "heroes failed (500)"}}
    page.reload()
    expect(state).to_have_text("Sync failed: the service answered 500. 1,250 heroes read so far stay cached; the next sync goes on there.")
    # One that was stopped is still said to be.
    failed |= {"state": "cancelled"}
    page.reload()
    expect(page.locator(".sync-words")).to_have_text("Stopped after 1,250 heroes; the next sync goes on there")
    # After a complete one, it is not that which the amount of cached records tells of.
    failed |= {"expected": 2000}
    page.reload()
    expect(page.locator(".sync-words")).to_have_text("The last sync was stopped after 1,250 heroes; the next sync goes on there")
    lost(site)
