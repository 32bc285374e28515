"""Fetching what is mostly there already."""

import json

from harness import PRODUCTS, Failure, Server, progress, select

from .bench import JOBS

# Seconds after which dlt's merge is stopped.
LONGEST = 200


def again(bench):
    """Products: the first time, again unchanged, and again with one in a hundred changed."""
    size, pages = 100, bench.count // 100
    times = ("first", "unchanged", "changed")
    rewritten = []
    files = {"first": "products", "unchanged": "products", "changed": "changed"}
    # At another address there would be other records.
    port = 0

    def sync(name):
        def run():
            nonlocal port
            if name == "first":
                bench.place.fresh("home")
            before = latest(bench.store)
            with Server(bench.place, "people", files[name], port=port) as server:
                port = server.port
                run = bench.run_aggregator(
                    "products", "sync", "--jobs", JOBS, PRODUCTS_PAGE_SIZE=size, **server.settings)
            expected = {"first": (bench.count, 0, 0), "unchanged": (0, 0, bench.count),
                        "changed": (0, bench.count // 100, bench.count - bench.count // 100)}[name]
            said = tuple(map(int, run.output.split("\t")[1:4]))
            if said != expected:
                raise Failure(f"products sync said {said} instead of {expected}")
            if name == "unchanged":
                rewritten.append(select(
                    bench.store, f"SELECT count(*) FROM records WHERE saved > {before}")[0])
            bench.truth(files[name], pages, size).expect_indexed(bench.store)
            return run
        return run

    def peer(script, path, name, *options, check, most_runs=None, longest=None):
        def run():
            if name == "first":
                bench.place.fresh(path)
            with Server(bench.place, "people", files[name]) as server:
                run = bench.place.run(
                    *bench.script(script), *options, "products", server.url, size, pages,
                    bench.place / path, longest=longest)
            if run.is_stopped:
                return run
            check(bench.truth(files[name], pages, size), bench.place / path)
            return run
        if most_runs:
            run.most_runs = most_runs
        return run

    progress("again")
    programs = {}
    for name in times:
        programs["aggregator", name] = sync(name)
    for name in times:
        programs["plain script", name] = peer(
            "plain", "again.sqlite", name, check=lambda truth, path: truth.expect_indexed(path))
    if bench.script("with_dlt"):
        for title, mode in (("dlt merge, primary keys", "keyed"), ("dlt merge", "merge")):
            for name in times[:2]:
                programs[title, name] = peer(
                    "with_dlt", f"{mode}.sqlite", name, mode, most_runs=1, longest=LONGEST,
                    check=lambda truth, path: truth.expect(path, PRODUCTS, "products"))
    medians = bench.alternate(programs)
    words = {"first": "Fetch and store {} products in pages of 100",
             "unchanged": "The same {} products again, unchanged",
             "changed": "The same {} products again, one in a hundred changed"}
    for name in times:
        bench.report.table(
            words[name].format(bench.count),
            {program: median for (program, time), median in medians.items() if time == name})
    if not bench.is_small:
        unchanged = medians["aggregator", "unchanged"].wall
        bench.report.goal("again unchanged, against its own first time", 0.25,
                          unchanged / medians["aggregator", "first"].wall)
        bench.report.goal("again unchanged: records written", 0, max(rewritten), "")
        for title, limit in (("dlt merge", 50), ("dlt merge, primary keys", 12)):
            peer = medians.get((title, "unchanged"))
            # Of a run that was stopped only a bound is known, which may be too low to tell.
            if peer and not (peer.is_stopped and peer.wall < limit * unchanged):
                stopped = f" (stopped after {LONGEST} s)" if peer.is_stopped else ""
                bench.report.goal(f"again unchanged: {title} takes{stopped}", limit,
                                  peer.wall / unchanged, at_least=True)
    validated(bench, size, pages)


def validated(bench, size, pages):
    """The products of a manifest again, unchanged, from a service that sends validators and from one that does not."""
    progress("again: validators")
    expected = bench.truth("products", pages, size).without_index
    with Server(bench.place, "people", "products") as server:
        def again(name, path):
            manifests = bench.place.fresh(f"manifests {name}")
            manifests.mkdir()
            (manifests / f"{name}.json").write_text(json.dumps({
                "url": f"{server.url}{path}/products/offset", "rows": "products", "id": "id",
                "fields": [{"name": field, "path": field, "search": field in ("title", "merchant")}
                           for field in PRODUCTS],
                "offset": "skip=0", "size": f"take={size}", "paging": "proved", "rate": "off"}))

            def sync():
                return bench.run_aggregator(
                    name, "sync", "--jobs", JOBS, AGGREGATOR_MANIFESTS=manifests)

            def run():
                bench.place.fresh("home")
                sync()
                run = sync()
                said = tuple(map(int, run.output.split("\t")[1:4]))
                if said != (0, 0, bench.count):
                    raise Failure(f"{name} sync said {said} instead of unchanged products")
                expected.expect(bench.store, [f"json->>'$.row.{field}'" for field in PRODUCTS])
                return run
            return run

        medians = bench.alternate({
            "without validators": again("plain", ""), "with validators": again("tagged", "/tagged")})
    bench.report.table(
        f"{bench.count} products of a manifest again, unchanged", medians, of="without validators")


def latest(path):
    """When a record was written last, in milliseconds; None without a file."""
    return select(path, "SELECT max(saved) FROM records")[0] if path.exists() else None
