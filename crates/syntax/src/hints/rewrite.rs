//! Messages and rewrites: templates with captured names in braces, and the edits that turn a statement into the corrected one.
//!
//! `{a}` is the text of a capture, `{...}` the rest of the statement, `{wrong}` the underlined text, `{left}` and `{right}` the operands on both
//! sides of it. `{a?step}` inserts `step` if the capture is empty. `{a|bare}` applies one of the [`filters`]. Other braces are literal text.

use super::filters;
use super::pattern::PatternMatch;
use super::view::StatementView;
use averment_base::diagnostic::SourceEdit;
use averment_base::source::Span;

/// Returns the text of tokens for a template.
type SourceFn = fn(&StatementView<'_, '_>, usize, usize) -> String;

enum TemplatePart<'p> {
    Text(&'p str),
    Name { name: &'p str, default: &'p str, filter: &'p str },
}

/// Splits a template. Braces around a name that `known` rejects are literal text.
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
    /// Returns the start of the operand before the mistake, including a leading `not`.
    pub(super) fn left_start(&self) -> usize {
        let at = self.wrong.0;
        let negated = at > 1 && self.view.is_any(at - 1, &["not", "doesnt"]);
        self.view.operand_start(at - usize::from(negated))
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

    /// Fills in a template; returns `None` if a filter does not apply to a captured text.
    pub(super) fn fill_template(&self, template: &str) -> Option<String> {
        self.fill_names(template, |view, from, to| view.source_text(from, to))
    }

    /// Fills in a template without shortening long texts.
    pub(super) fn fill_unshortened(&self, template: &str) -> Option<String> {
        self.fill_names(template, view_text)
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

    /// Returns the edits that turn tokens into a template. Text that the template keeps in place is not edited.
    pub(super) fn template_edits(&self, (from, to): (usize, usize), template: &str) -> Option<Vec<SourceEdit>> {
        let (view, source) = (self.view, self.view.whole_text());
        let new = self.fill_unshortened(template)?;
        let span = self.replaced_span(from, to, &new);
        let (before, behind) = (source.get(..span.start as usize)?, source.get(span.end as usize..)?);
        let next = if new.is_empty() { behind } else { &new };
        let mut text = if needs_blank(before, next) { " ".to_owned() } else { String::new() };
        let (mut edits, mut done) = (Vec::new(), span.start);
        for part in template_parts(template, |name| self.named_tokens(name).is_some()) {
            match part {
                TemplatePart::Text(new) => join_text(&mut text, new),
                TemplatePart::Name { name, default, filter } => {
                    let (first, last) = self.named_tokens(name)?;
                    let kept = view.span_of(first, last);
                    if filter.is_empty() && first < last && kept.start >= done && kept.end <= span.end {
                        let gap = Span { start: done, end: kept.start, ..span };
                        edits.extend(shorten_edit(source, gap, &std::mem::take(&mut text)));
                        done = kept.end;
                    } else {
                        join_text(&mut text, &self.named_text(name, default, filter, view_text)?);
                    }
                }
            }
        }
        let right = if !new.is_empty() && needs_blank(&new, behind) { " " } else { "" };
        edits.extend(shorten_edit(source, Span { start: done, ..span }, &format!("{}{right}", text.trim_end())));
        Some(edits)
    }

    /// Returns the location of replaced tokens. If there are none, it is after the previous token. A removed text leaves a single blank.
    fn replaced_span(&self, from: usize, to: usize, new: &str) -> Span {
        let (view, span) = (self.view, self.view.span_of(from, to));
        let previous = if from > 0 { view.span(from - 1).end } else { span.start };
        if from >= to {
            return Span { start: previous, end: previous, ..span };
        }
        let is_joined = new.starts_with([',', ';', ':']) || new.is_empty() && to >= view.len();
        let leaves_gap = new.is_empty() && to < view.len() && !view.touches_previous(from);
        Span {
            start: if is_joined { previous } else { span.start },
            end: if leaves_gap { view.span(to).start } else { span.end },
            ..span
        }
    }
}

fn view_text(view: &StatementView<'_, '_>, from: usize, to: usize) -> String {
    view.written_text(from, to).to_owned()
}

/// Removes the unchanged start and end of an edit; returns `None` if nothing changes.
fn shorten_edit(source: &str, span: Span, text: &str) -> Option<SourceEdit> {
    let old = source.get(span.as_range()).unwrap_or("");
    let common = |sign: &(char, char)| sign.0 == sign.1;
    let length = |sign: (char, char)| sign.0.len_utf8();
    let start: usize = old.chars().zip(text.chars()).take_while(common).map(length).sum();
    let (old, new) = (old.get(start..)?, text.get(start..)?);
    let end: usize = old.chars().rev().zip(new.chars().rev()).take_while(common).map(length).sum();
    let size = |bytes: usize| u32::try_from(bytes).unwrap_or(0);
    let span = Span { start: span.start + size(start), end: span.end - size(end), ..span };
    let text = new.get(..new.len() - end)?.to_owned();
    (span.start < span.end || !text.is_empty()).then_some(SourceEdit { span, text })
}

fn join_text(text: &mut String, new: &str) {
    let new = if text.ends_with(' ') { new.trim_start_matches(' ') } else { new };
    text.push_str(new);
}

fn needs_blank(left: &str, right: &str) -> bool {
    let ends = left.ends_with(|sign: char| sign.is_alphanumeric() || "_)]}\"'*?/=<>".contains(sign));
    let begins = right.starts_with(|sign: char| sign.is_alphanumeric() || "_-=<>!|{\"'/".contains(sign));
    ends && begins
}
