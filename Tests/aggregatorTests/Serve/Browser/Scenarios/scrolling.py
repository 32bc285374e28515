"""Endless scrolling over three pages, with an address for each."""

import re

from playwright.sync_api import expect
from site_under_test import is_accessible, is_at


def origins(site):
    """Pages of several origins are parts of one table, each with its badge."""
    page = site.context().new_page()

    def elsewhere(route):
        # Outside the browser nothing finds the names of localhost.
        response = route.fetch(url=re.sub("//[^:/]+", "//127.0.0.1", route.request.url))
        text = re.sub('class="label">[^<]*', 'class="label">Elsewhere', response.text())
        route.fulfill(response=response, body=re.sub('class="badge [a-z]+"', 'class="badge offline"', text))

    page.route(re.compile("cursor="), elsewhere)
    page.goto(site.origin + "/sources/countries")
    expect(page.locator(".more a")).to_be_attached()
    page.locator(".records").last.evaluate("each => each.scrollIntoView({ block: 'end' })")
    badge = page.locator(".origin .badge").first
    expect(badge).to_contain_text("Elsewhere")
    expect(page.locator("table")).to_have_count(1)
    # A row of which the heads leave a part is a small target, wherever a table is scrolled to.
    scroll(page, ".table-box", 0)
    is_accessible(page)
    badge.locator("summary").click()
    panel, box = badge.locator(".panel").bounding_box(), page.locator(".table-box").bounding_box()
    assert panel["x"] >= box["x"] and panel["x"] + panel["width"] <= box["x"] + box["width"], panel
    page.close()


