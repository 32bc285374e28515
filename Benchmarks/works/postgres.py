"""The store in PostgreSQL: the same work by a script and by dlt, and by several machines together."""

import contextlib
import threading

from harness import DLT_PEOPLE, PRODUCTS, Failure, Server, progress
from machines import Machines
from postgres import Postgres, programs

from .bench import FLOOR_BATCH, JOBS

SIZE = 100
# Seconds after which dlt's merge is stopped.
LONGEST = 200
FLOOR = "floor: COPY of the same rows"


def postgres(bench):
    """People once; products the first time and unchanged; and three machines on one source."""
    if not programs():
        bench.report.note("Skipped, because it is not installed: PostgreSQL.")
        return
    with Postgres() as server:
        fetch(bench, server)
        again(bench, server)
    machines(bench)


def stored(server, database, truth, table="aggregator_store.records"):
    """Raises Failure if a database has other records or other searchable text."""
    fields = [field.replace("json->>", "json::json->>") for field in truth.fields]
    truth.with_index.compare(
        server.rows(database, [*fields, "folded"], table), f"{database}, {table}")


def sync(bench, server, service, source, *options, database="ours", **settings):
    """Runs a sync of aggregator into a database."""
    return bench.run_aggregator(
        source, "sync", *options, AGGREGATOR_STORE=server.url(database), **service.settings,
        **settings)


def floor(bench, server, truth):
    """Copies the rows that aggregator has stored into its table again, now empty, in its batches."""
    table = "aggregator_store.records"

    def run():
        columns = "position, source, id, saved, first_seen, folded, json"
        rows = server.call(
            "psql", "-X", "-d", server.url("ours"), "-c",
            f"COPY (SELECT {columns} FROM {table} ORDER BY position) TO STDOUT").split("\n")[:-1]
        with open(bench.place / "copy.sql", "w", encoding="utf-8") as script:
            for start in range(0, len(rows), FLOOR_BATCH):
                script.write(f"COPY {table} ({columns}) FROM STDIN;\n")
                script.writelines(f"{row}\n" for row in [*rows[start:start + FLOOR_BATCH], "\\."])
        server.sql(f"TRUNCATE {table}", "CHECKPOINT", database="ours")
        run = bench.place.run(f"{server.programs}/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1",
                              "-d", server.url("ours"), "-f", bench.place / "copy.sql")
        stored(server, "ours", truth)
        return run
    return run


def fetch(bench, server):
    """People into an empty database."""
    pages = bench.count // SIZE
    truth = bench.truth("people", pages, SIZE)
    progress(f"postgres: {pages} pages of {SIZE}")

    with Server(bench.place, "people", "products") as service:
        def ours():
            bench.place.fresh("home")
            server.fresh("ours")
            run = sync(bench, server, service, "users", "--max-pages", pages, "--jobs", JOBS,
                       RANDOM_USER_PAGE_SIZE=SIZE)
            stored(server, "ours", truth)
            return run

        def script():
            run = bench.place.run(*bench.script("with_psycopg"), "people", service.url, SIZE, pages,
                                  server.fresh("script"))
            stored(server, "script", truth, "records")
            return run

        def dlt():
            bench.place.fresh("postgres-dlt")
            run = bench.place.run(
                *bench.script("with_dlt"), "merge", "people", service.url, SIZE, pages,
                server.fresh("dlt"), longest=LONGEST)
            if not run.is_stopped:
                truth.without_index.compare(server.rows("dlt", DLT_PEOPLE, "main.people"), "dlt")
            return run

        dlt.most_runs = 1
        programs = {"aggregator": ours, FLOOR: floor(bench, server, truth)}
        if bench.script("with_psycopg"):
            programs["psycopg script"] = script
        if bench.script("with_dlt"):
            programs["dlt merge"] = dlt
        medians = bench.alternate(programs)
    bench.report.table(f"Fetch and store {bench.count} people in PostgreSQL", medians)
    goals(bench, medians, "PostgreSQL, people")


