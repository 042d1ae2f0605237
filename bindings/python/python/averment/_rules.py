"""Compiled rules."""

from __future__ import annotations

import itertools
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast, overload

from averment._averment import RawBatch, RawOutcome, RawRules, RawSummary, RawVerdicts
from averment._errors import AvermentError
from averment._outcome import Explanation, Outcome, Severity, Verdict

FilePath: TypeAlias = "str | os.PathLike[str]"
_T = TypeVar("_T")
Denied = Literal["vacuous", "unjudged", "unexercised", "near-names", "undecided"]


@dataclass(frozen=True)
class Limits:
    """How large rules and runs may be, and how much work they may be. ``None`` is the default of the command."""

    fuel: int | None = None
    """Instructions and matches for one assertion on one run."""
    run_fuel: int | None = None
    """The same, for all assertions on one run."""
    run_bytes: int | None = None
    """Bytes of one run."""
    run_memory: int | None = None
    """Bytes of memory for the values of one run."""
    json_depth: int | None = None
    """Nested values in a run."""
    rule_file_bytes: int | None = None
    """Bytes of one rule file."""
    foreign: bool = field(default=False, kw_only=True)
    """Begin with the smaller limits that suit rules of strangers."""

    @classmethod
    def for_foreign_rules(cls) -> Limits:
        """Limits for whoever runs rules that somebody else has written: a run takes seconds at most."""
        return cls(foreign=True)


@dataclass(frozen=True)
class Permissions:
    """What rules may look at beside the run. The default is nothing."""

    working_directory: FilePath | None = None
    """Where relative paths start and commands run; files below it may be read."""
    read: Sequence[FilePath] = ()
    """Further folders whose files may be read."""
    run: bool = False
    """Whether commands may be run."""
    environment: bool = False
    """Whether rules may ask whether a variable is set."""
    command_seconds: float = 60.0
    """How long one command may take."""


@dataclass(frozen=True)
class Assertion:
    """An assertion of the rules, whatever the run."""

    id: str
    rule: str | None
    sentence: str | None
    text: str
    severity: Severity
    weight: float
    tags: tuple[str, ...]
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Diagnostic:
    """One thing that the compiler says about rules."""

    id: str
    severity: Literal["error", "warning", "info"]
    message: str
    help: str | None
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class TestResult:
    """The result of a ``test`` block."""

    __test__ = False  # pytest collects no class that is named like a test here.

    name: str
    file: str
    line: int
    column: int
    passed: bool
    reason: str
    verdicts: dict[str, Verdict]


