//! Google ADK: sessions (`events` with `author` and `content.parts`), lists of such events, and eval sets (`eval_cases`, each a
//! conversation as it was recorded). Keys are written with underscores or as camel case; times are seconds.

use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, fields, is_true, words};
use super::talk::{About, Made, Outcome, Speaker, Talk, instant};
use super::{Format, IN_FULL, first_of, items_of, list_of, object, object_of, objects, text_of};
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use averment_runs::run::Kind;

fields! {
    /// A session, an eval set, a case of one.
    OfSession {
        Id = "id" => Run(of_run::ID),
        Events = "events" => Shape,
        Cases = "eval_cases" => Shape,
        CasesToo = "evalCases" => Shape,
        Case = "eval_id" => Run(of_run::ID),
        CaseToo = "evalId" => Run(of_run::ID),
        Set = "eval_set_id" => Shape,
        SetToo = "evalSetId" => Shape,
        Conversation = "conversation" => Shape,
        App = "app_name" => PartOf(of_run::META),
        AppToo = "appName" => PartOf(of_run::META),
    }
}

fields! {
    /// An event, or a turn of a conversation in an eval set.
    OfEvent {
        Invocation = "invocation_id" => Shape,
        InvocationToo = "invocationId" => Shape,
        Author = "author" => Call(of_step::AGENT),
        Content = "content" => Shape,
        Partial = "partial" => Shape,
        Time = "timestamp" => Shape,
        Usage = "usage_metadata" => PartOf(of_run::USAGE),
        UsageToo = "usageMetadata" => PartOf(of_run::USAGE),
        Model = "model_version" => PartOf(of_run::META),
        ModelToo = "modelVersion" => PartOf(of_run::META),
        Error = "error_message" => Run(of_run::ERROR),
        ErrorToo = "errorMessage" => Run(of_run::ERROR),
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
        Says = "intermediate_responses" => Shape,
        SaysToo = "intermediateResponses" => Shape,
        Created = "creation_timestamp" => Shape,
        CreatedToo = "creationTimestamp" => Shape,
        Inner = "invocation_events" => Shape,
        InnerToo = "invocationEvents" => Shape,
    }
}

fields! {
    /// A part of a content.
    OfPart {
        Parts = "parts" => Shape,
        Words = "text" => Shape,
        Thought = "thought" => Shape,
        Call = "function_call" => Shape,
        CallToo = "functionCall" => Shape,
        Response = "function_response" => Shape,
        ResponseToo = "functionResponse" => Shape,
        Id = "id" => Call(of_step::ID),
        Name = "name" => Call(of_step::TOOL),
        Args = "args" => Call(of_step::ARGS),
        Given = "response" => Call(of_step::RESULT),
        Error = "error" => Call(of_step::ERROR),
        Agent = "agent_name" => Step(Kind::Handover),
        AgentToo = "agentName" => Step(Kind::Handover),
    }
}

fields! {
    /// The tokens of an answer.
    OfTokens {
        Prompt = "prompt_token_count" => Shape,
        PromptToo = "promptTokenCount" => Shape,
        Candidates = "candidates_token_count" => Shape,
        CandidatesToo = "candidatesTokenCount" => Shape,
        Thoughts = "thoughts_token_count" => Shape,
        ThoughtsToo = "thoughtsTokenCount" => Shape,
        Cached = "cached_content_token_count" => Shape,
        CachedToo = "cachedContentTokenCount" => Shape,
        Total = "total_token_count" => Shape,
        TotalToo = "totalTokenCount" => Shape,
    }
}

words! {
    /// The authors that are no agents.
    Author {
        User = "user",
    }
}

words! {
    /// The tools that hand over to another agent.
    Transfer {
        Transfer = "transfer_to_agent" | "transfer_to_other_agent",
    }
}

/// Sessions.
pub(crate) const FORMAT: Format = Format {
    name: "Google ADK session",
    known_by: "`events` with an `author`, an `invocation_id` and `content` of `parts`",
    description: "sessions of Google ADK (`events`, or a list of them)",
    marks: &[OfSession::Events.key()],
    near: &[OfEvent::Invocation.key(), OfEvent::InvocationToo.key()],
    object: |object| {
        list_of(object, OfSession::Events).is_some_and(|events| objects(events).any(|(_, event)| is_event(event)))
    },
    item_marks: &[OfEvent::Author.key()],
    element: is_event,
    line: is_event,
    read,
    ..IN_FULL
};

