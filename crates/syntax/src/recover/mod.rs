//! Parses files that the strict grammar rejects.
//!
//! The file is split into statements by line ends, brackets and indentation. Each statement is parsed alone by the strict grammar, and bodies
//! statement by statement. A mistake spoils only its statement or its line; all others are kept. [`super::hints`] reports the mistakes.

mod bracket_errors;
mod brackets;
mod expected;
mod explain;
mod incremental;
mod intended;
mod offers;
mod segments;
#[cfg(test)]
mod tests;
mod text;
mod typo;
mod unfinished;

use super::ast::{BodySetting, ItemKind, Name, SyntaxItem};
use super::grammar::{self, GrammarFailure, Rule};
use super::lower::{SyntaxLowering, TextPlace, too_deep};
use super::token::{TokenKind, TokenScan};
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};
pub(super) use brackets::BracketError;
use brackets::{BracketEnd, BracketTable};
pub(super) use incremental::read_incremental;
pub use incremental::{FileOutline, IncrementalParse, PreviousParse};
#[cfg(test)]
pub(super) use intended::apply_edits;
pub(super) use intended::apply_first_fix;
pub(super) use offers::can_be_read;
use segments::{BodyKind, SegmentBody, TokenSegment};
pub(super) use text::{TokenText, ends_operand};
pub(super) use unfinished::is_unfinished;

/// Maximum number of reported mistakes; further ones are only counted.
const TOLD: usize = 200;
/// Maximum number of positions at which splitting a multi-line statement is tried.
const CUTS: usize = 4;
/// Maximum number of tokens of a line that are examined for a string that breaks its brackets.
const LONGEST_LINE: usize = 200;

pub(super) struct RecoveredFile {
    pub items: Vec<SyntaxItem>,
    /// Names that unreadable declarations would have declared.
    pub unread: Vec<Name>,
    pub diagnostics: Diagnostics,
}

pub(super) fn recover_file(file: FileId, source: &str, scan: TokenScan, limits: &Limits) -> RecoveredFile {
    let text = TokenText::new(file, source, scan.tokens);
    let brackets = brackets::match_brackets(&text);
    let end = text.tokens.len();
    let mut reader = RecoveryReader::begin(&text, &brackets, &scan.too_deep, limits);
    let items = reader.read_items(0, end, 0);
    let RecoveryReader { unread, mut diagnostics, .. } = reader;
    diagnostics.0.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    cap_diagnostics(file, source, &mut diagnostics);
    RecoveredFile { items, unread, diagnostics }
}

fn cap_diagnostics(file: FileId, source: &str, diagnostics: &mut Diagnostics) {
    let more = diagnostics.0.len().saturating_sub(TOLD);
    if more > 0 {
        diagnostics.0.truncate(TOLD);
        let end = Span::new(file, source.len(), source.len());
        diagnostics.push(
            Diagnostic::new(Slug::Syntax, end, format!("{more} more mistakes are not told"))
                .with_help("is this a rule file? correct the first mistakes and read it again"),
        );
    }
}

enum CutRest {
    Read(Vec<SyntaxItem>, Diagnostics),
    Unread(usize),
}

struct RecoveryReader<'a, 't> {
    text: &'a TokenText<'t>,
    brackets: &'a BracketTable,
    too_deep: &'a [usize],
    limits: &'a Limits,
    only_mistakes: bool,
    explained: usize,
    unread: Vec<Name>,
    diagnostics: Diagnostics,
}

impl<'a, 't> RecoveryReader<'a, 't> {
    /// Creates a reader and reports the bracket errors.
    fn begin(text: &'a TokenText<'t>, brackets: &'a BracketTable, too_deep: &'a [usize], limits: &'a Limits) -> Self {
        let (only_mistakes, explained, unread, diagnostics) = (false, 0, Vec::new(), Diagnostics::default());
        let mut reader = Self { text, brackets, too_deep, limits, only_mistakes, explained, unread, diagnostics };
        reader.report_brackets();
        reader
    }

