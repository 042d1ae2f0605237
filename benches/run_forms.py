#!/usr/bin/env python3
"""The same runs in every form and through every way: do all of them give the same verdicts, scores and rates?

    python benches/run_forms.py target/release/aver [RUNS]

Forms: JSONL, Parquet of JSON text, Parquet of columns, and spans that are gathered. Ways: the command, `check_many`, `check_arrow`, Spark with
`local[2]`, a standalone cluster of two workers on this machine, and that cluster while one of its executors is killed. Exits with 1 where a
way differs from the command on JSONL. Wants `averment`, `pyarrow`, `pyspark` with Java, and `aver` with the feature `parquet`.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from many_runs import RULES, make_runs

from averment import Rules

# They fail, so that their reasons tell the numbers.
RATES = """in at least 99.9% of runs: never refund(amount > 390)
percentile(length(calls) of runs, 90%) <= 5
avg(cost of runs) <= 0.04
max(duration of runs) <= 8s
"""
OBSERVATION_TEXTS = ["id", "trace_id", "parent_observation_id", "type", "name", "level", "start_time", "end_time", "input", "output"]
CELLS = ["assertion", "verdict", "status", "score", "violations"]


def instant(milliseconds):
    seconds, rest = divmod(milliseconds, 1000)
    return f"2026-07-08T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}Z"


def observations_of(run):
    """A run as Langfuse exports it: the agent, an answer of the model with its cost, and the calls."""
    root, duration, calls = run["id"] + "-agent", run["duration"], run["calls"]
    shared = {"trace_id": run["id"], "level": "DEFAULT", "parent_observation_id": root}
    yield {**shared, "id": root, "parent_observation_id": None, "type": "AGENT", "name": "agent", "start_time": instant(0),
           "end_time": instant(duration), "output": json.dumps(run["output"])}  # fmt: skip
    yield {**shared, "id": run["id"] + "-model", "type": "GENERATION", "name": "model", "start_time": instant(0), "end_time": instant(0),
           "total_cost": run["cost"], "cost_details": [("total", run["cost"])]}  # fmt: skip
    for number, call in enumerate(calls, 1):
        at = instant(duration * number // (len(calls) + 1))
        yield {**shared, "id": f"{run['id']}-{number:04}", "type": "TOOL", "name": call["tool"], "start_time": at, "end_time": at,
               "input": json.dumps(call["args"]), "output": json.dumps(call["result"])}  # fmt: skip


def write_forms(folder, runs):
    (folder / "rules.assert").write_text(RULES + RATES)
    texts = [json.dumps(run) for run in runs]
    (folder / "runs.jsonl").write_text("\n".join(texts) + "\n")
    pq.write_table(pa.table({"id": [run["id"] for run in runs], "run": texts}), folder / "text.parquet", compression="zstd")
    pq.write_table(pa.Table.from_pylist(runs), folder / "columns.parquet", compression="zstd")
    # Details tell a cost of 0 from a price that nobody knew.
    costs = [("total_cost", pa.float64()), ("cost_details", pa.map_(pa.string(), pa.float64()))]
    columns = pa.schema([*((name, pa.string()) for name in OBSERVATION_TEXTS), *costs])
    pq.write_table(pa.Table.from_pylist([row for run in runs for row in observations_of(run)], columns), folder / "spans.parquet", compression="zstd")


def verdict_set(rows):
    """What is compared: the cells of every run under its name, and the reasons over all runs, which hold rates and averages."""
    found, together = {}, []
    for run, *cells, reason in rows:
        if run is None:
            together.append((*cells, reason))
        else:
            found.setdefault(run, []).append(tuple(cells))
    # An order of its own: Spark has none.
    return {run: sorted(cells) for run, cells in found.items()}, sorted(together)


def table_rows(table, name="run"):
    return zip(*(table[column].to_pylist() for column in [name, *CELLS, "reason"]), strict=True)


def command_rows(aver, folder, file, names):
    """The command numbers runs in the order of the file; these are the names that the runs have."""
    report = folder / "report.parquet"
    asked = [aver, "check", "rules.assert", file, "--no-project", "--format", "summary", "--report", f"parquet={report}"]
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr or done.stdout)
    numbers = {}
    for run, *cells in table_rows(pq.read_table(report)):
        over_runs = run == f"all {len(names)} runs"
        yield None if over_runs else names[numbers.setdefault(run, len(numbers))], *cells


def many_rows(rules, runs, names):
    def cells_of(outcome, name):
        return ((name, one.id, one.verdict, one.status, one.score, one.violation_count, one.reason) for one in outcome.results)

    outcomes = rules.check_many(runs)
    for name, outcome in zip(names, outcomes, strict=True):
        yield from cells_of(outcome, name)
    yield from cells_of(outcomes.over_runs, None)


def arrow_rows(rules, table):
    return table_rows(pa.table(rules.check_arrow(table, run="run" if "run" in table.column_names else None, id="id")))


def spark_rows(folder, session, frame, name):
    """Written as a table, which is how a job hands verdicts on."""
    from averment import spark

    target = folder / "verdicts"
    spark.check(frame, folder / "rules.assert", id=name).write.mode("overwrite").parquet(os.fspath(target))
    return table_rows(pq.read_table(target))


def open_session(master):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    built = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8")
    built = built.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "2g").config("spark.executor.memory", "1g")
    # Not snappy, whose library for Java does not load where musl stands beside glibc.
    built = built.config("spark.sql.parquet.compression.codec", "zstd").config("spark.executor.cores", "1").config("spark.sql.files.maxPartitionBytes", "2m")
    session = built.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class StandaloneCluster:
    """A master and two workers of one core each."""

    def __init__(self, folder):
        import pyspark

        self.started, script = [], Path(pyspark.__file__).parent / "bin/spark-class"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.master = f"spark://127.0.0.1:{port}"
        log = open(folder / "cluster.log", "w")
        place = ["--host", "127.0.0.1", "--webui-port", "0"]
        roles = [["master.Master", "--port", str(port), *place]]
        roles += [["worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", folder / f"work{one}", *place, self.master] for one in (1, 2)]
        for role, *arguments in roles:
            command = [script, f"org.apache.spark.deploy.{role}", *arguments]
            self.started.append(subprocess.Popen(command, stdout=log, stderr=log))
            self.wait_for_master(port)

    def wait_for_master(self, port):
        """On a busy machine it takes more than the minute for which Spark looks for it."""
        for _ in range(600):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.5)
        sys.exit("the master of Spark does not answer")

    def executors(self):
        """Processes below the workers that hold an executor."""
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rsplit(") ", 1)[1].split()[1])
                said = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if parent in {one.pid for one in self.started} and b"CoarseGrainedExecutorBackend" in said:
                yield int(entry)

    def kill_one(self, session, killed):
        """Kills an executor as soon as some tasks of a job are done and others are not."""
        tracker = session.sparkContext.statusTracker()
        while not killed:
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage and 1 <= stage.numCompletedTasks < stage.numTasks - 2 for stage in stages):
                victim = next(self.executors())
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            time.sleep(0.02)

    def stop(self):
        for process in reversed(self.started):
            process.terminate()
            process.wait(60)


def spark_ways(folder):
    from averment import spark

    def both(session, where):
        text, spans = (session.read.parquet(os.fspath(folder / f"{name}.parquet")) for name in ("text", "spans"))
        yield f"{where}, JSON text", spark_rows(folder, session, text, "id")
        yield f"{where}, spans gathered", spark_rows(folder, session, spark.gather(spans), "trace_id")

    session = open_session("local[2]")
    yield from both(session, "Spark `local[2]`")
    session.stop()
    cluster = StandaloneCluster(folder)
    try:
        session, killed = open_session(cluster.master), []
        yield from both(session, "Spark, two workers")
        watch = threading.Thread(target=cluster.kill_one, args=(session, killed), daemon=True)
        watch.start()
        text = session.read.parquet(os.fspath(folder / "text.parquet")).repartition(32)
        rows = spark_rows(folder, session, text, "id")
        yield f"Spark, two workers, {len(killed)} executor killed", rows
        if not killed:
            sys.exit("no executor was killed: take more runs")
        session.stop()
    finally:
        cluster.stop()


def all_ways(aver, folder, runs):
    names = [run["id"] for run in runs]
    rules = Rules.from_file(folder / "rules.assert")
    for form in ("runs.jsonl", "text.parquet", "columns.parquet", "spans.parquet"):
        yield f"`aver check`, {form}", command_rows(aver, folder, form, names)
    yield "`check_many`, runs.jsonl", many_rows(rules, folder / "runs.jsonl", names)
    yield "`check_many`, dicts", many_rows(rules, runs, names)
    for form in ("text", "columns"):
        yield f"`check_arrow`, {form}.parquet", arrow_rows(rules, pq.read_table(folder / f"{form}.parquet"))
    yield from spark_ways(folder)


def main():
    aver, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    wanted, differ = None, False
    with tempfile.TemporaryDirectory() as made:
        folder, runs = Path(made), list(make_runs(count, 7, 60))
        write_forms(folder, runs)
        for way, rows in all_ways(aver, folder, runs):
            found = verdict_set((run, *cells, reason or "") for run, *cells, reason in rows)
            wanted = wanted or found
            same = found == wanted
            differ |= not same
            print(f"{'same' if same else 'DIFFERS'}: {way}: {len(found[0]):,} runs, {sum(map(len, found[0].values())):,} verdicts", flush=True)
        print("\n".join(f"  {cells[0]}: {cells[1]}: {cells[-1]}" for cells in wanted[1]))
    sys.exit(differ)


if __name__ == "__main__":
    main()
