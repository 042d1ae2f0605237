#!/usr/bin/env python3
"""Counts the instructions of ten fixed checks and holds them against a table: a slip of a few per cent is seen in the change that made it.

usage: instructions.py [--aver target/debug/aver] [--set] [--only NAME,...] [--profile FOLDER]

callgrind counts, and counts nearly the same each time, whatever else the machine does. The table (`instructions.tsv`) holds a row for each check, and
says with which compiler, C library and valgrind it was counted, and what that offers of the processor; elsewhere the counts are others, and nothing is compared. A row that is
exceeded by more than 2 % fails (`start`: 4 %). `--set` writes the table anew: for a change that is worth what it costs, with the reason in its commit, and for one
that makes a check cheaper. `--profile` keeps what `callgrind_annotate` reads. The build is the one that `.ci/run`
makes for its tests, with the linter as wrapper (RUSTC_WORKSPACE_WRAPPER=clippy-driver): what it says of a release is the direction, not the size.
"""
import argparse, os, platform, re, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "instructions.tsv")
ALLOWED = 1.02
# A start is short, and moved by 2 % between two kinds of processor of which valgrind offers the same.
ALLOWED_OF = {"start": 1.04}
CORPUS = 150


def output_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    """What the counts depend on beside the code. Of the processor that is what valgrind offers of it to a program."""
    rustc = re.search(r"^rustc \S+", output_of(["rustc", "-V"]))
    seen = subprocess.run(["valgrind", "-v", "--tool=none", "true"], capture_output=True, text=True).stderr
    offered = re.search(r"Arch and hwcaps: (.*)$", seen, re.M)
    # The linter, where it looks on, leaves out a part of what the compiler does.
    wrapper = os.path.basename(os.environ.get("RUSTC_WORKSPACE_WRAPPER", "rustc"))
    built = (rustc.group(0) if rustc else "no rustc") + ("" if wrapper == "rustc" else " by " + wrapper)
    return " ".join([built, *platform.libc_ver(), output_of(["valgrind", "--version"]).strip(), offered.group(1) if offered else platform.machine()])


def make(folder):
    """The inputs, the same each time: 150 runs in three formats, one run, and a thousand rules."""
    at = lambda name: os.path.join(folder, name)
    script = lambda name: [sys.executable, os.path.join(HERE, name)]
    subprocess.run([*script("gen_traces.py"), str(CORPUS), at("corpus.jsonl")], check=True, stdout=subprocess.DEVNULL)
    for form in ("chat", "otlp"):
        with open(at("corpus.jsonl")) as corpus, open(at(form + ".jsonl"), "w") as out:
            subprocess.run([*script("make.py"), form], stdin=corpus, stdout=out, check=True)
    with open(at("corpus.jsonl")) as corpus, open(at("one.jsonl"), "w") as out:
        out.write(corpus.readline())
    os.mkdir(at("files"))
    with open(at("corpus.jsonl")) as corpus:
        for number, line in enumerate(corpus):
            with open(at("files/%03d.jsonl" % number), "w") as out:
                out.write(line)
    with open(at("many.assert"), "w") as out:
        subprocess.run([*script("make.py"), "rules", "1000"], stdout=out, check=True)
    with open(at("one.assert"), "w") as out:
        out.write("duration <= 30s\n")


def commands(aver, folder):
    """The checks by name."""
    check = lambda rules, trace, form: [aver, "check", rules, os.path.join(folder, trace), "--format", form, "--threads", "1"]
    pack, real = os.path.join(HERE, "pack.assert"), os.path.join(HERE, "real.assert")
    many, one = os.path.join(folder, "many.assert"), os.path.join(folder, "one.assert")
    return {
        "pack-summary": check(pack, "corpus.jsonl", "summary"),
        "pack-jsonl": check(pack, "corpus.jsonl", "jsonl"),
        "pack-people": check(pack, "corpus.jsonl", "human"),
        "real-rules": check(real, "corpus.jsonl", "summary"),
        "chat": check(pack, "chat.jsonl", "summary"),
        "otlp": check(pack, "otlp.jsonl", "summary"),
        "many-files": check(pack, "files", "summary"),
        "thousand-rules": check(many, "corpus.jsonl", "summary"),
        "start": check(one, "one.jsonl", "summary"),
        "compile-thousand": [aver, "compile", many, "-o", os.path.join(folder, "many.averc")],
    }


def count(name, command, folder, kept):
    """The instructions that a command takes."""
    out = os.path.join(kept, name + ".callgrind") if kept else "/dev/null"
    log = os.path.join(folder, name + ".log")
    # The same small environment each time: a larger one moves the stack, and counts with it.
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder}
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, "--log-file=" + log, *command]
    status = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder)
    with open(log) as text:
        found = re.search(r"Collected : (\d+)", text.read())
    if status.returncode not in (0, 1) or not found:
        sys.exit("%s: exit code %d\n%s" % (name, status.returncode, status.stderr))
    return int(found.group(1))


def read_table():
    rows, counted = {}, ""
    if os.path.exists(TABLE):
        with open(TABLE) as lines:
            for line in lines:
                if line.startswith("# counted with "):
                    counted = line.removeprefix("# counted with ").strip()
                elif line.strip() and not line.startswith("#"):
                    name, number = line.split()
                    rows[name] = int(number)
    return counted, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aver", default=os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "debug", "aver"))
    parser.add_argument("--set", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--profile")
    given = parser.parse_args()
    if not shutil.which("valgrind"):
        print("no valgrind: instructions are not counted")
        return 0
    counted, rows = read_table()
    here = machine()
    if counted != here and not given.set:
        print("instructions are not compared: the table was counted with\n  %s\nand this is\n  %s" % (counted, here))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        make(folder)
        wanted = commands(os.path.abspath(given.aver), folder)
        if given.only:
            wanted = {name: wanted[name] for name in given.only.split(",")}
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            numbers = dict(zip(wanted, threads.map(lambda name: count(name, wanted[name], folder, given.profile), wanted)))
    exceeded = 0
    print("%-20s %14s %14s" % ("", "instructions", "of the table"))
    for name, number in numbers.items():
        known = rows.get(name)
        share = number / known if known else None
        slow = share is not None and share > ALLOWED_OF.get(name, ALLOWED)
        exceeded += slow or (known is None and not given.set)
        print("%-20s %14d %13s  %s" % (name, number, "%.1f %%" % (100 * share) if share else "no row", "TOO MUCH" if slow and not given.set else ""))
    if given.set:
        rows.update(numbers)
        with open(TABLE, "w") as out:
            out.write("# Instructions of each check of `instructions.py`, which writes and reads this file.\n# counted with %s\n" % here)
            out.writelines("%s\t%d\n" % row for row in rows.items())
        return 0
    if exceeded:
        print("%d of %d cost too much over their row. Where that is worth it: benches/instructions.py --set, with the reason in the commit." % (exceeded, len(numbers)))
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
