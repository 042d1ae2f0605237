//! Sequence rules as Assay decides them, said in sentences of the language.
//!
//! The vectors were observed from the real program. The mapping is the table in docs/reference/assay.md; rules that have no sentence with the
//! same meaning (`sequence`, `before` with one name twice) are counted and not compared.
//! Run with `cargo test --test conformance_assay -- --nocapture` to see the numbers.

use averment_base::truth::Verdict;
use averment_fixtures::Rules;
use averment_fixtures::quote;
use serde_json::{Value, json};

/// A regular expression literal: slashes and line ends escaped, the empty expression written out. Assay's classes are those of Unicode.
fn regex(pattern: &str) -> String {
    let escaped = pattern.replace("\\/", "/").replace('/', "\\/").replace('\n', "\\n").replace('\r', "\\r");
    if escaped.is_empty() { "/(?:)/".to_owned() } else { format!("/{escaped}/u") }
}

/// A selector: a name, an alias, or a tool with regular expressions on the text of its arguments.
fn selector(value: &Value, aliases: &Value) -> String {
    if let Some(name) = value.as_str() {
        return match aliases.get(name).and_then(Value::as_array) {
            Some(members) => {
                let members: Vec<String> = members.iter().filter_map(Value::as_str).map(quote).collect();
                format!("({})", members.join(" | "))
            }
            None => quote(name),
        };
    }
    let tool = quote(value["tool"].as_str().expect("a tool"));
    let conditions: Vec<String> = value["args_match"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, pattern)| {
            let pattern = regex(pattern.as_str().expect("a pattern"));
            format!("text(args[{}]) matches {pattern}", quote(key))
        })
        .collect();
    if conditions.is_empty() { tool } else { format!("({tool} where {})", conditions.join(" and ")) }
}

/// A name or glob of the documented lists, as a bare glob or a quoted name; a glob that no bare name can hold is a condition on the name.
fn glob(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*');
    match () {
        () if !name.contains('*') => quote(name),
        () if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) => name.to_owned(),
        () => {
            let parts: Vec<String> = name.split('*').map(regex::escape).collect();
            format!("(any where tool matches {})", regex(&format!("(?s)^{}$", parts.join(".*"))))
        }
    }
}

fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(glob).collect(),
        other => other.as_str().map(glob).into_iter().collect(),
    }
}

/// The sentence of a rule, or `None` where the language has none with the same meaning.
fn sentence(rule: &Value, aliases: &Value) -> Option<String> {
    let select = |key: &str| selector(&rule[key], aliases);
    let text = match rule["type"].as_str()? {
        "require" => format!("require {}", select("tool")),
        "before" if rule["then"].is_array() => {
            format!("before {} -> {}", select("first"), names(&rule["then"]).join(", "))
        }
        "before" if rule["first"] == rule["then"] || select("first") == select("then") => return None,
        "before" if aliases.is_object() => return overlapping_before(rule, aliases),
        "before" => format!("before {} -> {}", select("first"), select("then")),
        "immediately_before" => {
            format!("immediately before {} -> {}", select("first"), names(&rule["then"]).join(", "))
        }
        "blocklist" if rule["tools"].is_array() => format!("never {}", names(&rule["tools"]).join(", ")),
        "blocklist" => format!("never (any where tool contains {})", quote(rule["pattern"].as_str()?)),
        "allowlist" => format!("only {}", names(&rule["tools"]).join(", ")),
        "max_calls" => format!("count {} <= {}", select("tool"), rule["max"]),
        "count" => {
            let tool = glob(rule["tool"].as_str()?);
            match (&rule["exact"], &rule["min"], &rule["max"]) {
                (exact, _, _) if !exact.is_null() => format!("count {tool} == {exact}"),
                (_, Value::Null, max) => format!("count {tool} <= {max}"),
                (_, min, Value::Null) => format!("count {tool} >= {min}"),
                (_, min, max) => format!("count {tool} in {min}..{max}"),
            }
        }
        "after" => {
            let within = rule["within"].as_u64().unwrap_or(1);
            format!("after {} -> {} within {within} calls", select("trigger"), select("then"))
        }
        "never_after" => format!("never {} after {}", select("forbidden"), select("trigger")),
        "eventually" => format!("some {}: index < {}", select("tool"), rule["within"]),
        _ => return None,
    };
    Some(text)
}

