//! Evaluations of Google ADK. An eval set (`eval_cases`) says what is expected: what users say in it was said to nobody, and its
//! `tool_uses` and `final_response` are what an agent should do and answer. None of that is a call or an answer. The results of an evaluation
//! (`eval_case_results`) hold what was done: the session, or the `actual_invocation` of each turn.

use super::{AdkEventKey, AdkPartKey, add_call, add_parts, add_result, read_session};
use crate::adapt::conversation::{ConversationBuilder, Speaker, StepMeta};
use crate::adapt::cutting::RunCutting;
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, fields};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use crate::adapt::{IN_FULL, TraceFormat, first_of, list_of, node_list, node_object, object_items, object_of};
use crate::error::PlacedError;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;

fields! {
    EvalSetKey {
        Cases = "eval_cases" => Shape,
        CasesToo = "evalCases" => Shape,
        Results = "eval_case_results" => Shape,
        ResultsToo = "evalCaseResults" => Shape,
        Case = "eval_id" => Run(of_run::ID),
        CaseToo = "evalId" => Run(of_run::ID),
        Set = "eval_set_id" => Shape,
        SetToo = "evalSetId" => Shape,
        Conversation = "conversation" => Shape,
        Turns = "eval_metric_result_per_invocation" => Shape,
        TurnsToo = "evalMetricResultPerInvocation" => Shape,
        Actual = "actual_invocation" => Shape,
        ActualToo = "actualInvocation" => Shape,
        Session = "session_details" => Shape,
        SessionToo = "sessionDetails" => Shape,
    }
}

fields! {
    EvalTurnKey {
        Asked = "user_content" => Shape,
        AskedToo = "userContent" => Shape,
        Answer = "final_response" => Shape,
        AnswerToo = "finalResponse" => Shape,
        Between = "intermediate_data" => Shape,
        BetweenToo = "intermediateData" => Shape,
        Uses = "tool_uses" => Shape,
        UsesToo = "toolUses" => Shape,
        Responses = "tool_responses" => Shape,
        ResponsesToo = "toolResponses" => Shape,
        Inner = "invocation_events" => Shape,
        InnerToo = "invocationEvents" => Shape,
    }
}

/// Key of the expected conversation in `meta`.
const EXPECTED: &str = "expected";

pub(crate) const SET: TraceFormat = TraceFormat {
    name: "Google ADK eval set",
    known_by: "`eval_cases`, each with a `conversation` of `user_content` and `final_response`",
    description: "eval sets of Google ADK (`eval_cases`), a run each: what is expected, and no calls",
    marks: &[EvalSetKey::Cases.key(), EvalSetKey::CasesToo.key()],
    object: |object| {
        let cases = first_of(object, &[EvalSetKey::Cases, EvalSetKey::CasesToo]).and_then(node_list);
        cases
            .is_some_and(|cases| object_items(cases).any(|(_, case)| list_of(case, EvalSetKey::Conversation).is_some()))
    },
    read: read_expected,
    runs: &[RunCutting {
        within: &[],
        way: &[&[EvalSetKey::Cases.key(), EvalSetKey::CasesToo.key()]],
        by: &[],
        keeps: &[EvalSetKey::Set.key(), EvalSetKey::SetToo.key()],
    }],
    ..IN_FULL
};

pub(crate) const RESULTS: TraceFormat = TraceFormat {
    name: "Google ADK eval result",
    known_by: "`eval_case_results`, each with `session_details` or an `actual_invocation` for each turn",
    description: "results of evaluations of Google ADK (`eval_case_results`), a run each",
    marks: &[EvalSetKey::Results.key(), EvalSetKey::ResultsToo.key()],
    object: |object| {
        let cases = first_of(object, &[EvalSetKey::Results, EvalSetKey::ResultsToo]).and_then(node_list);
        let tells = |case: Object<'_>| {
            first_of(case, &[EvalSetKey::Turns, EvalSetKey::TurnsToo, EvalSetKey::Session, EvalSetKey::SessionToo])
                .is_some()
        };
        cases.is_some_and(|cases| object_items(cases).any(|(_, case)| tells(case)))
    },
    read: read_results,
    runs: &[RunCutting {
        within: &[],
        way: &[&[EvalSetKey::Results.key(), EvalSetKey::ResultsToo.key()]],
        by: &[],
        keeps: &[EvalSetKey::Set.key(), EvalSetKey::SetToo.key()],
    }],
    ..IN_FULL
};

/// The first case under one of these keys: runs are cut to have one.
fn first_case<'run>(root: Node<'run>, keys: &[EvalSetKey]) -> Option<Object<'run>> {
    let cases = node_object(root).and_then(|set| first_of(set, keys)).and_then(node_list)?;
    object_items(cases).next().map(|(_, case)| case)
}