def run(site):
    page = site.open("/sources/heroes")
    records = page.locator(".record")
    bottom = "scrollTo(0, document.documentElement.scrollHeight)"
    expect(records.first).to_be_visible()
    for count in (40, 55):
        while records.count() < count:
            loaded = records.count()
            page.evaluate(bottom)
            expect(records).not_to_have_count(loaded)
    expect(records).to_have_count(55)
    expect(page.locator(".end")).to_be_visible()
    ids = records.evaluate_all("records => records.map(each => each.dataset.id)")
    assert len(set(ids)) == 55

    pages = page.locator(".records > li[data-page]")
    expect(pages).to_have_count(3)
    second = pages.nth(1)
    second.evaluate("each => each.scrollIntoView({ block: 'start' })")
    address = second.get_attribute("data-page")
    page.wait_for_url(address)
    assert "cursor=" in address

    # The address leads another visitor to the same records.
    linked = site.context().new_page()
    linked.goto(address)
    expect(linked.locator(".record").first).to_have_attribute("data-id", ids[20])
    linked.locator(".beginning a").click()
    is_at(linked, "/sources/heroes")
    expect(linked.locator(".record").first).to_have_attribute("data-id", ids[0])

    page.evaluate("scrollTo(0, 0)")
    is_at(page, "/sources/heroes")

    # A page that does not come is requested again only when that is wanted.
    attempts = []

    def refuse_once(route):
        attempts.append(route.request.url)
        route.abort() if len(attempts) == 1 else route.continue_()

    site.may_fail = True
    page.route("**/sources/heroes?*cursor=*", refuse_once)
    page.goto(site.origin + "/sources/heroes")
    page.evaluate(bottom)
    expect(page.locator(".more .note")).to_contain_text("Cannot reach aggregator")
    page.evaluate("scrollTo(0, 0)")
    page.evaluate(bottom)
    assert len(attempts) == 1
    page.locator(".more a").click()
    expect(records.nth(39)).to_be_attached()

    # A long table, which scrolls in its box, has the rows near the screen alone, in their places.
    page = site.open("/sources/countries?sort=name")
    # Only cached records have positions.
    expect(page.locator(".record").first).to_be_visible()
    expect(page.locator(".jump")).to_have_count(0)
    page.get_by_role("button", name="Sync").click()
    expect(page.locator(".sync-words")).to_have_text("249 countries synced")
    page.goto(site.origin + "/sources/countries?sort=name")
    rows = rows_of(page)
    expect(rows.first).to_be_visible()
    first = rows.first.locator(".record").inner_text()
    box = ".table-box"
    # Nothing is loaded before it is near.
    pages = page.locator("tbody.records")
    expect(pages).to_have_count(2)
    # The scroll bar stands for all records from the start, and the badge for those in sight.
    height = page.evaluate(HEIGHT, box)
    assert height > 249 * 30, height
    # So no button is needed for those that follow.
    expect(page.locator(".more a")).to_be_hidden()
    position = page.locator(".position")
    expect(position).to_have_text(re.compile(r"^1–1[0-9] of 249$"))
    # Each row has its number among all of them, after the heading.
    expect(page.locator("#records table")).to_have_attribute("aria-rowcount", "250")
    expect(rows.first).to_have_attribute("aria-rowindex", "2")
    # To scroll exchanges no node: the styles of all cells would be matched anew in each frame.
    changes = page.evaluate("""async box => {
      const changes = [];
      new MutationObserver(some => changes.push(...some)).observe(document, { childList: true, subtree: true });
      document.querySelector(box).scrollBy(0, 100);
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
      return changes.length;
    }""", box)
    expect(position).to_have_text(re.compile("^[34]–"))
    assert changes == 0, changes
    # What is dragged to is loaded in the place of what was there.
    scroll(page, box, height / 2)
    expect(position).to_have_text(re.compile(r"^1[12][0-9]–1[34][0-9] of 249$"))
    expect(page.locator(".room")).to_have_count(2)
    page.wait_for_function(IN_SIGHT)
    assert pages.count() < 5
    page.wait_for_function(f"([box, height]) => Math.abs(({HEIGHT})(box) - height) < 3", arg=[box, height])
    middle = rows.first.locator(".record").inner_text()
    assert middle != first
    expect(rows.first).to_have_attribute("aria-rowindex", re.compile("^[1-9][0-9]+$"))
    numbers = rows.evaluate_all("all => all.map(each => Number(each.ariaRowIndex))")
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
    # The rows before and after follow while the reader scrolls.
    for step in (-300, -300, -300, -300, 900, 900):
        page.evaluate("([box, step]) => document.querySelector(box).scrollBy(0, step)", [box, step])
        page.wait_for_function(IN_SIGHT)
    assert rows.filter(has_text=middle).count() == 1
    # Keys lead to the ends of the whole list.
    page.locator(".record").first.focus()
    page.keyboard.press("End")
    expect(position).to_have_text(re.compile(r"–249 of 249$"))
    expect(page.locator(".end")).to_be_attached()
    expect(page.locator(".record").last).to_be_focused()
    page.keyboard.press("Home")
    expect(page.locator(".record:focus")).to_have_text(first)
    expect(position).to_have_text(re.compile("^1–"))
    # An open record is stepped from also when its row is far away.
    page.locator(".record").nth(2).click()
    title = page.locator("#detail h2")
    following = page.locator(".record").nth(3).inner_text()
    expect(page.locator(".record[aria-current]")).to_have_count(1)
    scroll(page, box, height / 2)
    expect(page.locator(".record[aria-current]")).to_have_count(0)
    page.get_by_role("button", name="Next record").click()
    expect(title).to_have_text(following)
    expect(page.locator(".record[aria-current]")).to_have_text(following)
    page.keyboard.press("Escape")
    page.goto(site.origin + "/sources/countries?sort=name")
    expect(rows.first).to_be_visible()
    load_all(page, box)
    expect(page.locator("tbody tr.gap").first).to_be_attached()
    assert rows.count() < 240
    # The table alone is scrolled, and its end is in the window, also beside its filters and an open record.
    first_id = page.locator(".record").first.get_attribute("data-id")
    for path in ("", f"/{first_id}"):
        for width, tall in ((1440, 900), (1024, 768)):
            for filters in ("", "&filters=shown") if not path else ("",):
                alone = site.context(width=width, height=tall).new_page()
                alone.goto(f"{site.origin}/sources/countries{path}?sort=name{filters}")
                expect(alone.locator(".record").first).to_be_visible()
                room = alone.evaluate("document.documentElement.scrollHeight - innerHeight")
                end = alone.locator(".table-box").bounding_box()
                assert room <= 0 and end["y"] + end["height"] <= tall and end["height"] > 190, (room, end)
                alone.close()
    # Also at the end of the page the heads are in view, below the search.
    place = page.evaluate("scrollY")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    search = page.locator(".search").bounding_box()
    assert page.locator("thead th").first.bounding_box()["y"] >= search["y"] + search["height"] - 1
    page.evaluate("place => scrollTo(0, place)", place)
    assert abs(page.evaluate(HEIGHT, box) - height) < 3
    # The reader sees where that is, and the address leads there, and to what is before.
    expect(position).to_have_text(re.compile(r"^2[0-9]{2}–2[0-9]{2} of 249$"))
    # Both follow, one after the other.
    address = page.wait_for_function(
        """() => {
          const start = Number(new URL(location).searchParams.get("offset")) + 1;
          return document.querySelector(".position").textContent.startsWith(`${start}–`) && location.href;
        }""").json_value()
    start = int(address.split("offset=")[1]) + 1
    assert address == f"{site.origin}/sources/countries?sort=name&offset={start - 1}"
    linked = site.context().new_page()
    linked.goto(address)
    expect(linked.locator(".position")).to_have_text(re.compile(f"^{start}–"))
    linked.wait_for_function(IN_SIGHT)
    # What is before is loaded without moving it.
    last = linked.locator(".record").last.inner_text()
    expect(linked.locator("tbody.records")).not_to_have_count(1)
    expect(linked.locator(".position")).to_have_text(re.compile(f"^{start}–"))
    scroll(linked, box, 0)
    expect(rows_of(linked).first.locator(".record")).to_have_text(first)
    expect(linked.locator(".record").filter(has_text=last)).to_have_count(0)
    linked.get_by_role("link", name="Back to the beginning of the list").click()
    is_at(linked, "/sources/countries?sort=name")
    linked.close()
    page.locator(".record").last.focus()
    page.keyboard.press("Home")
    expect(page.locator(".record:focus")).to_have_text(first)
    scroll(page, box, 0)
    expect(rows.first.locator(".record")).to_have_text(first)
    expect(page.locator("tbody tr.gap").last).to_be_attached()
    assert abs(page.evaluate(HEIGHT, box) - height) < 3

    # A record that is deleted comes back to its place, also if that is far away.
    second = rows.nth(1).locator(".record")
    name = second.inner_text()
    second.click()
    page.locator("form.delete button").click()
    expect(page.locator(".count")).to_contain_text("248 countries")
    scroll(page, box, height)
    expect(page.locator("tbody").first.locator(".gap")).to_be_attached()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".record:focus")).to_have_text(name)
    expect(page.locator(".record:focus")).to_be_in_viewport()
    expect(rows.nth(1).locator(".record")).to_have_text(name)
    expect(page.locator(".count")).to_contain_text("249 countries")

    # The list stays where the reader is when a record in sight is deleted, and when it comes back.
    page.goto(site.origin + "/sources/countries?sort=name&offset=120")
    expect(position).to_have_text(re.compile("^121–"))
    page.wait_for_function(IN_SIGHT)
    deleted_in_place(page, 5)

    # So has a long gallery, whose rows are whole, however many cards fit into one.
    site.tell("all heroes")
    page = site.open("/sources/heroes?cache=reload")
    load_all(page, "html")
    expect(page.locator(".gallery .gap").first).to_be_attached()
    assert page.locator(".record").count() < 240
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
    all_ids = ids_from_the_end(page)
    assert len(all_ids) == len(set(all_ids)) > 200
    for width in (1440, 1000, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(WHOLE_ROWS)
    assert ids_from_the_end(page) == all_ids
    # It stays where the reader is, also when an open record makes it narrower.
    # The address follows the reader who has stopped.
    page.wait_for_url(lambda url: "cursor=" not in url and "offset=" not in url)
    page.locator(".record").nth(30).evaluate("each => each.scrollIntoView({ block: 'center' })")
    page.wait_for_url(re.compile("cursor=|offset="))
    deleted_in_place(page, 4)
    # A card that is opened stays where it was, and is there when the record is closed.
    settle(page)
    chosen = page.locator(f".record[data-id='{page.evaluate(SEEN)[-1]}']")
    top = chosen.bounding_box()["y"]
    for keys in ("Enter", "Escape"):
        chosen.press(keys) if keys == "Enter" else page.keyboard.press(keys)
        expect(page.locator("#detail h2")).to_have_count(int(keys == "Enter"))
        page.wait_for_function(
            "([id, top]) => Math.abs(document.querySelector(`.record[data-id='${id}']`).getBoundingClientRect().top - top) < 2",
            arg=[chosen.get_attribute("data-id"), top])
    origins(site)


def deleted_in_place(page, number):
    """Deletes one of the records in sight and restores it: those before it do not move."""
    settle(page)
    before = page.evaluate(SEEN)
    chosen = page.locator(f".record[data-id='{before[number]}']")
    chosen.click()
    expect(page.locator("#detail h2")).to_be_visible()
    page.locator("form.delete button").click()
    expect(chosen).to_have_count(0)
    after = [each for each in before if each != before[number]]
    page.wait_for_function(f"ids => ({SEEN})().slice(0, ids.length).join() === ids.join()", arg=after)
    page.get_by_role("button", name="Undo").click()
    expect(chosen).to_be_focused()
    page.wait_for_function(f"ids => ({SEEN})().join() === ids.join()", arg=before)
    # Nor does it move when the offer to undo is dismissed.
    chosen.click()
    page.locator("form.delete button").click()
    expect(chosen).to_have_count(0)
    # The first record in sight gets the focus, once the others are in their places.
    page.wait_for_function(f"ids => ({SEEN})().slice(0, ids.length).join() === ids.join()", arg=after)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator(".record:focus")).to_have_attribute("data-id", after[0])
    page.wait_for_function(f"ids => ({SEEN})().slice(0, ids.length).join() === ids.join()", arg=after)


