//! Why an assertion does not pass, in words: what was missing and why, what came nearest, what was found.

#[path = "common/folder.rs"]
mod folder;

use folder::Folder;

/// A run with a bit of everything.
const RUN: &str = r##"{
  "inputs": { "ref": "the cat sat", "limit": 0 },
  "output": {
    "status": "refunded", "message": "Your refund is done", "n": 5, "list": [1, 2, 3], "ids": ["o-1", "O-2"], "text": "{\"a\": [1, 2]}",
    "prose": "The answer is long enough that nobody sees its end in a report, so here is an object {\"a\": 1} and at last it says Goodbye friend"
  },
  "calls": [{ "tool": "refund", "args": { "id": "o-1", "amount": 250 }, "result": { "ok": true } }],
  "files": { "out/report.md": "# Report" },
  "tools": ["get_order", "refund"]
}"##;

/// The reason of a rule that does not pass on the run.
#[track_caller]
fn reason(rules: &str) -> String {
    let folder = Folder::new(&[("rules.assert", rules), ("run.json", RUN)]);
    let ran = folder.aver("check rules.assert run.json --format json");
    let report = ran.json();
    let result = &report["runs"][0]["results"][0];
    assert_ne!(result["verdict"], "pass", "{rules}: {ran:?}");
    result["reason"].as_str().unwrap_or_else(|| panic!("{rules}: {ran:?}")).to_owned()
}

#[track_caller]
fn says(rule: &str, words: &str) {
    assert_eq!(reason(rule), words, "{rule}");
}

/// What the compiler says, on one line.
#[track_caller]
fn told(rules: &str) -> String {
    let folder = Folder::new(&[("rules.assert", rules)]);
    folder.aver("lint rules.assert --format short").out
}

#[test]
fn a_missing_value_is_followed_to_where_it_came_to_be_missing() {
    says("length(output.statsu) == 3", "`output.statsu` is missing (there is `status`)");
    says("length(output.nope) != 3", "it holds only because `output.nope` is missing");
    says("output.nope.deeper == 1", "`output.nope.deeper` is missing");
    says("grounded(output.nope, calls[*].result)", "`output.nope` is missing");
    says("let x = output.statsu\nx == 3", "`x` is missing: there is no `output.statsu` (there is `status`)");
    says("output.n + output.nope == 3", "`output.nope` is missing");
    says("output.nope == length(output.gone)", "`output.nope` is missing and `output.gone` is missing");
}