class Rules:
    """Compiled rules. They can be shared by threads; nothing changes them."""

    __slots__ = ("_raw",)

    def __init__(self, raw: RawRules) -> None:
        self._raw = raw

    @classmethod
    def from_text(
        cls,
        name: str,
        text: str | bytes,
        *,
        params: Mapping[str, Any] | None = None,
        tools: FilePath | Mapping[str, Any] | Sequence[Any] | None = None,
        limits: Limits | None = None,
        permissions: Permissions | None = None,
        only_rules: Iterable[str] = (),
        only_cases: Iterable[str] = (),
        only_tags: Iterable[str] = (),
        deny: Iterable[Denied] = (),
        allow_undecided: bool = False,
        allow_empty: bool = False,
        strict: bool = False,
        trace_names: str | None = None,
        redact: Iterable[str] = (),
    ) -> Rules:
        """Compiles one text. ``name`` stands in messages and places; the text can import nothing but the standard set.

        ``params`` gives parameters their values: durations, amounts and sizes are text as in rules (``"30s"``, ``"$0.05"``).
        ``tools`` is a catalogue of tools: an answer to MCP ``tools/list``, a list of OpenAI tools, names with schemas, or the
        path of such a file. The other arguments do what the flags of ``aver check`` do that have their names.
        """
        data = text.encode() if isinstance(text, str) else text
        settings = _settings(
            params, tools, limits, permissions, only_rules, only_cases, only_tags, deny, allow_undecided, allow_empty, strict,
            trace_names, redact,
        )  # fmt: skip
        return cls(RawRules([(name, data)], settings))

    @classmethod
    def from_file(
        cls,
        path: FilePath,
        *more: FilePath,
        params: Mapping[str, Any] | None = None,
        tools: FilePath | Mapping[str, Any] | Sequence[Any] | None = None,
        limits: Limits | None = None,
        permissions: Permissions | None = None,
        only_rules: Iterable[str] = (),
        only_cases: Iterable[str] = (),
        only_tags: Iterable[str] = (),
        deny: Iterable[Denied] = (),
        allow_undecided: bool = False,
        allow_empty: bool = False,
        strict: bool = False,
        trace_names: str | None = None,
        redact: Iterable[str] = (),
    ) -> Rules:
        """Compiles rule files, or programs of ``aver compile``. What they import is read from their own folders.

        The arguments are those of :meth:`from_text`.
        """
        settings = _settings(
            params, tools, limits, permissions, only_rules, only_cases, only_tags, deny, allow_undecided, allow_empty, strict,
            trace_names, redact,
        )  # fmt: skip
        return cls(RawRules([(os.fspath(one), None) for one in (path, *more)], settings))

    def check(self, run: Any, *, name: str | None = None) -> Outcome:
        """Judges one run: a dict, a list of messages, JSON text, bytes, or a path (:class:`pathlib.Path`).

        Any format that ``aver check`` reads is known; it is recognized by its content. Text is never taken for a path. Models,
        dataclasses and the like inside of a run are written as JSON.
        """
        return Outcome(self._raw.check(run, name))

    @overload
    def check_many(self, runs: Any, *, threads: int = 0, errors: Literal["raise"] = "raise") -> Outcomes[Outcome]: ...
    @overload
    def check_many(self, runs: Any, *, threads: int = 0, errors: Literal["yield"]) -> Outcomes[Outcome | AvermentError]: ...
    def check_many(self, runs: Any, *, threads: int = 0, errors: Literal["raise", "yield"] = "raise") -> Outcomes[Any]:
        """Judges many runs with several threads; outcomes come in order while judging goes on.

        ``runs`` is the path of a file of runs, or an iterable of what :meth:`check` takes; each of them may hold several runs.
        A run that cannot be read raises in its place, after which iteration may go on, or is yielded as an exception.
        ``threads`` is 0 for as many as there are processors.
        """
        return Outcomes(self._raw, [runs] if isinstance(runs, os.PathLike) else runs, threads, errors)

    def check_arrow(
        self,
        data: Any,
        *,
        run: str | None = None,
        id: str | None = None,
        meta: Iterable[str] = (),
        statuses: Iterable[str] = (),
        threads: int = 0,
    ) -> Verdicts:
        """Judges the rows of Arrow data, each of which is a run: tables, batches and readers of pyarrow, frames of polars and pandas,
        relations of DuckDB, and whatever else has ``__arrow_c_stream__``.

        ``run`` names the column that holds the runs, as JSON text or as a nested value. Without it the columns are found by their
        names, as ``aver check`` finds those of a Parquet file. ``id`` names the column whose values name the runs, ``meta`` columns
        that go into ``meta`` of each run. ``statuses`` are the statuses of the verdicts that are wanted (``"failed"``), all without it: fewer
        rows are made sooner. ``threads`` is 0 for as many as there are processors.

        The verdicts are made while they are taken, a batch of rows at a time. A row that cannot be read has a row with the status
        ``unreadable`` and its reason, whatever is wanted. Rules that speak of all runs together hold all rows in memory.
        """
        asked: dict[str, object] = {"run": run, "id": id, "meta": _words(meta), "statuses": _words(statuses), "threads": threads}
        return Verdicts(self._raw.check_arrow(data, asked))

    def subtotal_arrow(self, data: Any, *, run: str | None = None, meta: Iterable[str] = (), threads: int = 0) -> bytes:
        """What the rows of Arrow data give to the rules that speak of all runs together (``in at least 95% of runs: …``).

        Whoever judges parts of the runs apart, on other machines or days, makes a subtotal of each part, and gives them to
        :meth:`join_subtotals` and :meth:`conclude`. The arguments are those of :meth:`check_arrow`. Rows that cannot be read are left out.
        Rates are counts; an average or a percentile keeps 8 bytes a run in it, up to 131,072 runs.
        """
        return self._raw.subtotal_arrow(data, run, _words(meta), threads)

    def join_subtotals(self, subtotals: Iterable[bytes]) -> bytes:
        """The subtotals of parts of the runs as that of all of them, in the order of the parts. That of no parts is that of no runs."""
        return self._raw.join_subtotals(list(subtotals))

    def conclude(self, subtotal: bytes) -> Outcome | None:
        """What the rules say of all runs together that a subtotal was made of: the result that one check of them gives.

        ``None`` where the rules say nothing of the kind.
        """
        outcome = self._raw.conclude(subtotal)
        return None if outcome is None else Outcome(outcome)

    def explain(self, run: Any, *, name: str | None = None) -> Explanation:
        """Says how each verdict on a run came about."""
        return Explanation(*self._raw.explain(run, name))

    def run_tests(self) -> list[TestResult]:
        """Runs the ``test`` blocks of the rules."""
        return [TestResult(**one) for one in json.loads(self._raw.run_tests())]

    @property
    def assertions(self) -> list[Assertion]:
        """The assertions that are checked, in the order of the rules."""
        return [Assertion(**{**one, "tags": tuple(one["tags"])}) for one in json.loads(self._raw.assertions())]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and infos of the compiler."""
        return [Diagnostic(**one) for one in json.loads(self._raw.diagnostics())]

    def __contains__(self, run: object) -> bool:
        return self.check(run).passed

    def __repr__(self) -> str:
        assertions = self.assertions
        files = ", ".join(dict.fromkeys(one.file for one in assertions))
        return f"<Rules {files}: {len(assertions)} assertion{'' if len(assertions) == 1 else 's'}>"


class Verdicts:
    """Verdicts as Arrow data, to be taken once: ``pyarrow.RecordBatchReader.from_stream(verdicts)``, ``polars.DataFrame(verdicts)``.

    The columns are ``row`` (the number of the row from 0, null for what is said of all runs together), ``run`` (its name, where
    ``id`` was given), ``rule``, ``assertion``, ``severity``, ``verdict``, ``status``, ``score``, ``violations``, ``reason`` and
    ``message``. ``status`` is never null; ``verdict`` is null for ``unreadable`` and ``not_judged``.
    """

    __slots__ = ("_raw",)

    def __init__(self, raw: RawVerdicts) -> None:
        self._raw = raw

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._raw.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class Summary:
    """Counts over the runs that were judged so far."""

    runs: int
    runs_failed: int
    unreadable: int
    not_judged: int
    score: float | None
    """The mean of the scores of all runs that have one."""
    passed: bool
    """Whether every run was read and judged, none failed, and something was checked."""
    counts: dict[str, int]
    """The results of all runs by status."""


_WINDOW = 2048
"""Runs in memory that are judged as one batch. Two of them are on their way at a time."""


class Outcomes(Iterator[_T], Generic[_T]):
    """The outcomes of many runs, in order."""

    def __init__(self, raw: RawRules, runs: Iterable[Any], threads: int, errors: Literal["raise", "yield"]) -> None:
        if isinstance(runs, (str, bytes, bytearray, Mapping)):
            raise TypeError("`check_many` takes a path or an iterable of runs; `check` judges a single one")
        if errors not in ("raise", "yield"):
            raise ValueError(f"`errors` is 'raise' or 'yield', not {errors!r}")
        self._raw, self._runs, self._threads, self._errors = raw, iter(runs), threads, errors
        self._batches: deque[RawBatch | Exception] = deque()
        self._done: RawSummary | None = None
        self._first = 0
        self._over_runs: Outcome | None = None
        self._window = None if raw.speaks_of_all_runs else _WINDOW

    def _start_batch(self) -> bool:
        window = list(itertools.islice(self._runs, self._window))
        if window:
            batch, taken, error = self._raw.check_batch(window, self._first, self._threads)
            self._batches.append(batch)
            if error is not None:
                # It is raised in its place, and what stands behind it is judged all the same.
                self._batches.append(error)
                taken += 1
                self._runs = itertools.chain(window[taken:], self._runs)
            self._first += taken
        return bool(window)

    def __iter__(self) -> Outcomes[_T]:
        return self

    def __next__(self) -> _T:
        while True:
            # The next batch is judged while the outcomes of this one are taken.
            while len(self._batches) < 2 and self._start_batch():
                pass
            if not self._batches:
                raise StopIteration
            first = self._batches[0]
            found = self._batches.popleft() if isinstance(first, Exception) else first.take_next()
            if isinstance(found, RawOutcome):
                return cast("_T", Outcome(found))
            if found is None:
                self._batches.popleft()
                self._end_batch(cast("RawBatch", first))
            elif self._errors == "raise" or not isinstance(found, AvermentError):
                raise cast("Exception", found)
            else:
                return cast("_T", found)

    def _end_batch(self, batch: RawBatch) -> None:
        summary = batch.summary()
        self._done = summary if self._done is None else self._done.plus(summary)
        over_runs = batch.over_runs()
        self._over_runs = None if over_runs is None else Outcome(over_runs)

    @property
    def over_runs(self) -> Outcome | None:
        """What the rules say of all runs together (``in at least 95% of runs: …``), when the last outcome was taken."""
        return self._over_runs

    @property
    def summary(self) -> Summary:
        """Counts over the outcomes that were taken so far."""
        current = [batch.summary() for batch in itertools.islice(self._batches, 1) if isinstance(batch, RawBatch)]
        known = ([] if self._done is None else [self._done]) + current
        if not known:
            return Summary(0, 0, 0, 0, None, False, {})
        total = known[0] if len(known) == 1 else known[0].plus(known[1])
        return Summary(
            total.runs, total.runs_failed, total.unreadable, total.not_judged, total.score, total.passed, json.loads(total.counts())
        )


def _settings(
    params: Mapping[str, Any] | None,
    tools: FilePath | Mapping[str, Any] | Sequence[Any] | None,
    limits: Limits | None,
    permissions: Permissions | None,
    only_rules: Iterable[str],
    only_cases: Iterable[str],
    only_tags: Iterable[str],
    deny: Iterable[Denied],
    allow_undecided: bool,
    allow_empty: bool,
    strict: bool,
    trace_names: str | None,
    redact: Iterable[str],
) -> str:
    permissions = permissions or Permissions()
    folder = permissions.working_directory
    return json.dumps(
        {
            "params": dict(params or {}),
            "tools": [] if tools is None else [_catalogue(tools)],
            "limits": asdict(limits or Limits()),
            "permissions": {
                "working_directory": None if folder is None else os.fspath(folder),
                "read": [os.fspath(path) for path in permissions.read],
                "run": permissions.run,
                "environment": permissions.environment,
                "command_seconds": permissions.command_seconds,
            },
            "only_rules": _words(only_rules),
            "only_cases": _words(only_cases),
            "only_tags": _words(only_tags),
            "deny": _words(deny),
            "allow_undecided": allow_undecided,
            "allow_empty": allow_empty,
            "strict": strict,
            "trace_names": trace_names,
            "redact": _words(redact),
        },
        default=str,
    )


def _words(words: Iterable[str]) -> list[str]:
    """A single word is a list of one, not of its letters."""
    return [words] if isinstance(words, str) else list(words)


def _catalogue(tools: FilePath | Mapping[str, Any] | Sequence[Any]) -> tuple[str, str]:
    if isinstance(tools, (str, os.PathLike)):
        with open(tools, encoding="utf-8") as file:
            return os.fspath(tools), file.read()
    return "<tools>", json.dumps(tools)
