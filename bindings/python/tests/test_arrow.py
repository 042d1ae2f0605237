"""Arrow data in, verdicts out."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from averment import Rules, RulesError

pa = pytest.importorskip("pyarrow")

RULES = Rules.from_text("refunds.assert", "before approve(id: $id) -> refund(id: $id)\ncount refund <= 1")


def runs(number: int) -> list[dict[str, Any]]:
    found = []
    for one in range(number):
        calls = [{"tool": tool, "args": {"id": f"o-{one}"}} for tool in ("approve", "refund")]
        found.append({"id": f"r{one}", "calls": calls[one % 2 :]})
    return found


def table(number: int) -> Any:
    all_runs = runs(number)
    texts, models = [json.dumps(one) for one in all_runs], ["a" if one % 3 else "b" for one in range(number)]
    return pa.table({"key": [one["id"] for one in all_runs], "run": texts, "model": models})


def verdict_rows(data: Any, rules: Rules = RULES, **more: Any) -> list[dict[str, Any]]:
    return list(pa.table(rules.check_arrow(data, **more)).to_pylist())


def test_verdicts_are_those_of_single_runs() -> None:
    rows = verdict_rows(table(400), id="key", threads=2)
    wanted = [
        (number, one["id"], result.id, result.verdict, result.reason or None)
        for number, one in enumerate(runs(400))
        for result in RULES.check(one).results
    ]
    assert [(row["row"], row["run"], row["assertion"], row["verdict"], row["reason"]) for row in rows] == wanted
    assert Counter(row["status"] for row in rows) == {"passed": 600, "failed": 200}


def test_only_the_statuses_that_are_wanted_have_rows() -> None:
    data = pa.table({"run": [*table(40)["run"].to_pylist(), "{"]})
    every = verdict_rows(data)
    found = verdict_rows(data, statuses=["failed"])
    assert found == [row for row in every if row["status"] in ("failed", "unreadable")]
    assert Counter(row["status"] for row in found) == {"failed": 20, "unreadable": 1}
    assert verdict_rows(data, statuses="failed") == found
    together = Rules.from_text("r.assert", "in at least 60% of runs: before approve(id: $id) -> refund(id: $id)")
    assert [row["row"] for row in verdict_rows(data, together, statuses=["error"])] == [40, None]
    with pytest.raises(RulesError, match="no status `fail`"):
        RULES.check_arrow(data, statuses=["fail"])


def test_tables_batches_readers_and_nested_columns_are_judged_alike() -> None:
    data = table(50)
    nested = pa.table({"calls": [one["calls"] for one in runs(50)], "model": data["model"]})
    structs = pa.table({"body": runs(50)})
    wanted = [row["verdict"] for row in verdict_rows(data)]
    reader = pa.RecordBatchReader.from_batches(data.schema, data.to_batches(max_chunksize=7))
    for other in (data.to_batches()[0], reader, nested):
        assert [row["verdict"] for row in verdict_rows(other)] == wanted
    assert [row["verdict"] for row in verdict_rows(structs, run="body")] == wanted


@pytest.mark.parametrize("library", ["polars", "pandas", "duckdb"])
def test_frames_of_other_libraries_are_judged(library: str) -> None:
    module = pytest.importorskip(library)
    data = table(50)
    frame = {"polars": "from_arrow", "duckdb": "from_arrow"}.get(library)
    given = getattr(module, frame)(data) if frame else data.to_pandas()
    assert [row["verdict"] for row in verdict_rows(given, run="run")] == [row["verdict"] for row in verdict_rows(data)]


def test_a_row_that_cannot_be_read_is_a_row_with_its_reason() -> None:
    texts = ['{"calls": []}', None, "", "[" * 100_000, "{broken", '{"calls": 1}']
    rows = verdict_rows(pa.table({"run": texts}), id="run")
    assert [row["row"] for row in rows if row["status"] == "unreadable"] == [1, 2, 3, 4, 5]
    assert all(row["reason"] and row["verdict"] is None for row in rows if row["status"] == "unreadable")
    assert len(rows) == 7
    mixed = pa.table({"run": [None if number % 3 else '{"calls": []}' for number in range(9000)]})
    order = [row["row"] for row in verdict_rows(mixed, Rules.from_text("r.assert", "never refund"))]
    assert order == list(range(9000))


def test_meta_and_rules_over_all_runs() -> None:
    rules = Rules.from_text("rates.assert", "in at least 60% of runs by meta.model: before approve(id: $id) -> refund(id: $id)")
    rows = verdict_rows(table(4200), rules, meta=["model"])
    over = [row for row in rows if row["row"] is None]
    assert over and all(row["verdict"] == "fail" for row in over), over
    wanted = rules.check_many([{**one, "meta": {"model": "a" if number % 3 else "b"}} for number, one in enumerate(runs(4200))])
    list(wanted)
    assert wanted.over_runs is not None
    assert [row["reason"] for row in over] == [result.reason for result in wanted.over_runs.results]


def test_subtotals_of_parts_give_the_result_of_all() -> None:
    text = "in at least 60% of runs by meta.model: count refund <= 0\nmax(length(calls) of runs) <= 1\nbefore approve -> cancel deny unexercised"
    rules, data = Rules.from_text("rates.assert", text), table(9000)
    wanted = [row for row in verdict_rows(data, rules, meta=["model"]) if row["row"] is None]
    parts = [rules.subtotal_arrow(data.slice(first, 4000), meta=["model"], threads=1) for first in (0, 4000, 8000)]
    outcome = rules.conclude(rules.join_subtotals([rules.join_subtotals(parts[:2]), parts[2]]))
    assert outcome is not None and outcome.run == "all 9000 runs"
    found = [(one.id, one.verdict, one.reason or None) for one in outcome.results]
    assert len(found) == 3 and found == [(row["assertion"], row["verdict"], row["reason"]) for row in wanted]
    none = rules.conclude(rules.join_subtotals([]))
    assert none is not None and {one.verdict for one in none.results} == {"vacuous"}
    with pytest.raises(RulesError, match="of other rules"):
        Rules.from_text("rates.assert", text.replace("60%", "61%")).join_subtotals(parts)
    for broken in (b"", parts[0][:-1], parts[0] + b"0", b"\xff" * 40):
        with pytest.raises(RulesError, match="no subtotal"):
            rules.conclude(broken)
    with pytest.raises(RulesError, match="near-names"):
        Rules.from_text("rates.assert", text, deny=["near-names"]).join_subtotals([])
    assert RULES.conclude(RULES.subtotal_arrow(data)) is None


def test_what_is_denied_of_all_runs_is_asked_of_all_runs() -> None:
    rules = Rules.from_text("r.assert", "never cancel(id: \"o-9000\")\nbefore approve -> refund deny unexercised")
    rows = verdict_rows(pa.table({"run": ['{"calls": []}'] * 5000 + [json.dumps(runs(1)[0])]}), rules)
    assert [row for row in rows if row["row"] is None] == []


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(RulesError, match="several are a run"):
        RULES.check_arrow(pa.table({"trace_id": ["t"], "name": ["n"]}))
    with pytest.raises(RulesError, match="there is no column `trace`"):
        RULES.check_arrow(table(1), run="trace")
    with pytest.raises(RulesError, match="there is no column `nobody`"):
        RULES.check_arrow(table(1), id="nobody")
    with pytest.raises(TypeError, match="takes Arrow data"):
        RULES.check_arrow([1])
    verdicts = RULES.check_arrow(table(1))
    pa.table(verdicts)
    with pytest.raises(RulesError, match="taken already"):
        pa.table(verdicts)
