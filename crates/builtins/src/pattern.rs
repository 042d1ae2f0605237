//! Linear regular expressions, with their costs.
//!
//! Matching takes time proportional to the text, but also to the expression: `[ab]*a[ab]{1000}` keeps a thousand possibilities open at every
//! character. The actual cost depends on the text, since usually a few states of an automaton represent all possibilities. So a large text is first
//! given to a lazy automaton that gives up if its states do not recur. Only after that is the full cost charged.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::limits::{FuelMeter, LimitError};
use regex::{Regex, RegexBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::sync::{Mutex, OnceLock};

/// A group of a match. The first group is the match itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedGroup<'p, 't> {
    /// Its name, if it has one.
    pub name: Option<&'p str>,
    /// Its text; `None` for a group that took no part in the match.
    pub text: Option<&'t str>,
}

/// A compiled regular expression that takes linear time.
#[derive(Debug)]
pub struct LinearRegex {
    /// The expression of the `regex` crate.
    pub regex: Regex,
    states: u64,
    /// True if matches have no maximum length.
    unbounded: bool,
    limit: usize,
    automaton: OnceLock<Option<Box<LimitedAutomaton>>>,
    /// Finds matches one by one; only used for unbounded matches.
    finder: OnceLock<Option<Box<LimitedAutomaton>>>,
}

#[derive(Debug)]
struct LimitedAutomaton {
    dfa: DFA,
    cache: Mutex<Option<Cache>>,
}

impl LinearRegex {
    /// Compiles an expression in the library's syntax; `None` if it is invalid or needs more than `limit` bytes.
    #[must_use]
    pub fn new(pattern: &str, limit: usize) -> Option<Self> {
        Self::one_of(1, pattern, limit)
    }

    /// Compiles one of `count` expressions that share the cache memory.
    #[must_use]
    pub fn one_of(count: usize, pattern: &str, limit: usize) -> Option<Self> {
        let share = REMEMBERED.checked_div(count).unwrap_or(REMEMBERED);
        let remembered = share.clamp(LEAST_REMEMBERED, limit.max(LEAST_REMEMBERED));
        let regex = RegexBuilder::new(pattern).size_limit(limit).dfa_size_limit(remembered).build().ok()?;
        let hir = regex_syntax::Parser::new().parse(pattern).ok();
        let (states, longest) =
            (hir.as_ref().map_or(1, hir_states), hir.and_then(|hir| hir.properties().maximum_len()));
        let (automaton, finder) = (OnceLock::new(), OnceLock::new());
        Some(Self { regex, states, unbounded: longest.is_none(), limit, automaton, finder })
    }

    /// Returns a copy for another thread. It has its own caches, so that threads do not wait for each other.
    #[must_use]
    pub fn for_thread(&self) -> Self {
        let Self { regex, states, unbounded, limit, .. } = self;
        let (automaton, finder) = (OnceLock::new(), OnceLock::new());
        Self { regex: regex.clone(), states: *states, unbounded: *unbounded, limit: *limit, automaton, finder }
    }

    /// True if a text contains a match. Charges for the search.
    ///
    /// # Errors
    /// Returns an error if a limit is exceeded.
    pub fn is_match(&self, text: &str, meter: &mut FuelMeter) -> Result<bool, LimitError> {
        meter.charge_scan(text.len().saturating_mul(4))?;
        let steps = (text.len() as u64).saturating_mul(self.states);
        if self.states <= FREE {
            return Ok(self.regex.is_match(text));
        }
        if steps <= FEW {
            meter.charge_fuel(steps / 4)?;
            return Ok(self.regex.is_match(text));
        }
        if let Some(found) = self.quick_match(text) {
            return Ok(found);
        }
        meter.charge_fuel(steps)?;
        Ok(self.regex.is_match(text))
    }

    /// Searches with the lazy automaton; `None` if it gives up.
    fn quick_match(&self, text: &str) -> Option<bool> {
        let new = || LimitedAutomaton::new(self.regex.as_str(), self.limit, true).map(Box::new);
        self.automaton.get_or_init(new).as_deref()?.with_cache(|dfa, cache| {
            let found = dfa.try_search_fwd(cache, &Input::new(text).earliest(true));
            found.ok().map(|found| found.is_some())
        })
    }

