//! Files that users often have beside traces, and that must not be read as runs: each is refused, and most are identified in the message.

use crate::folder::Folder;

/// Files that are recognized, with the expected message. In a folder they are skipped.
const KNOWN: [(&str, &str, &str); 49] = [
    (
        "package.json",
        r#"{"name": "x", "version": "1.0.0", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}}"#,
        "the manifest of a package",
    ),
    (
        "package-lock.json",
        r#"{"name": "x", "version": "1", "lockfileVersion": 3, "packages": {"": {"name": "x"}}}"#,
        "a lock file of packages",
    ),
    ("tsconfig.json", r#"{"compilerOptions": {"strict": true}, "include": ["src"]}"#, "a configuration of TypeScript"),
    (
        "map.json",
        r#"{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry": null}]}"#,
        "GeoJSON",
    ),
    (
        "map.jsonl",
        "{\"type\": \"Feature\", \"properties\": {}, \"geometry\": {\"type\": \"Point\"}}\n{\"type\": \"Feature\", \"geometry\": {}}\n",
        "GeoJSON",
    ),
    (
        "notebook.json",
        r#"{"cells": [{"cell_type": "code", "id": "a", "outputs": [], "source": ["1"]}], "metadata": {}, "nbformat": 4}"#,
        "a notebook",
    ),
    (
        "har.json",
        r#"{"log": {"version": "1.2", "entries": [{"time": 5, "request": {"method": "GET", "url": "u"}, "response": {"status": 200}}]}}"#,
        "a HAR archive",
    ),
    (
        "openapi.json",
        r#"{"openapi": "3.0.0", "info": {"title": "x"}, "paths": {"/a": {"get": {"responses": {}}}}}"#,
        "an OpenAPI description",
    ),
    ("swagger.json", r#"{"swagger": "2.0", "info": {"title": "x"}, "paths": {}}"#, "an OpenAPI description"),
    (
        "tools.json",
        r#"{"tools": [{"name": "get", "description": "d", "inputSchema": {"type": "object"}}]}"#,
        "nothing but `tools`",
    ),
    ("tool-list.json", r#"[{"name": "get", "description": "d", "inputSchema": {"type": "object"}}]"#, "`tools from`"),
    (
        "functions.json",
        r#"[{"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}]"#,
        "`tools from`",
    ),
    (
        "tools-answer.json",
        r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "get", "inputSchema": {}}]}}"#,
        "`tools from`",
    ),
    (
        "mcp.json",
        r#"{"mcpServers": {"fs": {"command": "npx", "args": ["-y"], "env": {}}}}"#,
        "a configuration of MCP servers",
    ),
    (
        "schema.json",
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"output": {}, "calls": {}}}"#,
        "a JSON Schema",
    ),
    (
        "eslint.json",
        r#"[{"filePath": "/a.js", "messages": [{"ruleId": "r", "severity": 2, "message": "m"}], "errorCount": 1}]"#,
        "a report of ESLint",
    ),
    (
        "sarif.json",
        r#"{"$schema": "s", "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]}"#,
        "a SARIF report",
    ),
    (
        "jest.json",
        r#"{"numTotalTests": 1, "success": true, "testResults": [{"status": "passed", "name": "a", "message": ""}]}"#,
        "a report of Jest",
    ),
    (
        "postman.json",
        r#"{"info": {"_postman_id": "a", "name": "x"}, "item": [{"name": "r", "request": {"method": "GET"}, "response": []}]}"#,
        "a collection of Postman",
    ),
    (
        "state.json",
        r#"{"version": 4, "terraform_version": "1.5", "outputs": {"a": {"value": "b"}}, "resources": []}"#,
        "of Terraform",
    ),
    (
        "pod.json",
        r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"command": ["sh"], "args": ["-c"]}]}}"#,
        "of Kubernetes",
    ),
    (
        "pods.json",
        r#"{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}]}"#,
        "of Kubernetes",
    ),
    (
        "slack.json",
        r#"[{"type": "message", "text": "hello", "user": "U1", "ts": "1700000000.0001"}, {"type": "message", "text": "hi", "ts": "1"}]"#,
        "a message of Slack",
    ),
    (
        "discord.json",
        r#"{"guild": {"id": "1"}, "channel": {"id": "2"}, "messages": [{"id": "3", "type": "Default", "content": "hi", "author": {"id": "4"}}]}"#,
        "a chat of Discord",
    ),
    (
        "discord-list.json",
        r#"[{"id": "1", "type": 0, "content": "hi", "channel_id": "2", "author": {"id": "3"}, "timestamp": "2025-01-01T00:00:00Z"}]"#,
        "a message of Discord",
    ),
    (
        "feed.json",
        r#"{"version": "https://jsonfeed.org/version/1.1", "title": "x", "items": [{"id": "1", "content_text": "hello"}]}"#,
        "no run of a known format",
    ),
    (
        "rss.json",
        r#"{"rss": {"channel": {"title": "x", "item": [{"title": "a", "link": "b"}]}}}"#,
        "no run of a known format",
    ),
    (
        "app.jsonl",
        "{\"level\": 30, \"time\": 1700000000000, \"pid\": 1, \"msg\": \"hello\"}\n{\"level\": 30, \"time\": 1700000000001, \"msg\": \"x\"}\n",
        "no run of a known format",
    ),
    (
        "ecs.jsonl",
        "{\"@timestamp\": \"2025-01-01T00:00:00Z\", \"log.level\": \"INFO\", \"message\": \"m\", \"trace.id\": \"a\", \"span.id\": \"b\"}\n",
        "no run of a known format",
    ),
    (
        "log.jsonl",
        "{\"timestamp\": \"2025-01-01T00:00:00Z\", \"level\": \"ERROR\", \"message\": \"m\", \"error\": \"boom\", \"duration_ms\": 5}\n",
        "no run of a known format",
    ),
    (
        "access.jsonl",
        "{\"method\": \"GET\", \"url\": \"/a\", \"status\": 200, \"bytes\": 5}\n",
        "no run of a known format",
    ),
    (
        "bulk.jsonl",
        "{\"index\": {\"_index\": \"a\", \"_id\": \"1\"}}\n{\"title\": \"x\", \"body\": \"y\"}\n",
        "a bulk request of Elasticsearch",
    ),
    (
        "hits.json",
        r#"{"took": 5, "_shards": {"total": 1}, "hits": {"hits": [{"_source": {"x": 1}}]}}"#,
        "an answer of Elasticsearch",
    ),
    (
        "cloudtrail.json",
        r#"{"Records": [{"eventTime": "2025-01-01T00:00:00Z", "eventName": "GetObject", "requestParameters": {}}]}"#,
        "a log of CloudTrail",
    ),
    (
        "ci.json",
        r#"{"id": 1, "name": "CI", "status": "completed", "steps": [{"name": "Checkout", "status": "completed", "number": 1}]}"#,
        "no run of a known format",
    ),
    (
        "ci.jsonl",
        "{\"time\": \"2025-01-01T00:00:00Z\", \"level\": \"info\", \"step\": \"build\", \"message\": \"m\", \"exit_code\": 0}\n",
        "no run of a known format",
    ),
    (
        "go.jsonl",
        "{\"Time\": \"2025-01-01T00:00:00Z\", \"Action\": \"run\", \"Package\": \"a\", \"Test\": \"T\"}\n{\"Action\": \"pass\"}\n",
        "no run of a known format",
    ),
    (
        "cargo.jsonl",
        "{\"reason\": \"compiler-message\", \"message\": {\"rendered\": \"e\", \"level\": \"error\"}}\n{\"reason\": \"build-finished\"}\n",
        "no run of a known format",
    ),
    (
        "coverage.json",
        r#"{"/a.js": {"path": "/a.js", "statementMap": {}, "s": {"0": 1}, "f": {}, "b": {}}}"#,
        "no run of a known format",
    ),
    (
        "cucumber.json",
        r#"[{"uri": "a", "id": "x", "name": "f", "elements": [{"steps": [{"name": "a", "result": {"status": "passed", "duration": 5}}]}]}]"#,
        "no run of a known format",
    ),
    (
        "chrome.json",
        r#"{"traceEvents": [{"name": "a", "ph": "X", "ts": 1, "dur": 5, "args": {}}]}"#,
        "a trace of a program's time",
    ),
    (
        "logs-of-otel.json",
        r#"{"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": [{"body": {"stringValue": "x"}}]}]}]}"#,
        "logs of OpenTelemetry",
    ),
    (
        "metrics-of-otel.json",
        r#"{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "a"}]}]}]}"#,
        "metrics of OpenTelemetry",
    ),
    (
        "error.json",
        r#"{"error": {"message": "no such model", "type": "invalid_request_error", "code": null}}"#,
        "nothing but `error`",
    ),
    (
        "recipe.json",
        r#"{"title": "Bread", "steps": [{"name": "mix", "duration": 5}, {"name": "bake", "duration": 30}]}"#,
        "no run of a known format",
    ),
    ("keys.json", r#"{"actions": [{"name": "jump", "key": "space"}], "version": 1}"#, "no run of a known format"),
    ("users.json", r#"[{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]"#, "no run of a known format"),
    (
        "flow.json",
        r#"{"name": "w", "nodes": [{"name": "Start", "type": "start", "parameters": {}}], "connections": {}}"#,
        "no run of a known format",
    ),
    ("numbers.json", "[[1, 2], [3, 4]]", "a run is an object"),
];

/// Files that resemble a format or the normal form. They are refused even in a folder, because the user may have meant them as traces.
const NEAR: [(&str, &str, &str); 12] = [
    ("ids.json", r#"[{"id": 1}, {"id": 2}]"#, "nothing but its `id`"),
    ("i18n.json", r#"{"messages": {"hello": "Hallo"}, "locale": "de"}"#, "nearly a run of the format chat messages"),
    (
        "mail.json",
        r#"{"messages": [{"from": "a", "to": "b", "subject": "x", "body": "y"}]}"#,
        "a message without `role`",
    ),
    ("telegram.json", r#"{"name": "x", "id": 1, "messages": [{"id": 1, "date": "d", "from": "A", "text": "hi"}]}"#, ""),
    (
        "alpaca.jsonl",
        "{\"instruction\": \"do\", \"input\": \"\", \"output\": \"done\"}\n",
        "put `instruction` under `meta`",
    ),
    (
        "pairs.jsonl",
        "{\"prompt\": \"a\", \"completion\": \"b\"}\n{\"prompt\": \"c\", \"completion\": \"d\"}\n",
        "put `completion` under `meta`",
    ),
    (
        "embeddings.json",
        r#"{"object": "list", "data": [{"embedding": [0.1]}], "model": "m", "usage": {"prompt_tokens": 1}}"#,
        "",
    ),
    ("phone.json", r#"{"calls": [{"number": "1", "duration": 60}]}"#, "a call without `tool`"),
    ("bot.json", r#"{"commands": [{"name": "ping", "description": "x"}]}"#, "a command without `command`"),
    ("cv.json", r#"{"name": "x", "skills": ["python"]}"#, "put `name` under `meta`"),
    (
        "entities.json",
        r#"{"spans": [{"start": 0, "end": 5, "label": "PER"}], "text": "hello"}"#,
        "put `text` under `meta`",
    ),
    ("server.json", r#"{"http": {"port": 80}}"#, "must be a list"),
];

#[test]
fn nothing_but_a_run_is_read_as_one() {
    let folder = Folder::new(&[("r.assert", "output is not empty\n")]);
    for (name, text, said) in KNOWN.iter().chain(&NEAR) {
        folder.write(name, text.as_bytes());
        let ran = folder.aver(&format!("check r.assert {name}"));
        assert_eq!(ran.code, 4, "{name}: {ran:?}");
        assert!(format!("{}{}", ran.out, ran.err).contains(said), "{name}: {ran:?}");
    }
}

#[test]
fn in_a_folder_what_is_no_run_is_passed_over_and_what_is_nearly_one_is_refused() {
    let folder = Folder::new(&[("r.assert", "output is not empty\n"), ("known/a.json", r#"{"output": "x"}"#)]);
    for (name, text, _) in KNOWN {
        folder.write(&format!("known/{name}"), text.as_bytes());
    }
    let ran = folder.aver("check r.assert known");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains(&format!("{} files are not traces and were skipped", KNOWN.len())), "{ran:?}");
    for (name, text, _) in NEAR {
        folder.write(&format!("near-{name}/{name}"), text.as_bytes());
        assert_eq!(folder.aver(&format!("check r.assert known near-{name}")).code, 4, "{name}");
    }
}

#[test]
fn a_session_behind_words_that_a_program_printed_is_read_with_a_warning_for_each() {
    let said = r#"{"type": "assistant", "sessionId": "s", "uuid": "u", "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "ok"}]}}"#;
    let session = format!("Loading settings\n{{\"type\": \"assistant\",\n{said}\n\n[1,2]\n");
    let folder = Folder::new(&[("r.assert", "output == \"ok\"\n"), ("s.jsonl", &session)]);
    let ran = folder.aver("check r.assert s.jsonl --format short");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("s.jsonl: 3 of 4 records not understood; line 1:"), "{ran:?}");
    // Plain text is no session.
    folder.write("server.log", b"Listening on 80\n{\"level\": 30, \"msg\": \"x\"}\n");
    assert_eq!(folder.aver("check r.assert server.log").code, 4);
}
