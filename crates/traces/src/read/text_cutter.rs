//! A file that is read whole, cut into its runs: values one behind the other, and lists of them.

use super::json_walk::IndexedText;
use super::piece_places::PiecePlaces;
use super::run_pieces::CutPieces;
use super::{RawRun, RunText, TextForm, file_form, json_walk, split};
use crate::adapt::cutting::RunCutting;
use crate::adapt::format::{FIRST_ITEMS, TraceFormat};
use crate::adapt::registry;
use crate::error::ReadError;
use averment_base::limits::Limits;
use averment_base::value::json;
use averment_runs::run::{ReadWarning, RunSource};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub(super) struct TextCutter<'a> {
    pub(super) file: &'a str,
    pub(super) mark: usize,
    pub(super) shared: Arc<String>,
    pub(super) lines: split::LineCounter,
    pub(super) limits: &'a Limits,
    pub(super) ready: VecDeque<Result<RawRun, ReadError>>,
}

impl TextCutter<'_> {
    fn run_source(&mut self, start: usize, position: Option<usize>) -> RunSource {
        let (line, column) = self.lines.line_and_column(&self.shared, start);
        let offset = (self.mark + start) as u64;
        RunSource {
            file: self.file.to_owned(),
            line,
            column,
            offset,
            position,
            by_line: false,
            parts: None,
            label: None,
        }
    }

    pub(super) fn push_run(
        &mut self,
        range: Range<usize>,
        form: TextForm,
        position: Option<usize>,
        warnings: Vec<ReadWarning>,
    ) {
        let source = self.run_source(range.start, position);
        let text = RunText::Range(Arc::clone(&self.shared), range);
        self.ready.push_back(Ok(RawRun { text, form, warnings, source }));
    }

    /// Consecutive values; a list may hold runs.
    pub(super) fn cut_values(&mut self) {
        if file_form::is_session_of_values(&self.shared, self.limits) {
            return self.push_run(0..self.shared.len(), TextForm::Values, None, Vec::new());
        }
        let mut start = split::skip_blank(&self.shared, 0);
        let mut found = 0;
        while start < self.shared.len() {
            let (end, keys) = json_walk::end_and_keys(IndexedText::without_index(&self.shared), start);
            let end = end.unwrap_or(self.shared.len()).max(start + 1);
            let end = (end..=self.shared.len()).find(|at| self.shared.is_char_boundary(*at)).unwrap_or(end);
            let next = split::skip_blank(&self.shared, end);
            found += 1;
            let single = found == 1 && next >= self.shared.len();
            if found == 1 && self.cut_several(start, &keys, single) {
                return;
            }
            if self.shared.as_bytes().get(start) == Some(&b'[') {
                self.cut_list(start..end, single);
            } else {
                self.push_run(start..end, TextForm::Value, (!single).then_some(found), Vec::new());
                // What is no JSON ends nowhere: one message is enough.
                let is_value = || self.shared.get(start..end).is_some_and(file_form::is_json);
                if !matches!(self.shared.as_bytes().get(start), Some(b'{' | b'"')) && !is_value() {
                    return;
                }
            }
            start = next;
        }
    }

    /// False if the value does not hold several runs.
    fn cut_several(&mut self, start: usize, keys: &[Range<usize>], single: bool) -> bool {
        let shared = Arc::clone(&self.shared);
        let has = |wanted: &str| keys.iter().any(|key| shared.get(key.clone()) == Some(wanted));
        let may_fit = |(_, cutting): &(&TraceFormat, &RunCutting)| cutting.first_keys().any(has);
        let Some(found) = registry::all_cuttings().filter(may_fit).find_map(|(format, cutting)| {
            if !single && cutting.by.is_empty() {
                return None;
            }
            let found = CutPieces::find_in(IndexedText::without_index(&shared), start, cutting, single);
            found.filter(|found| {
                (found.run_count() > 1 || !single || cutting.is_for_one()) && found.is_of(&shared, format, self.limits)
            })
        }) else {
            return false;
        };
        let (places, runs) = (PiecePlaces::locate_all(&shared, &found), found.run_count());
        for (parts, position) in found.by_run().into_iter().zip(1..) {
            let first = parts.first().map_or(start, |part| found.part_range(*part).start);
            let (line, column) = places.line_and_column(first);
            let (file, offset) = (self.file.to_owned(), (self.mark + first) as u64);
            let pieces = found.text_of(&parts);
            let of_run = places.of_run(&pieces, self.mark as u64, 0);
            let source = RunSource {
                file,
                line,
                column,
                offset,
                position: (runs > 1).then_some(position),
                by_line: false,
                parts: Some(of_run.into()),
                label: None,
            };
            let text = RunText::joined_text(Arc::clone(&shared), pieces);
            self.ready.push_back(Ok(RawRun { text, form: TextForm::Value, warnings: Vec::new(), source }));
        }
        true
    }

    /// One run, such as messages, or a run per element.
    fn cut_list(&mut self, range: Range<usize>, single: bool) {
        let Some(elements) = self.list_elements(range.clone()) else {
            self.push_run(range, TextForm::Value, None, Vec::new());
            return;
        };
        if elements.is_empty() {
            let error = ReadError::of_file(self.file, "no run: the list is empty", "write a run into it");
            self.ready.push_back(Err(ReadError { no_trace: true, ..error }));
            return;
        }
        if self.is_one_run(&elements) {
            self.push_run(range, TextForm::Value, None, Vec::new());
            return;
        }
        let one = single && elements.len() == 1;
        for (element, position) in elements.into_iter().zip(1..) {
            self.push_run(element, TextForm::Value, (!one).then_some(position), Vec::new());
        }
    }

    /// `None` for invalid JSON.
    fn list_elements(&self, range: Range<usize>) -> Option<Vec<Range<usize>>> {
        let mut elements = Vec::new();
        let mut at = split::skip_blank(&self.shared, range.start + 1);
        while self.shared.as_bytes().get(at)? != &b']' {
            let end = split::end_of_value(&self.shared, at).filter(|end| *end > at && *end <= range.end)?;
            elements.push(at..end);
            at = split::skip_blank(&self.shared, end);
            match self.shared.as_bytes().get(at)? {
                b',' => {
                    at = split::skip_blank(&self.shared, at + 1);
                    if self.shared.as_bytes().get(at) == Some(&b']') {
                        return None;
                    }
                }
                b']' => break,
                _ => return None,
            }
        }
        (at + 1 == range.end).then_some(elements)
    }

    /// The first recognized element decides, unless it may be either.
    fn is_one_run(&self, elements: &[Range<usize>]) -> bool {
        let told = elements.iter().take(FIRST_ITEMS).find_map(|element| {
            let arena = bumpalo::Bump::new();
            let text = self.shared.get(element.clone()).unwrap_or_default();
            let node = json::parse_recorded(text, 0, &arena, self.limits).ok()?.node;
            match registry::is_element_of_one_run(&node)? {
                true => Some(true),
                false => registry::is_known_run(&node).then_some(false),
            }
        });
        told.unwrap_or(false) || self.repeats_first(elements)
    }

    fn repeats_first(&self, elements: &[Range<usize>]) -> bool {
        let [first, second, ..] = elements else { return false };
        let text = |range: &Range<usize>| self.shared.get(range.clone()).unwrap_or_default();
        file_form::is_repeated(text(first), text(second), self.limits)
    }
}
