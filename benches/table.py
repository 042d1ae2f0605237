#!/usr/bin/env python3
"""Prints the table of ratios: `aver` against the hand-written limit, DuckDB, Python and jaq on the same machine in the same minutes.

usage: table.py [--aver PATH] [--limit PATH] [--peers FOLDER] [--python PYTHON] [--runs 10000] [--rounds 5] [--folder /tmp/aver-bench]
                [--only pack,real,rules,formats,long,start,course,compile] [--pin CPU]

What is compared is run in turns; a number is the median over the rounds, a ratio the median of the ratios of each round. `cpu` is user and
system time of the whole process, start-up included: on a machine that does other things beside it says more than the time on the wall.
`--pin` keeps everything that uses one thread on one processor. What is not there (the limit, DuckDB, jaq) is left out and said so.
"""
import argparse, glob, os, re, shutil, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
SECTIONS = ("pack", "real", "rules", "formats", "long", "start", "course", "compile")
# Runs that fail each rule of the pack, and any, by the number of runs of the corpus (seed 7).
FAILS = {
    1000: [24, 36, 37, 26, 46, 32, 44, 11, 229],
    10000: [212, 289, 437, 297, 413, 318, 418, 102, 2261],
    100000: [2087, 3000, 5002, 3378, 4044, 3163, 3989, 992, 22985],
}


class Taken:
    """What a process took."""

    def __init__(self, wall, cpu, memory, out):
        self.wall, self.cpu, self.memory, self.out = wall, cpu, memory, out


