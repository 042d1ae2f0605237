//! Drawing of a failed assertion: the rule with the values of its parts, and the evidence in the trace.

use super::gate::Gate;
use super::model::{EvidenceReport, ResultReport, RunReport, TraceExcerpt};
use super::table::{ReportItem, ReportTable};
use super::{Options, value};
use averment_base::diagnostic::render::{TextStyle, one_line, printable};
use averment_base::diagnostic::window::{LineWindow, text_columns};
use averment_base::source::{FileId, SourceMap, Span};
use averment_checker::ir::Severity;
use averment_engine::vm::outcome::{Role, Status};
use codespan_reporting::diagnostic::{Diagnostic, Label, LabelStyle};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::termcolor::Buffer;
use codespan_reporting::term::{self, Chars, Config, Styles, StylesWriter};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of rule values shown with one failure.
const VALUES: usize = 6;
/// Maximum length of a value, in characters.
const VALUE: usize = 48;
/// Columns reserved for line numbers and the frame.
const GUTTER: usize = 7;

/// Draws one result of a run.
pub fn draw_result(table: &ReportTable, run: &RunReport, result: &ResultReport, options: &Options) -> String {
    let Some(item) = table.items.get(result.item) else { return String::new() };
    let parts = drawn_violations(result, options.violations);
    let room = options.style.width.saturating_sub(GUTTER).max(40);
    let pieces = PictureTexts::new(table, run, item, result, &parts, room);
    let mut labels = rule_labels(table, &pieces, item, result);
    let mut notes = picture_notes(table, item, result, run);
    for (number, part) in parts.iter().enumerate() {
        labels.extend(trace_labels(&pieces, number, part, options.style, &mut notes));
    }
    if !result.violations.listed.is_empty() {
        notes.extend(result.violations.not_drawn(parts.len()));
    }
    let notes = notes.into_iter().map(|note| wrap_text(&note, options.style.width.saturating_sub(GUTTER))).collect();
    let diagnostic = Diagnostic::new(picture_severity(table, item, result, options))
        .with_code(item.id.clone())
        .with_message(value::shorten_text(&picture_headline(item, result), 2 * options.style.width))
        .with_labels(labels)
        .with_notes(notes);
    render_picture(&pieces, &diagnostic, options.style)
}

fn render_picture(pieces: &PictureTexts<'_>, diagnostic: &Diagnostic<PictureFile>, style: TextStyle) -> String {
    let chars = if style.unicode { Chars::default() } else { Chars::ascii() };
    let config = Config { chars, start_context_lines: 6, end_context_lines: 2, ..Config::default() };
    let mut buffer = if style.color { Buffer::ansi() } else { Buffer::no_color() };
    // The drawing fails only for spans outside of their file. The headline is printed in any case.
    let styles = Styles::default();
    if term::emit_to_write_style(&mut StylesWriter::new(&mut buffer, &styles), &config, pieces, diagnostic).is_err() {
        return format!("{}\n\n", diagnostic.message);
    }
    String::from_utf8_lossy(buffer.as_slice()).into_owned()
}

fn picture_headline(item: &ReportItem, result: &ResultReport) -> String {
    if result.status == Status::UnexpectedPassed {
        return "this passed, but a failure is expected".to_owned();
    }
    let said = result.message.as_deref().unwrap_or(&result.reason);
    one_line(if said.is_empty() { &item.text } else { said }).into_owned()
}

fn picture_severity(
    table: &ReportTable,
    item: &ReportItem,
    result: &ResultReport,
    options: &Options,
) -> codespan_reporting::diagnostic::Severity {
    use codespan_reporting::diagnostic::Severity as Shown;
    match (table.result_gate(result, options.policy), item.severity) {
        (Gate::Open, Severity::Info) => Shown::Note,
        (Gate::Open, _) => Shown::Warning,
        _ => Shown::Error,
    }
}

