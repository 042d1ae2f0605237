//! `CUSTOM` and `RAW`, in which programs pass on what they like. What integrations are known to pass on says nothing that no other event
//! says. Calls in it have to be told by other events, too; what nobody knows may be anything.

use super::super::agno;
use super::super::conversation::ConversationBuilder;
use super::super::fields::key_table;
use super::super::nodes::{node_object, object_items, object_of, text_of};
use averment_base::value::{Node, Object, Value};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    PassedKey {
        Name = "name",
        Value = "value",
        Event = "event",
        /// What a custom event of an integration says.
        Tool = "tool_name",
        Id = "id",
        Message = "message_id",
        Answered = "tool_call_id",
    }
}

key_table! {
    /// Lists of calls in the messages of LangChain.
    PassedCalls {
        Any = "tool_calls" | "tool_call_chunks",
    }
}

key_table! {
    PassedName {
        /// The state of the program in front, and how it grows while arguments are written (all integrations).
        State = "PredictState" | "manually_emit_state" | "copilotkit_manually_emit_intermediate_state"
            | "state_update_error",
        /// Somebody is asked: of the calls that wait, events tell (LangGraph, Mastra, CrewAI, Agent Framework).
        Asks = "on_interrupt" | "function_approval_request" | "request_info" | "WorkflowInterruptEvent"
            | "oauth_consent_request",
        /// What goes on in the program: connections, sessions, counts, hooks, the end.
        Program = "exit" | "Exit" | "copilotkit_exit" | "status" | "usage" | "adk_metadata" | "hook_error" | "AgentStopped"
            | "managed_agents.session" | "mcp_connection_started" | "mcp_connection_completed" | "mcp_connection_failed"
            | "mcp_config_fetch_failed",
        /// Says once more that the call before it failed (CrewAI).
        CallFailed = "mcp_tool_execution_failed",
        /// A call that its end tells of (CrewAI).
        CallBegins = "mcp_tool_execution_started",
        /// A call and a message that events tell beside it (LangGraph, CopilotKit).
        Call = "manually_emit_tool_call" | "copilotkit_manually_emit_tool_call",
        Message = "manually_emit_message" | "copilotkit_manually_emit_message",
    }
}

/// Lines of the program around the model (Claude Agent SDK): `system:init` and so on.
const OF_PROGRAM: &str = "system:";

key_table! {
    /// The events of LangChain, each of which LangGraph's integration passes on.
    PassedEvent {
        ToolBegins = "on_tool_start",
        Other = "on_tool_end" | "on_tool_error" | "on_chain_start" | "on_chain_stream" | "on_chain_end"
            | "on_chat_model_start" | "on_chat_model_stream" | "on_chat_model_end" | "on_llm_start" | "on_llm_stream"
            | "on_llm_end" | "on_retriever_start" | "on_retriever_end" | "on_prompt_start" | "on_prompt_end"
            | "on_parser_start" | "on_parser_stream" | "on_parser_end" | "on_custom_event",
    }
}

/// Messages do not stand deeper in the states of graphs.
const DEEP: usize = 16;

/// What other events have to tell.
#[derive(Debug, Clone, Copy)]
enum ExpectedPart<'run> {
    /// A call with this id.
    Call(&'run str),
    /// One call of this tool for each of these.
    ToolRun(&'run str),
    Message(&'run str),
}

/// What was passed on.
#[derive(Debug, Default)]
pub(super) struct PassedParts<'run>(Vec<(Node<'run>, ExpectedPart<'run>)>);

impl<'run> PassedParts<'run> {
    /// True where it is known.
    pub(super) fn note_custom(&mut self, node: Node<'run>, event: Object<'run>) -> bool {
        let Some(word) = text_of(event, PassedKey::Name) else { return false };
        let value = object_of(event, PassedKey::Value);
        let named = |key| value.and_then(|value| text_of(value, key));
        let part = match PassedName::from_key(word) {
            Some(PassedName::State | PassedName::Asks | PassedName::Program | PassedName::CallFailed) => return true,
            Some(PassedName::CallBegins) => named(PassedKey::Tool).map(ExpectedPart::ToolRun),
            Some(PassedName::Call) => named(PassedKey::Id).map(ExpectedPart::Call),
            Some(PassedName::Message) => named(PassedKey::Message).map(ExpectedPart::Message),
            None => return word.starts_with(OF_PROGRAM),
        };
        self.0.extend(part.map(|part| (node, part)));
        part.is_some()
    }

    /// See [`Self::note_custom`].
    pub(super) fn note_raw(&mut self, node: Node<'run>, event: Object<'run>) -> bool {
        let Some(payload) = object_of(event, PassedKey::Event) else { return false };
        let known = match text_of(payload, PassedKey::Event).and_then(PassedEvent::from_key) {
            Some(PassedEvent::ToolBegins) => text_of(payload, PassedKey::Name).map(ExpectedPart::ToolRun),
            Some(PassedEvent::Other) => None,
            None => return agno::tells_no_call(payload),
        };
        self.0.extend(known.map(|part| (node, part)));
        self.note_calls(node, payload);
        true
    }

    /// The calls in the messages of a payload, and those that are answered there.
    fn note_calls(&mut self, node: Node<'run>, payload: Object<'run>) {
        let mut open = vec![(payload, 0_usize)];
        while let Some((object, depth)) = open.pop() {
            let answered = text_of(object, PassedKey::Answered);
            self.0.extend(answered.map(|id| (node, ExpectedPart::Call(id))));
            for entry in object.entries() {
                let items = match &entry.node.value {
                    Value::List(items) => items,
                    Value::Object(_) => std::slice::from_ref(&entry.node),
                    _ => continue,
                };
                if PassedCalls::from_key(entry.key).is_some() {
                    let ids = object_items(items).filter_map(|(_, call)| text_of(call, PassedKey::Id));
                    self.0.extend(ids.filter(|id| !id.is_empty()).map(|id| (node, ExpectedPart::Call(id))));
                } else if depth < DEEP {
                    open.extend(items.iter().filter_map(|item| Some((node_object(*item)?, depth + 1))));
                }
            }
        }
    }

    /// What no other event told may have been more. Asked where all are read.
    pub(super) fn check_told(self, told: &FxHashSet<&'run str>, conversation: &ConversationBuilder<'_, 'run, '_>) {
        let mut left: FxHashMap<&str, usize> = FxHashMap::default();
        conversation.builder.called_tools().for_each(|tool| *left.entry(tool).or_default() += 1);
        for (node, part) in self.0 {
            let is_told = match part {
                ExpectedPart::Call(id) => conversation.find_call(id).is_some(),
                ExpectedPart::Message(id) => told.contains(id),
                ExpectedPart::ToolRun(tool) => left.get_mut(tool).is_some_and(|many| {
                    let is_left = *many > 0;
                    *many = many.saturating_sub(1);
                    is_left
                }),
            };
            if !is_told {
                conversation.builder.note_unknown(node.origin, "what a program passed on is told by no other event");
            }
        }
    }
}
