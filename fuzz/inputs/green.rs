//! No silent green: a run in which a tool is called does not pass `never TOOL` because its record is damaged.
//!
//! The first call that a reader finds decides the rule. Then the record is damaged at a place that is drawn from its bytes, and read again.
//! Where the rule passes now, the reader has to say what it did not understand.

use super::mutate::Dice;
use averment::{Rules, Trace};
use averment_base::limits::Limits;
use averment_runs::run::StepKind;
use averment_traces::read::{self, TraceRuns};
use bumpalo::Bump;
use std::io::Cursor;

/// Damages an input in sixteen ways, one at a time.
pub fn run(bytes: &[u8]) {
    let Some(tool) = called_tool(bytes) else { return };
    let Ok(rules) = Rules::from_text("never.assert", &format!("never {tool}\n")) else { return };
    // Some formats make the name of a key: whether that is still the same tool cannot be told here.
    let named = times_named(bytes, &tool);
    if named == 0 || !fails(&rules, bytes) {
        return;
    }
    let seed = bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let seeds = [bytes.to_vec()];
    for number in 0..16 {
        let damaged = Dice::of_input(seed, number).edited(&seeds, 0, 1);
        // What no longer names the tool may be another call.
        if times_named(&damaged, &tool) >= named && passes_in_silence(&rules, &damaged) {
            panic!("`never {tool}` failed and passes in silence:\n{}\n{}", shown(bytes), shown(&damaged));
        }
    }
}

/// How often a text holds a tool's name in quotes, of whatever kind: with anything else beside it, it is that of another tool.
fn times_named(bytes: &[u8], tool: &str) -> usize {
    let text = shown(bytes);
    let stands_alone = |(at, _): &(usize, &str)| {
        let (before, behind) = (&text[..*at], &text[at + tool.len()..]);
        before.ends_with(['"', '\'']) && behind.trim_start_matches('\\').starts_with(['"', '\''])
    };
    text.match_indices(tool).filter(stands_alone).count()
}

fn shown(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The first tool whose name is a word of the language.
fn called_tool(bytes: &[u8]) -> Option<String> {
    let limits = Limits::default();
    let raw = TraceRuns::new("trace", Cursor::new(bytes.to_vec()), &limits).next()?.ok()?;
    let arena = Bump::new();
    let run = read::parse_run(&raw, &arena, &limits).ok()?;
    let is_word =
        |name: &&str| name.len() > 3 && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| step.name).find(is_word).map(str::to_owned)
}

fn fails(rules: &Rules, bytes: &[u8]) -> bool {
    rules.check(Trace::reader(Cursor::new(bytes.to_vec()))).any(|one| one.is_ok_and(|one| !one.passed()))
}

fn passes_in_silence(rules: &Rules, bytes: &[u8]) -> bool {
    let mut runs = rules.check(Trace::reader(Cursor::new(bytes.to_vec()))).peekable();
    runs.peek().is_some() && runs.all(|one| one.is_ok_and(|one| one.passed() && one.warnings().next().is_none()))
}
