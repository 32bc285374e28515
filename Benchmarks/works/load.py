"""Many clients of `aggregator serve` while syncs run and the services fail now and then."""

import asyncio
import contextlib
import http.client
import json
import random
import threading
import time
import urllib.parse
import urllib.request

from harness import Failure, Server, progress

from .bench import JOBS
from .serve import SIZE, TERMS, Ours, started

CLIENTS = 128
# A breaker keeps live requests from a service that has failed.
PAUSE = 30
ANNOUNCED = {"serverError", "circuitOpen", "timedOut", "connectionLost"}


def load(bench):
    """Checks every answer, and what the load leaves behind."""
    seconds, pause = (2, 0.5) if bench.is_small else (300, 60)
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(Server(bench.place, "people", "products"))
        bench.place.fresh("home")
        bench.run_aggregator(
            "users", "sync", "--max-pages", bench.count // 200, "--jobs", JOBS,
            RANDOM_USER_PAGE_SIZE=100, **upstream.settings)
        service = stack.enter_context(
            started(bench, upstream, "--source", "users,products"))
        run = Run(service, upstream, questions(service))
        progress(f"load: {CLIENTS} clients for {seconds} s")
        run.ask(seconds / 10)
        run.sync_each()
        megabytes, descriptors = service.megabytes, service.megabytes and service.descriptors()
        syncing = threading.Thread(target=run.sync, daemon=True)
        failing = threading.Thread(target=run.fail, args=(pause,), daemon=True)
        syncing.start()
        failing.start()
        run.ask(seconds)
        run.is_over.set()
        failing.join()
        syncing.join(60)
        after = service.megabytes, service.megabytes and service.descriptors(descriptors)
    if run.wrong:
        raise Failure(f"{len(run.wrong)} wrong answers, such as {run.wrong[:3]}")
    if not run.synced:
        raise Failure("nothing was synced meanwhile")
    bench.report.note(
        f"{CLIENTS} clients of `serve` for {seconds} s: {run.answered} right answers,"
        f" {run.announced} announced failures in {len(run.outages)} outages;"
        f" {run.synced} pages synced meanwhile; longest {run.longest:.2f} s.")
    if megabytes is None:
        return
    bench.report.note(
        f"`serve` after a tenth of that load, and at its end: resident {megabytes:.1f} and"
        f" {after[0]:.1f} MB, descriptors {descriptors} and {after[1]}.")
    # Some connections to the service are kept.
    if after[1] > descriptors + JOBS:
        raise Failure(f"{after[1]} descriptors are open instead of {descriptors}")
    if not bench.is_small:
        bench.report.goal("serve for five minutes: resident memory, against after half a minute",
                          1.1, after[0] / megabytes)


class Question:
    """A path, and the rows at it; those that reach the service may fail with it."""

    def __init__(self, path, rows, reaches_service=False):
        self.path, self.rows, self.reaches_service = path, rows, reaches_service


def questions(service):
    """What is asked for, by kind; the answers are those before the load."""
    ours = Ours(service)
    pages = [Question(*page) for page in ours.pages(25)]
    rows = [Question(f"/api/v1/users/{row['email']}", [row])
            for page in pages for row in page.rows]
    searches = [Question(*ours.search(term)) for term in TERMS if term != "xyzzy"]
    products, cursor = [], ""
    for _ in range(5):
        path = f"/api/v1/products?limit={SIZE}{cursor}"
        answer = service.get(path)
        # A page is as old as the first one, which live requests renew.
        products.append(Question(path, answer["items"], True))
        cursor = f"&cursor={urllib.parse.quote(answer['page']['next'])}"
    live = [Question(f"/api/v1/products?limit={SIZE}&cache=live", products[0].rows, True)]
    return [rows, rows, pages, searches, products, live]


class Run:
    def __init__(self, service, upstream, kinds):
        self.service, self.upstream, self.kinds = service, upstream, kinds
        self.host = service.url.removeprefix("http://")
        self.address = self.host.split(":")
        self.answered = self.announced = self.synced = self.longest = 0
        self.outages, self.wrong = [], []
        self.is_over = threading.Event()

    # Asking

    def ask(self, seconds):
        asyncio.run(self.clients(time.monotonic() + seconds))

    async def clients(self, end):
        await asyncio.gather(*(self.client(end, number) for number in range(CLIENTS)))

    async def client(self, end, number):
        chance = random.Random(number)
        reader, writer = await asyncio.open_connection(*self.address)
        try:
            while time.monotonic() < end:
                question = chance.choice(chance.choice(self.kinds))
                start = time.monotonic()
                writer.write(
                    f"GET {question.path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length: ")[2].split()[0])
                body = json.loads(await reader.readexactly(length))
                self.check(question, int(head.split()[1]), body, start)
        except (OSError, EOFError, ValueError, IndexError) as error:
            self.wrong.append((question.path, repr(error)))
        finally:
            writer.close()

    def check(self, question, status, body, start):
        now = time.monotonic()
        self.longest = max(self.longest, now - start)
        if status == 200 and self.is_right(question, body):
            self.answered += 1
        elif (question.reaches_service and status > 500 and body["code"] in ANNOUNCED
              and any(begin <= now and start <= end + PAUSE + 1 for begin, end in self.outages)):
            self.announced += 1
        else:
            self.wrong.append((question.path, status, str(body)[:500]))

    def is_right(self, question, body):
        if "query=" not in question.path:
            return body["items"] == question.rows
        # People who are found may become more.
        return len(body["items"]) >= len(question.rows) and all(
            row["email"].split(".")[0] == row["username"].replace("somebody", "user")
            for row in body["items"])

    # What goes on meanwhile

    def sync(self):
        """Syncs a few pages of one source and then of the other, until the end."""
        while not self.is_over.wait(0.05):
            self.sync_each()

    def sync_each(self):
        for source in ("users", "products"):
            connection = http.client.HTTPConnection(*self.address)
            connection.request("POST", f"/api/v1/sync/{source}?pages=20")
            for line in connection.getresponse():
                self.synced += line.startswith(b"event: progress")
            connection.close()

    def fail(self, pause):
        """Lets the service fail for a twelfth of the time."""
        while not self.is_over.wait(pause * 11 / 12):
            self.outages.append((time.monotonic(), float("inf")))
            self.switch(1)
            self.is_over.wait(pause / 12)
            self.switch(0)
            self.outages[-1] = self.outages[-1][0], time.monotonic()

    def switch(self, is_out):
        urllib.request.urlopen(f"{self.upstream.url}/outage/{is_out}").close()
