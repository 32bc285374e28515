"""Adding a source: its URL, what was found there, and its records, also without a script."""

import os
import re
import socket

from playwright.sync_api import expect
from site_under_test import TIMEOUT, fits, focused, is_accessible, is_at


def run(site):
    site.may_fail = True
    for scripts in (True, False):
        add(site, "lands" if scripts else "places", java_script_enabled=scripts)
    mistakes(site)
    cancelled(site)
    page = site.open("/add", width=390, height=800, color_scheme="dark")
    look(page, "realms")
    fits(page)
    is_accessible(page)
    phone(site)
    removed_elsewhere(site)
    key(site)
    edited(site)


def phone(site):
    """On a phone, the links of a source are below its heading; on a tablet, what adds another one is in sight."""
    page = site.open("/sources/lands", width=390, height=844)
    heading, links = (page.locator(each).bounding_box() for each in ("h1", ".heading .aside"))
    assert links["y"] >= heading["y"] + heading["height"], (heading, links)
    page.set_viewport_size({"width": 768, "height": 1024})
    expect(page.locator("nav").get_by_role("link", name="Add a source")).to_be_in_viewport(ratio=1)


def edited(site):
    """An added source gets another name and title on the page, without a script, too."""
    for scripts, old, new in ((True, "places", "spots"), (False, "spots", "places")):
        page = site.open(f"/sources/{old}", java_script_enabled=scripts)
        page.get_by_role("link", name="Edit this source").click()
        expect(page.locator("h1")).to_have_text(f"Edit the source {old}")
        expect(page.locator("#name")).to_have_value(old)
        expect(page.locator("#title")).to_be_visible()
        expect(page.locator(".names thead th")).to_have_text(["Field", "Name here", "First value"])
        expect(page.get_by_label("Name of ").first).to_be_visible()
        fits(page)
        if scripts:
            is_accessible(page)
        # What was typed stays where it cannot be saved.
        page.fill("#name", "countries")
        page.get_by_role("button", name="Save source").click()
        expect(page.get_by_role("alert")).to_contain_text("Not saved: ")
        is_at(page, f"/edit/{old}")
        expect(page.locator("#name")).to_have_value("countries")
        page.fill("#name", new)
        page.get_by_role("button", name="Save source").click()
        is_at(page, f"/sources/{new}")
        expect(page.locator("nav").get_by_role("link", name=new.capitalize())).to_have_count(1)
        expect(page.locator("nav").get_by_role("link", name=old.capitalize())).to_have_count(0)
        expect(page.locator(".record").first).to_be_visible()


def key(site):
    """The key of a removed source goes with it, and is typed where it is missing."""
    page = site.open("/add")
    page.fill("#url", os.environ["LIST"] + "?api_key=s3cret-Key")
    page.fill("#name", "shores")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Save").click()
    is_at(page, "/sources/shores")
    page.goto(site.origin + "/remove/shores")
    page.get_by_label("Also remove SHORES_API_KEY").check()
    is_accessible(page)
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("h1")).to_have_text("Removed the source shores")
    page.get_by_role("button", name="Undo").click()
    is_at(page, "/sources/shores")
    page.goto(site.origin + "/")
    card = page.locator(".sources li", has_text="Shores")
    # All cards are in one row; one that opens leaves the others as high as they are.
    page.set_viewport_size({"width": 2000, "height": 900})
    cards = page.locator(".sources li:not(:has(details))")
    heights = cards.evaluate_all("all => all.map(li => li.offsetHeight)")
    card.get_by_text("SHORES_API_KEY is not set").click()
    opened = cards.evaluate_all("all => all.map(li => li.offsetHeight)")
    assert opened and all(after <= before for before, after in zip(heights, opened)), (heights, opened)
    page.set_viewport_size({"width": 1440, "height": 900})
    is_accessible(page)
    card.get_by_label("SHORES_API_KEY").fill("another-Key")
    card.get_by_role("button", name="Save key").click()
    is_at(page, "/sources/shores")
    expect(page.locator(".record").first).to_be_visible()
    assert "another-Key" not in page.content()
    page.goto(site.origin + "/")
    expect(page.locator(".sources li", has_text="Shores")).not_to_contain_text("is not set")


def removed_elsewhere(site):
    """A page whose source another program has removed says so on return to it."""
    page = site.open("/sources/lands")
    other = page.context.new_page()
    other.goto(site.origin + "/")
    status = other.evaluate("async () => (await fetch('/api/v1/lands', { method: 'DELETE' })).status")
    assert status == 204, status
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#toast")).to_contain_text("The source Lands was removed.")
    page.locator("#toast").get_by_role("button", name="All sources").click()
    is_at(page, "/")


def look(page, name):
    # A URL of this machine needs no scheme.
    page.fill("#url", os.environ["LIST"].removeprefix("http://"))
    page.fill("#name", name)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#found")).to_have_text(f"Preview of “{name}”")
    expect(page.locator("#url")).to_have_value(os.environ["LIST"])


