//! What tests say of values that are missing, unfit or alike: one row per rule and run, with what the reason has to name.

use averment::Rules;

/// A rule, a run, its verdict, and a part of the reason.
pub type Row = (&'static str, &'static str, &'static str, &'static str);

pub fn judge(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (rule, run, verdict, reason) in rows {
        let rules = Rules::from_text("rule.assert", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        let outcome = rules.check_one(*run).unwrap_or_else(|error| panic!("{run}: {error}"));
        let result = outcome.results().next().unwrap_or_else(|| panic!("{rule}: nothing is asserted"));
        if result.verdict().as_str() != *verdict || !result.reason().contains(reason) {
            wrong.push(format!(
                "{rule}\n  on {run}\n  is {} ({}), not {verdict} ({reason})",
                result.verdict().as_str(),
                result.reason()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_recorded_behind_a_star_or_in_a_literal_leaves_a_test_undecided() {
    let call = r#"{"calls": [{"tool": "deploy"}]}"#;
    let answer = r#"{"output": 1, "calls": []}"#;
    judge(&[
        (r#"calls[*].status not contains "failed""#, call, "undecided", ""),
        (r#"calls[*].result not contains "S""#, call, "undecided", ""),
        (r#"distinct(calls[*].status) != ["failed"]"#, call, "undecided", ""),
        ("use std.secrets\nno secrets in calls[*].result", call, "undecided", "calls[*].result"),
        ("use std.secrets\nno secrets in any", call, "undecided", "neither arguments nor a result"),
        ("use std.secrets\nno secrets in { a: prompt }", answer, "undecided", "prompt"),
        (r#"[prompt, output] not contains "x""#, answer, "undecided", ""),
        (r#"[prompt] != ["x"]"#, answer, "undecided", ""),
        (r#"{ a: prompt } != { a: "x" }"#, answer, "undecided", ""),
        ("ungrounded([prompt], calls[*].args) is empty", answer, "undecided", ""),
        ("calls[*].result exists", call, "undecided", ""),
        ("calls[*].result is missing", call, "undecided", ""),
        ("calls[*].result.error is empty", call, "undecided", ""),
        (r#"calls[*].result[*] not contains "x""#, call, "undecided", "does not record all of"),
        ("calls[*].result[*].x is missing", call, "undecided", ""),
        // What is there decides all the same.
        (r#"[prompt, output] contains 1"#, answer, "pass", ""),
        (r#"[prompt, output] == ["x", 2]"#, answer, "fail", ""),
    ]);
}

#[test]
fn what_is_missing_in_a_literal_decides_nothing() {
    let run = r#"{"output": {"a": 1}, "calls": []}"#;
    judge(&[
        (r#"[output.gone, output.a] not contains "x""#, run, "vacuous", ""),
        (r#"[output.gone] != ["x"]"#, run, "vacuous", ""),
        ("ungrounded([output.gone], [1]) is empty", run, "vacuous", ""),
        ("distinct([output.gone, 1]) != [2]", run, "vacuous", ""),
    ]);
}

#[test]
fn unfit_values_are_evidence_of_nothing_and_the_reason_names_them() {
    judge(&[
        (
            "not output.n > 5",
            r#"{"output": {"n": "$250"}}"#,
            "vacuous",
            r#"is "$250": a string and a number have no order"#,
        ),
        ("not output.n > 5", r#"{"output": {"n": true}}"#, "vacuous", "a boolean and a number have no order"),
        (
            r#"not output.n > "5""#,
            r#"{"output": {"n": "25"}}"#,
            "vacuous",
            "a number, date, time or version has no order with another text",
        ),
        (
            "output.n not in 1..5",
            r#"{"output": {"n": "3"}}"#,
            "vacuous",
            "a string is nothing that could be in a range",
        ),
        ("output.n not matches /a/", r#"{"output": {"n": ["a"]}}"#, "vacuous", "a list is no text"),
        (r#"output.n not starts with "a""#, r#"{"output": {"n": {"a": 1}}}"#, "vacuous", "an object is no text"),
        (r#"output.n not ends with "a""#, r#"{"output": {"n": 5}}"#, "vacuous", "a number is no text"),
        (r#"output not contains "a""#, r#"{"output": {"b": 1}}"#, "vacuous", "an object has keys"),
        (r#""a" not in output"#, r#"{"output": {"b": 1}}"#, "pass", ""),
        (
            r#"output not contains "5""#,
            r#"{"output": 5}"#,
            "vacuous",
            "a number is nothing that could contain a string",
        ),
        (r#"output.n != 250"#, r#"{"output": {"n": "250"}}"#, "vacuous", "one is a text, the other a number"),
        (r#"output.n != true"#, r#"{"output": {"n": "True"}}"#, "vacuous", "True"),
        (r#"output.n != "a""#, r#"{"output": {"n": ["a"]}}"#, "vacuous", "a list that holds it"),
        (r#"output.n not in [1, 250]"#, r#"{"output": {"n": "250"}}"#, "vacuous", "250"),
        (
            r#"output.n not contains "rm -rf""#,
            r#"{"output": {"n": ["rm", "-rf", "/"]}}"#,
            "vacuous",
            "the list spells it",
        ),
        (
            "output contains none inputs.words",
            r#"{"output": "buy now", "inputs": {"words": "buy, sell"}}"#,
            "vacuous",
            "lists several",
        ),
        (r#"output.n != "b""#, r#"{"output": {"n": ["a"]}}"#, "pass", ""),
        (
            r#"output contains all inputs.words"#,
            r#"{"output": "a", "inputs": {"words": []}}"#,
            "vacuous",
            "nothing is looked for",
        ),
        (
            r#"output contains none inputs.words"#,
            r#"{"output": "a", "inputs": {"words": []}}"#,
            "vacuous",
            "nothing is looked for",
        ),
    ]);
}

#[test]
fn null_counts_as_missing_where_no_equality_is_asked_for() {
    let null = r#"{"output": {"n": null}}"#;
    let calls = r#"{"calls": [{"tool": "approve", "args": {"id": null}}, {"tool": "refund", "args": {"id": null}}]}"#;
    judge(&[
        ("not output.n > 5", null, "vacuous", ""),
        ("output.n not matches /a/", null, "vacuous", ""),
        (r#"output.n not in ["a"]"#, null, "vacuous", ""),
        ("not output.n", null, "vacuous", ""),
        ("no x in output.n: x == 1", null, "vacuous", ""),
        ("before approve(id: $id) -> refund(id: $id)", calls, "vacuous", ""),
        (r#"output.n != "a""#, null, "pass", ""),
        ("output.n == null", null, "pass", ""),
        ("output.n in [null, 1]", null, "pass", ""),
        ("output.n exists and output.n is null", null, "pass", ""),
    ]);
}

#[test]
fn a_premise_that_holds_nowhere_exercises_nothing() {
    let items = |list: &str| format!(r#"{{"calls": [{list}]}}"#);
    let (a, b) = (r#"{"tool": "a", "args": {"n": 1}}"#, r#"{"tool": "a", "args": {"n": 2, "ok": true}}"#);
    let (none, one) = (items(a), items(&format!("{a}, {b}")));
    let rows: [(&str, &String, &str); 11] = [
        ("all x in calls: x.args.n == 2 implies x.args.ok == true", &none, "vacuous"),
        ("all x in calls: x.args.n == 2 implies x.args.ok == true", &one, "pass"),
        ("each a: args.n == 2 implies args.ok == true", &none, "vacuous"),
        ("each a: args.n == 2 implies args.ok == true", &one, "pass"),
        ("length(calls) == 5 implies output exists", &none, "vacuous"),
        // A definition says the same.
        ("let r = length(calls) == 5 implies output exists\nr", &none, "vacuous"),
        ("let r = length(calls) == 1 implies calls exists\nlet s = r\ns", &none, "pass"),
        ("def r(x) = x.args.n == 2 implies x.args.ok == true\nall x in calls: r(x)", &none, "vacuous"),
        ("def r(x) = x.args.n == 2 implies x.args.ok == true\nall x in calls: r(x)", &one, "pass"),
        ("let r = length(calls) == 5 implies output exists\nr and calls exists", &none, "pass"),
        // Inside of another condition it is `not a or b`.
        ("no x in calls: x.args.n == 2 implies x.args.ok == true", &none, "fail"),
    ];
    for (rule, run, verdict) in rows {
        let outcome = Rules::from_text("rule.assert", rule).unwrap().check_one(run.as_str()).unwrap();
        let result = outcome.results().next().unwrap();
        assert_eq!(result.verdict().as_str(), verdict, "{rule} on {run}: {}", result.reason());
    }
}

#[test]
fn a_quantifier_is_vacuous_when_every_element_is() {
    let mixed = r#"{"calls": [{"tool": "a", "args": {"note": "x"}}, {"tool": "a", "args": {}}]}"#;
    let none = r#"{"calls": [{"tool": "a", "args": {}}, {"tool": "a", "args": {}}]}"#;
    judge(&[
        (r#"all x in calls: x.args.note != "y""#, mixed, "pass", ""),
        (r#"all x in calls: x.args.note != "y""#, none, "vacuous", ""),
        (r#"no x in calls: x.args.note == "y""#, mixed, "pass", ""),
        (r#"no x in calls: x.args.note == "y""#, none, "vacuous", ""),
        (r#"any x in calls: x.args.note != "y""#, none, "vacuous", ""),
    ]);
}

#[test]
fn what_comes_from_a_path_that_leads_nowhere_decides_nothing() {
    let run =
        r#"{"calls": [{"tool": "refund", "args": {"amount": 5000}}], "output": {"errors": ["boom"], "items": [1]}}"#;
    judge(&[
        ("sum(calls[*].args.amout) <= 100", run, "vacuous", "leads nowhere"),
        ("sum(calls[*].args.amout) * 2 + 1 <= 100", run, "vacuous", "leads nowhere"),
        (r#"calls[*].args.emial not contains "x""#, run, "vacuous", "leads nowhere"),
        (r#"calls[*].args.emial contains none ["x"]"#, run, "vacuous", "leads nowhere"),
        ("distinct(calls[*].args.amout) is empty", run, "vacuous", ""),
        ("output.erors is empty", run, "vacuous", "erors"),
        ("output.erors is missing", run, "vacuous", "erors"),
        ("output.erors not exists", run, "vacuous", "erors"),
        (r#"jsonpath(output, "$.itmes[*]") is empty"#, run, "vacuous", ""),
        // Named by the rules themselves, both are meant.
        ("output.erors is empty and output.errors exists", run, "pass", ""),
        ("output.colour is empty", run, "pass", ""),
        (r#"jsonpath(output, "$.errors[?@ == 'x']") is empty"#, run, "pass", ""),
        ("sum(calls[*].args.amount) <= 100", run, "fail", "5000"),
    ]);
}

#[test]
fn texts_that_look_alike_are_no_evidence_that_they_differ() {
    judge(&[
        (r#"output not contains "secret""#, "{\"output\": \"the sec\u{200b}ret\"}", "vacuous", "looks alike"),
        ("output not contains \"caf\u{e9}\"", "{\"output\": \"the cafe\u{301}\"}", "vacuous", "looks alike"),
        (r#"output != "acme""#, "{\"output\": \"\u{430}cme\"}", "vacuous", "look alike"),
        (r#"output not contains "secret""#, "{\"output\": \"nothing caf\u{e9}\"}", "pass", ""),
        (
            r#"never pay(to: "acme")"#,
            "{\"calls\": [{\"tool\": \"pay\", \"args\": {\"to\": \"\u{430}cme\"}}]}",
            "vacuous",
            "",
        ),
    ]);
}

#[test]
fn values_that_differ_by_type_or_writing_alone_are_no_evidence_that_they_do() {
    let run = r#"{"output": {"to": " A@x.com", "one": 1, "yes": "Yes", "mail": {"email": "a@x.com"}, "ids": [{"id": "1"}],
        "tags": ["Bad"], "name": "p\u0430ypal"}, "calls": []}"#;
    judge(&[
        (r#"output.to != "a@x.com""#, run, "vacuous", "only the letter case and white space around it differ"),
        (r#"output.to not in ["a@x.com"]"#, run, "vacuous", "only the letter case and white space around it differ"),
        (r#"output.tags not contains "bad""#, run, "vacuous", "only the letter case differs"),
        (r#"output.to != "b@x.com""#, run, "pass", ""),
        ("output.one != true", run, "vacuous", ""),
        ("output.one != false", run, "pass", ""),
        ("output.yes != true", run, "vacuous", ""),
        (r#"output.mail != "a@x.com""#, run, "vacuous", "an object that holds it is not the value itself"),
        ("output.ids != [{ id: 1 }]", run, "vacuous", ""),
        ("output.ids != [{ id: 2 }]", run, "pass", ""),
        ("output.ids != [{ id: 1, n: 2 }]", run, "pass", ""),
        // A part that is missing stands beside what is no list.
        ("[output.gone] != output.one", run, "pass", ""),
        (r#"output.name not starts with "pay""#, run, "vacuous", "look"),
        (r#"output.name not icontains "PAY""#, run, "vacuous", ""),
        (r#"output.name not starts with "bay""#, run, "pass", ""),
    ]);
}

#[test]
fn integers_are_exact_and_fractions_say_what_was_compared() {
    judge(&[
        (
            "output.b <= output.a + 1",
            r#"{"output": {"a": 9223372036854775807, "b": 9223372036854775809}}"#,
            "fail",
            "9223372036854775809",
        ),
        ("output.b == output.a + 2", r#"{"output": {"a": 9223372036854775807, "b": 9223372036854775809}}"#, "pass", ""),
        (
            "output.a * output.a == 85070591730234615847396907784232501249",
            r#"{"output": {"a": 9223372036854775807}}"#,
            "pass",
            "",
        ),
        ("output.a + 0.2 == 0.3", r#"{"output": {"a": 0.1}}"#, "pass", ""),
        ("sum(output) <= 0.3", r#"{"output": [0.1, 0.2]}"#, "pass", ""),
        ("avg(output) == 0.1", r#"{"output": [0.1, 0.1, 0.1]}"#, "pass", ""),
        (
            "sum(args.amount of pay) <= 0.3",
            r#"{"calls": [{"tool": "pay", "args": {"amount": 0.1}}, {"tool": "pay", "args": {"amount": 0.20}}]}"#,
            "pass",
            "",
        ),
        ("output.a / 3 - 0.33 == output.a / 300", r#"{"output": {"a": 1}}"#, "fail", "was compared with 0.0033"),
        ("output.a / 3 * 3 == output.a", r#"{"output": {"a": 1}}"#, "pass", ""),
    ]);
}

#[test]
fn a_text_mentions_a_value_as_a_whole_token() {
    let of = |result: &str| format!(r#"{{"output": {result}, "calls": []}}"#);
    let rows = [
        (r#"output mentions "o-1""#, r#""orders o-12, o-1.""#, "pass", ""),
        (r#"output mentions "o-1""#, r#""orders o-12""#, "fail", "o-12"),
        (r#"output does not mention "o-1""#, r#""orders o-12""#, "pass", ""),
        (r#"output not mentions "o-1""#, r#""(o-1)""#, "fail", ""),
        (r#"output mentions "o-1""#, r#"{"orders": [{"id": "o-1"}]}"#, "pass", ""),
        (r#"output mentions "o-1""#, r#"{"o-1": null}"#, "fail", ""),
        ("output mentions 250", r#""paid $250.00""#, "pass", ""),
        ("output mentions 250", r#"[2500, "o-250"]"#, "fail", ""),
        (r#"output mentions "250""#, "250", "pass", ""),
        // Unfit values, and what is not there.
        (r#"output not mentions "o-1""#, "true", "vacuous", "a boolean mentions nothing"),
        (r#"output not mentions """#, r#""x""#, "vacuous", ""),
        (r#"output not mentions "o-1""#, "\"\u{43e}-1\"", "vacuous", "looks alike"),
        (r#"output not mentions "o-1""#, "\"\u{43e}-12\"", "pass", ""),
        (r#"output.gone not mentions "o-1""#, "{}", "vacuous", ""),
        (r#"output.a not mentions "o-1""#, r#"{"a": null}"#, "vacuous", ""),
        (r#"[output.gone, output.a] not mentions "o-1""#, r#"{"a": 1}"#, "vacuous", ""),
        (r#"[prompt, output] not mentions "o-1""#, "1", "undecided", ""),
        (r#"[prompt, output] mentions "o-1""#, r#""o-1""#, "pass", ""),
    ];
    let runs: Vec<String> = rows.iter().map(|row| of(row.1)).collect();
    for ((rule, _, verdict, reason), run) in rows.iter().zip(&runs) {
        let rules = Rules::from_text("rule.assert", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        let outcome = rules.check_one(run.as_str()).unwrap_or_else(|error| panic!("{run}: {error}"));
        let result = outcome.results().next().unwrap_or_else(|| panic!("{rule}: nothing is asserted"));
        assert_eq!(result.verdict().as_str(), *verdict, "{rule} on {run}: {}", result.reason());
        assert!(result.reason().contains(reason), "{rule} on {run}: {}", result.reason());
    }
}

#[test]
fn a_quantifier_says_which_elements_it_could_not_judge() {
    let run =
        |calls: &str| format!(r#"{{"output": {{"items": [{{"price": 3}}, {{"prcie": 9}}]}}, "calls": [{calls}]}}"#);
    let (good, bad) = (r#"{"tool": "refund", "args": {"amount": 50}}"#, r#"{"tool": "refund", "args": {"amt": 5000}}"#);
    let mixed = run(&format!(r#"{good}, {bad}, {{"tool": "search", "args": {{}}}}"#));
    let lone = run(&format!(r#"{bad}, {{"tool": "search", "args": {{}}}}"#));
    let other = run(&format!(r#"{good}, {{"tool": "search", "args": {{}}}}"#));
    let of_two = "1 of 2 refunds: no `x.args.amount`";
    let rows: [(&str, &str, &str); 12] = [
        ("no x in calls: x.args.amount > 100", &mixed, of_two),
        ("not (any x in calls: x.args.amount > 100)", &mixed, of_two),
        ("all x in calls: not x.args.amount > 100", &mixed, of_two),
        ("(count x in calls: x.args.amount > 100) == 0", &mixed, of_two),
        ("let big = any x in calls: x.args.amount > 100\nnot big", &mixed, of_two),
        ("none of { any x in calls: x.args.amount > 100 }", &mixed, of_two),
        // The rule has chosen it by its name.
        ("no x in calls: x.tool == \"refund\" and x.args.amount > 100", &lone, "1 of 1 refunds: no `x.args.amount`"),
        ("no x in output.items: x.price > 5", &mixed, "1 of 2 elements: no `x.price`"),
        // The other answer could not hurt.
        ("any x in calls: x.args.amount == 50", &mixed, ""),
        ("(count x in calls: x.args.amount == 50) >= 1", &mixed, ""),
        // That calls of other tools lack the key says nothing.
        ("no x in calls: x.args.amount > 100", &other, ""),
        ("no x in calls: x.tool == \"search\" and x.args.amount > 100", &run(good), ""),
    ];
    for (rule, run, expected) in rows {
        let outcome = Rules::from_text("rule.assert", rule).unwrap().check_one(run).unwrap();
        let result = outcome.results().next().unwrap();
        assert_eq!(result.verdict().as_str(), "pass", "{rule} on {run}: {}", result.reason());
        let said = result
            .unjudged()
            .map(|found| format!("{} of {} {}: {}", found.count, found.of, found.things, found.reason));
        assert_eq!(said.unwrap_or_default(), expected, "{rule} on {run}");
    }
}
