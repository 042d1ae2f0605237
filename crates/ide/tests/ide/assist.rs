//! Tests of completion, hover, signatures and readings on files with cursors: `<|>` marks a position; the snapshot shows the results there.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_fixtures as fixtures;
use averment_ide::assist::{self, CursorContext};
use averment_syntax::ast::{ItemKind, StatementKind, SyntaxItem};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const MARK: &str = "<|>";
/// Number of candidates that a snapshot shows for a position.
const SHOWN: usize = 14;

struct Fixture {
    name: String,
    text: String,
    marks: Vec<usize>,
    context: CursorContext,
}

fn folder(feature: &str) -> PathBuf {
    fixtures::project("tests/golden/assist").join(feature)
}

fn fixtures(feature: &str) -> Vec<Fixture> {
    fixtures::rule_files(&folder(feature)).iter().map(|path| fixture(path)).collect()
}

fn fixture(path: &Path) -> Fixture {
    let written = std::fs::read_to_string(path).unwrap();
    let mut marks = Vec::new();
    let mut text = String::new();
    for part in written.split(MARK) {
        text.push_str(part);
        marks.push(text.len());
    }
    marks.pop();
    let context = context_of(&text, path);
    Fixture { name: fixtures::stem(path), text, marks, context }
}

fn context_of(text: &str, path: &Path) -> CursorContext {
    let tools = std::fs::read_to_string(path.with_file_name("tools.json")).unwrap_or_default();
    let files = Memory::new([("tools.json", tools)]);
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("rules.assert", Some(Path::new("")), text));
    let checked = check_rules(&mut sources, root, &CheckOptions { limits: Limits::default(), files: &files });
    let context = CursorContext::from_checked(&checked, &sources, root);
    let Ok(run) = std::fs::read_to_string(path.with_extension("json")) else { return context };
    let arena = bumpalo::Bump::new();
    let run = averment_traces::read_str(&run, &arena, &Limits::default()).unwrap();
    context.with_run(&run)
}

/// Returns the line of an offset with the cursor in it.
fn line(text: &str, at: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| end + at);
    format!("{}{MARK}{}", &text[start..at], &text[at..end])
}

fn compare(feature: &str, show: impl Fn(&Fixture, usize) -> String) {
    for fixture in fixtures(feature) {
        let mut out = String::new();
        for &mark in &fixture.marks {
            writeln!(out, "{}\n{}", line(&fixture.text, mark), show(&fixture, mark)).unwrap();
        }
        snapshot(feature, &fixture.name, &out);
    }
}

fn snapshot(feature: &str, name: &str, text: &str) {
    let _scope = fixtures::snapshot_beside(&folder(feature).join(format!("{name}.assert")));
    insta::assert_snapshot!(name, text);
}

#[test]
fn completion() {
    compare("completion", |fixture, mark| {
        let found = assist::complete_at(&fixture.text, mark, &fixture.context);
        let typed = &fixture.text[found.range.start..mark];
        let mut out = String::new();
        if let Some(path) = &found.path {
            writeln!(out, "  a file: {path:?}").unwrap();
        }
        let fitting: Vec<_> = found.starting_with(typed).collect();
        for item in fitting.iter().take(SHOWN) {
            let insert = if item.insert == item.label { String::new() } else { format!(" => {}", item.insert) };
            let kind = format!("{:?}", item.kind).to_lowercase();
            let detail = if item.detail.is_empty() { String::new() } else { format!(" ({})", item.detail) };
            writeln!(out, "  {kind} {}{insert}{detail}", item.label).unwrap();
        }
        if fitting.len() > SHOWN {
            writeln!(out, "  … {} more", fitting.len() - SHOWN).unwrap();
        }
        out
    });
}

#[test]
fn hover() {
    compare("hover", |fixture, mark| match assist::hover_at(&fixture.text, mark, &fixture.context) {
        None => "  nothing\n".to_owned(),
        Some(hover) => {
            let text: String = hover.text.lines().map(|line| format!("  | {line}\n")).collect();
            format!("  `{}`\n{text}", &fixture.text[hover.range])
        }
    });
}

#[test]
fn signatures() {
    compare("signature", |fixture, mark| match assist::signature_at(&fixture.text, mark, &fixture.context) {
        None => "  none\n".to_owned(),
        Some(found) => {
            let active = found.parameters.get(found.active).map_or("none", String::as_str);
            format!("  {}\n  at: {active}\n  {}\n", found.label, found.doc)
        }
    });
}

#[test]
fn readings_of_statements_about_order() {
    let text = std::fs::read_to_string(folder("reading").join("statements.assert")).unwrap();
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("statements.assert", None, text));
    let (file, _, diagnostics) = averment_syntax::parse(&sources, root, &Limits::default());
    assert!(diagnostics.0.is_empty(), "{diagnostics:?}");
    let mut out = String::new();
    readings(&file.items, &sources, &mut out);
    snapshot("reading", "statements", &out);
}

fn readings(items: &[SyntaxItem], sources: &SourceMap, out: &mut String) {
    for item in items {
        let ItemKind::Assertion(assertion) = &item.kind else { continue };
        let head = sources.span_text(assertion.statement.span).split(" {").next().unwrap().to_owned();
        let reading = assist::statement_reading(&assertion.statement, sources).unwrap_or_else(|| "-".to_owned());
        writeln!(out, "{head}\n  {reading}").unwrap();
        if let StatementKind::Block { body, .. } = &assertion.statement.kind {
            readings(body, sources, out);
        }
    }
}

#[test]
fn any_place_of_any_text_has_an_answer_and_none_stops_the_program() {
    for path in fixtures::files(&fixtures::project("tests/conformance/language/good")) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let context = CursorContext::default();
        for at in (0..text.len()).step_by(37) {
            let found = assist::complete_at(&text, at, &context);
            assert!(
                found.range.start <= at && at <= found.range.end.max(at),
                "{}: {at} {:?}",
                path.display(),
                found.range
            );
            let _ = assist::hover_at(&text, at, &context);
            let _ = assist::signature_at(&text, at, &context);
            let (cut, _) = text.split_at((0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap());
            let _ = assist::complete_at(cut, cut.len(), &context);
        }
    }
}

#[test]
fn snippets_become_plain_text() {
    assert_eq!(assist::strip_placeholders("before ${1:approve} -> ${2:refund}"), "before approve -> refund");
    assert_eq!(assist::strip_placeholders("severity ${1|error,warn,info|}"), "severity error");
    assert_eq!(assist::strip_placeholders("def step ${1:name}(${2:\\$id}) = ${3:tool}"), "def step name($id) = tool");
    assert_eq!(assist::strip_placeholders("rule ${1:a} {\n  $0\n}"), "rule a {\n  \n}");
}
