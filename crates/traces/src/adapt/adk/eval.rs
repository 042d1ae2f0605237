//! Evaluations of Google ADK. An eval set (`eval_cases`) says what is expected: what users say in it was said to nobody, and its
//! `tool_uses` and `final_response` are what an agent should do and answer. None of that is a call or an answer. The results of an evaluation
//! (`eval_case_results`) hold what was done: the session, or the `actual_invocation` of each turn.

use super::{AdkEventKey, AdkPartKey, add_call, add_parts, add_result, read_session};
use crate::adapt::conversation::{ConversationBuilder, Speaker, StepMeta};
use crate::adapt::cutting::RunCutting;
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table, value_of};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{first_of, list_of, node_list, node_object, object_items, object_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use crate::error::PlacedError;
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run};

key_table! {
    EvalSetKey {
        Cases = "eval_cases" | "evalCases",
        Results = "eval_case_results" | "evalCaseResults",
        Case = "eval_id" | "evalId",
        Set = "eval_set_id" | "evalSetId",
        Conversation = "conversation",
        Turns = "eval_metric_result_per_invocation" | "evalMetricResultPerInvocation",
        Actual = "actual_invocation" | "actualInvocation",
        Session = "session_details" | "sessionDetails",
    }
}

key_table! {
    EvalTurnKey {
        Asked = "user_content" | "userContent",
        Answer = "final_response" | "finalResponse",
        Between = "intermediate_data" | "intermediateData",
        Uses = "tool_uses" | "toolUses",
        Responses = "tool_responses" | "toolResponses",
        Inner = "invocation_events" | "invocationEvents",
    }
}

/// Key of the expected conversation in `meta`.
const EXPECTED: &str = "expected";

pub(crate) const SET: TraceFormat = TraceFormat {
    name: "Google ADK eval set",
    known_by: "`eval_cases`, each with a `conversation` of `user_content` and `final_response`",
    description: "eval sets of Google ADK (`eval_cases`), a run each: what is expected, and no calls",
    marks: EvalSetKey::Cases.keys(),
    object: |object| {
        let cases = value_of(object, EvalSetKey::Cases).and_then(node_list);
        cases
            .is_some_and(|cases| object_items(cases).any(|(_, case)| list_of(case, EvalSetKey::Conversation).is_some()))
    },
    read: read_expected,
    runs: &[RunCutting {
        within: &[],
        way: &[EvalSetKey::Cases.keys()],
        by: &[],
        keeps: EvalSetKey::Set.keys(),
        joins: None,
    }],
    ..IN_FULL
};

pub(crate) const RESULTS: TraceFormat = TraceFormat {
    name: "Google ADK eval result",
    known_by: "`eval_case_results`, each with `session_details` or an `actual_invocation` for each turn",
    description: "results of evaluations of Google ADK (`eval_case_results`), a run each",
    marks: EvalSetKey::Results.keys(),
    object: |object| {
        let cases = value_of(object, EvalSetKey::Results).and_then(node_list);
        let tells = |case: Object<'_>| first_of(case, &[EvalSetKey::Turns, EvalSetKey::Session]).is_some();
        cases.is_some_and(|cases| object_items(cases).any(|(_, case)| tells(case)))
    },
    read: read_results,
    runs: &[RunCutting {
        within: &[],
        way: &[EvalSetKey::Results.keys()],
        by: &[],
        keeps: EvalSetKey::Set.keys(),
        joins: None,
    }],
    ..IN_FULL
};

/// The first case that an object holds: a run is cut to have one.
fn first_case<'run>(root: Node<'run>, key: EvalSetKey) -> Option<Object<'run>> {
    let cases = node_object(root).and_then(|set| value_of(set, key)).and_then(node_list)?;
    object_items(cases).next().map(|(_, case)| case)
}

fn case_id<'run>(case: Object<'run>) -> Option<Node<'run>> {
    value_of(case, EvalSetKey::Case).filter(|id| NodeShapes.has_shape(*id, ValueShape::Text))
}

