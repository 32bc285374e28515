"""The messages of a Singer tap, stored by aggregator and by what others wrote for it."""

import itertools
import json
import shlex
import sys
from pathlib import Path

from harness import PEOPLE, Failure, Rows, progress
from postgres import Postgres, programs

from .bench import PEERS, person

# Records from one state to the next.
BATCH = 10_000


class Tap:
    """A tap of the first people of a file; of each several, if they are repeated with other addresses."""

    def __init__(self, bench, people, count, repeated=1):
        self.bench, self.count = bench, count * repeated
        count = self.count
        messages, self.config = bench.place / f"messages-{count}", bench.place / f"tap-{count}.json"
        with open(bench.place / people, encoding="utf-8") as lines, \
                open(messages, "w", encoding="utf-8") as file:
            people = (person(json.loads(line.rstrip(",\n")))[2]
                      for line in itertools.islice(lines, count // repeated))
            several = (
                record.replace('"email":"', f'"email":"{"x" * number}')
                for record in people for number in range(repeated))
            for number, record in enumerate(several, 1):
                # target-duckdb takes a first row of texts for the names of the columns.
                record = f'{record[:-1]},"number":{number}}}'
                if number == 1:
                    self.names = json.loads(record).keys()
                    kinds = {name: "integer" if name == "number" else "string"
                             for name in self.names}
                    self.say(file, type="SCHEMA", stream="people", key_properties=["email"], schema={
                        "type": "object", "properties": {
                            name: {"type": ["null", kind]} for name, kind in kinds.items()}})
                file.write(f'{{"type":"RECORD","stream":"people","record":{record}}}\n')
                if number % BATCH == 0 or number == count:
                    self.say(file, type="STATE", value={"number": number})
        self.config.write_text(json.dumps({"messages": str(messages)}))
        self.program = bench.place / "tap"
        self.program.write_text(
            f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(PEERS / 'tap.py'))} \"$@\"\n")
        self.program.chmod(0o700)

    @staticmethod
    def say(file, **message):
        file.write(json.dumps(message) + "\n")

    def into(self, command):
        """Runs the tap, and a command of the shell that reads it."""
        return self.bench.place.run("/bin/sh", "-c", f"{self.program} --config {self.config} {command}")

    def alone(self):
        return self.into(">/dev/null")

    def add(self, **settings):
        """Adds it as the source people in an empty home, with the same three fields to be searched as in users."""
        self.bench.place.fresh("home")
        run = self.bench.run_aggregator(
            "sources", "add", "people", "--tap", self.program, "--tap-config", self.config, **settings)
        manifest = Path(next(
            line.split()[1] for line in run.output.splitlines() if line.startswith("saved")))
        declared = json.loads(manifest.read_text())
        declared["fields"] = [
            {"name": name, "path": name, "search": name in ("email", "firstName", "lastName")}
            for name in self.names]
        manifest.write_text(json.dumps(declared))

    def sync(self, expected, **settings):
        """Syncs it; what was added, changed and unchanged is as expected."""
        run = self.bench.run_aggregator("people", "sync", **settings)
        said = tuple(map(int, run.output.split("\t")[1:4]))
        if said != expected:
            raise Failure(f"people sync said {said} instead of {expected}")
        return run


