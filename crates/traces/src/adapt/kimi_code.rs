//! Kimi Code: the records of an agent (`wire.jsonl` of the newer program, a record a line). What the agent did stands in the events of its
//! loop; messages are appended to its context beside them.

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    KimiCodeKey {
        Type = "type",
        Time = "time",
        Input = "input",
        Origin = "origin",
        Kind = "kind",
        Message = "message",
        Event = "event",
        Part = "part",
        Words = "text",
        Thought = "think",
        Role = "role",
        Content = "content",
        Calls = "toolCalls",
        Call = "toolCallId",
        Id = "id",
        Name = "name",
        Function = "function",
        Args = "args" | "arguments",
        Result = "result",
        Output = "output",
        Failed = "isError" | "is_error",
        Usage = "usage",
        Model = "model",
        /// What a record of usage is about.
        Scope = "usageScope",
    }
}

key_table! {
    KimiCodeUsageKey {
        Input = "inputOther",
        Output = "output",
        Read = "inputCacheRead",
        Write = "inputCacheCreation",
    }
}

key_table! {
    KimiCodeRecord {
        Prompt = "turn.prompt" | "turn.steer",
        Message = "context.append_message",
        Event = "context.append_loop_event",
        Usage = "usage.record",
        Begin = "metadata",
        /// How the agent was set up, and what was taken out of its context: what was done stays done.
        Silent = "forked" | "turn.cancel" | "turn.ended" | "config.update" | "permission.set_mode" | "permission.record_approval_result"
            | "full_compaction.begin" | "full_compaction.cancel" | "full_compaction.complete" | "micro_compaction.apply"
            | "plan_mode.enter" | "plan_mode.cancel" | "plan_mode.exit" | "swarm_mode.enter" | "swarm_mode.exit"
            | "tools.register_user_tool" | "tools.unregister_user_tool" | "tools.set_active_tools" | "tools.update_store"
            | "context.clear" | "context.apply_compaction" | "context.undo" | "goal.create" | "goal.update" | "goal.clear"
            | "llm.tools_snapshot" | "llm.request" | "mcp.tools_discovered" | "profile.bind" | "plugin.session_start"
            | "runtime.set_binding" | "token_counting.measured" | "token_counting.turn_recorded",
    }
}

key_table! {
    KimiCodeEvent {
        Step = "step.begin",
        End = "step.end",
        Part = "content.part",
        Call = "tool.call",
        Result = "tool.result",
        /// Pieces of what comes whole behind them.
        Silent = "turn.interrupted" | "step.retrying" | "text.delta" | "thinking.delta" | "tool.call.delta" | "tool.progress",
    }
}

key_table! {
    KimiCodePart {
        Said = "text",
        Thought = "think",
        Silent = "image_url" | "audio_url" | "video_url",
    }
}

