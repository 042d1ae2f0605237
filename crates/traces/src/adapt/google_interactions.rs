//! Google's Interactions API: interactions with the `steps` in which they went (`outputs` in earlier versions), and the events that stream them.

use super::adk::server_tools;
use super::api::cut_calls;
use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_of, text_of};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    InteractionKey {
        Object = "object",
        Steps = "steps" | "outputs",
        Input = "input",
        Id = "id",
        Previous = "previous_interaction_id",
        Model = "model",
        Status = "status",
        Usage = "usage",
        Error = "error" | "errors",
        Event = "event_type",
        Interaction = "interaction",
        Index = "index",
        Step = "step" | "content",
        Delta = "delta",
        Role = "role",
    }
}

key_table! {
    InteractionObject {
        Interaction = "interaction",
    }
}

key_table! {
    TurnRole {
        Model = "model",
    }
}

key_table! {
    InteractionStatus {
        Unfinished = "in_progress" | "incomplete" | "cancelled",
    }
}

key_table! {
    InteractionEvent {
        Begin = "step.start" | "content.start",
        Delta = "step.delta" | "content.delta",
        End = "step.stop" | "content.stop",
        /// How far the interaction is.
        State = "interaction.created" | "interaction.start" | "interaction.status_update" | "interaction.in_progress",
        Over = "interaction.completed" | "interaction.complete" | "interaction.requires_action",
        Failed = "error" | "interaction.failed",
    }
}

key_table! {
    InteractionStepKey {
        Type = "type",
        Content = "content",
        Summary = "summary",
        Id = "id",
        Name = "name",
        Arguments = "arguments",
        Call = "call_id",
        Result = "result",
        Failed = "is_error",
        Words = "text",
    }
}

key_table! {
    InteractionStepType {
        User = "user_input",
        Model = "model_output",
        Thought = "thought",
        Call = "function_call" | "mcp_server_tool_call",
        Result = "function_result" | "mcp_server_tool_result",
        /// Words of whoever the list is of.
        Words = "text",
        Media = "image" | "audio" | "video" | "document",
    }
}

key_table! {
    /// Pieces of a step.
    InteractionDelta {
        Words = "text",
        Arguments = "arguments_delta",
        Silent = "thought_signature" | "thought_summary" | "text_annotation_delta" | "text_annotation" | "image" | "video" | "audio",
    }
}

key_table! {
    InteractionUsageKey {
        Input = "total_input_tokens",
        Output = "total_output_tokens",
        Total = "total_tokens",
        Reasoning = "total_thought_tokens",
        Cached = "total_cached_tokens",
    }
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Google interactions",
    known_by: "an `object` that is `interaction`, or events with an `event_type` such as `step.start`",
    description: "interactions of Google's Interactions API (`steps`, earlier `outputs`), streamed events included",
    marks: &[InteractionKey::Object.key()],
    object: is_interaction,
    item_marks: &[InteractionKey::Object.key(), InteractionKey::Event.key()],
    element: |object| is_interaction(object) || event_of(object).is_some(),
    line: |object| is_interaction(object) || event_of(object).is_some(),
    alone: |object| is_interaction(object) && value_of(object, InteractionKey::Previous).is_none(),
    read: read_run,
    ..IN_FULL
};

fn is_interaction(object: Object<'_>) -> bool {
    text_of(object, InteractionKey::Object).and_then(InteractionObject::from_key).is_some()
        && text_of(object, InteractionKey::Status).is_some()
}

fn event_of(object: Object<'_>) -> Option<InteractionEvent> {
    text_of(object, InteractionKey::Event).and_then(InteractionEvent::from_key)
}

/// A step of which pieces arrive.
struct OpenStep<'run> {
    node: Node<'run>,
    index: Option<Node<'run>>,
    entries: Vec<ObjectEntry<'run>>,
    words: String,
    arguments: String,
}

struct InteractionReader<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    open: Vec<OpenStep<'run>>,
    is_over: bool,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut reader =
        InteractionReader { conversation: ConversationBuilder::from_parts(builder), open: Vec::new(), is_over: true };
    for node in items_of::<InteractionKey>(root, &[]) {
        reader.conversation.builder.count_record();
        match node_object(*node) {
            Some(object) if is_interaction(object) => reader.add_interaction(object),
            Some(event) if event_of(event).is_some() => reader.add_event(*node, event),
            _ => {
                reader.conversation.builder.skip_value(node, "what is no interaction and none of its events is skipped")
            }
        }
    }
    if !reader.open.is_empty() {
        let left = std::mem::take(&mut reader.open);
        left.iter().for_each(|step| reader.conversation.builder.note_unknown(step.node.origin, "a step breaks off"));
    }
    let is_over = reader.is_over;
    let builder = reader.conversation.finish_run();
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

