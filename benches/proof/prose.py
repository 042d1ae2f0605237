"""Rules out of prose: fifty sentences of policies, and what an author who sees the cheat sheet alone writes for them.

prose/policies/*.txt hold the sentences, the tools that a rule may name, and two runs for each: one that keeps the policy, one that breaks it.
prose/recordings/*.txt hold the answers of authors: `## NAME` and the rule, and `## NAME, again` for a second answer, which an author gives after
the messages of `aver lint --format json` on the first one. An answer is right if the first run passes and the second fails.
"""
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import common

HERE = os.path.join(common.HERE, "prose")
# 2026-03-05 is a Thursday.
START = "2026-03-05T10:00:00Z"
STEP = re.compile(r"(?:@(?P<at>\d+)s )?(?:\[(?P<agent>\w+)\] )?(?P<what>[\w]+):? ?(?P<rest>.*)")


def sections(path):
    """The texts below `## NAME` of a file."""
    with open(path, encoding="utf-8") as text:
        parts = re.split(r"^## (.+)\n", text.read(), flags=re.M)
    return dict(zip(parts[1::2], map(str.strip, parts[2::2])))


def stamp(start, seconds):
    at = datetime.datetime.fromisoformat(start.replace("Z", "+00:00")) + datetime.timedelta(seconds=seconds)
    return at.isoformat().replace("+00:00", "Z")


def call_of(name, rest):
    """`{arguments} -> result`, or `{arguments} !> "error"`."""
    args, end = json.JSONDecoder().raw_decode(rest)
    sign, came = rest[end:].strip().split(" ", 1)
    came = json.loads(came)
    ended = {"status": "ok", "result": came} if sign == "->" else {"status": "failed", "error": came}
    return {"kind": "call", "tool": name, "args": args, **ended}


def file_steps(call):
    """What the calls of a coding agent do: its formats tell the same of a recorded session."""
    path = call["args"].get("file_path")
    ok = call["status"] == "ok"
    if call["tool"] == "Bash":
        return [{"kind": "command", "command": call["args"]["command"], "exit_code": 0 if ok else 1}]
    return [{"kind": {"Read": "read"}.get(call["tool"], "write"), "path": path}] if call["tool"] in ("Read", "Edit", "Write") else []


def run_of(text):
    """A run in normal form, told line by line."""
    steps, run, start, now = [], {"complete": True}, START, 0
    for line in filter(None, map(str.strip, text.splitlines())):
        found = STEP.fullmatch(line)
        what, rest = found["what"], found["rest"]
        if what == "start":
            start = rest
        elif what == "cost":
            run["cost"] = float(rest)
        else:
            now = int(found["at"] or now + 1)
            message = what in ("user", "assistant")
            step = {"kind": "message", "role": what, "text": rest} if message else call_of(what, rest)
            begun = {"start": stamp(start, now), "turn": 1 + len(steps)}
            ended = {} if message else {"end": stamp(start, now + 0.5)}
            steps.append({**step, **begun, **ended, **({"agent": found["agent"]} if found["agent"] else {})})
            if not message:
                steps += [{**one, **begun, "status": step["status"]} for one in file_steps(step)]
    said = {role: [step["text"] for step in steps if step.get("role") == role] for role in ("user", "assistant")}
    if said["user"]:
        run["prompt"] = said["user"][0]
    return {**run, "output": said["assistant"][-1], "steps": steps}


def policies():
    """The sentences by name, with their two runs."""
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "policies", "*.txt"))):
        for name, text in sections(path).items():
            told, runs = text.split("\npasses:\n", 1)
            found[name] = (told, *map(run_of, runs.split("\nfails:\n")))
    return found


def aver(*words):
    return subprocess.run([common.find_aver(), *words], capture_output=True, text=True)


def judge(rule, runs, folder):
    """What came of an answer: `right`, or what is wrong, with the message that lint gives."""
    path, traces = os.path.join(folder, "answer.assert"), os.path.join(folder, "runs.jsonl")
    with open(path, "w", encoding="utf-8") as out:
        out.write(rule + "\n")
    with open(traces, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(run) + "\n" for run in runs)
    linted = aver("lint", path, "--format", "json", "--no-project")
    said = [one for one in json.loads(linted.stdout)["diagnostics"] if one["severity"] in ("error", "warning")]
    message = "; ".join(one["message"] for one in said)
    if linted.returncode == 3:
        return "does not compile", message
    checked = aver("check", path, traces, "--format", "jsonl", "--no-project", "--threads", "1")
    kept, broken = [verdict_of(line["verdicts"]) for line in map(json.loads, checked.stdout.splitlines()) if "verdicts" in line]
    if (kept, broken) == ("pass", "fail"):
        return "right", message
    return "%s where it is kept, %s where it is broken" % (kept, broken), message


def verdict_of(verdicts):
    """The verdict of a run: the worst one, and a pass needs one that passes."""
    return next(word for word in ("error", "fail", "undecided", "pass", "vacuous", "skipped") if word in verdicts)


def judge_author(path, asked):
    """For each sentence: what the first answer is worth, and the second one after a message."""
    answers, found = sections(path), {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (_, *runs) in asked.items():
            first, message = judge(answers[name], runs, folder) if name in answers else ("no answer", "")
            again = answers.get(name + ", again")
            found[name] = (first, message, judge(again, runs, folder)[0] if again else None)
    return found


def why(author):
    """What a recording says of a sentence that was not right at once: `NAME<tab>fault<tab>reason`."""
    path = os.path.join(HERE, "recordings", author + ".tsv")
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as text:
        return {name: rest for name, *rest in (line.rstrip("\n").split("\t") for line in text)}


def cell(text):
    return text.replace("|", "\\|") if len(text) < 180 else text[:177].replace("|", "\\|") + "…"


def measure(_folder):
    asked, rows, wrong = policies(), [], []
    for path in sorted(glob.glob(os.path.join(HERE, "recordings", "*.txt"))):
        author = os.path.splitext(os.path.basename(path))[0]
        found, causes = judge_author(path, asked), why(author)
        at_once = sum(first == "right" for first, _, _ in found.values())
        told = [one for one in found.values() if one[0] != "right" and one[1]]
        mended = sum(again == "right" for _, _, again in told)
        silent = len(found) - at_once - len(told)
        rows.append([author, *map(common.number, [len(found), at_once, mended, len(told) - mended, silent])])
        for name, (first, message, again) in found.items():
            if first != "right":
                fault, reason = causes.get(name, ["", ""])
                wrong.append([name, cell(first), "yes" if message else "no", cell(again or "not asked"), fault, cell(reason)])
    return {
        "authors": common.table(["author", "sentences", "right at once", "after one message", "never, with a message", "never, without one"], rows),
        "wrong": common.table(["sentence", "first answer", "message", "second answer", "fault of", "why"], wrong),
    }


if __name__ == "__main__":
    asked = policies()
    for path in sys.argv[1:]:
        for name, (first, message, again) in judge_author(path, asked).items():
            if first != "right":
                print("%s: %s\n  %s\n  again: %s" % (name, first, message, again))
