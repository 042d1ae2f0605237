"""A server over standard input and output that does one thing wrong: the first argument says what. What it was sent goes into the file of the second.
What it answers to `initialize` and `tools/list` may stand in the variables INITIALIZE and LIST."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

HOW = sys.argv[1]
SENT = open(sys.argv[2], "a", encoding="utf-8")
TOOL = {"name": "echo", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
DELETE = {"name": "delete_all", "inputSchema": {"type": "object"}}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def fine(request):
    answer(request, {"content": [{"type": "text", "text": "fine"}], "structuredContent": request["params"]["arguments"]})


CALLS = 0


def raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def call(request):
    global CALLS
    CALLS += 1
    number = json.dumps(request["id"])
    if HOW == "hangs":
        time.sleep(600)
    elif HOW == "floods":
        while True:
            send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    elif HOW == "closes":
        sys.exit(0)
    elif HOW == "forks-and-hangs":
        subprocess.Popen(["sleep", "613"], start_new_session=True, stdout=subprocess.DEVNULL)
        time.sleep(600)
    elif HOW == "dies-behind":
        sys.stderr.write("starting\nboom \x1b[31m of sk-ant-api03-%s\n" % hashlib.sha256(b"a key").hexdigest())
        sys.stderr.flush()
        raw('{"jsonrpc": "2.0", "id": %s, "result": {"content": []}}' % number)
        os._exit(7)
    elif HOW == "closes-behind":
        fine(request)
        os.close(1)
        time.sleep(600)
    elif HOW == "twice-late":
        fine(request)
        time.sleep(0.2)
        fine(request)
    elif HOW == "second-call-kills":
        if CALLS == 2:
            os.kill(os.getpid(), signal.SIGSEGV)
        fine(request)
    elif HOW == "deep":
        raw('{"jsonrpc": "2.0", "id": %s, "result": {"content": [], "structuredContent": {"a": %s}}}\n' % (number, "[" * 1000 + "]" * 1000))
    elif HOW == "large-number":
        raw('{"jsonrpc": "2.0", "id": %s, "result": {"content": [], "structuredContent": {"a": 1e999}}}\n' % number)
    elif HOW == "half-character":
        raw('{"jsonrpc": "2.0", "id": %s, "result": {"content": [{"type": "text", "text": "\\ud800"}]}}\n' % number)
    elif HOW == "wrong-id":
        answer({"id": 4711}, {"content": []})
    elif HOW == "twice":
        fine(request)
        fine(request)
    elif HOW == "no-utf8":
        sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "id": 1, "result": "\xff\xfe"}\n')
        sys.stdout.buffer.flush()
        fine(request)
    elif HOW == "no-json":
        print("the server is fine", flush=True)
        fine(request)
    elif HOW == "large":
        sys.stdout.write('{"jsonrpc": "2.0", "id": %s, "result": {"content": [{"type": "text", "text": "' % json.dumps(request["id"]))
        for _ in range(1600):
            sys.stdout.write("x" * 65536)
        sys.stdout.write('"}]}}\n')
        sys.stdout.flush()
    else:
        fine(request)
        if HOW == "dies-between":
            sys.exit(3)


for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize" and "INITIALIZE" in os.environ:
        answer(request, json.loads(os.environ["INITIALIZE"]))
    elif method == "initialize":
        answer(request, {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                         "serverInfo": {"name": "wrong", "version": "1"}})
    elif method == "tools/list":
        if HOW == "hangs-at-start":
            time.sleep(600)
        elif "LIST" in os.environ:
            answer(request, json.loads(os.environ["LIST"]))
        elif HOW == "many":
            answer(request, {"tools": [{**TOOL, "name": f"echo{number}"} for number in range(3000)]})
        elif HOW == "endless-pages":
            answer(request, {"tools": [TOOL], "nextCursor": "more"})
        elif HOW == "pages" and not (request.get("params") or {}).get("cursor"):
            answer(request, {"tools": [DELETE], "nextCursor": "more"})
        else:
            answer(request, {"tools": [TOOL] if HOW == "pages" else [TOOL, DELETE]})
    elif method == "ping" and HOW != "no-ping":
        answer(request, {})
    elif method == "tools/call":
        SENT.write(json.dumps(request["params"], sort_keys=True) + "\n")
        SENT.flush()
        if request["params"]["name"].startswith("echo") or request["params"]["name"] in ("delete_all", "other"):
            call(request)
        else:
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "unknown tool"}})
