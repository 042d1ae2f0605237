//! Patterns over the tokens of a statement, in a notation similar to the statement itself.
//!
//! A pattern is a line of parts separated by blanks. It starts at the first token of the statement:
//!
//! | notation | meaning |
//! | `never` | this word; `'<'` in quotes if the notation itself uses the sign |
//! | `unless\|without` | one of several words |
//! | `P` `N` `STATEMENT` | a class of [`super::classes`]: a step pattern, a number, a word of a list |
//! | `a?` `a*` `a+` | optional; any number of times; at least once |
//! | `WORDS~` | a word of a list, ignoring case |
//! | `b:P` | captures the tokens of the part under a name, for messages and rewrites |
//! | `b[ … ]` | captures the tokens of several parts under a name |
//! | `[ … \| … ]` `[ … ]?` | the first matching alternative; optional. Names in other alternatives are empty; `b[` captures the match |
//! | `..` | as few tokens as possible, ending outside of brackets; `b:..` captures them, at least one |
//! | `..(` | like `..`, but may end inside of brackets |
//! | `...` | the rest of the statement, captured as `...` |
//! | `$` | as the last part of an alternative or pattern: the end of the statement. Modifiers may follow; they are kept in the rewrite |
//! | `< … >` | the mistake, whose tokens are underlined; `<>` if something is missing |
//! | `&x` `!x` `^x` | the next token is such a token; it is not; the previous token is |
//! | `&..x` `!..x` | such a token follows somewhere outside of brackets; none does |
//! | `&..(x` `!..(x` | such a token follows somewhere, also inside of brackets; none does |
//! | `@failed` | a named condition on the position, from [`super::classes`] |

use super::view::{GuardFn, StatementView, TakeFn};
use super::{classes, table};
use averment_base::source::Span;

#[derive(Debug, Clone, Copy)]
enum TokenClass {
    Word(&'static str),
    OneOf(&'static [&'static str]),
    /// One of several words, ignoring case.
    AnyCase(&'static [&'static str]),
    Taken(TakeFn),
}

impl TokenClass {
    fn parse(written: &'static str) -> Result<Self, String> {
        if let Some(sign) = written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Ok(Self::Word(sign));
        }
        let list = classes::find_list(written).map(Self::OneOf);
        let class = list.or_else(|| classes::find_take(written).map(Self::Taken));
        let class = class.or_else(|| table::find_others(written).map(Self::OneOf));
        let any_case = || table::find_others(written.strip_suffix('~')?).map(Self::AnyCase);
        let class = class.or_else(any_case);
        let named = !written.is_empty() && written.bytes().all(|letter| letter.is_ascii_uppercase());
        match class {
            None if named || written.is_empty() => Err(format!("there is no class `{written}`")),
            class => Ok(class.unwrap_or(Self::Word(written))),
        }
    }

    fn match_end(self, view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
        let stands = match self {
            Self::Word(word) => view.token_is(at, word),
            Self::OneOf(words) => view.is_any(at, words),
            Self::AnyCase(words) => {
                let written = view.token_text(at);
                !written.is_empty() && words.iter().any(|word| word.eq_ignore_ascii_case(written))
            }
            Self::Taken(take) => return take(view, at).filter(|&end| end > at),
        };
        (stands && at < view.len()).then_some(at + 1)
    }
}

#[derive(Debug)]
struct ClassChoice(Vec<TokenClass>);

impl ClassChoice {
    fn parse(written: &'static str) -> Result<Self, String> {
        let mut quoted = false;
        let parts = written.split(|sign: char| {
            quoted ^= sign == '\'';
            sign == '|' && !quoted
        });
        parts.map(TokenClass::parse).collect::<Result<_, _>>().map(Self)
    }

