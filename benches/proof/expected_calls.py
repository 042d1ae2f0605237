"""Expected calls: what other packages decide, and what one line of `.assert` decides about the same calls.

For each mode of a package stands the line that says the same. Cases are generated; each is given to the package's own function (evaluators.py) and to
`aver check`. Where the two differ, the cause is looked for among the decisions that are listed here; a difference without one is `not explained`.
The packages are read from `sets/expected` (fetch.py).
"""
import collections
import itertools
import json
import os
import random
import subprocess
import tempfile

import common
import evaluators

CASES = 300
LINES = {
    "agentevals": [
        (("strict", "exact"), "calls match meta.expected"),
        (("strict", "ignore"), "calls match meta.expected arguments ignored"),
        (("strict", "superset"), "calls match meta.expected arguments named"),
        (("strict", "subset"), "calls match meta.expected arguments optional"),
        (("unordered", "exact"), "calls match meta.expected in any order"),
        (("unordered", "ignore"), "calls match meta.expected in any order arguments ignored"),
        (("unordered", "superset"), "calls match meta.expected in any order"),
        (("unordered", "subset"), "calls match meta.expected in any order"),
        (("superset", "exact"), "calls match superset of meta.expected"),
        (("superset", "ignore"), "calls match superset of meta.expected arguments ignored"),
        (("superset", "superset"), "calls match superset of meta.expected arguments named"),
        (("superset", "subset"), "calls match superset of meta.expected arguments optional"),
        (("subset", "exact"), "calls match subset of meta.expected"),
        (("subset", "ignore"), "calls match subset of meta.expected arguments ignored"),
        (("subset", "superset"), "calls match subset of meta.expected arguments optional"),
        (("subset", "subset"), "calls match subset of meta.expected arguments named"),
    ],
    "DeepEval": [
        (("any order", "names"), "calls match superset of meta.expected arguments ignored score >= 0.5"),
        (("ordered", "names"), "calls match superset of meta.expected in order arguments ignored score >= 0.5"),
        (("exact", "names"), "calls match meta.expected arguments ignored"),
        (("exact", "arguments"), "calls match meta.expected"),
        (("any order", "arguments"), None),
        (("ordered", "arguments"), None),
    ],
    "BFCL": [
        (("simple",), "calls match meta.accepted arguments accepted folded"),
        (("multiple",), "calls match meta.accepted arguments accepted folded"),
        (("parallel",), "calls match meta.accepted in any order arguments accepted folded"),
    ],
    "tau2": [
        (("named arguments",), "calls match superset of meta.expected repeats ignored"),
        (("all arguments",), "calls match superset of meta.expected arguments optional repeats ignored"),
    ],
    "Google ADK": [
        (("exact", "compared"), "calls match meta.expected"),
        (("exact", "ignored"), "calls match meta.expected arguments ignored"),
        (("in order", "compared"), "calls match superset of meta.expected in order"),
        (("in order", "ignored"), "calls match superset of meta.expected in order arguments ignored"),
        (("any order", "compared"), "calls match superset of meta.expected"),
        (("any order", "ignored"), "calls match superset of meta.expected arguments ignored"),
    ],
}
PACKAGES = {"agentevals": evaluators.Agentevals, "DeepEval": evaluators.DeepEval, "BFCL": evaluators.Bfcl, "tau2": evaluators.Tau2, "Google ADK": evaluators.Adk}
# What a mode without a line would need.
MISSING = {
    "DeepEval": "a pair that counts by the share of its arguments that are equal, nested objects in parts",
}
VALUES = [1, 2, 2.0, True, "a", "b", "New York", None, [1, 2], [2, 1], {"x": 1}, {"x": 1, "y": 2}]
TEXTS = ["New York", "new york", "New-York", "Paris"]
FUNCTIONS = [
    {"name": name, "parameters": {"type": "dict", "required": ["city"], "properties": {
        "city": {"type": "string"}, "n": {"type": "integer"}, "x": {"type": "float"}, "all": {"type": "boolean"},
        "ids": {"type": "array", "items": {"type": "integer"}}, "where": {"type": "dict"}}}}
    for name in ("find", "send")
]


