"""What the rules say of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from averment import _html
from averment._averment import RawOutcome

Verdict = Literal["pass", "fail", "vacuous", "undecided", "error", "skipped"]
"""*Vacuous*: it holds, but nothing in the run exercised it. *Undecided*: the run does not record what it needs."""
Status = Literal[
    "passed", "failed", "expected-failed", "unexpected-passed", "vacuous", "undecided", "error", "skipped"
]
Severity = Literal["error", "warn", "info"]


@dataclass(frozen=True)
class SourcePlace:
    """Bytes of the trace."""

    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Evidence:
    """One thing that a verdict rests on."""

    role: Literal["decisive", "value", "opening", "closing", "near-miss"]
    label: str
    """A remark for people."""
    step: int | None
    """The step of the run, from 1."""
    path: str
    """JSON pointer into the normal form of the run; empty where it is no single value."""
    value: Any
    """The value; what is secret in it is hidden."""
    source: SourcePlace | None
    """The bytes of the trace that it stands in."""

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Evidence:
        return cls(**{**data, "source": _source(data["source"])})


def _source(data: dict[str, int] | None) -> SourcePlace | None:
    return None if data is None else SourcePlace(**data)


@dataclass(frozen=True)
class Violation:
    """One step, pair of steps, element or value that fails an assertion."""

    reason: str
    step: int | None
    source: SourcePlace | None
    evidence: tuple[Evidence, ...]

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Violation:
        evidence = tuple(map(Evidence._of, data["evidence"]))
        return cls(data["reason"], data["step"], _source(data["source"]), evidence)


@dataclass(frozen=True)
class FailureClass:
    """The class that a rule gives its failures."""

    id: str
    label: str | None


@dataclass(frozen=True)
class Unjudged:
    """Steps that a pass says nothing of."""

    count: int
    of: int
    things: str
    reason: str


@dataclass(frozen=True)
class TraceWarning:
    """Something odd in the trace that did not stop the reading."""

    line: int
    message: str


@dataclass(frozen=True)
class Result:
    """The result of one assertion on a run."""

    id: str
    rule: str | None
    text: str
    verdict: Verdict
    status: Status
    """The verdict as it counts: a failure may be expected."""
    score: float | None
    """Between 0 and 1; ``None`` for what does not count. An undecided assertion counts 0 in scores: ask the verdict first."""
    reason: str
    """Why, in words; empty for a pass."""
    message: str | None
    """The author's message, if the rule has one and does not pass."""
    because: Literal["open", "owed", "missing"] | None
    """What an undecided result waits for."""
    severity: Severity
    weight: float
    tags: tuple[str, ...]
    failure_class: FailureClass | None
    file: str
    line: int
    column: int
    evidence: tuple[Evidence, ...]
    """The decisive piece first; empty for a pass."""
    violations: tuple[Violation, ...]
    """The violations of a failure, the first hundred of them."""
    violation_count: int
    unjudged: Unjudged | None

    @property
    def passed(self) -> bool:
        """Whether it passed, or failed where a failure is expected."""
        return self.status in ("passed", "expected-failed")

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Result:
        place, violations, given = data["location"], data["violations"] or {"list": [], "count": 0}, data["class"]
        unjudged = data.get("unjudged")
        return cls(
            **{name: data[name] for name in _PLAIN},
            because=data.get("because"),
            tags=tuple(data["tags"]),
            failure_class=None if given is None else FailureClass(**given),
            **place,
            evidence=tuple(map(Evidence._of, data["evidence"])),
            violations=tuple(map(Violation._of, violations["list"])),
            violation_count=violations["count"],
            unjudged=None if unjudged is None else Unjudged(**unjudged),
        )


_PLAIN = ("id", "rule", "text", "verdict", "status", "score", "reason", "message", "severity", "weight")


@dataclass(frozen=True)
class RuleResult:
    """The outcome of a rule on a run."""

    id: str
    verdict: Verdict
    passed: bool
    score: float | None
    threshold: float | None


shown_in_test: Callable[[Outcome, str], str] | None = None
"""Within pytest, which cuts what assertions show of values: the plugin draws it in another place."""


