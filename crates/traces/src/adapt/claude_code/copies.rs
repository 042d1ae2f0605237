//! Records that stand in a file twice: a session that is resumed or forked, or that another version goes on with, begins with copies of
//! what was there, under record ids of their own. What was done once counts once.
//!
//! A copy keeps what the provider gave: the id of the message, the ids of its calls. A call is another's copy where it is of the same
//! message, with the same id, name and input; an id alone is no sign, because some providers use theirs again. What has no id of a
//! message is a copy where the same is written at the same time.

use super::About;
use crate::adapt::draft::StepId;
use crate::adapt::nodes::text;
use averment_base::value::compare::equal;
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

/// What was recorded so far.
#[derive(Debug, Default)]
pub(super) struct Copies<'run> {
    /// The number of the record in work, that of the first of its message in a row, and that message.
    record: usize,
    began: usize,
    message: Option<&'run str>,
    /// The calls by their messages and ids.
    calls: FxHashMap<(&'run str, &'run str), Vec<Known<'run>>>,
    /// What copies are paired by, and what the calls are that they repeat.
    pairs: FxHashMap<&'run str, &'run str>,
    /// The calls that have a result, by what they were paired by.
    answered: FxHashMap<&'run str, StepId>,
    /// The first record with each text of a message, and when it was written.
    texts: FxHashMap<(&'run str, &'run str), (usize, Option<&'run str>)>,
    /// The messages without an id by the times of their records, each with who said it.
    timed: FxHashMap<&'run str, Vec<(Option<&'run str>, Object<'run>)>>,
}

/// A call that was recorded.
#[derive(Debug)]
struct Known<'run> {
    record: usize,
    tool: &'run str,
    input: Value<'run>,
    pairing: &'run str,
}

/// What a call says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made<'run> {
    pub(super) message: Option<&'run str>,
    pub(super) id: Option<&'run str>,
    /// What its result will be found by.
    pub(super) pairing: Option<&'run str>,
    pub(super) tool: &'run str,
    pub(super) input: Option<Node<'run>>,
}

/// So many are compared that could be the same.
const MANY: usize = 32;

impl<'run> Copies<'run> {
    /// Another record begins.
    pub(super) fn next_record(&mut self, message: Option<&'run str>) {
        self.record += 1;
        if message.is_none() || std::mem::replace(&mut self.message, message) != message {
            (self.began, self.message) = (self.record, message);
        }
    }

    /// Whether a message without an id was there already: the same was said at the same time.
    pub(super) fn is_message_again(&mut self, message: Object<'run>, about: &About<'run>) -> bool {
        let Some(time) = about.time.and_then(text).filter(|_| about.message.is_none()) else { return false };
        let agent = about.agent.and_then(text);
        let known = self.timed.entry(time).or_default();
        let same = |other: Object<'run>| equal(&Value::Object(other), &Value::Object(message));
        if known.iter().any(|(by, other)| *by == agent && same(*other)) {
            return true;
        }
        if known.len() < MANY {
            known.push((agent, message));
        }
        false
    }

    /// Whether another record has said the same in the same message: at the same time, or before others came. One message alone may
    /// say the same again.
    pub(super) fn is_text_again(&mut self, words: Node<'run>, about: &About<'run>) -> bool {
        let Some((message, words)) = about.message.zip(text(words)) else { return false };
        let time = about.time.and_then(text);
        let (record, first) = *self.texts.entry((message, words)).or_insert((self.record, time));
        record < self.began || record < self.record && first.is_some() && first == time
    }

    /// Whether another record has made the same call.
    pub(super) fn is_call_again(&mut self, made: Made<'run>) -> bool {
        let Made { message: Some(message), id: Some(id), pairing: Some(pairing), tool, input } = made else {
            return false;
        };
        let (record, input) = (self.record, input.map_or(Value::Missing, |input| input.value));
        let known = self.calls.entry((message, id)).or_default();
        let is_same =
            |known: &&Known<'run>| known.record != record && known.tool == tool && equal(&known.input, &input);
        if let Some(first) = known.iter().find(is_same) {
            self.pairs.insert(pairing, first.pairing);
            return true;
        }
        if known.len() < MANY {
            known.push(Known { record, tool, input, pairing });
        }
        false
    }

    /// What the call is paired by that a result answers: of a copy, what it repeats.
    pub(super) fn paired(&self, pairing: &'run str) -> &'run str {
        self.pairs.get(pairing).copied().unwrap_or(pairing)
    }

    /// A call has its result.
    pub(super) fn answers(&mut self, pairing: &'run str, call: StepId) {
        self.answered.insert(pairing, call);
    }

    /// The last call that got a result, by what it was paired by.
    pub(super) fn answered(&self, pairing: &str) -> Option<StepId> {
        self.answered.get(pairing).copied()
    }
}
