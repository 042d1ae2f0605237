//! Calls that a rollout has in its events alone: commands, tools of servers, patches.

use super::{CodexEventType, CodexSession};
use crate::adapt::api::responses::ItemKey;
use crate::adapt::content;
use crate::adapt::conversation::{CallResult, StepMeta, ToolCall, integer_node};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table};
use crate::adapt::nodes::{first_of, node_object, node_text, object_items, object_of, text_of};
use crate::adapt::run_builder::{StepId, field_entry};
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    CodexCallKey {
        Id = "call_id" | "callId",
        Command = "command",
        Folder = "cwd",
        Changes = "changes",
        Invocation = "invocation",
        Server = "server",
        Tool = "tool",
        Arguments = "arguments",
        Output = "aggregated_output",
        Formatted = "formatted_output",
        Printed = "stdout",
        Complaints = "stderr",
        ExitCode = "exit_code",
        Status = "status",
        Success = "success",
        Result = "result",
        Went = "Ok",
        Error = "Err",
        /// Of a tool of the program that holds Codex: why it failed.
        Why = "error",
        Content = "content" | "content_items",
        Failed = "isError",
        Duration = "duration",
        Seconds = "secs",
        Nanoseconds = "nanos",
    }
}

/// Tool names that items use for commands and patches.
const SHELL: &str = "shell";
const PATCH: &str = "apply_patch";

impl<'run> CodexSession<'_, 'run, '_> {
    /// Skips calls that items already hold.
    pub(super) fn read_call_event(
        &mut self,
        kind: CodexEventType,
        node: Node<'run>,
        event: Object<'run>,
        meta: &StepMeta<'run>,
    ) {
        let id = text_of(event, CodexCallKey::Id);
        if id.is_some_and(|id| self.in_items.contains(id)) {
            if kind == CodexEventType::McpEnd {
                self.end_item_call(id, event);
            }
            return;
        }
        let over = matches!(
            kind,
            CodexEventType::CommandEnd | CodexEventType::McpEnd | CodexEventType::PatchEnd | CodexEventType::DynamicEnd
        );
        if id.is_none_or(|id| self.begun.insert(id)) {
            // What is only seen when it is over has started before that.
            let started = if over { StepMeta::default() } else { *meta };
            self.begin_call(kind, node, event, &started);
        }
        if !over {
            return;
        }
        let outcome = match kind {
            CodexEventType::McpEnd => self.of_server(event),
            CodexEventType::DynamicEnd => {
                let parts = first_of(event, &[CodexCallKey::Content]);
                let words = parts.and_then(|parts| self.words_of(parts)).or(parts);
                let error = text_of(event, CodexCallKey::Why).and_then(|_| first_of(event, &[CodexCallKey::Why]));
                let is_empty = |words: &Node<'run>| matches!(words.value, Value::List([]));
                let result = words.filter(|words| error.is_none() || !is_empty(words)).or(error);
                CallResult { result, error, ..of_program(event) }
            }
            _ => of_program(event),
        };
        let outcome = CallResult { duration: event_duration(event), ..outcome };
        if let Some(call) = self.conversation.add_result(id, None, outcome, meta, node.origin)
            && kind == CodexEventType::PatchEnd
        {
            self.add_changes(call, node);
        }
    }

    /// A server call in its own item; its result is in the event.
    pub(super) fn add_server_call(&mut self, node: Node<'run>, item: Object<'run>, meta: &StepMeta<'run>) {
        if text_of(item, CodexCallKey::Id).is_none_or(|id| self.begun.insert(id)) {
            let tool = self.invoked_tool(item);
            let (args, id) = (item.field(CodexCallKey::Arguments), item.field(CodexCallKey::Id));
            self.conversation.add_call(ToolCall { tool, args, id, origin: node.origin }, meta);
        }
    }

    fn invoked_tool(&self, invocation: Object<'run>) -> Node<'run> {
        let tool = invocation.field(CodexCallKey::Tool).unwrap_or(Node::computed(Value::Null));
        match text_of(invocation, CodexCallKey::Server) {
            Some(server) => self.tool_of_server(tool, &format!("mcp__{server}")),
            None => tool,
        }
    }

    /// A tool as the model calls it, whose names have letters, digits, and these two signs.
    pub(super) fn tool_of_server(&self, tool: Node<'run>, server: &str) -> Node<'run> {
        let Some(name) = node_text(tool).filter(|name| !name.is_empty() && !name.starts_with("mcp__")) else {
            return tool;
        };
        let whole = format!("{}__{name}", server.trim_end_matches('_'));
        let whole = whole.replace(|letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter), "_");
        Node::new(Value::plain_text(self.conversation.builder.arena.alloc_str(&whole)), tool.origin)
    }

    /// The item holds the result, but not how the call ended.
    fn end_item_call(&mut self, id: Option<&str>, event: Object<'run>) {
        let outcome = self.of_server(event);
        let Some(call) = id.and_then(|id| self.conversation.find_call(id)) else { return };
        let failed = outcome.error.map(|_| StepStatus::Failed);
        if let Some(status) = outcome.status.or(failed) {
            self.conversation.set_status(call, status);
            let error = outcome.error.or(outcome.result).filter(|_| status != StepStatus::Ok);
            error.into_iter().for_each(|error| self.conversation.builder.set_field(call, of_step::ERROR, error));
        }
    }

    fn begin_call(&mut self, kind: CodexEventType, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let entries = |fields: &[CodexCallKey]| -> Vec<ObjectEntry<'run>> {
            let known = |of: &CodexCallKey| Some(ObjectEntry { key: of.key(), node: first_of(event, &[*of])? });
            fields.iter().filter_map(known).collect()
        };
        let builder = &*self.conversation.builder;
        let (tool, args) = match kind {
            CodexEventType::McpBegin | CodexEventType::McpEnd => {
                let invocation = object_of(event, CodexCallKey::Invocation);
                let args = invocation.and_then(|invocation| invocation.field(CodexCallKey::Arguments));
                (self.invoked_tool(invocation.unwrap_or(event)), args)
            }
            CodexEventType::DynamicBegin | CodexEventType::DynamicEnd => {
                let tool = event.field(CodexCallKey::Tool).unwrap_or(Node::computed(Value::Null));
                (tool, event.field(CodexCallKey::Arguments))
            }
            CodexEventType::PatchBegin | CodexEventType::PatchEnd => (
                Node::computed(Value::plain_text(PATCH)),
                Some(builder.object_node(&entries(&[CodexCallKey::Changes]))),
            ),
            _ => {
                let args = builder.object_node(&entries(&[CodexCallKey::Command, CodexCallKey::Folder]));
                (Node::computed(Value::plain_text(SHELL)), Some(args))
            }
        };
        self.conversation
            .add_call(ToolCall { tool, args, id: event.field(CodexCallKey::Id), origin: node.origin }, meta);
    }

