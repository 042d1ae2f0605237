//! Small changes of rules, each at one location.

use averment_base::source::Span;
use std::ops::Range;

/// A change to the text of a rule file that results in a different rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleEdit {
    /// The byte range that is replaced.
    pub range: Range<usize>,
    /// The replacement text.
    pub text: String,
    /// The kind of change.
    pub kind: MutantKind,
    /// Describes the test that would detect the change.
    pub missing: String,
    /// The rule that it changes; `None` for something that other rules may use.
    pub rule: Option<String>,
}

impl RuleEdit {
    /// Compares by location, then by replacement text.
    #[must_use]
    pub fn place_order(&self, other: &Self) -> std::cmp::Ordering {
        (self.range.start, self.range.end, &self.text, self.kind).cmp(&(
            other.range.start,
            other.range.end,
            &other.text,
            other.kind,
        ))
    }
}

macro_rules! kinds {
    ($($name:ident = $slug:literal, $doc:literal;)*) => {
        /// Kinds of change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum MutantKind {
            $(#[doc = $doc] $name,)*
        }

        impl MutantKind {
            /// All kinds with their names and descriptions, for the reference.
            pub const ALL: &'static [(Self, &'static str, &'static str)] = &[$((Self::$name, $slug, $doc),)*];

            /// Returns the word in reports.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $slug,)* }
            }
        }
    };
}

kinds! {
    Flip = "flip", "a comparison or test becomes its opposite: `>` is `<=`, `in` is `not in`";
    Border = "border", "a comparison includes or excludes its bound: `>` is `>=`";
    Negate = "negate", "a statement or condition becomes its opposite";
    DropAssertion = "drop-assertion", "an assertion is left out";
    DropArgument = "drop-argument", "a test among the arguments of a pattern is left out";
    DropBinding = "drop-binding", "a binding `$x` is left out";
    DropCondition = "drop-condition", "a `where`, a `when` or one side of `and`, `or`, `implies` is left out";
    DropModifier = "drop-modifier", "a modifier that can change the verdict is left out: `must`, `threshold`, `severity`, `expect fail`";
    DropWord = "drop-word", "a word that makes a statement stricter is left out: `each`, `immediately`, `exactly`, `only`, `strict`, `proposed`, `ok`, `failed`, `starts`, `so far`, `in a row`";
    DropPattern = "drop-pattern", "a pattern of a list, a choice, a sequence or a flow is left out";
    DropWindow = "drop-window", "`until` or `within` is left out";
    DropElement = "drop-element", "an element of a list is left out";
    Swap = "swap", "`before` and `after`, `and` and `or`, `ok` and `failed`, `any` and `all`, `sum` and `max`, `nested` and `after`, the neighbours of a sequence change places";
    Bound = "bound", "a count, a limit or a `within` is one more or one less";
    Widen = "widen", "a range loses an end, a glob matches all, a regular expression loses its anchor";
    Value = "value", "`true` and `false`, `+` and `-`, `*` and `/` change places";
}

#[derive(Debug)]
pub(super) struct EditFinder<'a> {
    pub(super) text: &'a str,
    pub(super) edits: Vec<RuleEdit>,
    pub(super) rule: Option<String>,
}

impl<'a> EditFinder<'a> {
    pub(super) fn span_text(&self, span: Span) -> &'a str {
        self.text.get(span.as_range()).unwrap_or("")
    }

    pub(super) fn short_text(&self, span: Span) -> String {
        let folded = self.span_text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        match folded.char_indices().nth(60) {
            Some((at, _)) => format!("{}…", folded.get(..at).unwrap_or_default()),
            None => folded,
        }
    }

    pub(super) fn push_replacement(
        &mut self,
        range: Range<usize>,
        text: impl Into<String>,
        kind: MutantKind,
        missing: String,
    ) {
        self.edits.push(RuleEdit { range, text: text.into(), kind, missing, rule: self.rule.clone() });
    }

    pub(super) fn replace_span(&mut self, span: Span, text: impl Into<String>, kind: MutantKind, missing: String) {
        self.push_replacement(span.as_range(), text, kind, missing);
    }

    pub(super) fn push_insertion(&mut self, at: u32, text: &str, kind: MutantKind, missing: String) {
        self.push_replacement(at as usize..at as usize, text, kind, missing);
    }

    pub(super) fn push_removal(&mut self, start: u32, end: u32, kind: MutantKind, missing: String) {
        if start < end {
            self.push_replacement(start as usize..end as usize, "", kind, missing);
        }
    }

    pub(super) fn find_word(&self, start: u32, end: u32, word: &str) -> Option<Range<usize>> {
        let (start, end) = (start as usize, end as usize);
        let text = self.text.get(start..end)?;
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let free = |at: usize| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + word.len()..).and_then(|behind| behind.chars().next());
            !before.is_some_and(is_name) && !behind.is_some_and(is_name)
        };
        let at = text.match_indices(word).map(|(at, _)| at).find(|&at| free(at))?;
        Some(start + at..start + at + word.len())
    }

    pub(super) fn first_word(&self, span: Span, word: &str) -> Option<Range<usize>> {
        self.find_word(span.start, span.end, word).filter(|range| range.start == span.start as usize)
    }

    pub(super) fn with_space(&self, range: Range<usize>) -> Range<usize> {
        let behind = self.text.get(range.end..).unwrap_or("");
        let space = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        range.start..range.end + space
    }

    pub(super) fn cut_element(&mut self, all: &[Span], number: usize, kind: MutantKind, missing: String) {
        let Some(own) = all.get(number) else { return };
        let before = number.checked_sub(1).and_then(|before| all.get(before));
        match (before, all.get(number + 1)) {
            (_, Some(next)) => self.push_removal(own.start, next.start, kind, missing),
            (Some(before), None) => self.push_removal(before.end, own.end, kind, missing),
            (None, None) => {}
        }
    }
}
