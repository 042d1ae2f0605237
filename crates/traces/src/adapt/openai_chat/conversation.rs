//! The messages of a conversation, one after the other.

use super::*;
use crate::adapt::executed_tools::ExecutedTool;
use crate::adapt::handovers;
use crate::adapt::messages::called_function;
use crate::adapt::nodes::node_text;
use crate::adapt::senders::SenderWord;
use averment_runs::normal::role;

const NAMELESS: &str = "a call without the name of its tool is skipped";

/// The caller says whether it records calls.
pub(in crate::adapt) fn read_conversation<'run>(messages: Vec<Node<'run>>, builder: &mut RunBuilder<'run, '_>) {
    builder.mark_recorded(&[StepKind::Message]);
    let names_agents = messages.iter().filter_map(|message| node_object(*message)).any(|it| agent_of(it).is_some());
    let mut reader = ChatConversation {
        builder,
        unanswered: PendingCalls::new(),
        turn: 0,
        prompt: None,
        output: None,
        agent: None,
        written: None,
    };
    for node in messages {
        reader.builder.count_record();
        match node.value {
            Value::Object(message) if text_of(message, ChatMessageKey::Role).is_some() => {
                if let Some(block) = blocks::unknown_in(message) {
                    reader.builder.skip_record(block.origin, blocks::UNKNOWN);
                }
                reader.read_message(node, message);
            }
            _ => reader.builder.skip_value(node, "a message without `role` is skipped"),
        }
    }
    let (turns, prompt, output) = (reader.turn, reader.prompt, reader.output);
    builder.set_entry(of_run::TURNS, count_node(turns));
    builder.set_some(of_run::PROMPT, prompt);
    builder.set_some(of_run::OUTPUT, output);
    if names_agents {
        builder.insert_derived(handovers::derive_handover);
    }
}

/// The agent that speaks, by its name: a word for a kind of speaker names none.
fn agent_of(message: Object<'_>) -> Option<Node<'_>> {
    let named = |sender: &Node<'_>| {
        node_text(*sender)
            .is_some_and(|name| !name.is_empty() && SenderWord::from_key(&name.to_ascii_lowercase()).is_none())
    };
    message
        .field(ChatMessageKey::Sender)
        .filter(named)
        .filter(|_| message_role(message) == Some(MessageRole::Assistant))
}

struct ChatConversation<'a, 'run, 'limits> {
    builder: &'a mut RunBuilder<'run, 'limits>,
    unanswered: PendingCalls<'run, StepId>,
    turn: usize,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
    /// Who speaks, by name.
    agent: Option<Node<'run>>,
    /// The last call that is a message of its own.
    written: Option<StepId>,
}

