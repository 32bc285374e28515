"""Sources that are declared by a manifest: what they cost, beside compiled ones."""

import json

from harness import Failure, Server, progress

from .bench import JOBS

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

        def sync():
            bench.place.fresh("home")
            run = bench.run_aggregator(
                "people", "sync", "--jobs", JOBS, AGGREGATOR_MANIFESTS=folder)
            stored = [f"json->>'$.row.{path}'" for path in FIELDS.values()]
            expected.expect(bench.store, stored)
            return run

        medians = bench.alternate({"users": bench.sync(server, size, pages), "a manifest": sync})
    bench.report.table(f"Fetch and store {bench.count} people: compiled, declared", medians,
                       of="users")
    if not bench.is_small:
        ratio = medians["a manifest"].wall / medians["users"].wall
        bench.report.goal("declared source, against the compiled one", 1.6, ratio)
