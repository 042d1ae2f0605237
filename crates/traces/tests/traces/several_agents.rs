//! Agents that hand the work to each other: who speaks, and what a graph of them streams.

use super::formats::{field, root, steps, with};
use averment_runs::run::Run;

const SWARM: &str = r#"[{"role": "user", "content": "hi"},
  {"role": "assistant", "content": null, "sender": "Desk", "tool_calls": [{"id": "a", "function": {"name": "transfer_to_shop", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "a", "tool_name": "transfer_to_shop", "content": "{\"assistant\": \"Shop\"}"},
  {"role": "assistant", "content": "Look.", "sender": "Shop", "tool_calls": [{"id": "b", "function": {"name": "find", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "b", "tool_name": "find", "content": "7"}, {"role": "assistant", "content": "Seven.", "sender": "Shop"}]"#;

#[test]
fn agents_of_swarm_are_the_senders_of_their_messages() {
    let agents = |run: &Run<'_>| (0..run.steps.len()).map(|at| field(run, at, "agent")).collect::<Vec<_>>();
    let [desk, shop] = ["\"Desk\"", "\"Shop\""];
    with(SWARM, |run| {
        let all = [
            "message user",
            "call transfer_to_shop",
            "handover Shop",
            "message assistant",
            "call find",
            "message assistant",
        ];
        assert_eq!(steps(run), all);
        assert_eq!(agents(run), ["\"main\"", desk, desk, shop, shop, shop]);
        assert_eq!(field(run, 2, "to"), shop);
    });
    // A word for a kind of speaker names no agent.
    with(&SWARM.replace(desk, "\"assistant\"").replace(shop, "\"bot\""), |run| {
        assert!(agents(run).iter().all(|agent| agent != desk && agent != shop && agent != "\"bot\""));
    });
}

#[test]
fn a_stream_of_swarm_ends_with_its_messages() {
    let answer = |sender: &str, call: &str| {
        format!(
            r#"{{"delim": "start"}}
{{"role": "assistant", "content": null, "sender": "{sender}", "tool_calls": {call}}}
{{"role": null, "content": null, "tool_calls": null}}
{{"delim": "end"}}
"#
        )
    };
    let begun = r#"[{"index": 0, "id": "a", "function": {"name": "transfer_to_shop", "arguments": ""}}]"#;
    let pieces = answer("Desk", begun) + &answer("Shop", "null");
    let whole = r#"{"response": {"messages": [
      {"role": "assistant", "content": "", "sender": "Desk", "tool_calls": [{"id": "a", "function": {"name": "transfer_to_shop", "arguments": "{\"k\": 1}"}}]},
      {"role": "tool", "tool_call_id": "a", "tool_name": "transfer_to_shop", "content": "yes"},
      {"role": "assistant", "content": "Sold.", "sender": "Desk", "tool_calls": null}], "agent": {"name": "Shop"}, "context_variables": {}}}"#;
    let whole = whole.replace('\n', "") + "\n";
    with(&(pieces.clone() + &whole), |run| {
        assert_eq!((run.complete, root(run, "output")), (true, "\"Sold.\"".into()));
        let call = steps(run).iter().position(|step| step == "call transfer_to_shop").unwrap();
        assert_eq!((field(run, call, "args"), field(run, call, "agent")), (r#"{"k":1}"#.into(), "\"Desk\"".into()));
        assert_eq!(field(run, run.steps.len() - 1, "agent"), "\"Shop\"");
    });
    with(&pieces, |run| assert!(!run.complete));
    with(&(pieces + &answer("Shop", "null") + &whole), |run| assert_ne!(field(run, 0, "agent"), "\"Desk\""));
}

#[test]
fn states_of_a_graph_repeat_what_its_updates_tell() {
    let human = r#"{"type": "human", "id": "0", "content": "go"}"#;
    let asks = r#"{"type": "ai", "id": "1", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "a"}]}"#;
    let gave =
        r#"{"type": "tool", "id": "2", "content": "seen", "tool_call_id": "a", "name": "look", "status": "success"}"#;
    let done = r#"{"type": "ai", "id": "3", "content": "Done."}"#;
    let stream = |path: &str, more: &str| {
        let values = |all: &[&str]| format!(r#"[{path}"values", {{"messages": [{}]}}]"#, all.join(", "));
        let update = |node: &str, one: &str| format!(r#"[{path}"updates", {{"{node}": {{"messages": [{one}]}}}}]"#);
        let records = [
            values(&[human]),
            update("model", asks),
            values(&[human, asks]),
            update("tools", gave),
            values(&[human, asks, gave]),
            format!(r#"[{path}"custom", {{"at": 1}}]{more}"#),
            update("model", done),
            values(&[human, asks, gave, done]),
        ];
        records.join("\n") + "\n"
    };
    let told = ["message user", "call look", "message assistant"];
    for text in [stream("", ""), stream("[], ", "")] {
        with(&text, |run| {
            assert_eq!((steps(run), run.complete), (told.map(str::to_owned).to_vec(), true));
            assert_eq!((root(run, "turns"), field(run, 1, "result")), ("2".into(), "\"seen\"".into()));
        });
    }
    // Without ids what a state has besides is new.
    let nameless =
        ["0", "1", "2", "3"].iter().fold(stream("", ""), |text, id| text.replace(&format!(r#", "id": "{id}""#), ""));
    with(&nameless, |run| assert_eq!((steps(run), run.complete), (told.map(str::to_owned).to_vec(), true)));
    // Pieces of an answer that no node gave are of a model that a tool asked.
    let piece = |id: &str| {
        format!("\n[\"messages\", [{{\"type\": \"AIMessageChunk\", \"id\": \"{id}\", \"content\": \"D\"}}, {{}}]]")
    };
    with(&stream("", &piece("3")), |run| assert!(run.complete));
    with(&stream("", &piece("9")), |run| assert!(!run.complete));
}
