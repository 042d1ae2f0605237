"""Rules on the runs of a Spark DataFrame: each executor judges its own partitions, with ``mapInArrow``.

Needs ``pyspark`` and ``pyarrow``, and this package on every executor.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from averment._errors import AvermentError
from averment._outcome import Result
from averment._rules import Rules

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["check", "gather"]

_COLUMNS = (
    "rule string, assertion string, severity string, verdict string, status string, score double, violations bigint, "
    "reason string, message string"
)
_ROWS = 100_000
"""Spans of one run beyond which it is not gathered."""


def check(
    df: DataFrame,
    rules: str | os.PathLike[str],
    run: str | None = "run",
    *,
    id: str | None = None,
    by: Iterable[str] = (),
    statuses: Iterable[str] = (),
    **settings: Any,
) -> DataFrame:
    """Verdicts on the rows of ``df``, each of which is a run: a row for each assertion of each run.

    ``rules`` is the text of rules, or a path, which is read here and not on the executors. ``run`` names the column with the runs (JSON
    text, or a nested value); with ``None`` the columns are found by their names. ``id`` names the column whose values name the runs.
    The columns of ``by`` are copied beside the verdicts and put into ``meta`` of the runs. ``statuses`` are the statuses of the verdicts that
    are wanted (``["failed"]``), all without it: fewer rows are handed to Spark. ``settings`` are those of
    :meth:`averment.Rules.from_text`.

    A row that cannot be read, and one over which the evaluation breaks down, is a row with the status ``unreadable`` and its reason.

    What rules say of all runs together (``in at least 95% of runs: …``) are rows whose ``run`` is null. For them each partition makes a
    subtotal of its runs, which judges the runs a second time, and one task puts the subtotals together.
    """
    name, text = _rule_text(rules)
    compiled_here = Rules.from_text(name, text, **settings)
    speaks_of_all_runs = compiled_here._raw.speaks_of_all_runs
    if speaks_of_all_runs:
        compiled_here.join_subtotals([])  # Raises where the rules have none.
    columns = [by] if isinstance(by, str) else list(by)
    told = [statuses] if isinstance(statuses, str) else list(statuses)
    compiled_here.check_arrow(_no_runs(), run="run", statuses=told)  # Raises where there is no such status.
    taken = {"row", "run", *(one.split()[0] for one in _COLUMNS.split(", "))}
    if clash := taken.intersection(columns):
        raise ValueError(f"verdicts have a column `{min(clash)}` themselves: rename that of `by`")
    wanted = [one for one in dict.fromkeys([run, id, *columns]) if one is not None] if run is not None else None
    source = df if wanted is None else df.select(*(_quoted(one) for one in wanted))
    kinds = {field.name: field.dataType.simpleString() for field in df.schema.fields}
    copied = "".join(f"{_quoted(one)} {kinds[one]}, " for one in columns)

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        compiled = Rules.from_text(name, text, **settings)
        for batch in batches:
            yield from _judge_batch(compiled, batch, run, id, columns, told)

    schema = f"{copied}run string, {_COLUMNS}"
    verdicts = source.mapInArrow(judge, schema)
    if not speaks_of_all_runs:
        return verdicts

    def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _partition_subtotal(Rules.from_text(name, text, **settings), batches, run, columns)

    def conclude(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _concluded_rows(Rules.from_text(name, text, **settings), batches)

    subtotals = source.mapInArrow(add_up, "partition int, subtotal binary").repartition(1)
    together = subtotals.mapInArrow(conclude, f"run string, {_COLUMNS}")
    return verdicts.unionByName(together, allowMissingColumns=True)


def gather(df: DataFrame, trace: str = "trace_id", order: str = "start_time", most: int = _ROWS) -> DataFrame:
    """The spans or events of each trace as one run: the columns ``trace`` and ``run``, a JSON list in the order of ``order``.

    A trace of more than ``most`` rows gets a null in place of its run, which :func:`check` reports as unreadable. So no executor holds more
    than that of one trace.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    number, count, spans = "__averment_number", "__averment_count", "__averment_spans"
    window = Window.partitionBy(_quoted(trace)).orderBy(F.col(_quoted(order)).asc_nulls_last())
    numbered = df.withColumn(number, F.row_number().over(window))
    # As text, because Spark does not sort structs that hold a map.
    span = F.struct(F.col(number), F.to_json(F.struct(*(F.col(_quoted(one)) for one in df.columns))).alias("span"))
    grouped = numbered.groupBy(_quoted(trace)).agg(
        F.count("*").alias(count),
        # Few enough are kept, whatever the number: `when` without `otherwise` is null, and nulls are not collected.
        F.sort_array(F.collect_list(F.when(F.col(number) <= most, span))).alias(spans),
    )
    listed = F.array_join(F.transform(F.col(spans), lambda one: one["span"]), ",")
    run = F.when(F.col(count) <= most, F.concat(F.lit("["), listed, F.lit("]")))
    return grouped.select(F.col(_quoted(trace)), run.alias("run"))


