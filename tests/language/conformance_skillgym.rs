//! Assertions of SkillGym on commands, reads, tool calls, skills and the output, said in sentences of the language.
//!
//! The vectors were observed from the real program; what is said for what stands in docs/reference/skillgym.md.
//! Run with `cargo test --test conformance_skillgym -- --nocapture` to see the numbers.

use averment_base::truth::Verdict;
use averment_fixtures::Rules;
use averment_fixtures::quote;
use serde_json::{Map, Value, json};

/// A regular expression literal. `g` means nothing to a test; `y` looks at the very start alone.
fn regex(value: &Value) -> String {
    let (pattern, flags) = (value["$regex"].as_str().expect("a pattern"), value["$flags"].as_str().unwrap_or_default());
    let pattern = pattern.replace("\\/", "/").replace('/', "\\/");
    let pattern = if flags.contains('y') { format!("\\A(?:{pattern})") } else { pattern };
    let flags: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
    format!("/{pattern}/{flags}")
}

fn is_regex(value: &Value) -> bool {
    value.get("$regex").is_some()
}

/// A text matcher as a test of `subject`: a string is a part of it, or the whole of it.
fn text_test(subject: &str, matcher: &Value, whole: bool) -> String {
    match matcher.as_str() {
        Some(text) if whole => format!("{subject} == {}", quote(text)),
        Some(text) => format!("{subject} contains {}", quote(text)),
        None => format!("{subject} matches {}", regex(matcher)),
    }
}

fn literal(matcher: &Value) -> String {
    matcher.as_str().map_or_else(|| regex(matcher), quote)
}

/// What has to hold of a command's text so that a structured matcher takes it.
fn command_test(subject: &str, matcher: &Value) -> String {
    if matcher.is_string() || is_regex(matcher) {
        return text_test(subject, matcher, false);
    }
    let matcher = matcher.get("$matcher").unwrap_or(matcher);
    let parsed = format!("parse_command({subject})");
    let strict = matcher["strict"] == true || matcher["exact"] == true;
    let mut tests = vec![format!("{subject} exists")];
    if !matcher["executable"].is_null() {
        tests.push(text_test(&format!("{parsed}.executable"), &matcher["executable"], true));
    }
    tests.extend(positional_tests(&parsed, matcher["positionals"].as_array(), strict));
    tests.extend(option_tests(&parsed, matcher["options"].as_object(), strict));
    if let Some(end) = matcher["endOfOptions"].as_bool() {
        tests.push(format!("{parsed}.end_of_options == {end}"));
    }
    tests.join(" and ")
}

fn positional_tests(parsed: &str, wanted: Option<&Vec<Value>>, strict: bool) -> Vec<String> {
    let empty = Vec::new();
    let wanted = wanted.unwrap_or(&empty);
    if !strict {
        let wanted: Vec<String> = wanted.iter().map(literal).collect();
        return vec![format!("contains_in_order({parsed}.positionals, [{}])", wanted.join(", "))];
    }
    let each = wanted.iter().enumerate();
    let each = each.map(|(index, matcher)| text_test(&format!("{parsed}.positionals[{index}]"), matcher, true));
    each.chain([format!("length({parsed}.positionals) == {}", wanted.len())]).collect()
}

fn option_tests(parsed: &str, wanted: Option<&Map<String, Value>>, strict: bool) -> Vec<String> {
    let empty = Map::new();
    let wanted = wanted.unwrap_or(&empty);
    let mut tests = Vec::new();
    for (name, values) in wanted {
        let values = values.as_array().cloned().unwrap_or_else(|| vec![values.clone()]);
        let observed = format!("{parsed}.options[{}]", quote(name));
        tests.push(format!("{observed} exists"));
        for matcher in &values {
            let same = values.iter().filter(|other| *other == matcher).count();
            let test = if *matcher == true { "value == true".to_owned() } else { text_test("value", matcher, true) };
            tests.push(format!("(count value in {observed}: {test}) >= {same}"));
        }
        if strict {
            tests.push(format!("length({observed}) == {}", values.len()));
        }
    }
    if strict {
        tests.push(format!("length({parsed}.options) == {}", wanted.len()));
    }
    tests
}