struct DrawnViolation<'a> {
    reason: &'a str,
    evidence: &'a [EvidenceReport],
    excerpts: &'a [TraceExcerpt],
}

fn drawn_violations(result: &ResultReport, drawn: usize) -> Vec<DrawnViolation<'_>> {
    let own = DrawnViolation { reason: &result.reason, evidence: &result.evidence, excerpts: &result.excerpts };
    let others = result.violations.listed.iter().take(drawn).skip(1);
    let others =
        others.map(|one| DrawnViolation { reason: &one.reason, evidence: &one.evidence, excerpts: &one.excerpts });
    std::iter::once(own).chain(others).collect()
}

fn rule_labels(
    table: &ReportTable,
    pieces: &PictureTexts<'_>,
    item: &ReportItem,
    result: &ResultReport,
) -> Vec<Label<PictureFile>> {
    let place = |span: Span| match &pieces.window {
        Some(window) => window.span_range(span),
        None => Some(clamp_range(table, span.file, span.as_range())),
    };
    let main = Label::primary(PictureFile::Rule(item.span.file), place(item.span).unwrap_or(0..0));
    let mut labels = vec![main];
    let mut seen: Vec<(Range<usize>, &str)> = Vec::new();
    for evidence in &result.evidence {
        let (Some(span), Some(shown)) = (evidence.rule_span, evidence.shown.as_deref()) else { continue };
        if span == item.span || seen.contains(&(span.as_range(), shown)) || seen.len() >= VALUES {
            continue;
        }
        // If only an excerpt of one line is shown, values in other files cannot be shown.
        if pieces.window.is_some() && span.file != item.span.file {
            continue;
        }
        seen.push((span.as_range(), shown));
        let Some(range) = place(span) else { continue };
        labels.push(
            Label::secondary(PictureFile::Rule(span.file), range).with_message(value::shorten_text(shown, VALUE)),
        );
    }
    labels
}

fn clamp_range(table: &ReportTable, file: FileId, range: Range<usize>) -> Range<usize> {
    let length = table.sources.get(file).map_or(0, |file| file.text.len());
    range.start.min(length)..range.end.min(length)
}

/// Returns the labels in the trace. A label that is too wide for the screen becomes a note.
fn trace_labels(
    pieces: &PictureTexts<'_>,
    number: usize,
    part: &DrawnViolation<'_>,
    style: TextStyle,
    notes: &mut Vec<String>,
) -> Vec<Label<PictureFile>> {
    let mut labels = Vec::new();
    // The reason for the first violation is in the headline; the reasons for further ones are labels in the trace.
    let mut also = Some(one_line(part.reason)).filter(|_| number > 0);
    for (excerpt, start) in part.excerpts.iter().zip(pieces.starts_of(number)) {
        let mut said: Option<u32> = None;
        for (number, mark) in &excerpt.marks {
            let Some(evidence) = part.evidence.get(*number) else { continue };
            let place = evidence.place.as_deref().filter(|_| evidence.step != said);
            said = evidence.step;
            // Several labels on a line are drawn below it, a single one after its text.
            let edge = if excerpt.marks.len() > 1 { mark.start } else { mark.end };
            let used = GUTTER + 2 + excerpt.text.get(..edge).map_or(0, text_columns);
            let fits = |words: &str| used + text_columns(words) <= style.width;
            let mut shown = place_remark(place, evidence, part.reason);
            if evidence.role == Role::Decisive
                && let Some(reason) = also.take()
            {
                if fits(&reason) {
                    shown = reason.into_owned();
                } else {
                    notes.push(format!("also {reason}"));
                }
            }
            if !fits(&shown) {
                notes.push(place_remark(evidence.place.as_deref(), evidence, part.reason));
                shown = place_remark(place, &EvidenceReport::default(), part.reason);
            }
            let kind = if evidence.role == Role::Decisive { LabelStyle::Primary } else { LabelStyle::Secondary };
            let range = start + mark.start..start + mark.end;
            labels.push(Label::new(kind, PictureFile::Trace, range).with_message(shown));
        }
    }
    notes.extend(also.map(|reason| format!("also {reason}")));
    labels
}

