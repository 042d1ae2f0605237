//! ATIF, the Agent Trajectory Interchange Format: `steps` of the user, the system and the agent, its calls with the observations that
//! answer them. What the calls did is known where the agent is. What sub-agents did stands in trajectories of their own within that of
//! the main agent, and belongs to the same run: where a result names one it was told then, else nobody knows when.

use super::calls::Usage;
use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, list_of, object, object_of, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use rustc_hash::FxHashMap;

key_table! {
    /// A trajectory.
    OfTrajectory {
        Version = "schema_version",
        Session = "session_id",
        Id = "trajectory_id",
        Agent = "agent",
        AgentName = "name",
        AgentVersion = "version",
        Model = "model_name",
        Tools = "tool_definitions",
        Steps = "steps",
        Others = "subagent_trajectories",
        Totals = "final_metrics",
        Cost = "total_cost_usd",
        Input = "total_prompt_tokens",
        Output = "total_completion_tokens",
        Cached = "total_cached_tokens",
    }
}

key_table! {
    /// A step.
    OfAtif {
        Time = "timestamp",
        Source = "source",
        Message = "message",
        Thought = "reasoning_content",
        Calls = "tool_calls",
        Call = "tool_call_id",
        Tool = "function_name",
        Args = "arguments",
        Observation = "observation",
        Results = "results",
        Answers = "source_call_id",
        Other = "subagent_trajectory_ref",
        Content = "content",
        Metrics = "metrics",
    }
}

key_table! {
    /// Who a step is of.
    Source {
        Agent = "agent",
        User = "user",
        System = "system",
    }
}

key_table! {
    /// The agents whose tools are known.
    KnownAgent {
        Known = "claude-code" | "codex" | "gemini-cli" | "opencode" | "cursor-cli" | "cursor" | "openhands" | "openhands-sdk"
            | "swe-agent" | "mini-swe-agent" | "terminus" | "terminus-1" | "terminus-2" | "copilot-cli" | "copilot" | "qwen-code"
            | "GitHub Copilot Chat",
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
    let mut telling = Telling { others: Others::of(trajectory, talk.draft), talk };
    telling.trajectory(trajectory, None, 0);
    while let Some(other) = telling.others.next() {
        telling.trajectory(other.trajectory, Some(other.name), 0);
    }
    let mut talk = telling.talk;
    totals(&mut talk, trajectory);
    let known = of_agent(OfTrajectory::AgentName).and_then(text).and_then(KnownAgent::from_key).is_some();
    if known {
        talk.finish_with_tools();
    } else {
        talk.finish();
    }
    Ok(())
}

/// What a sub-agent did.
#[derive(Clone, Copy)]
struct Other<'run> {
    trajectory: Object<'run>,
    name: Node<'run>,
}

/// The trajectories of sub-agents, each until it is told.
struct Others<'run> {
    untold: Vec<Option<Other<'run>>>,
    by_id: FxHashMap<&'run str, usize>,
    /// Those before are told.
    next: usize,
}

/// What a sub-agent without any name is called.
const UNNAMED: &str = "subagent";
/// So deep sub-agents are told within each other; deeper ones behind all others.
const DEEPEST: usize = 32;

impl<'run> Others<'run> {
    /// All trajectories within another one, at any depth: a result may name each of them.
    fn of(trajectory: Object<'run>, draft: &mut Draft<'run, '_>) -> Self {
        let name = |of: Object<'run>| object_of(of, OfTrajectory::Agent)?.field(OfTrajectory::AgentName);
        let main = name(trajectory).and_then(text);
        let mut all = Self { untold: Vec::new(), by_id: FxHashMap::default(), next: 0 };
        let (mut open, mut looked_at) = (Some(trajectory), 0);
        while let Some(outer) = open {
            for (_, inner) in draft.objects(list_of(outer, OfTrajectory::Others).unwrap_or_default()) {
                let id = first_of(inner, &[OfTrajectory::Id, OfTrajectory::Session]).filter(|id| Parsed.is_text(*id));
                if let Some(id) = id.and_then(text) {
                    all.by_id.entry(id).or_insert(all.untold.len());
                }
                // The program is the same for all agents where it is named at all.
                let own = name(inner).filter(|name| text(*name).is_some_and(|name| Some(name) != main));
                let name = own.or(id).unwrap_or(Node::computed(Value::plain(UNNAMED)));
                all.untold.push(Some(Other { trajectory: inner, name }));
            }
            open = all.untold.get(looked_at).copied().flatten().map(|other| other.trajectory);
            looked_at += 1;
        }
        if !all.untold.is_empty() {
            draft.names_agents();
        }
        all
    }