impl<'a, 'run, 'limits> InteractionReader<'a, 'run, 'limits> {
    fn add_interaction(&mut self, interaction: Object<'run>) {
        match value_of(interaction, InteractionKey::Input) {
            Some(words) if node_text(words).is_some() => {
                self.conversation.add_message(Speaker::User, words, &StepMeta::default(), words.origin);
            }
            Some(input) => self.add_steps(Speaker::User, node_list(input).unwrap_or_default()),
            None => {}
        }
        self.conversation.begin_message();
        self.add_steps(Speaker::Assistant, list_of(interaction, InteractionKey::Steps).unwrap_or_default());
        self.end_interaction(interaction);
    }

    fn end_interaction(&mut self, interaction: Object<'run>) {
        let model = value_of(interaction, InteractionKey::Model);
        self.conversation.add_meta(of_meta::MODEL, model);
        self.conversation.builder.set_some(of_run::ERROR, value_of(interaction, InteractionKey::Error));
        let status = text_of(interaction, InteractionKey::Status).and_then(InteractionStatus::from_key);
        self.is_over = status.is_none();
        let Some(counts) = object_of(interaction, InteractionKey::Usage) else { return };
        let mut usage = TokenUsage::default();
        for (name, key) in [
            (of_usage::INPUT, InteractionUsageKey::Input),
            (of_usage::OUTPUT, InteractionUsageKey::Output),
            (of_usage::TOTAL, InteractionUsageKey::Total),
            (of_usage::REASONING, InteractionUsageKey::Reasoning),
            (of_usage::CACHE_READ, InteractionUsageKey::Cached),
        ] {
            usage.add_count(name, value_of(counts, key));
        }
        self.conversation.add_usage(&usage, model);
    }

