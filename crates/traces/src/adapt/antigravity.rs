//! Antigravity: the transcript of a conversation (a step a line). A result names no call: those behind an answer belong to its calls where
//! there are as many.

use super::block_session::UserWords;
use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId, absent_node, field_entry};
use averment_base::value::json;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_meta, of_step};
use averment_runs::run::StepStatus;

key_table! {
    AntigravityKey {
        Index = "step_index",
        Source = "source",
        Type = "type",
        Status = "status",
        Time = "created_at",
        Content = "content",
        Words = "text",
        Thinking = "thinking",
        Calls = "tool_calls",
        Name = "name",
        Args = "args",
        Error = "error",
        Usage = "usage",
        Model = "model",
    }
}

key_table! {
    AntigravityStepType {
        User = "USER_INPUT",
        Answer = "PLANNER_RESPONSE",
        /// What the program writes down or tells the model: no action of it.
        Program = "CONVERSATION_HISTORY" | "EPHEMERAL_MESSAGE" | "CHECKPOINT" | "KNOWLEDGE_ARTIFACTS" | "SYSTEM_MESSAGE",
        /// What went wrong: of a call that has no other result this is the result.
        Error = "ERROR_MESSAGE",
        /// What tools gave: one for each call.
        Result = "GENERIC" | "RUN_COMMAND" | "COMMAND_STATUS" | "SEND_COMMAND_INPUT" | "LIST_DIRECTORY" | "VIEW_FILE"
            | "VIEW_FILE_OUTLINE" | "VIEW_CODE_ITEM" | "VIEW_CONTENT_CHUNK" | "GREP_SEARCH" | "FIND" | "CODEBASE_SEARCH"
            | "CODE_ACTION" | "WRITE_TO_FILE" | "SEARCH_WEB" | "READ_URL_CONTENT" | "MCP_TOOL" | "BROWSER_SUBAGENT"
            | "NOTIFY_USER" | "TASK_BOUNDARY" | "GENERATE_IMAGE" | "INVOKE_SUBAGENT" | "ASK_QUESTION",
    }
}

key_table! {
    AntigravityStatus {
        Failed = "ERROR" | "FAILED",
        Denied = "CANCELED" | "CANCELLED" | "REJECTED",
        /// It goes on in the background: the model was told so, and what it gives in the end is in a log of its own.
        Running = "RUNNING",
    }
}

key_table! {
    AntigravitySource {
        User = "USER_EXPLICIT" | "USER",
        Model = "MODEL",
    }
}

/// What an error says that is about a call, and not about an answer of the model.
const OF_CALL: &str = "tool call";

const WORDS: UserWords<'static> = UserWords { tags: &["USER_REQUEST"], are_last: false, untagged: Speaker::User };

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Antigravity transcript",
    known_by: "steps with `step_index` and a `type` such as `PLANNER_RESPONSE`",
    description: "transcripts of Antigravity (`transcript.jsonl`)",
    marks: &[AntigravityKey::Index.key()],
    item_marks: &[AntigravityKey::Index.key()],
    element: is_step,
    line: is_step,
    record_ids: RecordIds::updated(&[&[AntigravityKey::Index.key()]]),
    read: read_run,
    ..IN_FULL
};

fn step_type(step: Object<'_>) -> Option<AntigravityStepType> {
    text_of(step, AntigravityKey::Type).and_then(AntigravityStepType::from_key)
}

fn is_step(step: Object<'_>) -> bool {
    step.field(AntigravityKey::Index).is_some() && step_type(step).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut transcript =
        Transcript { conversation: ConversationBuilder::from_parts(builder), calls: Vec::new(), results: Vec::new() };
    for node in items_of::<AntigravityKey>(root, &[]) {
        transcript.conversation.builder.count_record();
        match node_object(*node).and_then(|step| Some((step, step_type(step)?))) {
            Some((step, kind)) => transcript.read_step(*node, step, kind),
            None => transcript.conversation.builder.skip_value(node, "a step of unknown type is skipped"),
        }
    }
    transcript.pair_results();
    transcript.conversation.finish_with_tools();
    Ok(())
}

struct Transcript<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// The calls of the last answer, and what came behind it.
    calls: Vec<StepId>,
    results: Vec<(Node<'run>, Object<'run>)>,
}

