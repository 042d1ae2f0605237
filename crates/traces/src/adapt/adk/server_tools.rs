//! Tools that Google runs itself: code, searches, pages that are read. Code and some others stand among the parts of an answer; searches and
//! pages are told beside it.

use super::super::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall};
use super::super::fields::{key_table, value_of};
use super::super::nodes::{node_list, node_object, object_of, text_of};
use super::super::run_builder::field_entry;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::StepStatus;

key_table! {
    ServerPartKey {
        Code = "executable_code" | "executableCode",
        CodeResult = "code_execution_result" | "codeExecutionResult",
        Call = "tool_call" | "toolCall",
        Response = "tool_response" | "toolResponse",
    }
}

key_table! {
    ServerToolKey {
        Id = "id",
        Kind = "tool_type" | "toolType",
        Args = "args",
        Given = "response",
        Outcome = "outcome",
        Output = "output",
    }
}

key_table! {
    CodeOutcome {
        Ok = "OUTCOME_OK",
        Failed = "OUTCOME_FAILED" | "OUTCOME_DEADLINE_EXCEEDED",
    }
}

key_table! {
    GroundingKey {
        Searched = "grounding_metadata" | "groundingMetadata",
        Queries = "web_search_queries" | "webSearchQueries",
        Found = "grounding_chunks" | "groundingChunks",
        /// Kinds of what was found.
        OnWeb = "web",
        InFiles = "retrieved_context" | "retrievedContext",
        OnMaps = "maps",
        Read = "url_context_metadata" | "urlContextMetadata",
        Pages = "url_metadata" | "urlMetadata",
        Url = "retrieved_url" | "retrievedUrl",
    }
}

key_table! {
    /// The arguments of a search and of a reader, which are told beside the answer.
    ServerToolArgs {
        Queries = "queries",
        Urls = "urls",
    }
}

/// The names of these tools in requests.
const CODE: &str = "code_execution";
const SEARCH: &str = "google_search";
const FILES: &str = "file_search";
const MAPS: &str = "google_maps";
const READER: &str = "url_context";

key_table! {
    /// Steps of interactions in which such a tool was called, and told what it found.
    ServerStepType {
        Code = "code_execution_call" | "code_execution_result",
        Search = "google_search_call" | "google_search_result",
        Files = "file_search_call" | "file_search_result",
        Maps = "google_maps_call" | "google_maps_result",
        Pages = "url_context_call" | "url_context_result",
    }
}

/// The tool of a step, and whether the step is its call.
pub(in crate::adapt) fn step_tool(word: &str) -> Option<(&'static str, bool)> {
    let kind = ServerStepType::from_key(word)?;
    let tool = match kind {
        ServerStepType::Code => CODE,
        ServerStepType::Search => SEARCH,
        ServerStepType::Files => FILES,
        ServerStepType::Maps => MAPS,
        ServerStepType::Pages => READER,
    };
    Some((tool, kind.key() == word))
}

pub(in crate::adapt) fn is_server_key(key: &str) -> bool {
    ServerPartKey::from_key(key).is_some()
}

fn server_part(part: Object<'_>) -> Option<(ServerPartKey, Node<'_>, Object<'_>)> {
    part.entries()
        .iter()
        .find_map(|entry| Some((ServerPartKey::from_key(entry.key)?, entry.node, node_object(entry.node)?)))
}

/// Whether a part is the call or the result of a tool that Google runs.
pub(in crate::adapt) fn is_server_part(part: Object<'_>) -> bool {
    server_part(part).is_some()
}

/// Whether two parts hold the same of such a tool, or neither holds anything.
pub(in crate::adapt) fn is_same_part(a: Object<'_>, b: Object<'_>) -> bool {
    match (server_part(a), server_part(b)) {
        (Some((_, a, _)), Some((_, b, _))) => values_equal(&a.value, &b.value),
        (a, b) => a.is_none() && b.is_none(),
    }
}