    /// The trajectory that a reference names, unless it was told already.
    fn take(&mut self, reference: Object<'run>) -> Option<Other<'run>> {
        let id = first_of(reference, &[OfTrajectory::Id, OfTrajectory::Session]).and_then(text)?;
        self.untold.get_mut(*self.by_id.get(id)?)?.take()
    }

    /// The first that is not told.
    fn next(&mut self) -> Option<Other<'run>> {
        loop {
            let place = self.untold.get_mut(self.next)?;
            self.next += 1;
            if let Some(other) = place.take() {
                return Some(other);
            }
        }
    }
}

/// The trajectories while they are told.
struct Telling<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    others: Others<'run>,
}

impl<'run> Telling<'_, 'run, '_> {
    fn trajectory(&mut self, trajectory: Object<'run>, agent: Option<Node<'run>>, depth: usize) {
        for node in list_of(trajectory, OfTrajectory::Steps).unwrap_or_default() {
            self.talk.draft.record();
            match object(*node).and_then(|step| Some((step, Source::from_key(text_of(step, OfAtif::Source)?)?))) {
                Some((one, source)) => self.step(*node, one, source, agent, depth),
                None => {
                    self.talk.draft.not_understood(node.origin, "a step without a known `source` is passed over");
                }
            }
        }
    }

    fn step(&mut self, node: Node<'run>, step: Object<'run>, source: Source, agent: Option<Node<'run>>, depth: usize) {
        let about = About { time: step.field(OfAtif::Time), agent, aside: agent.is_some() };
        said_and_called(&mut self.talk, node, step, source, &about);
        let observation = object_of(step, OfAtif::Observation);
        let results = observation.and_then(|observation| list_of(observation, OfAtif::Results)).unwrap_or_default();
        for (at, given) in self.talk.draft.objects(results) {
            self.referred(at, given, &about, depth);
            let content = first_of(given, &[OfAtif::Content]);
            let result = content.map(|given| content::text(given, self.talk.draft.arena).unwrap_or(given));
            // What the system tells in between answers no call.
            if let Some(id) = text_of(given, OfAtif::Answers) {
                let outcome = Outcome { result, ..Outcome::default() };
                self.talk.answer(Some(id), None, outcome, &About::default(), at.origin);
            } else if let Some(words) = result {
                self.talk.say(Speaker::System, words, &about, at.origin);
            }
        }
        if let Some(metrics) = object_of(step, OfAtif::Metrics) {
            let mut usage = Usage::default();
            usage.add(metrics);
            self.talk.usage.join(&usage);
        }
    }

    /// The work of the sub-agents that a result names.
    fn referred(&mut self, at: Node<'run>, given: Object<'run>, about: &About<'run>, depth: usize) {
        let Some(reference) = first_of(given, &[OfAtif::Other]).filter(|_| depth < DEEPEST) else { return };
        let one = object(reference).into_iter();
        let many =
            super::nodes::objects(super::nodes::list(reference).unwrap_or_default()).map(|(_, reference)| reference);
        for reference in one.chain(many) {
            if let Some(other) = self.others.take(reference) {
                self.talk.hand_over(other.name, about, at.origin);
                self.trajectory(other.trajectory, Some(other.name), depth + 1);
            }
        }
    }
}

/// What is said and called in a step.
fn said_and_called<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    step: Object<'run>,
    source: Source,
    about: &About<'run>,
) {
    let speaker = match source {
        Source::Agent => Speaker::Assistant,
        Source::User => Speaker::User,
        Source::System => Speaker::System,
    };
    if source == Source::Agent {
        talk.begin_turn();
    }
    if let Some(words) = step.field(OfAtif::Thought) {
        talk.say(Speaker::Thinking, words, about, node.origin);
    }
    if let Some(words) = step.field(OfAtif::Message) {
        talk.say_content(speaker, words, about, node.origin);
    }
    for (at, call) in talk.draft.objects(list_of(step, OfAtif::Calls).unwrap_or_default()) {
        let tool = call.field(OfAtif::Tool).unwrap_or(Node::computed(Value::Null));
        let (args, id) = (call.field(OfAtif::Args), call.field(OfAtif::Call));
        talk.call(Made { tool, args, id, origin: at.origin }, about);
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
