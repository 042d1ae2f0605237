//! SkillGym: the report of a session: the events of its transcript in order, what was read, which skills were found, tokens. The results of a suite
//! hold one for each case and runner.

use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::cutting::RunCutting;
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{first_of, list_of, node_object, node_text, object_of, text_of};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use averment_runs::run::StepKind;

key_table! {
    ReportKey {
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
    /// Suite results: cases, each with a result per runner.
    SuiteKey {
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
    ReportEventKey {
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
    SkillGymEventType {
        Said = "message",
        Call = "toolCall",
        Result = "toolResult",
        Command = "command",
        Read = "fileRead",
        Skill = "skillSignal",
    }
}

key_table! {
    SkillGymPhase {
        Thinking = "thinking",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "SkillGym session report",
    known_by: "`events`, `detectedSkills` and `runner` beside each other, or `suitePath` beside `cases` with `runnerResults`",
    description: "session reports of SkillGym (`runner`, `events`, `detectedSkills`), and its `results.json`",
    marks: &[ReportKey::Skills.key(), SuiteKey::Cases.key()],
    runs: &[RunCutting {
        within: &[],
        way: &[&[SuiteKey::Cases.key()], &[SuiteKey::Results.key()]],
        by: &[],
        keeps: &[SuiteKey::Path.key()],
        joins: None,
    }],
    object: |object| is_report(object) || is_result(object),
    read: read_run,
    ..IN_FULL
};

fn is_report(object: Object<'_>) -> bool {
    object_of(object, ReportKey::Runner).is_some()
        && list_of(object, ReportKey::Events).is_some()
        && list_of(object, ReportKey::Skills).is_some()
}

fn is_result(object: Object<'_>) -> bool {
    let of_case = |node: &Node<'_>| {
        let case = super::nodes::node_object(*node);
        case.is_some_and(|case| case.field(SuiteKey::Case).is_some() && list_of(case, SuiteKey::Results).is_some())
    };
    object.field(SuiteKey::Path).is_some()
        && list_of(object, SuiteKey::Cases).is_some_and(|cases| !cases.is_empty() && cases.iter().all(of_case))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(object) = root.value else { return Ok(()) };
    if is_report(object) {
        return read_report(object, builder, |_, _| ());
    }
    let first = |object, key| list_of(object, key).and_then(|list| super::nodes::node_object(*list.first()?));
    let Some(case) = first(object, SuiteKey::Cases) else { return Ok(()) };
    let Some(result) = first(case, SuiteKey::Results) else { return Ok(()) };
    let about = |conversation: &mut ConversationBuilder<'_, 'run, '_>, report: Option<Object<'run>>| {
        let id = object_of(result, SuiteKey::Runner).and_then(|runner| runner.field(SuiteKey::Id));
        conversation.builder.set_some(of_run::ID, id.filter(|id| report.is_none() && NodeShapes.is_text(*id)));
        conversation.builder.set_some(of_run::ERROR, result.field(SuiteKey::Error));
        conversation.builder.set_some(
            of_run::DURATION,
            result.field(SuiteKey::Duration).filter(|time| NodeShapes.has_shape(*time, ValueShape::Number)),
        );
        conversation.add_meta(of_meta::CASE, case.field(SuiteKey::Case));
        conversation.add_meta(SuiteKey::Status.key(), result.field(SuiteKey::Status));
        conversation.add_meta(SuiteKey::Class.key(), result.field(SuiteKey::Class));
    };
    match object_of(result, SuiteKey::Report) {
        Some(report) => read_report(report, builder, |conversation, report| about(conversation, Some(report))),
        None => {
            let mut conversation = ConversationBuilder::new(builder);
            about(&mut conversation, None);
            conversation.finish_run();
            Ok(())
        }
    }
}

pub(super) fn read_report<'run, 'limits>(
    report: Object<'run>,
    builder: &mut RunBuilder<'run, 'limits>,
    about: impl FnOnce(&mut ConversationBuilder<'_, 'run, 'limits>, Object<'run>),
) -> Result<(), crate::error::PlacedError> {
    builder.mark_recorded(&[StepKind::Command, StepKind::Read, StepKind::Skill]);
    builder.set_some(of_run::ID, report.field(ReportKey::Session).filter(|id| NodeShapes.is_text(*id)));
    builder.set_some(of_run::PROMPT, report.field(ReportKey::Prompt));
    builder.set_some(of_run::OUTPUT, report.field(ReportKey::Output));
    builder.set_some(
        of_run::DURATION,
        report.field(ReportKey::Duration).filter(|duration| NodeShapes.has_shape(*duration, ValueShape::Number)),
    );
    let mut conversation = ConversationBuilder::new(builder);
    let agent = object_of(report, ReportKey::Runner).and_then(|runner| object_of(runner, ReportKey::Agent));
    conversation.add_meta(of_meta::MODEL, agent.and_then(|agent| agent.field(ReportKey::Model)));
    conversation.add_meta(ReportKey::Agent.key(), agent.and_then(|agent| agent.field(ReportKey::Type)));
    let (mut reads, mut skills) = (false, Vec::new());
    for node in list_of(report, ReportKey::Events).unwrap_or_default() {
        conversation.builder.count_record();
        let event = node_object(*node)
            .and_then(|event| Some((event, SkillGymEventType::from_key(text_of(event, ReportEventKey::Type)?)?)));
        match event {
            Some((event, kind)) => {
                reads |= kind == SkillGymEventType::Read;
                skills.extend(
                    (kind == SkillGymEventType::Skill).then(|| text_of(event, ReportEventKey::Skill)).flatten(),
                );
                read_event(&mut conversation, *node, event, kind);
            }
            None => conversation.builder.skip_value(node, "an event of unknown type is skipped"),
        }
    }
    beside_the_events(&mut conversation, report, reads, &skills);
    if let Some(usage) = object_of(report, ReportKey::Usage) {
        conversation.usage.add_usage(usage);
        conversation.usage.add_count(of_usage::CACHE_READ, usage.field(ReportKey::Cached));
    }
    about(&mut conversation, report);
    conversation.finish_run();
    Ok(())
}

/// Reads and finds that no event reports.
fn beside_the_events<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    report: Object<'run>,
    reads: bool,
    skills: &[&str],
) {
    let files =
        object_of(report, ReportKey::Files).and_then(|files| list_of(files, ReportKey::Reads)).unwrap_or_default();
    for path in files.iter().filter(|path| !reads && NodeShapes.is_text(**path)) {
        conversation.builder.add_step(StepKind::Read, vec![field_entry(of_step::PATH, *path)], path.origin);
    }
    for (node, found) in conversation.builder.record_objects(list_of(report, ReportKey::Skills).unwrap_or_default()) {
        let Some(name) =
            found.field(ReportKey::Skill).filter(|name| node_text(*name).is_some_and(|name| !skills.contains(&name)))
        else {
            continue;
        };
        let mut fields = vec![field_entry(of_step::NAME, name)];
        fields.extend(
            first_of(found, &[ReportKey::Confidence]).map(|sure| field_entry(ReportKey::Confidence.key(), sure)),
        );
        conversation.builder.add_step(StepKind::Skill, fields, node.origin);
    }
}

fn read_event<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    kind: SkillGymEventType,
) {
    let about = StepMeta { time: first_of(event, &[ReportEventKey::Time]), ..StepMeta::default() };
    let words = event.field(ReportEventKey::Words);
    let mut step = |kind, key, value: Option<Node<'run>>| {
        if let Some(value) = value.filter(|value| NodeShapes.is_text(*value)) {
            let mut fields = vec![field_entry(key, value)];
            fields.extend(about.time.map(|time| field_entry(of_step::START, time)));
            conversation.builder.add_step(kind, fields, node.origin);
        }
    };
    match kind {
        SkillGymEventType::Command => step(StepKind::Command, of_step::COMMAND, event.field(ReportEventKey::Command)),
        SkillGymEventType::Read => step(StepKind::Read, of_step::PATH, event.field(ReportEventKey::Path)),
        SkillGymEventType::Skill => step(StepKind::Skill, of_step::NAME, event.field(ReportEventKey::Skill)),
        SkillGymEventType::Said => {
            let speaker = match conversation.builder.role_of(node, text_of(event, ReportEventKey::Role)) {
                Some(MessageRole::Assistant) => {
                    match text_of(event, ReportEventKey::Phase).and_then(SkillGymPhase::from_key) {
                        Some(SkillGymPhase::Thinking) => Speaker::Thinking,
                        None => Speaker::Assistant,
                    }
                }
                role => Speaker::from_role(role),
            };
            words.into_iter().for_each(|words| conversation.add_message(speaker, words, &about, node.origin));
        }
        SkillGymEventType::Call => {
            let tool = event.field(ReportEventKey::Tool).unwrap_or(Node::computed(Value::Null));
            conversation.add_call(
                ToolCall { tool, args: event.field(ReportEventKey::Args), id: None, origin: node.origin },
                &about,
            );
        }
        SkillGymEventType::Result => {
            let outcome = CallResult { result: event.field(ReportEventKey::Output), ..CallResult::default() };
            conversation.add_result(None, text_of(event, ReportEventKey::Tool), outcome, &about, node.origin);
        }
    }
}
