"""A small MCP server over standard input and output: notes in memory. One of its tools is wrong on purpose."""

import json
import sys

NOTES = {}

TOOLS = [
    {"name": "add_note", "description": "Keeps a note", "annotations": {"readOnlyHint": False, "destructiveHint": False},
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "read_note", "description": "Gives a note", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    {"name": "count_words", "description": "Counts words", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "delete_note", "description": "Deletes a note",
     "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
]


def good(value):
    return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value, "isError": False}


def bad(text):
    return {"content": [{"type": "text", "text": text}], "isError": True}


def call(name, args):
    if name == "add_note":
        number = len(NOTES) + 1
        NOTES[number] = args.get("text", "")
        return good({"id": number})
    if name == "read_note":
        note = NOTES.get(args.get("id"))
        return good({"text": note}) if note is not None else bad("there is no such note")
    if name == "count_words":
        # Wrong: a long text has a negative number of words.
        words = len(args.get("text", "").split())
        return good({"words": -1 if len(args.get("text", "")) > 20 else words})
    if name == "delete_note":
        return good({"deleted": NOTES.pop(args.get("id"), None) is not None})
    return None


for line in sys.stdin:
    request = json.loads(line)
    method, params = request.get("method"), request.get("params") or {}
    if "id" not in request:
        continue
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize":
        answer["result"] = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                            "serverInfo": {"name": "notes", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": TOOLS}
    elif method == "tools/call":
        result = call(params.get("name"), params.get("arguments") or {})
        if result is None:
            answer["error"] = {"code": -32602, "message": "there is no such tool"}
        else:
            answer["result"] = result
    else:
        answer["error"] = {"code": -32601, "message": "there is no such method"}
    print(json.dumps(answer), flush=True)
