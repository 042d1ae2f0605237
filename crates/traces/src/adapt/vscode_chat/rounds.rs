//! What the answer of a request shows beside the rounds in which the agent worked: how calls ended, and words that no round has.

use super::{VsCodePartKey, VsCodePartKind, is_aside, is_call, is_refused, is_said, part_kind, say_words, words_of};
use crate::adapt::blocks::BlockResult;
use crate::adapt::conversation::{ConversationBuilder, StepMeta};
use crate::adapt::fields::{NodeShapes, is_true};
use crate::adapt::nodes::{node_text, object_items, object_of, text_of};
use averment_base::value::{Node, Object};
use averment_runs::normal::role;
use averment_runs::run::StepStatus;
use rustc_hash::{FxHashMap, FxHashSet};

/// A call that is shown: its id, its tool, and how it ended, where that is told.
struct ShownCall<'run> {
    id: Option<&'run str>,
    tool: Option<&'run str>,
    status: Option<StepStatus>,
}

/// The calls that an answer shows, of which some say that they failed or were refused, beside those that its rounds made so far.
#[derive(Default)]
pub(super) struct ShownOutcomes<'run> {
    shown: Vec<ShownCall<'run>>,
    by_id: FxHashMap<&'run str, usize>,
    by_tool: FxHashMap<&'run str, Vec<usize>>,
    made_ids: FxHashSet<&'run str>,
    made_of_tool: FxHashMap<&'run str, usize>,
    made_count: usize,
}

impl<'run> ShownOutcomes<'run> {
    pub(super) fn of_parts(parts: &'run [Node<'run>]) -> Self {
        let mut outcomes = Self::default();
        let calls = object_items(parts).filter(|(_, part)| is_call(*part) && !is_aside(*part));
        for (number, (_, part)) in calls.enumerate() {
            let shown = ShownCall::of_part(part);
            shown.id.into_iter().for_each(|id| _ = outcomes.by_id.entry(id).or_insert(number));
            shown.tool.into_iter().for_each(|tool| outcomes.by_tool.entry(tool).or_default().push(number));
            outcomes.shown.push(shown);
        }
        outcomes
    }

    /// Notes a call of a round, and finds the one that is shown: of the same id, else of the same tool in the same place among as many.
    fn note_made(&mut self, id: Option<&'run str>, tool: Option<&'run str>) -> Option<&ShownCall<'run>> {
        self.made_count += 1;
        self.made_ids.extend(id);
        let place = tool.map(|tool| {
            let made = self.made_of_tool.entry(tool).or_default();
            std::mem::replace(made, *made + 1)
        });
        let by_id = id.and_then(|id| self.by_id.get(id));
        let by_tool = || self.by_tool.get(tool?)?.get(place?);
        self.shown.get(*by_id.or_else(by_tool)?)
    }

    /// The answer of a call that a round makes, with what is shown of its end.
    pub(super) fn answer_of(
        &mut self,
        id: Option<&'run str>,
        tool: Option<&'run str>,
        told: Option<BlockResult<'run>>,
    ) -> Option<BlockResult<'run>> {
        match self.note_made(id, tool).and_then(|shown| shown.status) {
            Some(status) => Some(BlockResult { status: Some(status), is_value: true, ..told.unwrap_or_default() }),
            None => told,
        }
    }

    /// Whether a call that was refused is none of those that were made, or one of several.
    pub(super) fn has_untold_refusal(&self) -> bool {
        let of_tool = |tool: &str| self.by_tool.get(tool).map_or(0, Vec::len);
        let is_known = |shown: &ShownCall<'run>| {
            shown.id.is_some_and(|id| self.made_ids.contains(id))
                || shown.tool.is_some_and(|tool| self.made_of_tool.get(tool).copied() == Some(of_tool(tool)))
        };
        self.shown.iter().any(|shown| shown.status == Some(StepStatus::Denied) && !is_known(shown))
    }

    /// Whether more calls are shown than the rounds made.
    pub(super) fn has_more_shown(&self) -> bool {
        self.shown.len() > self.made_count
    }
}

impl<'run> ShownCall<'run> {
    fn of_part(part: Object<'run>) -> Self {
        let details = object_of(part, VsCodePartKey::Details);
        let failed = details.is_some_and(|details| is_true(&details, &NodeShapes, VsCodePartKey::Failed));
        let status = match (is_refused(part), failed) {
            (true, _) => Some(StepStatus::Denied),
            (false, true) => Some(StepStatus::Failed),
            (false, false) => None,
        };
        Self { id: text_of(part, VsCodePartKey::Call), tool: text_of(part, VsCodePartKey::Tool), status }
    }
}

/// Which rounds of a request have words of their own.
#[derive(Default)]
pub(super) struct SpokenRounds {
    any: bool,
    last: bool,
}

impl SpokenRounds {
    pub(super) fn note_round(&mut self, words: Option<Node<'_>>) {
        self.last = words.and_then(node_text).is_some_and(|words| !words.trim().is_empty());
        self.any |= self.last;
    }

    /// Where the last round says nothing, the words behind all calls that are shown are those with which the agent ends.
    pub(super) fn add_shown<'run>(
        &self,
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
        parts: &'run [Node<'run>],
        meta: &StepMeta<'run>,
    ) {
        if self.last {
            return;
        }
        let mut words = String::new();
        let mut before = false;
        for (_, part) in object_items(parts) {
            if part_kind(part) == Some(VsCodePartKind::Call) {
                before |= !words.trim().is_empty();
                words.clear();
            } else if is_said(part) {
                words.push_str(words_of(part).and_then(node_text).unwrap_or_default());
            }
        }
        if let Some(last) = parts.last() {
            say_words(conversation, &mut words, *last, meta);
        }
        // Other words stand in no round: between which calls they were said nobody knows.
        if before && !self.any {
            conversation.builder.leave_role_open(role::ASSISTANT);
        }
    }
}
