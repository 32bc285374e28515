"""Queries in SQL: completion, charts, saved queries, and all of it by the keyboard or without a script."""

import re
from urllib.parse import quote

from playwright.sync_api import expect
from site_under_test import fits, focused, is_accessible, is_at

# Nothing asks for heroes: they are the bundled ones.
BY_PUBLISHER = "SELECT publisher, count(*) AS number FROM heroes GROUP BY publisher"
PLACES = "SELECT name, 1.5 AS lat, 2 AS lng FROM heroes LIMIT 3"
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT i, i * i AS square FROM n"

MONTHS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 24) SELECT (2019 + i / 12) || substr('-0', 1, 2 - (i % 12 > 8)) || (1 + i % 12) AS month, 300 * i AS number FROM n"
YEARS = "WITH RECURSIVE n(i) AS (SELECT 1999 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT i AS year, 300 * (i - 1999) AS number FROM n"


def address(query):
    return "/sql?sql=" + quote(query)


def room(site):
    """However many tables there are, a result begins below the editor."""
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        page = site.open(address(PLACES), width=width, height=height)
        expect(page.locator("#result table")).to_be_visible()
        page.evaluate("for (const each of document.querySelectorAll('.schema-table')) for (let i = 0; i < 5; i++) each.after(each.cloneNode(true))")
        run, result, tables = (page.locator(each).first.bounding_box() for each in ("#sql-form .primary", "#result", ".schemas"))
        assert 0 <= result["y"] - run["y"] - run["height"] < 60, (width, run, result)
        assert tables["height"] > 100, tables
        fits(page)
        page.close()


def run(site):
    site.may_fail = True
    without_script(site)
    by_keyboard(site)
    data(site)
    colours(site)
    many_rows(site)
    charts(site)
    heads(site)
    saved(site)
    mistakes(site)
    parameters(site)
    stopped(site)
    room(site)
    for scheme in ("light", "dark"):
        page = site.open(address(BY_PUBLISHER) + "#chart=bar", color_scheme=scheme)
        expect(page.locator("#chart svg")).to_be_visible()
        is_accessible(page)
        page.locator("#sql").press("End")
        page.keyboard.type(" ORDER BY publ")
        expect(page.locator("#names")).to_be_visible()
        is_accessible(page)
        page.goto(site.origin + address("SELECT FROM"))
        is_accessible(page)
    page = site.open(address(BY_PUBLISHER) + "#chart=bar", width=390, height=800)
    expect(page.locator("#chart svg")).to_be_visible()
    fits(page)
    is_accessible(page)


def data(site):
    """Every link of an Export menu answers in its format."""
    types = {"JSON": "json", "CSV": "csv", "TSV": "tab-separated", "NDJSON": "ndjson", "Markdown": "markdown", "Open this list as an SQL query": "html", "SQLite": "sqlite3", "Parquet": "parquet"}
    page = site.open("/sources/countries")
    for path in ("/sources/countries", "/sources/countries?query=france&where=name~a&sort=-name", "/sources/countries/FR", address(BY_PUBLISHER)):
        page.goto(site.origin + path)
        menu = page.locator("details.menu", has=page.locator("summary", has_text="Export")).last
        menu.locator("summary").click()
        assert menu.locator(".panel").bounding_box()["width"] > 250
        assert "<" not in menu.inner_text(), menu.inner_text()
        links = menu.locator(".panel a").evaluate_all("all => all.map(link => [link.textContent, link.href])")
        assert "JSON" in dict(links), links
        for name, link in links:
            answer = page.evaluate("async link => { const { status, headers } = await fetch(link); return [status, headers.get('content-type')]; }", link)
            assert answer[0] == 200 and types.get(name, name) in answer[1], (name, link, answer)
        assert ("SQLite" in dict(links)) == bool(re.search("countries($|\\?)", path)), links
    # The search is a part of the query that a list leads to.
    page.goto(site.origin + "/sources/countries?query=france")
    page.locator(".tools").get_by_text("Export", exact=True).click()
    page.get_by_role("link", name="Open this list as an SQL query").click()
    expect(page.locator("#sql")).to_have_value(re.compile("LIKE '%france%'"))


