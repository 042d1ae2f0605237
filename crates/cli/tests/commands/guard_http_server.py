"""A server over streamable HTTP that answers by the arguments of each call. Its port goes into the file of the first argument, each call that it
gets into the second."""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "approve", "refund")]
# What passes has to be the same to the byte: order, spaces, numbers and escapes that another writer would change.
EXACT = b'{ "jsonrpc":"2.0",  "id":%s, "result":{"b":1.0,"a":1e2,"content":[ {"type":"text","text":"\\u00e9 \xc3\xa9"} ] } }\r\n'


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

    def begin_stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def part(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_DELETE(self):
        self.whole(b"")

    def do_GET(self):
        self.begin_stream()
        self.part(b": waiting\n\n")
        try:
            for _ in range(200):
                time.sleep(0.02)
                self.part(b": still\n\n")
        except OSError:
            open(sys.argv[2] + ".gone", "w").close()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, number = request.get("method"), request.get("id")
        if number is None:
            return self.whole(b"", status=202)
        if method == "initialize":
            result = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "by-arguments", "version": "1"}}
            return self.whole({"jsonrpc": "2.0", "id": number, "result": result}, mcp_session_id=f"s-{time.time_ns()}")
        if method == "tools/list":
            return self.whole({"jsonrpc": "2.0", "id": number, "result": {"tools": TOOLS}})
        params = request["params"]
        with open(sys.argv[2], "a") as calls:
            calls.write(json.dumps([params, self.headers.get("authorization"), self.headers.get("origin")]) + "\n")
        how = params.get("arguments", {}).get("how")
        fine = {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": "fine"}]}}
        if how == "exact":
            self.whole(EXACT % json.dumps(number).encode())
        elif how == "stream":
            self.begin_stream()
            self.part(b"\xef\xbb\xbf: hello\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\r\n")
            self.part(b"data: \"params\":{}}\r\n\r\nid: 7\ndata: " + json.dumps(fine).encode() + b"\n\n")
            self.part(b": behind\n\n")
            self.wfile.write(b"0\r\n\r\n")
        elif how == "fails":
            fine["result"]["isError"] = True
            self.whole(fine)
        elif how == "asks" and "inputResponses" not in params:
            self.whole({"jsonrpc": "2.0", "id": number, "result": {"resultType": "input_required", "requestState": "st", "inputRequests": {}}})
        elif how == "moved":
            self.whole(b"", status=307, location="http://127.0.0.1:1/")
        elif how == "status":
            self.whole(b"no", kind="text/plain", status=500)
        elif how == "hangs":
            time.sleep(600)
        elif how == "wrong-id":
            self.whole({**fine, "id": 4711})
        elif how == "bytes":
            self.whole(b'{"jsonrpc":"2.0","id":1,"result":"\xff\xfe"}')
        elif how == "large":
            self.whole(b'{"x": "' + b"x" * (9 << 20) + b'"}')
        else:
            self.whole(fine)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.handle_error = lambda *_: None
with open(sys.argv[1] + ".draft", "w") as file:
    file.write(str(server.server_address[1]))
os.replace(sys.argv[1] + ".draft", sys.argv[1])
threading.Timer(60, os._exit, [0]).start()
server.serve_forever()