def settle(page):
    """Waits until the same records have been in sight for 30 frames: pages that are still read move those after them."""
    page.evaluate(f"""() => new Promise(done => {{
      let seen, frames = 0;
      const look = () => {{
        const now = ({SEEN})().join();
        frames = now === seen ? frames + 1 : 0;
        seen = now;
        if (frames === 30) done(); else requestAnimationFrame(look);
      }};
      look();
    }})""")


HEIGHT = "box => document.querySelector(box).scrollHeight"

# The IDs of the records that are wholly in sight.
SEEN = """() => {
  const [search, head, box] = [".search", "thead th", ".table-box"].map(
    selector => document.querySelector(selector)?.getBoundingClientRect());
  const top = head ? head.bottom : search.bottom;
  const bottom = Math.min(innerHeight, box ? box.bottom : innerHeight);
  return [...document.querySelectorAll(".record")].filter(each => {
    const place = each.getBoundingClientRect();
    return place.top >= top && place.bottom <= bottom;
  }).map(each => each.dataset.id);
}"""

# Rows fill the box as far as it is on the screen.
IN_SIGHT = """() => [...document.querySelectorAll(".room, tbody:has(> .gap)")].every(room => {
  const { top, bottom } = room.getBoundingClientRect();
  const box = room.closest(".table-box").getBoundingClientRect();
  return bottom <= box.top + 45 || top >= Math.min(box.bottom, innerHeight);
})"""

