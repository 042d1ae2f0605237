//! ATIF, the Agent Trajectory Interchange Format: `steps` of the user, the system and the agent, its calls with the observations that
//! answer them. What the calls did is known where the agent is. What sub-agents did stands in trajectories of their own within that of
//! the main agent, and belongs to the same run: where a result names one it was told then, else nobody knows when.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, list_of, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use averment_runs::run::StepKind;
use rustc_hash::FxHashMap;

key_table! {
    TrajectoryKey {
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
    AtifStepKey {
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
    StepSource {
        Agent = "agent",
        User = "user",
        System = "system",
    }
}

key_table! {
    KnownAgent {
        Known = "claude-code" | "codex" | "gemini-cli" | "opencode" | "cursor-cli" | "cursor" | "openhands" | "openhands-sdk"
            | "swe-agent" | "mini-swe-agent" | "terminus" | "terminus-1" | "terminus-2" | "copilot-cli" | "copilot" | "qwen-code"
            | "GitHub Copilot Chat",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "ATIF trajectory",
    known_by: "`schema_version` of `ATIF` beside `steps`",
    description: "trajectories in ATIF (`schema_version`, `steps`)",
    marks: &[TrajectoryKey::Version.key()],
    object: |object| {
        text_of(object, TrajectoryKey::Version).is_some_and(|version| version.starts_with("ATIF"))
            && list_of(object, TrajectoryKey::Steps).is_some()
    },
    read: read_run,
    ..IN_FULL
};

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(trajectory) = root.value else { return Ok(()) };
    builder.set_some(
        of_run::ID,
        first_of(trajectory, &[TrajectoryKey::Session, TrajectoryKey::Id]).filter(|id| NodeShapes.is_text(*id)),
    );
    let agent = object_of(trajectory, TrajectoryKey::Agent);
    if let Some(list) = agent.and_then(|agent| list_of(agent, TrajectoryKey::Tools)) {
        let list = super::calls::tool_list(builder, list);
        builder.set_entry(of_run::TOOLS, list);
    }
    let mut conversation = ConversationBuilder::new(builder);
    let of_agent = |field| agent.and_then(|agent| agent.field(field));
    conversation.add_meta(of_meta::MODEL, of_agent(TrajectoryKey::Model));
    conversation.add_meta(of_meta::VERSION, of_agent(TrajectoryKey::AgentVersion));
    conversation.add_meta(of_step::AGENT, of_agent(TrajectoryKey::AgentName));
    let mut telling = TrajectoryReader {
        others: SubTrajectories::collect_nested(trajectory, conversation.builder),
        conversation,
        acts_in_text: false,
    };
    telling.read_trajectory(trajectory, None, 0);
    while let Some(other) = telling.others.next() {
        telling.read_trajectory(other.trajectory, Some(other.name), 0);
    }
    let (mut conversation, acts_in_text) = (telling.conversation, telling.acts_in_text);
    set_totals(&mut conversation, trajectory);
    let known = of_agent(TrajectoryKey::AgentName).and_then(node_text).and_then(KnownAgent::from_key).is_some();
    let builder = if known { conversation.finish_with_tools() } else { conversation.finish_run() };
    if acts_in_text {
        builder.add_warning(root.origin, IN_TEXT);
        use StepKind::{Call, Command, Http, Read, Skill, Write};
        [Call, Command, Read, Write, Skill, Http].into_iter().for_each(|kind| builder.mark_unrecorded(kind));
    }
    Ok(())
}

const IN_TEXT: &str =
    "calls count as not recorded: an observation answers a step without calls, whose actions stand in its text";

#[derive(Clone, Copy)]
struct SubTrajectory<'run> {
    trajectory: Object<'run>,
    name: Node<'run>,
}

/// Sub-agents' trajectories that are not yet part of the run.
struct SubTrajectories<'run> {
    untold: Vec<Option<SubTrajectory<'run>>>,
    by_id: FxHashMap<&'run str, usize>,
    next: usize,
}

