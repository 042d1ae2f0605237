//! ATIF, the Agent Trajectory Interchange Format: `steps` of the user, the system and the agent, its calls with the observations that
//! answer them. What the calls did is known where the agent is.

use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, fields, words};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use super::{Format, IN_FULL, content, first_of, list_of, object, object_of, text, text_of};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};

fields! {
    /// A trajectory.
    OfTrajectory {
        Version = "schema_version" => Shape,
        Session = "session_id" => Run(of_run::ID),
        Id = "trajectory_id" => Run(of_run::ID),
        Agent = "agent" => PartOf(of_run::META),
        AgentName = "name" => PartOf(of_run::META),
        AgentVersion = "version" => PartOf(of_run::META),
        Model = "model_name" => PartOf(of_run::META),
        Tools = "tool_definitions" => PartOf(of_run::TOOLS),
        Steps = "steps" => Shape,
        Totals = "final_metrics" => PartOf(of_run::USAGE),
        Cost = "total_cost_usd" => Run(of_run::COST),
        Input = "total_prompt_tokens" => Shape,
        Output = "total_completion_tokens" => Shape,
        Cached = "total_cached_tokens" => Shape,
    }
}

fields! {
    /// A step.
    OfAtif {
        Time = "timestamp" => Shape,
        Source = "source" => Shape,
        Message = "message" => Shape,
        Thought = "reasoning_content" => Shape,
        Calls = "tool_calls" => Shape,
        Call = "tool_call_id" => Call(of_step::ID),
        Tool = "function_name" => Call(of_step::TOOL),
        Args = "arguments" => Call(of_step::ARGS),
        Observation = "observation" => Shape,
        Results = "results" => Shape,
        Answers = "source_call_id" => Shape,
        Content = "content" => Call(of_step::RESULT),
        Metrics = "metrics" => PartOf(of_run::USAGE),
    }
}

words! {
    /// Who a step is of.
    Source {
        Agent = "agent",
        User = "user",
        System = "system",
    }
}

words! {
    /// The agents whose tools are known.
    KnownAgent {
        Known = "claude-code" | "codex" | "gemini-cli" | "opencode" | "cursor-cli" | "cursor" | "openhands" | "openhands-sdk" | "swe-agent"
            | "mini-swe-agent" | "terminus" | "terminus-1" | "terminus-2" | "copilot-cli" | "copilot" | "qwen-code" | "GitHub Copilot Chat",
    }
}

/// Trajectories.
pub(crate) const FORMAT: Format = Format {
    name: "ATIF trajectory",
    known_by: "`schema_version` of `ATIF` beside `steps`",
    description: "trajectories in ATIF (`schema_version`, `steps`)",
    marks: &[OfTrajectory::Version.key()],
    object: |object| {
        text_of(object, OfTrajectory::Version).is_some_and(|version| version.starts_with("ATIF"))
            && list_of(object, OfTrajectory::Steps).is_some()
    },
    read,
    ..IN_FULL
};

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(trajectory) = root.value else { return Ok(()) };
    draft.set_some(
        of_run::ID,
        first_of(trajectory, &[OfTrajectory::Session, OfTrajectory::Id]).filter(|id| Parsed.is_text(*id)),
    );
    let agent = object_of(trajectory, OfTrajectory::Agent);
    if let Some(list) = agent.and_then(|agent| list_of(agent, OfTrajectory::Tools)) {
        let list = super::calls::tools(draft, list);
        draft.set(of_run::TOOLS, list);
    }
    let mut talk = Talk::new(draft);
    let of_agent = |field| agent.and_then(|agent| agent.field(field));
    talk.meta(of_meta::MODEL, of_agent(OfTrajectory::Model));
    talk.meta(of_meta::VERSION, of_agent(OfTrajectory::AgentVersion));
    talk.meta(of_step::AGENT, of_agent(OfTrajectory::AgentName));
    for node in list_of(trajectory, OfTrajectory::Steps).unwrap_or_default() {
        talk.draft.record();
        match object(*node).and_then(|step| Some((step, Source::of(text_of(step, OfAtif::Source)?)?))) {
            Some((one, source)) => step(&mut talk, *node, one, source),
            None => talk.draft.not_understood(node.origin, "a step without a known `source` is passed over"),
        }
    }
    totals(&mut talk, trajectory);
    let known = of_agent(OfTrajectory::AgentName).and_then(text).and_then(KnownAgent::of).is_some();
    if known {
        talk.finish_with_tools();
    } else {
        talk.finish();
    }
    Ok(())
}

fn step<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, step: Object<'run>, source: Source) {
    let about = About { time: step.field(OfAtif::Time), ..About::default() };
    let speaker = match source {
        Source::Agent => Speaker::Assistant,
        Source::User => Speaker::User,
        Source::System => Speaker::System,
    };
    if source == Source::Agent {
        talk.begin_turn();
    }
    if let Some(words) = step.field(OfAtif::Thought) {
        talk.say(Speaker::Thinking, words, &about, node.origin);
    }
    if let Some(words) = step.field(OfAtif::Message) {
        talk.say_content(speaker, words, &about, node.origin);
    }
    for (at, call) in talk.draft.objects(list_of(step, OfAtif::Calls).unwrap_or_default()) {
        let tool = call.field(OfAtif::Tool).unwrap_or(Node::computed(Value::Null));
        let (args, id) = (call.field(OfAtif::Args), call.field(OfAtif::Call));
        talk.call(Made { tool, args, id, origin: at.origin }, &about);
    }
    let observation = object_of(step, OfAtif::Observation);
    let results = observation.and_then(|observation| list_of(observation, OfAtif::Results)).unwrap_or_default();
    for (at, given) in talk.draft.objects(results) {
        let content = first_of(given, &[OfAtif::Content]);
        let result = content.map(|given| content::text(given, talk.draft.arena).unwrap_or(given));
        // What the system tells in between answers no call.
        if let Some(id) = text_of(given, OfAtif::Answers) {
            talk.answer(Some(id), None, Outcome { result, ..Outcome::default() }, &About::default(), at.origin);
        } else if let Some(words) = result {
            talk.say(Speaker::System, words, &about, at.origin);
        }
    }
    if let Some(metrics) = object_of(step, OfAtif::Metrics) {
        let mut usage = Usage::default();
        usage.add(metrics);
        talk.usage.join(&usage);
    }
}

/// The totals count, where they are known, in place of the sum of the steps.
fn totals<'run>(talk: &mut Talk<'_, 'run, '_>, trajectory: Object<'run>) {
    let Some(totals) = object_of(trajectory, OfTrajectory::Totals) else { return };
    talk.draft
        .set_some(of_run::COST, first_of(totals, &[OfTrajectory::Cost]).filter(|cost| Parsed.is(*cost, Shape::Number)));
    let counts = [
        (of_usage::INPUT, OfTrajectory::Input),
        (of_usage::OUTPUT, OfTrajectory::Output),
        (of_usage::CACHE_READ, OfTrajectory::Cached),
    ];
    let known = counts.map(|(name, field)| (name, first_of(totals, &[field])));
    if known.iter().any(|(_, node)| node.is_some()) {
        talk.usage = Usage::default();
        known.into_iter().for_each(|(name, node)| talk.usage.count(name, node));
    }
}
