#!/usr/bin/env python3
"""Prints the table of ratios: `aver` against the hand-written limit, DuckDB, Python and jq on the same machine in the same minutes.

usage: table.py [--aver PATH] [--limit PATH] [--runs 10000] [--rounds 5] [--folder /tmp/aver-bench] [--peers FOLDER]

What is compared is run in turns; a number is the median over the rounds, a ratio the median of the ratios of each round. `cpu` is user and
system time of the whole process, start-up included: on a machine that does other things beside it says more than the time on the wall.
What is not there (the limit, DuckDB, jq) is left out and said so.
"""
import argparse, os, shutil, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))


class Taken:
    """What a process took."""

    def __init__(self, wall, cpu, memory, out):
        self.wall, self.cpu, self.memory, self.out = wall, cpu, memory, out


def run(command, out=None, stdin=None):
    """Runs a command to its end."""
    start = time.perf_counter()
    sink = open(out, "wb") if out else subprocess.PIPE
    source = open(stdin, "rb") if stdin else subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=sink, stderr=subprocess.DEVNULL, stdin=source)
    text = b"" if out else process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = status
    return Taken(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def rounds(count, commands):
    """Runs all commands in turns; the results of each by its name."""
    taken = {name: [] for name in commands}
    for _ in range(count):
        for name, (command, more) in commands.items():
            taken[name].append(run(command, **more))
    return taken


def median(taken, what="cpu"):
    return statistics.median(getattr(one, what) for one in taken)


def ratio(a, b, what="cpu"):
    return statistics.median(getattr(x, what) / getattr(y, what) for x, y in zip(a, b))


def line(what, value, bar=""):
    print("%-58s %12s   %s" % (what, value, bar))


def made(path, command, stdin=None):
    """A file that is made once."""
    if not os.path.exists(path):
        part = path + ".part"
        with open(part, "wb") as out, (open(stdin, "rb") if stdin else open(os.devnull, "rb")) as source:
            subprocess.run(command, stdout=out, stdin=source, check=True)
        os.rename(part, path)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--aver", default=os.path.join(HERE, "../target/release/aver"))
    parser.add_argument("--limit", default="limit")
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/tmp/aver-bench")
    parser.add_argument("--peers", default=os.path.join(HERE, "../../shared/perf/peers"))
    given = parser.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    at = lambda name: os.path.join(given.folder, name)
    make = [sys.executable, os.path.join(HERE, "make.py")]
    corpus = at("corpus-%d.jsonl" % given.runs)
    if not os.path.exists(corpus):
        subprocess.run([sys.executable, os.path.join(HERE, "gen_traces.py"), str(given.runs), corpus], check=True)
    pack = os.path.join(HERE, "pack.assert")
    size = os.path.getsize(corpus) / 1e6
    check = lambda rules, trace, *more: [given.aver, "check", rules, trace, *more]
    summary = ["--format", "summary"]

    print("%d runs, %.0f MB, %d rounds\n" % (given.runs, size, given.rounds))
    commands = {
        "one": (check(pack, corpus, *summary, "--threads", "1"), {}),
        "two": (check(pack, corpus, *summary, "--threads", "2"), {}),
        "jsonl": (check(pack, corpus, "--format", "jsonl", "--threads", "1"), {"out": at("out.jsonl")}),
        "stdin": (check(pack, "-", *summary, "--threads", "1"), {"stdin": corpus}),
    }
    if shutil.which(given.limit) or os.path.exists(given.limit):
        limit = lambda threads: [given.limit, "sol", corpus, "--io", "read", "--chunk", "262144", "-t", threads]
        commands["limit"] = (limit("1"), {})
        commands["limit two"] = (limit("2"), {})
    duckdb = os.path.join(given.peers, "rules_duckdb.py")
    try:
        import duckdb as _
        commands["duckdb"] = ([sys.executable, duckdb, corpus, "1"], {})
    except ImportError:
        print("(DuckDB is not installed: pip install duckdb)")
    taken = rounds(given.rounds, commands)
    line("the pack, 1 thread, MB/s of cpu", "%.0f" % (size / median(taken["one"])))
    line("the pack, 1 thread, MB/s of wall", "%.0f" % (size / median(taken["one"], "wall")))
    line("the pack, 2 threads, MB/s of wall", "%.0f" % (size / median(taken["two"], "wall")))
    line("2 threads against 1, wall", "%.2f times" % ratio(taken["one"], taken["two"], "wall"), "1.85")
    line("2 threads against 1, cpu spent", "%.2f times" % ratio(taken["two"], taken["one"]))
    line("from standard input against a file, cpu", "%.2f times" % ratio(taken["stdin"], taken["one"]))
    if "limit" in taken:
        line("share of the limit, summary, cpu", "%.0f %%" % (100 * ratio(taken["limit"], taken["one"])), "60 %")
        line("share of the limit, summary, wall", "%.0f %%" % (100 * ratio(taken["limit"], taken["one"], "wall")), "60 %")
        line("share of the limit, jsonl to a file, cpu", "%.0f %%" % (100 * ratio(taken["limit"], taken["jsonl"])), "40 %")
        line("the limit, 2 threads against 1, wall", "%.2f times" % ratio(taken["limit"], taken["limit two"], "wall"))
    else:
        print("(the limit program is not there: --limit PATH)")
    if "duckdb" in taken:
        line("DuckDB, 1 thread, against aver, cpu", "%.1f times" % ratio(taken["duckdb"], taken["one"]), "3.5")
    line("memory, 1 thread, 2 threads, MiB", "%.0f, %.0f" % (median(taken["one"], "memory"), median(taken["two"], "memory")), "48")

    python = os.path.join(given.peers, "rules_py.py")
    if os.path.exists(python):
        few = made(at("corpus-1000.jsonl"), ["head", "-1000", corpus])
        slow = rounds(1, {"python": ([sys.executable, python, few, "json", "none"], {})})["python"]
        if slow[0].out:
            line("Python by hand, against aver, cpu", "%.0f times" % (median(slow) * given.runs / 1000 / median(taken["one"])))

    print("\nmore rules (ten kinds, mixed)")
    growth = {}
    for count in (8, 64, 256, 1000, 2000):
        rules = made(at("rules-%d.assert" % count), [*make, "rules", str(count)])
        growth["%d" % count] = (check(rules, corpus, *summary, "--threads", "1"), {})
    grown = rounds(given.rounds, growth)
    for name in growth:
        bar = "2.5" if name == "1000" else ""
        line("%s rules against 8" % name, "%.2f times" % ratio(grown[name], grown["8"]), bar)
    line("1000 rules against the pack", "%.2f times" % ratio(grown["1000"], taken["one"]), "2.5")

    print("\nother formats (MB/s of cpu against those of the corpus)")
    other = {}
    for name in ("native", "chat", "claude"):
        path = made(at("%s-%d.jsonl" % (name, given.runs)), [*make, name], corpus)
        other[name] = (check(pack, path, *summary, "--threads", "1"), {})
    other = {name: (rounds(given.rounds, {name: command})[name], command) for name, command in other.items()}
    own = size / median(taken["one"])
    for name, (result, (command, _)) in other.items():
        speed = os.path.getsize(command[3]) / 1e6 / median(result)
        line(name, "%.0f %%" % (100 * speed / own), "" if name == "native" else "33 %")

    print("\nlong and big runs")
    for name, command in (("runs of 10,000 calls", ["long", "10000"]), ("runs of 1 MiB", ["big", "1"]), ("runs of 16 MiB", ["big", "16"])):
        path = made(at("-".join(command) + ".jsonl"), [*make, *command])
        result = rounds(given.rounds, {name: (check(pack, path, *summary, "--threads", "2"), {})})[name]
        line("%s, MB/s of cpu, MiB" % name, "%.0f, %.0f" % (os.path.getsize(path) / 1e6 / median(result), median(result, "memory")))

    print("\nstart-up: one run, one rule")
    single = made(at("one.jsonl"), ["head", "-1", corpus])
    rule = at("one.assert")
    with open(rule, "w") as out:
        out.write("duration <= 30s\n")
    start = {"aver": (check(rule, single, *summary), {}), "aver --version": ([given.aver, "--version"], {})}
    for name in ("jaq", "jq"):
        if shutil.which(name):
            start[name] = ([name, ".duration_ms <= 30000", single], {})
    started = rounds(max(20, given.rounds), start)
    for name, result in started.items():
        line(name, "%.1f ms" % (1000 * median(result, "wall")), "jaq and half" if name == "aver" else "")


if __name__ == "__main__":
    main()
