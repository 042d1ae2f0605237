"""Runs in all forms, outcomes, errors."""

from __future__ import annotations

import array
import copy
import dataclasses
import datetime
import enum
import json
import pickle
import uuid
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import averment
from averment import Limits, Permissions, ReadError, Rules, RulesError

RULES = """
rule approval "Refunds are approved" {
  tags money
  before approve(id: $id) -> refund(id: $id)
}
cost <= $0.05
never delete_account
after open -> close
"""
RUN: dict[str, Any] = {
    "calls": [
        {"tool": "approve", "args": {"id": "o-2"}},
        {"tool": "refund", "args": {"id": "o-1", "amount": 250}},
    ],
    "output": "done",
}


@pytest.fixture
def rules() -> Rules:
    return Rules.from_text("refunds.assert", RULES)


def judged(outcome: averment.Outcome) -> Any:
    """An outcome without what depends on the bytes of the trace."""

    def without_places(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_places(one) for key, one in value.items() if key not in ("source", "run", "file")}
        return [without_places(one) for one in value] if isinstance(value, list) else value

    return without_places(outcome.to_dict())


def test_every_form_of_a_run_is_judged_alike(rules: Rules, tmp_path: Path) -> None:
    text = json.dumps(RUN)
    path = tmp_path / "run.json"
    path.write_text(text)
    forms = [RUN, text, text.encode(), bytearray(text.encode()), memoryview(text.encode()), path, MappingProxyType(RUN)]
    first = judged(rules.check(RUN))
    assert first["results"][0]["verdict"] == "fail"
    assert all(judged(rules.check(form)) == first for form in forms)


def test_a_list_of_messages_is_a_run() -> None:
    rules = Rules.from_text("r.assert", "never refund(amount > 100)")
    call = {"id": "c", "type": "function", "function": {"name": "refund", "arguments": '{"amount": 250}'}}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert [rules.check(form).verdict for form in (messages, tuple(messages), json.dumps(messages))] == ["fail"] * 3


def test_an_outcome_has_attributes(rules: Rules) -> None:
    outcome = rules.check(RUN, name="a run")
    assert (outcome.passed, bool(outcome), outcome.verdict, outcome.run) == (False, False, "fail", "a run")
    first = outcome.results[0]
    assert (first.id, first.verdict, first.status, first.score, first.rule) == ("approval.1", "fail", "failed", 0.0, "approval")
    assert (first.file, first.line, first.tags, first.severity) == ("refunds.assert", 4, ("money",), "error")
    assert first.reason == 'refund at call 2 has no earlier approve with id "o-1"'
    assert (first.evidence[0].step, first.evidence[0].role, first.evidence[0].path) == (2, "decisive", "/calls/1")
    assert first.evidence[0].source is not None and first.evidence[0].source.line == 1
    assert first.violation_count == 1 and first.violations[0].step == 2
    assert [one.verdict for one in outcome.results] == ["fail", "undecided", "pass", "vacuous"]
    assert outcome.results[1].because == "missing"
    assert outcome.result("approval.1") is first
    assert [one.id for one in outcome.failures] == ["approval.1"] and len(outcome.findings) == 3
    assert outcome.rules[0].id == "approval" and not outcome.rules[0].passed
    assert json.loads(outcome.to_json()) == outcome.to_dict()
    with pytest.raises(KeyError):
        outcome.result("nothing")


def test_a_failure_is_drawn_with_its_places(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averment._outcome, "shown_in_test", None)
    outcome = rules.check(RUN)
    for text in (repr(outcome), str(outcome), outcome.draw(width=120)):
        assert "before approve(id: $id) -> refund(id: $id)" in text and 'refund(id: "o-1"' in text
        assert text.count("error[approval.1]") == 1
    assert "\x1b[" in outcome.draw(color=True) and "\x1b[" not in outcome.draw()
    assert repr(rules.check({"calls": []})).startswith("<Outcome ")
    html = Rules.from_text("r.assert", 'never "<script>"').check({"calls": [{"tool": "<script>"}]})._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("text", "run", "verdict"),
    [
        ("never refund", {"calls": []}, "pass"),
        ("never refund", {"calls": [{"tool": "refund"}]}, "fail"),
        ("after open -> close", {"calls": []}, "vacuous"),
        ("cost <= 1", {"calls": []}, "undecided"),
        ("cost <= 1\nnever refund", {"calls": []}, "undecided"),
        ("cost <= 1\nnever refund", {"calls": [{"tool": "refund"}]}, "fail"),
        ("after open -> close\nnever refund", {"calls": []}, "pass"),
        ("never refund severity warn\nnever close", {"calls": [{"tool": "refund"}]}, "pass"),
    ],
)
def test_a_run_has_one_verdict(text: str, run: Any, verdict: str) -> None:
    assert Rules.from_text("r.assert", text).check(run).verdict == verdict


