//! Conversations: calls and results apart from each other, in OpenAI's form and with Anthropic's blocks.

use super::{Both, PrefilterAnswer, TOOLS, agreed, judge, program_of_runs, text, value};
use proptest::prelude::*;

fn check(line: &str) -> Option<Both> {
    agreed(judge(line, program_of_runs())?, program_of_runs(), line)
}

/// A value as JSON inside of a text.
fn written(value: &str) -> String {
    serde_json::to_string(value).unwrap()
}

fn content() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => text(),
        1 => Just("null".to_owned()),
        1 => text().prop_map(|text| format!(r#"[{{"type":"text","text":{text}}}]"#)),
        1 => (text(), text()).prop_map(|(a, b)| format!(r#"[{{"type":"text","text":{a}}}, {{"text":{b},"type":"text","x":1}}]"#)),
        1 => text().prop_map(|text| format!(r#"[{text},{{"type":"image","url":"x"}}]"#)),
        1 => value(),
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0..40_u32, 0..2_u32).prop_map(|(amount, user)| format!("{{\"amount\": {amount}, \"user\":\"u{user}\"}}")),
        1 => value(),
        1 => prop::sample::select(vec!["", " ", "{", "{\"amount\":1,\"amount\":2}", "nonsense", "1e999"]).prop_map(str::to_owned),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["\"c1\"", "\"c2\"", "\"c3\"", "\"c1\"", "\"c\\u0031\"", "null", "7", "\"\""])
        .prop_map(str::to_owned)
}

fn openai_call() -> impl Strategy<Value = String> {
    (prop::sample::select(TOOLS.to_vec()), id(), arguments(), 0..8_u8).prop_map(|(tool, id, arguments, kind)| {
        let args = if kind == 1 { arguments.clone() } else { written(&arguments) };
        match kind {
            2 => format!(r#"{{"id":{id},"name":"{tool}","args":{args}}}"#),
            3 => format!(r#"{{"id":{id},"custom":{{"name":"{tool}","input":{args}}}}}"#),
            4 => format!(r#"{{"function":{{"name":"{tool}"}},"id":{id}}}"#),
            _ => format!(r#"{{"id":{id},"type":"function","function":{{"name":"{tool}","arguments":{args}}}}}"#),
        }
    })
}

fn openai_message() -> impl Strategy<Value = String> {
    let status =
        prop::sample::select(vec!["", "", "", ",\"status\":\"ok\"", ",\"status\":\"denied\"", ",\"status\":\"odd\""]);
    let of_tool = prop::sample::select(vec![
        "",
        "",
        ",\"name\":\"refund\"",
        ",\"tool_name\":\"refund\"",
        ",\"name\":\"odd\"",
        ",\"name\":null,\"tool_name\":\"authenticate\"",
        ",\"name\":7",
    ]);
    prop_oneof![
        2 => (prop::sample::select(vec!["system", "user", "assistant", "developer"]), content())
            .prop_map(|(role, content)| format!(r#"{{"role":"{role}","content":{content}}}"#)),
        3 => (content(), prop::collection::vec(openai_call(), 0..3), any::<bool>()).prop_map(|(content, calls, before)| {
            let calls = calls.join(",");
            match before {
                true => format!(r#"{{"tool_calls":[{calls}],"content":{content},"role":"assistant"}}"#),
                false => format!(r#"{{"role":"assistant","content":{content},"tool_calls":[{calls}]}}"#),
            }
        }),
        3 => (id(), content(), status, of_tool)
            .prop_map(|(id, content, status, of_tool)| {
                format!(r#"{{"role":"tool","tool_call_id":{id},"content":{content}{status}{of_tool}}}"#)
            }),
        1 => (content(), arguments()).prop_map(|(content, args)| format!(
            r#"{{"role":"assistant","content":{content},"function_call":{{"name":"refund","arguments":{}}}}}"#, written(&args))),
        1 => prop::sample::select(vec![
            r#"{"role":"assistant","content":"x","tool_calls":null}"#, r#"{"role":"assistant"}"#, r#"{"content":"x"}"#, "3", "{}",
            r#"{"role":"user","content":"x","messages":[]}"#, r#"{"role":"function","name":"refund","content":"x"}"#,
            r#"{"role":"user","content":"x","content":"y"}"#, r#"{"role":"us\u0065r","content":"x"}"#,
        ]).prop_map(str::to_owned),
    ]
}

pub fn block() -> impl Strategy<Value = String> {
    let error = prop::sample::select(vec!["", "", ",\"is_error\":false", ",\"is_error\":true"]);
    let refused = r#""The user doesn't want to proceed with this tool use. The tool use was rejected.""#;
    prop_oneof![
        2 => text().prop_map(|text| format!(r#"{{"type":"text","text":{text}}}"#)),
        1 => text(),
        4 => (prop::sample::select(TOOLS.to_vec()), id(), prop_oneof![arguments(), value()]).prop_map(|(tool, id, input)| {
            format!(r#"{{"type":"tool_use","id":{id},"name":"{tool}","input":{input}}}"#)
        }),
        4 => (id(), prop_oneof![4 => content(), 1 => Just(refused.to_owned())], error)
            .prop_map(|(id, content, error)| format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{content}{error}}}"#)),
        1 => id().prop_map(|id| format!(r#"{{"tool_use_id":{id},"type":"tool_result"}}"#)),
        1 => prop::sample::select(vec![
            r#"{"type":"thinking","thinking":"x"}"#, r#"{"type":"image"}"#, r#"{"text":"x"}"#, "1", r#"{"type":"tool_use","id":"c1"}"#,
            r#"{"type":"server_tool_use","id":"c9","name":"refund","input":null}"#, r#"{"type":"text","text":3}"#,
        ]).prop_map(str::to_owned),
    ]
}

fn block_message() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => (any::<bool>(), prop::collection::vec(block(), 0..3)).prop_map(|(assistant, blocks)| {
            let role = if assistant { "assistant" } else { "user" };
            format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
        }),
        1 => openai_message(),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let entries = prop::sample::select(vec![
        "",
        "",
        "",
        ",\"id\":\"run-1\"",
        ",\"id\":7",
        ",\"tools\":[]",
        ",\"tools\":null",
        ",\"model\":\"m\"",
        ",\"output\":\"done\"",
        ",\"choices\":[]",
        ",\"steps\":null",
        ",\"tool_calls\":null",
        ",\"actions\":[]",
        ",\"calls\":[]",
        ",\"traj\":null",
        ",\"duration_ms\":5",
        ",\"meta\":{\"kind\":\"y\"}",
        ",\"error\":\"x\"",
    ]);
    let messages = prop_oneof![
        prop::collection::vec(openai_message(), 0..8),
        prop::collection::vec(block_message(), 0..8),
        prop::collection::vec(block_message(), 0..8),
    ];
    (prop::sample::select(vec!["messages", "messages", "traj"]), messages, entries, any::<bool>()).prop_map(
        |(key, messages, entry, first)| {
            let messages = messages.join(",");
            match entry.strip_prefix(',') {
                Some(entry) if first => format!(r#"{{{entry},"{key}":[{messages}]}}"#),
                _ => format!(r#"{{"{key}":[{messages}]{entry}}}"#),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn conversations_are_judged_as_the_evaluation_does(line in line()) {
        check(&line);
    }

    #[test]
    fn broken_conversations_are_never_judged_otherwise(line in line(), at in any::<prop::sample::Index>(), with in prop::sample::select(vec![
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "0", "null", "\u{1}", "\\u00e9", "é",
    ])) {
        let mut place = at.index(line.len());
        while !line.is_char_boundary(place) { place -= 1; }
        let next = line[place..].chars().next().map_or(place, |character| place + character.len_utf8());
        check(&format!("{}{with}{}", &line[..place], &line[next..]));
    }
}

const CHAT: &str = r#"{"id":"run-1","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"authenticate","arguments":"{\"user\": \"u\"}"}},{"id":"b","type":"function","function":{"name":"refund","arguments":"{\"amount\":15}"}}]},{"role":"tool","tool_call_id":"b","content":"AKIA1234"},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"fine"}]},{"role":"assistant","content":"all done"}]}"#;

const BLOCKS: &str = r#"{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"a","name":"authenticate","input":{"user":"u"}},{"type":"tool_use","id":"b","name":"refund","input":{"amount":15}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"AKIA1234"},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"fine"}]}]},{"role":"assistant","content":[{"type":"text","text":"all done"}]}]}"#;

const TAU: &str = r#"{"task_id":1,"reward":1.0,"traj":[{"role":"user","content":"hello"},{"role":"assistant","content":"so","tool_calls":[{"id":"b","function":{"name":"refund","arguments":"{\"amount\":15}"}}]},{"role":"tool","tool_call_id":"b","name":"refund","content":"AKIA1234"},{"role":"assistant","content":"all done"}]}"#;

#[test]
fn conversations_are_read_from_their_bytes_and_decided() {
    for line in [CHAT, BLOCKS, TAU] {
        let both = check(line).expect("a run");
        let fast = both.fast.expect("read from its bytes");
        let said = |text: &str| {
            let number = program_of_runs().0.assertions.iter().position(|one| one.text == text).expect(text);
            fast[number]
        };
        assert_eq!(said("each refund: args.amount is number and args.amount <= 30"), PrefilterAnswer::Pass, "{line}");
        assert_eq!(said("output contains \"done\""), PrefilterAnswer::Pass, "{line}");
        assert_eq!(said("require authenticate") == PrefilterAnswer::Pass, line != TAU, "{line}");
        assert_eq!(said("no risky in calls[*].args"), PrefilterAnswer::Pass, "{line}");
        assert_eq!(said("no risky in calls[*].result"), PrefilterAnswer::Fail, "{line}");
    }
}

#[test]
fn arguments_in_text_are_read_where_a_rule_looks_at_them() {
    let line = r#"{"tool_calls":[{"name":"refund","args":"{\"amount\":15}"},{"name":"x","args":" "}]}"#;
    assert!(check(line).expect("a run").fast.is_some());
}

/// Whoever made them: nothing says then that the blocks are all calls.
#[test]
fn calls_beside_blocks_are_for_the_full_reader() {
    for role in ["assistant", "user", "system", "critic"] {
        for calls in [
            r#""function_call":{"name":"x","arguments":"{}"}"#,
            r#""tool_calls":[{"id":"d","function":{"name":"x","arguments":"{}"}}]"#,
        ] {
            let own =
                format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"so"}}],{calls}}},{{"role":"user","#);
            let line = BLOCKS.replacen(r#"{"role":"user","#, &own, 1);
            assert!(check(&line).expect("a run").fast.is_none(), "{line}");
        }
    }
}

#[test]
fn what_gives_a_warning_is_for_the_full_reader() {
    for (from, to) in [
        (r#""tool_call_id":"b""#, r#""tool_call_id":"z""#),
        (r#""role":"tool","tool_call_id":"b","#, r#""role":"tool","tool_call_id":"b","status":"odd","#),
        (r#""content":"hello""#, r#""content":"hello","content":"hallo""#),
        (r#""name":"refund","#, ""),
        (r#""role":"user","#, ""),
        (r#"{\"amount\":15}"#, r#"{\"amount\":15"#),
        (r#"{\"amount\":15}"#, r#"{\"amount\":15,\"amount\":1}"#),
    ] {
        let line = CHAT.replacen(from, to, 1);
        assert_ne!(line, CHAT, "{from}");
        let both = judge(&line, program_of_runs()).expect("a run");
        assert!(both.fast.is_none_or(|fast| fast.contains(&PrefilterAnswer::Open)), "{line}");
        check(&line);
    }
    // The entry that tau-bench's other keys make up is for the full reader, too.
    assert!(check(TAU).expect("a run").fast.is_some());
    assert!(super::check(TAU).expect("a run").fast.is_none());
    let silent = r#"{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"done"}]}"#;
    assert!(check(silent).expect("a run").fast.is_none());
}
