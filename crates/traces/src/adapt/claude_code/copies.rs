//! Records that stand in a file twice: a session that is resumed or forked, or that another version goes on with, begins with copies of
//! what was there, under record ids of their own. What was done once counts once.
//!
//! A copy keeps what the provider gave: the id of the message, the ids of its calls. A call is another's copy where it is of the same
//! message, with the same id, name and input, or of messages that both have none; an id alone is no sign, because some providers use
//! theirs again. Beside that, a call with the id, name and input of one that still waits for its result is that call. Where the id is random,
//! it is that call at any time: some programs write what streams in under ever new ids of messages. Words in a message without an id are a
//! copy where the same is written at the same time.

use super::LineMeta;
use crate::adapt::nodes::node_text;
use crate::adapt::run_builder::StepId;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
pub(super) struct CopyDetector<'run> {
    /// The current record, the first of its message in a row, and that message.
    record: usize,
    began: usize,
    message: Option<&'run str>,
    calls: FxHashMap<(Option<&'run str>, &'run str), Vec<RecordedCall<'run>>>,
    /// Calls that wait for their results, and those whose ids nobody uses again, by their pairing ids.
    waiting: FxHashMap<&'run str, RecordedCall<'run>>,
    /// Pairing ids of copies, mapped to those of the original calls.
    pairs: FxHashMap<&'run str, &'run str>,
    answered: FxHashMap<&'run str, StepId>,
    /// First record and time of each text of a message.
    texts: FxHashMap<(&'run str, &'run str), (usize, Option<&'run str>)>,
    /// Messages without an id by time, each with its speaker.
    timed: FxHashMap<&'run str, Vec<(Option<&'run str>, Object<'run>)>>,
}

#[derive(Debug, Clone, Copy)]
struct RecordedCall<'run> {
    record: usize,
    tool: &'run str,
    input: Value<'run>,
    pairing: &'run str,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CallFacts<'run> {
    pub(super) message: Option<&'run str>,
    pub(super) id: Option<&'run str>,
    pub(super) pairing: Option<&'run str>,
    pub(super) tool: &'run str,
    pub(super) input: Option<Node<'run>>,
}

/// Maximum number of candidates compared.
const MANY: usize = 32;

/// Whether an id ends with so many letters and digits that no provider makes it twice.
fn is_random(id: &str) -> bool {
    const LONG: usize = 20;
    id.rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next().is_some_and(|end| end.len() >= LONG)
}

impl<'run> CopyDetector<'run> {
    pub(super) fn next_record(&mut self, message: Option<&'run str>) {
        self.record += 1;
        if message.is_none() || std::mem::replace(&mut self.message, message) != message {
            (self.began, self.message) = (self.record, message);
        }
    }

    /// A message without an id is a copy if the same was said at the same time.
    pub(super) fn is_message_again(&mut self, message: Object<'run>, meta: &LineMeta<'run>) -> bool {
        let Some(time) = meta.time.and_then(node_text).filter(|_| meta.message.is_none()) else { return false };
        let agent = meta.agent.and_then(node_text);
        let known = self.timed.entry(time).or_default();
        let same = |other: Object<'run>| values_equal(&Value::Object(other), &Value::Object(message));
        if known.iter().any(|(by, other)| *by == agent && same(*other)) {
            return true;
        }
        if known.len() < MANY {
            known.push((agent, message));
        }
        false
    }

    /// True if another record said the same in this message, at the same time or before others came in between.
    pub(super) fn is_text_again(&mut self, words: Node<'run>, meta: &LineMeta<'run>) -> bool {
        let Some((message, words)) = meta.message.zip(node_text(words)) else { return false };
        let time = meta.time.and_then(node_text);
        let (record, first) = *self.texts.entry((message, words)).or_insert((self.record, time));
        record < self.began || record < self.record && first.is_some() && first == time
    }

    pub(super) fn is_call_again(&mut self, made: CallFacts<'run>) -> bool {
        let CallFacts { message, id: Some(id), pairing: Some(pairing), tool, input } = made else { return false };
        let (record, input) = (self.record, input.map_or(Value::Missing, |input| input.value));
        let known = self.calls.entry((message, id)).or_default();
        let is_same = |known: &&RecordedCall<'run>| {
            known.record != record && known.tool == tool && values_equal(&known.input, &input)
        };
        if let Some(first) = known.iter().find(is_same) {
            self.pairs.insert(pairing, first.pairing);
            return true;
        }
        if message.is_some() && self.waiting.get(pairing).as_ref().is_some_and(is_same) {
            return true;
        }
        let call = RecordedCall { record, tool, input, pairing };
        self.waiting.insert(pairing, call);
        if known.len() < MANY {
            known.push(call);
        }
        false
    }

    /// A copy is paired by the id of the original.
    pub(super) fn paired_id(&self, pairing: &'run str) -> &'run str {
        self.pairs.get(pairing).copied().unwrap_or(pairing)
    }

    pub(super) fn mark_answered(&mut self, pairing: &'run str, call: StepId) {
        // An id that is as good as unique is never used again.
        if !is_random(pairing) {
            self.waiting.remove(pairing);
        }
        self.answered.insert(pairing, call);
    }

    /// The last call that got a result.
    pub(super) fn answered_call(&self, pairing: &str) -> Option<StepId> {
        self.answered.get(pairing).copied()
    }
}