fn place_remark(place: Option<&str>, evidence: &EvidenceReport, reason: &str) -> String {
    let role = match evidence.role {
        Role::Decisive | Role::Value => "",
        Role::Opening => "the window opens here",
        Role::Closing => "the window closes here",
        Role::NearMiss => "nearest miss",
    };
    // Text that the reason already contains is not repeated.
    let said = evidence.label.strip_prefix("this ").unwrap_or(&evidence.label);
    let label = if reason.contains(said) { role } else { &evidence.label };
    let label = one_line(label);
    // A step name as label adds nothing to its number, since the drawing shows the step.
    let is_name = |place: &str| label.ends_with(place) || label.starts_with(&format!("{place} ("));
    match (place, label.is_empty()) {
        (Some(place), true) => place.to_owned(),
        (Some(place), false) if is_name(place) => place.to_owned(),
        (Some(place), false) if label.contains(place) => label.into_owned(),
        (Some(place), false) => format!("{place}: {label}"),
        (None, _) => label.into_owned(),
    }
}

/// Returns notes about facts that are not in the drawing: the reason behind a custom message, the rule's sentence, values not in the trace.
fn picture_notes(table: &ReportTable, item: &ReportItem, result: &ResultReport, run: &RunReport) -> Vec<String> {
    let mut notes = Vec::new();
    if result.message.is_some() && !result.reason.is_empty() {
        notes.push(one_line(&result.reason).into_owned());
    }
    if let (Status::UnexpectedPassed, Some(why)) = (result.status, item.expected.as_deref())
        && !why.is_empty()
    {
        notes.push(format!("expected: {}", one_line(why)));
    }
    let computed = result.evidence.iter().filter(|one| one.source.is_none() && one.rule_span.is_none());
    for evidence in computed.take(VALUES) {
        let value = evidence.shown.as_deref().map(|shown| format!("{} = {shown}", evidence.path)).unwrap_or_default();
        let remark = place_remark(evidence.place.as_deref(), evidence, &result.reason);
        let note = [remark.as_str(), value.trim_start_matches(" = ")].into_iter().filter(|part| !part.is_empty());
        notes.push(one_line(&note.collect::<Vec<_>>().join(": ")).into_owned());
    }
    notes.retain(|note| !note.is_empty());
    if let Some((rule, sentence)) = table.rule_of(item).and_then(|rule| Some((rule, rule.sentence.as_deref()?))) {
        notes.push(format!("{}: {}", rule.id, one_line(sentence)));
    }
    if result.excerpts.is_empty() {
        notes.push(format!("in {}", one_line(&run.run)));
    }
    notes
}

pub(super) fn wrap_text(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let more = word.chars().count();
        if length > 0 && length + 1 + more > width {
            lines.push('\n');
            length = 0;
        } else if !lines.is_empty() {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += more;
    }
    lines
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PictureFile {
    Rule(FileId),
    Trace,
}

/// The texts of a drawing: rule files, and excerpts of the trace joined into one text.
struct PictureTexts<'a> {
    sources: &'a SourceMap,
    /// An excerpt that replaces the rule file if a shown line is too long.
    window: Option<LineWindow>,
    trace: Cow<'a, str>,
    text: String,
    starts: Vec<usize>,
    /// The excerpts of the trace. `before` has the number of excerpts before those of each violation.
    excerpts: Vec<&'a TraceExcerpt>,
    before: Vec<usize>,
}

