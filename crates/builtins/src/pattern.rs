//! Regular expressions with what they cost.
//!
//! Matching takes time in proportion to the text, but also to the expression: `[ab]*a[ab]{1000}` keeps a thousand possibilities open at
//! every character. Whether that shows depends on the text: nearly always a few states of an automaton stand for all of them. A large
//! text is therefore given to an automaton first that gives up where its states never come again, and only what is left then is charged
//! with all of its possibilities.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::limits::{Exhausted, Meter};
use regex::{Regex, RegexBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::sync::{Mutex, OnceLock};

/// A regular expression that is ready to be used.
#[derive(Debug)]
pub struct Pattern {
    /// It.
    pub regex: Regex,
    states: u64,
    limit: usize,
    automaton: OnceLock<Option<Box<Automaton>>>,
}

/// The automaton that gives up, with its states for the next text.
#[derive(Debug)]
struct Automaton {
    dfa: DFA,
    cache: Mutex<Option<Cache>>,
}

impl Pattern {
    /// Builds an expression in the library's syntax; `None` where it cannot be used or takes more than so many bytes.
    #[must_use]
    pub fn new(pattern: &str, limit: usize) -> Option<Self> {
        Self::one_of(1, pattern, limit)
    }

    /// The same for one of so many, which share the memory for what they remember of texts.
    #[must_use]
    pub fn one_of(count: usize, pattern: &str, limit: usize) -> Option<Self> {
        let share = REMEMBERED.checked_div(count).unwrap_or(REMEMBERED);
        let remembered = share.clamp(LEAST_REMEMBERED, limit.max(LEAST_REMEMBERED));
        let regex = RegexBuilder::new(pattern).size_limit(limit).dfa_size_limit(remembered).build().ok()?;
        Some(Self { regex, states: states(pattern), limit, automaton: OnceLock::new() })
    }

    /// Whether the expression is found in a text, paid for before.
    ///
    /// # Errors
    /// When that would take more than there is.
    pub fn is_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Exhausted> {
        meter.scan(text.len().saturating_mul(4))?;
        let steps = (text.len() as u64).saturating_mul(self.states);
        if self.states <= FREE {
            return Ok(self.regex.is_match(text));
        }
        if steps <= FEW {
            meter.charge(steps / 4)?;
            return Ok(self.regex.is_match(text));
        }
        if let Some(found) = self.quickly(text) {
            return Ok(found);
        }
        meter.charge(steps)?;
        Ok(self.regex.is_match(text))
    }

    /// The answer of the automaton; `None` where it gives up.
    fn quickly(&self, text: &str) -> Option<bool> {
        let automaton = self.automaton.get_or_init(|| Automaton::new(self.regex.as_str(), self.limit).map(Box::new));
        let automaton = automaton.as_deref()?;
        let kept = automaton.cache.lock().ok().and_then(|mut cache| cache.take());
        let mut cache = kept.unwrap_or_else(|| automaton.dfa.create_cache());
        let found = automaton.dfa.try_search_fwd(&mut cache, &Input::new(text).earliest(true));
        if let Ok(mut kept) = automaton.cache.lock() {
            *kept = Some(cache);
        }
        found.ok().map(|found| found.is_some())
    }

    /// Takes the fuel of finding every match in a text of so many bytes.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn scan(&self, bytes: usize, meter: &mut Meter) -> Result<(), Exhausted> {
        meter.scan(bytes)?;
        let heavy = if self.states > FREE { self.states / 4 } else { 0 };
        meter.charge((bytes as u64).saturating_mul(heavy))
    }
}

impl Automaton {
    fn new(pattern: &str, limit: usize) -> Option<Self> {
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .unicode_word_boundary(true)
            .cache_capacity(CACHE)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(CLEARED))
            .minimum_bytes_per_state(Some(BYTES_PER_STATE));
        let nfa = thompson::Config::new().nfa_size_limit(Some(limit)).which_captures(WhichCaptures::None);
        let dfa = DFA::builder().configure(config).thompson(nfa).build(pattern).ok()?;
        Some(Self { dfa, cache: Mutex::new(None) })
    }
}

