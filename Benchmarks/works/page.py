"""The page of `serve` in Chromium: lists of 20 000 records, scrolled to their end."""

import contextlib
import subprocess

from harness import HERE, ROOT, Server, progress

from .bench import JOBS
from .serve import started

PYTHON = ROOT / ".build/python/bin/python"
RECORDS = 20_000
# All of them would take an hour.
KEPT_RECORDS = 4_000
VIEWS = ("table", "gallery")


def page(bench):
    """Frames and elements while a list is scrolled; the alternative is the same script without what takes records out."""
    if not PYTHON.exists():
        bench.report.note("Skipped, because `Scripts/install browser` has not run: `page`.")
        return
    if bench.is_small:
        bench.report.note("Skipped, because few records show nothing of it: `page`.")
        return
    count = min(bench.count, RECORDS)
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(Server(bench.place, "people", "products"))
        bench.place.fresh("home")
        # There are more.
        bench.run_aggregator(
            "products", "sync", "--max-pages", count // 100, "--jobs", JOBS, accepted=(0, 3),
            **upstream.settings)
        ours = stack.enter_context(started(bench, upstream, "--source", "products"))
        rows = []
        for view in VIEWS:
            progress(f"page: {view}")
            shown = frames(ours.url, view, count)
            kept = frames(ours.url, view, min(count, KEPT_RECORDS), keeps_all=True)
            for name, found in (
                (f"{count} records", shown), (f"the first {KEPT_RECORDS}, all kept in the page", kept)
            ):
                rows.append([f"{view}, {name}", *(f"{value:.0f}" for value in found)])
            goal = f"page, {view} of {count}"
            bench.report.goal(f"{goal}: 95 % of the frames", 20, shown[0], " ms")
            bench.report.goal(f"{goal}: longest task", 50, shown[2], " ms")
            bench.report.goal(
                f"{goal}: elements, against {KEPT_RECORDS} that are all kept", 0.2, shown[3] / kept[3])
        bench.report.values(
            "The page of `serve`, scrolled to the end",
            ("list", "p95 frame, ms", "longest frame, ms", "longest task, ms", "elements"), rows)


def frames(url, view, count, keeps_all=False):
    """The 95th percentile and the maximum of the frames, the longest task in ms, and the most elements."""
    output = subprocess.run(
        [PYTHON, "-B", HERE / "scrolling.py", url, view, str(count), str(int(keeps_all))],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(word) for word in output.split()]

