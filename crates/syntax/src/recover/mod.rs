//! Reading a file that the strict grammar refuses.
//!
//! The file is cut into statements by line ends, brackets and indentation; each is read alone by the strict grammar, bodies statement by
//! statement. What a mistake spoils is its statement, or its line; all others are kept. What is wrong is said by [`super::hints`].

mod brackets;
mod incremental;
mod mended;
mod nearly;
mod segments;
#[cfg(test)]
mod tests;
mod text;
mod told;
mod unfinished;

use super::ast::{Item, ItemKind, Name, Setting};
use super::grammar::{self, Failure, Rule};
use super::hints;
use super::lower::{Lower, Place, too_deep};
use super::token::{Kind, Scan};
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, Span};
pub(super) use brackets::Trouble;
use brackets::{Brackets, Close};
pub(super) use incremental::read_incremental;
pub use incremental::{IncrementalParse, Outline, PreviousParse};
pub(super) use mended::mended;
use segments::{Body, BodyKind, Segment};
pub(super) use text::{Text, ends_operand};
pub(super) use unfinished::is_unfinished;

/// More mistakes than this in one file are counted, not told.
const TOLD: usize = 200;
/// In how many places a statement of several lines is tried to be cut in two.
const CUTS: usize = 4;
/// How many tokens of a line are looked at for a string that spoils its brackets.
const LONGEST_LINE: usize = 200;

/// What could be saved of a file.
pub(super) struct Recovered {
    pub items: Vec<Item>,
    /// Names that unreadable declarations would have declared.
    pub unread: Vec<Name>,
    pub diagnostics: Diagnostics,
}

