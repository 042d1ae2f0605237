"""Checks what AI agents did and answered against rules.

Rules are compiled once and judge any number of recorded runs:

>>> import averment
>>> rules = averment.Rules.from_text("refunds.assert", "never refund(amount > 100)")
>>> outcome = rules.check({"calls": [{"tool": "refund", "args": {"amount": 250}}]})
>>> outcome.passed, outcome.results[0].verdict
(False, 'fail')

``print(outcome)`` draws each failure with the places in the run that prove it.
"""

from averment._averment import __version__
from averment._errors import AvermentError, InternalError, ReadError, RulesError
from averment._guard import Decision, Guard
from averment._outcome import (
    Evidence,
    Explanation,
    FailureClass,
    Outcome,
    Result,
    RuleResult,
    Severity,
    SourcePlace,
    Status,
    Unjudged,
    Verdict,
    Violation,
    TraceWarning,
)
from averment._rules import Assertion, Diagnostic, Limits, Outcomes, Permissions, Rules, Summary, TestResult, Verdicts

__all__ = [
    "Assertion",
    "AvermentError",
    "Decision",
    "Diagnostic",
    "Evidence",
    "Explanation",
    "FailureClass",
    "Guard",
    "InternalError",
    "Limits",
    "Outcome",
    "Outcomes",
    "Permissions",
    "ReadError",
    "Result",
    "RuleResult",
    "Rules",
    "RulesError",
    "Severity",
    "SourcePlace",
    "Status",
    "Summary",
    "TestResult",
    "Unjudged",
    "Verdict",
    "Verdicts",
    "Violation",
    "TraceWarning",
    "__version__",
]