    /// Charges for finding all matches in a text. Unbounded matches may scan the rest of the text for each match: `a.*z|a` in a text without a `z`.
    /// `times` multiplies the scan, such as for groups.
    ///
    /// # Errors
    /// Returns an error if there is not enough fuel.
    pub fn pay_for_matches(&self, text: &str, times: usize, meter: &mut FuelMeter) -> Result<(), LimitError> {
        let bytes = text.len().saturating_mul(times);
        meter.charge_scan(bytes)?;
        let heavy = if self.states > FREE { self.states / 4 } else { 0 };
        meter.charge_fuel((bytes as u64).saturating_mul(heavy))?;
        if !self.unbounded {
            return Ok(());
        }
        let new = || LimitedAutomaton::new(self.regex.as_str(), self.limit, false).map(Box::new);
        let Some(finder) = self.finder.get_or_init(new).as_deref() else {
            return meter.charge_fuel((text.len() as u64).saturating_mul(text.len() as u64) / 16);
        };
        finder.with_cache(|dfa, cache| {
            let mut at = 0;
            while at <= text.len() {
                let Some(end) = self.end_of_match(dfa, &mut *cache, text, at, meter)? else { break };
                at = end.max(at.saturating_add(1));
            }
            Ok(())
        })
    }

    /// Returns the end of the first match; charges for the examined bytes.
    fn end_of_match(
        &self,
        dfa: &DFA,
        cache: &mut Cache,
        text: &str,
        at: usize,
        meter: &mut FuelMeter,
    ) -> Result<Option<usize>, LimitError> {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let start = dfa.start_state_forward(cache, &Input::new(text).range(at..));
        let (mut state, mut end) = (start.ok(), None);
        for (chunk, bytes) in rest.chunks(PAID_AT_ONCE).enumerate() {
            for (place, byte) in bytes.iter().enumerate() {
                state = state.and_then(|state| dfa.next_state(cache, state, *byte).ok());
                let Some(now) = state.filter(|state| !state.is_quit()) else {
                    // The automaton gave up, so the library searches, in the worst case the whole rest.
                    meter.charge_scan(rest.len().saturating_mul(WALKED))?;
                    let next = (at..=text.len()).find(|at| text.is_char_boundary(*at));
                    return Ok(next.and_then(|at| self.regex.find_at(text, at)).map(|found| found.end()));
                };
                let read = chunk.saturating_mul(PAID_AT_ONCE).saturating_add(place);
                if now.is_match() {
                    end = Some(at.saturating_add(read));
                } else if now.is_dead() {
                    meter.charge_scan(place.saturating_mul(WALKED))?;
                    return Ok(end);
                }
            }
            meter.charge_scan(bytes.len().saturating_mul(WALKED))?;
        }
        let last = state.and_then(|state| dfa.next_eoi_state(cache, state).ok());
        Ok(if last.is_some_and(|state| state.is_match()) { Some(text.len()) } else { end })
    }
}

/// Number of examined bytes before they are charged.
const PAID_AT_ONCE: usize = 1 << 10;
/// Cost of a byte in a single step, relative to a byte in a scan.
const WALKED: usize = 4;

impl LimitedAutomaton {
    /// Creates an automaton. With `gives_up` it stops if its states do not recur; otherwise it finds the first match.
    fn new(pattern: &str, limit: usize, gives_up: bool) -> Option<Self> {
        let config = DFA::config().unicode_word_boundary(true).cache_capacity(CACHE).skip_cache_capacity_check(true);
        let config = match gives_up {
            true => config
                .match_kind(MatchKind::All)
                .minimum_cache_clear_count(Some(CLEARED))
                .minimum_bytes_per_state(Some(BYTES_PER_STATE)),
            false => config.match_kind(MatchKind::LeftmostFirst),
        };
        let nfa = thompson::Config::new().nfa_size_limit(Some(limit)).which_captures(WhichCaptures::None);
        let dfa = DFA::builder().configure(config).thompson(nfa).build(pattern).ok()?;
        Some(Self { dfa, cache: Mutex::new(None) })
    }