def by_keyboard(site):
    page = site.open("/sql")
    focused(page, "#sql")
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT * FROM her")
    option = page.locator("#names [aria-selected=true]")
    expect(option).to_contain_text("heroes")
    assert page.locator("#sql").get_attribute("aria-activedescendant") == option.get_attribute("id")
    page.keyboard.press("Enter")
    expect(page.locator("#sql")).to_have_value("SELECT * FROM heroes")
    expect(page.locator("#names")).to_be_hidden()
    page.keyboard.type(" WHERE ")
    page.keyboard.press("Control+Space")
    names = page.locator("#names [role=option] span").all_inner_texts()
    assert names[:4] == ["id", "name", "realName", "publisher"], names
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.type(" = 'Spider-Man'")
    page.keyboard.press("Escape")
    expect(page.locator("#sql")).to_have_value("SELECT * FROM heroes WHERE name = 'Spider-Man'")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/sql?sql=*")
    expect(page.locator("#outcome")).to_contain_text("1 row in ")
    expect(page.locator("#result tbody td").first).to_have_text("1443")
    # A text is no name.
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT 'cou")
    expect(page.locator("#names")).to_be_hidden()
    # What completion has written can be taken back.
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT cou")
    page.keyboard.press("Tab")
    expect(page.locator("#sql")).to_have_value("SELECT countries")
    page.keyboard.press("Control+z")
    expect(page.locator("#sql")).to_have_value("SELECT cou")
    page.fill("#sql", "SELECT count(*) FROM")
    page.get_by_role("button", name="heroes", exact=True).click()
    expect(page.locator("#sql")).to_have_value("SELECT count(*) FROM heroes")
    page.get_by_text("columns of heroes").click()
    page.get_by_role("button", name="publisher", exact=True).click()
    expect(page.locator("#sql")).to_have_value("SELECT count(*) FROM heroes publisher")
    focused(page, "#sql")


def many_rows(site):
    """The first rows of many are there before the others, which follow in any order."""
    query = address(NUMBERS.replace("LIMIT 9", "LIMIT 1000"))
    rows = "() => [...document.querySelectorAll('#result tbody tr')].filter(row => row.offsetHeight).length"
    page = site.context().new_page()
    page.add_init_script("window.requestIdleCallback = run => { window.idle = run; }")
    page.goto(site.origin + query)
    expect(page.locator("#result thead button").first).to_be_visible()
    assert page.evaluate(rows) == 200, page.evaluate(rows)
    for count in (200, 400, 600):
        page.evaluate("idle()")
        assert page.evaluate(rows) == count, (count, page.evaluate(rows))
    for _ in range(2):
        page.get_by_role("button", name="square").click()
    expect(page.locator("#result tbody tr").first).to_contain_text("1,000,000")
    for _ in range(2):
        page.evaluate("idle()")
    assert page.evaluate(rows) == 1000, page.evaluate(rows)
    plain = site.open(query, java_script_enabled=False)
    assert plain.locator("#result tbody tr:visible").count() == 1000


def colours(site):
    """The copy behind the field has the text at the same places, in colours."""
    page = site.open(address("SELECT 1.5, 'it''s -- 2' FROM \"from\" -- all\n/* or\nnone */ LIMIT 10"))
    coloured = """() => ["keyword", "string", "number", "comment"].map(kind => [...CSS.highlights.get(kind)].map(String))"""
    assert page.evaluate(coloured) == [
        ["SELECT", "FROM", "LIMIT"], ["'it'", "'s -- 2'"], ["1.5", "10"], ["-- all", "/* or\nnone */"],
    ], page.evaluate(coloured)
    page.fill("#sql", "select 7\n" * 30)
    assert [len(found) for found in page.evaluate(coloured)] == [30, 0, 30, 0]
    sizes = """selector => (({ clientWidth, scrollHeight, scrollTop }) => [clientWidth, scrollHeight, scrollTop])(document.querySelector(selector))"""
    page.locator("#sql").evaluate("field => { field.scrollTop = 100; }")
    page.wait_for_function("() => document.querySelector('.copy').scrollTop === 100")
    assert page.evaluate(sizes, ".copy") == page.evaluate(sizes, "#sql")


