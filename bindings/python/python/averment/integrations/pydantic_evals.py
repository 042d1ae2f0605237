"""An evaluator for Pydantic Evals: ``Dataset(cases=[…], evaluators=[RulesEvaluator("refunds.assert")])``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from averment._outcome import Outcome
from averment._rules import Rules
from averment.integrations._score import comment_of, compiled, value_of


@dataclass
class RulesEvaluator(Evaluator[Any, Any, Any]):
    """Judges the output of a task: a run, or messages.

    The assertion ``averment`` is true or false. A run that is undecided or vacuous has none, and the label ``averment verdict``
    says which: labels are not averaged.
    """

    rules: Any
    """Rules, or the path of a rule file."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Those of :meth:`averment.Rules.from_file`."""

    def __post_init__(self) -> None:
        self._judge: Rules = compiled(self.rules, self.settings)

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, EvaluationReason | str]:
        return self._judged(self._judge.check(ctx.output))

    def _judged(self, outcome: Outcome) -> dict[str, EvaluationReason | str]:
        value, comment = value_of(outcome), comment_of(outcome)
        if value is None:
            return {"averment verdict": EvaluationReason(outcome.verdict, comment)}
        return {"averment": EvaluationReason(bool(value), comment), "averment verdict": outcome.verdict}
