"""The plugin of pytest: rule files with tests are collected, and failures show what ``aver check`` draws.

``aver`` is a fixture: ``aver.check(run, "refunds.assert")``. ``assert run in rules`` shows the drawing, too.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from averment import _outcome
from averment._averment import RawTests
from averment._errors import AvermentError, RulesError
from averment._outcome import Outcome
from averment._rules import FilePath, Rules


class RuleFailure(AssertionError):
    """A run that does not pass. Its text is one line, as summaries have it; reports show the drawing below."""

    # Summaries have one line: the module would take most of it.
    __module__ = "builtins"

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.explain_line())
        self.outcome = outcome


class Aver:
    """Checks runs in tests."""

    def __init__(self, folders: Iterable[Path], cache: dict[Any, Rules]) -> None:
        self._folders, self._cache = tuple(folders), cache

    def rules(self, path: FilePath, **settings: Any) -> Rules:
        """The rules of a file, beside the test or from pytest's root; compiled once in a session."""
        found = self._find(Path(path))
        key = (found, repr(sorted(settings.items())))
        if key not in self._cache:
            self._cache[key] = Rules.from_file(found, **settings)
        return self._cache[key]

    def check(self, run: Any, rules: Rules | FilePath, **settings: Any) -> Outcome:
        """Fails the test unless the run passes, and returns the outcome. ``settings`` are those of :meth:`Rules.from_file`."""
        __tracebackhide__ = True
        if isinstance(rules, Rules):
            if settings:
                raise TypeError("settings belong to rules that are named by their file")
            judge = rules
        else:
            judge = self.rules(rules, **settings)
        outcome = judge.check(run)
        if not outcome.passed:
            raise RuleFailure(outcome)
        return outcome

    def _find(self, path: Path) -> Path:
        places = [folder / path for folder in self._folders]
        return next((place for place in places if place.exists()), places[0])


_compared: deque[Outcome] = deque(maxlen=8)
"""What failed assertions were about, until the report of the test is made."""
_RULES = pytest.StashKey[dict[Any, Rules]]()


@pytest.fixture
def aver(request: pytest.FixtureRequest) -> Aver:
    """Checks runs against rule files: ``aver.check(run, "refunds.assert")``."""
    cache = request.config.stash.setdefault(_RULES, {})
    return Aver([request.path.parent, request.config.rootpath], cache)


def pytest_configure(config: pytest.Config) -> None:
    def note_outcome(outcome: Outcome, head: str) -> str:
        _compared.append(outcome)
        return head

    _outcome.shown_in_test = note_outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("averment_collect", "Collect rule files (*.assert) that have tests", type="bool", default=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> RuleFile | None:
    if file_path.suffix != ".assert" or not parent.config.getini("averment_collect"):
        return None
    return RuleFile.from_parent(parent, path=file_path)


class RuleFile(pytest.File):
    """A rule file: each of its tests is an item."""

    def collect(self) -> Iterator[RuleTest]:
        tests = RawTests(_shown_path(self.path))
        folder = os.path.join(os.path.dirname(_shown_path(self.path)), "")
        seen: dict[str, int] = {}
        for number, test in enumerate(json.loads(tests.tests())):
            # Case files are named by their paths: from the folder of the rules these are the same wherever pytest was called.
            name = " ".join(test["name"].removeprefix(folder).split()) or "unnamed"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name = f"{name} #{seen[name]}"
            yield RuleTest.from_parent(self, name=name, tests=tests, number=number, test=test)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RulesError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class RuleTest(pytest.Item):
    """A test of a rule file. Its tags, and those of the rules that it names, are marks."""

    def __init__(self, *, tests: RawTests, number: int, test: dict[str, Any], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._tests, self._number, self._test = tests, number, test
        for tag in dict.fromkeys(test["tags"]):
            marker = f"{tag}: a tag of rules"
            if marker not in self.config.getini("markers"):
                self.config.addinivalue_line("markers", marker)
            self.add_marker(tag)

    def runtest(self) -> None:
        report = json.loads(self._tests.run_test(self._number))
        if not report["passed"]:
            raise RuleTestFailed(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (RuleTestFailed, AvermentError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._test["line"] - 1, self.name


class RuleTestFailed(AssertionError):
    """A test of a rule file that does not come out as stated, in the words of ``aver test``."""

    def __init__(self, report: dict[str, Any]) -> None:
        lines = [f"{report['file']}:{report['line']}:{report['column']}: {report['reason']}"]
        if report["help"]:
            lines.append(f"  help: {report['help']}")
        lines += [f"  {one['id']} {one['status']}{': ' if one['reason'] else ''}{one['reason']}" for one in report["why"]]
        super().__init__("\n".join(lines))


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    if not isinstance(right, Rules) or op not in ("in", "not in"):
        return None
    outcome = right.check(left)
    if op == "not in":
        return [f"{outcome.run} passes {right!r}"]
    _compared.append(outcome)
    return [f"{outcome.run}: {outcome.explain_line()}"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Draws what failed below the assertion, once: what an assertion says is cut after eight lines, and repeated in summaries."""
    report = yield
    add_section = getattr(report.longrepr, "addsection", None)
    if report.failed and call.excinfo is not None and add_section is not None:
        for outcome in _failed_outcomes(call.excinfo):
            add_section(f"averment: {outcome.run}", outcome.draw())
    _compared.clear()
    return report


def _failed_outcomes(excinfo: pytest.ExceptionInfo[BaseException]) -> list[Outcome]:
    """What a failed assertion is about: the outcome that it was made of, or those that the test has at hand."""
    if isinstance(excinfo.value, RuleFailure):
        return [excinfo.value.outcome]
    if not isinstance(excinfo.value, AssertionError):
        return []
    values = list(excinfo.traceback[-1].frame.f_locals.values())
    said = str(excinfo.value)
    compared = [one for one in dict.fromkeys(_compared) if one.explain_line() in said or f"<Outcome {one.run}:" in said]
    at_hand = [value for value in values if isinstance(value, Outcome) and not value.passed]
    return compared or list(dict.fromkeys(at_hand))


def _shown_path(path: Path) -> str:
    """As people name it, which is how places in messages begin."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