def charts(site):
    page = site.open(address(BY_PUBLISHER))
    views = page.get_by_role("group", name="View").get_by_role("button")
    show = lambda name: page.get_by_role("group", name="View").get_by_role("button", name=name).click()
    table = page.locator("#result table")
    notes = page.locator("#chart .note")
    # The table is first, and a chart takes its place.
    expect(views).to_have_text(["Table", "Bars"])
    expect(table).to_be_visible()
    expect(page.locator("#chart")).to_be_hidden()
    show("Bars")
    drawing = page.get_by_role("img", name="Bar chart of number by publisher")
    count = page.locator("#result tbody tr").count()
    expect(drawing.locator("rect")).to_have_count(count)
    expect(drawing.locator(".axis")).to_have_text(["number", "publisher"])
    # Each bar has its value at its end.
    expect(drawing.locator(".value")).to_have_count(count)
    expect(notes).to_have_text([""])
    expect(table).to_be_hidden()
    # The address has the choice, and a query that was changed keeps it.
    page.reload()
    expect(drawing).to_be_visible()
    page.locator("#sql").press("Control+End")
    page.keyboard.type(" LIMIT 2")
    page.keyboard.press("Control+Enter")
    expect(drawing.locator("rect")).to_have_count(2)
    show("Table")
    assert "#" not in page.url, page.url
    page.reload()
    expect(views.first).to_have_attribute("aria-current", "true")
    expect(table).to_be_visible()
    page.goto(site.origin + address(NUMBERS) + "#chart=line")
    expect(page.get_by_role("img", name="Line chart of square by i: 9 values from 1 to 81.")).to_be_visible()
    show("Scatter")
    expect(page.get_by_role("img", name="Scatter chart").locator("circle")).to_have_count(9)
    page.reload()
    expect(page.get_by_role("img", name="Scatter chart of square by i")).to_be_visible()
    # Axes have whole months and years, and grouped digits but for years.
    ticks = page.locator("#chart text:not(.axis)")
    numbers = ["0", "2,000", "4,000", "6,000", "8,000"]
    page.goto(site.origin + address(MONTHS) + "#chart=line")
    expect(ticks).to_have_text([*(f"{year}-{month}" for year in (2019, 2020) for month in ("01", "04", "07", "10")), "2021-01", *numbers])
    page.goto(site.origin + address(YEARS) + "#chart=line")
    expect(ticks).to_have_text([*map(str, range(1999, 2008)), "0", "500", "1,000", "1,500", "2,000", "2,500"])
    # Not every number of four digits is a year.
    page.goto(site.origin + address("SELECT 'a' AS name, 1056 AS n UNION ALL SELECT 'b', 1995") + "#chart=bar")
    expect(page.locator("#chart .value")).to_have_text(["1,056", "1,995"])
    page.goto(site.origin + address(PLACES))
    expect(views.first).to_have_attribute("aria-current", "true")
    name = page.locator("#result tbody td").first.inner_text()
    show("Map")
    places = page.get_by_role("img", name="Map of 3 places")
    expect(places.locator("circle")).to_have_count(3)
    assert places.locator("circle title").first.text_content() == f"{name} (1.5, 2)"
    # The land below them is a file of this server, as wide as the axes are long.
    land = places.locator("image")
    kind = "async address => (await fetch(address)).headers.get('content-type')"
    assert page.evaluate(kind, land.get_attribute("href")) == "image/svg+xml"
    assert round(land.bounding_box()["width"] / land.bounding_box()["height"], 2) == 2
    zoom(page, places)
    # Years as texts are an axis, too.
    page.goto(site.origin + address(YEARS.replace("SELECT i AS year", "SELECT i || '' AS year")) + "#chart=line")
    expect(page.get_by_role("img", name="Line chart of number by year: 9 values")).to_be_visible()
    expect(views).to_have_text(["Table", "Bars", "Line"])
    expect(page.locator(".pickers option")).to_have_text(["year", "number", "number"])
    # Any column can be across, and the address has which.
    page.goto(site.origin + address("SELECT name, publisher, length(name) AS size FROM heroes LIMIT 5"))
    show("Bars")
    expect(page.locator(".pickers select").first.locator("option")).to_have_text(["name", "publisher", "size"])
    expect(page.locator(".pickers label").first).to_contain_text("Bars")
    page.locator(".pickers select").first.select_option(label="publisher")
    expect(page.get_by_role("img", name="Bar chart of size by publisher")).to_be_visible()
    assert "x=publisher" in page.url, page.url
    page.reload()
    expect(page.get_by_role("img", name="Bar chart of size by publisher")).to_be_visible()
    # A point has the name of its record, and leads to it.
    page.goto(site.origin + address("SELECT code, name, 1.5 AS lat, 2 AS lng FROM countries LIMIT 1"))
    name = page.locator("#result tbody td").nth(1).inner_text()
    show("Map")
    point = page.locator("#chart circle")
    assert point.locator("title").text_content() == f"{name} (1.5, 2)"
    point.click()
    expect(page.locator("#detail h2")).to_have_text(name)
    # More rows than the table has are drawn; where not all are, it is said how many of how many.
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT i, i % 100 AS rest FROM n"
    rest = "a point stands for all rows at its place; the table has the first 1,000."
    page.goto(site.origin + address(many.format(5000)))
    show("Line")
    expect(page.get_by_role("img", name="Line chart of rest by i: 5000 values from 0 to 99.")).to_be_visible()
    expect(notes).to_have_text([f"Drawn: all 5,000 rows; {rest}"])
    expect(page.locator("#outcome")).to_have_text(re.compile("^The first 1,000 of 5,000 rows in "))
    focused(page, ".views [value=line]")
    assert page.locator("#chart circle").count() < 5000
    expect(page.locator("#chart circle title", has_text="more here").first).to_be_attached()
    for limit, words in ((20_000, f"Drawn: all 20,000 rows; {rest}"), (30_000, f"Drawn: the first 20,000 of more than 20,000 rows; {rest}")):
        page.goto(site.origin + address(many.format(limit)) + "#chart=line")
        expect(notes).to_have_text([words])
    page.goto(site.origin + address("SELECT 1 AS a, 2 AS b UNION ALL SELECT 2, NULL UNION ALL SELECT 3, 5") + "#chart=line")
    expect(notes).to_have_text(["Drawn: 2 of 3 rows; 1 row without these values."])
    # A second measure has lines or bars of its own, and the address has it.
    page.goto(site.origin + address("SELECT 'a' AS name, '2024-01' AS month, 1 AS low, 5 AS high UNION ALL SELECT 'b', '2024-02', 2, 7") + "#chart=bar&x=name&y=low&z=high")
    bars = page.get_by_role("img", name="Bar chart of low, high by name: 4 values from 1 to 7.")
    expect(bars.locator("title")).to_have_text(["a, low: 1", "a, high: 5", "b, low: 2", "b, high: 7"])
    expect(bars.locator("g text:not(.value)")).to_have_text(["a", "", "b", ""])
    expect(notes).to_have_text(["● low ● high"])
    show("Line")
    expect(page.get_by_role("img", name="Line chart of low, high by month: 4 values from 1 to 7.").locator("path")).to_have_count(2)
    is_accessible(page)
    page.locator(".pickers select").nth(2).select_option(label="(none)")
    expect(page.get_by_role("img", name="Line chart of low by month: 2 values from 1 to 2.")).to_be_visible()
    assert "z=" not in page.url, page.url
    # Rows that share an X are lines of their own, one for each text, or none.
    lands = " UNION ALL ".join(f"SELECT '2024-0{month}' AS month, '{land}' AS land, {month * size} AS n" for month in (1, 2, 3) for land, size in (("FR", 2), ("DE", 5)))
    page.goto(site.origin + address(lands) + "#chart=line")
    expect(page.locator("#chart path")).to_have_count(2)
    assert [line.count("L") for line in page.locator("#chart path").evaluate_all("lines => lines.map(line => line.getAttribute('d'))")] == [2, 2]
    expect(notes).to_have_text(["● DE ● FR"])
    # Bars that share a text have the one that tells them apart, too, where there is one.
    show("Bars")
    bars = page.get_by_role("img", name="Bar chart of n by month, land: 6 values")
    expect(bars.locator("g text:not(.value)")).to_have_text([f"2024-0{month} · {land}" for month in (1, 2, 3) for land in ("FR", "DE")])
    expect(bars.locator(".axis").last).to_have_text("month, land")
    page.goto(site.origin + address(f"SELECT land, n FROM ({lands})") + "#chart=bar")
    expect(page.get_by_role("img", name="Bar chart of n by land: 6 values")).to_be_visible()
    page.goto(site.origin + address(f"SELECT month, n FROM ({lands})"))
    expect(views).to_have_text(["Table", "Bars"])
    # A result of texts has no chart, whatever the address says.
    page.goto(site.origin + address("SELECT name FROM countries") + "#chart=line")
    expect(table).to_be_visible()
    expect(views).to_have_count(0)


