"""Text of services and addresses that attacks the page."""

from urllib.parse import quote

from playwright.sync_api import expect


def run(site):
    page = site.open("/sources/products?view=gallery")
    expect(page.locator(".record")).to_have_count(5)
    expect(page.locator(".record .name").nth(0)).to_have_text("<script>alert('title')</script>")
    for index in range(5):
        page.locator(".record").nth(index).click()
        expect(page.locator(".record").nth(index)).to_have_attribute("aria-current", "true")
        title = page.locator("#detail h2")
        expect(title).to_be_focused()
        # What could be triggered by a person.
        title.hover()
        check(page)
        page.keyboard.press("Escape")
        expect(page.locator("#detail")).to_be_hidden()

    # By the server alone, too.
    for index in range(5):
        page.goto(site.origin + page.locator(".record").nth(index).get_attribute("href"))
        expect(page.locator("#detail h2")).to_be_visible()
        check(page)

    # A right-to-left override would turn the text around it.
    assert "\u202e" not in page.content() and "\u2066" not in page.content()

    # The name in a message.
    page.goto(site.origin + page.locator(".record").nth(0).get_attribute("href"))
    page.locator("form.delete button").click()
    expect(page.locator("#toast")).to_contain_text("<script>alert('title')</script>")
    check(page)

    site.may_fail = True
    attack = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>"
    for path in (
        f"/sources/heroes?query={quote(attack)}",
        f"/search?query={quote(attack)}",
        f"/sources/heroes?cursor={quote(attack)}",
        f"/sources/heroes?where={quote(attack)}",
        f"/sources/heroes/{quote(attack, safe='')}",
        f"/sources/heroes?deleted={quote(attack)}",
        f"/sources/{quote(attack, safe='')}",
        f"/{quote(attack, safe='')}",
        "/sources/heroes?query=%E2%80%AEreverse",
    ):
        page.goto(site.origin + path)
        expect(page.locator("main")).to_be_visible()
        check(page)


def check(page):
    found = page.evaluate(
        """() => [...document.querySelectorAll("*")].flatMap(element => {
            const bad = [...element.attributes].filter(({ name, value }) =>
                name.startsWith("on") || name === "style"
                || /^\\s*(javascript|data|vbscript):/i.test(value) && name !== "data-name")
            const isForeign = element.matches("script:not([src^='/assets/']), iframe, object, embed, base, style");
            return bad.length || isForeign ? [element.outerHTML] : [];
        })"""
    )
    assert not found, f"{page.url}: {found}"
