"""A guard in memory: what it lets through, and that it answers what `aver guard serve` does."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT

from averment import Decision, Guard, Rules, RulesError

SHOP = """
before approve(order: $o) ok -> refund(order: $o)
count refund(order: $o) <= 1
after refund(order: $o) -> notify(order: $o)
rule polite { severity warn
  never shout
}
never pay before message(role: "user")
"""


@pytest.fixture
def rules() -> Rules:
    return Rules.from_text("shop.assert", SHOP)


def test_a_session_is_held_to_its_rules(rules: Rules) -> None:
    guard = Guard(rules)
    denied = guard.propose("refund", {"order": 7}, id="c1")
    assert (denied.decision, bool(denied)) == ("deny", False)
    assert "no earlier `approve" in denied.reason
    assert guard.propose("approve", {"order": 7}, id="c2") == Decision("pass")
    assert guard.result("approve", {"by": "kim"}, id="c2")
    assert guard.propose("refund", {"order": 7}, id="c3")
    assert guard.result("refund", None, id="c3")
    assert guard.propose("refund", {"order": 7}, id="c4").decision == "deny"
    warned = guard.propose("shout", id="c5")
    assert (warned.decision, warned.allowed) == ("warn", True)
    owed = guard.stop()
    assert (owed.decision, owed.allowed) == ("continue", False)
    assert "notify" in owed.reason
    assert guard.stop(held=True)
    outcome = rules.check(guard.trace)
    assert [one.verdict for one in outcome.results[:2]] == ["pass", "pass"]


def test_a_call_that_failed_is_no_approval(rules: Rules) -> None:
    guard = Guard(rules)
    assert guard.propose("approve", {"order": 7}, id="c1")
    assert guard.result("approve", id="c1", error="no such order")
    assert guard.propose("refund", {"order": 7}, id="c2").decision == "deny"


def test_what_was_said_counts(rules: Rules) -> None:
    guard = Guard(rules)
    guard.message("user", "Pay, please.")
    assert Guard(rules, mode="log").propose("pay", id="c1").allowed
    assert guard.propose("pay", id="c1").allowed


def test_what_cannot_be_understood_is_held_back_in_enforce_alone(rules: Rules) -> None:
    for mode, allowed in (("enforce", False), ("warn", True), ("log", True)):
        said = Guard(rules, mode=mode).propose("")  # type: ignore[arg-type]
        assert (said.decision, said.allowed) == ("error", allowed)
    with pytest.raises(RulesError, match="no mode"):
        Guard(rules, mode="loud")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Guard(rules).propose("refund", {"order": object()})


def test_arguments_may_be_what_runs_may_be(rules: Rules) -> None:
    @dataclasses.dataclass
    class Order:
        order: int

    guard = Guard(rules)
    assert guard.propose("approve", Order(7), id="c1")
    assert guard.result("approve", Order(7), id="c1")
    assert guard.propose("refund", Order(7), id="c2")


def test_of_calls_at_the_same_moment_one_is_the_first() -> None:
    rules = Rules.from_text("once.assert", "count refund <= 1")
    for _ in range(20):
        guard, start = Guard(rules), threading.Barrier(8)
        admitted: list[bool] = []

        def propose(number: int) -> None:
            start.wait()
            admitted.append(guard.propose("refund", id=f"c{number}").allowed)

        threads = [threading.Thread(target=propose, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(admitted) == 1


def policy_runs(text: str) -> list[list[dict[str, Any]]]:
    """The calls of the tests of a policy, which are written as `{ calls: [{ tool: "refund", args: { order: "o-1" } }] }`."""
    runs = []
    for body in re.findall(r'^test "[^"]*" expect \w+ [\w-]+ (\{.*?^\})', text, re.MULTILINE | re.DOTALL):
        try:
            runs.append(json.loads(re.sub(r",(\s*[}\]])", r"\1", re.sub(r"([{,]\s*)([a-z]\w*):", r'\1"\2":', body)))["calls"])
        except (KeyError, ValueError):
            continue
    return runs


def test_a_guard_answers_what_the_command_does(aver_command: str, tmp_path: Path) -> None:
    compared = denied = 0
    for policy in sorted((PROJECT / "examples/policies").glob("*/*.assert")):
        guards = {f"s{place}": Guard(Rules.from_file(policy)) for place, _ in enumerate(policy_runs(policy.read_text()))}
        requests: list[tuple[str, dict[str, Any]]] = []
        for session, calls in zip(guards, policy_runs(policy.read_text()), strict=True):
            for number, call in enumerate(calls):
                asked = {"id": f"c{number}", "tool": call["tool"]}
                ended = {key: call[key] for key in ("result", "error") if key in call}
                requests.append((session, {"propose": {**asked, "args": call.get("args", {})}}))
                requests.append((session, {"result": {**asked, **ended}}))
            requests.append((session, {"stop": {"held": False}}))
        command = [aver_command, "guard", "serve", str(policy), "--state", str(tmp_path / policy.stem)]
        lines = "".join(json.dumps({"session": session, **request}) + "\n" for session, request in requests)
        served = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        for (session, request), answer in zip(requests, served, strict=True):
            # The same moment for both: a rule of one of the policies is about the time of the day.
            said = json.loads(guards[session]._raw.answer(request, time.time_ns() // 1_000_000))
            assert said == json.loads(answer), (policy.name, session, request)
            compared += 1
            denied += said["decision"] == "deny"
    assert compared > 300 and denied > 30, (compared, denied)


def test_the_loop_of_the_page_does_what_the_page_says() -> None:
    page = (PROJECT / "docs/how-to/guard-a-framework.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    said = re.search(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    done = subprocess.run([sys.executable, "-c", "\n".join(programs[:2])], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert said is not None and done.stdout == said.group(1)