/// Eval sets.
pub(crate) const EVAL_SET: Format = Format {
    name: "Google ADK eval set",
    known_by: "`eval_cases`, each with a `conversation` of `user_content` and `final_response`",
    description: "eval sets of Google ADK (`eval_cases`), a run each",
    marks: &[OfSession::Cases.key(), OfSession::CasesToo.key()],
    object: |object| {
        let cases = first_of(object, &[OfSession::Cases, OfSession::CasesToo]).and_then(super::list);
        cases.is_some_and(|cases| objects(cases).any(|(_, case)| list_of(case, OfSession::Conversation).is_some()))
    },
    read: read_case,
    runs: &[Cutting {
        way: &[&[OfSession::Cases.key(), OfSession::CasesToo.key()]],
        by: &[],
        keeps: &[OfSession::Set.key(), OfSession::SetToo.key()],
    }],
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    let has = |fields: &[OfEvent]| first_of(event, fields).is_some();
    text_of(event, OfEvent::Author).is_some()
        && has(&[OfEvent::Invocation, OfEvent::InvocationToo])
        && object_of(event, OfEvent::Content).is_some_and(|content| list_of(content, OfPart::Parts).is_some())
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut talk = Talk::new(draft);
    if let Some(session) = object(*root) {
        talk.draft.set_some(of_run::ID, session.field(OfSession::Id).filter(|id| Parsed.is_text(*id)));
        talk.meta(OfSession::App.key(), first_of(session, &[OfSession::App, OfSession::AppToo]));
    }
    for node in items_of(root, &[OfSession::Events]) {
        talk.draft.record();
        let Some(one) = object(*node).filter(|event| text_of(*event, OfEvent::Author).is_some()) else {
            talk.draft.not_understood(node.origin, "what is no event with an `author` is passed over");
            continue;
        };
        if !is_true(&one, &Parsed, OfEvent::Partial) {
            event(&mut talk, one);
        }
    }
    talk.finish();
    Ok(())
}

/// An event of a session: the last word, whoever says it, is the answer.
fn event<'run>(talk: &mut Talk<'_, 'run, '_>, event: Object<'run>) {
    let author = text_of(event, OfEvent::Author).unwrap_or_default();
    let of_user = Author::of(author) == Some(Author::User);
    let time = event.field(OfEvent::Time).and_then(instant);
    let agent = event.field(OfEvent::Author).filter(|_| !of_user);
    let about = About { time, agent, aside: false };
    let error = first_of(event, &[OfEvent::Error, OfEvent::ErrorToo]);
    if let Some(error) = error {
        talk.draft.reset(of_run::ERROR, error);
    }
    talk.meta(of_meta::MODEL, first_of(event, &[OfEvent::Model, OfEvent::ModelToo]));
    if let Some(content) = object_of(event, OfEvent::Content) {
        let speaker = if of_user { Speaker::User } else { Speaker::Assistant };
        parts(talk, content, speaker, &about);
    }
    if let Some(usage) = first_of(event, &[OfEvent::Usage, OfEvent::UsageToo]).and_then(object) {
        count(talk, usage);
    }
}

fn parts<'run>(talk: &mut Talk<'_, 'run, '_>, content: Object<'run>, speaker: Speaker, about: &About<'run>) {
    for (at, part) in objects(list_of(content, OfPart::Parts).unwrap_or_default()) {
        let called = first_of(part, &[OfPart::Call, OfPart::CallToo]).and_then(object);
        let given = first_of(part, &[OfPart::Response, OfPart::ResponseToo]).and_then(object);
        if let Some(words) = part.field(OfPart::Words) {
            let is_thought = is_true(&part, &Parsed, OfPart::Thought) && speaker == Speaker::Assistant;
            talk.say(if is_thought { Speaker::Thinking } else { speaker }, words, about, at.origin);
        }
        if let Some(called) = called {
            call(talk, at, called, about);
        }
        if let Some(given) = given {
            result(talk, at, given, about);
        }
    }
}

