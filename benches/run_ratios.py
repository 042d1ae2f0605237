#!/usr/bin/env python3
"""What Python, Arrow, Parquet and Spark cost beside the command on the same runs: ratios, each with its bar.

    python benches/run_ratios.py target/release/aver [RUNS]

What is compared runs in turns; a ratio is the median of those of all rounds. Times are processor times of all that took part: other work on
the machine disturbs these least. Wants `averment` as a release build, `pyarrow`, `pyspark` with Java, and `aver` with the feature `parquet`.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from many_runs import RULES, command, make_runs, measured, processor_seconds, tree_seconds

from averment import Rules

ROUNDS = int(os.environ.get("ROUNDS", "5"))
HERE = Path(__file__).resolve().parent
URL = re.compile(r"^https://[A-Za-z0-9.-]+(/\S*)?$")
SECRETS = [
    re.compile(one)
    for one in (
        r"\bAKIA[0-9A-Z]{16}\b",
        r"\bsk-[A-Za-z0-9]{20,}",
        r"\bgh[pousr]_[A-Za-z0-9]{36}\b",
        r"-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----",
        r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
        r"(?i)\b(?:password|passwd|secret|api_key)\b\s*[:=]\s*['\"]?[A-Za-z0-9+/_-]{12,}",
    )
]


def print_ratio(name, clock, work, beside, least=None, most=None):
    """How often the time of `work` goes into that of `beside`."""
    ratios = []
    for _ in range(ROUNDS):
        times = []
        for one in (beside, work):
            before = clock()
            one()
            times.append(clock() - before)
        ratios.append(times[0] / times[1])
    ratio = statistics.median(ratios)
    met = (least is None or ratio >= least) and (most is None or 1 / ratio <= most)
    bar = f"at least {least:.2f}" if most is None else f"at most {most:.2f} times as long"
    said = ratio if most is None else 1 / ratio
    print(f"| {name} | {said:.2f} | {bar} | {'met' if met else 'MISSED'} | {min(ratios):.2f} to {max(ratios):.2f} |", flush=True)


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one)


def judge_in_python(text):
    """The eight rules of `pack.assert` as people write them in Python: the names of those that fail."""
    run = json.loads(text)
    calls = run["tool_calls"]
    names = [call["name"] for call in calls]
    url = run["output"].get("url")
    may_delete, is_open = True, False
    for name in names:
        is_open = is_open or name == "authenticate"
        may_delete = may_delete and (is_open or name != "delete_record")
    amounts = [call["args"].get("amount") for call in calls if call["name"] == "refund"]
    checks = {
        "a": not any(name.startswith("admin_") or name == "drop_table" for name in names),
        "b": may_delete,
        "c": names.count("api_call") <= 10,
        "d": isinstance(url, str) and URL.search(url) is not None,
        "e": "summary" in run["output"]["text"],
        "f": all(isinstance(one, (int, float)) and not isinstance(one, bool) and one <= 30 for one in amounts),
        "g": run["duration_ms"] <= 30_000,
        "h": not any(secret.search(one) for call in calls for one in texts_in(call["result"]) for secret in SECRETS),
    }
    return [name for name, holds in checks.items() if not holds]


def in_memory(aver, folder, runs, texts):
    rules, file = Rules.from_file(folder / "rules.assert"), folder / "runs.jsonl"
    table = pq.read_table(folder / "text.parquet")

    def by_command(name="runs.jsonl", threads=1, **asked):
        return lambda: command(aver, folder / "rules.assert", folder / name, threads, **asked)

    def many(given):
        return lambda: sum(outcome.passed for outcome in rules.check_many(given, threads=2))

    clock = processor_seconds
    # An outcome holds the verdicts and reasons of a run, which lines of JSON tell as well; counts alone need neither.
    told, counted = by_command(threads=2, form="jsonl"), by_command(threads=2)
    for name, work in (("a file", many(file)), ("JSON texts", many(texts))):
        print_ratio(f"`check_many` of {name}, speed of the command that tells each run, two threads", clock, work, told, least=0.85)
        print_ratio(f"`check_many` of {name}, speed of the command that counts, two threads", clock, work, counted, least=0.85)
    print_ratio("`check_many` of dicts beside JSON texts", clock, many(runs), many(texts), most=3)
    arrow = lambda: pa.table(rules.check_arrow(table, run="run", id="id", threads=1))
    # Both make the same table of verdicts.
    written = by_command(more=["--report", f"parquet={folder / 'verdicts.parquet'}"])
    print_ratio("`check_arrow`, speed of the command that writes verdicts", clock, arrow, written, least=0.8)
    print_ratio("`check_arrow`, speed of the command that counts", clock, arrow, by_command(), least=0.8)
    print_ratio("Parquet of JSON text, speed of JSONL", clock, by_command("text.parquet"), by_command(), least=0.7)


def write_corpus(folder, count):
    """The runs of the corpus that `pack.assert` is about, as Parquet of JSON text."""
    file = folder / "corpus.jsonl"
    subprocess.run([sys.executable, HERE / "gen_traces.py", str(count), file], check=True)
    texts = file.read_text().splitlines()
    table = pa.table({"id": [json.loads(text)["id"] for text in texts], "run": texts})
    pq.write_table(table, folder / "corpus.parquet", compression="zstd", row_group_size=2000)
    return sum(map(len, texts)) / len(texts)


def with_spark(folder):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession, functions, types

    from averment import spark

    built = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    # Runs of some kilobytes: a batch of ten thousand, as Spark makes them, leaves the cache of the processor.
    built = built.config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    session = built.config("spark.sql.files.maxPartitionBytes", "16m").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(os.fspath(folder / "corpus.parquet"))
    judge = functions.udf(judge_in_python, types.ArrayType(types.StringType()))

    def by_rules():
        # The function gives the failures alone as well.
        verdicts = spark.check(frame, HERE / "pack.assert", id="id", statuses=["failed"]).where("status = 'failed'")
        return {row.rule: row["count"] for row in verdicts.groupBy("rule").count().collect()}

    def by_function():
        failed = frame.select(functions.explode(judge("run")).alias("rule"))
        return {row.rule: row["count"] for row in failed.groupBy("rule").count().collect()}

    def read_alone():
        frame.select(functions.sum(functions.length("run"))).collect()

    # Workers are started, and both count the same.
    if by_rules() != by_function():
        sys.exit("the function in Python counts other failures")
    clock = lambda: tree_seconds(os.getpid())
    print_ratio("Spark `local[2]`, speed of a Python UDF", clock, by_rules, by_function, least=18 / 2.5)
    reading, judging, function = (measured(clock, work) for work in (read_alone, by_rules, by_function))
    print(f"| the same without what Spark takes to read the rows | {(function - reading) / (judging - reading):.2f} | | | |")
    session.stop()


def main():
    aver, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    for calls, result, part in ((7, 60, 1), (100, 1500, 40)):
        with tempfile.TemporaryDirectory() as made:
            folder, runs = Path(made), list(make_runs(count // part, calls, result))
            (folder / "rules.assert").write_text(RULES)
            texts = [json.dumps(run) for run in runs]
            (folder / "runs.jsonl").write_text("\n".join(texts) + "\n")
            pq.write_table(pa.table({"id": [run["id"] for run in runs], "run": texts}), folder / "text.parquet", compression="zstd")
            print(f"\n{len(runs):,} runs of {sum(map(len, texts)) / len(runs):,.0f} bytes\n\n| | ratio | bar | | all rounds |\n|---|--:|---|---|---|")
            in_memory(aver, folder, runs, texts)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        size = write_corpus(folder, count // 5)
        print(f"\n{count // 5:,} runs of {size:,.0f} bytes, by `pack.assert`\n\n| | ratio | bar | | all rounds |\n|---|--:|---|---|---|")
        try:
            with_spark(folder)
        except ImportError:
            print("no pyspark: Spark is not measured")


if __name__ == "__main__":
    main()
