#!/usr/bin/env python3
"""Prints every verdict that two programs give otherwise: the packs of `examples/` on the real traces of `../shared/traces`.

    benches/changed_verdicts.py OLD NEW [PACK…]

OLD and NEW are two builds of `aver`. Beside the verdicts it prints what NEW says of steps that could not be judged and of names, and at the
end how often each of these came.
"""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRACES = ROOT.parent / "shared" / "traces"
LONGEST = 8 << 20


def checked(program, pack, trace):
    """The runs of a trace by name (verdicts, steps that could not be judged, reasons), and what is said beside them."""
    command = [program, "check", str(pack), str(trace), "--format", "jsonl", "--no-project"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    ids, runs = [], {}
    for text in ran.stdout.splitlines():
        line = json.loads(text)
        if "rules" in line:
            ids = [rule["id"] for rule in line["rules"]]
        elif "run" in line:
            reasons = {one["id"]: one["reason"] for one in line["findings"]}
            runs[line["run"]] = (dict(zip(ids, line["verdicts"])), line.get("unjudged", []), reasons)
    said = [line for line in ran.stderr.splitlines() if line.startswith(("warning", "note"))]
    return runs, said


def main():
    old, new, *packs = sys.argv[1:]
    packs = packs or sorted(path.name for path in (ROOT / "examples").iterdir() if any(path.rglob("*.assert")))
    traces = [path for path in sorted(TRACES.rglob("*.json*")) if path.stat().st_size < LONGEST]
    counts = collections.Counter()
    for pack in packs:
        for trace in traces:
            before, _ = checked(old, ROOT / "examples" / pack, trace)
            after, said = checked(new, ROOT / "examples" / pack, trace)
            for run, (verdicts, unjudged, reasons) in after.items():
                known = before.get(run, ({}, [], {}))
                for name, verdict in verdicts.items():
                    if known[0].get(name, verdict) != verdict:
                        change = f"{known[0][name]} -> {verdict}"
                        counts[f"{pack} {name}: {change}"] += 1
                        print(f"{pack}\t{run}\t{name}\t{change}\t{reasons.get(name) or known[2].get(name, '')}")
                for one in unjudged:
                    counts[f"{pack} {one['id']}: not every step"] += 1
                    print(f"{pack}\t{run}\t{one['id']}\t{one['count']} of {one['of']} {one['things']}\t{one['reason']}")
            for line in said:
                counts[f"{pack}: {line.split(': ', 2)[-1]}"] += 1
                print(f"{pack}\t{trace}\t{line}")
    for what, count in counts.most_common():
        print(f"{count:6}  {what}")


main()
