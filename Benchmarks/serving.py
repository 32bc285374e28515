"""HTTP servers for as long as a benchmark lasts, and the load on them."""

import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import threading
import time
import urllib.request

from harness import HERE, Failure


class HTTPService:
    """A server program, for as long as the `with` block runs; it prints its address."""

    def __init__(self, place, *command, **settings):
        self.command = [str(word) for word in command]
        self.place, self.environment = place, place.environment | settings

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, cwd=self.place.path, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if found := re.search(r"http://[0-9.]+:\d+", line):
                self.url = found.group(0)
                break
        else:
            self.process.wait()
            raise Failure(f"{self.command} did not start:\n{''.join(said)}")
        # A full pipe would stop it.
        self.reader = threading.Thread(target=self.process.stdout.read)
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()

    def get(self, path):
        """The JSON at a path."""
        try:
            with urllib.request.urlopen(self.url + path) as reply:
                return json.load(reply)
        except OSError as error:
            raise Failure(f"{self.url}{path}: {error}") from error

    @property
    def megabytes(self):
        """Its resident memory; None where there is no /proc."""
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as lines:
                return int(re.search(r"VmRSS:\s+(\d+)", lines.read()).group(1)) / 1024
        except OSError:
            return None

    @property
    def processor(self):
        """Its processor time in seconds so far; NaN where there is no /proc."""
        try:
            with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as line:
                user, system = line.read().rpartition(")")[2].split()[11:13]
        except OSError:
            return math.nan
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def descriptors(self, at_most=0, within=5):
        """How many descriptors it has open, as soon as they are few enough or the time is over."""
        end = time.monotonic() + within
        while True:
            count = len(os.listdir(f"/proc/{self.process.pid}/fd"))
            if count <= at_most or time.monotonic() > end:
                return count
            time.sleep(0.1)


class Load:
    """What came of requests for paths in turn, through so many connections."""

    def __init__(self, place, service, paths, connections, seconds):
        # The connections of the load before are closed first.
        time.sleep(0.2)
        before = service.processor
        (place / "paths").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
        with subprocess.Popen(
            [shutil.which("wrk"), "--threads", "1", "--connections", str(connections),
             "--duration", "600", "--timeout", "30", "--script", HERE / "load.lua", service.url,
             "--", place / "paths"], cwd=place.path, stdout=subprocess.PIPE, text=True) as wrk:
            try:
                # It counts whole seconds, and stops at once if interrupted.
                time.sleep(seconds)
            finally:
                wrk.send_signal(signal.SIGINT)
            output, _ = wrk.communicate()
        counts = json.loads(output.splitlines()[-1])
        if counts["refused"] or counts["broken"] or not counts["requests"]:
            raise Failure(f"{service.command}, {connections} connections: {counts}")
        self.requests = counts["requests"]
        self.rate = counts["requests"] / counts["seconds"]
        self.p50, self.p99 = counts["p50"], counts["p99"]
        # Microseconds of the server's processor time for a request.
        self.cost = (service.processor - before) / counts["requests"] * 1e6


class MedianLoad:
    """The medians of several loads."""

    def __init__(self, loads):
        self.rate = statistics.median(load.rate for load in loads)
        self.p50 = statistics.median(load.p50 for load in loads)
        self.p99 = statistics.median(load.p99 for load in loads)
        self.cost = statistics.median(load.cost for load in loads)