/// What has to hold of a tool call.
fn call_test(tool: &str, args: &str, matcher: &Value) -> String {
    let mut tests = vec![format!("{tool} exists")];
    if !matcher["tool"].is_null() {
        tests.push(text_test(tool, &matcher["tool"], false));
    }
    for condition in matcher["where"]["$where"].as_array().into_iter().flatten() {
        let path = condition["path"].as_str().unwrap_or_default();
        let subject = match path {
            "" => args.to_owned(),
            index if index.parse::<u32>().is_ok() => format!("{args}[{index}]"),
            key => format!("{args}[{}]", quote(key)),
        };
        if let Some(part) = condition["contains"].as_str() {
            tests.push(format!("{subject} contains {}", quote(part)));
        } else if let Some(pattern) = condition["matches"].as_str() {
            tests.push(format!("{subject} matches {}", regex(&json!({ "$regex": pattern }))));
        } else {
            tests.push(format!(
                "{subject} == {}",
                condition["equals"].as_str().map_or(condition["equals"].to_string(), quote)
            ));
        }
    }
    tests.join(" and ")
}

/// One of the three lists of steps: the word of its kind, the name of its list, and the test of a matcher on a step (`at` is empty) or on an element.
struct Listed {
    word: &'static str,
    list: &'static str,
    test: fn(at: &str, matcher: &Value) -> String,
}

const COMMANDS: Listed =
    Listed { word: "command", list: "commands", test: |at, m| command_test(&format!("{at}command"), m) };
const READS: Listed = Listed { word: "read", list: "reads", test: |at, m| text_test(&format!("{at}path"), m, false) };
const CALLS: Listed =
    Listed { word: "any", list: "calls", test: |at, m| call_test(&format!("{at}tool"), &format!("{at}args"), m) };

impl Listed {
    fn step(&self, matcher: &Value) -> String {
        format!("({} where {})", self.word, (self.test)("", matcher))
    }

    fn sentence(&self, method: &str, arguments: &Value) -> String {
        let step = || self.step(&arguments[0]);
        let end = |index: i32| (self.test)(&format!("{}[{index}].", self.list), &arguments[0]);
        match method {
            "includes" | "has" => format!("require {}", step()),
            "notIncludes" => format!("never {}", step()),
            "count" => format!("count {} == {}", step(), arguments[1]),
            "atLeast" => format!("count {} >= {}", step(), arguments[1]),
            "atMost" => format!("count {} <= {}", step(), arguments[1]),
            "exactlyOne" => format!("require {} 1 times", step()),
            "size" => format!("count {} == {}", self.word, arguments[0]),
            "first" => end(0),
            "last" => end(-1),
            "before" => {
                let then = self.step(&arguments[1]);
                format!("all of {{ require {then}; before {} -> {then} }}", step())
            }
            "sequence" => {
                let steps: Vec<String> =
                    arguments[0].as_array().expect("matchers").iter().map(|m| self.step(m)).collect();
                match steps.as_slice() {
                    [] => "true".to_owned(),
                    [only] => format!("require {only}"),
                    steps => format!("sequence {}", steps.join(" -> ")),
                }
            }
            "only" => self.only(arguments[0].as_array().expect("matchers")),
            other => panic!("unknown method {other}"),
        }
    }

    fn only(&self, matchers: &[Value]) -> String {
        let tests: Vec<String> = matchers.iter().map(|matcher| format!("({})", (self.test)("", matcher))).collect();
        match tests.is_empty() {
            true => format!("count {} == 0", self.word),
            false => format!("each {}: {}", self.word, tests.join(" or ")),
        }
    }
}

fn skill_sentence(method: &str, arguments: &Value) -> String {
    let options = arguments.as_array().and_then(|all| all.iter().find(|argument| argument.is_object()));
    let ranks = ["weak", "medium", "strong", "explicit"];
    let least = options.and_then(|options| options["minConfidence"].as_str()).unwrap_or("weak");
    let enough = &ranks[ranks.iter().position(|rank| *rank == least).expect("a confidence")..];
    let enough = format!("s.confidence in {}", json!(enough));
    let count =
        |name: &Value| format!("(count s in skills: s.name == {} and {enough})", quote(name.as_str().expect("a name")));
    let list = || arguments[0].as_array().expect("names");
    match method {
        "has" => format!("{} >= 1", count(&arguments[0])),
        "notHas" => format!("{} == 0", count(&arguments[0])),
        "count" => format!("{} == {}", count(&arguments[0]), arguments[1]),
        "exactlyOne" => format!("{} == 1", count(&arguments[0])),
        "includes" if list().is_empty() => "true".to_owned(),
        "includes" => list().iter().map(|name| format!("{} >= 1", count(name))).collect::<Vec<_>>().join(" and "),
        "only" => format!("all s in skills: {enough} implies s.name in {}", arguments[0]),
        other => panic!("unknown method {other}"),
    }
}

