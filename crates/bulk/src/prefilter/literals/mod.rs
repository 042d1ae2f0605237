//! All texts and regular expressions that are looked for in the same values, in one pass.
//!
//! Each has triggers: sequences of bytes of which a match starts with one, or holds one. The pass looks for triggers; only where one stands
//! is the expression itself tried, on the one text around it. What has no trigger is tried on every text.

mod required;
mod windows;

use super::predicate::SearchLiteral;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::prepare::PreparedProgram;
use averment_traces::projection::TextPool;
use averment_traces::scan::TeddySearcher;
use memchr::memmem;
use required::RequiredLiteral;
use rustc_hash::FxHashMap;
use windows::{LiteralWindows, WindowSize};

#[derive(Debug)]
pub(super) struct LiteralSearch {
    targets: Vec<SearchTarget>,
    triggers: Vec<SearchTrigger>,
    finder: TriggerFinder,
    untriggered: Vec<u32>,
}

#[derive(Debug)]
enum SearchTarget {
    Text,
    Regex(u32, Vec<memmem::Finder<'static>>),
}

#[derive(Debug)]
struct SearchTrigger {
    sequence: RequiredLiteral,
    targets: Vec<u32>,
}

#[derive(Debug)]
enum TriggerFinder {
    Teddy(Box<TeddySearcher>),
    /// Long plain literals are found by windows, the others by their own finder.
    Many {
        windows: Vec<LiteralWindows>,
        others: Box<TeddySearcher>,
        other_numbers: Vec<u32>,
    },
}

/// With more sequences, windows are used.
const FEW: usize = 40;

impl LiteralSearch {
    pub(super) fn new<'s>(program: &Program, wanted: impl Iterator<Item = &'s SearchLiteral>) -> Self {
        let (mut targets, mut untriggered) = (Vec::new(), Vec::new());
        let mut triggers: Vec<SearchTrigger> = Vec::new();
        let mut known = FxHashMap::default();
        for (number, wanted) in (0_u32..).zip(wanted) {
            let (target, sequences) = match wanted {
                // Between two texts stands a zero byte: what holds one could be found where no text holds it.
                SearchLiteral::Text(text) => {
                    let one = RequiredLiteral::of_text(text).filter(|_| text.len() <= 64 && !text.contains('\0'));
                    (SearchTarget::Text, one.map(|one| vec![one]))
                }
                SearchLiteral::Regex(regex) => of_regex(program, *regex),
            };
            targets.push(target);
            let Some(sequences) = sequences else {
                untriggered.push(number);
                continue;
            };
            for sequence in sequences {
                let at = *known.entry(sequence.clone()).or_insert(triggers.len());
                match triggers.get_mut(at) {
                    Some(trigger) if trigger.targets.last() == Some(&number) => {}
                    Some(trigger) => trigger.targets.push(number),
                    None => triggers.push(SearchTrigger { sequence, targets: vec![number] }),
                }
            }
        }
        let finder = TriggerFinder::new(&triggers);
        Self { targets, triggers, finder, untriggered }
    }

    /// Reports every target that occurs, possibly more than once; `wanted` identifies targets.
    pub(super) fn find_targets<'s>(
        &self,
        texts: Haystack<'_>,
        wanted: &dyn Fn(u32) -> Option<&'s SearchLiteral>,
        prepared: &PreparedProgram,
        found: &mut dyn FnMut(u32),
    ) {
        let mut last = (u32::MAX, usize::MAX);
        let bytes = texts.whole_text().as_bytes();
        self.finder.find_triggers(&self.triggers, bytes, &mut |at, number| {
            let Some(trigger) = self.triggers.get(number as usize) else { return };
            if !trigger.sequence.stands_at(bytes, at) {
                return;
            }
            for target in &trigger.targets {
                self.check_target(*target, at, texts, prepared, &mut last, found);
            }
        });
        for target in &self.untriggered {
            let wanted = wanted(*target);
            let stands = |text: &str| match wanted {
                Some(SearchLiteral::Text(part)) => text.contains(part.as_str()),
                Some(SearchLiteral::Regex(regex)) => {
                    prepared.linear_regex(*regex).is_some_and(|regex| regex.is_match(text))
                }
                None => false,
            };
            if texts.any_text(stands) {
                found(*target);
            }
        }
    }
}

