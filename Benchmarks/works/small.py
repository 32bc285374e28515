"""Small commands, answers without a service, and what the chain costs."""

import json
import shutil
import socket

from harness import Failure, Server, progress


def start(bench):
    """Small commands, whole processes."""
    progress("start-up")
    bench.place.fresh("home")
    hero = "1253"
    with Server(bench.place, "people", "products") as server:
        bench.run_aggregator(
            "heroes", "show", hero, COMIC_VINE_URL=server.url, COMIC_VINE_API_KEY="loopback")

    def command(expected, *words):
        def run():
            run = bench.place.run(*words)
            if expected not in run.output:
                raise Failure(f"{words} said {run.output!r}, without {expected!r}")
            return run
        return run

    program = bench.aggregator
    programs = {
        "aggregator --version": command("aggregator", program, "--version"),
        "aggregator countries list --offline": command(
            "Kabul", program, "countries", "list", "--offline"),
        f"aggregator heroes show {hero} --offline": command(
            hero, program, "heroes", "show", hero, "--offline", "--fields", "id,name"),
        "aggregator __complete": command(
            hero, program, "__complete", "bash", "--line", "aggregator heroes show "),
    }
    none, shown = "a program that does nothing", f"aggregator heroes show {hero} --offline"
    floor = "floor: the same hero by SQLite"
    programs[floor] = command(hero, bench.place / "floor", "show", bench.store, hero)
    if nothing := bench.installed.get("do-nothing"):
        programs = {none: command("", nothing)} | programs
    if shell := shutil.which("sqlite3"):
        programs["sqlite3 shell, the same hero"] = command(
            hero, shell, "-readonly", bench.store, f"SELECT json FROM records WHERE id = '{hero}'")
    medians = bench.alternate(programs, bench.repeat * 10)
    bench.report.table("Start-up", medians, of="aggregator --version")
    if bench.is_small:
        return
    if none in medians:
        bench.report.goal(f"--version, against {none}", 1.3,
                          medians["aggregator --version"].wall / medians[none].wall)
    bench.report.goal("heroes show --offline", 4, medians[shown].wall * 1000, " ms")
    bench.report.goal("heroes show --offline, against the floor", 1.3,
                      medians[shown].wall / medians[floor].wall)


def fallback(bench):
    """How long it takes until bundled data answers for a service that does not."""
    progress("fallback")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        refused = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with Server(bench.place, "people", "products") as server:

            def ask(url, *options):
                def run():
                    bench.place.fresh("home")
                    run = bench.run_aggregator(
                        "products", "list", "--limit", 5, "--json", *options, PRODUCTS_URL=url)
                    answer = json.loads(run.output)
                    if (answer["provenance"]["origin"], len(answer["items"])) != ("bundled", 5):
                        raise Failure(f"no bundled answer for {url}: {run.output}")
                    return run
                return run

            medians = bench.alternate({
                "refuses": ask(refused),
                "stalls, --timeout 500ms": ask(f"{server.url}/stall", "--timeout", "500ms"),
                "fails with 500": ask(f"{server.url}/fail"),
                "--offline": ask(server.url, "--offline"),
            })
    bench.report.table(
        "aggregator products list: until bundled data answers for a service that …", medians,
        of="refuses")


def chain(bench):
    """What the chain costs beside the bare service, in memory."""
    if "chain-cost" not in bench.installed:
        return
    progress("chain")
    calls = 2_000
    runs = [bench.place.run(bench.installed["chain-cost"], bench.place / "products", calls).output
            for _ in range(bench.repeat)]
    costs = {}
    for line in "".join(runs).splitlines():
        name, cost = line.split("\t")
        costs.setdefault(name, []).append(float(cost))
    medians = {name: sorted(values)[len(values) // 2] for name, values in costs.items()}
    bench.report.values(
        "A page of 20 products in memory: processor time of a call",
        ("chain", "µs", "× the bare remote"),
        [(name, f"{cost:.1f}", f"{cost / medians['remote']:.2f}")
         for name, cost in medians.items()])


def scroll(bench):
    """How long a page of a list in an app occupies the main actor, and the memory of its records."""
    if "list-scroll" not in bench.installed:
        return
    progress("scroll")
    program = bench.installed["list-scroll"]
    runs = []
    for _ in range(bench.repeat):
        store = bench.place.fresh("heroes.sqlite")
        bench.place.run(program, store, bench.count)
        count, *times = map(float, bench.place.run(program, store).output.split())
        if count != bench.count:
            raise Failure(f"the list ended with {count:.0f} of {bench.count} records")
        runs.append(times)
    names = ("median, µs", "99th percentile, µs", "maximum, µs", "bytes of a record",
             "deletion: median, µs", "maximum, µs")
    medians = [sorted(values)[len(values) // 2] for values in zip(*runs)]
    bench.report.values(
        f"A list of {bench.count} stored heroes, scrolled to its end: a page of 20 on the main actor",
        ("", *names), [("`PagedList`", *(f"{value:.0f}" for value in medians))])
    if not bench.is_small:
        bench.report.goal("a page on the main actor, maximum", 1, medians[2] / 1000, " ms")
        bench.report.goal("a deletion on the main actor, maximum", 1, medians[5] / 1000, " ms")
