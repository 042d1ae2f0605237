"""Dogwood: its corpus of policies and traces, read, and rules written as its policies.

Read: each call of each trace is decided by `aver`, and held against the decision that the corpus records. Written: rules become policies by
`aver export dogwood`; the first call that breaks the rule has to be the first that is denied. `aver check policy.dw` decides it. Where
AVERMENT_BESIDE_DOGWOOD names the program of Dogwood's own engine (CONTRIBUTING.md says how it is built), that decides more such runs.
"""
import collections
import glob
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

import common
import dogwood_log

HEADS = "  each (any | (proposed any where coalesce(status, \"\") != \"denied\")):"
# Cases that are decided otherwise, and the reason; `crates/dialects/tests/dialects/dogwood/corpus.rs` has the same list.
LISTED = {"0876_without_since_literal_guard_zero_fv": "a response has other arguments than its request: a call has one set of them"}
# The first kind that a policy shows is the kind of its case.
KINDS = [
    ("answers of guardrails", r"\bguardrail\b"),
    ("counts and sums", r"\b(count|sum)(_\w+)?\s*(\(|for\b|\w+ for\b)"),
    ("`since`", r"\bsince\b"),
    ("`previous`", r"\bprevious\b"),
    ("`exists`", r"\bexists\b"),
    ("`formerly`", r"\bformerly\b"),
    ("Cedar alone", r""),
]


def aver(*words, folder=None):
    done = subprocess.run([common.find_aver(), *words], capture_output=True, text=True, cwd=folder)
    if done.returncode not in (0, 1, 5):
        raise ValueError(done.stderr.strip().splitlines()[0] if done.stderr.strip() else "exit code %d" % done.returncode)
    return done.stdout


