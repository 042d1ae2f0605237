//! Sessions of Claude Code: an event on each line.

use super::conversations::block;
use super::{Both, PrefilterAnswer, agreed, judge_by, program, program_of_runs};
use averment_base::limits::Limits;
use averment_traces::read::TraceRuns;
use proptest::prelude::*;

/// Judges a session both ways; `None` where it is none, or cannot be read in full.
fn check(text: &str) -> Option<Both> {
    let mut runs = TraceRuns::new("s.jsonl", std::io::Cursor::new(text.to_owned().into_bytes()), &Limits::default());
    let raw = runs.next()?.ok()?;
    if !raw.is_plain_session() {
        return None;
    }
    let [with_meta, both] = [program(), program_of_runs()].map(|rules| {
        judge_by((&raw, text.lines().all(is_json)), rules, |reader, chunk, index, projection| {
            reader.read_session(chunk, index.line_ends(), projection)
        })
    });
    // The entry that other keys of a session make up is for the full reader.
    assert!(with_meta.is_none_or(|both| both.fast.is_none()));
    // A line that is no JSON in what nobody looks at is read; the full reader passes it over.
    if text.lines().all(is_json) { agreed(both?, program_of_runs(), text) } else { both }
}

fn is_json(line: &str) -> bool {
    line.trim().is_empty() || serde_json::from_str::<serde_json::Value>(line).is_ok()
}

