//! Typical mistakes of newcomers, each with the expected offer: words of other languages, other word orders, unclosed signs.
//!
//! `AVERMENT_SHOW_MISSED=1 cargo test -p averment-syntax --test syntax newcomers -- --nocapture` prints the actual offers of the others.

use averment_base::diagnostic::{Diagnostic, Fix};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_fixtures as fixtures;
use averment_syntax as syntax;

/// Minimum percentage of known mistakes whose message leads to the intended statement.
const BAR: usize = 85;
/// The minimum for mistakes that were added later without adapting the tables. The goal is 85 here too.
const UNSEEN_BAR: usize = 50;

fn said(text: &str) -> Vec<Diagnostic> {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    syntax::parse(&map, file, &Limits::default()).2.0
}

fn fixed(text: &str, fix: &Fix) -> String {
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.span.start, edit.span.end)));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.as_range(), &edit.text);
    }
    text
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns everything offered for a text: helps, titles and fixed texts. If the text parses, also the statement that the checker would suggest.
fn offers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for one in said(text) {
        found.extend(one.help.clone());
        if let Some(fix) = &one.fix {
            found.push(fix.title.clone());
            found.push(fixed(text, fix));
        }
    }
    // If a line parses but does not compile, the checker looks up the intended statement.
    found.extend(syntax::foreign_statement(text).map(|meant| meant.text));
    found.iter().map(|offer| on_one_line(offer)).collect()
}

struct Newcomer {
    kind: String,
    written: String,
    meant: Vec<String>,
}

fn rows(file: &str) -> Vec<Newcomer> {
    let text = std::fs::read_to_string(fixtures::project(file)).unwrap();
    let (mut kind, mut rows) = (String::new(), Vec::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            name.clone_into(&mut kind);
            continue;
        }
        let (written, meant) = line.rsplit_once(" => ").unwrap();
        let meant = meant.split(" || ").map(on_one_line).collect();
        rows.push(Newcomer { kind: kind.clone(), written: written.replace("\\n", "\n"), meant });
    }
    rows
}

#[test]
fn what_is_offered_to_newcomers_is_what_they_meant() {
    counted("tests/data/newcomers.txt", BAR);
}

/// Mistakes collected after the tables covered the first set, before any of them was tested.
#[test]
fn what_is_offered_of_unseen_mistakes_is_what_was_meant() {
    counted("tests/data/newcomers_second.txt", UNSEEN_BAR);
}

/// Texts from users of YAML, promptfoo, Gherkin, Python, jq, SQL, Rego and Cedar.
#[test]
fn what_is_offered_to_users_of_other_tools_is_what_they_meant() {
    counted("tests/data/newcomers_third.txt", BAR);
}

fn counted(file: &str, bar: usize) {
    let rows = rows(file);
    let mut missed = String::new();
    let mut led = 0;
    for row in &rows {
        let offers = offers(&row.written);
        if offers.iter().any(|offer| row.meant.iter().any(|meant| offer.contains(meant.as_str()))) {
            led += 1;
        } else {
            let read = if said(&row.written).is_empty() { " (can be read)" } else { "" };
            missed += &format!("{}: {:?}{read}, meant {:?}\n", row.kind, row.written, row.meant);
            for one in said(&row.written) {
                missed += &format!("    {}; help: {}\n", one.message, one.help.as_deref().unwrap_or("-"));
            }
        }
    }
    println!("{led} of {} mistakes lead to what was meant", rows.len());
    if std::env::var_os("AVERMENT_SHOW_MISSED").is_some() {
        println!("{missed}");
    }
    assert!(led * 100 >= rows.len() * bar, "{led} of {}:\n{missed}", rows.len());
}
