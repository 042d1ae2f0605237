#!/usr/bin/env python3
"""What a decision of a resident guard costs: `aver guard serve` is asked over its socket before each call of a session.

    python3 benches/guard_latency.py target/release/aver [--calls 2000] [--rules 100 1000] [--kinds [KIND …]] [--hook] [--memory]

Logs stand in memory (`/dev/shm`), so that the flush of a disk is no part of it. `wall` is what the program waits for, `work` the
processor time of the server, which other work on the machine disturbs least. The last column compares the medians of the work.
"""

import argparse
import json
import random
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Everyday rules by kind. `@` is the number of a family of tools, each with tools of its own.
KINDS = {
    "before, shared value": "before approve_@(id: $x) ok -> refund_@(id: $x)",
    "before": "before read_@ -> write_@",
    "before each": "before each ask_@ -> send_@",
    "never": "never drop_@(amount > 100000)",
    "never after until": "never send_@ after fetch_@ until ask_@",
    "never after, shared value": "never refund_@(id: $x) after cancel_@(id: $x)",
    "count": "count pay_@ <= 100000",
    "count, shared value": "count approve_@(id: $x) <= 5000",
    "each": "each pay_@: args.amount <= 100000",
    "never repeat": "never repeat pay_@ more than 20 times",
    "immediately before": "immediately before stage_@ -> commit_@",
    "immediately after": "immediately after stage_@ -> commit_@",
    "after": "after open_@ -> close_@",
    "after within time": "after open_@ -> close_@ within 9h",
    "sum": "sum(args.amount of pay_@) <= 100000000",
    "sum so far": "each refund_@: args.amount <= 100000 + sum(args.amount of pay_@ so far)",
    "not both, shared value": "not both refund_@(id: $x), cancel_@(id: $x)",
    "not both": "not both write_@, cancel_@",
    "require": "require greet_@",
    "length": "length(calls) <= 1000@",
    "only": "only start, *_@, *_?",
    "first": "first start",
    "nested": "nested open_@ -> close_@",
    "text": 'no c in calls: c.args.note matches /password@/',
    "within calls": "before read_@ -> write_@ within 20 calls",
    "block": "after cancel_@ { never refund_@ }",
    "never before": "never pay_@ before greet_@",
    "flow": "flow start -> (*)*",
    "together": "together read_@, write_@",
}
# Measured alone.
RARE = {"flow", "together", "text"}
# What a family of tools does, again and again. `cancel` and `greet` never come: rules about them hold.
ROUND = ["read", "write", "ask", "send", "fetch", "ask", "send", "approve", "refund", "pay", "stage", "commit", "open", "close"]
FAMILIES = 5


