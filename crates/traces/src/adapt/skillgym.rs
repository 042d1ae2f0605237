//! SkillGym: the report of a session: the events of its transcript in order, what was read, which skills were found, tokens. The results of a suite
//! hold one for each case and runner.

use super::cutting::Cutting;
use super::draft::{Draft, field};
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{first_of, list_of, object, object_of, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use averment_runs::run::Kind;

key_table! {
    /// A report.
    OfReport {
        Runner = "runner",
        Agent = "agent",
        Model = "model",
        Type = "type",
        Session = "sessionId",
        Prompt = "prompt",
        Usage = "usage",
        Cached = "cacheTokens",
        Files = "files",
        Reads = "observedReads",
        Skills = "detectedSkills",
        Skill = "skill",
        Confidence = "confidence",
        Events = "events",
        Output = "finalOutput",
        Duration = "durationMs",
    }
}

key_table! {
    /// The results of a suite: its cases, each with what came of each runner.
    OfSuite {
        Path = "suitePath",
        Cases = "cases",
        Case = "caseId",
        Results = "runnerResults",
        Runner = "runner",
        Id = "id",
        Status = "status",
        Report = "report",
        Duration = "durationMs",
        Error = "error",
        Class = "failureClass",
    }
}

key_table! {
    /// An event.
    OfEvent {
        Type = "type",
        Role = "role",
        Phase = "phase",
        Words = "text",
        Tool = "tool",
        Args = "args",
        Output = "output",
        Command = "command",
        Path = "path",
        Skill = "skill",
        Time = "at",
    }
}

key_table! {
    /// The types of events.
    EventType {
        Said = "message",
        Call = "toolCall",
        Result = "toolResult",
        Command = "command",
        Read = "fileRead",
        Skill = "skillSignal",
    }
}

key_table! {
    /// The phases of a message.
    Phase {
        Thinking = "thinking",
    }
}

/// Reports.
pub(crate) const FORMAT: Format = Format {
    name: "SkillGym session report",
    known_by: "`events`, `detectedSkills` and `runner` beside each other, or `suitePath` beside `cases` with `runnerResults`",
    description: "session reports of SkillGym (`runner`, `events`, `detectedSkills`), and its `results.json`",
    marks: &[OfReport::Skills.key(), OfSuite::Cases.key()],
    runs: &[Cutting {
        within: &[],
        way: &[&[OfSuite::Cases.key()], &[OfSuite::Results.key()]],
        by: &[],
        keeps: &[OfSuite::Path.key()],
    }],
    object: |object| is_report(object) || is_result(object),
    read,
    ..IN_FULL
};

fn is_report(object: Object<'_>) -> bool {
    object_of(object, OfReport::Runner).is_some()
        && list_of(object, OfReport::Events).is_some()
        && list_of(object, OfReport::Skills).is_some()
}

/// Results of a suite, or one of them.
fn is_result(object: Object<'_>) -> bool {
    let of_case = |node: &Node<'_>| {
        let case = super::nodes::object(*node);
        case.is_some_and(|case| case.field(OfSuite::Case).is_some() && list_of(case, OfSuite::Results).is_some())
    };
    object.field(OfSuite::Path).is_some()
        && list_of(object, OfSuite::Cases).is_some_and(|cases| !cases.is_empty() && cases.iter().all(of_case))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(object) = root.value else { return Ok(()) };
    if is_report(object) {
        return read_report(object, draft, |_, _| ());
    }
    let first = |object, key| list_of(object, key).and_then(|list| super::nodes::object(*list.first()?));
    let Some(case) = first(object, OfSuite::Cases) else { return Ok(()) };
    let Some(result) = first(case, OfSuite::Results) else { return Ok(()) };
    let about = |talk: &mut Talk<'_, 'run, '_>, report: Option<Object<'run>>| {
        let id = object_of(result, OfSuite::Runner).and_then(|runner| runner.field(OfSuite::Id));
        talk.draft.set_some(of_run::ID, id.filter(|id| report.is_none() && Parsed.is_text(*id)));
        talk.draft.set_some(of_run::ERROR, result.field(OfSuite::Error));
        talk.draft
            .set_some(of_run::DURATION, result.field(OfSuite::Duration).filter(|time| Parsed.is(*time, Shape::Number)));
        talk.meta(of_meta::CASE, case.field(OfSuite::Case));
        talk.meta(OfSuite::Status.key(), result.field(OfSuite::Status));
        talk.meta(OfSuite::Class.key(), result.field(OfSuite::Class));
    };
    match object_of(result, OfSuite::Report) {
        Some(report) => read_report(report, draft, |talk, report| about(talk, Some(report))),
        None => {
            let mut talk = Talk::new(draft);
            about(&mut talk, None);
            talk.finish();
            Ok(())
        }
    }
}

