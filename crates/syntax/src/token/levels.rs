//! Counts the nesting of a text: brackets, interpolations, and constructs that nest without brackets.

use super::Token;
use super::TokenKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenBracket {
    Round,
    Square,
    Curly,
    /// A `${` in a string, with the offset and the quotes of the string.
    Value {
        start: usize,
        quote: QuoteKind,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteKind {
    Line,
    Block,
}

/// A bracket, and the extra levels of constructs inside of it that nest without brackets: quantifiers, conditions.
#[derive(Debug, Clone, Copy)]
struct BracketFrame {
    open: OpenBracket,
    extra: usize,
}

pub(super) struct NestingLevels {
    limit: usize,
    frames: Vec<BracketFrame>,
    values: usize,
    /// Number of frames that a `}` closes.
    curlies: usize,
    /// Extra levels outside of all brackets.
    outer: usize,
    extras: usize,
    /// Length of the current run of `not` or `-`.
    run: usize,
    /// True at the start of a line, unless the statement continues there.
    fresh: bool,
    over: bool,
    depth: usize,
    too_deep: Vec<usize>,
}

impl NestingLevels {
    pub(super) fn new(limit: usize) -> Self {
        let (values, curlies, outer, extras, run, depth) = (0, 0, 0, 0, 0, 0);
        let (frames, too_deep) = (Vec::new(), Vec::new());
        Self { limit, frames, values, curlies, outer, extras, run, fresh: true, over: false, depth, too_deep }
    }

    pub(super) fn into_depths(self) -> (usize, Vec<usize>) {
        (self.depth, self.too_deep)
    }

    pub(super) fn in_value(&self) -> bool {
        self.values > 0
    }

    /// Returns the outermost accepted interpolation: the index of its bracket and the start of its string.
    pub(super) fn outermost_value(&self, accept: impl Fn(QuoteKind) -> bool) -> Option<(usize, usize)> {
        if self.values == 0 {
            return None;
        }
        self.frames.iter().enumerate().find_map(|(index, frame)| match frame.open {
            OpenBracket::Value { start, quote } if accept(quote) => Some((index, start)),
            _ => None,
        })
    }

    pub(super) fn open_bracket(&mut self, open: OpenBracket, at: usize) {
        self.frames.push(BracketFrame { open, extra: 0 });
        self.values += usize::from(matches!(open, OpenBracket::Value { .. }));
        self.curlies += usize::from(matches!(open, OpenBracket::Value { .. } | OpenBracket::Curly));
        self.measure_depth(at);
    }

    /// Closes a bracket. A `}` also closes unclosed brackets inside of it. Returns `None` if nothing is open.
    pub(super) fn close_bracket(&mut self, form: OpenBracket) -> Option<OpenBracket> {
        let inside = |frame: &BracketFrame| matches!(frame.open, OpenBracket::Curly | OpenBracket::Value { .. });
        let index = match form {
            OpenBracket::Curly if self.curlies == 0 => None,
            OpenBracket::Curly => self.frames.iter().rposition(inside),
            _ => self
                .frames
                .len()
                .checked_sub(1)
                .filter(|&top| self.frames.get(top).is_some_and(|frame| frame.open == form)),
        }?;
        let closed = self.frames.get(index).map(|frame| frame.open);
        self.close_to(index);
        closed
    }

    pub(super) fn close_to(&mut self, index: usize) {
        for frame in self.frames.drain(index.min(self.frames.len())..) {
            self.extras = self.extras.saturating_sub(frame.extra);
            self.values -= usize::from(matches!(frame.open, OpenBracket::Value { .. }));
            self.curlies -= usize::from(matches!(frame.open, OpenBracket::Value { .. } | OpenBracket::Curly));
        }
    }

    pub(super) fn line_end(&mut self) {
        self.fresh = true;
    }

    /// Counts nesting without brackets: runs of `not` and `-`, quantifiers, conditions.
    pub(super) fn count_token(&mut self, source: &str, token: Token, last: Option<Token>) {
        let word = |token: Option<Token>| token.and_then(|token| source.get(token.start..token.end)).unwrap_or("");
        let (text, before) = (word(Some(token)), word(last));
        let goes_on = matches!(text, "and" | "or" | "then" | "else" | "->");
        if text == "," || text == ";" || (self.fresh && !goes_on && !self.line_goes_on(before)) {
            self.reset_extra();
        }
        self.fresh = false;
        self.run = if matches!(text, "not" | "-") { self.run + 1 } else { 0 };
        let opens = match text {
            "in" => token.kind == TokenKind::Word && quantifier_before(source, last),
            "if" => !matches!(before, "->" | "." | "|"),
            _ => false,
        };
        if opens {
            self.extras += 1;
            match self.frames.last_mut() {
                Some(frame) => frame.extra += 1,
                None => self.outer += 1,
            }
        }
        if opens || self.run > 0 {
            self.measure_depth(token.start);
        }
    }

    fn line_goes_on(&self, before: &str) -> bool {
        let open = self.frames.last().map(|frame| frame.open);
        let inside = matches!(open, Some(OpenBracket::Round | OpenBracket::Square | OpenBracket::Value { .. }));
        let joins = [":", "->", "=", "and", "or", "not", "then", "else", "in", "implies", "|", "+", "-"];
        inside || joins.contains(&before)
    }

    fn reset_extra(&mut self) {
        let extra = match self.frames.last_mut() {
            Some(frame) => std::mem::take(&mut frame.extra),
            None => std::mem::take(&mut self.outer),
        };
        self.extras = self.extras.saturating_sub(extra);
    }

    fn measure_depth(&mut self, at: usize) {
        let depth = self.frames.len() + self.extras + self.run;
        self.depth = self.depth.max(depth);
        let over = depth > self.limit;
        if over && !self.over {
            self.too_deep.push(at);
        }
        self.over = over;
    }
}

/// True for an `in` after `any x`, `all x`, `no x` or `count x`; `last` is the token before it.
fn quantifier_before(source: &str, last: Option<Token>) -> bool {
    let before = source.get(..last.map_or(0, |last| last.start)).unwrap_or("").trim_end();
    ["any", "all", "no", "count"].iter().any(|word| before.ends_with(word))
}
