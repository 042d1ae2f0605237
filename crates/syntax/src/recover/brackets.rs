//! Matches brackets. If one is missing, indentation decides.

use super::text::TokenText;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BracketEnd {
    At(usize),
    Missing(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BracketError {
    Unclosed(usize, usize),
    Stray(usize),
    /// A bracket that is closed by a bracket of another kind.
    Crossed(usize, usize),
}

#[derive(Debug, Default)]
pub(super) struct BracketTable {
    close: Vec<Option<BracketEnd>>,
    pub errors: Vec<BracketError>,
}

impl BracketTable {
    pub(super) fn bracket_end(&self, index: usize) -> Option<BracketEnd> {
        self.close.get(index).copied().flatten()
    }

    pub(super) fn is_stray(&self, index: usize) -> bool {
        self.errors
            .binary_search_by_key(&index, |trouble| trouble.token_index())
            .is_ok_and(|at| self.errors.get(at).is_some_and(|trouble| matches!(trouble, BracketError::Stray(_))))
    }
}

impl BracketError {
    pub(crate) fn token_index(self) -> usize {
        match self {
            Self::Unclosed(token, _) | Self::Stray(token) | Self::Crossed(token, _) => token,
        }
    }
}

/// Matches the brackets of a text; indentation is used only if a bracket is missing.
pub(super) fn match_brackets(text: &TokenText<'_>) -> BracketTable {
    let mut brackets = BracketMatcher::match_tokens(text, false);
    let open_block =
        |trouble: &BracketError| matches!(trouble, BracketError::Unclosed(token, _) if text.token_is(*token, "{"));
    if brackets.errors.iter().any(open_block) {
        brackets = BracketMatcher::match_tokens(text, true);
    }
    brackets.errors.sort_by_key(|trouble| trouble.token_index());
    brackets
}

struct BracketMatcher<'a, 't> {
    text: &'a TokenText<'t>,
    by_indentation: bool,
    stack: Vec<usize>,
    curlies: usize,
    found: BracketTable,
}

impl<'a, 't> BracketMatcher<'a, 't> {
    fn match_tokens(text: &'a TokenText<'t>, by_indentation: bool) -> BracketTable {
        let count = text.tokens.len();
        let found = BracketTable { close: vec![None; count], errors: Vec::new() };
        let mut matcher = Self { text, by_indentation, stack: Vec::new(), curlies: 0, found };
        for index in 0..count {
            if text.opens_line(index) {
                matcher.line_start(index);
            }
            match text.token_text(index) {
                "(" | "[" => matcher.stack.push(index),
                "{" => {
                    matcher.stack.push(index);
                    matcher.curlies += 1;
                }
                ")" => matcher.close_round(index, "("),
                "]" => matcher.close_round(index, "["),
                "}" => matcher.close_curly(index),
                _ => {}
            }
        }
        while let Some(&open) = matcher.stack.last() {
            let outside = if text.token_is(open, "{") { count } else { text.line_end(open) };
            matcher.mark_missing(open, outside);
        }
        matcher.found
    }

    fn pop_open(&mut self) -> Option<usize> {
        let open = self.stack.pop()?;
        self.curlies -= usize::from(self.text.token_is(open, "{"));
        Some(open)
    }

    fn mark_missing(&mut self, open: usize, outside: usize) {
        self.pop_open();
        self.set_end(open, BracketEnd::Missing(outside));
        self.found.errors.push(BracketError::Unclosed(open, outside));
    }

    fn set_end(&mut self, open: usize, close: BracketEnd) {
        if let Some(place) = self.found.close.get_mut(open) {
            *place = Some(close);
        }
    }

    fn line_start(&mut self, index: usize) {
        while let Some(&open) = self.stack.last() {
            let outdented = self.text.token_line(open) != self.text.token_line(index)
                && self.text.line_indent(index) <= self.text.line_indent(open);
            let ends = match self.text.token_text(open) {
                "{" => self.by_indentation && self.ends_block(index, open),
                _ => outdented && self.text.cannot_go_on(index),
            };
            if !ends {
                break;
            }
            self.mark_missing(open, index);
        }
    }

    /// True for a `}` indented like an outer block, or for a declaration outside of any block.
    fn ends_block(&self, index: usize, open: usize) -> bool {
        let indent = self.text.line_indent(index);
        if self.text.token_is(index, "}") {
            let fits = |&outer: &usize| self.text.token_is(outer, "{") && self.text.line_indent(outer) == indent;
            return indent < self.text.line_indent(open) && self.stack.iter().rev().skip(1).take(64).any(fits);
        }
        let declares = matches!(
            self.text.token_text(index),
            "rule" | "suite" | "test" | "invariant" | "use" | "param" | "schema" | "tools" | "pre" | "post"
        );
        let nested = self.text.token_is(self.text.line_first(open), "suite")
            || self.text.token_is(self.text.line_first(open), "invariant");
        declares && !nested && indent <= self.text.line_indent(open) && self.text.cannot_go_on(index)
    }

    /// Closes `)` or `]`: the innermost bracket of its kind on this line, or the innermost bracket if it matches.
    fn close_round(&mut self, index: usize, form: &str) {
        let line = self.text.token_line(index);
        let reach = self.stack.iter().rev().take(16).position(|&open| self.text.token_is(open, form));
        let reachable = reach.filter(|&above| {
            self.stack
                .iter()
                .rev()
                .take(above)
                .all(|&between| !self.text.token_is(between, "{") || self.text.token_line(between) == line)
        });
        match (reachable, self.stack.last().copied()) {
            (Some(above), _) => {
                for _ in 0..above {
                    if let Some(&open) = self.stack.last() {
                        self.mark_missing(open, index);
                    }
                }
                if let Some(open) = self.pop_open() {
                    self.set_end(open, BracketEnd::At(index));
                }
            }
            (None, Some(open)) if !self.text.token_is(open, "{") && self.text.token_line(open) == line => {
                self.pop_open();
                self.set_end(open, BracketEnd::At(index));
                self.found.errors.push(BracketError::Crossed(open, index));
            }
            _ => self.found.errors.push(BracketError::Stray(index)),
        }
    }

    fn close_curly(&mut self, index: usize) {
        if self.curlies == 0 {
            self.found.errors.push(BracketError::Stray(index));
            return;
        }
        while let Some(&open) = self.stack.last() {
            if self.text.token_is(open, "{") {
                self.pop_open();
                self.set_end(open, BracketEnd::At(index));
                return;
            }
            let own_line = self.text.token_line(open) != self.text.token_line(index);
            let outside = if own_line { self.text.line_end(open) } else { index };
            self.mark_missing(open, outside);
        }
    }
}