    fn add_steps(&mut self, speaker: Speaker, steps: &'run [Node<'run>]) {
        for (node, step) in self.conversation.builder.record_objects(steps) {
            match value_of(step, InteractionKey::Role).and_then(node_text) {
                Some(role) => self.add_turn(node, role, step),
                None => self.add_step(speaker, node, step),
            }
        }
    }

    /// One of several turns that a model is given, each with steps or words.
    fn add_turn(&mut self, node: Node<'run>, role: &str, turn: Object<'run>) {
        let speaker = match TurnRole::from_key(role) {
            Some(TurnRole::Model) => Speaker::Assistant,
            None => Speaker::from_role(self.conversation.builder.role_of(node, Some(role))),
        };
        match value_of(turn, InteractionStepKey::Content) {
            Some(words) if node_text(words).is_some() => {
                self.conversation.add_message(speaker, words, &StepMeta::default(), node.origin);
            }
            Some(steps) => self.add_steps(speaker, node_list(steps).unwrap_or_default()),
            None => {}
        }
    }

    fn add_step(&mut self, speaker: Speaker, node: Node<'run>, step: Object<'run>) {
        let (meta, conversation) = (StepMeta::default(), &mut self.conversation);
        let word = text_of(step, InteractionStepKey::Type).unwrap_or_default();
        let told = |conversation: &mut ConversationBuilder<'a, 'run, 'limits>, speaker, key| {
            if let Some(content) = value_of(step, key) {
                conversation.builder.note_parts(content);
                conversation.add_text(speaker, content, &meta, node.origin);
            }
        };
        let named = || value_of(step, InteractionStepKey::Name);
        match (InteractionStepType::from_key(word), server_tools::step_tool(word)) {
            (Some(InteractionStepType::User), _) => told(conversation, Speaker::User, InteractionStepKey::Content),
            (Some(InteractionStepType::Model), _) => {
                told(conversation, Speaker::Assistant, InteractionStepKey::Content)
            }
            (Some(InteractionStepType::Thought), _) => {
                told(conversation, Speaker::Thinking, InteractionStepKey::Summary)
            }
            (Some(InteractionStepType::Words), _) => {
                let key = [InteractionStepKey::Content, InteractionStepKey::Words];
                let key = key.into_iter().find(|key| value_of(step, *key).is_some());
                key.into_iter().for_each(|key| told(conversation, speaker, key));
            }
            (Some(InteractionStepType::Media), _) => {}
            (Some(InteractionStepType::Call), _) => self.add_call(node, step, named()),
            (Some(InteractionStepType::Result), _) => self.add_result(node, step, named().and_then(node_text)),
            (None, Some((tool, true))) => self.add_call(node, step, Some(Node::computed(Value::plain_text(tool)))),
            (None, Some((tool, false))) => self.add_result(node, step, Some(tool)),
            (None, None) => {
                conversation.builder.skip_record(node.origin, format!("a step of unknown type `{word}` is skipped"))
            }
        }
    }

    fn add_call(&mut self, node: Node<'run>, step: Object<'run>, tool: Option<Node<'run>>) {
        let made = ToolCall {
            tool: tool.unwrap_or(Node::computed(Value::Null)),
            args: value_of(step, InteractionStepKey::Arguments),
            id: value_of(step, InteractionStepKey::Id),
            origin: node.origin,
        };
        self.conversation.add_call(made, &StepMeta::default());
    }

    fn add_result(&mut self, node: Node<'run>, step: Object<'run>, tool: Option<&'run str>) {
        let result = value_of(step, InteractionStepKey::Result);
        let failed = is_true(&step, &NodeShapes, InteractionStepKey::Failed);
        let status = if failed { StepStatus::Failed } else { StepStatus::Unknown };
        let error = result.filter(|_| failed);
        let outcome = CallResult { result, error, status: Some(status), ..CallResult::default() };
        let id = text_of(step, InteractionStepKey::Call);
        self.conversation.within_message(|conversation| {
            conversation.add_result(id, tool, outcome, &StepMeta::default(), node.origin);
        });
    }

    fn add_event(&mut self, node: Node<'run>, event: Object<'run>) {
        match event_of(event) {
            Some(InteractionEvent::Begin) => {
                let step = object_of(event, InteractionKey::Step);
                self.open.push(OpenStep {
                    node,
                    index: value_of(event, InteractionKey::Index),
                    entries: step.map(|step| step.entries().to_vec()).unwrap_or_default(),
                    words: String::new(),
                    arguments: String::new(),
                });
            }
            Some(InteractionEvent::Delta) => {
                let known = self.open_step(event).zip(object_of(event, InteractionKey::Delta));
                if !known.is_some_and(|(step, delta)| step.add_delta(delta)) {
                    self.conversation
                        .builder
                        .note_unknown(node.origin, "a piece of a step is of no known type: it may be of a call");
                }
            }
            Some(InteractionEvent::End) => {
                let Some(place) = self
                    .open_step(event)
                    .map(|step| step.node)
                    .and_then(|first| self.open.iter().position(|step| step.node.origin == first.origin))
                else {
                    return;
                };
                let step = self.open.remove(place);
                if !step.arguments.is_empty() && !cut_calls::is_whole(&step.arguments, self.conversation.builder.limits)
                {
                    return self.conversation.builder.note_unknown(node.origin, cut_calls::CUT_CALL);
                }
                let (node, whole) = step.whole_step(self.conversation.builder);
                self.add_step(Speaker::Assistant, node, whole);
            }
            Some(InteractionEvent::State) => {
                self.is_over = false;
                self.conversation.begin_message();
            }
            Some(InteractionEvent::Over) => {
                object_of(event, InteractionKey::Interaction).into_iter().for_each(|it| self.end_interaction(it));
            }
            Some(InteractionEvent::Failed) => {
                self.conversation.builder.set_some(of_run::ERROR, value_of(event, InteractionKey::Error));
            }
            None => {}
        }
    }

    fn open_step(&mut self, event: Object<'run>) -> Option<&mut OpenStep<'run>> {
        let index = value_of(event, InteractionKey::Index);
        let same = |step: &OpenStep<'run>| match (step.index, index) {
            (Some(known), Some(index)) => values_equal(&known.value, &index.value),
            (known, index) => known.is_none() && index.is_none(),
        };
        self.open.iter_mut().rev().find(|step| same(step))
    }
}

impl<'run> OpenStep<'run> {
    /// False for a piece that nobody knows. What a service's own tools were given and gave comes in one piece.
    fn add_delta(&mut self, delta: Object<'run>) -> bool {
        let word = text_of(delta, InteractionStepKey::Type).unwrap_or_default();
        let text = |key| text_of(delta, key);
        match InteractionDelta::from_key(word) {
            Some(InteractionDelta::Words) => {
                text(InteractionStepKey::Words).map(|text| self.words.push_str(text)).is_some()
            }
            Some(InteractionDelta::Arguments) => {
                text(InteractionStepKey::Arguments).map(|text| self.arguments.push_str(text)).is_some()
            }
            Some(InteractionDelta::Silent) => true,
            None => {
                let is_known = InteractionStepType::from_key(word).is_some() || server_tools::step_tool(word).is_some();
                self.entries.retain(|entry| delta.get(entry.key).is_none());
                self.entries.extend(delta.entries());
                is_known
            }
        }
    }

    fn whole_step(mut self, builder: &RunBuilder<'run, '_>) -> (Node<'run>, Object<'run>) {
        let text = |text: &str| Node::new(Value::plain_text(builder.arena.alloc_str(text)), self.node.origin);
        for (key, words) in
            [(InteractionStepKey::Content, &self.words), (InteractionStepKey::Arguments, &self.arguments)]
        {
            if !words.is_empty() {
                self.entries.retain(|entry| entry.key != key.key());
                self.entries.push(field_entry(key.key(), text(words)));
            }
        }
        (self.node, Object::new(builder.arena, builder.arena.alloc_slice_copy(&self.entries)))
    }
}
