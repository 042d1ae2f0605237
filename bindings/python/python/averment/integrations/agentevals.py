"""An evaluator as those of AgentEvals and OpenEvals: ``create_rules_evaluator(rules)(outputs=messages)``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from agentevals.types import EvaluatorResult

from averment._rules import Rules
from averment.integrations._score import comment_of, compiled, value_of
from averment.recording import from_langchain


def create_rules_evaluator(
    rules: Rules | str | os.PathLike[str], *, key: str = "averment", **settings: Any
) -> Callable[..., EvaluatorResult]:
    """An evaluator of trajectories. The score is ``True``, ``False``, or ``None`` where the run is undecided or vacuous."""
    judge = compiled(rules, settings)

    def evaluator(*, outputs: Any, reference_outputs: Any = None, **kwargs: Any) -> EvaluatorResult:
        if isinstance(outputs, (list, tuple)):
            outputs = from_langchain(outputs)
        outcome = judge.check(outputs)
        value = value_of(outcome)
        score = None if value is None else bool(value)
        return EvaluatorResult(key=key, score=score, comment=comment_of(outcome), metadata={"verdict": outcome.verdict})

    return evaluator