impl<'run> Transcript<'_, 'run, '_> {
    fn read_step(&mut self, node: Node<'run>, step: Object<'run>, kind: AntigravityStepType) {
        let meta = StepMeta { time: first_of(step, &[AntigravityKey::Time]), ..StepMeta::default() };
        let content = first_of(step, &[AntigravityKey::Content]);
        let words = content.and_then(|content| match node_object(content) {
            Some(content) => first_of(content, &[AntigravityKey::Words]),
            None => Some(content),
        });
        let source = text_of(step, AntigravityKey::Source).and_then(AntigravitySource::from_key);
        match kind {
            AntigravityStepType::User if source == Some(AntigravitySource::User) => {
                self.pair_results();
                words.into_iter().for_each(|words| WORDS.add_words(&mut self.conversation, words, &meta));
            }
            AntigravityStepType::User | AntigravityStepType::Program => {
                words
                    .into_iter()
                    .for_each(|words| self.conversation.add_message(Speaker::System, words, &meta, node.origin));
            }
            AntigravityStepType::Result => self.results.push((node, step)),
            AntigravityStepType::Error => {
                let words = words.or(first_of(step, &[AntigravityKey::Error]));
                let is_of_call = words.and_then(node_text).is_some_and(|words| words.contains(OF_CALL));
                if is_of_call && self.results.len() < self.calls.len() {
                    self.results.push((node, step));
                } else if let Some(words) = words {
                    self.conversation.add_message(Speaker::System, words, &meta, node.origin);
                }
            }
            AntigravityStepType::Answer => {
                self.pair_results();
                self.read_answer(node, step, words, &meta);
            }
        }
    }

    fn read_answer(&mut self, node: Node<'run>, step: Object<'run>, words: Option<Node<'run>>, meta: &StepMeta<'run>) {
        self.conversation.begin_turn();
        self.conversation.add_meta(of_meta::MODEL, step.field(AntigravityKey::Model));
        if let Some(thought) = step.field(AntigravityKey::Thinking) {
            self.conversation.add_message(Speaker::Thinking, thought, meta, node.origin);
        }
        words.into_iter().for_each(|words| self.conversation.add_message(Speaker::Assistant, words, meta, node.origin));
        for (at, call) in
            self.conversation.builder.record_objects(list_of(step, AntigravityKey::Calls).unwrap_or_default())
        {
            let tool = call.field(AntigravityKey::Name).unwrap_or(Node::computed(Value::Null));
            let args = call.field(AntigravityKey::Args).map(|args| self.plain_args(args));
            let made = ToolCall { tool, args, id: None, origin: at.origin };
            self.calls.extend(self.conversation.add_call(made, meta));
        }
        if let Some(counts) = object_of(step, AntigravityKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            self.conversation.usage.merge_usage(&usage);
        }
    }

    /// Each argument is written as JSON in a text: a text has quotes of its own. Numbers, `true` and `null` may be texts of a version
    /// that writes them plainly, unless another argument of the call has these quotes.
    fn plain_args(&self, args: Node<'run>) -> Node<'run> {
        let Some(object) = node_object(args) else { return args };
        let is_quoted = |text: &str| text.starts_with('"') && text.ends_with('"');
        let are_json = object.entries().iter().filter_map(|entry| node_text(entry.node)).any(is_quoted);
        let plain = |entry: &ObjectEntry<'run>| {
            let (Value::Text(text), Some(written)) = (entry.node.value, node_text(entry.node)) else { return *entry };
            let is_json = are_json || written.starts_with(['"', '[', '{']);
            let builder = &self.conversation.builder;
            let read = is_json
                .then(|| json::parse_text(text, entry.node.origin, builder.arena, builder.limits).ok())
                .flatten();
            field_entry(entry.key, read.map_or(entry.node, |document| document.node))
        };
        let entries: Vec<ObjectEntry<'run>> = object.entries().iter().map(plain).collect();
        Node::new(self.conversation.builder.object_node(&entries).value, args.origin)
    }

    fn pair_results(&mut self) {
        let (calls, results) = (std::mem::take(&mut self.calls), std::mem::take(&mut self.results));
        if results.len() > calls.len() {
            // More was done than the answer says.
            results.iter().for_each(|(node, _)| {
                self.conversation.builder.warn_skipped(node.origin, "a result that no call is waiting for is skipped");
            });
            self.conversation.builder.note_uncalled(None);
            return;
        }
        if results.len() < calls.len() {
            // Nobody knows whose these are.
            let builder = &mut *self.conversation.builder;
            calls.iter().for_each(|call| builder.add_field(*call, of_step::RESULT, absent_node()));
            return;
        }
        for (call, (_, step)) in calls.into_iter().zip(results) {
            let status = text_of(step, AntigravityKey::Status).and_then(AntigravityStatus::from_key);
            let error = first_of(step, &[AntigravityKey::Error]);
            let is_error = error.is_some() || step_type(step) == Some(AntigravityStepType::Error);
            let status = match status {
                _ if is_error => Some(StepStatus::Failed),
                Some(AntigravityStatus::Running) => None,
                Some(AntigravityStatus::Failed) => Some(StepStatus::Failed),
                Some(AntigravityStatus::Denied) => Some(StepStatus::Denied),
                None => Some(StepStatus::Ok),
            };
            let outcome = CallResult {
                result: first_of(step, &[AntigravityKey::Content]).or(error),
                error,
                status,
                ..CallResult::default()
            };
            let meta = StepMeta { time: first_of(step, &[AntigravityKey::Time]), ..StepMeta::default() };
            self.conversation.end_call(call, outcome, &meta);
        }
    }
}