    fn with_cache<T>(&self, look: impl FnOnce(&DFA, &mut Cache) -> T) -> T {
        let kept = self.cache.lock().ok().and_then(|mut cache| cache.take());
        let mut cache = kept.unwrap_or_else(|| self.dfa.create_cache());
        let found = look(&self.dfa, &mut cache);
        if let Ok(mut kept) = self.cache.lock() {
            *kept = Some(cache);
        }
        found
    }
}

/// Cache memory shared by all expressions of a program, and the minimum of each, in bytes.
const REMEMBERED: usize = 512 << 20;
const LEAST_REMEMBERED: usize = 256 << 10;
/// Memory for cached states per automaton, in bytes.
const CACHE: usize = 2 << 20;
/// Maximum number of cache clears, and minimum number of bytes searched between them. Beyond that the automaton gives up.
const CLEARED: usize = 3;
const BYTES_PER_STATE: usize = 10;

/// Expressions with at most this many possibilities are free, since they have few states.
const FREE: u64 = 12;
/// With at most this many steps, an automaton does not pay off.
const FEW: u64 = 1 << 16;

/// True if matching a large text is expensive enough to be charged.
#[must_use]
pub(crate) fn is_heavy<'h>(pattern: &str, parsed: impl FnOnce() -> Option<&'h Hir>) -> bool {
    // Credential patterns have up to about two hundred states; expensive patterns have thousands.
    const HEAVY: u64 = 256;
    // Each state is written with at least one byte, unless repetitions are counted.
    let is_short = pattern.len() as u64 <= HEAVY && !pattern.contains('{');
    !is_short && parsed().is_some_and(|hir| hir_states(hir) > HEAVY)
}

/// Returns the approximate memory of an expression's automaton, in bytes: its classes and letters, with repetitions expanded. The real memory is less
/// than [`LARGEST_ERROR`] times as large.
pub(crate) fn automaton_bytes(hir: &Hir) -> u64 {
    /// Cost of a letter range, whose UTF-8 sequences are compiled for both directions.
    const RANGE: u64 = 64;
    let all = |parts: &[Hir]| parts.iter().map(automaton_bytes).fold(RANGE, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => RANGE,
        HirKind::Literal(literal) => (literal.0.len() as u64).saturating_mul(RANGE),
        // A class without a letter still needs a state.
        HirKind::Class(Class::Unicode(class)) => (class.ranges().len().max(1) as u64).saturating_mul(RANGE),
        HirKind::Class(Class::Bytes(class)) => (class.ranges().len().max(1) as u64).saturating_mul(RANGE),
        HirKind::Capture(capture) => automaton_bytes(&capture.sub).saturating_add(RANGE),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts),
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            automaton_bytes(&repetition.sub).saturating_mul(times)
        }
    }
}

/// Maximum ratio of an automaton's memory and the result of [`RegexPattern::automaton_bytes`](crate::regex_pattern::RegexPattern::automaton_bytes). A
/// range of characters needs at most 21 sequences of four states of less than 64 bytes.
pub const LARGEST_ERROR: u64 = 128;

/// Returns the approximate number of possibilities that an expression keeps open: its size with repetitions expanded. A plain word counts as one.
#[must_use]
pub fn count_states(pattern: &str) -> u64 {
    regex_syntax::Parser::new().parse(pattern).map_or(1, |hir| hir_states(&hir))
}