/// Bytes that all regular expressions of a program may remember of texts together, and each at least.
const REMEMBERED: usize = 512 << 20;
const LEAST_REMEMBERED: usize = 256 << 10;
/// Bytes of the states that an automaton keeps.
const CACHE: usize = 2 << 20;
/// So often it may throw them away, and so many bytes each has to serve from then on; otherwise it gives up.
const CLEARED: usize = 3;
const BYTES_PER_STATE: usize = 10;

/// So many possibilities are part of the price of a text: that few of them make few states.
const FREE: u64 = 12;
/// Below so many steps nothing is gained by an automaton.
const FEW: u64 = 1 << 16;

/// Whether an expression can take so long on a large text that this has to be counted.
#[must_use]
pub fn is_heavy(pattern: &str) -> bool {
    // Patterns of credentials have up to a hundred or two; what is made to take long has thousands.
    const HEAVY: u64 = 256;
    states(pattern) > HEAVY
}

/// About how many bytes the automaton of an expression takes: its classes and letters, repetitions written out.
#[must_use]
pub fn bytes(pattern: &str) -> u64 {
    regex_syntax::Parser::new().parse(pattern).map_or(0, |hir| written_out(&hir))
}

fn written_out(hir: &Hir) -> u64 {
    /// What a range of letters takes, as parts of characters in both directions.
    const RANGE: u64 = 64;
    let all = |parts: &[Hir]| parts.iter().map(written_out).fold(RANGE, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => RANGE,
        HirKind::Literal(literal) => (literal.0.len() as u64).saturating_mul(RANGE),
        HirKind::Class(Class::Unicode(class)) => (class.ranges().len() as u64).saturating_mul(RANGE),
        HirKind::Class(Class::Bytes(class)) => (class.ranges().len() as u64).saturating_mul(RANGE),
        HirKind::Capture(capture) => written_out(&capture.sub).saturating_add(RANGE),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts),
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            written_out(&repetition.sub).saturating_mul(times)
        }
    }
}

/// About how many possibilities an expression can keep open at a place: its size, its repetitions written out, plain words counted as one.
#[must_use]
pub fn states(pattern: &str) -> u64 {
    regex_syntax::Parser::new().parse(pattern).map_or(1, |hir| of(&hir))
}

fn of(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(_) | HirKind::Class(_) => 1,
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(of).fold(0, u64::saturating_add),
        HirKind::Alternation(parts) if parts.iter().all(|part| matches!(part.kind(), HirKind::Literal(_))) => 1,
        HirKind::Alternation(parts) => parts.iter().map(of).fold(0, u64::saturating_add),
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            of(&repetition.sub).saturating_mul(times)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_automaton_can_keep_up_with_is_too_much() {
        let limits = averment_base::limits::Limits::default();
        let mut state = 1_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state & 1 == 0 { 'a' } else { 'b' }
        };
        let mixed: String = (0..3_000_000).map(|_| next()).collect();
        let same = "a".repeat(3_000_000) + "b";
        for (pattern, text, answer) in [
            ("[ab]*a[ab]{1000}[^ab]", mixed.as_str(), Err(Exhausted::Fuel)),
            ("a[ab]{100}[^ab]", mixed.as_str(), Err(Exhausted::Fuel)),
            ("a{1000}b", same.as_str(), Ok(true)),
            ("a{1000}c|^b{500}", same.as_str(), Ok(false)),
            ("(?-u:\\b)[ab]{1,2000}$", same.as_str(), Ok(false)),
            (r"\b\w{20}é\b", same.as_str(), Ok(false)),
            ("[ab]*a[ab]{1000}[^ab]", mixed.get(..50).unwrap(), Ok(false)),
        ] {
            let pattern = Pattern::new(pattern, limits.regex_bytes).unwrap();
            assert_eq!(pattern.is_match(text, &mut Meter::new(&limits)), answer, "{}", pattern.regex);
            assert_eq!(pattern.is_match(text, &mut Meter::new(&limits)), answer, "{}", pattern.regex);
        }
    }

    #[test]
    fn repetitions_are_counted_and_words_are_not() {
        assert_eq!(states("abc|def|ghi"), 1);
        assert_eq!(states("[ab]{1000}c"), 1001);
        assert_eq!(states("((a[bc]){10}){10}"), 200);
        assert_eq!(states("(unclosed"), 1);
    }
}
