//! Events of LlamaIndex's agent workflows, as `model_dump` or the serializer of workflows writes them. No event names its kind: the keys tell it.

use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::llama_index::{classify_block, only_text, view_message};
use super::messages::MessageRole;
use super::nodes::{list_of, node_list, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use super::unknown::UNKNOWN_ROLE;
use super::{block_session, content, listed_messages};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;
use rustc_hash::FxHashMap;

key_table! {
    WorkflowKey {
        /// Around an event, beside the name of its class, where the serializer wrote it.
        Wrapped = "value",
        Class = "qualified_name",
        Agent = "current_agent_name",
        Input = "input",
        Delta = "delta",
        Response = "response",
        Calls = "tool_calls",
        Retry = "retry_messages",
        Id = "tool_id",
        Tool = "tool_name",
        Args = "tool_kwargs",
        Gave = "tool_output",
        Content = "content",
        Blocks = "blocks",
        Failed = "is_error",
        Asked = "user_msg",
        Limit = "max_iterations",
        Result = "result",
        Structured = "output",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "LlamaIndex workflow events",
    known_by: "`current_agent_name` beside `input`, `delta` or `response`, or `tool_id` with `tool_kwargs`",
    description: "events of LlamaIndex's agent workflows (`model_dump` or its serializer: a list, one a line)",
    marks: &[WorkflowKey::Agent.key(), WorkflowKey::Args.key(), WorkflowKey::Class.key()],
    near: &[WorkflowKey::Args.key()],
    object: |object| event_kind(object).is_some(),
    item_marks: &[
        WorkflowKey::Agent.key(),
        WorkflowKey::Args.key(),
        WorkflowKey::Class.key(),
        WorkflowKey::Asked.key(),
    ],
    element: |object| event_kind(object).is_some(),
    line: |object| event_kind(object).is_some(),
    beside: is_end,
    read: read_run,
    ..IN_FULL
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkflowEvent {
    Start,
    /// What the model is given: all that was said so far.
    Input,
    /// A piece of what comes whole.
    Stream,
    Output,
    Call,
    Result,
}

fn unwrap_event(event: Object<'_>) -> Object<'_> {
    let wrapped = text_of(event, WorkflowKey::Class).and_then(|_| object_of(event, WorkflowKey::Wrapped));
    wrapped.unwrap_or(event)
}

fn event_kind(event: Object<'_>) -> Option<WorkflowEvent> {
    let event = unwrap_event(event);
    let is_text = |key| text_of(event, key).is_some();
    if is_text(WorkflowKey::Id) && is_text(WorkflowKey::Tool) && event.field(WorkflowKey::Args).is_some() {
        let is_result = object_of(event, WorkflowKey::Gave).is_some();
        return Some(if is_result { WorkflowEvent::Result } else { WorkflowEvent::Call });
    }
    if event.field(WorkflowKey::Asked).is_some() && event.field(WorkflowKey::Limit).is_some() {
        return Some(WorkflowEvent::Start);
    }
    text_of(event, WorkflowKey::Agent)?;
    if is_text(WorkflowKey::Delta) {
        return Some(WorkflowEvent::Stream);
    }
    let output = object_of(event, WorkflowKey::Response).map(|_| WorkflowEvent::Output);
    output.or_else(|| list_of(event, WorkflowKey::Input).map(|_| WorkflowEvent::Input))
}

/// The end of a workflow, which repeats its last answer, and an answer that is put into a form.
fn is_end(event: Object<'_>) -> bool {
    let is_only = |key: WorkflowKey| matches!(unwrap_event(event).entries(), [only] if only.key == key.key());
    is_only(WorkflowKey::Result) || is_only(WorkflowKey::Structured)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let conversation = ConversationBuilder::from_parts(builder);
    let mut workflow = AgentWorkflow { conversation, told: FxHashMap::default(), is_begun: false, is_open: false };
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        workflow.conversation.builder.count_record();
        let event = node_object(*node);
        match event.and_then(|event| Some((event_kind(event)?, unwrap_event(event)))) {
            Some((kind, event)) => workflow.add_event(*node, event, kind),
            None if event.is_some_and(is_end) => {}
            None => {
                workflow.conversation.builder.skip_value(node, "an event of unknown kind is skipped: it may be a call")
            }
        }
    }
    let is_open = workflow.is_open;
    let builder = workflow.conversation.finish_run();
    if is_open {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

struct AgentWorkflow<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// How often each text stands among what was told so far. Each input repeats it all.
    told: FxHashMap<&'run str, usize>,
    is_begun: bool,
    /// An answer is streamed and has not come.
    is_open: bool,
}

impl<'run> AgentWorkflow<'_, 'run, '_> {
    fn add_event(&mut self, node: Node<'run>, event: Object<'run>, kind: WorkflowEvent) {
        match kind {
            WorkflowEvent::Stream => self.is_open = true,
            WorkflowEvent::Start => {
                // What the program asked with is a text, or a message.
                let asked = value_of(event, WorkflowKey::Asked);
                let held = asked.and_then(node_object).and_then(view_message).map(|listed| listed.contents);
                for words in held.unwrap_or_else(|| asked.into_iter().collect()) {
                    self.words_in(words).into_iter().for_each(|it| self.hear_words(it, Speaker::User, usize::MAX));
                }
            }
            WorkflowEvent::Input => self.add_input(event),
            WorkflowEvent::Output => self.add_output(node, event),
            WorkflowEvent::Call => self.add_call(node, event),
            WorkflowEvent::Result => {
                self.add_call(node, event);
                self.add_result(node, event);
            }
        }
    }

    /// What was said before the workflow began stands in its first input alone. Later ones repeat what the events tell, and add what others say.
    fn add_input(&mut self, event: Object<'run>) {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let mut here: FxHashMap<&'run str, usize> = FxHashMap::default();
        let list = list_of(event, WorkflowKey::Input).unwrap_or_default();
        for (node, message) in self.conversation.builder.record_objects(list) {
            let Some(listed) = view_message(message) else {
                self.conversation.builder.note_unknown(node.origin, "what is no message of the format is skipped");
                continue;
            };
            let speaker = Speaker::from_role(listed.role);
            let is_of_others = listed.result.is_none() && speaker != Speaker::Assistant;
            if !is_of_others {
                if is_first {
                    listed_messages::add_message(&mut self.conversation, node, listed, classify_block);
                }
                continue;
            }
            if listed.role.is_none() {
                self.conversation.builder.note_unknown(node.origin, UNKNOWN_ROLE);
            }
            for content in listed.contents {
                if let Some(words) = self.words_in(content) {
                    let count = here.entry(node_text(words).unwrap_or_default()).or_default();
                    *count += 1;
                    self.hear_words(words, speaker, *count);
                }
            }
        }
    }

    /// The texts of a message. What else others show is no text: pictures and files.
    fn words_in(&self, content: Node<'run>) -> Option<Node<'run>> {
        let arena = self.conversation.builder.arena;
        let Some(blocks) = node_list(content) else { return content::content_text(content, arena) };
        let texts =
            self.conversation.builder.known_objects(blocks).filter_map(|(node, block)| match classify_block(block) {
                ContentBlock::Says(words) => Some(words),
                ContentBlock::Silent => None,
                _ => {
                    self.conversation.builder.note_unknown(node.origin, blocks::UNKNOWN);
                    None
                }
            });
        content::join_texts(&texts.collect::<Vec<_>>(), arena)
    }

    /// Words of others that are there for the given time; what was told as often is no news. `MAX` where it is said now.
    fn hear_words(&mut self, words: Node<'run>, speaker: Speaker, count: usize) {
        let Some(text) = node_text(words) else { return };
        let known = self.told.entry(self.conversation.builder.arena.alloc_str(text)).or_default();
        if count > *known {
            *known += 1;
            self.conversation.add_message(speaker, words, &StepMeta::default(), words.origin);
        }
    }

    fn add_output(&mut self, node: Node<'run>, event: Object<'run>) {
        self.is_open = false;
        let message = object_of(event, WorkflowKey::Response).and_then(view_message);
        match message {
            Some(message) => {
                let role = Some(MessageRole::Assistant);
                let message = listed_messages::ListedMessage { role, ..message };
                listed_messages::add_message(&mut self.conversation, node, message, classify_block);
            }
            None => self.conversation.builder.skip_record(node.origin, "an answer without its message is skipped"),
        }
        for (at, call) in
            self.conversation.builder.record_objects(list_of(event, WorkflowKey::Calls).unwrap_or_default())
        {
            self.add_call(at, call);
        }
        // The program asks again where it could not read the answer.
        for retry in list_of(event, WorkflowKey::Retry).unwrap_or_default() {
            let listed = node_object(*retry).and_then(view_message);
            for words in listed.into_iter().flat_map(|listed| listed.contents) {
                self.words_in(words).into_iter().for_each(|it| self.hear_words(it, Speaker::System, usize::MAX));
            }
        }
    }

    /// The answer of the model, the call and its result all tell it.
    fn add_call(&mut self, node: Node<'run>, call: Object<'run>) {
        if text_of(call, WorkflowKey::Id).is_some_and(|id| self.conversation.find_call(id).is_some()) {
            return;
        }
        let [tool, args, id] = [WorkflowKey::Tool, WorkflowKey::Args, WorkflowKey::Id].map(|key| value_of(call, key));
        block_session::add_call(
            &mut self.conversation,
            node,
            BlockCall { tool, args, id, answer: None },
            &StepMeta::default(),
        );
    }

    fn add_result(&mut self, node: Node<'run>, event: Object<'run>) {
        let Some(gave) = object_of(event, WorkflowKey::Gave) else { return };
        let failed = is_true(&gave, &NodeShapes, WorkflowKey::Failed);
        let status = if failed { StepStatus::Failed } else { StepStatus::Ok };
        let result =
            value_of(gave, WorkflowKey::Content).or_else(|| value_of(gave, WorkflowKey::Blocks).map(only_text));
        let id = text_of(event, WorkflowKey::Id);
        let answer = BlockResult { id, result, is_value: true, failed, status: Some(status) };
        block_session::add_result(&mut self.conversation, node, &answer, None, &StepMeta::default());
    }
}
