#!/usr/bin/env python3
"""Holds the reports of `aver check`, `test` and `lint` against what reads them.

    benches/report_formats.py target/release/aver [--junit-xsd junit-10.xsd] [--sarif-schema sarif-schema-2.1.0.json]

Hostile runs and rules with every verdict are checked, and each report is read by a tool that others read it with. A tool that is missing
is named and left out:

    junit   `xmllint` with `junit-10.xsd` of Jenkins' xUnit plugin (github.com/jenkinsci/xunit-plugin)
    sarif   `jsonschema` (PyPI) with the schema of OASIS; `Sarif.Multitool` (npm @microsoft/sarif-multitool) where it is on the path
    tap     `prove`, as version 13, and PyYAML for the blocks
    csv     `duckdb` and `pandas` (PyPI)
    gitlab  the fields that GitLab asks for, and fingerprints that are unique
    github  a reader of workflow commands that undoes the escapes
    spans   the fields of OTLP JSON
"""
import argparse, importlib, json, os, re, shutil, subprocess, sys, tempfile

EVIL = "</script>]]>\u001b[31m::error::x%0A\n::set-output name=a::b\u202e\u200b\x00\x7f|`a`<img onerror=x>@user #12 \\ # TODO =cmd|"
RULES = '''use std.secrets
## A note.
rule approval "Refunds need an approval" { before approve(id: $id) -> refund(id: $id) }
rule scored { threshold 0.9
 output.status == "x"
 calls exists
}
output.status == "refunded" severity warn
cost <= $0.05
never drop_table
no secrets in calls[*].args
never refund(note: "x") expect fail "known"
never refund expect fail "known"
each refund: result exists message "=1+1 ${output.status}"
'''


def files(folder):
    os.makedirs(f"{folder}/runs")
    name = f"{folder}/runs/a,b:c%é #1.jsonl"
    with open(name, "w") as out:
        for number in range(6):
            calls = [{"tool": "approve", "args": {"id": "a"}}]
            calls += [{"tool": "refund", "args": {"id": f"o-{k}", "note": EVIL}} for k in range(1 + 20 * (number == 3))]
            calls += [{"tool": EVIL, "args": {"key": "ghp_" + "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"}}]
            out.write(json.dumps({"calls": calls, "output": {"status": EVIL}}) + "\n")
        out.write("{broken\n")
    open(f"{folder}/r.assert", "w").write(RULES)
    tests = 'rule a { never b }\ntest "<&\\"# TODO" expect fail a { calls: [] }\ntest "c" expect pass a { calls: [] }\n'
    open(f"{folder}/t.assert", "w").write(tests)
    open(f"{folder}/bad.assert", "w").write("rule x { nver y\n")


