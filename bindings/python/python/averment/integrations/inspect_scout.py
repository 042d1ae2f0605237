"""A scanner for Inspect Scout: ``scan(scanners=[rules_scanner("refunds.assert")], …)``."""

from __future__ import annotations

import os
from typing import Any

from inspect_scout import Result, Scanner, Transcript, scanner

from averment._rules import Rules
from averment.integrations._inspect import run_of_messages
from averment.integrations._score import comment_of, compiled, value_of


@scanner(messages="all", name="averment")
def rules_scanner(rules: Rules | str | os.PathLike[str], **settings: Any) -> Scanner[Transcript]:
    """True where the transcript passes, false where it fails, and no value where that is undecided or vacuous."""
    judge = compiled(rules, settings)

    async def scan(transcript: Transcript) -> Result:
        outcome = judge.check(run_of_messages(transcript.messages), name=transcript.transcript_id)
        value = value_of(outcome)
        return Result(
            value=None if value is None else bool(value),
            answer=outcome.verdict,
            explanation=comment_of(outcome),
            metadata={"verdict": outcome.verdict, "score": outcome.score},
        )

    return scan
