//! The answers that a list of exchanges told, and how they ended: one that goes on may ask for more, and one that a limit cut off for less
//! than it says.

use super::cut_calls::is_cut_end;
use super::{ApiKey, MessagePart};
use crate::adapt::fields::key_table;
use crate::adapt::nodes::text_of;
use averment_base::value::compare::values_equal;
use averment_base::value::{Object, Value};
use rustc_hash::FxHashMap;
use std::ops::Range;

key_table! {
    /// The state of a response that is made in the background, and asked for again until it is there.
    OpenStatus {
        Any = "queued" | "in_progress",
    }
}

/// Responses by their ids.
#[derive(Default)]
pub(in crate::adapt) struct KnownAnswers<'run>(FxHashMap<&'run str, Vec<Object<'run>>>);

impl<'run> KnownAnswers<'run> {
    /// Whether the same response stood there before; else it is known from now on.
    pub(in crate::adapt) fn is_known(&mut self, id: &'run str, response: Object<'run>) -> bool {
        if id.is_empty() {
            return false;
        }
        let same = |known: &Object<'run>| values_equal(&Value::Object(*known), &Value::Object(response));
        let known = self.0.entry(id).or_default();
        let is_known = known.iter().any(same);
        known.push(response);
        is_known
    }
}

/// The answers that are not whole, and the places of their pieces.
#[derive(Default)]
pub(super) struct AnswerEnds<'run> {
    open: Vec<(Option<&'run str>, Range<usize>)>,
    cut: Vec<Range<usize>>,
}

impl<'run> AnswerEnds<'run> {
    /// An answer that went on and is told again holds what it held then.
    pub(super) fn take_up(&mut self, response: Object<'run>, pieces: &mut Vec<MessagePart<'run>>) {
        let Some(id) = text_of(response, ApiKey::Id) else { return };
        self.open.retain(|(known, range)| {
            let is_same = *known == Some(id);
            if is_same && range.end == pieces.len() {
                pieces.truncate(range.start);
            }
            !is_same
        });
    }

    pub(super) fn note_end(&mut self, response: Object<'run>, range: Range<usize>, is_cut: bool) {
        let status = text_of(response, ApiKey::Status);
        if status.and_then(OpenStatus::from_key).is_some() {
            self.open.push((text_of(response, ApiKey::Id), range));
        } else if is_cut || is_cut_end(response) {
            self.cut.push(range);
        }
    }

    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn has_cut(&self) -> bool {
        !self.cut.is_empty()
    }

    /// Whether of so many pieces the last ones are of an answer that goes on.
    pub(super) fn ends_open(&self, pieces: usize) -> bool {
        self.open.iter().any(|(_, range)| range.end == pieces)
    }

    pub(super) fn is_cut(&self, place: usize) -> bool {
        // They were noted in their order.
        let next = self.cut.partition_point(|range| range.end <= place);
        self.cut.get(next).is_some_and(|range| range.contains(&place))
    }
}
