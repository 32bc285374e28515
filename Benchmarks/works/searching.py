"""How memory grows with what is fetched, and searching it."""

import json
import shutil
import sqlite3

from harness import Failure, Server, progress, select

from .bench import JOBS


def memory(bench):
    """Peak memory, by how much is fetched."""
    counts = (500, 1_000, 2_000) if bench.is_small else (10_000, 100_000, 1_000_000)
    if bench.is_huge:
        counts += (10_000_000,)
    # The service ends after 10 000 pages.
    size, peaks, bytes_on_disk = 1000 if bench.is_huge else 100, {}, {}
    for count in counts:
        progress(f"memory: {count} people")
        people = "people" if count <= bench.count else "crowd"
        with Server(bench.place, people, "products") as server:
            bench.place.fresh("home")
            run = bench.run_aggregator(
                "users", "sync", "--max-pages", count // size, "--jobs", JOBS,
                RANDOM_USER_PAGE_SIZE=size, **server.settings)
        peaks[count] = run
        bytes_on_disk[count] = sum(
            file.stat().st_size for file in bench.store.parent.glob(f"{bench.store.name}*"))
        found = select(bench.store, "SELECT count(DISTINCT id) FROM records")[0]
        if found != count:
            raise Failure(f"{found} people are stored instead of {count}")
        progress(f"  {run.wall:.1f} s, {run.megabytes:.0f} MB")
        if count in counts[1:]:
            search(bench, count)
    bench.report.values(
        f"Fetch and store people in pages of {size}: peak memory of one run",
        ("people", "seconds", "processor s", "µs of it for each", "peak MB",
         "bytes on disk for each"),
        [(str(count), f"{run.wall:.2f}", f"{run.processor:.2f}",
          f"{run.processor / count * 1e6:.1f}", f"{run.megabytes:.1f}",
          f"{bytes_on_disk[count] / count:.0f}")
         for count, run in peaks.items()])
    if bench.is_huge:
        bench.report.goal("peak memory for 10^7 people, against 10^6", 1.2,
                          peaks[counts[3]].megabytes / peaks[counts[2]].megabytes)
        bench.report.goal("time for a person of 10^7, against 10^6", 1.15,
                          peaks[counts[3]].wall / peaks[counts[2]].wall / 10)
    elif not bench.is_small:
        bench.report.goal("peak memory for 10^6 people, against 10^4", 1.15,
                          peaks[counts[2]].megabytes / peaks[counts[0]].megabytes)


def search(bench, count):
    """Whole processes that search the store as it is."""
    # A copy of ten million rows would need as much disk again.
    utils = bench.installed.get("sqlite-utils") if count <= 1_000_000 else None
    if utils:
        copy = rename_index(bench)
    gains = []
    for title, query in (
        ("a sixteenth of all match", "aino"), ("a few match", "r777"), ("none matches", "xyzzy")):
        progress(f"search: {query}")
        sql = (
            "SELECT r.json->>'email' FROM search JOIN records r ON r.position = search.rowid"
            f" WHERE search MATCH '\"{query}\"' ORDER BY search.rowid LIMIT 20")
        expected = select(bench.store, sql)

        def checked(read, *command):
            def run():
                run = bench.place.run(*command)
                if (found := read(run.output)) != expected:
                    raise Failure(f"{command} found {found} instead of {expected}")
                return run
            return run

        programs = {"aggregator": checked(
            str.splitlines, bench.aggregator, "users", "search", query, "--fields", "email",
            "--tsv")}
        if shell := shutil.which("sqlite3"):
            programs["sqlite3 shell"] = checked(
                str.splitlines, shell, "-readonly", bench.store, sql)
        if utils:
            ranked = len(expected)

            def by_rank():
                run = bench.place.run(
                    utils, "search", copy, "records", query, "--quote", "--limit", 20)
                if len(json.loads(run.output)) != ranked:
                    raise Failure(f"sqlite-utils found other rows than {ranked}")
                return run
            programs["sqlite-utils search"] = by_rank
        medians = bench.alternate(programs, bench.repeat * 5)
        bench.report.table(f"Search {count} people: {title}", medians)
        gains.append(medians)
        if count > 1_000_000:
            bench.report.goal(f"search in 10^7: {title}", 15, medians["aggregator"].wall * 1000, " ms")
    if bench.is_small or count != 100_000:
        return
    slowest = max(medians["aggregator"].wall for medians in gains)
    bench.report.goal("search in 10^5 (slowest of three)", 4, slowest * 1000, " ms")
    for peer, limit, at_least in (("sqlite-utils search", 4, True), ("sqlite3 shell", 2.0, False)):
        if all(peer in medians for medians in gains):
            ratios = [m[peer].wall / m["aggregator"].wall if at_least
                      else m["aggregator"].wall / m[peer].wall for m in gains]
            worst = min(ratios) if at_least else max(ratios)
            words = f"{peer} takes" if at_least else f"against the {peer}"
            bench.report.goal(
                f"search in 10^5: {words} (worst of three)", limit, worst, at_least=at_least)


def rename_index(bench):
    """A copy of the store, whose index has the name and form by which sqlite-utils finds it."""
    copy = bench.place.fresh("renamed.sqlite")
    shutil.copy(bench.store, copy)
    database = sqlite3.connect(copy)
    database.executescript("""
        DROP TABLE search;
        CREATE VIRTUAL TABLE records_fts USING fts5 (
          folded, content="records", content_rowid='position', tokenize='trigram case_sensitive 1');
        INSERT INTO records_fts (records_fts) VALUES ('rebuild');
        """)
    database.close()
    return copy
