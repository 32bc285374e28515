"""Pictures in the list and beside it; a record without one has its initial."""

from playwright.sync_api import expect
from site_under_test import fits, is_accessible

IS_SHOWN = "image => image.complete && image.naturalWidth === 3"

HOSTILE = """<!DOCTYPE svg [<!ENTITY a "&b;&b;"><!ENTITY b "c">]>
<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2" onload="alert(1)">
<script>alert(2)</script><image href="https://tracker.example/1.png"/><text>&a;</text></svg>"""


def run(site):
    page = site.open("/sources/heroes")
    record = page.locator(".record").nth(0)
    image = record.locator("img")
    expect(image).to_be_visible()
    page.wait_for_function(IS_SHOWN, arg=image.element_handle())
    assert image.get_attribute("src").startswith("/api/v1/heroes/")
    # It is decoded beside the script, and moves nothing outside its square.
    assert image.evaluate("image => image.decoding") == "async"
    place = record.locator(".picture.loaded")
    assert place.evaluate("place => getComputedStyle(place).contain") == "strict"
    room = place.bounding_box()
    assert room["width"] > 100 and abs(room["width"] - room["height"]) <= 1, room
    record.click()
    image = page.locator("#detail .portrait img")
    expect(image).to_have_attribute("alt", f"Picture of {record.locator('.name').inner_text()}")
    page.wait_for_function(IS_SHOWN, arg=image.element_handle())
    # It is drawn no larger than it is.
    assert image.evaluate("each => getComputedStyle(each).objectFit") == "scale-down"
    # Nor is its room, once it is there.
    expect(page.locator("#detail .portrait.loaded")).to_have_count(1)
    height = page.locator("#detail .portrait").bounding_box()["height"]
    assert height == image.evaluate("image => image.naturalHeight"), height

    # Until it has arrived, its room is kept.
    waiting = site.context().new_page()
    waiting.route("**/image?*", lambda route: None)
    waiting.goto(page.url, wait_until="domcontentloaded")
    room = waiting.locator(".portrait").bounding_box()
    assert abs(room["width"] - room["height"]) <= 1, room
    waiting.close()

    in_table(site)
    several(site)

    nobody = page.locator(".record", has_text="Nobody")
    expect(nobody.locator("img")).to_have_count(0)
    expect(nobody.locator(".initial")).to_have_text("N")
    nobody.click()
    expect(page.locator("#detail h2")).to_have_text("Nobody")
    expect(page.locator("#detail .portrait")).to_have_count(0)

    # An SVG is a picture in which nothing runs, and for which nothing else is loaded.
    page.route("**/image?*", lambda route: route.fulfill(body=HOSTILE, content_type="image/svg+xml"))
    page.reload()
    drawing = page.locator(".record").first.locator("img")
    page.wait_for_function(IS_SHOWN, arg=drawing.element_handle())
    page.unroute("**/image?*")

    # A picture that does not come makes room.
    site.may_fail = True
    first = page.locator(".record").first.get_attribute("data-id")
    page.route(f"**/{first}/image?*", lambda route: route.fulfill(status=404))
    page.reload()
    expect(page.locator(".record").first.locator("img")).to_have_count(0)
    expect(page.locator(".record").first.locator(".initial")).to_be_visible()
    expect(page.locator(".record").first.locator(".picture.failed")).to_be_visible()
    expect(page.locator("#no-pictures")).to_have_count(0)

    # Nor have all of them room if none comes, and the page says why once.
    problem = {"status": 502, "content_type": "application/problem+json", "body": '{"detail": "gone"}'}
    page.route("**/image?*", lambda route: route.fulfill(**problem))
    page.reload()
    expect(page.locator("#no-pictures")).to_have_text("Pictures cannot be loaded. Gone.")
    expect(page.locator(".gallery.plain .record").first).to_be_visible()
    # The gallery of a page that is appended later is folded when its own pictures have been tried.
    expect(page.locator(".record .picture").first).to_be_hidden()
    is_accessible(page)


def in_table(site):
    """A column of addresses of pictures has the pictures, and an address where its picture does not come."""
    address = "/sources/products?view=table&fields=title,images"
    page = site.open(address)
    rows = page.locator("tbody.records tr")
    other, kettle = rows.filter(has_not_text="Kettle").first, rows.filter(has_text="Kettle").first
    site.may_fail = True
    page.route(f"**/{other.locator('.record').get_attribute('data-id')}/image?*", lambda route: route.fulfill(status=404))
    page.reload()
    kettle.scroll_into_view_if_needed()
    image = kettle.locator("td .picture.loaded > img")
    page.wait_for_function(IS_SHOWN, arg=image.element_handle())
    assert "size=small&number=1" in image.get_attribute("src")
    expect(kettle.locator("td").last).to_have_text("+4", use_inner_text=True)
    other.scroll_into_view_if_needed()
    expect(other.locator(".failed .address")).to_be_visible()
    site.may_fail = False
    heights = rows.evaluate_all("all => all.map(row => row.offsetHeight)")
    assert len(set(heights[:-1])) == 1, heights
    is_accessible(page)
    # Without the script, there are the addresses.
    plain = site.open(address, java_script_enabled=False)
    expect(plain.locator("td .address").first).to_be_visible()


def several(site):
    # The images of a record, of which the chosen one is large.
    page = site.open("/sources/products", width=360, height=800)
    page.locator(".record", has_text="Kettle").click()
    small = page.locator("#detail .pictures a")
    expect(small).to_have_count(5)
    # They are loaded when they come near.
    small.last.scroll_into_view_if_needed()
    pictures = page.locator("#detail .pictures a > img")
    expect(pictures).to_have_count(5)
    assert "number=2" in pictures.nth(1).get_attribute("src")
    small.nth(1).click()
    image = page.get_by_role("img", name="Picture 2 of 5")
    page.wait_for_function(IS_SHOWN, arg=image.element_handle())
    assert image.get_attribute("src").endswith("?size=large&number=2")
    # However tall, it leaves two thirds of the screen.
    assert image.evaluate("each => getComputedStyle(each).maxHeight") == "264px"
    is_accessible(page)
    fits(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.locator("#detail").evaluate("pane => pane.scrollWidth <= pane.clientWidth")