    /// `Ok` with a protocol result, or `Err`.
    fn of_server(&self, event: Object<'run>) -> CallResult<'run> {
        let Some(result) = object_of(event, CodexCallKey::Result) else { return CallResult::default() };
        if let Some(error) = first_of(result, &[CodexCallKey::Error]) {
            let status = super::is_refusal(error).then_some(StepStatus::Denied);
            return CallResult { error: Some(error), status, ..CallResult::default() };
        }
        let Some(went) = first_of(result, &[CodexCallKey::Went]) else { return CallResult::default() };
        let inside = node_object(went);
        let failed = inside.is_some_and(|inside| is_true(&inside, &NodeShapes, CodexCallKey::Failed));
        let words = inside.and_then(|inside| first_of(inside, &[CodexCallKey::Content]));
        let words = words.and_then(|words| self.words_of(words));
        let status = if failed { StepStatus::Failed } else { StepStatus::Ok };
        CallResult { result: Some(words.unwrap_or(went)), status: Some(status), ..CallResult::default() }
    }

    /// The texts of what a tool gave, whatever their type is called.
    fn words_of(&self, given: Node<'run>) -> Option<Node<'run>> {
        let parts = super::super::nodes::node_list(given)?;
        let texts: Vec<Node<'run>> = object_items(parts).filter_map(|(_, part)| part.field(ItemKey::Words)).collect();
        content::join_texts(&texts, self.conversation.builder.arena)
    }

    fn add_changes(&mut self, call: StepId, node: Node<'run>) {
        let builder = &mut *self.conversation.builder;
        let word = |key| builder.step_field(call, key);
        let (Some(args), status) = (word(of_step::ARGS).and_then(node_object), word(of_step::STATUS)) else { return };
        let changes = object_of(args, CodexCallKey::Changes).map_or(&[][..], |changes| changes.entries());
        let known = [of_step::TURN, of_step::START, of_step::END, of_step::ID];
        let known: Vec<_> = known.into_iter().filter_map(|key| Some(field_entry(key, word(key)?))).collect();
        for change in changes {
            let path = Node::new(Value::plain_text(change.key), change.node.origin);
            let mut fields = vec![field_entry(of_step::PATH, path)];
            fields.extend(known.iter().copied());
            fields.extend(status.map(|status| field_entry(of_step::STATUS, status)));
            builder.add_step(StepKind::Write, fields, node.origin);
        }
    }
}

fn of_program<'run>(event: Object<'run>) -> CallResult<'run> {
    let written =
        |of: &CodexCallKey| first_of(event, &[*of]).filter(|text| NodeShapes.has_shape(*text, ValueShape::Text));
    let result = [CodexCallKey::Output, CodexCallKey::Formatted, CodexCallKey::Printed, CodexCallKey::Complaints]
        .iter()
        .find_map(written);
    let result = result.or(first_of(event, &[CodexCallKey::Printed]));
    let word = text_of(event, CodexCallKey::Status)
        .and_then(StepStatus::from_word)
        .filter(|status| *status != StepStatus::Unknown);
    let status = word.or(match event.field(CodexCallKey::Success).map(|success| success.value) {
        Some(Value::Boolean(true)) => Some(StepStatus::Ok),
        Some(Value::Boolean(false)) => Some(StepStatus::Failed),
        _ => None,
    });
    let exit_code =
        first_of(event, &[CodexCallKey::ExitCode]).filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
    CallResult { result, status, exit_code, ..CallResult::default() }
}

/// Seconds and nanoseconds, converted to milliseconds.
fn event_duration<'run>(event: Object<'run>) -> Option<Node<'run>> {
    let parts = object_of(event, CodexCallKey::Duration)?;
    let part = |of| match parts.field(of)?.value {
        Value::Number(Number::Integer(number)) => Some(number),
        Value::Number(number) => number.as_i64(),
        _ => None,
    };
    let (seconds, nanoseconds) = (part(CodexCallKey::Seconds)?, part(CodexCallKey::Nanoseconds)?);
    let milliseconds = seconds.checked_mul(1000)?.checked_add(nanoseconds / 1_000_000)?;
    Some(integer_node(milliseconds, averment_base::value::TextOrigin::COMPUTED))
}