    fn report_brackets(&mut self) {
        let mut troubles = self.brackets.errors.iter().copied().peekable();
        while let Some(trouble) = troubles.next() {
            if self.diagnostics.0.len() > TOLD {
                break;
            }
            if self.spoilt_by_string(trouble) {
                continue;
            }
            // Several unclosed brackets on one line are a single mistake.
            let mut inner = Vec::new();
            while let Some(next) = troubles.next_if(|next| self.is_inside(trouble, *next)) {
                inner.push(next.token_index());
            }
            self.diagnostics.push(bracket_errors::bracket_mistake(self.text, trouble, &inner));
        }
    }

    /// True if a string or regular expression swallowed the closing bracket; that is reported instead.
    fn spoilt_by_string(&self, trouble: BracketError) -> bool {
        let BracketError::Unclosed(open, _) = trouble else { return false };
        let line_end = self.text.line_end(open).min(open + LONGEST_LINE);
        (open..line_end).any(|at| {
            matches!(
                self.text.token_kind(at),
                TokenKind::OpenText | TokenKind::OpenInterpolation | TokenKind::OpenRegex
            )
        })
    }

    /// True for two nested unclosed brackets on one line.
    fn is_inside(&self, outer: BracketError, inner: BracketError) -> bool {
        let (BracketError::Unclosed(open, outside), BracketError::Unclosed(next, _)) = (outer, inner) else {
            return false;
        };
        !self.text.token_is(open, "{")
            && !self.text.token_is(next, "{")
            && next < outside
            && self.text.token_line(open) == self.text.token_line(next)
    }

    fn read_items(&mut self, start: usize, end: usize, depth: usize) -> Vec<SyntaxItem> {
        let mut items = Vec::new();
        for segment in segments::split_segments(self.text, self.brackets, start, end) {
            items.extend(self.read_segment(segment, depth));
        }
        items
    }

    fn read_segment(&mut self, segment: TokenSegment, depth: usize) -> Vec<SyntaxItem> {
        let body = segments::body_of(self.text, self.brackets, segment);
        let inside = body.map(|body| self.inner_tokens(&body));
        let own = own_tokens(segment, inside);
        let inner = |reader: &mut Self| match (body, inside) {
            (Some(body), Some((from, to))) => reader.read_body(&body, from, to, depth + 1),
            _ => BodyContent::default(),
        };
        if let Some(at) = self.too_deep_in(&own) {
            self.diagnostics.push(too_deep(Span::new(self.text.file, at, at + 1), self.limits.rule_depth));
            return Vec::new();
        }
        if depth >= self.limits.rule_depth {
            let span = self.text.span(segment.start);
            self.diagnostics.push(too_deep(span, self.limits.rule_depth));
            return Vec::new();
        }
        if self.has_bracket_error(&own, body) {
            self.unread_name(segment);
            self.explain_string(segment, &own);
            inner(self);
            return Vec::new();
        }
        match self.read_rule(segment, inside, Rule::lone_item) {
            Ok(mut items) => {
                let inner = inner(self);
                if let Some(item) = items.first_mut() {
                    inner.put_into(item);
                }
                items
            }
            Err(failure) if body.is_none() => self.recover_segment(segment, &failure, depth),
            Err(failure) => {
                self.explain_failure(segment, inside, &failure, Rule::lone_item);
                inner(self);
                Vec::new()
            }
        }
    }

    /// Handles a rejected segment: splits it in two if that helps, otherwise explains it.
    fn recover_segment(&mut self, segment: TokenSegment, failure: &GrammarFailure, depth: usize) -> Vec<SyntaxItem> {
        if failure.too_many_steps || self.is_mistyped(segment, failure) {
            self.explain_failure(segment, None, failure, Rule::lone_item);
            return Vec::new();
        }
        if let Some((cut, rest)) = self.find_cut(segment) {
            let head = TokenSegment { start: segment.start, end: cut };
            let mut items = match self.read_rule(head, None, Rule::lone_item) {
                Ok(items) => items,
                Err(failure) => {
                    self.explain_failure(head, None, &failure, Rule::lone_item);
                    Vec::new()
                }
            };
            match rest {
                CutRest::Read(more, diagnostics) => {
                    self.diagnostics.extend(diagnostics);
                    items.extend(more);
                }
                CutRest::Unread(next) => items.extend(self.read_items(next, segment.end, depth)),
            }
            return items;
        }
        if let Some((line_end, items)) = self.whole_lines(segment) {
            // A `then` without a preceding `if` is a mistake of its own line; any other mistake concerns the whole statement.
            let next = self.text.skip_lines(line_end);
            let rest = TokenSegment { start: next, end: segment.end };
            match self.lower_segment(rest, None, Rule::lone_item) {
                Err(failure) if matches!(self.text.token_text(next), "then" | "else") => {
                    self.explain_failure(rest, None, &failure, Rule::lone_item);
                }
                _ => self.explain_failure(segment, None, failure, Rule::lone_item),
            }
            return items;
        }
        self.explain_failure(segment, None, failure, Rule::lone_item);
        Vec::new()
    }