class Checks:
    def __init__(self, options):
        self.options, self.failed = options, 0

    def say(self, what, ok, why=""):
        self.failed += not ok
        print(f"{'ok    ' if ok else 'FAILED'} {what} {why}")

    def tool(self, name, module=False):
        try:
            found = importlib.import_module(name) if module else shutil.which(name)
        except ImportError:
            found = None
        if not found:
            print(f"missing {name}: left out")
        return found

    def junit(self, path, what):
        if self.options.junit_xsd and self.tool("xmllint"):
            ran = subprocess.run(["xmllint", "--noout", "--schema", self.options.junit_xsd, path], capture_output=True, text=True)
            self.say(what, ran.returncode == 0, ran.stderr.splitlines()[0] if ran.returncode else "")

    def sarif(self, path, what):
        if self.options.sarif_schema and (schemas := self.tool("jsonschema", True)):
            errors = list(schemas.Draft7Validator(json.load(open(self.options.sarif_schema))).iter_errors(json.load(open(path))))
            self.say(what, not errors, str(errors[:1]))
        if self.tool("Sarif.Multitool"):
            ran = subprocess.run(["Sarif.Multitool", "validate", path], capture_output=True, text=True)
            self.say(f"{what} (Multitool)", " error " not in ran.stdout, ran.stdout[:300] if " error " in ran.stdout else "")

    def tap13(self, path, what):
        if self.tool("prove"):
            ran = subprocess.run(["prove", "--exec", "cat", path], capture_output=True, text=True)
            self.say(what, "Parse errors" not in ran.stdout + ran.stderr, ran.stdout[-300:] if "Parse errors" in ran.stdout else "")
        if yaml := self.tool("yaml", True):
            blocks = re.findall(r"^  ---\n(.*?)^  \.\.\.\n", open(path).read(), re.S | re.M)
            self.say(f"{what}: {len(blocks)} blocks", all("message" in yaml.safe_load(block) for block in blocks))

    def csv(self, path, what):
        if duckdb := self.tool("duckdb", True):
            rows = duckdb.sql(f"select count(*) from read_csv('{path}')").fetchall()[0][0]
            self.say(f"{what}: {rows} rows in DuckDB", rows > 0)
        if pandas := self.tool("pandas", True):
            table = pandas.read_csv(path)
            texts = table.select_dtypes(include=["object", "string"]).stack()
            self.say(f"{what}: {len(table)} rows in pandas", len(table) > 0 and not texts.astype(str).str.match(r"[=+\-@]").any())

    def gitlab(self, path, what):
        issues = json.load(open(path))
        fields = all(set(i) == {"description", "check_name", "fingerprint", "severity", "location"} for i in issues)
        known = all(i["severity"] in ("info", "minor", "major", "critical", "blocker") for i in issues)
        lines = all(i["location"]["lines"]["begin"] >= 1 for i in issues)
        unique = len({i["fingerprint"] for i in issues}) == len(issues)
        self.say(f"{what}: {len(issues)} issues", fields and known and lines and unique)

    def github(self, path, what):
        text = open(path).read()
        commands = [line for line in text.splitlines() if line.lstrip().startswith("::")]
        shape = re.compile(r"::(error|warning|notice) (\w+=[^,:\r\n]*,?)+::[^\r\n]*$")
        wrong = [line for line in commands if not shape.match(line) or "\x1b" in line or "\u202e" in line]
        self.say(f"{what}: {len(commands)} commands", not wrong, str(wrong[:1]))

    def spans(self, path, what):
        spans = json.load(open(path))["resourceSpans"][0]["scopeSpans"][0]["spans"]
        ids = all(re.fullmatch("[0-9a-f]{32}", s["traceId"]) and re.fullmatch("[0-9a-f]{16}", s["spanId"]) for s in spans)
        events = [event["name"] for span in spans for event in span.get("events", [])]
        self.say(f"{what}: {len(spans)} spans", ids and set(events) <= {"gen_ai.evaluation.result"} and
                 len({s["spanId"] for s in spans}) == len(spans))

    def markdown(self, path, what):
        text = open(path).read()
        self.say(f"{what}: {len(text)} characters", len(text) < 65_536 and "<img" not in re.sub(r"`+[^\n]*?`+", "", text))


# A check is a method of the name of its format.
FORMATS = [name for name in vars(Checks) if not name.startswith("_") and name not in ("say", "tool")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("aver")
    parser.add_argument("--junit-xsd")
    parser.add_argument("--sarif-schema")
    options = parser.parse_args()
    aver, checks = os.path.abspath(options.aver), Checks(options)
    for name in ("junit_xsd", "sarif_schema"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    with tempfile.TemporaryDirectory() as folder:
        files(folder)
        os.chdir(folder)
        commands = {"check": ["check", "r.assert", "runs"], "broken": ["check", "bad.assert", "runs"],
                    "test": ["test", "t.assert"], "lint": ["lint", "r.assert", "bad.assert"]}
        for name, command in commands.items():
            for format in FORMATS:
                path = f"{name}.{format}" + (".sarif" if format == "sarif" else "")
                ran = subprocess.run([aver, *command, "--format", format], capture_output=True)
                if b"has no format" in ran.stderr:
                    continue
                open(path, "wb").write(ran.stdout)
                getattr(checks, format)(path, f"{name} {format}")
    sys.exit(min(checks.failed, 1))


main()
