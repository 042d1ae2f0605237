//! The names that home-grown formats give to the parts of a run and of a call: one table, for the full reader and for projections, and
//! what a file of the user adds to it.

pub(crate) mod file;
pub mod propose;

use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepKind;
use file::GivenName;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Names for one part, the first one that is there counts.
pub type NameList = Vec<Cow<'static, str>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartOwner {
    Call,
    Run,
    Both,
    Message,
}

struct PartDefinition {
    word: &'static str,
    of: PartOwner,
    step: Option<&'static str>,
    entry: Option<&'static str>,
    names: &'static [&'static str],
}

/// Makes the table: word, owner, call field, run entry, names.
macro_rules! parts {
    ($($(#[$note:meta])* $part:ident = $word:literal, $of:ident, $step:expr, $entry:expr, [$($name:literal),+ $(,)?];)+) => {
        /// A part of a run or of a call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum NamedPart {
            $($(#[$note])* $part,)+
        }

        impl NamedPart {
            /// All parts.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$part),+];

            fn definition(self) -> PartDefinition {
                match self {
                    $(Self::$part => {
                        PartDefinition { word: $word, of: PartOwner::$of, step: $step, entry: $entry, names: &[$($name),+] }
                    })+
                }
            }
        }
    };
}

parts! {
    /// The list of the calls.
    Calls = "calls", Run, None, None, [
        "tool_calls", "toolCalls", "tool_uses", "function_calls", "tools_called", "tool_invocations",
    ];
    /// Of a call: its tool.
    Tool = "tool", Call, Some(of_step::TOOL), None, ["tool", "name", "tool_name", "toolName", "function_name", "function"];
    /// Of a call: its arguments.
    Args = "args", Call, Some(of_step::ARGS), None, [
        "args", "arguments", "input", "inputs", "parameters", "params", "kwargs", "tool_input", "tool_args",
    ];
    /// Of a call: its result.
    Result = "result", Call, Some(of_step::RESULT), None, [
        "result", "output", "outputs", "response", "observation", "tool_output", "return_value",
    ];
    /// Of a call and of a run: its error.
    Error = "error", Both, Some(of_step::ERROR), Some(of_run::ERROR), ["error", "error_message", "exception"];
    /// Of a call: its start.
    Start = "start", Call, Some(of_step::START), None, [
        "start", "start_ms", "start_time", "started_at", "startTime", "timestamp",
    ];
    /// Of a call: its end.
    End = "end", Call, Some(of_step::END), None, ["end", "end_ms", "end_time", "ended_at", "endTime"];
    /// Of a call and of a run: its duration in milliseconds.
    Milliseconds = "duration", Both, Some(of_step::DURATION), Some(of_run::DURATION), [
        "duration", "duration_ms", "latency_ms", "elapsed_ms", "durationMs",
    ];
    /// Of a call and of a run: its duration in seconds, which the normal form lacks.
    Seconds = "duration_s", Both, None, None, [
        "duration_s", "duration_seconds", "latency_s", "latency_seconds", "elapsed_s", "elapsed_seconds",
    ];
    /// Of a call: its id.
    CallId = "call_id", Call, Some(of_step::ID), None, ["id", "call_id", "tool_call_id"];
    /// Of a call: a word that says how it ended.
    Status = "status", Call, Some(of_step::STATUS), None, ["status", "outcome"];
    /// Of a call: whether it went well.
    Ok = "ok", Call, Some(of_step::OK), None, ["ok", "success"];
    /// Of a call: its turn.
    Turn = "turn", Call, Some(of_step::TURN), None, ["turn", "turn_index"];
    /// Of a call: the agent that made it.
    Agent = "agent", Call, Some(of_step::AGENT), None, ["agent", "agent_name", "agent_id"];
    /// Of a run: its id.
    Id = "id", Run, None, Some(of_run::ID), ["id", "run_id", "trace_id", "traceId", "session_id"];
    /// Of a run: what it was given.
    Input = "input", Run, None, Some(of_run::INPUTS), ["inputs", "input", "prompt", "question", "query"];
    /// Of a run: its final output.
    Output = "output", Run, None, Some(of_run::OUTPUT), [
        "output", "final_output", "answer", "final_answer", "response", "completion", "result",
    ];
    /// Of a run: its cost in USD.
    Cost = "cost", Run, None, None, ["cost", "cost_usd", "total_cost", "total_cost_usd", "costUsd"];
    /// Of a run: its counts of tokens.
    Usage = "usage", Run, None, None, ["usage", "token_usage"];
    /// Of a run: its messages.
    Messages = "messages", Run, None, None, ["messages"];
    /// Of a message: who says it.
    Role = "role", Message, None, None, ["role"];
    /// Of a message: what is said.
    Text = "text", Message, None, None, ["text", "content"];
}

impl NamedPart {
    pub(crate) fn map_word(self) -> &'static str {
        self.definition().word
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.map_word() == word)
    }

    pub(crate) fn of_calls() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|part| matches!(part.definition().of, PartOwner::Call | PartOwner::Both))
    }

    pub(crate) fn is_of_run_only(self) -> bool {
        self.definition().of == PartOwner::Run
    }

    /// `None` for parts that the normal form has no field for.
    pub(crate) fn call_field(self) -> Option<&'static str> {
        self.definition().step
    }

    /// In normal form `null` means recorded. Elsewhere it is a serialized absence, except for a result.
    pub(crate) fn has_null(self, in_normal_form: bool) -> bool {
        in_normal_form || self == Self::Result
    }
}

