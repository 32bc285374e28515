"""Fetching into an empty store: from a fast service, and from one that takes its time."""

import shutil
import time
from http.client import HTTPConnection

from harness import Failure, Server, progress

from .bench import JOBS


def server_cost(bench):
    """What the server itself costs."""
    pages = bench.count // 100
    with Server(bench.place, "people", "products") as server:
        connection = HTTPConnection(server.url.removeprefix("http://"))
        before, start = server.stats()["processor"], time.monotonic()
        for page in range(1, pages + 1):
            connection.request("GET", f"/api/?seed=bench&page={page}&results=100")
            connection.getresponse().read()
        wall, after = time.monotonic() - start, server.stats()["processor"]
    bench.report.note(
        f"The server: {pages} pages of 100 people, read by http.client and thrown away, take"
        f" {wall:.3f} s, {pages / wall:.0f} pages a second; {after - before:.3f} s of it is its own"
        " processor time.")


def fetch(bench):
    """Fetch and store, in pages of three sizes."""
    for size in (100, 20, 1000):
        pages = bench.count // size
        progress(f"fetch: {pages} pages of {size}")
        with Server(bench.place, "people", "products") as server:
            programs = {"aggregator": bench.sync(server, size, pages)}
            for title, name in (
                ("plain script", "plain"), ("aiohttp, 8 in flight", "with_aiohttp"),
                ("httpx", "with_httpx")):
                if bench.script(name):
                    programs[title] = bench.peer(name, server, size, pages)
            if size == 100:
                programs["aggregator --jobs 1"] = bench.sync(server, size, pages, jobs=1)
                programs["aggregator users load"] = bench.load(server, size, pages)
                programs["floor: rows in memory"] = bench.floor("people", pages, size)
                programs["plain script, no search index"] = bench.peer(
                    "plain", server, size, pages, is_indexed=False)
                if "sqlite-utils" in bench.installed and shutil.which("curl") and shutil.which("jq"):
                    programs["curl, jq, sqlite-utils"] = bench.pipe(server, size, pages)
                if bench.script("with_dlt"):
                    programs["dlt append"] = bench.dlt(server, size, pages)
            medians = bench.alternate(programs)
        bench.report.table(f"Fetch and store {bench.count} people in pages of {size}", medians)
        if size == 100 and not bench.is_small:
            ours = medians["aggregator"]
            bench.report.goal("fetch and store, against the plain script", 0.55,
                              ours.wall / medians["plain script"].wall)
            bench.report.goal("fetch and store, against the floor", 1.6,
                              ours.wall / medians["floor: rows in memory"].wall)
            bench.report.goal("users load, against the plain script without a search index", 1.0,
                              medians["aggregator users load"].wall
                              / medians["plain script, no search index"].wall)
            if "dlt append" in medians:
                bench.report.goal("fetch and store: dlt append takes", 8,
                                  medians["dlt append"].wall / ours.wall, at_least=True)
            bench.report.goal("fetch and store: peak memory", 60, ours.megabytes, " MB")


def latency(bench):
    """1000 pages of a service that takes 20 ms for each; and a declared rate."""
    size, pages = 100, bench.count // 100
    progress(f"latency: {pages} pages, 20 ms each")
    with Server(bench.place, "people", "products", latency=20) as server:
        programs = {"aggregator": bench.sync(server, size, pages)}
        if bench.script("with_aiohttp"):
            programs["aiohttp, 8 in flight"] = bench.peer("with_aiohttp", server, size, pages)
        programs["plain script"] = bench.peer("plain", server, size, pages)
        programs["plain script"].most_runs = bench.fewer
        medians = bench.alternate(programs)
        server.stats()
        # Eight in flight would be 400 pages a second; this is 10.
        bench.sync(server, size, min(pages, 30), RANDOM_USER_RATE=f"{10 * size}/1s")()
        arrivals = server.stats()["arrivals"]
    bench.report.table(f"{pages} pages of 100 people, 20 ms latency", medians)
    # A request may be on its way for a moment, so a window of theirs is a little shorter here.
    most = max(sum(start <= other < start + 0.95 for other in arrivals[i:])
               for i, start in enumerate(arrivals))
    bench.report.note(
        f"With a declared rate of 10 pages a second, {len(arrivals)} pages with 20 ms latency and"
        f" {JOBS} jobs: at most {most} arrived within any 0.95 s.")
    if most > 10:
        raise Failure(f"{most} requests within 0.95 s, where 10 a second are declared")
    if "aiohttp, 8 in flight" in medians and not bench.is_small:
        bench.report.goal("20 ms latency, against aiohttp with 8 in flight", 0.45,
                          medians["aggregator"].wall / medians["aiohttp, 8 in flight"].wall)
        bench.report.goal("declared rate of 10 pages a second: most in 0.95 s", 10, most, "")
