"""Runs a scenario in Chromium: run.py SCENARIO ADDRESS-WITH-TOKEN

The test that starts it obeys the commands that it prints, and answers each by a line.
"""

import importlib
import pathlib
import sys

from playwright.sync_api import sync_playwright

from site_under_test import Site

sys.path.append(str(pathlib.Path(__file__).parent / "Scenarios"))
scenario, address = sys.argv[1:]
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        # Chromium has no sandbox for root; the kernel's shared memory is small in containers. Without a spare process
        # for a next page, and without drawing as a graphics card does, it takes a tenth less of the processor.
        executable_path="/usr/bin/chromium",
        args=[
            "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
            "--disable-features=SpareRendererForSitePerProcess,PaintHolding,Translate",
        ],
    )
    site = Site(browser, address)
    importlib.import_module(scenario).run(site)
    site.check()
    browser.close()
