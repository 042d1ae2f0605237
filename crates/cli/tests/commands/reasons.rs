//! The reasons of assertions that do not pass: missing values and causes, the nearest miss, the values that were found.

use crate::folder::Folder;

/// A run with many kinds of values.
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

/// Returns the reason of a rule that does not pass on the run.
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

/// Returns the compiler's messages, one per line.
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
    says("never write \"src/**\"", "the run does not record `writes`, in which `write \"src/**\"` is looked for");
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
    assert_eq!(said.matches("belongs to a step, and this message is about the whole run").count(), 2, "{said}");
}

#[test]
fn common_slips_are_told_with_what_to_write() {
    let cases = [
        ("5 < output.n < 7", "write `5 < output.n and output.n < 7`"),
        ("any output.list > 2", "write `any x in output.list: x > 2`"),
        ("all output.items.ok == true", "write `all x in output.items.ok: x == true`"),
        ("output.a == \"x\" or \"y\"", "write `output.a in [\"x\", \"y\"]`"),
        ("output not contains \"x\" or \"y\"", "write `output not contains any [\"x\", \"y\"]`"),
        ("require refund(currency: \"EUR\" or \"USD\")", "write `[\"EUR\", \"USD\"]`"),
        ("calls.count <= 3", "write `length(calls)`"),
        ("no delete_*: args.force is true", "write `no delete_*: args.force == true`"),
        ("any of { search; never fetch }", "write `require search` for"),
        ("refund(amount > 3)", "write `require refund(amount > 3)`"),
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
    let readings = [
        ("count calls <= 10", "`calls` is the name of a tool here; calls of any tool are `any`"),
        ("never failed", "calls that failed are `any failed`"),
        ("require usr", "nearly the kind of step `user`"),
        ("never commands", "write `command` for the kind, or quote the name of the tool: `\"commands\"`"),
        ("before approve(id: id) -> refund", "for a value that the steps share"),
        ("let id = 3\nrequire refund(id: id)", "give what is declared as `id` another name"),
        ("require refund(amount: 1-100)", "write `1..100` for a range"),
    ];
    for (rules, words) in readings {
        let said = told(rules);
        assert!(said.contains(": warning[") && said.contains(words), "{rules}: {said}");
    }
    for fine in [
        "never head, kill, scan, use",
        "never \"commands\"",
        "tool commands {}\nnever commands",
        "let wanted = 3\nrequire refund(id: wanted)",
    ] {
        assert_eq!(told(fine), "", "{fine}");
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

/// Returns the reason of a rule on a run, and its nearest misses.
#[track_caller]
fn of(rule: &str, run: &str) -> (String, Vec<String>) {
    let folder = Folder::new(&[("rules.assert", rule), ("run.json", run)]);
    let ran = folder.aver("check rules.assert run.json --format json");
    let report = ran.json();
    let result = &report["runs"][0]["results"][0];
    let evidence = result["evidence"].as_array().unwrap_or_else(|| panic!("{rule}: {ran:?}"));
    let near = evidence.iter().filter(|one| one["role"] == "near-miss").map(|one| one["label"].as_str().unwrap());
    (result["reason"].as_str().unwrap().to_owned(), near.map(str::to_owned).collect())
}

/// Asserts the nearest misses.
#[track_caller]
fn near(rule: &str, run: &str, words: &[&str]) {
    assert_eq!(of(rule, run).1, words, "{rule} on {run}");
}

/// Asserts the reason.
#[track_caller]
fn why(rule: &str, run: &str, words: &str) {
    assert_eq!(of(rule, run).0, words, "{rule} on {run}");
}

#[test]
fn a_step_that_comes_on_the_wrong_side_is_the_nearest() {
    let run = r#"{"calls": [{"tool": "x"}, {"tool": "save", "args": {"id": "1"}}, {"tool": "approve", "args": {"id": "1"}}]}"#;
    near("before approve -> save", run, &["approve at call 3 comes only after save at call 2"]);
    near("before approve(id: $i) -> save(id: $i)", run, &["approve at call 3 comes only after save at call 2"]);
    near("after approve -> save", run, &["save at call 2 comes before approve at call 3"]);
    near("sequence x -> approve -> save", run, &["save at call 2 comes before approve at call 3"]);
    let other = r#"{"calls": [{"tool": "approve", "args": {"id": "2"}}, {"tool": "save", "args": {"id": "1"}}, {"tool": "approve", "args": {"id": "3"}}]}"#;
    near("before approve(id: $i) -> save(id: $i)", other, &["approve at call 1 has id \"2\""]);
    let listed = r#"{"calls": [{"tool": "delete", "args": {"id": "o-3"}}, {"tool": "list", "result": ["o-1"]}, {"tool": "list", "result": ["o-3"]}]}"#;
    near(
        "before list(result contains $id) -> delete(id: $id)",
        listed,
        &["list at call 3 comes only after delete at call 1"],
    );
}

#[test]
fn a_step_that_was_denied_or_failed_says_so() {
    let run = r#"{"calls": [{"tool": "approve", "status": "denied"}, {"tool": "ask", "status": "pending"}, {"tool": "look", "error": "no"}, {"tool": "save"}]}"#;
    near("before approve -> save", run, &["proposed approve at call 1 does not fit: it was denied"]);
    near("before ask -> save", run, &["proposed ask at call 2 does not fit: it is still pending"]);
    near("before look ok -> save", run, &["look at call 3 does not fit: it failed"]);
    near("before proposed look -> save", run, &["look at call 3 does not fit: it was executed"]);
}

#[test]
fn a_value_that_only_looks_different_is_the_nearest() {
    let run = r#"{"calls": [{"tool": "get", "args": {"id": 1, "path": "src/a.rs"}}, {"tool": "get", "args": {"id": 7, "path": "src/b.rs"}},
        {"tool": "put", "args": {"id": "1", "path": "./src/a.rs"}}]}"#;
    near("before get(id: $i) -> put(id: $i)", run, &["get at call 1 has id 1 (one is a text, the other a number)"]);
    near(
        "before get(path: $p) -> put(path: $p)",
        run,
        &["get at call 1 has path \"src/a.rs\" (it is the same path, written otherwise)"],
    );
    near(
        "require put(path: \"src//x/../a.rs\")",
        run,
        &["put at call 3 does not fit: `path` is \"./src/a.rs\": it is the same path, written otherwise"],
    );
    near("require put(path: \"/src/a.rs\")", run, &["put at call 3 does not fit: `path` is \"./src/a.rs\""]);
}

#[test]
fn a_name_that_the_run_has_nearly_is_said() {
    let run = r#"{"calls": [{"tool": "search_docs", "turn": 1}, {"tool": "mcp__files__save", "turn": 2}, {"tool": "lock", "turn": 3}]}"#;
    let docs = ["the run has no `serch_docs`, but calls of `search_docs`"];
    near("require serch_docs", run, &docs);
    near("before serch_docs -> lock", run, &docs);
    near("after lock -> serch_docs", run, &docs);
    near("sequence serch_docs -> lock", run, &docs);
    near("count serch_docs >= 1", run, &docs);
    near("some serch_docs: args exists", run, &docs);
    near("together serch_docs, lock", run, &docs);
    near("if lock then serch_docs", run, &docs);
    near("require Search_Docs", run, &["the run has no `Search_Docs`, but calls of `search_docs`"]);
    near("require save", run, &["the run has no `save`, but calls of `mcp__files__save`"]);
    near("require unlock", run, &[]);
    near("after lock -> unlock", run, &[]);
    near("require get_order", run, &[]);
    let folder = Folder::new(&[("rules.assert", "flow serch_docs -> any -> lock\n"), ("run.json", run)]);
    let out = folder.aver("check rules.assert run.json").out;
    assert!(out.contains("search_docs at call 1 leaves the flow, which goes on here with serch_docs"), "{out}");
    assert!(out.contains("`search_docs` is nearly the name `serch_docs`"), "{out}");
}

#[test]
fn steps_that_are_never_together_are_named() {
    let run = r#"{"calls": [{"tool": "a", "turn": 1}, {"tool": "b", "turn": 5}, {"tool": "a", "turn": 4}]}"#;
    why(
        "together a, b",
        run,
        "no a and b are in one turn or overlap in time; nearest are a at call 3 in turn 4 and b at call 2 in turn 5",
    );
}

#[test]
fn the_short_format_says_what_came_nearest() {
    let run = r#"{"calls": [{"tool": "search_docs"}]}"#;
    let folder = Folder::new(&[("rules.assert", "require serch_docs\n"), ("run.json", run)]);
    let out = folder.aver("check rules.assert run.json --format short").out;
    let words = "there is no serch_docs (the run has no `serch_docs`, but calls of `search_docs`)\n";
    assert!(out.ends_with(words), "{out}");
}

#[test]
fn what_a_run_does_not_record_is_named_where_it_leaves_something_open() {
    let run = r#"{"calls": [{"tool": "a"}, {"tool": "b", "turn": 2, "start": 5}]}"#;
    why(
        "never b after a within 5s",
        run,
        "the run does not tell whether b at call 2 comes within 5s after a at call 1: it does not record the start of a at call 1",
    );
    why(
        "before a -> b within 2 turns",
        run,
        "the run does not tell whether b at call 2 has an earlier a within 2 turns: it does not record the turn of a at call 1",
    );
    why(
        "together a, b",
        run,
        "the run does not tell whether some a and b are in one turn or overlap in time: it does not record turn, start and end of a at call 1 and of b at call 2",
    );
    why(
        "never b after a until user /yes/",
        run,
        "the run does not record `messages`, in which `user /yes/` is looked for",
    );
    let open = r#"{"complete": false, "calls": [{"tool": "a"}]}"#;
    why(
        "after a -> b",
        open,
        "the run is not complete, and a longer one could still change this: so far a at call 1 has no later b",
    );
}

#[test]
fn a_reason_is_a_sentence_that_is_understood_alone() {
    let run = r#"{"calls": [{"tool": "a", "args": {"n": 1}}, {"tool": "a", "args": {"n": 1}}, {"tool": "b", "args": {"n": 2}}], "messages": [{"role": "user", "text": "no"}]}"#;
    why("count a <= 1", run, "a occurs 2 times, wanted `count a <= 1`");
    why("flow (a)*", run, "b at call 3 leaves the flow, which goes on here with a or ends");
    why("flow a -> a", run, "b at call 3 leaves the flow, which is at its end here");
    why(
        "flow (a)* -> b -> (c | d)",
        run,
        "the run ends behind b at call 3 inside the flow, which goes on here with c or d",
    );
    why("only a", run, "b at call 3 is not a");
    why(
        "at least 2 of { require x; require y; require a }",
        run,
        "1 of 3 holds, wanted at least 2: `require x`: there is no x; `require y`: there is no y",
    );
    why("none of { require x; require b }", run, "`require b` holds: there is b at call 3");
    why("never b after a within 2 calls", run, "b at call 3 comes within 2 calls after a at call 2");
    near(
        "before user /yes/ -> b",
        r#"{"steps": [{"kind": "message", "role": "user", "text": "no"}, {"kind": "call", "tool": "b"}]}"#,
        &["message 1 (user) does not fit: `text` is \"no\""],
    );
    let folder = Folder::new(&[
        ("rules.assert", "never repeat a more than 1 times\nafter b -> a(n: 3, m: \"a long enough argument\")\n"),
        ("run.json", run),
    ]);
    let out = folder.aver("check rules.assert run.json").out;
    assert!(!out.contains("window"), "{out}");
    assert_eq!(out.matches("a long enough argument").count(), 2, "the rule and the reason: {out}");
}

#[test]
fn lines_that_cannot_be_read_for_the_same_reason_are_counted() {
    let mut lines = String::new();
    for number in 0..3_000 {
        lines.push_str(match number % 3 {
            0 => "{\"calls\": [{\"tool\": \"a\"}]}\n",
            1 => "{\"calls\": [{\"tool\": }]}\n",
            _ => "nothing\n",
        });
    }
    let folder = Folder::new(&[("rules.assert", "require a\n"), ("runs.jsonl", &lines)]);
    for format in ["human", "summary"] {
        let command = format!("check rules.assert runs.jsonl --format {format}");
        let one = folder.aver(&format!("{command} --threads 1"));
        assert!(one.out.lines().count() < 25 && one.code == 4, "{}", one.out);
        if format == "summary" {
            assert!(one.out.contains("cannot be read: 997 more: expected a value"), "{}", one.out);
            assert!(one.out.contains("(runs.jsonl:11, runs.jsonl:14, runs.jsonl:17, …)"), "{}", one.out);
        } else {
            let first = "1000 times  expected a value, found `nothing` (first runs.jsonl:3:1)";
            assert!(one.out.contains(first) && one.out.contains("; --format short names every one"), "{}", one.out);
        }
        assert!(one.out.contains("2000 traces cannot be read"), "{}", one.out);
        assert_eq!(folder.aver(&format!("{command} --threads 2 --chunk 1KB")).out, one.out);
    }
    let all = folder.aver("check rules.assert runs.jsonl --format short").out;
    assert_eq!(all.matches("error[trace]").count(), 2_000);
    let json = folder.aver("check rules.assert runs.jsonl --format json").json();
    assert_eq!(json["unreadable"].as_array().unwrap().len(), 2_000);
}

#[test]
fn a_map_that_does_not_fit_says_which_names_and_which_keys() {
    let run = "{\"events\": [{\"name\": \"a\", \"payload\": {\"x\": 1}}], \"note\": \"paylaod\"}\n";
    let native = "{\"calls\": [{\"fn\": \"a\", \"payload\": {\"x\": 1}}]}\n";
    let folder = Folder::new(&[
        ("rules.assert", "require a\n"),
        ("runs.jsonl", &run.repeat(500)),
        ("native.jsonl", native),
        ("good.toml", "calls = \"events\"\nargs = [\"given\", \"payload\"]\n"),
        ("slip.toml", "calls = \"events\"\nargs = \"paylod\"\nresult = [\"outcme\", \"rsult\"]\n"),
        ("calls.toml", "calls = \"evnts\"\ntool = \"fn\"\n"),
    ]);
    let good = folder.aver("check rules.assert runs.jsonl --map good.toml");
    assert_eq!((good.code, good.err.as_str()), (0, ""), "{good:?}");
    for threads in [1, 2] {
        let slip =
            folder.aver(&format!("check rules.assert runs.jsonl --map slip.toml --threads {threads} --chunk 1KB"));
        let words = "warning: the traces have no `paylod`, which `--map` names as `args`\n\
                     warning: the traces have neither `outcme` nor `rsult`, which `--map` names as `result`\n";
        assert_eq!((slip.code, slip.err.as_str()), (0, words), "{slip:?}");
    }
    let other = folder.aver("check rules.assert native.jsonl --map calls.toml").out;
    assert!(other.contains("a call without `tool`: its keys are `fn`, `payload`"), "{other}");
    assert!(
        other.contains("the names of `--map` do not fit this run: no list of calls: there is no `evnts`"),
        "{other}"
    );
}

#[test]
fn what_people_see_of_many_runs_does_not_depend_on_what_else_is_made_of_them() {
    let mut lines = String::new();
    for number in 0..400 {
        let (tool, turn) = (["a", "b", "c", "d"][number % 4], if number % 5 == 0 { "" } else { ", \"turn\": 1" });
        let cost = if number % 7 == 0 { ", \"cost\": 1" } else { "" };
        lines.push_str(&format!("{{\"calls\": [{{\"tool\": \"{tool}\"{turn}}}, {{\"tool\": \"e\"}}]{cost}}}\n"));
    }
    let rules = "never a\nnever b\nbefore c -> e\nrequire d\ncost <= $0.5\nafter x -> y\ntogether e, d\nnever c expect fail \"known\"\nnever e expect fail\n\
                 rule r { threshold 0.9\n never a\n require b\n}\n";
    let folder = Folder::new(&[("rules.assert", rules), ("runs.jsonl", &lines)]);
    for drawn in ["", "--max-failures 0", "--max-failures 2", "--max-failures 1000"] {
        let command = format!("check rules.assert runs.jsonl {drawn}");
        let whole = folder.aver(&format!("{command} --report json=all.json --threads 1")).out;
        for how in
            ["--threads 1", "--threads 2 --chunk 1KB", "--threads 3 --chunk 2KB", "--strict", "--report summary=s.txt"]
        {
            assert_eq!(folder.aver(&format!("{command} {how}")).out, whole, "{drawn} {how}");
        }
    }
}

#[test]
fn a_step_that_fails_a_test_of_the_other_one_is_the_nearest_with_that_test() {
    let run = r#"{"calls": [{"tool": "a", "args": {"id": 3}}, {"tool": "b", "args": {"id": 2}}]}"#;
    let rising = |rule: &str, words: &str| {
        why(rule, run, words);
        near(rule, run, &["a at call 1 does not fit: for b at call 2 `id` is 2 and `$x` is 3"]);
    };
    rising("before a(id: $x) -> b(id > $x)", "b at call 2 has no earlier a for which `id > $x` holds");
    rising(
        "before a(id: $x) -> b(id > $x) within 1 call",
        "b at call 2 has no earlier a for which `id > $x` holds within 1 call",
    );
    rising("if b(id > $x) then a(id: $x)", "b at call 2 occurs, but no a for which `id > $x` holds");
    why("after a(id < $x) -> b(id: $x)", run, "a at call 1 has no later b for which `id < $x` holds");
    why("sequence a(id < $x) -> b(id: $x)", run, "a at call 1 has no later b for which `id < $x` holds");
    why(
        "immediately before a(id: $x) -> b(id > $x)",
        run,
        "the call just before b at call 2 is a at call 1, not a for which `id > $x` holds: for b at call 2 `id` is 2 and `$x` is 3",
    );
    why(
        "immediately before a(id: $x) -> b(id: $x)",
        run,
        "the call just before b at call 2 is a at call 1, not a with id 2: it has id 3",
    );
    let other = r#"{"calls": [{"tool": "b", "args": {"id": 2}}, {"tool": "a", "args": {"id": 3}}, {"tool": "a", "args": {"id": 1}}]}"#;
    why("before a(id: $x) -> b(id > $x)", other, "b at call 1 has no earlier a");
    near("before a(id: $x) -> b(id > $x)", other, &["a at call 3 comes only after b at call 1"]);
    let far = r#"{"calls": [{"tool": "a", "args": {"id": 1}}, {"tool": "a", "args": {"id": 5}}, {"tool": "c"}, {"tool": "b", "args": {"id": 2}}]}"#;
    near("before a(id: $x) -> b(id > $x) within 1 call", far, &["a at call 1 is 3 calls away"]);
}

#[test]
fn steps_that_only_their_values_keep_apart_say_these() {
    let run = r#"{"calls": [{"tool": "weather", "turn": 1, "args": {"city": "Oslo", "n": 1}}, {"tool": "hotels", "turn": 1, "args": {"city": "Rome", "n": 1}}]}"#;
    why(
        "together weather(city: $c), hotels(city: $c)",
        run,
        "no weather and hotels with the same `$c` are in one turn or overlap in time; nearest are weather at call 1 with city \"Oslo\" and hotels at call 2 with city \"Rome\", in one turn",
    );
    why(
        "together weather(n: $n), hotels(n > $n)",
        run,
        "no weather and `hotels(n > $n)` are in one turn or overlap in time; nearest are weather at call 1 and hotels at call 2, in one turn: `n` is 1 and `$n` is 1",
    );
    let twice = r#"{"calls": [{"tool": "a", "args": {"id": 1}}, {"tool": "a", "args": {"id": 2}}, {"tool": "b", "args": {"id": 1}}]}"#;
    why(
        "flow (a(id: $x))+ -> b(id: $x)",
        twice,
        "a at call 2 leaves the flow, which goes on here with a with id 1 or b with id 1: it has id 2",
    );
    why(
        "flow a(id: $x) -> a(id < $x) -> b",
        twice,
        "a at call 2 leaves the flow, which goes on here with `a(id < $x)` with $x 1: `id` is 2 and `$x` is 1",
    );
    why(
        "sequence exactly a(id: $x) -> a(id: $x) -> b",
        twice,
        "a at call 2 stands where a with id 1 should be: it has id 2",
    );
    why(
        "sequence only a(id: $x) -> b(id: $x)",
        r#"{"calls": [{"tool": "a", "args": {"id": 1}}, {"tool": "c"}, {"tool": "b", "args": {"id": 5}}]}"#,
        "b at call 3 stands where b with id 1 should be: it has id 5",
    );
}

#[test]
fn a_step_of_another_value_than_that_of_the_block_is_the_nearest() {
    let run = r#"{"calls": [{"tool": "spawn", "args": {"task": 1}}, {"tool": "report", "args": {"task": 2}}]}"#;
    for statement in [
        "require report(task: $t)",
        "count report(task: $t) == 1",
        "some report(task: $t): args exists",
        "after spawn(task: $t) -> report(task: $t)",
        "if any then report(task: $t)",
    ] {
        near(&format!("each spawn(task: $t) {{\n  {statement}\n}}"), run, &["report at call 2 has task 2"]);
    }
}

#[test]
fn what_nearly_closed_a_window_is_the_nearest() {
    let rule = "never edit(id: $x) after lock(id: $x) until unlock(id: $x)";
    let run = |middle: &str| {
        let call = |tool: &str, id: u32| format!(r#"{{"tool": "{tool}", "args": {{"id": {id}}}}}"#);
        let (lock, edit) = (call("lock", 1), call("edit", 1));
        format!(r#"{{"calls": [{}, {lock}, {}{edit}, {}]}}"#, call("unlock", 7), middle, call("unlock", 1))
    };
    let late = "unlock at call 4 comes only after edit at call 3";
    near(rule, &run(""), &[late]);
    let other = r#"{"tool": "unlock", "args": {"id": 2}}, "#;
    near(rule, &run(other), &["unlock at call 3 has id 2", "unlock at call 5 comes only after edit at call 4"]);
    let denied = r#"{"tool": "unlock", "status": "denied", "args": {"id": 1}}, "#;
    near(
        rule,
        &run(denied),
        &["proposed unlock at call 3 does not fit: it was denied", "unlock at call 5 comes only after edit at call 4"],
    );
}

#[test]
fn a_group_says_which_members_are_left_out_as_vacuous() {
    let run = r#"{"calls": [{"tool": "a"}]}"#;
    why(
        "any of { after x -> y; require z }",
        run,
        "`require z`: there is no z; `after x -> y` is vacuous and left out: there is no x",
    );
    why(
        "at least 2 of { after x -> y; require z; require a }",
        run,
        "1 of 3 holds, wanted at least 2: `require z`: there is no z; `after x -> y` is vacuous and left out: there is no x",
    );
    why("all of { after x -> y; require z }", run, "`require z`: there is no z");
}

#[test]
fn what_nothing_decided_of_any_step_says_what_of_the_first() {
    assert!(
        reason("each refund: args.status != \"x\"")
            .contains("no refund exercises the condition: for refund at call 1 `args.status` is missing")
    );
    let late = r#"{"calls": [{"tool": "refund", "args": {"day": "saturday"}}]}"#;
    let folder = Folder::new(&[("rules.assert", "each refund: args.day != \"Saturday\"\n"), ("run.json", late)]);
    let told = folder.aver("check rules.assert run.json --format json").json();
    let why = told["runs"][0]["results"][0]["reason"].as_str().unwrap();
    assert!(why.contains("only the letter case differs"), "{why}");
}
