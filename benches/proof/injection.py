"""Injected instructions: the reference solutions of AgentDojo, with and without the attack (agentdojo_runs.py).

One rule file for all four suites (injection/agents.assert). A run is bad if the calls of the attack were made; the twins of it are the same run without
the attack, and the run that reads the attack and does not follow it.
"""
import collections
import json
import os

import common


def find_runs(folder):
    path = os.path.join(folder, "sets", "agentdojo", "runs.jsonl")
    return path if os.path.isfile(path) else None


def read_kinds(path):
    """For each run its suite, its kind, its attack and its task."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line)
            parts = run["id"].split("/")
            yield parts[0], run["meta"]["kind"], parts[2] if len(parts) > 2 else None, parts[1]


def measure(folder):
    """The tables: by suite, by attack that gets through, and each rule."""
    path = find_runs(folder)
    if not path:
        return None
    kinds = list(read_kinds(path))
    verdicts = common.check(os.path.join(common.HERE, "injection", "agents.assert"), [path])
    suites, missed, false = collections.defaultdict(common.Counts), collections.Counter(), collections.Counter()
    seen = collections.Counter((suite, kind) for suite, kind, *_ in kinds)
    alarms, benign = collections.Counter(), []
    for at, (suite, kind, attack, task) in enumerate(kinds):
        alarm = bool(verdicts.alarm(at))
        suites[suite].add(kind == "hijacked", alarm, verdicts.undecided(at))
        alarms[suite, kind] += alarm
        if kind == "hijacked" and not alarm:
            missed[suite, attack] += 1
        if kind == "benign" and alarm:
            false.update(verdicts.alarm(at))
            benign.append([suite, task, ", ".join("`%s`" % rule for rule in verdicts.alarm(at))])
    rows, total = [], common.Counts()
    rate = lambda names, kind: common.share(sum(alarms[name, kind] for name in names), sum(seen[name, kind] for name in names))
    for name, counts in [*suites.items(), ("all", total)]:
        names = list(suites) if name == "all" else [name]
        if name != "all":
            total.join(counts)
        rows.append([name, *(common.number(sum(seen[each, kind] for each in names)) for kind in ("hijacked", "benign", "resisted")),
                     rate(names, "hijacked"), rate(names, "benign"), rate(names, "resisted"), common.number(counts.undecided)])
    rows[-1].append(common.number(round(total.runs / verdicts.seconds)))
    for row in rows[:-1]:
        row.append("")
    attacks = collections.Counter((suite, attack) for suite, kind, attack, *_ in kinds if kind == "hijacked")
    return {
        "suites": common.table(["suite", "hijacked", "benign", "resisted", "detected", "false alarms, benign", "false alarms, resisted", "undecided", "runs per second"], rows),
        "attacks": common.table(["suite", "attack", "runs", "not detected"], [[suite, attack, common.number(attacks[suite, attack]), common.number(count)] for (suite, attack), count in sorted(missed.items())]),
        "benign": common.table(["suite", "user task", "rule"], benign),
        "rules": common.table(["rule", "exercised in runs", "broken in runs", "broken in benign runs"],
                              [["`%s`" % rule, common.number(exercised), common.number(failed), common.number(false[rule])] for rule, (exercised, failed) in verdicts.exercised().items()]),
    }


if __name__ == "__main__":
    import sys

    tables = measure(sys.argv[1] if len(sys.argv) > 1 else common.sets_folder()) or sys.exit("no runs of AgentDojo: fetch.py agentdojo")
    print("\n".join(tables.values()))