def singer(bench):
    """People from a tap, the first time and again, into SQLite and PostgreSQL; and the memory of many."""
    progress("singer")
    tap = Tap(bench, "people", bench.count)
    truth = bench.truth("people", bench.count // 100, 100).without_index
    into_files(bench, tap, truth)
    if programs():
        with Postgres() as server:
            into_postgres(bench, tap, truth, server)
    else:
        bench.report.note("Skipped, because it is not installed: PostgreSQL.")
    if not bench.is_small:
        memory(bench, tap)


def memory(bench, few):
    """The peak of ten times as many people, against that of these."""
    many = Tap(bench, "people", few.count, repeated=10)

    def sync(tap):
        def run():
            tap.add()
            return tap.sync((tap.count, 0, 0))
        return run

    medians = bench.alternate({f"{tap.count} people": sync(tap) for tap in (few, many)}, repeat=1)
    title, base = "Memory for the people of a tap", f"{few.count} people"
    bench.report.table(title, medians, of=base)
    bench.report.goal(
        f"a tap of {many.count} people: peak memory, against {few.count}", 1.15,
        medians[f"{many.count} people"].megabytes / medians[base].megabytes)


def into_files(bench, tap, truth):
    def sync(is_first):
        if is_first:
            tap.add()
        run = tap.sync((tap.count, 0, 0) if is_first else (0, 0, tap.count))
        truth.expect(bench.store, [f"json->>'$.row.{field}'" for field in PEOPLE])
        return run

    def duckdb(is_first):
        file, config = bench.place / "people.duckdb", bench.place / "target.json"
        if is_first:
            bench.place.fresh("people.duckdb")
        config.write_text(json.dumps({"filepath": str(file), "default_target_schema": "main"}))
        run = tap.into(f"| {bench.installed['target-duckdb']} --config {config} >/dev/null")
        names = ", ".join(f'"{field.lower()}"' for field in PEOPLE)
        rows = bench.place.run(
            bench.installed["target-duckdb"].with_name("python"), "-c",
            "import duckdb, json, sys\n"
            "database = duckdb.connect(sys.argv[1])\n"
            "for row in database.sql(sys.argv[2]).fetchall(): print(json.dumps(row))",
            file, f"SELECT {names} FROM people ORDER BY 1").output
        truth.compare(Rows(map(json.loads, rows.splitlines())), "target-duckdb")
        return run

    compare(bench, tap, "SQLite, DuckDB", sync, "target-duckdb", duckdb)


def into_postgres(bench, tap, truth, server):
    def sync(is_first):
        settings = {"AGGREGATOR_STORE": server.url("ours")}
        if is_first:
            server.fresh("ours")
            tap.add(**settings)
        run = tap.sync((tap.count, 0, 0) if is_first else (0, 0, tap.count), **settings)
        fields = [f"json::json->'row'->>'{field}'" for field in PEOPLE]
        truth.compare(server.rows("ours", fields, "aggregator_store.records"), "ours")
        return run

    def target(is_first):
        config = bench.place / "target.json"
        if is_first:
            server.fresh("target")
        url = server.url("target").replace("postgresql://", "postgresql+psycopg://")
        config.write_text(json.dumps({"sqlalchemy_url": url, "default_target_schema": "public"}))
        run = tap.into(f"| {bench.installed['target-postgres']} --config {config} >/dev/null")
        fields = [f'"{field}"' for field in PEOPLE]
        truth.compare(server.rows("target", fields, "public.people"), "target")
        return run

    compare(bench, tap, "PostgreSQL", sync, "target-postgres", target)


def compare(bench, tap, where, ours, name, theirs):
    """Tables of the first time and of the next, and the goal: what each takes beyond the tap's own time."""
    both = {"aggregator": ours}
    if name in bench.installed:
        both[name] = theirs
    times = {"": True, ", again, unchanged": False}
    runs = {("the tap alone", words): tap.alone for words in times}
    for title, run in both.items():
        for words, is_first in times.items():
            runs[title, words] = lambda run=run, is_first=is_first: run(is_first)
    medians = bench.alternate(runs, bench.fewer)
    for words in times:
        shown = {title: median for (title, when), median in medians.items() if when == words}
        bench.report.table(f"{tap.count} people of a tap into {where}{words}", shown)
        if len(both) == 2 and not bench.is_small:
            alone = shown["the tap alone"].wall
            bench.report.goal(
                f"a tap into {where}{words}: beyond the tap's own time {name} takes", 3,
                (shown[name].wall - alone) / (shown["aggregator"].wall - alone), at_least=True)
