"""tau-bench: conversations of an airline agent and of a shop agent, with a policy in prose.

The rules (tau/*.assert) come from the text of the policies. They are held against judgments of runs by hand (tau/judged.tsv), and against the
rewards of the benchmark, which say something else: whether the database ended as it should, whatever the agent did on the way.
"""
import collections
import csv
import glob
import hashlib
import json
import os
import tempfile

import common

DOMAINS = {
    "airline": ("tau-bench/gpt-4o-airline.json", "gpt-4o-airline"),
    "retail": ("tau-bench/retail.json", "retail"),
}
SAMPLES = {"A": (0, 30), "B": (30, 45)}


def find_runs(folder, domain):
    path = os.path.join(folder, "sets", DOMAINS[domain][0])
    return path if os.path.isfile(path) else None


def sampled(domain, runs, sample):
    """The runs of a sample: those with the smallest hashes, so that nobody chose them."""
    first, last = SAMPLES[sample]
    by_hash = sorted(range(runs), key=lambda at: hashlib.sha256(("%s:%d" % (domain, at + 1)).encode()).hexdigest())
    return by_hash[first:last]


def read_judgments():
    """What was judged by hand: {(sample, run): (rules, why)}."""
    with open(os.path.join(common.HERE, "tau", "judged.tsv"), encoding="utf-8") as table:
        return {(row["sample"], row["run"]): ([] if row["rules"] == "none" else row["rules"].split(","), row["why"]) for row in csv.DictReader(table, delimiter="\t")}


def read_rewards(path):
    with open(path, encoding="utf-8") as text:
        return [run["reward"] for run in json.load(text)]


def judge_sample(name, domain, sample, verdicts, judged, misses):
    """A row of the table: alarms against judgments, and how many alarms name a rule that was judged broken."""
    counts, named = common.Counts(), 0
    for at in sampled(domain, len(verdicts.runs), sample):
        broken, why = judged[(sample, "%s:%d" % (domain, at + 1))]
        alarm = verdicts.alarm(at)
        counts.add(bool(broken), bool(alarm), verdicts.undecided(at))
        named += bool(set(alarm) & set(broken))
        if bool(broken) != bool(alarm):
            misses.append([name, "%s %d" % (domain, at + 1), "miss" if broken else "false alarm", ", ".join("`%s`" % rule for rule in (broken or alarm)).replace("`no rule`", "no rule"), why])
    return counts, named


def measure_few(folder):
    """The same against rewards alone, for a folder that holds a few runs of the airline (`traces/tau_bench`)."""
    paths = sorted(glob.glob(os.path.join(folder, "traces", "tau_bench", "*airline*.json")))
    if not paths:
        return None
    verdicts = common.check(os.path.join(common.HERE, "tau", "airline.assert"), paths)
    row = reward_row("airline, a few runs", verdicts, [reward for path in paths for reward in read_rewards(path)])
    return {"few": common.table(REWARDS, [row + [common.number(round(len(verdicts.runs) / verdicts.seconds))]])}


REWARDS = ["policy", "runs", "with an alarm", "reward below 1", "without", "reward below 1", "runs per second"]

# Rules about how the agent speaks, not about what it changes.
CONDUCT = {"one_call", "no_chatter", "asked", "reminded", "compensation_unasked"}


def reward_row(name, verdicts, rewards, left_out=frozenset()):
    """Runs with and without an alarm, by reward."""
    seen = collections.Counter((bool(set(verdicts.alarm(at)) - left_out), reward == 1) for at, reward in enumerate(rewards))
    share = lambda alarm: common.share(seen[alarm, False], seen[alarm, False] + seen[alarm, True])
    return [name, common.number(len(rewards)), common.number(seen[True, True] + seen[True, False]), share(True), common.number(seen[False, True] + seen[False, False]), share(False)]


def measure(folder):
    """The tables: against judgments, what was judged otherwise, against rewards, and each rule."""
    if not all(find_runs(folder, domain) for domain in DOMAINS):
        return measure_few(folder)
    judged, rows, misses, rewards, rules, idle = read_judgments(), [], [], [], [], []
    totals = collections.defaultdict(lambda: [common.Counts(), 0])
    for domain in DOMAINS:
        runs = find_runs(folder, domain)
        first = common.check(os.path.join(common.HERE, "tau", "first", domain + ".assert"), [runs])
        now = common.check(os.path.join(common.HERE, "tau", domain + ".assert"), [runs])
        for name, sample, verdicts in (("A, rules as first written", "A", first), ("A, rules after correction", "A", now), ("B, read after the correction", "B", now)):
            found = misses if verdicts is now else []
            counts, named = judge_sample(sample, domain, sample, verdicts, judged, found)
            totals[name][0].join(counts)
            totals[name][1] += named
            rows.append(sample_row(name, domain, counts, named))
        idle += [idle_row(domain, sample, now) for sample in SAMPLES]
        rewards.append(reward_row(domain + ", all rules", now, read_rewards(runs)) + [common.number(round(len(now.runs) / now.seconds))])
        rewards.append(reward_row(domain + ", without rules of conduct", now, read_rewards(runs), CONDUCT) + [""])
        rules += [[domain, "`%s`" % rule, common.number(exercised), common.number(failed)] for rule, (exercised, failed) in now.exercised().items()]
    rows = sorted(rows + [sample_row(name, "both", *total) for name, total in totals.items()], key=lambda row: list(totals).index(row[0]))
    return {
        "judged": common.table(["sample", "policy", *common.HEAD[1:9], "right rule"], rows),
        "misses": common.table(["sample", "run", "what", "rule", "judgment"], misses),
        "rewards": common.table(REWARDS, rewards),
        "idle": common.table(["sample", "policy", "rules that none of its runs exercises"], sorted(idle)),
        "rules": common.table(["policy", "rule", "exercised in runs", "broken in runs"], rules),
    }


def idle_row(domain, sample, verdicts):
    """The rules that no run of a sample exercises."""
    exercised = verdicts.exercised(sampled(domain, len(verdicts.runs), sample))
    return [sample, domain, ", ".join("`%s`" % rule for rule, (runs, _) in exercised.items() if not runs) or "none"]


def sample_row(name, domain, counts, named):
    return [name, domain, *counts.row("")[1:9], common.share(named, counts.hits)]


if __name__ == "__main__":
    import sys

    tables = measure(sys.argv[1] if len(sys.argv) > 1 else common.sets_folder()) or sys.exit("no runs of tau-bench: fetch.py tau")
    print("\n".join(tables.values()))
