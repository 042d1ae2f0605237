"""A server over standard input and output that does one thing wrong: the first argument says what. What it was sent goes into the file of the second."""

import json
import os
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


def call(request):
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
    if method == "initialize":
        answer(request, {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                         "serverInfo": {"name": "wrong", "version": "1"}})
    elif method == "tools/list":
        if HOW == "endless-pages":
            answer(request, {"tools": [TOOL], "nextCursor": "more"})
        elif HOW == "pages" and not (request.get("params") or {}).get("cursor"):
            answer(request, {"tools": [DELETE], "nextCursor": "more"})
        else:
            answer(request, {"tools": [TOOL] if HOW == "pages" else [TOOL, DELETE]})
    elif method == "tools/call":
        SENT.write(json.dumps(request["params"], sort_keys=True) + "\n")
        SENT.flush()
        if request["params"]["name"] in ("echo", "delete_all"):
            call(request)
        else:
            send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "unknown tool"}})
