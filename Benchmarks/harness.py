"""Runs programs, and measures and checks what they do."""

import contextlib
import hashlib
import itertools
import json
import os
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


class Failure(Exception):
    """A run that did not do its work, or another one than it was given."""


class Measured:
    """What one run took; at least that, if it was stopped."""

    def __init__(self, report, output, is_stopped=False):
        wall, user, system, kilobytes = report.split()
        self.is_stopped = is_stopped
        self.wall, self.processor = float(wall), float(user) + float(system)
        self.megabytes = int(kilobytes) / 1024
        self.output = output


class Median:
    """The medians of several runs."""

    def __init__(self, runs):
        self.count = len(runs)
        self.is_stopped = any(run.is_stopped for run in runs)
        self.wall = statistics.median(run.wall for run in runs)
        self.processor = statistics.median(run.processor for run in runs)
        self.megabytes = statistics.median(run.megabytes for run in runs)


class Place:
    """A directory of its own, where everything is made; nothing outside it is written."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="aggregator-benchmark-"))
        compiler = shutil.which("cc") or shutil.which("clang")
        if not compiler:
            raise Failure("no C compiler: cc or clang is needed for the server")
        for name, libraries in (("server", []), ("measure", []), ("floor", ["-lsqlite3"])):
            subprocess.run(
                [compiler, "-O2", "-Wall", "-D_GNU_SOURCE", "-o", self / name, HERE / f"{name}.c",
                 *libraries], check=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "LC_ALL": "C.UTF-8",
            "AGGREGATOR_HOME": str(self / "home"),
            "RANDOM_USER_RATE": "off",
            "RANDOM_USER_SEED": "bench",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RUNTIME__DLTHUB_TELEMETRY": "false",
            "RUNTIME__LOG_LEVEL": "ERROR",
            "PYTHONWARNINGS": "ignore",
        }
        # Those of the last run that named any: what is stored of one URL is not shown for another.
        self.urls = {}

    def __truediv__(self, name):
        return self.path / name

    def remove(self):
        shutil.rmtree(self.path)

    def fresh(self, name):
        """The path of a file or directory that is not there."""
        for path in self.path.glob(f"{name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return self / name

    def run(self, *command, longest=None, name="run", accepted=(0,), **settings):
        """Runs a program in this place; stops it after so many seconds.

        Runs at the same time have different names. Raises Failure if it ends with a status that is not accepted.
        """
        settings = {name: str(value) for name, value in settings.items()}
        self.urls |= {name: url for name, url in settings.items() if name.endswith("_URL")}
        environment = self.environment | self.urls | settings
        with open(self / f"{name}.words", "wb") as words:
            with subprocess.Popen(
                [self / "measure", self / f"{name}.report", *map(str, command)], cwd=self.path,
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=words,
                start_new_session=True) as process:
                try:
                    output, _ = process.communicate(timeout=longest)
                except subprocess.TimeoutExpired:
                    return Measured(f"{longest} 0 0 0", "", is_stopped=True)
                finally:
                    # Whatever ends this, nothing that it started goes on.
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        if process.returncode not in accepted:
            said = (self / f"{name}.words").read_text(errors="replace")[-2000:]
            raise Failure(f"{command[0]} {command[1:]} ended with {process.returncode}:\n{said}")
        return Measured((self / f"{name}.report").read_text(), output.decode())


class Server:
    """The loopback service, for as long as the `with` block runs."""

    def __init__(self, place, people, products, latency=0, address="127.0.0.1", port=0):
        self.address = address
        self.command = [
            place / "server", place / people, place / products, str(latency), address, str(port)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        port = self.process.stdout.readline().strip()
        if not port:
            raise Failure("the server did not start")
        self.port = int(port)
        self.url = f"http://{self.address}:{port}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    @property
    def settings(self):
        """What leads aggregator here."""
        return {"RANDOM_USER_URL": f"{self.url}/api/", "PRODUCTS_URL": self.url}

    def stats(self):
        """Its processor time so far, and the arrivals since it was asked last."""
        with urllib.request.urlopen(f"{self.url}/stats") as reply:
            return json.load(reply)


# The key and the fields that every program keeps, and where they are in what it keeps.
PEOPLE = ("email", "firstName", "lastName", "city", "phone", "uuid", "picture")
PRODUCTS = ("id", "title", "merchant", "url")
DLT_PEOPLE = ("email", "name->>'first'", "name->>'last'", "location->>'city'", "phone",
              "login->>'uuid'", "picture->>'large'")


class Rows:
    """How many rows there are, how many keys, and a checksum of their fields.

    Rows are tuples in the order of their keys, which come first.
    """

    def __init__(self, rows):
        digest, keys, self.count = hashlib.sha256(), set(), 0
        for row in rows:
            self.count += 1
            keys.add(row[0])
            digest.update("\0".join(map(str, row)).encode() + b"\n")
        self.keys, self.digest = len(keys), digest.hexdigest()

    @classmethod
    def stored(cls, path, columns, table="records"):
        """The rows in a file."""
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            rows = database.execute(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY {columns[0]}")
            return cls(rows)
        except sqlite3.Error as error:
            raise Failure(f"{path} cannot be read: {error}") from error
        finally:
            database.close()

    def expect(self, path, columns, table="records"):
        """Raises Failure if there are other rows in a file than these."""
        self.compare(Rows.stored(path, columns, table), path)

    def compare(self, found, path):
        """Raises Failure if the rows that were found in a place are other ones than these."""
        if (found.count, found.keys, found.digest) != (self.count, self.keys, self.digest):
            raise Failure(
                f"{path} has other rows: {found.count} ({found.keys} keys, {found.digest[:8]})"
                f" instead of {self.count} ({self.keys} keys, {self.digest[:8]})")


class Truth:
    """What is to be stored of a file of rows, found out without storing it."""

    def __init__(self, path, make, fields, count):
        rows = []
        # What floor.c stores: the lengths of three texts, and the texts.
        self.parsed = Path(f"{path}.parsed-{count}")
        with open(path, encoding="utf-8") as lines, open(self.parsed, "wb") as parsed:
            for line in itertools.islice(lines, count):
                key, folded, encoded = make(json.loads(line.rstrip(",\n")))
                kept = json.loads(encoded)
                rows.append((*(kept[field] for field in fields), folded))
                texts = [text.encode() for text in (key, folded, encoded)]
                parsed.write(struct.pack("=III", *map(len, texts)) + b"".join(texts))
        rows.sort()
        self.fields = [f"json->>'{field}'" for field in fields]
        self.with_index = Rows(rows)
        self.without_index = Rows(row[:-1] for row in rows)

    def expect_indexed(self, path):
        """Raises Failure if `records` has other rows or folded text, or the index other rows."""
        self.with_index.expect(path, [*self.fields, "folded"])
        # The index has a row here for each that it knows.
        indexed = Rows.stored(path, ["id"], "search_docsize").count
        if indexed != self.with_index.count:
            raise Failure(f"{path}: {indexed} rows are in the index")

    def expect(self, path, columns=None, table="records"):
        """Raises Failure if a table has other rows."""
        self.without_index.expect(path, columns or self.fields, table)


def select(path, sql):
    """The first column of what a query gives."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return [row[0] for row in database.execute(sql)]
    finally:
        database.close()


def progress(words):
    print(words, file=sys.stderr, flush=True)