class Command:
    """A command with what its standard input comes from, where its output goes, and whether it uses one thread."""

    def __init__(self, words, out=None, stdin=None, pipe=None, single=False):
        self.words, self.out, self.stdin, self.pipe, self.single = words, out, stdin, pipe, single

    def run(self, pin=None):
        """Runs it to its end. What feeds a pipe is not counted."""
        sink = open(self.out, "wb") if self.out else subprocess.PIPE
        source, feed = subprocess.DEVNULL, None
        if self.pipe:
            feed = subprocess.Popen(["cat", self.pipe], stdout=subprocess.PIPE)
            source = feed.stdout
        elif self.stdin:
            source = open(self.stdin, "rb")
        pinned = (lambda: os.sched_setaffinity(0, {pin})) if pin is not None and self.single else None
        start = time.perf_counter()
        process = subprocess.Popen(self.words, stdout=sink, stderr=subprocess.DEVNULL, stdin=source, preexec_fn=pinned)
        if feed:
            feed.stdout.close()
        text = b"" if self.out else process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = status
        if feed:
            feed.wait()
        for file in (sink, source):
            if hasattr(file, "close"):
                file.close()
        return Taken(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def median(taken, what="cpu"):
    return statistics.median(getattr(one, what) for one in taken)


def ratio(a, b, what="cpu"):
    return statistics.median(getattr(x, what) / getattr(y, what) for x, y in zip(a, b))


class Table:
    """Rows with a number, the bar it is held against, and whether it is met."""

    def __init__(self):
        self.met = self.missed = 0

    def title(self, text):
        print("\n%-56s %14s  %-12s" % (text, "", "bar"))

    def row(self, what, number, shown="%.2f times", least=None, most=None):
        bar = "at least %g" % least if least is not None else "at most %g" % most if most is not None else ""
        verdict = ""
        if bar:
            met = number >= least if least is not None else number <= most
            verdict = "met" if met else "NOT MET"
            self.met, self.missed = self.met + met, self.missed + (not met)
        print(("  %-54s %14s  %-12s  %s" % (what, shown % number, bar, verdict)).rstrip(), flush=True)

    def note(self, text):
        print("  (%s)" % text, flush=True)


class Bench:
    """What is measured, and with what."""

    def __init__(self, given):
        self.given, self.table = given, Table()
        self.make = [sys.executable, os.path.join(HERE, "make.py")]
        self.pack = os.path.join(HERE, "pack.assert")
        self.corpus = self.at("corpus-%d.jsonl" % given.runs)
        if not os.path.exists(self.corpus):
            part = self.corpus + ".part"
            subprocess.run([sys.executable, os.path.join(HERE, "gen_traces.py"), str(given.runs), part], check=True)
            os.rename(part, self.corpus)
        self.size = os.path.getsize(self.corpus) / 1e6
        self.alone = None

    def at(self, name):
        return os.path.join(self.given.folder, name)

    def made(self, name, command, stdin=None):
        """A file that is made once."""
        path = self.at(name)
        if not os.path.exists(path):
            part = path + ".part"
            with open(part, "wb") as out, open(stdin or os.devnull, "rb") as source:
                subprocess.run(command, stdout=out, stdin=source, check=True)
            os.rename(part, path)
        return path

    def built(self, name):
        """A bench that was built beside the program."""
        found = glob.glob(os.path.join(os.path.dirname(os.path.realpath(self.given.aver)), "deps", name + "-*"))
        found = [path for path in found if os.access(path, os.X_OK) and "." not in os.path.basename(path)]
        if not found:
            self.table.note("the bench is not there: cargo build --release --bench %s" % name)
        return max(found, key=os.path.getmtime, default=None)

    def check(self, rules, trace, threads=1, form="summary", **more):
        words = [self.given.aver, "check", rules, trace, "--format", form, "--threads", str(threads)]
        return Command(words, single=threads == 1, **more)

    def rounds(self, commands, count=None):
        """Runs all commands in turns; the results of each by its name."""
        taken = {name: [] for name in commands}
        for _ in range(count or self.given.rounds):
            for name, command in commands.items():
                taken[name].append(command.run(self.given.pin))
        return taken

    def of_pack(self):
        """One thread on the pack, against which other sections are held."""
        if self.alone is None:
            self.alone = self.rounds({"one": self.check(self.pack, self.corpus)})["one"]
        return self.alone


def fails(text):
    """The runs that fail each rule, and any, of a summary."""
    any_fails = re.search(rb"failed in (\d+) of", text)
    rows = re.findall(rb"^[a-h] +\d+ +(\d+)", text, re.M)
    return [int(row) for row in rows] + [int(any_fails.group(1)) if any_fails else 0]


def pack(bench):
    given, table = bench.given, bench.table
    limit = lambda threads: Command([given.limit, "sol", bench.corpus, "--io", "read", "--chunk", "262144", "-t", threads], single=threads == "1")
    commands = {
        "one": bench.check(bench.pack, bench.corpus),
        "two": bench.check(bench.pack, bench.corpus, 2),
        "jsonl": bench.check(bench.pack, bench.corpus, form="jsonl", out=bench.at("out.jsonl")),
        "short": bench.check(bench.pack, bench.corpus, form="short", out=bench.at("out.txt")),
        "people": bench.check(bench.pack, bench.corpus, form="human"),
        "stdin": bench.check(bench.pack, "-", stdin=bench.corpus),
        "pipe": bench.check(bench.pack, "-", pipe=bench.corpus),
    }
    has_limit = shutil.which(given.limit) or os.path.exists(given.limit)
    if has_limit:
        commands.update({"limit": limit("1"), "limit two": limit("2")})
    peer = os.path.join(given.peers, "rules_duckdb.py")
    has_duckdb = os.path.exists(peer) and subprocess.run([given.python, "-c", "import duckdb"], capture_output=True).returncode == 0
    if has_duckdb:
        commands["duckdb"] = Command([given.python, peer, bench.corpus, "1"])
    taken = bench.rounds(commands)
    bench.alone = one = taken["one"]

    table.title("the pack: %d runs, %.0f MB, %d rounds" % (given.runs, bench.size, given.rounds))
    if given.runs in FAILS:
        wrong = [name for name in ("one", "two", "stdin", "pipe") if fails(taken[name][0].out) != FAILS[given.runs]]
        table.row("counts that differ from those of the corpus", len(wrong), "%d", most=0)
    if has_limit:
        table.row("share of the limit: summary, 1 thread, cpu", 100 * ratio(taken["limit"], one), "%.0f %%", least=80)
        table.row("share of the limit: jsonl to a file, cpu", 100 * ratio(taken["limit"], taken["jsonl"]), "%.0f %%", least=60)
        table.row("share of the limit: short to a file, cpu", 100 * ratio(taken["limit"], taken["short"]), "%.0f %%", least=60)
        table.row("the limit, 2 threads against 1, wall", ratio(taken["limit"], taken["limit two"], "wall"))
    else:
        table.note("the limit program is not there: --limit PATH")
    if has_duckdb:
        table.row("faster than DuckDB, 1 thread, cpu", ratio(taken["duckdb"], one), least=3.5)
    else:
        table.note("DuckDB is not there: pip install duckdb, --python PYTHON, --peers FOLDER")
    table.row("for people against the summary, cpu", ratio(taken["people"], one), most=1.2)
    table.row("2 threads against 1, wall", ratio(one, taken["two"], "wall"), least=1.85)
    table.row("2 threads against 1, cpu spent", ratio(taken["two"], one))
    table.row("standard input against a file, cpu", ratio(taken["stdin"], one))
    table.row("a pipe against a file, cpu", ratio(taken["pipe"], one))
    table.row("memory, 1 thread", median(one, "memory"), "%.0f MiB", most=48)
    table.row("memory, 2 threads", median(taken["two"], "memory"), "%.0f MiB", most=48)
    table.row("memory, from a pipe", median(taken["pipe"], "memory"), "%.0f MiB", most=48)
    if has_limit:
        table.row("memory against the limit, 2 threads", ratio(taken["two"], taken["limit two"], "memory"))
    table.row("speed, 1 thread, cpu", bench.size / median(one), "%.0f MB/s")
    python(bench, one)


def python(bench, one):
    """The pack by hand in Python, on a tenth of the corpus at most: it takes long."""
    peer = os.path.join(bench.given.peers, "rules_py.py")
    few = min(1000, bench.given.runs)
    if not os.path.exists(peer):
        return
    corpus = bench.made("first-%d.jsonl" % few, ["head", "-%d" % few, bench.corpus])
    for parser, schema in (("orjson", "jsonschema_rs"), ("json", "fast"), ("json", "none")):
        slow = Command([bench.given.python, peer, corpus, parser, schema]).run()
        if slow.out.strip():
            bench.table.row("faster than Python by hand (%s), cpu" % parser, slow.cpu * bench.given.runs / few / median(one), "%.0f times")
            return
    bench.table.note("Python has none of the libraries of the peer")


def real(bench):
    """Rules as people write them, and the program that was written by hand for them (`real_limit.rs`)."""
    table = bench.table
    table.title("eight real rules: bindings, cost, tokens, arguments, failures, the answer")
    limit = bench.built("real_limit")
    if not limit:
        return
    commands = {
        "real": bench.check(os.path.join(HERE, "real.assert"), bench.corpus),
        "limit": Command([limit, bench.corpus], single=True),
    }
    taken = bench.rounds(commands)
    counted = [int(number) for number in re.findall(rb"^(?:[a-h]|any) (\d+)$", taken["limit"][0].out, re.M)]
    wrong = sum(a != b for a, b in zip(fails(taken["real"][0].out), counted))
    table.row("counts that differ from those of the limit", wrong if len(counted) == 9 else 9, "%d", most=0)
    table.row("share of the limit: summary, 1 thread, cpu", 100 * ratio(taken["limit"], taken["real"]), "%.0f %%", least=60)


def rules(bench):
    table = bench.table
    table.title("more rules: ten kinds, mixed")
    growth = {"pack": bench.check(bench.pack, bench.corpus)}
    for count in (8, 64, 256, 1000, 2000):
        path = bench.made("rules-%d.assert" % count, [*bench.make, "rules", str(count)])
        growth[str(count)] = bench.check(path, bench.corpus)
    taken = bench.rounds(growth)
    for count in ("64", "256", "1000", "2000"):
        table.row("%s rules against 8, cpu" % count, ratio(taken[count], taken["8"]), most=2.0 if count == "1000" else None)
    table.row("1000 rules against the pack, cpu", ratio(taken["1000"], taken["pack"]), most=2.5)
    table.row("memory, 1000 rules", median(taken["1000"], "memory"), "%.0f MiB", most=48)


def formats(bench):
    table = bench.table
    table.title("other formats, against MB/s of the corpus, cpu")
    commands = {"corpus": bench.check(bench.pack, bench.corpus)}
    for name in ("native", "chat", "claude", "otlp", "responses"):
        path = bench.made("%s-%d.jsonl" % (name, bench.given.runs), [*bench.make, name], bench.corpus)
        commands[name] = bench.check(bench.pack, path)
    taken = bench.rounds(commands)
    sizes = {name: os.path.getsize(command.words[3]) for name, command in commands.items()}
    shown = {"native": "the normal form", "chat": "OpenAI chat", "claude": "Claude messages", "otlp": "OpenTelemetry (OTLP)", "responses": "OpenAI Responses"}
    bars = {"otlp": 60}
    for name, shown in shown.items():
        share = 100 * ratio(taken["corpus"], taken[name]) * sizes[name] / sizes["corpus"]
        table.row(shown, share, "%.0f %%", least=bars.get(name, 90))


def long(bench):
    table = bench.table
    table.title("long and big runs, 2 threads")
    kinds = (("10,000 calls", ["long", "10000"]), ("1 MiB", ["big", "1"]), ("16 MiB", ["big", "16"]))
    for name, words in kinds:
        path = bench.made("-".join(words) + ".jsonl", [*bench.make, *words])
        taken = bench.rounds({name: bench.check(bench.pack, path, 2)})[name]
        table.row("runs of %s, cpu" % name, os.path.getsize(path) / 1e6 / median(taken), "%.0f MB/s")
        with open(path, "rb") as lines:
            largest = max(len(line) for line in lines) / (1 << 20)
        memory = median(taken, "memory")
        table.row("runs of %s, memory" % name, memory, "%.0f MiB", most=round(max(48, 3 * largest)))
        table.row("runs of %s, memory against the largest run" % name, memory / largest)


SECRETS = """use std.secrets
tools from "tools.json"
schema Output = { properties: { text: { type: "string" } } }
no secrets in calls[*].result
output is Output
duration <= 30s
"""


def start(bench):
    table = bench.table
    table.title("start-up: one run, wall")
    single = bench.made("one.jsonl", ["head", "-1", bench.corpus])
    texts = {
        "one.assert": "duration <= 30s\n",
        "secrets.assert": SECRETS,
        "tools.json": '{"tools": [%s]}' % ", ".join('{"name": "tool_%d", "inputSchema": {"type": "object"}}' % number for number in range(50)),
    }
    for name, text in texts.items():
        with open(bench.at(name), "w") as out:
            out.write(text)
    commands = {"aver": bench.check(bench.at("one.assert"), single), "version": Command([bench.given.aver, "--version"])}
    commands["secrets"] = bench.check(bench.at("secrets.assert"), single)
    others = [(name, shutil.which(name) or bench.given.jaq) for name in ("jaq", "jq")]
    others = [(name, path) for name, path in others if path and os.path.basename(path) == name]
    for name, path in others:
        commands[name] = Command([path, ".duration_ms <= 30000", single])
    taken = bench.rounds(commands, max(20, bench.given.rounds))
    for name, shown in (("version", "aver --version"), ("aver", "aver check, one rule"), ("secrets", "with std.secrets, 50 tools, a schema")):
        table.row(shown, 1000 * median(taken[name], "wall"), "%.1f ms")
    for name, _ in others:
        table.row(name, 1000 * median(taken[name], "wall"), "%.1f ms")
    if "jaq" in taken:
        table.row("one rule against jaq", ratio(taken["aver"], taken["jaq"], "wall"), most=1.2)
        table.row("with std.secrets, tools, a schema against jaq", ratio(taken["secrets"], taken["jaq"], "wall"))
    else:
        table.note("jaq is not there: cargo install jaq, --jaq PATH")


def course(bench):
    """Statements about the course of a run, as a check of one run costs them."""
    table = bench.table
    table.title("the course of a run: one run, a check of it, cpu")
    built = bench.built("course")
    if not built:
        return
    made = lambda name, *words: bench.made(name, [built, *words])
    run = made("course-5000.json", "run", "5000", "1000")
    commands = {
        (form, count): bench.check(made("course-%d.assert" % count, "rules", str(count), "1000"), run, form=form)
        for form in ("summary", "human")
        for count in (10, 1000)
    }
    taken = bench.rounds(commands)
    for form in ("summary", "human"):
        table.row("1,000 rules against 10, 5,000 calls, %s" % form, ratio(taken[form, 1000], taken[form, 10]), most=8)
    with open(made("course-bound.txt", "rules-bound")) as lines:
        bound = lines.read().splitlines()
    runs = [made("course-bound-%d.json" % calls, "run", str(calls), "4") for calls in (10000, 100000)]
    for number, text in enumerate(bound):
        rule = bench.at("course-bound-%d.assert" % number)
        with open(rule, "w") as out:
            out.write(text + "\n")
        taken = bench.rounds({run: bench.check(rule, run) for run in runs})
        table.row(text if len(text) < 54 else text[:50] + " ...", ratio(taken[runs[1]], taken[runs[0]]), most=15)


def compile(bench):
    """The bench of compiling, as it was built beside the program."""
    table = bench.table
    table.title("compiling 1000 rules of a line each, against pest's bare parse")
    built = bench.built("compile")
    if not built:
        return
    command = Command([built])
    texts = [command.run(bench.given.pin).out.decode() for _ in range(min(3, bench.given.rounds))]
    for name, most in (("reading: ", None), ("reading and", None), ("compiling", 3)):
        times = [float(re.search(r"^%s.*?([0-9.]+) times" % name, text, re.M).group(1)) for text in texts]
        shown = {"reading: ": "reading", "reading and": "reading and checking", "compiling": "all of compiling"}[name]
        table.row(shown, statistics.median(times), most=most)


def main():
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "../target"))
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--aver", default=os.path.join(target, "release/aver"))
    parser.add_argument("--limit", default="limit")
    parser.add_argument("--jaq")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peers", default=os.path.join(HERE, "../../shared/perf/peers"))
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/tmp/aver-bench")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--pin", type=int)
    given = parser.parse_args()
    wanted = given.only.split(",")
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        parser.error("there is no section %s; there are %s" % (", ".join(unknown), ", ".join(SECTIONS)))
    if not shutil.which(given.aver) and not os.path.exists(given.aver):
        parser.error("%s is not there: cargo build --release, or --aver PATH" % given.aver)
    os.makedirs(given.folder, exist_ok=True)
    bench = Bench(given)
    for name in SECTIONS:
        if name in wanted:
            globals()[name](bench)
    print("\n%d bars met, %d not met" % (bench.table.met, bench.table.missed))


if __name__ == "__main__":
    main()
