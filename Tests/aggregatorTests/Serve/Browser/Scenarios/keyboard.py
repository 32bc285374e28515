"""Everything by the keyboard alone."""

from playwright.sync_api import expect
from site_under_test import focused, is_at


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def tab_to(page, selector, key="Tab"):
    """Moves the focus until it is there, and checks that it can be seen on its way."""
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement === document.body"):
            continue
        is_visible = page.evaluate(
            """() => {
                const style = getComputedStyle(document.activeElement);
                const around = getComputedStyle(document.activeElement.parentElement);
                return [style, around].some(each =>
                    each.outlineStyle !== "none" && parseFloat(each.outlineWidth) >= 1
                    || each.boxShadow !== "none");
            }"""
        )
        assert is_visible, page.evaluate("document.activeElement.outerHTML")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"no way to {selector}")


def run(site):
    page = site.open("/sources/heroes")
    press(page, "Tab")
    focused(page, ".skip")
    press(page, "Enter")
    focused(page, "#records")
    press(page, "Tab")
    focused(page, ".record >> nth=0")
    # An arrow leads there as well, without any other key before.
    page.goto(site.origin + "/sources/heroes")
    press(page, "ArrowDown")
    focused(page, ".record >> nth=0")
    page.goto(site.origin + "/")
    press(page, "Tab", "Enter")
    focused(page, "#main")
    page.goto(site.origin + "/sources/heroes")
    tab_to(page, "#query")
    tab_to(page, ".badge summary")
    press(page, "Enter")
    expect(page.locator(".badge .panel").first).to_be_visible()
    press(page, "Escape")
    expect(page.locator(".badge .panel").first).to_be_hidden()
    tab_to(page, ".record")

    records = page.locator(".record")
    press(page, "ArrowRight")
    expect(records.nth(1)).to_be_focused()
    columns = page.evaluate(
        """() => {
            const records = [...document.querySelectorAll(".record")];
            const top = record => record.getBoundingClientRect().top;
            return records.filter(each => top(each) === top(records[0])).length;
        }"""
    )
    assert columns > 2
    press(page, "ArrowDown")
    expect(records.nth(1 + columns)).to_be_focused()
    press(page, "ArrowLeft", "ArrowUp")
    expect(records.nth(0)).to_be_focused()
    press(page, "ArrowUp")
    focused(page, "#query")
    press(page, "ArrowDown", "Enter")
    focused(page, "#detail-title")
    tab_to(page, "form.delete button", "Shift+Tab")
    press(page, "Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    press(page, "Enter")
    expect(records.nth(0)).to_be_focused()
    press(page, "End")
    expect(page.locator(".record:focus")).not_to_have_attribute(
        "data-id", records.nth(0).get_attribute("data-id")
    )
    press(page, "/")
    focused(page, "#query")
    page.keyboard.type("anvil")
    expect(page.locator(".count")).to_contain_text("for “anvil”")
    press(page, "Enter", "ArrowDown", "Enter")
    focused(page, "#detail-title")
    press(page, "Escape")
    expect(records.nth(0)).to_be_focused()
    is_at(page, "/sources/heroes?query=anvil")

    # From record to record, in the list and in the card.
    press(page, "j")
    expect(records.nth(1)).to_be_focused()
    press(page, "k", "Enter")
    focused(page, "#detail-title")
    name = records.nth(1).locator(".name").inner_text()
    press(page, "j")
    expect(page.locator("#detail h2")).to_have_text(name)
    focused(page, "#detail-title")
    expect(records.nth(1)).to_have_attribute("aria-current", "true")
    press(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    expect(page.locator("#detail h2")).to_have_text(name)
    press(page, "Escape")
    expect(records.nth(1)).to_be_focused()
    is_at(page, "/sources/heroes?query=anvil")

    # A page is a step of its own, from where the other keys go on.
    listed = site.open("/sources/heroes")
    press(listed, "ArrowDown", "PageDown")
    place = "[...document.querySelectorAll('.record')].indexOf(document.activeElement)"
    paged = listed.evaluate(place)
    assert paged >= columns and paged % columns == 0, (paged, columns)
    press(listed, "ArrowRight")
    assert listed.evaluate(place) == paged + 1
    press(listed, "PageUp", "PageUp")
    assert listed.evaluate(place) == 0
    # Single keys lead to the filters and to the next view, the first one after the last.
    press(listed, "f")
    expect(listed.locator(".filters").get_by_label("Field")).to_be_focused()
    listed.locator(".tools > .filter").focus()
    press(listed, "f")
    expect(listed.locator(".filters")).to_have_count(0)
    for view in ("Small", "Table", "Gallery"):
        press(listed, "v")
        expect(listed.locator(".views [aria-current]")).to_contain_text(view)
        listed.wait_for_load_state()
    # Escape empties the search, then leaves it, and single keys are keys again.
    press(listed, "/")
    listed.keyboard.type("anvil")
    expect(listed.locator(".count")).to_contain_text("for “anvil”")
    press(listed, "Escape")
    expect(listed.locator("#query")).to_have_value("")
    expect(listed.locator(".count")).not_to_contain_text("anvil")
    press(listed, "Escape")
    focused(listed, ".record >> nth=0")
    listed.goto(site.origin + "/")
    press(listed, "/")
    focused(listed, "#query")
    press(listed, "Escape", "?")
    expect(listed.get_by_role("dialog", name="Keys")).to_be_visible()
    listed.close()

    # A long title is cut, but does not move, and its outline is whole.
    table = site.open("/sources/products")
    table.get_by_role("link", name="Table").click()
    expect(table.locator("tbody .record").first).to_be_visible()
    press(table, "ArrowDown", "ArrowDown", "j", "j")
    long = table.locator(".record:focus")
    expect(long).to_contain_text("Unbreakable")
    moved = long.evaluate("record => [record.scrollLeft, record.closest('th').scrollLeft]")
    assert moved == [0, 0], moved
    inside = long.evaluate(
        """record => {
            const [inner, outer] = [record, record.closest("th")].map(each => each.getBoundingClientRect());
            return inner.left - outer.left >= 5 && outer.right - inner.right >= 5;
        }""")
    assert inside
    table.close()

    # A single key must be free for those who speak to their computer.
    tab_to(page, "#shortcuts", "Shift+Tab")
    press(page, "Space", "/")
    focused(page, "#shortcuts")
    page.reload()
    expect(page.locator("#shortcuts")).not_to_be_checked()

    single_keys(site)


def single_keys(site):
    """Each is in the dialog of all, and does what its button does."""
    context = site.context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(site.origin + "/sources/heroes?view=table")
    press(page, "o")
    focused(page, "thead a >> nth=0")
    page.goto(site.origin + "/sources/heroes?view=gallery")
    press(page, "o")
    expect(page.locator(".sort .panel")).to_be_visible()
    focused(page, ".sort summary")
    press(page, "Escape", "j", "Enter")
    focused(page, "#detail-title")
    press(page, "c")
    expect(page.locator("#toast")).to_contain_text("Copied")
    assert '"id"' in page.evaluate("navigator.clipboard.readText()")
    press(page, "d")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    press(page, "Enter")
    expect(page.locator(".record").nth(0)).to_be_focused()
    page.route("**/api/v1/sync/heroes", lambda route: route.fulfill(json={}))
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/api/v1/sync/heroes")):
        press(page, "s")
    press(page, "?")
    # Here, the key is called Ctrl.
    expect(page.locator("#keys kbd", has_text="K").last).to_have_text("Ctrl K")