/// Reads a report, and what else is known of it.
pub(super) fn read_report<'run, 'limits>(
    report: Object<'run>,
    draft: &mut Draft<'run, 'limits>,
    about: impl FnOnce(&mut Talk<'_, 'run, 'limits>, Object<'run>),
) -> Result<(), crate::error::Placed> {
    draft.records(&[Kind::Command, Kind::Read, Kind::Skill]);
    draft.set_some(of_run::ID, report.field(OfReport::Session).filter(|id| Parsed.is_text(*id)));
    draft.set_some(of_run::PROMPT, report.field(OfReport::Prompt));
    draft.set_some(of_run::OUTPUT, report.field(OfReport::Output));
    draft.set_some(
        of_run::DURATION,
        report.field(OfReport::Duration).filter(|duration| Parsed.is(*duration, Shape::Number)),
    );
    let mut talk = Talk::new(draft);
    let agent = object_of(report, OfReport::Runner).and_then(|runner| object_of(runner, OfReport::Agent));
    talk.meta(of_meta::MODEL, agent.and_then(|agent| agent.field(OfReport::Model)));
    talk.meta(OfReport::Agent.key(), agent.and_then(|agent| agent.field(OfReport::Type)));
    let (mut reads, mut skills) = (false, Vec::new());
    for node in list_of(report, OfReport::Events).unwrap_or_default() {
        talk.draft.record();
        let event = object(*node).and_then(|event| Some((event, EventType::from_key(text_of(event, OfEvent::Type)?)?)));
        match event {
            Some((event, kind)) => {
                reads |= kind == EventType::Read;
                skills.extend((kind == EventType::Skill).then(|| text_of(event, OfEvent::Skill)).flatten());
                one(&mut talk, *node, event, kind);
            }
            None => talk.draft.not_understood(node.origin, "an event of unknown type is passed over"),
        }
    }
    beside_the_events(&mut talk, report, reads, &skills);
    if let Some(usage) = object_of(report, OfReport::Usage) {
        talk.usage.add(usage);
        talk.usage.count(of_usage::CACHE_READ, usage.field(OfReport::Cached));
    }
    about(&mut talk, report);
    talk.finish();
    Ok(())
}

/// What was read and found without an event that tells of it.
fn beside_the_events<'run>(talk: &mut Talk<'_, 'run, '_>, report: Object<'run>, reads: bool, skills: &[&str]) {
    let files =
        object_of(report, OfReport::Files).and_then(|files| list_of(files, OfReport::Reads)).unwrap_or_default();
    for path in files.iter().filter(|path| !reads && Parsed.is_text(**path)) {
        talk.draft.step(Kind::Read, vec![field(of_step::PATH, *path)], path.origin);
    }
    for (node, found) in talk.draft.objects(list_of(report, OfReport::Skills).unwrap_or_default()) {
        let Some(name) =
            found.field(OfReport::Skill).filter(|name| text(*name).is_some_and(|name| !skills.contains(&name)))
        else {
            continue;
        };
        let mut fields = vec![field(of_step::NAME, name)];
        fields.extend(first_of(found, &[OfReport::Confidence]).map(|sure| field(OfReport::Confidence.key(), sure)));
        talk.draft.step(Kind::Skill, fields, node.origin);
    }
}

fn one<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, event: Object<'run>, kind: EventType) {
    let about = About { time: first_of(event, &[OfEvent::Time]), ..About::default() };
    let words = event.field(OfEvent::Words);
    let mut step = |kind, key, value: Option<Node<'run>>| {
        if let Some(value) = value.filter(|value| Parsed.is_text(*value)) {
            let mut fields = vec![field(key, value)];
            fields.extend(about.time.map(|time| field(of_step::START, time)));
            talk.draft.step(kind, fields, node.origin);
        }
    };
    match kind {
        EventType::Command => step(Kind::Command, of_step::COMMAND, event.field(OfEvent::Command)),
        EventType::Read => step(Kind::Read, of_step::PATH, event.field(OfEvent::Path)),
        EventType::Skill => step(Kind::Skill, of_step::NAME, event.field(OfEvent::Skill)),
        EventType::Said => {
            let speaker = match text_of(event, OfEvent::Role).and_then(Role::from_key) {
                Some(Role::Assistant) => match text_of(event, OfEvent::Phase).and_then(Phase::from_key) {
                    Some(Phase::Thinking) => Speaker::Thinking,
                    None => Speaker::Assistant,
                },
                Some(Role::User) => Speaker::User,
                _ => Speaker::System,
            };
            words.into_iter().for_each(|words| talk.say(speaker, words, &about, node.origin));
        }
        EventType::Call => {
            let tool = event.field(OfEvent::Tool).unwrap_or(Node::computed(Value::Null));
            talk.call(Made { tool, args: event.field(OfEvent::Args), id: None, origin: node.origin }, &about);
        }
        EventType::Result => {
            let outcome = Outcome { result: event.field(OfEvent::Output), ..Outcome::default() };
            talk.answer(None, text_of(event, OfEvent::Tool), outcome, &about, node.origin);
        }
    }
}