const UNNAMED: &str = "subagent";
/// Maximum nesting; deeper sub-agents come behind all others.
const DEEPEST: usize = 32;

impl<'run> SubTrajectories<'run> {
    /// At any depth: a result may name each of them.
    fn collect_nested(trajectory: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> Self {
        let name = |of: Object<'run>| object_of(of, TrajectoryKey::Agent)?.field(TrajectoryKey::AgentName);
        let main = name(trajectory).and_then(node_text);
        let mut all = Self { untold: Vec::new(), by_id: FxHashMap::default(), next: 0 };
        let (mut open, mut looked_at) = (Some(trajectory), 0);
        while let Some(outer) = open {
            for (_, inner) in builder.record_objects(list_of(outer, TrajectoryKey::Others).unwrap_or_default()) {
                let id =
                    first_of(inner, &[TrajectoryKey::Id, TrajectoryKey::Session]).filter(|id| NodeShapes.is_text(*id));
                if let Some(id) = id.and_then(node_text) {
                    all.by_id.entry(id).or_insert(all.untold.len());
                }
                // The program is the same for all agents where it is named at all.
                let own = name(inner).filter(|name| node_text(*name).is_some_and(|name| Some(name) != main));
                let name = own.or(id).unwrap_or(Node::computed(Value::plain_text(UNNAMED)));
                all.untold.push(Some(SubTrajectory { trajectory: inner, name }));
            }
            open = all.untold.get(looked_at).copied().flatten().map(|other| other.trajectory);
            looked_at += 1;
        }
        if !all.untold.is_empty() {
            builder.mark_agents_named();
        }
        all
    }

    /// `None` if it was already used.
    fn take_referenced(&mut self, reference: Object<'run>) -> Option<SubTrajectory<'run>> {
        let id = first_of(reference, &[TrajectoryKey::Id, TrajectoryKey::Session]).and_then(node_text)?;
        self.untold.get_mut(*self.by_id.get(id)?)?.take()
    }

    fn next(&mut self) -> Option<SubTrajectory<'run>> {
        loop {
            let place = self.untold.get_mut(self.next)?;
            self.next += 1;
            if let Some(other) = place.take() {
                return Some(other);
            }
        }
    }
}

struct TrajectoryReader<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    others: SubTrajectories<'run>,
    /// An agent wrote actions into its words: something answers it, and it made no calls.
    acts_in_text: bool,
}

impl<'run> TrajectoryReader<'_, 'run, '_> {
    fn read_trajectory(&mut self, trajectory: Object<'run>, agent: Option<Node<'run>>, depth: usize) {
        for node in list_of(trajectory, TrajectoryKey::Steps).unwrap_or_default() {
            self.conversation.builder.count_record();
            match node_object(*node)
                .and_then(|step| Some((step, StepSource::from_key(text_of(step, AtifStepKey::Source)?)?)))
            {
                Some((one, source)) => self.read_step(*node, one, source, agent, depth),
                None => {
                    self.conversation.builder.skip_value(node, "a step without a known `source` is skipped");
                }
            }
        }
    }

