//! `aver guard` over HTTP: as a proxy for an MCP server, and for programs that ask.

use super::folder::Folder;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that is killed at the end of its test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A listening guard and its standard error.
struct Listening {
    _process: Process,
    errors: BufReader<std::process::ChildStderr>,
    port: u16,
}

impl Listening {
    fn start(folder: &Folder, line: &str) -> Self {
        let words = shell_words::split(line).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_aver"));
        command.current_dir(folder.path()).args(words).stderr(Stdio::piped()).stdin(Stdio::null());
        let mut process = Process(command.spawn().unwrap());
        let mut errors = BufReader::new(process.0.stderr.take().unwrap());
        let mut first = String::new();
        errors.read_line(&mut first).unwrap();
        let port = first.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
        let port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("{first}"));
        Self { _process: process, errors, port }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }

    fn post(&self, path: &str, headers: &str, body: &[u8]) -> Answer {
        ask(&mut self.connect(), "POST", path, headers, body)
    }

    /// Calls a tool in a session of the protocol.
    fn call(&self, session: &str, tool: &str, how: &str) -> Answer {
        self.post("/mcp", &format!("mcp-session-id: {session}\r\n"), call_text(1, tool, how).as_bytes())
    }

    fn next_error(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).unwrap();
        line
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    fn is_denied(&self, rule: &str) -> bool {
        let result = &self.json()["result"];
        result["isError"] == true && result["content"][0]["text"].as_str().unwrap().contains(rule)
    }
}

fn call_text(id: u64, tool: &str, how: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": { "how": how } } })
        .to_string()
}

fn ask(stream: &mut TcpStream, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
    let host = if headers.contains("host:") { "" } else { "host: localhost\r\n" };
    let length = if method == "POST" { format!("content-length: {}\r\n", body.len()) } else { String::new() };
    let head = format!("{method} {path} HTTP/1.1\r\n{host}content-type: application/json\r\n{headers}{length}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // The guard may refuse a request by its headers and not read the body, so write errors are ignored.
    let _ = stream.write_all(body);
    read_answer(stream)
}

fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let lower = head.to_lowercase();
    let mut body = Vec::new();
    if let Some(length) = lower.split("content-length: ").nth(1) {
        body.resize(length.lines().next().unwrap().parse().unwrap(), 0);
        reader.read_exact(&mut body).unwrap();
    } else if lower.contains("transfer-encoding: chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut part = vec![0; size + 2];
            reader.read_exact(&mut part).unwrap();
            body.extend_from_slice(&part[..size]);
            if size == 0 {
                break;
            }
        }
    }
    Answer { status, head, body }
}

/// Starts a server, and a guard in front of it.
fn guarded(folder: &Folder, more: &str) -> (Process, Listening) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/guard_http_server.py");
    let mut command = Command::new("python3");
    let server = Process(command.current_dir(folder.path()).args([script, "port", "calls"]).spawn().unwrap());
    let began = Instant::now();
    while !folder.path().join("port").exists() {
        assert!(began.elapsed() < Duration::from_secs(20), "the server does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let line = format!(
        "guard mcp r.assert --state state --listen 127.0.0.1:0 --url http://127.0.0.1:{}/mcp {more}",
        folder.read("port")
    );
    (server, Listening::start(folder, &line))
}

const RULES: &str =
    "rule once { count refund <= 1 }\nrule approval { before approve ok -> refund }\nrule known { never refnd }\n";