def rules_of(kinds, count):
    """So many rules of these kinds in turn, about as many families of tools as that takes."""
    texts = [KINDS[kind] for kind in kinds]
    rules = (texts[number % len(texts)].replace("@", str(number // len(texts))) for number in range(count))
    return "".join(f"rule r{number} {{ {rule} }}\n" for number, rule in enumerate(rules))


def calls_of(count, seed=7):
    """Calls of a few families: the rules about them have ever more to look at."""
    dice = random.Random(seed)
    yield "start", {}
    for number in range(count - 1):
        turn, step = divmod(number, len(ROUND))
        args = {"id": f"o-{turn}", "amount": dice.randint(1, 400), "note": "word " * dice.randint(3, 20)}
        yield f"{ROUND[step]}_{turn % FAMILIES}", args


class Server:
    """`aver guard serve`, asked over its socket."""

    def __init__(self, aver, rules, folder):
        self.folder = Path(folder)
        (self.folder / "rules.assert").write_text(rules)
        path = str(self.folder / "socket")
        command = [aver, "guard", "serve", str(self.folder / "rules.assert"), "--socket", path, "--state", str(self.folder / "state")]
        self.process = subprocess.Popen(command)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(3000):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.01)
        self.lines = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.lines.readline())

    def work(self):
        """Nanoseconds on a processor, of all threads."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)

    def memory(self):
        """Bytes of memory that are used, and the most that were."""
        said = dict(line.split(":", 1) for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        return [int(said[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM")]


def drive(server, calls, session="s"):
    """Proposes the calls of a session one after the other, each of which is made. Gives milliseconds of each decision: wall and work."""
    times = []
    for number, (tool, args) in enumerate(calls):
        call = {"id": f"c{number}", "tool": tool, "args": args}
        before, began = server.work(), time.perf_counter_ns()
        said = server.ask({"session": session, "propose": call})
        wall, work = time.perf_counter_ns() - began, server.work() - before
        if said["decision"] != "pass":
            sys.exit(f"call {number}, {tool}, is not let through: {said}")
        times.append((wall / 1e6, work / 1e6))
        server.ask({"session": session, "result": {"id": call["id"], "tool": tool, "result": {"done": True}}})
    return times


def at(times, calls, window):
    return times[max(0, calls - window) : calls]


def rank(times, part):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def measure(aver, name, rules, calls, window=100):
    """Prints what decisions cost up to 200 calls, and behind all of them."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Server(aver, rules, folder) as server:
        times = drive(server, calls_of(calls))
    early, late = at(times, 200, window), at(times, calls, window)
    walls, works = ([[one[place] for one in part] for part in (times[:200], late)] for place in (0, 1))
    grown = statistics.median(one[1] for one in late) / statistics.median(one[1] for one in early)
    row = [rank(walls[0], 0.5), rank(walls[0], 0.99), rank(works[0], 0.99), rank(walls[1], 0.99), rank(works[1], 0.99)]
    print(f"{name:28}" + "".join(f"{one:10.3f}" for one in row) + f"{grown:10.2f}", flush=True)


def measure_hook(aver, rules, rounds=60):
    """A process for each event, behind a session of 200 calls."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "rules.assert"
        path.write_text(rules)
        command = [aver, "guard", "hook", "claude", str(path), "--state", f"{folder}/state"]
        walls, works = [], []
        for number, (tool, args) in enumerate(calls_of(200 + rounds)):
            event = {"session_id": "s", "transcript_path": "", "cwd": folder, "hook_event_name": "PreToolUse", "tool_name": tool,
                     "tool_input": args, "tool_use_id": f"c{number}"}  # fmt: skip
            used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            said = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, check=True)
            wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            if said.stdout:
                sys.exit(f"call {number}, {tool}, is not let through: {said.stdout}")
            walls.append(wall * 1e3)
            works.append((after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime) * 1e3)
            event.update(hook_event_name="PostToolUse", tool_response={"done": True})
            subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, check=True)
        walls, works = walls[200:], works[200:]
    print(f"a process for each event: {statistics.median(walls):.1f} ms, 99 of 100 {rank(walls, 0.99):.1f}; work {statistics.median(works):.1f}")


def measure_memory(aver, rules, sessions=1000, calls=200):
    """What the server takes with so many sessions open."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Server(aver, rules, folder) as server:
        base = server.memory()[0]
        for number in range(sessions):
            drive(server, calls_of(calls, number), f"s{number}")
        used, most = server.memory()
        logs = sum(one.stat().st_size for one in (Path(folder) / "state").iterdir())
    print(f"{sessions} sessions of {calls} calls: {used / 1e6:.0f} MB, at most {most / 1e6:.0f}; alone {base / 1e6:.0f}; logs {logs / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aver")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rules", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--kinds", nargs="*", help="also each of these kinds of rules alone, or all of them")
    parser.add_argument("--hook", action="store_true", help="also a process for each event")
    parser.add_argument("--memory", action="store_true", help="also the memory of 1,000 sessions")
    given = parser.parse_args()
    everyday = [kind for kind in KINDS if kind not in RARE]
    print(f"{'milliseconds':28}{'median':>10}{'p99':>10}{'p99 work':>10}{'p99':>10}{'p99 work':>10}{'growth':>10}")
    print(f"{'calls before':28}{'to 200':>10}{'':10}{'':10}{given.calls:>10}{'':10}{'of work':>10}")
    for count in given.rules:
        measure(given.aver, f"{count} everyday rules", rules_of(everyday, count), given.calls)
    if given.kinds is not None:
        for kind in given.kinds or KINDS:
            measure(given.aver, kind, rules_of([kind], 1 if kind in RARE | {"first", "only"} else 20), given.calls)
    if given.hook:
        measure_hook(given.aver, rules_of(everyday, 100))
    if given.memory:
        measure_memory(given.aver, rules_of(everyday, 100))


if __name__ == "__main__":
    main()
