//! n8n: executions of workflows with agents. What an agent uses are nodes of their own, whose tasks stand under their names; what the
//! workflow does besides is no call of the agent.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_list, node_object, node_text, object_of, objects_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashSet;

key_table! {
    N8nKey {
        Id = "id",
        Data = "data",
        Results = "resultData",
        Tasks = "runData",
        Status = "status",
        Error = "error",
        Why = "message",
        Start = "startTime",
        Took = "executionTime",
        TaskStatus = "executionStatus",
        Source = "source",
        Before = "previousNode",
        Given = "inputOverride",
        Json = "json",
        Asked = "chatInput",
        Output = "output",
        Response = "response",
        Generations = "generations",
        Text = "text",
        Tokens = "tokenUsage",
        Query = "query",
        Tool = "tool",
        Name = "name",
    }
}

key_table! {
    /// What the data of a task go to.
    N8nConnection {
        Main = "main",
        Tool = "ai_tool",
        Model = "ai_languageModel",
        Silent = "ai_memory" | "ai_outputParser" | "ai_retriever" | "ai_embedding" | "ai_vectorStore" | "ai_document"
            | "ai_textSplitter" | "ai_reranker",
    }
}

key_table! {
    N8nStatus {
        Ok = "success",
        Failed = "error" | "crashed",
        Open = "running" | "waiting" | "new",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "n8n execution",
    known_by: "`data` with a `resultData` whose `runData` hold the tasks of nodes",
    description: "executions of n8n's workflows with agents (`resultData.runData`)",
    marks: &[N8nKey::Data.key(), N8nKey::Results.key()],
    near: &[N8nKey::Results.key()],
    object: |object| tasks_of(object).is_some(),
    read: read_run,
    ..IN_FULL
};

fn results_of(execution: Object<'_>) -> Option<Object<'_>> {
    object_of(object_of(execution, N8nKey::Data).unwrap_or(execution), N8nKey::Results)
}

fn tasks_of(execution: Object<'_>) -> Option<Object<'_>> {
    let tasks = object_of(results_of(execution)?, N8nKey::Tasks)?;
    let is_task = |task: Object<'_>| task.field(N8nKey::Start).is_some();
    tasks
        .entries()
        .iter()
        .any(|node| objects_of(node_list(node.node).unwrap_or_default()).any(is_task))
        .then_some(tasks)
}

/// One task of a node.
#[derive(Clone, Copy)]
struct NodeTask<'run> {
    name: &'run str,
    node: Node<'run>,
    task: Object<'run>,
    start: f64,
}

impl<'run> NodeTask<'run> {
    /// The items under a connection, of what a task was given or gave.
    fn items(&self, side: N8nKey, to: N8nConnection) -> Option<Vec<Node<'run>>> {
        let outputs = list_of(object_of(self.task, side)?, to)?;
        let items = outputs.iter().filter_map(|output| node_list(*output)).flatten();
        Some(items.filter_map(|item| value_of(node_object(*item)?, N8nKey::Json)).collect())
    }

    fn first_json(&self, side: N8nKey, to: N8nConnection) -> Option<Object<'run>> {
        self.items(side, to)?.first().copied().and_then(node_object)
    }

    fn is_of(&self, to: N8nConnection) -> bool {
        [N8nKey::Data, N8nKey::Given].into_iter().any(|side| self.items(side, to).is_some())
    }

    fn time(&self) -> StepMeta<'run> {
        StepMeta { time: value_of(self.task, N8nKey::Start), ..StepMeta::default() }
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(execution) = node_object(root) else { return Ok(()) };
    let Some((results, nodes)) = results_of(execution).zip(tasks_of(execution)) else { return Ok(()) };
    let mut tasks = Vec::new();
    for entry in nodes.entries() {
        for (node, task) in builder.record_objects(node_list(entry.node).unwrap_or_default()) {
            builder.count_record();
            let Some(Value::Number(start)) = value_of(task, N8nKey::Start).map(|start| start.value) else {
                builder.skip_record(node.origin, "a task without its start is skipped: it may be a call");
                continue;
            };
            let start = start.to_f64();
            tasks.push(NodeTask { name: entry.key, node, task, start });
        }
    }
    tasks.sort_by(|a, b| a.start.total_cmp(&b.start));
    let has_agent = tasks.iter().any(|task| task.is_of(N8nConnection::Tool) || task.is_of(N8nConnection::Model));
    read_tasks(&tasks, builder);
    builder.set_some(of_run::ID, value_of(execution, N8nKey::Id).filter(|id| node_text(*id).is_some()));
    let error = object_of(results, N8nKey::Error).and_then(|error| value_of(error, N8nKey::Why));
    builder.set_some(of_run::ERROR, error);
    let status = text_of(execution, N8nKey::Status).and_then(N8nStatus::from_key);
    if status == Some(N8nStatus::Open) {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    if !has_agent {
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

fn read_tasks<'run>(tasks: &[NodeTask<'run>], builder: &mut RunBuilder<'run, '_>) {
    // Models and tools come from the agents that use them.
    let uses = |task: &NodeTask<'run>| task.is_of(N8nConnection::Tool) || task.is_of(N8nConnection::Model);
    let sources = tasks.iter().filter(|task| uses(task)).filter_map(|task| list_of(task.task, N8nKey::Source));
    let agents: FxHashSet<&str> =
        sources.flat_map(objects_of).filter_map(|source| text_of(source, N8nKey::Before)).collect();
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut counts_all = true;
    for task in tasks {
        note_unknown(&conversation, task);
        if task.is_of(N8nConnection::Tool) {
            add_call(&mut conversation, task);
        } else if task.is_of(N8nConnection::Model) {
            conversation.begin_turn();
            counts_all &= add_answer(&mut conversation, task);
        } else if list_of(task.task, N8nKey::Source).is_none_or(<[_]>::is_empty) {
            let asked = task.first_json(N8nKey::Data, N8nConnection::Main);
            if let Some(words) = asked.and_then(|asked| value_of(asked, N8nKey::Asked)) {
                conversation.add_message(Speaker::User, words, &task.time(), words.origin);
            }
        }
    }
    let of_agent = tasks.iter().rev().filter(|task| agents.contains(task.name) && !uses(task));
    let answer = of_agent.filter_map(|task| task.first_json(N8nKey::Data, N8nConnection::Main)).next();
    let answer = answer.and_then(|json| value_of(json, N8nKey::Output));
    if !counts_all {
        conversation.usage = TokenUsage::default();
    }
    let builder = conversation.finish_run();
    builder.set_some(of_run::OUTPUT, answer);
}

fn note_unknown<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, task: &NodeTask<'run>) {
    let sides = [N8nKey::Data, N8nKey::Given].into_iter().filter_map(|side| object_of(task.task, side));
    let known = |key: &str| N8nConnection::from_key(key).is_some();
    if sides.flat_map(|side| side.entries()).any(|entry| !known(entry.key)) {
        conversation
            .builder
            .note_unknown(task.node.origin, "a task for a connection of unknown kind: it may be a call");
    }
}