    fn match_end(&self, view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
        self.0.iter().find_map(|class| class.match_end(view, at))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartCount {
    Once,
    Perhaps,
    Many,
    /// Once or more.
    Some,
}

/// A part of a pattern; names are empty if nothing is captured. A fork lists the part at which each alternative of a group begins, a jump holds the
/// part after the group.
#[derive(Debug)]
enum PatternPart {
    Tokens { choice: ClassChoice, often: PartCount, name: &'static str },
    Skip { into_brackets: bool, name: &'static str },
    Rest,
    WrongFrom,
    WrongTo,
    From(&'static str),
    To,
    Fork(Vec<usize>),
    Jump(usize),
    Ahead { choice: ClassChoice, wanted: bool },
    Behind { choice: ClassChoice, wanted: bool },
    Somewhere { choice: ClassChoice, wanted: bool, into_brackets: bool },
    Guard(GuardFn),
}

impl PatternPart {
    fn parse(written: &'static str) -> Result<Self, String> {
        let behind = |from: usize| written.get(from..).unwrap_or("");
        let wanted = written.starts_with('&');
        Ok(match written {
            "<" => Self::WrongFrom,
            ">" => Self::WrongTo,
            "..." => Self::Rest,
            _ if written.starts_with(['&', '!']) && written.get(1..3) == Some("..") => {
                let inside = behind(3).strip_prefix('(');
                let choice = ClassChoice::parse(inside.unwrap_or(behind(3)))?;
                Self::Somewhere { choice, wanted, into_brackets: inside.is_some() }
            }
            _ if written.len() > 1 && written.starts_with(['&', '!']) && !written.starts_with("!=") => {
                Self::Ahead { choice: ClassChoice::parse(behind(1))?, wanted }
            }
            _ if written.len() > 1 && written.starts_with('^') => {
                let unwanted = behind(1).strip_prefix('!');
                let choice = ClassChoice::parse(unwanted.unwrap_or(behind(1)))?;
                Self::Behind { choice, wanted: unwanted.is_none() }
            }
            _ if written.starts_with('@') => {
                Self::Guard(classes::find_guard(behind(1)).ok_or_else(|| format!("there is no condition `{written}`"))?)
            }
            _ => return Self::parse_tokens(written),
        })
    }

    fn parse_tokens(written: &'static str) -> Result<Self, String> {
        let colon = written.split_once(':').filter(|(name, rest)| {
            !name.is_empty() && !rest.is_empty() && name.bytes().all(|letter| letter.is_ascii_lowercase())
        });
        let (name, rest) = colon.unwrap_or(("", written));
        if matches!(rest, ".." | "..(") {
            return Ok(Self::Skip { into_brackets: rest != "..", name });
        }
        let often = match rest.chars().next_back().filter(|_| rest.len() > 1) {
            Some('?') => PartCount::Perhaps,
            Some('*') => PartCount::Many,
            Some('+') => PartCount::Some,
            _ => PartCount::Once,
        };
        let rest = if often == PartCount::Once { rest } else { rest.get(..rest.len() - 1).unwrap_or(rest) };
        Ok(Self::Tokens { choice: ClassChoice::parse(rest)?, often, name })
    }

    fn name(&self) -> Option<&'static str> {
        match self {
            Self::Tokens { name, .. } | Self::Skip { name, .. } | Self::From(name) => Some(*name),
            Self::Rest => Some("..."),
            _ => None,
        }
        .filter(|name| !name.is_empty())
    }

    fn is_condition(&self) -> bool {
        matches!(self, Self::Ahead { .. } | Self::Behind { .. } | Self::Somewhere { .. } | Self::Guard(_))
    }
}

#[derive(Debug, Default)]
pub(super) struct HintPattern {
    parts: Vec<PatternPart>,
    /// The part at which the rewritten tokens start: the first one, or the one after a leading skip.
    first: usize,
    /// The names that it can capture.
    pub names: Vec<&'static str>,
}

/// A group that is not closed yet: whether it has a name, its fork, and the ends of its alternatives.
struct OpenGroup {
    is_named: bool,
    fork: usize,
    jumps: Vec<usize>,
}

impl HintPattern {
    pub(super) fn new(written: &'static str) -> Result<Self, String> {
        let (mut parts, mut open) = (Vec::new(), Vec::<OpenGroup>::new());
        for word in written.split_whitespace() {
            match word {
                "<>" => parts.extend([PatternPart::WrongFrom, PatternPart::WrongTo]),
                "$" => parts.extend([PatternPart::parse("@modifiers")?, PatternPart::Rest]),
                "|" => {
                    let group = open.last_mut().ok_or("a `|` stands outside of a group")?;
                    group.jumps.push(parts.len());
                    parts.push(PatternPart::Jump(0));
                    add_choice(&mut parts, group.fork);
                }
                "]" | "]?" => {
                    let group = open.pop().ok_or("a group ends that did not begin")?;
                    close_group(&mut parts, &group, word == "]?");
                }
                _ => match word.strip_suffix('[') {
                    Some(name) => {
                        let is_named = !name.is_empty();
                        parts.extend(is_named.then_some(PatternPart::From(name)));
                        open.push(OpenGroup { is_named, fork: parts.len(), jumps: Vec::new() });
                        parts.push(PatternPart::Fork(vec![parts.len() + 1]));
                    }
                    None => parts.push(PatternPart::parse(word)?),
                },
            }
        }
        if !open.is_empty() {
            return Err("a group has no end".to_owned());
        }
        let opening = parts.iter().position(|part| !part.is_condition()).unwrap_or(0);
        let skips = matches!(parts.get(opening), Some(PatternPart::Skip { name: "", .. }));
        let names = parts.iter().filter_map(PatternPart::name).collect();
        Ok(Self { parts, first: if skips { opening + 1 } else { 0 }, names })
    }

    pub(super) fn find_match<'v, 'a, 't>(&self, view: &'v StatementView<'a, 't>) -> Option<PatternMatch<'v, 'a, 't>> {
        self.find_within(view, &mut { STEPS })
    }

    pub(super) fn find_within<'v, 'a, 't>(
        &self,
        view: &'v StatementView<'a, 't>,
        steps: &mut usize,
    ) -> Option<PatternMatch<'v, 'a, 't>> {
        let found = PatternMatch { view, named: Vec::new(), wrong: (0, 0), from: 0, to: 0 };
        let mut search = PatternSearch { pattern: self, found, steps: (*steps).min(STEPS) };
        let given = search.steps;
        let fits = search.fits_from(0, 0);
        *steps -= given - search.steps;
        fits.then(|| search.found.with_names(&self.names))
    }
}