impl<'run> ChatConversation<'_, 'run, '_> {
    fn read_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let word = text_of(message, ChatMessageKey::Role);
        let role = word.and_then(MessageRole::from_key);
        if role.is_none() {
            match word.and_then(WrittenRole::from_key) {
                Some(WrittenRole::Call) => return self.add_written_call(node, message),
                Some(WrittenRole::Result) => return self.add_result(node, message),
                None => self.builder.note_unknown(node.origin, UNKNOWN_ROLE),
            }
        }
        let text = message
            .field(ChatMessageKey::Content)
            .and_then(|content| content::content_text(content, self.builder.arena));
        let is_said = |text: &Node<'run>| NodeShapes.has_shape(*text, ValueShape::Text);
        self.agent = agent_of(message);
        match role {
            Some(MessageRole::Assistant) => {
                self.turn += 1;
                self.add_executed(message);
                if let Some(text) = text.filter(is_said).or_else(|| messages::refusal_of(message)) {
                    self.output = Some(text);
                    self.add_speech(node, message, text, self.turn);
                }
                self.add_calls(message);
            }
            Some(MessageRole::Result) => self.add_result(node, message),
            Some(MessageRole::User | MessageRole::Other) | None => {
                let text = text.unwrap_or(Node::computed(Value::Null));
                let of_others = role == Some(MessageRole::User) && node_text(text).is_some_and(content::is_not_of_user);
                if of_others {
                    return self.add_words(node, Node::computed(Value::plain_text(role::SYSTEM)), text, self.turn + 1);
                }
                if role == Some(MessageRole::User) && self.prompt.is_none() && is_said(&text) {
                    self.prompt = Some(text);
                }
                self.add_speech(node, message, text, self.turn + 1);
            }
        }
    }

    fn add_speech(&mut self, node: Node<'run>, message: Object<'run>, text: Node<'run>, turn: usize) {
        let role = message.field(ChatMessageKey::Role).unwrap_or(text);
        self.add_words(node, role, text, turn);
    }

    fn add_words(&mut self, node: Node<'run>, role: Node<'run>, text: Node<'run>, turn: usize) {
        let mut fields = vec![
            field_entry(of_step::ROLE, role),
            field_entry(of_step::TEXT, text),
            field_entry(of_step::TURN, count_node(turn)),
        ];
        fields.extend(self.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        self.builder.add_step(StepKind::Message, fields, node.origin);
    }

    /// The provider ran these before it answered.
    fn add_executed(&mut self, message: Object<'run>) {
        for (node, tool) in self.builder.record_objects(executed_tools::executed_in(message)) {
            let ExecutedTool { tool, args, result } = executed_tools::executed_tool(tool);
            if !NodeShapes.is_text(tool) {
                self.builder.skip_value(node, NAMELESS);
                continue;
            }
            let args = args.map(|args| parse_arguments(self.builder, args));
            let mut fields = vec![
                field_entry(of_step::TOOL, tool),
                field_entry(of_step::TURN, count_node(self.turn)),
                field_entry(of_step::STATUS, absent_node()),
            ];
            let given = [(of_step::ARGS, args), (of_step::RESULT, result), (of_step::AGENT, self.agent)];
            fields.extend(given.into_iter().filter_map(|(key, node)| Some(field_entry(key, node?))));
            self.builder.add_step(StepKind::Call, fields, node.origin);
        }
    }

    fn add_calls(&mut self, message: Object<'run>) {
        for (node, call) in self.builder.record_objects(list_of(message, ChatMessageKey::Calls).unwrap_or_default()) {
            let function = called_function(call);
            self.add_call(node, function, call.field(ToolCallKey::Id));
        }
        if let Some((node, function)) =
            message.field(ChatMessageKey::Call).and_then(|node| Some((node, node_object(node)?)))
        {
            self.add_call(node, function, None);
        }
    }

    /// Calls with nothing between them are of one turn.
    fn add_written_call(&mut self, node: Node<'run>, message: Object<'run>) {
        let last = self.builder.last_step();
        self.turn += usize::from(last.is_none() || last != self.written);
        let words = message.field(ChatMessageKey::Content).map(|words| parse_arguments(self.builder, words));
        match words.and_then(node_object) {
            Some(function) => self.add_call(node, function, None),
            None => self.builder.skip_record(node.origin, "a call that is no JSON is skipped"),
        }
        self.written = self.builder.last_step();
    }

    fn add_call(&mut self, node: Node<'run>, function: Object<'run>, id: Option<Node<'run>>) {
        let Some((name, tool)) = function.field(ToolCallKey::Name).and_then(|name| Some((name, node_text(name)?)))
        else {
            self.builder.skip_value(node, NAMELESS);
            return;
        };
        let args = messages::call_arguments(&function).map(|args| parse_arguments(self.builder, args));
        let id = id.filter(|id| NodeShapes.is_text(*id));
        let mut fields = vec![
            field_entry(of_step::TOOL, name),
            field_entry(of_step::TURN, count_node(self.turn)),
            field_entry(of_step::STATUS, absent_node()),
        ];
        fields.extend(args.map(|args| field_entry(of_step::ARGS, args)));
        fields.extend(id.map(|id| field_entry(of_step::ID, id)));
        fields.extend(self.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        let step = self.builder.add_step(StepKind::Call, fields, node.origin);
        self.unanswered.push_call(id.and_then(node_text), tool, self.turn, step);
    }

    fn add_result(&mut self, node: Node<'run>, message: Object<'run>) {
        let content = message.field(ChatMessageKey::Content);
        let printed = content
            .and_then(|content| printed_messages::parse_printed(content, self.builder.arena, self.builder.limits));
        let id = text_of(message, ChatMessageKey::Answers).or(printed.and_then(|printed| node_text(printed.id)));
        let tool = messages::answered_tool(&message, &NodeShapes)
            .and_then(node_text)
            .or(printed.and_then(|printed| printed.tool));
        let Some(call) = self.unanswered.take_answered(id, tool) else {
            self.builder.add_warning(node.origin, "a result that no call is waiting for is skipped");
            self.builder.note_uncalled(id);
            return;
        };
        if let Some(content) = content {
            let result = || content::content_text(content, self.builder.arena).unwrap_or(content);
            let result = printed.map_or_else(result, |printed| printed.result);
            self.builder.add_field(call, of_step::RESULT, result);
        }
        if let Some(status) = printed.and_then(|printed| printed.status?.as_str()) {
            self.builder.set_field(call, of_step::STATUS, Node::computed(Value::plain_text(status)));
        }
        // Some write how it ended all the same.
        if let Some(status) = message.field(ChatMessageKey::Status).filter(|status| NodeShapes.is_text(*status)) {
            self.builder.set_field(call, of_step::STATUS, status);
        }
    }
}