    /// Returns the first lines of a segment if they are a complete statement.
    fn whole_lines(&mut self, segment: TokenSegment) -> Option<(usize, Vec<SyntaxItem>)> {
        let ends: Vec<usize> = self.line_ends(segment).take(CUTS).collect();
        for line_end in ends {
            if let Ok(items) = self.read_rule(TokenSegment { end: line_end, ..segment }, None, Rule::lone_item) {
                return Some((line_end, items));
            }
        }
        None
    }

    fn line_ends(&self, segment: TokenSegment) -> impl Iterator<Item = usize> {
        let mut at = segment.start;
        std::iter::from_fn(move || {
            while at < segment.end {
                let here = at;
                at = match self.brackets.bracket_end(here) {
                    Some(BracketEnd::At(close)) => close + 1,
                    Some(BracketEnd::Missing(_)) => return None,
                    None if self.text.token_kind(here) == TokenKind::LineEnd => {
                        at = self.text.skip_lines(here);
                        return (at < segment.end).then_some(here);
                    }
                    None => here + 1,
                };
            }
            None
        })
    }

    /// Finds a line after which everything parses, or at which the statement certainly ends.
    fn find_cut(&self, segment: TokenSegment) -> Option<(usize, CutRest)> {
        let indent = self.text.line_indent(segment.start);
        let outdented = |&line_end: &usize| self.text.line_indent(self.text.skip_lines(line_end)) <= indent;
        for line_end in self.line_ends(segment).filter(outdented).take(CUTS) {
            let next = self.text.skip_lines(line_end);
            if segments::is_doubtful(self.text, line_end, next) {
                return Some((line_end, CutRest::Unread(next)));
            }
            let rest = TokenSegment { start: next, end: segment.end };
            if let Ok((items, diagnostics)) = self.lower_segment(rest, None, Rule::lone_item) {
                return Some((line_end, CutRest::Read(items, diagnostics)));
            }
        }
        None
    }

    fn read_rule(
        &mut self,
        segment: TokenSegment,
        inside: Option<(usize, usize)>,
        rule: Rule,
    ) -> Result<Vec<SyntaxItem>, GrammarFailure> {
        let (items, diagnostics) = self.lower_segment(segment, inside, rule)?;
        self.diagnostics.extend(diagnostics);
        Ok(items)
    }

    fn lower_segment(
        &self,
        segment: TokenSegment,
        inside: Option<(usize, usize)>,
        rule: Rule,
    ) -> Result<(Vec<SyntaxItem>, Diagnostics), GrammarFailure> {
        let (written, place) = self.segment_text(segment, inside);
        let offset = |failure: GrammarFailure| GrammarFailure { at: place.file_offset(failure.at), ..failure };
        let pair = grammar::parse_rule(rule, &written, self.limits.rule_steps).map_err(offset)?;
        let mut lower = SyntaxLowering::new(&written, place, self.limits);
        let items = if rule == Rule::lone_setting { lower.lone_setting(pair) } else { lower.lower_items(pair) };
        Ok((items, lower.diagnostics))
    }

