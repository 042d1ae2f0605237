//! Patterns over the tokens of a statement, in a notation that reads like the statement itself.
//!
//! A pattern is a line of parts with blanks between them, and begins at the first token of the statement:
//!
//! | written | is |
//! |---|---|
//! | `never` | the word; `'<'` in quotes where the notation has its own use for the sign |
//! | `unless\|without` | one of several |
//! | `P` `N` `STATEMENT` | what a class of [`super::classes`] takes: a step pattern, a number, a word of a list |
//! | `a?` `a*` `a+` | once or not; as often as it is there; the same, and at least once |
//! | `b:P` | the tokens that the part takes, under a name for messages and rewritings |
//! | `b[ … ]` | the tokens of several parts, under a name |
//! | `..` | as few tokens as possible, to a place outside of brackets; `b:..` names them, and there is at least one |
//! | `..(` | the same, also to places in brackets |
//! | `...` | all that is left, under its own name |
//! | `< … >` | what is wrong: these tokens are underlined; `<>` for something that is missing |
//! | `&x` `!x` `^x` | here stands such a token; none such; the one before is such a token |
//! | `&..x` `!..x` | such a token stands somewhere behind here, outside of brackets; none does |
//! | `&..(x` `!..(x` | the same, in brackets or not |
//! | `@failed` | a condition by name on the place, from [`super::classes`] |

use super::classes;
use super::view::{Guard, Take, View};
use averment_base::source::Span;

/// What stands for one or more tokens.
#[derive(Debug, Clone, Copy)]
enum Class {
    Word(&'static str),
    OneOf(&'static [&'static str]),
    Taken(Take),
}

impl Class {
    fn of(written: &'static str) -> Self {
        let quoted = written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        match quoted {
            Some(sign) => Self::Word(sign),
            None => {
                let list = classes::list(written).map(Self::OneOf);
                list.or_else(|| classes::take(written).map(Self::Taken)).unwrap_or(Self::Word(written))
            }
        }
    }

    /// The token behind those that it takes.
    fn behind(self, view: &View<'_, '_>, at: usize) -> Option<usize> {
        let stands = match self {
            Self::Word(word) => view.is(at, word),
            Self::OneOf(words) => view.is_any(at, words),
            Self::Taken(take) => return take(view, at).filter(|&end| end > at),
        };
        (stands && at < view.len()).then_some(at + 1)
    }
}

/// One of several classes.
#[derive(Debug)]
struct Choice(Vec<Class>);

impl Choice {
    fn of(written: &'static str) -> Self {
        let mut classes = Vec::new();
        let (mut start, mut quoted) = (0, false);
        for (at, sign) in written.char_indices() {
            quoted ^= sign == '\'';
            if sign == '|' && !quoted {
                classes.push(Class::of(written.get(start..at).unwrap_or("")));
                start = at + 1;
            }
        }
        classes.push(Class::of(written.get(start..).unwrap_or("")));
        Self(classes)
    }

    fn behind(&self, view: &View<'_, '_>, at: usize) -> Option<usize> {
        self.0.iter().find_map(|class| class.behind(view, at))
    }
}

/// How often a part is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Often {
    Once,
    Perhaps,
    Many,
    /// Once or more.
    Some,
}

/// One part of a pattern. Names are empty where nothing is named.
#[derive(Debug)]
enum PatternPart {
    Tokens {
        choice: Choice,
        often: Often,
        name: &'static str,
    },
    Skip {
        into_brackets: bool,
        name: &'static str,
    },
    Rest,
    WrongFrom,
    WrongTo,
    From(&'static str),
    To,
    Ahead {
        choice: Choice,
        wanted: bool,
    },
    Behind {
        choice: Choice,
        wanted: bool,
    },
    Somewhere {
        choice: Choice,
        wanted: bool,
        into_brackets: bool,
    },
    Guard(Guard),
    /// A condition that does not exist: a test refuses it.
    Never,
}

impl PatternPart {
    fn push(written: &'static str, parts: &mut Vec<Self>) {
        let negated = |rest: &'static str| match rest.strip_prefix('!') {
            Some(rest) => (rest, false),
            None => (rest, true),
        };
        let part = match written {
            "<>" => {
                parts.push(Self::WrongFrom);
                Self::WrongTo
            }
            "<" => Self::WrongFrom,
            ">" => Self::WrongTo,
            "]" => Self::To,
            "..." => Self::Rest,
            _ if written.starts_with(['&', '!']) && written.get(1..3) == Some("..") => {
                let rest = written.get(3..).unwrap_or("");
                let inside = rest.strip_prefix('(');
                let (choice, wanted) = (Choice::of(inside.unwrap_or(rest)), written.starts_with('&'));
                Self::Somewhere { choice, wanted, into_brackets: inside.is_some() }
            }
            _ if written.len() > 1 && written.starts_with(['&', '!']) && !written.starts_with("!=") => {
                Self::Ahead { choice: Choice::of(written.get(1..).unwrap_or("")), wanted: written.starts_with('&') }
            }
            _ if written.len() > 1 && written.starts_with('^') => {
                let (rest, wanted) = negated(written.get(1..).unwrap_or(""));
                Self::Behind { choice: Choice::of(rest), wanted }
            }
            _ if written.starts_with('@') => {
                let name = written.get(1..).unwrap_or("");
                classes::guard(name).map_or(Self::Never, Self::Guard)
            }
            _ => Self::tokens(written),
        };
        parts.push(part);
    }

