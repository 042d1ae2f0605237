"""A metric for DeepEval: ``evaluate(test_cases, metrics=[RulesMetric("refunds.assert")])``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from averment._rules import Rules
from averment.integrations._score import comment_of, compiled, value_of


def run_of(test_case: LLMTestCase) -> dict[str, Any]:
    """The calls, the input and the answer of a test case, as a run."""
    calls = []
    for call in test_case.tools_called or ():
        entry: dict[str, Any] = {"tool": call.name, "args": call.input_parameters or {}}
        if call.output is not None:
            entry["result"] = call.output
        calls.append(entry)
    run: dict[str, Any] = {"input": test_case.input}
    if test_case.tools_called is not None:
        run["calls"] = calls
    if test_case.actual_output is not None:
        run["output"] = test_case.actual_output
    if test_case.token_cost is not None:
        run["cost"] = test_case.token_cost
    return run


class RulesMetric(BaseMetric):  # type: ignore[misc, unused-ignore]
    """1 where the run passes, 0 where it fails. Undecided and vacuous runs are skipped: they have no score."""

    def __init__(
        self,
        rules: Rules | str | os.PathLike[str],
        *,
        run: Callable[[LLMTestCase], Any] = run_of,
        **settings: Any,
    ) -> None:
        self.threshold = 1.0
        self.async_mode = False
        self.include_reason = True
        self.verdict: str | None = None
        self._rules, self._run = compiled(rules, settings), run

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        outcome = self._rules.check(self._run(test_case))
        self.verdict, self.reason = outcome.verdict, comment_of(outcome)
        self.score = value_of(outcome)
        self.skipped = self.score is None
        self.success = None if self.score is None else self.score >= 1.0
        self.error = None
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        return self.measure(test_case)

    def is_successful(self) -> bool | None:
        return self.success

    @property
    def __name__(self) -> str:
        return "Averment"
