"""The token leaves the address, and the cookie opens the pages, under a name that no other server has."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import expect


def run(site):
    token = urlsplit(site.address).query
    port = urlsplit(site.address).port
    context = site.context(signed_in=False)
    context.add_cookies([{"name": f"aggregator_{port}", "value": "old", "url": site.address}])
    page = context.new_page()
    page.goto(site.address)
    page.wait_for_url(lambda url: "token" not in url)
    assert token not in page.content()
    expect(page.locator(".sources li").first).to_be_visible()
    # An earlier version gave its cookie to all servers of this machine.
    (cookie,) = context.cookies()
    assert re.fullmatch(r"[0-9a-f]{16}\.localhost", cookie["domain"]), cookie
    assert page.url.startswith(f"http://{cookie['domain']}:"), page.url
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict", cookie
    assert token.partition("=")[2] not in cookie["value"]
    assert page.evaluate("document.cookie") == ""
    page.go_back()
    assert "token" not in page.url, page.url
    page.goto(site.origin + "/sources/heroes")
    expect(page.locator(".record").first).to_be_visible()

    # Somebody else.
    site.may_fail = True
    other = site.context(signed_in=False)
    page = other.new_page()
    for path in ("/", "/sources/heroes", "/api/v1/heroes", "/assets/script.js"):
        response = page.goto(site.origin + path)
        assert response.status == 401, f"{path}: {response.status}"
        assert "heroes" not in page.content().lower(), page.content()
    page.goto(site.origin + "/?token=wrong")
    assert other.cookies() == []
    assert page.goto(site.origin + "/").status == 401
