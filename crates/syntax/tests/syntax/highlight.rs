//! The TextMate grammar of editors: its words are those of the language, its patterns can be read, and it finds what a reader would.
//! `UPDATE_GENERATED=1` writes the words of the language into it.

use averment_syntax::words;
use serde_json::Value;
use std::collections::BTreeSet;

fn file() -> std::path::PathBuf {
    averment_fixtures::root().join("crates/syntax/grammar/assert.tmLanguage.json")
}

fn grammar() -> Value {
    serde_json::from_str(&std::fs::read_to_string(file()).unwrap()).unwrap()
}

/// The pattern of a part of the grammar: its first one that begins a line, or its only one.
fn pattern(grammar: &Value, pointer: &str) -> String {
    grammar.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} is not there")).to_owned()
}

/// The words of `\b(?:a|b)\b` in a pattern.
fn alternatives(pattern: &str) -> Vec<&str> {
    let (_, rest) = pattern.split_once(r"\b(?:").unwrap_or_else(|| panic!("no words in {pattern}"));
    rest.split_once(')').unwrap().0.split('|').collect()
}

#[test]
fn the_words_are_those_of_the_language() {
    let grammar = grammar();
    let lists: &[(&str, &[&str])] = &[
        ("/repository/lines/patterns/0/match", words::STATEMENTS),
        ("/repository/lines/patterns/1/match", words::DECLARATIONS),
        ("/repository/lines/patterns/2/match", words::SETTINGS),
        ("/repository/statements/match", words::STATEMENTS),
        ("/repository/modifiers/match", words::MODIFIERS),
        ("/repository/operators/match", words::OPERATORS),
        ("/repository/literals/match", words::LITERALS),
        ("/repository/roots/match", words::ROOTS),
        ("/repository/kinds/match", words::KINDS),
    ];
    let mut text = std::fs::read_to_string(file()).unwrap();
    for (pointer, expected) in lists {
        let written = pattern(&grammar, pointer);
        text =
            text.replace(&format!("(?:{})", alternatives(&written).join("|")), &format!("(?:{})", expected.join("|")));
    }
    averment_fixtures::compare_generated(&file(), &text);
    for verdict in words::VERDICTS {
        assert!(pattern(&grammar, "/repository/declarations/patterns/5/match").contains(verdict), "{verdict}");
    }
}

#[test]
fn every_keyword_of_the_grammar_file_is_highlighted() {
    if averment_fixtures::updates_generated() {
        // The file is being written.
        return;
    }
    let pest = std::fs::read_to_string(averment_fixtures::root().join("crates/syntax/grammar/assert.pest")).unwrap();
    let grammar = grammar();
    let names = ["statements", "modifiers", "operators", "literals", "kinds", "keywords"];
    let patterns: Vec<String> =
        names.iter().map(|name| pattern(&grammar, &format!("/repository/{name}/match"))).collect();
    let lines = [1, 2].map(|number| pattern(&grammar, &format!("/repository/lines/patterns/{number}/match")));
    let known: BTreeSet<&str> = patterns.iter().chain(&lines).flat_map(|pattern| alternatives(pattern)).collect();
    let keywords = pest.lines().filter_map(|line| line.strip_prefix("k_")?.split(' ').next());
    let missing: Vec<&str> = keywords.filter(|word| !known.contains(word)).collect();
    assert!(missing.is_empty(), "{missing:?}: UPDATE_GENERATED=1 cargo test -p averment-syntax --test syntax");
}

/// The queries of the tree-sitter grammar are written by node, which need not be here: what is missing in them is said all the same.
#[test]
fn every_keyword_and_root_is_marked_in_the_queries_of_editors() {
    let root = averment_fixtures::root();
    let pest = std::fs::read_to_string(root.join("crates/syntax/grammar/assert.pest")).unwrap();
    let keywords = pest.lines().filter_map(|line| line.strip_prefix("k_")?.split(' ').next());
    let keywords: BTreeSet<&str> = keywords.collect();
    assert!(keywords.len() > 100);
    for editor in ["neovim", "helix", "zed"] {
        let path = root.join(format!("editors/tree-sitter-assert/queries/{editor}/highlights.scm"));
        let text = std::fs::read_to_string(path).unwrap();
        let marked: BTreeSet<&str> = text.lines().map(|line| line.trim().trim_matches('"')).collect();
        let missing: Vec<&str> = keywords.iter().copied().filter(|word| !marked.contains(word)).collect();
        assert!(missing.is_empty(), "{editor}: {missing:?}: node editors/tree-sitter-assert/tools/write.mjs");
        let roots: BTreeSet<&str> =
            text.split("\"^(").flat_map(|list| list.split(")$").next().unwrap().split('|')).collect();
        assert!(words::ROOTS.iter().all(|root| roots.contains(root)), "{editor}: a root is missing");
    }
}

/// Every pattern in the grammar with where it stands.
fn patterns(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match value.as_str() {
                    Some(text) if ["match", "begin", "end", "firstLineMatch"].contains(&key.as_str()) => {
                        found.push(text.to_owned())
                    }
                    _ => patterns(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| patterns(value, found)),
        _ => {}
    }
}

