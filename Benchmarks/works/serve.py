"""`aggregator serve` beside datasette, which serves the same rows from SQLite."""

import contextlib
import itertools
import shutil
import socket
import sqlite3

from harness import Failure, Server, progress
from serving import HTTPService, Load, MedianLoad

from .bench import JOBS

CONNECTIONS = (1, 16, 128)
SIZE = 20
# How many times as many requests as datasette.
GOALS = {f"a page of {SIZE}": 10, f"a search, {SIZE} rows": 10, "one row": 5}
TERMS = ("aino", "brad", "user77", "r1234", "castro", "xyzzy", "pia berg")
# In the address of everybody; each search takes so long that many at once would get no answer in time.
COMMON = "example"
COMMON_TITLE = "a search that all rows match"
FLOOR = "floor: the bytes of a page"


def serve(bench):
    """Pages, searches and single rows, under load; then memory and descriptors."""
    if not shutil.which("wrk"):
        bench.report.note("Skipped, because it is not installed: wrk, and with it `serve`.")
        return
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(Server(bench.place, "people", "products"))
        bench.place.fresh("home")
        bench.run_aggregator(
            "users", "sync", "--max-pages", bench.count // 100, "--jobs", JOBS,
            RANDOM_USER_PAGE_SIZE=100, **upstream.settings)
        ours = Ours(stack.enter_context(started(bench, upstream, "--source", "users")))
        services = {"aggregator": ours}
        if command := bench.installed.get("datasette"):
            services["datasette"] = Datasette(stack.enter_context(HTTPService(
                bench.place, command, "serve", "--immutable", copy(bench), "--port", 0, "--setting",
                "suggest_facets", "off")))
        (bench.place / "reply").write_bytes(reply(ours.service, next(ours.pages(1))[0]))
        floor = stack.enter_context(
            HTTPService(bench.place, bench.place / "floor", "serve", bench.place / "reply"))
        compare(bench, services, floor)
        lasting(bench, ours)


def started(bench, upstream, *options):
    return HTTPService(
        bench.place, bench.aggregator, "serve", "--no-token", "--port", 0, *options,
        **upstream.settings)


