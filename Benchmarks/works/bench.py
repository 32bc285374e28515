"""What all works share: place, programs, sizes and the report."""

import sys

from harness import DLT_PEOPLE, HERE, PEOPLE, PRODUCTS, ROOT, Median, Truth, progress

PEERS = HERE / "peers"
JOBS = 8
# The records of a transaction of a sync that does not wait for the service.
FLOOR_BATCH = 2000

# The scripts know what is to be kept of a row.
sys.path.insert(0, str(PEERS))
from records import person, product  # noqa: E402


class Bench:
    """What all works share: place, programs, sizes and the report."""

    def __init__(self, place, report, options, installed):
        self.place, self.report, self.installed = place, report, installed
        self.is_small, self.is_huge = options.small, options.huge
        # One run suffices to compare with medians of before, not to be one of them.
        self.repeat = options.repeat or (1 if options.small and not options.record else 5)
        # Where more would take minutes.
        self.fewer = options.repeat or min(self.repeat, 3)
        self.count = 2_000 if options.small else 100_000
        self.aggregator = ROOT / ".build/program/aggregator"
        # The program of another commit, and its name in tables.
        self.other = None
        self.truths = {}

    # What is run

    def alternate(self, programs, repeat=None):
        """Runs each program in turn, again and again; returns the medians by name.

        Each program is a function that runs, checks and returns what was measured.
        """
        if self.other and "aggregator" in programs:
            program, shown = self.other
            programs = programs | {shown: self.by(program, programs["aggregator"])}
        runs = {name: [] for name in programs}
        for turn in range(repeat or self.repeat):
            for name, program in programs.items():
                if turn < getattr(program, "most_runs", 1 << 30):
                    run = program()
                    runs[name].append(run)
                    progress(f"  {name}: {run.wall:.3f} s, {run.megabytes:.0f} MB")
        return {name: Median(measured) for name, measured in runs.items()}

    def by(self, program, work):
        """The same work by another program than that of this commit."""
        def run():
            own, self.aggregator = self.aggregator, program
            try:
                return work()
            finally:
                self.aggregator = own
        return run

    def run_aggregator(self, *arguments, **settings):
        return self.place.run(self.aggregator, *arguments, **settings)

    def script(self, name):
        """The command of a peer; None if what it needs is not installed."""
        python = sys.executable if name == "plain" else self.installed.get(name)
        return python and [python, PEERS / f"{name}.py"]

    @property
    def store(self):
        return self.place / "home/store.sqlite"

    # What is to come out

    def truth(self, kind, pages, size):
        """What is to be stored of so many rows of a file."""
        key = kind, pages * size
        if key not in self.truths:
            make, fields = (person, PEOPLE) if kind == "people" else (product, PRODUCTS)
            self.truths[key] = Truth(self.place / kind, make, fields, pages * size)
        return self.truths[key]

    # The programs that fetch people into an empty store

    def sync(self, server, size, pages, jobs=JOBS, **settings):
        def run():
            self.place.fresh("home")
            run = self.run_aggregator(
                "users", "sync", "--max-pages", pages, "--jobs", jobs,
                RANDOM_USER_PAGE_SIZE=size, **server.settings, **settings)
            self.truth("people", pages, size).expect_indexed(self.store)
            return run
        return run

    def floor(self, kind, pages, size):
        """Inserts the rows, which are in memory, and does nothing else."""
        truth = self.truth(kind, pages, size)

        def run():
            path = self.place.fresh("floor.sqlite")
            run = self.place.run(self.place / "floor", "insert", truth.parsed, path, FLOOR_BATCH)
            truth.expect_indexed(path)
            return run
        return run

    def load(self, server, size, pages):
        """Fetches by `load`, which fetches people that are not stored yet, however many pages they are on."""
        def run():
            self.place.fresh("home")
            run = self.run_aggregator(
                "users", "load", size * pages, RANDOM_USER_PAGE_SIZE=size, **server.settings)
            self.truth("people", pages, size).expect_indexed(self.store)
            return run
        return run

    def peer(self, name, server, size, pages, is_indexed=True):
        def run():
            path = self.place.fresh("peer.sqlite")
            options = [] if is_indexed else ["--no-index"]
            run = self.place.run(
                *self.script(name), "people", server.url, size, pages, path, *options)
            truth = self.truth("people", pages, size)
            (truth.expect_indexed if is_indexed else truth.expect)(path)
            return run
        return run

    def pipe(self, server, size, pages):
        def run():
            path = self.place.fresh("peer.sqlite")
            run = self.place.run(
                PEERS / "pipe", self.installed["sqlite-utils"], server.url, size, pages, path)
            self.truth("people", pages, size).expect(path)
            return run
        return run

    def dlt(self, server, size, pages):
        def run():
            path = self.place.fresh("peer.sqlite")
            run = self.place.run(
                *self.script("with_dlt"), "append", "people", server.url, size, pages, path)
            self.truth("people", pages, size).expect(path, DLT_PEOPLE, "people")
            return run
        run.most_runs = 1
        return run
