"""A PostgreSQL for the benchmarks, with its usual settings but for its memory."""

import csv
import glob
import io
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from harness import Failure, Rows

csv.field_size_limit(1 << 30)


def programs():
    """The folder of the newest installed programs; None without any."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True,
                     key=lambda path: int("0" + "".join(filter(str.isdigit, path))))
    found = shutil.which("initdb")
    for folder in folders + ([os.path.dirname(os.path.realpath(found))] if found else []):
        if all(os.access(f"{folder}/{name}", os.X_OK) for name in ("initdb", "postgres", "psql")):
            return folder
    return None


class Postgres:
    """A server with its data in a directory of its own, for as long as the `with` block runs.

    It listens on 127.0.0.1 and on other addresses of this machine, if there are any.
    """

    def __init__(self, addresses=()):
        self.addresses = ["127.0.0.1", *addresses]

    def __enter__(self):
        self.programs, self.prefix = programs(), []
        # Not in the place of the benchmarks, which others may not enter.
        self.directory = tempfile.mkdtemp(prefix="aggregator-postgres-", dir="/tmp")
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.directory, user.pw_uid, user.pw_gid)
            # Unlike runuser, it does not stay between the server and its signals.
            self.prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}",
                           "--clear-groups", "--pdeathsig=INT"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        data = f"{self.directory}/data"
        self.call("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
                  "--lc-ctype=C.UTF-8", "-D", data)
        with open(f"{data}/pg_hba.conf", "a", encoding="utf-8") as rules:
            rules.writelines(f"host all all {address}/24 trust\n" for address in self.addresses[1:])
        settings = {
            "listen_addresses": ",".join(self.addresses), "port": self.port,
            "unix_socket_directories": self.directory,
            "shared_buffers": "256MB", "max_wal_size": "4GB"}
        with open(f"{self.directory}/log", "wb") as log:
            self.process = subprocess.Popen(
                [*self.prefix, f"{self.programs}/postgres", "-D", data,
                 *(word for name, value in settings.items() for word in ("-c", f"{name}={value}"))],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        while self.process.poll() is None:
            try:
                self.sql("SELECT 1")
                return self
            except Failure:
                time.sleep(0.05)
        with open(f"{self.directory}/log", encoding="utf-8", errors="replace") as log:
            raise Failure(f"PostgreSQL did not start:\n{log.read()[-2000:]}")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def call(self, name, *arguments):
        done = subprocess.run(
            [*self.prefix, f"{self.programs}/{name}", *arguments], cwd="/", capture_output=True,
            text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"{name}: {done.stderr[-2000:]}")
        return done.stdout

    def url(self, database, address="127.0.0.1"):
        return f"postgresql://postgres@{address}:{self.port}/{database}"

    def sql(self, *statements, database="postgres"):
        """Runs statements; the rows of them all."""
        output = self.call(
            "psql", "-X", "-q", "-t", "--csv", "-v", "ON_ERROR_STOP=1", "-d", self.url(database),
            *(word for statement in statements for word in ("-c", statement)))
        return list(csv.reader(io.StringIO(output, newline="")))

    def fresh(self, database):
        """The URL of a new, empty database."""
        self.sql(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)", f"CREATE DATABASE {database}",
                 "CHECKPOINT")
        return self.url(database)

    def rows(self, database, columns, table):
        """The rows of a table in the order of their key, the first column."""
        return Rows(self.sql(
            f"SELECT {', '.join(columns)} FROM {table} ORDER BY ({columns[0]}) COLLATE \"C\"",
            database=database))