def violations(rules, runs, folder):
    """For each run and each assertion, the calls that break it (from 1)."""
    with open(os.path.join(folder, "runs.jsonl"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(run) + "\n" for run in runs)
    found = []
    for run in json.loads(aver("check", rules, "runs.jsonl", "--no-project", "--threads", "1", "--format", "json", folder=folder))["runs"]:
        broken = []
        for result in run["results"]:
            listed = result["violations"] or {"list": [], "truncated": False}
            if listed["truncated"] or result["verdict"] == "error":
                raise ValueError("%s: %s" % (run["run"], result["reason"]))
            broken.append({one["step"] for one in listed["list"]})
        found.append(broken)
    return found


def with_opposites(text):
    """Each rule beside its opposite: a call that breaks neither is undecided."""
    before, *rules = text.split(HEADS)
    both = [before]
    for rule in rules:
        condition, rest = rule.split("  message \"", 1)
        both += [HEADS, " (", condition, ")\n", HEADS, " not (", condition, ")", "  message \"", rest]
    return "".join(both)


def decide(broken, call):
    """What became of a call, from 1: assertions are rules and their opposites in turn."""
    if any(call in steps for steps in broken[0::2]):
        return "false"
    return "true" if all(call in steps for steps in broken[1::2]) else "undecided"


def kind_of(policy):
    text = re.sub(r"//.*", "", policy)
    return next(name for name, sign in KINDS if re.search(sign, text))


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def expected_of(log):
    folder, name = os.path.split(log)
    return os.path.join(folder, name.replace("trace_", "expected_").replace(".log", ".out"))


def judge_case(case):
    """The kind of a case, the number of its traces, and how many decisions came out how."""
    counts = collections.Counter()
    policy = "\n".join(map(read, sorted(glob.glob(os.path.join(case, "policy_*.dw")))))
    logs = sorted(glob.glob(os.path.join(case, "trace_*.log")))
    traces = [dogwood_log.read_log(read(log)) for log in logs]
    with tempfile.TemporaryDirectory() as folder:
        for schema in glob.glob(os.path.join(case, "schema.*")) + glob.glob(os.path.join(case, "event.*")):
            shutil.copy(schema, folder)
        with open(os.path.join(folder, "policy.dw"), "w", encoding="utf-8") as out:
            out.write(policy)
        with open(os.path.join(folder, "policy.assert"), "w", encoding="utf-8") as out:
            out.write(with_opposites(aver("import", "policy.dw", folder=folder)))
        asked = [at for at, (run, _) in enumerate(traces) if run["calls"]]
        broken = dict(zip(asked, violations("policy.assert", [traces[at][0] for at in asked], folder) if asked else []))
    for at, (log, (_, places)) in enumerate(zip(logs, traces)):
        for point, wanted in re.findall(r"time point (\d+)\): (\w+)", read(expected_of(log))):
            found = decide(broken[at], places[int(point)] + 1)
            outcome = "equal" if found == wanted else "listed" if os.path.basename(case) in LISTED else "undecided" if found == "undecided" else "other"
            counts[outcome] += 1
    return kind_of(policy), len(logs), counts


def measure_read(folder):
    cases = sorted(filter(os.path.isdir, glob.glob(os.path.join(folder, "conformance", "dogwood", "*"))))
    if not cases:
        return None
    kinds = {name: [0, 0, collections.Counter()] for name, _ in KINDS}
    others = []
    for case in cases:
        kind, traces, counts = judge_case(case)
        if counts["other"] or counts["undecided"]:
            others.append(os.path.basename(case))
        for total in (kinds[kind], kinds.setdefault("all", [0, 0, collections.Counter()])):
            total[0] += 1
            total[1] += traces
            total[2].update(counts)
    outcomes = ["equal", "listed", "undecided", "other"]
    rows = [[name, *map(common.number, [cases, traces, sum(counts.values()), *(counts[outcome] for outcome in outcomes)])]
            for name, (cases, traces, counts) in kinds.items() if cases]
    listed = [["`%s`" % name, why] for name, why in LISTED.items()] + [["`%s`" % name, "not explained"] for name in others]
    return {
        "read": common.table(["kind of the policy", "cases", "traces", "decisions", "equal", "listed", "undecided", "other"], rows),
        "listed": common.table(["case", "why it is decided otherwise"], listed),
    }


SCHEMA = """namespace Shop {
    entity User;
    entity Store;
    type Input = { k: Long, n: Long };
    type Output = { ok: Bool };
%s}
""" % "".join('    action "%s" appliesTo { principal: [User], resource: [Store], context: { input: Input, output?: Output } };\n' % name for name in "abc")

# Rules, and whether calls follow each other and do not fail: docs/reference/dogwood.md says what differs of those that do.
WRITTEN = [
    ("before a ok -> b", False), ("before a(k: $k) ok -> b(k: $k)", False), ("before a(k: $k) -> b(k: $k, n > 2)", True),
    ("before (a | c(k: 1)) -> b", True), ("before a(result.ok: true) ok -> b, c", False),
    ("starts before a -> b within 5s", False), ("starts before (a(k: 1) | c) -> b", False), ("immediately before a -> b", True),
    ("never b(n > 3)", False), ("never b(k: 1), c(n in [1, 2])", False), ("only a, b", False),
    ("each b: args.n <= 3 or args.k == 0", False), ("no b: args.n > args.k", False),
    ("never b after a(k: 1)", False), ("never b(k: $k) after a(k: $k) within 6s", False), ("never b after a until c", True),
    ("never b(k: $k) after a(k: $k) until c(k: $k)", True), ("count b <= 2", False), ("count b(k: $k) <= 1", False),
    ("count b <= 1 within 8s", False), ("count b(k: $k, n: 2) < 2 within 9s", False), ("sum(args.n of b) <= 6", False),
    ("sum(args.n of b(k: $k)) <= 5", False), ("sum(args.n of b) <= 5 within 9s", False),
]
# What cannot be enforced before a call is a remark in the written file.
REMARKED = ["after a -> b", "require a", "last a", "sequence a -> b", "nested a -> b", "either a or b", "each a: result.ok == true", "never a_*"]
RUNS = 60
# For Dogwood's own engine: more than 50,000 decisions.
RUNS_BESIDE = 650


def generated_log(choice, in_turn):
    scope = 'scope(principal: Shop::User::"u", resource: Shop::Store::"s")'
    caller = 'callerPrincipal: Shop::User::"u", callerResource: Shop::Store::"s"'
    lines, open_calls, time = [], [], 0
    for call in range(2 + choice.randrange(8)):
        time += 1 + choice.randrange(3)
        tool, given = choice.choice("abbc"), "input: { k: %d, n: %d }" % (choice.randrange(3), 1 + choice.randrange(4))
        lines.append('@%d %s request_context(%s) Shop::Action::"%s"::request(%s, %s, requestId: "u%d")' % (time, scope, given, tool, given, caller, call))
        open_calls.append((tool, given, call))
        while open_calls and (in_turn or choice.randrange(2)):
            time += 1
            tool, given, answered = open_calls.pop(choice.randrange(len(open_calls)))
            ok = in_turn or choice.randrange(4)
            came = "response(%s, output: { ok: %s }, " % (given, choice.choice(["true", "false"])) if ok else "error(%s, " % given
            lines.append('@%d %s Shop::Action::"%s"::%s%s, requestId: "u%d")' % (time, scope, tool, came, caller, answered))
    return "\n".join(lines)


def first_broken(rule, runs, folder):
    """The first call of each run that breaks the rule: the run up to that call fails, and no shorter one does."""
    with open(os.path.join(folder, "rules.assert"), "w", encoding="utf-8") as out:
        out.write(rule + "\n")
    begun, of = [], []
    for at, run in enumerate(runs):
        # A call without an answer was made, and nothing is known of its end.
        calls = [dict(call, status=None, end=EVER) if call["status"] == "pending" else call for call in run["calls"]]
        calls = [{name: value for name, value in call.items() if value is not None} for call in calls]
        begun += [{"calls": calls[:last + 1], "complete": True} for last in range(len(calls))]
        of += [(at, last + 1) for last in range(len(calls))]
    with open(os.path.join(folder, "begun.jsonl"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(run) + "\n" for run in begun)
    verdicts = common.check(os.path.join(folder, "rules.assert"), [os.path.join(folder, "begun.jsonl")])
    first = [None] * len(runs)
    for (at, call), found in zip(of, verdicts.runs):
        if "fail" in found and first[at] is None:
            first[at] = call
    return first


EVER = 1_800_000_000_000


def first_denied_beside(policy, logs):
    """The first call of each run that Dogwood's own engine denies."""
    asked = [{"schema": SCHEMA, "policy": policy, "log": log, "first": True} for log in logs]
    done = subprocess.run(os.environ["AVERMENT_BESIDE_DOGWOOD"].split(), input=json.dumps(asked), capture_output=True, text=True, check=True)
    return [None if first is None else first + 1 for first in json.loads(done.stdout)]


def first_denied(policy, runs, folder):
    """The first call of each run that the policy denies."""
    with open(os.path.join(folder, "policy.dw"), "w", encoding="utf-8") as out:
        out.write(policy)
    with open(os.path.join(folder, "schema.cedarschema"), "w", encoding="utf-8") as out:
        out.write(SCHEMA)
    return [min(set().union(*broken), default=None) for broken in violations("policy.dw", runs, folder)]


def export(rule, folder):
    with open(os.path.join(folder, "rules.assert"), "w", encoding="utf-8") as out:
        out.write(rule + "\n")
    return aver("export", "dogwood", "rules.assert", "--namespace", "Shop", folder=folder)


def measure_written():
    rows, choice = [], random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for rule, in_turn in WRITTEN:
            logs = [generated_log(choice, in_turn) for _ in range(RUNS)]
            runs = [dogwood_log.read_log(log)[0] for log in logs]
            broken, denied = first_broken(rule, runs, folder), first_denied(export(rule, folder), runs, folder)
            rows.append(["`%s`" % rule.replace("|", "\\|"), common.number(len(runs)), common.number(sum(one is not None for one in broken)), common.number(sum(map(lambda one, other: one == other, broken, denied)))])
        remarks = [["`%s`" % rule, "yes" if not re.search(r"^forbid", export(rule, folder), re.M) else "no"] for rule in REMARKED]
    total = [sum(int(row[at].replace(",", "")) for row in rows) for at in (1, 2, 3)]
    rows.append(["all", *map(common.number, total)])
    return {
        "written": common.table(["rule", "runs", "that break it", "denied first at the same call, or never"], rows),
        "remarks": common.table(["rule", "written as a remark"], remarks),
    }


def measure_beside():
    """What Dogwood's own engine decides of written policies: each request of a run, up to the first that either side denies."""
    rows, choice, total = [], random.Random(2), [0, 0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for rule, in_turn in WRITTEN:
            logs = [generated_log(choice, in_turn) for _ in range(RUNS_BESIDE)]
            runs = [dogwood_log.read_log(log)[0] for log in logs]
            broken, denied = first_broken(rule, runs, folder), first_denied_beside(export(rule, folder), logs)
            counts = [len(runs), 0, 0, 0]
            for run, ours, theirs in zip(runs, broken, denied):
                decisions = min([len(run["calls"])] + [one for one in (ours, theirs) if one is not None])
                counts[1] += decisions
                counts[2] += theirs is not None
                counts[3] += decisions - (ours != theirs)
            rows.append(["`%s`" % rule.replace("|", "\\|"), *map(common.number, counts)])
            total = [one + other for one, other in zip(total, counts)]
    rows.append(["all", *map(common.number, total)])
    return common.table(["rule", "runs", "decisions", "denied", "equal"], rows)


def measure(folder):
    found = measure_read(folder)
    if found and os.environ.get("AVERMENT_BESIDE_DOGWOOD"):
        found["beside"] = measure_beside()
    return found and {**found, **measure_written()}
