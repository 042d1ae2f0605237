//! Messages and rewritings: templates with the names of a pattern in braces, and the edits that make a statement read like one.
//!
//! `{a}` is the text of the tokens that the pattern names so, `{...}` the rest of the statement, `{wrong}` what is underlined, `{left}` and
//! `{right}` the operands on both sides of that. `{a?step}` stands for `step` where nothing is written, `{a|bare}` changes the text by one of
//! [`filters`]. Other braces are text.

use super::filters;
use super::pattern::PatternMatch;
use super::view::StatementView;
use averment_base::diagnostic::SourceEdit;
use averment_base::source::Span;

/// The text of tokens as a template takes it.
type SourceFn = fn(&StatementView<'_, '_>, usize, usize) -> String;

enum TemplatePart<'p> {
    Text(&'p str),
    Name { name: &'p str, default: &'p str, filter: &'p str },
}

/// Splits a template; braces around anything that `known` rejects are text.
fn template_parts(template: &str, known: impl Fn(&str) -> bool) -> Vec<TemplatePart<'_>> {
    let mut template_parts = Vec::new();
    let (mut done, mut from) = (0, 0);
    while let Some(open) = template.get(from..).and_then(|rest| rest.find('{')).map(|found| from + found) {
        from = open + 1;
        let Some((inner, _)) = template.get(from..).and_then(|rest| rest.split_once('}')) else { break };
        let cut = |sign: char| inner.split_once(sign).unwrap_or((inner, ""));
        let ((by_default, default), (by_filter, filter)) = (cut('?'), cut('|'));
        let name = if filter.is_empty() { by_default } else { by_filter };
        if known(name) {
            template_parts.push(TemplatePart::Text(template.get(done..open).unwrap_or("")));
            template_parts.push(TemplatePart::Name { name, default, filter });
            done = from + inner.len() + 1;
            from = done;
        }
    }
    template_parts.push(TemplatePart::Text(template.get(done..).unwrap_or("")));
    template_parts
}

#[cfg(test)]
pub(super) fn names_of(template: &str) -> Vec<(&str, &str)> {
    let plain =
        |name: &str| name == "..." || !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_lowercase());
    let named = template_parts(template, plain).into_iter().filter_map(|part| match part {
        TemplatePart::Name { name, filter, .. } => Some((name, filter)),
        TemplatePart::Text(_) => None,
    });
    named.collect()
}

impl PatternMatch<'_, '_, '_> {
    /// Where the operand in front of what is wrong begins.
    pub(super) fn left_start(&self) -> usize {
        self.view.operand_start(self.wrong.0)
    }

    fn named_tokens(&self, name: &str) -> Option<(usize, usize)> {
        let (from, to) = self.wrong;
        match name {
            "wrong" => Some(self.wrong),
            "left" => Some((self.left_start(), from)),
            "right" => Some((to, self.view.operand_end(to))),
            _ => self.named.iter().find(|named| named.0 == name).map(|named| (named.1, named.2)),
        }
    }

    /// `None` if a filter has nothing to say about a name's text.
    pub(super) fn fill_template(&self, template: &str) -> Option<String> {
        self.fill_names(template, |view, from, to| view.source_text(from, to))
    }

    /// Long texts are not shortened.
    pub(super) fn fill_unshortened(&self, template: &str) -> Option<String> {
        self.fill_names(template, |view, from, to| view.written_text(from, to).to_owned())
    }

    fn fill_names(&self, template: &str, source: SourceFn) -> Option<String> {
        let mut text = String::new();
        for part in template_parts(template, |name| self.named_tokens(name).is_some()) {
            match part {
                TemplatePart::Text(new) => join_text(&mut text, new),
                TemplatePart::Name { name, default, filter } => {
                    join_text(&mut text, &self.named_text(name, default, filter, source)?);
                }
            }
        }
        Some(text.trim().to_owned())
    }

    fn named_text(&self, name: &str, default: &str, filter: &str, source: SourceFn) -> Option<String> {
        let (from, to) = self.named_tokens(name)?;
        let source = source(self.view, from, to);
        match filter {
            "" if source.is_empty() => Some(default.to_owned()),
            "" => Some(source),
            _ => filters::apply_filter(filter, &source),
        }
    }

    /// Edits that make tokens read like a template; common parts stay as written.
    pub(super) fn template_edits(&self, scope: (usize, usize), template: &str) -> Option<Vec<SourceEdit>> {
        let mut rewriting = RewriteEdits { found: self, scope, edits: Vec::new() };
        let (mut text, mut done) = (String::new(), scope.0);
        for part in template_parts(template, |name| self.named_tokens(name).is_some()) {
            match part {
                TemplatePart::Text(new) => join_text(&mut text, new),
                TemplatePart::Name { name, default, filter } => {
                    let (from, to) = self.named_tokens(name)?;
                    if filter.is_empty() && from >= done && to > from && to <= scope.1 {
                        rewriting.replace_gap(done, from, &text);
                        text.clear();
                        done = to;
                    } else {
                        join_text(
                            &mut text,
                            &self.named_text(name, default, filter, |view, from, to| view.whole_source(from, to))?,
                        );
                    }
                }
            }
        }
        rewriting.replace_gap(done, scope.1, &text);
        Some(rewriting.edits)
    }
}

