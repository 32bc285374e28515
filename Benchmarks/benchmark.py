"""Does the same work with aggregator and with what people would pick instead; see README.md."""

import argparse
import json
import os
import shlex
import sqlite3
import subprocess
import sys

import rows
from harness import HERE, ROOT, Failure, Place, progress
from report import Report, version
from works import WORKS, Bench, server_cost

# What aggregator costs beside other programs in the small benchmarks: processor time, as a ratio within one run.
RECORDED = HERE / "recorded.json"

ENVIRONMENTS = {
    "peers": ("requirements.txt", {
        "with_aiohttp": "python", "with_httpx": "python", "with_dlt": "python",
        "with_psycopg": "python", "sqlite-utils": "sqlite-utils",
        "datasette": "datasette"}),
    "singer": ("singer-requirements.txt", {
        name: name for name in ("target-duckdb", "target-postgres")}),
}


def install(report):
    """Installs the peers and builds the programs beside aggregator; what there is, by name."""
    installed = {}
    for name, (requirements, programs) in ENVIRONMENTS.items():
        directory = HERE / ".venv" / name
        file = HERE / "peers" / requirements
        try:
            if not (directory / "bin").exists():
                progress(f"installing {name}")
                subprocess.run([sys.executable, "-m", "venv", directory], check=True)
            subprocess.run(
                [directory / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r", file],
                check=True)
        except subprocess.CalledProcessError:
            report.note(f"Skipped, because they could not be installed: {', '.join(programs)}.")
            continue
        installed |= {program: directory / "bin" / of for program, of in programs.items()}
    return installed | build()


def build():
    """Builds the programs of this package as Scripts/build builds aggregator."""
    progress("building do-nothing, chain-cost and list-scroll")
    # Without a plan of before, which would not know of a file that has been added to aggregator since.
    command = ["swift", "build", "--package-path", HERE, "-c", "release",
               "--disable-build-manifest-caching"]
    if sys.platform == "linux":
        command += ["--static-swift-stdlib", "-Xlinker", f"-L{ROOT / '.build/static'}",
                    "-Xswiftc", "-use-ld=lld", "--disable-local-rpath",
                    "-Xlinker", "--no-export-dynamic"]
        if tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[-1].split("."))) >= (2, 36):
            command += ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
    programs = ("do-nothing", "chain-cost", "list-scroll")
    for program in programs:
        subprocess.run([*command, "--product", program], check=True, stdout=sys.stderr)
    return {program: HERE / ".build/release" / program for program in programs}


def build_commit(commit):
    """Builds the program of another commit, once; its path and its name in tables."""
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", f"{commit}^{{commit}}"],
                           capture_output=True, text=True)
    if found.returncode != 0:
        raise Failure(f"no such commit: {commit}")
    sha = found.stdout.strip()
    place = ROOT / ".build/compare" / sha[:12]
    if not place.exists():
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", ROOT, place], check=True)
        subprocess.run(["git", "-C", place, "checkout", "-q", sha], check=True)
    progress(f"building {sha[:12]}")
    subprocess.run([place / "Scripts/build"], check=True, stdout=sys.stderr)
    return place / ".build/program/aggregator", f"aggregator at {sha[:8]}"


def versions(installed):
    commit = version("git", "-C", str(ROOT), "describe", "--always", "--dirty")
    aggregator = version(str(ROOT / ".build/program/aggregator"), "--version")
    lines = [f"{aggregator}, commit {commit}",
             f"Python {sys.version.split()[0]} with SQLite {sqlite3.sqlite_version}, " + ", ".join(
                 f"{name} {version(*command)}".strip() for name, command in (
                     ("the sqlite3 shell", ("sqlite3", "--version")),
                     ("", ("curl", "--version")), ("", ("jq", "--version"))))]
    for name, (requirements, _) in ENVIRONMENTS.items():
        if installed:
            pinned = (HERE / "peers" / requirements).read_text().split()
            lines.append(f"{name}: {', '.join(pinned)}")
    return lines


def run(works, bench):
    """Does the works; what aggregator costs beside each program."""
    server_cost(bench)
    for work in works:
        WORKS[work](bench)
    return bench.report.costs


def check(works, bench):
    """Compares what aggregator costs beside each program with what was recorded, in up to three runs."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    worse = set(recorded)
    for _ in range(3):
        costs = run(works, bench)
        worse = {name for name in worse if name in costs and costs[name] > 1.5 * recorded[name]}
        if not worse:
            return
    raise Failure("costs more than 1.5 times what was recorded, in three runs:\n" + "\n".join(
        f"  {name}: {costs[name]:.2f} x, recorded {recorded[name]:.2f} x" for name in sorted(worse)))


def main():
    parser = argparse.ArgumentParser(prog="Scripts/benchmark", description=__doc__)
    parser.add_argument("--small", action="store_true",
                        help="few rows, no peers but the plain script: only to see that it works")
    parser.add_argument("--huge", action="store_true",
                        help="measure memory with 10^7 people, too: 30 GB of disk, half an hour more")
    parser.add_argument("--only", metavar="WORK,…", help=f"some of: {', '.join(WORKS)}")
    parser.add_argument("--repeat", type=int, metavar="N", help="runs of each; 5 by default")
    parser.add_argument("--compare", metavar="COMMIT",
                        help="measure the program of this commit, too, where a table has programs")
    parser.add_argument("--check", action="store_true",
                        help="fail if aggregator costs 1.5 times what recorded.json says, in three runs")
    parser.add_argument("--record", action="store_true",
                        help="write what aggregator costs beside each program to recorded.json")
    parser.add_argument("--note", metavar="WORDS", help="what is to be known of this run")
    options = parser.parse_args()
    works = options.only.split(",") if options.only else list(WORKS)
    if unknown := set(works) - set(WORKS):
        parser.error(f"no such work: {', '.join(unknown)}")

    # Not before the words are known to be right: it takes minutes.
    if code := subprocess.run([ROOT / "Scripts/build"], stdout=sys.stderr).returncode:
        return code
    report, place = Report(shlex.join(["Scripts/benchmark", *sys.argv[1:]])), Place()
    if options.note:
        report.note(options.note)
    try:
        if options.small:
            installed = {}
            report.note("Skipped with --small: aiohttp, httpx, curl | jq | sqlite-utils, dlt,"
                        " psycopg, Singer, datasette, do-nothing, chain-cost, list-scroll.")
        else:
            installed = install(report)
        report.programs = versions(installed)
        if not options.small and not options.only and not options.compare:
            report.path = HERE / "RESULTS.md"
        bench = Bench(place, report, options, installed)
        if options.compare:
            bench.other = build_commit(options.compare)
        progress("making rows up")
        rows.write(place / "people", rows.person, bench.count)
        rows.write(place / "products", rows.product, bench.count)
        rows.write_changed_products(place / "changed", bench.count)
        if "memory" in works and not options.small:
            rows.write_crowd(place / "crowd", 10_000_000 if options.huge else 1_000_000)
        if options.check:
            check(works, bench)
        else:
            run(works, bench)
        if options.record:
            RECORDED.write_text(json.dumps(
                {name: round(cost, 3) for name, cost in report.costs.items()}, indent=2) + "\n")
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    finally:
        place.remove()
    report.is_complete = True
    report.keep()
    print(report.markdown(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
