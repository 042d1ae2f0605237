//! What the reference and the pages of `aver explain` show is checked as it stands there.

use averment_base::diagnostic::{Severity, Slug};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, CheckResult, check_rules};
use std::path::Path;

fn checked(text: &str, files: &Memory) -> (SourceMap, CheckResult) {
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new("rules.assert", Some(Path::new("")), text));
    let checked = check_rules(&mut map, root, &CheckOptions { limits: Limits::default(), files });
    (map, checked)
}

/// What is said of a text, a line each; nothing for a good one.
fn said(text: &str, files: &Memory, least: Severity) -> Vec<String> {
    let (map, checked) = checked(text, files);
    let said = checked.diagnostics.0.iter().filter(|one| one.severity >= least);
    said.map(|one| format!("{}: {}: {}", map.line_column(one.span).line, one.slug.as_str(), one.message)).collect()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(averment_fixtures::root().join("docs/reference").join(name)).unwrap()
}

/// The fenced blocks of a page: their language and text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            found.push((language.trim().to_owned(), body.join("\n")));
        }
    }
    found
}

const TOOLS: &str = r#"{ "refund": { "type": "object", "properties": { "id": {}, "amount": { "type": "number" }, "currency": {} } }, "approve": {}, "cancel": {}, "api_call": {} }"#;

#[test]
fn every_program_of_the_reference_checks() {
    let files = Memory::new([("tools.json", TOOLS)]);
    let mut programs = 0;
    for name in ["language.md", "expressions.md", "functions.md", "checking.md"] {
        for (language, text) in blocks(&page(name)) {
            let is_rules = language == "assert" || language.is_empty() && text.starts_with("# refunds.assert");
            if is_rules {
                programs += 1;
                assert_eq!(said(&text, &files, Severity::Error), [""; 0], "{name}:\n{text}");
            }
        }
    }
    assert!(programs > 40, "only {programs} programs were found");
}

#[test]
fn every_wrong_program_of_the_reference_gives_its_slug() {
    let mut programs = 0;
    for (language, text) in blocks(&page("checking.md")) {
        let Some(slug) = language.strip_prefix("assert wrong ") else { continue };
        programs += 1;
        let (_, checked) = checked(&text, &Memory::default());
        let slugs: Vec<&str> = checked.diagnostics.0.iter().map(|one| one.slug.as_str()).collect();
        assert_eq!(slugs, [slug], "{text}");
    }
    assert!(programs >= 3, "only {programs} programs were found");
}

/// The code in the first column of the table that starts with this head.
fn first_column(page: &str, head: &str) -> Vec<String> {
    let rows = page.lines().skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.map(|line| line.replace("\\|", "\u{1}").split('|').nth(1).unwrap().replace('\u{1}', "|"));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn every_statement_in_the_table_of_statements_checks_as_it_is_written() {
    let files = Memory::default();
    let mut statements = 0;
    for code in first_column(&page("language.md"), "| statement | holds when") {
        // What the table writes as a part of the line before it, and its placeholders.
        if matches!(code.as_str(), "in")
            || code.starts_with(|first: char| matches!(first, '.' | '[') || first.is_ascii_digit())
        {
            continue;
        }
        let text = code.replace("PREDICATE", "contains_pii").replace("EXPR", "output").replace("cond", "ok");
        let text = if text.starts_with("args valid") { format!("tool A {{ type: \"object\" }}\n{text}") } else { text };
        assert_eq!(said(&text, &files, Severity::Warning), [""; 0], "{text}");
        statements += 1;
    }
    assert!(statements >= 38, "only {statements} statements were found");
}

#[test]
fn every_step_pattern_in_the_table_of_patterns_checks_as_it_is_written() {
    let files = Memory::default();
    let mut patterns = 0;
    for code in first_column(&page("language.md"), "| pattern | matches") {
        let params = ["witness", "action"].into_iter().filter(|name| code.contains(&format!("${{{name}}}")));
        let params: String = params.map(|name| format!("param {name}: string = \"x\"\n")).collect();
        let rules = format!("{params}before a(id: $id) -> {code}");
        assert_eq!(said(&rules, &files, Severity::Warning), [""; 0], "{code}");
        patterns += 1;
    }
    assert!(patterns >= 22, "only {patterns} patterns were found");
}

/// Pages about texts that cannot be shown.
const WITHOUT_PROGRAMS: &[Slug] = &[Slug::TooDeep, Slug::TooLarge, Slug::NotText, Slug::Project, Slug::Unformatted];

/// Files beside the programs.
const BESIDE: &[(&str, &str)] = &[
    ("tools.json", TOOLS),
    ("shared.assert", "def is_bigger(a) = a > 3\n"),
    ("main.assert", "use \"./rules.assert\"\nrequire search\n"),
    ("answer.schema.json", "{ \"type\": \"object\" \"required\": [] }"),
];

#[test]
fn every_page_of_explain_shows_its_mistake_and_a_way_without_it() {
    let mut wrong = Vec::new();
    // The pages of lints are tried by `crates/ide/tests/ide/lint.rs`.
    let of_lint = |slug: &Slug| slug.is_lint() && *slug != Slug::Impossible;
    for &slug in Slug::ALL.iter().filter(|slug| !WITHOUT_PROGRAMS.contains(slug) && !of_lint(slug)) {
        let programs: Vec<String> = blocks(slug.page())
            .into_iter()
            .filter(|(language, _)| language == "assert")
            .map(|(_, text)| text)
            .collect();
        let [avoid, prefer] = programs.as_slice() else {
            wrong.push(format!("{}: {} programs instead of two", slug.as_str(), programs.len()));
            continue;
        };
        let files = Memory::new(BESIDE.iter().copied().chain([("rules.assert", avoid.as_str())]));
        let (_, found) = checked(avoid, &files);
        if !found.diagnostics.0.iter().any(|one| one.slug == slug) {
            let all: Vec<&str> = found.diagnostics.0.iter().map(|one| one.slug.as_str()).collect();
            wrong.push(format!("{}: the bad program says {all:?}\n{avoid}", slug.as_str()));
        }
        let (map, good) = checked(prefer, &files);
        for one in &good.diagnostics.0 {
            wrong.push(format!(
                "{}: the good program says {}: {}",
                slug.as_str(),
                map.line_column(one.span).line,
                one.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