def add(site, name, **options):
    page = site.open("/", **options)
    page.locator("main").get_by_role("link", name="Add a source").click()
    look(page, name)
    # What was found, the evidence, and the first rows.
    expect(page.locator(".found li").first).to_have_text(re.compile("^2[0-9]+ records in the first response$"))
    expect(page.locator("section th[scope=row]").first).to_be_hidden()
    expect(page.locator("section th[scope=row]").first).to_have_text("rows")
    first = page.get_by_role("region", name="The first records")
    expect(first.locator("tbody tr")).to_have_count(5)
    # What is saved is seen before.
    assert first.bounding_box()["y"] < page.get_by_role("button", name="Save").bounding_box()["y"]
    # Nothing is saved yet.
    expect(page.locator("nav").get_by_role("link", name=name.capitalize())).to_have_count(0)
    page.get_by_role("button", name="Save").click()
    is_at(page, f"/sources/{name}")
    expect(page.locator("nav").get_by_role("link", name=name.capitalize())).to_have_count(1)
    expect(page.locator(".record").first).to_be_visible()
    # It is removed after a question, of whose answers one changes nothing.
    page.get_by_role("link", name="Remove this source").click()
    expect(page.locator("h1")).to_have_text(f"Remove the source {name}?")
    page.get_by_role("link", name="Keep it").click()
    is_at(page, f"/sources/{name}")
    page.get_by_role("link", name="Remove this source").click()
    if name == "places":
        page.get_by_label(re.compile("Also remove its [0-9]+ cached records")).check()
        page.get_by_role("button", name="Remove").click()
        expect(page.locator("h1")).to_have_text("Removed the source places")
        expect(page.locator(".state")).not_to_contain_text("Still in the store")
        expect(page.locator("nav").get_by_role("link", name="Places")).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        is_at(page, "/sources/places")
        expect(page.locator("nav").get_by_role("link", name="Places")).to_have_count(1)
        expect(page.locator(".record").first).to_be_visible()


def cancelled(site):
    """A preview that takes long counts its seconds; one that is cancelled ends its request, and keeps what was typed."""
    page = site.open("/add")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(TIMEOUT / 1000)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/list"
        page.fill("#url", url)
        page.fill("#name", "silence")
        # Playwright waits for the answer with all but the keyboard, so the page itself cancels after a second.
        page.evaluate("""() => {
            window.said = [];
            const button = document.querySelector("form#add button");
            new MutationObserver(() => {
                said.push(button.textContent);
                const { activeElement } = document;
                if (/ [1-9][0-9]* s$/.test(button.textContent) && activeElement.textContent === "Cancel") activeElement.click();
            }).observe(button, { childList: true });
        }""")
        page.locator("form#add button").focus()
        with page.expect_request("**/add"):
            page.keyboard.press("Enter")
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(TIMEOUT / 1000)
            try:
                # The server ends its request.
                while connection.recv(65536):
                    pass
            except ConnectionResetError:
                pass
    focused(page, "form#add button")
    expect(page.get_by_role("button", name="Preview")).to_be_enabled()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    said = page.evaluate("said")
    assert said[0] == "Asking the service…" and re.fullmatch("Asking the service… [1-9][0-9]* s", said[1]), said
    is_at(page, "/add")
    expect(page.locator("#url")).to_have_value(url)
    expect(page.locator("#name")).to_have_value("silence")


def mistakes(site):
    page = site.open("/add")
    focused(page, "#url")
    is_accessible(page)
    page.fill("#url", os.environ["LIST"].rsplit("/", 1)[0] + "/nothing/here")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("[role=alert]")).to_contain_text("This is not a source yet")
    expect(page.locator("[role=alert]")).to_be_in_viewport()
    focused(page, "#url")
    top, bottom = page.locator("#url").bounding_box(), page.locator("[role=alert]").bounding_box()
    assert 0 < bottom["y"] - top["y"] - top["height"] < 40, (top, bottom)
    expect(page.locator("[role=alert]")).to_contain_text("/nothing/here: its service answered 404")
    # What was typed is still there.
    expect(page.locator("#url")).to_have_value(os.environ["LIST"].rsplit("/", 1)[0] + "/nothing/here")
    expect(page.get_by_label("Where the list is")).to_have_count(0)
    is_accessible(page)
    page.fill("#url", os.environ["LIST"])
    page.fill("#name", "lands")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("[role=alert]")).to_contain_text('There is a source "lands" already')
    focused(page, "#name")
    # A key is asked for where it may be needed.
    expect(page.locator("#key")).to_be_hidden()
    page.get_by_text("Key of the service").click()
    expect(page.locator("#key-place")).to_have_value("Authorization: Bearer")
    is_accessible(page)