fn add_choice(parts: &mut [PatternPart], fork: usize) {
    let next = parts.len();
    if let Some(PatternPart::Fork(choices)) = parts.get_mut(fork) {
        choices.push(next);
    }
}

fn close_group(parts: &mut Vec<PatternPart>, group: &OpenGroup, is_optional: bool) {
    let end = parts.len();
    for &jump in &group.jumps {
        if let Some(part) = parts.get_mut(jump) {
            *part = PatternPart::Jump(end);
        }
    }
    if is_optional {
        add_choice(parts, group.fork);
    }
    parts.extend(group.is_named.then_some(PatternPart::To));
}

#[derive(Clone)]
pub(super) struct PatternMatch<'v, 'a, 't> {
    pub view: &'v StatementView<'a, 't>,
    /// Captured names with their token ranges: the first token, and the one after the last.
    pub named: Vec<(&'static str, usize, usize)>,
    /// The token range of the mistake.
    pub wrong: (usize, usize),
    /// The first token of the pattern.
    pub from: usize,
    /// The token after the pattern.
    pub to: usize,
}

impl PatternMatch<'_, '_, '_> {
    /// Names in alternatives that did not match are empty.
    fn with_names(mut self, names: &[&'static str]) -> Self {
        for &name in names {
            if !self.named.iter().any(|named| named.0 == name) {
                self.named.push((name, self.to, self.to));
            }
        }
        self
    }

    /// Returns the location of the mistake; if it is empty, the location after the previous token.
    pub(super) fn wrong_span(&self) -> Span {
        let (from, to) = self.wrong;
        match (from < to, from < self.view.len()) {
            (true, _) => self.view.span_of(from, to),
            (false, true) => self.view.span(from.saturating_sub(1)).at_end(),
            (false, false) => self.view.line_end(),
        }
    }
}

struct PatternSearch<'p, 'v, 'a, 't> {
    pattern: &'p HintPattern,
    found: PatternMatch<'v, 'a, 't>,
    steps: usize,
}