    /// Returns the text of a segment without its body, and with a missing `}` added.
    fn segment_text(&self, segment: TokenSegment, inside: Option<(usize, usize)>) -> (String, TextPlace) {
        let source = |start: usize, end: usize| self.text.source.get(start..end).unwrap_or("");
        let start = self.text.span(segment.start).start as usize;
        let end =
            self.text.token_before(segment.end).map_or(start, |last| self.text.span(last).end as usize).max(start);
        let Some((from, to)) = inside else {
            return (source(start, end).to_owned(), TextPlace::whole_text(self.text.file, start));
        };
        let head_end = from.checked_sub(1).map_or(start, |open| self.text.span(open).end as usize);
        let closed = to < segment.end && self.text.token_is(to, "}");
        let tail_start = if closed { self.text.span(to).start as usize } else { end };
        let tail = if closed { source(tail_start, end) } else { "}" };
        let length = (tail_start - head_end.min(tail_start)).saturating_sub(usize::from(!closed));
        let last = if closed { usize::MAX } else { end };
        let place = TextPlace { file: self.text.file, base: start, cut_at: head_end - start, cut_length: length, last };
        (format!("{}{tail}", source(start, head_end)), place)
    }

    fn inner_tokens(&self, body: &SegmentBody) -> (usize, usize) {
        match body.close {
            BracketEnd::At(close) => (body.open + 1, close),
            BracketEnd::Missing(outside) => (body.open + 1, outside.max(body.open + 1)),
        }
    }

    fn read_body(&mut self, body: &SegmentBody, from: usize, to: usize, depth: usize) -> BodyContent {
        match body.kind {
            BodyKind::Items => BodyContent { items: self.read_items(from, to, depth), settings: Vec::new() },
            BodyKind::Settings => BodyContent { items: Vec::new(), settings: self.read_settings(from, to) },
        }
    }

    fn read_settings(&mut self, from: usize, to: usize) -> Vec<BodySetting> {
        let mut settings = Vec::new();
        for segment in segments::split_segments(self.text, self.brackets, from, to) {
            let own = own_tokens(segment, None);
            if self.has_bracket_error(&own, None) {
                self.explain_string(segment, &own);
                continue;
            }
            match self.read_rule(segment, None, Rule::lone_setting) {
                Ok(items) => settings.extend(items.into_iter().filter_map(|item| match item.kind {
                    ItemKind::Setting(setting) => Some(setting),
                    _ => None,
                })),
                Err(failure) => self.explain_failure(segment, None, &failure, Rule::lone_setting),
            }
        }
        settings
    }

    fn too_deep_in(&self, own: &[usize]) -> Option<usize> {
        let (first, last) = (*own.first()?, *own.last()?);
        let (start, end) = (self.text.span(first).start as usize, self.text.span(last).end as usize);
        let from = self.too_deep.partition_point(|&at| at < start);
        let within = self.too_deep.get(from..)?.iter().take_while(|&&at| at < end);
        // A position inside of the body does not belong to the segment's own tokens.
        within.copied().find(|&at| {
            let index = self.text.tokens.partition_point(|token| token.end <= at);
            own.binary_search(&index).is_ok()
        })
    }

    fn has_bracket_error(&self, own: &[usize], body: Option<SegmentBody>) -> bool {
        let (Some(&first), Some(&last)) = (own.first(), own.last()) else { return false };
        let from = self.brackets.errors.partition_point(|trouble| trouble.token_index() < first);
        let troubles =
            self.brackets.errors.get(from..).unwrap_or(&[]).iter().take_while(|trouble| trouble.token_index() <= last);
        troubles
            .filter(|trouble| body.is_none_or(|body| body.open != trouble.token_index()))
            .any(|trouble| own.binary_search(&trouble.token_index()).is_ok())
    }
}

fn own_tokens(segment: TokenSegment, inside: Option<(usize, usize)>) -> Vec<usize> {
    let (from, to) = inside.unwrap_or((segment.end, segment.end));
    (segment.start..from.min(segment.end)).chain(to.min(segment.end)..segment.end).collect()
}

#[derive(Default)]
struct BodyContent {
    items: Vec<SyntaxItem>,
    settings: Vec<BodySetting>,
}

impl BodyContent {
    fn put_into(self, item: &mut SyntaxItem) {
        match &mut item.kind {
            ItemKind::Workspace { settings, .. } | ItemKind::Runner { settings, .. } => *settings = self.settings,
            kind => {
                if let Some(body) = kind.body_mut() {
                    *body = self.items;
                }
            }
        }
    }
}