class Generator:
    def __init__(self, seed):
        self.choice = random.Random(seed)

    def args(self):
        return {key: self.choice.choice(VALUES) for key in "kmn" if self.choice.random() < 0.6}

    def call(self):
        return {"tool": self.choice.choice(["find", "send", "find"]), "args": self.args()}

    def changed(self, call):
        """The same call, or one that differs a little."""
        args = dict(call["args"])
        kind = self.choice.random()
        if kind < 0.15 and args:
            args.pop(self.choice.choice(sorted(args)))
        elif kind < 0.3:
            args[self.choice.choice("kmn")] = self.choice.choice(VALUES)
        return {"tool": call["tool"], "args": args}

    def case(self):
        wanted = [self.call() for _ in range(self.choice.choice([0, 1, 1, 2, 2, 3, 4]))]
        if wanted and self.choice.random() < 0.2:
            wanted.append(dict(self.choice.choice(wanted)))
        made = [self.changed(call) for call in wanted if self.choice.random() < 0.9]
        made += [self.call() for _ in range(self.choice.choice([0, 0, 0, 1]))]
        if self.choice.random() < 0.3:
            self.choice.shuffle(made)
        for call in wanted:
            call["compare_args"] = sorted(key for key in "kmn" if self.choice.random() < 0.5)
        return {"made": self.grouped(made), "expected": self.grouped(wanted)}

    def grouped(self, calls):
        """Calls by message: mostly one a message."""
        groups = []
        for call in calls:
            if groups and self.choice.random() < 0.1:
                groups[-1].append(call)
            else:
                groups.append([call])
        return groups

    def accepted_case(self, many):
        pick = self.choice.choice
        value = {"city": lambda: pick(TEXTS), "n": lambda: pick([1, 2]), "x": lambda: pick([1, 1.5]), "all": lambda: pick([True, False]),
                 "ids": lambda: pick([[1, 2], [2, 1]]), "where": lambda: {"zip": pick([1, 2])}}
        wanted, made = [], []
        for _ in range(pick([1, 2, 3]) if many else 1):
            accepted = {"city": [pick(TEXTS)]}
            for key in ("n", "x", "all", "ids", "where"):
                if self.choice.random() < 0.4:
                    accepted[key] = ([{"zip": [1]}] if key == "where" else [value[key]() for _ in range(pick([1, 2]))]) + ([""] if self.choice.random() < 0.4 else [])
            tool = pick(["find", "send"])
            wanted.append([{"tool": tool, "accepted": accepted}])
            args = {key: self.fitting(key, accepted, value) for key in accepted if "" not in accepted[key] or self.choice.random() < 0.6}
            if self.choice.random() < 0.15:
                args[pick(["n", "x"])] = 9
            made.append([{"tool": tool if self.choice.random() < 0.9 else "send", "args": args}])
        if many and self.choice.random() < 0.4:
            self.choice.shuffle(made)
        # `multiple` and `simple` name the one function that is expected first.
        functions = FUNCTIONS if many else sorted(FUNCTIONS, key=lambda one: one["name"] != wanted[0][0]["tool"])
        return {"made": made, "expected": wanted, "functions": functions}

    def fitting(self, key, accepted, value):
        known = [one for one in accepted[key] if one != ""]
        if key == "where":
            return {"zip": self.choice.choice([1, 1, 2])}
        return self.choice.choice(known) if known and self.choice.random() < 0.8 else value[key]()


def flat(groups):
    return [call for group in groups for call in group]


def run_of(case, mode):
    """The made calls as a run in normal form, with what is expected in `meta`."""
    told = lambda call: {name: call[name] for name in ("tool", "args") if name in call}
    named = mode == ("named arguments",)
    expected = [{**told(call), **({"compare_args": call["compare_args"]} if named else {})} for call in flat(case["expected"])]
    accepted = [{"tool": call["tool"], "args": call["accepted"]} for call in flat(case["expected"]) if "accepted" in call]
    calls = [{**told(call), "result": "ok", "status": "ok", "turn": 1 + at} for at, group in enumerate(case["made"]) for call in group]
    return {"complete": True, "calls": calls, "meta": {"accepted": accepted} if accepted else {"expected": expected}}


def check_line(line, cases, mode):
    """Whether each case holds, and its score."""
    with tempfile.TemporaryDirectory() as folder:
        rules, runs = os.path.join(folder, "rules.assert"), os.path.join(folder, "runs.jsonl")
        with open(rules, "w", encoding="utf-8") as out:
            out.write(line + "\n")
        with open(runs, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(run_of(case, mode)) + "\n" for case in cases)
        done = subprocess.run([common.find_aver(), "check", rules, runs, "--no-project", "--threads", "1", "--format", "json"], capture_output=True, text=True)
        found = [run["results"][0] for run in json.loads(done.stdout)["runs"]]
    return [(one["verdict"], one["score"]) for one in found]


def loose(value):
    """As Python compares: a truth value is a number."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict):
        return {name: loose(one) for name, one in value.items()}
    return list(map(loose, value)) if isinstance(value, list) else value


def numbered(case):
    """The case with numbers in the place of truth values."""
    change = lambda groups: [[{**call, "args": loose(call["args"])} for call in group] for group in groups]
    return {**case, "made": change(case["made"]), "expected": change(case["expected"])}


CAUSES = {
    "no call expected": "no call is expected and some are made: DeepEval's score is 0; with `superset of` that is vacuous here",
    "truth is no number": "`true` and `1` are equal in Python and different values here",
    "messages": "agentevals compares messages: how calls are grouped counts, and their order within one message does not",
    "a call of its own": "every expected call needs a call of its own; there one call stands for several, or equal calls count once",
    "greedy": "the package takes the first call that fits and no other; here as many pairs as possible are made",
    "loose texts": "BFCL leaves spaces and punctuation of texts out; `folded` leaves case and repeated spaces out",
}


def text_as(value):
    return "".join(sign for sign in value.lower() if sign not in " ,./-_*^") if isinstance(value, str) else value


def folded(case):
    """BFCL's way of comparing texts, put into the values."""
    made = [[{**call, "args": {name: text_as(value) for name, value in call["args"].items()}} for call in group] for group in case["made"]]
    wanted = [[{**call, "accepted": {name: list(map(text_as, values)) for name, values in call["accepted"].items()}} for call in group] for group in case["expected"]]
    return {**case, "made": made, "expected": wanted}