class Outcome:
    """What the rules say of one run.

    It is true where the run passes, so ``assert rules.check(run)`` fails where a rule does.
    """

    __slots__ = ("__dict__", "_raw")

    def __init__(self, raw: RawOutcome) -> None:
        self._raw = raw

    @property
    def run(self) -> str:
        """The name of the run."""
        return self._raw.run

    @property
    def trace(self) -> str:
        """The name of the trace that it stands in."""
        return self._raw.trace

    @property
    def passed(self) -> bool:
        """Whether nothing fails the run. An undecided assertion fails it unless that is allowed; a vacuous one does not."""
        return self._raw.passed

    @property
    def score(self) -> float | None:
        """Between 0 and 1; ``None`` where nothing counted."""
        return self._raw.score

    @cached_property
    def verdict(self) -> Verdict:
        """One word for the whole run. A run that passes is *vacuous* where nothing was exercised, and *undecided* where nothing
        more could be decided; one that does not pass is *undecided* where nothing failed and something could not be decided.
        """
        gating = {one.status for one in self.results if self.passed or one.severity == "error"}
        below = any(not rule.passed and rule.verdict == "fail" for rule in self.rules)
        if self.passed:
            if gating & {"passed", "expected-failed", "failed"}:
                return "pass"
            return "undecided" if "undecided" in gating else "vacuous"
        if below or gating & {"failed", "unexpected-passed"}:
            return "fail"
        if "error" in gating:
            return "error"
        if "undecided" in gating:
            return "undecided"
        return "vacuous" if "vacuous" in gating else "fail"

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """One result for each assertion that was selected, in the order of the rules."""
        return tuple(map(Result._of, self._data["results"]))

    @property
    def findings(self) -> tuple[Result, ...]:
        """The results that are worth a look: all but those that passed and those that were skipped."""
        return tuple(one for one in self.results if one.status not in ("passed", "skipped"))

    @property
    def failures(self) -> tuple[Result, ...]:
        """The results that failed, or passed where a failure is expected."""
        return tuple(one for one in self.results if one.status in ("failed", "unexpected-passed"))

    def result(self, id: str) -> Result:
        """The result of the assertion with this id."""
        for one in self.results:
            if one.id == id:
                return one
        raise KeyError(id)

    @cached_property
    def rules(self) -> tuple[RuleResult, ...]:
        """The outcome of each rule that has a selected assertion."""
        names = ("id", "verdict", "passed", "score", "threshold")
        return tuple(RuleResult(**{name: one[name] for name in names}) for one in self._data["rules"])

    @property
    def named_scores(self) -> dict[str, float]:
        """The scores that rules record with ``as NAME``."""
        return dict(self._data["named_scores"])

    @cached_property
    def warnings(self) -> tuple[TraceWarning, ...]:
        """Problems found in the trace that did not stop the reading."""
        return tuple(TraceWarning(one["line"], one["message"]) for one in self._data["warnings"])

    @cached_property
    def _data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self._raw.to_json())
        return data

    def to_dict(self) -> dict[str, Any]:
        """One element of ``runs`` in ``aver check --format json``."""
        data: dict[str, Any] = json.loads(self._raw.to_json())
        return data

    def to_json(self) -> str:
        """As :meth:`to_dict`, as JSON text."""
        return self._raw.to_json()

    def draw(self, *, color: bool = False, unicode: bool = False, width: int = 80) -> str:
        """What ``aver check`` prints of the run: a picture of each failure, and what was not decided or not exercised."""
        return self._raw.draw(color, unicode, width).rstrip("\n")

    def explain_line(self) -> str:
        """Why the run does not pass, on one line: the first of what is worth a look."""
        first = next(iter(self.failures or [one for one in self.findings if one.status != "vacuous"] or self.findings), None)
        if first is None:
            return "everything passed" if self.results else "nothing was checked"
        more = len(self.findings) - 1
        rest = f" (and {more} more)" if more > 0 else ""
        return f"{first.id}: {first.verdict}: {first.message or first.reason}{rest}"

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        head = f"<Outcome {self.run}: {self.verdict}>"
        if self.passed:
            return head
        return f"{head}\n{self.draw()}" if shown_in_test is None else shown_in_test(self, head)

    def __str__(self) -> str:
        return self.draw()

    def _repr_html_(self) -> str:
        return _html.outcome_html(self)


class Explanation:
    """How each verdict on a run came about. ``str()`` is what ``aver explain RULES TRACE`` prints."""

    __slots__ = ("_json", "_text")

    def __init__(self, text: str, data: str) -> None:
        self._text, self._json = text, data

    def to_dict(self) -> dict[str, Any]:
        """What ``aver explain --format json`` prints."""
        data: dict[str, Any] = json.loads(self._json)
        return data

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Explanation>\n{self._text}"

    def _repr_html_(self) -> str:
        return _html.text_html(self._text)