    fn read_step(
        &mut self,
        node: Node<'run>,
        step: Object<'run>,
        source: StepSource,
        agent: Option<Node<'run>>,
        depth: usize,
    ) {
        let meta = StepMeta { time: step.field(AtifStepKey::Time), agent, aside: agent.is_some() };
        add_speech_and_calls(&mut self.conversation, node, step, source, &meta);
        let observation = object_of(step, AtifStepKey::Observation);
        let results =
            observation.and_then(|observation| list_of(observation, AtifStepKey::Results)).unwrap_or_default();
        let calls = list_of(step, AtifStepKey::Calls).unwrap_or_default();
        // Where a step has one call and its observation one result, that is its result.
        let only = match (calls, results) {
            ([call], [_]) => node_object(*call).and_then(|call| text_of(call, AtifStepKey::Call)),
            _ => None,
        };
        self.acts_in_text |= source == StepSource::Agent && calls.is_empty() && !results.is_empty();
        for (at, given) in self.conversation.builder.record_objects(results) {
            self.read_referenced(at, given, &meta, depth);
            let content = first_of(given, &[AtifStepKey::Content]);
            let result =
                content.map(|given| content::content_text(given, self.conversation.builder.arena).unwrap_or(given));
            // What the system tells in between answers no call.
            let id = text_of(given, AtifStepKey::Answers).or(only);
            if let Some(id) = id {
                let outcome = CallResult { result, ..CallResult::default() };
                self.conversation.add_result(Some(id), None, outcome, &StepMeta::default(), at.origin);
            } else if let Some(words) = result {
                self.conversation.add_message(Speaker::System, words, &meta, at.origin);
            } else if first_of(given, &[AtifStepKey::Other]).is_none() {
                self.conversation.builder.skip_record(at.origin, "a result without `content` is skipped");
            }
        }
        if let Some(metrics) = object_of(step, AtifStepKey::Metrics) {
            let mut usage = TokenUsage::default();
            usage.add_usage(metrics);
            self.conversation.usage.merge_usage(&usage);
        }
    }

    fn read_referenced(&mut self, at: Node<'run>, given: Object<'run>, meta: &StepMeta<'run>, depth: usize) {
        let Some(reference) = first_of(given, &[AtifStepKey::Other]).filter(|_| depth < DEEPEST) else { return };
        let one = node_object(reference).into_iter();
        let many = super::nodes::object_items(super::nodes::node_list(reference).unwrap_or_default())
            .map(|(_, reference)| reference);
        for reference in one.chain(many) {
            if let Some(other) = self.others.take_referenced(reference) {
                self.conversation.hand_over(other.name, meta, at.origin);
                self.read_trajectory(other.trajectory, Some(other.name), depth + 1);
            }
        }
    }
}

fn add_speech_and_calls<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    step: Object<'run>,
    source: StepSource,
    meta: &StepMeta<'run>,
) {
    let speaker = match source {
        StepSource::Agent => Speaker::Assistant,
        StepSource::User => Speaker::User,
        StepSource::System => Speaker::System,
    };
    if source == StepSource::Agent {
        conversation.begin_turn();
    }
    if let Some(words) = step.field(AtifStepKey::Thought) {
        conversation.add_message(Speaker::Thinking, words, meta, node.origin);
    }
    if let Some(words) = step.field(AtifStepKey::Message) {
        conversation.add_content(speaker, words, meta, node.origin);
    }
    for (at, call) in conversation.builder.record_objects(list_of(step, AtifStepKey::Calls).unwrap_or_default()) {
        let tool = call.field(AtifStepKey::Tool).unwrap_or(Node::computed(Value::Null));
        let (args, id) = (call.field(AtifStepKey::Args), call.field(AtifStepKey::Call));
        conversation.add_call(ToolCall { tool, args, id, origin: at.origin }, meta);
    }
}

/// Totals win over the sum of the steps.
fn set_totals<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, trajectory: Object<'run>) {
    let Some(totals) = object_of(trajectory, TrajectoryKey::Totals) else { return };
    conversation.builder.set_some(
        of_run::COST,
        first_of(totals, &[TrajectoryKey::Cost]).filter(|cost| NodeShapes.has_shape(*cost, ValueShape::Number)),
    );
    let counts = [
        (of_usage::INPUT, TrajectoryKey::Input),
        (of_usage::OUTPUT, TrajectoryKey::Output),
        (of_usage::CACHE_READ, TrajectoryKey::Cached),
    ];
    let known = counts.map(|(name, field)| (name, first_of(totals, &[field])));
    if known.iter().any(|(_, node)| node.is_some()) {
        conversation.usage = TokenUsage::default();
        known.into_iter().for_each(|(name, node)| conversation.usage.add_count(name, node));
    }
}