impl<'a> PictureTexts<'a> {
    fn new(
        table: &'a ReportTable,
        run: &'a RunReport,
        item: &ReportItem,
        result: &'a ResultReport,
        parts: &[DrawnViolation<'a>],
        room: usize,
    ) -> Self {
        let spans = result.evidence.iter().filter_map(|one| one.rule_span);
        let spans = spans.filter(|span| span.file == item.span.file);
        let file = table.sources.get(item.span.file);
        let window = file.and_then(|file| {
            let wide = || LineWindow::of_wide_line(file, item.span, room);
            LineWindow::around_span(file, item.span, spans).or_else(wide)
        });
        let (mut text, mut starts, mut excerpts, mut before) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            before.push(excerpts.len());
            for excerpt in part.excerpts {
                starts.push(text.len());
                text.push_str(&excerpt.text);
                text.push('\n');
                excerpts.push(excerpt);
            }
        }
        Self { sources: &table.sources, window, trace: one_line(&run.file), text, starts, excerpts, before }
    }

    /// Returns the start offsets of a violation's excerpts.
    fn starts_of(&self, part: usize) -> impl Iterator<Item = usize> + '_ {
        self.starts.iter().copied().skip(self.before.get(part).copied().unwrap_or(0))
    }

    fn rule_source(&self, id: FileId) -> Result<&averment_base::source::SourceFile, Error> {
        self.sources.get(id).ok_or(Error::FileMissing)
    }
}

impl<'a> Files<'a> for PictureTexts<'_> {
    type FileId = PictureFile;
    type Name = Cow<'a, str>;
    type Source = Cow<'a, str>;

    fn name(&'a self, id: PictureFile) -> Result<Cow<'a, str>, Error> {
        Ok(match id {
            PictureFile::Rule(file) => one_line(&self.rule_source(file)?.name),
            PictureFile::Trace => Cow::Borrowed(&self.trace),
        })
    }

    fn source(&'a self, id: PictureFile) -> Result<Cow<'a, str>, Error> {
        Ok(match id {
            PictureFile::Rule(file) => match &self.window {
                Some(window) => Cow::Borrowed(window.text.as_str()),
                None => printable(&self.rule_source(file)?.text),
            },
            PictureFile::Trace => Cow::Borrowed(&self.text),
        })
    }

    fn line_index(&'a self, id: PictureFile, byte: usize) -> Result<usize, Error> {
        Ok(match id {
            PictureFile::Rule(_) if self.window.is_some() => 0,
            PictureFile::Rule(file) => {
                self.rule_source(file)?.line_column(u32::try_from(byte).unwrap_or(u32::MAX)).line - 1
            }
            PictureFile::Trace => self.starts.partition_point(|&start| start <= byte).saturating_sub(1),
        })
    }

    fn line_number(&'a self, id: PictureFile, index: usize) -> Result<usize, Error> {
        Ok(match id {
            PictureFile::Rule(_) => self.window.as_ref().map_or(index + 1, |window| window.line),
            PictureFile::Trace => self.excerpts.get(index).map_or(1, |excerpt| excerpt.line),
        })
    }

    fn column_number(&'a self, id: PictureFile, index: usize, byte: usize) -> Result<usize, Error> {
        Ok(match id {
            PictureFile::Rule(file) => match &self.window {
                Some(window) => window.column,
                None => self.rule_source(file)?.line_column(u32::try_from(byte).unwrap_or(u32::MAX)).column,
            },
            PictureFile::Trace => self.excerpts.get(index).map_or(1, |excerpt| excerpt.column),
        })
    }

    fn line_range(&'a self, id: PictureFile, index: usize) -> Result<Range<usize>, Error> {
        match id {
            PictureFile::Rule(file) => {
                if let Some(window) = &self.window {
                    return Ok(0..window.text.len());
                }
                let file = self.rule_source(file)?;
                Ok(file.line_start(index + 1)..file.line_start(index + 2))
            }
            PictureFile::Trace => {
                let start = self.starts.get(index).copied().unwrap_or(self.text.len());
                Ok(start..self.starts.get(index + 1).copied().unwrap_or(self.text.len()))
            }
        }
    }
}