impl LiteralSearch {
    /// Reports the target of a trigger, after matching its expression if needed; `last` is the last attempt.
    #[inline]
    fn check_target(
        &self,
        target: u32,
        at: usize,
        texts: Haystack<'_>,
        prepared: &PreparedProgram,
        last: &mut (u32, usize),
        found: &mut dyn FnMut(u32),
    ) {
        let Some(SearchTarget::Regex(regex, needed)) = self.targets.get(target as usize) else { return found(target) };
        let (start, text) = texts.text_around(at);
        if *last == (target, start) {
            return;
        }
        *last = (target, start);
        if needed.iter().all(|needed| needed.find(text.as_bytes()).is_some())
            && prepared.linear_regex(*regex).is_some_and(|regex| regex.is_match(text))
        {
            found(target);
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Haystack<'t> {
    one: &'t str,
    many: Option<&'t TextPool>,
}

impl<'t> Haystack<'t> {
    pub(super) fn from_text(text: &'t str) -> Self {
        Self { one: text, many: None }
    }

    pub(super) fn from_texts(texts: &'t TextPool) -> Self {
        Self { one: &texts.text, many: Some(texts) }
    }

    fn whole_text(&self) -> &'t str {
        self.one
    }

    fn text_around(&self, at: usize) -> (usize, &'t str) {
        self.many.map_or((0, self.one), |texts| texts.text_around(at))
    }

    fn any_text(&self, is: impl Fn(&str) -> bool) -> bool {
        match self.many {
            Some(texts) => texts.iter().any(is),
            None => is(self.one),
        }
    }
}

/// Also returns required prefixes, or the longest contained text, and other contained texts.
fn of_regex(program: &Program, number: u32) -> (SearchTarget, Option<Vec<RequiredLiteral>>) {
    let parsed = program.regexes.get(number as usize).and_then(|regex| regex.pattern.parsed().ok());
    let Some(hir) = parsed else { return (SearchTarget::Regex(number, Vec::new()), None) };
    if let Some(starts) = required::of_starts(hir) {
        return (SearchTarget::Regex(number, Vec::new()), Some(starts));
    }
    let inside = required::of_inside(hir);
    let longest = || Some(vec![RequiredLiteral::of_text(inside.first()?)?]);
    let trigger = required::of_parts(hir).or_else(longest);
    // The longest is mostly what the trigger has found.
    (
        SearchTarget::Regex(number, inside.iter().rev().map(|text| memmem::Finder::new(text).into_owned()).collect()),
        trigger,
    )
}

impl TriggerFinder {
    fn new(triggers: &[SearchTrigger]) -> Self {
        let windows_of = |these: &[&SearchTrigger]| {
            let windows: Vec<_> = these.iter().filter_map(|trigger| trigger.sequence.rarest_window()).collect();
            Box::new(TeddySearcher::new(&windows))
        };
        let all: Vec<&SearchTrigger> = triggers.iter().collect();
        if all.len() <= FEW {
            return Self::Teddy(windows_of(&all));
        }
        let (mut by_size, mut others, mut other_numbers) =
            ([const { Vec::new() }; WindowSize::ALL.len()], Vec::new(), Vec::new());
        for (number, trigger) in (0_u32..).zip(triggers) {
            let bytes = trigger.sequence.folded_bytes();
            match WindowSize::for_literal(&bytes).and_then(|size| by_size.get_mut(size as usize)) {
                Some(these) => these.push((number, bytes)),
                None => {
                    others.push(trigger);
                    other_numbers.push(number);
                }
            }
        }
        // One search of smaller steps costs less than two.
        if let [longest, long, ..] = &mut by_size
            && !long.is_empty()
        {
            long.append(longest);
        }
        // A few short ones are found faster together with the others.
        if let [.., short] = &mut by_size
            && others.len() + short.len() <= FEW
        {
            for (number, _) in short.drain(..) {
                others.extend(triggers.get(number as usize));
                other_numbers.push(number);
            }
        }
        let windows = WindowSize::ALL.into_iter().zip(&by_size).map(|(size, these)| LiteralWindows::new(these, size));
        Self::Many {
            windows: windows.filter(|windows| !windows.is_empty()).collect(),
            others: windows_of(&others),
            other_numbers,
        }
    }

    /// Reports the offset of a trigger's rarest bytes, and its number.
    #[inline]
    fn find_triggers(&self, triggers: &[SearchTrigger], bytes: &[u8], found: &mut dyn FnMut(usize, u32)) {
        match self {
            Self::Teddy(teddy) => teddy.find_candidates(bytes, |at, number| {
                found(at, number);
                false
            }),
            Self::Many { windows, others, other_numbers } => {
                for windows in windows {
                    windows.find_literals(bytes, &mut |start, number| {
                        let rarest = triggers.get(number as usize).map_or(0, |trigger| trigger.sequence.rarest);
                        found(start.wrapping_add(rarest), number);
                    });
                }
                if other_numbers.is_empty() {
                    return;
                }
                others.find_candidates(bytes, |at, number| {
                    if let Some(number) = other_numbers.get(number as usize) {
                        found(at, *number);
                    }
                    false
                });
            }
        }
    }
}