#[test]
fn every_pattern_and_every_reference_can_be_read() {
    let grammar = grammar();
    let mut found = Vec::new();
    patterns(&grammar, &mut found);
    assert!(found.len() > 30);
    for pattern in found {
        regex::Regex::new(&pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    }
    let text = grammar.to_string();
    for reference in text.split("\"include\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(grammar.pointer(&format!("/repository/{reference}")).is_some(), "{reference}");
    }
}

/// The scope of the first pattern that matches earliest in a line, as an editor looks for it.
fn scope_at(grammar: &Value, line: &str, word: &str) -> String {
    let at = line.find(word).unwrap();
    let mut position = 0;
    while position <= at {
        let Some((start, end, scopes)) = first_match(grammar, line, position) else { return String::new() };
        if let Some((_, scope)) = scopes.iter().rev().find(|(range, _)| range.contains(&at)) {
            return scope.clone();
        }
        position = end.max(start + 1);
    }
    String::new()
}

type Scopes = Vec<(std::ops::Range<usize>, String)>;

fn first_match(grammar: &Value, line: &str, from: usize) -> Option<(usize, usize, Scopes)> {
    let mut rules = Vec::new();
    collect(grammar, &grammar["patterns"], &mut rules);
    let mut best: Option<(usize, usize, Scopes)> = None;
    for rule in rules {
        let source = rule["match"].as_str().or_else(|| rule["begin"].as_str()).unwrap();
        let regex = regex::Regex::new(source).unwrap();
        let Some(captures) = regex.captures_at(line, from) else { continue };
        let whole = captures.get(0).unwrap();
        if best.as_ref().is_some_and(|(start, ..)| *start <= whole.start()) {
            continue;
        }
        let mut scopes: Scopes =
            rule["name"].as_str().map(|name| (whole.range(), name.to_owned())).into_iter().collect();
        for (number, capture) in rule["captures"].as_object().into_iter().flatten() {
            let group = captures.get(number.parse().unwrap());
            if let (Some(group), Some(name)) = (group, capture["name"].as_str()) {
                scopes.push((group.range(), name.to_owned()));
            } else if let (Some(group), true) = (group, capture["patterns"].is_array()) {
                let inner = serde_json::json!({"patterns": capture["patterns"], "repository": grammar["repository"]});
                let (_, _, found) = first_match(&inner, group.as_str(), 0).unwrap_or_default();
                let moved = |range: std::ops::Range<usize>| range.start + group.start()..range.end + group.start();
                scopes.extend(found.into_iter().map(|(range, scope)| (moved(range), scope)));
            }
        }
        best = Some((whole.start(), whole.end(), scopes));
    }
    best
}

fn collect<'g>(grammar: &'g Value, patterns: &'g Value, rules: &mut Vec<&'g Value>) {
    for rule in patterns.as_array().into_iter().flatten() {
        match rule["include"].as_str() {
            Some(reference) => {
                let target = &grammar["repository"][reference.trim_start_matches('#')];
                if target["match"].is_string() || target["begin"].is_string() {
                    rules.push(target);
                }
                collect(grammar, &target["patterns"], rules);
            }
            None => rules.push(rule),
        }
    }
}

#[test]
fn words_are_what_they_are_where_they_stand() {
    let grammar = grammar();
    for (line, word, scope) in [
        ("  never admin_*, drop_table  weight 2", "never", "keyword.control"),
        ("  never admin_*, drop_table  weight 2", "weight", "keyword.other.modifier"),
        ("output.count == 3", "count", "variable.other.property"),
        ("output.count == 3", "output", "variable.language"),
        ("rule approval \"Refunds\" {", "approval", "entity.name.section"),
        ("before approve(id: $id) -> refund(id: $id)", "approve", "entity.name.function"),
        ("before approve(id: $id) -> refund(id: $id)", "$id", "variable.parameter.binding"),
        ("before approve(id: $id) -> refund(id: $id)", "->", "keyword.operator.arrow"),
        ("output.url matches /^https:\\/\\/[/]x$/i  weight 2", "https", "string.regexp"),
        ("output.a / 2 == 3 # half", "2", "constant.numeric"),
        ("duration <= 1h30m", "1h30m", "constant.numeric.duration"),
        ("cost <= $0.05", "$0.05", "constant.numeric.money"),
        ("param limit: number = 100  # why", "number", "support.type"),
        ("## What is large.", "What", "comment.line.documentation"),
        ("never deploy  # allow: unlisted-tool", "unlisted-tool", "support.constant.lint"),
        ("test \"t\" expect vacuous safe {", "vacuous", "constant.language.verdict"),
        ("def step paid(limit, $id) = refund", "paid", "entity.name.function"),
        ("require command /npm ci/", "command", "support.class.step"),
        ("output is Refund", "Refund", "entity.name.type"),
    ] {
        let found = scope_at(&grammar, line, word);
        assert!(found.starts_with(scope), "`{word}` in `{line}` is {found}");
    }
}
