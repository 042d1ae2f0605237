"""Compares `grading.yaml` with tolokaforge's own evaluator.

    pip install tolokaforge
    python grading.py target/debug/aver 60

Takes that many generated files, each with eight trials. Prints how many verdicts agree, of each check and of the trial, how many are undecided here,
and each that differs. What passes here and fails there is an error.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from datetime import datetime, timezone

import yaml
from tolokaforge.core.grading.combine_method import combine_by_method
from tolokaforge.core.grading.trace_checks import evaluate_trace_checks
from tolokaforge.core.grading.trace_timeline import build_trial_timeline
from tolokaforge.core.grading.transcript import evaluate_transcript_rules
from tolokaforge.core.models import GradingConfig, Message, RecordedToolCall, ToolCall

TOOLS = ["get_order", "refund", "search"]
ARGS = [{}, {"id": "o-1"}, {"id": "o-2"}, {"id": "o-1", "amount": 5}, {"amount": 40, "note": "Hello World"}, {"id": 7, "note": None},
        {"body": {"query": "late orders", "day": "2026-03-01"}}, {"list": ["o-1", 3]}]
SAID = ["Your order o-1 was refunded.", "May I refund order o-2?", "", "Done: 42."]
RESULTS = ["ok o-1", "no order 42", "id: o-2 id: o-1", ""]


def trial(at):
    """A run in the normal form, and the messages and records of the same trial."""
    steps, messages, records, number = [], [], [], 0
    for turn in range(1, at.randrange(2, 5)):
        if turn == 1 or at.random() < 0.5:
            text = at.choice(["Refund o-1, please.", "yes", "o-2 then"])
            # The first words of the user are in the first turn, later ones in the turn before.
            steps.append({"kind": "message", "role": "user", "text": text, "turn": max(turn - 1, 1)})
            messages.append(Message(role="user", content=text, ts=datetime.now(timezone.utc)))
        said, made = at.choice(SAID), []
        steps.append({"kind": "message", "role": "assistant", "text": said, "turn": turn})
        for _ in range(at.choice([0, 1, 1, 2])):
            name, args, result = at.choice(TOOLS), at.choice(ARGS), at.choice(RESULTS)
            status = at.choice(["success", "success", "success", "error"])
            made.append(ToolCall(id=f"c{number}", name=name, arguments=args))
            records.append(RecordedToolCall(call_id=f"c{number}", sequence=number, tool_name=name, arguments=args, executor="agent", status=status,
                                            output=result, latency_seconds=1.0, timestamp=datetime.now(timezone.utc)))
            steps.append({"kind": "call", "tool": name, "args": args, "result": result, "status": "ok" if status == "success" else "failed", "turn": turn})
            number += 1
        messages.append(Message(role="assistant", content=said, tool_calls=made or None, ts=datetime.now(timezone.utc)))
    run = {"prompt": "x", "steps": steps, "turns": sum(1 for step in steps if step.get("role") == "assistant")}
    return run, build_trial_timeline(messages, records, None)


def predicate(at, bound=None):
    if bound and at.random() < 0.6:
        return {at.choice(["equals_binding", "contains_binding"]): at.choice(bound)}
    one = at.choice([
        {"equals": at.choice(["o-1", "o-2", 5, 40])}, {"not_equals": "o-1"}, {"equals_ci": "O-1"}, {"contains": at.choice(["o-", "ell", 3, "orders"])},
        {"contains_ci": "HELLO"}, {"not_contains": "o-1"}, {"regex": at.choice([r"^o-\d$", r"\bWorld$", ["o", "-1"]])}, {"not_regex": r"\d"},
        {"is_null": at.choice([True, False])}, {"omitted": at.choice([True, False])}, {"exists": at.choice([True, False])},
        {"gt": 4, "lt": 30}, {"gte": 40}, {"lte": 5}, {"in_": ["o-1", 7, None]}, {"not_in": ["o-1", 5]}, {"len_gt": 2}, {"len_gte": 2},
        {"date_gte": "2026-03-01"}, {"date_lt": "2026-03-01T12:00:00Z"},
    ])
    return one


def matcher(at, bound=None):
    kind = at.choice(["tool_call"] * 4 + ["tool_result", "assistant_message", "user_message"])
    if kind.endswith("message"):
        text = {"text": at.choice([{"contains": "refund"}, {"regex": r"o-\d"}, {"equals": "yes"}, {"len_gt": 0}, {"contains_ci": "MAY I"}])}
        if bound and at.random() < 0.7:
            text = {"text": {"contains_binding": at.choice(bound)}}
        return {"kind": kind, **(text if at.random() < 0.8 else {})}
    made = {"kind": kind}
    if at.random() < 0.7:
        made["tool"] = at.choice([{"equals": at.choice(TOOLS)}, {"in_": TOOLS[:2]}, {"regex": "re"}])
    if kind == "tool_call" and at.random() < 0.5:
        made["args"] = {at.choice(["id", "amount", "note", "body.query", "body.day", "list"]): predicate(at, bound)}
    if at.random() < 0.25:
        made["status"] = at.choice([{"equals": "success"}, {"not_equals": "success"}, {"in_": ["error", "timeout"]}])
    if at.random() < 0.25:
        made["result"] = at.choice([{"contains": "o-1"}, {"regex": r"\d+$"}, {"exists": True}])
    return made


def side(at, bound, anchor=False):
    return {"quantifier": at.choice(["first", "last"] if anchor else ["any", "all", "first", "last"]), "match": matcher(at, bound)}


def expression(at, bound, depth=0, anchored=False):
    kinds = ["before", "immediately_before", "absent_before", "absent_between"]
    kinds += [] if anchored else ["present", "absent", "count"]
    kinds += ["all_of", "any_of", "negate"] if depth < 2 else []
    kind = at.choice(kinds)
    if kind in ("present", "absent"):
        return {kind: {"match": matcher(at, bound)}}
    if kind == "count":
        return {kind: {"match": matcher(at, bound), **at.choice([{"min": 1}, {"max": 1}, {"min": 1, "max": 2}])}}
    if kind == "before":
        return {kind: {"left": side(at, bound), "right": side(at, bound)}}
    if kind == "immediately_before":
        view = at.choice(["tool_calls", "tool_results", "messages", "events"])
        return {kind: {"left": side(at, bound), "right": side(at, bound), "among": view}}
    if kind == "absent_before":
        return {kind: {"forbidden": matcher(at, bound), "anchor": side(at, bound, True)}}
    if kind == "absent_between":
        return {kind: {"forbidden": matcher(at, bound), "start": side(at, bound, True), "end": side(at, bound, True)}}
    if kind == "negate":
        return {kind: expression(at, bound, depth + 1, anchored)}
    return {kind: [expression(at, bound, depth + 1, anchored) for _ in range(at.choice([1, 2]))]}


def constraint(at, number):
    made = {"id": f"c{number}", "description": f"check {number}"}
    policy = at.choice([None, None, "pass", "withhold", "fail"])
    if at.random() < 0.2:
        made["severity"] = "gate"
        policy = None if policy == "pass" else policy
    elif at.random() < 0.5:
        made["weight"] = at.choice([2, 0.5, 3])
    if policy:
        made["on_missing"] = policy
    if at.random() < 0.2:
        made["within"] = at.choice([{"first_turn": 1}, {"last_turn": 1}, {"first_turn": 0, "last_turn": 1}])
    bound = None
    if at.random() < 0.3:
        bound = ["b"]
        value = at.choice([{"field": "args.id"}, {"field": "args.id"}, {"field": "args.amount"}, {"field": "result", "pattern": r"(o-\d)"}, {"field": "tool"}])
        made["bind"] = {"match": {"kind": "tool_call", **({"tool": {"equals": at.choice(TOOLS)}} if at.random() < 0.6 else {})}, "values": {"b": value}}
        if made.get("severity") != "gate" and at.random() < 0.5:
            made["bind"]["on_unbound"] = "pass"
    made["require"] = expression(at, bound, 0, bool(policy))
    return made


def transcript(at):
    made = {}
    for key, value in [("must_contain", ["REFUNDED"]), ("disallow_regex", [r"done: \d+"]), ("max_turns", 2), ("min_assistant_turns", 2),
                       ("tool_expectations", {"required_tools": ["refund"], "disallowed_tools": ["search"]}),
                       ("required_actions", [{"action_id": "a", "requestor": "assistant", "name": "refund", "arguments": {"id": "o-1"}}]),
                       ("communicate_info", [{"info": "o-1"}, {"info": "zzz", "required": False}])]:
        if at.random() < 0.4:
            made[key] = value
    return made


def config(at):
    block = {"constraints": [constraint(at, number) for number in range(at.randrange(1, 4))]}
    if at.random() < 0.3:
        block["alternatives"] = [
            {"id": f"r{route}", "description": "a route", "constraints": [constraint(at, 10 * route + number) for number in range(at.randrange(1, 3))]}
            for route in (1, 2)
        ]
    made = {"combine": {"weights": {"trace_checks": at.choice([1.0, 2.0])}, "pass_threshold": at.choice([0.5, 0.8, 1.0])}, "trace_checks": block}
    if at.random() < 0.4:
        made["transcript_rules"] = transcript(at) or {"max_turns": 2}
        made["combine"]["weights"]["transcript_rules"] = 1.0
        made["combine"]["method"] = at.choice(["weighted", "all", "any"])
    return made


def verdict_there(settings, timeline):
    """Of each check, and of the trial."""
    checks = evaluate_trace_checks(timeline, settings.trace_checks)
    scores = {"trace_checks": checks.score}
    if settings.transcript_rules:
        scores["transcript_rules"] = evaluate_transcript_rules(timeline, settings.transcript_rules).score
    weights = settings.combine.weights
    mean = sum(score * weights[name] for name, score in scores.items()) / sum(weights[name] for name in scores)
    _, passed = combine_by_method(method=settings.combine.method, component_scores=scores, weighted_mean=mean,
                                  pass_threshold=settings.combine.pass_threshold)
    own = {one.id: "withheld" if one.withheld else "pass" if one.passed else "fail" for one in checks.constraints}
    return own, passed and not checks.gate_failed


def verdict_here(run):
    own = {}
    for one in run["results"]:
        if one["text"].startswith("check_"):
            own[one["text"].split()[0].removeprefix("check_")] = one["verdict"]
    fails = [one for one in run["results"] if one["severity"] == "error" and one["verdict"] in ("fail", "undecided", "error")]
    undecided = bool(fails) and all(one["verdict"] == "undecided" for one in fails)
    return own, "undecided" if undecided else "fail" if fails else "pass"


def main():
    aver, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60
    at = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    tally, wrong, refused = {}, 0, 0
    while count > 0:
        text = yaml.safe_dump(config(at), sort_keys=False)
        try:
            settings = GradingConfig.model_validate(yaml.safe_load(text))
            trials = [trial(at) for _ in range(8)]
            expected = [verdict_there(settings, timeline) for _, timeline in trials]
        except ValueError:
            refused += 1
            continue
        count -= 1
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "grading.yaml"), "w", encoding="utf-8") as out:
                out.write(text)
            with open(os.path.join(folder, "runs.jsonl"), "w", encoding="utf-8") as out:
                out.writelines(json.dumps(run) + "\n" for run, _ in trials)
            done = subprocess.run([aver, "check", "grading.yaml", "runs.jsonl", "--format", "json"], cwd=folder, capture_output=True, text=True)
        if not done.stdout.startswith("{"):
            print(text, done.stdout[:1500], done.stderr[:1500])
            return 1
        for (run, _), judged, (own, passed) in zip(trials, json.loads(done.stdout)["runs"], expected):
            mine, verdict = verdict_here(judged)
            rows = [("check", mine.get(name), outcome) for name, outcome in own.items() if mine.get(name)]
            rows.append(("trial", verdict, "pass" if passed else "fail"))
            for what, here, there in rows:
                here = {"vacuous": "pass", "skipped": "withheld"}.get(here, here)
                kind = "agree" if here == there else "undecided here" if here == "undecided" else f"{here} here, {there} there"
                tally[(what, kind)] = tally.get((what, kind), 0) + 1
                if kind not in ("agree", "undecided here"):
                    wrong += here == "pass"
                    print(what, kind, text, json.dumps(run), mine, own, sep="\n")
    for (what, kind), number in sorted(tally.items()):
        print(f"{what}: {number} {kind}")
    print(f"{refused} files were refused there")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
