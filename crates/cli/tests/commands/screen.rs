//! Reports about many runs: the most important failures on one screen, `--show`, and `--quiet`.

use crate::folder::Folder;
use serde_json::{Value, json};

/// Twelve rules of a typical team.
const RULES: &str = "\
rule answers \"The agent answers\" { output is not empty }
rule polite { output not contains \"apologize\" }
rule short { turns <= 3 }
rule few { length(calls) <= 4 }
rule tokens { usage.total_tokens <= 500 }
rule cheap { cost <= $0.5 }
rule loops { never repeat any more than 2 times }
rule approval { before approve(id: $id) -> refund(id: $id) }
rule limit { severity warn
  each refund: args.amount <= 100 }
rule gone { never drop_table }
rule archive { each archive: args.reason is not empty }
rule ok { all x in calls: x.status != \"failed\" }
";

/// Returns a run. Every third has a refund without approval, every fifth a large one.
fn run(number: usize) -> Value {
    let id = format!("o-{number}");
    let amount = if number.is_multiple_of(5) { 250 } else { 20 };
    let approved = if number.is_multiple_of(3) { "o-0".to_owned() } else { id.clone() };
    let calls = json!([
        {"tool": "approve", "args": {"id": approved}, "status": "ok"},
        {"tool": "refund", "args": {"id": id, "amount": amount}, "status": if number == 7 { "failed" } else { "ok" }},
    ]);
    json!({"id": format!("r-{number}"), "calls": calls, "output": "Done.", "turns": 1, "usage": {"total_tokens": 90}})
}

fn folder(runs: usize) -> Folder {
    let lines: String = (1..=runs).map(|number| format!("{}\n", run(number))).collect();
    Folder::new(&[("rules.assert", RULES), ("runs.jsonl", &lines)])
}

#[test]
fn two_hundred_runs_fit_a_screen_and_the_commonest_failure_stands_first() {
    let ran = folder(200).aver_in("check rules.assert runs.jsonl", "", 120);
    assert_eq!(ran.code, 1);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines.len() <= 40, "{} lines\n{}", lines.len(), ran.out);
    assert!(lines.iter().all(|line| line.chars().count() <= 120), "{}", ran.out);
    let at =
        |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}\n{}", ran.out));
    // Failures that fail runs come first, most frequent first. Warnings come after them, whatever their frequency.
    assert!(at(" 66 of 200 runs  approval.1") < at("1 of 200 runs  ok.1"), "{}", ran.out);
    assert!(at("1 of 200 runs  ok.1") < at("200 of 200 runs  the run does not record `cost`"), "{}", ran.out);
    assert!(at("does not record `cost`") < at("failed, without failing a run"), "{}", ran.out);
    // Each has an example, with the locations in the rule and in the trace.
    assert!(ran.out.contains("--> rules.assert:8:17") && ran.out.contains("--> runs.jsonl:3:"), "{}", ran.out);
    assert!(lines[at("all x in calls: x.status != \"failed\"")].ends_with("rules.assert:13:11"), "{}", ran.out);
    assert!(lines[at("refund(amount: 20, id: \"o-7\")")].ends_with("runs.jsonl:7"), "{}", ran.out);
    assert!(lines[at(" 40 of 200 runs  limit.1: refund at call 2 does not meet")].len() <= 120, "{}", ran.out);
    assert!(ran.out.contains("200 of 200 runs  the run does not record `cost`: cheap.1"), "{}", ran.out);
    // Unexercised assertions share one line.
    assert!(ran.out.contains("never exercised in 200 runs: archive.1\n"), "{}", ran.out);
    assert!(lines.last().unwrap().starts_with("failed in 200 of 200 runs: 107 failed, 200 undecided,"), "{}", ran.out);
    // The reference quotes this screen exactly.
    let page = std::fs::read_to_string(averment_fixtures::project("docs/reference/command-line.md")).unwrap();
    assert!(page.contains(&format!("```text\n{}```\n", ran.out)), "{}", ran.out);
}

#[test]
fn few_runs_are_drawn_one_by_one() {
    let ran = folder(10).aver("check rules.assert runs.jsonl");
    assert_eq!(ran.out.matches("error[approval.1]").count(), 3, "{}", ran.out);
    assert_eq!(ran.out.matches("warning[limit.1]").count(), 2, "{}", ran.out);
    let more = folder(11).aver("check rules.assert runs.jsonl");
    assert!(more.out.contains(" 3 of 11 runs  approval.1"), "{}", more.out);
    // The number of drawn failures is configurable.
    let drawn = folder(11).aver("check rules.assert runs.jsonl --max-failures 2");
    assert_eq!(
        drawn.out.matches("\nerror[").count() + usize::from(drawn.out.starts_with("error[")),
        1,
        "{}",
        drawn.out
    );
    assert_eq!(drawn.out.matches("warning[limit.1]").count(), 1, "{}", drawn.out);
}

#[test]
fn show_picks_sections_and_lists_them_whole() {
    let folder = folder(40);
    let only = folder.aver("check rules.assert runs.jsonl --show undecided,vacuous").out;
    assert!(!only.contains("approval.1") && only.contains("cheap.1"), "{only}");
    assert!(only.contains("40 of 40 runs") && only.contains("archive.1"), "{only}");
    let passed = folder.aver("check rules.assert runs.jsonl --show pass").out;
    assert!(passed.contains("passed\n") && passed.contains("few.1"), "{passed}");
    let wrong = folder.aver("check rules.assert runs.jsonl --show undecide");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("did you mean `undecided`?"), "{}", wrong.err);
}

