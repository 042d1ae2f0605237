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

# Result files of this size and more are left out: not every copy of the benchmark has them.
LARGEST = 4 << 20


def clone_runs(folder, name):
    """The labelled runs of a domain in a clone of the benchmark: id, task, calls, broken."""
    paths = glob.glob(os.path.join(folder, "output", name, "*.json"))
    for path in sorted(path for path in paths if os.path.getsize(path) < LARGEST):
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
    for _, members in prepared_groups(folder, name):
        for run, calls, broken in members:
            yield run, find_task(clone, run), calls, broken


def prepared_groups(folder, name):
    """The files of a domain in the normal form: the rules beside the runs, and the runs."""
    labels = sopgraph.load(os.path.join(folder, name, "labels.json"))
    for path in sorted(glob.glob(os.path.join(folder, name, "*.jsonl"))):
        with open(path, encoding="utf-8") as lines:
            runs = [json.loads(line) for line in lines]
        yield path[: -len("jsonl")] + "assert", [(run["id"], run["calls"], not labels[run["id"]]) for run in runs]


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


def generated_groups(domain, runs):
    """Groups of runs, each with the text of its rules."""
    return group_runs(domain, runs).items()


def given_groups(folder, name):
    """The same with the rules that stand beside the runs, where there is no clone to generate them from."""
    for path, members in prepared_groups(folder, name):
        with open(path, encoding="utf-8") as text:
            yield text.read(), members


def measure_domain(groups, wrong):
    counts = common.Counts()
    with tempfile.TemporaryDirectory() as folder:
        rules, traces = os.path.join(folder, "rules.assert"), os.path.join(folder, "runs.jsonl")
        for text, members in groups:
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
    places = (folder, os.path.join(folder, "sets", "sopbench"), os.path.join(folder, "sopbench"))
    return next((place for place in places if os.path.isdir(os.path.join(place, "env", "domains"))), None)


def find_prepared(folder):
    """The domains that are there in the normal form: {name: folder}."""
    places = (os.path.join(folder, "benchmarks", "sopbench"), os.path.join(folder, "sopbench"), folder)
    found = {}
    for place in places:
        for labels in glob.glob(os.path.join(place, "*", "labels.json")):
            found.setdefault(os.path.basename(os.path.dirname(labels)), place)
    return found


def measure(folder, only=None):
    """The table of all domains with labelled runs, and the runs that were judged wrongly."""
    clone, prepared = find_clone(folder), find_prepared(folder)
    names = set(prepared)
    if clone:
        names |= set(os.listdir(os.path.join(clone, "env", "domains")))
    rows, wrong, total = [], [], common.Counts()
    for name in sorted(names):
        if only and name not in only:
            continue
        if not clone:
            groups = given_groups(prepared[name], name)
        else:
            runs = prepared_runs(prepared[name], name, clone) if name in prepared else clone_runs(clone, name)
            groups = generated_groups(sopgraph.Domain(clone, name), runs)
        counts = measure_domain(groups, wrong)
        if counts.runs:
            rows.append(counts.row(name if clone else name + " (rules given)"))
            total.join(counts)
    return (common.table(common.HEAD, rows + [total.row("all")]), wrong) if rows else None


if __name__ == "__main__":
    import sys

    shown, wrong = measure(sys.argv[1] if len(sys.argv) > 1 else common.sets_folder(), sys.argv[2:]) or sys.exit("no clone of SOPBench: fetch.py sopbench")
    print(shown)
    for run, broken, alarm in wrong:
        print(run, "missed" if broken else "false alarm", alarm)
