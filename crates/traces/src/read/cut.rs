//! A file that is read whole, cut into its runs: values one behind the other, and lists of them.

use super::pieces::{Pieces, Places};
use super::walk::Indexed;
use super::{RawRun, RunText, TextForm, form, split, walk};
use crate::adapt::cutting::Cutting;
use crate::adapt::format::{FIRST_ITEMS, Format};
use crate::adapt::registry;
use crate::error::ReadError;
use averment_base::limits::Limits;
use averment_base::value::json;
use averment_runs::run::{ReadWarning, RunSource};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A text that is read whole, and what was cut from it.
pub(super) struct Cut<'a> {
    pub(super) file: &'a str,
    pub(super) mark: usize,
    pub(super) shared: Arc<String>,
    pub(super) lines: split::LineCounter,
    pub(super) limits: &'a Limits,
    pub(super) ready: VecDeque<Result<RawRun, ReadError>>,
}

impl Cut<'_> {
    /// Runs are asked for in the order of the text: lines are counted on from the last one.
    fn source(&mut self, start: usize, position: Option<usize>) -> RunSource {
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

    /// Adds a run.
    pub(super) fn push(
        &mut self,
        range: Range<usize>,
        form: TextForm,
        position: Option<usize>,
        warnings: Vec<ReadWarning>,
    ) {
        let source = self.source(range.start, position);
        let text = RunText::Range(Arc::clone(&self.shared), range);
        self.ready.push_back(Ok(RawRun { text, form, warnings, source }));
    }

    /// Values one behind the other; a list may be a list of runs.
    pub(super) fn values(&mut self) {
        if form::is_session_of_values(&self.shared, self.limits) {
            return self.push(0..self.shared.len(), TextForm::Values, None, Vec::new());
        }
        let mut start = split::skip_blank(&self.shared, 0);
        let mut found = 0;
        while start < self.shared.len() {
            let (end, keys) = walk::end_and_keys(&self.shared, start);
            let end = end.unwrap_or(self.shared.len()).max(start + 1);
            let end = (end..=self.shared.len()).find(|at| self.shared.is_char_boundary(*at)).unwrap_or(end);
            let next = split::skip_blank(&self.shared, end);
            found += 1;
            let single = found == 1 && next >= self.shared.len();
            if found == 1 && self.several(start, &keys, single) {
                return;
            }
            if self.shared.as_bytes().get(start) == Some(&b'[') {
                self.list(start..end, single);
            } else {
                self.push(start..end, TextForm::Value, (!single).then_some(found), Vec::new());
                // What is no JSON ends nowhere: one message is enough.
                let is_value = || self.shared.get(start..end).is_some_and(form::is_json);
                if !matches!(self.shared.as_bytes().get(start), Some(b'{' | b'"')) && !is_value() {
                    return;
                }
            }
            start = next;
        }
    }

    /// Cuts a value that holds several runs of a format; false where it does not.
    fn several(&mut self, start: usize, keys: &[Range<usize>], single: bool) -> bool {
        let shared = Arc::clone(&self.shared);
        let has = |wanted: &str| keys.iter().any(|key| shared.get(key.clone()) == Some(wanted));
        let may_fit = |(_, cutting): &(&Format, &Cutting)| cutting.first_keys().any(has);
        let Some(found) = registry::cuttings().filter(may_fit).find_map(|(format, cutting)| {
            if !single && cutting.by.is_empty() {
                return None;
            }
            let found = Pieces::find_in(Indexed::not(&shared), start, cutting, single);
            found.filter(|found| {
                (found.runs() > 1 || !single || cutting.is_for_one()) && found.is_of(&shared, format, self.limits)
            })
        }) else {
            return false;
        };
        let (places, runs) = (Places::of(&shared, &found), found.runs());
        for (parts, position) in found.by_run().into_iter().zip(1..) {
            let first = parts.first().map_or(start, |part| found.range(*part).start);
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
            let text = RunText::joined(Arc::clone(&shared), pieces);
            self.ready.push_back(Ok(RawRun { text, form: TextForm::Value, warnings: Vec::new(), source }));
        }
        true
    }

    /// A list: one run, such as a list of messages, or a run in each element.
    fn list(&mut self, range: Range<usize>, single: bool) {
        let Some(elements) = self.elements(range.clone()) else {
            self.push(range, TextForm::Value, None, Vec::new());
            return;
        };
        if elements.is_empty() {
            let error = ReadError::of_file(self.file, "no run: the list is empty", "write a run into it");
            self.ready.push_back(Err(ReadError { no_trace: true, ..error }));
            return;
        }
        if self.is_one_run(&elements) {
            self.push(range, TextForm::Value, None, Vec::new());
            return;
        }
        let one = single && elements.len() == 1;
        for (element, position) in elements.into_iter().zip(1..) {
            self.push(element, TextForm::Value, (!one).then_some(position), Vec::new());
        }
    }

    /// The elements of a list; `None` when it is no list of JSON.
    fn elements(&self, range: Range<usize>) -> Option<Vec<Range<usize>>> {
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

    /// Whether a list is one run: the first of its elements says so that is known to anybody, and may not be either.
    fn is_one_run(&self, elements: &[Range<usize>]) -> bool {
        let told = elements.iter().take(FIRST_ITEMS).find_map(|element| {
            let arena = bumpalo::Bump::new();
            let text = self.shared.get(element.clone()).unwrap_or_default();
            let node = json::parse_recorded(text, 0, &arena, self.limits).ok()?.node;
            match registry::is_element_of_one_run(&node)? {
                true => Some(true),
                false => registry::is_told(&node).then_some(false),
            }
        });
        told.unwrap_or(false)
    }
}
