#!/usr/bin/env python3
"""What many runs cost: throughput per core through the command, `check_arrow` and Spark, shuffle and spill of spans, and one long run.

    python benches/many_runs.py target/release/aver [RUNS]

Wants `averment` and `pyarrow`, and `pyspark` with Java for the rows of Spark; `aver` wants the feature `parquet`. Times are processor
times of all that took part, so they are per core, whatever the number of cores.
"""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from averment import Rules

RULES = """rule approved { before approve(id: $id) -> refund(id: $id) }
rule once { count refund <= 2 }
rule small { never refund(amount > 390) }
rule answer { output contains "done" }
rule cheap { cost <= $0.09 }
rule quick { duration <= 8s }
rule order { never send_email after refund }
rule few { length(calls) <= 6 }
"""
RATES = "in at least 60% of runs: count refund <= 2\npercentile(length(calls) of runs, 90%) <= 6\n"
TOOLS = ["search", "approve", "refund", "lookup", "send_email", "read_file"]
TIMES = 3


def make_runs(count, calls, result):
    """Runs with so many calls at most, and results of so many letters at most."""
    dice = random.Random(5)
    for number in range(count):
        made = []
        for _ in range(dice.randint(2, calls)):
            args = {"id": f"o-{dice.randint(1, 4)}", "amount": dice.randint(1, 400)}
            made.append({"tool": dice.choice(TOOLS), "args": args, "result": "ok " + "x" * dice.randint(5, result)})
        cost, duration = round(dice.random() / 10, 4), dice.randint(1, 9000)
        yield {"id": f"r{number:07}", "calls": made, "output": "done " + "word " * dice.randint(3, 20), "cost": cost, "duration": duration}


def spans_of(run):
    for place, call in enumerate(run["calls"]):
        start = f"2026-07-08T{place // 3600:02}:{place // 60 % 60:02}:{place % 60:02}Z"
        yield {"id": f"{run['id']}-{place}", "trace_id": run["id"], "type": "TOOL", "name": call["tool"], "start_time": start,
               "input": json.dumps(call["args"]), "output": json.dumps(call["result"]), "level": "DEFAULT"}  # fmt: skip


def processor_seconds():
    """Of this process and of the children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def tree_seconds(root):
    """Of a process and all below it that live, with the children that they waited for: what Spark's workers took."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{entry}/stat").read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        parents[int(entry)] = (int(fields[1]), sum(map(int, fields[11:15])))
    def below(one):
        return parents.get(one, (0, 0))[1] + sum(below(child) for child, (parent, _) in parents.items() if parent == one)
    return below(root) / os.sysconf("SC_CLK_TCK")


def measured(clock, work):
    """The median of some repetitions."""
    taken = []
    for _ in range(TIMES):
        before = clock()
        work()
        taken.append(clock() - before)
    return statistics.median(taken)


def print_row(name, runs, size, seconds):
    print(f"| {name} | {runs / seconds:,.0f} | {size / seconds / 1e6:,.1f} |", flush=True)


def command(aver, rules, data, threads=1, form="summary", more=()):
    asked = [aver, "check", rules, data, "--no-project", "--format", form, "--threads", str(threads), *more]
    done = subprocess.run(asked, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr or f"aver check ended with {done.returncode}")


def write_forms(folder, runs):
    texts = [json.dumps(run) for run in runs]
    (folder / "runs.jsonl").write_text("\n".join(texts) + "\n")
    pq.write_table(pa.table({"id": [run["id"] for run in runs], "run": texts}), folder / "runs.parquet", compression="zstd")
    spans = pa.Table.from_pylist([span for run in runs for span in spans_of(run)])
    pq.write_table(spans, folder / "spans.parquet", compression="zstd")
    return sum(map(len, texts)), spans


