//! Collected mistakes of authors with the intended text: measures whether the diagnostics lead to it.
//!
//! `cargo test -p averment-ide --test ide mistakes -- --nocapture` prints the numbers; `AVERMENT_MISTAKES=1` also prints every mistake that is not
//! resolved, with its diagnostics.

use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, SourceEdit};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_engine::compile::compile;
use averment_fixtures as fixtures;
use averment_ide::lint::{LintOptions, report_file};
use serde_json::Value;
use std::path::Path;

/// Minimum share of mistakes that lead to the intended text.
const BAR: f64 = 0.85;
/// Maximum number of fixes applied to one text in succession.
const ROUNDS: usize = 8;

/// A catalog of tools, put before a text whose mistake shows only with a catalog.
const CATALOGUE: &str = "tool refund { type: \"object\", properties: { id: {}, amount: { type: \"number\" } } }\n";

#[derive(Debug)]
struct Mistake {
    written: String,
    /// Complete texts of which any is right; `None` if the intention cannot be known.
    meant: Option<Vec<String>>,
}

impl Mistake {
    fn new(entry: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let written = text(&entry["written"]);
        // A diagnostic in the second line of a one-line text means that a catalog was in the first line.
        let said = entry["said_today"][0].as_str().unwrap_or("");
        let catalogue = if said.starts_with("2:") && !written.contains('\n') { CATALOGUE } else { "" };
        let whole = |value: &Value| format!("{catalogue}{}", text(value));
        Self {
            written: whole(&entry["written"]),
            meant: entry["meant"].as_array().map(|meant| meant.iter().map(whole).collect()),
        }
    }
}

fn said(text: &str) -> (Diagnostics, Option<Value>) {
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new("rules.assert", Some(Path::new("")), text));
    let checked = check_rules(&mut map, root, &CheckOptions { limits: Limits::default(), files: &Memory::default() });
    let found = report_file(&map, root, &checked, &LintOptions::default());
    let program = (!checked.diagnostics.has_errors()).then(|| {
        let mut program = serde_json::to_value(compile(&checked.module, &map)).expect("a program as JSON");
        strip(&mut program);
        program
    });
    (found, program)
}

/// Removes source texts and locations from a program.
fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["sources", "spans", "span", "place", "text", "binding_names"] {
                fields.remove(name);
            }
            if fields.contains_key("check") {
                fields.remove("id");
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        _ => {}
    }
}

fn program(text: &str) -> Option<Value> {
    said(text).1
}

fn edited(text: &str, edits: &[SourceEdit]) -> Option<String> {
    let mut edits: Vec<&SourceEdit> = edits.iter().filter(|edit| edit.span.file == FileId(0)).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.span.start, edit.span.end)));
    let mut text = text.to_owned();
    for edit in edits {
        text.get(edit.span.as_range())?;
        text.replace_range(edit.span.as_range(), &edit.text);
    }
    Some(text)
}

/// Returns the texts that fixes lead to as soon as they compile: the first fix, then the first fix of the new diagnostics, and so on.
fn by_fixes(text: &str) -> Vec<String> {
    let mut ends = Vec::new();
    let (found, compiled) = said(text);
    let wrong = |one: &&Diagnostic| compiled.is_some() || one.severity == Severity::Error;
    for first in found.0.iter().filter(wrong) {
        let mut next = first.fix.as_ref().and_then(|fix| edited(text, &fix.edits));
        for _ in 0..ROUNDS {
            let Some(text) = next else { break };
            let (found, compiled) = said(&text);
            if compiled.is_some() {
                ends.push(text);
                break;
            }
            next = found.0.iter().find_map(|one| edited(&text, &one.fix.as_ref()?.edits));
        }
    }
    ends
}

/// Returns the texts in backticks.
fn codes(help: &str) -> Vec<String> {
    help.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the texts that result from writing what the help says: as the whole text, in place of the line, or in place of the underlined part.
fn by_help(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for one in said(text).0.0 {
        let codes = one.help.as_deref().map(codes).unwrap_or_default();
        let range = one.span.as_range();
        let start = text.get(..range.start).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
        let end = text
            .get(range.end..)
            .map_or(text.len(), |behind| behind.find('\n').map_or(text.len(), |at| range.end + at));
        let both = (codes.len() == 2).then(|| codes.join("\n"));
        for code in codes.iter().chain(&both) {
            texts.push(code.clone());
            texts.push(format!("{}{code}{}", &text[..start], &text[end..]));
            texts.push(format!("{}{code}{}", &text[..range.start], &text[range.end..]));
        }
    }
    texts
}

#[derive(Debug, Default)]
struct Count {
    all: usize,
    led: usize,
    by_fix: usize,
    lost: String,
    /// Fixes that lead to another text than intended.
    misled: Vec<String>,
}

impl Count {
    fn add(&mut self, mistake: &Mistake) {
        let written = &mistake.written;
        let fixes = by_fixes(written);
        let Some(meant) = &mistake.meant else {
            self.misled.extend(fixes.iter().map(|text| format!("{written:?} becomes {text:?}, and nobody knows")));
            return;
        };
        self.all += 1;
        let meant: Vec<Value> =
            meant.iter().map(|text| program(text).unwrap_or_else(|| panic!("{text:?} does not compile"))).collect();
        let is_meant = |text: &String| program(text).is_some_and(|program| meant.contains(&program));
        let (right, wrong): (Vec<String>, Vec<String>) = fixes.into_iter().partition(is_meant);
        self.misled.extend(wrong.iter().map(|text| format!("{written:?} becomes {text:?}")));
        self.by_fix += usize::from(!right.is_empty());
        if !right.is_empty() || is_meant(written) || by_help(written).iter().any(is_meant) {
            self.led += 1;
            return;
        }
        let said: Vec<String> = said(written)
            .0
            .0
            .iter()
            .map(|one| format!("{}; help: {}", one.message, one.help.as_deref().unwrap_or("-")))
            .collect();
        self.lost += &format!("  {written:?}\n    {}\n", said.join("\n    "));
    }

    fn hold(&self, name: &str) {
        let share = self.led as f64 / self.all.max(1) as f64;
        println!(
            "{name}: {} of {} mistakes lead to what was meant ({:.1} %), {} by a fix; {} fixes lead elsewhere",
            self.led,
            self.all,
            100.0 * share,
            self.by_fix,
            self.misled.len()
        );
        if std::env::var_os("AVERMENT_MISTAKES").is_some() {
            println!("{}\n{}", self.lost, self.misled.join("\n"));
        }
        assert!(self.misled.is_empty(), "fixes that lead elsewhere:\n{}", self.misled.join("\n"));
        assert!(share >= BAR, "less than {BAR} lead to what was meant:\n{}", self.lost);
    }
}

fn counted(mistakes: impl IntoIterator<Item = Value>) -> Count {
    let mut count = Count::default();
    for entry in mistakes {
        count.add(&Mistake::new(&entry));
    }
    count
}

#[test]
fn what_is_said_of_a_mistake_leads_to_what_was_meant() {
    counted(fixtures::lines(&fixtures::project("tests/data/mistakes.jsonl"))).hold("our own");
}

#[test]
fn what_is_said_of_recorded_mistakes_leads_to_what_was_meant() {
    let Some(path) = fixtures::shared("conformance/language/mistakes/mistakes.json") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let Ok(Value::Array(mistakes)) = serde_json::from_str(&text) else { panic!("a list of mistakes") };
    counted(mistakes).hold("recorded");
}