key_table! {
    KimiCodeOrigin {
        User = "user",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Kimi Code session",
    known_by: "records of type `context.append_loop_event`, `context.append_message` or `turn.prompt`",
    description: "sessions of Kimi Code (`wire.jsonl` of an agent)",
    marks: &[KimiCodeKey::Scope.key()],
    item_marks: &[KimiCodeKey::Type.key()],
    element: is_own,
    line: is_own,
    beside: |record| record_type(record).is_some(),
    record_ids: RecordIds::shared(&[&[KimiCodeKey::Time.key()]]),
    read: read_run,
    ..IN_FULL
};

fn record_type(record: Object<'_>) -> Option<KimiCodeRecord> {
    text_of(record, KimiCodeKey::Type).and_then(KimiCodeRecord::from_key)
}

fn is_own(record: Object<'_>) -> bool {
    match record_type(record) {
        Some(KimiCodeRecord::Event) => object_of(record, KimiCodeKey::Event).is_some(),
        Some(KimiCodeRecord::Message) => object_of(record, KimiCodeKey::Message).is_some(),
        Some(KimiCodeRecord::Prompt) => record.field(KimiCodeKey::Input).is_some(),
        Some(KimiCodeRecord::Usage) => object_of(record, KimiCodeKey::Usage).is_some(),
        _ => false,
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = items_of::<KimiCodeKey>(root, &[]);
    let has = |kind| object_items(items).any(|(_, record)| record_type(record) == Some(kind));
    let mut wire = KimiCodeWire {
        counts_apart: has(KimiCodeRecord::Usage),
        has_events: has(KimiCodeRecord::Event),
        has_prompts: has(KimiCodeRecord::Prompt),
        prompt: None,
        conversation: ConversationBuilder::from_parts(builder),
    };
    for node in items {
        wire.conversation.builder.count_record();
        let record = node_object(*node);
        match record.and_then(|record| Some((record, record_type(record)?))) {
            Some((record, kind)) => wire.read_record(*node, record, kind),
            None => wire.conversation.builder.skip_value(node, "a record of unknown type is skipped"),
        }
    }
    wire.conversation.finish_with_tools();
    Ok(())
}

struct KimiCodeWire<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// Usage has records of its own, which the events repeat.
    counts_apart: bool,
    has_events: bool,
    has_prompts: bool,
    /// What the last prompt says.
    prompt: Option<Node<'run>>,
}

impl<'run> KimiCodeWire<'_, 'run, '_> {
    fn read_record(&mut self, node: Node<'run>, record: Object<'run>, kind: KimiCodeRecord) {
        let time = value_of(record, KimiCodeKey::Time).and_then(instant_node);
        let meta = StepMeta { time, ..StepMeta::default() };
        match kind {
            KimiCodeRecord::Prompt => {
                self.prompt = value_of(record, KimiCodeKey::Input);
                if let Some(words) = self.prompt {
                    self.add_words(words, speaker_of(record), &meta);
                }
            }
            KimiCodeRecord::Message => match object_of(record, KimiCodeKey::Message) {
                Some(message) => self.read_message(node, message, &meta),
                None => self.conversation.builder.skip_record(node.origin, "a record without its message is skipped"),
            },
            KimiCodeRecord::Event => match object_of(record, KimiCodeKey::Event) {
                Some(event) => self.read_event(node, event, &meta),
                None => self.conversation.builder.skip_record(node.origin, "a record without its event is skipped"),
            },
            KimiCodeRecord::Usage => {
                self.conversation.add_meta(of_meta::MODEL, record.field(KimiCodeKey::Model));
                self.count_usage(record);
            }
            KimiCodeRecord::Begin | KimiCodeRecord::Silent => {}
        }
    }

    fn add_words(&mut self, words: Node<'run>, speaker: Speaker, meta: &StepMeta<'run>) {
        block_session::add_content(
            &mut self.conversation,
            words,
            speaker,
            &UserWords::PLAIN,
            meta,
            blocks::classify_block,
        );
    }

    /// Prompts and what the agent did are told by records of their own, which come first.
    fn read_message(&mut self, node: Node<'run>, message: Object<'run>, meta: &StepMeta<'run>) {
        let role = text_of(message, KimiCodeKey::Role).and_then(MessageRole::from_key);
        let content = value_of(message, KimiCodeKey::Content);
        match (role, content) {
            (Some(MessageRole::User), Some(words)) => {
                let is_told = self.has_prompts && value_of(message, KimiCodeKey::Origin).is_none_or(is_of_user);
                // What the program itself asks is a prompt, too.
                let is_prompt = self.prompt.take().is_some_and(|prompt| values_equal(&prompt.value, &words.value));
                if !is_told && !is_prompt {
                    self.add_words(words, speaker_of(message), meta);
                }
            }
            (Some(MessageRole::Assistant), words) if !self.has_events => {
                self.conversation.begin_turn();
                words.into_iter().for_each(|words| self.add_words(words, Speaker::Assistant, meta));
            }
            (Some(MessageRole::Result), Some(words)) if !self.has_events => {
                let answer = BlockResult {
                    id: text_of(message, KimiCodeKey::Call),
                    result: Some(words),
                    status: Some(StepStatus::Unknown),
                    ..BlockResult::default()
                };
                block_session::add_result(&mut self.conversation, node, &answer, None, meta);
            }
            (Some(MessageRole::Other), Some(words)) => self.add_words(words, Speaker::System, meta),
            (Some(_), _) => {}
            (None, _) => self.conversation.builder.skip_record(node.origin, super::unknown::UNKNOWN_ROLE),
        }
        for (at, call) in
            self.conversation.builder.record_objects(list_of(message, KimiCodeKey::Calls).unwrap_or_default())
        {
            let known = text_of(call, KimiCodeKey::Id).is_some_and(|id| self.conversation.find_call(id).is_some());
            if !known {
                self.add_call(at, call, value_of(call, KimiCodeKey::Id), meta);
            }
        }
    }

    fn read_event(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        match text_of(event, KimiCodeKey::Type).and_then(KimiCodeEvent::from_key) {
            Some(KimiCodeEvent::Step) => self.conversation.begin_turn(),
            Some(KimiCodeEvent::End) if !self.counts_apart => self.count_usage(event),
            Some(KimiCodeEvent::Part) => self.add_part(node, event, meta),
            Some(KimiCodeEvent::Call) => self.add_call(node, event, value_of(event, KimiCodeKey::Call), meta),
            Some(KimiCodeEvent::Result) => self.add_result(node, event, meta),
            Some(KimiCodeEvent::End | KimiCodeEvent::Silent) => {}
            None => self.conversation.builder.skip_record(node.origin, "an event of unknown type is skipped"),
        }
    }

    fn add_part(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let part = object_of(event, KimiCodeKey::Part);
        let kind = part.and_then(|part| text_of(part, KimiCodeKey::Type)).and_then(KimiCodePart::from_key);
        let of_part = |key| part.and_then(|part| value_of(part, key));
        let (speaker, words) = match kind {
            Some(KimiCodePart::Said) => (Speaker::Assistant, of_part(KimiCodeKey::Words)),
            Some(KimiCodePart::Thought) => (Speaker::Thinking, of_part(KimiCodeKey::Thought)),
            Some(KimiCodePart::Silent) => return,
            None => return self.conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
        };
        words.into_iter().for_each(|words| self.conversation.add_message(speaker, words, meta, node.origin));
    }

    fn add_call(&mut self, node: Node<'run>, call: Object<'run>, id: Option<Node<'run>>, meta: &StepMeta<'run>) {
        let function = object_of(call, KimiCodeKey::Function).unwrap_or(call);
        let made = BlockCall {
            tool: value_of(function, KimiCodeKey::Name),
            args: value_of(function, KimiCodeKey::Args),
            id,
            answer: None,
        };
        block_session::add_call(&mut self.conversation, node, made, meta);
    }

    fn add_result(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let told = value_of(event, KimiCodeKey::Result);
        let held = told.and_then(node_object);
        let output = held.and_then(|held| value_of(held, KimiCodeKey::Output)).or(told);
        let result = output.map(|output| content::of_blocks(output, self.conversation.builder.arena).unwrap_or(output));
        let failed = held.is_some_and(|held| is_true(&held, &NodeShapes, KimiCodeKey::Failed));
        let denied = failed && result.and_then(node_text).is_some_and(|words| words.contains("rejected by the user"));
        let status = match (denied, failed) {
            (true, _) => StepStatus::Denied,
            (_, true) => StepStatus::Failed,
            _ => StepStatus::Ok,
        };
        let id = text_of(event, KimiCodeKey::Call);
        let answer = BlockResult { id, result, is_value: true, status: Some(status), ..BlockResult::default() };
        block_session::add_result(&mut self.conversation, node, &answer, None, meta);
    }

    /// The input is without what comes from the cache and goes there.
    fn count_usage(&mut self, holder: Object<'run>) {
        let Some(counts) = object_of(holder, KimiCodeKey::Usage) else { return };
        let mut usage = TokenUsage::default();
        usage.add_count(of_usage::INPUT, counts.field(KimiCodeUsageKey::Input));
        usage.add_count(of_usage::OUTPUT, counts.field(KimiCodeUsageKey::Output));
        usage.add_count(of_usage::CACHE_READ, counts.field(KimiCodeUsageKey::Read));
        usage.add_count(of_usage::CACHE_WRITE, counts.field(KimiCodeUsageKey::Write));
        usage.count_cache_as_input();
        self.conversation.add_usage(&usage, holder.field(KimiCodeKey::Model));
    }
}

fn is_of_user(origin: Node<'_>) -> bool {
    let kind = node_object(origin).and_then(|origin| text_of(origin, KimiCodeKey::Kind));
    kind.and_then(KimiCodeOrigin::from_key).is_some()
}

/// The program writes in the user's name, too.
fn speaker_of(holder: Object<'_>) -> Speaker {
    let origin = value_of(holder, KimiCodeKey::Origin);
    if origin.is_none_or(is_of_user) { Speaker::User } else { Speaker::System }
}
