//! Values that are nearly what a rule looks for: no test, wherever it stands, takes them for something else without a word.

use averment::Rules;

/// Rules that something is not `@L`, in every place where such a test can stand.
const ABSENT: &[&str] = &[
    "never send(to: @L)",
    "never send(to == @L)",
    "never send(to in [@L])",
    "never send where args.to == @L",
    "never send where args.to in [@L]",
    "not require send(to: @L)",
    "none of { require send(to: @L) }",
    "count send(to: @L) == 0",
    "count send(to: @L) <= 0",
    "require send(to != @L)",
    "each send: args.to != @L",
    "each send: args.to not in [@L]",
    "each send: not (args.to == @L)",
    "no send: args.to == @L",
    "only send(to != @L), open, shut",
    "never send(to: @L) after open",
    "never send(to: @L) before shut",
    "never send(to: @L) between open and shut",
    "after open { never send(to: @L) }",
    "each send { args.to != @L }",
    "calls[1].args.to != @L",
    "calls[1].args.to !== @L",
    "not (calls[1].args.to == @L)",
    "calls[1].args.to not in [@L]",
    "calls[*].args.to not contains @L",
    "calls[*].args.to contains none [@L]",
    "@L not in calls[*].args.to",
    "all c in calls: c.args.to != @L",
    "no c in calls: c.args.to == @L",
    "(count c in calls: c.args.to == @L) == 0",
    "length(calls where args.to == @L) == 0",
    "let found = any c in calls: c.args.to == @L\nnot found",
    "def is_it(x) = x == @L\nno c in calls: is_it(c.args.to)",
    "if calls[1].args.to == @L then false else true",
];

