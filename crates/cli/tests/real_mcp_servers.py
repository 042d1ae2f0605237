#!/usr/bin/env python3
"""Real MCP servers behind `aver guard mcp`: each answer that is not denied is the same, to the byte, as without a guard.

    python3 crates/cli/tests/real_mcp_servers.py target/debug/aver /tmp/real-mcp

installs the servers and the SDKs of TypeScript and Python from their registries into the folder, which takes minutes at first, and then runs them. It is
run by hand. Each server is asked by messages that are compared to the byte, and by the official clients, which have to get along with the guard.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

AVER, FOLDER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
NPM = ["@modelcontextprotocol/sdk", *(f"@modelcontextprotocol/server-{name}" for name in ("everything", "filesystem", "memory"))]
PYPI = ["mcp", "mcp-server-time", "mcp-server-git"]
MODULES, PYTHON = FOLDER / "js/node_modules/@modelcontextprotocol", FOLDER / "py/v/bin/python"
RULES = "rule few { count FORBIDDEN <= 0 }\n"


def install():
    if not (MODULES / "sdk").exists():
        (FOLDER / "js").mkdir(parents=True, exist_ok=True)
        (FOLDER / "js/package.json").write_text('{"name": "real", "private": true}')
        subprocess.run(["npm", "install", *NPM], cwd=FOLDER / "js", check=True)
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "py/v"], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", *PYPI], check=True)


def servers(work):
    """The command, the calls and the forbidden tool of each server."""
    everything = ["node", str(MODULES / "server-everything/dist/index.js"), "stdio"]
    return {
        "everything": (everything, [("echo", {"message": "h\u00e9 \U0001f600"}), ("get-sum", {"a": 1.5, "b": 2}), ("get-tiny-image", {}),
                                    ("get-structured-content", {"location": "Chicago"}), ("no-such-tool", {}), ("get-sum", {"a": "x"})], "get-env"),
        "filesystem": (["node", str(MODULES / "server-filesystem/dist/index.js"), str(work)],
                       [("write_file", {"path": str(work / "a.txt"), "content": "a\nb"}), ("read_text_file", {"path": str(work / "a.txt")}),
                        ("list_directory", {"path": str(work)}), ("read_text_file", {"path": "/etc/passwd"})], "move_file"),
        "memory": (["node", str(MODULES / "server-memory/dist/index.js")],
                   [("create_entities", {"entities": [{"name": "n", "entityType": "t", "observations": ["o"]}]}), ("read_graph", {}),
                    ("search_nodes", {"query": "n"})], "delete_entities"),
        "time": ([str(PYTHON), "-m", "mcp_server_time"], [("convert_time", {"source_timezone": "Europe/Paris", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
                                                       ("get_current_time", {"timezone": "nowhere"})], "get_current_time_twice"),
        "git": ([str(PYTHON), "-m", "mcp_server_git", "--repository", str(work)], [("git_status", {"repo_path": str(work)}), ("git_log", {"repo_path": str(work)})], "git_reset"),
    }


def messages(calls, forbidden):
    init = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "real", "version": "1"}}
    yield {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": init}
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    yield {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for number, (name, arguments) in enumerate([*calls, (forbidden, {})], 2):
        yield {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def fresh(name):
    work = FOLDER / "work"
    subprocess.run(["rm", "-rf", work], check=True)
    work.mkdir(parents=True)
    subprocess.run("git init -q . && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q --allow-empty -m one --date 2026-01-01T00:00:00Z",
                   shell=True, check=True, cwd=work, env={**os.environ, "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"})
    return work


def over_stdio(command, asked, guard=None):
    memory = FOLDER / "memory.json"
    memory.unlink(missing_ok=True)
    line = [*guard, "--", *command] if guard else command
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env={**os.environ, "MEMORY_FILE_PATH": str(memory)})
    answers = {}
    for message in asked:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        while "id" in message and message["id"] not in answers:
            answer = process.stdout.readline()
            assert answer, f"no answer to {message}"
            read = json.loads(answer)
            if "method" not in read:
                answers[read["id"]] = answer
    process.stdin.close()
    process.wait(20)
    return answers


def over_http(url, asked):
    session, answers = {}, {}
    for message in asked:
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **session}
        request = urllib.request.Request(url, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            if answer.headers.get("mcp-session-id"):
                session = {"mcp-session-id": answer.headers["mcp-session-id"]}
            # The ids of events are made up anew each time.
            body = re.sub(rb"(?m)^id: .*$", b"id: -", answer.read())
            answers[message.get("id", "notice")] = (answer.status, answer.headers.get("content-type"), body)
    return answers


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nobody listens at {port}")


def guard_of(forbidden):
    rules = FOLDER / "rules.assert"
    rules.write_text(RULES.replace("FORBIDDEN", forbidden))
    return [str(AVER), "guard", "mcp", str(rules), "--state", str(FOLDER / "state")]


def compare(name, plain, guarded, denied):
    text = guarded[denied] if isinstance(guarded[denied], bytes) else guarded[denied][2]
    assert b"count" in text and b'"isError":true' in text, f"{name}: not denied: {guarded[denied]}"
    same = [number for number in plain if number != denied and plain[number] == guarded[number]]
    wrong = [number for number in plain if number != denied and plain[number] != guarded[number]]
    for number in wrong:
        print(f"  {name}: {plain[number]}\n  guarded: {guarded[number]}")
    assert not wrong, f"{name}: {len(wrong)} answers differ"
    print(f"{name}: {len(same)} answers are the same to the byte, 1 call is denied")


TYPESCRIPT = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const [where, calls, forbidden] = JSON.parse(process.argv[2]);
const client = new Client({ name: "real", version: "1" });
const transport = typeof where === "string" ? new StreamableHTTPClientTransport(new URL(where)) : new StdioClientTransport({ command: where[0], args: where.slice(1) });
await client.connect(transport);
await client.listTools();
for (const [name, args] of calls) { try { await client.callTool({ name, arguments: args }); } catch (error) { if (error.code === undefined) throw error; } }
const denied = await client.callTool({ name: forbidden, arguments: {} });
if (!denied.isError || !denied.content[0].text.includes("count")) throw new Error(JSON.stringify(denied));
if (transport.terminateSession) await transport.terminateSession();
await client.close();
console.log("fine");
"""