/// Reads all statements that can be read, and says what is wrong with the others.
pub(super) fn recover(file: FileId, source: &str, scan: Scan, limits: &Limits) -> Recovered {
    let text = Text::new(file, source, scan.tokens);
    let brackets = brackets::matched(&text);
    let end = text.tokens.len();
    let mut reader = Reader {
        text: &text,
        brackets: &brackets,
        too_deep: &scan.too_deep,
        limit: limits.rule_depth,
        alone: false,
        asked: 0,
        unread: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    reader.bracket_troubles();
    let items = reader.items(0, end, 0);
    let Reader { unread, mut diagnostics, .. } = reader;
    diagnostics.0.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    cap(file, source, &mut diagnostics);
    Recovered { items, unread, diagnostics }
}

fn cap(file: FileId, source: &str, diagnostics: &mut Diagnostics) {
    let more = diagnostics.0.len().saturating_sub(TOLD);
    if more > 0 {
        diagnostics.0.truncate(TOLD);
        let end = Span::new(file, source.len(), source.len());
        diagnostics.push(
            Diagnostic::new(Slug::Syntax, end, format!("{more} more mistakes are not told"))
                .help("is this a rule file? correct the first mistakes and read it again"),
        );
    }
}

/// What stands behind a cut.
enum Rest {
    Read(Vec<Item>, Diagnostics),
    Unread(usize),
}

struct Reader<'a, 't> {
    text: &'a Text<'t>,
    brackets: &'a Brackets,
    too_deep: &'a [usize],
    limit: usize,
    /// Only what is wrong with each statement is asked, not what all of it was meant to be.
    alone: bool,
    /// Of how many statements that was asked.
    asked: usize,
    unread: Vec<Name>,
    diagnostics: Diagnostics,
}

impl Reader<'_, '_> {
    fn bracket_troubles(&mut self) {
        let mut troubles = self.brackets.troubles.iter().copied().peekable();
        while let Some(trouble) = troubles.next() {
            if self.diagnostics.0.len() > TOLD {
                break;
            }
            if self.spoilt_by_string(trouble) {
                continue;
            }
            // Brackets of one line that miss their ends are one mistake.
            let mut inner = Vec::new();
            while let Some(next) = troubles.next_if(|next| self.is_inside(trouble, *next)) {
                inner.push(next.token());
            }
            self.diagnostics.push(hints::bracket(self.text, trouble, &inner));
        }
    }

    /// True for a bracket that may be closed by what a string or regular expression swallowed; that is told instead.
    fn spoilt_by_string(&self, trouble: Trouble) -> bool {
        let Trouble::Unclosed(open, _) = trouble else { return false };
        let line_end = self.text.line_end(open).min(open + LONGEST_LINE);
        (open..line_end)
            .any(|at| matches!(self.text.kind(at), Kind::OpenText | Kind::OpenInterpolation | Kind::OpenRegex))
    }

    /// True for two brackets that miss their ends, one in the other, on one line.
    fn is_inside(&self, outer: Trouble, inner: Trouble) -> bool {
        let (Trouble::Unclosed(open, outside), Trouble::Unclosed(next, _)) = (outer, inner) else { return false };
        !self.text.is(open, "{")
            && !self.text.is(next, "{")
            && next < outside
            && self.text.line(open) == self.text.line(next)
    }

    /// The statements between two tokens.
    fn items(&mut self, start: usize, end: usize, depth: usize) -> Vec<Item> {
        let mut items = Vec::new();
        for segment in segments::split(self.text, self.brackets, start, end) {
            items.extend(self.segment(segment, depth));
        }
        items
    }

    fn segment(&mut self, segment: Segment, depth: usize) -> Vec<Item> {
        let body = segments::body_of(self.text, self.brackets, segment);
        let inside = body.map(|body| self.inside(&body));
        let own = own_tokens(segment, inside);
        let inner = |reader: &mut Self| match (body, inside) {
            (Some(body), Some((from, to))) => reader.body(&body, from, to, depth + 1),
            _ => Inner::default(),
        };
        if let Some(at) = self.too_deep_in(&own) {
            self.diagnostics.push(too_deep(Span::new(self.text.file, at, at + 1), self.limit));
            return Vec::new();
        }
        if depth >= self.limit {
            let span = self.text.span(segment.start);
            self.diagnostics.push(too_deep(span, self.limit));
            return Vec::new();
        }
        if self.has_bracket_trouble(&own, body) {
            self.unread_name(segment);
            self.explain_string(segment, &own);
            inner(self);
            return Vec::new();
        }
        match self.read(segment, inside, Rule::lone_item) {
            Ok(mut items) => {
                let inner = inner(self);
                if let Some(item) = items.first_mut() {
                    inner.put_into(item);
                }
                items
            }
            Err(failure) if body.is_none() => self.mistaken(segment, &failure, depth),
            Err(failure) => {
                self.explain(segment, inside, &failure, Rule::lone_item);
                inner(self);
                Vec::new()
            }
        }
    }

    /// A segment that the strict grammar refuses: cut in two where that helps, explained where not.
    fn mistaken(&mut self, segment: Segment, failure: &Failure, depth: usize) -> Vec<Item> {
        if self.is_mistyped(segment, failure) {
            self.explain(segment, None, failure, Rule::lone_item);
            return Vec::new();
        }
        if let Some((cut, rest)) = self.cut(segment) {
            let head = Segment { start: segment.start, end: cut };
            let mut items = match self.read(head, None, Rule::lone_item) {
                Ok(items) => items,
                Err(failure) => {
                    self.explain(head, None, &failure, Rule::lone_item);
                    Vec::new()
                }
            };
            match rest {
                Rest::Read(more, diagnostics) => {
                    self.diagnostics.extend(diagnostics);
                    items.extend(more);
                }
                Rest::Unread(next) => items.extend(self.items(next, segment.end, depth)),
            }
            return items;
        }
        if let Some((line_end, items)) = self.whole_lines(segment) {
            // `then` without an `if` before it is a mistake of its own line; everything else is one of the whole statement.
            let next = self.text.skip_lines(line_end);
            let rest = Segment { start: next, end: segment.end };
            match self.lowered(rest, None, Rule::lone_item) {
                Err(failure) if matches!(self.text.word(next), "then" | "else") => {
                    self.explain(rest, None, &failure, Rule::lone_item);
                }
                _ => self.explain(segment, None, failure, Rule::lone_item),
            }
            return items;
        }
        self.explain(segment, None, failure, Rule::lone_item);
        Vec::new()
    }

    /// The first lines of a segment, when they are a statement without the others.
    fn whole_lines(&mut self, segment: Segment) -> Option<(usize, Vec<Item>)> {
        let ends: Vec<usize> = self.line_ends(segment).take(CUTS).collect();
        for line_end in ends {
            if let Ok(items) = self.read(Segment { end: line_end, ..segment }, None, Rule::lone_item) {
                return Some((line_end, items));
            }
        }
        None
    }

    /// The line ends of a segment outside of its brackets.
    fn line_ends(&self, segment: Segment) -> impl Iterator<Item = usize> {
        let mut at = segment.start;
        std::iter::from_fn(move || {
            while at < segment.end {
                let here = at;
                at = match self.brackets.close(here) {
                    Some(Close::At(close)) => close + 1,
                    Some(Close::Missing(_)) => return None,
                    None if self.text.kind(here) == Kind::LineEnd => {
                        at = self.text.skip_lines(here);
                        return (at < segment.end).then_some(here);
                    }
                    None => here + 1,
                };
            }
            None
        })
    }

    /// Looks for a line of the segment from which on everything can be read, or where the statement surely ends.
    fn cut(&self, segment: Segment) -> Option<(usize, Rest)> {
        let indent = self.text.indent(segment.start);
        let outdented = |&line_end: &usize| self.text.indent(self.text.skip_lines(line_end)) <= indent;
        for line_end in self.line_ends(segment).filter(outdented).take(CUTS) {
            let next = self.text.skip_lines(line_end);
            if segments::is_doubtful(self.text, line_end, next) {
                return Some((line_end, Rest::Unread(next)));
            }
            let rest = Segment { start: next, end: segment.end };
            if let Ok((items, diagnostics)) = self.lowered(rest, None, Rule::lone_item) {
                return Some((line_end, Rest::Read(items, diagnostics)));
            }
        }
        None
    }

    fn read(&mut self, segment: Segment, inside: Option<(usize, usize)>, rule: Rule) -> Result<Vec<Item>, Failure> {
        let (items, diagnostics) = self.lowered(segment, inside, rule)?;
        self.diagnostics.extend(diagnostics);
        Ok(items)
    }

    /// The items of a segment by a rule of the strict grammar, without what stands in its body.
    fn lowered(
        &self,
        segment: Segment,
        inside: Option<(usize, usize)>,
        rule: Rule,
    ) -> Result<(Vec<Item>, Diagnostics), Failure> {
        let (written, place) = self.written(segment, inside);
        let offset = |failure: Failure| Failure { at: place.offset(failure.at), ..failure };
        let pair = grammar::read(rule, &written).map_err(offset)?;
        let mut lower = Lower::new(&written, place, self.limit);
        let items = if rule == Rule::lone_setting { lower.lone_setting(pair) } else { lower.items(pair) };
        Ok((items, lower.diagnostics))
    }

    /// The text of a segment; its body is left out, and a missing `}` put in.
    fn written(&self, segment: Segment, inside: Option<(usize, usize)>) -> (String, Place) {
        let source = |start: usize, end: usize| self.text.source.get(start..end).unwrap_or("");
        let start = self.text.span(segment.start).start as usize;
        let end = self.text.before(segment.end).map_or(start, |last| self.text.span(last).end as usize).max(start);
        let Some((from, to)) = inside else {
            return (source(start, end).to_owned(), Place::whole(self.text.file, start));
        };
        let head_end = from.checked_sub(1).map_or(start, |open| self.text.span(open).end as usize);
        let closed = to < segment.end && self.text.is(to, "}");
        let tail_start = if closed { self.text.span(to).start as usize } else { end };
        let tail = if closed { source(tail_start, end) } else { "}" };
        let length = (tail_start - head_end.min(tail_start)).saturating_sub(usize::from(!closed));
        let last = if closed { usize::MAX } else { end };
        let place = Place { file: self.text.file, base: start, cut_at: head_end - start, cut_length: length, last };
        (format!("{}{tail}", source(start, head_end)), place)
    }

    /// The tokens inside a body: the first, and the one behind the last.
    fn inside(&self, body: &Body) -> (usize, usize) {
        match body.close {
            Close::At(close) => (body.open + 1, close),
            Close::Missing(outside) => (body.open + 1, outside.max(body.open + 1)),
        }
    }

    fn body(&mut self, body: &Body, from: usize, to: usize, depth: usize) -> Inner {
        match body.kind {
            BodyKind::Items => Inner { items: self.items(from, to, depth), settings: Vec::new() },
            BodyKind::Settings => Inner { items: Vec::new(), settings: self.settings(from, to) },
        }
    }

    /// The lines of a workspace or runner.
    fn settings(&mut self, from: usize, to: usize) -> Vec<Setting> {
        let mut settings = Vec::new();
        for segment in segments::split(self.text, self.brackets, from, to) {
            let own = own_tokens(segment, None);
            if self.has_bracket_trouble(&own, None) {
                self.explain_string(segment, &own);
                continue;
            }
            match self.read(segment, None, Rule::lone_setting) {
                Ok(items) => settings.extend(items.into_iter().filter_map(|item| match item.kind {
                    ItemKind::Setting(setting) => Some(setting),
                    _ => None,
                })),
                Err(failure) => self.explain(segment, None, &failure, Rule::lone_setting),
            }
        }
        settings
    }

    fn too_deep_in(&self, own: &[usize]) -> Option<usize> {
        let (first, last) = (*own.first()?, *own.last()?);
        let (start, end) = (self.text.span(first).start as usize, self.text.span(last).end as usize);
        let from = self.too_deep.partition_point(|&at| at < start);
        let within = self.too_deep.get(from..)?.iter().take_while(|&&at| at < end);
        // A place inside of the body is none of the segment's own tokens.
        within.copied().find(|&at| {
            let index = self.text.tokens.partition_point(|token| token.end <= at);
            own.binary_search(&index).is_ok()
        })
    }

    fn has_bracket_trouble(&self, own: &[usize], body: Option<Body>) -> bool {
        let (Some(&first), Some(&last)) = (own.first(), own.last()) else { return false };
        let from = self.brackets.troubles.partition_point(|trouble| trouble.token() < first);
        let troubles =
            self.brackets.troubles.get(from..).unwrap_or(&[]).iter().take_while(|trouble| trouble.token() <= last);
        troubles
            .filter(|trouble| body.is_none_or(|body| body.open != trouble.token()))
            .any(|trouble| own.binary_search(&trouble.token()).is_ok())
    }
}

/// The tokens of a segment without those inside its body.
fn own_tokens(segment: Segment, inside: Option<(usize, usize)>) -> Vec<usize> {
    let (from, to) = inside.unwrap_or((segment.end, segment.end));
    (segment.start..from.min(segment.end)).chain(to.min(segment.end)..segment.end).collect()
}

/// What a body holds.
#[derive(Default)]
struct Inner {
    items: Vec<Item>,
    settings: Vec<Setting>,
}

impl Inner {
    fn put_into(self, item: &mut Item) {
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
