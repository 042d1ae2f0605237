//! What the answer of a request shows beside the rounds in which the agent worked: how calls ended, and words that no round has.

use super::{VsCodePartKey, VsCodePartKind, is_aside, is_call, is_refused, is_said, part_kind, say_words, words_of};
use crate::adapt::blocks::BlockResult;
use crate::adapt::conversation::{ConversationBuilder, StepMeta};
use crate::adapt::fields::{NodeShapes, is_true};
use crate::adapt::nodes::{node_text, object_items, object_of, text_of};
use averment_base::value::{Node, Object};
use averment_runs::normal::role;
use averment_runs::run::StepStatus;

/// A call that is shown: its id, its tool, and how it ended, where that is told.
struct ShownCall<'run> {
    id: Option<&'run str>,
    tool: Option<&'run str>,
    status: Option<StepStatus>,
}

/// The calls that an answer shows, of which some say that they failed or were refused.
pub(super) struct ShownOutcomes<'run>(Vec<ShownCall<'run>>);

/// Id and name of a call in the rounds.
type MadeCall<'run> = (Option<&'run str>, Option<&'run str>);

impl<'run> ShownOutcomes<'run> {
    pub(super) fn of_parts(parts: &'run [Node<'run>]) -> Self {
        let shown = object_items(parts).filter(|(_, part)| is_call(*part) && !is_aside(*part));
        Self(shown.map(|(_, part)| ShownCall::of_part(part)).collect())
    }

    /// The call of a round that a shown one is: of the same id, else of the same tool in the same place among as many.
    fn shown_of(&self, made: &[MadeCall<'run>]) -> Option<&ShownCall<'run>> {
        let (id, tool) = made.last()?;
        let by_id = || self.0.iter().find(|shown| shown.id.is_some() && shown.id == *id);
        let place = made.iter().filter(|(_, name)| name == tool).count().checked_sub(1)?;
        by_id().or_else(|| self.0.iter().filter(|shown| shown.tool.is_some() && shown.tool == *tool).nth(place))
    }

    /// The answer of the call that was made last, with what is shown of its end.
    pub(super) fn answer_of(
        &self,
        made: &[MadeCall<'run>],
        told: Option<BlockResult<'run>>,
    ) -> Option<BlockResult<'run>> {
        match self.shown_of(made).and_then(|shown| shown.status) {
            Some(status) => Some(BlockResult { status: Some(status), is_value: true, ..told.unwrap_or_default() }),
            None => told,
        }
    }

    /// Whether a call that was refused is none of those that were made, or one of several.
    pub(super) fn has_untold_refusal(&self, made: &[MadeCall<'run>]) -> bool {
        let is_known = |shown: &ShownCall<'run>| {
            let of_tool = || self.0.iter().filter(|other| other.tool == shown.tool).count();
            made.iter().any(|(id, _)| shown.id.is_some() && shown.id == *id)
                || shown.tool.is_some() && made.iter().filter(|(_, name)| *name == shown.tool).count() == of_tool()
        };
        self.0.iter().any(|shown| shown.status == Some(StepStatus::Denied) && !is_known(shown))
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
        talk: &mut ConversationBuilder<'_, 'run, '_>,
        parts: &'run [Node<'run>],
        about: &StepMeta<'run>,
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
            say_words(talk, &mut words, *last, about);
        }
        // Other words stand in no round: between which calls they were said nobody knows.
        if before && !self.any {
            talk.draft.leave_role_open(role::ASSISTANT);
        }
    }
}