#[test]
fn a_function_without_a_result_says_which_argument_it_could_not_use() {
    says("json(output.message).a == 2", "`output.message` is not JSON from character 1 on");
    says("sum(output.ids) == 3", r#"`output.ids` holds "o-1", no number"#);
    says("max(calls[*].args.nope) == 1", "`calls[*].args.nope` is empty");
    says("lower(output.list) == \"a\"", "`output.list` is a list, and `lower` takes a string");
}

#[test]
fn arithmetic_without_a_result_says_why() {
    says("output.n / inputs.limit == 1", "`inputs.limit` is 0, and nothing is divided by it");
    says("output.n + output.status == 1", r#"`output.status` is "refunded", no number"#);
}

#[test]
fn what_came_nearest_to_a_test_is_said() {
    says("output.list contains all [1, 7, 8]", "`output.list` is [1,2,3]: it lacks 7, 8");
    says("output.list contains none [2, 9]", "`output.list` is [1,2,3]: it holds 2");
    says(
        "output.message ends with \"Done\"",
        r#"`output.message` is "Your refund is done": only the letter case differs"#,
    );
    says(
        "output.message contains \"REFUND\"",
        r#"`output.message` is "Your refund is done": it stands there in another letter case"#,
    );
    says(
        "output.message == \"your refund is DONE\"",
        r#"`output.message` is "Your refund is done": only the letter case differs"#,
    );
    says(
        "output.message == \"Your  refund is done \"",
        r#"`output.message` is "Your refund is done": only white space differs"#,
    );
    says("output.n == \"5\"", "`output.n` is 5: one is a text, the other a number");
    says(
        "output.ids contains \"o-2\"",
        r#"`output.ids` is ["o-1","O-2"]: for one element only the letter case differs"#,
    );
    says(
        "output.status in [\"Refunded\", \"open\"]",
        "`output.status` is \"refunded\": for one element only the letter case differs",
    );
    assert!(reason("output.prose does not contain \"last\"").ends_with("…: it stands at character 102"));
    assert!(reason("output.prose not matches /good\\w+/i").ends_with("…: it stands at character 115"));
    assert!(
        reason("output.prose ends with \"bye\"")
            .ends_with(r#"it ends with …"\": 1} and at last it says Goodbye friend""#)
    );
}

#[test]
fn json_that_does_not_fit_says_where() {
    says("output.message is json", r#"`output.message` is "Your refund is done": it is not JSON from character 1 on"#);
    let schema = "schema S = { type: \"object\", required: [\"b\"] }\n";
    says(
        &format!("{schema}output.text contains json S"),
        "`output.text` holds no JSON that fits `S`; that at character 1 does not: \"b\" is a required property (by rules.assert:1)",
    );
    says(
        &format!("{schema}output.message contains json S"),
        "`output.message` does not fit `S`: there is no JSON in the text",
    );
}

#[test]
fn a_kind_that_is_not_recorded_beside_calls_of_that_name_says_what_to_write() {
    const TOOLS: &str =
        r#"{ "calls": [{ "tool": "read", "args": { "path": "a" } }, { "tool": "edit", "args": { "path": "a" } }] }"#;
    let says = |rule: &str, words: &str| {
        let folder = Folder::new(&[("rules.assert", rule), ("run.json", TOOLS)]);
        let report = folder.aver("check rules.assert run.json --format json").json();
        let result = &report["runs"][0]["results"][0];
        assert_eq!((&result["verdict"], &result["reason"]), (&"undecided".into(), &words.into()), "{rule}");
    };
    let tool = "the run does not record `reads`; for the tool write `\"read\"`";
    says("before read(path: $p) -> edit(path: $p)", tool);
    says("count read <= 3", tool);
    says("never (edit | read)", tool);
    says("never write \"src/**\"", "the run does not record `writes`");
    let folder = Folder::new(&[("rules.assert", "before \"read\"(path: $p) -> edit(path: $p)"), ("run.json", TOOLS)]);
    assert_eq!(folder.aver("check rules.assert run.json").code, 0);
}

#[test]
fn checks_of_the_world_say_what_the_run_records() {
    says("file \"out/other.md\" exists", "the run records no file `out/other.md`");
    says(
        "file \"out/report.md\" contains \"Summary\"",
        "the text of the file `out/report.md`, 8 bytes, does not meet `contains \"Summary\"`",
    );
    says("tool exec is available", "the tool `exec` is not available: the run had `get_order`, `refund`");
}

#[test]
fn what_a_detector_of_the_standard_set_found_has_a_kind() {
    let token = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";
    let run = format!(r#"{{"output": "use {token} and bob@corp.io"}}"#);
    let folder = Folder::new(&[
        ("rules.assert", "use std.secrets\nuse std.pii\nno secrets in output\nno pii in output\n"),
        ("run.json", &run),
    ]);
    let out = folder.aver("check rules.assert run.json").out;
    assert!(out.contains("`secrets` finds github-token at `/output`, in a text of 60 characters"), "{out}");
    assert!(out.contains("`pii` finds email at `/output`"), "{out}");
    assert!(out.contains("--> run.json:1:12") && !out.contains("1a2B3c"), "{out}");
}

#[test]
fn a_message_behind_each_and_no_speaks_of_the_step_that_does_not_hold() {
    let folder = Folder::new(&[
        (
            "rules.assert",
            "each refund: args.amount <= 100 message \"${tool} pays ${args.amount} for ${run.output.status}\"\n\
             no refund: args.amount > 200 message \"${args.id} is too much, not ${args.note}\"\n",
        ),
        ("run.json", RUN),
    ]);
    let report = folder.aver("check rules.assert run.json --format json").json();
    let results = &report["runs"][0]["results"];
    assert_eq!(results[0]["message"], "refund pays 250 for refunded");
    assert_eq!(results[1]["message"], "o-1 is too much, not missing");
    let said = told(
        "some refund: args.amount <= 100 message \"${args.amount}\"\neach refund {\n  args.x == 1 message \"${tool}\"\n}",
    );
    assert_eq!(said.matches("belongs to a step, and this message speaks of the whole run").count(), 2, "{said}");
}

#[test]
fn common_slips_are_told_with_what_to_write() {
    let cases = [
        ("5 < output.n < 7", "join two tests with `and`: `5 < output.n and output.n < 7`"),
        ("any output.list > 2", "write `any x in output.list: x > 2`"),
        ("all output.items.ok == true", "write `all x in output.items.ok: x == true`"),
        ("refund(amount > 3)", "that the tool is called is said with `require refund(amount > 3)`"),
        ("percentile(output.list, 95) < 2", "write `95%`"),
        ("output.message starts with /your|my/i", "write `output.message matches /^(?:your|my)/i`"),
        ("output.message not ends with /done/", "write `output.message not matches /done$/`"),
        ("output.list[0..1] == [1]", "write `output.list[0]` for one element, `output.list[*]` for every element"),
    ];
    for (rules, help) in cases {
        let said = told(rules);
        assert!(said.contains(help), "{rules}: {said}");
        assert_eq!(said.matches(": error[").count(), 1, "one slip, one message: {said}");
    }
    let long = format!("{{ \"a\": \"{}\" }}", "word ".repeat(100));
    assert!(told(&long).len() < 200, "a proposal is not longer than a line: {}", told(&long));
}

#[test]
fn a_trace_in_place_of_rules_is_recognised() {
    let folder = Folder::new(&[("run.json", RUN)]);
    for command in ["lint run.json", "test run.json", "repl run.json", "compile run.json", "fmt run.json"] {
        let ran = folder.aver(command);
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, 2, "{command}: {ran:?}");
        assert!(said.contains("`run.json` is a trace, and rules are expected here"), "{command}: {said}");
        assert_eq!(folder.read("run.json"), RUN, "{command} leaves it as it is");
    }
}

#[test]
fn every_word_of_the_language_has_a_page() {
    let folder = Folder::new(&[]);
    for (word, part) in [
        ("before", "before (statement)"),
        ("weight", "weight (modifier)"),
        ("contains", "contains (test)"),
        ("vacuous", "nothing exercised it"),
        ("web_tokens", "Whether a value holds a JSON Web Token"),
        ("force_push", "A push that overwrites"),
    ] {
        let ran = folder.aver(&format!("docs {word}"));
        assert!(ran.code == 0 && ran.out.contains(part), "{word}: {ran:?}");
    }
    assert!(folder.aver("explain vacuous").out.contains("nothing exercised it"));
    assert!(folder.aver("docs befroe").err.contains("did you mean `before`?"));
}