pub(in crate::adapt) fn add_part<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    part: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let Some((kind, node, told)) = server_part(part) else { return };
    let (id, tool) = (value_of(told, ServerToolKey::Id), value_of(told, ServerToolKey::Kind));
    let code = Node::computed(Value::plain_text(CODE));
    let made = |tool, args| ToolCall { tool, args, id, origin: node.origin };
    match kind {
        ServerPartKey::Code => drop(conversation.add_call(made(code, Some(node)), meta)),
        ServerPartKey::Call => {
            let tool = tool.unwrap_or(Node::computed(Value::Null));
            conversation.add_call(made(tool, value_of(told, ServerToolKey::Args)), meta);
        }
        ServerPartKey::CodeResult => {
            let outcome = text_of(told, ServerToolKey::Outcome).and_then(CodeOutcome::from_key);
            let result = value_of(told, ServerToolKey::Output);
            let (error, status) = match outcome {
                Some(CodeOutcome::Ok) => (None, StepStatus::Ok),
                Some(CodeOutcome::Failed) => (result.or(Some(node)), StepStatus::Failed),
                None => (None, StepStatus::Unknown),
            };
            let outcome = CallResult { result, error, status: Some(status), ..CallResult::default() };
            let id = text_of(told, ServerToolKey::Id);
            conversation.within_message(|conversation| {
                conversation.add_result(id, Some(CODE), outcome, meta, node.origin);
            });
        }
        ServerPartKey::Response => {
            let result = value_of(told, ServerToolKey::Given);
            let outcome = CallResult { result, status: Some(StepStatus::Unknown), ..CallResult::default() };
            let tool = text_of(told, ServerToolKey::Kind);
            let id = text_of(told, ServerToolKey::Id);
            conversation.within_message(|conversation| {
                conversation.add_result(id, tool, outcome, meta, node.origin);
            });
        }
    }
}

/// The searches and the pages of an answer, of which no part tells.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::adapt) struct Grounding<'run> {
    searched: Option<Object<'run>>,
    read: Option<Object<'run>>,
}

impl<'run> Grounding<'run> {
    /// Each piece of a stream tells what came so far.
    pub(in crate::adapt) fn take_from(&mut self, holder: Object<'run>) {
        let has_some = |object: &Object<'run>, key| {
            value_of(*object, key).and_then(node_list).is_some_and(|items| !items.is_empty())
        };
        let searched = object_of(holder, GroundingKey::Searched)
            .filter(|it| has_some(it, GroundingKey::Queries) || has_some(it, GroundingKey::Found));
        let read = object_of(holder, GroundingKey::Read).filter(|it| has_some(it, GroundingKey::Pages));
        (self.searched, self.read) = (searched.or(self.searched), read.or(self.read));
    }

    pub(in crate::adapt) fn is_empty(&self) -> bool {
        self.searched.is_none() && self.read.is_none()
    }

    pub(in crate::adapt) fn add_calls(
        &self,
        conversation: &mut ConversationBuilder<'_, 'run, '_>,
        meta: &StepMeta<'run>,
    ) {
        let of_search = |key| self.searched.and_then(|it| value_of(it, key));
        let (queries, found) = (of_search(GroundingKey::Queries), of_search(GroundingKey::Found));
        let queries = queries.filter(|queries| node_list(*queries).is_some_and(|queries| !queries.is_empty()));
        let pages = self.read.and_then(|it| value_of(it, GroundingKey::Pages));
        let urls = pages.map(|pages| {
            let listed = node_list(pages).unwrap_or_default();
            let urls = listed.iter().filter_map(|page| value_of(node_object(*page)?, GroundingKey::Url));
            Node::new(conversation.builder.list_node(&urls.collect::<Vec<_>>()).value, pages.origin)
        });
        // Of what was found without a search of the web nobody says what was looked for.
        let is_of = |key| {
            let chunks = found.and_then(node_list).unwrap_or_default();
            queries.is_none()
                && chunks.iter().any(|chunk| node_object(*chunk).is_some_and(|it| value_of(it, key).is_some()))
        };
        let found_in = |key| found.filter(|_| is_of(key));
        for (tool, key, given, result) in [
            (SEARCH, ServerToolArgs::Queries.key(), queries, found),
            (SEARCH, "", None, found_in(GroundingKey::OnWeb)),
            (FILES, "", None, found_in(GroundingKey::InFiles)),
            (MAPS, "", None, found_in(GroundingKey::OnMaps)),
            (READER, ServerToolArgs::Urls.key(), urls, pages),
        ] {
            let Some(origin) = given.or(result.filter(|_| key.is_empty())).map(|node| node.origin) else { continue };
            let args = given.map(|given| conversation.builder.object_node(&[field_entry(key, given)]));
            let tool = Node::computed(Value::plain_text(tool));
            let call = conversation.add_call(ToolCall { tool, args, id: None, origin }, meta);
            let outcome = CallResult { result, status: Some(StepStatus::Unknown), ..CallResult::default() };
            call.into_iter().for_each(|call| {
                conversation.within_message(|conversation| conversation.end_call(call, outcome, meta))
            });
        }
    }
}