def apart(case):
    """The case with each call in a message of its own."""
    return {**case, "made": [[call] for call in flat(case["made"])], "expected": [[call] for call in flat(case["expected"])]}


def reordered(case):
    """The case in every order of its calls, up to five of them each."""
    for made in itertools.permutations(flat(case["made"])):
        for wanted in itertools.permutations(flat(case["expected"])) if len(made) < 6 else ():
            yield {**case, "made": [list(made)], "expected": [list(wanted)]}


class Found:
    """What the line and the package say of a case."""

    def __init__(self, verdict, score, asked):
        self.vacuous, (self.theirs, self.their_score) = verdict == "vacuous", asked
        # What is vacuous holds; it has no score.
        self.ours, self.score = verdict in ("pass", "vacuous"), None if self.vacuous else score

    def agrees(self, asked):
        """Whether this answer of a package is the same; scores are compared where both have one that is no verdict."""
        theirs, score = asked
        return self.ours == theirs and (score is None or self.score is None or abs(score - self.score) < 1e-9)


def each_its_own(evaluator, package, mode, case, found):
    """Whether the package agrees as soon as one call stands for one expected call."""
    made, wanted = flat(case["made"]), flat(case["expected"])
    if package == "tau2":
        one = lambda action, call: evaluator.ask(mode, {"made": [[call]], "expected": [[action]]})[0]
        return found.ours == any(all(map(one, wanted, row)) for row in itertools.permutations(made, len(wanted)))
    # Equal calls are different ones there as soon as what they gave is different.
    return package == "DeepEval" and found.agrees(evaluator.ask(mode, {**case, "made": [[{**call, "output": at} for at, call in enumerate(made)]]}))


def cause_of(evaluator, package, mode, line, case, found):
    """Why the two differ: the case is changed so that the cause is gone, and asked once more."""
    holds = lambda changed: check_line(line, [changed], mode)[0][0] in ("pass", "vacuous")
    if not flat(case["expected"]):
        return "no call expected"
    if package == "BFCL" and holds(folded(case)) == found.theirs:
        return "loose texts"
    if package == "agentevals" and found.agrees(evaluator.ask(mode, apart(case))):
        return "messages"
    if each_its_own(evaluator, package, mode, case, found):
        return "a call of its own"
    if package == "agentevals" and mode[0] != "strict" or mode[0] == "parallel":
        if any(found.agrees(evaluator.ask(mode, changed)) for changed in reordered(case)):
            return "greedy"
    if package == "BFCL":
        return "not explained"
    return "truth is no number" if found.ours != found.theirs and holds(numbered(case)) == found.theirs else "not explained"


def compare(package, folder):
    evaluator, lines, generator = PACKAGES[package](folder), LINES[package], Generator(package)
    said = [(mode, line) for mode, line in lines if line]
    cases = collections.defaultdict(list)
    for at in range(CASES):
        mode, _ = said[at % len(said)]
        cases[mode].append(generator.accepted_case(mode[0] == "parallel") if package == "BFCL" else generator.case())
    rows, causes = [], collections.Counter()
    for mode, line in lines:
        if not line:
            rows.append([package, ", ".join(mode), "*not in one line*", "", "", "", "", ""])
            continue
        counts = collections.Counter()
        for case, (verdict, score) in zip(cases[mode], check_line(line, cases[mode], mode)):
            found = Found(verdict, score, evaluator.ask(mode, case))
            alike = found.agrees((found.theirs, found.their_score if mode[0] != "exact" else None))
            counts.update({"equal": alike, "differ": not alike, "held": found.theirs, "vacuous": found.vacuous})
            if not alike:
                causes[cause_of(evaluator, package, mode, line, case, found)] += 1
        rows.append([package, ", ".join(mode), "`%s`" % line, *map(common.number, [len(cases[mode]), counts["held"], counts["vacuous"], counts["equal"], counts["differ"]])])
    return rows, causes


def measure(folder):
    at = os.path.join(folder, "sets", "expected")
    if not os.path.isdir(at):
        return None
    rows, decisions = [], []
    for package in PACKAGES:
        found, causes = compare(package, at)
        rows += found
        decisions += [[package, CAUSES.get(cause, cause), common.number(count)] for cause, count in causes.most_common()]
    return {
        "lines": common.table(["package", "mode", "one line", "cases", "hold there", "vacuous here", "equal", "differ"], rows),
        "decisions": common.table(["package", "why they differ", "cases"], decisions),
        "missing": common.table(["package", "what no line says"], [[package, what] for package, what in MISSING.items()]),
    }


if __name__ == "__main__":
    import sys

    print("\n".join(measure(sys.argv[1] if len(sys.argv) > 1 else common.sets_folder()).values()))
