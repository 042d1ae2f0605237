//! The generated parser, and the room on the stack that it needs.

use pest::Parser as _;
use pest::iterators::Pair;
use std::sync::LazyLock;

/// Stack per level of nested brackets, for parsing and lowering (measured in a debug build).
const STACK_PER_LEVEL: usize = 96 << 10;
const STACK_BASE: usize = 1 << 20;

pub(super) use generated::Grammar;
pub(crate) use generated::Rule;

#[allow(missing_docs, reason = "generated: the grammar file says what each rule is")]
mod generated {
    #[derive(pest_derive::Parser)]
    #[grammar = "../../grammar/assert.pest"]
    pub struct Grammar;
}

/// Words without a keyword rule in the grammar.
const OTHER_KEYWORDS: &[&str] =
    &["exactly", "read", "write", "skill", "user", "assistant", "thinking", "span", "handover"];

/// Words whose position gives them meaning, sorted.
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

/// Where the strict grammar gave up: the furthest place and what could follow.
#[derive(Debug, Clone)]
pub(super) struct GrammarFailure {
    /// Byte offset in the text that was parsed.
    pub at: usize,
    /// The rules that were tried at that place.
    pub expected: Vec<Rule>,
}

pub(super) fn with_stack<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    let need = STACK_BASE.saturating_add(STACK_PER_LEVEL.saturating_mul(depth));
    stacker::maybe_grow(need, need, work)
}

pub(super) fn parse_rule(start: Rule, text: &str) -> Result<Pair<'_, Rule>, GrammarFailure> {
    let parsed = Grammar::parse(start, text).map_err(|error| to_failure(&error))?;
    let inner = parsed.into_iter().next().and_then(|pair| pair.into_inner().next());
    inner.ok_or(GrammarFailure { at: 0, expected: Vec::new() })
}

fn to_failure(error: &pest::error::Error<Rule>) -> GrammarFailure {
    let at = match error.location {
        pest::error::InputLocation::Pos(at) => at,
        pest::error::InputLocation::Span((start, _)) => start,
    };
    let expected = match &error.variant {
        pest::error::ErrorVariant::ParsingError { positives, .. } => positives.clone(),
        pest::error::ErrorVariant::CustomError { .. } => Vec::new(),
    };
    GrammarFailure { at, expected }
}