def without_spark(aver, folder, runs, size):
    rules = Rules.from_file(folder / "rules.assert")
    count = len(runs)
    forms = {"JSONL": "runs.jsonl", "Parquet of JSON text": "runs.parquet", "Parquet of spans": "spans.parquet"}
    for name, file in (("`aver check`, " + form, file) for form, file in forms.items()):
        print_row(name, count, size, measured(processor_seconds, lambda: command(aver, folder / "rules.assert", folder / file)))
    table = pq.read_table(folder / "runs.parquet")
    print_row("`check_arrow`", count, size, measured(processor_seconds, lambda: pa.table(rules.check_arrow(table, run="run", id="id", threads=1))))
    rates = Rules.from_text("rates.assert", RATES)
    print_row("`subtotal_arrow`", count, size, measured(processor_seconds, lambda: rates.subtotal_arrow(table, run="run", threads=1)))
    few, all_runs = (len(rates.subtotal_arrow(part, run="run")) for part in (table.slice(0, count // 100), table))
    print(f"\nsubtotal of {count // 100:,} runs: {few:,} bytes, of {count:,}: {all_runs:,} bytes")


def event_sums(folder, names):
    """Sums of what tasks of Spark tell, over all event logs of the folder."""
    sums = dict.fromkeys(names, 0)
    for file in (one for one in folder.rglob("*") if one.is_file() and not one.name.startswith((".", "appstatus"))):
        for line in file.read_text().splitlines():
            told = json.loads(line).get("Task Metrics") or {} if line.startswith("{") else {}
            told = {**told, **(told.get("Shuffle Write Metrics") or {})}
            for name in names:
                sums[name] += told.get(name, 0)
    return sums


def with_spark(folder, count, size, table):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from averment import spark

    events = folder / "events"
    events.mkdir()
    built = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    built = built.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", events.as_uri()).config("spark.eventLog.compress", "false")
    session = built.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    clock = lambda: tree_seconds(os.getpid())
    texts, spans = (session.read.parquet(os.fspath(folder / name)) for name in ("runs.parquet", "spans.parquet"))
    file = folder / "rules.assert"

    def counted(frame, **names):
        spark.check(frame, file, **names).groupBy("rule", "status").count().collect()

    counted(texts, id="id")  # Starts the workers.
    print_row("Spark, JSON text", count, size, measured(clock, lambda: counted(texts, id="id")))
    print_row("Spark, spans gathered by trace", count, size, measured(clock, lambda: counted(spark.gather(spans), id="trace_id")))
    session.stop()
    sums = event_sums(events, ["Shuffle Bytes Written", "Disk Bytes Spilled", "Memory Bytes Spilled"])
    print(f"\nspans: {table.num_rows:,}, {table.nbytes / 1e6:,.0f} MB in memory, gathered {TIMES} times: "
          + ", ".join(f"{name.lower()} {value / 1e6 / TIMES:,.1f} MB" for name, value in sums.items()))  # fmt: skip


def long_run(aver, folder):
    """One run of many calls, which no other core can take a part of."""
    for calls in (1_000, 10_000, 100_000):
        (run,) = make_runs(1, 2, 60)
        run["calls"] = [call for other in make_runs(calls, 2, 60) for call in other["calls"][:1]]
        (folder / "long.jsonl").write_text(json.dumps(run) + "\n")
        size, started = (folder / "long.jsonl").stat().st_size, time.perf_counter()
        before = processor_seconds()
        command(aver, folder / "rules.assert", folder / "long.jsonl")
        print(f"| {calls:,} | {size / 1e6:,.1f} | {processor_seconds() - before:.2f} | {time.perf_counter() - started:.2f} |")


def main():
    aver, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    print(f"{count:,} runs, {RULES.count('rule ')} rules, {os.cpu_count()} cores")
    for calls, result, part in ((7, 60, 1), (100, 1500, 40)):
        with tempfile.TemporaryDirectory() as made:
            folder, runs = Path(made), list(make_runs(count // part, calls, result))
            (folder / "rules.assert").write_text(RULES)
            size, spans = write_forms(folder, runs)
            print(f"\n{len(runs):,} runs of {size / len(runs):,.0f} bytes\n\n| way | runs a second and core | MB a second and core |\n|---|---|---|")
            without_spark(aver, folder, runs, size)
            try:
                with_spark(folder, len(runs), size, spans)
            except ImportError:
                print("no pyspark: Spark is not measured")
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "rules.assert").write_text(RULES)
        print("\n| calls of one run | MB | processor seconds | seconds |\n|---|---|---|---|")
        long_run(aver, Path(made))


if __name__ == "__main__":
    main()
