//! The run in a derivation. The steps that the assertion looks at are marked; in long runs the others are left out.

use super::hidden::HiddenValues;
use crate::redact::REDACTED;
use crate::value::shorten_text;
use averment_base::diagnostic::render::one_line;
use averment_builtins::detect::redacted_start;
use averment_engine::vm::derivation::{
    DerivationPart, PatternTrace, ShownValue, StateTrace, TemporalStanding, TemporalTrace,
};
use averment_runs::run::Run;
use averment_runs::timeline::timeline_rows;
use serde::Serialize;
use std::collections::BTreeMap;

/// Selects the steps that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepChoice {
    /// Relevant steps with their neighbors.
    Around,
    /// All steps.
    All,
}

/// A line of the timeline.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase", tag = "line")]
pub enum TimelineLine {
    /// A step.
    Step(Box<StepLine>),
    /// Omitted steps.
    Gap {
        /// The number of steps.
        steps: usize,
    },
}

/// A step.
#[derive(Debug, Clone, Serialize)]
pub struct StepLine {
    /// Its number, from 1.
    pub number: usize,
    /// The turn, such as `turn 2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub turn: String,
    /// Start time, relative to the first step.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time: String,
    /// Its kind.
    pub kind: &'static str,
    /// The action of the step.
    pub what: String,
    /// The status of the step.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub status: &'static str,
    /// The duration.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub duration: String,
    /// The patterns that the step matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<MatchedPattern>,
    /// The states of the statements after the step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<StepStanding>,
}

/// A pattern that a step matches.
#[derive(Debug, Clone, Serialize)]
pub struct MatchedPattern {
    /// The letter of the pattern.
    pub letter: String,
    /// The text of the pattern.
    pub pattern: String,
    /// False if the run does not record what decides the match.
    pub sure: bool,
    /// The bound values, such as `$id = "o-1"`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
}

/// The state of a statement after a step.
#[derive(Debug, Clone, Serialize)]
pub struct StepStanding {
    /// The statement, if there are several: `[2]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// The state, in words.
    pub standing: &'static str,
    /// The values that the statement counts or waits for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// True if the state is a final failure.
    pub violated: bool,
}

/// A pattern that a step matches: its letter, true if the match is certain, and the bound values.
type HitTrace = (String, bool, Vec<(String, ShownValue)>);

/// Maps steps to the parts of an assertion.
#[derive(Debug, Default)]
pub struct StepMarks {
    /// The text of each pattern; its letter is given by the index.
    letters: Vec<String>,
    matches: BTreeMap<u32, Vec<HitTrace>>,
    states: Vec<Vec<StateTrace>>,
    any: bool,
    /// True if there are several statements; each is then named.
    several: bool,
    /// True if some steps were not followed.
    pub cut: bool,
    /// The nesting depth of the current part.
    pub depth: usize,
}

impl StepMarks {
    /// Creates marks for an assertion with these parts.
    pub fn new(parts: &[DerivationPart]) -> Self {
        let (mut open, mut statements): (Vec<&DerivationPart>, usize) = (parts.iter().collect(), 0);
        while let Some(part) = open.pop() {
            statements += usize::from(part.temporal.as_ref().is_some_and(|temporal| !temporal.states.is_empty()));
            open.extend(&part.parts);
        }
        Self { several: statements > 1, ..Self::default() }
    }

    /// Adds a statement; returns its label if there are several.
    pub fn add_statement(&mut self, temporal: &TemporalTrace) -> Option<String> {
        self.any |= !temporal.patterns.is_empty() || !temporal.states.is_empty();
        self.cut |= temporal.cut;
        if temporal.states.is_empty() {
            return None;
        }
        self.states.push(temporal.states.clone());
        self.several.then(|| format!("[{}]", self.states.len()))
    }

    /// Adds the matches of a pattern; returns its letter.
    pub fn add_pattern(&mut self, text: &str, pattern: &PatternTrace) -> String {
        let at = self.letters.iter().position(|known| known == text).unwrap_or_else(|| {
            self.letters.push(text.to_owned());
            self.letters.len() - 1
        });
        let letter = pattern_letter(at);
        for hit in &pattern.hits {
            let of_step = self.matches.entry(hit.step).or_default();
            if !of_step.iter().any(|(known, ..)| *known == letter) {
                of_step.push((letter.clone(), hit.sure, hit.bindings.clone()));
            }
        }
        letter
    }
}

impl StepMarks {
    fn text_of(&self, wanted: &str) -> &str {
        let at = (0..self.letters.len()).find(|at| pattern_letter(*at) == wanted);
        at.and_then(|at| self.letters.get(at)).map_or("", String::as_str)
    }
}

fn pattern_letter(at: usize) -> String {
    let letters = ('A'..='Z').collect::<Vec<_>>();
    let first = letters.get(at % letters.len()).copied().unwrap_or('A');
    match at / letters.len() {
        0 => first.to_string(),
        round => format!("{first}{}", round + 1),
    }
}

/// The inputs for timeline lines.
pub struct TimelineContext<'a, 'run> {
    /// The run.
    pub run: &'a Run<'run>,
    /// The values to hide.
    pub hidden: &'a HiddenValues,
    /// True if all arguments are hidden.
    pub masked: bool,
}

