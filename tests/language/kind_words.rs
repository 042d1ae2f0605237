//! Texts in lists of patterns: each goes on with the kind word before it, in every statement, behind every separator.

use crate::values::judge;
use averment::Rules;
use averment_base::limits::Limits;
use averment_syntax::ast::StepWord;
use averment_syntax::fmt::{FormatOptions, format_text};

/// Places of two patterns, `@A` and `@B`, which are one list.
const LISTS: &[&str] = &[
    "never @A, @B",
    "not never @A, @B",
    "never @A, @B within 1 call",
    "never @A, @B after open",
    "never @A, @B after open until shut",
    "never @A, @B before shut",
    "never @A, @B between open and shut",
    "never open after @A | @B",
    "never open after shut until @A | @B",
    "never open between @A | @B and shut",
    "only @A, @B",
    "before open -> @A, @B",
    "before open -> @A | @B",
    "before @A | @B -> shut",
    "before each open -> @A, @B",
    "starts before open -> @A, @B",
    "immediately before open -> @A, @B",
    "after open -> @A, @B",
    "after each @A | @B -> shut",
    "immediately after open -> @A, @B",
    "@A | @B only after open",
    "@A | @B iff open",
    "open iff @A | @B",
    "if @A | @B then open",
    "if open then @A | @B",
    "together @A, @B",
    "apart @A, @B",
    "not both @A, @B",
    "either @A or @B",
    "either open or @A or @B",
    "require @A | @B",
    "require (@A | @B) 2 times",
    "count @A | @B == 2",
    "(count (@A | @B)) == 2",
    "length(it of (@A | @B)) == 2",
    "first @A | @B",
    "last @A | @B",
    "sequence @A | @B -> shut",
    "sequence only open -> @A | @B",
    "sequence exactly open -> @A | @B",
    "nested open -> @A | @B",
    "never repeat @A | @B more than 1 times",
    "flow open -> @A | @B",
    "flow (open | @A | @B)*",
    "each (@A | @B): run.calls exists",
    "some (@A | @B): run.calls exists",
    "no (@A | @B): run.calls is empty",
    "each (@A | @B) { require open }",
    "after @A | @B { never open }",
    "before @A | @B { require open }",
    "after open until @A | @B { never shut }",
    "between open and @A | @B { never shut }",
    "any of { never @A, @B\n require shut }",
    "never (@A | @B where run.calls exists), shut",
    "never ((@A where run.calls exists) | @B)",
    "never (@A where run.calls exists), @B",
    "never @A, (@B where run.calls exists)",
    "never (@A | @B)",
    "in at least 50% of runs: never @A, @B",
    "args valid for @A | @B",
    "def step both = @A | @B\nnever both",
    "when output == 1 { never @A, @B }",
];