def reply(service, path):
    """The bytes of an answer as they are sent to a client that keeps its connection."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    return answer.replace(b"Connection: close\r\n", b"", 1)


def copy(bench):
    """The rows as our API sends them in a database of their own, indexed as ours are."""
    path = bench.place.fresh("rows.db")
    database = sqlite3.connect(path)
    database.execute("ATTACH ? AS store", (str(bench.store),))
    database.executescript("""
        CREATE TABLE people AS SELECT r.position, r.folded, u.*
          FROM store.users u JOIN store.records r ON r.id = u.email;
        """)
    columns = [row[1] for row in database.execute("PRAGMA table_info(people)")]
    rest = ", ".join(f'"{column}"' for column in columns if column != "position")
    database.executescript(f"""
        ALTER TABLE people RENAME TO without_key;
        CREATE TABLE people (position INTEGER PRIMARY KEY, {rest});
        INSERT INTO people SELECT position, {rest} FROM without_key ORDER BY position;
        DROP TABLE without_key;
        CREATE VIRTUAL TABLE people_fts USING fts5 (
          folded, content="people", content_rowid='position', tokenize='trigram case_sensitive 1');
        INSERT INTO people_fts (people_fts) VALUES ('rebuild');
        """)
    database.commit()
    database.execute("DETACH store")
    database.execute("VACUUM")
    database.close()
    return path


class Ours:
    def __init__(self, service):
        self.service = service

    def pages(self, count):
        """Paths of consecutive pages, and their rows."""
        path, cursor = f"/api/v1/users?limit={SIZE}", ""
        for _ in range(count):
            answer = self.service.get(path + cursor)
            yield path + cursor, answer["items"]
            cursor = f"&cursor={answer['page']['next']}"

    def search(self, term):
        path = f"/api/v1/users?limit={SIZE}&query={term.replace(' ', '+')}"
        return path, self.service.get(path)["items"]

    def row(self, row):
        path = f"/api/v1/users/{row['email']}"
        return path, self.service.get(path)["items"]


class Datasette:
    # Without the text that is only there to be searched.
    table = f"/rows/people.json?_size={SIZE}&_nocol=folded"

    def __init__(self, service):
        self.service = service
        self.keys = {}

    def rows(self, answer):
        rows = [dict(zip(answer["columns"], row)) for row in answer["rows"]]
        for row in rows:
            self.keys[row["email"]] = row.pop("position")
            row.pop("folded", None)
        return rows

    def pages(self, count):
        cursor = ""
        for _ in range(count):
            answer = self.service.get(self.table + cursor)
            yield self.table + cursor, self.rows(answer)
            cursor = f"&_next={answer['next']}"

    def search(self, term):
        # Ours counts up to 10 000 matches, and none of a term that more have.
        count = "&_nocount=1" if term == COMMON else ""
        path = f"{self.table}{count}&_search={term.replace(' ', '+')}"
        return path, self.rows(self.service.get(path))

    def row(self, row):
        path = f"/rows/people/{self.keys[row['email']]}.json"
        return path, self.rows(self.service.get(path))


def same(services, found):
    """The paths by name, if there are the same rows at each; `found` gives those of one."""
    found = {name: list(found(service)) for name, service in services.items()}
    expected = [rows for _, rows in found["aggregator"]]
    for name, answers in found.items():
        if [rows for _, rows in answers] != expected:
            raise Failure(f"{name} answers other rows: {answers[0]} instead of {expected[0]}")
    return {name: [path for path, _ in answers] for name, answers in found.items()}


def compare(bench, services, floor):
    """Requests a second of each, by what is asked for and through how many connections."""
    servers = {name: service.service for name, service in services.items()} | {FLOOR: floor}
    people = list(itertools.chain(*(rows for _, rows in services["aggregator"].pages(20))))
    works = {
        f"a page of {SIZE}": same(services, lambda service: service.pages(50)),
        f"a search, {SIZE} rows": same(
            services, lambda service: map(service.search, TERMS)),
        COMMON_TITLE: same(services, lambda service: [service.search(COMMON)]),
        "one row": same(services, lambda service: map(service.row, people)),
        # Nothing is read for it: what libmicrohttpd and the tasks around it take.
        "/healthz": {"aggregator": ["/healthz"]},
    }
    page = works[f"a page of {SIZE}"]
    page[FLOOR] = page["aggregator"]
    for title, paths in works.items():
        rows, medians = [], {}
        for connections in CONNECTIONS if title != COMMON_TITLE else (1,):
            progress(f"serve: {title}, {connections} connections")
            loads = {name: [] for name in paths}
            for _ in range(bench.repeat):
                for name in paths:
                    load = Load(bench.place, servers[name], paths[name], connections,
                                0.3 if bench.is_small else 3)
                    progress(f"  {name}: {load.rate:.0f} a second, {load.p99:.1f} ms")
                    loads[name].append(load)
            for name in paths:
                median = medians[name, connections] = MedianLoad(loads[name])
                rows.append((
                    f"{name}, {connections}", f"{median.rate:.0f}",
                    f"{medians['aggregator', connections].rate / median.rate:.2f}",
                    f"{median.p50:.2f}", f"{median.p99:.2f}", f"{median.cost:.0f}"))
        bench.report.values(
            f"Serve {bench.count} people: {title}",
            ("program, connections", "requests a second", "aggregator's ×", "median ms", "p99 ms",
             "µs of processor time for each"),
            rows)
        if not bench.is_small and title in GOALS:
            goals(bench, title, medians)


def goals(bench, title, medians):
    if ("datasette", 1) in medians:
        worst = min(medians["aggregator", n].rate / medians["datasette", n].rate
                    for n in CONNECTIONS)
        bench.report.goal(
            f"serve {title}: requests a second, against datasette (worst of three)",
            GOALS[title], worst, at_least=True)
    bench.report.goal(f"serve {title}: p99 through 16 connections", 10,
                      medians["aggregator", 16].p99, " ms")
    if (FLOOR, 16) in medians:
        bench.report.goal(
            f"serve {title}: processor time through 16 connections, against the floor", 1.5,
            medians["aggregator", 16].cost / medians[FLOOR, 16].cost)


def lasting(bench, ours):
    """What many requests leave behind."""
    if ours.service.megabytes is None:
        bench.report.note("Skipped without /proc: memory and descriptors of `serve`.")
        return
    many = 10_000 if bench.is_small else 1_000_000
    pages = list(ours.pages(20))
    paths = [path for path, _ in pages] + [ours.search(term)[0] for term in TERMS]
    for _, rows in pages:
        paths += [f"/api/v1/users/{row['email']}" for row in rows]

    def ask(count):
        while count > 0:
            seconds = 0.3 if bench.is_small else 10
            count -= Load(bench.place, ours.service, paths, 16, seconds).requests

    progress(f"serve: {many} requests")
    ask(many // 10)
    megabytes, descriptors = ours.service.megabytes, ours.service.descriptors()
    ask(many)
    after = ours.service.descriptors(at_most=descriptors)
    bench.report.values(
        f"Serve {many} requests for pages, searches and single rows",
        ("", "resident MB", "descriptors"),
        [(f"after {many // 10}", f"{megabytes:.1f}", str(descriptors)),
         (f"after {many} more", f"{ours.service.megabytes:.1f}", str(after))])
    if after > descriptors:
        raise Failure(f"{after} descriptors are open instead of {descriptors}")
    if not bench.is_small:
        bench.report.goal("serve 10^6 requests: resident memory, against after 10^5", 1.1,
                          ours.service.megabytes / megabytes)
