//! `--prices`: computes the cost of runs from their recorded usage and the user's price table.

use crate::folder::Folder;
use serde_json::json;

const TABLE: &str = r#"
["big-*"]
input = 3
output = 15
cache_read = 0.3
cache_write = 3.75

["small-*"]
input = 0.25
output = 1.25

["anthropic/*"]
input = 1
output = 1
"#;

fn chat(model: &str, usage: &serde_json::Value) -> String {
    json!({"model": model, "usage": usage, "tools": [], "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]})
        .to_string()
}

/// Returns the cost of a trace by the price table; `absent` if it is unknown.
fn cost(folder: &Folder, trace: &str) -> String {
    let run = folder.aver(&format!("trace show {trace} --json --prices prices.toml")).out;
    let behind =
        run.split_once("\"cost\":").map(|(_, rest)| rest.split([',', '}']).next().unwrap_or_default().to_owned());
    behind.unwrap_or("absent".to_owned())
}

#[test]
fn cost_follows_from_usage_to_the_last_digit() {
    let folder = Folder::new(&[("prices.toml", TABLE), ("r.assert", "cost <= $0.0045\n")]);
    let cached =
        json!({"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}});
    for (name, text, wanted) in [
        ("chat", chat("big-1", &json!({"prompt_tokens": 1000, "completion_tokens": 100})), "0.0045"),
        ("cached", chat("big-1", &cached), "0.00342"),
        ("tiny", chat("small-1", &json!({"prompt_tokens": 1, "completion_tokens": 1})), "0.0000015"),
        ("slash", chat("anthropic/x/y", &json!({"prompt_tokens": 1, "completion_tokens": 1})), "0.000002"),
        ("unknown", chat("other", &json!({"prompt_tokens": 1, "completion_tokens": 1})), "absent"),
        ("nothing", chat("big-1", &json!({})), "absent"),
        ("unpriced", chat("small-1", &json!({"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}})), "absent"),
        // A recorded cost has precedence.
        ("own", json!({"output": "x", "cost": 7, "usage": {"input_tokens": 1, "output_tokens": 1}, "meta": {"model": "big-1"}}).to_string(), "7"),
        ("native", json!({"output": "x", "usage": {"input_tokens": 2, "output_tokens": 1}, "meta": {"model": "big-1"}}).to_string(), "0.000021"),
        ("nameless", json!({"output": "x", "usage": {"input_tokens": 2, "output_tokens": 1}}).to_string(), "absent"),
    ] {
        folder.write(&format!("{name}.json"), text.as_bytes());
        assert_eq!(cost(&folder, &format!("{name}.json")), wanted, "{name}");
    }
    // Rules see the computed cost. Without a price table, it is missing.
    assert_eq!(folder.aver("check r.assert chat.json --prices prices.toml").code, 0);
    assert_eq!(folder.aver("check r.assert chat.json").code, 1);
    folder.write("less.assert", b"cost < $0.0045\n");
    assert_eq!(folder.aver("check less.assert chat.json --prices prices.toml --format summary").code, 1);
}

#[test]
fn each_request_costs_what_its_model_costs() {
    let answer = |model: &str, id: &str| {
        json!({"type": "assistant", "sessionId": "s", "uuid": id, "message": {"id": id, "model": model, "role": "assistant",
            "content": [{"type": "text", "text": "x"}], "usage": {"input_tokens": 100, "output_tokens": 10}}})
    };
    let session = |models: [&str; 2]| format!("{}\n{}\n", answer(models[0], "a"), answer(models[1], "b"));
    let run = |models: [&str; 2]| {
        json!({"model": models[0], "messages": [], "usage": {}, "meta": {"model": models[1]}}).to_string()
    };
    let folder = Folder::new(&[("prices.toml", TABLE), ("r.json", &run(["a", "b"]))]);
    folder.write("s.jsonl", session(["big-1", "small-1"]).as_bytes());
    assert_eq!(cost(&folder, "s.jsonl"), "0.0004875");
    folder.write("s.jsonl", session(["big-1", "other"]).as_bytes());
    assert_eq!(cost(&folder, "s.jsonl"), "absent");
    // One usage for several models with the same price.
    let gemini = |second: &str| {
        json!({"type": "result", "stats": {"input_tokens": 100, "output_tokens": 10}, "timestamp": "2026-01-01T00:00:02Z"}).to_string()
            + "\n"
            + &json!({"type": "init", "session_id": "s", "model": second, "timestamp": "2026-01-01T00:00:03Z"}).to_string()
    };
    for (second, wanted) in [("big-2", "0.00045"), ("small-1", "absent")] {
        let first = json!({"type": "init", "session_id": "s", "model": "big-1", "timestamp": "2026-01-01T00:00:01Z"});
        folder.write("g.jsonl", format!("{first}\n{}\n", gemini(second)).as_bytes());
        assert_eq!(cost(&folder, "g.jsonl"), wanted, "{second}");
    }
}

#[test]
fn runs_whose_cost_is_not_known_are_counted_with_the_reason() {
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 100});
    let lines = [chat("big-1", &usage), chat("other", &usage), chat("other", &usage), chat("x", &usage)].join("\n");
    let folder = Folder::new(&[
        ("prices.toml", TABLE),
        ("runs.jsonl", &lines),
        ("rules/r.assert", "cost <= $1\n"),
        ("averment.toml", "rules = [\"rules\"]\nprices = \"prices.toml\"\n"),
    ]);
    let said =
        "warning: the cost of 3 runs is not known: the table has no model `other` (2), the table has no model `x` (1)";
    for format in ["human", "summary"] {
        // The project names the price table.
        let ran = folder.aver(&format!("check runs.jsonl --format {format} --allow undecided"));
        assert!(ran.code == 0 && ran.err.contains(said), "{ran:?}");
    }
    let ran = folder.aver("trace stats runs.jsonl --prices prices.toml");
    assert!(ran.err.contains(said), "{ran:?}");
    assert!(ran.out.contains("cost       0.0045 USD (recorded by 1 of 4 runs)"), "{ran:?}");
    assert!(ran.out.contains("1 of these runs by the table of prices"), "{ran:?}");
    let ran = folder.aver("trace show runs.jsonl --run 2 --prices prices.toml");
    assert!(ran.out.contains("cost   not known: the table has no model `other`"), "{ran:?}");
    for (table, said) in [
        ("", "the file is empty"),
        ("[m]\ninput = 1\n", "`m` has no price for `output`"),
        ("[m]\ninput = 1\noutput = 1\noutptu = 1\n", "did you mean `output`"),
    ] {
        folder.write("wrong.toml", table.as_bytes());
        let ran = folder.aver("check rules runs.jsonl --prices wrong.toml");
        assert!(
            ran.code == 2 && ran.err.contains("`wrong.toml` is no table of prices") && ran.err.contains(said),
            "{ran:?}"
        );
    }
}