def zoom(page, places):
    # The map begins where the places are, and 0 shows the world. It grows under its frame, by buttons, keys and
    # the wheel, and moves with the arrows and the pointer.
    place = places.locator("circle").first
    degrees = lambda: places.locator("text:not(.axis)").all_text_contents()
    assert "0" in degrees() and "180" not in degrees(), degrees()
    page.locator(".map-box").press("0")
    usual = place.bounding_box()["x"]
    whole = degrees()
    page.get_by_role("button", name="Zoom in").click()
    expect(page.get_by_role("button", name="Zoom in")).to_be_focused()
    assert degrees() != whole and "180" not in degrees(), degrees()
    is_accessible(page)
    page.locator(".map-box").focus()
    page.keyboard.press("ArrowRight")
    assert place.bounding_box()["x"] < usual
    page.keyboard.press("0")
    assert degrees() == whole
    box = places.bounding_box()
    page.mouse.move(place.bounding_box()["x"] + 4, place.bounding_box()["y"] + 4)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(page.locator(".map-box.enlarged")).to_be_visible()
    # What the pointer is on stays there.
    assert degrees() != whole and abs(place.bounding_box()["x"] - usual) < 3
    page.mouse.down()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.up()
    assert abs(place.bounding_box()["x"] - usual) > 20
    assert places.bounding_box() == box
    page.get_by_role("button", name="Zoom out").click()
    assert degrees() == whole


