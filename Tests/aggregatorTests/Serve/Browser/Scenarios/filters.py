"""A table is narrowed, sorted and opened; the address has all of it."""

import re

from playwright.sync_api import expect
from site_under_test import fits, focused, is_accessible, is_at


def run(site):
    page = site.open("/sources/countries")
    page.get_by_role("button", name="Sync").click()
    expect(page.locator(".sync-words")).to_have_text(re.compile("synced$"))
    page.goto(site.origin + "/sources/countries")
    # It leads to another list, as a link does, and says whether its panel is open.
    toggle = page.get_by_role("link", name="Filter", exact=True)
    expect(toggle).to_have_attribute("aria-expanded", "false")
    top = page.locator(".table-box").bounding_box()["y"]
    toggle.click()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    # The list stays where it is, beside the panel, and in sight below it where there is no room.
    panel, table = (page.locator(each).bounding_box() for each in (".filters", ".table-box"))
    assert table["y"] == top and panel["x"] + panel["width"] < table["x"], (top, panel, table)
    fits(page)
    page.set_viewport_size({"width": 900, "height": 900})
    page.reload()
    region = page.locator(".facets section", has_text="Region").first
    # There each field is folded.
    expect(region.locator("li a").first).to_be_hidden()
    panel, table = (page.locator(each).bounding_box() for each in (".filters", ".table-box"))
    assert panel["y"] + panel["height"] < table["y"], (panel, table)
    below = page.get_by_role("link", name=re.compile("^Show 2[0-9]+ countries$"))
    expect(below).to_be_in_viewport()
    below.click()
    focused(page, "#records")
    expect(page.locator("tbody tr").first).to_be_in_viewport()
    fits(page)
    # What is open stays so beside what is chosen, and after that.
    region.locator("summary").first.click()
    region.locator("li a").first.click()
    expect(page.locator(".chip")).to_have_count(1)
    expect(region.locator("li a").first).to_be_visible()
    assert page.locator(".facets section > details[open]").count() == 1
    is_accessible(page)
    region.locator("[aria-current]").click()
    expect(page.locator(".chip")).to_have_count(0)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.reload()
    region = page.locator(".facets section", has_text="Region").first
    value = region.locator("li a").first
    name = value.locator("bdi").inner_text()
    count = value.locator(".number").inner_text()
    value.click()
    chip = page.locator(".chip").first
    expect(chip).to_contain_text(f"Region is {name}")
    expect(page.locator(".count")).to_have_text(f"{count} countries where region is {name}")
    # What is chosen is plain to see.
    looks = "all => all.map(each => [getComputedStyle(each).backgroundColor, getComputedStyle(each).fontWeight].join())"
    chosen, usual = (set(region.locator(each).evaluate_all(looks)) for each in ("li [aria-current]", "li a:not([aria-current])"))
    assert len(chosen) == 1 and not chosen & usual, (chosen, usual)
    # Another value is chosen beside it, and taken away.
    other = region.locator("li a:not([aria-current])").first.locator("bdi").inner_text()
    # The panel stays where it was scrolled to.
    page.set_viewport_size({"width": 1440, "height": 600})
    panel = page.locator(".filters")
    panel.evaluate("each => each.scrollTo(0, 30)")
    region.locator("li a", has_text=other).evaluate("each => each.click()")
    expect(chip).to_contain_text(f"Region is {name} or {other}")
    expect(region.locator("[aria-current]")).to_have_count(2)
    scrolled = panel.evaluate("each => each.scrollTop")
    assert scrolled == 30, scrolled
    page.set_viewport_size({"width": 1440, "height": 900})
    region.locator("li a", has_text=other).click()
    expect(region.locator("[aria-current]")).to_have_count(1)
    expect(page.locator(".count")).to_have_text(f"{count} countries where region is {name}")
    heading = page.get_by_role("columnheader", name="Name")
    # All of the head sorts, not its words alone.
    box = heading.bounding_box()
    heading.click(position={"x": box["width"] - 3, "y": 3})
    expect(heading).to_have_attribute("aria-sort", "ascending")
    first = page.locator(".record").first.inner_text()
    heading.get_by_role("link").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(page.locator(".record").first).not_to_have_text(first)
    is_accessible(page)
    page.go_back()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(page.locator(".record").first).to_have_text(first)
    # With Shift, a head sorts beside the others, also by the keyboard.
    page.get_by_role("columnheader", name="Region").get_by_role("link").click(modifiers=["Shift"])
    expect(page.locator(".count")).to_contain_text("sorted by name, A to Z, then by region, A to Z")
    page.get_by_role("columnheader", name="Region").get_by_role("link").press("Shift+Enter")
    expect(page.locator(".count")).to_contain_text("then by region, Z to A")
    expect(heading.locator("[data-key='1']")).to_have_count(1)
    is_accessible(page)
    heading.get_by_role("link").click()
    expect(page.locator(".count")).to_have_text(re.compile("sorted by name, A to Z$"))
    page.reload()
    expect(page.locator(".count")).to_contain_text("sorted by name")
    fits(page)
    # The lines of a row meet, also those of the column that stays: their heights are whole.
    heights = page.locator("tbody tr:not(.gap) :is(th, td)").evaluate_all("all => all.map(each => each.getBoundingClientRect().height)")
    assert all(height == round(height) for height in heights), heights
    # The numbers that can be gone to are those of the records that there are, also after a deletion.
    jump = page.get_by_label("Go to no.")
    numbers, last = jump.get_attribute("placeholder"), int(jump.get_attribute("max"))
    page.locator("tbody tr").first.locator("td").last.click()
    expect(page.locator("#detail h2")).to_be_focused()
    page.locator("form.delete button").click()
    expect(jump).to_have_attribute("placeholder", f"1–{last - 1}")
    expect(jump).to_have_attribute("max", str(last - 1))
    page.get_by_role("button", name="Undo").click()
    expect(jump).to_have_attribute("placeholder", numbers)

    # A search stays within the filter, and a row opens its record, which keeps its address while the list moves.
    page.fill("#query", first)
    expect(page.locator(".count")).to_contain_text("for")
    expect(chip).to_be_visible()
    page.fill("#query", "")
    expect(page.locator(".record").nth(5)).to_be_visible()
    row = page.locator("tbody tr").nth(3)
    row.locator("td").last.click()
    expect(page.locator("#detail h2")).to_be_focused()
    opened = page.url
    assert "/sources/countries/" in opened
    page.locator("tbody tr").last.scroll_into_view_if_needed()
    page.mouse.wheel(0, 2000)
    expect(page.locator(".records > *").nth(21)).to_be_attached()
    assert page.url.split("?")[0] == opened.split("?")[0], page.url
    page.keyboard.press("Escape")

    # Names stay in sight while a table is moved sideways.
    page.set_viewport_size({"width": 360, "height": 800})
    box = page.locator(".table-box")
    assert box.evaluate("each => each.scrollWidth - each.clientWidth") > 50
    box.evaluate("each => each.scrollTo(each.scrollWidth, 0)")
    edges = box.evaluate(
        "each => [each, each.querySelector('thead .name'), each.querySelector('tbody th')]"
        ".map(each => each.getBoundingClientRect().left)")
    assert max(edges) - min(edges) <= 2, edges
    page.set_viewport_size({"width": 1440, "height": 900})

    # Columns are chosen, and what is shown can be taken away.
    page.get_by_text("Columns", exact=True).click()
    page.locator(".menu").get_by_label("Region").uncheck()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("columnheader", name="Region")).to_have_count(0)
    page.get_by_text("Export", exact=True).click()
    expect(page.get_by_role("button", name="Copy the command that lists them")).to_be_visible()
    # The menu is on the screen as a whole, with the formats of the page on one line.
    panel = page.locator(".tools .menu.data .panel")
    place = panel.bounding_box()
    assert place["y"] + place["height"] <= 900, place
    tops = panel.locator("p", has_text="This page").locator("a").evaluate_all("all => all.map(each => each.offsetTop)")
    assert len(set(tops)) == 1, tops
    expect(page.locator(".command").last).to_contain_text("aggregator countries list --where")
    # Programs find localhost, and none of the names below it.
    page.evaluate("navigator.clipboard.writeText = text => { window.copied = String(text); }")
    page.get_by_role("button", name="Copy a curl command").click()
    copied = page.wait_for_function("() => window.copied").json_value()
    assert copied.startswith("""curl -H "Authorization: Bearer $TOKEN" 'http://localhost:"""), copied
    assert "/api/v1/countries?" in copied and copied.endswith("'"), copied
    page.keyboard.press("Escape")
    chip.get_by_role("link", name="Remove:").click()
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator(".count")).not_to_contain_text("where")

    # The choice is remembered, unless an address names columns, until the usual ones are wanted.
    page.goto(site.origin + "/sources/countries")
    expect(page.get_by_role("columnheader", name="Name")).to_have_count(1)
    expect(page.get_by_role("columnheader", name="Region")).to_have_count(0)
    page.goto(site.origin + "/sources/countries?fields=name,region")
    expect(page.get_by_role("columnheader")).to_have_text(["Name", "Region"])
    page.goto(site.origin + "/sources/countries")
    page.get_by_text("Columns", exact=True).click()
    is_accessible(page)
    page.get_by_role("link", name="The usual columns").click()
    is_at(page, "/sources/countries")
    expect(page.get_by_role("columnheader", name="Region")).to_have_count(1)

    # The form offers what the kind of a field can be compared with, and says what is wrong beside the value.
    page.goto(site.origin + "/sources/countries?filters=shown")
    form = page.locator(".filters form")
    offered = form.locator("select[name=operator] option:enabled")
    form.get_by_label("Field").select_option("name")
    expect(offered).to_have_text(["is", "is not", "is one of", "contains", "is empty", "is not empty"])
    # The browser says what is wrong, and sends nothing.
    form.get_by_role("button", name="Add filter").click()
    expect(form.locator("input[name=value]")).to_be_focused()
    assert form.locator("input[name=value]").evaluate("each => each.validity.valueMissing")
    is_accessible(page)
    form.get_by_label("Field").select_option("region")
    expect(form.locator("input[name=value]")).to_be_hidden()
    # No value is chosen for anybody.
    form.get_by_role("button", name="Add filter").click()
    assert form.locator("select[name=value]").evaluate("each => each.validity.valueMissing")
    form.locator("select[name=value]").select_option("EU")
    form.get_by_role("button", name="Add filter").click()
    expect(page.locator(".chip")).to_contain_text("Region is EU")
    form.get_by_label("Field").select_option("region")
    form.get_by_label("Comparison").select_option("in")
    expect(form.locator("[name=value]:visible")).to_have_count(0)
    form.get_by_role("group", name="Values").get_by_label("EU", exact=True).check()
    form.get_by_role("group", name="Values").get_by_label("AS", exact=True).check()
    is_accessible(page)
    form.get_by_role("button", name="Add filter").click()
    expect(page.locator(".chip").nth(1)).to_contain_text("Region is AS or EU")
    # A filter is changed in the form that it leads to, and takes its place.
    page.locator(".chip").nth(1).locator("a:not(.remove)").click()
    expect(form.get_by_label("Comparison")).to_be_focused()
    expect(form.get_by_label("Comparison")).to_have_value("in")
    expect(form.locator("[name=choice]:checked")).to_have_count(2)
    is_accessible(page)
    form.get_by_role("group", name="Values").get_by_label("AS", exact=True).uncheck()
    form.get_by_role("button", name="Change filter").click()
    expect(page.locator(".chip:not(.clear)")).to_have_text(["Region is EU", "Region is EU"])
    page.locator(".chip").nth(1).get_by_role("link", name="Remove:").click()
    expect(page.locator(".chip:not(.clear)")).to_have_count(1)
    form.get_by_label("Comparison").select_option("present")
    expect(form.locator("input[name=value], select[name=value]:visible")).to_be_hidden()
    form.get_by_label("Field").select_option("capital")
    form.get_by_role("button", name="Add filter").click()
    expect(page.locator(".chip").nth(1)).to_contain_text("Capital is not empty")
    expect(page.locator(".chip.clear")).to_have_text("Remove all filters")
    page.goto(site.origin + "/sources/countries?cache=offline")
    page.locator("#list .badge summary").first.click()
    expect(page.locator("#list .badge").get_by_role("link", name="Ask the service")).to_be_visible()

    # A search of all sources is narrowed as well, without the sources that lack a field.
    page.goto(site.origin + "/search?query=an&where=capital!%3DParis&sort=-name")
    results = page.locator("#list")
    expect(results.get_by_role("list", name="Filters").get_by_role("link")).to_have_count(2)
    expect(results.get_by_role("heading", name="Countries")).to_be_visible()
    expect(results.locator(".note").filter(has_text="Heroes – left out")).to_contain_text("capital")
    is_accessible(page)
    results.get_by_role("link", name="Remove: capital").click()
    is_at(page, "/search?query=an&sort=-name")

    # What the form cannot say is typed, and corrected where it is wrong.
    site.may_fail = True
    page.goto(site.origin + "/sources/countries?filters=shown")
    page.get_by_label("Filter as text").fill("nam = France or name = Gabon")
    page.get_by_role("button", name="Apply").click()
    wrong = page.locator(".failure")
    expect(wrong).to_contain_text("This filter does not work, so the list is shown without it.")
    expect(page.locator(".facets a").first).to_be_visible()
    expect(page.locator(".record").nth(3)).to_be_visible()
    is_accessible(page)
    typed = wrong.get_by_label("Filter as text")
    expect(typed).to_be_focused()
    expect(typed).to_have_value("nam = France or name = Gabon")
    typed.fill("name = France or name = Gabon")
    wrong.get_by_role("button", name="Apply").click()
    expect(page.locator(".record")).to_have_count(2)
    page.locator(".chip a:not(.remove)").click()
    expect(page.get_by_label("Filter as text")).to_be_focused()
    expect(page.get_by_label("Filter as text")).to_have_value(re.compile("Gabon"))
    is_accessible(page)

    # Beside an open record they make room for the list, also in a page that has just been loaded, and come back with it.
    for width in (1440, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(site.origin + "/sources/countries?filters=shown&view=table&sort=name")
        page.locator("tbody .record").nth(4).click()
        for _ in range(2):
            expect(page.locator("tbody [aria-current]")).to_be_in_viewport()
            expect(page.locator("#detail h2")).to_be_visible()
            expect(page.locator(".filters")).to_be_hidden()
            expect(toggle).to_have_attribute("aria-expanded", "false")
            page.reload()
        toggle.click()
        expect(page.locator("#detail")).to_be_hidden()
        expect(page.locator(".filters")).to_be_visible()
        expect(toggle).to_have_attribute("aria-expanded", "true")
    page.set_viewport_size({"width": 1440, "height": 900})
    # The form of a filter is in sight, wherever the panel was scrolled to.
    page.goto(site.origin + "/sources/countries?filters=shown&view=table&where=name~a")
    panel.evaluate("each => each.scrollTo(0, 300)")
    page.locator(".chip a:not(.remove)").click()
    expect(page.get_by_label("Comparison")).to_be_focused()
    expect(page.get_by_label("Comparison")).to_be_in_viewport()
    # A finger sees what a bar of a histogram stands for before it narrows the list; a mouse while it is there.
    touched = site.open("/sources/countries?filters=shown", has_touch=True)
    # Countries have no numbers, so that values stand for ranges.
    touched.evaluate("() => document.querySelector('.facets ul').classList.add('range')")
    bar = touched.locator(".range a").first
    bar.tap()
    words = bar.evaluate("each => [getComputedStyle(each, '::after').content, each.title]")
    assert words[1] in words[0] or "attr(title)" in words[0], words
    expect(bar).to_be_focused()
    expect(touched.locator(".chip")).to_have_count(0)
    bar.tap()
    expect(touched.locator(".chip")).to_have_count(1)
    touched.close()
    ranges(page, site)
    values(page, site)
    head(site)

    # The same without script.
    plain = site.open("/sources/countries?filters=shown", java_script_enabled=False)
    plain.locator("select[name=field]").select_option("name")
    plain.locator("select[name=operator]").select_option("~")
    plain.locator("input[name=value]").fill("land")
    plain.get_by_role("button", name="Add filter").click()
    expect(plain.locator(".chip")).to_contain_text("Name contains land")
    expect(plain.locator(".record").first).to_contain_text(re.compile("land", re.I))
    plain.goto(site.origin + "/sources/countries?offset=100&sort=name")
    hundredth = plain.locator(".record").first.inner_text()
    plain.goto(site.origin + "/sources/countries?offset=99&sort=name")
    expect(plain.locator(".record").nth(1)).to_have_text(hundredth)
    plain.get_by_label("Go to no.").fill("101")
    plain.get_by_role("button", name="Go", exact=True).click()
    is_at(plain, "/sources/countries?sort=name&offset=100")
    expect(plain.locator(".record").first).to_have_text(hundredth)
    plain.get_by_role("link", name="Back to the beginning of the list").click()
    is_at(plain, "/sources/countries?sort=name")
    # Also in the list as the service has it, and in a search.
    for query in ("", "query=an&"):
        plain.goto(site.origin + f"/sources/countries?{query}")
        expect(plain.locator(".count")).to_have_text(re.compile("^[0-9]+ countries"))
        plain.get_by_label("Go to no.").fill("30")
        plain.get_by_role("button", name="Go", exact=True).click()
        is_at(plain, f"/sources/countries?{query}offset=29")
        # It names the numbers that there are, not one that is out of date once the list is scrolled.
        expect(plain.get_by_label("Go to no.")).to_have_value("")
        expect(plain.get_by_label("Go to no.")).to_have_attribute("placeholder", re.compile("^1–[0-9]+$"))
        expect(plain.locator(".record").first).to_be_visible()

    # Columns of a histogram are as wide as a finger needs, and more of them do not spill.
    for width, count in ((1440, 12), (900, 12), (1440, 15), (900, 15)):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(site.origin + "/sources/countries?filters=shown")
        ends = page.evaluate(
            """length => {
                const box = document.createElement("ul");
                box.className = "range";
                box.append(...Array.from({ length }, () => document.createElement("li")));
                document.querySelector(".facets section").append(box);
                const all = [box.parentElement, ...box.children];
                return all.map(each => each.getBoundingClientRect().right);
            }""",
            count,
        )
        steps = [after - before for before, after in zip(ends[1:], ends[2:])]
        assert len(steps) == count - 1 and ends[-1] <= ends[0] + 1, ends
        assert count > 12 or min(steps) >= 24, ends

    # The view is remembered, and in the address, which wins.
    heroes = site.open("/sources/heroes")
    heroes.get_by_role("link", name="Table").click()
    expect(heroes.locator("table").first).to_be_visible()
    is_at(heroes, "/sources/heroes?view=table")
    heroes.reload()
    expect(heroes.locator("table").first).to_be_visible()
    heroes.go_back()
    expect(heroes.locator(".gallery").first).to_be_visible()
    heroes.go_forward()
    expect(heroes.locator("table").first).to_be_visible()
    heroes.goto(site.origin + "/sources/heroes?view=gallery")
    expect(heroes.locator(".gallery").first).to_be_visible()
    heroes.locator(".record").first.click()
    expect(heroes.locator("#detail h2")).to_be_visible()
    assert heroes.url.endswith("?view=gallery"), heroes.url
    heroes.goto(site.origin + "/sources/heroes?query=anvil")
    is_at(heroes, "/sources/heroes?query=anvil&view=table")
    expect(heroes.locator("table").first).to_be_visible()
    heroes.get_by_role("link", name="Gallery").click()
    expect(heroes.locator(".gallery").first).to_be_visible()
    heroes.goto(site.origin + "/sources/heroes?view=gallery")
    # Small cards are more beside each other, and sources without pictures have cards, too.
    columns = "each => getComputedStyle(each).gridTemplateColumns.split(' ').length"
    large = heroes.locator(".gallery").first.evaluate(columns)
    heroes.get_by_role("link", name="Small cards").click()
    expect(heroes.locator(".gallery.small").first).to_be_visible()
    assert heroes.locator(".gallery").first.evaluate(columns) > large
    is_accessible(heroes)
    for width in (1440, 1024, 360):
        heroes.set_viewport_size({"width": width, "height": 800})
        heroes.goto(site.origin + "/sources/countries")
        # A phone has no room for the size.
        for name in ("Gallery", "Small cards") if width > 360 else ("Gallery",):
            heroes.get_by_role("link", name=name).click()
            expect(heroes.locator(".gallery.plain .record").first).to_contain_text("Region")
            expect(heroes.locator(".picture")).to_have_count(0)
            is_accessible(heroes)
            fits(heroes)
        # The labels of values are on one line.
        heights = heroes.locator(".fact .label").evaluate_all("all => all.map(each => each.offsetHeight)")
        assert len(set(heights)) <= 1, heights
        heroes.get_by_role("link", name="Table").click()


def ranges(page, site):
    """A drag over the bars of a histogram, or Shift and two of them, chooses the range between them."""
    bars = page.locator(".facets .range a")
    range_of = "where => new URL(location).searchParams.get('where') === where"
    for way in ("drag", "click", "key"):
        page.goto(site.origin + "/sources/countries?filters=shown&view=table")
        # Countries have no numbers, so that values stand for ranges.
        page.evaluate(
            """() => {
                const box = document.querySelector(".facets ul");
                box.classList.add("range");
                box.dataset.href = "/sources/countries?filters=shown&view=table";
                [...box.querySelectorAll("a")].forEach((bar, index) => {
                    Object.assign(bar.dataset, { from: `name!=${index}`, to: `name!=${index}0` });
                    bar.draggable = false;
                });
            }""")
        if way == "drag":
            bars.nth(2).hover()
            page.mouse.down()
            bars.nth(0).hover()
            expect(page.locator(".within")).to_have_count(3)
            page.mouse.up()
        else:
            choose = lambda bar: bar.click(modifiers=["Shift"]) if way == "click" else bar.press("Shift+Enter")
            choose(bars.nth(2))
            expect(bars.nth(2)).to_be_focused()
            expect(page.locator(".chip")).to_have_count(0)
            choose(bars.nth(0))
        # The first one begins it, wherever the drag began.
        page.wait_for_function(range_of, arg="name!=0 and name!=20")
        expect(page.locator(".chip .remove")).to_have_count(2)
        expect(page.locator(".within")).to_have_count(0)


def values(page, site):
    """A value of the open record narrows the list beside it, and again no longer; the record stays open."""
    page.goto(site.origin + "/sources/countries?view=table&sort=name")
    page.locator("tbody .record").nth(2).click()
    title = page.locator("#detail h2")
    expect(title).to_be_focused()
    name = title.inner_text()
    value = page.locator("#detail a.chip").first
    expect(value).to_have_attribute("aria-current", "false")
    value.click()
    for _ in range(2):
        expect(value).to_have_attribute("aria-current", "true")
        expect(page.locator(".tools .chip .remove")).to_have_count(1)
        expect(page.locator(".count")).to_contain_text("where")
        expect(page.locator("tbody [aria-current]")).to_have_count(1)
        expect(title).to_have_text(name)
        is_accessible(page)
        page.reload()
    value.click()
    expect(page.locator(".tools .chip")).to_have_count(0)
    expect(value).to_have_attribute("aria-current", "false")
    expect(title).to_have_text(name)
    # A filter that was typed without quotes is the same one.
    typed = value.get_attribute("data-where").replace('"', "").replace("=", "%3D")
    page.goto(f"{page.url}{'&' if '?' in page.url else '?'}where={typed}")
    expect(value).to_have_attribute("aria-current", "true")
    value.click()
    expect(page.locator(".tools .chip")).to_have_count(0)
    expect(value).to_have_attribute("aria-current", "false")
    # Below its fields is all that is known of it.
    whole = page.locator("#detail .whole")
    expect(whole.locator("code")).to_be_hidden()
    whole.locator("summary").click()
    expect(whole.locator("code")).to_contain_text(name)
    is_accessible(page)
    fits(page)


def head(site):
    """On a small screen the head is low, the menus are whole, and the way to SQL stays."""
    page = site.open("/sources/countries?filters=shown&view=table", width=1024, height=768)
    top = page.locator(".tools").bounding_box()["y"]
    assert top < 200, top
    expect(page.locator(".filters")).to_be_visible()
    for name in ("Columns", "Export"):
        page.locator(".tools summary", has_text=name).click()
        panel = page.locator(".tools .panel:visible").bounding_box()
        assert panel["x"] >= 0 and panel["x"] + panel["width"] <= 1024, panel
        assert panel["y"] + panel["height"] <= 768, panel
        page.keyboard.press("Escape")
    sources = page.get_by_role("navigation", name="Sources")
    sources.evaluate(
        """nav => {
            const list = nav.querySelector("ul");
            for (let count = 0; count < 12; count += 1) list.append(list.lastElementChild.cloneNode(true));
            nav.scrollTo(nav.scrollWidth, 0);
        }""")
    bar = sources.bounding_box()
    boxes = [sources.get_by_role("link", name=name, exact=True).bounding_box() for name in ("Search", "SQL")]
    assert bar["x"] <= boxes[0]["x"] < boxes[1]["x"] < bar["x"] + bar["width"] / 2, (bar, boxes)
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1, boxes
    fits(page)
    # No name is cut beside it, wherever the strip is, also at its end.
    page.reload()
    sources.evaluate(
        """nav => {
            const sources = [...nav.querySelectorAll("li:has([data-source])")];
            for (let count = 0; count < 12; count += 1) sources.at(-1).after(sources[count % sources.length].cloneNode(true));
            dispatchEvent(new Event("resize"));
        }""")
    for part in (0, .3, .6, 1):
        sources.evaluate("(nav, part) => nav.scrollTo({ left: part * nav.scrollWidth, behavior: 'instant' })", part)
        cut = """nav => {
            const edge = nav.querySelector("[href='/sql']").getBoundingClientRect().right + 1;
            return [...nav.querySelectorAll("[data-source] span:last-of-type")]
                .filter(each => each.getBoundingClientRect().left < edge && each.getBoundingClientRect().right > edge)
                .map(each => each.textContent);
        }"""
        assert sources.evaluate(cut) == [], (part, sources.evaluate(cut))
