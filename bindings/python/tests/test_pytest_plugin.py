"""The plugin of pytest, in a pytest of its own."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

RULES = """
rule approval { tags money; before approve(id: $id) -> refund(id: $id) }
test "seen" expect fail approval { calls: [{ tool: "refund", args: { id: "o-1" } }] }
test "wrong" expect fail approval { calls: [{ tool: "approve", args: { id: 1 } }, { tool: "refund", args: { id: 1 } }] }
test "wrong" expect pass approval { calls: [{ tool: "approve", args: { id: 1 } }, { tool: "refund", args: { id: 1 } }] }
"""
TEST = """
import averment
RUN = {"calls": [{"tool": "refund", "args": {"id": "o-1"}}]}
def test_by_fixture(aver):
    aver.check(RUN, "refunds.assert")
def test_by_membership():
    rules = averment.Rules.from_text("r.assert", "never refund")
    assert RUN in rules
def test_not_by_membership():
    rules = averment.Rules.from_text("r.assert", "never cancel")
    assert RUN not in rules
def test_at_hand():
    outcome = averment.Rules.from_text("s.assert", "never refund").check(RUN)
    assert outcome.passed
def test_alone():
    assert averment.Rules.from_text("t.assert", "never refund").check(RUN)
def test_passes(aver):
    outcome = aver.check({"calls": []}, "refunds.assert")
    assert outcome.results[0].verdict == "vacuous"
    assert aver.rules("refunds.assert") is aver.rules("refunds.assert")
"""


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    pytester.makefile(".assert", refunds=RULES)
    pytester.makepyfile(test_it=TEST)
    cases = pytester.mkdir("refunds.cases")
    (cases / "large.fail.json").write_text('{"calls": [{"tool": "refund", "args": {"id": 1}}]}')
    return pytester.path


def test_rule_files_are_collected_and_marked(folder: Path, pytester: pytest.Pytester) -> None:
    run = pytester.runpytest("refunds.assert", "-v", "--strict-markers", "-p", "no:randomly")
    run.assert_outcomes(passed=3, failed=1)
    run.stdout.fnmatch_lines(["*refunds.assert::seen PASSED*", "*refunds.assert::wrong FAILED*", "*refunds.assert::wrong #2 PASSED*"])
    run.stdout.fnmatch_lines(["refunds.assert:3:1: `approval` is pass, not fail"])
    pytester.runpytest("refunds.assert::refunds.cases/large.fail.json").assert_outcomes(passed=1)
    assert "Traceback" not in run.stdout.str() and "runtest" not in run.stdout.str()
    pytester.runpytest("refunds.assert", "-k", "seen").assert_outcomes(passed=1, deselected=3)
    pytester.runpytest("refunds.assert", "-m", "money").assert_outcomes(passed=2, failed=1, deselected=1)
    pytester.runpytest("refunds.assert", "--lf").assert_outcomes(failed=1)
    pytester.runpytest("refunds.assert::wrong #2").assert_outcomes(passed=1)


def test_failures_are_drawn_once(folder: Path, pytester: pytest.Pytester) -> None:
    run = pytester.runpytest("test_it.py")
    run.assert_outcomes(passed=1, failed=5)
    text = run.stdout.str()
    assert text.count("error[approval.1]") == 1 and text.count("error[r:") == 1 == text.count("error[s:") == text.count("error[t:")
    assert "before approve(id: $id) -> refund(id: $id)" in text and 'refund(id: "o-1")' in text
    run.stdout.fnmatch_lines(["E*<run>*passes <Rules r.assert: 1 assertion>*"])
    assert "pytest_plugin.py" not in text
    brief = pytester.runpytest("test_it.py", "-q", "--tb=no")
    lines = [line for line in brief.stdout.lines if line.startswith("FAILED") and "by_fixture" in line]
    assert len(lines) == 1 and "approval.1" in lines[0]
    line = pytester.runpytest("test_it.py", "-q", "--tb=line", "-k", "by_fixture").stdout.str()
    assert line.count("error[approval.1]") <= 1
    verbose = pytester.runpytest("test_it.py", "-vv").stdout.str()
    assert verbose.count("error[approval.1]") == 1 and verbose.count("error[r:") == 1 == verbose.count("error[s:") == verbose.count("error[t:")


def test_rules_that_do_not_compile_are_an_error_of_the_file(pytester: pytest.Pytester) -> None:
    pytester.makefile(".assert", broken="nevr refund")
    run = pytester.runpytest()
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines(["broken.assert:1:1: error*"])
    pytester.runpytest("-o", "averment_collect=false").assert_outcomes()


def test_it_works_with_xdist(folder: Path, pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.runpytest("-n", "2").assert_outcomes(passed=4, failed=6)


def test_a_project_gives_tools_parameters_and_cases(pytester: pytest.Pytester) -> None:
    # The folder of a project is not that of the user, which is where the pytest within looks for its home.
    pytester.mkdir("project").joinpath("averment.toml").write_text('rules = ["rules"]\n[params]\nlimit = 100\n')
    pytester.mkdir("project/rules").joinpath("a.assert").write_text(
        'param limit: number\nrule r { never refund(amount > limit) }\n'
        'test "t" expect fail r { calls: [{ tool: "refund", args: { amount: 101 } }] }\n'
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_many_files_are_collected_quickly(pytester: pytest.Pytester) -> None:
    for number in range(200):
        (pytester.path / f"r{number}.assert").write_text(RULES)
    began = time.perf_counter()
    run = pytester.runpytest("--collect-only", "-q")
    assert "600 tests collected" in run.stdout.str()
    assert time.perf_counter() - began < 20
