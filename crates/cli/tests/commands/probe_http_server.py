"""A server over streamable HTTP that does one thing wrong: the first argument says what. Its port goes into the file of the second."""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOW = sys.argv[1]
TOOL = {"name": "echo", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
PONG = threading.Event()
READY = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def whole(self, body, kind="application/json", status=200, **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def event(self, message):
        self.wfile.write(b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n")
        self.wfile.flush()

    def do_DELETE(self):
        open(sys.argv[2] + ".deleted", "w").write(self.headers.get("mcp-session-id", ""))
        self.whole(b"")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, number = request.get("method"), request.get("id")
        if method is None:
            PONG.set()
            return self.whole(b"", status=202)
        if method == "initialize":
            result = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "wrong", "version": "1"}}
            return self.whole({"jsonrpc": "2.0", "id": number, "result": result}, mcp_session_id="session-1")
        asked = self.headers.get("mcp-session-id"), self.headers.get("mcp-protocol-version") is not None, self.headers.get("authorization")
        if asked != ("session-1", True, "Bearer abc"):
            return self.whole({"asked": asked}, status=400)
        if number is None:
            if HOW == "slow-to-begin":
                time.sleep(0.3)
            READY.set()
            return self.whole(b"", status=202)
        if not READY.is_set():
            return self.whole({"jsonrpc": "2.0", "id": number, "error": {"code": -32002, "message": "not initialized"}})
        if method == "tools/list":
            return self.whole({"jsonrpc": "2.0", "id": number, "result": {"tools": [TOOL]}})
        self.call(request, {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": "fine"}], "structuredContent": request["params"]["arguments"]}})

    def call(self, request, answer):
        if HOW == "hangs":
            time.sleep(600)
        elif HOW == "status":
            self.whole(b"no", kind="text/plain", status=500)
        elif HOW == "moved":
            self.whole(b"", status=307, location="http://127.0.0.1:1/")
        elif HOW == "wrong-id":
            self.whole({**answer, "id": 4711})
        elif HOW == "no-json":
            self.whole(b"the server is fine")
        elif HOW == "large":
            self.whole(b'{"x": "' + b"x" * (4 << 20) + b'"}')
        elif HOW == "html":
            self.whole(answer, kind="text/html")
        elif HOW == "asks-back":
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for message in ({"jsonrpc": "2.0", "id": f"back-{request['id']}", "method": "ping"}, answer):
                data = b"data: " + json.dumps(message).encode() + b"\n\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
            # The answer is there long before its stream ends.
            time.sleep(0.005)
            self.wfile.write(b"0\r\n\r\n")
        elif HOW in ("closes", "events", "silent", "event-without-end"):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            if HOW == "closes":
                self.wfile.write(b"data: {\"jsonrpc\"")
                self.wfile.flush()
            elif HOW == "event-without-end":
                # One event of as many lines as anybody reads.
                line = b"data: " + b"x" * (1 << 16) + b"\n"
                for number in range(1 << 15):
                    with open(sys.argv[2] + ".lines", "w") as lines:
                        lines.write(str(number))
                    self.wfile.write(line)
            elif HOW == "events":
                self.wfile.write(b": a comment\n\n")
                self.event({"jsonrpc": "2.0", "id": "back", "method": "ping"})
                # Only once the client has answered that, as it has to.
                if PONG.wait(10):
                    self.event(answer)
        elif request["params"]["name"] != "echo":
            self.whole({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "unknown tool"}})
        else:
            self.whole(answer)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[2] + ".draft", "w") as file:
    file.write(str(server.server_address[1]))
os.replace(sys.argv[2] + ".draft", sys.argv[2])
threading.Timer(60, os._exit, [0]).start()
server.serve_forever()