impl TimelineContext<'_, '_> {
    /// Returns the action of a step.
    pub fn step_summary(&self, step: usize) -> Option<String> {
        timeline_rows(self.run, std::iter::once(step), LONG, redacted_start)
            .into_iter()
            .next()
            .map(|row| self.shown_summary(&row.what))
    }

    fn shown_summary(&self, what: &str) -> String {
        let what = if self.masked { masked_summary(what) } else { self.hidden.hide_words(what) };
        shorten_text(&one_line(&what), SHOWN)
    }
}

/// Number of neighbors shown on each side of a relevant step.
const NEAR: usize = 1;
/// Maximum number of lines of one timeline, unless all are requested.
const LINES: usize = 60;
/// Maximum characters of a step's action, before and after secrets are removed.
const LONG: usize = 2_000;
const SHOWN: usize = 200;

/// Returns the lines of a timeline; empty for an assertion that looks at no steps.
pub fn timeline_lines(look: &TimelineContext<'_, '_>, marks: &StepMarks, choice: StepChoice) -> Vec<TimelineLine> {
    if !marks.any {
        return Vec::new();
    }
    let count = look.run.steps.len();
    let chosen = chosen_steps(marks, count, choice);
    let mut lines = Vec::new();
    let mut next = 0;
    for (at, row) in chosen.iter().zip(timeline_rows(look.run, chosen.iter().copied(), LONG, redacted_start)) {
        if *at > next {
            lines.push(TimelineLine::Gap { steps: at - next });
        }
        next = at + 1;
        lines.push(TimelineLine::Step(Box::new(StepLine {
            number: at + 1,
            turn: row.turn,
            time: row.time,
            kind: row.kind,
            what: look.shown_summary(&row.what),
            status: row.status,
            duration: row.duration,
            matches: step_matches(look, marks, *at),
            states: step_states(look, marks, *at),
        })));
    }
    if count > next && !lines.is_empty() {
        lines.push(TimelineLine::Gap { steps: count - next });
    }
    lines
}

/// Returns only the tool's name, because any argument may contain a hidden value.
fn masked_summary(what: &str) -> String {
    match what.split_once('(') {
        Some((name, _)) => format!("{name}({REDACTED})"),
        None => REDACTED.to_owned(),
    }
}

fn chosen_steps(marks: &StepMarks, count: usize, choice: StepChoice) -> Vec<usize> {
    if choice == StepChoice::All {
        return (0..count).collect();
    }
    let changed = marks.states.iter().flatten().map(|state| state.step);
    let mut wanted: Vec<usize> = marks.matches.keys().copied().chain(changed).map(|step| step as usize).collect();
    wanted.sort_unstable();
    wanted.dedup();
    // If there are too many steps, the first and the last ones are shown.
    if wanted.len() > LINES {
        let tail = wanted.split_off(wanted.len() - LINES / 4);
        wanted.truncate(LINES - tail.len());
        wanted.extend(tail);
    }
    let mut near: Vec<usize> =
        wanted.iter().flat_map(|at| at.saturating_sub(NEAR)..=(at + NEAR).min(count.saturating_sub(1))).collect();
    near.sort_unstable();
    near.dedup();
    // A gap of one step is filled, because the gap line would take the same space.
    let mut chosen: Vec<usize> = Vec::with_capacity(near.len());
    for at in near {
        let next = chosen.last().map_or(0, |last| last + 1);
        if at == next + 1 {
            chosen.push(next);
        }
        chosen.push(at);
    }
    if chosen.last().is_some_and(|last| last + 2 == count) {
        chosen.push(count - 1);
    }
    if chosen.is_empty() && count <= 2 * NEAR + 1 { (0..count).collect() } else { chosen }
}

fn step_matches(look: &TimelineContext<'_, '_>, marks: &StepMarks, at: usize) -> Vec<MatchedPattern> {
    let of_step = u32::try_from(at).ok().and_then(|at| marks.matches.get(&at)).map_or(&[][..], Vec::as_slice);
    let matched = of_step.iter().map(|(letter, sure, bindings)| {
        let values =
            bindings.iter().map(|(name, shown)| format!("${name} = {}", look.hidden.hide_value(shown, look.masked)));
        MatchedPattern {
            letter: letter.clone(),
            pattern: marks.text_of(letter).to_owned(),
            sure: *sure,
            values: values.collect::<Vec<_>>().join(", "),
        }
    });
    matched.collect()
}

fn step_states(look: &TimelineContext<'_, '_>, marks: &StepMarks, at: usize) -> Vec<StepStanding> {
    let mut found = Vec::new();
    for (number, states) in (1..).zip(&marks.states) {
        for state in states.iter().filter(|state| state.step as usize == at) {
            found.push(StepStanding {
                statement: marks.several.then(|| format!("[{number}]")),
                standing: state.standing.as_str(),
                words: look.hidden.hide_words(&state.words),
                violated: state.standing == TemporalStanding::ViolatedForGood,
            });
        }
    }
    found
}
