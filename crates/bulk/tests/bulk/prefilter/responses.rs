//! Responses of OpenAI that are runs of their own.

use super::{Both, PrefilterAnswer, TOOLS, agreed, judge, program_of_runs, text, value};
use proptest::prelude::*;

fn check(line: &str) -> Option<Both> {
    agreed(judge(line, program_of_runs())?, program_of_runs(), line)
}

fn id() -> impl Strategy<Value = String> {
    let ids = vec!["\"c1\"", "\"c2\"", "\"c3\"", "\"c1\"", "\"c2\"", "\"c\\u0031\"", "null", "7", "\"\""];
    prop::sample::select(ids).prop_map(str::to_owned)
}

fn arguments() -> impl Strategy<Value = String> {
    let written = |text: String| serde_json::to_string(&text).unwrap();
    prop_oneof![
        8 => (0..40_u32, 0..2_u32).prop_map(move |(amount, user)| written(format!("{{\"amount\": {amount}, \"user\":\"u{user}\"}}"))),
        1 => value(),
        1 => prop::sample::select(vec!["\"\"", "\" \"", "\"{\"", "\"nonsense\"", "\" {}\"", "\"\\u007b}\"", "\"[1]\"", "null"])
            .prop_map(str::to_owned),
    ]
}

fn content() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => text().prop_map(|text| format!(r#"[{{"type":"output_text","text":{text},"annotations":[]}}]"#)),
        1 => text(),
        1 => (text(), text()).prop_map(|(a, b)| format!(r#"[{{"type":"output_text","text":{a}}},{{"type":"output_text","text":{b}}}]"#)),
        1 => prop::sample::select(vec![
            r#"[{"type":"refusal","refusal":"no"}]"#, "[]", "null", r#"[{"text":"bare"}]"#, r#"[{"type":"output_text","text":null}]"#, "[3]",
        ]).prop_map(str::to_owned),
    ]
}

fn item() -> impl Strategy<Value = String> {
    let words = ["", r#","status":"completed""#, r#","status":"incomplete""#, r#","id":"fc""#];
    let beside = prop::sample::select(words.to_vec());
    prop_oneof![
        6 => (prop::sample::select(TOOLS.to_vec()), id(), arguments(), beside).prop_map(|(tool, id, args, beside)| {
            format!(r#"{{"type":"function_call","call_id":{id},"name":"{tool}","arguments":{args}{beside}}}"#)
        }),
        5 => (id(), prop_oneof![5 => text(), 1 => value()]).prop_map(|(id, output)| {
            format!(r#"{{"type":"function_call_output","call_id":{id},"output":{output}}}"#)
        }),
        4 => (content(), prop::sample::select(vec!["assistant", "assistant", "assistant", "user", "system"])).prop_map(|(content, role)| {
            format!(r#"{{"type":"message","id":"m","role":"{role}","content":{content}}}"#)
        }),
        1 => prop::sample::select(vec![
            r#"{"type":"reasoning","summary":[]}"#,
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"so"}],"content":null}"#,
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":""}]}"#,
            r#"{"type":"reasoning","summary":"so"}"#,
            r#"{"type":"reasoning","content":[3]}"#,
            r#"{"type":"function_call","call_id":"c1","name":"refund","arguments":"{}","name":"other"}"#,
            r#"{"type":"function_call","call_id":"c1","name":"","arguments":"{}"}"#,
            r#"{"type":"function_call","call_id":"c1","name":"refund"}"#,
            r#"{"type":"function_call","id":"c1","name":"refund","arguments":"{}"}"#,
            r#"{"type":"function_call","call_id":"c1","name":"refund","arguments":"{}","input":{"amount":3}}"#,
            r#"{"type":"custom_tool_call","call_id":"c1","name":"refund","input":"all of it"}"#,
            r#"{"type":"web_search_call","id":"w","status":"completed","action":{"query":"x"}}"#,
            r#"{"type":"mcp_call","id":"w","name":"refund","arguments":"{}","output":"done","error":null}"#,
            r#"{"type":"mcp_approval_request","id":"w","name":"refund","arguments":"{}"}"#,
            r#"{"type":"message","content":[]}"#, r#"{"type":"odd"}"#, "{}", "3", "null",
        ]).prop_map(str::to_owned),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let before = prop::sample::select(vec![
        r#""id":"resp","object":"response","#,
        r#""object":"response","#,
        r#""object":"response","created_at":17,"model":"m","error":null,"previous_response_id":null,"tools":[],"#,
        r#""object":"response","error":{"code":"x","message":"no"},"#,
        r#""object":"response","previous_response_id":"before","#,
        r#""object":"response","calls":[{"tool":"refund"}],"#,
        r#""object":"response","messages":[{"role":"user","content":"x"}],"#,
        r#""object":"list","#,
        "",
    ]);
    let behind = prop::sample::select(vec![
        "",
        "",
        r#","usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}"#,
        r#","duration_ms":5"#,
        r#","status":"failed""#,
        r#","output":[]"#,
        r#","request":{"input":"x"}"#,
    ]);
    (before, prop::collection::vec(item(), 0..7), behind)
        .prop_map(|(before, items, behind)| format!(r#"{{{before}"output":[{}]{behind}}}"#, items.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn responses_are_judged_as_the_evaluation_does(line in line()) {
        check(&line);
    }

    #[test]
    fn broken_responses_are_never_judged_otherwise(line in line(), at in any::<prop::sample::Index>(), with in prop::sample::select(vec![
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "0", "null", "\u{1}",
    ])) {
        let mut place = at.index(line.len());
        while !line.is_char_boundary(place) { place -= 1; }
        let next = line[place..].chars().next().map_or(place, |character| place + character.len_utf8());
        check(&format!("{}{with}{}", &line[..place], &line[next..]));
    }
}

const RESPONSE: &str = r#"{"id":"r","object":"response","model":"m","output":[{"type":"reasoning","summary":[]},{"type":"function_call","id":"f1","call_id":"a","name":"authenticate","arguments":"{\"user\":\"u\"}","status":"completed"},{"type":"function_call_output","call_id":"a","output":"fine"},{"type":"function_call","id":"f2","call_id":"b","name":"refund","arguments":"{\"amount\":15}"},{"type":"function_call_output","call_id":"b","output":"paid"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"all done","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}"#;

#[test]
fn responses_are_read_from_their_bytes_and_decided() {
    let read = |text: &str| check(text).expect("a response").fast;
    let fast = read(RESPONSE).expect("read from its bytes");
    for (rule, answer) in [
        ("each refund: args.amount is number and args.amount <= 30", PrefilterAnswer::Pass),
        ("output contains \"done\"", PrefilterAnswer::Pass),
        ("if refund then authenticate", PrefilterAnswer::Pass),
        ("no risky in calls[*].result", PrefilterAnswer::Pass),
    ] {
        let number = program_of_runs().0.assertions.iter().position(|one| one.text == rule).expect(rule);
        assert_eq!(fast[number], answer, "{rule}");
    }
    // What gives a warning, or needs more than a projection, is for the full reader.
    for (from, to) in [
        ("\"call_id\":\"b\",\"output\"", "\"call_id\":\"z\",\"output\""),
        ("\"type\":\"reasoning\"", "\"type\":\"thoughts\""),
        ("\"model\"", "\"steps\""),
        ("\"summary\":[]", "\"summary\":\"so\""),
        ("\"arguments\":\"{\\\"amount\\\":15}\"", "\"arguments\":\"fifteen\""),
        ("\"role\":\"assistant\"", "\"role\":\"user\""),
        ("\"object\":\"response\",", "\"object\":\"response\",\"previous_response_id\":\"q\","),
    ] {
        assert!(RESPONSE.contains(from) && read(&RESPONSE.replace(from, to)).is_none(), "{to}");
    }
}
