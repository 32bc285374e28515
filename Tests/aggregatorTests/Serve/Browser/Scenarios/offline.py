"""A service that stops: the badge says so, and why."""

import re

from playwright.sync_api import expect


def run(site):
    page = site.open("/sources/heroes?query=anvil")
    badge = page.locator("#list .badge").first
    expect(badge.locator(".label")).to_have_text(re.compile("^(Live|Fetched .* ago)$"))
    page.reload()
    expect(badge.locator(".label")).to_contain_text("Cached")

    # Ages go on while the page is open, as those of the first page do.
    page.clock.install()
    page.reload()
    for seconds, age in ((100, r"\d+ min"), (7200, r"\d h")):
        page.clock.fast_forward(seconds * 1000)
        expect(badge.locator(".label")).to_have_text(re.compile(f"^Cached {age} ago$"))
    page.close()

    page = site.open("/sources/heroes?query=anvil")
    badge = page.locator("#list .badge").first
    site.tell("stop heroes")
    badge.locator("summary").click()
    page.get_by_role("link", name="Refresh").first.click()
    expect(badge.locator(".label")).to_contain_text("Offline · cached")
    expect(page.locator("#list > .note").first).to_contain_text("127.0.0.1")
    expect(page.locator("#list > .note").first).to_contain_text("Could not refresh (")
    expect(page.locator(".record")).to_have_count(16)
    badge.locator("summary").click()
    expect(badge.locator(".panel")).to_contain_text("Fetched")
    page.keyboard.press("Escape")
    expect(badge.locator(".panel")).to_be_hidden()

    # What was never fetched is found in the sample data, and that is said.
    page.goto(site.origin + "/sources/heroes")
    # By now the service may not even be asked, because it fails repeatedly.
    expect(badge.locator(".label")).to_contain_text(re.compile("Offline|Cached"))
    # An answer that must be live is a failure with a way out.
    site.may_fail = True
    page.goto(site.origin + "/sources/heroes?query=dial&cache=live")
    expect(page.locator("#list .state h2")).to_be_visible()
    page.get_by_role("link", name="Use local data").click()
    expect(page.locator("#list .bar")).to_be_visible()

    # A service that failed too often is asked again later: the page counts down, and shows the answer then.
    paused = site.context().new_page()
    paused.clock.install()
    countdown = paused.locator("[data-countdown]")
    for number in range(9):
        paused.goto(f"{site.origin}/sources/heroes?query=none{number}")
        if countdown.count():
            break
    expect(countdown).to_have_text(re.compile("^[0-9]+ s$"))
    with paused.expect_response(lambda response: "query=none" in response.url):
        paused.clock.run_for(60_000)
    expect(paused.locator("#list .bar")).to_be_visible()
    paused.close()

    # The server itself is gone.
    page.goto(site.origin + "/sources/heroes")
    page.context.set_offline(True)
    page.fill("#query", "dial")
    expect(page.locator("#toast")).to_contain_text("Cannot reach aggregator")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    # Nothing but samples was searched.
    expect(page.locator("#list .state h2")).to_have_text("No matches so far")
