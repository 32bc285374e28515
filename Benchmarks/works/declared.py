"""Sources that are declared by a manifest: what they cost, beside compiled ones."""

import contextlib
import csv
import functools
import http.server
import itertools
import json
import threading

from harness import PRODUCTS, Failure, Server, progress

from .bench import JOBS, PEERS

# What the compiled source keeps of a person, and where it is in a row of the service.
FIELDS = {
    "email": "email", "firstName": "name.first", "lastName": "name.last", "city": "location.city",
    "phone": "phone", "uuid": "login.uuid", "picture": "picture.large"}


def manifest(bench, url, size):
    """The text of a manifest of the people of the server."""
    return json.dumps({
        "url": f"{url}/api/?seed=bench", "rows": "results", "id": "email",
        "fields": [{"name": name, "path": path, "search": name in ("email", "firstName", "lastName")}
                   for name, path in FIELDS.items()],
        "page": "page=1", "size": f"results={size}", "paging": "proved", "rate": "off"})


def sync_of(bench, folder, expected):
    """A sync of the source people of a folder of manifests, from an empty store, and a look at what it has stored."""
    def sync():
        bench.place.fresh("home")
        run = bench.run_aggregator("people", "sync", "--jobs", JOBS, AGGREGATOR_MANIFESTS=folder)
        expected.expect(bench.store, [f"json->>'$.row.{path}'" for path in FIELDS.values()])
        return run
    return sync


def declared(bench):
    """Start-up with many manifests, and the same sync by a manifest and by a compiled source."""
    progress("declared: start-up")
    folder = bench.place.fresh("manifests")
    folder.mkdir()
    for number in range(50):
        (folder / f"source-{number}.json").write_text(manifest(bench, "http://127.0.0.1:9", 100))
    bench.place.fresh("home")

    def start(settings):
        def run():
            run = bench.run_aggregator("countries", "list", "--offline", **settings)
            if "Kabul" not in run.output:
                raise Failure(f"no countries with {settings}: {run.output!r}")
            return run
        return run

    medians = bench.alternate({
        "no manifest": start({}), "50 manifests": start({"AGGREGATOR_MANIFESTS": folder}),
    }, bench.repeat * 10)
    bench.report.table("countries list --offline", medians, of="no manifest")
    if not bench.is_small:
        more = medians["50 manifests"].wall - medians["no manifest"].wall
        bench.report.goal("start-up: 50 manifests, beyond none", 1, more * 1000, " ms")

    size, pages = 100, bench.count // 100
    progress(f"declared: {pages} pages of {size}")
    with Server(bench.place, "people", "products") as server:
        folder = bench.place.fresh("manifests")
        folder.mkdir()
        (folder / "people.json").write_text(manifest(bench, server.url, size))
        expected = bench.truth("people", pages, size).without_index
        medians = bench.alternate({
            "users": bench.sync(server, size, pages), "a manifest": sync_of(bench, folder, expected)})
    bench.report.table(f"Fetch and store {bench.count} people: compiled, declared", medians,
                       of="users")
    if not bench.is_small:
        ratio = medians["a manifest"].wall / medians["users"].wall
        bench.report.goal("declared source, against the compiled one", 1.2, ratio)
    lists(bench)
    table(bench)


def lists(bench):
    """Lists of ten people each, for each of many values, by a service that takes 20 ms for each."""
    size, count = 10, bench.count // 10
    progress(f"declared: {count} lists of {size}, 20 ms each")
    with Server(bench.place, "people", "products", latency=20) as server:
        folder = bench.place.fresh("manifests")
        folder.mkdir()
        text = json.loads(manifest(bench, server.url, size))
        del text["page"], text["size"]
        (folder / "people.json").write_text(json.dumps(text | {
            "url": f"{server.url}/api/?seed=bench&page={{value}}&results={size}", "paging": "single",
            "each": {"values": [str(number + 1) for number in range(count)]}}))
        expected = bench.truth("people", count, size).without_index
        programs = {"a manifest": sync_of(bench, folder, expected)}
        if bench.script("with_aiohttp"):
            programs["aiohttp, 8 in flight"] = bench.peer("with_aiohttp", server, size, count)
        medians = bench.alternate(programs, bench.fewer)
    bench.report.table(
        f"{count} lists of {size} people, 20 ms latency", medians, of="a manifest")
    if "aiohttp, 8 in flight" in medians and not bench.is_small:
        bench.report.goal("lists of values, against aiohttp with 8 in flight", 1.2,
                          medians["a manifest"].wall / medians["aiohttp, 8 in flight"].wall)
        bench.report.goal("lists of values: peak memory", 60, medians["a manifest"].megabytes, " MB")


@contextlib.contextmanager
def files(directory):
    """The URL of a server of the files of a directory, for as long as the `with` block runs."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def table(bench):
    """A file of CSV, fetched and stored with the same index by a manifest and by a script."""
    progress(f"declared: {bench.count} rows of CSV")
    folder = bench.place.fresh("files")
    folder.mkdir()
    with open(bench.place / "products", encoding="utf-8") as lines, \
            open(folder / "products.csv", "w", encoding="utf-8", newline="") as file:
        rows = (json.loads(line.rstrip(",\n")) for line in itertools.islice(lines, bench.count))
        first = next(rows)
        writer = csv.DictWriter(file, first.keys())
        writer.writeheader()
        for row in itertools.chain([first], rows):
            writer.writerow(row | {"images": " ".join(row["images"])})
    expected = bench.truth("products", bench.count // 100, 100)
    with files(folder) as url:
        manifests = bench.place.fresh("manifests")
        manifests.mkdir()
        (manifests / "table.json").write_text(json.dumps({
            "url": f"{url}/products.csv", "format": "csv", "rows": "$", "id": "id",
            "fields": [{"name": name, "path": name, "search": name in ("title", "merchant")}
                       for name in first],
            "paging": "single", "rate": "off"}))

        def sync():
            bench.place.fresh("home")
            run = bench.run_aggregator(
                "table", "sync", "--jobs", JOBS, AGGREGATOR_MANIFESTS=manifests)
            stored = [f"json->>'$.row.{name}'" for name in PRODUCTS]
            expected.without_index.expect(bench.store, stored)
            return run

        def script():
            path = bench.place.fresh("peer.sqlite")
            run = bench.place.run(
                *bench.script("plain")[:1], PEERS / "table.py", f"{url}/products.csv", path)
            expected.expect_indexed(path)
            return run

        medians = bench.alternate({
            "csv, sqlite3": script, "a manifest": sync,
            "floor: rows in memory": bench.floor("products", bench.count // 100, 100)})
    bench.report.table(f"Fetch and store {bench.count} rows of CSV", medians, of="csv, sqlite3")
    if not bench.is_small:
        bench.report.goal(
            "CSV, the script against a manifest", 3,
            medians["csv, sqlite3"].wall / medians["a manifest"].wall, at_least=True)
        bench.report.goal("CSV, against the floor", 1.6,
                          medians["a manifest"].wall / medians["floor: rows in memory"].wall)