fn case_id<'run>(case: Object<'run>) -> Option<Node<'run>> {
    first_of(case, &[EvalSetKey::Case, EvalSetKey::CaseToo]).filter(|id| NodeShapes.has_shape(*id, ValueShape::Text))
}

fn read_expected<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let Some(case) = first_case(root, &[EvalSetKey::Cases, EvalSetKey::CasesToo]) else { return Ok(()) };
    draft.set_some(of_run::ID, case_id(case));
    draft.add_warning(
        root.origin,
        "calls and answers count as not recorded: an eval set says what is expected, under `meta.expected`",
    );
    let conversation = case.field(EvalSetKey::Conversation);
    for (at, turn) in draft.record_objects(conversation.and_then(node_list).unwrap_or_default()) {
        draft.count_record();
        let asked = first_of(turn, &[EvalTurnKey::Asked, EvalTurnKey::AskedToo]).and_then(node_object);
        if asked.is_none() {
            draft.warn_skipped(at.origin, "a turn without what was asked is passed over");
        }
        let parts = asked.and_then(|asked| list_of(asked, AdkPartKey::Parts)).unwrap_or_default();
        if let Some(words) = object_items(parts)
            .find_map(|(_, part)| part.field(AdkPartKey::Words))
            .filter(|_| !draft.has_entry(of_run::PROMPT))
        {
            draft.set_entry(of_run::PROMPT, words);
        }
    }
    if let Some(conversation) = conversation {
        let meta = draft.object_node(&[field_entry(EXPECTED, conversation)]);
        draft.set_entry(of_run::META, meta);
    }
    Ok(())
}

fn read_results<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let Some(case) = first_case(root, &[EvalSetKey::Results, EvalSetKey::ResultsToo]) else { return Ok(()) };
    let details = first_of(case, &[EvalSetKey::Session, EvalSetKey::SessionToo]);
    let mut talk = ConversationBuilder::from_parts(draft);
    match details.filter(|details| node_object(*details).is_some_and(super::holds_events)) {
        Some(details) => read_session(&mut talk, details),
        None => {
            let turns =
                first_of(case, &[EvalSetKey::Turns, EvalSetKey::TurnsToo]).and_then(node_list).unwrap_or_default();
            for (at, judged) in talk.draft.record_objects(turns) {
                talk.draft.count_record();
                match first_of(judged, &[EvalSetKey::Actual, EvalSetKey::ActualToo]).and_then(node_object) {
                    Some(actual) => add_turn(&mut talk, actual),
                    None => talk.draft.warn_skipped(at.origin, "a turn without what was done is passed over"),
                }
            }
        }
    }
    // The case is what people look for; its session has an id of its own.
    case_id(case).into_iter().for_each(|id| talk.draft.set_entry(of_run::ID, id));
    talk.finish_run();
    Ok(())
}

fn add_turn<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, turn: Object<'run>) {
    let about = StepMeta::default();
    let content = |fields: &[EvalTurnKey]| first_of(turn, fields).and_then(node_object);
    if let Some(asked) = content(&[EvalTurnKey::Asked, EvalTurnKey::AskedToo]) {
        add_parts(talk, asked, Speaker::User, &about);
    }
    if let Some(between) = content(&[EvalTurnKey::Between, EvalTurnKey::BetweenToo]) {
        add_intermediate(talk, between, &about);
    }
    if let Some(answer) = content(&[EvalTurnKey::Answer, EvalTurnKey::AnswerToo]) {
        add_parts(talk, answer, Speaker::Assistant, &about);
    }
}

/// Between question and answer: lists of calls and results, or the events themselves.
fn add_intermediate<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, between: Object<'run>, about: &StepMeta<'run>) {
    let all = |fields: &[EvalTurnKey]| first_of(between, fields).and_then(node_list).unwrap_or_default();
    for (_, event) in talk.draft.record_objects(all(&[EvalTurnKey::Inner, EvalTurnKey::InnerToo])) {
        if let Some(content) = object_of(event, AdkEventKey::Content) {
            let agent = event.field(AdkEventKey::Author).filter(|agent| NodeShapes.has_shape(*agent, ValueShape::Text));
            add_parts(talk, content, Speaker::Assistant, &StepMeta { agent, ..*about });
        }
    }
    for (at, used) in talk.draft.record_objects(all(&[EvalTurnKey::Uses, EvalTurnKey::UsesToo])) {
        add_call(talk, at, used, about);
    }
    for (at, given) in talk.draft.record_objects(all(&[EvalTurnKey::Responses, EvalTurnKey::ResponsesToo])) {
        add_result(talk, at, given, about);
    }
}
