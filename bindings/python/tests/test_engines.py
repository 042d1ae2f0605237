"""The programs of the pages on engines, run as they are printed. Each is tried where its package is there."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

RUNS = 50
REFUNDED = sorted(f"r{number}" for number in range(RUNS) if number % 4 == 0)
BROKEN = "broken"


def page(name: str) -> str:
    return (PROJECT / "docs/how-to" / f"{name}.md").read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = [json.dumps({"calls": [{"tool": "refund" if number % 4 == 0 else "look"}]}) for number in range(RUNS)]
    names = [f"r{number}" for number in range(RUNS)]
    table = pa.table({"key": [*names, BROKEN], "run": [*runs, "{"]})
    pq.write_table(table, tmp_path / "runs.parquet", row_group_size=20)
    (tmp_path / "rules.assert").write_text("never refund\n")
    return tmp_path


def found(folder: Path, program: str, ending: str) -> Any:
    """What the ending of a program gives, as JSON on the last line."""
    program += f"\nimport json\nprint(json.dumps({ending}))\n"
    here = os.path.dirname(sys.executable)
    settings = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=settings, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def needs(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not there")


def test_polars(folder: Path) -> None:
    needs("polars")
    ending = '[sorted(bad.collect()["run"]), rates.conclude(rates.join_subtotals(list(map(lambda part: rates.subtotal_arrow(part, run="run"), '
    ending += 'pl.scan_parquet("runs.parquet").collect_batches())))).results[0].verdict]'
    assert found(folder, "\n".join(blocks("polars", "python")), ending) == [sorted([*REFUNDED, BROKEN]), "fail"]


def test_duckdb(folder: Path) -> None:
    needs("duckdb")
    (program,) = blocks("duckdb", "python")
    rows = found(folder, program, "target.sql('SELECT run, status FROM verdicts').fetchall()")
    assert sorted(run for run, status in rows if status == "failed") == REFUNDED
    assert [run for run, status in rows if status == "unreadable"] == [BROKEN] and len(rows) == RUNS + 1


def test_ray_data(folder: Path) -> None:
    needs("ray", "pandas")
    ending = "[sorted(bad['run'][bad['status'] == 'failed']), list(bad['run'][bad['status'] == 'unreadable']), "
    ending += "outcome.run, outcome.results[0].verdict]"
    told = found(folder, "\n".join(blocks("ray", "python")), ending)
    assert told == [REFUNDED, [BROKEN], f"all {RUNS} runs", "fail"]


def test_clickhouse(folder: Path) -> None:
    needs("chdb")
    (program,), (function,), (query,) = blocks("clickhouse", "python"), blocks("clickhouse", "xml"), blocks("clickhouse", "sql")
    script = folder / "aver_check.py"
    script.write_text(program)
    script.chmod(0o755)
    # The name that chDB, ClickHouse as a module of Python, asks for.
    (folder / "udf_config.xml").write_text(function)
    source = query.replace("FROM runs", "FROM file('runs.parquet')")
    asked = f"import chdb\nfound = chdb.query({source!r}, 'JSONCompact', udf_path={os.fspath(folder)!r}).data()"
    rows = found(folder, asked, "json.loads(found)['data']")
    assert sorted(row[0] for row in rows if row[2] == "failed") == REFUNDED
    assert [row[0] for row in rows if row[2] == "unreadable"] == [BROKEN] and len(rows) == len(REFUNDED) + 1
