//! The command `llm`: its log as JSON (`llm logs --json`), a prompt and its answer in each row. The results of the calls of one row stand
//! in the next one of the conversation.

use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::cutting::RunCutting;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_list, node_object, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::spans::ways;
use super::{block_session, calls};
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    LlmLogKey {
        Row = "id",
        Conversation = "conversation_id",
        Time = "datetime_utc",
        Prompt = "prompt",
        System = "system",
        Response = "response",
        Model = "model",
        TokensIn = "input_tokens",
        TokensOut = "output_tokens",
        Tools = "tools",
        Calls = "tool_calls",
        Results = "tool_results",
        Name = "name",
        Args = "arguments",
        Id = "tool_call_id",
        Output = "output",
        Error = "exception",
    }
}

ways! {
    CONVERSATION = [["conversation_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "llm log",
    known_by: "`datetime_utc` and `conversation_id` beside `prompt` and `response`",
    description: "logs of the command `llm` (`llm logs --json`: a list, one a line)",
    marks: &[LlmLogKey::Time.key()],
    near: &[],
    object: is_row,
    item_marks: &[LlmLogKey::Time.key()],
    element: is_row,
    line: is_row,
    record_ids: RecordIds::unique(&[&[LlmLogKey::Row.key()]]),
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[], by: CONVERSATION, keeps: &[], joins: None }],
    ..IN_FULL
};

fn is_row(row: Object<'_>) -> bool {
    [LlmLogKey::Time, LlmLogKey::Conversation].into_iter().all(|key| text_of(row, key).is_some())
        && [LlmLogKey::Prompt, LlmLogKey::Response].into_iter().all(|key| row.field(key).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut rows: Vec<(Node<'run>, Object<'run>)> = Vec::new();
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        builder.count_record();
        match node_object(*node).filter(|row| is_row(*row)) {
            Some(row) => rows.push((*node, row)),
            None => builder.skip_value(node, "what is no row of the log is skipped"),
        }
    }
    rows.sort_by_key(|(_, row)| text_of(*row, LlmLogKey::Time).unwrap_or_default());
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, row) in rows {
        add_row(&mut conversation, node, row);
    }
    conversation.finish_run();
    Ok(())
}

fn add_row<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, row: Object<'run>) {
    let meta = StepMeta { time: value_of(row, LlmLogKey::Time), ..StepMeta::default() };
    conversation.builder.set_some(of_run::ID, value_of(row, LlmLogKey::Conversation));
    conversation.add_meta(of_meta::MODEL, value_of(row, LlmLogKey::Model));
    if let Some(tools) = list_of(row, LlmLogKey::Tools).filter(|tools| !tools.is_empty()) {
        let tools = calls::tool_list(conversation.builder, tools);
        conversation.builder.set_entry(of_run::TOOLS, tools);
    }
    for (speaker, key) in [(Speaker::System, LlmLogKey::System), (Speaker::User, LlmLogKey::Prompt)] {
        let said = value_of(row, key);
        said.into_iter().for_each(|words| conversation.add_content(speaker, words, &meta, node.origin));
    }
    for (at, given) in conversation.builder.record_objects(list_of(row, LlmLogKey::Results).unwrap_or_default()) {
        let error = value_of(given, LlmLogKey::Error);
        let answer = BlockResult {
            id: text_of(given, LlmLogKey::Id),
            result: error.or_else(|| value_of(given, LlmLogKey::Output)),
            is_value: true,
            failed: error.is_some(),
            status: Some(if error.is_some() { StepStatus::Failed } else { StepStatus::Ok }),
        };
        block_session::add_result(conversation, at, &answer, text_of(given, LlmLogKey::Name), &meta);
    }
    conversation.begin_turn();
    let said = value_of(row, LlmLogKey::Response);
    said.into_iter().for_each(|words| conversation.add_content(Speaker::Assistant, words, &meta, node.origin));
    for (at, call) in conversation.builder.record_objects(list_of(row, LlmLogKey::Calls).unwrap_or_default()) {
        let [tool, args, id] = [LlmLogKey::Name, LlmLogKey::Args, LlmLogKey::Id].map(|key| value_of(call, key));
        block_session::add_call(conversation, at, BlockCall { tool, args, id, answer: None }, &meta);
    }
    let mut usage = TokenUsage::default();
    usage.add_count(of_usage::INPUT, value_of(row, LlmLogKey::TokensIn));
    usage.add_count(of_usage::OUTPUT, value_of(row, LlmLogKey::TokensOut));
    conversation.add_usage(&usage, value_of(row, LlmLogKey::Model));
}