fn sentence(vector: &Value) -> String {
    let (method, arguments) = (vector["method"].as_str().expect("a method"), &vector["args"]);
    match vector["group"].as_str().expect("a group") {
        "commands" => COMMANDS.sentence(method, arguments),
        "fileReads" => READS.sentence(method, arguments),
        "toolCalls" => CALLS.sentence(method, arguments),
        "skills" => skill_sentence(method, arguments),
        "output" if method == "notEmpty" => "output != \"\"".to_owned(),
        "output" => text_test("output", &arguments[0], false),
        other => panic!("unknown group {other}"),
    }
}

/// The run that a report tells of. Reads are the events, or the observed ones where there is no event.
fn run(report: &Value) -> Value {
    let events = |kind: &str| -> Vec<&Value> {
        report["events"].as_array().into_iter().flatten().filter(|event| event["type"] == kind).collect()
    };
    let calls: Vec<Value> =
        events("toolCall").iter().map(|event| json!({ "tool": event["tool"], "args": event["args"] })).collect();
    let commands: Vec<Value> = events("command").iter().map(|event| json!({ "command": event["command"] })).collect();
    let mut reads: Vec<Value> = events("fileRead").iter().map(|event| event["path"].clone()).collect();
    if reads.is_empty() {
        reads = report["files"]["observedReads"].as_array().cloned().unwrap_or_default();
    }
    let detected = report["detectedSkills"].as_array().into_iter().flatten();
    let skills: Vec<Value> =
        detected.map(|skill| json!({ "name": skill["skill"], "confidence": skill["confidence"] })).collect();
    json!({ "calls": calls, "commands": commands, "reads": reads, "skills": skills, "output": report["finalOutput"] })
}

fn holds(text: &str, run: &Value) -> bool {
    let rules =
        Rules::from_text("vector.assert", text).unwrap_or_else(|error| panic!("{text}\ndoes not compile:\n{error}"));
    let outcome = rules.check_json(&run.to_string()).expect("a readable run");
    match outcome.results[0].verdict {
        Verdict::Pass | Verdict::Vacuous => true,
        Verdict::Fail => false,
        other => panic!("{text} is {other:?}: {}", outcome.results[0].reason),
    }
}

fn compare(name: &str, cases: impl Iterator<Item = (String, Value, bool)>) {
    let (mut same, mut wrong) = (0, Vec::new());
    for (text, run, expected) in cases {
        match holds(&text, &run) == expected {
            true => same += 1,
            false => wrong.push(format!("expected {expected}: {text}\n  {run}")),
        }
    }
    println!("skillgym {name}: {same}/{} agree", same + wrong.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n").chars().take(5_000).collect::<String>());
    assert!(same > 0, "nothing was compared");
}

#[test]
fn assertions_agree() {
    let Some(folder) = averment_fixtures::shared("conformance/skillgym") else { return };
    let reports: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("golden_reports.json")).expect("reports"))
            .expect("JSON");
    let vectors = averment_fixtures::lines(&folder.join("golden_assertions.jsonl"));
    let cases = vectors.iter().map(|vector| {
        let report = &reports[vector["report"].as_str().expect("a report")];
        (sentence(vector), run(report), vector["expected_passed"] == true)
    });
    compare("assertions", cases);
}

#[test]
fn assertions_of_its_own_tests_agree() {
    let Some(folder) = averment_fixtures::shared("conformance/skillgym") else { return };
    let vectors = averment_fixtures::lines(&folder.join("unit_test_assertions.jsonl"));
    let cases = vectors.iter().filter(|vector| vector["report"].is_object());
    compare(
        "unit tests",
        cases.map(|vector| (sentence(vector), run(&vector["report"]), vector["expected_passed"] == true)),
    );
}

#[test]
fn structured_command_matchers_agree() {
    let Some(folder) = averment_fixtures::shared("conformance/skillgym") else { return };
    let vectors = averment_fixtures::lines(&folder.join("golden_structured_match.jsonl"));
    let cases = vectors.iter().map(|vector| {
        let text = format!("require {}", COMMANDS.step(&json!({ "$matcher": vector["matcher"] })));
        (text, json!({ "commands": [{ "command": vector["command"] }] }), vector["expected"] == true)
    });
    compare("structured matchers", cases);
}
