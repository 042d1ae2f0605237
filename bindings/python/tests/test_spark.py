"""DataFrames of Spark, on two threads of this machine. Asked for by `bindings/python/test spark`."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from averment import Rules, RulesError

if os.environ.get("AVERMENT_SCORERS") != "spark":
    pytest.skip("Spark is not asked for", allow_module_level=True)

pa = pytest.importorskip("pyarrow")
sql = pytest.importorskip("pyspark.sql")

from averment import spark  # noqa: E402

TEXT = "before approve(id: $id) -> refund(id: $id)\ncount refund <= 1"


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    found = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    yield found
    found.stop()


def run_text(number: int) -> str:
    calls = [{"tool": tool, "args": {"id": f"o-{number}"}} for tool in ("approve", "refund")]
    return json.dumps({"calls": calls[number % 2 :]})


def test_verdicts_are_those_of_one_machine(session: Any, tmp_path: Path) -> None:
    rows = [(f"r{number}", run_text(number), "a" if number % 3 else "b") for number in range(2000)]
    frame = session.createDataFrame(rows, "key string, trace string, model string").repartition(5)
    path = tmp_path / "refunds.assert"
    path.write_text(TEXT)
    verdicts = spark.check(frame, path, "trace", id="key", by=["model"])
    found = Counter((row.model, row.run, row.assertion, row.verdict) for row in verdicts.collect())
    table = pa.table({"key": [row[0] for row in rows], "trace": [row[1] for row in rows]})
    alone = pa.table(Rules.from_text("refunds.assert", TEXT).check_arrow(table, run="trace", id="key")).to_pylist()
    models = {key: model for key, _, model in rows}
    assert found == Counter((models[row["run"]], row["run"], row["assertion"], row["verdict"]) for row in alone)


def test_poisonous_runs_are_rows(session: Any) -> None:
    rows = [("deep", "[" * 200_000), ("none", None), ("broken", "{"), ("good", run_text(0))]
    frame = session.createDataFrame(rows, "key string, run string")
    found = {row.run: row.status for row in spark.check(frame, TEXT, id="key").collect()}
    assert found == {"deep": "unreadable", "none": "unreadable", "broken": "unreadable", "good": "passed"}
    failures = [row.run for row in spark.check(frame, TEXT, id="key", statuses=["failed"]).collect()]
    assert sorted(failures) == ["broken", "deep", "none"]


def test_spans_are_gathered_and_too_many_are_told(session: Any) -> None:
    rows = []
    for number in range(20):
        tools = ["approve", "refund"][number % 2 :]
        for place, tool in enumerate(tools):
            span = (f"s{number}-{place}", f"t{number}", "TOOL", tool, f"2026-07-08T00:00:0{place}Z", '{"id": "o"}', '"ok"', "DEFAULT")
            rows.append(span)
    rows += [(f"x{n}", "long", "TOOL", "refund", f"2026-07-08T00:00:0{n}Z", "{}", '"ok"', "DEFAULT") for n in range(9)]
    kinds = "id string, trace_id string, type string, name string, start_time string, input string, output string, level string"
    # As exports of Langfuse have them; Spark orders no map.
    frame = session.createDataFrame(rows, kinds).selectExpr("*", "map('total', 0.5D) AS cost_details")
    runs = spark.gather(frame.repartition(3), most=5)
    found = {(row.run, row.assertion): row for row in spark.check(runs, TEXT, id="trace_id").collect()}
    wanted = {("t%d" % number): "fail" if number % 2 else "pass" for number in range(20)}
    verdicts = {run: {row.verdict for (key, _), row in found.items() if key == run} for run in wanted}
    assert verdicts == {run: {"pass"} if verdict == "pass" else {"pass", "fail"} for run, verdict in wanted.items()}
    assert [row.status for (run, _), row in found.items() if run == "long"] == ["unreadable"]


def test_rules_over_all_runs_give_what_one_machine_gives(session: Any) -> None:
    text = """
    in at least 60% of runs by meta.model: before approve(id: $id) -> refund(id: $id)
    in at least 90% of runs with confidence 95%: count refund <= 1
    percentile(length(calls) of runs, 95%) <= 1
    avg(length(calls) of runs) <= 1.5
    before approve -> cancel deny unexercised
    """
    rows = [(f"r{number}", run_text(number), "a" if number % 3 else "b") for number in range(3000)] + [("broken", "{", "a")]
    frame = session.createDataFrame(rows, "key string, trace string, model string").repartition(5)
    found = spark.check(frame, text, "trace", id="key", by=["model"]).collect()
    together = [row for row in found if row.run is None]
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(["key", "trace", "model"])})
    rules = Rules.from_text("rules.assert", text)
    alone = pa.table(rules.check_arrow(table, run="trace", id="key", meta=["model"])).to_pylist()
    said = [name for name in alone[0] if name not in ("row", "run")]
    wanted = [[row[name] for name in said] for row in alone if row["row"] is None]
    assert len(wanted) == 5 and [[row[name] for name in said] for row in together] == wanted
    assert all(row.model is None for row in together) and len(found) == len(alone)


def test_what_partitions_cannot_be_asked_is_refused(session: Any) -> None:
    frame = session.createDataFrame([("{}",)], "run string")
    with pytest.raises(RulesError, match="looks at all runs at once"):
        spark.check(frame, TEXT, deny=["near-names"])
    with pytest.raises(ValueError, match="rename that of `by`"):
        spark.check(frame, TEXT, by=["run"])
    with pytest.raises(RulesError, match="no status `fail`"):
        spark.check(frame, TEXT, statuses=["fail"])