fn join_text(text: &mut String, new: &str) {
    let new = if text.ends_with(' ') { new.trim_start_matches(' ') } else { new };
    text.push_str(new);
}

struct RewriteEdits<'f, 'v, 'a, 't> {
    found: &'f PatternMatch<'v, 'a, 't>,
    scope: (usize, usize),
    edits: Vec<SourceEdit>,
}

impl RewriteEdits<'_, '_, '_, '_> {
    /// Replaces the tokens of a gap, except a common start and end.
    fn replace_gap(&mut self, mut from: usize, mut to: usize, mut text: &str) {
        let view = self.found.view;
        while from < to
            && (!self.has_left(from) || text.starts_with(' ') != view.touches_previous(from))
            && let Some(rest) = text.trim_start().strip_prefix(view.token_text(from))
            && !cuts_word(view.token_text(from), rest)
        {
            (from, text) = (from + 1, rest);
        }
        while from < to
            && (!self.has_right(to) || text.ends_with(' ') != view.touches_previous(to))
            && let Some(rest) = text.trim_end().strip_suffix(view.token_text(to - 1))
            && !cuts_word(rest, view.token_text(to - 1))
        {
            (to, text) = (to - 1, rest);
        }
        if from < to {
            self.replace_tokens(from, to, text);
        } else if !text.trim().is_empty() {
            self.insert_text(from, text);
        } else if text.is_empty() && self.has_left(from) && self.has_right(from) && !view.touches_previous(from) {
            self.edits.push(SourceEdit { span: self.blank_before(from), text: String::new() });
        }
    }

    fn blank_before(&self, at: usize) -> Span {
        let view = self.found.view;
        Span { start: view.span(at.saturating_sub(1)).end, ..view.span(at).at_start() }
    }

    fn has_left(&self, at: usize) -> bool {
        at > self.scope.0
    }

    fn has_right(&self, at: usize) -> bool {
        at < self.scope.1
    }

    fn replace_tokens(&mut self, from: usize, to: usize, text: &str) {
        let view = self.found.view;
        let (new, mut span) = (text.trim(), view.span_of(from, to));
        let before = if from > 0 { view.span(from - 1).end } else { span.start };
        let attached = new.starts_with([',', ';', ':']) || self.has_left(from) && !text.starts_with(' ');
        if attached || new.is_empty() && to >= view.len() {
            span.start = before;
        }
        let tight = self.has_right(to) && !text.ends_with(' ');
        if to < view.len() && (tight || new.is_empty() && !attached && !view.touches_previous(from)) {
            span.end = view.span(to).start;
        }
        let (last, next) = (view.token_text(from.saturating_sub(1)), view.token_text(to));
        let left =
            if view.touches_previous(from) && !attached && needs_blank(last, if new.is_empty() { next } else { new }) {
                " "
            } else {
                ""
            };
        let right =
            if view.touches_previous(to) && !tight && !new.is_empty() && needs_blank(new, next) { " " } else { "" };
        let left = if new.is_empty() && !view.touches_previous(to) { "" } else { left };
        self.edits.push(SourceEdit { span, text: format!("{left}{new}{right}") });
    }

    /// Inserts behind the previous token, before the next if it belongs there, or in place of blanks.
    fn insert_text(&mut self, at: usize, text: &str) {
        let view = self.found.view;
        let (new, tight) = (text.trim(), view.touches_previous(at));
        let (left, right) = (text.starts_with(' '), text.ends_with(' '));
        let space = |wanted: bool| if wanted { " " } else { "" };
        if self.has_left(at) && self.has_right(at) && !left && !right {
            self.edits.push(SourceEdit { span: self.blank_before(at), text: new.to_owned() });
        } else if at > 0 && (at >= view.len() || !self.has_right(at) || self.has_left(at) && right) {
            let left = left || !self.has_left(at) && needs_blank(view.token_text(at - 1), new);
            self.edits.push(view.insert_after(at - 1, format!("{}{new}{}", space(left), space(right && tight))));
        } else {
            self.edits.push(view.insert_before(at, format!("{}{new}{}", space(left && tight), space(right))));
        }
    }
}

fn cuts_word(left: &str, right: &str) -> bool {
    let letter = |sign: char| sign.is_alphanumeric() || sign == '_';
    left.ends_with(letter) && right.starts_with(letter)
}

fn needs_blank(left: &str, right: &str) -> bool {
    let ends = left.ends_with(|sign: char| sign.is_alphanumeric() || "_)]}\"'*?/=<>".contains(sign));
    let begins = right.starts_with(|sign: char| sign.is_alphanumeric() || "_-=<>!|{\"'/".contains(sign));
    ends && begins
}