/// The names of all parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartNames {
    lists: [NameList; NamedPart::ALL.len()],
    parts: FxHashMap<Cow<'static, str>, (NamedPart, u8)>,
    given: Vec<GivenName>,
    settings: MapSettings,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MapSettings {
    pub(crate) time_unit: Option<TimeUnit>,
    pub(crate) duration_unit: Option<TimeUnit>,
    /// Result prefixes that mean failure.
    pub(crate) failed: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl TimeUnit {
    pub(crate) const ALL: [(&str, Self); 4] =
        [("s", Self::Seconds), ("ms", Self::Milliseconds), ("us", Self::Microseconds), ("ns", Self::Nanoseconds)];

    pub(crate) fn in_milliseconds(self, count: f64) -> f64 {
        match self {
            Self::Seconds => count * 1e3,
            Self::Milliseconds => count,
            Self::Microseconds => count / 1e3,
            Self::Nanoseconds => count / 1e6,
        }
    }
}

/// Name suffixes that give a number's unit.
const UNITS: [&str; 6] = ["_ms", "Ms", "_s", "_seconds", "_us", "_ns"];
const STEP: char = '.';

impl PartNames {
    /// The names that are known without being told.
    #[must_use]
    pub fn known_names() -> &'static Self {
        static KNOWN: LazyLock<PartNames> = LazyLock::new(PartNames::default);
        &KNOWN
    }

    /// The parts that a user has named, with each of their names.
    pub fn given_names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.given.iter().map(|one| (one.part.map_word(), one.name.as_str()))
    }

    pub(crate) fn names_of(&self, part: NamedPart) -> &[Cow<'static, str>] {
        self.lists.get(part as usize).map_or(&[], Vec::as_slice)
    }

    /// True for a name of any part.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.lists.iter().any(|names| has_name(names, name))
    }

    fn change_list(&mut self, part: NamedPart, change: impl FnOnce(&mut NameList)) {
        if let Some(list) = self.lists.get_mut(part as usize) {
            change(list);
        }
    }

    pub(crate) fn map_settings(&self) -> &MapSettings {
        &self.settings
    }

    /// True if the name or the user gives the unit.
    pub(crate) fn carries_unit(&self, name: &str) -> bool {
        UNITS.iter().any(|unit| name.ends_with(unit)) || self.given.iter().any(|one| one.name == name)
    }

    /// True if names lead into nested values or have settings beside them.
    pub(crate) fn need_full_reader(&self) -> bool {
        let is_message = |one: &GivenName| one.part.definition().of == PartOwner::Message;
        self.settings != MapSettings::default()
            || self.given.iter().any(|one| one.name.contains(STEP) || is_message(one))
    }

    /// Names that may be paths: part, rank, path.
    pub(crate) fn paths_of_calls(&self) -> impl Iterator<Item = (NamedPart, u8, &str)> {
        let parts = NamedPart::of_calls().filter(|_| !self.given.is_empty());
        parts.flat_map(|part| {
            let names = (0_u8..).zip(self.names_of(part)).filter(|(_, name)| name.contains(STEP));
            names.map(move |(rank, name)| (part, rank, name.as_ref()))
        })
    }

    pub(crate) fn call_part(&self, key: &str) -> Option<(NamedPart, u8)> {
        self.parts.get(key).copied()
    }

    pub(crate) fn of_entry(&self, entry: &str) -> Option<&[Cow<'static, str>]> {
        NamedPart::ALL.into_iter().find(|part| part.definition().entry == Some(entry)).map(|part| self.names_of(part))
    }

    /// An ambiguous name is the part that the user gave it, else the first.
    fn with_index(mut self, given: Vec<GivenName>) -> Self {
        let mut parts = FxHashMap::default();
        for of_user in [true, false] {
            for part in NamedPart::of_calls() {
                for (rank, name) in (0_u8..).zip(self.names_of(part)) {
                    if !of_user || given.iter().any(|one| one.part == part && one.name == *name) {
                        parts.entry(name.clone()).or_insert((part, rank));
                    }
                }
            }
        }
        (self.parts, self.given) = (parts, given);
        self
    }

    /// True for a key that is read under, or hides, a normal-form name.
    pub(crate) fn is_of_run(&self, key: &str) -> bool {
        let of_run = |part: &NamedPart| {
            matches!(part.definition().of, PartOwner::Run | PartOwner::Both) && *part != NamedPart::Calls
        };
        NamedPart::ALL.into_iter().filter(of_run).any(|part| has_name(self.names_of(part), key))
            || key == StepKind::Call.list_key()
            || matches!(key, of_run::STEPS | of_step::TURN)
    }
}

/// The key itself, else its path step by step.
pub(crate) fn value_at<'run>(object: Object<'run>, name: &str) -> Option<Node<'run>> {
    if let Some(node) = object.get(name) {
        return Some(node);
    }
    // Few names are paths, and most names are not there.
    if !name.bytes().any(|byte| char::from(byte) == STEP) {
        return None;
    }
    let mut keys = name.split(STEP);
    let first = object.get(keys.next()?)?;
    keys.try_fold(first, |node, key| match node.value {
        Value::Object(object) => object.get(key),
        Value::List(items) => key.parse::<usize>().ok().and_then(|place| items.get(place).copied()),
        _ => None,
    })
}

fn has_name(list: &[Cow<'static, str>], key: &str) -> bool {
    list.iter().any(|name| name == key)
}

impl Default for PartNames {
    fn default() -> Self {
        let list = |part: NamedPart| part.definition().names.iter().map(|name| Cow::Borrowed(*name)).collect();
        Self {
            lists: NamedPart::ALL.map(list),
            parts: FxHashMap::default(),
            given: Vec::new(),
            settings: MapSettings::default(),
        }
        .with_index(Vec::new())
    }
}
