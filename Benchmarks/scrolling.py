"""Scrolls a list of `serve` to its end in Chromium: scrolling.py ADDRESS VIEW COUNT KEEPS-ALL

Prints the 95th percentile and the maximum of the frames and the longest task, in ms, and the most elements.
"""

import sys

from playwright.sync_api import sync_playwright

SCROLL = """
async count => {
  const frames = [], tasks = [0];
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(task => task.duration)))
    .observe({ type: "longtask" });
  let elements = 0, idle = 0, last = performance.now();
  await new Promise(done => {
    requestAnimationFrame(function next(now) {
      frames.push(now - last);
      last = now;
      const box = document.querySelector(".table-box") ?? document.scrollingElement;
      const before = box.scrollTop;
      box.scrollBy(0, 200);
      idle = box.scrollTop === before ? idle + 1 : 0;
      if (frames.length % 60 === 0) elements = Math.max(elements, document.getElementsByTagName("*").length);
      // A page that does not come in ten seconds never will.
      const isEnough = document.querySelectorAll(".record").length >= count;
      if (isEnough || idle > 600 || idle && document.querySelector(".end")) done();
      else requestAnimationFrame(next);
    });
  });
  frames.sort((a, b) => a - b);
  return [frames[Math.floor(frames.length * 0.95)], frames.at(-1), Math.max(...tasks), elements,
    idle <= 600];
}
"""


def main():
    address, view, count, keeps_all = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell")
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(1_200_000)
        page = context.new_page()
        if keeps_all:
            page.route("**/assets/script.js*", without_taking_out)
        order = "&sort=title" if view == "table" else ""
        page.goto(f"{address}/sources/products?cache=offline{order}&view={view}")
        *numbers, is_whole = page.evaluate(SCROLL, count)
        assert is_whole, "a page of the list did not come"
        print(*numbers)
        browser.close()


def without_taking_out(route):
    script = route.fetch()
    text = script.text()
    assert "const longList = 200;" in text
    route.fulfill(response=script, body=text.replace("const longList = 200;", "const longList = Infinity;"))


main()
