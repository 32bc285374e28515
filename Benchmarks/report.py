"""What was measured, as Markdown."""

import datetime
import os
import platform
import re
import subprocess


# The programs of others in the small benchmarks, by the beginning of their names.
OTHERS = ("plain script", "floor", "sqlite3 shell", "csv, sqlite3", "the tap alone")


class Report:
    """Tables, goals and notes; with a path, kept in a file as they come.

    A whole run takes long, and what was measured is worth keeping if it does not come to its end.
    """

    def __init__(self, command):
        self.command, self.path, self.programs = command, None, []
        self.tables, self.goals, self.notes = [], [], []
        self.costs = {}
        self.is_complete = False
        self.load = load()

    def keep(self):
        if self.path:
            self.path.write_text(self.markdown(), encoding="utf-8")

    def table(self, title, medians, of="aggregator"):
        """A table of programs; the ratio is theirs to the one named `of`."""
        lines = [f"### {title}", "", "| program | seconds | × | processor s | peak MB | runs |",
                 "|---|--:|--:|--:|--:|--:|"]
        base = medians[of].wall
        self.compare(title, medians)
        for name, median in medians.items():
            ratio = median.wall / base
            if median.is_stopped:
                lines.append(f"| {name}, stopped | > {median.wall} | > {ratio:.2f} | | | 1 |")
                continue
            lines.append(
                f"| {name} | {seconds(median.wall)} | {ratio:.2f} |"
                f" {seconds(median.processor)} | {median.megabytes:.0f} | {median.count} |")
        self.tables.append("\n".join(lines))
        self.keep()

    def compare(self, title, medians):
        """What each of our programs costs beside one of others: processor time, which other work changes little."""
        others = [name for name in medians if name.startswith(OTHERS)]
        self.costs |= {
            f"{title}: {name} beside {other}": median.processor / medians[other].processor
            for other in others for name, median in medians.items() if name not in others}

    def values(self, title, head, rows):
        """A table of another form."""
        lines = [f"### {title}", "", "| " + " | ".join(head) + " |",
                 "|---|" + "--:|" * (len(head) - 1)]
        self.tables.append("\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]))
        self.keep()

    def goal(self, words, limit, value, unit=" ×", at_least=False):
        """A bound, and whether it holds."""
        holds = value >= limit if at_least else value <= limit
        bound = f"{'≥' if at_least else '≤'} {limit:g}{unit}"
        verdict = "yes" if holds else "**no**"
        self.goals.append(f"| {words} | {bound} | {value:.2f}{unit} | {verdict} |")
        self.keep()

    def note(self, words):
        self.notes.append(f"- {words}")

    def loads(self):
        return f"load (1, 5, 15 minutes): {self.load} at the start, {load()} at the end"

    def markdown(self):
        """The whole."""
        parts = [
            f"# Results\n\nWritten by `{self.command}`; [README](README.md) says what is compared.\n"]
        if not self.is_complete:
            parts.append("**The run did not come to its end: what is missing was not measured.**\n")
        parts.append("\n".join(f"- {line}" for line in machine() + [self.loads()] + self.programs))
        if self.goals:
            parts.append("\n## Goals\n\n| goal | bound | measured | holds |\n|---|---|---|---|\n"
                         + "\n".join(self.goals))
        parts.append("\n## Medians\n\n× is the ratio to aggregator in the same run.")
        parts += ["\n" + table for table in self.tables]
        if self.notes:
            parts.append("\n## Notes\n\n" + "\n".join(self.notes))
        return "\n".join(parts) + "\n"


def seconds(value):
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def load():
    return " / ".join(f"{load:.1f}" for load in os.getloadavg())


def machine():
    """Date, system and processor."""
    cpu = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            cpu = re.search(r"model name\s*: (.*)", lines.read()).group(1)
    except (OSError, AttributeError):
        pass
    return [
        f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
        f"{platform.platform()}, {cpu}, {os.cpu_count()} processors",
    ]


def version(*command):
    """The first two words that a program says of itself; `missing` without the program."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "missing"
    return " ".join(done.stdout.split()[:2])