fn line() -> impl Strategy<Value = String> {
    let about = prop::sample::select(vec![
        "",
        "",
        "",
        ",\"isSidechain\":false",
        ",\"isSidechain\":true",
        ",\"agentId\":\"a1\"",
        ",\"parent_tool_use_id\":null",
        ",\"agentId\":7",
        ",\"isMeta\":true",
        ",\"isApiErrorMessage\":true",
        ",\"isApiErrorMessage\":false",
        ",\"toolUseResult\":{\"stdout\":\"done\"}",
    ]);
    let time = prop::sample::select(vec![
        "",
        ",\"timestamp\":\"2025-01-01T00:00:01Z\"",
        ",\"timestamp\":\"2025-01-01T00:00:07.5Z\"",
        ",\"timestamp\":\"2025-01-01T00:00:00+00:00\"",
        ",\"timestamp\":\"soon\"",
        ",\"timestamp\":12",
        ",\"timestamp\":null",
    ]);
    let message = (any::<bool>(), prop::collection::vec(block(), 0..3)).prop_map(|(assistant, blocks)| {
        let role = if assistant { "assistant" } else { "user" };
        (role, format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(",")))
    });
    // Several lines are one message when they have one id.
    let message = (message, prop::sample::select(vec!["", "", "\"id\":\"m1\",", "\"id\":\"m2\","]))
        .prop_map(|((role, message), id)| (role, message.replacen('{', &format!("{{{id}"), 1)));
    let spoken = prop_oneof![
        6 => message,
        1 => prop::sample::select(vec![
            ("user", r#"{"role":"user","content":"hello"}"#), ("assistant", r#"{"role":"assistant","content":"done"}"#),
            ("assistant", r#"{"role":"user","content":null}"#), ("user", r#"{"role":"user"}"#), ("user", r#"{"content":"x"}"#), ("user", "3"),
        ]).prop_map(|(kind, message)| (kind, message.to_owned())),
    ];
    // Ids of lines come again now and then, and lines of another session.
    let ids = (prop_oneof![9 => 1..10_000_u32, 1 => 0..2_u32], prop_oneof![20 => Just("s"), 1 => Just("other")]);
    let spoken = (spoken, about, time, ids).prop_map(|((kind, message), about, time, (id, session))| {
        format!(r#"{{"sessionId":"{session}","uuid":"{id}","type":"{kind}","message":{message}{about}{time}}}"#)
    });
    prop_oneof![
        9 => spoken,
        1 => prop::sample::select(vec![
            r#"{"type":"summary","summary":"x","leafUuid":"u"}"#, r#"{"type":"progress","uuid":"u"}"#,
            r#"{"type":"progress","uuid":"p1","data":{"type":"hook_progress"}}"#,
            r#"{"type":"progress","uuid":"p2","data":{"type":"agent_progress","agentId":"a1","message":{"type":"user","message":{"role":"user","content":"x"}}}}"#,
            r#"{"type":"system","uuid":"d","subtype":"permission_denied","tool_use_id":"c1"}"#,
            r#"{"type":"result","session_id":"s","permission_denials":[{"tool_use_id":"c2"}]}"#,
            r#"{"type":"result","session_id":"s","permission_denials":[]}"#, "", "  ", "3", "{", r#"{"type":"odd","uuid":"u"}"#,
            r#"{"type":"system","subtype":"init","tools":["Bash"],"session_id":"s"}"#,
            r#"{"type":"result","session_id":"s","result":"a done","duration_ms":12,"total_cost_usd":0.5,"is_error":false,"num_turns":4}"#,
            r#"{"type":"stream_event","session_id":"s","event":{"type":"message_stop"},"uuid":"e"}"#,
            r#"{"type":"result","session_id":"s","subtype":"error_max_turns","is_error":true}"#,
            r#"{"type":"result","session_id":"s","result":null,"duration_ms":null}"#,
            r#"{"type":"result","session_id":"s","duration_ms":"long"}"#,
            r#"{"type":"summary","type":"user","uuid":"u"}"#,
        ]).prop_map(str::to_owned),
    ]
}

fn session() -> impl Strategy<Value = String> {
    (prop::collection::vec(line(), 1..9), any::<bool>()).prop_map(|(lines, ended)| {
        let mut text = lines.join("\n");
        if ended {
            text.push('\n');
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn sessions_are_judged_as_the_evaluation_does(text in session()) {
        check(&text);
    }

    #[test]
    fn broken_sessions_are_never_judged_otherwise(text in session(), at in any::<prop::sample::Index>(), with in prop::sample::select(vec![
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "0", "null", "\u{1}",
    ])) {
        prop_assume!(!text.is_empty());
        let mut place = at.index(text.len());
        while !text.is_char_boundary(place) { place -= 1; }
        let next = text[place..].chars().next().map_or(place, |character| place + character.len_utf8());
        check(&format!("{}{with}{}", &text[..place], &text[next..]));
    }
}

const SESSION: &str = r#"{"type":"summary","summary":"x","leafUuid":"u"}
{"sessionId":"s","uuid":"1","type":"user","message":{"role":"user","content":"hello"},"timestamp":"2025-01-01T00:00:01Z"}
{"sessionId":"s","uuid":"2","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"a","name":"authenticate","input":{"user":"u"}}]},"timestamp":"2025-01-01T00:00:02Z"}
{"sessionId":"s","uuid":"3","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"fine"}]}]},"timestamp":"2025-01-01T00:00:03Z"}
{"sessionId":"s","uuid":"4","type":"assistant","isSidechain":true,"message":{"id":"n","role":"assistant","content":[{"type":"tool_use","id":"b","name":"refund","input":{"amount":15}},{"type":"text","text":"aside"}]},"timestamp":"2025-01-01T00:00:04Z"}
{"sessionId":"s","uuid":"5","type":"user","isSidechain":true,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"paid"}]},"timestamp":"2025-01-01T00:00:05Z"}
{"sessionId":"s","uuid":"6","type":"assistant","message":{"id":"o","role":"assistant","content":[{"type":"text","text":"all done"}]},"timestamp":"2025-01-01T00:00:13Z"}
"#;

#[test]
fn sessions_are_read_from_their_bytes_and_decided() {
    let read = |text: &str| check(text).expect("a session").fast;
    let fast = read(SESSION).expect("read from its bytes");
    for (rule, answer) in [
        ("each refund: args.amount is number and args.amount <= 30", PrefilterAnswer::Pass),
        ("output contains \"done\"", PrefilterAnswer::Pass),
        ("if refund then authenticate", PrefilterAnswer::Pass),
        ("no risky in calls[*].result", PrefilterAnswer::Pass),
        ("duration === 12", PrefilterAnswer::Fail),
        ("duration < 1e3", PrefilterAnswer::Fail),
    ] {
        let number = program_of_runs().0.assertions.iter().position(|one| one.text == rule).expect(rule);
        assert_eq!(fast[number], answer, "{rule}");
    }
    // What gives a warning, or needs more than a projection, is for the full reader.
    for (from, to) in [
        ("\"tool_use_id\":\"b\"", "\"tool_use_id\":\"z\""),
        ("\"type\":\"summary\"", "\"type\":\"odd\""),
        (",\"content\":\"paid\"", ""),
        ("{\"role\":\"user\",\"content\":\"hello\"}", "3"),
    ] {
        let changed = SESSION.replacen(from, to, 1);
        assert_ne!(changed, SESSION, "{from}");
        assert!(read(&changed).is_none(), "{from}");
    }
}

#[test]
fn sessions_of_the_field_are_judged_alike() {
    let Some(folder) = averment_fixtures::shared("traces/claude_code_jsonl") else { return };
    let entries = std::fs::read_dir(&folder).unwrap();
    let judged = entries.flatten().filter_map(|entry| check(&std::fs::read_to_string(entry.path()).ok()?)).count();
    assert!(judged > 0);
}
