"""Outcomes in notebooks. Everything that comes from rules and runs is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from averment._outcome import Outcome

_COLORS = {"pass": "#1a7f37", "fail": "#cf222e", "error": "#cf222e", "undecided": "#9a6700", "vacuous": "#6e7781", "skipped": "#6e7781"}


def outcome_html(outcome: Outcome) -> str:
    """A line with the verdict, a table of the results, and the drawing where something failed."""
    head = f"<p><strong>{escape(outcome.run)}</strong>: {_verdict(outcome.verdict)}{_score(outcome.score)}</p>"
    rows = "".join(
        f"<tr><td>{_verdict(one.verdict)}</td><td><code>{escape(one.id)}</code></td>"
        f"<td style='text-align:left'><code>{escape(one.text)}</code></td>"
        f"<td style='text-align:left'>{escape(one.message or one.reason)}</td></tr>"
        for one in outcome.results
    )
    table = f"<table><thead><tr><th>verdict</th><th>id</th><th>assertion</th><th>reason</th></tr></thead><tbody>{rows}</tbody></table>"
    drawing = "" if outcome.passed else text_html(outcome.draw())
    return f"<div>{head}{table}{drawing}</div>"


def text_html(text: str) -> str:
    """Text with its lines and spaces."""
    return f"<pre style='line-height:1.2;overflow-x:auto'>{escape(text)}</pre>"


def _verdict(verdict: str) -> str:
    return f"<span style='color:{_COLORS.get(verdict, 'inherit')}'>{escape(verdict)}</span>"


def _score(score: float | None) -> str:
    return "" if score is None else f", score {score:.2f}"
