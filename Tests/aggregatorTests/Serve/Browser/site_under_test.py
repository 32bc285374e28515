"""The served page, as scenarios see it."""

import sys
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

# Guards against hanging, not a measure: machines may be busy.
TIMEOUT = 540_000
expect.set_options(timeout=TIMEOUT)


class Site:
    def __init__(self, browser, address):
        self.browser = browser
        self.address = address
        # The token takes the browser to a name of the server, where its cookie is.
        context = browser.new_context()
        page = self._sign_in(context)
        self.origin = origin_of(page.url)
        # The cookie alone, so that no browser has what the page has kept in another.
        self.signed_in = {"cookies": context.storage_state()["cookies"], "origins": []}
        context.close()
        self.origins = {origin_of(address), self.origin}
        self.problems = []
        # Browsers report a failure that the page is meant to show as an error on the console.
        self.may_fail = False

    def context(self, signed_in=True, width=1440, height=900, **options):
        """A browser with its own cookies, watched for what no page may do."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            storage_state=self.signed_in if signed_in else None,
            **options,
        )
        context.set_default_timeout(TIMEOUT)
        context.on("request", self._saw_request)
        context.on("console", self._saw_message)
        context.on("weberror", lambda error: self.problems.append(f"error: {error.error}"))
        context.on("dialog", self._saw_dialog)
        return context

    def _sign_in(self, context):
        page = context.new_page()
        page.goto(self.address, timeout=TIMEOUT)
        page.wait_for_url(lambda url: "token" not in url, timeout=TIMEOUT)
        return page

    def open(self, path="/", **options):
        """A page at a path, in a browser of its own."""
        page = self.context(**options).new_page()
        page.goto(self.origin + path)
        return page

    def tell(self, command):
        """Lets the test do something, such as to stop a service."""
        print(command, flush=True)
        sys.stdin.readline()

    def check(self):
        assert not self.problems, "\n".join(self.problems)

    def _saw_request(self, request):
        if origin_of(request.url) not in self.origins:
            self.problems.append(f"request to another host: {request.url}")

    def _saw_message(self, message):
        if message.type not in ("error", "warning"):
            return
        if self.may_fail and message.text.startswith("Failed to load resource"):
            return
        self.problems.append(f"console: {message.text} {message.location}")

    def _saw_dialog(self, dialog):
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def origin_of(url):
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def is_at(page, path):
    """Waits for an address; `path` includes the parameters."""
    page.wait_for_url(lambda url: url.split("/", 3)[3] == path.lstrip("/"))


def focused(page, selector):
    expect(page.locator(selector)).to_be_focused()


def fits(page):
    """Fails if the page can be moved sideways."""
    widths = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert widths[0] <= widths[1], f"{page.url} is {widths[0]} px wide, the screen {widths[1]}"


RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }
}


COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def is_accessible(page, scheme="light"):
    # Colours that are still changing have another contrast.
    page.emulate_media(reduced_motion="reduce")
    # In the dark the elements are the same.
    rules, least = (RULES, 11) if scheme == "light" else (COLOURS, 1)
    results = Axe().run(page, options=rules)
    assert results.violations_count == 0, f"{page.url}\n{results.generate_report()}"
    # A run that found nothing to judge proves nothing.
    assert len(results.response["passes"]) >= least