    fn tokens(written: &'static str) -> Self {
        let colon = written.split_once(':').filter(|(name, rest)| {
            !name.is_empty() && !rest.is_empty() && name.bytes().all(|letter| letter.is_ascii_lowercase())
        });
        let (name, rest) = colon.unwrap_or(("", written));
        if let (Some(name), "") = (rest.strip_suffix('['), name) {
            return Self::From(name);
        }
        if matches!(rest, ".." | "..(") {
            return Self::Skip { into_brackets: rest != "..", name };
        }
        let often = match rest.chars().next_back().filter(|_| rest.len() > 1) {
            Some('?') => Often::Perhaps,
            Some('*') => Often::Many,
            Some('+') => Often::Some,
            _ => Often::Once,
        };
        let rest = if often == Often::Once { rest } else { rest.get(..rest.len() - 1).unwrap_or(rest) };
        Self::Tokens { choice: Choice::of(rest), often, name }
    }

    /// True for a part that takes no token.
    fn is_condition(&self) -> bool {
        matches!(self, Self::Ahead { .. } | Self::Behind { .. } | Self::Somewhere { .. } | Self::Guard(_))
    }
}

/// A pattern, ready to be looked for.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<PatternPart>,
    /// The part with which the rewritten tokens begin: the first, or the one behind a skip at the start.
    first: usize,
}

impl Pattern {
    pub(super) fn new(written: &'static str) -> Self {
        let mut parts = Vec::new();
        for word in written.split_whitespace() {
            PatternPart::push(word, &mut parts);
        }
        let opening = parts.iter().position(|part| !part.is_condition()).unwrap_or(0);
        let skips = matches!(parts.get(opening), Some(PatternPart::Skip { name: "", .. }));
        Self { parts, first: if skips { opening + 1 } else { 0 } }
    }

    /// The first place where the pattern stands in a statement.
    pub(super) fn find<'v, 'a, 't>(&self, view: &'v View<'a, 't>) -> Option<PatternMatch<'v, 'a, 't>> {
        self.find_within(view, &mut { STEPS })
    }

    /// The same with no more parts tried than are left.
    pub(super) fn find_within<'v, 'a, 't>(
        &self,
        view: &'v View<'a, 't>,
        steps: &mut usize,
    ) -> Option<PatternMatch<'v, 'a, 't>> {
        let found = PatternMatch { view, named: Vec::new(), wrong: (0, 0), from: 0, to: 0 };
        let mut search = Search { pattern: self, found, steps: (*steps).min(STEPS) };
        let given = search.steps;
        let fits = search.fits(0, 0);
        *steps -= given - search.steps;
        fits.then_some(search.found)
    }

    /// The names that a rewriting may use.
    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<&'static str> {
        let named = self.parts.iter().filter_map(|part| match part {
            PatternPart::Tokens { name, .. } | PatternPart::Skip { name, .. } | PatternPart::From(name) => Some(*name),
            PatternPart::Rest => Some("..."),
            _ => None,
        });
        named.chain(["wrong", "left", "right"]).collect()
    }
}

/// Where a pattern stands in a statement.
#[derive(Clone)]
pub(super) struct PatternMatch<'v, 'a, 't> {
    pub view: &'v View<'a, 't>,
    /// Names with the tokens that they stand for: the first, and the one behind the last.
    pub named: Vec<(&'static str, usize, usize)>,
    /// What is wrong.
    pub wrong: (usize, usize),
    /// The first token of the pattern.
    pub from: usize,
    /// The token behind it.
    pub to: usize,
}

