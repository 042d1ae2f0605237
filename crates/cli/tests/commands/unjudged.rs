//! One good step must not hide a bad one: a pass lists the steps that it could not judge.

use crate::folder::Folder;

const GOOD: &str = r#"{"tool": "refund", "args": {"id": 1, "amount": 50}}"#;
const BAD: &str = r#"{"tool": "refund", "args": {"id": 2, "amt": 5000}}"#;

fn run(calls: &[&str]) -> String {
    format!("{{\"calls\": [{}]}}", calls.join(", "))
}

/// Returns the note about a rule on a run with two refunds: one with an amount and one without.
#[track_caller]
fn said(rules: &str) -> Option<String> {
    let folder = Folder::new(&[("rules.assert", rules), ("run.json", &run(&[GOOD, BAD]))]);
    let ran = folder.aver("check rules.assert run.json --format json");
    let report = ran.json();
    let result = &report["runs"][0]["results"][0];
    assert_eq!(result["verdict"], "pass", "{rules}: {ran:?}");
    let one = result["unjudged"].as_object()?;
    let word = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
    Some(format!("{} of {} {}: {}", one["count"], one["of"], word("things"), word("reason")))
}

#[test]
fn a_pass_says_how_many_steps_it_could_not_judge_and_why() {
    let no_amount = Some("1 of 2 refunds: no `amount`".to_owned());
    assert_eq!(said("never refund(amount > 100)"), no_amount);
    assert_eq!(said("count refund(amount > 100) <= 0"), no_amount);
    assert_eq!(said("not require refund(amount > 100)"), no_amount);
    assert_eq!(said("none of { require refund(amount > 100) }"), no_amount);
    assert_eq!(said("all of { never refund(amount > 100); count refund(amount > 200) <= 1 }"), no_amount);
    assert_eq!(said("each refund: not args.amount > 100"), Some("1 of 2 refunds: no `args.amount`".to_owned()));
    assert_eq!(said("no refund: args.amount > 100"), Some("1 of 2 refunds: no `args.amount`".to_owned()));
}

#[test]
fn what_a_missing_value_cannot_hide_is_not_counted() {
    assert_eq!(said("require refund(amount < 100)"), None);
    assert_eq!(said("never refund(id > 100)"), None);
    assert_eq!(said("some refund: args.amount < 100"), None);
    let optional =
        "tool refund { type: \"object\", properties: { id: { type: \"number\" }, amount: { type: \"number\" } } }\n";
    assert_eq!(said(&format!("{optional}never refund(amount > 100)")), None);
    let required = optional.replace("} }\n", "}, required: [\"amount\"] }\n");
    let told = said(&format!("{required}never refund(amount > 100)"));
    assert_eq!(told.as_deref(), Some("1 of 2 refunds: no `amount`"));
}

/// A step without an amount is listed only if some amount could make the statement fail.
#[test]
fn steps_whose_other_answer_could_not_have_hurt_are_not_counted() {
    assert_eq!(said("first refund(amount < 100)"), None);
    assert_eq!(said("count refund(amount < 100) >= 1"), None);
    assert_eq!(said("count refund(not amount > 100) >= 1"), None);
    assert_eq!(said("if refund(amount < 100) then refund"), None);
    assert_eq!(said("if refund then refund(not amount > 100)"), None);
    assert_eq!(said("never refund(id: 1) after refund(not amount > 100)"), None);
    assert_eq!(said("count refund(amount > 100) <= 1"), None);
    let no_amount = Some("1 of 2 refunds: no `amount`".to_owned());
    assert_eq!(said("count refund(not amount > 100) >= 2"), no_amount);
    assert_eq!(said("if refund then refund(id: 2, not amount > 100)"), no_amount);
}

#[test]
fn blocks_count_each_step_once() {
    let rules = "each refund { never refund(amount > 100) }";
    assert_eq!(said(rules).as_deref(), Some("1 of 2 refunds: no `amount`"));
}

/// Creates three runs: one with one unjudged refund, one with none, one with two.
fn three() -> Folder {
    let lines = [run(&[GOOD, BAD]), run(&[GOOD]), run(&[BAD, GOOD, BAD])].join("\n");
    Folder::new(&[("rules.assert", "never refund(amount > 100)\n"), ("runs.jsonl", &lines)])
}

#[test]
fn the_runs_of_a_check_are_summed_up_in_one_line() {
    let folder = three();
    for format in ["human", "summary"] {
        let out = folder.aver(&format!("check rules.assert runs.jsonl --format {format}")).out;
        let told = "3 of 5 refunds in 2 runs could not be judged: no `amount`";
        assert_eq!(out.matches(told).count(), 1, "{format}: {out}");
        assert_eq!(out.matches("could not be judged").count(), 1, "{format}: {out}");
    }
    let lines = folder.aver("check rules.assert runs.jsonl --format jsonl").out;
    let counts = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["unjudged"][0]["count"].as_u64();
    assert_eq!(lines.lines().skip(1).take(3).map(counts).collect::<Vec<_>>(), [Some(1), None, Some(2)], "{lines}");
}

