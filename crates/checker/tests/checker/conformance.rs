//! The corpus of the language: every file of `good/` checks without an error, every mark of `bad/` gives one diagnostic at its
//! place that holds the proposed text, and no other line of it gives any.

use averment_base::diagnostic::{Diagnostic, Severity};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Disk;
use averment_checker::{CheckOptions, CheckResult, check_rules};
use averment_fixtures as fixtures;
use std::path::{Path, PathBuf};

/// Good files that may be warned of: they forbid tools that their catalogue does not list.
const WARNED: &[&str] = &["first-file-from-the-contract.assert"];

/// The rule files of a folder of the corpus.
fn rule_files(folder: &str) -> Vec<PathBuf> {
    fixtures::rule_files(&fixtures::project("tests/conformance/language").join(folder))
}

fn checked(path: &Path) -> (SourceMap, CheckResult) {
    let limits = Limits::default();
    let disk = Disk::anywhere(limits.rule_file_bytes);
    let mut map = SourceMap::default();
    let name = path.file_name().unwrap().to_string_lossy();
    let root = map.add_file(SourceFile::new(name, path.parent(), std::fs::read_to_string(path).unwrap()));
    let checked = check_rules(&mut map, root, &CheckOptions { limits, files: &disk });
    (map, checked)
}

fn shown(map: &SourceMap, found: &Diagnostic) -> String {
    let at = map.line_column(found.span);
    format!(
        "{}:{}:{}: {:?}[{}]: {} ({}; {})",
        map.file_name(found.span),
        at.line,
        at.column,
        found.severity,
        found.slug.as_str(),
        found.message,
        found.label,
        found.help.as_deref().unwrap_or("")
    )
}

/// What a mark asks for: the place, whether it is a warning, and every text in backquotes.
struct Mark {
    line: usize,
    column: usize,
    warning: bool,
    proposed: Vec<String>,
    text: String,
}

fn marks(text: &str) -> Vec<Mark> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix("#! expect: "))
        .map(|mark| {
            let (place, text) = mark.split_once(' ').unwrap();
            let (line, column) = place.split_once(':').unwrap();
            Mark {
                line: line.parse().unwrap(),
                column: column.parse().unwrap(),
                warning: text.contains("(a warning"),
                proposed: text.split('`').skip(1).step_by(2).map(str::to_owned).collect(),
                text: text.to_owned(),
            }
        })
        .collect()
}

#[test]
fn the_corpus_is_read_as_it_says() {
    let mut complaints = Vec::new();
    let good = rule_files("good");
    let mut clean = 0;
    for path in &good {
        let (map, checked) = checked(path);
        let name = path.file_name().unwrap().to_string_lossy();
        let bothers = |found: &&Diagnostic| found.severity == Severity::Error || !WARNED.contains(&&*name);
        let found: Vec<String> = checked.diagnostics.0.iter().filter(bothers).map(|found| shown(&map, found)).collect();
        if found.is_empty() {
            clean += 1;
        }
        complaints.extend(found.into_iter().map(|found| format!("good/{found}")));
    }
    let (mut met, mut asked) = (0, 0);
    for path in rule_files("bad") {
        let marks = marks(&std::fs::read_to_string(&path).unwrap());
        asked += marks.len();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (map, checked) = checked(&path);
        let root = checked.diagnostics.0.iter().filter(|found| map.file_name(found.span) == name);
        let mut left: Vec<&Diagnostic> = root.collect();
        for mark in &marks {
            let place = left.iter().position(|found| {
                let at = map.line_column(found.span);
                at.line == mark.line && at.column == mark.column
            });
            let Some(place) = place else {
                complaints
                    .push(format!("bad/{name}:{}:{}: nothing said, expected: {}", mark.line, mark.column, mark.text));
                continue;
            };
            let found = left.remove(place);
            let all = format!("{} {} {}", found.message, found.label, found.help.as_deref().unwrap_or(""));
            let missing: Vec<&String> = mark.proposed.iter().filter(|text| !all.contains(text.as_str())).collect();
            let right_severity = (found.severity == Severity::Warning) == mark.warning;
            if missing.is_empty() && right_severity {
                met += 1;
            } else {
                complaints.push(format!(
                    "bad/{}\n      expected: {}\n      missing {missing:?}",
                    shown(&map, found),
                    mark.text
                ));
            }
        }
        complaints.extend(left.iter().map(|found| format!("bad/{}: not expected", shown(&map, found))));
    }
    println!("good {clean}/{}, bad {met}/{asked} marks", good.len());
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
