"""Search as you type."""

from playwright.sync_api import expect
from site_under_test import focused, is_at


def run(site):
    page = site.open("/sources/heroes")
    # Time stands still between the keys, however slow the machine.
    page.clock.install()
    page.reload()
    page.clock.pause_at("2100-01-01")
    searches = []
    page.on("request", lambda it: "query=" in it.url and "/image" not in it.url and searches.append(it))
    page.keyboard.press("/")
    focused(page, "#query")
    page.keyboard.type("anvil")
    page.clock.run_for(199)
    assert not searches
    page.clock.run_for(1)
    is_at(page, "/sources/heroes?query=anvil")
    expect(page.locator(".count")).to_contain_text("for “anvil”")
    expect(page.locator(".record")).to_have_count(16)
    expect(page.locator("#announcer")).to_contain_text("anvil")
    focused(page, "#query")
    assert len(searches) == 1, [each.url for each in searches]

    # An answer that is late is not awaited any more.
    page.route("**/sources/heroes?query=sp", lambda route: None)
    cancelled = []
    # Pictures of the list before it may be under way, too.
    page.on("requestfailed", lambda request: cancelled.append(request.url) if "/image" not in request.url else None)
    page.fill("#query", "sp")
    with page.expect_request("**/sources/heroes?query=sp"):
        page.clock.run_for(200)
    expect(page.locator("#list")).to_have_attribute("aria-busy", "true")
    page.fill("#query", "spider")
    page.clock.run_for(200)
    expect(page.locator(".count")).to_contain_text("for “spider”")
    expect(page.locator("#list[aria-busy]")).to_have_count(0)
    assert cancelled == [f"{site.origin}/sources/heroes?query=sp"], cancelled
    is_at(page, "/sources/heroes?query=spider")

    # All that was typed is one step.
    page.go_back()
    is_at(page, "/sources/heroes")
    expect(page.locator("#query")).to_have_value("")
    expect(page.locator(".count")).not_to_contain_text("for")
    page.go_forward()
    is_at(page, "/sources/heroes?query=spider")
    expect(page.locator(".count")).to_contain_text("for “spider”")

    page.fill("#query", "zzzz")
    page.clock.run_for(200)
    expect(page.locator(".state h2")).to_have_text("No matches")
    # A quotation mark alone is no mistake: its words follow.
    page.fill("#query", '"')
    page.clock.run_for(200)
    expect(page.locator(".record").first).to_be_visible()
    page.fill("#query", "")
    page.clock.run_for(200)
    is_at(page, "/sources/heroes")
    expect(page.locator(".record").first).to_be_visible()
    # The address is that of the search, for whoever gets it.
    linked = site.open("/sources/heroes?query=anvil")
    expect(linked.locator(".record")).to_have_count(16)
    expect(linked.locator("#query")).to_have_value("anvil")
    # The open record shows the match, too.
    linked.locator(".record").first.click()
    expect(linked.locator("#detail h2")).to_be_focused()
    marked = "() => [...CSS.highlights.get('match')].some(each => document.querySelector('#detail').contains(each.startContainer))"
    linked.wait_for_function(marked)
    # Letters that Unicode does not decompose are found without their strokes, too.
    linked.evaluate("() => { document.querySelector('#detail h2').textContent = 'Łódź' }")
    linked.fill("#query", "lódz")
    linked.wait_for_function("() => [...CSS.highlights.get('match')].map(String).includes('Łódź')")
    # Signs that searches pass over are in a match, not after it.
    linked.evaluate("() => { document.querySelector('#detail h2').textContent = 'Spider-Man.' }")
    linked.fill("#query", "spiderman")
    linked.wait_for_function("() => [...CSS.highlights.get('match')].map(String).includes('Spider-Man')")
    # So they are where an address may be broken.
    linked.fill("#query", "anvil")
    expect(linked.locator(".record")).to_have_count(16)
    linked.evaluate("() => { document.querySelector('#query').value = 'eco'; document.querySelector('.record').innerHTML = '<bdi>example.<wbr>com</bdi>' }")
    linked.locator(".record").nth(1).click()
    linked.wait_for_function("() => [...CSS.highlights.get('match')].map(String).includes('e.co')")
