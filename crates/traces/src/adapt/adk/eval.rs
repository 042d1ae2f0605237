//! Evaluations of Google ADK. An eval set (`eval_cases`) says what is expected: what users say in it was said to nobody, and its
//! `tool_uses` and `final_response` are what an agent should do and answer. None of that is a call or an answer. The results of an evaluation
//! (`eval_case_results`) hold what was done: the session, or the `actual_invocation` of each turn.

use super::{OfEvent, OfPart, call, parts, result, session};
use crate::adapt::cutting::Cutting;
use crate::adapt::draft::{Draft, field};
use crate::adapt::fields::{Parsed, Record, Shape, Shapes, key_table, value_of};
use crate::adapt::format::{Format, IN_FULL};
use crate::adapt::nodes::{first_of, list, list_of, object, object_of, objects};
use crate::adapt::talk::{About, Speaker, Talk};
use crate::error::Placed;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;

key_table! {
    /// An eval set, or the results of one; a case of either.
    OfSet {
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
    /// A turn of a conversation.
    OfTurn {
        Asked = "user_content" | "userContent",
        Answer = "final_response" | "finalResponse",
        Between = "intermediate_data" | "intermediateData",
        Uses = "tool_uses" | "toolUses",
        Responses = "tool_responses" | "toolResponses",
        Inner = "invocation_events" | "invocationEvents",
    }
}

/// Under what the expected conversation stands in `meta`.
const EXPECTED: &str = "expected";

/// Eval sets.
pub(crate) const SET: Format = Format {
    name: "Google ADK eval set",
    known_by: "`eval_cases`, each with a `conversation` of `user_content` and `final_response`",
    description: "eval sets of Google ADK (`eval_cases`), a run each: what is expected, and no calls",
    marks: OfSet::Cases.keys(),
    object: |object| {
        let cases = value_of(object, OfSet::Cases).and_then(list);
        cases.is_some_and(|cases| objects(cases).any(|(_, case)| list_of(case, OfSet::Conversation).is_some()))
    },
    read: expected,
    runs: &[Cutting { within: &[], way: &[OfSet::Cases.keys()], by: &[], keeps: OfSet::Set.keys() }],
    ..IN_FULL
};

/// Results of evaluations.
pub(crate) const RESULTS: Format = Format {
    name: "Google ADK eval result",
    known_by: "`eval_case_results`, each with `session_details` or an `actual_invocation` for each turn",
    description: "results of evaluations of Google ADK (`eval_case_results`), a run each",
    marks: OfSet::Results.keys(),
    object: |object| {
        let cases = value_of(object, OfSet::Results).and_then(list);
        let tells = |case: Object<'_>| first_of(case, &[OfSet::Turns, OfSet::Session]).is_some();
        cases.is_some_and(|cases| objects(cases).any(|(_, case)| tells(case)))
    },
    read: done,
    runs: &[Cutting { within: &[], way: &[OfSet::Results.keys()], by: &[], keeps: OfSet::Set.keys() }],
    ..IN_FULL
};

/// The first case that an object holds: a run is cut to have one.
fn case<'run>(root: Node<'run>, key: OfSet) -> Option<Object<'run>> {
    let cases = object(root).and_then(|set| value_of(set, key)).and_then(list)?;
    objects(cases).next().map(|(_, case)| case)
}

fn id<'run>(case: Object<'run>) -> Option<Node<'run>> {
    value_of(case, OfSet::Case).filter(|id| Parsed.is(*id, Shape::Text))
}

/// A case of an eval set.
fn expected<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Some(case) = case(root, OfSet::Cases) else { return Ok(()) };
    draft.set_some(of_run::ID, id(case));
    draft.warn(
        root.origin,
        "calls and answers count as not recorded: an eval set says what is expected, under `meta.expected`",
    );
    let conversation = case.field(OfSet::Conversation);
    for (at, turn) in draft.objects(conversation.and_then(list).unwrap_or_default()) {
        draft.record();
        let asked = value_of(turn, OfTurn::Asked).and_then(object);
        if asked.is_none() {
            draft.not_understood(at.origin, "a turn without what was asked is passed over");
        }
        let parts = asked.and_then(|asked| list_of(asked, OfPart::Parts)).unwrap_or_default();
        if let Some(words) =
            objects(parts).find_map(|(_, part)| part.field(OfPart::Words)).filter(|_| !draft.has(of_run::PROMPT))
        {
            draft.set(of_run::PROMPT, words);
        }
    }
    if let Some(conversation) = conversation {
        let meta = draft.object(&[field(EXPECTED, conversation)]);
        draft.set(of_run::META, meta);
    }
    Ok(())
}

/// A case of the results of an evaluation.
fn done<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Some(case) = case(root, OfSet::Results) else { return Ok(()) };
    let details = value_of(case, OfSet::Session);
    let mut talk = Talk::of_parts(draft);
    match details.filter(|details| object(*details).is_some_and(super::holds_events)) {
        Some(details) => session(&mut talk, details),
        None => {
            let turns = value_of(case, OfSet::Turns).and_then(list).unwrap_or_default();
            for (at, judged) in talk.draft.objects(turns) {
                talk.draft.record();
                match value_of(judged, OfSet::Actual).and_then(object) {
                    Some(actual) => turn(&mut talk, actual),
                    None => talk.draft.not_understood(at.origin, "a turn without what was done is passed over"),
                }
            }
        }
    }
    // The case is what people look for; its session has an id of its own.
    id(case).into_iter().for_each(|id| talk.draft.set(of_run::ID, id));
    talk.finish();
    Ok(())
}

/// What was asked, done and answered.
fn turn<'run>(talk: &mut Talk<'_, 'run, '_>, turn: Object<'run>) {
    let about = About::default();
    let content = |field: OfTurn| value_of(turn, field).and_then(object);
    if let Some(asked) = content(OfTurn::Asked) {
        parts(talk, asked, Speaker::User, &about);
    }
    if let Some(between) = content(OfTurn::Between) {
        between_the_two(talk, between, &about);
    }
    if let Some(answer) = content(OfTurn::Answer) {
        parts(talk, answer, Speaker::Assistant, &about);
    }
}

/// What happened between the question and the answer: in lists of calls and results, or in the events themselves.
fn between_the_two<'run>(talk: &mut Talk<'_, 'run, '_>, between: Object<'run>, about: &About<'run>) {
    let all = |field: OfTurn| value_of(between, field).and_then(list).unwrap_or_default();
    for (_, event) in talk.draft.objects(all(OfTurn::Inner)) {
        if let Some(content) = object_of(event, OfEvent::Content) {
            let agent = event.field(OfEvent::Author).filter(|agent| Parsed.is(*agent, Shape::Text));
            parts(talk, content, Speaker::Assistant, &About { agent, ..*about });
        }
    }
    for (at, used) in talk.draft.objects(all(OfTurn::Uses)) {
        call(talk, at, used, about);
    }
    for (at, given) in talk.draft.objects(all(OfTurn::Responses)) {
        result(talk, at, given, about);
    }
}
