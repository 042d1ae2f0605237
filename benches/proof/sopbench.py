"""SOPBench: recorded runs of service agents, and the verdict of its oracle for each.

The rules come from the graphs in the tasks and from the constraints of the domain (sopgraph.py). A run of the set breaks its graph if the oracle
says so (`dirgraph_satisfied`). Runs with a wrong tool call are left out: the oracle skips such a call, so its verdict says nothing of it.
"""
import collections
import glob
import json
import os
import tempfile

import common
import sopgraph

def clone_runs(folder, name):
    """The labelled runs of a domain in a clone of the benchmark: id, task, calls, broken."""
    for path in sorted(glob.glob(os.path.join(folder, "output", name, "*.json"))):
        for at, entry in enumerate(sopgraph.load(path) or []):
            evaluations = entry.get("evaluations") or []
            for turn, (interaction, evaluation) in enumerate(zip(entry["interactions"], evaluations)):
                if evaluation["no_tool_call_error"]:
                    run = "%s#%d.%d" % (os.path.relpath(path, folder).replace(os.sep, "/"), at, turn)
                    yield run, entry["task"], list(read_calls(interaction["interaction"])), not evaluation["dirgraph_satisfied"]


def read_calls(messages):
    """The calls of a conversation, as the oracle reads them: one for each message, named by its result."""
    for message, result in zip(messages, messages[1:]):
        asked = [call for call in message.get("tool_calls") or [] if call["function"]["name"].lower() not in ("n/a", "na", "none", "null")]
        if asked:
            yield {"tool": result["tool_name"], "args": read_value(asked[0]["function"]["arguments"]), "result": result["content"]}


def read_value(text):
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def prepared_runs(folder, name, clone):
    """The labelled runs of a domain in the normal form (`DOMAIN-NNNN.jsonl`, `labels.json`); the task of each stands in the clone."""
    labels = sopgraph.load(os.path.join(folder, name, "labels.json"))
    for path in sorted(glob.glob(os.path.join(folder, name, "*.jsonl"))):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                run = json.loads(line)
                yield run["id"], find_task(clone, run["id"]), run["calls"], not labels[run["id"]]


TASKS = {}


def find_task(clone, run):
    """The task of a run: `FILE#INDEX.TURN`."""
    path, at = run.rsplit("#", 1)
    if path not in TASKS:
        TASKS[path] = [entry["task"] for entry in sopgraph.load(os.path.join(clone, path))]
    return TASKS[path][int(at.split(".")[0])]


def group_runs(domain, runs):
    """Runs by their rules: tasks with the same graph share a file."""
    groups, texts = collections.defaultdict(list), {}
    for run, task, calls, broken in runs:
        key = json.dumps([task["user_goal"], task["constraints"], task["directed_action_graph"]])
        if key not in texts:
            texts[key] = sopgraph.rules(domain, task)
        groups[texts[key]].append((run, calls, broken))
    return groups


def measure_domain(domain, runs, wrong):
    counts = common.Counts()
    with tempfile.TemporaryDirectory() as folder:
        rules, traces = os.path.join(folder, "rules.assert"), os.path.join(folder, "runs.jsonl")
        for text, members in group_runs(domain, runs).items():
            with open(rules, "w", encoding="utf-8") as out:
                out.write(text)
            with open(traces, "w", encoding="utf-8") as out:
                out.writelines(json.dumps({"id": run, "calls": calls}) + "\n" for run, calls, _ in members)
            verdicts = common.check(rules, [traces])
            for at, (run, _, broken) in enumerate(members):
                alarm = verdicts.alarm(at)
                counts.add(broken, bool(alarm), verdicts.undecided(at))
                if broken != bool(alarm):
                    wrong.append((run, broken, alarm))
            counts.seconds += verdicts.seconds
    return counts


def find_clone(folder):
    """A clone of the benchmark, in the folder of sets or as that folder itself."""
    for place in (folder, os.path.join(folder, "sets", "sopbench"), os.path.join(folder, "sopbench")):
        if os.path.isdir(os.path.join(place, "env", "domains")):
            return place
    return None


def measure(folder, only=None):
    """The table of all domains with labelled runs, and the runs that were judged wrongly."""
    clone = find_clone(folder)
    if not clone:
        return None
    prepared = os.path.join(folder, "benchmarks", "sopbench")
    rows, wrong, total = [], [], common.Counts()
    for name in sorted(os.listdir(os.path.join(clone, "env", "domains"))):
        if only and name not in only or not os.path.isdir(os.path.join(clone, "output", name)):
            continue
        if os.path.isdir(os.path.join(prepared, name)):
            runs = prepared_runs(prepared, name, clone)
        else:
            runs = clone_runs(clone, name)
        counts = measure_domain(sopgraph.Domain(clone, name), runs, wrong)
        if counts.runs:
            rows.append(counts.row(name))
            total.join(counts)
    return common.table(common.HEAD, rows + [total.row("all")]), wrong


if __name__ == "__main__":
    import sys

    shown, wrong = measure(sys.argv[1] if len(sys.argv) > 1 else common.sets_folder(), sys.argv[2:]) or sys.exit("no clone of SOPBench: fetch.py sopbench")
    print(shown)
    for run, broken, alarm in wrong:
        print(run, "missed" if broken else "false alarm", alarm)
