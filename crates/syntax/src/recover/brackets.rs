//! Which bracket closes which, also where one is missing: then indentation tells.

use super::text::Text;

/// Where a bracket ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    /// At the bracket that is this token.
    At(usize),
    /// Nothing closes it; this is the first token that is taken to stand outside.
    Missing(usize),
}

/// What is wrong with a bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nothing closes this token; the second one is the first that stands outside.
    Unclosed(usize, usize),
    /// This token closes nothing.
    Stray(usize),
    /// The first token is closed by the second, of another form.
    Crossed(usize, usize),
}

/// All brackets of a file.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    close: Vec<Option<Close>>,
    pub troubles: Vec<Trouble>,
}

impl Brackets {
    /// Where the bracket that is token `index` ends.
    pub(super) fn close(&self, index: usize) -> Option<Close> {
        self.close.get(index).copied().flatten()
    }

    pub(super) fn is_stray(&self, index: usize) -> bool {
        self.troubles
            .binary_search_by_key(&index, |trouble| trouble.token())
            .is_ok_and(|at| self.troubles.get(at).is_some_and(|trouble| matches!(trouble, Trouble::Stray(_))))
    }
}

impl Trouble {
    /// The token that it is said of.
    pub(crate) fn token(self) -> usize {
        match self {
            Self::Unclosed(token, _) | Self::Stray(token) | Self::Crossed(token, _) => token,
        }
    }
}

/// Matches all brackets. Indentation is asked only where something is missing.
pub(super) fn matched(text: &Text<'_>) -> Brackets {
    let mut brackets = Matcher::run(text, false);
    let open_block = |trouble: &Trouble| matches!(trouble, Trouble::Unclosed(token, _) if text.is(*token, "{"));
    if brackets.troubles.iter().any(open_block) {
        brackets = Matcher::run(text, true);
    }
    brackets.troubles.sort_by_key(|trouble| trouble.token());
    brackets
}

struct Matcher<'a, 't> {
    text: &'a Text<'t>,
    by_indentation: bool,
    stack: Vec<usize>,
    curlies: usize,
    found: Brackets,
}

impl<'a, 't> Matcher<'a, 't> {
    fn run(text: &'a Text<'t>, by_indentation: bool) -> Brackets {
        let count = text.tokens.len();
        let found = Brackets { close: vec![None; count], troubles: Vec::new() };
        let mut matcher = Self { text, by_indentation, stack: Vec::new(), curlies: 0, found };
        for index in 0..count {
            if text.opens_line(index) {
                matcher.line_start(index);
            }
            match text.word(index) {
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
            let outside = if text.is(open, "{") { count } else { text.line_end(open) };
            matcher.missing(open, outside);
        }
        matcher.found
    }

    fn pop(&mut self) -> Option<usize> {
        let open = self.stack.pop()?;
        self.curlies -= usize::from(self.text.is(open, "{"));
        Some(open)
    }

    fn missing(&mut self, open: usize, outside: usize) {
        self.pop();
        self.set(open, Close::Missing(outside));
        self.found.troubles.push(Trouble::Unclosed(open, outside));
    }

    fn set(&mut self, open: usize, close: Close) {
        if let Some(place) = self.found.close.get_mut(open) {
            *place = Some(close);
        }
    }

    /// Gives up brackets that a new line cannot stand in.
    fn line_start(&mut self, index: usize) {
        while let Some(&open) = self.stack.last() {
            let outdented =
                self.text.line(open) != self.text.line(index) && self.text.indent(index) <= self.text.indent(open);
            let ends = match self.text.word(open) {
                "{" => self.by_indentation && self.ends_block(index, open),
                _ => outdented && self.text.cannot_go_on(index),
            };
            if !ends {
                break;
            }
            self.missing(open, index);
        }
    }

    /// A `}` that fits an outer block by its indentation, or a declaration that stands in no block.
    fn ends_block(&self, index: usize, open: usize) -> bool {
        let indent = self.text.indent(index);
        if self.text.is(index, "}") {
            let fits = |&outer: &usize| self.text.is(outer, "{") && self.text.indent(outer) == indent;
            return indent < self.text.indent(open) && self.stack.iter().rev().skip(1).take(64).any(fits);
        }
        let declares = matches!(
            self.text.word(index),
            "rule" | "suite" | "test" | "invariant" | "use" | "param" | "schema" | "tools" | "pre" | "post"
        );
        let nested =
            self.text.is(self.text.line_first(open), "suite") || self.text.is(self.text.line_first(open), "invariant");
        declares && !nested && indent <= self.text.indent(open) && self.text.cannot_go_on(index)
    }

    /// `)` or `]`: closes the innermost bracket of its form on this line, or the innermost one when that is of its form.
    fn close_round(&mut self, index: usize, form: &str) {
        let line = self.text.line(index);
        let reach = self.stack.iter().rev().take(16).position(|&open| self.text.is(open, form));
        let reachable = reach.filter(|&above| {
            self.stack
                .iter()
                .rev()
                .take(above)
                .all(|&between| !self.text.is(between, "{") || self.text.line(between) == line)
        });
        match (reachable, self.stack.last().copied()) {
            (Some(above), _) => {
                for _ in 0..above {
                    if let Some(&open) = self.stack.last() {
                        self.missing(open, index);
                    }
                }
                if let Some(open) = self.pop() {
                    self.set(open, Close::At(index));
                }
            }
            (None, Some(open)) if !self.text.is(open, "{") && self.text.line(open) == line => {
                self.pop();
                self.set(open, Close::At(index));
                self.found.troubles.push(Trouble::Crossed(open, index));
            }
            _ => self.found.troubles.push(Trouble::Stray(index)),
        }
    }

    fn close_curly(&mut self, index: usize) {
        if self.curlies == 0 {
            self.found.troubles.push(Trouble::Stray(index));
            return;
        }
        while let Some(&open) = self.stack.last() {
            if self.text.is(open, "{") {
                self.pop();
                self.set(open, Close::At(index));
                return;
            }
            let own_line = self.text.line(open) != self.text.line(index);
            let outside = if own_line { self.text.line_end(open) } else { index };
            self.missing(open, outside);
        }
    }
}
