"""A scorer for Inspect: ``Task(dataset, scorer=rules_scorer("refunds.assert"))``."""

from __future__ import annotations

import os
from typing import Any

from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

from averment._rules import Rules
from averment.integrations._score import comment_of, compiled, value_of
from averment.integrations._inspect import run_of_messages


@scorer(metrics=[accuracy(), stderr()], name="averment")
def rules_scorer(rules: Rules | str | os.PathLike[str], **settings: Any) -> Scorer:
    """``C`` where the conversation passes and ``I`` where it fails. An undecided or vacuous one is unscored: metrics leave it out."""
    judge = compiled(rules, settings)

    async def score(state: TaskState, target: Target) -> Score:
        outcome = judge.check(run_of_messages(state.messages), name=f"sample {state.sample_id}")
        value, comment, metadata = value_of(outcome), comment_of(outcome), {"verdict": outcome.verdict}
        if value is None:
            return Score.unscored(explanation=comment, metadata=metadata)
        return Score(value=CORRECT if value else INCORRECT, explanation=comment, metadata=metadata)

    return score