# Pages of a gallery follow each other without an open row.
WHOLE_ROWS = """() => {
  const pages = [...document.querySelectorAll(".gallery")].slice(0, -1);
  const columns = getComputedStyle(pages[0]).gridTemplateColumns.split(" ").length;
  return pages.length > 5 && pages.every(page => (
    page.querySelector(".gap") || page.childElementCount % columns === 0));
}"""


def rows_of(page):
    return page.locator("tbody tr:not(.gap)")


def scroll(page, box, top):
    page.evaluate("([box, top]) => document.querySelector(box).scrollTo(0, top)", [box, top])


def load_all(page, box):
    while not page.locator(".end").count():
        before = page.locator(".more a").get_attribute("href")
        page.locator(".records").last.evaluate("each => each.scrollIntoView({ block: 'end' })")
        expect(page.locator(f'.more a[href="{before}"]')).to_have_count(0)


def ids_from_the_end(page):
    """The IDs of all records, as they come into sight on the way from the end to the beginning."""
    seen = []
    top = page.evaluate(HEIGHT, "html")
    while True:
        scroll(page, "html", top)
        # The screen has no gap.
        page.wait_for_function(
            """() => [...document.querySelectorAll(".gap")].every(gap => {
              const { top, bottom } = gap.getBoundingClientRect();
              return bottom <= 0 || top >= innerHeight;
            })"""
        )
        shown = page.evaluate("[...document.querySelectorAll('.record')].map(each => each.dataset.id)")
        seen = shown + [each for each in seen if each not in set(shown)]
        if top == 0:
            return seen
        top = max(0, page.evaluate("scrollY") - 800)
