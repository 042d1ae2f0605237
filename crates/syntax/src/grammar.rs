//! The generated parser, and the stack space that it needs.

#[cfg(test)]
mod nesting;

use pest::Parser as _;
use pest::iterators::Pair;
use std::num::NonZeroUsize;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Stack per level of nested brackets for parsing and lowering, measured in a debug build.
const STACK_PER_LEVEL: usize = 96 << 10;
const STACK_BASE: usize = 1 << 20;

/// Bytes added to the length of every text when its steps are bounded, so that short texts are never rejected.
const SHORT_TEXT: usize = 1 << 10;

pub(super) use generated::Grammar;
pub(crate) use generated::Rule;

#[allow(missing_docs, reason = "generated: the grammar file says what each rule is")]
mod generated {
    #[derive(pest_derive::Parser)]
    #[grammar = "grammar/assert.pest"]
    pub struct Grammar;
}

/// Words without a keyword rule in the grammar.
const OTHER_KEYWORDS: &[&str] =
    &["exactly", "read", "write", "skill", "user", "assistant", "thinking", "span", "handover"];

/// Returns the words with a meaning in some position, sorted.
pub(super) fn keywords() -> &'static [String] {
    static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let rules = Rule::all_rules().iter().map(|rule| format!("{rule:?}"));
        let own = rules.filter_map(|name| name.strip_prefix("k_").map(str::to_owned));
        let mut words: Vec<String> = own.chain(OTHER_KEYWORDS.iter().map(|&word| word.to_owned())).collect();
        words.sort_unstable();
        words
    });
    &WORDS
}

pub(super) fn is_keyword(word: &str) -> bool {
    keywords().binary_search_by(|keyword| keyword.as_str().cmp(word)).is_ok()
}

/// The furthest position that the strict grammar reached, and what could follow there.
#[derive(Debug, Clone)]
pub(super) struct GrammarFailure {
    /// Byte offset in the text that was parsed.
    pub at: usize,
    /// The rules that were tried at that position.
    pub expected: Vec<Rule>,
    /// True if the parser exceeded its step limit, so that nothing is known about the text.
    pub too_many_steps: bool,
}

impl GrammarFailure {
    pub(super) fn new(at: usize) -> Self {
        Self { at, expected: Vec::new(), too_many_steps: false }
    }
}

pub(super) fn with_stack<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    let need = STACK_BASE.saturating_add(STACK_PER_LEVEL.saturating_mul(depth));
    stacker::maybe_grow(need, need, work)
}

/// Parses a text with at most `steps` parser steps for each byte (`Limits::rule_steps`).
pub(super) fn parse_rule(start: Rule, text: &str, steps: usize) -> Result<Pair<'_, Rule>, GrammarFailure> {
    let parsed =
        bound_steps(steps.saturating_mul(text.len().saturating_add(SHORT_TEXT)), || Grammar::parse(start, text));
    let parsed = parsed.map_err(|error| to_failure(&error))?;
    let inner = parsed.into_iter().next().and_then(|pair| pair.into_inner().next());
    inner.ok_or_else(|| GrammarFailure::new(0))
}

/// Bounds the steps of a parse. pest has a single bound for the whole process and reads it when a parse begins. Therefore a lock makes texts parse
/// one at a time, each with its own bound. Another pest parser that starts meanwhile also gets this bound, which is never below `SHORT_TEXT` times
/// the steps per byte.
fn bound_steps<T>(steps: usize, parse: impl FnOnce() -> T) -> T {
    static BOUND: Mutex<()> = Mutex::new(());
    let _alone = BOUND.lock().unwrap_or_else(PoisonError::into_inner);
    pest::set_call_limit(NonZeroUsize::new(steps));
    let parsed = parse();
    pest::set_call_limit(None);
    parsed
}

fn to_failure(error: &pest::error::Error<Rule>) -> GrammarFailure {
    let at = match error.location {
        pest::error::InputLocation::Pos(at) => at,
        pest::error::InputLocation::Span((start, _)) => start,
    };
    // The grammar raises no custom errors, so any other variant comes from pest's limits.
    let (expected, too_many_steps) = match &error.variant {
        pest::error::ErrorVariant::ParsingError { positives, .. } => (positives.clone(), false),
        pest::error::ErrorVariant::CustomError { .. } => (Vec::new(), true),
    };
    GrammarFailure { at, expected, too_many_steps }
}