fn read_expected<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let Some(case) = first_case(root, EvalSetKey::Cases) else { return Ok(()) };
    builder.set_some(of_run::ID, case_id(case));
    builder.add_warning(
        root.origin,
        "calls and answers count as not recorded: an eval set says what is expected, under `meta.expected`",
    );
    let conversation = case.field(EvalSetKey::Conversation);
    for (at, turn) in builder.record_objects(conversation.and_then(node_list).unwrap_or_default()) {
        builder.count_record();
        let asked = value_of(turn, EvalTurnKey::Asked).and_then(node_object);
        if asked.is_none() {
            builder.skip_value(at, "a turn without what was asked is skipped");
        }
        let parts = asked.and_then(|asked| list_of(asked, AdkPartKey::Parts)).unwrap_or_default();
        if let Some(words) = object_items(parts)
            .find_map(|(_, part)| part.field(AdkPartKey::Words))
            .filter(|_| !builder.has_entry(of_run::PROMPT))
        {
            builder.set_entry(of_run::PROMPT, words);
        }
    }
    if let Some(conversation) = conversation {
        let meta = builder.object_node(&[field_entry(EXPECTED, conversation)]);
        builder.set_entry(of_run::META, meta);
    }
    Ok(())
}

fn read_results<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let Some(case) = first_case(root, EvalSetKey::Results) else { return Ok(()) };
    let details = value_of(case, EvalSetKey::Session);
    let mut conversation = ConversationBuilder::from_parts(builder);
    match details.filter(|details| node_object(*details).is_some_and(super::holds_events)) {
        Some(details) => read_session(&mut conversation, details),
        None => {
            let turns = value_of(case, EvalSetKey::Turns).and_then(node_list).unwrap_or_default();
            for (at, judged) in conversation.builder.record_objects(turns) {
                conversation.builder.count_record();
                match value_of(judged, EvalSetKey::Actual).and_then(node_object) {
                    Some(actual) => add_turn(&mut conversation, actual),
                    None => conversation.builder.skip_value(at, "a turn without what was done is skipped"),
                }
            }
        }
    }
    // The case is what people look for; its session has an id of its own.
    if let Some(id) = case_id(case) {
        conversation.builder.set_entry(of_run::ID, id);
        // The cases of its eval set are told by their names.
        conversation.add_meta(of_meta::CASE, Some(id));
    }
    conversation.finish_run();
    Ok(())
}

fn add_turn<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, turn: Object<'run>) {
    let about = StepMeta::default();
    let content = |field: EvalTurnKey| value_of(turn, field).and_then(node_object);
    if let Some(asked) = content(EvalTurnKey::Asked) {
        add_parts(conversation, asked, Speaker::User, &about);
    }
    if let Some(between) = content(EvalTurnKey::Between) {
        add_intermediate(conversation, between, &about);
    }
    if let Some(answer) = content(EvalTurnKey::Answer) {
        add_parts(conversation, answer, Speaker::Assistant, &about);
    }
}

/// Between question and answer: lists of calls and results, or the events themselves.
fn add_intermediate<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    between: Object<'run>,
    about: &StepMeta<'run>,
) {
    let all = |field: EvalTurnKey| value_of(between, field).and_then(node_list).unwrap_or_default();
    for (_, event) in conversation.builder.record_objects(all(EvalTurnKey::Inner)) {
        if let Some(content) = object_of(event, AdkEventKey::Content) {
            let agent = event.field(AdkEventKey::Author).filter(|agent| NodeShapes.has_shape(*agent, ValueShape::Text));
            add_parts(conversation, content, Speaker::Assistant, &StepMeta { agent, ..*about });
        }
    }
    for (at, used) in conversation.builder.record_objects(all(EvalTurnKey::Uses)) {
        add_call(conversation, at, used, about);
    }
    for (at, given) in conversation.builder.record_objects(all(EvalTurnKey::Responses)) {
        add_result(conversation, at, given, about);
    }
}