/// What a rule looks for, and what a run may have in its place.
const LITERALS: &[(&str, &[&str])] = &[
    (
        r#""a@x.com""#,
        &[
            r#""A@X.com""#,
            r#"" a@x.com\n""#,
            r#""\u0430@x.com""#,
            r#""\u0410@X.COM""#,
            r#""a@x\u200b.com""#,
            r#"["a@x.com"]"#,
            r#"["b@x.com", "A@x.com"]"#,
            r#"[["a@x.com"]]"#,
            r#"[{"email": "a@x.com"}]"#,
            r#"{"email": "A@x.com"}"#,
            r#"{"to": {"list": [{"email": " a@x.com"}]}}"#,
            r#""[\"a@x.com\"]""#,
            r#""{\"email\": \"A@x.com\"}""#,
            r#"{"json": "[\"a@x.com\"]"}"#,
        ],
    ),
    (
        "250",
        &[
            r#""250""#,
            r#"" 250""#,
            r#""2.5e2""#,
            "[250]",
            r#"["250"]"#,
            r#"{"v": "250"}"#,
            r#"{"v": {"w": [250]}}"#,
            r#""[250]""#,
            r#""{\"v\": \"250\"}""#,
        ],
    ),
    (
        "true",
        &[r#""true""#, r#""Yes""#, r#"" on ""#, "1", "[true]", r#"["true"]"#, r#"{"a": {"b": true}}"#, r#""[true]""#],
    ),
    (r#""1""#, &["1", "true", "[true]", r#""[true]""#, r#""{\"a\": [true]}""#]),
    (r#""250""#, &["250", r#""[2.5e2]""#, r#""{\"v\": 250.0}""#]),
    (
        r#"{ role: "admin" }"#,
        &[
            r#""{\"role\": \"admin\"}""#,
            r#""{\"role\":\"ADMIN\"} ""#,
            r#"[{"role": "admin"}]"#,
            r#"{"a": {"role": "admin"}}"#,
            r#"{"a": "{\"role\": \"admin\"}"}"#,
            r#"{"role": "Admin"}"#,
            r#"{"role": ["admin"]}"#,
        ],
    ),
    (r#"["a", 1]"#, &[r#""[\"a\", 1]""#, r#"[["a", 1], 2]"#, r#"{"x": ["a", 1]}"#, r#"["A", 1]"#, r#"["a", "1"]"#]),
    ("[1]", &["[[1], 2]", r#""[1]""#, r#"["1"]"#]),
    (r#"{ a: 1 }"#, &[r#"{"o": {"a": 1}, "x": 2}"#]),
    (
        r#""/etc/passwd""#,
        &[
            r#""/etc//passwd""#,
            r#""/etc/./passwd""#,
            r#""/srv/../etc/passwd""#,
            r#""../../etc/passwd""#,
            r#""/etc%2Fpasswd""#,
        ],
    ),
    (r#""https://a.com/x""#, &[r#""https://A.com/x""#, r#""https://a.com/b/../x""#]),
    (r#""src/*.rs""#, &[r#""src/a.rs""#]),
    (r#""rm -rf /""#, &[r#""rm -fr /""#, r#""rm -r -f /""#]),
];

/// Rules that a text has no `@L` in it, in every place where such a test can stand.
const ABSENT_PARTS: &[&str] = &[
    "never send(to contains @L)",
    "never send(to icontains @L)",
    "never send where args.to contains @L",
    "each send: args.to not contains @L",
    "each send: args.to not icontains @L",
    "each send: args.to contains none [@L]",
    "no send: args.to contains any [@L]",
    "no send: args.to mentions @L",
    "no send: @L in args.to",
    "calls[1].args.to not contains @L",
    "no c in calls: c.args.to contains @L",
    "def is_it(x) = x contains @L\nno c in calls: is_it(c.args.to)",
];

/// What is looked for as a part, what has it in another spelling, and what does not have it.
const SPELLED_PARTS: &[(&str, &[&str], &[&str])] = &[
    (
        "rm -rf",
        &["rm -fr /", "rm -r -f x", "cd /srv && sudo rm -Rf .", "sh -c 'rm --recursive --force x'"],
        &["rm x", "ls -rf", "man rm"],
    ),
    (
        "git push --force",
        &["git push -f origin main", "git -C dir push origin --force"],
        &["git push", "git commit -m push --force"],
    ),
    (
        "etc/passwd",
        &["/etc/./passwd", "/etc//passwd", "/etc/x/../passwd", "/etc%2fpasswd"],
        &["/etc/shadow", "a/../b", "passwd"],
    ),
    ("https://a.com/admin", &["https://A.com/admin", "https://a.com/x/../admin"], &["https://a.com/x", "x"]),
];

/// Rules that a text begins with something, with texts that do by their letters alone, and one that does.
const STARTS: &[(&str, &[&str], &str)] = &[
    (
        r#"each send: args.to starts with "src/""#,
        &["src/../../etc/passwd", "src/%2e%2e/%2e%2e/etc/passwd", "src/..%2f..%2fx"],
        "src/a/../b.rs",
    ),
    (r#"only send(to starts with "src/"), open, shut"#, &["src/../../etc/passwd"], "src/a.rs"),
    (r"each send: args.to matches /^src\//", &["src/../../etc/passwd"], "src/a.rs"),
    (
        r#"each send: args.to starts with "https://a.com""#,
        &["https://a.com.evil/x", "https://a.com@evil/x", "https://a.com:x@evil", "https://a.com-evil.com"],
        "https://a.com:443/x",
    ),
    (r#"each send: args.to <= "medium""#, &["high", "High", "critical"], "low"),
];

/// Values that have nothing of what a rule looks for.
const OTHERS: &[(&str, &[&str])] = &[
    (
        r#""a@x.com""#,
        &[r#""b@x.com""#, r#"["b@x.com"]"#, r#"{"email": "ab@x.com"}"#, "7", r#""{\"a\": 1}""#, r#""[]""#],
    ),
    ("250", &["25", r#""2500""#, "[2500]", r#"{"v": "o-250"}"#, r#""[2500]""#]),
    ("true", &["false", r#""no""#, r#"{"count": 1}"#, "[1]", r#"["t"]"#]),
    (r#"{ role: "admin" }"#, &[r#"{"role": "user"}"#, r#""{\"role\": \"user\"}""#, "[]", r#"{"admin": "role"}"#]),
    ("[1]", &["[2]", "[2, 3]", r#""[2]""#]),
];

fn run_of(value: &str) -> String {
    format!(
        r#"{{"calls": [{{"tool": "open"}}, {{"tool": "send", "args": {{"to": {value}}}, "result": 1}}, {{"tool": "shut"}}], "output": "x"}}"#
    )
}

/// The verdict, and whether a step was not judged.
fn said(rule: &str, run: &str) -> (String, bool) {
    let rules = Rules::from_text("rule.assert", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
    let outcome = rules.check_one(run).unwrap_or_else(|error| panic!("{run}: {error}"));
    let result = outcome.results().next().unwrap_or_else(|| panic!("{rule}: nothing is asserted"));
    (result.verdict().as_str().to_owned(), result.unjudged().is_some())
}

fn is_plainly_green((verdict, unjudged): &(String, bool)) -> bool {
    verdict == "pass" && !unjudged
}

#[test]
fn no_test_of_equality_passes_over_a_value_that_is_nearly_it() {
    let mut wrong = Vec::new();
    for rule in ABSENT {
        for (literal, values) in LITERALS {
            for value in *values {
                let rule = rule.replace("@L", literal);
                let found = said(&rule, &run_of(value));
                if is_plainly_green(&found) || found.0 == "error" {
                    wrong.push(format!("{rule} on {value}: {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_not_nearly_it_still_passes() {
    let mut wrong = Vec::new();
    for rule in ABSENT {
        for (literal, values) in OTHERS {
            for value in *values {
                let rule = rule.replace("@L", literal);
                let found = said(&rule, &run_of(value));
                if found.0 != "pass" {
                    wrong.push(format!("{rule} on {value}: {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_test_of_a_part_passes_over_another_spelling() {
    let run = |text: &str| run_of(&format!("{text:?}"));
    let mut wrong = Vec::new();
    for (rule, (part, spellings, others)) in
        ABSENT_PARTS.iter().flat_map(|rule| SPELLED_PARTS.iter().map(move |one| (rule, one)))
    {
        let rule = rule.replace("@L", &format!("{part:?}"));
        for text in *spellings {
            let found = said(&rule, &run(text));
            if is_plainly_green(&found) || found.0 == "error" {
                wrong.push(format!("{rule} on {text}: {found:?}"));
            }
        }
        for text in *others {
            let found = said(&rule, &run(text));
            if !is_plainly_green(&found) {
                wrong.push(format!("{rule} on {text}, which does not have it: {found:?}"));
            }
        }
    }
    for (rule, letters, kept) in STARTS {
        for text in *letters {
            let found = said(rule, &run(text));
            if is_plainly_green(&found) || found.0 == "error" {
                wrong.push(format!("{rule} on {text}: {found:?}"));
            }
        }
        let found = said(rule, &run(kept));
        if !is_plainly_green(&found) {
            wrong.push(format!("{rule} on {kept}, which does: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Statements that bind one value twice and hold where the two differ.
const BINDINGS: &[&str] = &[
    "never send(to: $x) after block(to: $x)",
    "never send(to: $x) before block(to: $x)",
    "never send(to: $x) after block(to: $x) until shut",
    "never send(to: $x) between block(to: $x) and shut",
    "not both block(to: $x), send(to: $x)",
    "after block(to: $x) { never send(to: $x) }",
    "block(to: $x) iff block(to: $x)\nnever send(to == $x) after block(to: $x)",
    "never send(to in [$x]) after block(to: $x)",
    "never send(args[**] contains $x) after block(to: $x)",
    "count (block(to: $x) | send(to: $x)) <= 1",
    "not sequence block(to: $x) -> send(to: $x)",
    "none of { sequence block(to: $x) -> send(to: $x) }",
    "each block(to: $x) { never send(to: $x) }",
];

const NEAR: &[(&str, &str)] = &[
    (r#""src/a""#, r#""./src/a""#),
    (r#""src/a""#, r#""src/b/%252e%252e/a""#),
    (r#""/etc/passwd""#, r#""../../etc/passwd""#),
    (r#""https://a.com/x""#, r#""https://A.com/x""#),
    (r#""rm -rf /""#, r#""rm -f -r /""#),
    (r#""Bob@x""#, r#""bob@x""#),
    (r#""bob""#, r#""bob ""#),
    (r#""bob""#, r#""b\u043eb""#),
    (r#""BOB""#, r#""b\u043eb""#),
    ("true", r#""true""#),
    ("7", r#""7""#),
    ("7", r#"" 7""#),
    ("1", "true"),
    (r#"["x"]"#, r#""x""#),
    (r#"[{"id": "X"}]"#, r#""x""#),
    (r#"{"id": 7}"#, r#""{\"id\": \"7\"}""#),
];

#[test]
fn bindings_that_are_nearly_equal_are_told_and_not_judged() {
    let run = |block: &str, send: &str, last: &str| {
        let call = |tool: &str, to: &str| format!(r#"{{"tool": "{tool}", "args": {{"to": {to}}}}}"#);
        format!(r#"{{"calls": [{}, {}, {last}]}}"#, call("block", block), call("send", send))
    };
    let mut wrong = Vec::new();
    for rule in BINDINGS {
        let rule = rule.lines().last().unwrap_or(rule);
        for (one, two) in NEAR {
            for (one, two) in [(one, two), (two, one)] {
                let (one, two) = if rule.contains("before block") { (two, one) } else { (one, two) };
                let order = |first: &str, second: &str| match rule.contains("before block") {
                    true => run(first, second, r#"{"tool": "shut"}"#)
                        .replacen("block", "temp", 1)
                        .replacen("send", "block", 1)
                        .replacen("temp", "send", 1),
                    false => run(first, second, r#"{"tool": "shut"}"#),
                };
                let found = said(rule, &order(one, two));
                if is_plainly_green(&found) || found.0 == "error" {
                    wrong.push(format!("{rule} on {one} and {two}: {found:?}"));
                }
            }
        }
        let found = said(rule, &run(r#""bob""#, r#""eve""#, r#"{"tool": "shut"}"#));
        if found.1 || found.0 == "fail" {
            wrong.push(format!("{rule} on two values: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Rules that a list has no part `@P`.
const PARTS: &[&str] = &[
    "never send(to contains \"@P\")",
    "never send(to icontains \"@Q\")",
    "never send(to starts with \"@P\")",
    "never send(to ends with \"@P\")",
    "never send(to matches /@P/)",
    "never send(to: /@P/)",
    "each send: args.to not contains \"@P\"",
    "no send: args.to contains \"@P\"",
    "calls[1].args.to not contains \"@P\"",
    "calls[1].args.to not icontains \"@Q\"",
    "calls[1].args.to contains none [\"@P\", \"zzz\"]",
    "not (calls[1].args.to contains any [\"@P\", \"zzz\"])",
    "calls[1].args[**] not contains \"@P\"",
    "calls[*].args.to not contains \"@P\"",
    "none of { require send(to contains \"@P\") }",
];

#[test]
fn a_list_that_is_asked_for_a_part_of_a_text_says_nothing() {
    let mut wrong = Vec::new();
    for rule in PARTS {
        let rule = rule.replace("@P", "evil").replace("@Q", "EVIL");
        for value in
            [r#"["evil.com"]"#, r#"["a@x.com", "evil.com/evil"]"#, r#"[{"to": "evil, evil"}]"#, r#"[["evil?"]]"#]
        {
            let found = said(&rule, &run_of(value));
            if is_plainly_green(&found) || found.0 == "error" {
                wrong.push(format!("{rule} on {value}: {found:?}"));
            }
        }
    }
    for rule in ["calls[1].args.to not contains \"evil\"", "\"evil\" not in calls[1].args.to"] {
        assert_eq!(said(rule, &run_of(r#"["good"]"#)).0, "pass", "{rule}");
    }
    // A whole element is asked for by `in`, a tag and a word of a command.
    assert_eq!(said("\"evil\" not in calls[1].args.to", &run_of(r#"["evil.com"]"#)).0, "pass");
    let tagged =
        "tool send tagged readonly\nnever tagged \"read\"".replace("never tagged \"read\"", "never any tagged read");
    assert_eq!(said(&tagged, &run_of("1")).0, "pass");
    let command = r#"{"commands": [{"command": "git push --force-with-lease origin main-2"}]}"#;
    assert_eq!(said("never command git(flags: [\"--force\"])", command), ("pass".to_owned(), false));
    assert_eq!(said("never command git(args: \"main\")", command), ("pass".to_owned(), false));
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn where_nothing_is_looked_for_nothing_is_proved() {
    let tests = [
        "output.said contains output.none",
        "output.said icontains output.none",
        "output.none in output.said",
        "output.said starts with output.none",
        "output.said ends with output.none",
        "output.said contains any split(\"zz,\", \",\")",
        "output.said contains all split(\",\", \",\")",
        "output.said contains any [output.none]",
        "similarity(output.none, output.none) >= 0.8",
        "similarity(output.none, output.said) <= 0.8",
        "bleu(output.said, output.none) <= 0.8",
        "rouge_l(output.none, output.said) <= 0.8",
        "rouge_n(output.blank, output.said) <= 0.8",
        "output.said not mentions output.none",
        "calls[0].args.q contains output.none",
        "require a(q contains output.none)",
        "each a: args.q contains output.none",
        "any x in [output.said]: x contains output.none",
    ];
    let run = r#"{"output": {"said": "some words", "none": "", "blank": " .. "}, "calls": [{"tool": "a", "args": {"q": "b"}}]}"#;
    let wrong: Vec<String> = tests
        .iter()
        .map(|rule| (rule, said(rule, run).0))
        .filter(|(_, verdict)| verdict != "vacuous")
        .map(|(rule, verdict)| format!("{rule}: {verdict}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // An element that is empty is one, and what is found decides.
    for rule in ["[output.none] contains output.none", "output.said contains any [\"some\", output.none]"] {
        assert_eq!(said(rule, run).0, "pass", "{rule}");
    }
}

#[test]
fn null_in_a_list_that_has_none_says_nothing() {
    let run = r#"{"output": {"l": [1], "n": null}, "calls": []}"#;
    for rule in [
        "output.l not contains output.n",
        "output.l not icontains output.n",
        "output.l contains none [output.n]",
        "output.n not in output.l",
    ] {
        assert_eq!(said(rule, run).0, "vacuous", "{rule}");
    }
}

#[test]
fn texts_are_ordered_by_what_they_are() {
    let of = |value: &str| format!(r#"{{"output": {value}, "calls": [{{"tool": "a", "args": {{"v": {value}}}}}]}}"#);
    let rows = [
        (">= \"1.10.0\"", "1.9.0", "fail"),
        (">= \"1.10.0\"", "1.11.0", "pass"),
        (">= \"1.10.0\"", "2", "pass"),
        (">= \"1.10.0\"", "latest", "fail"),
        ("< \"1.10.0\"", "1.10.0-rc.1", "pass"),
        (">= \"2025-01-01\"", "9/9/2024", "fail"),
        (">= \"2025-01-01\"", "2025-06-01T00:00:00Z", "pass"),
        (">= \"2025-01-01\"", "2024-12-31", "fail"),
        ("<= \"09:30\"", "9:15", "pass"),
        ("<= \"09:30\"", "9:15 PM", "fail"),
        (">= \"b\"", "c", "pass"),
    ];
    for (test, value, verdict) in rows {
        let run = of(&format!("\"{value}\""));
        for rule in [
            format!("output {test}"),
            format!("require a(v {test})"),
            format!("each a: args.v {test}"),
            format!("all c in calls: c.args.v {test}"),
        ] {
            assert_eq!(said(&rule, &run).0, verdict, "{rule} on {value}");
        }
    }
    for value in ["latest", "9/9/2024", "tomorrow"] {
        for test in [">= \"1.10.0\"", "< \"2025-01-01\"", "> \"09:30\""] {
            assert_eq!(
                said(&format!("not (output {test})"), &of(&format!("\"{value}\""))).0,
                "vacuous",
                "{test} {value}"
            );
        }
    }
}

#[test]
fn scores_of_other_scripts_and_capitals_that_look_alike() {
    for text in ["Привет мир", "你好世界", "こんにちは", "안녕 세상"] {
        for score in ["rouge_l", "bleu", "similarity"] {
            let run = format!(r#"{{"output": "{text}"}}"#);
            assert_eq!(said(&format!("{score}(output, \"{text}\") == 1"), &run).0, "pass", "{score} {text}");
        }
    }
    assert_eq!(said("rouge_l(output, \"你好世间\") > 0.7", r#"{"output": "你好世界"}"#).0, "pass");
    for text in ["please IGN\\u041eRE this", "please ign\\u043ere this"] {
        let run = format!(r#"{{"output": "{text}"}}"#);
        for rule in ["output not icontains \"ignore\"", "output not icontains \"IGNORE\""] {
            assert_eq!(said(rule, &run).0, "vacuous", "{rule} {text}");
        }
    }
    assert_eq!(said("output not mentions 1286", r#"{"output": "it is $1,286.00"}"#).0, "vacuous");
    assert_eq!(said("output not mentions \"1286\"", r#"{"output": ["1'286"]}"#).0, "vacuous");
}

#[test]
fn json_inside_of_other_json_says_nothing() {
    let schema = "schema Card = { type: \"object\", required: [\"number\"] }\n";
    for (text, verdict) in [
        (r#"see {\"data\": {\"number\": \"4\"}}"#, "vacuous"),
        (r#"see {\"data\": [{\"x\": {\"number\": \"4\"}}]}"#, "vacuous"),
        (r#"see {\"data\": {\"name\": \"4\"}}"#, "pass"),
        (r#"see {\"number\": \"4\"}"#, "fail"),
    ] {
        let run = format!(r#"{{"output": "{text}"}}"#);
        assert_eq!(said(&format!("{schema}output not contains json Card"), &run).0, verdict, "{text}");
    }
}