#[test]
fn quiet_says_nothing_where_nothing_fails() {
    let good = Folder::new(&[
        ("rules.assert", "output is not empty\nnever drop_table\neach archive: args.reason is not empty\n"),
        ("run.json", "{\"output\": \"x\", \"calls\": []}"),
    ]);
    let ran = good.aver("check rules.assert run.json --quiet");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let bad = folder(1).aver("check rules.assert runs.jsonl -q");
    assert!(bad.out.contains("undecided: the run does not record") && !bad.out.contains("vacuous: it"), "{}", bad.out);
    assert!(bad.out.lines().last().unwrap().starts_with("failed: 1 undecided"), "{}", bad.out);
}

#[test]
fn what_is_not_drawn_of_a_single_run_is_named() {
    let rules: String = (1..=14).map(|number| format!("output.n{number} == {number}\n")).collect();
    let output: serde_json::Map<String, Value> = (1..=14).map(|number| (format!("n{number}"), json!(0))).collect();
    let folder = Folder::new(&[("rules.assert", &rules), ("run.json", &json!({ "output": output }).to_string())]);
    let out = folder.aver("check rules.assert run.json").out;
    assert_eq!(out.matches("error[").count(), 10, "{out}");
    assert!(out.contains("failed, too; --max-failures 14 draws all\n"), "{out}");
    assert!((11..=14).all(|number| out.contains(&format!("`output.n{number}` is 0"))), "{out}");
    let all = folder.aver("check rules.assert run.json --max-failures 14").out;
    assert!(all.matches("error[").count() == 14 && !all.contains("failed, too"), "{all}");
}

#[test]
fn what_is_odd_in_many_traces_is_said_once() {
    let lines: String = (0..12)
        .map(|number| format!("{{\"output\": \"x{number}\", \"duration\": 1, \"calls\": [{{\"tool\": \"a\", \"start\": 0, \"end\": 9000}}]}}\n"))
        .collect();
    let folder = Folder::new(&[("rules.assert", "output is not empty\n"), ("runs.jsonl", &lines)]);
    let human = folder.aver("check rules.assert runs.jsonl").out;
    assert_eq!(human.matches("shorter than the time").count(), 1, "{human}");
    assert!(human.contains("odd in the traces\n") && human.contains("12 times"), "{human}");
    let whole = folder.aver("check rules.assert runs.jsonl --show warnings").out;
    assert!(whole.starts_with("odd in the traces\n  12 times"), "{whole}");
}

/// Recorded traces of many systems, duplicated, under twelve general rules.
#[test]
fn two_hundred_real_runs_fit_a_screen() {
    let Some(traces) = averment_fixtures::shared("traces") else { return };
    let rules = "\
use std.secrets
rule answers { output is not empty }
rule polite { output not contains \"I apologize\" }
rule turns { turns <= 30 }
rule calls { length(calls) <= 40 }
rule tokens { usage.total_tokens <= 50000 }
rule cost { cost <= $0.5 }
rule loops { never repeat any more than 3 times }
rule destructive { never Bash(command matches /rm -rf/) }
rule look { before get_reservation_details -> update_* }
rule read { before Read(file_path: $p) -> Edit(file_path: $p) }
rule ok { all x in calls: x.status != \"failed\" }
rule secrets { no secrets in calls[*].args }
";
    let folder = Folder::new(&[("rules.assert", rules)]);
    let mut files = Vec::new();
    for format in std::fs::read_dir(traces).unwrap().map(|entry| entry.unwrap().path()) {
        files.extend(std::fs::read_dir(format).into_iter().flatten().map(|entry| entry.unwrap().path()));
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json" || ending == "jsonl"));
    // Files with expected results are no traces.
    files.retain(|file| !averment_fixtures::name(file).ends_with(".expect.json"));
    files.sort();
    for (number, file) in files.iter().enumerate() {
        for copy in 0..9 {
            let name = format!("runs/{copy}-{number}-{}", averment_fixtures::name(file));
            folder.write(&name, &std::fs::read(file).unwrap());
        }
    }
    let ran = folder.aver_in("check rules.assert runs", "", 120);
    let screen: Vec<&str> = ran.out.lines().collect();
    assert!(screen.len() <= 40 && screen.iter().all(|line| line.chars().count() <= 120), "{}", ran.out);
    let runs: u64 = screen.last().and_then(|line| line.split(' ').nth(4)?.parse().ok()).unwrap_or(0);
    assert!(runs >= 200, "{}", ran.out);
    assert!(screen[0].starts_with("failed, what fails most runs first"), "{}", ran.out);
    assert!(ran.out.contains("rules.assert:12:11") && ran.out.contains("\nodd in the traces"), "{}", ran.out);
}

#[test]
fn the_last_line_and_the_lists_say_what_failed() {
    let good = "{\"output\": \"x\", \"calls\": []}\n".repeat(12);
    let folder = Folder::new(&[
        ("r.assert", "output is not empty\neach archive: args.reason is not empty\n"),
        ("runs.jsonl", &good),
        ("broken.json", "{broken"),
    ]);
    let denied = folder.aver("check r.assert runs.jsonl --deny vacuous");
    assert_eq!(denied.code, 1);
    assert!(denied.out.contains("nothing exercised it, which --deny vacuous makes a failure\n"), "{}", denied.out);
    assert!(denied.out.contains("12 of 12 runs  there is no archive: each archive"), "{}", denied.out);
    let one = folder.aver("check r.assert runs.jsonl --deny vacuous --max-failures 1").out;
    assert!(one.contains("which --deny vacuous makes a failure"), "{one}");
    let broken = folder.aver("check r.assert broken.json").out;
    assert!(broken.ends_with("nothing was judged; 1 trace cannot be read\n"), "{broken}");
}
