//! From the pairs of the grammar to the syntax tree.
//!
//! One small function per rule. The grammar is a little wider than the language where that makes a better message (any letters behind
//! a number, any flags behind a regular expression); lowering says what is wrong and keeps a sensible reading, so that nothing else follows from it.

mod chain;
mod dedent;
mod expr;
mod item;
mod literal;
mod rate;
mod setting;
mod statement;
mod step;
mod test;
mod text;

use super::ast::Name;
use super::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::source::{FileId, Span};
use pest::iterators::{Pair, Pairs};

/// A pair of the grammar.
pub(super) type Node<'i> = Pair<'i, Rule>;

/// Where parsed text stands in its file. The text may be a segment of the file, and a body may have been cut out of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The file.
    pub file: FileId,
    /// Offset of the text in the file.
    pub base: usize,
    /// Offset in the text behind which `cut_length` bytes of the file are left out.
    pub cut_at: usize,
    /// How many bytes are left out there.
    pub cut_length: usize,
    /// The last offset in the file: a `}` that was put in stands nowhere.
    pub last: usize,
}

impl Place {
    /// The place of text that stands in the file as it is.
    pub(super) fn whole(file: FileId, base: usize) -> Self {
        Self { file, base, cut_at: usize::MAX, cut_length: 0, last: usize::MAX }
    }

    /// The offset in the file of an offset in the text.
    pub(super) fn offset(&self, at: usize) -> usize {
        (self.base + at + if at > self.cut_at { self.cut_length } else { 0 }).min(self.last)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.offset(start), self.offset(end))
    }
}

/// The state of lowering one text.
pub(super) struct Lower<'t> {
    text: &'t str,
    place: Place,
    limit: usize,
    depth: usize,
    /// The step and the word `where` of a condition without parentheses, while its outermost level is lowered.
    open_where: Option<(Span, Span)>,
    /// The quantifier whose body is lowered, from its first character to its colon.
    quantifier: Option<Span>,
    /// The step stands in parentheses of its own.
    in_step_group: bool,
    /// What stands before in the list of patterns that is lowered.
    listed: step::Listed,
    /// What was wrong.
    pub diagnostics: Diagnostics,
}

impl<'t> Lower<'t> {
    /// Lowers pairs of `text`, which stands at `place`; trees deeper than `limit` are refused.
    pub(super) fn new(text: &'t str, place: Place, limit: usize) -> Self {
        let diagnostics = Diagnostics::default();
        Self {
            text,
            place,
            limit,
            depth: 0,
            open_where: None,
            quantifier: None,
            in_step_group: false,
            listed: step::Listed::default(),
            diagnostics,
        }
    }

    /// The span of a node without the space and comments that the grammar lets a rule end with.
    fn span(&self, node: &Node<'_>) -> Span {
        self.place.span(node.as_span().start(), end_of(node))
    }

    /// The text of a node, with nothing behind it.
    fn written(&self, node: &Node<'_>) -> &'t str {
        self.text.get(node.as_span().start()..end_of(node)).unwrap_or("")
    }

    fn name(&self, node: &Node<'_>) -> Name {
        Name { text: node.as_str().to_owned(), span: self.span(node) }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.report(Diagnostic::new(Slug::Syntax, span, message).help(help));
    }

    /// Runs `work` `by` levels deeper; `None` with a diagnostic beyond the limit.
    fn deeper<T>(&mut self, by: usize, at: Span, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth + by > self.limit {
            self.report(too_deep(at, self.limit));
            return None;
        }
        self.depth += by;
        let result = work(self);
        self.depth -= by;
        result
    }

    /// Runs `work` below a chain of `length` parts, such as `a.b.c` or `a + b + c`: it nests to the left, and a few parts are no level.
    fn along<T>(&mut self, length: usize, at: Span, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.deeper(length / 8, at, work)
    }

    /// Runs `work` inside brackets, where a `where` in front has no say.
    fn bracketed<T>(&mut self, at: Span, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outer = (self.open_where.take(), self.quantifier.take(), std::mem::take(&mut self.in_step_group));
        let result = self.deeper(1, at, work);
        (self.open_where, self.quantifier, self.in_step_group) = outer;
        result
    }
}

/// The one diagnostic of everything that nests too far.
pub(super) fn too_deep(at: Span, limit: usize) -> Diagnostic {
    Diagnostic::new(Slug::TooDeep, at, format!("nested more than {limit} levels deep here"))
        .help("split it: give inner parts a name with `let` or `def`")
}

/// Signs and line ends: they are rules only so that a message can name them.
fn is_sign(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::comma
            | Rule::colon
            | Rule::equals
            | Rule::arrow
            | Rule::open_paren
            | Rule::close_paren
            | Rule::open_bracket
            | Rule::close_bracket
            | Rule::open_brace
            | Rule::close_brace
            | Rule::end
            | Rule::EOI
    )
}

/// Rules that end exactly where their text ends, though their last sign is no pair.
fn is_exact(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::string
            | Rule::block_string
            | Rule::line_string
            | Rule::raw_string
            | Rule::quoted_tool
            | Rule::regex
            | Rule::object_key
            | Rule::operand
            | Rule::flow_repeat
    )
}

/// The end of the last sign or word of a node.
fn end_of(node: &Node<'_>) -> usize {
    let mut node = node.clone();
    while !is_exact(node.as_rule()) {
        let Some(last) = node.clone().into_inner().rfind(|child| !child.as_str().is_empty()) else { break };
        node = last;
    }
    node.as_span().end()
}

/// The children of a node without signs.
struct Children<'i>(std::iter::Peekable<Pairs<'i, Rule>>);

impl<'i> Children<'i> {
    fn of(node: Node<'i>) -> Self {
        Self(node.into_inner().peekable())
    }

    fn peek(&mut self) -> Option<Rule> {
        while self.0.next_if(|child| is_sign(child.as_rule())).is_some() {}
        self.0.peek().map(Pair::as_rule)
    }

    /// The next child when it is of this rule.
    fn opt(&mut self, rule: Rule) -> Option<Node<'i>> {
        if self.peek() == Some(rule) { self.0.next() } else { None }
    }

    /// The text of the next child.
    fn peek_text(&mut self) -> &'i str {
        self.peek();
        self.0.peek().map_or("", |child| child.as_span().as_str().trim_end())
    }

    /// The rules of all children that are left.
    fn rest(&self) -> impl Iterator<Item = Rule> {
        self.0.clone().map(|child| child.as_rule())
    }

    /// True, and passed over, when the next child is this word.
    fn word(&mut self, rule: Rule) -> bool {
        self.opt(rule).is_some()
    }
}

impl<'i> Iterator for Children<'i> {
    type Item = Node<'i>;

    fn next(&mut self) -> Option<Node<'i>> {
        self.peek();
        self.0.next()
    }
}
