"""An evaluator for LangSmith: ``client.evaluate(target, data=…, evaluators=[evaluator("refunds.assert")])``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from langsmith.evaluation import EvaluationResult, EvaluationResults
from langsmith.schemas import Example, Run

from averment._outcome import Outcome, Result
from averment._rules import Rules
from averment.integrations._score import comment_of, compiled, value_of


def evaluator(
    rules: Rules | str | os.PathLike[str],
    *,
    key: str = "averment",
    run: Callable[[Run], Any] | None = None,
    each: bool = False,
    **settings: Any,
) -> Callable[[Run, Example | None], EvaluationResults]:
    """Judges what the target returned: a run, or a dict with ``messages``.

    The feedback has no score where the run is undecided or vacuous, and its value is the verdict then. With ``each``, every
    assertion is a feedback of its own. ``run`` takes another part of LangSmith's run. ``settings`` are those of
    :meth:`averment.Rules.from_file`.
    """
    judge, take_run = compiled(rules, settings), run or _outputs

    # LangSmith looks at the names of arguments.
    def averment(run: Run, example: Example | None = None) -> EvaluationResults:
        outcome = judge.check(take_run(run))
        results = [_of_run(outcome, key)]
        if each:
            results += [_of_assertion(one, key) for one in outcome.results]
        return {"results": results}

    return averment


def _outputs(run: Run) -> Any:
    return run.outputs or {}


def _of_run(outcome: Outcome, key: str) -> EvaluationResult:
    return EvaluationResult(key=key, score=value_of(outcome), value=outcome.verdict, comment=comment_of(outcome))


def _of_assertion(one: Result, key: str) -> EvaluationResult:
    score = {"passed": 1.0, "expected-failed": 1.0, "failed": 0.0, "unexpected-passed": 0.0}.get(one.status)
    return EvaluationResult(key=f"{key}.{one.id}", score=score, value=one.verdict, comment=one.message or one.reason or None)
