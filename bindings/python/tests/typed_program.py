"""A program that uses all of the package, for type checkers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import averment
from averment import AvermentError, Decision, Guard, Limits, Outcome, Outcomes, Permissions, Rules, Summary, Verdict
from averment.recording import from_anthropic, from_langchain, from_openai_agents


def judge(run: dict[str, Any]) -> list[str]:
    rules = Rules.from_text("r.assert", "never refund", params={"limit": 3}, limits=Limits(fuel=3), deny=["vacuous"])
    rules = Rules.from_file("a.assert", Path("b.assert"), permissions=Permissions(read=["x"]), tools={"refund": {}})
    outcome: Outcome = rules.check(run, name="run")
    verdict: Verdict = outcome.verdict
    lines = [f"{one.id} {one.verdict} {one.file}:{one.line} {one.reason}" for one in outcome.results]
    lines += [f"{piece.step} {piece.path} {piece.value}" for one in outcome.findings for piece in one.evidence]
    lines += [one.reason for one in outcome.result("a").violations] + [str(outcome.score), verdict]
    data: dict[str, Any] = outcome.to_dict()
    lines += [str(rules.explain(run)), str(data), outcome.draw(color=True)]
    return lines


def judge_many(rules: Rules, path: Path) -> Summary:
    outcomes: Outcomes[Outcome] = rules.check_many(path, threads=2)
    for outcome in outcomes:
        print(outcome.run, outcome.passed)
    for found in rules.check_many([path, {"calls": []}], errors="yield"):
        print(found.message if isinstance(found, averment.ReadError) else str(found))
        if isinstance(found, AvermentError):
            raise found
    over: Outcome | None = outcomes.over_runs
    print(over, [test.passed for test in rules.run_tests()], [one.text for one in rules.assertions])
    return outcomes.summary


def add_up(rules: Rules, parts: list[object]) -> Outcome | None:
    verdicts: averment.Verdicts = rules.check_arrow(parts[0], run="run", id="id", meta=["model"], threads=1)
    subtotals: list[bytes] = [rules.subtotal_arrow(part, run="run", meta=["model"], threads=1) for part in parts]
    print(verdicts)
    return rules.conclude(rules.join_subtotals(subtotals))


def guarded(rules: Rules) -> str:
    guard = Guard(rules, mode="warn")
    guard.message("user", "hello")
    decision: Decision = guard.propose("refund", {"order": 7}, id="c1", agent=None)
    if decision.allowed and guard.result("refund", {"paid": 7}, id="c1") and guard.stop(held=True):
        return guard.trace
    return decision.reason


def failure(text: str) -> tuple[str | None, int | None]:
    try:
        Rules.from_text("r.assert", text)
    except averment.RulesError as error:
        return error.file, error.line
    rules = Rules.from_text("r.assert", text)
    return None, int([] in rules) + len(from_langchain([])) + len(from_openai_agents([])) + len(from_anthropic([]))