/// `before` between aliases compares first positions with "at most", so one call that is both counts for it; here "earlier" is strict. The two
/// agree only where no tool is on both sides.
fn overlapping_before(rule: &Value, aliases: &Value) -> Option<String> {
    let members = |value: &Value| -> Vec<String> {
        let name = value.as_str().unwrap_or_default();
        let listed = aliases.get(name).and_then(Value::as_array);
        listed.map_or_else(
            || vec![name.to_owned()],
            |all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        )
    };
    let (first, then) = (members(&rule["first"]), members(&rule["then"]));
    let shared = first.iter().any(|name| then.contains(name));
    (!shared).then(|| format!("before {} -> {}", selector(&rule["first"], aliases), selector(&rule["then"], aliases)))
}

/// The run of a vector: names, or calls with arguments.
fn run(vector: &Value) -> Value {
    let calls: Vec<Value> = match vector["calls"].as_array() {
        Some(calls) => calls.clone(),
        None => {
            vector["trace"].as_array().into_iter().flatten().map(|name| json!({ "tool": name, "args": {} })).collect()
        }
    };
    json!({ "calls": calls })
}

fn verdict(text: &str, run: &Value) -> Verdict {
    let rules = Rules::from_text("vector.assert", text)
        .unwrap_or_else(|diagnostics| panic!("{text}\ndoes not compile: {diagnostics:?}"));
    rules.check_json(&run.to_string()).expect("a readable run").results[0].verdict
}

/// Compares all vectors of a file; the expectation is a verdict or, where only pass and fail are known, either.
fn compare(file: &str, keep: impl Fn(&Value) -> bool, agrees: impl Fn(&Value, Verdict) -> bool) {
    let Some(path) = averment_fixtures::shared(&format!("conformance/assay/{file}")) else { return };
    let (mut same, mut none, mut wrong) = (0, 0, Vec::new());
    for vector in averment_fixtures::lines(&path).iter().filter(|vector| keep(vector)) {
        let Some(text) = sentence(&vector["rule"], &vector["aliases"]) else {
            none += 1;
            continue;
        };
        if invalid_regex(&vector["rule"]) {
            assert!(
                Rules::from_text("vector.assert", &text).is_err(),
                "a bad regular expression is a compile error: {text}"
            );
            none += 1;
            continue;
        }
        let found = verdict(&text, &run(vector));
        if agrees(vector, found) { same += 1 } else { wrong.push(format!("{text}\n  {vector}\n  found {found:?}")) }
    }
    println!("assay {file}: {same}/{} agree, {none} without a sentence of the same meaning", same + wrong.len());
    assert!(
        wrong.is_empty(),
        "{} differ, first:\n{}",
        wrong.len(),
        wrong.join("\n").chars().take(4_000).collect::<String>()
    );
    assert!(same > 0, "nothing was compared");
}

/// There a bad expression matches nothing; here it is a compile error.
fn invalid_regex(rule: &Value) -> bool {
    let patterns = ["tool", "first", "then", "trigger", "forbidden"].map(|key| &rule[key]["args_match"]);
    patterns
        .iter()
        .filter_map(|value| value.as_object())
        .flatten()
        .any(|(_, pattern)| pattern.as_str().is_some_and(|pattern| regex::Regex::new(pattern).is_err()))
}

fn outcome(vector: &Value, found: Verdict) -> bool {
    match vector["outcome"].as_str() {
        Some("held") => found == Verdict::Pass,
        Some("violated") => found == Verdict::Fail,
        Some("not_exercised") => found == Verdict::Vacuous,
        _ => false,
    }
}

fn complete(vector: &Value) -> bool {
    vector["extent"].as_str().is_none_or(|extent| extent == "complete")
}

#[test]
fn sequence_rules_agree() {
    compare("oracle/seq.jsonl", complete, outcome);
}

#[test]
fn aliases_are_choices() {
    compare("oracle/alias.jsonl", complete, outcome);
}

#[test]
fn argument_patterns_agree() {
    compare("oracle/args_match.jsonl", complete, outcome);
}

#[test]
fn the_documented_rules_agree() {
    compare(
        "docs_vectors/sequences_v1.0.0.jsonl",
        |_| true,
        |vector, found| match vector["expect"].as_str() {
            Some("pass") => matches!(found, Verdict::Pass | Verdict::Vacuous),
            _ => found == Verdict::Fail,
        },
    );
}