PYTHON_CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
try:
    from mcp.client.streamable_http import streamable_http_client as over_http
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client as over_http
where, calls, forbidden = json.loads(sys.argv[1])

async def main():
    opened = over_http(where) if isinstance(where, str) else stdio_client(StdioServerParameters(command=where[0], args=where[1:]))
    async with opened as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        await session.list_tools()
        for name, arguments in calls:
            try:
                await session.call_tool(name, arguments)
            except Exception as error:
                if "Error" not in type(error).__name__:
                    raise
        denied = await session.call_tool(forbidden, {})
        assert getattr(denied, "isError", None) or getattr(denied, "is_error", None), denied
        assert "count" in denied.content[0].text, denied
    print("fine")

asyncio.run(main())
"""


def by_clients(name, where, calls, forbidden):
    given = json.dumps([where, calls, forbidden])
    (FOLDER / "js/client.mjs").write_text(TYPESCRIPT)
    (FOLDER / "py/client.py").write_text(PYTHON_CLIENT)
    for language, line in (("TypeScript", ["node", FOLDER / "js/client.mjs", given]), ("Python", [PYTHON, FOLDER / "py/client.py", given])):
        ran = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert ran.stdout.strip().endswith("fine"), f"{name} by {language}: {ran.stdout[-2000:]}{ran.stderr[-3000:]}"
        print(f"{name}: the client of {language} gets along")


def main():
    install()
    for name, (command, calls, forbidden) in servers(fresh("")).items():
        asked = list(messages(calls, forbidden))
        fresh(name)
        plain = over_stdio(command, asked)
        fresh(name)
        guarded = over_stdio(command, asked, guard_of(forbidden))
        compare(f"{name} over stdio", plain, guarded, asked[-1]["id"])
        by_clients(f"{name} over stdio", [*guard_of(forbidden), "--", *command], calls, forbidden)
    port, front = free_port(), free_port()
    command, calls, forbidden = servers(fresh(""))["everything"]
    asked = list(messages(calls, forbidden))
    server = subprocess.Popen([*command[:2], "streamableHttp"], env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port)
    line = [*guard_of(forbidden), "--url", f"http://127.0.0.1:{port}/mcp", "--listen", f"127.0.0.1:{front}"]
    guard = subprocess.Popen(line, stderr=subprocess.DEVNULL)
    try:
        wait_for(front)
        plain = over_http(f"http://127.0.0.1:{port}/mcp", asked)
        guarded = over_http(f"http://127.0.0.1:{front}/mcp", asked)
        compare("everything over HTTP", plain, guarded, asked[-1]["id"])
        by_clients("everything over HTTP", f"http://127.0.0.1:{front}/mcp", calls, forbidden)
    finally:
        guard.kill()
        server.kill()


main()