def again(bench, server):
    """Products, the first time and unchanged."""
    pages, times = bench.count // SIZE, ("first", "unchanged")
    truth = bench.truth("products", pages, SIZE)
    rewritten = []
    progress("postgres: again")

    with Server(bench.place, "people", "products") as service:
        def ours(name):
            def run():
                last = None
                if name == "first":
                    bench.place.fresh("home")
                    server.fresh("ours")
                else:
                    last = server.sql("SELECT max(saved) FROM aggregator_store.records",
                                      database="ours")[0][0]
                run = sync(bench, server, service, "products", "--jobs", JOBS,
                           PRODUCTS_PAGE_SIZE=SIZE)
                if last:
                    rewritten.append(int(server.sql(
                        f"SELECT count(*) FROM aggregator_store.records WHERE saved > {last}",
                        database="ours")[0][0]))
                stored(server, "ours", truth)
                return run
            return run

        def script(name):
            def run():
                if name == "first":
                    server.fresh("script")
                run = bench.place.run(*bench.script("with_psycopg"), "products", service.url, SIZE,
                                      pages, server.url("script"))
                stored(server, "script", truth, "records")
                return run
            return run

        def dlt(name):
            def run():
                if name == "first":
                    bench.place.fresh("postgres-dlt")
                    server.fresh("dlt")
                run = bench.place.run(
                    *bench.script("with_dlt"), "merge", "products", service.url, SIZE, pages,
                    server.url("dlt"), longest=LONGEST)
                if not run.is_stopped:
                    truth.without_index.compare(
                        server.rows("dlt", PRODUCTS, "main.products"), "dlt")
                return run
            run.most_runs = 1
            return run

        programs = {("aggregator", name): ours(name) for name in times}
        programs[FLOOR, "first"] = floor(bench, server, truth)
        if bench.script("with_psycopg"):
            programs |= {("psycopg script", name): script(name) for name in times}
        if bench.script("with_dlt"):
            programs |= {("dlt merge", name): dlt(name) for name in times}
        medians = bench.alternate(programs)
    words = {"first": "Fetch and store {} products in PostgreSQL",
             "unchanged": "The same {} products again in PostgreSQL, unchanged"}
    for name in times:
        of_time = {program: median for (program, time), median in medians.items() if time == name}
        bench.report.table(words[name].format(bench.count), of_time)
        goals(bench, of_time, f"PostgreSQL, products {name}")
    if not bench.is_small:
        bench.report.goal("PostgreSQL, products unchanged: records written", 0, max(rewritten), "")


def goals(bench, medians, words):
    if bench.is_small:
        return
    ours = medians["aggregator"].wall
    if FLOOR in medians:
        bench.report.goal(f"{words}, against the floor", 1.6, ours / medians[FLOOR].wall)
    if script := medians.get("psycopg script"):
        bench.report.goal(f"{words}, against the psycopg script", 1.2, ours / script.wall)
    if dlt := medians.get("dlt merge"):
        bench.report.goal(f"{words}: dlt merge takes", 5, dlt.wall / ours, at_least=True)


def machines(bench):
    """Three machines sync one source together, beside one alone: latency 100 ms, two jobs each."""
    pages = 30 if bench.is_small else 300
    truth = bench.truth("products", pages, SIZE)
    progress(f"postgres: {pages} pages, 100 ms each, by one machine and by three")
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(Machines(3))
        server = stack.enter_context(Postgres(group.addresses))
        bench.place.fresh("few")
        with open(bench.place / "products", encoding="utf-8") as rows, \
                open(bench.place / "few", "w", encoding="utf-8") as few:
            few.writelines(line for line, _ in zip(rows, range(pages * SIZE)))
        service = stack.enter_context(
            Server(bench.place, "people", "few", latency=100, address=group.address))

        def together(count):
            def run():
                server.fresh("ours")
                runs = {}

                def machine(number):
                    bench.place.fresh(f"home-{number}")
                    try:
                        runs[number] = bench.place.run(
                            *group.prefix(number), bench.aggregator, "products", "sync", "--jobs",
                            2, name=f"machine-{number}", **service.settings,
                            PRODUCTS_PAGE_SIZE=SIZE, AGGREGATOR_HOME=bench.place / f"home-{number}",
                            AGGREGATOR_STORE=server.url("ours", group.address))
                    except Failure as failure:
                        runs[number] = failure

                threads = [threading.Thread(target=machine, args=(number,)) for number in range(count)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                for one in runs.values():
                    if isinstance(one, Failure):
                        raise one
                stored(server, "ours", truth)
                return max(runs.values(), key=lambda one: one.wall)
            return run

        medians = bench.alternate({"one machine": together(1), "three machines": together(3)})
    where = "in own network namespaces" if group.addresses else "in the same network"
    bench.report.table(
        f"{pages} pages of {SIZE} products with a latency of 100 ms, --jobs 2, machines {where}",
        medians, of="one machine")
    if not bench.is_small:
        bench.report.goal("three machines: one takes", 2.9,
                          medians["one machine"].wall / medians["three machines"].wall,
                          at_least=True)