/// Maximum number of parts tried for each statement. Typical texts need dozens.
const STEPS: usize = 10_000;

const OPEN: usize = usize::MAX;

impl PatternSearch<'_, '_, '_, '_> {
    fn fits_from(&mut self, index: usize, at: usize) -> bool {
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
            PatternPart::Tokens { choice, often, name } => {
                return self.take_tokens(index, (choice, *often, name), at, at);
            }
            PatternPart::Skip { into_brackets, name } => return self.skip_tokens(index, *into_brackets, name, at),
            PatternPart::Rest => return self.name_tokens("...", (at, view.len()), index + 1, view.len()),
            PatternPart::WrongFrom => {
                self.found.wrong = (at, at);
                true
            }
            PatternPart::WrongTo => {
                self.found.wrong.1 = at;
                true
            }
            PatternPart::From(name) => return self.name_tokens(name, (at, OPEN), index + 1, at),
            PatternPart::To => return self.close_name(index, at),
            PatternPart::Fork(choices) => return self.fits_choice(choices, at),
            PatternPart::Jump(index) => return self.fits_from(*index, at),
            PatternPart::Ahead { choice, wanted } => choice.match_end(view, at).is_some() == *wanted,
            PatternPart::Behind { choice, wanted } => {
                at.checked_sub(1).is_some_and(|before| choice.match_end(view, before).is_some()) == *wanted
            }
            PatternPart::Somewhere { choice, wanted, into_brackets } => {
                let mut places = (at..view.len()).filter(|&here| *into_brackets || view.is_outer(here));
                places.any(|here| choice.match_end(view, here).is_some()) == *wanted
            }
            PatternPart::Guard(holds) => holds(view, at),
        };
        holds && self.fits_from(index + 1, at)
    }

    fn fits_choice(&mut self, choices: &[usize], at: usize) -> bool {
        let wrong = self.found.wrong;
        choices.iter().any(|&index| {
            self.found.wrong = wrong;
            self.fits_from(index, at)
        })
    }

    /// Matches greedily: takes as many tokens as possible, then fewer, until the rest matches.
    fn take_tokens(
        &mut self,
        index: usize,
        part: (&ClassChoice, PartCount, &'static str),
        start: usize,
        at: usize,
    ) -> bool {
        let (choice, often, name) = part;
        let more = matches!(often, PartCount::Many | PartCount::Some) || at == start;
        let end = choice.match_end(self.found.view, at).filter(|_| more);
        if end.is_some_and(|end| self.take_tokens(index, part, start, end)) {
            return true;
        }
        (at > start || matches!(often, PartCount::Perhaps | PartCount::Many))
            && self.name_tokens(name, (start, at), index + 1, at)
    }

    fn skip_tokens(&mut self, index: usize, into_brackets: bool, name: &'static str, at: usize) -> bool {
        let view = self.found.view;
        let first = at + usize::from(!name.is_empty());
        let mut places = (first..=view.len()).filter(|&here| into_brackets || view.is_outer(here));
        places.any(|here| self.name_tokens(name, (at, here), index + 1, here))
    }

    /// Continues after capturing tokens; the capture is dropped on failure.
    fn name_tokens(&mut self, name: &'static str, tokens: (usize, usize), index: usize, at: usize) -> bool {
        let before = self.found.named.len();
        if !name.is_empty() {
            self.found.named.push((name, tokens.0, tokens.1));
        }
        let fits = self.fits_from(index, at);
        if !fits {
            self.found.named.truncate(before);
        }
        fits
    }

    fn close_name(&mut self, index: usize, at: usize) -> bool {
        let Some(open) = self.found.named.iter().rposition(|(_, _, to)| *to == OPEN) else { return false };
        self.set_name_end(open, at);
        if self.fits_from(index + 1, at) {
            return true;
        }
        self.set_name_end(open, OPEN);
        false
    }

    fn set_name_end(&mut self, open: usize, to: usize) {
        if let Some(named) = self.found.named.get_mut(open) {
            named.2 = to;
        }
    }
}