/// Runs with none, one and both of the two steps that are looked for, behind and before others.
fn runs(kind: StepWord) -> Vec<String> {
    let (list, step): (&str, fn(&str) -> String) = match kind {
        StepWord::Command => ("command", |text| format!(r#""command": "{text}""#)),
        StepWord::Read => ("read", |text| format!(r#""path": "{text}""#)),
        StepWord::Write => ("write", |text| format!(r#""path": "{text}""#)),
        StepWord::Skill => ("skill", |text| format!(r#""name": "{text}""#)),
        StepWord::Span => ("span", |text| format!(r#""name": "{text}""#)),
        StepWord::Http => ("http", |text| format!(r#""url": "{text}""#)),
        StepWord::Handover => ("handover", |text| format!(r#""to": "{text}""#)),
        StepWord::User | StepWord::Message => ("message", |text| format!(r#""role": "user", "text": "{text}""#)),
        StepWord::Assistant => ("message", |text| format!(r#""role": "assistant", "text": "{text}""#)),
        StepWord::Thinking => ("message", |text| format!(r#""role": "thinking", "text": "{text}""#)),
    };
    let call = |tool: &str| format!(r#"{{"kind": "call", "tool": "{tool}"}}"#);
    let one = |text: &str| format!(r#"{{"kind": "{list}", {}}}"#, step(text));
    [vec![], vec!["one"], vec!["two"], vec!["one", "two"], vec!["two", "three"]]
        .into_iter()
        .map(|texts| {
            let steps = [vec![call("open")], texts.into_iter().map(one).collect(), vec![call("shut")]].concat();
            format!(r#"{{"steps": [{}]}}"#, steps.join(", "))
        })
        .collect()
}

/// What is said of the runs, or of the rules.
fn said(rules: &str, kind: StepWord) -> Result<Vec<String>, String> {
    let rules = Rules::from_text("rules.assert", rules).map_err(|error| error.to_string())?;
    let verdicts = |run: String| {
        let outcome = rules.check_one(&*run).unwrap();
        outcome.results().map(|result| result.verdict().as_str()).collect::<Vec<_>>().join(" ")
    };
    Ok(runs(kind).into_iter().map(verdicts).collect())
}

fn filled(list: &str, first: &str, second: &str) -> String {
    list.replace("@A", first).replace("@B", second)
}

#[test]
fn a_text_goes_on_with_the_kind_before_it_in_every_list() {
    let mut compiled = 0;
    for kind in StepWord::ALL {
        let word = kind.as_str();
        for list in LISTS {
            for (first, second) in [("\"one\"", "\"two\""), ("/one/", "/two/"), ("\"one\"", "/tw+o/"), ("", "\"two\"")]
            {
                let own = filled(list, &format!("{word} {first}"), &format!("{word} {second}"));
                let going_on = filled(list, &format!("{word} {first}"), second);
                let (wanted, found) = (said(&own, kind), said(&going_on, kind));
                match wanted {
                    Ok(verdicts) => {
                        assert_eq!(found.as_ref(), Ok(&verdicts), "{going_on}\n{own}");
                        compiled += 1;
                        let formatted =
                            format_text(&going_on, &FormatOptions { width: 30, limits: Limits::default() }).unwrap();
                        assert_eq!(said(&formatted, kind), Ok(verdicts), "{formatted}");
                    }
                    Err(_) => assert!(found.is_err(), "{going_on}"),
                }
            }
        }
    }
    assert!(compiled > 1000, "{compiled}");
}

#[test]
fn a_list_ends_where_the_statement_goes_on() {
    let run = r#"{"steps": [{"kind": "user", "text": "yes"}, {"kind": "call", "tool": "a:b"}, {"kind": "command", "command": "mkfs"}]}"#;
    let run = run.replace(r#""kind": "user""#, r#""kind": "message", "role": "user""#);
    let run: &'static str = run.leak();
    judge(&[
        ("before user \"yes\" -> \"a:b\"", run, "pass", ""),
        ("after user \"yes\" -> \"a:b\"", run, "pass", ""),
        ("sequence user \"yes\" -> \"a:b\"", run, "pass", ""),
        ("if user \"yes\" then \"a:b\"", run, "pass", ""),
        ("never \"a:b\" after user \"yes\"", run, "fail", ""),
        ("never user \"no\" before \"a:b\"", run, "pass", ""),
        // A tool with an odd name stands in front, or is asked by its name.
        ("never \"a:b\", command \"rm\"", run, "fail", ""),
        ("require \"a:b\" | command \"rm\"", run, "pass", ""),
        ("not both \"a:b\", command \"mkfs\"", run, "fail", ""),
        ("never command \"rm\", (any where tool == \"a:b\")", run, "fail", ""),
        ("never command \"rm\", proposed \"a:b\"", run, "pass", ""),
        // What stands in an expression is a list of its own.
        ("never (command \"mkfs\" where (count \"a:b\") == 1)", run, "fail", ""),
        ("never command \"rm\", \"mkfs\"", run, "fail", "mkfs"),
        ("never (command \"rm\" where ok), \"mkfs\"", run, "fail", "mkfs"),
        ("never command echo(flags: [\"-x\"]), \"mkfs\"", run, "fail", "mkfs"),
    ]);
}

#[test]
fn what_may_be_meant_in_two_ways_is_an_error() {
    for (rule, message, help) in [
        (
            "never command \"rm\", refund, \"mkfs\"",
            "`refund` is a tool, so \"mkfs\" may go on with it or with `command`",
            "`command \"mkfs\"`",
        ),
        ("never write \"a\" | refund | \"b\"", "may go on with it or with `write`", "put it in front of `write`"),
        ("never user /a/, refund, /b/", "so /b/ may go on with it or with `user`", "write `user /b/`"),
        ("never refund, /a/", "a regular expression alone names no step", "(any where tool matches /a/)"),
        (
            "never command rm(flags: [\"-f\"]), rmdir(args: [\"a\"])",
            "`rmdir` is a tool here",
            "write `command rmdir(…)`",
        ),
    ] {
        let said = Rules::from_text("rules.assert", rule).err().unwrap().to_string();
        assert!(said.contains(message) && said.contains(help), "{rule}\n{said}");
    }
}
