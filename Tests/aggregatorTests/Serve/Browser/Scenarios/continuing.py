"""A list whose service fails in its middle goes on with the cached records."""

import re

from playwright.sync_api import expect

FAILURE = """<section id="list"><div class="state"><p>Down.</p><a class="button primary" href="/">Try again</a>
<a class="button" rel="next" href="%s&amp;cache=offline">Continue</a></div></section>"""


def run(site):
    site.may_fail = True
    page = site.context().new_page()

    def answer(route):
        url = route.request.url
        if "cache=offline" not in url:
            return route.fulfill(status=502, content_type="text/html", body=FAILURE % url.replace("&", "&amp;"))
        # Outside the browser nothing finds the names of localhost.
        return route.fulfill(response=route.fetch(url=re.sub("//[^:/]+", "//127.0.0.1", url.replace("&cache=offline", ""))))

    page.route(re.compile("cursor="), answer)
    page.goto(site.origin + "/sources/heroes?view=gallery")
    expect(page.locator(".record")).to_have_count(20)
    more = page.locator(".more")
    more.scroll_into_view_if_needed()
    expect(more.locator(".note")).to_have_text("Down.")
    expect(more.get_by_role("link")).to_have_text(["Try again", "Continue"])
    # A second failure leaves nothing of the first one.
    more.get_by_text("Try again").click()
    expect(more.get_by_role("link")).to_have_text(["Try again", "Continue"])
    more.get_by_text("Continue").click()
    expect(page.locator(".record")).to_have_count(40)