def test_undecided_runs_pass_where_that_is_allowed() -> None:
    outcome = Rules.from_text("r.assert", "cost <= 1", allow_undecided=True).check({"calls": []})
    assert outcome.passed and outcome.verdict == "undecided"
    outcome = Rules.from_text("r.assert", "after a -> b", deny=["vacuous"]).check({"calls": []})
    assert not outcome.passed and outcome.verdict == "vacuous"


def test_rules_that_do_not_compile_say_where() -> None:
    with pytest.raises(RulesError) as caught:
        Rules.from_text("refunds.assert", "never refund\nnevr cancel")
    error = caught.value
    assert (error.file, error.line, error.column) == ("refunds.assert", 2, 1)
    assert error.diagnostics[0]["severity"] == "error" and "nevr" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), 2)


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        ("param limit: number\nnever refund(amount > limit)", {}, "limit"),
        ("param limit: number\nnever refund(amount > limit)", {"params": {"limit": "much"}}, "limit"),
        ("never refund", {"params": {"other": 1}}, "other"),
        ("never refund", {"only_rules": ["nothing"]}, "nothing"),
        ("", {}, "nothing to check"),
        ("never refund", {"deny": ["everything"]}, "everything"),
        ("never refund", {"redact": ["["]}, "["),
    ],
)
def test_what_is_given_beside_rules_is_checked(text: str, settings: Any, said: str) -> None:
    with pytest.raises(RulesError, match=said.replace("[", r"\[")) as caught:
        Rules.from_text("r.assert", text, **settings)
    assert caught.value.message


def test_parameters_tools_and_selections() -> None:
    text = "param limit: number\nparam patience: duration\nrule a { tags x; never refund(amount > limit) }\nduration <= patience"
    rules = Rules.from_text("r.assert", text, params={"limit": 300, "patience": "30s"})
    assert rules.check(RUN).results[0].verdict == "pass"
    assert len(rules.assertions) == 2 and rules.assertions[0].tags == ("x",)
    only = Rules.from_text("r.assert", text, params={"limit": 300, "patience": "30s"}, only_tags=["x"])
    assert [one.id for one in only.check(RUN).results] == ["a.1"]
    misspelt = Rules.from_text("r.assert", "never refnd", tools={"refund": {}, "close": {}}).diagnostics
    assert [(one.id, one.severity, one.line, one.column) for one in misspelt] == [("unlisted-tool", "warning", 1, 7)]
    assert repr(rules) == "<Rules r.assert: 2 assertions>"


def test_files_are_read_and_what_is_missing_is_said(tmp_path: Path) -> None:
    file = tmp_path / "rules.assert"
    file.write_text("never refund")
    assert Rules.from_file(file).check(RUN).verdict == "fail"
    assert Rules.from_file(str(file), file).check(RUN).to_dict()["results"][1]["verdict"] == "fail"
    with pytest.raises(RulesError, match="cannot be read"):
        Rules.from_file(tmp_path / "other.assert")
    with pytest.raises(ReadError):
        Rules.from_file(file).check(tmp_path / "other.json")


def test_permissions_are_asked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    text = 'file "a.txt" exists'
    refused = Rules.from_text("r.assert", text, allow_undecided=True).check({"calls": []})
    allowed = Rules.from_text("r.assert", text, permissions=Permissions(working_directory=tmp_path)).check({"calls": []})
    assert (refused.verdict, allowed.verdict) != ("pass", "fail") and allowed.verdict == "pass"


def test_limits_hold() -> None:
    run = {"calls": [{"tool": "a", "args": {"n": number}} for number in range(200)]}
    outcome = Rules.from_text("r.assert", "count a <= 1000", limits=Limits(fuel=10)).check(run)
    assert outcome.verdict == "error" and not outcome.passed
    with pytest.raises(ReadError):
        Rules.from_text("r.assert", "never b", limits=Limits(run_bytes=100)).check(run)
    assert Rules.from_text("r.assert", "never b", limits=Limits.for_foreign_rules()).check(run).passed


def test_runs_that_cannot_be_read_say_where(rules: Rules) -> None:
    with pytest.raises(ReadError) as caught:
        rules.check('{\n  "calls": [}', name="run.json")
    assert (caught.value.file, caught.value.line, caught.value.column) == ("run.json", 2, 13)
    assert pickle.loads(pickle.dumps(caught.value)).line == 2
    with pytest.raises(ReadError, match="more than one run"):
        rules.check('{"calls": []}\n{"calls": []}\n')


