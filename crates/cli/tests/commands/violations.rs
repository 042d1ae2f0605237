//! A failure lists each violating step: the first ones are drawn, the rest counted, and all are in machine-readable reports.

use crate::folder::Folder;
use serde_json::{Value, json};

/// Creates rules, and a run with a question and this number of refunds.
fn folder(rules: &str, refunds: usize) -> Folder {
    let refund =
        |number: usize| json!({"tool": "refund", "args": {"id": format!("o-{number}"), "amount": 100 + number}});
    let calls: Vec<Value> = (0..refunds).map(refund).collect();
    let steps: Vec<Value> = std::iter::once(json!({"kind": "message", "role": "user", "text": "hi"}))
        .chain(calls.into_iter().map(|mut call| {
            call["kind"] = json!("call");
            call
        }))
        .collect();
    let run = json!({"steps": steps, "output": "done"}).to_string();
    Folder::new(&[("rules.assert", rules), ("run.json", &run)])
}

fn data(folder: &Folder, options: &str) -> Value {
    let ran = folder.aver(&format!("check rules.assert run.json --format json {options}"));
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn the_first_violations_are_drawn_and_the_others_counted() {
    let folder = folder("each refund: args.amount < 100\n", 23);
    let short = folder.aver("check rules.assert run.json --format short").out;
    assert_eq!(short.lines().count(), 4, "{short}");
    assert!(short.contains("refund at step 4, call 3 does not meet"), "{short}");
    assert!(short.ends_with("23 violations; 3 shown, `--all-violations` shows all\n"), "{short}");
    let human = folder.aver("check rules.assert run.json").out;
    assert!(human.contains("refund(amount: 102, id: \"o-2\")") && !human.contains("\"o-3\""), "{human}");
    assert!(human.contains("= 23 violations; 3 shown, `--all-violations` shows all"), "{human}");
    let all = folder.aver("check rules.assert run.json --all-violations").out;
    assert!(all.contains("refund(amount: 122, id: \"o-22\")") && !all.contains("violations;"), "{all}");
    let lines = folder.aver("check rules.assert run.json --format short --all-violations").out;
    assert_eq!(lines.lines().count(), 23, "{lines}");
}

#[test]
fn data_have_all_violations_up_to_a_hundred_and_count_the_rest() {
    let folder = folder("never refund\n", 130);
    let violations = |options: &str| data(&folder, options)["runs"][0]["results"][0]["violations"].clone();
    let listed = violations("");
    assert_eq!((&listed["count"], &listed["truncated"]), (&json!(130), &json!(true)));
    let list = listed["list"].as_array().unwrap();
    assert_eq!(list.len(), 100);
    // The first step is the message.
    assert!((2..).zip(list).all(|(step, one)| one["step"] == json!(step)), "{list:?}");
    assert!(list[7]["reason"].as_str().unwrap().contains("refund at step 9, call 8"), "{}", list[7]);
    assert_eq!(list[7]["evidence"][0]["path"], "/calls/7");
    assert_eq!(list[7]["source"], list[7]["evidence"][0]["source"]);
    let all = violations("--all-violations");
    assert_eq!((all["list"].as_array().unwrap().len(), &all["truncated"]), (130, &json!(false)));
    let lines = folder.aver("check rules.assert run.json --format jsonl").out;
    let run: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(run["findings"][0]["violations"], listed);
}

#[test]
fn one_violation_is_a_list_of_one_and_what_holds_has_none() {
    let folder = folder("never refund\nrequire refund\nrequire approve\n", 1);
    let results = data(&folder, "")["runs"][0]["results"].clone();
    assert_eq!(results[0]["violations"]["count"], 1);
    assert_eq!(results[0]["violations"]["list"][0]["reason"], results[0]["reason"]);
    assert_eq!(results[0]["violations"]["list"][0]["evidence"], results[0]["evidence"]);
    assert_eq!(results[1]["violations"], Value::Null);
    assert_eq!(results[2]["violations"]["list"][0]["step"], Value::Null);
}

/// `never A, B between …` is violated only in windows that close, not in ones that are still open.
#[test]
fn what_stands_in_a_window_that_never_closes_is_no_violation_of_another_one() {
    let run = |complete: bool| {
        let calls: Vec<Value> =
            ["open", "edit", "close", "open", "drop"].iter().map(|tool| json!({ "tool": tool })).collect();
        json!({ "calls": calls, "complete": complete }).to_string()
    };
    for complete in [true, false] {
        let rules = "never drop, edit between open and close\n";
        let folder = Folder::new(&[("rules.assert", rules), ("run.json", &run(complete))]);
        for options in ["", "--profile"] {
            let violations = data(&folder, options)["runs"][0]["results"][0]["violations"].clone();
            assert_eq!(violations["count"], 1, "{complete} {options}: {violations}");
            assert_eq!(violations["list"][0]["evidence"][0]["path"], "/calls/1", "{violations}");
        }
    }
}

/// Returns the width of a text on a terminal, as far as this test needs it.
fn columns(text: &str) -> usize {
    text.chars()
        .map(|c| {
            if c == '\u{301}' {
                0
            } else if ('\u{4e00}'..='\u{9fff}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}

#[test]
fn carets_stand_under_the_assertion_in_lines_of_any_width_and_writing() {
    let long = "long ".repeat(30);
    for lead in ["", "全部全部", "e\u{301}e\u{301}", long.as_str()] {
        let rules = format!("rule a \"{}\" {{ never refund }}\n", lead.trim());
        let human = folder(&rules, 2).aver("check rules.assert run.json").out;
        let lines: Vec<&str> = human.lines().collect();
        let at = lines.iter().position(|line| line.starts_with("1 | ") && line.contains("never refund")).expect(&human);
        let (shown, carets) = (lines[at], lines[at + 1]);
        let start = columns(&shown[..shown.find("never refund").unwrap()]);
        assert_eq!(columns(&carets[..carets.find('^').unwrap()]), start, "{human}");
        assert!(columns(shown) <= 100, "{human}");
    }
}