fn call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, call: Object<'run>, about: &About<'run>) {
    if let Some(tool) = call.field(OfPart::Name) {
        let made = Made { tool, args: call.field(OfPart::Args), id: call.field(OfPart::Id), origin: node.origin };
        talk.call(made, about);
        let hands_over = super::text(tool).and_then(Transfer::of).is_some();
        let to = call.field(OfPart::Args).and_then(object);
        let to = to.and_then(|args| first_of(args, &[OfPart::Agent, OfPart::AgentToo]));
        to.filter(|_| hands_over).into_iter().for_each(|to| talk.hand_over(to, about, node.origin));
    }
}

/// What a function gave back. An object that holds nothing but an error is no answer.
fn result<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, given: Object<'run>, about: &About<'run>) {
    let result = given.field(OfPart::Given);
    let error = result.and_then(object).filter(|answer| answer.entries().len() == 1);
    let error = error.and_then(|answer| first_of(answer, &[OfPart::Error]));
    let outcome = Outcome { result, error, ..Outcome::default() };
    talk.answer(text_of(given, OfPart::Id), text_of(given, OfPart::Name), outcome, about, node.origin);
}

fn count(talk: &mut Talk<'_, '_, '_>, tokens: Object<'_>) {
    use OfTokens::{
        Cached, CachedToo, Candidates, CandidatesToo, Prompt, PromptToo, Thoughts, ThoughtsToo, Total, TotalToo,
    };
    let counts = [
        (of_usage::INPUT, [Prompt, PromptToo]),
        (of_usage::OUTPUT, [Candidates, CandidatesToo]),
        (of_usage::REASONING, [Thoughts, ThoughtsToo]),
        (of_usage::CACHE_READ, [Cached, CachedToo]),
        (of_usage::TOTAL, [Total, TotalToo]),
    ];
    for (name, fields) in counts {
        talk.usage.count(name, first_of(tokens, &fields));
    }
}

/// A case of an eval set: what was asked, which tools were used, what was answered. Results stand there where they were kept.
fn read_case<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let cases =
        object(root).and_then(|set| first_of(set, &[OfSession::Cases, OfSession::CasesToo])).and_then(super::list);
    let Some((_, case)) = cases.and_then(|cases| objects(cases).next()) else { return Ok(()) };
    draft.set_some(of_run::ID, first_of(case, &[OfSession::Case, OfSession::CaseToo]).filter(|id| Parsed.is_text(*id)));
    let mut talk = Talk::new(draft);
    for (_, turn) in objects(list_of(case, OfSession::Conversation).unwrap_or_default()) {
        talk.draft.record();
        let about = About::default();
        let content = |fields: &[OfEvent]| first_of(turn, fields).and_then(object);
        if let Some(asked) = content(&[OfEvent::Asked, OfEvent::AskedToo]) {
            parts(&mut talk, asked, Speaker::User, &about);
        }
        if let Some(between) = content(&[OfEvent::Between, OfEvent::BetweenToo]) {
            between_the_two(&mut talk, between, &about);
        }
        if let Some(answer) = content(&[OfEvent::Answer, OfEvent::AnswerToo]) {
            parts(&mut talk, answer, Speaker::Assistant, &about);
        }
    }
    talk.finish();
    Ok(())
}

/// What happened between the question and the answer: in lists of calls and results, or in the events themselves.
fn between_the_two<'run>(talk: &mut Talk<'_, 'run, '_>, between: Object<'run>, about: &About<'run>) {
    let all = |fields: &[OfEvent]| objects(first_of(between, fields).and_then(super::list).unwrap_or_default());
    for (_, event) in all(&[OfEvent::Inner, OfEvent::InnerToo]) {
        if let Some(content) = object_of(event, OfEvent::Content) {
            let agent = event.field(OfEvent::Author).filter(|agent| Parsed.is(*agent, Shape::Text));
            parts(talk, content, Speaker::Assistant, &About { agent, ..*about });
        }
    }
    for (at, used) in all(&[OfEvent::Uses, OfEvent::UsesToo]) {
        call(talk, at, used, about);
    }
    for (at, given) in all(&[OfEvent::Responses, OfEvent::ResponsesToo]) {
        result(talk, at, given, about);
    }
}