def heads(site):
    page = site.open(address("SELECT 9 AS n, 'b' AS t UNION ALL SELECT 10, 'ä' UNION ALL SELECT -1, NULL"))
    column = lambda index: page.locator(f"#result tbody td:nth-child({index})")
    head = page.get_by_role("columnheader", name="n", exact=True)
    head.get_by_role("button").click()
    expect(column(1)).to_have_text(["-1", "9", "10"])
    expect(head).to_have_attribute("aria-sort", "ascending")
    is_accessible(page)
    page.keyboard.press("Enter")
    expect(column(1)).to_have_text(["10", "9", "-1"])
    expect(head).to_have_attribute("aria-sort", "descending")
    page.get_by_role("columnheader", name="t", exact=True).get_by_role("button").click()
    expect(column(2)).to_have_text(["ä", "b", "NULL"])
    expect(page.locator("th[aria-sort]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(column(2)).to_have_text(["b", "ä", "NULL"])
    page.keyboard.press("Enter")
    expect(column(1)).to_have_text(["9", "10", "-1"])
    expect(page.locator("th[aria-sort]")).to_have_count(0)
    # Numbers are sorted and drawn as they are, not as they are written.
    page.goto(site.origin + address("SELECT 3000 AS amount UNION ALL SELECT 999 UNION ALL SELECT 20000.123456789"))
    page.get_by_role("columnheader", name="amount").get_by_role("button").click()
    expect(column(1)).to_have_text(["999.0000", "3,000.0000", "20,000.1235"])


def saved(site):
    page = site.open(address(BY_PUBLISHER))
    page.get_by_text("Saved queries").click()
    # Without a name it leads to the name.
    page.get_by_role("button", name="Save this query").click()
    focused(page, "#saved-name")
    page.locator("#saved-name").fill("<b>by publisher</b>")
    page.get_by_role("button", name="Save this query").click()
    expect(page.locator("#saved li a")).to_have_text(["<b>by publisher</b>"])
    page.goto(site.origin + "/sql")
    page.get_by_text("Saved queries").click()
    is_accessible(page)
    page.locator("#saved li a").click()
    expect(page.locator("#sql")).to_have_value(BY_PUBLISHER)
    page.get_by_text("Saved queries").click()
    page.get_by_role("button", name="Delete <b>by publisher</b>").click()
    expect(page.locator("#saved li")).to_have_count(0)
    page.reload()
    page.get_by_text("Saved queries").click()
    expect(page.get_by_text("No query is saved")).to_be_visible()


def mistakes(site):
    page = site.open(address("SELECT * FROM countrys"))
    expect(page.locator("#outcome")).to_contain_text("Did you mean \"countries\"?")
    expect(page.locator("#sql")).to_have_value("SELECT * FROM countrys")
    page.goto(site.origin + address("SELECT name\nFROM heroes WHERE WHERE"))
    # The word at which the mistake is is selected, and marked in its line.
    expect(page.locator("#outcome")).to_contain_text("(character 31)")
    assert page.locator("#sql").evaluate("field => [field.selectionStart, field.selectionEnd]") == [30, 35]
    expect(page.locator("#outcome mark")).to_have_text("WHERE")
    expect(page.locator("#outcome .command")).to_contain_text("Line 2")
    is_accessible(page)
    page.goto(site.origin + address("SELECT '<img src=x onerror=alert(1)>' AS \"<b>\" FROM countries LIMIT 1"))
    expect(page.locator("#result td")).to_have_text("<img src=x onerror=alert(1)>")
    # The chosen columns are those of the query.
    page.goto(site.origin + "/sources/countries?sort=-name&fields=name,region")
    page.locator("#list .menu summary", has_text="Export").click()
    page.locator("#list .menu").get_by_role("link", name="Open this list as an SQL query").click()
    expect(page.locator("#sql")).to_have_value(
        "SELECT name, region FROM countries ORDER BY name DESC"
    )
    page.goto(site.origin + "/sources/countries?sort=-name")
    page.locator("#list .menu summary", has_text="Export").click()
    page.locator("#list .menu").get_by_role("link", name="Open this list as an SQL query").click()
    expect(page.locator("#sql")).to_have_value(
        "SELECT * FROM countries ORDER BY name DESC"
    )
    expect(page.locator("#result tbody tr").first).to_be_visible()


def parameters(site):
    page = site.open(address("SELECT name FROM countries WHERE code = :code"))
    expect(page.locator("#outcome")).to_contain_text("The parameter :code has no value")
    is_accessible(page)
    # What is missing is typed next.
    focused(page, "#value-code")
    page.get_by_label(":code").fill("FR")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#result td")).to_have_text("France")
    expect(page.get_by_label(":code")).to_have_value("FR")
    # The address has the value, as long as the query has its parameter.
    page.reload()
    expect(page.locator("#result td")).to_have_text("France")
    page.fill("#sql", "SELECT name FROM countries WHERE code = 'FR'")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_label(":code")).to_have_count(0)
    assert "FR&" not in page.url and "%3Acode" not in page.url, page.url
    page.goto(site.origin + address("SELECT * FROM countries WHERE code = 'FR'"))
    page.get_by_role("link", name="FR", exact=True).click()
    expect(page.locator("#detail h2")).to_have_text("France")


def stopped(site):
    """While a query runs, its button stops it, and has the focus."""
    page = site.open("/sql")
    page.fill("#sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    run = page.get_by_role("button", name="Run", exact=True)
    run.focus()
    page.evaluate("""() => new MutationObserver(() => console.log(document.querySelector("#sql-form .actions").innerText))
      .observe(document.querySelector("#sql-form"), { subtree: true, childList: true })""")
    # Playwright waits for the answer with all but the keyboard, and what the page says itself.
    with page.expect_console_message(lambda message: "Stop · running for 1 s" in message.text):
        page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#announcer")).to_have_text("Stopped")
    expect(run).to_be_focused()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    is_at(page, "/sql")
    page.close()


def without_script(site):
    page = site.open("/", java_script_enabled=False)
    page.get_by_role("link", name="SQL").click()
    page.fill("#sql", BY_PUBLISHER)
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#outcome")).to_contain_text(" rows in ")
    expect(page.locator(".note")).to_contain_text("bundled sample data instead")
    expect(page.get_by_text("Saved queries")).to_be_hidden()
    page.get_by_role("link", name="Show heroes").click()
    # All of them.
    expect(page.locator("#result tbody tr")).to_have_count(107)
