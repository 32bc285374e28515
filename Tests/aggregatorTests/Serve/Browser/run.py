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
    # Chromium without a window: half the work of the whole browser, which draws its own parts, too.
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell")
    site = Site(browser, address)
    importlib.import_module(scenario).run(site)
    site.check()
    browser.close()