/// What a model said; true where it tells its tokens.
fn add_answer<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, task: &NodeTask<'run>) -> bool {
    let Some(json) = task.first_json(N8nKey::Data, N8nConnection::Model) else { return false };
    let response = object_of(json, N8nKey::Response).and_then(|response| list_of(response, N8nKey::Generations));
    let first = response.and_then(|lists| lists.first()).and_then(|list| node_list(*list)?.first());
    let words = first.and_then(|first| value_of(node_object(*first)?, N8nKey::Text));
    words.into_iter().for_each(|words| conversation.add_message(Speaker::Assistant, words, &task.time(), words.origin));
    let Some(counts) = object_of(json, N8nKey::Tokens) else { return false };
    let mut usage = TokenUsage::default();
    usage.add_usage(counts);
    conversation.add_usage(&usage, None);
    true
}

fn add_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, task: &NodeTask<'run>) {
    let given = task.items(N8nKey::Given, N8nConnection::Tool).and_then(|items| items.first().copied());
    let held = given.and_then(node_object);
    // A node that offers several tools is told which.
    let named = held
        .and_then(|held| value_of(held, N8nKey::Tool))
        .map(|tool| node_object(tool).and_then(|tool| value_of(tool, N8nKey::Name)).unwrap_or(tool));
    let named = named.filter(|name| node_text(*name).is_some());
    let tool = named.unwrap_or_else(|| Node::new(Value::plain_text(task.name), task.node.origin));
    let args = held.map(|held| {
        let rest = held.entries().iter().filter(|entry| named.is_none() || entry.key != N8nKey::Tool.key());
        match rest.copied().collect::<Vec<_>>().as_slice() {
            [only] if only.key == N8nKey::Query.key() && node_object(only.node).is_some() => only.node,
            rest => conversation.builder.object_node(rest),
        }
    });
    let gave = task.items(N8nKey::Data, N8nConnection::Tool).unwrap_or_default();
    let response =
        |json: &Node<'run>| node_object(*json).and_then(|held| value_of(held, N8nKey::Response)).unwrap_or(*json);
    let gave: Vec<_> = gave.iter().map(response).collect();
    let result = match gave.as_slice() {
        [] => None,
        [only] => Some(*only),
        several => Some(conversation.builder.list_node(several)),
    };
    let status = match text_of(task.task, N8nKey::TaskStatus).and_then(N8nStatus::from_key) {
        Some(N8nStatus::Ok) => StepStatus::Ok,
        Some(N8nStatus::Failed) => StepStatus::Failed,
        Some(N8nStatus::Open) => StepStatus::Pending,
        None => StepStatus::Unknown,
    };
    let error = object_of(task.task, N8nKey::Error).and_then(|error| value_of(error, N8nKey::Why));
    let about = task.time();
    let duration = value_of(task.task, N8nKey::Took);
    let outcome = CallResult { result, status: Some(status), error, duration, ..CallResult::default() };
    // The model goes on where all of its calls have ended.
    if let Some(step) = conversation.add_call(ToolCall { tool, args, id: None, origin: task.node.origin }, &about) {
        conversation.end_within(step, outcome, &StepMeta::default());
    }
}