def _rule_text(rules: str | os.PathLike[str]) -> tuple[str, str]:
    if isinstance(rules, os.PathLike):
        with open(rules, encoding="utf-8") as file:
            return os.fspath(rules), file.read()
    return "rules.assert", rules


def _no_runs() -> pa.Table:
    import pyarrow as pa

    return pa.table({"run": pa.array([], pa.string())})


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _judge_batch(
    rules: Rules, batch: pa.RecordBatch, run: str | None, id: str | None, by: list[str], statuses: list[str]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        verdicts = pa.table(rules.check_arrow(batch, run=run, id=id, meta=by, statuses=statuses, threads=1))
    except (pa.ArrowException, MemoryError) as error:
        if batch.num_rows > 1:
            # The row that breaks it is found by judging each alone.
            for row in range(batch.num_rows):
                yield from _judge_batch(rules, batch.slice(row, 1), run, id, by, statuses)
            return
        verdicts = _broken_row(batch, id, str(error))
    for part in verdicts.to_batches():
        # What is said of all runs together is said of those of all partitions, and not of these alone.
        told = part if part["row"].null_count == 0 else part.filter(pc.is_valid(part["row"]))
        copied = [batch.column(one).take(told["row"]) for one in by]
        kept = [told[name] for name in told.schema.names if name != "row"]
        names = [*by, *(name for name in told.schema.names if name != "row")]
        columns = [one.cast(pa.int64()) if pa.types.is_uint64(one.type) else one for one in [*copied, *kept]]
        yield pa.RecordBatch.from_arrays(columns, names=names)


def _partition_subtotal(
    rules: Rules, batches: Iterable[pa.RecordBatch], run: str | None, by: list[str]
) -> pa.RecordBatch:
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    subtotal = rules.join_subtotals([])
    for batch in batches:
        subtotal = rules.join_subtotals([subtotal, *_batch_subtotals(rules, batch, run, by)])
    columns = [pa.array([partition], pa.int32()), pa.array([subtotal], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["partition", "subtotal"])


def _batch_subtotals(rules: Rules, batch: pa.RecordBatch, run: str | None, by: list[str]) -> Iterator[bytes]:
    try:
        yield rules.subtotal_arrow(batch, run=run, meta=by, threads=1)
    except (AvermentError, MemoryError):
        # The row that breaks it counts for nothing, and is told as unreadable where it is judged by itself.
        if batch.num_rows > 1:
            for row in range(batch.num_rows):
                yield from _batch_subtotals(rules, batch.slice(row, 1), run, by)


def _concluded_rows(rules: Rules, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    parts = [part for batch in batches for part in batch.to_pylist()]
    ordered = sorted(parts, key=lambda part: cast("int", part["partition"]))
    outcome = rules.conclude(rules.join_subtotals(part["subtotal"] for part in ordered))
    rows = [] if outcome is None else [_result_row(result) for result in outcome.results]
    kinds = {"score": pa.float64(), "violations": pa.int64()}
    names = ["run", *(one.split()[0] for one in _COLUMNS.split(", "))]
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    yield from pa.Table.from_pylist(rows, schema).to_batches()


def _result_row(result: Result) -> dict[str, Any]:
    return {
        "rule": result.rule,
        "assertion": result.id,
        "severity": result.severity,
        "verdict": result.verdict,
        "status": result.status,
        "score": result.score,
        "violations": result.violation_count,
        "reason": result.reason or None,
        "message": result.message,
    }


def _broken_row(batch: pa.RecordBatch, id: str | None, reason: str) -> pa.Table:
    import pyarrow as pa

    name = None if id is None else str(batch.column(id)[0])
    texts = {"rule": None, "assertion": None, "severity": None, "verdict": None, "status": "unreadable"}
    columns: dict[str, pa.Array] = {"row": pa.array([0], pa.uint64()), "run": pa.array([name], pa.string())}
    columns.update({key: pa.array([value], pa.string()) for key, value in texts.items()})
    columns |= {"score": pa.array([None], pa.float64()), "violations": pa.array([None], pa.uint64())}
    columns |= {"reason": pa.array([reason], pa.string()), "message": pa.array([None], pa.string())}
    return pa.table(columns)
