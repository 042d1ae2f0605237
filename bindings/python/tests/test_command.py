"""What the command says of the same rules and runs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT, SHARED
from test_check import judged

from averment import AvermentError, Permissions, ReadError, Rules

EXAMPLES = sorted(path for path in (PROJECT / "examples").rglob("*.assert") if "imported" not in path.parts)
TRACES = sorted(path for path in SHARED.glob("traces/*/*") if path.suffix in (".json", ".jsonl"))
RULES = """
count call <= 3
never repeat
each call: duration <= 5s
output exists
length(messages) <= 4
"""


def command_report(aver: str, rules: Path, traces: list[str], folder: Path) -> Any:
    said = subprocess.run(
        [aver, "check", str(rules), *traces, "--format", "json", "--no-project"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    return json.loads(said.stdout) if said.stdout.startswith("{") else None


@pytest.mark.parametrize("rules", EXAMPLES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_examples_are_judged_as_the_command_judges_them(rules: Path, aver_command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = rules.parent if rules.parent.parent.name == "examples" else rules.parent.parent
    monkeypatch.chdir(folder)
    traces = [str(path.relative_to(folder)) for path in sorted(folder.glob("runs*/**/*.json*")) + sorted(folder.glob("*.jsonl"))]
    name = rules.relative_to(folder)
    report = command_report(aver_command, name, traces, folder) if traces else None
    if report is None:
        pytest.skip("the command has no report either: rules without runs, or rules that want something beside them")
    compare_reports(Rules.from_file(name, permissions=Permissions(working_directory=".", environment=True)), traces, report)


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_recorded_traces_are_judged_as_the_command_judges_them(
    trace: Path, aver_command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trace.parent)
    file = tmp_path / "r.assert"
    file.write_text(RULES)
    report = command_report(aver_command, file, [trace.name], trace.parent)
    assert report is not None
    rules = Rules.from_file(file)
    compare_reports(rules, [trace.name], report)
    compare_forms(rules, trace)


def compare_reports(rules: Rules, traces: list[str], report: Any) -> None:
    found = list(rules.check_many(map(Path, traces), errors="yield"))
    judged_runs = [one.to_dict() for one in found if not isinstance(one, AvermentError)]
    wanted = [one for one in report["runs"] if not one.get("over_runs")][: len(judged_runs)]
    assert judged_runs == wanted
    unread = [(one.file, one.line, one.message) for one in found if isinstance(one, ReadError)]
    assert unread == [(one["file"], one["line"], one["message"]) for one in report["unreadable"]]


def compare_forms(rules: Rules, trace: Path) -> None:
    """A file, its bytes, its text, and what JSON makes of it."""
    data = trace.read_bytes()
    try:
        first = judged(rules.check(trace))
    except ReadError:
        return
    assert judged(rules.check(data)) == first == judged(rules.check(data.decode()))
    try:
        value = json.loads(data)
    except ValueError:
        return
    assert judged(rules.check(value)) == judged(rules.check(json.dumps(value, ensure_ascii=False)))
    assert without_lines(judged(rules.check(value))) == without_lines(first)


def without_lines(outcome: Any) -> Any:
    """Some messages name a line of the trace, which is another one where the same values are written anew."""
    warnings = sorted(one["message"] for one in outcome["warnings"])
    return json.loads(re.sub(r"line \d+", "line", json.dumps({**outcome, "warnings": warnings})))