#[test]
fn calls_over_http_are_judged_within_their_session_and_the_rest_passes_to_the_byte() {
    let folder = Folder::new(&[("r.assert", RULES)]);
    let (_server, mut guard) = guarded(&folder, "--header 'Authorization: Bearer abc'");
    let told = guard.next_error();
    assert!(told.contains("`refnd` (r.assert:3)") && told.contains("did you mean `refund`?"), "{told}");
    let listed = guard.post("/mcp", "", br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(listed.json()["result"]["tools"].as_array().unwrap().len(), 3);
    assert!(guard.call("a", "refund", "").is_denied("`approval.1` (r.assert:2)"));
    let exact = guard.call("a", "approve", "exact");
    let written = b"{ \"jsonrpc\":\"2.0\",  \"id\":1, \"result\":{\"b\":1.0,\"a\":1e2,\"content\":[ {\"type\":\"text\",\"text\":\"\\u00e9 \xc3\xa9\"} ] } }\r\n";
    assert_eq!(exact.body, written, "{exact:?}");
    let streamed = guard.call("a", "refund", "stream");
    assert!(streamed.head.contains("text/event-stream") && streamed.body.starts_with(b"\xef\xbb\xbf: hello\r\ndata: "));
    assert!(streamed.body.ends_with(b"\"fine\"}]}}\n\n: behind\n\n"), "{streamed:?}");
    assert!(guard.call("a", "refund", "").is_denied("`once.1`"));
    // Another session has no approval, and a failed call is no approval.
    assert!(guard.call("b", "refund", "").is_denied("`approval.1`"));
    assert_eq!(guard.call("b", "approve", "fails").json()["result"]["isError"], true);
    assert!(guard.call("b", "refund", "").is_denied("`approval.1`"));
    let ended = ask(&mut guard.connect(), "DELETE", "/mcp", "mcp-session-id: a\r\n", b"");
    assert_eq!((ended.status, ended.body.len()), (200, 0), "{ended:?}");
    // The server received only the allowed calls, with the header from the guard.
    let calls: Vec<Value> = folder.read("calls").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tools: Vec<&Value> = calls.iter().map(|call| &call[0]["name"]).collect();
    assert_eq!(tools, ["approve", "refund", "approve"]);
    assert!(calls.iter().all(|call| call[1] == "Bearer abc"), "{calls:?}");
    // Each session is a separate run, and its log does not contain the session id.
    let checked = folder.aver("check r.assert state --format json").json();
    assert_eq!(checked["runs"].as_array().unwrap().len(), 2, "{checked}");
    let logs = std::fs::read_dir(folder.path().join("state")).unwrap();
    let texts: Vec<String> = logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    let of_a = texts.iter().find(|text| text.contains(r#""guard":"stop""#)).unwrap();
    assert_eq!(of_a.matches(r#""guard":"result""#).count(), 2, "{of_a}");
}

#[test]
fn runs_without_sessions_are_known_by_their_trace_their_header_or_their_connection() {
    let folder = Folder::new(&[("r.assert", "count refund <= 1\n")]);
    let (_server, guard) = guarded(&folder, "");
    let stateless = "mcp-protocol-version: 2026-07-28\r\nmcp-session-id: ignored\r\n";
    let call = |trace: Option<char>, more: Value| {
        let mut meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        if let Some(trace) = trace {
            meta["traceparent"] = format!("00-{}-00f067aa0ba902b7-01", trace.to_string().repeat(32)).into();
        }
        let mut call: Value = serde_json::from_str(&call_text(7, "refund", "")).unwrap();
        call["params"]["_meta"] = meta;
        call["params"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call.to_string()
    };
    let post = |trace, more| guard.post("/mcp", stateless, call(trace, more).as_bytes());
    assert!(!post(Some('a'), json!({})).is_denied("x"));
    let denied = post(Some('a'), json!({}));
    assert!(denied.is_denied("count refund <= 1") && denied.json()["result"]["resultType"] == "complete");
    assert_eq!(post(Some('b'), json!({})).json()["result"]["isError"], Value::Null);
    // Without any other id, each connection is a run.
    let mut stream = guard.connect();
    let mut on_stream = || ask(&mut stream, "POST", "/mcp", stateless, call(None, json!({})).as_bytes());
    assert_eq!(on_stream().json()["result"]["isError"], Value::Null);
    assert!(on_stream().is_denied("count refund <= 1"));
    assert_eq!(post(None, json!({})).json()["result"]["isError"], Value::Null);
    // Answering a question of the server does not count as a second call. Repeating it, or changing the arguments, does.
    let asks = |how: &str, more: Value| {
        let mut more = more;
        more["arguments"] = json!({ "how": how });
        post(Some('c'), more)
    };
    let given = || json!({ "inputResponses": {}, "requestState": "st" });
    assert_eq!(asks("asks", json!({})).json()["result"]["resultType"], "input_required");
    assert!(asks("other", given()).is_denied("count refund <= 1"));
    assert_eq!(asks("asks", given()).json()["result"]["isError"], Value::Null);
    assert!(asks("asks", given()).is_denied("count refund <= 1"));
    // Headers must agree with the message.
    for header in ["mcp-method: tools/list\r\n", "mcp-name: echo\r\n", "mcp-method: tools/call\r\nmcp-method: ping\r\n"]
    {
        let refused = guard.post("/mcp", &format!("{stateless}{header}"), call(Some('d'), json!({})).as_bytes());
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &(-32_020).into()), "{header}");
    }
    let wrapped = format!("{stateless}mcp-method: tools/call\r\nmcp-name: =?base64?cmVmdW5k?=\r\n");
    assert_eq!(guard.post("/mcp", &wrapped, call(Some('d'), json!({})).as_bytes()).status, 200);
    // With `--run-header`, the header is required.
    let folder = Folder::new(&[("r.assert", "count refund <= 1\n")]);
    let (_server, guard) = guarded(&folder, "--run-header X-Run");
    assert!(guard.call("a", "refund", "").is_denied("`x-run`"));
    let in_run = |run: &str| guard.post("/mcp", &format!("x-run: {run}\r\n"), call_text(1, "refund", "").as_bytes());
    assert_eq!(in_run("one").json()["result"]["isError"], Value::Null);
    assert!(in_run("one").is_denied("count refund <= 1"));
    assert_eq!(in_run("two").json()["result"]["isError"], Value::Null);
}

#[test]
fn servers_and_clients_that_misbehave_over_http_are_bounded() {
    let folder = Folder::new(&[("r.assert", RULES)]);
    let (_server, guard) = guarded(&folder, "--timeout 800ms");
    for (how, status) in [("moved", 502), ("status", 500), ("hangs", 504), ("wrong-id", 200), ("bytes", 200)] {
        let answer = guard.call("a", "approve", how);
        assert_eq!(answer.status, status, "{how}: {answer:?}");
        assert!(!answer.head.contains("location"), "{answer:?}");
        assert!(guard.call("a", "refund", "").is_denied("`approval.1`"), "{how} is no approval");
    }
    let large = guard.call("a", "echo", "large");
    assert_eq!(large.body.len(), (9 << 20) + 9);
    // Requests from other sites, and with foreign host names, are refused.
    for headers in ["host: evil.example\r\n", "origin: http://evil.example\r\n", "origin: null\r\n"] {
        assert_eq!(guard.post("/mcp", headers, call_text(1, "echo", "").as_bytes()).status, 403, "{headers}");
    }
    for (body, status) in [
        (&b"no json"[..], 400),
        (b"", 400),
        (b"\xff\xfe", 400),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"refund"}}"#, 400),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}]"#, 400),
    ] {
        assert_eq!(guard.post("/mcp", "", body).status, status, "{}", String::from_utf8_lossy(body));
    }
    for (request, status) in [
        ("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 104857600\r\n\r\n", 413),
        ("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", 400),
        ("POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n{}", 400),
        ("POST /other HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}", 404),
        ("POST /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n", 411),
        ("PUT /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n", 405),
        ("nonsense\r\n\r\n", 400),
    ] {
        let mut stream = guard.connect();
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(read_answer(&mut stream).status, status, "{request}");
    }
    // A client that disconnects ends its pending requests.
    let mut stream = guard.connect();
    stream.write_all(b"GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n").unwrap();
    let mut first = [0; 64];
    stream.read_exact(&mut first).unwrap();
    stream.shutdown(Shutdown::Both).unwrap();
    drop(stream);
    let began = Instant::now();
    while !folder.path().join("calls.gone").exists() {
        assert!(began.elapsed() < Duration::from_secs(3), "the server still sends");
        std::thread::sleep(Duration::from_millis(20));
    }
    let refused = folder.aver("guard mcp r.assert --url http://127.0.0.1:1/mcp --listen 0.0.0.0:0");
    assert!(refused.code == 2 && refused.err.contains("--allow-remote"), "{refused:?}");
    assert!(folder.aver("guard mcp r.assert --listen 127.0.0.1:0 -- true").err.contains("--url"));
}

#[test]
fn programs_and_hooks_ask_a_resident_guard_over_http() {
    let folder =
        Folder::new(&[("r.assert", "rule once { count refund <= 1 }\nrule told { after refund -> notify }\n")]);
    let guard = Listening::start(&folder, "guard serve r.assert --state state --listen 127.0.0.1:0");
    let propose =
        |id: &str| json!({ "session": "s", "propose": { "id": id, "tool": "refund", "args": {} } }).to_string();
    // Of eight concurrent requests, exactly one is the first.
    let decisions: Vec<Value> = std::thread::scope(|scope| {
        let ask_one = |number: usize| guard.post("/", "", propose(&format!("c{number}")).as_bytes()).json();
        let asked: Vec<_> = (0..8).map(|number| scope.spawn(move || ask_one(number))).collect();
        asked.into_iter().map(|one| one.join().unwrap()["decision"].clone()).collect()
    });
    assert_eq!(decisions.iter().filter(|one| *one == "pass").count(), 1, "{decisions:?}");
    assert_eq!(decisions.iter().filter(|one| *one == "deny").count(), 7, "{decisions:?}");
    let stopped = guard.post("/", "", json!({ "session": "s", "stop": {} }).to_string().as_bytes()).json();
    assert!(stopped["decision"] == "continue" && stopped["reason"].as_str().unwrap().contains("`told.1`"), "{stopped}");
    assert_eq!(guard.post("/", "", b"nonsense").json()["decision"], "error");
    // Events of hooks are answered in the protocol of their agent.
    let event = |session: &str| {
        json!({ "session_id": session, "hook_event_name": "PreToolUse", "tool_name": "refund", "tool_input": {}, "tool_use_id": session })
            .to_string()
    };
    assert_eq!(guard.post("/hook/claude", "", event("h").as_bytes()).json(), json!({}));
    let mut second: Value = serde_json::from_str(&event("h")).unwrap();
    second["tool_use_id"] = "h2".into();
    let denied = guard.post("/hook/claude", "", second.to_string().as_bytes()).json();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
    let refused = guard.post("/hook/claude", "", b"{").json();
    assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], "deny", "{refused}");
    for (path, headers, status) in
        [("/hook/nobody", "", 404), ("/", "host: evil.example\r\n", 403), ("/", "origin: http://evil.example\r\n", 403)]
    {
        assert_eq!(guard.post(path, headers, propose("x").as_bytes()).status, status, "{path} {headers}");
    }
}
