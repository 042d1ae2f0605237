//! What programs of agents write down, and what was skipped before: calls, ends, errors.

use super::formats::{field, root, with};
use super::told::calls;
use averment_base::limits::Limits;
use averment_base::value::json::to_json;
use averment_runs::run::StepKind;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::Cursor;

fn of_run(text: &str, key: &str) -> String {
    with(text, |run| root(run, key))
}

/// Why a file is no run.
fn refusal(text: &str) -> String {
    let limits = Limits::default();
    let raw = TraceRuns::new("t", Cursor::new(text.to_owned().into_bytes()), &limits).next().unwrap().unwrap();
    parse_run(&raw, &Bump::new(), &limits).unwrap_err().message
}

/// How many records of a run were not understood.
fn not_understood(text: &str) -> u64 {
    with(text, |run| run.records.not_understood)
}

#[test]
fn commands_of_mini_swe_agent_are_calls_in_whatever_they_stand() {
    let said = |words: &str, rest: &str| format!(r#"{{"role": "assistant", "content": "{words}"{rest}}}"#);
    let gave = |code: u8| format!(r#"{{"role": "user", "content": "<returncode>{code}</returncode>"}}"#);
    let xml = "Look.\\n```bash\\nls\\n```\\n<mswea_bash_command>rm -rf a</mswea_bash_command>";
    let two = "<mswea_bash_command>ls</mswea_bash_command><mswea_bash_command>pwd</mswea_bash_command>";
    let messages = [
        said(xml, ""),
        gave(0),
        said(two, ""),
        r#"{"role": "user", "content": "One action, please."}"#.to_owned(),
        said("Now.", r#", "extra": {"actions": [{"command": "make"}, {"command": "make test"}]}"#),
        gave(0),
        gave(2),
        said("I would run\\n```bash\\nls\\n```", r#", "extra": {"actions": []}"#),
    ]
    .join(",");
    let expected = [
        r#"bash {"command":"rm -rf a"} => <returncode>0</returncode> ok"#,
        r#"bash {"command":"make"} => <returncode>0</returncode> ok"#,
        r#"bash {"command":"make test"} => <returncode>2</returncode> failed"#,
    ];
    for text in [
        format!("[{messages}]"),
        format!(r#"{{"trajectory_format": "mini-swe-agent-1.1", "info": {{}}, "messages": [{messages}]}}"#),
    ] {
        assert_eq!(calls(&text), expected, "{text}");
        assert_eq!(not_understood(&text), 0);
    }
}

#[test]
fn the_response_beside_messages_belongs_to_the_conversation() {
    let asked = r#""messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "seen"}]"#;
    let said = r#"{"role": "assistant", "content": "Done.", "tool_calls": [{"id": "c2", "function": {"name": "drop", "arguments": "{\"n\":1}"}}]}"#;
    let counts = r#""usage": {"prompt_tokens": 10, "completion_tokens": 5}"#;
    let expected = ["look {} => seen -", r#"drop {"n":1} => - -"#];
    let response = format!(r#"{{"object": "chat.completion", "choices": [{{"message": {said}}}], {counts}}}"#);
    for text in [
        format!(r#"{{{asked}, "response": {response}, "response_cost": 0.25}}"#),
        format!(r#"{{{asked}, "response": {response}, {counts}, "cost": 0.25, "latency_sec": 1}}"#),
    ] {
        assert_eq!(calls(&text), expected, "{text}");
        assert_eq!(of_run(&text, "output"), r#""Done.""#);
        assert_eq!(of_run(&text, "usage"), r#"{"input_tokens":10,"output_tokens":5,"total_tokens":15}"#);
        assert_eq!(of_run(&text, "cost"), "0.25");
    }
    // The answer alone, and nothing that is one.
    assert_eq!(calls(&format!(r#"{{{asked}, "response": {said}}}"#)), expected);
    assert_eq!(calls(&format!(r#"{{{asked}, "response": null}}"#)), expected[..1]);
    with(&format!(r#"{{{asked}, "response": "data: {{}}"}}"#), |run| assert!(!run.warnings.is_empty()));
}

/// A step of ATIF, its calls each by an id that is its tool, too; each is answered, with what stands behind.
fn atif_step(source: &str, calls: &[(&str, &str)]) -> String {
    let made =
        |(id, _): &(&str, &str)| format!(r#"{{"tool_call_id": "{id}", "function_name": "{id}", "arguments": {{}}}}"#);
    let result = |(id, rest): &(&str, &str)| format!(r#"{{"source_call_id": "{id}", "content": "ok"{rest}}}"#);
    let list = |each: &dyn Fn(&(&str, &str)) -> String| calls.iter().map(each).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"source": "{source}", "message": "{source} speaks", "tool_calls": [{}], "observation": {{"results": [{}]}}}}"#,
        list(&made),
        list(&result)
    )
}

fn atif(id: &str, agent: &str, steps: &[String], others: &[String]) -> String {
    format!(
        r#"{{"schema_version": "ATIF-v1.7", "trajectory_id": "{id}", "agent": {{"name": "{agent}", "version": "1"}}, "steps": [{}], "subagent_trajectories": [{}]}}"#,
        steps.join(","),
        others.join(",")
    )
}

#[test]
fn what_sub_agents_did_in_trajectories_of_their_own_belongs_to_the_run() {
    let to = |id: &str| format!(r#", "subagent_trajectory_ref": [{{"trajectory_id": "{id}"}}]"#);
    let inner = atif("t3", "searcher", &[atif_step("agent", &[("grep", "")])], &[]);
    // It names itself, which tells nothing anew.
    let asked = [atif_step("user", &[]), atif_step("agent", &[("read", ""), ("ask", &to("t3")), ("loop", &to("t2"))])];
    let named = atif("t2", "coder", &asked, &[inner]);
    let unnamed = atif("t4", "coder", &[atif_step("agent", &[("write", "")])], &[]);
    let steps =
        [atif_step("user", &[]), atif_step("agent", &[("task", &to("t2")), ("ls", "")]), atif_step("agent", &[])];
    with(&atif("t1", "coder", &steps, &[named, unnamed]), |run| {
        let agent = |step: &averment_runs::run::Step<'_>| {
            step.object.get("agent").map_or(String::new(), |node| to_json(&node.value))
        };
        let told: Vec<_> =
            run.steps.iter().map(|step| format!("{} {} {}", step.kind.as_str(), step.name, agent(step))).collect();
        let expected = [
            r#"message user "main""#,
            r#"message assistant "main""#,
            r#"call task "main""#,
            r#"call ls "main""#,
            r#"handover t2 "main""#,
            r#"message task "t2""#,
            r#"message assistant "t2""#,
            r#"call read "t2""#,
            r#"call ask "t2""#,
            r#"call loop "t2""#,
            r#"handover searcher "t2""#,
            r#"message assistant "searcher""#,
            r#"call grep "searcher""#,
            r#"message assistant "main""#,
            r#"message assistant "t4""#,
            r#"call write "t4""#,
        ];
        assert_eq!(told, expected);
        assert_eq!((root(run, "prompt"), root(run, "output")), (r#""user speaks""#.into(), r#""agent speaks""#.into()));
        assert_eq!((run.records.not_understood, run.complete), (0, true));
    });
}

fn lines(lines: &[&str]) -> String {
    lines.join("\n")
}

#[test]
fn an_error_that_the_program_got_over_is_none_of_the_run() {
    // Codex opens a connection again; its turn completes, or fails.
    let begin = r#"{"type": "thread.started", "thread_id": "t"}"#;
    let again = r#"{"type": "error", "message": "Reconnecting 1/5"}"#;
    let said = r#"{"type": "item.completed", "item": {"type": "agent_message", "text": "ok"}}"#;
    let done = r#"{"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}"#;
    assert_eq!(of_run(&lines(&[begin, again, said, done]), "error"), "missing");
    assert_eq!(of_run(&lines(&[begin, again]), "error"), r#""Reconnecting 1/5""#);
    let failed = r#"{"type": "turn.failed", "error": {"message": "gone"}}"#;
    assert_eq!(of_run(&lines(&[begin, again, failed]), "error"), r#"{"message":"gone"}"#);

    // The same in a rollout, whose turn completes in any case.
    let event = |rest: &str| {
        format!(r#"{{"timestamp": "2026-02-01T10:00:00Z", "type": "event_msg", "payload": {{"type": {rest}}}}}"#)
    };
    let wrong = event(r#""error", "message": "stream disconnected""#);
    let (spoke, over) =
        (event(r#""agent_message", "message": "ok""#), event(r#""task_complete", "last_agent_message": null"#));
    let again = spoke.replace("10:00:00", "10:00:01");
    assert_eq!(of_run(&lines(&[&spoke, &wrong, &again, &over]), "error"), "missing");
    assert_eq!(of_run(&lines(&[&wrong, &event(r#""task_complete", "last_agent_message": "ok""#)]), "error"), "missing");
    for ends in [vec![&spoke, &wrong, &over], vec![&spoke, &wrong], vec![&wrong, &spoke]] {
        let ends: Vec<_> = ends.into_iter().map(String::as_str).collect();
        assert_eq!(of_run(&lines(&ends), "error"), r#""stream disconnected""#);
    }
    let told = event(r#""task_complete", "last_agent_message": null, "error": {"message": "no quota"}"#);
    assert_eq!(of_run(&lines(&[&spoke, &told]), "error"), r#""no quota""#);

    // Gemini CLI says itself how much an error matters.
    let begin = r#"{"type": "init", "timestamp": "2026-02-01T10:00:00Z", "session_id": "s", "model": "m"}"#;
    let error = |severity: &str| {
        format!(
            r#"{{"type": "error", "timestamp": "2026-02-01T10:00:01Z", "severity": "{severity}", "message": "loop"}}"#
        )
    };
    let end = r#"{"type": "result", "timestamp": "2026-02-01T10:00:02Z", "status": "success"}"#;
    with(&lines(&[begin, &error("warning"), end]), |run| {
        assert_eq!(root(run, "error"), "missing");
        assert_eq!(run.steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["system"]);
    });
    assert_eq!(of_run(&lines(&[begin, &error("error"), end]), "error"), r#""loop""#);
    let failed = r#"{"type": "result", "timestamp": "2026-02-01T10:00:02Z", "status": "error", "error": {"type": "T", "message": "no key"}}"#;
    assert_eq!(of_run(&lines(&[begin, failed]), "error"), r#""no key""#);
}

#[test]
fn what_gemini_cli_read_from_a_cache_is_counted() {
    let text = lines(&[
        r#"{"type": "init", "timestamp": "2026-02-01T10:00:00Z", "session_id": "s", "model": "m"}"#,
        r#"{"type": "result", "timestamp": "2026-02-01T10:00:02Z", "status": "success", "stats": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7, "cached": 3}}"#,
    ]);
    assert_eq!(
        of_run(&text, "usage"),
        r#"{"input_tokens":5,"output_tokens":2,"total_tokens":7,"cache_read_tokens":3}"#
    );
}

#[test]
fn what_ended_a_conversation_of_openhands_is_the_error_of_the_run() {
    let second = |kind: &str, rest: &str| {
        format!(r#"{{"kind": "{kind}", "id": "e", "timestamp": "2026-01-01T10:00:00", "source": {rest}}}"#)
    };
    let asked = second(
        "MessageEvent",
        r#""user", "llm_message": {"role": "user", "content": [{"type": "text", "text": "go"}]}"#,
    );
    let broken = second("ConversationErrorEvent", r#""environment", "code": "MaxIterations", "detail": "100 steps""#);
    assert_eq!(of_run(&lines(&[&asked, &broken]), "error"), r#""100 steps""#);
    assert_eq!(of_run(&lines(&[&asked, &broken, &asked.replace(r#""e""#, r#""f""#)]), "error"), "missing");

    let first = |state: &str| {
        format!(
            r#"{{"id": 1, "timestamp": "2026-01-01T10:00:00", "source": "environment", "observation": "agent_state_changed", "content": "", "extras": {{"agent_state": "{state}", "reason": "no key"}}}}"#
        )
    };
    assert_eq!(of_run(&lines(&[&first("running"), &first("error")]), "error"), r#""no key""#);
    assert_eq!(of_run(&lines(&[&first("error"), &first("running")]), "error"), "missing");
}

/// An event of Copilot.
fn copilot(kind: &str, data: &str) -> String {
    format!(
        r#"{{"type": "{kind}", "id": "{kind}", "parentId": null, "timestamp": "2026-02-01T10:00:00Z", "data": {{{data}}}}}"#
    )
}

#[test]
fn what_copilot_prints_is_no_session_of_another_agent_for_its_last_line() {
    let end = r#"{"type": "result", "timestamp": "2026-02-01T10:00:09Z", "sessionId": "s-1", "exitCode": 0, "usage": {"premiumRequests": 1}}"#;
    let call = copilot("tool.execution_start", r#""toolCallId": "c", "toolName": "ls", "arguments": {}"#);
    let noise: Vec<_> = (0..20).map(|_| copilot("session.info", "")).collect();
    let noise: Vec<_> = noise.iter().map(String::as_str).collect();
    for text in [lines(&[&call, end]), lines(&[&noise[..], &[&call, end]].concat())] {
        with(&text, |run| {
            assert_eq!((run.format, run.id), ("Copilot CLI session", Some("s-1")));
            assert_eq!((run.records.not_understood, run.steps.len()), (0, 1));
        });
    }
}

#[test]
fn calls_that_one_message_of_copilot_asks_for_are_of_one_turn() {
    let turns = |named: bool| {
        let turn = |name: u8| if named { format!(r#", "turnId": "{name}""#) } else { String::new() };
        let asks = |name: u8, ids: &[&str]| {
            let ids: Vec<_> = ids.iter().map(|id| format!(r#"{{"toolCallId": "{id}"}}"#)).collect();
            copilot(
                "assistant.message",
                &format!(r#""content": "", "toolRequests": [{}]{}"#, ids.join(","), turn(name)),
            )
        };
        let starts = |name: u8, id: &str| {
            copilot(
                "tool.execution_start",
                &format!(r#""toolCallId": "{id}", "toolName": "{id}", "arguments": {{}}{}"#, turn(name)),
            )
        };
        let ends = |id: &str| copilot("tool.execution_complete", &format!(r#""toolCallId": "{id}", "success": true"#));
        let user = copilot("user.message", r#""content": "go""#);
        let events = [
            user.replace(r#""id": "user.message""#, r#""id": "first""#),
            copilot("assistant.reasoning", r#""content": "hm""#),
            asks(0, &["a", "b"]),
            starts(0, "a"),
            ends("a"),
            starts(0, "b"),
            ends("b"),
            asks(1, &["c"]),
            starts(1, "c"),
            ends("c"),
            user,
            asks(0, &["d"]),
            starts(0, "d"),
        ];
        with(&events.join("\n"), |run| {
            let turn = |step: &averment_runs::run::Step<'_>| step.object.get("turn").map(|node| to_json(&node.value));
            let of_calls: Vec<_> =
                run.steps.iter().filter(|step| step.kind == StepKind::Call).filter_map(turn).collect();
            (of_calls.join(" "), root(run, "turns"))
        })
    };
    for named in [true, false] {
        assert_eq!(turns(named), ("1 1 2 3".to_owned(), "3".to_owned()), "{named}");
    }
}

#[test]
fn a_message_of_cursor_that_repeats_its_parts_is_said_once() {
    let said = |words: &str, rest: &str| {
        format!(
            r#"{{"type": "assistant", "session_id": "s", "message": {{"role": "assistant", "content": [{{"type": "text", "text": "{words}"}}]}}{rest}}}"#
        )
    };
    let part = |words: &str| said(words, r#", "timestamp_ms": 1770823449200"#);
    let whole = |words: &str| said(words, r#", "timestamp_ms": 1770823449300, "model_call_id": "m1""#);
    let call = r#"{"type": "tool_call", "subtype": "started", "session_id": "s", "call_id": "c", "model_call_id": "m1", "timestamp_ms": 1770823449400, "tool_call": {"lsToolCall": {"args": {}}}}"#;
    let texts = |events: &[&str]| {
        with(&lines(events), |run| {
            let said = run.steps.iter().filter(|step| step.kind == StepKind::Message);
            said.map(|step| step.object.get("text").map(|node| to_json(&node.value)).unwrap_or_default())
                .collect::<Vec<_>>()
        })
    };
    let told =
        texts(&[&part("I "), &part("look."), &whole("I look."), call, &part("ha"), &part("ha"), &said("haha", "")]);
    assert_eq!(told, [r#""I look.""#, r#""haha""#]);
    assert_eq!(texts(&[&whole("I look."), call, &whole("Done.")]), [r#""I look.""#, r#""Done.""#]);
}

#[test]
fn calls_of_codex_for_other_agents_say_what_they_were_told_and_gave_back() {
    let item = |kind: &str, id: &str, tool: &str, rest: &str| {
        format!(
            r#"{{"type": "item.{kind}", "item": {{"id": "{id}", "type": "collab_tool_call", "tool": "{tool}", "sender_thread_id": "t", {rest}}}}}"#
        )
    };
    let broken = r#""receiver_thread_ids": ["u"], "prompt": null, "agents_states": {"u": {"status": "errored", "message": "no disk"}}, "status": "completed""#;
    let text = lines(&[
        r#"{"type": "thread.started", "thread_id": "t"}"#,
        &item(
            "started",
            "1",
            "spawn_agent",
            r#""receiver_thread_ids": [], "prompt": "look", "agents_states": {}, "status": "in_progress""#,
        ),
        &item(
            "completed",
            "1",
            "spawn_agent",
            r#""receiver_thread_ids": ["u"], "prompt": "look", "agents_states": {"u": {"status": "running", "message": null}}, "status": "completed""#,
        ),
        &item("completed", "2", "wait", broken),
        &item("completed", "3", "close_agent", broken),
    ]);
    let expected = [
        r#"spawn_agent {"prompt":"look"} => {"u":{"status":"running","message":null}} ok"#,
        r#"wait {"receiver_thread_ids":["u"]} => {"u":{"status":"errored","message":"no disk"}} failed"#,
        r#"close_agent {"receiver_thread_ids":["u"]} => {"u":{"status":"errored","message":"no disk"}} ok"#,
    ];
    assert_eq!(calls(&text), expected);
    with(&text, |run| assert_eq!(field(run, 1, "error"), r#""no disk""#));
}

#[test]
fn a_call_of_a_server_in_an_item_of_codex_has_its_name_and_the_result_of_its_event() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp": "2026-02-01T10:00:00Z", "type": "{kind}", "payload": {payload}}}"#)
    };
    let item = line(
        "response_item",
        r#"{"type": "mcp_tool_call", "call_id": "k", "server": "fs", "tool": "read", "arguments": {"path": "a"}}"#,
    );
    let event = |kind: &str, rest: &str| {
        line(
            "event_msg",
            &format!(
                r#"{{"type": "mcp_tool_call_{kind}", "call_id": "k", "invocation": {{"server": "fs", "tool": "read", "arguments": {{"path": "a"}}}}{rest}}}"#
            ),
        )
    };
    let end = event("end", r#", "result": {"Ok": {"content": [{"type": "text", "text": "hello"}], "isError": false}}"#);
    let begin = event("begin", "");
    for text in [lines(&[&item, &end]), lines(&[&begin, &item, &end]), lines(&[&item, &begin, &end])] {
        assert_eq!(calls(&text), [r#"mcp__fs__read {"path":"a"} => hello ok"#], "{text}");
    }
}

#[test]
fn what_claude_code_writes_in_place_of_an_answer_is_no_answer() {
    let init = r#"{"type": "system", "subtype": "init", "session_id": "s", "model": "m"}"#;
    let limit =
        r#"{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}, "uuid": "u", "session_id": "s"}"#;
    let said = |model: &str, rest: &str| {
        format!(
            r#"{{"type": "assistant", "session_id": "s", "message": {{"id": "{model}", "model": "{model}", "role": "assistant", "content": [{{"type": "text", "text": "Limit."}}]}}{rest}}}"#
        )
    };
    let end = r#"{"type": "result", "subtype": "success", "is_error": true, "result": "Limit.", "session_id": "s"}"#;
    let marked = said("m", r#", "is_api_error_message": true"#);
    let made_up = said("<synthetic>", r#", "error": "rate_limit""#);
    for text in [lines(&[init, limit, &marked, end]), lines(&[init, limit, &made_up])] {
        with(&text, |run| {
            assert_eq!(run.steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["system"]);
            assert_eq!((root(run, "output"), root(run, "error")), ("absent".into(), r#""Limit.""#.into()), "{text}");
            assert_eq!(run.records.not_understood, 0);
        });
    }
    // A model's own message with an error beside it is its message.
    assert_eq!(of_run(&lines(&[init, &said("m", r#", "error": "unknown""#)]), "output"), r#""Limit.""#);
}

#[test]
fn a_time_that_is_none_is_told_and_costs_no_run() {
    let session = r#"{"sessionId": "g", "projectHash": "h", "messages": [{"id": "1", "type": "user", "timestamp": "soon", "content": "go"},
        {"id": "2", "type": "gemini", "timestamp": "2026-02-01T10:00:01Z", "content": "", "toolCalls": [{"id": "c", "name": "ls", "args": {}, "status": "success", "result": [], "timestamp": "x"}]}]}"#;
    with(session, |run| {
        assert_eq!(run.steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["user", "ls"]);
        assert_eq!((field(run, 0, "start"), field(run, 1, "end")), ("absent".into(), "absent".into()));
        let told: Vec<_> = run.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(told, ["the time of a step is no point in time: it counts as not recorded"]);
    });
}

#[test]
fn what_ended_a_session_of_opencode_is_the_error_of_the_run() {
    let part = r#"{"type": "text", "timestamp": 1, "sessionID": "s", "part": {"id": "p", "sessionID": "s", "messageID": "m", "type": "text", "text": "hi"}}"#;
    let wrong = r#"{"type": "error", "timestamp": 2, "sessionID": "s", "error": {"name": "APIError", "data": {"message": "overloaded"}}}"#;
    let text = lines(&[part, wrong]);
    assert_eq!(of_run(&text, "error"), r#"{"name":"APIError","data":{"message":"overloaded"}}"#);
    assert_eq!(not_understood(&text), 0);
    assert_eq!(of_run(&lines(&[part, wrong, part]), "error"), "missing");
}

#[test]
fn a_run_in_a_text_of_json_is_read() {
    let case = |id: &str| {
        format!(
            r#"{{"eval_id": "{id}", "eval_metric_result_per_invocation": [{{"actual_invocation": {{"user_content": {{"parts": [{{"text": "go"}}]}}, "intermediate_data": {{"tool_uses": [{{"id": "k", "name": "look", "args": {{}}}}]}}}}}}]}}"#
        )
    };
    let set = |cases: &[String]| format!(r#"{{"eval_set_id": "e", "eval_case_results": [{}]}}"#, cases.join(","));
    let in_text = |json: &str| serde_json::to_string(json).unwrap();
    let one = in_text(&set(&[case("a")]));
    with(&one, |run| assert_eq!((run.format, run.id), ("Google ADK eval result", Some("a"))));
    assert_eq!(calls(&one), ["look {} => - -"]);
    assert_eq!(
        refusal(&in_text(&set(&[case("a"), case("b")]))),
        "a text holds JSON that has to be cut into runs (Google ADK eval result): that is not done"
    );
    assert_eq!(refusal(&in_text(r#"{"a": 1}"#)), "a run is an object, found string");
    // Among runs a text is none.
    assert_eq!(refusal(&format!("{one}\n{{\"output\": 1}}\n")), "a run is an object, found string");
}

#[test]
fn one_event_of_openhands_is_no_run() {
    let call = r#"{"kind": "ActionEvent", "id": "1", "timestamp": "2026-01-01T10:00:00", "source": "agent", "tool_name": "ls", "tool_call_id": "c", "action": {}}"#;
    let result = r#"{"kind": "ObservationEvent", "id": "2", "timestamp": "2026-01-01T10:00:01", "source": "environment", "tool_name": "ls", "tool_call_id": "c", "observation": {"content": "a"}}"#;
    for event in [call, result] {
        assert_eq!(refusal(event), "one event of OpenHands is no run: its conversation stands in several files");
    }
    assert_eq!(calls(&format!("{call}{result}")), ["ls {} => a -"]);
}