impl PatternMatch<'_, '_, '_> {
    /// The place of what is wrong; where nothing is, the place behind the token before.
    pub(super) fn wrong_span(&self) -> Span {
        let (from, to) = self.wrong;
        match (from < to, from < self.view.len()) {
            (true, _) => self.view.span_of(from, to),
            (false, true) => self.view.span(from.saturating_sub(1)).at_end(),
            (false, false) => self.view.line_end(),
        }
    }
}

/// One try to find a pattern.
struct Search<'p, 'v, 'a, 't> {
    pattern: &'p Pattern,
    found: PatternMatch<'v, 'a, 't>,
    /// Parts that may still be tried.
    steps: usize,
}

/// Parts of a pattern that are tried on one statement. What people write takes some dozens; a text that takes more is none of theirs, and
/// hints are not worth its time.
const STEPS: usize = 10_000;

/// The end of named tokens that is not known yet.
const OPEN: usize = usize::MAX;

impl Search<'_, '_, '_, '_> {
    /// Whether the parts from one on stand at a token.
    fn fits(&mut self, index: usize, at: usize) -> bool {
        let pattern = self.pattern;
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        if index == pattern.first {
            self.found.from = at;
        }
        let Some(part) = pattern.parts.get(index) else {
            self.found.to = at;
            return true;
        };
        let view = self.found.view;
        let holds = match part {
            PatternPart::Tokens { choice, often, name } => return self.taken(index, (choice, *often, name), at, at),
            PatternPart::Skip { into_brackets, name } => return self.skipped(index, *into_brackets, name, at),
            PatternPart::Rest => return self.named("...", (at, view.len()), index + 1),
            PatternPart::WrongFrom => {
                self.found.wrong = (at, at);
                true
            }
            PatternPart::WrongTo => {
                self.found.wrong.1 = at;
                true
            }
            PatternPart::From(name) => return self.opened(index, name, at),
            PatternPart::To => return self.closed(index, at),
            PatternPart::Ahead { choice, wanted } => choice.behind(view, at).is_some() == *wanted,
            PatternPart::Behind { choice, wanted } => {
                at.checked_sub(1).is_some_and(|before| choice.behind(view, before).is_some()) == *wanted
            }
            PatternPart::Somewhere { choice, wanted, into_brackets } => {
                let mut places = (at..view.len()).filter(|&here| *into_brackets || view.is_outer(here));
                places.any(|here| choice.behind(view, here).is_some()) == *wanted
            }
            PatternPart::Guard(holds) => holds(view, at),
            PatternPart::Never => false,
        };
        holds && self.fits(index + 1, at)
    }

    /// Takes tokens from `at` on as often as they are there, then fewer, until the other parts fit.
    fn taken(&mut self, index: usize, part: (&Choice, Often, &'static str), start: usize, at: usize) -> bool {
        let (choice, often, name) = part;
        let more = matches!(often, Often::Many | Often::Some) || at == start;
        let end = choice.behind(self.found.view, at).filter(|_| more);
        if end.is_some_and(|end| self.taken(index, part, start, end)) {
            return true;
        }
        (at > start || matches!(often, Often::Perhaps | Often::Many)) && self.named(name, (start, at), index + 1)
    }

    fn skipped(&mut self, index: usize, into_brackets: bool, name: &'static str, at: usize) -> bool {
        let view = self.found.view;
        let first = at + usize::from(!name.is_empty());
        let mut places = (first..=view.len()).filter(|&here| into_brackets || view.is_outer(here));
        places.any(|here| self.named(name, (at, here), index + 1))
    }

    /// Goes on behind named tokens; the name is forgotten where that fails.
    fn named(&mut self, name: &'static str, tokens: (usize, usize), index: usize) -> bool {
        let before = self.found.named.len();
        if !name.is_empty() {
            self.found.named.push((name, tokens.0, tokens.1));
        }
        let fits = self.fits(index, tokens.1);
        if !fits {
            self.found.named.truncate(before);
        }
        fits
    }

    fn opened(&mut self, index: usize, name: &'static str, at: usize) -> bool {
        let before = self.found.named.len();
        self.found.named.push((name, at, OPEN));
        let fits = self.fits(index + 1, at);
        if !fits {
            self.found.named.truncate(before);
        }
        fits
    }

    fn closed(&mut self, index: usize, at: usize) -> bool {
        let Some(open) = self.found.named.iter().rposition(|(_, _, to)| *to == OPEN) else { return false };
        self.close(open, at);
        if self.fits(index + 1, at) {
            return true;
        }
        self.close(open, OPEN);
        false
    }

    fn close(&mut self, open: usize, to: usize) {
        if let Some(named) = self.found.named.get_mut(open) {
            named.2 = to;
        }
    }
}
