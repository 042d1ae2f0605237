"""What all scorers have in common."""

from __future__ import annotations

import os
from typing import Any

from averment._outcome import Outcome
from averment._rules import Rules


def compiled(rules: Rules | str | os.PathLike[str], settings: dict[str, Any]) -> Rules:
    """Rules, or those of a file."""
    if isinstance(rules, Rules):
        if settings:
            raise TypeError("settings belong to rules that are named by their file")
        return rules
    return Rules.from_file(rules, **settings)


def value_of(outcome: Outcome) -> float | None:
    """1 for a run that passes, 0 for one that fails, ``None`` where that is not known."""
    return {"pass": 1.0, "fail": 0.0}.get(outcome.verdict)


def comment_of(outcome: Outcome) -> str:
    """Why, in a few lines."""
    if outcome.verdict == "pass":
        return outcome.explain_line() if outcome.findings else "everything passed"
    lines = [f"{one.id}: {one.verdict}: {one.message or one.reason}" for one in outcome.findings[:10]]
    return "\n".join([outcome.verdict, *lines])
