"""What all sets share: running `aver check`, counting alarms, and tables."""
import csv
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def sets_folder():
    """Where the sets are: AVERMENT_SHARED, or a folder beside the project."""
    return os.environ.get("AVERMENT_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")


def find_aver():
    """The program that is measured: AVER, or the build of the project."""
    return os.environ.get("AVER") or os.path.join(ROOT, "target", "debug", "aver")


class Verdicts:
    """The verdicts of each run, in the order of the runs, with the rule of each."""

    def __init__(self, rules, runs, seconds):
        self.rules, self.runs, self.seconds = rules, runs, seconds

    def alarm(self, at):
        """The rules that a run breaks."""
        return sorted({rule for rule, verdict in zip(self.rules, self.runs[at]) if verdict == "fail"})

    def undecided(self, at):
        """Whether a run breaks no rule, and some rule could not be decided for it."""
        return not self.alarm(at) and any(verdict in ("undecided", "error") for verdict in self.runs[at])

    def exercised(self, runs=None):
        """For each rule, in how many runs (all, or those given) it was exercised, and in how many it failed."""
        found = {rule: [0, 0] for rule in self.rules}
        for verdicts in self.runs if runs is None else [self.runs[at] for at in runs]:
            for rule in {rule for rule, verdict in zip(self.rules, verdicts) if verdict not in ("vacuous", "skipped")}:
                found[rule][0] += 1
            for rule in {rule for rule, verdict in zip(self.rules, verdicts) if verdict == "fail"}:
                found[rule][1] += 1
        return found


def check(rules, traces):
    """Checks traces against rules, and reads the verdicts."""
    command = [find_aver(), "check", rules, *traces, "--format", "jsonl", "--no-project", "--threads", "1"]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - start
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1, 5) or not lines:
        sys.exit("%s\n%s" % (" ".join(command), done.stderr))
    names = [rule["rule"] or rule["id"] for rule in lines[0]["rules"]]
    return Verdicts(names, [line["verdicts"] for line in lines if "verdicts" in line], seconds)


class Counts:
    """Alarms held against labels."""

    def __init__(self):
        self.runs = self.hits = self.false = self.missed = self.undecided = 0
        self.seconds = 0.0

    def add(self, bad, alarm, undecided=False):
        self.runs += 1
        self.hits += bad and alarm
        self.false += alarm and not bad
        self.missed += bad and not alarm
        self.undecided += undecided

    def join(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def row(self, name):
        """The cells of a table: see HEAD."""
        return [name, number(self.runs), number(self.hits + self.missed), number(self.hits), number(self.false), number(self.missed),
                share(self.hits, self.hits + self.false), share(self.hits, self.hits + self.missed), number(self.undecided),
                number(round(self.runs / self.seconds)) if self.seconds else "-"]


HEAD = ["set", "runs", "violations", "true alarms", "false alarms", "misses", "precision", "recall", "undecided", "runs per second"]


def published(name):
    """What others published about a set, if anything is known."""
    with open(os.path.join(HERE, "published.tsv"), encoding="utf-8") as text:
        rows = [row for row in csv.DictReader(text, delimiter="\t") if row["set"] == name]
    return rows and table(["what", "published", "source"], [[row["what"], row["published"], row["source"]] for row in rows])


def number(value):
    return format(value, ",")


def share(part, whole):
    return "%.3f" % (part / whole) if whole else "-"


def table(head, rows):
    """A Markdown table; every column but the first is aligned to the right if it holds numbers."""
    numeric = [all(cell.replace(",", "").replace(".", "").replace("%", "").strip() in ("", "-") or cell[:1].isdigit() for cell in column) for column in zip(*rows)]
    line = lambda cells: "| %s |\n" % " | ".join(cells)
    return line(head) + "|%s|\n" % "|".join("--:" if right else "---" for right in numeric) + "".join(map(line, rows))
