//! Lowers the pairs of the grammar to the syntax tree.
//!
//! There is one small function per grammar rule. The grammar accepts a little more than the language where that allows a better message, such as any
//! letters after a number or any flags after a regular expression. Lowering reports the error and keeps a sensible reading, so that no follow-up
//! errors occur.

mod call_match;
mod chain;
mod dedent;
mod expr;
mod item;
mod like;
mod literal;
mod qualifiers;
mod rate;
mod setting;
mod statement;
mod step;
mod test;
mod text;

use super::ast::Name;
use super::grammar::Rule;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};
use pest::iterators::{Pair, Pairs};
use std::collections::BTreeSet;

pub(super) type GrammarPair<'i> = Pair<'i, Rule>;

/// Maps parsed text to its file. The text may be a segment from which a body was removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPlace {
    /// The file.
    pub file: FileId,
    /// Offset of the text in the file.
    pub base: usize,
    /// Offset in the text after which `cut_length` bytes of the file were removed.
    pub cut_at: usize,
    /// Length of the removed part in bytes.
    pub cut_length: usize,
    /// The last offset in the file; an inserted `}` has no location of its own.
    pub last: usize,
}

impl TextPlace {
    pub(super) fn whole_text(file: FileId, base: usize) -> Self {
        Self { file, base, cut_at: usize::MAX, cut_length: 0, last: usize::MAX }
    }

    pub(super) fn file_offset(&self, at: usize) -> usize {
        (self.base + at + if at > self.cut_at { self.cut_length } else { 0 }).min(self.last)
    }

    fn file_span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.file_offset(start), self.file_offset(end))
    }
}

pub(super) struct SyntaxLowering<'t> {
    text: &'t str,
    place: TextPlace,
    limits: &'t Limits,
    depth: usize,
    /// The step and the `where` of a condition without parentheses, while its outermost level is lowered.
    open_where: Option<(Span, Span)>,
    /// The quantifier whose body is being lowered, up to its colon.
    quantifier: Option<Span>,
    in_step_group: bool,
    /// The preceding patterns in the list that is being lowered.
    listed: step::ListContext,
    /// Texts that were tried as steps and are not steps. Cached because many grammar rules try the same values.
    no_steps: BTreeSet<&'t str>,
    /// The diagnostics.
    pub diagnostics: Diagnostics,
}

impl<'t> SyntaxLowering<'t> {
    /// Creates the lowering; trees deeper than the limit are rejected.
    pub(super) fn new(text: &'t str, place: TextPlace, limits: &'t Limits) -> Self {
        let diagnostics = Diagnostics::default();
        Self {
            text,
            place,
            limits,
            depth: 0,
            open_where: None,
            quantifier: None,
            in_step_group: false,
            listed: step::ListContext::default(),
            no_steps: BTreeSet::new(),
            diagnostics,
        }
    }

    /// Returns the location of a node without trailing white space and comments, which grammar rules may include.
    fn node_span(&self, node: &GrammarPair<'_>) -> Span {
        self.place.file_span(node.as_span().start(), end_of(node))
    }

    fn node_text(&self, node: &GrammarPair<'_>) -> &'t str {
        self.text.get(node.as_span().start()..end_of(node)).unwrap_or("")
    }

    fn node_name(&self, node: &GrammarPair<'_>) -> Name {
        Name { text: node.as_str().to_owned(), span: self.node_span(node) }
    }

    fn report_diagnostic(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn report_error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.report_diagnostic(Diagnostic::new(Slug::Syntax, span, message).with_help(help));
    }

    /// Runs `work` one or more levels deeper; reports an error and returns `None` beyond the limit.
    fn with_depth<T>(&mut self, by: usize, at: Span, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth + by > self.limits.rule_depth {
            self.report_diagnostic(too_deep(at, self.limits.rule_depth));
            return None;
        }
        self.depth += by;
        let result = work(self);
        self.depth -= by;
        result
    }

    /// Runs `work` for a chain such as `a.b.c` or `a + b + c`, which nests to the left; eight parts count as one level.
    fn with_chain<T>(&mut self, length: usize, at: Span, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.with_depth(length / 8, at, work)
    }

    /// Runs `work` inside of brackets, where an outer `where` has no effect.
    fn in_brackets<T>(&mut self, at: Span, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outer = (self.open_where.take(), self.quantifier.take(), std::mem::take(&mut self.in_step_group));
        let result = self.with_depth(1, at, work);
        (self.open_where, self.quantifier, self.in_step_group) = outer;
        result
    }
}

pub(super) fn too_deep(at: Span, limit: usize) -> Diagnostic {
    Diagnostic::new(Slug::TooDeep, at, format!("nested more than {limit} levels deep here"))
        .with_help("split it: give inner parts a name with `let` or `def`")
}

pub(super) fn too_many_steps(at: Span, steps: usize) -> Diagnostic {
    Diagnostic::new(Slug::TooDeep, at, format!("reading this takes more than {steps} steps for each of its bytes"))
        .with_help("split it: give inner parts a name with `let` or `def`")
}

/// Signs and line ends, which are grammar rules only so that messages can name them.
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

/// Rules that end exactly at their text, although their last sign is not a pair.
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

fn end_of(node: &GrammarPair<'_>) -> usize {
    let mut node = node.clone();
    while !is_exact(node.as_rule()) {
        let Some(last) = node.clone().into_inner().rfind(|child| !child.as_str().is_empty()) else { break };
        node = last;
    }
    node.as_span().end()
}

struct NodeChildren<'i>(std::iter::Peekable<Pairs<'i, Rule>>);

impl<'i> NodeChildren<'i> {
    fn of_node(node: GrammarPair<'i>) -> Self {
        Self(node.into_inner().peekable())
    }

    fn peek_rule(&mut self) -> Option<Rule> {
        while self.0.next_if(|child| is_sign(child.as_rule())).is_some() {}
        self.0.peek().map(Pair::as_rule)
    }

    fn next_if_rule(&mut self, rule: Rule) -> Option<GrammarPair<'i>> {
        if self.peek_rule() == Some(rule) { self.0.next() } else { None }
    }

    fn peek_text(&mut self) -> &'i str {
        self.peek_rule();
        self.0.peek().map_or("", |child| child.as_span().as_str().trim_end())
    }

    fn rest_rules(&self) -> impl Iterator<Item = Rule> {
        self.0.clone().map(|child| child.as_rule())
    }

    fn skip_word(&mut self, rule: Rule) -> bool {
        self.next_if_rule(rule).is_some()
    }
}

impl<'i> Iterator for NodeChildren<'i> {
    type Item = GrammarPair<'i>;

    fn next(&mut self) -> Option<GrammarPair<'i>> {
        self.peek_rule();
        self.0.next()
    }
}