fn hir_states(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(_) | HirKind::Class(_) => 1,
        HirKind::Capture(capture) => hir_states(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(hir_states).fold(0, u64::saturating_add),
        HirKind::Alternation(parts) if parts.iter().all(|part| matches!(part.kind(), HirKind::Literal(_))) => 1,
        HirKind::Alternation(parts) => parts.iter().map(hir_states).fold(0, u64::saturating_add),
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            hir_states(&repetition.sub).saturating_mul(times)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regex_pattern::RegexPattern;

    #[test]
    fn no_automaton_takes_more_than_its_estimate_allows() {
        let long = "a|bc|".repeat(200) + "d";
        let patterns = [
            "a",
            "(?i)k",
            "[^a]",
            r"\w",
            r"\PL",
            r"\p{Greek}+x",
            "(?s).{100}",
            "[\u{80}-\u{10ffff}]",
            "(a?){50}",
            "((a{9}){9}){9}",
            "(?P<name>x)*?",
            r"\b(?:^|$)*",
            "[a-c]{0,90}",
            "(|a|b)+",
            "é{20,}",
            "()()()",
            "(?:(?:[a&&b]){90,}){0,90}",
            "(?:)",
            &long,
        ];
        for pattern in patterns {
            let most =
                usize::try_from(RegexPattern::from(pattern.to_owned()).automaton_bytes().unwrap() * LARGEST_ERROR)
                    .unwrap();
            assert!(RegexBuilder::new(pattern).size_limit(most).build().is_ok(), "{pattern}");
        }
        assert_eq!(RegexPattern::from("(".to_owned()).automaton_bytes(), None);
    }

    proptest::proptest! {
        #[test]
        fn no_short_pattern_without_counts_is_heavy(pattern in r"([abé|.*+?()^\[\]-]|\\w|\\pL|\(\?i\)){0,80}") {
            proptest::prop_assert!(count_states(&pattern) <= pattern.len().max(1) as u64);
        }
    }

    #[test]
    fn finding_every_match_is_paid_by_what_each_looks_through() {
        let limits = averment_base::limits::Limits { fuel: 1_000_000, ..Default::default() };
        let used = |pattern: &str, text: &str| {
            let (pattern, mut meter) =
                (LinearRegex::new(pattern, limits.regex_bytes).unwrap(), FuelMeter::new(&limits));
            pattern.pay_for_matches(text, 1, &mut meter).map(|()| limits.fuel - meter.fuel_left())
        };
        let (same, words) = ("a".repeat(20_000), "wörd two ".repeat(2_000));
        // Matches that end soon cost about one scan, and a constant for each match.
        for (pattern, text) in [(r"\s+", &words), ("a", &same), ("a+", &same), (r"(a|b)*c", &same), (".*", &words)] {
            assert!(used(pattern, text).unwrap() < 20_000, "{pattern}: {:?}", used(pattern, text));
        }
        for pattern in ["a.*z|a", "(?s).*z|a"] {
            assert_eq!(used(pattern, &same), Err(LimitError::Fuel), "{pattern}");
        }
        // If the automaton gives up, the library finds the same matches, at the cost of scanning the rest.
        assert!(used(r"\b\w+\b", &words[..2_000]).unwrap() > 50_000);
    }

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
            ("[ab]*a[ab]{1000}[^ab]", mixed.as_str(), Err(LimitError::Fuel)),
            ("a[ab]{100}[^ab]", mixed.as_str(), Err(LimitError::Fuel)),
            ("a{1000}b", same.as_str(), Ok(true)),
            ("a{1000}c|^b{500}", same.as_str(), Ok(false)),
            ("(?-u:\\b)[ab]{1,2000}$", same.as_str(), Ok(false)),
            (r"\b\w{20}é\b", same.as_str(), Ok(false)),
            ("[ab]*a[ab]{1000}[^ab]", mixed.get(..50).unwrap(), Ok(false)),
        ] {
            let pattern = LinearRegex::new(pattern, limits.regex_bytes).unwrap();
            assert_eq!(pattern.is_match(text, &mut FuelMeter::new(&limits)), answer, "{}", pattern.regex);
            assert_eq!(pattern.is_match(text, &mut FuelMeter::new(&limits)), answer, "{}", pattern.regex);
        }
    }

    #[test]
    fn repetitions_are_counted_and_words_are_not() {
        assert_eq!(count_states("abc|def|ghi"), 1);
        assert_eq!(count_states("[ab]{1000}c"), 1001);
        assert_eq!(count_states("((a[bc]){10}){10}"), 200);
        assert_eq!(count_states("(unclosed"), 1);
    }
}