@pytest.mark.parametrize("run", [None, 1, 1.5, True, object(), int, {1, 2j}, iter([]), {"calls": object()}, {(1, 2): 3}])
def test_what_is_no_run_is_a_type_error(rules: Rules, run: object) -> None:
    with pytest.raises(TypeError):
        rules.check(run)


def test_text_is_never_a_path(rules: Rules, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("{}")
    with pytest.raises(ReadError):
        rules.check(str(path))


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Call:
    tool: str
    args: dict[str, Any]


def test_values_of_python_are_written_as_json() -> None:
    moment = datetime.datetime(2026, 11, 27, tzinfo=datetime.timezone.utc)
    ident = uuid.UUID(int=7)
    args = {"color": Color.RED, "level": Level.HIGH, "at": moment, "id": ident, "raw": b"x", "big": 2**100, "part": 0.1, "no": None}
    args |= {"pair": (1, 2), "set": frozenset([5]), "path": Path("a/b")}
    text = "\n".join(
        f"each step: args.{condition}"
        for condition in (
            'color == "red"', "level == 3", f'at == "{moment.isoformat()}"', f'id == "{ident}"', 'raw == "x"',
            f"big == {2**100}", "part == 0.1", "no == null", "pair[1] == 2", "set[0] == 5", 'path == "a/b"',
        )
    )  # fmt: skip
    outcome = Rules.from_text("r.assert", text).check({"calls": [Call("step", args)]})
    assert [one.verdict for one in outcome.results] == ["pass"] * 11, outcome


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), 1e300, 1e16, -0.0, 10**30, -(2**63), 2**64, "\ud800", "a\ud800\U0001f600\"\\\n\x00", "é\u2028", "", True],
)
def test_every_value_is_what_its_json_is(value: Any) -> None:
    """Also where the text is refused: both say the same."""
    rules = Rules.from_text("r.assert", "each a: args.v == 1")
    run = {"calls": [{"tool": "a", "args": {"v": value, "w": {"k": [value]}}}]}
    found = []
    for form in (run, json.dumps(run, separators=(",", ":")), json.dumps(run)):
        try:
            found.append(judged(rules.check(form)))
        except ReadError as error:
            found.append(error.message)
    assert found[0] == found[1] == found[2]


def test_keys_are_text_as_json_has_them() -> None:
    rules = Rules.from_text("r.assert", 'each a: args["1"] == 2')
    assert rules.check({"calls": [{"tool": "a", "args": {1: 2, None: 3, 1.5: 5}}]}).passed


def test_what_nests_without_end_is_an_error(rules: Rules) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nest deeper"):
        rules.check({"calls": endless})
    deep: Any = {}
    for _ in range(300):
        deep = {"a": deep}
    with pytest.raises(ReadError):
        rules.check({"calls": [{"tool": "a", "args": deep}]})


def test_a_dict_that_changes_while_it_is_written_is_no_panic(rules: Rules) -> None:
    run: dict[str, Any] = copy.deepcopy(RUN)

    class Changing:
        def to_dict(self) -> dict[str, str]:
            run.clear()
            return {"tool": "a"}

    run = {"calls": [Changing()], "output": "x"}
    rules.check(run)


def test_exceptions_of_python_come_through(rules: Rules) -> None:
    class Broken:
        def to_dict(self) -> object:
            raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        rules.check({"calls": [Broken()]})


def test_verdicts_are_explained(rules: Rules) -> None:
    explained = rules.explain(RUN)
    assert "approval.1" in str(explained) and explained.to_dict()["assertions"][0]["verdict"] == "fail"
    assert "<pre" in explained._repr_html_() and str(explained) in repr(explained)


def test_tests_of_rules_are_run() -> None:
    text = 'rule r { never refund }\ntest "seen" expect fail r { calls: [{ tool: "refund" }] }\ntest "wrong" expect fail r { calls: [] }'
    first, second = Rules.from_text("r.assert", text).run_tests()
    assert (first.passed, first.name, first.line, first.verdicts) == (True, "seen", 2, {"r": "fail"})
    assert not second.passed and second.reason


def test_membership_is_passing(rules: Rules) -> None:
    rules = Rules.from_text("r.assert", "never refund")
    assert {"calls": []} in rules and RUN not in rules


def test_what_is_said_of_the_rules(rules: Rules) -> None:
    assert all(one.severity in ("warning", "info") for one in rules.diagnostics)
    assert averment.__version__.count(".") == 2


def test_other_buffers_are_no_runs(rules: Rules) -> None:
    with pytest.raises((TypeError, ReadError)):
        rules.check(array.array("b", b"{}"))
