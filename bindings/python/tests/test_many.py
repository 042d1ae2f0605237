"""Many runs."""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import threading
from pathlib import Path
from typing import Any

import pytest

from averment import AvermentError, Outcome, ReadError, Rules, _rules

CASES = int(os.environ.get("AVERMENT_PYTHON_CASES", "500"))
RULES = Rules.from_text("refunds.assert", "never refund(amount > 100)\ncount refund <= 1")


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rules, "_WINDOW", 128)


def run_number(number: int) -> dict[str, Any]:
    return {"id": f"run-{number}", "calls": [{"tool": "refund", "args": {"amount": number % 200}}]}


def test_files_and_dicts_come_in_order_with_counts(tmp_path: Path) -> None:
    runs = [run_number(number) for number in range(500)]
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(run) + "\n" for run in runs))
    wanted = [number % 200 <= 100 for number in range(500)]
    for many in (file, [file], iter(runs), (json.dumps(run) for run in runs)):
        outcomes = RULES.check_many(many, threads=2)
        assert [one.passed for one in outcomes] == wanted
        summary = outcomes.summary
        assert (summary.runs, summary.runs_failed, summary.passed) == (500, wanted.count(False), False)
        assert summary.counts["fail"] == wanted.count(False)
    assert [one.run for one in itertools.islice(RULES.check_many(runs), 2)] == ["runs[0]", "runs[1]"]
    assert next(RULES.check_many([file])).run == f"{file}:1"


def test_an_endless_source_is_read_only_as_far_as_it_is_taken() -> None:
    assert len(list(itertools.islice(RULES.check_many(map(run_number, itertools.count())), 300))) == 300


def test_a_run_that_cannot_be_read_stands_in_its_place() -> None:
    runs = ['{"calls": []}', '{"calls": [}', {"calls": []}]
    found = list(RULES.check_many(runs, errors="yield"))
    assert [type(one) for one in found] == [Outcome, ReadError, Outcome]
    outcomes = RULES.check_many(runs)
    assert next(outcomes).passed
    with pytest.raises(ReadError) as caught:
        next(outcomes)
    assert caught.value.file == "runs[1]"
    assert next(outcomes).passed and next(outcomes, None) is None
    assert outcomes.summary.unreadable == 1 and not outcomes.summary.passed


def test_what_is_no_run_is_raised_in_its_place_and_the_rest_is_judged() -> None:
    outcomes = RULES.check_many([{"calls": []}, 7, {"calls": []}, object(), {"calls": []}])
    names = []
    for _ in range(5):
        try:
            names.append(next(outcomes).run)
        except TypeError:
            names.append("no run")
    assert names == ["runs[0]", "no run", "runs[2]", "no run", "runs[4]"] and next(outcomes, None) is None


def test_a_single_run_is_not_many() -> None:
    for run in ("{}", b"{}", {"calls": []}):
        with pytest.raises(TypeError):
            RULES.check_many(run)
    with pytest.raises(TypeError):
        RULES.check_many(7)
    with pytest.raises(ValueError):
        RULES.check_many([], errors="ignore")  # type: ignore[call-overload]
    assert RULES.check_many([]).summary.passed is False


def test_rules_over_all_runs_see_all_of_them(tmp_path: Path) -> None:
    rules = Rules.from_text("r.assert", "in at least 95% of runs: never refund(amount > 100)")
    runs = [run_number(number) for number in range(400)]
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(run) + "\n" for run in runs))
    texts = []
    for many in (file, runs):
        outcomes = rules.check_many(many)
        assert outcomes.over_runs is None
        assert len(list(outcomes)) == 400
        assert outcomes.over_runs is not None and not outcomes.over_runs.passed
        texts.append(outcomes.over_runs.results[0].reason)
    assert texts[0] == texts[1]


def test_threads_of_python_share_rules_and_outcomes() -> None:
    outcomes, seen, lock = RULES.check_many(map(run_number, range(400))), [], threading.Lock()

    def take() -> None:
        while True:
            with lock:
                one = next(outcomes, None)
            if one is None:
                return
            seen.append((one.passed, RULES.check(run_number(1)).passed, one.results[0].verdict))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(seen) == 400 and all(second for _, second, _ in seen)


def test_python_runs_on_while_runs_are_judged() -> None:
    """Threads that judge at the same time take turns by themselves: none holds the interpreter while it judges."""
    large = {"calls": [{"tool": "refund", "args": {"id": f"o-{number}", "text": "x" * 200}} for number in range(10_000)]}
    text, ticks, done = json.dumps(large), 0, threading.Event()

    def judge() -> None:
        RULES.check(text)
        done.set()

    thread = threading.Thread(target=judge)
    thread.start()
    while not done.is_set():
        ticks += 1
    thread.join()
    assert ticks > 100


def mutated(chance: random.Random, text: bytes) -> bytes:
    data = bytearray(text)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randint(1, 5)]
            case _:
                data[at:at] = data[at : at + chance.randint(1, 9)]
        if not data:
            return b"{"
    return bytes(data)


def generated(chance: random.Random, depth: int = 0) -> Any:
    scalars: list[Any] = [None, True, 0, -1, 2**70, 1.5, float("nan"), "", "refund", "\udc00", b"\xff", object(), Ellipsis, 1j]
    if depth > 4 or chance.random() < 0.4:
        return chance.choice(scalars)
    if chance.random() < 0.5:
        return [generated(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    keys: list[Any] = ["calls", "tool", "args", "messages", "role", "content", 3, None, "output", (1,)]
    return {chance.choice(keys): generated(chance, depth + 1) for _ in range(chance.randint(0, 4))}


def test_nothing_but_exceptions_comes_of_mutated_runs_and_rules() -> None:
    chance, seed = random.Random(7), json.dumps(run_number(150)).encode()
    rules = b'rule r "x" { before a(id: $id) -> b(id: $id, n > 3) }\neach c: args.x in ["a"]\n'
    for number in range(CASES):
        try:
            RULES.check(mutated(chance, seed) if number % 2 else generated(chance)).to_dict()
        except (AvermentError, TypeError, ValueError):
            pass
        if number % 10 == 0:
            try:
                Rules.from_text("r.assert", mutated(chance, rules))
            except AvermentError:
                pass


def test_memory_stays() -> None:
    run = run_number(150)

    def work(times: int) -> int:
        for _ in range(times):
            outcome = RULES.check(run)
            outcome.results, outcome.draw()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = work(200)
    assert work(600) - before < 20_000, "kilobytes"