#[test]
fn every_way_of_reading_says_the_same() {
    let folder = three();
    for format in ["human", "summary", "json", "jsonl", "short"] {
        let plain = folder.aver(&format!("check rules.assert runs.jsonl --format {format}")).out;
        for way in ["--strict", "--threads 1", "--threads 2 --chunk 1KiB"] {
            let other = folder.aver(&format!("check rules.assert runs.jsonl --format {format} {way}")).out;
            assert_eq!(plain, other, "{format} {way}");
        }
    }
}

#[test]
fn deny_unjudged_lets_it_fail() {
    let folder = three();
    for format in ["human", "summary", "json", "jsonl", "short"] {
        assert_eq!(folder.aver(&format!("check rules.assert runs.jsonl --format {format}")).code, 0, "{format}");
        let denied = folder.aver(&format!("check rules.assert runs.jsonl --deny unjudged --format {format}"));
        assert_eq!(denied.code, 1, "{format}: {denied:?}");
    }
    let project = "rules = [\"rules.assert\"]\ntraces = [\"runs.jsonl\"]\ndeny = [\"unjudged\"]\n";
    let folder = Folder::new(&[
        ("averment.toml", project),
        ("rules.assert", "never refund(amount > 100)\n"),
        ("runs.jsonl", &run(&[GOOD, BAD])),
    ]);
    let ran = folder.aver("check");
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn where_it_fails_a_run_every_format_says_so() {
    let folder = three();
    let deny = |format: &str| folder.aver(&format!("check rules.assert runs.jsonl --deny unjudged --format {format}"));
    let short = deny("short");
    assert_eq!((short.code, short.out.lines().count()), (1, 2), "{short:?}");
    assert!(short.out.starts_with("rules.assert:1:1: error[rules:"), "{}", short.out);
    assert!(
        short.out.contains("pass in runs.jsonl:1: 1 of 2 refunds could not be judged: no `amount`\n"),
        "{}",
        short.out
    );
    for format in ["human", "summary"] {
        let out = deny(format).out;
        assert!(out.contains("did not judge every step, which --deny unjudged makes a failure"), "{out}");
    }
    let allowed = folder.aver("check rules.assert runs.jsonl --format short");
    assert_eq!((allowed.code, allowed.out.as_str()), (0, ""));
}

/// A list that was made without some missing values is noted, if the verdict may depend on them.
#[test]
fn what_a_list_was_made_without_is_said() {
    let of_calls = [
        "sum(calls[*].args.amount) <= 100",
        "max(calls[*].args.amount) < 100",
        "not avg(calls[*].args.amount) > 100",
        "sum(args.amount of refund) <= 100",
        "all a in calls[*].args.amount: a < 100",
        "(count c in calls: c.args.amount > 100) == 0",
        "length(calls where args.amount > 100) == 0",
        "no c in calls: c.args.amount > 100",
        "calls[*].args.amount not contains 5000",
    ];
    for rule in of_calls {
        let told = said(rule).unwrap_or_default();
        assert!(told.starts_with("1 of 2 refunds: "), "{rule}: {told}");
    }
    assert_eq!(said("calls[*].args.amount contains 50"), None);
    assert_eq!(said("length(calls[*].args.id) == 2"), None);
    assert_eq!(said("sum(calls[*].args.amt) <= 5000 or sum(calls[*].args.id) == 3"), None);
    let of_lists = [
        "sum(output.items[*].price) <= 100",
        "median(output.items[*].price) <= 100",
        "no x in output.items: x.price > 100",
        "(count x in output.items: x.price > 100) == 0",
        "length(output.items where price > 100) == 0",
        "output.items[*].price not contains 500",
    ];
    for (second, whole) in [("{\"prise\": 500}", of_lists.len()), ("{\"price\": \"500\"}", 5)] {
        let run = format!("{{\"output\": {{\"items\": [{{\"price\": 3}}, {second}]}}}}");
        for rule in of_lists.iter().take(whole).filter(|rule| whole == of_lists.len() || !rule.contains("[*]")) {
            let folder = Folder::new(&[("rules.assert", rule), ("run.json", &run)]);
            let ran = folder.aver("check rules.assert run.json --deny unjudged");
            assert!(ran.out.contains("1 of 2 elements could not be judged"), "{rule} {second}: {ran:?}");
            assert_eq!(ran.code, 1, "{rule} {second}: {ran:?}");
        }
    }
}
